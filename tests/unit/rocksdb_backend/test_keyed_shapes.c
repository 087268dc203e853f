// SPDX-License-Identifier: Apache-2.0
// Lists, maps, raw bytes of key groups, timers and times to live over the real store, against a
// model: random operations, barriers, io that comes late, materialisations, crashes, restores of
// checkpoints with another number of tasks. A seed is a run.
#include "tests/unit/rocksdb_backend/shapes_world.h"

// --- timers --------------------------------------------------------------------------------------

static uint32_t idx_of(const struct weir_state_key *key)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        char bytes[WORLD_KEY_BYTES_MAX];
        struct weir_state_key candidate = key_of(i, bytes);
        if (weir_view_equal(candidate.bytes, key->bytes)) {
            assert_int_equal(candidate.key_group, key->key_group);
            return i;
        }
    }
    fail_msg("a key that was never given");
    return 0;
}

struct firing {
    struct shapes *shapes;
    struct task_shapes *task;
    int64_t up_to_us;
    int32_t key_group;
    int64_t last_us;
};

static int64_t time_of(uint32_t time)
{
    return ((int64_t)time - TIMES / 2) * SECOND_US; // before and after the epoch
}

// Some stay, some add others, due or not.
static bool on_timer(void *context, const struct weir_state_key *key, int64_t time_us)
{
    struct firing *firing = context;
    struct shapes *shapes = firing->shapes;
    uint32_t idx = idx_of(key);
    uint32_t time = (uint32_t)(time_us / SECOND_US + TIMES / 2);
    assert_true(time_us <= firing->up_to_us);
    assert_true(shapes->model.is_timer[idx][time]);
    assert_true(key->key_group >= firing->key_group);
    firing->key_group = key->key_group;
    if (world_below(&shapes->world, 10) == 0) {
        return false;
    }
    if (world_below(&shapes->world, 4) == 0 && time + 1 < TIMES) {
        uint32_t later = time + 1 + world_below(&shapes->world, TIMES - time - 1);
        weir_timers_add(firing->task->timers, key, time_of(later));
        shapes->model.is_timer[idx][later] = true;
    }
    shapes->model.is_timer[idx][time] = false;
    return true;
}

static bool is_left(void *context, const struct weir_state_key *key, int64_t time_us)
{
    struct firing *firing = context;
    uint32_t time = (uint32_t)(time_us / SECOND_US + TIMES / 2);
    assert_true(firing->shapes->model.is_timer[idx_of(key)][time]);
    firing->shapes->model.is_timer[idx_of(key)][time] = false;
    return true;
}

// First some are left; what then is left comes again.
static void fire(struct shapes *shapes)
{
    struct world *world = &shapes->world;
    uint32_t up_to = world_below(world, TIMES);
    for (uint32_t i = 0; i < world->task_count; i++) {
        struct firing firing = {.shapes = shapes,
                                .task = &shapes->tasks[i],
                                .up_to_us = time_of(up_to),
                                .key_group = -1};
        weir_timers_fire(shapes->tasks[i].timers, firing.up_to_us, on_timer, &firing);
        weir_timers_fire(shapes->tasks[i].timers, firing.up_to_us, is_left, &firing);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        for (uint32_t time = 0; time <= up_to; time++) {
            assert_false(shapes->model.is_timer[i][time]); // else it was forgotten
        }
    }
}

static void change_timer(struct shapes *shapes, uint32_t idx)
{
    struct world *world = &shapes->world;
    char bytes[WORLD_KEY_BYTES_MAX];
    struct weir_state_key key = key_of(idx, bytes);
    struct weir_timers *timers = owner(shapes, &key)->timers;
    uint32_t time = world_below(world, TIMES);
    bool is_added = world_below(world, 5) != 0;
    if (is_added) {
        weir_timers_add(timers, &key, time_of(time));
    } else {
        weir_timers_remove(timers, &key, time_of(time));
    }
    shapes->model.is_timer[idx][time] = is_added;
}

// --- time to live --------------------------------------------------------------------------------

static bool is_over(const struct shapes_model *model, uint32_t idx, int64_t time_us)
{
    return model->last_us[idx] != INT64_MIN && time_us >= model->last_us[idx] + TTL_S * SECOND_US;
}

