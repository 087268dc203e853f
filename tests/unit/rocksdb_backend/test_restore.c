// SPDX-License-Identifier: Apache-2.0
// Restores of what is not as it should be: each file of a checkpoint flipped, cut, missing; parts
// that do not make up a whole. All are refused, by name, with what was expected and what was found;
// and once the damage is undone, the same checkpoint is restored.
#include "tests/unit/rocksdb_backend/state_operations.h"

#include <dirent.h>
#include <fcntl.h>

// A checkpoint of task_count tasks with materialisations and logs behind them; the stores are gone.
static void make_checkpoint(struct world *world, uint32_t task_count)
{
    world_begin(world, 1);
    world->materialise_log_count = 2;
    world_start(world, task_count, 0);
    for (uint32_t i = 0; i < 7; i++) {
        for (uint32_t j = 0; j < 100; j++) {
            world_update(world, world_below(world, WORLD_STATES), world_below(world, WORLD_KEYS));
        }
        world_barrier(world);
        world_settle(world);
    }
    world_crash(world);
}

static enum weir_status try_restore(struct world *world, uint32_t task_idx, uint32_t task_count,
                                    struct weir_error *error)
{
    struct weir_state_handle handles[WORLD_TASKS_MAX];
    uint32_t handle_count = world_handles(world_checkpoint(world, world->committed), handles);
    world->attempt++;
    enum weir_status status = world_create_store(world, task_idx, task_count, world->committed,
                                                 handle_count, handles, error);
    if (status == WEIR_OK) {
        world->stores[task_idx]->ops->destroy(world->stores[task_idx]);
        world->stores[task_idx] = NULL;
    }
    return status;
}

static void path_of(const struct world *world, const struct weir_state_file *file, char *path,
                    size_t path_bytes)
{
    snprintf(path, path_bytes, "%s/%s", world->store_folder, file->name);
}

static void flip(const char *path, uint64_t offset)
{
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    char byte;
    assert_int_equal(pread(file, &byte, 1, (off_t)offset), 1);
    byte = (char)(byte ^ 0x10);
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
    close(file);
}

static void assert_refused(struct world *world, uint32_t task_idx, uint32_t task_count,
                           const struct weir_state_file *file, const char *expected,
                           const char *found)
{
    struct weir_error error;
    assert_int_equal(try_restore(world, task_idx, task_count, &error), WEIR_ERROR);
    assert_int_equal(error.domain, WEIR_DOMAIN_STORE);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    if (strstr(error.text, file->name) == NULL || strstr(error.text, expected) == NULL ||
        strstr(error.text, found) == NULL) {
        fail_msg("\"%s\" does not name %s, %s, %s", error.text, file->name, expected, found);
    }
}

static void flip_and_cut(struct world *world, uint32_t task_idx, uint32_t task_count,
                         const struct weir_state_file *file, const char *path)
{
    char expected[32];
    char found[32];
    uint64_t offset = world_random(world) % file->size_bytes;
    snprintf(expected, sizeof expected, "%016" PRIx64, file->xxh3);
    flip(path, offset);
    assert_refused(world, task_idx, task_count, file, expected, "found");
    flip(path, offset);

    int descriptor = open(path, O_RDWR);
    char last;
    snprintf(expected, sizeof expected, "%" PRIu64 " bytes", file->size_bytes);
    snprintf(found, sizeof found, "found %" PRIu64, file->size_bytes - 1);
    assert_int_equal(pread(descriptor, &last, 1, (off_t)file->size_bytes - 1), 1);
    assert_int_equal(ftruncate(descriptor, (off_t)file->size_bytes - 1), 0);
    assert_refused(world, task_idx, task_count, file, expected, found);
    assert_int_equal(pwrite(descriptor, &last, 1, (off_t)file->size_bytes - 1), 1);
    close(descriptor);
}

static void damage_each_way(struct world *world, uint32_t task_idx, uint32_t task_count,
                            const struct weir_state_file *file)
{
    char path[256];
    char moved[300];
    char expected[32];
    path_of(world, file, path, sizeof path);
    snprintf(moved, sizeof moved, "%s.moved", path);
    // RocksDB 9 leaves an empty log in its checkpoints: there is nothing in it to damage.
    if (file->size_bytes > 0) {
        flip_and_cut(world, task_idx, task_count, file, path);
    }
    snprintf(expected, sizeof expected, "%" PRIu64 " bytes", file->size_bytes);
    assert_int_equal(rename(path, moved), 0);
    assert_refused(world, task_idx, task_count, file, expected, "No such file");
    assert_int_equal(rename(moved, path), 0);
}

