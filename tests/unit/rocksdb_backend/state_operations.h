// SPDX-License-Identifier: Apache-2.0
// Operations on the states of a world (state_world.h), each held against the model.
#ifndef WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_OPERATIONS_H
#define WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_OPERATIONS_H

#include "tests/unit/rocksdb_backend/state_world.h"

static inline void world_check_view(const struct world_value *value, struct weir_view view)
{
    char bytes[4096];
    assert_int_equal(view.size_bytes, value->size_bytes);
    assert_int_equal((uintptr_t)view.data % 8, 0);
    world_fill(value, bytes);
    assert_memory_equal(view.data, bytes, value->size_bytes);
}

static inline void world_get(struct world *world, uint32_t state_idx, uint32_t key_idx)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    struct weir_state_key key = world_key(key_idx, bytes);
    struct weir_state *state = world_state(world, state_idx, key.key_group);
    const struct world_value *value = &world->model.values[state_idx][key_idx];
    struct weir_view view;
    bool is_found = state->ops->get(state, &key, &view);
    if (is_found != (value->seed != 0)) {
        fail_msg("state %u key %u: found %d", state_idx, key_idx, is_found);
    }
    if (is_found) {
        world_check_view(value, view);
    }
}

static inline void world_update(struct world *world, uint32_t state_idx, uint32_t key_idx)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    char old_bytes[4096];
    struct weir_state_key key = world_key(key_idx, bytes);
    struct weir_state *state = world_state(world, state_idx, key.key_group);
    struct world_value *value = &world->model.values[state_idx][key_idx];
    struct world_value old = *value;
    bool keeps_size = old.seed != 0 && world_below(world, 2) == 0;
    value->seed = world_random(world) | 1;
    value->size_bytes = keeps_size ? old.size_bytes : world_below(world, world->value_bytes_max);
    bool existed;
    char *data = state->ops->update(state, &key, value->size_bytes, &existed);
    assert_int_equal(existed, old.seed != 0);
    assert_int_equal((uintptr_t)data % 8, 0);
    uint32_t kept = !existed                             ? 0
                    : old.size_bytes < value->size_bytes ? old.size_bytes
                                                         : value->size_bytes;
    world_fill(&old, old_bytes);
    assert_memory_equal(data, old_bytes, kept);
    for (uint32_t i = kept; i < value->size_bytes; i++) {
        assert_int_equal(data[i], 0);
    }
    world_fill(value, data);
    world->is_changed[state_idx][key_idx] = true;
}

static inline void world_remove(struct world *world, uint32_t state_idx, uint32_t key_idx)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    struct weir_state_key key = world_key(key_idx, bytes);
    struct weir_state *state = world_state(world, state_idx, key.key_group);
    state->ops->remove(state, &key);
    if (world->model.values[state_idx][key_idx].seed != 0) {
        world->is_changed[state_idx][key_idx] = true;
    }
    world->model.values[state_idx][key_idx].seed = 0;
}

static inline void world_prefetch(struct world *world, uint32_t state_idx)
{
    static char bytes[64][WORLD_KEY_BYTES_MAX];
    struct weir_state_key keys[WORLD_TASKS_MAX][64];
    uint32_t counts[WORLD_TASKS_MAX] = {0};
    for (uint32_t i = 0; i < 64; i++) {
        struct weir_state_key key = world_key(world_below(world, WORLD_KEYS), bytes[i]);
        uint32_t task_idx = weir_key_group_owner(key.key_group, world->task_count);
        keys[task_idx][counts[task_idx]++] = key;
    }
    for (uint32_t i = 0; i < world->task_count; i++) {
        struct weir_state *state = world->states[i][state_idx];
        state->ops->prefetch(state, counts[i], keys[i]);
    }
}

