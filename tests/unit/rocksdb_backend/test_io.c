// SPDX-License-Identifier: Apache-2.0
// The io side where the disk fails, and which files it leaves in the checkpoint store.
#include "rocksdb_backend/io.h"
#include "runtime/base/failpoint.h"
#include "tests/unit/rocksdb_backend/state_operations.h"

static void arm(const char *list)
{
    struct weir_error error;
    assert_int_equal(weir_failpoints_init(list, &error), WEIR_OK);
}

static void change(struct world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        world_update(world, world_below(world, WORLD_STATES), world_below(world, WORLD_KEYS));
    }
}

static struct world *new_world(uint32_t materialise_log_count)
{
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 3);
    world->materialise_log_count = materialise_log_count;
    world_start(world, 1, 0);
    return world;
}

static void assert_failed(struct world *world, const char *text)
{
    struct weir_error error;
    assert_int_equal(world->stores[0]->ops->check(world->stores[0], &error), WEIR_ERROR);
    assert_int_equal(error.domain, WEIR_DOMAIN_STORE);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    if (strstr(error.text, text) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
    }
}

struct names {
    struct weir_arena *arena;
    const char **names;
    uint32_t count;
};

static struct names list_files(struct world *world)
{
    struct names names = {.arena = weir_arena_create(4096)};
    struct weir_error error;
    assert_int_equal(
        weir_state_files_list(world->store_folder, names.arena, &names.names, &names.count, &error),
        WEIR_OK);
    return names;
}

static uint32_t kept_handles(struct world *world, struct weir_state_handle *handles)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->checkpoint_count; i++) {
        if (world_is_complete(&world->checkpoints[i])) {
            count += world_handles(&world->checkpoints[i], handles + count);
        }
    }
    return count;
}

// Files that no checkpoint lists; they are removed.
static uint32_t remove_unlisted(struct world *world)
{
    struct names files = list_files(world);
    struct weir_state_handle handles[64];
    uint32_t handle_count = kept_handles(world, handles);
    bool *is_deleted = weir_alloc(files.count + 1);
    weir_state_files_select(files.names, files.count, handles, handle_count, is_deleted);
    uint32_t count = 0;
    for (uint32_t i = 0; i < files.count; i++) {
        if (is_deleted[i]) {
            weir_state_file_delete(world->store_folder, files.names[i]);
            count++;
        }
    }
    free(is_deleted);
    weir_arena_destroy(files.arena);
    return count;
}

// Logs as long as the state is small, but neither for the sake of a few kilobytes nor without end.
static void test_io_materialises_by_the_size_of_the_state(void **state)
{
    (void)state;
    const struct weir_io_config config = {.materialise_log_bytes = 1000,
                                          .materialise_log_bytes_min = 100};
    assert_int_equal(weir_io_materialise_log_bytes(&config, 1), 100);
    assert_int_equal(weir_io_materialise_log_bytes(&config, 25), 100);
    assert_int_equal(weir_io_materialise_log_bytes(&config, 100), 400);
    assert_int_equal(weir_io_materialise_log_bytes(&config, 250), 1000);
    assert_int_equal(weir_io_materialise_log_bytes(&config, 1000000), 1000);
    // Nobody knows yet how large it is: the first one is due as late as any.
    assert_int_equal(weir_io_materialise_log_bytes(&config, 0), 1000);
}

// The bytes of logs and of the materialisation that the last checkpoint lists.
static void count_bytes(const struct world *world, uint64_t *log_bytes,
                        uint64_t *materialised_bytes)
{
    struct weir_state_handle handles[WORLD_TASKS_MAX];
    world_handles(&world->checkpoints[world->checkpoint_count - 1], handles);
    *log_bytes = 0;
    *materialised_bytes = 0;
    for (uint32_t i = 0; i < handles[0].file_count; i++) {
        *(handles[0].files[i].is_materialised ? materialised_bytes : log_bytes) +=
            handles[0].files[i].size_bytes;
    }
}

// The same through the store: a few keys that change all the time are materialised again and again,
// though their logs never come to a bound.
static void test_io_bounds_the_logs_of_a_small_state(void **state)
{
    (void)state;
    struct world *world = new_world(1);
    uint64_t log_bytes;
    uint64_t log_bytes_max = 0;
    uint64_t materialised_bytes = 0;
    for (int i = 0; i < 20; i++) {
        change(world, 50);
        world_barrier(world);
        world_settle(world);
    }
    count_bytes(world, &log_bytes, &materialised_bytes);
    assert_true(materialised_bytes > 0);
    world_crash(world);
    world->materialise_log_count = 1000000;
    world->materialise_log_bytes = 1 << 30;
    world_start(world, 1, world->committed);
    for (int i = 0; i < 400; i++) {
        change(world, 50);
        world_barrier(world);
        world_settle(world);
        count_bytes(world, &log_bytes, &materialised_bytes);
        log_bytes_max = log_bytes > log_bytes_max ? log_bytes : log_bytes_max;
    }
    assert_in_range(log_bytes_max, materialised_bytes, 6 * materialised_bytes);
    world_check_all(world);
    world_end(world);
    free(world);
}

