// SPDX-License-Identifier: Apache-2.0
// See slab.h. Classes: every 16 bytes up to 256, then four to each doubling up to 8 KiB; what is
// larger is malloc's, chained so that destroy finds it. Pages are 64 KiB at multiples of 64 KiB, so
// that the page of an address is a mask away; they come in chunks of 2 MiB, which stay until the
// end.
//
// Under the address sanitizer everything is malloc's, so that it sees each entry's life.
#include "rocksdb_backend/slab.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

enum {
    FINE_STEP_BYTES = 16,
    FINE_BYTES_MAX = 256,
    CLASS_BYTES_MAX = 8192,
    CLASS_COUNT = 16 + 5 * 4,
    PAGE_BYTES = 64 << 10,
    CHUNK_BYTES = 2 << 20,
    LARGE_STEP_BYTES = 4096,
};

#if defined(__SANITIZE_ADDRESS__)
static const bool is_pooled = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
static const bool is_pooled = false;
#else
static const bool is_pooled = true;
#endif
#else
static const bool is_pooled = true;
#endif

struct page {
    struct page *next; // of its class with room left, or of the free ones
    struct page *previous;
    void *free_cells; // chained through their first bytes
    uint32_t used_count;
    uint32_t fresh_offset; // cells behind it were never handed out
    uint32_t cell_bytes;
    uint32_t class_idx;
    char padding[24]; // cells begin on a cache line of their own
};
static_assert(sizeof(struct page) == 64, "the first cell of a page is aligned to a cache line");

// In front of what is malloc's.
struct large {
    struct large *next;
    struct large *previous;
};

struct chunk {
    struct chunk *next;
    void *memory;
};

struct weir_slab {
    bool is_large;
    size_t used_bytes;
    size_t held_bytes;
    struct page *partial[CLASS_COUNT]; // with room left
    struct page *free_pages;
    struct chunk *chunks;
    struct large larges; // head of a ring
};

struct weir_slab *weir_slab_create(bool is_large)
{
    struct weir_slab *slab = weir_alloc_zero(sizeof *slab);
    slab->is_large = is_large;
    slab->larges.next = &slab->larges;
    slab->larges.previous = &slab->larges;
    return slab;
}

void weir_slab_destroy(struct weir_slab *slab)
{
    if (slab == NULL) {
        return;
    }
    while (slab->chunks != NULL) {
        struct chunk *chunk = slab->chunks;
        slab->chunks = chunk->next;
        free(chunk->memory);
        free(chunk);
    }
    while (slab->larges.next != &slab->larges) {
        struct large *large = slab->larges.next;
        slab->larges.next = large->next;
        free(large);
    }
    free(slab);
}

static uint32_t class_of(size_t size_bytes, uint32_t *cell_bytes)
{
    if (size_bytes <= FINE_BYTES_MAX) {
        uint32_t steps = (uint32_t)(size_bytes + FINE_STEP_BYTES - 1) / FINE_STEP_BYTES;
        steps += steps == 0;
        *cell_bytes = steps * FINE_STEP_BYTES;
        return steps - 1;
    }
    uint32_t last = (uint32_t)size_bytes - 1;
    uint32_t bit = 31 - (uint32_t)__builtin_clz(last);
    uint32_t quarter = (last >> (bit - 2)) & 3;
    *cell_bytes = (1U << bit) + ((quarter + 1) << (bit - 2));
    return FINE_BYTES_MAX / FINE_STEP_BYTES + (bit - 8) * 4 + quarter;
}

static void add_chunk(struct weir_slab *slab)
{
    struct chunk *chunk = weir_alloc(sizeof *chunk);
    chunk->memory = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);
    WEIR_ASSERT(chunk->memory != NULL);
    if (slab->is_large) {
        madvise(chunk->memory, CHUNK_BYTES, MADV_HUGEPAGE); // a wish
    }
    slab->held_bytes += CHUNK_BYTES;
    chunk->next = slab->chunks;
    slab->chunks = chunk;
    for (size_t offset = CHUNK_BYTES; offset > 0; offset -= PAGE_BYTES) {
        struct page *page = (struct page *)((char *)chunk->memory + offset - PAGE_BYTES);
        page->next = slab->free_pages;
        slab->free_pages = page;
    }
}

