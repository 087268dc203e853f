// SPDX-License-Identifier: Apache-2.0
// Memory by lifetime. Small allocations that fail end the process. An arena is a bump allocator
// whose memory is freed or reused as a whole: one for the process, one for the job, one a batch.
// A buffer is a growable run of bytes. Thread: none of these is shared.
#ifndef WEIR_RUNTIME_BASE_MEMORY_H
#define WEIR_RUNTIME_BASE_MEMORY_H

#include "runtime/base/view.h"

#include <stddef.h>
#include <stdint.h>

void *weir_alloc(size_t size_bytes);      // never NULL
void *weir_alloc_zero(size_t size_bytes); // never NULL
void *weir_realloc(void *memory, size_t size_bytes);
char *weir_strdup(const char *text);

struct weir_arena;

// block_bytes: the size in which the arena takes memory from the system; larger requests get
// blocks of their own.
struct weir_arena *weir_arena_create(size_t block_bytes);
void weir_arena_destroy(struct weir_arena *arena); // accepts NULL

// Memory aligned to 16 bytes, not zeroed, valid until reset or destroy.
void *weir_arena_alloc(struct weir_arena *arena, size_t size_bytes);
void *weir_arena_alloc_zero(struct weir_arena *arena, size_t size_bytes);

// Grows or shrinks the newest allocation in place where it can, else copies.
void *weir_arena_realloc(struct weir_arena *arena, void *memory, size_t old_bytes,
                         size_t new_bytes);

struct weir_view weir_arena_copy(struct weir_arena *arena, struct weir_view view);
char *weir_arena_strdup(struct weir_arena *arena, const char *text);
char *weir_arena_printf(struct weir_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Everything allocated is gone; ordinary blocks are kept for reuse, oversized ones are freed.
void weir_arena_reset(struct weir_arena *arena);
size_t weir_arena_used_bytes(const struct weir_arena *arena);

// A growable run of bytes. Zero-initialised is empty and valid.
struct weir_buffer {
    char *data;
    size_t size_bytes;
    size_t capacity_bytes;
};

void weir_buffer_deinit(struct weir_buffer *buffer);
void weir_buffer_grow(struct weir_buffer *buffer, size_t capacity_bytes);

// Room for so many more bytes behind data + size_bytes; the caller writes and adds to size_bytes.
static inline char *weir_buffer_reserve(struct weir_buffer *buffer, size_t more_bytes)
{
    if (buffer->size_bytes + more_bytes > buffer->capacity_bytes) {
        weir_buffer_grow(buffer, buffer->size_bytes + more_bytes);
    }
    return buffer->data + buffer->size_bytes;
}

static inline void weir_buffer_append(struct weir_buffer *buffer, const void *data,
                                      size_t size_bytes)
{
    if (size_bytes != 0) {
        memcpy(weir_buffer_reserve(buffer, size_bytes), data, size_bytes);
        buffer->size_bytes += size_bytes;
    }
}

static inline void weir_buffer_append_char(struct weir_buffer *buffer, char c)
{
    *weir_buffer_reserve(buffer, 1) = c;
    buffer->size_bytes++;
}

// The number's lower bytes, the highest one first: such bytes are in the order of the numbers.
static inline void weir_buffer_append_big_endian(struct weir_buffer *buffer, uint64_t number,
                                                 uint32_t size_bytes)
{
    unsigned char *at = (unsigned char *)weir_buffer_reserve(buffer, size_bytes);
    for (uint32_t i = 0; i < size_bytes; i++) {
        at[i] = (unsigned char)(number >> (8 * (size_bytes - 1 - i)));
    }
    buffer->size_bytes += size_bytes;
}

void weir_buffer_printf(struct weir_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Its bytes, until it changes; never without data.
static inline struct weir_view weir_buffer_view(const struct weir_buffer *buffer)
{
    return (struct weir_view){.data = buffer->size_bytes != 0 ? buffer->data : "",
                              .size_bytes = buffer->size_bytes};
}

// NUL behind the last byte (not counted), so that data is a C string.
const char *weir_buffer_text(struct weir_buffer *buffer);

#endif