static inline int world_compare(struct weir_view a, struct weir_view b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

struct world_scan {
    struct world *world;
    uint32_t state_idx;
    uint16_t key_group;
    struct weir_view from;
    struct weir_view to;
    uint32_t visits_max;
    uint32_t count;
    bool is_seen[WORLD_KEYS];
    char last[WORLD_KEY_BYTES_MAX];
    size_t last_bytes;
};

static inline uint32_t world_idx_of(const struct weir_state_key *key)
{
    for (uint32_t i = 0; i < WORLD_KEYS; i++) {
        char bytes[WORLD_KEY_BYTES_MAX] = "";
        struct weir_state_key candidate = world_key(i, bytes);
        if (world_compare(candidate.bytes, key->bytes) == 0) {
            assert_int_equal(candidate.key_group, key->key_group);
            return i;
        }
    }
    fail_msg("a key that was never written");
    return 0;
}

static inline bool world_visit_scan(void *context, const struct weir_state_key *key,
                                    struct weir_view value)
{
    struct world_scan *scan = context;
    assert_true(key->key_group == scan->key_group);
    if (scan->count > 0) {
        assert_true(world_compare((struct weir_view){scan->last, scan->last_bytes}, key->bytes) <
                    0);
    }
    assert_true(world_compare(key->bytes, scan->from) >= 0);
    assert_true(scan->to.data == NULL || world_compare(key->bytes, scan->to) < 0);
    memcpy(scan->last, key->bytes.data, key->bytes.size_bytes);
    scan->last_bytes = key->bytes.size_bytes;
    uint32_t idx = world_idx_of(key);
    const struct world_value *expected = &scan->world->model.values[scan->state_idx][idx];
    assert_true(expected->seed != 0);
    world_check_view(expected, value);
    scan->is_seen[idx] = true;
    scan->count++;
    return scan->count < scan->visits_max;
}

static inline void world_scan(struct world *world, uint32_t state_idx)
{
    char from[WORLD_KEY_BYTES_MAX];
    char to[WORLD_KEY_BYTES_MAX];
    struct world_scan scan = {.world = world,
                              .state_idx = state_idx,
                              .key_group = (uint16_t)(world_below(world, 8) * 16),
                              .visits_max = world_below(world, 4) == 0 ? 1 + world_below(world, 5)
                                                                       : UINT32_MAX};
    if (world_below(world, 2) == 0) {
        scan.from = world_key(world_below(world, WORLD_KEYS), from).bytes;
    }
    if (world_below(world, 3) != 0) {
        scan.to = world_key(world_below(world, WORLD_KEYS), to).bytes;
    }
    struct weir_state *state = world_state(world, state_idx, scan.key_group);
    state->ops->scan(state, scan.key_group, scan.from, scan.to, world_visit_scan, &scan);
    for (uint32_t i = 0; i < WORLD_KEYS && scan.count < scan.visits_max; i++) {
        char bytes[WORLD_KEY_BYTES_MAX];
        struct weir_state_key key = world_key(i, bytes);
        bool is_expected = world->model.values[state_idx][i].seed != 0 &&
                           key.key_group == scan.key_group &&
                           world_compare(key.bytes, scan.from) >= 0 &&
                           (scan.to.data == NULL || world_compare(key.bytes, scan.to) < 0);
        if (is_expected != scan.is_seen[i]) {
            fail_msg("state %u key %u: seen %d", state_idx, i, scan.is_seen[i]);
        }
    }
}

// All of it, in one pass.
static inline void world_check_all(struct world *world)
{
    for (uint32_t i = 0; i < WORLD_STATES; i++) {
        for (uint32_t j = 0; j < WORLD_KEYS; j++) {
            world_get(world, i, j);
        }
    }
}

static inline void world_some_operation(struct world *world)
{
    uint32_t state_idx = world_below(world, WORLD_STATES);
    // Three quarters of the work go to a tenth of the keys.
    uint32_t key_idx =
        world_below(world, world_below(world, 4) != 0 ? WORLD_KEYS / 10 : WORLD_KEYS);
    uint32_t choice = world_below(world, 100);
    if (choice < 35) {
        world_get(world, state_idx, key_idx);
    } else if (choice < 70) {
        world_update(world, state_idx, key_idx);
    } else if (choice < 85) {
        world_remove(world, state_idx, key_idx);
    } else if (choice < 92) {
        world_prefetch(world, state_idx);
    } else if (choice < 99) {
        world_scan(world, state_idx == 2 ? 1 : state_idx); // state 2 is never scanned
    } else {
        world_read_changes(world, state_idx, false);
    }
}

#endif
