// SPDX-License-Identifier: Apache-2.0
// Rows to JSON, byte for byte what PostgreSQL's row_to_json gives with TimeZone = 'UTC'.
// Thread: an encoder is immutable; any number of tasks may use one.
#ifndef WEIR_KAFKA_JSON_ENCODE_H
#define WEIR_KAFKA_JSON_ENCODE_H

#include "kafka/format.h"

// All columns of the schema, in order. The schema lives as long as the encoder. Never NULL.
struct weir_encoder *weir_json_encoder_create(const struct weir_schema *schema);

// Some of its columns, in the order of column_idxs: the message key of a table. Never NULL.
struct weir_encoder *weir_json_encoder_create_for(const struct weir_schema *schema,
                                                  uint32_t column_count,
                                                  const uint32_t *column_idxs);

// One row of loose columns (schema->column_count of them), for dead letters. `encoder` is one of
// the above.
void weir_json_encode_row(const struct weir_encoder *encoder, const struct weir_column *columns,
                          uint32_t row, struct weir_buffer *out);

#endif
