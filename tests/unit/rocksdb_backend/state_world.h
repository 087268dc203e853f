// SPDX-License-Identifier: Apache-2.0
// A small world for tests of the store: tasks with a store each, a coordinator's mailbox, the
// checkpoints that are complete with their handles, a model of what the state must be at each of
// them, and files that are removed as checkpoints leave retention. Everything is random by a seed.
#ifndef WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_WORLD_H
#define WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_WORLD_H

#include "rocksdb_backend/retention.h"
#include "rocksdb_backend/store.h"
#include "runtime/base/assert.h"
#include "runtime/types/hash.h"

#include "tests/unit/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WORLD_TASKS_MAX = 4,
    WORLD_STATES = 3,
    WORLD_KEYS = 400, // of one state
    WORLD_CHECKPOINTS_MAX = 4096,
    WORLD_RETAINED = 3,
};

// What one key holds: nothing, or bytes made from the seed.
struct world_value {
    uint64_t seed; // 0: no entry
    uint32_t size_bytes;
};

struct world_model {
    struct world_value values[WORLD_STATES][WORLD_KEYS];
};

struct world_checkpoint {
    int64_t number;
    uint32_t task_count;
    uint32_t acknowledged_count;
    struct weir_snapshot *snapshots[WORLD_TASKS_MAX];
    struct world_model *model;
};

// What changed in an epoch of one state, being read while the next epoch goes on.
struct world_reading {
    bool is_open[WORLD_TASKS_MAX];
    bool is_changed[WORLD_KEYS];
    bool is_seen[WORLD_KEYS];
    struct world_value values[WORLD_KEYS]; // at the barrier
};

struct world_clock {
    struct weir_clock clock;
    int64_t now_ms;
};

struct world {
    char folder[64];
    char store_folder[96];
    uint64_t random;
    size_t budget_bytes;
    bool is_threaded;
    bool reads_changes; // of epochs
    uint64_t materialise_log_bytes;
    uint32_t materialise_log_count;
    size_t apply_bytes_min;
    uint32_t value_bytes_max;
    uint32_t conversion_count; // of the stores that are created
    const struct weir_state_conversion *conversions;
    struct world_clock clock;
    struct weir_mailbox *coordinator;
    uint32_t attempt;
    uint32_t task_count;
    struct weir_mailbox *mailboxes[WORLD_TASKS_MAX];
    struct weir_state_store *stores[WORLD_TASKS_MAX];
    struct weir_state *states[WORLD_TASKS_MAX][WORLD_STATES];
    struct world_model model;                  // now
    bool is_changed[WORLD_STATES][WORLD_KEYS]; // since the last barrier
    struct world_reading readings[WORLD_STATES];
    int64_t number; // of the last barrier
    // Checkpoints since the oldest retained one, ascending by number; the first complete ones are
    // committed.
    uint32_t checkpoint_count;
    struct world_checkpoint checkpoints[WORLD_CHECKPOINTS_MAX];
    int64_t committed;
};

