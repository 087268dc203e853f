// SPDX-License-Identifier: Apache-2.0
// The whole store against a model: random operations, barriers, io that comes late, crashes,
// restores from each retained checkpoint with the same or another number of tasks. A seed is a run.
#include "tests/unit/rocksdb_backend/state_operations.h"

// Each life of the world ends in a crash at a random place.
static void live_and_die(struct world *world, uint32_t operation_count)
{
    for (uint32_t i = 0; i < operation_count; i++) {
        world_some_operation(world);
        if (world_below(world, 40) == 0) {
            world_barrier(world);
        }
        if (world_below(world, 8) == 0) {
            world_some_io(world);
        }
        for (uint32_t j = 0; j < world->task_count; j++) {
            while (world->stores[j]->ops->is_full(world->stores[j])) {
                world_read_changes(world, world_below(world, WORLD_STATES), false);
                world_some_io(world);
            }
        }
    }
    world_crash(world);
}

static void run_world(uint64_t seed, size_t budget_bytes, uint32_t task_count_max)
{
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, seed);
    world->budget_bytes = budget_bytes;
    world->reads_changes = true;
    // Applied at once, now and then, or only for materialisations.
    const size_t apply_bytes[] = {1, 20000, 0};
    world->apply_bytes_min = apply_bytes[world_below(world, 3)];
    uint32_t task_count = 1 + world_below(world, task_count_max);
    world_start(world, task_count, 0);
    for (uint32_t life = 0; life < 8; life++) {
        live_and_die(world, 200 + world_below(world, 1500));
        if (world_below(world, 2) == 0) {
            task_count = 1 + world_below(world, task_count_max);
        }
        world_start(world, task_count, world_some_checkpoint(world));
        if (world_below(world, 2) == 0) {
            world_check_all(world);
        }
    }
    world_end(world);
    free(world);
}

static void test_store_with_room_is_as_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= world_seed_count(5); seed++) {
        run_world(seed, (size_t)32 << 20, 1);
    }
}

// A few kilobytes for the cache: everything is evicted and read again all the time.
static void test_store_without_room_is_as_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= world_seed_count(5); seed++) {
        run_world(1000000 + seed, (size_t)64 << 10, 1);
    }
}

static void test_store_of_changing_task_counts_is_as_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= world_seed_count(5); seed++) {
        run_world(2000000 + seed, seed % 2 == 0 ? (size_t)256 << 10 : (size_t)32 << 20,
                  WORLD_TASKS_MAX);
    }
}

// From one task to three to two, with logs and materialisations at each step, nothing lost.
static void test_store_is_rescaled_one_three_two(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 7);
    const uint32_t task_counts[] = {1, 3, 2};
    int64_t number = 0;
    for (uint32_t i = 0; i < 3; i++) {
        world_start(world, task_counts[i], number);
        world_check_all(world);
        for (uint32_t j = 0; j < 10; j++) {
            for (uint32_t k = 0; k < 100; k++) {
                world_update(world, world_below(world, WORLD_STATES),
                             world_below(world, WORLD_KEYS));
                world_remove(world, world_below(world, WORLD_STATES),
                             world_below(world, WORLD_KEYS));
            }
            world_barrier(world);
            world_settle(world);
        }
        number = world->committed;
        assert_int_equal(number, world->number);
        world_crash(world);
    }
    world_start(world, 1, number);
    world_check_all(world);
    world_end(world);
    free(world);
}

static void test_store_acknowledges_when_the_log_is_written(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 8);
    world_start(world, 1, 0);
    world_update(world, 0, 1);
    world_barrier(world);
    world_update(world, 0, 1); // the frozen version stays what it is
    world_update(world, 0, 2);
    struct weir_mail mail;
    assert_false(weir_mailbox_take(world->coordinator, &mail));
    assert_true(weir_rocksdb_store_step(world->stores[0], WEIR_ROCKSDB_STEP_LOG));
    world_collect(world);
    assert_int_equal(world->committed, 1);
    world_crash(world);
    world_start(world, 1, 1);
    world_get(world, 0, 1);
    world_get(world, 0, 2);
    world_end(world);
    free(world);
}

