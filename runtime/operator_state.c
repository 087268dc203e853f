// SPDX-License-Identifier: Apache-2.0
// See operator_state.h. Each state is a list of items; a broadcast state has its keys and values in
// turn. restore says which items of which tasks are this task's: the rules, and nothing else.
#include "runtime/operator_state.h"

#include "runtime/base/assert.h"

#include <inttypes.h>
#include <stdlib.h>

struct items {
    uint32_t count;
    struct weir_view *views; // each malloc'd
};

struct entry {
    char *operator_id;
    char *name;
    enum weir_operator_state_kind kind;
    struct items items;
};

struct weir_operator_list {
    struct entry entry; // first
};

struct weir_broadcast_state {
    struct entry entry; // first
};

struct weir_operator_state_store {
    struct weir_operator_state_config config;
    uint32_t count;
    struct entry **entries;
};

static const char *const kind_names[WEIR_OPERATOR_STATE_KIND_COUNT] = {
    [WEIR_OPERATOR_STATE_SPLIT] = "split",
    [WEIR_OPERATOR_STATE_UNION] = "union",
    [WEIR_OPERATOR_STATE_BROADCAST] = "broadcast",
    [WEIR_OPERATOR_STATE_RAW] = "raw",
};

const char *weir_operator_state_kind_name(enum weir_operator_state_kind kind)
{
    WEIR_ASSERT(kind < WEIR_OPERATOR_STATE_KIND_COUNT);
    return kind_names[kind];
}

bool weir_operator_state_kind_parse(const char *name, enum weir_operator_state_kind *kind)
{
    for (uint32_t i = 0; i < WEIR_OPERATOR_STATE_KIND_COUNT; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (enum weir_operator_state_kind)i;
            return true;
        }
    }
    return false;
}

struct weir_operator_state_part *
weir_operator_state_part_copy(const struct weir_operator_state_part *part)
{
    size_t id_bytes = strlen(part->operator_id) + 1;
    size_t name_bytes = strlen(part->name) + 1;
    size_t bytes = sizeof *part + part->item_count * sizeof *part->items + id_bytes + name_bytes;
    for (uint32_t i = 0; i < part->item_count; i++) {
        bytes += part->items[i].size_bytes;
    }
    struct weir_operator_state_part *copy = weir_alloc(bytes);
    struct weir_view *items = (struct weir_view *)(copy + 1);
    char *at = (char *)(items + part->item_count);
    *copy = *part;
    copy->items = items;
    copy->operator_id = memcpy(at, part->operator_id, id_bytes);
    at += id_bytes;
    copy->name = memcpy(at, part->name, name_bytes);
    at += name_bytes;
    for (uint32_t i = 0; i < part->item_count; i++) {
        items[i] = (struct weir_view){.data = at, .size_bytes = part->items[i].size_bytes};
        if (items[i].size_bytes != 0) {
            memcpy(at, part->items[i].data, items[i].size_bytes);
        }
        at += items[i].size_bytes;
    }
    return copy;
}

// --- items ---------------------------------------------------------------------------------------

static struct weir_view own(struct weir_view view)
{
    char *data = weir_alloc(view.size_bytes + 1);
    if (view.size_bytes != 0) {
        memcpy(data, view.data, view.size_bytes);
    }
    return (struct weir_view){.data = data, .size_bytes = view.size_bytes};
}

static void items_insert(struct items *items, uint32_t idx, struct weir_view item)
{
    items->views = weir_realloc(items->views, (items->count + 1) * sizeof *items->views);
    memmove(&items->views[idx + 1], &items->views[idx],
            (items->count - idx) * sizeof *items->views);
    items->views[idx] = own(item);
    items->count++;
}

static void items_remove(struct items *items, uint32_t idx)
{
    free((char *)items->views[idx].data);
    items->count--;
    memmove(&items->views[idx], &items->views[idx + 1],
            (items->count - idx) * sizeof *items->views);
}

static void items_clear(struct items *items)
{
    for (uint32_t i = 0; i < items->count; i++) {
        free((char *)items->views[i].data);
    }
    items->count = 0;
}

// --- restore -------------------------------------------------------------------------------------

// What task task_idx has put there; NULL: nothing.
static const struct weir_operator_state_part *
find_part(const struct weir_operator_state_config *config, const struct entry *entry,
          uint32_t task_idx)
{
    for (uint32_t i = 0; i < config->part_count; i++) {
        const struct weir_operator_state_part *part = &config->parts[i];
        if (part->task_idx == task_idx && part->kind == entry->kind &&
            strcmp(part->operator_id, entry->operator_id) == 0 &&
            strcmp(part->name, entry->name) == 0) {
            return part;
        }
    }
    return NULL;
}

