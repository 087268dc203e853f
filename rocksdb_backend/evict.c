// SPDX-License-Identifier: Apache-2.0
// Which versions leave the cache when memory is short: a clock. Its hand goes round all tables;
// what was used since it last came by stays for another round, what is not clean stays anyhow
// (cache.c, invariant 2).
#include "rocksdb_backend/cache_parts.h"

#include "runtime/base/failpoint.h"

enum {
    // Bounds of one call, so that no single one pays for a whole round: versions and slots seen.
    SWEEP_VERSIONS_MAX = 64,
    SWEEP_SLOTS_MAX = 1024,
    REST_CALLS = 64, // after a sweep that found nothing clean
};

// The hand's next slot; false: a round has ended with nothing anywhere.
static bool advance_hand(struct weir_cache *cache, struct weir_group **group)
{
    for (uint32_t tried = 0; tried <= cache->state_count * cache->key_groups.count; tried++) {
        if (cache->hand_state_idx >= cache->state_count) {
            cache->hand_state_idx = 0;
        }
        if (cache->state_count == 0) {
            return false;
        }
        *group = &cache->states[cache->hand_state_idx]->groups[cache->hand_group_idx];
        if (cache->hand_slot_idx < (*group)->capacity) {
            return true;
        }
        cache->hand_slot_idx = 0;
        cache->hand_group_idx++;
        if (cache->hand_group_idx == cache->key_groups.count) {
            cache->hand_group_idx = 0;
            cache->hand_state_idx++;
        }
    }
    return false;
}

static void evict(struct weir_cache *cache, struct weir_group *group, struct weir_slot *slot)
{
    struct weir_version *version = slot->version;
    if (!version->is_absent) {
        weir_group_lower_bound(group, weir_version_key(version));
    }
    weir_cache_erase(cache, group, slot);
    weir_cache_free_version(cache, version);
    cache->evicted_count++;
}

void weir_cache_make_room(struct weir_cache *cache)
{
    if (weir_cache_used_bytes(cache) <= cache->budget_bytes) {
        return;
    }
    if (cache->rest_count > 0) {
        cache->rest_count--;
        return;
    }
    bool is_any = false;
    uint32_t version_count = 0;
    struct weir_group *group;
    for (uint32_t i = 0;
         i < SWEEP_SLOTS_MAX && version_count < SWEEP_VERSIONS_MAX && advance_hand(cache, &group);
         i++) {
        struct weir_slot *slot = &group->slots[cache->hand_slot_idx];
        version_count += slot->version != NULL;
        if (slot->version == NULL ||
            (!weir_cache_is_clean(cache, slot) && !weir_failpoint("state.evict_dirty"))) {
            cache->hand_slot_idx++;
        } else if (slot->is_referenced) {
            slot->is_referenced = false;
            is_any = true;
            cache->hand_slot_idx++;
        } else {
            evict(cache, group, slot); // shifts the next entry into this slot: the hand stays
            is_any = true;
            if (weir_cache_used_bytes(cache) <= cache->budget_bytes) {
                return;
            }
        }
    }
    if (!is_any) {
        cache->rest_count = REST_CALLS;
    }
}