static void test_io_failed_log_fails_the_store(void **state)
{
    (void)state;
    struct world *world = new_world(3);
    change(world, 50);
    world_barrier(world);
    world_settle(world);
    assert_int_equal(world->committed, 1);
    arm("state.log.write=error");
    change(world, 50);
    world_barrier(world);
    change(world, 50);
    world_barrier(world); // behind the one that fails
    world_settle(world);
    assert_int_equal(world->committed, 1);
    assert_failed(world, "/state.a_stage");
    assert_failed(world, ".00000000000000000002.log: Input/output error");
    change(world, 50);
    world_barrier(world);
    world_settle(world);
    assert_int_equal(world->committed, 1);
    assert_failed(world, ".00000000000000000002.log"); // the first failure stays
    struct names files = list_files(world);
    assert_int_equal(files.count, 1); // log 1, no half of log 2
    weir_arena_destroy(files.arena);
    world_crash(world);
    world_start(world, 1, 1);
    world_check_all(world);
    world_end(world);
    free(world);
}

static void test_io_without_its_folder_names_it(void **state)
{
    (void)state;
    struct world *world = new_world(3);
    assert_int_equal(rmdir(world->store_folder), 0);
    change(world, 5);
    world_barrier(world);
    world_settle(world);
    assert_failed(world, world->store_folder);
    assert_failed(world, "No such file or directory");
    world_end(world);
    free(world);
}

static void test_io_failed_live_write_fails_the_store(void **state)
{
    (void)state;
    struct world *world = new_world(1);
    change(world, 50);
    world_barrier(world);
    world_settle(world);
    arm("state.live.write=error");
    change(world, 50);
    world_barrier(world);
    change(world, 50);
    world_barrier(world);
    world_settle(world);
    assert_failed(world, "RocksDB cannot write");
    // Log 2 was durable before; 3 may or may not have been written in time.
    assert_true(world->committed >= 2);
    world_crash(world);
    world_start(world, 1, 2);
    world_check_all(world);
    world_end(world);
    free(world);
}

static void run_checkpoints(struct world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        change(world, 30);
        world_barrier(world);
        world_settle(world);
    }
}

// A materialisation that fails is tried again; checkpoints go on from the one before.
static void test_io_failed_publication_is_tried_again(void **state)
{
    (void)state;
    struct world *world = new_world(2);
    arm("state.publish=error@2");
    run_checkpoints(world, 2);
    struct weir_state_handle handle;
    world_handles(world_checkpoint(world, 2), &handle);
    assert_int_equal(handle.file_count, 2);
    assert_int_equal(remove_unlisted(world), 0); // what had been published was taken back
    run_checkpoints(world, 3);
    assert_int_equal(world->stores[0]->ops->check(world->stores[0], NULL), WEIR_OK);
    world_handles(world_checkpoint(world, 5), &handle);
    assert_true(handle.files[0].is_materialised);
    world_crash(world);
    world_start(world, 1, 5);
    world_check_all(world);
    world_end(world);
    free(world);
}

// What the one that fails shares with the one before stays.
static void test_io_failed_publication_keeps_shared_tables(void **state)
{
    (void)state;
    struct world *world = new_world(2);
    run_checkpoints(world, 5);
    arm("state.publish=error@4"); // of the four new files the last one
    run_checkpoints(world, 1);
    struct weir_state_handle handle;
    world_handles(world_checkpoint(world, world->committed), &handle);
    assert_true(handle.files[0].is_materialised && handle.files[0].number < 5);
    world_crash(world);
    world_start(world, 1, world->committed);
    world_check_all(world);
    world_end(world);
    free(world);
}

// While a life goes on, only what kept checkpoints list is there.
static void test_io_leaves_no_files_behind(void **state)
{
    (void)state;
    struct world *world = new_world(2);
    for (uint32_t i = 0; i < 30; i++) {
        run_checkpoints(world, 1);
    }
    run_checkpoints(world, 1); // lists a materialisation that was just published
    struct names before = list_files(world);
    assert_int_equal(remove_unlisted(world), 0);
    assert_true(before.count > 4);
    weir_arena_destroy(before.arena);
    world_end(world);
    free(world);
}

