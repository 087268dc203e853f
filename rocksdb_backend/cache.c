// SPDX-License-Identifier: Apache-2.0
// See cache.h. A version is in one of four conditions, told by the epoch in its slot:
//
//   epoch of the slot       condition    a write to the key
//   cache->epoch            current      changes it in place
//   > clean_through         frozen       leaves it alone; a copy becomes current
//   <= clean_through        clean        makes it current, in place
//   (not in a slot)         superseded   (nothing finds it)
//
// Invariants
// 1. A frozen or superseded version is not written: the io side may be reading it.
// 2. A key that is not in the table has its newest value in RocksDB: only clean versions leave.
// 3. A superseded version is freed with its set, never before the set is clean.
// 4. An absent version of a set that became clean leaves: RocksDB does not have the key either.
// 5. group->complete_below: every existing key below it is in the table. Clean versions that exist
//    lower it when they leave; absent ones need not.
#include "rocksdb_backend/cache.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    EPOCH_MASK = INT32_MAX,
    // Bounds of one call, so that no single one pays for a whole round: versions and slots seen.
    SWEEP_VERSIONS_MAX = 64,
    SWEEP_SLOTS_MAX = 1024,
    REST_CALLS = 64, // after a sweep that found nothing clean
};

uint32_t weir_cache_hash(struct weir_view key)
{
    return (uint32_t)(XXH3_64bits(key.data, key.size_bytes) >> 32);
}

void weir_cache_init(struct weir_cache *cache, struct weir_key_group_range key_groups,
                     size_t budget_bytes)
{
    *cache = (struct weir_cache){
        .slab = weir_slab_create(budget_bytes >= (size_t)64 << 20),
        .key_groups = key_groups,
        .budget_bytes = budget_bytes,
        .epoch = 1,
    };
    cache->frozen_end = &cache->frozen;
}

void weir_cache_deinit(struct weir_cache *cache)
{
    while (cache->frozen != NULL) {
        struct weir_frozen_set *set = cache->frozen;
        cache->frozen = set->next;
        for (uint32_t i = 0; i < set->list_count; i++) {
            free(set->lists[i].versions);
        }
        free(set);
    }
    weir_cache_remove_states(cache);
    weir_slab_destroy(cache->slab);
    *cache = (struct weir_cache){0};
}

void weir_cache_add_state(struct weir_cache *cache, struct weir_cached_state *state, uint64_t id,
                          bool is_complete)
{
    *state = (struct weir_cached_state){.id = id, .list = {.state_id = id}};
    state->groups = weir_alloc_zero(cache->key_groups.count * sizeof *state->groups);
    for (uint32_t i = 0; i < cache->key_groups.count; i++) {
        state->groups[i].is_complete = is_complete;
    }
    cache->states =
        weir_realloc(cache->states, (cache->state_count + 1) * sizeof(struct weir_cached_state *));
    cache->states[cache->state_count++] = state;
}

void weir_cache_remove_states(struct weir_cache *cache)
{
    for (uint32_t i = 0; i < cache->state_count; i++) {
        struct weir_cached_state *state = cache->states[i];
        for (uint32_t j = 0; j < cache->key_groups.count; j++) {
            weir_group_deinit(&state->groups[j]);
        }
        free(state->groups);
        free(state->list.versions);
    }
    free(cache->states);
    cache->states = NULL;
    cache->state_count = 0;
}

static struct weir_version *make_version(struct weir_cache *cache, const struct weir_state_key *key,
                                         size_t value_bytes)
{
    WEIR_ASSERT(key->bytes.size_bytes < UINT32_MAX / 2);
    uint32_t room_bytes;
    struct weir_version *version = weir_slab_alloc(
        cache->slab, weir_version_size(key->bytes.size_bytes, value_bytes), &room_bytes);
    *version = (struct weir_version){
        .room_bytes = room_bytes,
        .key_bytes = (uint32_t)key->bytes.size_bytes,
        .value_bytes = (uint32_t)value_bytes,
        .key_group = (uint8_t)key->key_group,
    };
    if (key->bytes.size_bytes != 0) {
        memcpy(version->bytes, key->bytes.data, key->bytes.size_bytes);
    }
    return version;
}

static void free_version(struct weir_cache *cache, struct weir_version *version)
{
    weir_slab_free(cache->slab, version, version->room_bytes);
}

// Changes of a group go through here, so that its memory is counted.
static struct weir_slot *insert(struct weir_cache *cache, struct weir_group *group, uint32_t hash,
                                struct weir_version *version, bool is_ordered)
{
    cache->tables_bytes -= weir_group_bytes(group);
    struct weir_slot *slot = weir_group_insert(group, hash, version);
    if (is_ordered) {
        weir_group_order(group, version);
    }
    cache->tables_bytes += weir_group_bytes(group);
    return slot;
}

