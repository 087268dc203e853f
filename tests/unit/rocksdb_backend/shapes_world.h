// SPDX-License-Identifier: Apache-2.0
// The shapes of keyed state over the tasks of a world (state_world.h), with a model of each at each
// checkpoint; lists, maps and raw bytes, each operation held against the model.
#ifndef WEIR_TESTS_UNIT_ROCKSDB_BACKEND_SHAPES_WORLD_H
#define WEIR_TESTS_UNIT_ROCKSDB_BACKEND_SHAPES_WORLD_H

#include "runtime/keyed_shapes.h"
#include "runtime/state_ttl.h"
#include "runtime/timers.h"

#include "tests/unit/rocksdb_backend/state_operations.h"

enum {
    KEYS = 24,
    ELEMENTS = 30,
    ITEMS_MAX = 40,
    TIMES = 50, // in seconds
    TTL_S = 7,
    SECOND_US = 1000000,
    GROUPS = 8, // those that world_key uses
};

struct shapes_model {
    uint32_t item_count[KEYS];
    uint64_t items[KEYS][ITEMS_MAX];
    uint64_t elements[KEYS][ELEMENTS]; // 0: none
    uint64_t raw[WEIR_KEY_GROUP_COUNT];
    bool is_timer[KEYS][TIMES];
    int64_t last_us[KEYS]; // of keys with a time to live; INT64_MIN: not there
    bool is_touched[KEYS]; // in this epoch
    int64_t watermark_us;
};

struct task_shapes {
    struct weir_keyed_list list;
    struct weir_keyed_map map;
    struct weir_raw_keyed raw;
    struct weir_timers *timers;
    struct weir_state_ttl *ttl;
};

struct shapes {
    struct world world;
    struct task_shapes tasks[WORLD_TASKS_MAX];
    struct shapes_model model;
    struct shapes_model *models[WORLD_CHECKPOINTS_MAX]; // by number
};

static inline struct weir_view number_view(const uint64_t *number)
{
    return (struct weir_view){.data = (const char *)number, .size_bytes = sizeof *number};
}

// Some keys are the beginning of others, one is empty: their elements must not mix.
static inline struct weir_state_key key_of(uint32_t idx, char *bytes)
{
    return world_key(idx, bytes);
}

static inline struct task_shapes *owner(struct shapes *shapes, const struct weir_state_key *key)
{
    return &shapes->tasks[weir_key_group_owner(key->key_group, shapes->world.task_count)];
}

static inline void open_shapes(struct shapes *shapes)
{
    struct world *world = &shapes->world;
    for (uint32_t i = 0; i < world->task_count; i++) {
        struct task_shapes *task = &shapes->tasks[i];
        struct weir_state_store *store = world->stores[i];
        struct weir_key_group_range groups = weir_key_groups_of(i, world->task_count);
        weir_keyed_list_open(&task->list, store, "op", "list");
        weir_keyed_map_open(&task->map, store, "op", "map");
        weir_raw_keyed_open(&task->raw, store, "op", "raw");
        task->timers = weir_timers_create(store, "op", "timers", groups);
        task->ttl = weir_state_ttl_create(
            &(struct weir_state_ttl_config){.store = store,
                                            .operator_id = "op",
                                            .key_groups = groups,
                                            .ttl_us = TTL_S * SECOND_US,
                                            .first_epoch = world->number + 1});
    }
}

static inline void start(struct shapes *shapes, uint32_t task_count, int64_t number)
{
    world_start(&shapes->world, task_count, number);
    memset(&shapes->model, 0, sizeof shapes->model);
    if (number != 0) {
        shapes->model = *shapes->models[number];
    } else {
        for (uint32_t i = 0; i < KEYS; i++) {
            shapes->model.last_us[i] = INT64_MIN;
        }
    }
    memset(shapes->model.is_touched, 0, sizeof shapes->model.is_touched);
    open_shapes(shapes);
}

static inline void crash(struct shapes *shapes)
{
    for (uint32_t i = 0; i < shapes->world.task_count; i++) {
        weir_keyed_list_close(&shapes->tasks[i].list);
        weir_keyed_map_close(&shapes->tasks[i].map);
        weir_timers_destroy(shapes->tasks[i].timers);
        weir_state_ttl_destroy(shapes->tasks[i].ttl);
    }
    world_crash(&shapes->world);
}

static inline void barrier(struct shapes *shapes)
{
    struct world *world = &shapes->world;
    for (uint32_t i = 0; i < world->task_count; i++) {
        weir_state_ttl_barrier(shapes->tasks[i].ttl, world->number + 1);
    }
    world_barrier(world);
    memset(shapes->model.is_touched, 0, sizeof shapes->model.is_touched);
    free(shapes->models[world->number]);
    shapes->models[world->number] = weir_alloc(sizeof shapes->model);
    *shapes->models[world->number] = shapes->model;
}

// --- lists ---------------------------------------------------------------------------------------

