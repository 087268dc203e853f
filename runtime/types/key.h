// SPDX-License-Identifier: Apache-2.0
// Rows' keys as bytes that keep order and equality: memcmp orders them as PostgreSQL orders the
// values (NULLS LAST; but for jsonb), and equal values have equal bytes (2.0 = 2.00, -0.0 = 0.0,
// NaN = NaN).
// Decoding gives values that are equal, though not always in their first spelling (2.0 for 2.00).
// Thread: any.
#ifndef WEIR_RUNTIME_TYPES_KEY_H
#define WEIR_RUNTIME_TYPES_KEY_H

#include "runtime/batch.h"

// Appends the encoding of row `row` of `column_count` columns.
void weir_key_encode(const struct weir_column *columns, uint32_t column_count, uint32_t row,
                     struct weir_buffer *out);

// Reads a key back into row `row` of columns (allocated with validity, of the same types). Views
// and numerics go to the arena. False: these are no such bytes.
bool weir_key_decode(struct weir_view key, struct weir_column *columns, uint32_t column_count,
                     uint32_t row, struct weir_arena *arena);

// XXH3 of the encoding, mod WEIR_KEY_GROUP_COUNT.
uint16_t weir_key_group(struct weir_view key);

#endif
