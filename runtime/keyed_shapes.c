// SPDX-License-Identifier: Apache-2.0
// See keyed_shapes.h. A list keeps how many items a key has under the key alone, and item i under
// the key and i; both are found without a scan.
#include "runtime/keyed_shapes.h"

#include "runtime/base/assert.h"

enum { LENGTH_BYTES = 4, ITEM_BYTES = 8 };

static size_t prefix_bytes(const struct weir_state_key *key)
{
    return LENGTH_BYTES + key->bytes.size_bytes;
}

// The stored key of an element; element empty: what stands before all elements of the key.
static struct weir_state_key compose(struct weir_buffer *out, const struct weir_state_key *key,
                                     struct weir_view element)
{
    WEIR_DASSERT(key->bytes.size_bytes < UINT32_MAX);
    out->size_bytes = 0;
    weir_buffer_append_big_endian(out, key->bytes.size_bytes, LENGTH_BYTES);
    weir_buffer_append(out, key->bytes.data, key->bytes.size_bytes);
    weir_buffer_append(out, element.data, element.size_bytes);
    return (struct weir_state_key){
        .key_group = key->key_group,
        .bytes = weir_buffer_view(out),
    };
}

// --- list ----------------------------------------------------------------------------------------

void weir_keyed_list_open(struct weir_keyed_list *list, struct weir_state_store *store,
                          const char *operator_id, const char *name)
{
    *list = (struct weir_keyed_list){.state = store->ops->open_state(store, operator_id, name)};
}

void weir_keyed_list_close(struct weir_keyed_list *list)
{
    weir_buffer_deinit(&list->key);
}

static struct weir_state_key item_key(struct weir_keyed_list *list,
                                      const struct weir_state_key *key, uint64_t idx)
{
    compose(&list->key, key, (struct weir_view){0});
    weir_buffer_append_big_endian(&list->key, idx, ITEM_BYTES);
    return (struct weir_state_key){
        .key_group = key->key_group,
        .bytes = weir_buffer_view(&list->key),
    };
}

uint64_t weir_keyed_list_count(struct weir_keyed_list *list, const struct weir_state_key *key)
{
    struct weir_state_key head = compose(&list->key, key, (struct weir_view){0});
    struct weir_view value;
    uint64_t count = 0;
    if (list->state->ops->get(list->state, &head, &value)) {
        WEIR_ASSERT(value.size_bytes == sizeof count);
        memcpy(&count, value.data, sizeof count);
    }
    return count;
}

void weir_keyed_list_add(struct weir_keyed_list *list, const struct weir_state_key *key,
                         struct weir_view item)
{
    struct weir_state_key head = compose(&list->key, key, (struct weir_view){0});
    bool existed;
    uint64_t count;
    void *value = list->state->ops->update(list->state, &head, sizeof count, &existed);
    memcpy(&count, value, sizeof count);
    count++;
    memcpy(value, &count, sizeof count);
    struct weir_state_key at = item_key(list, key, count - 1);
    value = list->state->ops->update(list->state, &at, (uint32_t)item.size_bytes, &existed);
    if (item.size_bytes != 0) {
        memcpy(value, item.data, item.size_bytes);
    }
}

struct weir_view weir_keyed_list_at(struct weir_keyed_list *list, const struct weir_state_key *key,
                                    uint64_t idx)
{
    struct weir_state_key at = item_key(list, key, idx);
    struct weir_view value = {0};
    // A read that failed has failed the store: its task is told before anything becomes durable.
    list->state->ops->get(list->state, &at, &value);
    return value;
}

void weir_keyed_list_clear(struct weir_keyed_list *list, const struct weir_state_key *key)
{
    uint64_t count = weir_keyed_list_count(list, key);
    for (uint64_t i = 0; i < count; i++) {
        struct weir_state_key at = item_key(list, key, i);
        list->state->ops->remove(list->state, &at);
    }
    struct weir_state_key head = compose(&list->key, key, (struct weir_view){0});
    list->state->ops->remove(list->state, &head);
}

// --- map -----------------------------------------------------------------------------------------

