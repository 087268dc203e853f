// SPDX-License-Identifier: Apache-2.0
// Names of state files: each life of each task has its own, and RocksDB's name comes back out.
#include "rocksdb_backend/files.h"

#include "tests/unit/cmocka_all.h"

#include <errno.h>

static void test_files_names(void **state)
{
    (void)state;
    struct weir_key_group_range range = {.first = 3, .count = 5};
    char *prefix = weir_state_name_prefix("group_by-1", range, "00ff");
    char *log = weir_state_name_of_log(prefix, 12);
    char *db = weir_state_name_of_db(prefix, 12, "000007.sst");
    assert_string_equal(log, "state.group_by-1.3-5.00ff.00000000000000000012.log");
    assert_string_equal(db, "state.group_by-1.3-5.00ff.00000000000000000012.db.000007.sst");
    assert_string_equal(weir_state_name_local(db), "000007.sst");
    assert_null(weir_state_name_local(log));
    assert_true(weir_state_name_is_table(db));
    assert_false(weir_state_name_is_table(log));
    assert_true(weir_state_name_is_ours(db) && weir_state_name_is_ours(log));
    assert_false(weir_state_name_is_ours("manifest-1"));
    free(prefix);
    free(log);
    free(db);
}

// What cannot stand in a name is replaced, and a checksum tells apart what looks alike then.
static void test_files_names_of_odd_stages(void **state)
{
    (void)state;
    struct weir_key_group_range range = {.first = 0, .count = 128};
    static const char *const stages[] = {
        "a/b",
        "a.b",
        "a_b",
        "a.db.b",
        "",
        "a b",
        "0123456789012345678901234567890123456789012345678901234567"
        "890123456789",
        "0123456789012345678901234567890123456789012345678901234567"
        "890123456788"};
    enum { COUNT = sizeof stages / sizeof *stages };
    char *prefixes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        prefixes[i] = weir_state_name_prefix(stages[i], range, "00ff");
        assert_null(strchr(prefixes[i], '/'));
        assert_in_range(strlen(prefixes[i]), 1, 150);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(prefixes[i], prefixes[j]);
        }
        char *name = weir_state_name_of_db(prefixes[i], 1, "CURRENT");
        assert_string_equal(weir_state_name_local(name), "CURRENT");
        free(name);
    }
    for (size_t i = 0; i < COUNT; i++) {
        free(prefixes[i]);
    }
}

static void test_files_of_a_full_disk_are_tried_again(void **state)
{
    (void)state;
    struct weir_error error;
    errno = EACCES;
    weir_file_error(&error, WEIR_ACTION_REFUSE, "link", "/folder", "name");
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    errno = ENOSPC;
    weir_file_error(&error, WEIR_ACTION_REFUSE, "link", "/folder", "name");
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_string_equal(error.text, "state: cannot link /folder/name: No space left on device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_names),
        cmocka_unit_test(test_files_names_of_odd_stages),
        cmocka_unit_test(test_files_of_a_full_disk_are_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