static void erase(struct weir_cache *cache, struct weir_group *group, struct weir_slot *slot)
{
    cache->tables_bytes -= weir_group_bytes(group);
    weir_group_erase(group, slot);
    cache->tables_bytes += weir_group_bytes(group);
}

static bool is_clean(const struct weir_cache *cache, const struct weir_slot *slot)
{
    return slot->epoch <= cache->clean_through;
}

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
    erase(cache, group, slot);
    free_version(cache, version);
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
        if (slot->version == NULL || !is_clean(cache, slot)) {
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

struct weir_slot *weir_cache_load(struct weir_cache *cache, struct weir_group *group, uint32_t hash,
                                  const struct weir_state_key *key, struct weir_view value)
{
    struct weir_version *version = make_version(cache, key, value.size_bytes);
    version->is_absent = value.data == NULL;
    if (value.size_bytes != 0) {
        memcpy(weir_version_data(version), value.data, value.size_bytes);
    }
    return insert(cache, group, hash, version, !version->is_absent);
}

static void swap_in_list(struct weir_version_list *list, uint32_t a, uint32_t b)
{
    struct weir_version *version = list->versions[a];
    list->versions[a] = list->versions[b];
    list->versions[b] = version;
    list->versions[a]->list_idx = a;
    list->versions[b]->list_idx = b;
}

static void set_absent(struct weir_cached_state *state, struct weir_version *version,
                       bool is_absent)
{
    if (version->is_absent == is_absent) {
        return;
    }
    version->is_absent = is_absent;
    if (state->is_visiting) {
        state->is_unpartitioned = true;
    } else if (is_absent) {
        swap_in_list(&state->list, version->list_idx, state->list.absent_count++);
    } else {
        swap_in_list(&state->list, version->list_idx, --state->list.absent_count);
    }
}

void weir_cache_partition(struct weir_cached_state *state)
{
    state->is_visiting = false;
    if (!state->is_unpartitioned) {
        return;
    }
    state->is_unpartitioned = false;
    struct weir_version_list *list = &state->list;
    list->absent_count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->versions[i]->is_absent) {
            swap_in_list(list, i, list->absent_count++);
        }
    }
}

// Appends a version to the list of the current epoch.
static void list_append(struct weir_cache *cache, struct weir_cached_state *state,
                        struct weir_version *version)
{
    struct weir_version_list *list = &state->list;
    WEIR_DASSERT(!state->is_visiting); // only the visited entry may be changed
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->versions = weir_realloc(list->versions, list->capacity * sizeof(void *));
    }
    version->list_idx = list->count;
    list->versions[list->count++] = version;
    if (version->is_absent) {
        swap_in_list(list, version->list_idx, list->absent_count++);
    }
    cache->dirty_bytes += version->room_bytes;
}

static void order(struct weir_cache *cache, struct weir_group *group, struct weir_version *version)
{
    if (group->ordered != NULL && !version->is_ordered) {
        cache->tables_bytes -= weir_group_bytes(group);
        weir_group_order(group, version);
        cache->tables_bytes += weir_group_bytes(group);
    }
}

// A version of the current epoch for a key that is not in the table.
static struct weir_version *add_current(struct weir_cache *cache, struct weir_cached_state *state,
                                        struct weir_group *group, uint32_t hash,
                                        const struct weir_state_key *key, uint32_t value_bytes,
                                        bool is_absent)
{
    struct weir_version *version = make_version(cache, key, value_bytes);
    version->is_absent = is_absent;
    list_append(cache, state, version);
    struct weir_slot *slot = insert(cache, group, hash, version, true);
    slot->epoch = cache->epoch & EPOCH_MASK;
    return version;
}

static struct weir_frozen_set *set_of(const struct weir_cache *cache, uint32_t epoch)
{
    struct weir_frozen_set *set = cache->frozen;
    while (set != NULL && set->epoch != epoch) {
        set = set->next;
    }
    WEIR_ASSERT(set != NULL);
    return set;
}

// A copy of the slot's version with room for value_bytes, in its place in the table.
static struct weir_version *copy_version(struct weir_cache *cache, struct weir_group *group,
                                         struct weir_slot *slot, uint32_t value_bytes)
{
    struct weir_version *old = slot->version;
    struct weir_state_key key = {.key_group = old->key_group, .bytes = weir_version_key(old)};
    struct weir_version *copy = make_version(cache, &key, value_bytes);
    copy->is_absent = old->is_absent;
    copy->value_bytes = old->value_bytes < value_bytes ? old->value_bytes : value_bytes;
    if (!old->is_absent && copy->value_bytes != 0) {
        memcpy(weir_version_data(copy), weir_version_data(old), copy->value_bytes);
    }
    weir_group_replace(group, slot, copy);
    return copy;
}

