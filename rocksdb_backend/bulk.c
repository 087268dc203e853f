// SPDX-License-Identifier: Apache-2.0
// See bulk.h. Entries fall into buckets by key group and state, in the order of stored keys; each
// bucket is sorted by the first sixteen bytes of the keys, which lie in the sorted array itself, so
// that few comparisons look at a key.
#include "rocksdb_backend/bulk.h"

#include "rocksdb_backend/ordered.h"
#include "runtime/base/assert.h"

#include <stdlib.h>

struct entry {
    struct weir_view key;
    struct weir_view value;
    uint32_t state_idx;
    uint16_t key_group;
};

// What is sorted. Small, so that qsort moves it and not a pointer to it.
struct sorted {
    uint64_t prefix[2];
    uint32_t key_bytes;
    uint32_t entry_idx; // in the order of being added
};

struct weir_bulk {
    struct weir_live *live;
    char *folder;
    uint64_t load_bytes_min;
    struct entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint64_t bytes;
    uint64_t *state_ids; // that entries have
    uint32_t state_count;
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
    free(bulk->state_ids);
    weir_buffer_deinit(&bulk->key);
    free(bulk);
}

static uint32_t state_idx_of(struct weir_bulk *bulk, uint64_t state_id)
{
    uint32_t idx = bulk->state_count;
    while (idx > 0 && bulk->state_ids[idx - 1] != state_id) { // entries of a state come together
        idx--;
    }
    if (idx > 0) {
        return idx - 1;
    }
    bulk->state_ids =
        weir_realloc(bulk->state_ids, (bulk->state_count + 1) * sizeof *bulk->state_ids);
    bulk->state_ids[bulk->state_count] = state_id;
    return bulk->state_count++;
}

void weir_bulk_add(struct weir_bulk *bulk, uint64_t state_id, const struct weir_state_key *key,
                   struct weir_view value)
{
    WEIR_DASSERT(key->key_group < WEIR_KEY_GROUP_COUNT);
    if (bulk->count == bulk->capacity) {
        bulk->capacity = bulk->capacity == 0 ? 1024 : 2 * bulk->capacity;
        bulk->entries = weir_realloc(bulk->entries, bulk->capacity * sizeof *bulk->entries);
    }
    bulk->entries[bulk->count++] = (struct entry){.key = key->bytes,
                                                  .value = value,
                                                  .state_idx = state_idx_of(bulk, state_id),
                                                  .key_group = key->key_group};
    bulk->bytes += key->bytes.size_bytes + value.size_bytes;
}

uint64_t weir_bulk_bytes(const struct weir_bulk *bulk)
{
    return bulk->bytes;
}

static uint64_t word_of(struct weir_view key, size_t offset)
{
    unsigned char bytes[8] = {0};
    if (key.size_bytes > offset) {
        size_t rest = key.size_bytes - offset;
        memcpy(bytes, key.data + offset, rest < 8 ? rest : 8);
    }
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        word = word << 8 | bytes[i];
    }
    return word;
}