// What crashes leave is found at the next start, and what is listed stays.
static void test_io_leftovers_of_crashes_are_found(void **state)
{
    (void)state;
    struct world *world = new_world(2);
    uint32_t removed_count = 0;
    for (uint32_t life = 0; life < 10; life++) {
        run_checkpoints(world, 3);
        change(world, 30);
        world_barrier(world); // its log is written, its checkpoint is never complete
        weir_rocksdb_store_step(world->stores[0], WEIR_ROCKSDB_STEP_LOG);
        int64_t number = world->committed;
        world_crash(world);
        world->committed = number;
        while (world->checkpoints[world->checkpoint_count - 1].number > number) {
            world_drop_checkpoint(&world->checkpoints[--world->checkpoint_count]);
        }
        removed_count += remove_unlisted(world);
        world_start(world, 1, number);
        world_check_all(world);
    }
    assert_true(removed_count >= 10);
    world_end(world);
    free(world);
}

// One materialisation at a time, and none while there is one that no checkpoint has listed.
static void test_io_materialises_at_its_own_pace(void **state)
{
    (void)state;
    struct world *world = new_world(2);
    world_crash(world);
    world->apply_bytes_min = 1; // each set alone
    world_start(world, 1, 0);
    struct weir_state_store *store = world->stores[0];
    for (uint32_t i = 1; i <= 6; i++) {
        change(world, 10);
        world_barrier(world);
        assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LOG));
        store->ops->is_full(store); // hands over what is to be applied
        if (i <= 4) {
            assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LIVE));
        }
    }
    // One was due after the second log; the others wait for its publication, and then for a handle
    // that lists it, although four logs have come together behind it.
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_PUBLISH));
    assert_false(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_PUBLISH));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LIVE));
        store->ops->is_full(store);
    }
    assert_false(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_PUBLISH));
    world_collect(world);
    change(world, 10);
    world_barrier(world);
    world_settle(world);
    struct weir_state_handle handle;
    world_handles(world_checkpoint(world, 7), &handle);
    assert_true(handle.files[0].is_materialised);
    assert_int_equal(handle.files[0].number, 2);
    assert_int_equal(handle.files[handle.file_count - 1].number, 7);
    world_end(world);
    free(world);
}

// What was changed again before it was applied is missing from the materialisation: the checkpoints
// between the two, whose logs do not have it either, must list the one before.
static void test_io_materialisation_is_listed_once_it_is_whole(void **state)
{
    (void)state;
    struct world *world = new_world(2);
    struct weir_state_store *store = world->stores[0];
    world_update(world, 0, 1);
    world_update(world, 0, 2);
    world_barrier(world); // 1
    world_update(world, 0, 3);
    world_barrier(world); // 2
    world_update(world, 0, 4);
    world_barrier(world); // 3
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LOG));
    world_update(world, 0, 1); // taken out of set 1 while sets 2 and 3 are on their way
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LOG));
    store->ops->is_full(store); // sets 1 and 2 are handed over: a materialisation
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LIVE));
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_PUBLISH));
    world_barrier(world); // 4
    world_settle(world);
    struct weir_state_handle handle;
    world_handles(world_checkpoint(world, 3), &handle);
    assert_false(handle.files[0].is_materialised);
    world_handles(world_checkpoint(world, 4), &handle);
    assert_true(handle.files[0].is_materialised);
    assert_int_equal(handle.files[0].number, 2);
    for (int64_t number = 4; number >= 3; number--) {
        world_crash(world);
        world_start(world, 1, number);
        world_check_all(world);
    }
    world_end(world);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_io_materialises_by_the_size_of_the_state),
        cmocka_unit_test(test_io_bounds_the_logs_of_a_small_state),
        cmocka_unit_test(test_io_failed_log_fails_the_store),
        cmocka_unit_test(test_io_without_its_folder_names_it),
        cmocka_unit_test(test_io_failed_live_write_fails_the_store),
        cmocka_unit_test(test_io_failed_publication_is_tried_again),
        cmocka_unit_test(test_io_failed_publication_keeps_shared_tables),
        cmocka_unit_test(test_io_leaves_no_files_behind),
        cmocka_unit_test(test_io_leftovers_of_crashes_are_found),
        cmocka_unit_test(test_io_materialises_at_its_own_pace),
        cmocka_unit_test(test_io_materialisation_is_listed_once_it_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