// Makes the slot's version one of the current epoch with room for value_bytes.
static struct weir_version *make_current(struct weir_cache *cache, struct weir_cached_state *state,
                                         struct weir_group *group, struct weir_slot *slot,
                                         uint32_t value_bytes, bool is_absent)
{
    struct weir_version *old = slot->version;
    uint32_t epoch = slot->epoch;
    bool is_current = epoch == cache->epoch;
    bool is_frozen = !is_current && !is_clean(cache, slot);
    bool fits = weir_version_size(old->key_bytes, value_bytes) <= old->room_bytes;
    struct weir_version *version = old;
    if (is_frozen || !fits) {
        version = copy_version(cache, group, slot, value_bytes);
    }
    if (!is_current) {
        version->is_absent = is_absent;
        list_append(cache, state, version);
        order(cache, group, version);
        slot->epoch = cache->epoch & EPOCH_MASK;
    } else if (!fits) {
        version->list_idx = old->list_idx;
        state->list.versions[version->list_idx] = version;
        cache->dirty_bytes += version->room_bytes;
        cache->dirty_bytes -= old->room_bytes;
    }
    if (is_current) {
        set_absent(state, version, is_absent);
    }
    if (is_frozen) {
        struct weir_frozen_set *set = set_of(cache, epoch);
        old->is_superseded = true;
        old->next_superseded = set->superseded;
        set->superseded = old;
    } else if (!fits) {
        free_version(cache, old);
    }
    return version;
}

struct weir_version *weir_cache_write(struct weir_cache *cache, struct weir_cached_state *state,
                                      struct weir_group *group, struct weir_slot *slot,
                                      uint32_t hash, const struct weir_state_key *key,
                                      uint32_t value_bytes, bool *existed)
{
    struct weir_version *version;
    uint32_t kept = 0;
    *existed = slot != NULL && !slot->version->is_absent;
    if (slot != NULL) {
        version = make_current(cache, state, group, slot, value_bytes, false);
        slot->is_referenced = true;
        kept = *existed ? version->value_bytes : 0;
    } else {
        version = add_current(cache, state, group, hash, key, value_bytes, false);
    }
    if (kept < value_bytes) {
        memset(weir_version_data(version) + kept, 0, value_bytes - kept);
    }
    version->value_bytes = value_bytes;
    return version;
}

void weir_cache_remove(struct weir_cache *cache, struct weir_cached_state *state,
                       struct weir_group *group, struct weir_slot *slot, uint32_t hash,
                       const struct weir_state_key *key)
{
    if (slot != NULL) {
        make_current(cache, state, group, slot, 0, true);
    } else {
        add_current(cache, state, group, hash, key, 0, true);
    }
}

struct weir_frozen_set *weir_cache_freeze(struct weir_cache *cache, int64_t number)
{
    struct weir_frozen_set *set =
        weir_alloc_zero(sizeof *set + cache->state_count * sizeof(struct weir_version_list));
    set->epoch = cache->epoch++;
    set->number = number;
    set->bytes = cache->dirty_bytes;
    set->list_count = cache->state_count;
    for (uint32_t i = 0; i < cache->state_count; i++) {
        struct weir_cached_state *state = cache->states[i];
        WEIR_ASSERT(!state->is_visiting);
        set->lists[i] = state->list;
        set->entry_count += state->list.count;
        state->list = (struct weir_version_list){.state_id = state->id};
    }
    cache->frozen_bytes += cache->dirty_bytes;
    cache->dirty_bytes = 0;
    *cache->frozen_end = set;
    cache->frozen_end = &set->next;
    return set;
}

static void release_set(struct weir_cache *cache, struct weir_frozen_set *set)
{
    for (uint32_t i = 0; i < set->list_count; i++) {
        struct weir_version_list *list = &set->lists[i];
        for (uint32_t j = 0; j < list->absent_count; j++) {
            struct weir_version *version = list->versions[j];
            if (!version->is_superseded) {
                struct weir_group *group =
                    weir_cache_group(cache, cache->states[i], version->key_group);
                struct weir_view key = weir_version_key(version);
                struct weir_slot *slot = weir_group_find(group, weir_cache_hash(key), key);
                WEIR_ASSERT(slot != NULL && slot->version == version);
                erase(cache, group, slot);
                free_version(cache, version);
            }
        }
        free(list->versions);
    }
    while (set->superseded != NULL) {
        struct weir_version *version = set->superseded;
        set->superseded = version->next_superseded;
        free_version(cache, version);
    }
    cache->frozen_bytes -= set->bytes;
    free(set);
}

void weir_cache_set_clean(struct weir_cache *cache, uint32_t clean_through)
{
    WEIR_ASSERT(clean_through >= cache->clean_through && clean_through < cache->epoch);
    cache->rest_count = 0;
    while (cache->frozen != NULL && cache->frozen->epoch <= clean_through) {
        struct weir_frozen_set *set = cache->frozen;
        cache->frozen = set->next;
        if (cache->frozen == NULL) {
            cache->frozen_end = &cache->frozen;
        }
        release_set(cache, set);
    }
    cache->clean_through = clean_through;
}
