// SPDX-License-Identifier: Apache-2.0
// Values as JSON, byte for byte what PostgreSQL's row_to_json gives with TimeZone UTC: text escaped
// as its escape_json does, NaN and infinities as strings, bytea as a hex string, timestamps with T,
// composites as objects, jsonb as its text.
//
// The last step of a record's way out; called by the sink's encoder for every value, so the
// dispatch by type is done once a column (weir_json_append_function). Thread: any.
#ifndef WEIR_RUNTIME_TYPES_JSON_OUT_H
#define WEIR_RUNTIME_TYPES_JSON_OUT_H

#include "runtime/base/memory.h"
#include "runtime/batch.h"

// Appends column[row], which must be valid.
typedef void (*weir_json_append_fn)(struct weir_buffer *buffer, const struct weir_column *column,
                                    uint32_t row);
weir_json_append_fn weir_json_append_function(enum weir_type_kind kind);

// Any row: null where there is no value.
static inline void weir_json_append_value(struct weir_buffer *buffer,
                                          const struct weir_column *column, uint32_t row)
{
    if (!weir_column_is_valid(column, row)) {
        weir_buffer_append(buffer, "null", 4);
        return;
    }
    weir_json_append_function(column->type.kind)(buffer, column, row);
}

// A whole row, {"name":value,…}: dead letters, tests, composites. Encoders that write many rows
// prepare their names instead.
void weir_json_append_row(struct weir_buffer *buffer, const struct weir_schema *schema,
                          const struct weir_column *columns, uint32_t row);

// A quoted JSON string. text is valid UTF-8.
void weir_json_append_string(struct weir_buffer *buffer, struct weir_view text);

#endif
