// SPDX-License-Identifier: Apache-2.0
// What a JSON value of a change event stands for where its writer (Kafka Connect) had other types
// than JSON has: days, clock times, decimals and bytes as base64. Told by the schema that a message
// may carry, else by the type of the column. Private to the JSON format. Thread: the decoder's.
#ifndef WEIR_KAFKA_JSON_MEANING_H
#define WEIR_KAFKA_JSON_MEANING_H

#include "kafka/json_convert.h"

// Of a column without a schema.
struct weir_json_meaning weir_json_meaning_of_type(const struct weir_type *type);

// The meanings of columns by the schema of a message ("schema" of {"schema": …, "payload": …}).
// branch: the field whose fields are the columns ("after"); NULL: the schema's own. Columns that it
// does not name keep what they have. Text that is no such schema changes nothing.
void weir_json_meanings_read(struct weir_view schema, const char *branch, uint32_t column_count,
                             const struct weir_field *columns, struct weir_json_meaning *meanings);

// The value as a text for the input function of the column's type. False: it is none of that
// meaning (*text is not set), or it cannot be one (the conversion's error is set).
bool weir_json_meaning_text(struct weir_json_conversion *conversion,
                            struct weir_json_meaning meaning, const struct weir_json_slot *slot,
                            struct weir_view *text, bool *is_bad);

#endif