// How many seeds a test is to run. More for a long run: WEIR_TEST_SEEDS.
static inline uint64_t world_seed_count(uint64_t otherwise)
{
    const char *text = getenv("WEIR_TEST_SEEDS");
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static inline uint64_t world_random(struct world *world)
{
    world->random += UINT64_C(0x9e3779b97f4a7c15);
    return weir_hash_mix(world->random);
}

static inline uint32_t world_below(struct world *world, uint32_t bound)
{
    return (uint32_t)(world_random(world) % bound);
}

static inline int64_t world_now(const struct weir_clock *clock)
{
    return ((const struct world_clock *)(const void *)clock)->now_ms;
}

static inline void world_fill(const struct world_value *value, char *bytes)
{
    uint64_t at = value->seed;
    for (uint32_t i = 0; i < value->size_bytes; i++) {
        at = weir_hash_mix(at);
        bytes[i] = (char)at;
    }
}

// Keys of different lengths: one empty, and in fours each the beginning of the next.
static inline struct weir_state_key world_key(uint32_t idx, char *bytes)
{
    size_t size = idx == 0 ? 0 : 2 + idx % 4 * 9;
    memset(bytes, 0, size);
    if (size > 0) {
        bytes[0] = (char)(idx / 4 % 64);
        bytes[1] = (char)(idx / 256 + 1);
    }
    struct weir_view view = {.data = bytes, .size_bytes = size};
    return (struct weir_state_key){.key_group = (uint16_t)(weir_hash_bytes(bytes, size) % 8 * 16),
                                   .bytes = view};
}

enum { WORLD_KEY_BYTES_MAX = 32 };

static inline struct weir_state *world_state(struct world *world, uint32_t state_idx,
                                             uint16_t key_group)
{
    return world->states[weir_key_group_owner(key_group, world->task_count)][state_idx];
}

static inline void world_begin(struct world *world, uint64_t seed)
{
    *world = (struct world){.random = seed,
                            .budget_bytes = (size_t)32 << 20,
                            .materialise_log_count = 3,
                            .value_bytes_max = 300,
                            .clock = {.clock = {.monotonic_ms = world_now, .wall_ms = world_now}}};
    // In memory where there is such a folder: there are thousands of syncs.
    snprintf(world->folder, sizeof world->folder, "%s/weir-state-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(world->folder));
    snprintf(world->store_folder, sizeof world->store_folder, "%s/store", world->folder);
    assert_int_equal(mkdir(world->store_folder, 0750), 0);
    world->coordinator = weir_mailbox_create();
    for (uint32_t i = 0; i < WORLD_TASKS_MAX; i++) {
        world->mailboxes[i] = weir_mailbox_create();
    }
}

static inline void world_drop_checkpoint(struct world_checkpoint *checkpoint)
{
    for (uint32_t i = 0; i < checkpoint->task_count; i++) {
        weir_snapshot_destroy(checkpoint->snapshots[i]);
    }
    free(checkpoint->model);
}

// Destroys the stores without letting their io finish.
static inline void world_crash(struct world *world)
{
    for (uint32_t i = 0; i < world->task_count; i++) {
        if (world->stores[i] != NULL) {
            world->stores[i]->ops->destroy(world->stores[i]);
            world->stores[i] = NULL;
        }
    }
    struct weir_mail mail;
    while (weir_mailbox_take(world->coordinator, &mail)) {
        weir_snapshot_destroy(mail.payload);
    }
}

static inline void world_end(struct world *world)
{
    world_crash(world);
    for (uint32_t i = 0; i < world->checkpoint_count; i++) {
        world_drop_checkpoint(&world->checkpoints[i]);
    }
    weir_mailbox_destroy(world->coordinator, NULL);
    for (uint32_t i = 0; i < WORLD_TASKS_MAX; i++) {
        weir_mailbox_destroy(world->mailboxes[i], NULL);
    }
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", world->folder);
    assert_int_equal(system(command), 0);
}

static inline struct world_checkpoint *world_checkpoint(struct world *world, int64_t number)
{
    for (uint32_t i = 0; i < world->checkpoint_count; i++) {
        if (world->checkpoints[i].number == number) {
            return &world->checkpoints[i];
        }
    }
    return NULL;
}

static inline bool world_is_complete(const struct world_checkpoint *checkpoint)
{
    return checkpoint->acknowledged_count == checkpoint->task_count;
}

// How many checkpoints are complete, counted up to the first that is not.
static inline uint32_t world_complete_count(const struct world *world)
{
    uint32_t count = 0;
    while (count < world->checkpoint_count && world_is_complete(&world->checkpoints[count])) {
        count++;
    }
    return count;
}

// The number of a complete checkpoint; 0: there is none yet.
static inline int64_t world_some_checkpoint(struct world *world)
{
    uint32_t count = world_complete_count(world);
    return count == 0 ? 0 : world->checkpoints[world_below(world, count)].number;
}

// The handles of a complete checkpoint, at most WORLD_TASKS_MAX.
static inline uint32_t world_handles(const struct world_checkpoint *checkpoint,
                                     struct weir_state_handle *handles)
{
    for (uint32_t i = 0; i < checkpoint->task_count; i++) {
        handles[i] = *checkpoint->snapshots[i]->state;
    }
    return checkpoint->task_count;
}

static inline enum weir_status world_create_store(struct world *world, uint32_t task_idx,
                                                  uint32_t task_count, int64_t number,
                                                  uint32_t handle_count,
                                                  const struct weir_state_handle *handles,
                                                  struct weir_error *error)
{
    char work_folder[128];
    char attempt[24];
    snprintf(work_folder, sizeof work_folder, "%s/work/%u", world->folder, task_idx);
    snprintf(attempt, sizeof attempt, "%016x", world->attempt);
    struct weir_rocksdb_store_config config = {
        .work_folder = work_folder,
        .store_folder = world->store_folder,
        .stage = "a stage",
        .key_groups = weir_key_groups_of(task_idx, task_count),
        .attempt = attempt,
        .budget_bytes = world->budget_bytes,
        .mailbox = world->mailboxes[task_idx],
        .clock = world->is_threaded ? &weir_system_clock : &world->clock.clock,
        .number = number,
        .handle_count = handle_count,
        .handles = handles,
        .conversion_count = world->conversion_count,
        .conversions = world->conversions,
        .materialise_log_bytes = world->materialise_log_bytes,
        .materialise_log_count = world->materialise_log_count,
        .materialise_pause_ms = 1,
        .apply_bytes_min = world->apply_bytes_min,
        .load_bytes_min = world_below(world, 2) == 0 ? 1 + world_below(world, 4000) : 0,
        .is_stepped = !world->is_threaded,
    };
    return weir_rocksdb_store_create(&config, &world->stores[task_idx], error);
}

// Begins a life with so many tasks, from checkpoint `number`; 0: from nothing.
static inline void world_start(struct world *world, uint32_t task_count, int64_t number)
{
    struct weir_state_handle handles[WORLD_TASKS_MAX];
    uint32_t handle_count = 0;
    world->attempt++;
    memset(&world->model, 0, sizeof world->model);
    if (number != 0) {
        const struct world_checkpoint *checkpoint = world_checkpoint(world, number);
        assert_non_null(checkpoint);
        handle_count = world_handles(checkpoint, handles);
        world->model = *checkpoint->model;
    }
    while (world->checkpoint_count > 0 &&
           world->checkpoints[world->checkpoint_count - 1].number > number) {
        world_drop_checkpoint(&world->checkpoints[--world->checkpoint_count]);
    }
    memset(world->is_changed, 0, sizeof world->is_changed);
    memset(world->readings, 0, sizeof world->readings);
    world->number = number;
    world->committed = number;
    world->task_count = task_count;
    for (uint32_t i = 0; i < task_count; i++) {
        struct weir_error error;
        if (world_create_store(world, i, task_count, number, handle_count, handles, &error) !=
            WEIR_OK) {
            fail_msg("%s", error.text);
        }
        for (uint32_t j = 0; j < WORLD_STATES; j++) {
            char name[8];
            snprintf(name, sizeof name, "s%u", j);
            world->states[i][j] = world->stores[i]->ops->open_state(world->stores[i], "op", name);
        }
    }
}

static inline uint32_t world_idx_of(const struct weir_state_key *key);

// Reads some of it; all of it and its end, if asked to.
static inline void world_read_changes(struct world *world, uint32_t state_idx, bool is_all)
{
    struct world_reading *reading = &world->readings[state_idx];
    struct weir_state_change changes[8];
    for (uint32_t i = 0; i < world->task_count; i++) {
        struct weir_state *state = world->states[i][state_idx];
        while (reading->is_open[i]) {
            uint32_t count = state->ops->read_changes(state, 1 + world_below(world, 8), changes);
            for (uint32_t j = 0; j < count; j++) {
                uint32_t idx = world_idx_of(&changes[j].key);
                const struct world_value *expected = &reading->values[idx];
                char bytes[4096];
                assert_false(reading->is_seen[idx]);
                reading->is_seen[idx] = true;
                assert_int_equal(changes[j].value.data != NULL, expected->seed != 0);
                if (expected->seed != 0) {
                    assert_true(reading->is_changed[idx]);
                    assert_int_equal(changes[j].value.size_bytes, expected->size_bytes);
                    world_fill(expected, bytes);
                    assert_memory_equal(changes[j].value.data, bytes, expected->size_bytes);
                }
            }
            reading->is_open[i] = count != 0;
            for (uint32_t k = 0; count == 0 && k < WORLD_KEYS; k++) {
                char bytes[WORLD_KEY_BYTES_MAX];
                uint16_t key_group = world_key(k, bytes).key_group;
                assert_true(weir_key_group_owner(key_group, world->task_count) != i ||
                            reading->is_seen[k] || !reading->is_changed[k]);
            }
            if (!is_all) {
                return;
            }
        }
    }
}

// Before a barrier: what is still being read of the epoch before comes to its end, and of some
// states what has changed in this one is read from now on.
static inline void world_begin_changes(struct world *world)
{
    for (uint32_t i = 0; i < WORLD_STATES; i++) {
        world_read_changes(world, i, true);
    }
    for (uint32_t i = 0; i < WORLD_STATES; i++) {
        if (world->reads_changes && world_below(world, 3) != 0) {
            struct world_reading *reading = &world->readings[i];
            memset(reading->is_seen, 0, sizeof reading->is_seen);
            memcpy(reading->is_changed, world->is_changed[i], sizeof reading->is_changed);
            memcpy(reading->values, world->model.values[i], sizeof reading->values);
            for (uint32_t j = 0; j < world->task_count; j++) {
                reading->is_open[j] = true;
                world->states[j][i]->ops->begin_changes(world->states[j][i]);
            }
            if (world_below(world, 4) == 0) {
                world_read_changes(world, i, world_below(world, 2) == 0);
            }
        }
    }
}

static inline void world_barrier(struct world *world)
{
    world_begin_changes(world);
    world->number++;
    world->clock.now_ms += 10;
    WEIR_ASSERT(world->checkpoint_count < WORLD_CHECKPOINTS_MAX);
    struct world_checkpoint *checkpoint = &world->checkpoints[world->checkpoint_count++];
    *checkpoint = (struct world_checkpoint){.number = world->number,
                                            .task_count = world->task_count,
                                            .model = weir_alloc(sizeof *checkpoint->model)};
    *checkpoint->model = world->model;
    struct weir_barrier barrier = {.number = world->number};
    for (uint32_t i = 0; i < world->task_count; i++) {
        struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, i, world->coordinator);
        world->stores[i]->ops->barrier(world->stores[i], &barrier, snapshot);
        weir_snapshot_release(snapshot);
    }
    memset(world->is_changed, 0, sizeof world->is_changed);
}

// Files that only checkpoints list that leave retention.
static inline void world_retain(struct world *world)
{
    uint32_t complete_count = world_complete_count(world);
    uint32_t leaving = complete_count > WORLD_RETAINED ? complete_count - WORLD_RETAINED : 0;
    if (leaving == 0) {
        return;
    }
    struct weir_state_handle *kept =
        weir_alloc(world->checkpoint_count * WORLD_TASKS_MAX * sizeof *kept);
    uint32_t kept_count = 0;
    for (uint32_t i = leaving; i < complete_count; i++) {
        kept_count += world_handles(&world->checkpoints[i], kept + kept_count);
    }
    for (uint32_t i = 0; i < leaving; i++) {
        for (uint32_t j = 0; j < world->checkpoints[i].task_count; j++) {
            const struct weir_state_handle *handle = world->checkpoints[i].snapshots[j]->state;
            for (uint32_t k = 0; k < handle->file_count; k++) {
                bool is_deleted;
                weir_state_files_select(&handle->files[k].name, 1, kept, kept_count, &is_deleted);
                if (is_deleted) {
                    weir_state_file_delete(world->store_folder, handle->files[k].name);
                }
            }
        }
        world_drop_checkpoint(&world->checkpoints[i]);
    }
    world->checkpoint_count -= leaving;
    memmove(world->checkpoints, world->checkpoints + leaving,
            world->checkpoint_count * sizeof *world->checkpoints);
    free(kept);
}

// Takes acknowledgements in; what is complete is committed in order.
static inline void world_collect(struct world *world)
{
    struct weir_mail mail;
    while (weir_mailbox_take(world->coordinator, &mail)) {
        struct world_checkpoint *checkpoint = world_checkpoint(world, mail.number);
        assert_non_null(checkpoint);
        assert_null(checkpoint->snapshots[mail.task_idx]);
        checkpoint->snapshots[mail.task_idx] = mail.payload;
        checkpoint->acknowledged_count++;
    }
    for (uint32_t i = 0; i < world->checkpoint_count; i++) {
        if (!world_is_complete(&world->checkpoints[i])) {
            break;
        }
        if (world->checkpoints[i].number > world->committed) {
            world->committed = world->checkpoints[i].number;
            for (uint32_t j = 0; j < world->task_count; j++) {
                world->stores[j]->ops->committed(world->stores[j], world->committed);
            }
        }
    }
    world_retain(world);
}

// Stepped: runs all io there is. The task hands over what is to be applied when it is called.
static inline void world_settle(struct world *world)
{
    for (uint32_t i = 0; i < WORLD_STATES; i++) {
        world_read_changes(world, i, true);
    }
    for (uint32_t i = 0; i < world->task_count; i++) {
        struct weir_state_store *store = world->stores[i];
        while (weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LOG)) {
        }
        store->ops->is_full(store);
        while (weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_LIVE)) {
            store->ops->is_full(store);
        }
        while (weir_rocksdb_store_step(store, WEIR_ROCKSDB_STEP_PUBLISH)) {
        }
    }
    world_collect(world);
}

// One random step of one store's io.
static inline void world_some_io(struct world *world)
{
    weir_rocksdb_store_step(world->stores[world_below(world, world->task_count)],
                            (enum weir_rocksdb_step)world_below(world, 3));
    world_collect(world);
}

#endif
