// SPDX-License-Identifier: Apache-2.0
// The checkpoint store in a folder of its own: what is written is listed and read, what is damaged
// is named, what is not the owner's is left alone; and the retention rule as a table.
#include "runtime/store.h"

#include "tests/unit/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct weir_attempt attempt_a = {.text = "aaaaaaaaaaaaaaaa"};
static const struct weir_attempt attempt_b = {.text = "bbbbbbbbbbbbbbbb"};

struct fixture {
    char dir[64];
    struct weir_store *store;
    struct weir_arena *arena;
};

static int set_up(void **state)
{
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/weir-store-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    struct weir_error error;
    assert_int_equal(weir_store_open(fixture->dir, "job", 0, &fixture->store, &error), WEIR_OK);
    fixture->arena = weir_arena_create(4096);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", fixture->dir);
    assert_int_equal(system(command), 0);
    weir_store_close(fixture->store);
    weir_arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static void write_manifest(struct fixture *fixture, int64_t number, struct weir_attempt attempt)
{
    struct weir_manifest manifest = {.number = number,
                                     .attempt = attempt,
                                     .job_id = "job",
                                     .cluster_id = "c",
                                     .kind = "checkpoint",
                                     .restore = "auto",
                                     .weir_version = "1"};
    struct weir_error error;
    assert_int_equal(weir_store_write_manifest(fixture->store, &manifest, &error), WEIR_OK);
}

static void manifest_path(struct fixture *fixture, int64_t number, struct weir_attempt attempt,
                          char *path, size_t size)
{
    snprintf(path, size, "%s/manifest-%020lld-%s.json", weir_store_path(fixture->store),
             (long long)number, attempt.text);
}

static void test_store_lists_and_reads_what_was_written(void **state)
{
    struct fixture *fixture = *state;
    write_manifest(fixture, 11, attempt_a);
    write_manifest(fixture, 9, attempt_b);
    struct weir_store_entry *entries;
    uint32_t count;
    struct weir_error error;
    assert_int_equal(weir_store_list(fixture->store, fixture->arena, &entries, &count, &error),
                     WEIR_OK);
    assert_int_equal(count, 2);
    assert_int_equal(entries[0].number, 9);
    assert_string_equal(entries[0].attempt.text, attempt_b.text);
    struct weir_manifest manifest;
    bool is_missing;
    assert_int_equal(weir_store_read_manifest(fixture->store, 11, &attempt_a, fixture->arena,
                                              &manifest, &is_missing, &error),
                     WEIR_OK);
    assert_int_equal(manifest.number, 11);
    assert_int_equal(weir_store_read_manifest(fixture->store, 11, &attempt_b, fixture->arena,
                                              &manifest, &is_missing, &error),
                     WEIR_ERROR);
    assert_true(is_missing);
}

static void test_store_names_a_damaged_or_renamed_file(void **state)
{
    struct fixture *fixture = *state;
    char path[256];
    char other[256];
    struct weir_manifest manifest;
    bool is_missing;
    struct weir_error error;
    write_manifest(fixture, 1, attempt_a);
    manifest_path(fixture, 1, attempt_a, path, sizeof path);
    manifest_path(fixture, 2, attempt_a, other, sizeof other);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(weir_store_read_manifest(fixture->store, 2, &attempt_a, fixture->arena,
                                              &manifest, &is_missing, &error),
                     WEIR_ERROR);
    assert_false(is_missing);
    assert_non_null(strstr(error.text, "renamed"));
    assert_int_equal(truncate(other, 100), 0);
    assert_int_equal(weir_store_read_manifest(fixture->store, 2, &attempt_a, fixture->arena,
                                              &manifest, &is_missing, &error),
                     WEIR_ERROR);
    assert_non_null(strstr(error.text, other));
    assert_non_null(strstr(error.text, "damaged"));
}

static void test_store_leaves_no_temporary_and_removes_those_of_crashes(void **state)
{
    struct fixture *fixture = *state;
    write_manifest(fixture, 1, attempt_a);
    char path[256];
    snprintf(path, sizeof path, "%s/manifest-x.json.tmp", weir_store_path(fixture->store));
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
    weir_store_delete_temporaries(fixture->store);
    DIR *folder = opendir(weir_store_path(fixture->store));
    int count = 0;
    for (struct dirent *found = readdir(folder); found != NULL; found = readdir(folder)) {
        assert_null(strstr(found->d_name, ".tmp"));
        count += strncmp(found->d_name, "manifest-", 9) == 0 ? 1 : 0;
    }
    closedir(folder);
    assert_int_equal(count, 1);
}

static void test_store_knows_its_owner(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    assert_int_equal(weir_store_set_owner(fixture->store, &attempt_a, &error), WEIR_OK);
    assert_int_equal(weir_store_check_owner(fixture->store, &attempt_a, &error), WEIR_OK);
    assert_int_equal(weir_store_set_owner(fixture->store, &attempt_b, &error), WEIR_OK);
    assert_int_equal(weir_store_check_owner(fixture->store, &attempt_a, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
}

static void test_store_takes_manifests_of_its_owner_only(void **state)
{
    struct fixture *fixture = *state;
    struct weir_manifest manifest = {.number = 5,
                                     .attempt = attempt_a,
                                     .job_id = "job",
                                     .cluster_id = "c",
                                     .kind = "checkpoint",
                                     .restore = "auto",
                                     .weir_version = "1"};
    struct weir_error error;
    assert_int_equal(weir_store_set_owner(fixture->store, &attempt_a, &error), WEIR_OK);
    assert_int_equal(
        weir_store_write_manifest_as(fixture->store, &attempt_a, &manifest, &error), WEIR_OK);
    assert_int_equal(weir_store_set_owner(fixture->store, &attempt_b, &error), WEIR_OK);
    manifest.number = 6;
    assert_int_equal(
        weir_store_write_manifest_as(fixture->store, &attempt_a, &manifest, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    struct weir_store_entry *entries;
    uint32_t count;
    assert_int_equal(weir_store_list(fixture->store, fixture->arena, &entries, &count, &error),
                     WEIR_OK);
    assert_int_equal(count, 1);
    assert_int_equal(entries[0].number, 5);
}

static void test_store_that_cannot_be_written_says_where_and_why(void **state)
{
    (void)state;
    struct weir_store *store;
    struct weir_error error;
    assert_int_equal(weir_store_open("/proc/nowhere", "job", 0, &store, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    assert_non_null(strstr(error.text, "/proc/nowhere"));
}

struct retention_row {
    const char *name;
    int64_t numbers[6];
    const char *attempts; // 'a' or 'b' each
    int64_t ages_ms[6];
    uint32_t retained;
    bool at_start;
    const char *deleted; // '-' kept, 'x' deleted; checkpoint 10 of attempt a was committed
};

static const struct retention_row retention_rows[] = {
    {"two are kept", {7, 8, 9, 10}, "aaaa", {90000, 90000, 90000, 0}, 2, false, "xx--"},
    {"one is kept", {7, 8, 9, 10}, "aaaa", {90000, 90000, 90000, 0}, 1, false, "xxx-"},
    {"numbers were passed over", {2, 5, 6, 10}, "aaaa", {90000, 90000, 90000, 0}, 2, false, "xx--"},
    {"one number counts once", {8, 9, 9, 10}, "aaba", {90000, 90000, 90000, 0}, 2, false, "x---"},
    {"young ones stay", {7, 8, 9, 10}, "aaaa", {90000, 59999, 59999, 0}, 1, false, "x---"},
    {"pending ones stay", {10, 11, 12}, "aaa", {90000, 90000, 90000}, 1, false, "---"},
    {"leftovers go at start", {9, 10, 10, 11}, "abab", {0, 90000, 0, 0}, 1, true, "-x-x"},
};

static void test_retention_selects_by_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof retention_rows / sizeof retention_rows[0]; i++) {
        const struct retention_row *row = &retention_rows[i];
        struct weir_store_entry entries[6];
        uint32_t count = (uint32_t)strlen(row->attempts);
        for (uint32_t j = 0; j < count; j++) {
            entries[j] = (struct weir_store_entry){
                .number = row->numbers[j],
                .attempt = row->attempts[j] == 'a' ? attempt_a : attempt_b,
                .modified_ms = 1000000 - row->ages_ms[j]};
        }
        bool is_deleted[6];
        weir_retention_select(entries, count, 10, &attempt_a, row->retained, 1000000, 60000,
                              row->at_start, is_deleted);
        for (uint32_t j = 0; j < count; j++) {
            if (is_deleted[j] != (row->deleted[j] == 'x')) {
                fail_msg("%s: entry %u", row->name, j);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_store_lists_and_reads_what_was_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_store_names_a_damaged_or_renamed_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_store_leaves_no_temporary_and_removes_those_of_crashes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_knows_its_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_takes_manifests_of_its_owner_only, set_up,
                                        tear_down),
        cmocka_unit_test(test_store_that_cannot_be_written_says_where_and_why),
        cmocka_unit_test(test_retention_selects_by_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
