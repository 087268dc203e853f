// SPDX-License-Identifier: Apache-2.0
// The Avro schema that columns have by themselves: what a sink registers. Thread: any.
#ifndef WEIR_KAFKA_AVRO_DERIVE_H
#define WEIR_KAFKA_AVRO_DERIVE_H

#include "runtime/batch.h"

struct weir_avro_derive_column {
    const struct weir_field *field;
    bool is_not_null; // else a union with null, whose default is null
};

// Appends a schema as JSON: a record of that name and namespace, a field a column. Names that Avro
// does not take are refused (REFUSE): those of columns must be what readers find.
//   smallint int · integer int · bigint long · real float · double double · boolean boolean
//   numeric(p,s) decimal · numeric string · text, varchar, char string · bytea bytes · date date
//   time time-micros · timestamp local-timestamp-micros · timestamptz timestamp-micros
//   interval string · uuid uuid · json, jsonb string · composites records · arrays arrays
enum weir_status weir_avro_derive(const char *name, const char *space, const char *doc,
                                  uint32_t column_count,
                                  const struct weir_avro_derive_column *columns,
                                  struct weir_buffer *out, struct weir_error *error);

#endif
