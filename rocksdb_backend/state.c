// SPDX-License-Identifier: Apache-2.0
// The operations of one state (runtime/state.h): the cache's rules, and RocksDB for what the cache
// does not know. A read that fails cannot be told through these calls: the store fails, so that no
// snapshot is let go of any more, and the task hears of it from check.
#include "rocksdb_backend/keyed.h"

// Removed keys that RocksDB has stand in the way of scans until their removal is there, too.
enum { LOGGED_ABSENT_MAX = 16384 };

static void apply_if_due(struct weir_keyed_store *store)
{
    struct weir_cache *cache = &store->cache;
    if (weir_cache_is_applying(cache)) {
        return;
    }
    bool is_materialised = weir_io_wants_materialisation(store->io);
    bool is_room_short = weir_cache_used_bytes(cache) >= store->apply_used_bytes_min &&
                         cache->logged_bytes >= store->apply_bytes_min;
    if (is_materialised || is_room_short || cache->logged_absent_count >= LOGGED_ABSENT_MAX) {
        struct weir_application *application = weir_cache_begin_apply(cache);
        if (application != NULL) {
            application->is_materialised = is_materialised;
            weir_io_apply(store->io, application);
        }
    }
}

void weir_keyed_begin(struct weir_keyed_store *store)
{
    struct weir_cache *cache = &store->cache;
    struct weir_io_progress progress = weir_io_progress(store->io);
    bool is_read = cache->reading_count == 0 && cache->logged_through != cache->written_through;
    if (is_read || progress.written_through != cache->written_through ||
        progress.clean_through != cache->clean_through) {
        if (progress.clean_through != cache->clean_through) {
            weir_cache_set_clean(cache, progress.clean_through);
        }
        weir_cache_set_written(cache, progress.written_through);
        apply_if_due(store);
    }
    weir_cache_make_room(cache);
}

// The slot of the key, read from RocksDB where it is not known; NULL: known not to exist.
static struct weir_slot *look_up(struct weir_keyed_state *state, struct weir_group *group,
                                 uint32_t hash, const struct weir_state_key *key)
{
    struct weir_keyed_store *store = state->store;
    struct weir_slot *slot = weir_group_find(group, hash, key->bytes);
    if (slot != NULL || weir_group_is_known_absent(group, key->bytes)) {
        return slot;
    }
    weir_live_key_make(&store->key, key->key_group, state->cached.id, key->bytes);
    struct weir_view value;
    struct weir_error error;
    store->read_count++;
    if (weir_live_get(store->live, (struct weir_view){store->key.data, store->key.size_bytes},
                      &value, &error) != WEIR_OK) {
        weir_io_fail(store->io, &error);
        return NULL;
    }
    return weir_cache_load(&store->cache, group, hash, key, value);
}

static bool get(struct weir_state *base, const struct weir_state_key *key, struct weir_view *value)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    weir_keyed_begin(state->store);
    struct weir_group *group =
        weir_cache_group(&state->store->cache, &state->cached, key->key_group);
    struct weir_slot *slot = look_up(state, group, weir_cache_hash(key->bytes), key);
    if (slot == NULL || slot->version->is_absent) {
        return false;
    }
    slot->is_referenced = true;
    *value = weir_version_value(slot->version);
    return true;
}

static void *update(struct weir_state *base, const struct weir_state_key *key, uint32_t size_bytes,
                    bool *existed)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    weir_keyed_begin(state->store);
    struct weir_group *group =
        weir_cache_group(&state->store->cache, &state->cached, key->key_group);
    uint32_t hash = weir_cache_hash(key->bytes);
    struct weir_slot *slot = look_up(state, group, hash, key);
    struct weir_version *version = weir_cache_write(&state->store->cache, &state->cached, group,
                                                    slot, hash, key, size_bytes, existed);
    if (!*existed) {
        weir_keyed_count(state, 1);
    }
    return weir_version_data(version);
}

// Reads nothing: whether the key exists does not matter where it is not known.
static void remove_key(struct weir_state *base, const struct weir_state_key *key)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    weir_keyed_begin(state->store);
    struct weir_group *group =
        weir_cache_group(&state->store->cache, &state->cached, key->key_group);
    uint32_t hash = weir_cache_hash(key->bytes);
    struct weir_slot *slot = weir_group_find(group, hash, key->bytes);
    bool is_absent =
        slot != NULL ? slot->version->is_absent : weir_group_is_known_absent(group, key->bytes);
    if (!is_absent) {
        weir_keyed_count(state, -1); // one that is not known was most likely there
        weir_cache_remove(&state->store->cache, &state->cached, group, slot, hash, key);
    }
}

