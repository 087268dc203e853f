// SPDX-License-Identifier: Apache-2.0
// What the files of the store share: the store itself and one state of it. Private to store.c,
// state.c and scan.c.
// Thread: the task's.
#ifndef WEIR_ROCKSDB_BACKEND_KEYED_H
#define WEIR_ROCKSDB_BACKEND_KEYED_H

#include "rocksdb_backend/cache.h"
#include "rocksdb_backend/convert.h"
#include "rocksdb_backend/io.h"
#include "rocksdb_backend/live.h"

#include <stdatomic.h>

enum { WEIR_KEYED_PREFETCH_MAX = 1024 }; // of one call to RocksDB; as many as a batch has rows

struct weir_keyed_store {
    struct weir_state_store store;
    struct weir_cache cache;
    struct weir_live *live;
    struct weir_io *io;
    char *work_folder;
    size_t unclean_bytes_max; // of what is dirty or frozen
    // Logged versions are applied when they are so many and the cache is so full.
    size_t apply_bytes_min;
    size_t apply_used_bytes_min;
    bool is_empty; // RocksDB was when the store was made
    // What a restore has counted: of the first state of each operator, or of every state.
    uint32_t found_rows_count;
    struct weir_state_rows *found_rows;
    uint32_t found_count;
    struct weir_state_count *found;
    uint64_t restored_entry_count; // about: as RocksDB estimates
    // As of the last barrier, for those who look.
    _Atomic size_t shown_cache_bytes;
    _Atomic size_t shown_unclean_bytes;
    int64_t barrier_number;
    uint64_t read_count;
    uint64_t scanned_count;
    uint32_t state_count;
    struct weir_keyed_state **states;
    // Scratch.
    struct weir_buffer key;   // a stored key
    struct weir_buffer value; // a value that RocksDB has, aligned
    struct weir_buffer miss_bytes;
    struct weir_view miss_keys[WEIR_KEYED_PREFETCH_MAX];
    struct weir_view miss_values[WEIR_KEYED_PREFETCH_MAX];
    uint32_t misses[WEIR_KEYED_PREFETCH_MAX];
    uint32_t hashes[WEIR_KEYED_PREFETCH_MAX];
    struct weir_slot *slots[WEIR_KEYED_PREFETCH_MAX];
};

struct weir_keyed_state {
    struct weir_state state;
    struct weir_keyed_store *store;
    char *operator_id;
    char *name;
    struct weir_cached_state cached;
    bool has_rows; // the operator's first state: its entries are the operator's rows
    int64_t restored_count; // of its entries, if it has_rows
    // Put in minus taken out by this process, for those who look. Written by the task only.
    _Atomic int64_t entry_count;
};

static inline void weir_keyed_count(struct weir_keyed_state *state, int64_t change)
{
    int64_t count = atomic_load_explicit(&state->entry_count, memory_order_relaxed);
    atomic_store_explicit(&state->entry_count, count + change, memory_order_relaxed);
}

extern const struct weir_state_ops weir_keyed_state_ops;

// Begins a call: takes in how far the io side has come, hands over what is to be applied, and lets
// go of what memory has no room for. What was handed out before is no longer valid.
void weir_keyed_begin(struct weir_keyed_store *store);

void weir_keyed_scan(struct weir_state *state, uint16_t key_group, struct weir_view from,
                     struct weir_view to,
                     bool (*visit)(void *context, const struct weir_state_key *key,
                                   struct weir_view value),
                     void *context);

#endif
