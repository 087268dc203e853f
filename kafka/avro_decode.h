// SPDX-License-Identifier: Apache-2.0
// Avro message values to columns: Confluent's framing (a zero byte, the schema id in four bytes,
// big end first, then the record), each record by the schema that its id names; or one given schema
// (avro_given.h). Thread: a decoder belongs to one task.
#ifndef WEIR_KAFKA_AVRO_DECODE_H
#define WEIR_KAFKA_AVRO_DECODE_H

#include "kafka/avro_schema.h"
#include "kafka/format.h"

enum {
    WEIR_AVRO_FRAME_BYTES = 5, // of a registry
    WEIR_AVRO_FRAME_BYTES_MAX = 10,
};

// What stands in front of a record.
enum weir_avro_framing {
    WEIR_AVRO_FRAMING_REGISTRY,      // a zero byte, the schema id
    WEIR_AVRO_FRAMING_SINGLE_OBJECT, // C3 01, the schema's fingerprint
    WEIR_AVRO_FRAMING_NONE,
};

struct weir_avro_frame {
    enum weir_avro_framing framing;
    uint32_t size_bytes; // of `bytes`: what every record begins with; 0 for a registry's
    char bytes[WEIR_AVRO_FRAME_BYTES_MAX];
};

enum weir_avro_lookup {
    WEIR_AVRO_FOUND,
    WEIR_AVRO_PENDING, // not known yet; whoever knows it will say so
    WEIR_AVRO_REFUSED, // there is no such schema, or it cannot be used: *why, for ever
};

// Who knows schemas by id: the registry's client, or a table in tests.
struct weir_avro_schemas {
    // Does not block. *type and *why live as long as the schemas. Thread: any.
    enum weir_avro_lookup (*find)(struct weir_avro_schemas *schemas, uint32_t id,
                                  const struct weir_avro_type **type, const char **why);
    // The descriptor (an eventfd: a task's mailbox) is written to whenever an id is no longer
    // pending. NULL: nothing is ever pending. Thread: any.
    void (*watch)(struct weir_avro_schemas *schemas, int descriptor);
    void (*unwatch)(struct weir_avro_schemas *schemas, int descriptor);
};

struct weir_avro_decode_options {
    struct weir_avro_schemas *schemas;   // outlives the decoder
    int wake_descriptor;                 // of the task's mailbox; 0: none
    const struct weir_avro_type *reader; // as in struct weir_avro_program_config, as the rest
    bool is_reader_strict;
    bool is_single_column;
    uint32_t timestamp_digits;
    struct weir_avro_frame frame; // zero: a registry's
    bool is_portable;             // as on a processor that has nothing more than others; for tests
};

// schema: the columns to decode, composites pruned to the fields that are read; lives as long as
// the decoder. Never NULL. The decoder has `missing`: see format.h.
// Bad records by reason: framing (no frame), schema (an id that is not known, or whose schema
// cannot become these columns), decode (a frame or a record that is cut off or broken).
struct weir_decoder *weir_avro_decoder_create(const struct weir_schema *schema,
                                              const struct weir_avro_decode_options *options);

#endif
