// SPDX-License-Identifier: Apache-2.0
// See store.h. Puts the parts together: restore makes the live RocksDB, cache holds the versions,
// io makes them durable, state.c and scan.c are the operations. Here: creation and destruction, the
// barrier, and the shares of the budget.
#include "rocksdb_backend/store.h"

#include "rocksdb_backend/bulk.h"
#include "rocksdb_backend/files.h"
#include "rocksdb_backend/keyed.h"
#include "rocksdb_backend/restore.h"
#include "runtime/base/log.h"

#include <inttypes.h>
#include <stdio.h>

// Shares of the budget. RocksDB's block cache is only for what has left our cache, but its index
// blocks and filters must fit. Once our cache is full, half of it may be unclean: with more, little
// could be evicted.
// The longer logged versions wait, the fewer of them reach RocksDB: while there is room all of them
// wait. But the current epoch and what is being applied need their room, too.
enum {
    CACHE_PERCENT = 62,
    UNCLEAN_PERCENT_OF_CACHE = 50,
    APPLY_PERCENT_OF_UNCLEAN = 40,
    APPLY_PERCENT_USED = 85,
};

// A restore reads the logs again, so they are bounded; a materialisation flushes and hashes what
// has changed since the last one, so it is rare.
enum {
    MATERIALISE_LOG_BYTES = 128 << 20,
    MATERIALISE_LOG_BYTES_MIN = 16 << 20, // half a second of a restore's CPU
    MATERIALISE_LOG_COUNT = 100,
    MATERIALISE_PAUSE_MS = 5000,
};

static int64_t restored_count(const struct weir_keyed_store *store, const char *operator_id,
                              uint64_t state_id)
{
    for (uint32_t i = 0; i < store->found_rows_count; i++) {
        if (strcmp(store->found_rows[i].operator_id, operator_id) == 0) {
            return store->found_rows[i].count;
        }
    }
    for (uint32_t i = 0; i < store->found_count; i++) {
        if (store->found[i].state_id == state_id) {
            return store->found[i].count;
        }
    }
    return 0;
}

static struct weir_state *open_state(struct weir_state_store *base, const char *operator_id,
                                     const char *name)
{
    struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    uint64_t id = weir_state_id(operator_id, name);
    bool is_first = true;
    for (uint32_t i = 0; i < store->state_count; i++) {
        struct weir_keyed_state *known = store->states[i];
        if (strcmp(known->operator_id, operator_id) == 0 && strcmp(known->name, name) == 0) {
            return &known->state;
        }
        WEIR_ASSERT(known->cached.id != id);
        is_first = is_first && strcmp(known->operator_id, operator_id) != 0;
    }
    WEIR_ASSERT(store->barrier_number == 0 && store->cache.dirty_bytes == 0);
    struct weir_keyed_state *state = weir_alloc_zero(sizeof *state);
    state->state.ops = &weir_keyed_state_ops;
    state->store = store;
    state->operator_id = weir_strdup(operator_id);
    state->name = weir_strdup(name);
    state->has_rows = is_first;
    state->restored_count = is_first ? restored_count(store, operator_id, id) : 0;
    weir_cache_add_state(&store->cache, &state->cached, id, store->is_empty);
    store->states =
        weir_realloc(store->states, (store->state_count + 1) * sizeof(struct weir_keyed_state *));
    store->states[store->state_count++] = state;
    return &state->state;
}