static int compare_keys(const struct weir_bulk *bulk, const struct sorted *a,
                        const struct sorted *b)
{
    for (int i = 0; i < 2; i++) {
        if (a->prefix[i] != b->prefix[i]) {
            return a->prefix[i] < b->prefix[i] ? -1 : 1;
        }
    }
    if (a->key_bytes <= sizeof a->prefix && b->key_bytes <= sizeof b->prefix) {
        return (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
    }
    return weir_key_compare(bulk->entries[a->entry_idx].key, bulk->entries[b->entry_idx].key);
}

static int compare(const void *left, const void *right, void *context)
{
    const struct weir_bulk *bulk = context;
    const struct sorted *a = left;
    const struct sorted *b = right;
    int order = compare_keys(bulk, a, b);
    return order != 0 ? order : (a->entry_idx > b->entry_idx) - (a->entry_idx < b->entry_idx);
}

// ranks[i]: the place of state i among all by id.
static uint32_t *rank_states(const struct weir_bulk *bulk)
{
    uint32_t *ranks = weir_alloc_zero((bulk->state_count + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < bulk->state_count; i++) {
        for (uint32_t j = 0; j < bulk->state_count; j++) {
            ranks[i] += bulk->state_ids[j] < bulk->state_ids[i];
        }
    }
    return ranks;
}

// All entries in the order of their stored keys, of one key in the order of being added. malloc.
static struct sorted *sort(struct weir_bulk *bulk)
{
    uint32_t *ranks = rank_states(bulk);
    uint32_t bucket_count = WEIR_KEY_GROUP_COUNT * bulk->state_count;
    uint32_t *ends = weir_alloc_zero((bucket_count + 1) * sizeof *ends);
    struct sorted *sorted = weir_alloc((bulk->count + 1) * sizeof *sorted);
    for (uint32_t i = 0; i < bulk->count; i++) {
        const struct entry *entry = &bulk->entries[i];
        ends[entry->key_group * bulk->state_count + ranks[entry->state_idx] + 1]++;
    }
    for (uint32_t i = 0; i < bucket_count; i++) {
        ends[i + 1] += ends[i];
    }
    for (uint32_t i = 0; i < bulk->count; i++) {
        const struct entry *entry = &bulk->entries[i];
        uint32_t bucket = entry->key_group * bulk->state_count + ranks[entry->state_idx];
        sorted[ends[bucket]++] =
            (struct sorted){.prefix = {word_of(entry->key, 0), word_of(entry->key, 8)},
                            .key_bytes = (uint32_t)entry->key.size_bytes,
                            .entry_idx = i};
    }
    // Each bucket now ends where ends[] of it says, and begins where the one before ends.
    for (uint32_t i = 0; i < bucket_count; i++) {
        uint32_t begin = i == 0 ? 0 : ends[i - 1];
        if (ends[i] - begin > 1) {
            qsort_r(&sorted[begin], ends[i] - begin, sizeof *sorted, compare, bulk);
        }
    }
    free(ends);
    free(ranks);
    return sorted;
}

static bool is_same_key(const struct weir_bulk *bulk, const struct sorted *a,
                        const struct sorted *b)
{
    const struct entry *left = &bulk->entries[a->entry_idx];
    const struct entry *right = &bulk->entries[b->entry_idx];
    return compare_keys(bulk, a, b) == 0 && left->key_group == right->key_group &&
           left->state_idx == right->state_idx;
}

// In their order entries lie all over memory: those to come are fetched meanwhile.
static void fetch_ahead(const struct weir_bulk *bulk, const struct sorted *sorted, uint32_t at)
{
    enum { ENTRIES = 16, BYTES = 8 };
    if (at + ENTRIES < bulk->count) {
        __builtin_prefetch(&bulk->entries[sorted[at + ENTRIES].entry_idx]);
    }
    if (at + BYTES < bulk->count) {
        const struct entry *entry = &bulk->entries[sorted[at + BYTES].entry_idx];
        __builtin_prefetch(entry->key.data);
        __builtin_prefetch(entry->value.data);
    }
}

// Calls write for the last change of each key, in order.
static enum weir_status each(struct weir_bulk *bulk,
                             enum weir_status (*write)(void *target, struct weir_view key,
                                                       struct weir_view value,
                                                       struct weir_error *error),
                             void *target, struct weir_error *error)
{
    struct sorted *sorted = sort(bulk);
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < bulk->count && status == WEIR_OK; i++) {
        fetch_ahead(bulk, sorted, i);
        if (i + 1 < bulk->count && is_same_key(bulk, &sorted[i], &sorted[i + 1])) {
            continue;
        }
        const struct entry *entry = &bulk->entries[sorted[i].entry_idx];
        weir_live_key_make(&bulk->key, entry->key_group, bulk->state_ids[entry->state_idx],
                           entry->key);
        struct weir_view key = {.data = bulk->key.data, .size_bytes = bulk->key.size_bytes};
        status = write(target, key, entry->value, error);
    }
    free(sorted);
    return status;
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
