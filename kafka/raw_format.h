// SPDX-License-Identifier: Apache-2.0
// Format raw. Values: a table's one column, text or bytea, is the message value as it is (text must
// be UTF-8 without NUL, a NULL column is a null value). Keys: the text form of one column of any
// type, as PostgreSQL's output function gives it; bytea as its bytes; NULL is a null key.
// Thread: a decoder belongs to one task, an encoder is immutable.
#ifndef WEIR_KAFKA_RAW_FORMAT_H
#define WEIR_KAFKA_RAW_FORMAT_H

#include "kafka/format.h"

// schema: no column (records are only counted) or one: of any type for keys, whose text goes
// through the type's input function. Never NULL.
struct weir_decoder *weir_raw_decoder_create(const struct weir_schema *schema);

// Column column_idx of the schema, which lives as long as the encoder. Never NULL.
struct weir_encoder *weir_raw_encoder_create(const struct weir_schema *schema, uint32_t column_idx);

#endif
