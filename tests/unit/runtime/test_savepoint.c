// SPDX-License-Identifier: Apache-2.0
// Savepoints in folders of their own: what is copied is complete and can be moved; what is in the
// way, cut short or damaged is named, and a copy that came to nothing leaves nothing behind.
#include "runtime/savepoint.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

struct fixture {
    char dir[64];
    char store[128];
    char path[128];
    struct weir_arena *arena;
    struct weir_state_file files[2];
    struct weir_state_handle handle;
    struct weir_manifest_position position;
    struct weir_manifest manifest;
};

static void write_file(const char *folder, const char *name, const char *bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, strlen(bytes), file), strlen(bytes));
    assert_int_equal(fclose(file), 0);
}

static bool exists(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int set_up(void **state)
{
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/weir-savepoint-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    snprintf(fixture->store, sizeof fixture->store, "%s/store", fixture->dir);
    snprintf(fixture->path, sizeof fixture->path, "%s/made/by/weir", fixture->dir);
    assert_int_equal(mkdir(fixture->store, 0700), 0);
    fixture->arena = weir_arena_create(4096);
    static const char *names[] = {"state.one.log", "state.two.log"};
    static const char *bytes[] = {"what the first file holds", "and the second"};
    for (int i = 0; i < 2; i++) {
        write_file(fixture->store, names[i], bytes[i]);
        fixture->files[i] = (struct weir_state_file){
            .name = names[i],
            .size_bytes = strlen(bytes[i]),
            .xxh3 = XXH3_64bits(bytes[i], strlen(bytes[i])),
            .number = 7,
        };
    }
    fixture->handle = (struct weir_state_handle){.stage = "stage",
                                                 .key_groups = {.first = 0, .count = 128},
                                                 .file_count = 2,
                                                 .files = fixture->files};
    fixture->position = (struct weir_manifest_position){
        .entry = {.table = "t", .topic = "t", .offset = 12, .end_offset = -1}, .topic_id = ""};
    fixture->manifest = (struct weir_manifest){.number = 7,
                                               .attempt = {.text = "aaaaaaaaaaaaaaaa"},
                                               .job_id = "job",
                                               .cluster_id = "c",
                                               .kind = "savepoint",
                                               .restore = "auto",
                                               .weir_version = "1",
                                               .position_count = 1,
                                               .positions = &fixture->position,
                                               .state_count = 1,
                                               .states = &fixture->handle};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", fixture->dir);
    assert_int_equal(system(command), 0);
    weir_arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static enum weir_status write_savepoint(struct fixture *fixture, struct weir_error *error)
{
    atomic_bool is_cancelled = false;
    if (weir_savepoint_prepare(fixture->path, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return weir_savepoint_write(fixture->path, fixture->store, &fixture->manifest, &is_cancelled,
                                error);
}

static void expect(enum weir_status status, const struct weir_error *error, const char *text)
{
    assert_int_equal(status, WEIR_ERROR);
    assert_int_equal(error->action, WEIR_ACTION_REFUSE);
    if (strstr(error->text, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, error->text);
    }
}

static void test_savepoint_is_whole_without_the_store_and_in_another_place(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    assert_int_equal(write_savepoint(fixture, &error), WEIR_OK);
    char command[600];
    char moved[128];
    char other[128];
    snprintf(moved, sizeof moved, "file://%s/moved", fixture->dir);
    snprintf(other, sizeof other, "%s/other", fixture->dir);
    snprintf(command, sizeof command, "rm -r %s && mv %s %s/moved && mkdir %s", fixture->store,
             fixture->path, fixture->dir, other);
    assert_int_equal(system(command), 0);
    struct weir_manifest manifest;
    assert_int_equal(weir_savepoint_read(moved, fixture->arena, &manifest, &error), WEIR_OK);
    assert_int_equal(manifest.number, 7);
    assert_int_equal(manifest.positions[0].entry.offset, 12);
    assert_int_equal(manifest.states[0].file_count, 2);
    assert_int_equal(weir_savepoint_verify(moved, &manifest, &error), WEIR_OK);
    assert_int_equal(weir_savepoint_import(moved, &manifest, other, &error), WEIR_OK);
    assert_true(exists(other, "state.one.log"));
    assert_true(exists(other, "state.two.log"));
    assert_false(exists(other, "savepoint.json"));
    assert_int_equal(weir_savepoint_verify(other, &manifest, &error), WEIR_OK);
}

static ino_t inode(const char *folder, const char *name)
{
    char path[256];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &found), 0);
    return found.st_ino;
}

// It comes back to the store that it was taken of, whose checkpoints list the same files.
static void test_import_leaves_whole_files_alone_and_mends_others(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    assert_int_equal(write_savepoint(fixture, &error), WEIR_OK);
    ino_t one = inode(fixture->store, "state.one.log");
    write_file(fixture->store, "state.two.log", "and the SECOND");
    assert_int_equal(
        weir_savepoint_import(fixture->path, &fixture->manifest, fixture->store, &error), WEIR_OK);
    assert_int_equal(weir_savepoint_verify(fixture->store, &fixture->manifest, &error), WEIR_OK);
    assert_int_equal(inode(fixture->store, "state.one.log"), one);
}

// As every other write of a start: there may be room again.
static void test_import_into_a_full_store_may_be_tried_again(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    assert_int_equal(write_savepoint(fixture, &error), WEIR_OK);
    char full[256];
    snprintf(full, sizeof full, "%s/state.one.log.tmp", fixture->dir);
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_int_equal(weir_savepoint_import(fixture->path, &fixture->manifest, fixture->dir, &error),
                     WEIR_ERROR);
    assert_non_null(strstr(error.text, "No space left on device"));
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
}

static void test_savepoint_is_not_written_over_something(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    assert_int_equal(write_savepoint(fixture, &error), WEIR_OK);
    expect(write_savepoint(fixture, &error), &error, "is not empty");
    expect(weir_savepoint_prepare("sp/relative", &error), &error, "no absolute path");
    expect(weir_savepoint_prepare("/proc/nowhere/sp", &error), &error, "/proc/nowhere");
    char under_file[200];
    snprintf(under_file, sizeof under_file, "%s/state.one.log/sp", fixture->store);
    expect(weir_savepoint_prepare(under_file, &error), &error, "Not a directory");
}

static void test_damaged_file_is_named_while_it_is_copied_and_nothing_stays(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    write_file(fixture->store, "state.two.log", "and the SECOND");
    expect(write_savepoint(fixture, &error), &error, "state.two.log is damaged");
    assert_false(exists(fixture->path, "state.one.log"));
    assert_false(exists(fixture->path, "state.two.log"));
    assert_false(exists(fixture->path, "savepoint.json"));
    write_file(fixture->store, "state.two.log", "and the second");
    assert_int_equal(write_savepoint(fixture, &error), WEIR_OK); // its folder is usable again
    write_file(fixture->path, "state.one.log", "what the first file h");
    struct weir_manifest manifest;
    assert_int_equal(weir_savepoint_read(fixture->path, fixture->arena, &manifest, &error),
                     WEIR_OK);
    expect(weir_savepoint_verify(fixture->path, &manifest, &error), &error,
           "state.one.log is damaged: expected 25 bytes");
    expect(weir_savepoint_import(fixture->path, &manifest, fixture->dir, &error), &error,
           "state.one.log is damaged");
    assert_false(exists(fixture->dir, "state.one.log"));
}

static void test_copy_that_is_given_up_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    atomic_bool is_cancelled = true;
    assert_int_equal(weir_savepoint_prepare(fixture->path, &error), WEIR_OK);
    expect(weir_savepoint_write(fixture->path, fixture->store, &fixture->manifest, &is_cancelled,
                                &error),
           &error, "given up");
    assert_int_equal(weir_savepoint_prepare(fixture->path, &error), WEIR_OK); // empty
}

static void test_what_is_no_savepoint_is_refused_by_name(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    struct weir_manifest manifest;
    expect(weir_savepoint_read(fixture->path, fixture->arena, &manifest, &error), &error,
           "No such file or directory");
    expect(weir_savepoint_read(fixture->store, fixture->arena, &manifest, &error), &error,
           "never finished");
    assert_int_equal(write_savepoint(fixture, &error), WEIR_OK);
    write_file(fixture->path, "savepoint.json", "weir-manifest 99 xxh3=0 bytes=0\n");
    expect(weir_savepoint_read(fixture->path, fixture->arena, &manifest, &error), &error,
           "newer weir");
    write_file(fixture->path, "savepoint.json", "weir-manifest 1 xxh3=0 bytes=12\nabc");
    expect(weir_savepoint_read(fixture->path, fixture->arena, &manifest, &error), &error,
           "is damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_savepoint_is_whole_without_the_store_and_in_another_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_import_leaves_whole_files_alone_and_mends_others,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_import_into_a_full_store_may_be_tried_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_savepoint_is_not_written_over_something, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_damaged_file_is_named_while_it_is_copied_and_nothing_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_copy_that_is_given_up_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_savepoint_is_refused_by_name, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
