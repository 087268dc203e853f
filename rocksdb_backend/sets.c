// SPDX-License-Identifier: Apache-2.0
// The life of a set, from the barrier to RocksDB (cache.h): frozen, logged, applying, clean. The
// rules and the invariants stand in cache.c.
#include "rocksdb_backend/cache_parts.h"

static void add_set(struct weir_cache *cache, struct weir_frozen_set *set)
{
    if (set->epoch - cache->clean_through > cache->set_capacity) {
        uint32_t capacity = 2 * cache->set_capacity;
        struct weir_frozen_set **sets = weir_alloc_zero(capacity * sizeof *sets);
        for (uint32_t epoch = cache->clean_through + 1; epoch < set->epoch; epoch++) {
            sets[epoch & (capacity - 1)] = weir_cache_set_of(cache, epoch);
        }
        free(cache->sets);
        cache->sets = sets;
        cache->set_capacity = capacity;
    }
    cache->sets[set->epoch & (cache->set_capacity - 1)] = set;
}

struct weir_frozen_set *weir_cache_freeze(struct weir_cache *cache, int64_t number)
{
    struct weir_frozen_set *set =
        weir_alloc_zero(sizeof *set + cache->state_count * sizeof(struct weir_version_list));
    set->epoch = cache->epoch;
    set->number = number;
    set->bytes = cache->dirty_bytes;
    set->list_count = cache->state_count;
    for (uint32_t i = 0; i < cache->state_count; i++) {
        struct weir_cached_state *state = cache->states[i];
        set->lists[i] = state->list;
        set->entry_count += state->list.count;
        state->list = (struct weir_version_list){.state_id = state->id};
    }
    WEIR_ASSERT(cache->reading_count == 0 || cache->read_epoch == cache->epoch);
    cache->frozen_bytes += cache->dirty_bytes;
    cache->dirty_bytes = 0;
    add_set(cache, set);
    cache->epoch++;
    WEIR_ASSERT(cache->epoch < WEIR_CACHE_EPOCH_MAX);
    return set;
}

void weir_cache_begin_changes(struct weir_cache *cache, struct weir_cached_state *state)
{
    WEIR_ASSERT(state->read_epoch == 0);
    WEIR_ASSERT(cache->reading_count == 0 || cache->read_epoch == cache->epoch);
    state->read_epoch = cache->read_epoch = cache->epoch;
    state->read_idx = 0;
    cache->reading_count++;
}

uint32_t weir_cache_read_changes(struct weir_cache *cache, struct weir_cached_state *state,
                                 uint32_t count_max, struct weir_state_change *changes)
{
    WEIR_ASSERT(state->read_epoch != 0);
    const struct weir_version_list *list =
        state->read_epoch == cache->epoch
            ? &state->list
            : &weir_cache_set_of(cache, state->read_epoch)->lists[state->idx];
    uint32_t count = 0;
    for (; count < count_max && state->read_idx < list->count; count++) {
        weir_version_list_prefetch(list, state->read_idx);
        const struct weir_version *version = list->versions[state->read_idx++];
        changes[count] = (struct weir_state_change){
            .key = {.key_group = version->key_group, .bytes = weir_version_key(version)},
            .value = weir_version_value(version)};
    }
    if (count == 0) {
        state->read_epoch = 0;
        cache->reading_count--;
    }
    return count;
}

// Forgets an absent version that stands in the table.
static void forget(struct weir_cache *cache, struct weir_cached_state *state,
                   struct weir_version *version)
{
    struct weir_group *group = weir_cache_group(cache, state, version->key_group);
    struct weir_view key = weir_version_key(version);
    struct weir_slot *slot = weir_group_find(group, weir_cache_hash(key), key);
    WEIR_ASSERT(slot != NULL && slot->version == version);
    weir_cache_erase(cache, group, slot);
    weir_cache_free_version(cache, version);
}

// A set has become a logged one.
static void take_back(struct weir_cache *cache, struct weir_frozen_set *set)
{
    for (uint32_t i = 0; i < set->list_count; i++) {
        struct weir_version_list *list = &set->lists[i];
        for (uint32_t j = 0; j < list->absent_count; j++) {
            weir_version_list_prefetch(list, j);
            struct weir_version *version = list->versions[j];
            if (version == NULL) { // taken out when it had been sent
                continue;
            }
            if (version->is_unstored && !version->is_superseded) {
                set->bytes -= version->room_bytes;
                cache->frozen_bytes -= version->room_bytes;
                forget(cache, cache->states[i], version);
                list->versions[j] = NULL;
            } else if (!version->is_superseded) {
                cache->logged_absent_count++;
            }
        }
    }
    cache->logged_bytes += set->bytes;
}

void weir_cache_set_written(struct weir_cache *cache, uint32_t written_through)
{
    WEIR_ASSERT(written_through >= cache->written_through && written_through < cache->epoch);
    cache->written_through = written_through;
    bool is_read = cache->reading_count > 0 && written_through >= cache->read_epoch;
    uint32_t logged_through = is_read ? cache->read_epoch - 1 : written_through;
    while (cache->logged_through < logged_through) {
        take_back(cache, weir_cache_set_of(cache, cache->logged_through + 1));
        cache->logged_through++;
    }
}

struct weir_application *weir_cache_begin_apply(struct weir_cache *cache)
{
    WEIR_ASSERT(!weir_cache_is_applying(cache));
    uint32_t count = cache->logged_through - cache->clean_through;
    if (count == 0) {
        return NULL;
    }
    struct weir_application *application =
        weir_alloc_zero(sizeof *application + count * sizeof(struct weir_frozen_set *));
    application->epoch = cache->logged_through;
    application->number = weir_cache_set_of(cache, cache->logged_through)->number;
    application->whole_epoch = cache->epoch;
    application->set_count = count;
    for (uint32_t i = 0; i < count; i++) {
        application->sets[i] = weir_cache_set_of(cache, cache->clean_through + 1 + i);
    }
    cache->applying_through = cache->logged_through;
    cache->logged_bytes = 0;
    cache->logged_absent_count = 0;
    return application;
}

static void release_set(struct weir_cache *cache, struct weir_frozen_set *set)
{
    for (uint32_t i = 0; i < set->list_count; i++) {
        struct weir_version_list *list = &set->lists[i];
        for (uint32_t j = 0; j < list->absent_count; j++) {
            weir_version_list_prefetch(list, j);
            if (list->versions[j] != NULL && !list->versions[j]->is_superseded) {
                forget(cache, cache->states[i], list->versions[j]);
            }
        }
        cache->lists_bytes -= list->capacity * sizeof(void *);
        free(list->versions);
    }
    while (set->superseded != NULL) {
        struct weir_version *version = set->superseded;
        set->superseded = version->next_superseded;
        weir_cache_free_version(cache, version);
    }
    cache->frozen_bytes -= set->bytes;
    free(set);
}

void weir_cache_set_clean(struct weir_cache *cache, uint32_t clean_through)
{
    WEIR_ASSERT(clean_through == cache->applying_through);
    cache->rest_count = 0;
    while (cache->clean_through < clean_through) {
        uint32_t epoch = cache->clean_through + 1;
        release_set(cache, weir_cache_set_of(cache, epoch));
        cache->sets[epoch & (cache->set_capacity - 1)] = NULL;
        cache->clean_through = epoch;
    }
}
