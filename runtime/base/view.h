// SPDX-License-Identifier: Apache-2.0
// A view of bytes that somebody else owns: text, bytea, keys, values. data == NULL is "no value"
// (a null key); data != NULL with size 0 is an empty one: Kafka tells the two apart, and so do we.
#ifndef WEIR_RUNTIME_BASE_VIEW_H
#define WEIR_RUNTIME_BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct weir_view {
    const char *data;
    size_t size_bytes;
};

static inline struct weir_view weir_view_of(const char *text)
{
    return (struct weir_view){.data = text, .size_bytes = strlen(text)};
}

static inline bool weir_view_equal(struct weir_view a, struct weir_view b)
{
    return a.size_bytes == b.size_bytes &&
           (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

// For printf's "%.*s".
#define WEIR_VIEW_ARGS(view) (int)(view).size_bytes, (view).data

#endif
