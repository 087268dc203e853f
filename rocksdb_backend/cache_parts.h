// SPDX-License-Identifier: Apache-2.0
// What the files of the cache share: cache.c, sets.c, evict.c. Private to them.
// Thread: the task's.
#ifndef WEIR_ROCKSDB_BACKEND_CACHE_PARTS_H
#define WEIR_ROCKSDB_BACKEND_CACHE_PARTS_H

#include "rocksdb_backend/cache.h"

enum {
    WEIR_CACHE_EPOCH_MAX = INT32_MAX, // slots have 31 bits for it
    WEIR_CACHE_SETS_MIN = 8,
};

static inline bool weir_cache_is_clean(const struct weir_cache *cache, const struct weir_slot *slot)
{
    return slot->epoch <= cache->clean_through;
}

static inline struct weir_frozen_set *weir_cache_set_of(const struct weir_cache *cache,
                                                        uint32_t epoch)
{
    struct weir_frozen_set *set = cache->sets[epoch & (cache->set_capacity - 1)];
    WEIR_DASSERT(set != NULL && set->epoch == epoch);
    return set;
}

static inline void weir_cache_free_version(struct weir_cache *cache, struct weir_version *version)
{
    weir_slab_free(cache->slab, version, version->room_bytes);
}

// Takes a version out of its table and index, and counts their memory.
static inline void weir_cache_erase(struct weir_cache *cache, struct weir_group *group,
                                    struct weir_slot *slot)
{
    cache->move_count++;
    cache->tables_bytes -= weir_group_bytes(group);
    weir_group_erase(group, slot);
    cache->tables_bytes += weir_group_bytes(group);
}

#endif
