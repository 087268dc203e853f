// SPDX-License-Identifier: Apache-2.0
// Avro without a registry: records of one given schema, bare or in Avro's single-object encoding,
// which names the schema by its fingerprint. Thread: any.
#ifndef WEIR_KAFKA_AVRO_GIVEN_H
#define WEIR_KAFKA_AVRO_GIVEN_H

#include "kafka/avro_decode.h"

struct weir_avro_given {
    struct weir_avro_schemas schemas; // first: the interface; every id is the given schema
    const struct weir_avro_type *type;
    struct weir_avro_frame frame;
};

// framing: SINGLE_OBJECT or NONE. In the arena. Error: what is wrong with the schema.
enum weir_status weir_avro_given_create(struct weir_arena *arena, enum weir_avro_framing framing,
                                        const char *schema, struct weir_avro_given **given,
                                        struct weir_error *error);

// CRC-64-AVRO, as the Avro specification has it.
uint64_t weir_avro_fingerprint(struct weir_view canonical);

#endif
