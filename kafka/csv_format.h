// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it, for simple producers: a message value is one line, its fields are the
// table's columns in declared order. As in PostgreSQL's COPY an empty field without quotes is NULL,
// "" is an empty text; any other text goes through the input function of the column's type.
// Thread: a decoder belongs to one task.
#ifndef WEIR_KAFKA_CSV_FORMAT_H
#define WEIR_KAFKA_CSV_FORMAT_H

#include "kafka/format.h"

// schema: the columns to decode; positions: the field of the line that each is; field_count: of a
// line. All live as long as the decoder.
struct weir_decoder *weir_csv_decoder_create(const struct weir_schema *schema,
                                             const uint32_t *positions, uint32_t field_count);

#endif
