// SPDX-License-Identifier: Apache-2.0
// A version: key and value of one entry in one epoch. The table of its key group points at the
// newest one of each key (group.h); the list of its epoch at each that was written in it.
//
// Thread: the task's while it is of the current epoch or clean. While it is frozen and not clean,
// the io side reads key, value and is_absent, and the task writes none of these; the task's own
// fields lie in other bytes, so that this is no race.
#ifndef WEIR_ROCKSDB_BACKEND_VERSION_H
#define WEIR_ROCKSDB_BACKEND_VERSION_H

#include "rocksdb_backend/slab.h"
#include "runtime/state.h"

#include <assert.h>
#include <stdatomic.h>

struct weir_version {
    struct weir_version *next_superseded; // what its set frees when it is clean
    uint32_t list_idx;                    // its place in the list of the current epoch
    uint32_t room_bytes;                  // of this allocation, header included
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint8_t key_group;
    uint8_t is_absent;     // removed, or known not to be there
    uint8_t is_ordered;    // stands in the ordered index of its group, if there is one
    uint8_t is_superseded; // a newer one has taken its place in the table
    char padding[4];
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

// What one state changed in one epoch. The first absent_count are those that are absent.
struct weir_version_list {
    uint64_t state_id;
    struct weir_version **versions; // malloc
    uint32_t count;
    uint32_t absent_count;
    uint32_t capacity;
};

// What a task changed in one epoch, from its barrier on: frozen. Owned by the task, which frees it
// when the io side is done with it (its epoch is clean); until then the io side reads it.
struct weir_frozen_set {
    uint32_t epoch;                 // the store's own count, from 1
    int64_t number;                 // of the checkpoint
    struct weir_snapshot *snapshot; // held; the io side's from the barrier on
    uint64_t entry_count;
    size_t bytes; // of all versions' rooms
    struct weir_version *superseded;
    struct weir_frozen_set *next;
    uint32_t list_count;
    struct weir_version_list lists[];
};

#endif
