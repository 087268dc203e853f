// SPDX-License-Identifier: Apache-2.0
// The headers of a message from a column of its row. jsonb: an object, a member a header, an array
// as its value for several headers of one name, in order; texts as they are, numbers and the rest
// as JSON, null as a header without value. text[]: names and values in turn, or pairs of them, in
// order. Thread: the task's.
#ifndef WEIR_KAFKA_JSON_HEADERS_H
#define WEIR_KAFKA_JSON_HEADERS_H

#include "runtime/batch.h"

struct weir_row_headers {
    struct weir_header *headers; // grows; names and values lie in the arena of the last read
    uint32_t count;
    uint32_t capacity;
};

void weir_row_headers_deinit(struct weir_row_headers *list);

// False: the value is no such list, *why says what is wrong. NULL has no headers.
bool weir_row_headers_read(struct weir_row_headers *list, const struct weir_column *column,
                           uint32_t row, struct weir_arena *arena, const char **why);

#endif
