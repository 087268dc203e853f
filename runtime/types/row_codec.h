// SPDX-License-Identifier: Apache-2.0
// Rows as compact bytes for values in keyed state. Unlike keys (key.h) they keep neither order nor
// equality, but every value exactly as it was spelt: 2.00 stays 2.00. Numbers are in the byte order
// of the machine. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_ROW_CODEC_H
#define WEIR_RUNTIME_TYPES_ROW_CODEC_H

#include "runtime/batch.h"

// Appends row `row` of `column_count` columns.
void weir_row_encode(const struct weir_column *columns, uint32_t column_count, uint32_t row,
                     struct weir_buffer *out);

// Reads such bytes back into row `row` of columns (allocated with validity, of the same types).
// Texts point into `bytes`, large numerics go to the arena. False: these are no such bytes.
bool weir_row_decode(struct weir_view bytes, struct weir_column *columns, uint32_t column_count,
                     uint32_t row, struct weir_arena *arena);

// Reads rows 0 to row_count - 1 of one column, written one behind the other, from the front of
// *bytes, which is left at what follows. False: these are no such bytes.
bool weir_rows_decode(struct weir_view *bytes, struct weir_column *column, uint32_t row_count,
                      struct weir_arena *arena);

#endif
