// SPDX-License-Identifier: Apache-2.0
// Text input and output of composites: (1,"a b",,"say ""hi"""). Internal to this folder; callers go
// through text_io.h. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_COMPOSITE_IO_H
#define WEIR_RUNTIME_TYPES_COMPOSITE_IO_H

#include "runtime/batch.h"
#include "runtime/types/value_error.h"

// Fills the fields of column[row]; an empty field is NULL. "malformed record literal: …".
bool weir_composite_parse(struct weir_column *column, uint32_t row, struct weir_view text,
                          struct weir_arena *arena, struct weir_value_error *error);

void weir_composite_append(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row);

#endif