static void barrier(struct weir_state_store *base, const struct weir_barrier *barrier,
                    struct weir_snapshot *snapshot)
{
    struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    WEIR_ASSERT(barrier->number > store->barrier_number);
    store->barrier_number = barrier->number;
    weir_keyed_begin(store);
    weir_snapshot_hold(snapshot);
    atomic_store_explicit(&store->shown_cache_bytes, weir_cache_used_bytes(&store->cache),
                          memory_order_relaxed);
    atomic_store_explicit(&store->shown_unclean_bytes,
                          store->cache.dirty_bytes + store->cache.frozen_bytes,
                          memory_order_relaxed);
    struct weir_frozen_set *set = weir_cache_freeze(&store->cache, barrier->number);
    set->snapshot = snapshot;
    for (uint32_t i = 0; i < store->state_count; i++) {
        const struct weir_keyed_state *state = store->states[i];
        WEIR_DASSERT(set->lists[i].state_id == state->cached.id);
        set->lists[i].rows_of = state->has_rows ? state->operator_id : NULL;
        set->lists[i].row_count =
            state->restored_count + atomic_load_explicit(&state->entry_count, memory_order_relaxed);
    }
    const struct weir_cache *cache = &store->cache;
    weir_log(WEIR_LOG_DEBUG,
             "state %s: barrier %" PRId64 ": %" PRIu64 " changed, %" PRIu64 " read and %" PRIu64
             " evicted so far, %zu of %zu KiB used, %zu waiting for RocksDB",
             store->work_folder, barrier->number, set->entry_count, store->read_count,
             cache->evicted_count, weir_cache_used_bytes(cache) >> 10, cache->budget_bytes >> 10,
             cache->frozen_bytes >> 10);
    weir_io_submit(store->io, set);
}

// The files of older checkpoints go when the job's committer removes their manifests (retention.h).
static void committed(struct weir_state_store *base, int64_t number)
{
    struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    WEIR_ASSERT(number <= store->barrier_number);
}

// What is not clean only matters where its room is wanted. With nothing frozen the io has nothing
// to do, and only a barrier, which comes as input, can help.
static bool is_full(struct weir_state_store *base)
{
    struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    weir_keyed_begin(store);
    const struct weir_cache *cache = &store->cache;
    bool is_io_at_work =
        cache->written_through + 1 != cache->epoch || weir_cache_is_applying(cache);
    return is_io_at_work && weir_cache_used_bytes(cache) > cache->budget_bytes &&
           cache->dirty_bytes + cache->frozen_bytes > store->unclean_bytes_max;
}

static bool wants_checkpoint(struct weir_state_store *base)
{
    const struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    const struct weir_cache *cache = &store->cache;
    // What is dirty now may have to be copied in the next epoch, while its log is being written.
    return cache->dirty_bytes > store->unclean_bytes_max / 2 &&
           weir_cache_used_bytes(cache) + cache->dirty_bytes > cache->budget_bytes;
}

static enum weir_status check(struct weir_state_store *base, struct weir_error *error)
{
    return weir_io_check(((struct weir_keyed_store *)base)->io, error);
}

static void destroy(struct weir_state_store *base)
{
    struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    if (store->io != NULL) {
        weir_io_stop(store->io);
        weir_io_destroy(store->io);
    }
    weir_cache_deinit(&store->cache);
    weir_live_close(store->live);
    for (uint32_t i = 0; i < store->state_count; i++) {
        free(store->states[i]->operator_id);
        free(store->states[i]->name);
        free(store->states[i]);
    }
    free(store->states);
    for (uint32_t i = 0; i < store->found_rows_count; i++) {
        free((char *)(uintptr_t)store->found_rows[i].operator_id);
    }
    free(store->found_rows);
    free(store->found);
    free(store->work_folder);
    weir_buffer_deinit(&store->key);
    weir_buffer_deinit(&store->value);
    weir_buffer_deinit(&store->miss_bytes);
    free(store);
}

static const struct weir_state_store_ops store_ops = {
    .open_state = open_state,
    .barrier = barrier,
    .committed = committed,
    .is_full = is_full,
    .check = check,
    .destroy = destroy,
    .wants_checkpoint = wants_checkpoint,
};

static uint64_t load_bytes_min(const struct weir_rocksdb_store_config *config)
{
    return config->load_bytes_min != 0 ? config->load_bytes_min : WEIR_BULK_LOAD_BYTES_MIN;
}

