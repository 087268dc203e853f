// SPDX-License-Identifier: Apache-2.0
// Which files go with the checkpoints that go: a table.
#include "rocksdb_backend/retention.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>

enum { FILES_MAX = 6 };

static struct weir_state_handle handle_of(const char *names, struct weir_state_file *files,
                                          char (*texts)[2])
{
    struct weir_state_handle handle = {.stage = "s", .files = files};
    for (; names[handle.file_count] != '\0'; handle.file_count++) {
        texts[handle.file_count][0] = names[handle.file_count];
        texts[handle.file_count][1] = '\0';
        files[handle.file_count] = (struct weir_state_file){.name = texts[handle.file_count]};
    }
    return handle;
}

static void test_retention_select(void **state)
{
    (void)state;
    // Files are single letters.
    static const struct {
        const char *candidates;
        const char *kept[3]; // lists of handles
        const char *deleted;
    } cases[] = {
        {"", {NULL}, ""},
        {"ab", {NULL}, "ab"},            // no checkpoint is left
        {"abc", {"abcd"}, ""},           // only logs were added
        {"mabc", {"mabcd", "nd"}, ""},   // the older one of two still needs them
        {"mabc", {"nd", "nde"}, "mabc"}, // a new materialisation has replaced them
        {"smabc", {"snd"}, "mabc"},      // a table that it shares with the old one stays
        {"ma", {"ma", "pb"}, ""},        // parts of two tasks
        {"mapb", {"ma", "q"}, "pb"},     // of which one has moved on
        {"aab", {"b"}, "aa"},            // listed by two that go
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weir_state_file files[4][FILES_MAX];
        char texts[4][FILES_MAX][2];
        struct weir_state_handle kept[3];
        uint32_t kept_count = 0;
        for (; kept_count < 3 && cases[i].kept[kept_count] != NULL; kept_count++) {
            kept[kept_count] =
                handle_of(cases[i].kept[kept_count], files[kept_count], texts[kept_count]);
        }
        struct weir_state_handle going = handle_of(cases[i].candidates, files[3], texts[3]);
        const char *candidates[FILES_MAX];
        bool is_deleted[FILES_MAX];
        char deleted[FILES_MAX + 1] = "";
        for (uint32_t j = 0; j < going.file_count; j++) {
            candidates[j] = going.files[j].name;
        }
        weir_state_files_select(candidates, going.file_count, kept, kept_count, is_deleted);
        for (uint32_t j = 0; j < going.file_count; j++) {
            if (is_deleted[j]) {
                strncat(deleted, candidates[j], sizeof deleted - strlen(deleted) - 1);
            }
        }
        if (strcmp(deleted, cases[i].deleted) != 0) {
            fail_msg("case %zu: deleted %s, expected %s", i, deleted, cases[i].deleted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retention_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