// Reads the misses at once and takes them in.
static void load_misses(struct weir_keyed_state *state, const struct weir_state_key *keys,
                        uint32_t miss_count)
{
    struct weir_keyed_store *store = state->store;
    store->miss_bytes.size_bytes = 0;
    for (uint32_t i = 0; i < miss_count; i++) {
        const struct weir_state_key *key = &keys[store->misses[i]];
        weir_live_key_make(&store->key, key->key_group, state->cached.id, key->bytes);
        weir_buffer_append(&store->miss_bytes, store->key.data, store->key.size_bytes);
    }
    const char *at = store->miss_bytes.data;
    for (uint32_t i = 0; i < miss_count; i++) {
        size_t size_bytes = WEIR_LIVE_KEY_PREFIX_BYTES + keys[store->misses[i]].bytes.size_bytes;
        store->miss_keys[i] = (struct weir_view){.data = at, .size_bytes = size_bytes};
        at += size_bytes;
    }
    struct weir_error error;
    store->read_count += miss_count;
    if (weir_live_get_many(store->live, miss_count, store->miss_keys, store->miss_values, &error) !=
        WEIR_OK) {
        weir_io_fail(store->io, &error);
        return;
    }
    for (uint32_t i = 0; i < miss_count; i++) {
        const struct weir_state_key *key = &keys[store->misses[i]];
        uint32_t hash = store->hashes[store->misses[i]];
        struct weir_group *group = weir_cache_group(&store->cache, &state->cached, key->key_group);
        if (weir_group_find(group, hash, key->bytes) == NULL) { // the batch has it twice
            weir_cache_make_room(&store->cache);
            weir_cache_load(&store->cache, group, hash, key, store->miss_values[i])->is_referenced =
                true;
        }
    }
}

// In passes, so that the memory of the next keys is on its way while one is looked at. The slots of
// those that are there are noted.
static void prefetch_some(struct weir_keyed_state *state, uint32_t count,
                          const struct weir_state_key *keys)
{
    struct weir_keyed_store *store = state->store;
    const struct weir_cache *cache = &store->cache;
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_group *group = weir_cache_group(cache, &state->cached, keys[i].key_group);
        store->hashes[i] = weir_cache_hash(keys[i].bytes);
        if (group->capacity > 0) {
            __builtin_prefetch(&group->slots[weir_group_home(group, store->hashes[i])]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_group *group = weir_cache_group(cache, &state->cached, keys[i].key_group);
        if (group->capacity > 0) {
            const struct weir_slot *slot = weir_group_find_hash(group, store->hashes[i]);
            if (slot->version != NULL) {
                __builtin_prefetch(slot->version, 1);
                __builtin_prefetch((const char *)slot->version + 64, 1);
            }
        }
    }
    uint32_t miss_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_group *group = weir_cache_group(cache, &state->cached, keys[i].key_group);
        struct weir_slot *slot = weir_group_find(group, store->hashes[i], keys[i].bytes);
        store->slots[i] = slot;
        if (slot != NULL) {
            slot->is_referenced = true; // not to leave before it is used
            weir_cache_fetch_set(cache, &state->cached, slot);
        } else if (!weir_group_is_known_absent(group, keys[i].bytes)) {
            store->misses[miss_count++] = i;
        }
    }
    if (miss_count > 0) {
        load_misses(state, keys, miss_count);
    }
}

static void prefetch(struct weir_state *base, uint32_t count, const struct weir_state_key *keys)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    weir_keyed_begin(state->store);
    for (uint32_t done = 0; done < count;) {
        uint32_t some = count - done;
        some = some < WEIR_KEYED_PREFETCH_MAX ? some : WEIR_KEYED_PREFETCH_MAX;
        prefetch_some(state, some, keys + done);
        done += some;
    }
}

// Versions of the current epoch neither leave nor move while all have one size.
static void update_some(struct weir_keyed_state *state, uint32_t count,
                        const struct weir_state_key *keys, uint32_t size_bytes,
                        struct weir_state_room *rooms)
{
    struct weir_keyed_store *store = state->store;
    struct weir_cache *cache = &store->cache;
    uint64_t move_count = cache->move_count;
    uint32_t new_count = 0;
    prefetch_some(state, count, keys);
    for (uint32_t i = 0; i < count; i++) {
        weir_cache_make_room(cache);
        struct weir_group *group = weir_cache_group(cache, &state->cached, keys[i].key_group);
        struct weir_slot *slot = store->slots[i];
        if (slot == NULL || cache->move_count != move_count) {
            slot = look_up(state, group, store->hashes[i], &keys[i]);
        }
        struct weir_version *version =
            weir_cache_write(cache, &state->cached, group, slot, store->hashes[i], &keys[i],
                             size_bytes, &rooms[i].existed);
        rooms[i].value = weir_version_data(version);
        new_count += rooms[i].existed ? 0 : 1;
    }
    weir_keyed_count(state, new_count);
}

static void update_many(struct weir_state *base, uint32_t count, const struct weir_state_key *keys,
                        uint32_t size_bytes, struct weir_state_room *rooms)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    weir_keyed_begin(state->store);
    for (uint32_t done = 0; done < count;) {
        uint32_t some = count - done;
        some = some < WEIR_KEYED_PREFETCH_MAX ? some : WEIR_KEYED_PREFETCH_MAX;
        update_some(state, some, keys + done, size_bytes, rooms + done);
        done += some;
    }
}

static void begin_changes(struct weir_state *base)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    weir_cache_begin_changes(&state->store->cache, &state->cached);
}

static uint32_t read_changes(struct weir_state *base, uint32_t count_max,
                             struct weir_state_change *changes)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    return weir_cache_read_changes(&state->store->cache, &state->cached, count_max, changes);
}

const struct weir_state_ops weir_keyed_state_ops = {
    .get = get,
    .update = update,
    .update_many = update_many,
    .remove = remove_key,
    .prefetch = prefetch,
    .scan = weir_keyed_scan,
    .begin_changes = begin_changes,
    .read_changes = read_changes,
};
