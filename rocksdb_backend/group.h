// SPDX-License-Identifier: Apache-2.0
// One key group of one state in memory: an open-addressing table of the newest version of each
// known key, an ordered index once it has been scanned, and a bound below which memory is complete.
// One table a group, so that a table that grows stops its task for little. Thread: the task's.
#ifndef WEIR_ROCKSDB_BACKEND_GROUP_H
#define WEIR_ROCKSDB_BACKEND_GROUP_H

#include "rocksdb_backend/ordered.h"
#include "rocksdb_backend/version.h"
#include "runtime/base/memory.h"

struct weir_slot {
    struct weir_version *version; // NULL: empty
    uint32_t hash;
    uint32_t is_referenced : 1; // used since the clock's hand came by
    uint32_t epoch : 31;        // in which the version was written; 0: read from RocksDB
};

struct weir_group {
    struct weir_slot *slots;
    uint32_t capacity; // 0 or a power of two
    uint32_t count;
    uint32_t shift;                    // a hash's slot is hash >> shift
    bool is_complete;                  // no entry is in RocksDB that is not here
    struct weir_buffer complete_below; // else: none is whose key is below this one
    struct weir_ordered *ordered;      // NULL until the first scan
};

static inline uint32_t weir_group_home(const struct weir_group *group, uint32_t hash)
{
    return hash >> group->shift;
}

// The first slot from the hash's home on that has the hash, or an empty one. Not of an empty table.
static inline struct weir_slot *weir_group_find_hash(const struct weir_group *group, uint32_t hash)
{
    uint32_t i = weir_group_home(group, hash);
    while (group->slots[i].version != NULL && group->slots[i].hash != hash) {
        i = (i + 1) & (group->capacity - 1);
    }
    return &group->slots[i];
}

// The slot of the key, NULL: unknown.
static inline struct weir_slot *weir_group_find(const struct weir_group *group, uint32_t hash,
                                                struct weir_view key)
{
    if (group->capacity == 0) {
        return NULL;
    }
    for (uint32_t i = weir_group_home(group, hash);; i = (i + 1) & (group->capacity - 1)) {
        struct weir_slot *slot = &group->slots[i];
        if (slot->version == NULL) {
            return NULL;
        }
        if (slot->hash == hash && slot->version->key_bytes == key.size_bytes &&
            memcmp(slot->version->bytes, key.data, key.size_bytes) == 0) {
            return slot;
        }
    }
}

// Memory of table and index, which the budget counts.
size_t weir_group_bytes(const struct weir_group *group);
void weir_group_deinit(struct weir_group *group); // versions stay

// A version of a key that is not in the table. The slot is valid until the next change.
struct weir_slot *weir_group_insert(struct weir_group *group, uint32_t hash,
                                    struct weir_version *version);
// Puts `version` in the place of the slot's.
void weir_group_replace(struct weir_group *group, struct weir_slot *slot,
                        struct weir_version *version);
void weir_group_erase(struct weir_group *group, struct weir_slot *slot);

// The index must know of everything but what was read from RocksDB as not being there.
void weir_group_order(struct weir_group *group, struct weir_version *version);
// Makes the index.
void weir_group_make_ordered(struct weir_group *group);

// Whether a key that is not in the table is known not to exist.
bool weir_group_is_known_absent(const struct weir_group *group, struct weir_view key);
// What exists at `key` is forgotten.
void weir_group_lower_bound(struct weir_group *group, struct weir_view key);
// Everything below `key` is known now; NULL data: everything.
void weir_group_raise_bound(struct weir_group *group, struct weir_view key);

#endif
