// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. Thread: one.
#ifndef WEIR_TESTS_FUZZ_FUZZ_H
#define WEIR_TESTS_FUZZ_FUZZ_H

#include "runtime/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

// Ends the process where the condition does not hold, with what is wrong.
static inline void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
        abort();
    }
}

static inline bool is_same_bytes(const struct weir_buffer *a, const struct weir_buffer *b)
{
    return a->size_bytes == b->size_bytes &&
           (a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0);
}

// A copy in a block of just this size, so that a sanitizer sees a byte too far; the caller frees
// it.
static inline char *copy_exactly(const void *data, size_t size_bytes)
{
    char *block = malloc(size_bytes != 0 ? size_bytes : 1);
    require(block != NULL, "out of memory");
    if (size_bytes != 0) {
        memcpy(block, data, size_bytes);
    }
    return block;
}

#endif