static void link_partial(struct weir_slab *slab, struct page *page)
{
    page->previous = NULL;
    page->next = slab->partial[page->class_idx];
    if (page->next != NULL) {
        page->next->previous = page;
    }
    slab->partial[page->class_idx] = page;
}

static void unlink_partial(struct weir_slab *slab, struct page *page)
{
    if (page->previous != NULL) {
        page->previous->next = page->next;
    } else {
        slab->partial[page->class_idx] = page->next;
    }
    if (page->next != NULL) {
        page->next->previous = page->previous;
    }
}

static bool is_full(const struct page *page)
{
    return page->free_cells == NULL && page->fresh_offset + page->cell_bytes > PAGE_BYTES;
}

static void *alloc_cell(struct weir_slab *slab, uint32_t class_idx, uint32_t cell_bytes)
{
    struct page *page = slab->partial[class_idx];
    if (page == NULL) {
        if (slab->free_pages == NULL) {
            add_chunk(slab);
        }
        page = slab->free_pages;
        slab->free_pages = page->next;
        *page = (struct page){
            .fresh_offset = sizeof *page, .cell_bytes = cell_bytes, .class_idx = class_idx};
        link_partial(slab, page);
    }
    void *cell = page->free_cells;
    if (cell != NULL) {
        memcpy(&page->free_cells, cell, sizeof page->free_cells);
    } else {
        cell = (char *)page + page->fresh_offset;
        page->fresh_offset += cell_bytes;
    }
    page->used_count++;
    if (is_full(page)) {
        unlink_partial(slab, page);
    }
    return cell;
}

static void free_cell(struct weir_slab *slab, void *cell)
{
    struct page *page = (struct page *)((uintptr_t)cell & ~(uintptr_t)(PAGE_BYTES - 1));
    bool was_full = is_full(page);
    memcpy(cell, &page->free_cells, sizeof page->free_cells);
    page->free_cells = cell;
    WEIR_DASSERT(page->used_count > 0);
    page->used_count--;
    if (was_full) {
        link_partial(slab, page);
    }
    if (page->used_count == 0) {
        unlink_partial(slab, page);
        page->next = slab->free_pages;
        slab->free_pages = page;
    }
}

static void *alloc_large(struct weir_slab *slab, size_t room_bytes)
{
    static_assert(sizeof(struct large) == 16, "what follows stays aligned to 16");
    struct large *large = weir_alloc(sizeof *large + room_bytes);
    slab->held_bytes += room_bytes;
    large->next = slab->larges.next;
    large->previous = &slab->larges;
    large->next->previous = large;
    slab->larges.next = large;
    return large + 1;
}

void *weir_slab_alloc(struct weir_slab *slab, size_t size_bytes, uint32_t *room_bytes)
{
    WEIR_ASSERT(size_bytes < UINT32_MAX - 2 * LARGE_STEP_BYTES);
    bool is_cell = size_bytes <= CLASS_BYTES_MAX;
    uint32_t class_idx = 0;
    if (is_cell) {
        class_idx = class_of(size_bytes, room_bytes);
    } else {
        *room_bytes =
            (uint32_t)((size_bytes + LARGE_STEP_BYTES - 1) & ~(size_t)(LARGE_STEP_BYTES - 1));
    }
    slab->used_bytes += *room_bytes;
    return is_cell && is_pooled ? alloc_cell(slab, class_idx, *room_bytes)
                                : alloc_large(slab, *room_bytes);
}

void weir_slab_free(struct weir_slab *slab, void *memory, uint32_t room_bytes)
{
    WEIR_DASSERT(slab->used_bytes >= room_bytes);
    slab->used_bytes -= room_bytes;
    if (room_bytes <= CLASS_BYTES_MAX && is_pooled) {
        free_cell(slab, memory);
        return;
    }
    slab->held_bytes -= room_bytes;
    struct large *large = (struct large *)memory - 1;
    large->next->previous = large->previous;
    large->previous->next = large->next;
    free(large);
}

size_t weir_slab_used_bytes(const struct weir_slab *slab)
{
    return slab->used_bytes;
}

size_t weir_slab_held_bytes(const struct weir_slab *slab)
{
    return slab->held_bytes;
}