static inline void check_list(struct shapes *shapes, uint32_t idx)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    struct weir_state_key key = key_of(idx, bytes);
    struct weir_keyed_list *list = &owner(shapes, &key)->list;
    assert_int_equal(weir_keyed_list_count(list, &key), shapes->model.item_count[idx]);
    for (uint32_t i = 0; i < shapes->model.item_count[idx]; i++) {
        struct weir_view item = weir_keyed_list_at(list, &key, i);
        assert_true(weir_view_equal(item, number_view(&shapes->model.items[idx][i])));
    }
}

static inline void change_list(struct shapes *shapes, uint32_t idx)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    struct weir_state_key key = key_of(idx, bytes);
    struct weir_keyed_list *list = &owner(shapes, &key)->list;
    uint32_t *count = &shapes->model.item_count[idx];
    if (*count == ITEMS_MAX || world_below(&shapes->world, 12) == 0) {
        weir_keyed_list_clear(list, &key);
        *count = 0;
        return;
    }
    uint64_t item = world_random(&shapes->world);
    weir_keyed_list_add(list, &key, number_view(&item));
    shapes->model.items[idx][(*count)++] = item;
}

// --- maps ----------------------------------------------------------------------------------------

// "", "\xff", "\xff\xff", …: the order of their numbers is that of the bytes.
static inline struct weir_view element_of(uint32_t idx, char *bytes)
{
    memset(bytes, 0xff, ELEMENTS);
    return (struct weir_view){.data = bytes, .size_bytes = idx};
}

struct map_check {
    struct shapes *shapes;
    uint32_t key_idx;
    uint32_t next; // the least element that may come
    uint32_t to;
    uint32_t left_count; // visits until it says stop
};

static inline bool check_element(void *context, struct weir_view element, struct weir_view value)
{
    struct map_check *check = context;
    const uint64_t *elements = check->shapes->model.elements[check->key_idx];
    while (check->next < ELEMENTS && elements[check->next] == 0) {
        check->next++;
    }
    assert_true(check->next < check->to);
    assert_int_equal(element.size_bytes, check->next);
    assert_true(weir_view_equal(value, number_view(&elements[check->next])));
    check->next++;
    check->left_count--;
    return check->left_count > 0;
}

static inline void check_map(struct shapes *shapes, uint32_t idx, uint32_t from, uint32_t to,
                             uint32_t visits_max)
{
    char bytes[WORLD_KEY_BYTES_MAX];
    char from_bytes[ELEMENTS];
    char to_bytes[ELEMENTS];
    struct weir_state_key key = key_of(idx, bytes);
    struct map_check check = {
        .shapes = shapes, .key_idx = idx, .next = from, .to = to, .left_count = visits_max};
    struct weir_view end = to < ELEMENTS ? element_of(to, to_bytes) : (struct weir_view){0};
    weir_keyed_map_scan(&owner(shapes, &key)->map, &key, element_of(from, from_bytes), end,
                        check_element, &check);
    while (check.left_count > 0 && check.next < to) {
        assert_true(shapes->model.elements[idx][check.next] == 0); // else it was left out
        check.next++;
    }
}

static inline void change_map(struct shapes *shapes, uint32_t idx)
{
    struct world *world = &shapes->world;
    char bytes[WORLD_KEY_BYTES_MAX];
    char element_bytes[ELEMENTS];
    struct weir_state_key key = key_of(idx, bytes);
    struct weir_keyed_map *map = &owner(shapes, &key)->map;
    uint32_t element_idx = world_below(world, ELEMENTS);
    struct weir_view element = element_of(element_idx, element_bytes);
    uint64_t *model = &shapes->model.elements[idx][element_idx];
    struct weir_view value;
    bool existed;
    switch (world_below(world, 6)) {
    case 0:
        weir_keyed_map_remove(map, &key, element);
        *model = 0;
        return;
    case 1:
        assert_int_equal(weir_keyed_map_get(map, &key, element, &value), *model != 0);
        return;
    case 2:
        if (world_below(world, 8) == 0) {
            weir_keyed_map_clear(map, &key);
            memset(shapes->model.elements[idx], 0, sizeof shapes->model.elements[idx]);
        }
        return;
    default: {
        uint64_t *room = weir_keyed_map_update(map, &key, element, sizeof *room, &existed);
        assert_int_equal(existed, *model != 0);
        assert_true(!existed || *room == *model);
        *room = *model = world_random(world) | 1;
        return;
    }
    }
}

// --- raw keyed state -----------------------------------------------------------------------------

static inline void check_raw(struct shapes *shapes, uint16_t key_group)
{
    struct weir_state_key key = {.key_group = key_group};
    struct weir_view bytes;
    uint64_t expected = shapes->model.raw[key_group];
    bool is_there = weir_raw_keyed_read(&owner(shapes, &key)->raw, key_group, &bytes);
    assert_int_equal(is_there, expected != 0);
    assert_true(!is_there || weir_view_equal(bytes, number_view(&expected)));
}

static inline void write_raw(struct shapes *shapes, uint16_t key_group)
{
    struct weir_state_key key = {.key_group = key_group};
    uint64_t number = world_random(&shapes->world) | 1;
    weir_raw_keyed_write(&owner(shapes, &key)->raw, key_group, number_view(&number));
    shapes->model.raw[key_group] = number;
}

#endif