// How many tasks there were; 0: the checkpoint knows nothing of the state.
static uint32_t former_task_count(const struct weir_operator_state_config *config,
                                  const struct entry *entry)
{
    const struct weir_operator_state_part *first = find_part(config, entry, 0);
    return first != NULL ? first->task_count : 0;
}

static void take(struct entry *entry, const struct weir_operator_state_part *part, uint32_t from,
                 uint32_t to)
{
    for (uint32_t i = from; part != NULL && i < to && i < part->item_count; i++) {
        items_insert(&entry->items, entry->items.count, part->items[i]);
    }
}

// Item i of all n items belongs to task i * tasks / n, rounded down.
static void take_share(const struct weir_operator_state_config *config, struct entry *entry,
                       uint32_t former_count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < former_count; i++) {
        const struct weir_operator_state_part *part = find_part(config, entry, i);
        total += part != NULL ? part->item_count : 0;
    }
    uint64_t first = total * config->task_idx / config->task_count;
    uint64_t end = total * (config->task_idx + 1) / config->task_count;
    uint64_t before = 0;
    for (uint32_t i = 0; i < former_count; i++) {
        const struct weir_operator_state_part *part = find_part(config, entry, i);
        uint64_t count = part != NULL ? part->item_count : 0;
        uint64_t from = first > before ? first - before : 0;
        uint64_t to = end > before ? end - before : 0;
        take(entry, part, (uint32_t)from, (uint32_t)(to < count ? to : count));
        before += count;
    }
}

static void restore(const struct weir_operator_state_config *config, struct entry *entry)
{
    uint32_t former_count = former_task_count(config, entry);
    if (former_count == 0) {
        return;
    }
    bool is_same_count = former_count == config->task_count;
    switch (entry->kind) {
    case WEIR_OPERATOR_STATE_SPLIT:
        if (!is_same_count) {
            take_share(config, entry, former_count);
            return;
        }
        take(entry, find_part(config, entry, config->task_idx), 0, UINT32_MAX);
        return;
    case WEIR_OPERATOR_STATE_UNION:
        for (uint32_t i = 0; i < former_count; i++) {
            take(entry, find_part(config, entry, i), 0, UINT32_MAX);
        }
        return;
    case WEIR_OPERATOR_STATE_BROADCAST:
        take(entry, find_part(config, entry, config->task_idx % former_count), 0, UINT32_MAX);
        return;
    case WEIR_OPERATOR_STATE_RAW:
        for (uint32_t i = 0; i < former_count; i++) {
            if ((uint64_t)i * config->task_count / former_count == config->task_idx) {
                take(entry, find_part(config, entry, i), 0, UINT32_MAX);
            }
        }
        return;
    case WEIR_OPERATOR_STATE_KIND_COUNT:
        break;
    }
    WEIR_ASSERT(!"unreachable");
}

// --- the store -----------------------------------------------------------------------------------

struct weir_operator_state_store *
weir_operator_state_store_create(const struct weir_operator_state_config *config)
{
    WEIR_ASSERT(config->task_idx < config->task_count);
    struct weir_operator_state_store *store = weir_alloc_zero(sizeof *store);
    store->config = *config;
    return store;
}

void weir_operator_state_store_destroy(struct weir_operator_state_store *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t i = 0; i < store->count; i++) {
        struct entry *entry = store->entries[i];
        items_clear(&entry->items);
        free(entry->items.views);
        free(entry->operator_id);
        free(entry->name);
        free(entry);
    }
    free(store->entries);
    free(store);
}

static struct entry *open_entry(struct weir_operator_state_store *store, const char *operator_id,
                                const char *name, enum weir_operator_state_kind kind)
{
    for (uint32_t i = 0; i < store->count; i++) {
        WEIR_ASSERT(strcmp(store->entries[i]->operator_id, operator_id) != 0 ||
                    strcmp(store->entries[i]->name, name) != 0);
    }
    struct entry *entry = weir_alloc_zero(sizeof *entry);
    entry->operator_id = weir_strdup(operator_id);
    entry->name = weir_strdup(name);
    entry->kind = kind;
    restore(&store->config, entry);
    store->entries = weir_realloc(store->entries, (store->count + 1) * sizeof(struct entry *));
    store->entries[store->count++] = entry;
    return entry;
}