static void damage_all(uint32_t task_count, uint32_t new_task_count)
{
    struct world *world = weir_alloc(sizeof *world);
    make_checkpoint(world, task_count);
    const struct world_checkpoint *checkpoint = world_checkpoint(world, world->committed);
    uint32_t materialised_count = 0;
    uint32_t log_count = 0;
    for (uint32_t i = 0; i < task_count; i++) {
        const struct weir_state_handle *handle = checkpoint->snapshots[i]->state;
        for (uint32_t j = 0; j < handle->file_count; j++) {
            materialised_count += handle->files[j].is_materialised;
            log_count += !handle->files[j].is_materialised;
            // A new task that needs this part.
            uint32_t task_idx = weir_key_group_owner(handle->key_groups.first, new_task_count);
            damage_each_way(world, task_idx, new_task_count, &handle->files[j]);
        }
    }
    assert_true(materialised_count >= 3 * task_count && log_count > 0);
    world_start(world, new_task_count, world->committed);
    world_check_all(world);
    world_end(world);
    free(world);
}

// C149, for every file.
static void test_restore_refuses_damaged_files(void **state)
{
    (void)state;
    damage_all(1, 1);
}

static void test_restore_of_other_key_groups_refuses_damaged_files(void **state)
{
    (void)state;
    damage_all(2, 3);
}

static void assert_error(enum weir_status status, const struct weir_error *error, const char *text)
{
    assert_int_equal(status, WEIR_ERROR);
    assert_int_equal(error->action, WEIR_ACTION_REFUSE);
    if (strstr(error->text, text) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error->text, text);
    }
}

static void test_restore_refuses_parts_that_are_no_whole(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    make_checkpoint(world, 2);
    struct weir_state_handle handles[3];
    world_handles(world_checkpoint(world, world->committed), handles);
    struct weir_error error;
    assert_error(world_create_store(world, 0, 1, world->committed, 1, handles, &error), &error,
                 "key group 64 in no part");
    handles[2] = handles[0];
    assert_error(world_create_store(world, 0, 1, world->committed, 3, handles, &error), &error,
                 "key group 0 in more than one part");
    handles[0].stage = "another";
    assert_error(world_create_store(world, 0, 1, world->committed, 2, handles, &error), &error,
                 "was given files of stage another");
    world_end(world);
    free(world);
}

static void test_restore_refuses_files_of_another_checkpoint(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    make_checkpoint(world, 1);
    struct weir_state_handle handle;
    world_handles(world_checkpoint(world, world->committed), &handle);
    struct weir_error error;
    // The newest log belongs to a later checkpoint than is asked for.
    assert_error(world_create_store(world, 0, 1, world->committed - 1, 1, &handle, &error), &error,
                 "do not make up checkpoint");
    // A log under another number, with its own checksum.
    struct weir_state_file files[64];
    memcpy(files, handle.files, handle.file_count * sizeof *files);
    files[handle.file_count - 1].number++;
    handle.files = files;
    assert_error(world_create_store(world, 0, 1, world->committed + 1, 1, &handle, &error), &error,
                 "of another checkpoint");
    world_end(world);
    free(world);
}

// C147. Whatever an earlier life has left in the working folder is neither used nor kept.
static void test_restore_removes_old_working_folders(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    make_checkpoint(world, 1);
    char path[160];
    snprintf(path, sizeof path, "%s/work/0/live/CURRENT", world->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("nonsense\n", file);
    fclose(file);
    snprintf(path, sizeof path, "%s/work/0/live/left", world->folder);
    file = fopen(path, "w");
    fclose(file);
    world_start(world, 1, world->committed);
    assert_int_equal(access(path, F_OK), -1);
    world_check_all(world);
    world_end(world);
    free(world);
}

// The state of a restore can be restored: with the same key groups its handle lists the files of
// the life before until it has a materialisation of its own.
static void test_restore_goes_on_from_files_of_earlier_lives(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    make_checkpoint(world, 1);
    for (uint32_t life = 0; life < 5; life++) {
        world_start(world, 1, world->committed);
        world->materialise_log_count = life == 2 ? 1 : 100;
        world_check_all(world);
        world_update(world, 0, life);
        world_remove(world, 1, life);
        world_barrier(world);
        world_settle(world);
        world_crash(world);
    }
    world_start(world, 1, world->committed);
    world_check_all(world);
    world_end(world);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restore_refuses_damaged_files),
        cmocka_unit_test(test_restore_of_other_key_groups_refuses_damaged_files),
        cmocka_unit_test(test_restore_refuses_parts_that_are_no_whole),
        cmocka_unit_test(test_restore_refuses_files_of_another_checkpoint),
        cmocka_unit_test(test_restore_removes_old_working_folders),
        cmocka_unit_test(test_restore_goes_on_from_files_of_earlier_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
