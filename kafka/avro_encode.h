// SPDX-License-Identifier: Apache-2.0
// Rows to Avro message values and keys: Confluent's framing, then the record as a registered schema
// wants it. The schema may be the one that is derived from the columns (avro_derive.h), or one that
// somebody else has registered.
// Thread: an encoder belongs to one task.
#ifndef WEIR_KAFKA_AVRO_ENCODE_H
#define WEIR_KAFKA_AVRO_ENCODE_H

#include "kafka/avro_decode.h"
#include "kafka/avro_schema.h"
#include "kafka/format.h"

struct weir_avro_encode_config {
    const struct weir_schema *schema; // of the rows
    uint32_t column_count;            // those of it that are written
    const uint32_t *column_idxs;
    const struct weir_avro_type *type; // what is written; outlives the encoder
    uint32_t id;                       // its id in the registry
    struct weir_avro_frame frame;      // zero: a registry's
};

// schema and column_idxs live as long as the encoder. Error (REFUSE): a column has no place in the
// schema, a field of the schema neither a column nor a default, or a column cannot become what its
// field is. A row whose values do not fit (a NULL without null branch, a symbol that the enum does
// not have, an infinite timestamp) is a failure of that row: weir_encoded.failure.
enum weir_status weir_avro_encoder_create(const struct weir_avro_encode_config *config,
                                          struct weir_encoder **encoder, struct weir_error *error);

#endif
