// SPDX-License-Identifier: Apache-2.0
// Scans of one key group: what the cache knows, in order, merged with what only RocksDB has. The
// cache's word counts: its versions are the newer ones, and those that are absent hide RocksDB's.
//
// RocksDB is asked only for what lies behind the group's bound (group.h: every existing key below
// it is in the cache), and a scan that has come to its end moves the bound on to the next key that
// only RocksDB has. So a state that is scanned from its beginning again and again (timers) asks
// RocksDB only when it gets to keys that have left the cache.
#include "rocksdb_backend/keyed.h"

struct scan {
    struct weir_keyed_state *state;
    struct weir_group *group;
    uint16_t key_group;
    struct weir_view to;
    bool (*visit)(void *context, const struct weir_state_key *key, struct weir_view value);
    void *context;
    struct weir_ordered_cursor cursor;
    struct weir_live_iterator *iterator; // NULL: RocksDB has nothing in the range
};

static bool is_before(struct weir_view key, struct weir_view to)
{
    return to.data == NULL || weir_key_compare(key, to) < 0;
}

static struct weir_version *cached_at(const struct scan *scan)
{
    struct weir_version *version = weir_ordered_at(&scan->cursor);
    return version != NULL && is_before(weir_version_key(version), scan->to) ? version : NULL;
}

static bool stored_at(const struct scan *scan, struct weir_view *key, struct weir_view *value)
{
    if (scan->iterator == NULL || !weir_live_iterator_at(scan->iterator, key, value)) {
        return false;
    }
    key->data += WEIR_LIVE_KEY_PREFIX_BYTES;
    key->size_bytes -= WEIR_LIVE_KEY_PREFIX_BYTES;
    return true;
}

static bool visit_cached(const struct scan *scan, const struct weir_version *version)
{
    if (version->is_absent) {
        return true;
    }
    struct weir_state_key key = {.key_group = scan->key_group, .bytes = weir_version_key(version)};
    return scan->visit(scan->context, &key, weir_version_value(version));
}

static bool visit_stored(const struct scan *scan, struct weir_view key, struct weir_view value)
{
    struct weir_buffer *copy = &scan->state->store->value; // malloc's, hence aligned
    copy->size_bytes = 0;
    weir_buffer_reserve(copy, value.size_bytes + 1);
    weir_buffer_append(copy, value.data, value.size_bytes);
    return scan->visit(scan->context,
                       &(struct weir_state_key){.key_group = scan->key_group, .bytes = key},
                       (struct weir_view){.data = copy->data, .size_bytes = copy->size_bytes});
}

// first_stored: the first key that RocksDB has and the cache does not know.
static void merge(struct scan *scan, struct weir_buffer *first_stored, bool *is_any_stored)
{
    for (;;) {
        struct weir_version *version = cached_at(scan);
        struct weir_view key;
        struct weir_view value;
        bool is_stored = stored_at(scan, &key, &value) && is_before(key, scan->to);
        if (version == NULL && !is_stored) {
            return;
        }
        int order = version == NULL ? 1
                    : !is_stored    ? -1
                                    : weir_key_compare(weir_version_key(version), key);
        bool goes_on;
        if (order <= 0) {
            weir_ordered_next(&scan->cursor);
            goes_on = visit_cached(scan, version);
        } else {
            if (!*is_any_stored) {
                *is_any_stored = true;
                weir_buffer_append(first_stored, key.data, key.size_bytes);
            }
            goes_on = visit_stored(scan, key, value);
        }
        if (order >= 0) {
            weir_live_iterator_next(scan->iterator);
        }
        if (!goes_on) {
            return;
        }
    }
}

// The iterator over what only RocksDB may have from `from` on, to the end of the group: the key
// behind the range is looked at, too.
static void open_stored(struct scan *scan, struct weir_view from)
{
    struct weir_keyed_store *store = scan->state->store;
    uint64_t id = scan->state->cached.id;
    struct weir_buffer end = {0};
    uint16_t end_group = (uint16_t)(scan->key_group + (id == UINT64_MAX));
    weir_live_key_make(&end, end_group, id + 1, (struct weir_view){.data = NULL});
    weir_live_key_make(&store->key, scan->key_group, id, from);
    store->scanned_count++;
    scan->iterator =
        weir_live_iterate(store->live, (struct weir_view){store->key.data, store->key.size_bytes},
                          (struct weir_view){end.data, end.size_bytes});
    weir_buffer_deinit(&end);
}

// After a scan that began at or below the bound, whether or not visit saw the end of it: what of
// RocksDB lies before the iterator's place was seen.
static void raise_bound(const struct scan *scan, const struct weir_buffer *first_stored,
                        bool is_any_stored)
{
    struct weir_view key;
    struct weir_view value;
    if (is_any_stored) {
        key = (struct weir_view){.data = first_stored->data != NULL ? first_stored->data : "",
                                 .size_bytes = first_stored->size_bytes};
    } else if (!stored_at(scan, &key, &value)) {
        key = (struct weir_view){.data = NULL};
    }
    weir_group_raise_bound(scan->group, key);
}

void weir_keyed_scan(struct weir_state *base, uint16_t key_group, struct weir_view from,
                     struct weir_view to,
                     bool (*visit)(void *context, const struct weir_state_key *key,
                                   struct weir_view value),
                     void *context)
{
    struct weir_keyed_state *state = (struct weir_keyed_state *)base;
    struct weir_keyed_store *store = state->store;
    weir_keyed_begin(store);
    struct weir_group *group = weir_cache_group(&store->cache, &state->cached, key_group);
    if (group->ordered == NULL) {
        store->cache.tables_bytes -= weir_group_bytes(group);
        weir_group_make_ordered(group);
        store->cache.tables_bytes += weir_group_bytes(group);
    }
    struct scan scan = {.state = state,
                        .group = group,
                        .key_group = key_group,
                        .to = to,
                        .visit = visit,
                        .context = context,
                        .cursor = weir_ordered_seek(group->ordered, from)};
    struct weir_view bound = {.data = group->complete_below.data,
                              .size_bytes = group->complete_below.size_bytes};
    bool begins_below = weir_key_compare(from, bound) <= 0;
    bool is_cached = group->is_complete || (to.data != NULL && weir_key_compare(to, bound) <= 0);
    if (!is_cached) {
        open_stored(&scan, begins_below ? bound : from);
    }
    struct weir_buffer first_stored = {0};
    bool is_any_stored = false;
    merge(&scan, &first_stored, &is_any_stored);
    if (scan.iterator == NULL) {
        return;
    }
    if (begins_below) {
        raise_bound(&scan, &first_stored, is_any_stored);
    }
    weir_buffer_deinit(&first_stored);
    struct weir_error error;
    if (weir_live_iterator_close(scan.iterator, &error) != WEIR_OK) {
        weir_io_fail(store->io, &error);
    }
}
