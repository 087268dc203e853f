// SPDX-License-Identifier: Apache-2.0
// See cache.h. The condition of a version is told by the epoch in its slot:
//
//   epoch of the slot       condition    a write to the key
//   cache->epoch            current      changes it in place
//   > logged_through        frozen       leaves it alone while its log is being written, or its
//                                        operator has yet to read it as a change: a copy becomes
//                                        current. Else it is treated as a logged one
//   > applying_through      logged       takes it out of its set and makes it current, in place
//   > clean_through         applying     leaves it alone (it is on its way into RocksDB); a copy
//                                        becomes current
//   <= clean_through        clean        makes it current, in place
//   (not in a slot)         superseded   (nothing finds it)
//
// Logs make an epoch durable. RocksDB is only where versions go so that they may leave memory, and
// what materialisations are made of: so sets wait as logged ones until one of the two is wanted,
// and of a key that is changed in each epoch only the newest version is ever applied.
//
// Invariants
// 1. A frozen, applying or superseded version is not written: the io side, or the operator, may be
//    reading it.
// 2. A key that is not in the table has its newest value in RocksDB: only clean versions leave.
// 3. A superseded version is freed with its set, never before the set is clean.
// 4. The sets that are applied together are all logged ones, up to epoch m, while the current one
//    is E. What was taken out of them is in later ones, up to E. So RocksDB then, with the logs of
//    m + 1 to k, makes up the state at barrier k for k >= E (for k between the two it does not).
// 5. An absent version of a set that became clean leaves: RocksDB does not have the key either. One
//    of a key that RocksDB never had leaves once it is logged; no other version of the key is in
//    any set then (a copy counts as stored).
// 6. group->complete_below: every existing key below it is in the table. Clean versions that exist
//    lower it when they leave; absent ones need not.
#include "rocksdb_backend/cache_parts.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

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
    cache->set_capacity = WEIR_CACHE_SETS_MIN;
    cache->sets = weir_alloc_zero(WEIR_CACHE_SETS_MIN * sizeof *cache->sets);
}

void weir_cache_deinit(struct weir_cache *cache)
{
    for (uint32_t epoch = cache->clean_through + 1; epoch < cache->epoch; epoch++) {
        struct weir_frozen_set *set = weir_cache_set_of(cache, epoch);
        for (uint32_t i = 0; i < set->list_count; i++) {
            free(set->lists[i].versions);
        }
        free(set);
    }
    free(cache->sets);
    weir_cache_remove_states(cache);
    weir_slab_destroy(cache->slab);
    *cache = (struct weir_cache){0};
}