// A task without changes writes no log, and its handle lists what there was.
static void test_store_without_changes_writes_nothing(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 9);
    world_start(world, 1, 0);
    world_barrier(world);
    world_settle(world);
    struct weir_state_handle handle;
    world_handles(world_checkpoint(world, 1), &handle);
    assert_int_equal(handle.file_count, 0);
    world_update(world, 0, 1);
    world_barrier(world);
    world_barrier(world);
    world_settle(world);
    world_handles(world_checkpoint(world, 3), &handle);
    assert_int_equal(handle.file_count, 1);
    assert_int_equal(handle.files[0].number, 2);
    world_crash(world);
    world_start(world, 1, 3);
    world_check_all(world);
    world_end(world);
    free(world);
}

// It is full only while io can help; with nothing frozen a barrier must be able to come.
static void test_store_is_full_only_while_io_can_help(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 10);
    world->budget_bytes = (size_t)64 << 10;
    world_start(world, 1, 0);
    struct weir_state_store *store = world->stores[0];
    assert_false(store->ops->wants_checkpoint(store));
    for (uint32_t i = 0; i < WORLD_KEYS; i++) {
        world_update(world, 0, i);
    }
    assert_true(store->ops->wants_checkpoint(store));
    assert_false(store->ops->is_full(store));
    world_barrier(world);
    assert_false(store->ops->wants_checkpoint(store));
    assert_true(store->ops->is_full(store));
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LOG));
    assert_true(store->ops->is_full(store));
    assert_true(weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LIVE));
    assert_false(store->ops->is_full(store));
    struct weir_rocksdb_store_stats stats;
    weir_rocksdb_store_stats(store, &stats);
    assert_int_equal(stats.frozen_bytes, 0);
    world_check_all(world);
    world_end(world);
    free(world);
}

// What fits into memory is never asked of RocksDB, not even for keys that are new.
static void test_store_that_fits_reads_nothing(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 11);
    world_start(world, 1, 0);
    for (uint32_t i = 0; i < 2000; i++) {
        world_some_operation(world);
        if (i % 100 == 0) {
            world_barrier(world);
            world_settle(world);
        }
    }
    struct weir_rocksdb_store_stats stats;
    weir_rocksdb_store_stats(world->stores[0], &stats);
    assert_int_equal(stats.read_count, 0);
    assert_int_equal(stats.scanned_count, 0);
    world_end(world);
    free(world);
}

static void test_store_keeps_to_its_budget(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 12);
    world->budget_bytes = (size_t)256 << 10;
    world_start(world, 1, 0);
    for (uint32_t i = 0; i < 4000; i++) {
        world_update(world, world_below(world, WORLD_STATES), world_below(world, WORLD_KEYS));
        if (i % 20 == 0) {
            world_barrier(world);
            world_settle(world);
            struct weir_rocksdb_store_stats stats;
            weir_rocksdb_store_stats(world->stores[0], &stats);
            assert_in_range(stats.cache_bytes, 0, 256 << 10);
        }
    }
    struct weir_rocksdb_store_stats stats;
    weir_rocksdb_store_stats(world->stores[0], &stats);
    assert_true(stats.evicted_count > 0);
    world_check_all(world);
    world_end(world);
    free(world);
}

// Once more with real threads: for the thread sanitizer.
static void test_store_with_threads_is_as_the_model(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 13);
    world->is_threaded = true;
    world->reads_changes = true;
    world->budget_bytes = (size_t)256 << 10;
    world_start(world, 2, 0);
    for (uint32_t life = 0; life < 3; life++) {
        for (uint32_t i = 0; i < 2000; i++) {
            world_some_operation(world);
            if (i % 50 == 0) {
                world_barrier(world);
            }
            world_collect(world);
            for (uint32_t j = 0; j < world->task_count; j++) {
                while (world->stores[j]->ops->is_full(world->stores[j])) {
                    world_read_changes(world, world_below(world, WORLD_STATES), false);
                    weir_mailbox_wait(world->mailboxes[j], 10);
                }
            }
        }
        world_crash(world);
        world_start(world, 1 + life % 3, world_some_checkpoint(world));
        world_check_all(world);
    }
    world_end(world);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_with_room_is_as_the_model),
        cmocka_unit_test(test_store_without_room_is_as_the_model),
        cmocka_unit_test(test_store_of_changing_task_counts_is_as_the_model),
        cmocka_unit_test(test_store_is_rescaled_one_three_two),
        cmocka_unit_test(test_store_acknowledges_when_the_log_is_written),
        cmocka_unit_test(test_store_without_changes_writes_nothing),
        cmocka_unit_test(test_store_is_full_only_while_io_can_help),
        cmocka_unit_test(test_store_that_fits_reads_nothing),
        cmocka_unit_test(test_store_keeps_to_its_budget),
        cmocka_unit_test(test_store_with_threads_is_as_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
