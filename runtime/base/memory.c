// SPDX-License-Identifier: Apache-2.0
// See memory.h. An arena is a list of blocks; the current one is filled from the front. reset()
// keeps ordinary blocks, so that a batch arena stops allocating once it has seen a typical batch.
#include "runtime/base/memory.h"

#include "runtime/base/assert.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_ALIGN_BYTES = 16 };

struct block {
    struct block *next;
    size_t capacity_bytes;
    alignas(ARENA_ALIGN_BYTES) char data[];
};

struct weir_arena {
    struct block *current; // being filled; the blocks before it are behind `next`
    struct block *spare;   // kept by reset
    size_t block_bytes;
    size_t used_bytes;      // of current
    size_t used_before_bytes; // in the blocks before current
};

static _Noreturn void out_of_memory(size_t size_bytes)
{
    fprintf(stderr, "out of memory: %zu bytes\n", size_bytes);
    abort();
}

void *weir_alloc(size_t size_bytes)
{
    void *memory = malloc(size_bytes != 0 ? size_bytes : 1);
    if (memory == NULL) {
        out_of_memory(size_bytes);
    }
    return memory;
}

void *weir_alloc_zero(size_t size_bytes)
{
    void *memory = calloc(1, size_bytes != 0 ? size_bytes : 1);
    if (memory == NULL) {
        out_of_memory(size_bytes);
    }
    return memory;
}

void *weir_realloc(void *memory, size_t size_bytes)
{
    void *grown = realloc(memory, size_bytes != 0 ? size_bytes : 1);
    if (grown == NULL) {
        out_of_memory(size_bytes);
    }
    return grown;
}

char *weir_strdup(const char *text)
{
    size_t size_bytes = strlen(text) + 1;
    return memcpy(weir_alloc(size_bytes), text, size_bytes);
}

static size_t align_up(size_t size_bytes)
{
    return (size_bytes + ARENA_ALIGN_BYTES - 1) & ~(size_t)(ARENA_ALIGN_BYTES - 1);
}

struct weir_arena *weir_arena_create(size_t block_bytes)
{
    WEIR_ASSERT(block_bytes >= 256);
    struct weir_arena *arena = weir_alloc_zero(sizeof *arena);
    arena->block_bytes = block_bytes;
    return arena;
}

static void free_blocks(struct block *block)
{
    while (block != NULL) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

void weir_arena_destroy(struct weir_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    free_blocks(arena->current);
    free_blocks(arena->spare);
    free(arena);
}

static void push_block(struct weir_arena *arena, size_t size_bytes)
{
    struct block *block = arena->spare;
    if (block != NULL && size_bytes <= block->capacity_bytes) {
        arena->spare = block->next;
    } else {
        size_t capacity_bytes = size_bytes > arena->block_bytes ? size_bytes : arena->block_bytes;
        block = weir_alloc(sizeof *block + capacity_bytes);
        block->capacity_bytes = capacity_bytes;
    }
    arena->used_before_bytes += arena->used_bytes;
    arena->used_bytes = 0;
    block->next = arena->current;
    arena->current = block;
}

void *weir_arena_alloc(struct weir_arena *arena, size_t size_bytes)
{
    size_bytes = align_up(size_bytes);
    if (arena->current == NULL || size_bytes > arena->current->capacity_bytes - arena->used_bytes) {
        push_block(arena, size_bytes);
    }
    void *memory = arena->current->data + arena->used_bytes;
    arena->used_bytes += size_bytes;
    return memory;
}

void *weir_arena_alloc_zero(struct weir_arena *arena, size_t size_bytes)
{
    return memset(weir_arena_alloc(arena, size_bytes), 0, size_bytes);
}

void *weir_arena_realloc(struct weir_arena *arena, void *memory, size_t old_bytes,
                         size_t new_bytes)
{
    if (memory == NULL) {
        return weir_arena_alloc(arena, new_bytes);
    }
    size_t old_aligned = align_up(old_bytes);
    size_t new_aligned = align_up(new_bytes);
    struct block *block = arena->current;
    bool is_newest =
        block != NULL && (char *)memory + old_aligned == block->data + arena->used_bytes;
    if (is_newest) {
        size_t start_bytes = (size_t)((char *)memory - block->data);
        if (start_bytes + new_aligned <= block->capacity_bytes) {
            arena->used_bytes = start_bytes + new_aligned;
            return memory;
        }
    } else if (new_aligned <= old_aligned) {
        return memory;
    }
    void *moved = weir_arena_alloc(arena, new_bytes);
    return memcpy(moved, memory, old_bytes < new_bytes ? old_bytes : new_bytes);
}

struct weir_view weir_arena_copy(struct weir_arena *arena, struct weir_view view)
{
    if (view.data == NULL) {
        return view;
    }
    char *data = weir_arena_alloc(arena, view.size_bytes + 1);
    memcpy(data, view.data, view.size_bytes);
    data[view.size_bytes] = '\0';
    return (struct weir_view){.data = data, .size_bytes = view.size_bytes};
}

char *weir_arena_strdup(struct weir_arena *arena, const char *text)
{
    size_t size_bytes = strlen(text) + 1;
    return memcpy(weir_arena_alloc(arena, size_bytes), text, size_bytes);
}

char *weir_arena_printf(struct weir_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    WEIR_ASSERT(size >= 0);
    char *text = weir_arena_alloc(arena, (size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

void weir_arena_reset(struct weir_arena *arena)
{
    struct block *block = arena->current;
    while (block != NULL) {
        struct block *next = block->next;
        if (block->capacity_bytes > arena->block_bytes) {
            free(block);
        } else {
            block->next = arena->spare;
            arena->spare = block;
        }
        block = next;
    }
    arena->current = NULL;
    arena->used_bytes = 0;
    arena->used_before_bytes = 0;
}

size_t weir_arena_used_bytes(const struct weir_arena *arena)
{
    return arena->used_before_bytes + arena->used_bytes;
}

void weir_buffer_deinit(struct weir_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct weir_buffer){0};
}

void weir_buffer_grow(struct weir_buffer *buffer, size_t capacity_bytes)
{
    size_t doubled_bytes = buffer->capacity_bytes * 2;
    size_t new_bytes = capacity_bytes > doubled_bytes ? capacity_bytes : doubled_bytes;
    if (new_bytes < 64) {
        new_bytes = 64;
    }
    buffer->data = weir_realloc(buffer->data, new_bytes);
    buffer->capacity_bytes = new_bytes;
}

void weir_buffer_printf(struct weir_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    WEIR_ASSERT(size >= 0);
    char *end = weir_buffer_reserve(buffer, (size_t)size + 1);
    vsnprintf(end, (size_t)size + 1, format, again);
    va_end(again);
    buffer->size_bytes += (size_t)size;
}

const char *weir_buffer_text(struct weir_buffer *buffer)
{
    *weir_buffer_reserve(buffer, 1) = '\0';
    return buffer->data;
}