void weir_keyed_map_open(struct weir_keyed_map *map, struct weir_state_store *store,
                         const char *operator_id, const char *name)
{
    *map = (struct weir_keyed_map){.state = store->ops->open_state(store, operator_id, name)};
}

void weir_keyed_map_close(struct weir_keyed_map *map)
{
    weir_buffer_deinit(&map->key);
    weir_buffer_deinit(&map->to);
    weir_state_scan_deinit(&map->found);
}

bool weir_keyed_map_get(struct weir_keyed_map *map, const struct weir_state_key *key,
                        struct weir_view element, struct weir_view *value)
{
    struct weir_state_key at = compose(&map->key, key, element);
    return map->state->ops->get(map->state, &at, value);
}

void *weir_keyed_map_update(struct weir_keyed_map *map, const struct weir_state_key *key,
                            struct weir_view element, uint32_t size_bytes, bool *existed)
{
    struct weir_state_key at = compose(&map->key, key, element);
    return map->state->ops->update(map->state, &at, size_bytes, existed);
}

void weir_keyed_map_remove(struct weir_keyed_map *map, const struct weir_state_key *key,
                           struct weir_view element)
{
    struct weir_state_key at = compose(&map->key, key, element);
    map->state->ops->remove(map->state, &at);
}

struct map_scan {
    size_t prefix_bytes;
    bool (*visit)(void *context, struct weir_view element, struct weir_view value);
    void *context;
};

static bool visit_element(void *context, const struct weir_state_key *key, struct weir_view value)
{
    const struct map_scan *scan = context;
    struct weir_view element = {.data = key->bytes.data + scan->prefix_bytes,
                                .size_bytes = key->bytes.size_bytes - scan->prefix_bytes};
    return scan->visit(scan->context, element, value);
}

// Where the key's elements that are before `to` end.
static struct weir_view end_of(struct weir_keyed_map *map, const struct weir_state_key *key,
                               struct weir_view to)
{
    struct weir_view end = compose(&map->to, key, to).bytes;
    return to.data != NULL ? end : weir_state_step_behind(&map->to);
}

void weir_keyed_map_scan(struct weir_keyed_map *map, const struct weir_state_key *key,
                         struct weir_view from, struct weir_view to,
                         bool (*visit)(void *context, struct weir_view element,
                                       struct weir_view value),
                         void *context)
{
    struct map_scan scan = {.prefix_bytes = prefix_bytes(key), .visit = visit, .context = context};
    struct weir_view first = compose(&map->key, key, from).bytes;
    map->state->ops->scan(map->state, key->key_group, first, end_of(map, key, to), visit_element,
                          &scan);
}

void weir_keyed_map_clear(struct weir_keyed_map *map, const struct weir_state_key *key)
{
    struct weir_view from = compose(&map->key, key, (struct weir_view){0}).bytes;
    weir_state_scan_run(&map->found, map->state, key->key_group, from,
                        end_of(map, key, (struct weir_view){0}), 0);
    weir_state_scan_remove(&map->found, map->state);
}

// --- raw keyed state -----------------------------------------------------------------------------

void weir_raw_keyed_open(struct weir_raw_keyed *raw, struct weir_state_store *store,
                         const char *operator_id, const char *name)
{
    raw->state = store->ops->open_state(store, operator_id, name);
}

// One entry a group, of the empty key.
static struct weir_state_key group_key(uint16_t key_group)
{
    return (struct weir_state_key){.key_group = key_group, .bytes = {.data = "", .size_bytes = 0}};
}

bool weir_raw_keyed_read(struct weir_raw_keyed *raw, uint16_t key_group, struct weir_view *bytes)
{
    struct weir_state_key key = group_key(key_group);
    return raw->state->ops->get(raw->state, &key, bytes);
}

void weir_raw_keyed_write(struct weir_raw_keyed *raw, uint16_t key_group, struct weir_view bytes)
{
    struct weir_state_key key = group_key(key_group);
    bool existed;
    void *room = raw->state->ops->update(raw->state, &key, (uint32_t)bytes.size_bytes, &existed);
    if (bytes.size_bytes != 0) {
        memcpy(room, bytes.data, bytes.size_bytes);
    }
}
