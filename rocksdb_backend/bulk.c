// SPDX-License-Identifier: Apache-2.0
// See bulk.h.
#include "rocksdb_backend/bulk.h"

#include "rocksdb_backend/ordered.h"

#include <stdlib.h>

struct entry {
    uint64_t state_id;
    struct weir_view key;
    struct weir_view value;
    uint32_t order; // of being added
    uint16_t key_group;
};

struct weir_bulk {
    struct weir_live *live;
    char *folder;
    uint64_t load_bytes_min;
    struct entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint64_t bytes;
    struct weir_buffer key;
};

struct weir_bulk *weir_bulk_create(struct weir_live *live, const char *folder,
                                   uint64_t load_bytes_min)
{
    struct weir_bulk *bulk = weir_alloc_zero(sizeof *bulk);
    bulk->live = live;
    bulk->folder = weir_strdup(folder);
    bulk->load_bytes_min = load_bytes_min;
    return bulk;
}

void weir_bulk_destroy(struct weir_bulk *bulk)
{
    free(bulk->folder);
    free(bulk->entries);
    weir_buffer_deinit(&bulk->key);
    free(bulk);
}

void weir_bulk_add(struct weir_bulk *bulk, uint64_t state_id, const struct weir_state_key *key,
                   struct weir_view value)
{
    if (bulk->count == bulk->capacity) {
        bulk->capacity = bulk->capacity == 0 ? 1024 : 2 * bulk->capacity;
        bulk->entries = weir_realloc(bulk->entries, bulk->capacity * sizeof *bulk->entries);
    }
    bulk->entries[bulk->count] = (struct entry){.state_id = state_id,
                                                .key = key->bytes,
                                                .value = value,
                                                .order = bulk->count,
                                                .key_group = key->key_group};
    bulk->count++;
    bulk->bytes += key->bytes.size_bytes + value.size_bytes;
}

uint64_t weir_bulk_bytes(const struct weir_bulk *bulk)
{
    return bulk->bytes;
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
    if (a->key_group != b->key_group) {
        return a->key_group < b->key_group ? -1 : 1;
    }
    if (a->state_id != b->state_id) {
        return a->state_id < b->state_id ? -1 : 1;
    }
    return weir_key_compare(a->key, b->key);
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    int order = compare_keys(a, b);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

// Calls write for the last change of each key, in order.
static enum weir_status each(struct weir_bulk *bulk,
                             enum weir_status (*write)(void *target, struct weir_view key,
                                                       struct weir_view value,
                                                       struct weir_error *error),
                             void *target, struct weir_error *error)
{
    for (uint32_t i = 0; i < bulk->count; i++) {
        const struct entry *entry = &bulk->entries[i];
        if (i + 1 < bulk->count && compare_keys(entry, entry + 1) == 0) {
            continue;
        }
        weir_live_key_make(&bulk->key, entry->key_group, entry->state_id, entry->key);
        struct weir_view key = {.data = bulk->key.data, .size_bytes = bulk->key.size_bytes};
        if (write(target, key, entry->value, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static enum weir_status write_batch(void *target, struct weir_view key, struct weir_view value,
                                    struct weir_error *error)
{
    struct weir_live_batch *batch = target;
    return value.data != NULL ? weir_live_batch_put(batch, key, value, error)
                              : weir_live_batch_remove(batch, key, error);
}

static enum weir_status write_loader(void *target, struct weir_view key, struct weir_view value,
                                     struct weir_error *error)
{
    return weir_live_loader_add(target, key, value, error);
}

enum weir_status weir_bulk_write(struct weir_bulk *bulk, struct weir_error *error)
{
    enum weir_status status;
    if (bulk->count > 0) {
        qsort(bulk->entries, bulk->count, sizeof *bulk->entries, compare);
    }
    if (bulk->bytes < bulk->load_bytes_min) {
        struct weir_live_batch *batch = weir_live_batch_create(bulk->live);
        status = each(bulk, write_batch, batch, error);
        if (status == WEIR_OK) {
            status = weir_live_batch_flush(batch, error);
        }
        weir_live_batch_destroy(batch);
    } else {
        struct weir_live_loader *loader = weir_live_loader_create(bulk->live, bulk->folder);
        status = each(bulk, write_loader, loader, error);
        if (status == WEIR_OK) {
            status = weir_live_loader_finish(loader, error);
        }
        weir_live_loader_destroy(loader);
    }
    bulk->count = 0;
    bulk->bytes = 0;
    return status;
}
