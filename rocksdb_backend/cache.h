// SPDX-License-Identifier: Apache-2.0
// The write-back cache of one task: all versions it knows, the rules by which they change, what
// changed in the current epoch, what is frozen, and which versions leave when memory is short.
// It knows neither files nor RocksDB: reading what is missing is state.c's, durability is io.h's.
//
// Thread: the task's, all of it.
#ifndef WEIR_ROCKSDB_BACKEND_CACHE_H
#define WEIR_ROCKSDB_BACKEND_CACHE_H

#include "rocksdb_backend/group.h"
#include "runtime/base/assert.h"

struct weir_cached_state {
    uint64_t id;
    uint32_t idx;                  // in cache->states
    struct weir_version_list list; // of the current epoch
    uint32_t read_epoch;           // whose changes are being read; 0: none
    uint32_t read_idx;
    struct weir_group *groups; // by key group - cache->key_groups.first
};

struct weir_cache {
    struct weir_slab *slab;
    struct weir_key_group_range key_groups;
    size_t budget_bytes;          // versions, tables, indexes, lists
    size_t tables_bytes;          // tables and indexes
    uint64_t move_count;          // goes up whenever slots have moved
    size_t lists_bytes;           // of all epochs
    size_t dirty_bytes;           // rooms and lists of the current epoch
    size_t frozen_bytes;          // of all sets
    size_t logged_bytes;          // of those among them that are logged
    uint64_t logged_absent_count; // removed keys that are in these
    // Epochs, each as the task has seen it: clean_through <= applying_through <= logged_through <=
    // written_through <
    // epoch. Which condition a version is in follows from them: cache.c.
    uint32_t epoch;            // in which is written now, from 1
    uint32_t written_through;  // into logs
    uint32_t logged_through;   // and read by operators that read what has changed
    uint32_t applying_through; // == clean_through: nothing is being applied
    uint32_t clean_through;
    struct weir_frozen_set **sets; // epoch e in place e & (capacity - 1)
    uint32_t set_capacity;         // a power of two
    uint32_t reading_count;        // states of which the changes of read_epoch are being read
    uint32_t read_epoch;
    uint32_t state_count;
    struct weir_cached_state **states; // not owned
    // The clock's hand, and how many calls it rests after it has found nothing.
    uint32_t hand_state_idx;
    uint32_t hand_group_idx;
    uint32_t hand_slot_idx;
    uint32_t rest_count;
    uint64_t evicted_count;
};

void weir_cache_init(struct weir_cache *cache, struct weir_key_group_range key_groups,
                     size_t budget_bytes);
void weir_cache_deinit(struct weir_cache *cache); // what is frozen must have left the io side

// is_complete: RocksDB is empty, so that everything there is will be in the cache.
void weir_cache_add_state(struct weir_cache *cache, struct weir_cached_state *state, uint64_t id,
                          bool is_complete);
void weir_cache_remove_states(struct weir_cache *cache); // their groups and lists, not the structs

static inline struct weir_group *weir_cache_group(const struct weir_cache *cache,
                                                  struct weir_cached_state *state,
                                                  uint16_t key_group)
{
    uint32_t idx = (uint32_t)key_group - cache->key_groups.first;
    WEIR_ASSERT(idx < cache->key_groups.count); // the exchange sent a row to the wrong task
    return &state->groups[idx];
}

// Lets go of up to a few clean versions if memory is short. Before a call adds versions: pointers
// and slots that were handed out before may be gone.
void weir_cache_make_room(struct weir_cache *cache);

// Takes in what RocksDB has (value.data NULL: has not) under a key that is not in the table.
struct weir_slot *weir_cache_load(struct weir_cache *cache, struct weir_group *group, uint32_t hash,
                                  const struct weir_state_key *key, struct weir_view value);

// The version of the current epoch for the key, with value_bytes of room; slot NULL: the key is not
// in the table. *existed as for update in state.h. The value's first bytes stay, new ones are zero.
struct weir_version *weir_cache_write(struct weir_cache *cache, struct weir_cached_state *state,
                                      struct weir_group *group, struct weir_slot *slot,
                                      uint32_t hash, const struct weir_state_key *key,
                                      uint32_t value_bytes, bool *existed);
void weir_cache_remove(struct weir_cache *cache, struct weir_cached_state *state,
                       struct weir_group *group, struct weir_slot *slot, uint32_t hash,
                       const struct weir_state_key *key);

// Ends the epoch: its lists become a set. Constant time.
struct weir_frozen_set *weir_cache_freeze(struct weir_cache *cache, int64_t number);

// Lets the memory come that a write to the slot's version will touch besides the version.
void weir_cache_fetch_set(const struct weir_cache *cache, const struct weir_cached_state *state,
                          const struct weir_slot *slot);

// As in state.h.
void weir_cache_begin_changes(struct weir_cache *cache, struct weir_cached_state *state);
uint32_t weir_cache_read_changes(struct weir_cache *cache, struct weir_cached_state *state,
                                 uint32_t count_max, struct weir_state_change *changes);

// The sets up to the epoch have been written into their logs. Those of them that nobody reads any
// more become logged ones; so a call is due when reading has come to its end, too.
void weir_cache_set_written(struct weir_cache *cache, uint32_t written_through);

static inline bool weir_cache_is_applying(const struct weir_cache *cache)
{
    return cache->applying_through != cache->clean_through;
}

// All logged sets, to be applied, with nothing being applied already; NULL: there are none.
struct weir_application *weir_cache_begin_apply(struct weir_cache *cache);

// What was being applied is in RocksDB.
void weir_cache_set_clean(struct weir_cache *cache, uint32_t clean_through);

static inline size_t weir_cache_used_bytes(const struct weir_cache *cache)
{
    return weir_slab_used_bytes(cache->slab) + cache->tables_bytes + cache->lists_bytes;
}

uint32_t weir_cache_hash(struct weir_view key);

#endif
