// SPDX-License-Identifier: Apache-2.0
// A version: key and value of one entry in one epoch. The table of its key group points at the
// newest one of each key (group.h); the list of its epoch at each that was written in it.
//
// Thread: the task's, but while its set is being logged or applied: then the io side reads key,
// value and is_absent, and the task writes none of these; the task's own fields lie in other bytes,
// so that this is no race.
#ifndef WEIR_ROCKSDB_BACKEND_VERSION_H
#define WEIR_ROCKSDB_BACKEND_VERSION_H

#include "rocksdb_backend/slab.h"
#include "runtime/state.h"

#include <assert.h>
#include <stdatomic.h>

struct weir_version {
    struct weir_version *next_superseded; // what its set frees when it is clean
    uint32_t list_idx;                    // its place in the list of its epoch
    uint32_t room_bytes;                  // of this allocation, header included
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint8_t key_group;
    uint8_t is_absent;     // removed, or known not to be there
    uint8_t is_ordered;    // stands in the ordered index of its group, if there is one
    uint8_t is_superseded; // a newer one has taken its place in the table
    uint8_t is_unstored;   // RocksDB has no entry of the key (not kept up once it is clean)
    char padding[3];
    char bytes[]; // the key, then at the next multiple of 8 the value
};
static_assert(sizeof(struct weir_version) == 32, "values stay aligned to 8");
static_assert(WEIR_KEY_GROUP_COUNT <= 256, "a key group is one byte");

static inline struct weir_view weir_version_key(const struct weir_version *version)
{
    return (struct weir_view){.data = version->bytes, .size_bytes = version->key_bytes};
}

static inline size_t weir_version_size(size_t key_bytes, size_t value_bytes)
{
    return sizeof(struct weir_version) + ((key_bytes + 7) & ~(size_t)7) + value_bytes;
}

static inline char *weir_version_data(struct weir_version *version)
{
    return version->bytes + ((version->key_bytes + 7) & ~7U);
}

// .data == NULL: absent.
static inline struct weir_view weir_version_value(const struct weir_version *version)
{
    if (version->is_absent) {
        return (struct weir_view){.data = NULL};
    }
    return (struct weir_view){.data = version->bytes + ((version->key_bytes + 7) & ~7U),
                              .size_bytes = version->value_bytes};
}

// What one state changed in one epoch. The first absent_count are those that are absent. NULL: a
// later epoch has taken the version over.
struct weir_version_list {
    uint64_t state_id;
    const char *rows_of; // the operator whose rows are this state's entries; NULL: they are none's
    int64_t row_count;   // of these, at the barrier
    struct weir_version **versions; // malloc
    uint32_t count;
    uint32_t absent_count;
    uint32_t capacity;
};

// Versions lie all over memory: whoever walks a list lets the ones to come be fetched meanwhile.
static inline void weir_version_list_prefetch(const struct weir_version_list *list, uint32_t idx)
{
    enum { AHEAD = 8 };
    if (idx + AHEAD < list->count && list->versions[idx + AHEAD] != NULL) {
        __builtin_prefetch(list->versions[idx + AHEAD]);
        __builtin_prefetch((const char *)list->versions[idx + AHEAD] + 64);
    }
}

// What a task changed in one epoch, from its barrier on. Owned by the task. The io side reads it
// while it is logged, and once more while it is applied; in between the task may take versions out.
struct weir_frozen_set {
    uint32_t epoch;                 // the store's own count, from 1
    int64_t number;                 // of the checkpoint
    struct weir_snapshot *snapshot; // held; the io side's from the barrier on
    uint64_t entry_count;           // at the barrier
    size_t bytes;                   // of the rooms of its versions, and of the lists
    struct weir_version *superseded;
    uint32_t list_count;
    struct weir_version_list lists[];
};

// Sets on their way into RocksDB together. malloc: the io side's from being handed over on.
struct weir_application {
    uint32_t epoch;       // of the last set
    int64_t number;       // of its checkpoint
    uint32_t whole_epoch; // the current one at its begin: cache.c, invariant 4
    bool is_materialised; // a native checkpoint is taken after it
    uint32_t set_count;
    struct weir_frozen_set *sets[]; // oldest first
};

#endif
