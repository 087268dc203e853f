// SPDX-License-Identifier: Apache-2.0
// A field's default, JSON in a schema, in Avro's binary form: then a default is decoded by the same
// program as a value of a record. Private to avro_schema.c. Thread: any.
#ifndef WEIR_KAFKA_AVRO_DEFAULT_H
#define WEIR_KAFKA_AVRO_DEFAULT_H

#include "kafka/avro_schema.h"

#include <yyjson.h>

// Appends the binary form of `value`; false: it is none of the type (what was appended is rubbish).
// Bytes and fixed are strings whose characters U+0000 to U+00FF stand for bytes; a union's default
// is of any branch (the specification says the first; the others are met all the same).
bool weir_avro_default_append(const struct weir_avro_type *type, yyjson_val *value,
                              struct weir_buffer *out);

#endif
