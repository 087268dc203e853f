// SPDX-License-Identifier: Apache-2.0
// See ordered.h.
//
// Invariants
// 1. No block is empty.
// 2. Entries of a block, and blocks by their first entries, ascend strictly by key.
#include "rocksdb_backend/ordered.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

// Keys of windows and timers begin with a time that many of them have in common: they must be told
// apart without a look at the version, which lies somewhere in memory.
enum { BLOCK_ENTRIES = 32, PREFIX_WORDS = 3, PREFIX_BYTES = 8 * PREFIX_WORDS };

// The first bytes of a key as numbers, the first byte highest; zeros behind a shorter one.
struct prefix {
    uint64_t words[PREFIX_WORDS];
};

struct entry {
    struct prefix prefix;
    struct weir_version *version;
};

struct block {
    uint32_t count;
    struct entry entries[BLOCK_ENTRIES];
};

struct weir_ordered {
    struct block **blocks;
    uint32_t block_count;
    uint32_t block_capacity;
};

struct weir_ordered *weir_ordered_create(void)
{
    return weir_alloc_zero(sizeof(struct weir_ordered));
}

void weir_ordered_destroy(struct weir_ordered *ordered)
{
    if (ordered == NULL) {
        return;
    }
    for (uint32_t i = 0; i < ordered->block_count; i++) {
        free(ordered->blocks[i]);
    }
    free(ordered->blocks);
    free(ordered);
}

size_t weir_ordered_bytes(const struct weir_ordered *ordered)
{
    return ordered->block_count * sizeof(struct block) +
           ordered->block_capacity * sizeof(struct block *);
}

static struct prefix prefix_of(struct weir_view key)
{
    unsigned char bytes[PREFIX_BYTES] = {0};
    struct prefix prefix = {0};
    if (key.size_bytes != 0) {
        memcpy(bytes, key.data, key.size_bytes < PREFIX_BYTES ? key.size_bytes : PREFIX_BYTES);
    }
    for (int i = 0; i < PREFIX_BYTES; i++) {
        prefix.words[i / 8] = prefix.words[i / 8] << 8 | bytes[i];
    }
    return prefix;
}

static int compare(const struct entry *entry, const struct prefix *prefix, struct weir_view key)
{
    for (int i = 0; i < PREFIX_WORDS; i++) {
        if (entry->prefix.words[i] != prefix->words[i]) {
            return entry->prefix.words[i] < prefix->words[i] ? -1 : 1;
        }
    }
    return weir_key_compare(weir_version_key(entry->version), key);
}

// The last block whose first key is not above the key; the first block when there is none.
static uint32_t find_block(const struct weir_ordered *ordered, const struct prefix *prefix,
                           struct weir_view key)
{
    uint32_t low = 0;
    uint32_t high = ordered->block_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&ordered->blocks[middle]->entries[0], prefix, key) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? 0 : low - 1;
}