// Rows of several keys of one task, some keys more than once.
static void touch(struct shapes *shapes)
{
    struct world *world = &shapes->world;
    struct shapes_model *model = &shapes->model;
    char bytes[8][WORLD_KEY_BYTES_MAX];
    struct weir_state_key keys[8];
    int64_t times_us[8];
    bool is_expected[8];
    bool is_expired[8];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t idx = world_below(world, KEYS);
        keys[count] = key_of(idx, bytes[count]);
        if (count > 0 && owner(shapes, &keys[count]) != owner(shapes, &keys[0])) {
            continue;
        }
        times_us[count] = model->watermark_us + world_below(world, 20) * SECOND_US / 2;
        is_expected[count] = is_over(model, idx, times_us[count]);
        if (model->last_us[idx] < times_us[count]) {
            model->last_us[idx] = times_us[count];
        }
        model->is_touched[idx] = true;
        count++;
    }
    weir_state_ttl_touch(owner(shapes, &keys[0])->ttl, count, keys, times_us, is_expired);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(is_expired[i], is_expected[i]);
    }
}

static void forget(void *context, const struct weir_state_key *key)
{
    struct shapes_model *model = &((struct shapes *)context)->model;
    uint32_t idx = idx_of(key);
    assert_true(is_over(model, idx, model->watermark_us));
    assert_false(model->is_touched[idx]);
    model->last_us[idx] = INT64_MIN;
}

static void sweep(struct shapes *shapes)
{
    struct world *world = &shapes->world;
    struct shapes_model *model = &shapes->model;
    model->watermark_us += world_below(world, 4) * SECOND_US;
    uint32_t count_max = world_below(world, 3) == 0 ? 1 : UINT32_MAX;
    for (uint32_t i = 0; i < world->task_count; i++) {
        weir_state_ttl_sweep(shapes->tasks[i].ttl, model->watermark_us, count_max, forget, shapes);
        weir_state_ttl_sweep(shapes->tasks[i].ttl, INT64_MAX, count_max, forget, shapes);
    }
    for (uint32_t i = 0; i < KEYS && count_max != 1; i++) {
        assert_true(model->is_touched[i] || !is_over(model, i, model->watermark_us));
    }
}

static void check_alive(struct shapes *shapes, uint32_t idx)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    struct weir_state_key key = key_of(idx, bytes);
    int64_t time_us =
        shapes->model.watermark_us + world_below(&shapes->world, 2 * TTL_S) * SECOND_US;
    bool is_expected =
        shapes->model.last_us[idx] != INT64_MIN && !is_over(&shapes->model, idx, time_us);
    assert_int_equal(weir_state_ttl_is_alive(owner(shapes, &key)->ttl, &key, time_us), is_expected);
}

// --- runs ----------------------------------------------------------------------------------------

static void some_operation(struct shapes *shapes)
{
    struct world *world = &shapes->world;
    uint32_t idx = world_below(world, KEYS);
    uint16_t key_group = (uint16_t)(world_below(world, GROUPS) * 16);
    uint32_t from = world_below(world, ELEMENTS);
    switch (world_below(world, 16)) {
    case 0:
        check_list(shapes, idx);
        break;
    case 1:
    case 2:
        change_list(shapes, idx);
        break;
    case 3:
        check_map(shapes, idx, from, from + world_below(world, ELEMENTS + 1 - from),
                  world_below(world, 3) == 0 ? 1 + world_below(world, 5) : UINT32_MAX);
        break;
    case 4:
        check_raw(shapes, key_group);
        break;
    case 5:
        write_raw(shapes, key_group);
        break;
    case 6:
        fire(shapes);
        break;
    case 7:
    case 8:
        change_timer(shapes, idx);
        break;
    case 9:
    case 10:
        touch(shapes);
        break;
    case 11:
        sweep(shapes);
        break;
    case 12:
        check_alive(shapes, idx);
        break;
    default:
        change_map(shapes, idx);
        break;
    }
}

static bool count_entry(void *context, const struct weir_state_key *key, struct weir_view value)
{
    (void)key;
    (void)value;
    (*(uint32_t *)context)++;
    return true;
}

// How many entries a state has, in all tasks.
static uint32_t count_entries(struct shapes *shapes, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < GROUPS; i++) {
        struct weir_state_key key = {.key_group = (uint16_t)(i * 16)};
        uint32_t task_idx = weir_key_group_owner(key.key_group, shapes->world.task_count);
        struct weir_state_store *store = shapes->world.stores[task_idx];
        struct weir_state *state = store->ops->open_state(store, "op", name);
        state->ops->scan(state, key.key_group, (struct weir_view){0}, (struct weir_view){0},
                         count_entry, &count);
    }
    return count;
}