enum weir_status weir_operator_state_snapshot(const struct weir_operator_state_store *store,
                                              const char *operator_id,
                                              struct weir_snapshot *snapshot,
                                              struct weir_error *error)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < store->count; i++) {
        const struct entry *entry = store->entries[i];
        for (uint32_t j = 0; j < entry->items.count; j++) {
            bytes += entry->items.views[j].size_bytes;
        }
        if (strcmp(entry->operator_id, operator_id) != 0) {
            continue;
        }
        if (bytes > WEIR_OPERATOR_STATE_BYTES_MAX) {
            return weir_error_set(error, WEIR_DOMAIN_RUNTIME, WEIR_ACTION_FAIL,
                                  "operator state \"%s\" of operator %s: %" PRIu64
                                  " bytes in one task, at most %d fit a manifest: what grows with "
                                  "the input belongs into keyed state",
                                  entry->name, operator_id, bytes, WEIR_OPERATOR_STATE_BYTES_MAX);
        }
        weir_snapshot_add_operator_state(
            snapshot, &(struct weir_operator_state_part){.operator_id = entry->operator_id,
                                                         .name = entry->name,
                                                         .kind = entry->kind,
                                                         .task_idx = store->config.task_idx,
                                                         .task_count = store->config.task_count,
                                                         .item_count = entry->items.count,
                                                         .items = entry->items.views});
    }
    return WEIR_OK;
}

// --- lists ---------------------------------------------------------------------------------------

struct weir_operator_list *weir_operator_state_list(struct weir_operator_state_store *store,
                                                    const char *operator_id, const char *name,
                                                    enum weir_operator_state_kind kind)
{
    WEIR_ASSERT(kind != WEIR_OPERATOR_STATE_BROADCAST);
    return (struct weir_operator_list *)open_entry(store, operator_id, name, kind);
}

uint32_t weir_operator_list_count(const struct weir_operator_list *list)
{
    return list->entry.items.count;
}

struct weir_view weir_operator_list_at(const struct weir_operator_list *list, uint32_t idx)
{
    WEIR_ASSERT(idx < list->entry.items.count);
    return list->entry.items.views[idx];
}

void weir_operator_list_add(struct weir_operator_list *list, struct weir_view item)
{
    items_insert(&list->entry.items, list->entry.items.count, item);
}

void weir_operator_list_clear(struct weir_operator_list *list)
{
    items_clear(&list->entry.items);
}

// --- broadcast state -----------------------------------------------------------------------------

// The place of the key, or where it would be. Keys ascend, so that all tasks write the same bytes.
static bool find_key(const struct items *items, struct weir_view key, uint32_t *idx)
{
    uint32_t from = 0;
    uint32_t to = items->count / 2;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        struct weir_view there = items->views[2 * middle];
        size_t common = there.size_bytes < key.size_bytes ? there.size_bytes : key.size_bytes;
        int order = common != 0 ? memcmp(there.data, key.data, common) : 0;
        if (order < 0 || (order == 0 && there.size_bytes < key.size_bytes)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    *idx = 2 * from;
    return *idx < items->count && weir_view_equal(items->views[*idx], key);
}

struct weir_broadcast_state *weir_operator_state_broadcast(struct weir_operator_state_store *store,
                                                           const char *operator_id,
                                                           const char *name)
{
    struct entry *entry = open_entry(store, operator_id, name, WEIR_OPERATOR_STATE_BROADCAST);
    WEIR_ASSERT(entry->items.count % 2 == 0);
    return (struct weir_broadcast_state *)entry;
}

bool weir_broadcast_state_get(const struct weir_broadcast_state *state, struct weir_view key,
                              struct weir_view *value)
{
    uint32_t idx;
    if (!find_key(&state->entry.items, key, &idx)) {
        return false;
    }
    *value = state->entry.items.views[idx + 1];
    return true;
}

void weir_broadcast_state_put(struct weir_broadcast_state *state, struct weir_view key,
                              struct weir_view value)
{
    struct items *items = &state->entry.items;
    uint32_t idx;
    if (find_key(items, key, &idx)) {
        free((char *)items->views[idx + 1].data);
        items->views[idx + 1] = own(value);
        return;
    }
    items_insert(items, idx, key);
    items_insert(items, idx + 1, value);
}

void weir_broadcast_state_remove(struct weir_broadcast_state *state, struct weir_view key)
{
    uint32_t idx;
    if (find_key(&state->entry.items, key, &idx)) {
        items_remove(&state->entry.items, idx);
        items_remove(&state->entry.items, idx);
    }
}

uint32_t weir_broadcast_state_count(const struct weir_broadcast_state *state)
{
    return state->entry.items.count / 2;
}