// The first entry of the block that is not below the key; count when there is none.
static uint32_t find_entry(const struct block *block, const struct prefix *prefix,
                           struct weir_view key)
{
    uint32_t low = 0;
    uint32_t high = block->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&block->entries[middle], prefix, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct block *add_block(struct weir_ordered *ordered, uint32_t place)
{
    if (ordered->block_count == ordered->block_capacity) {
        ordered->block_capacity = ordered->block_capacity == 0 ? 8 : 2 * ordered->block_capacity;
        ordered->blocks =
            weir_realloc(ordered->blocks, ordered->block_capacity * sizeof *ordered->blocks);
    }
    memmove(&ordered->blocks[place + 1], &ordered->blocks[place],
            (ordered->block_count - place) * sizeof *ordered->blocks);
    ordered->block_count++;
    struct block *block = weir_alloc(sizeof *block);
    block->count = 0;
    ordered->blocks[place] = block;
    return block;
}

static void remove_block(struct weir_ordered *ordered, uint32_t place)
{
    free(ordered->blocks[place]);
    ordered->block_count--;
    memmove(&ordered->blocks[place], &ordered->blocks[place + 1],
            (ordered->block_count - place) * sizeof *ordered->blocks);
}

void weir_ordered_insert(struct weir_ordered *ordered, struct weir_version *version)
{
    struct weir_view key = weir_version_key(version);
    struct prefix prefix = prefix_of(key);
    uint32_t place = find_block(ordered, &prefix, key);
    struct block *block =
        ordered->block_count == 0 ? add_block(ordered, 0) : ordered->blocks[place];
    uint32_t at = find_entry(block, &prefix, key);
    WEIR_DASSERT(at == block->count || compare(&block->entries[at], &prefix, key) != 0);
    if (block->count == BLOCK_ENTRIES) {
        struct block *next = add_block(ordered, place + 1);
        // Keys that come in ascending order leave full blocks behind, not half ones.
        uint32_t kept = at == BLOCK_ENTRIES && place + 2 == ordered->block_count
                            ? BLOCK_ENTRIES
                            : BLOCK_ENTRIES / 2;
        next->count = BLOCK_ENTRIES - kept;
        memcpy(next->entries, &block->entries[kept], next->count * sizeof *next->entries);
        block->count = kept;
        if (at > kept || kept == BLOCK_ENTRIES) {
            block = next;
            at -= kept;
        }
    }
    memmove(&block->entries[at + 1], &block->entries[at],
            (block->count - at) * sizeof *block->entries);
    block->entries[at] = (struct entry){.prefix = prefix, .version = version};
    block->count++;
}

static void find(const struct weir_ordered *ordered, const struct weir_version *version,
                 uint32_t *block_idx, uint32_t *entry_idx)
{
    struct weir_view key = weir_version_key(version);
    struct prefix prefix = prefix_of(key);
    WEIR_ASSERT(ordered->block_count > 0);
    *block_idx = find_block(ordered, &prefix, key);
    const struct block *block = ordered->blocks[*block_idx];
    *entry_idx = find_entry(block, &prefix, key);
    WEIR_ASSERT(*entry_idx < block->count && block->entries[*entry_idx].version == version);
}

void weir_ordered_erase(struct weir_ordered *ordered, const struct weir_version *version)
{
    uint32_t block_idx;
    uint32_t entry_idx;
    find(ordered, version, &block_idx, &entry_idx);
    struct block *block = ordered->blocks[block_idx];
    block->count--;
    memmove(&block->entries[entry_idx], &block->entries[entry_idx + 1],
            (block->count - entry_idx) * sizeof *block->entries);
    if (block->count == 0) {
        remove_block(ordered, block_idx);
    } else if (block_idx + 1 < ordered->block_count &&
               block->count + ordered->blocks[block_idx + 1]->count <= BLOCK_ENTRIES / 2) {
        const struct block *next = ordered->blocks[block_idx + 1];
        memcpy(&block->entries[block->count], next->entries, next->count * sizeof *next->entries);
        block->count += next->count;
        remove_block(ordered, block_idx + 1);
    }
}

void weir_ordered_replace(struct weir_ordered *ordered, const struct weir_version *old,
                          struct weir_version *version)
{
    uint32_t block_idx;
    uint32_t entry_idx;
    find(ordered, old, &block_idx, &entry_idx);
    ordered->blocks[block_idx]->entries[entry_idx].version = version;
}

struct weir_ordered_cursor weir_ordered_seek(const struct weir_ordered *ordered,
                                             struct weir_view from)
{
    struct weir_ordered_cursor cursor = {.ordered = ordered};
    if (ordered->block_count > 0) {
        struct prefix prefix = prefix_of(from);
        cursor.block_idx = find_block(ordered, &prefix, from);
        const struct block *block = ordered->blocks[cursor.block_idx];
        cursor.entry_idx = find_entry(block, &prefix, from);
        if (cursor.entry_idx == block->count) {
            cursor.block_idx++;
            cursor.entry_idx = 0;
        }
    }
    return cursor;
}

struct weir_version *weir_ordered_at(const struct weir_ordered_cursor *cursor)
{
    if (cursor->block_idx == cursor->ordered->block_count) {
        return NULL;
    }
    return cursor->ordered->blocks[cursor->block_idx]->entries[cursor->entry_idx].version;
}

void weir_ordered_next(struct weir_ordered_cursor *cursor)
{
    cursor->entry_idx++;
    if (cursor->entry_idx == cursor->ordered->blocks[cursor->block_idx]->count) {
        cursor->block_idx++;
        cursor->entry_idx = 0;
    }
}