static void create_io(struct weir_keyed_store *store,
                      const struct weir_rocksdb_store_config *config,
                      const struct weir_state_handle *same)
{
    char *prefix = weir_state_name_prefix(config->stage, config->key_groups, config->attempt);
    struct weir_io_config io = {
        .stage = config->stage,
        .key_groups = config->key_groups,
        .work_folder = config->work_folder,
        .store_folder = config->store_folder,
        .name_prefix = prefix,
        .live = store->live,
        .mailbox = config->mailbox,
        .clock = config->clock,
        .materialise_log_bytes = config->materialise_log_bytes != 0 ? config->materialise_log_bytes
                                                                    : MATERIALISE_LOG_BYTES,
        .materialise_log_bytes_min =
            config->materialise_log_bytes != 0 ? 0 : MATERIALISE_LOG_BYTES_MIN,
        .materialise_log_count = config->materialise_log_count != 0 ? config->materialise_log_count
                                                                    : MATERIALISE_LOG_COUNT,
        .materialise_pause_ms =
            config->materialise_pause_ms != 0 ? config->materialise_pause_ms : MATERIALISE_PAUSE_MS,
        .load_bytes_min = load_bytes_min(config),
        .is_stepped = config->is_stepped,
    };
    store->io =
        weir_io_create(&io, same != NULL ? same->file_count : 0, same != NULL ? same->files : NULL);
    free(prefix);
}

// How many rows each operator has: the handle says it, or they are counted.
static enum weir_status find_rows(struct weir_keyed_store *store,
                                  const struct weir_state_handle *same, struct weir_error *error)
{
    if (same == NULL || same->rows_count == 0) {
        return weir_live_count(store->live, &store->found_count, &store->found, error);
    }
    store->found_rows = weir_alloc(same->rows_count * sizeof *store->found_rows);
    for (uint32_t i = 0; i < same->rows_count; i++) {
        store->found_rows[store->found_rows_count++] = (struct weir_state_rows){
            .operator_id = weir_strdup(same->rows[i].operator_id), .count = same->rows[i].count};
    }
    return WEIR_OK;
}

// A state put together from parts of other key groups has no files of its own yet that a handle
// could list: it gets a materialisation before anything else.
static enum weir_status materialise_parts(struct weir_keyed_store *store, int64_t number,
                                          struct weir_error *error)
{
    char folder[WEIR_STATE_PATH_BYTES_MAX];
    snprintf(folder, sizeof folder, "%s/native-%" PRId64, store->work_folder, number);
    enum weir_status status = weir_live_checkpoint(store->live, folder, error);
    if (status == WEIR_OK) {
        status = weir_io_publish(store->io, number, 0, folder, error);
    }
    weir_folder_remove(folder);
    return status;
}

