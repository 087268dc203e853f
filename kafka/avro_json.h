// SPDX-License-Identifier: Apache-2.0
// An Avro value as JSON text: how maps, arrays, records and anything else become jsonb. The slow
// way, for what has no column type of its own. Private to the Avro format. Thread: any.
#ifndef WEIR_KAFKA_AVRO_JSON_H
#define WEIR_KAFKA_AVRO_JSON_H

#include "kafka/avro_schema.h"

// Appends the value that begins at p, the way the types' own JSON looks (timestamps as text, bytes
// as "\\x…", decimals as numbers, a union as its branch). Returns the place behind it; NULL: not
// such a value, *why says why.
const uint8_t *weir_avro_append_json(const struct weir_avro_type *type, const uint8_t *p,
                                     const uint8_t *end, struct weir_buffer *out, const char **why);

#endif