void weir_cache_add_state(struct weir_cache *cache, struct weir_cached_state *state, uint64_t id,
                          bool is_complete)
{
    *state =
        (struct weir_cached_state){.id = id, .idx = cache->state_count, .list = {.state_id = id}};
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

// Changes of a group go through here, so that its memory is counted.
static struct weir_slot *insert(struct weir_cache *cache, struct weir_group *group, uint32_t hash,
                                struct weir_version *version, bool is_ordered)
{
    const struct weir_slot *slots = group->slots;
    cache->tables_bytes -= weir_group_bytes(group);
    struct weir_slot *slot = weir_group_insert(group, hash, version);
    cache->move_count += group->slots != slots;
    if (is_ordered) {
        weir_group_order(group, version);
    }
    cache->tables_bytes += weir_group_bytes(group);
    return slot;
}

struct weir_slot *weir_cache_load(struct weir_cache *cache, struct weir_group *group, uint32_t hash,
                                  const struct weir_state_key *key, struct weir_view value)
{
    struct weir_version *version = make_version(cache, key, value.size_bytes);
    version->is_absent = value.data == NULL;
    version->is_unstored = version->is_absent;
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
    if (is_absent) {
        swap_in_list(&state->list, version->list_idx, state->list.absent_count++);
    } else {
        swap_in_list(&state->list, version->list_idx, --state->list.absent_count);
    }
}

// Appends a version to the list of the current epoch.
static void list_append(struct weir_cache *cache, struct weir_cached_state *state,
                        struct weir_version *version)
{
    struct weir_version_list *list = &state->list;
    WEIR_DASSERT(state->read_epoch != cache->epoch); // before the barrier it is only read
    if (list->count == list->capacity) {
        uint32_t old_capacity = list->capacity;
        list->capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
        list->versions = weir_realloc(list->versions, list->capacity * sizeof(void *));
        cache->lists_bytes += (list->capacity - old_capacity) * sizeof(void *);
        cache->dirty_bytes += (list->capacity - old_capacity) * sizeof(void *);
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
                                        bool is_absent, bool is_unstored)
{
    struct weir_version *version = make_version(cache, key, value_bytes);
    version->is_absent = is_absent;
    version->is_unstored = is_unstored;
    list_append(cache, state, version);
    struct weir_slot *slot = insert(cache, group, hash, version, true);
    slot->epoch = cache->epoch & WEIR_CACHE_EPOCH_MAX;
    return version;
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

// Takes a version out of its set.
static void take_out(struct weir_cache *cache, const struct weir_cached_state *state,
                     uint32_t epoch, const struct weir_version *version)
{
    struct weir_frozen_set *set = weir_cache_set_of(cache, epoch);
    struct weir_version_list *list = &set->lists[state->idx];
    WEIR_ASSERT(list->versions[version->list_idx] == version);
    list->versions[version->list_idx] = NULL;
    set->bytes -= version->room_bytes;
    cache->frozen_bytes -= version->room_bytes;
    if (epoch <= cache->logged_through) {
        cache->logged_bytes -= version->room_bytes;
        cache->logged_absent_count -= version->is_absent;
    }
}

static void supersede(struct weir_cache *cache, uint32_t epoch, struct weir_version *version)
{
    struct weir_frozen_set *set = weir_cache_set_of(cache, epoch);
    version->is_superseded = true;
    version->next_superseded = set->superseded;
    set->superseded = version;
}

// Neither the io side nor the operator reads it any more, although it stands in a set.
static bool can_be_taken_out(const struct weir_cache *cache, const struct weir_cached_state *state,
                             uint32_t epoch, const struct weir_version *version)
{
    return epoch > cache->applying_through && epoch <= cache->written_through &&
           (epoch != state->read_epoch || version->list_idx < state->read_idx);
}

void weir_cache_fetch_set(const struct weir_cache *cache, const struct weir_cached_state *state,
                          const struct weir_slot *slot)
{
    if (can_be_taken_out(cache, state, slot->epoch, slot->version)) {
        const struct weir_frozen_set *set = weir_cache_set_of(cache, slot->epoch);
        __builtin_prefetch(&set->lists[state->idx].versions[slot->version->list_idx], 1);
    }
}

// Makes the slot's version, which is of an earlier epoch, one of the current one.
static struct weir_version *renew(struct weir_cache *cache, struct weir_cached_state *state,
                                  struct weir_group *group, struct weir_slot *slot,
                                  uint32_t value_bytes, bool is_absent)
{
    struct weir_version *old = slot->version;
    uint32_t epoch = slot->epoch;
    bool is_taken_out = can_be_taken_out(cache, state, epoch, old);
    bool is_left = epoch > cache->clean_through && !is_taken_out;
    bool is_clean_entry = epoch > 0 && weir_cache_is_clean(cache, slot);
    bool fits = weir_version_size(old->key_bytes, value_bytes) <= old->room_bytes;
    struct weir_version *version = old;
    if (is_taken_out) {
        take_out(cache, state, epoch, old);
    }
    if (is_left || !fits) {
        version = copy_version(cache, group, slot, value_bytes);
    }
    version->is_unstored = old->is_unstored && !is_left && !is_clean_entry;
    version->is_absent = is_absent;
    list_append(cache, state, version);
    order(cache, group, version);
    slot->epoch = cache->epoch & WEIR_CACHE_EPOCH_MAX;
    if (is_left) {
        supersede(cache, epoch, old);
    } else if (!fits) {
        weir_cache_free_version(cache, old);
    }
    return version;
}

// Makes the slot's version one of the current epoch with room for value_bytes.
static struct weir_version *make_current(struct weir_cache *cache, struct weir_cached_state *state,
                                         struct weir_group *group, struct weir_slot *slot,
                                         uint32_t value_bytes, bool is_absent)
{
    if (slot->epoch != cache->epoch) {
        return renew(cache, state, group, slot, value_bytes, is_absent);
    }
    struct weir_version *old = slot->version;
    struct weir_version *version = old;
    if (weir_version_size(old->key_bytes, value_bytes) > old->room_bytes) {
        version = copy_version(cache, group, slot, value_bytes);
        version->is_unstored = old->is_unstored;
        version->list_idx = old->list_idx;
        state->list.versions[version->list_idx] = version;
        cache->dirty_bytes += version->room_bytes;
        cache->dirty_bytes -= old->room_bytes;
        weir_cache_free_version(cache, old);
    }
    set_absent(state, version, is_absent);
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
        version = add_current(cache, state, group, hash, key, value_bytes, false, true);
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
        add_current(cache, state, group, hash, key, 0, true, false); // RocksDB may have it
    }
}
