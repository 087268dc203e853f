// SPDX-License-Identifier: Apache-2.0
// The janitor over a store in a folder of its own and state files that are only names: what goes,
// what stays, and that an owner who wakes after a takeover removes nothing.
#include "kafka/janitor.h"

#include "tests/unit/cmocka_all.h"

#include "runtime/base/clock.h"

#include <stdio.h>
#include <stdlib.h>

static const struct weir_attempt attempt_a = {.text = "aaaaaaaaaaaaaaaa"};
static const struct weir_attempt attempt_b = {.text = "bbbbbbbbbbbbbbbb"};

static const char *state_names[] = {"leftover", "needed"};

struct fake_files {
    struct weir_state_files base;        // first
    struct weir_store *taken_over_store; // not NULL: a newer owner comes while files are listed
    uint32_t removed_count;
    char removed[64];
};

static enum weir_status fake_list(const struct weir_state_files *base, const char *store_folder,
                                  struct weir_arena *arena, const char ***names,
                                  uint32_t *name_count, struct weir_error *error)
{
    (void)store_folder;
    const struct fake_files *files = (const struct fake_files *)base;
    *names = weir_arena_alloc(arena, sizeof state_names);
    memcpy(*names, state_names, sizeof state_names);
    *name_count = 2;
    return files->taken_over_store == NULL
               ? WEIR_OK
               : weir_store_set_owner(files->taken_over_store, &attempt_b, error);
}

static void fake_remove(const struct weir_state_files *base, const char *store_folder,
                        uint32_t candidate_count, const char *const *candidates,
                        uint32_t kept_count, const struct weir_state_handle *kept)
{
    (void)store_folder;
    struct fake_files *files = (struct fake_files *)base;
    for (uint32_t i = 0; i < candidate_count; i++) {
        bool is_kept = false;
        for (uint32_t j = 0; j < kept_count; j++) {
            is_kept = is_kept || strcmp(kept[j].files[0].name, candidates[i]) == 0;
        }
        if (!is_kept) {
            files->removed_count++;
            snprintf(files->removed, sizeof files->removed, "%s", candidates[i]);
        }
    }
}

struct fixture {
    char dir[64];
    struct weir_store *store;
    struct fake_files files;
    struct weir_janitor_config config;
};

static void write_manifest(struct fixture *fixture, int64_t number, const char *state_name)
{
    struct weir_state_file file = {.name = state_name};
    struct weir_state_handle handle = {.stage = "stage", .file_count = 1, .files = &file};
    struct weir_manifest manifest = {.number = number,
                                     .attempt = attempt_a,
                                     .job_id = "job",
                                     .cluster_id = "c",
                                     .kind = "checkpoint",
                                     .restore = "auto",
                                     .weir_version = "1",
                                     .state_count = 1,
                                     .states = &handle};
    struct weir_error error;
    assert_int_equal(weir_store_write_manifest(fixture->store, &manifest, &error), WEIR_OK);
}

static uint32_t count_manifests(struct fixture *fixture)
{
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_store_entry *entries;
    uint32_t count;
    struct weir_error error;
    assert_int_equal(weir_store_list(fixture->store, arena, &entries, &count, &error), WEIR_OK);
    weir_arena_destroy(arena);
    return count;
}

static int set_up(void **state)
{
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/weir-janitor-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    struct weir_error error;
    assert_int_equal(weir_store_open(fixture->dir, "job", 0, &fixture->store, &error), WEIR_OK);
    assert_int_equal(weir_store_set_owner(fixture->store, &attempt_a, &error), WEIR_OK);
    fixture->files.base = (struct weir_state_files){.list = fake_list, .remove = fake_remove};
    fixture->config = (struct weir_janitor_config){.store = fixture->store,
                                                   .clock = &weir_system_clock,
                                                   .owner = attempt_a,
                                                   .retained = 2,
                                                   .files = &fixture->files.base};
    // Claimed was 5; 6 is the leftover of a dead attempt.
    write_manifest(fixture, 5, "needed");
    write_manifest(fixture, 6, "leftover");
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
    free(fixture);
    return 0;
}

static void test_janitor_removes_leftovers_at_start(void **state)
{
    struct fixture *fixture = *state;
    weir_janitor_destroy(weir_janitor_create(&fixture->config, 5, &attempt_a));
    assert_int_equal(count_manifests(fixture), 1);
    assert_int_equal(fixture->files.removed_count, 1);
    assert_string_equal(fixture->files.removed, "leftover");
}

static enum weir_status list_nothing(const struct weir_state_files *files, const char *store_folder,
                                     struct weir_arena *arena, const char ***names,
                                     uint32_t *name_count, struct weir_error *error)
{
    (void)files, (void)store_folder, (void)arena, (void)error;
    *names = NULL;
    *name_count = 0;
    return WEIR_OK;
}

static void test_janitor_removes_leftovers_of_a_job_without_state(void **state)
{
    struct fixture *fixture = *state;
    fixture->files.base.list = list_nothing;
    weir_janitor_destroy(weir_janitor_create(&fixture->config, 5, &attempt_a));
    assert_int_equal(count_manifests(fixture), 1);
}

static void test_janitor_removes_nothing_of_a_store_that_was_taken_over_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    fixture->files.taken_over_store = fixture->store;
    weir_janitor_destroy(weir_janitor_create(&fixture->config, 5, &attempt_a));
    assert_int_equal(count_manifests(fixture), 2);
    assert_int_equal(fixture->files.removed_count, 0);
}

static int64_t wall_ms;

static int64_t test_now(const struct weir_clock *clock)
{
    (void)clock;
    return wall_ms;
}

static void test_janitor_keeps_what_is_being_copied(void **state)
{
    struct fixture *fixture = *state;
    static const struct weir_clock clock = {.monotonic_ms = test_now, .wall_ms = test_now};
    wall_ms = weir_wall_ms(&weir_system_clock);
    fixture->config.clock = &clock;
    struct weir_janitor *janitor = weir_janitor_create(&fixture->config, 5, &attempt_a);
    for (int64_t number = 6; number <= 9; number++) {
        write_manifest(fixture, number, number == 6 ? "pinned" : "other");
        struct weir_state_file file = {.name = number == 6 ? "pinned" : "other"};
        struct weir_state_handle handle = {.stage = "stage", .file_count = 1, .files = &file};
        weir_janitor_add(janitor, &(struct weir_manifest){.number = number,
                                                          .attempt = attempt_a,
                                                          .state_count = 1,
                                                          .states = &handle});
    }
    fixture->files.removed_count = 0;
    weir_janitor_pin(janitor, 6);
    wall_ms += 600000;
    weir_janitor_clean(janitor, 9);
    assert_int_equal(count_manifests(fixture), 3); // 6, 8 and 9
    assert_string_equal(fixture->files.removed, "needed");
    weir_janitor_unpin(janitor, 6);
    weir_janitor_clean(janitor, 9);
    assert_int_equal(count_manifests(fixture), 2);
    assert_string_equal(fixture->files.removed, "pinned");
    weir_janitor_destroy(janitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_janitor_removes_leftovers_at_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_janitor_removes_leftovers_of_a_job_without_state,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_janitor_removes_nothing_of_a_store_that_was_taken_over_meanwhile, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(test_janitor_keeps_what_is_being_copied, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