enum weir_status weir_rocksdb_store_create(const struct weir_rocksdb_store_config *config,
                                           struct weir_state_store **store,
                                           struct weir_error *error)
{
    WEIR_ASSERT(config->key_groups.count > 0 &&
                config->key_groups.first + config->key_groups.count <= WEIR_KEY_GROUP_COUNT);
    WEIR_ASSERT(strlen(config->work_folder) < WEIR_STATE_PATH_BYTES_MAX / 2);
    struct weir_keyed_store *made = weir_alloc_zero(sizeof *made);
    made->store.ops = &store_ops;
    made->work_folder = weir_strdup(config->work_folder);
    size_t cache_bytes = config->budget_bytes / 100 * CACHE_PERCENT;
    made->unclean_bytes_max = cache_bytes / 100 * UNCLEAN_PERCENT_OF_CACHE;
    made->apply_bytes_min = config->apply_bytes_min != 0
                                ? config->apply_bytes_min
                                : made->unclean_bytes_max / 100 * APPLY_PERCENT_OF_UNCLEAN;
    made->apply_used_bytes_min =
        config->apply_bytes_min != 0 ? 0 : cache_bytes / 100 * APPLY_PERCENT_USED;
    weir_cache_init(&made->cache, config->key_groups, cache_bytes);
    struct weir_restore restore = {.stage = config->stage,
                                   .key_groups = config->key_groups,
                                   .work_folder = config->work_folder,
                                   .store_folder = config->store_folder,
                                   .memory_bytes = config->budget_bytes - cache_bytes,
                                   .load_bytes_min = load_bytes_min(config),
                                   .number = config->number,
                                   .handle_count = config->handle_count,
                                   .handles = config->handles,
                                   .conversion_count = config->conversion_count,
                                   .conversions = config->conversions};
    enum weir_status status = weir_folder_make_all(config->work_folder, error);
    if (status == WEIR_OK) {
        status = weir_folder_remake(config->work_folder, error);
    }
    if (status == WEIR_OK) {
        status = weir_restore_run(&restore, error);
    }
    if (status == WEIR_OK) {
        made->live = restore.live;
        made->is_empty = restore.is_empty;
        made->restored_entry_count =
            restore.is_empty ? 0 : weir_live_figure(made->live, WEIR_LIVE_ENTRIES);
        create_io(made, config, restore.same);
        if (restore.same == NULL && !restore.is_empty) {
            status = materialise_parts(made, config->number, error);
        }
    }
    if (status == WEIR_OK && !made->is_empty) {
        status = find_rows(made, restore.same, error);
    }
    if (status != WEIR_OK) {
        destroy(&made->store);
        return WEIR_ERROR;
    }
    *store = &made->store;
    return WEIR_OK;
}

bool weir_rocksdb_store_step(struct weir_state_store *base, enum weir_rocksdb_step step)
{
    struct weir_keyed_store *store = (struct weir_keyed_store *)base;
    switch (step) {
    case WEIR_ROCKSDB_STEP_LOG:
        return weir_io_step(store->io, WEIR_IO_STEP_LOG);
    case WEIR_ROCKSDB_STEP_LIVE:
        return weir_io_step(store->io, WEIR_IO_STEP_LIVE);
    case WEIR_ROCKSDB_STEP_PUBLISH:
        return weir_io_step(store->io, WEIR_IO_STEP_PUBLISH);
    }
    return false;
}

void weir_rocksdb_store_stats(const struct weir_state_store *base,
                              struct weir_rocksdb_store_stats *stats)
{
    const struct weir_keyed_store *store = (const struct weir_keyed_store *)base;
    *stats = (struct weir_rocksdb_store_stats){
        .cache_bytes = weir_cache_used_bytes(&store->cache),
        .dirty_bytes = store->cache.dirty_bytes,
        .frozen_bytes = store->cache.frozen_bytes,
        .logged_bytes = store->cache.logged_bytes,
        .read_count = store->read_count,
        .evicted_count = store->cache.evicted_count,
        .scanned_count = store->scanned_count,
    };
}

void weir_rocksdb_store_look(const struct weir_state_store *base,
                             struct weir_rocksdb_store_look *look)
{
    const struct weir_keyed_store *store = (const struct weir_keyed_store *)base;
    *look = (struct weir_rocksdb_store_look){
        .operator_id = store->state_count > 0 ? store->states[0]->operator_id : "",
        .entry_count = (int64_t)store->restored_entry_count,
        .disk_bytes = weir_live_figure(store->live, WEIR_LIVE_BYTES),
        .cache_bytes = atomic_load_explicit(&store->shown_cache_bytes, memory_order_relaxed),
        .unclean_bytes = atomic_load_explicit(&store->shown_unclean_bytes, memory_order_relaxed),
    };
    for (uint32_t i = 0; i < store->state_count; i++) {
        look->entry_count +=
            atomic_load_explicit(&store->states[i]->entry_count, memory_order_relaxed);
    }
    look->entry_count = look->entry_count > 0 ? look->entry_count : 0;
}