// What was taken out leaves nothing behind.
static void check_sizes(struct shapes *shapes)
{
    const struct shapes_model *model = &shapes->model;
    uint32_t item_count = 0;
    uint32_t element_count = 0;
    uint32_t alive_count = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        item_count += model->item_count[i] != 0 ? model->item_count[i] + 1 : 0;
        alive_count += model->last_us[i] != INT64_MIN;
        for (uint32_t j = 0; j < ELEMENTS; j++) {
            element_count += model->elements[i][j] != 0;
        }
    }
    assert_int_equal(count_entries(shapes, "list"), item_count);
    assert_int_equal(count_entries(shapes, "map"), element_count);
    assert_int_equal(count_entries(shapes, "ttl"), alive_count);
    assert_int_equal(count_entries(shapes, "ttl timers"), alive_count);
}

static void check_all(struct shapes *shapes)
{
    check_sizes(shapes);
    for (uint32_t i = 0; i < KEYS; i++) {
        check_list(shapes, i);
        check_map(shapes, i, 0, ELEMENTS, UINT32_MAX);
        check_alive(shapes, i);
    }
    for (uint16_t i = 0; i < GROUPS; i++) {
        check_raw(shapes, (uint16_t)(i * 16));
    }
    fire(shapes);
    sweep(shapes);
}

static void live(struct shapes *shapes, uint32_t operation_count)
{
    struct world *world = &shapes->world;
    for (uint32_t i = 0; i < operation_count; i++) {
        some_operation(shapes);
        if (world_below(world, 40) == 0) {
            barrier(shapes);
        }
        if (world_below(world, 8) == 0) {
            world_some_io(world);
        }
        for (uint32_t j = 0; j < world->task_count; j++) {
            struct weir_rocksdb_store_stats stats;
            while (world->stores[j]->ops->is_full(world->stores[j])) {
                world_some_io(world);
            }
            weir_rocksdb_store_stats(world->stores[j], &stats);
            // What is not clean waits; all else is within the budget, but for what one call takes.
            size_t unclean_bytes = stats.dirty_bytes + stats.frozen_bytes;
            assert_true(stats.cache_bytes <= world->budget_bytes + unclean_bytes + (64 << 10));
        }
    }
}

// What is not synced is lost with each crash; what a checkpoint says comes back in any number of
// tasks.
static void run(uint64_t seed, size_t budget_bytes, const uint32_t *task_counts,
                uint32_t life_count)
{
    struct shapes *shapes = weir_alloc_zero(sizeof *shapes);
    struct world *world = &shapes->world;
    world_begin(world, seed);
    world->budget_bytes = budget_bytes;
    world->apply_bytes_min = world_below(world, 2) == 0 ? 1 : 20000;
    int64_t number = 0;
    for (uint32_t life = 0; life < life_count; life++) {
        start(shapes, task_counts[life], number);
        check_all(shapes);
        live(shapes, 300 + world_below(world, 1200));
        crash(shapes);
        number = world_some_checkpoint(world);
    }
    start(shapes, 1, number);
    check_all(shapes);
    crash(shapes);
    for (uint32_t i = 0; i < WORLD_CHECKPOINTS_MAX; i++) {
        free(shapes->models[i]);
    }
    world_end(world);
    free(shapes);
}

static void test_keyed_shapes_with_room_are_as_the_model(void **state)
{
    (void)state;
    static const uint32_t ONE[] = {1, 1, 1, 1};
    for (uint64_t seed = 1; seed <= world_seed_count(4); seed++) {
        run(seed, (size_t)32 << 20, ONE, 4);
    }
}

// A few kilobytes of cache: everything is evicted and read again all the time.
static void test_keyed_shapes_without_room_are_as_the_model(void **state)
{
    (void)state;
    static const uint32_t ONE[] = {1, 1, 1, 1};
    for (uint64_t seed = 1; seed <= world_seed_count(4); seed++) {
        run(1000000 + seed, (size_t)64 << 10, ONE, 4);
    }
}

static void test_keyed_shapes_are_rescaled_one_four_three(void **state)
{
    (void)state;
    static const uint32_t COUNTS[] = {1, 4, 3, 2, 4, 1};
    for (uint64_t seed = 1; seed <= world_seed_count(4); seed++) {
        run(2000000 + seed, seed % 2 == 0 ? (size_t)128 << 10 : (size_t)32 << 20, COUNTS, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyed_shapes_with_room_are_as_the_model),
        cmocka_unit_test(test_keyed_shapes_without_room_are_as_the_model),
        cmocka_unit_test(test_keyed_shapes_are_rescaled_one_four_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
