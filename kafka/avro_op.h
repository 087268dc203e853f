// SPDX-License-Identifier: Apache-2.0
// The instructions of a decode program: what avro_compile.c writes and avro_program.c and
// avro_lanes_run.h run. Flat: control goes on with the next instruction or jumps ahead by `jump`;
// only the items of arrays and maps and defaults are blocks that are run by themselves. Private to
// these.
#ifndef WEIR_KAFKA_AVRO_OP_H
#define WEIR_KAFKA_AVRO_OP_H

#include "kafka/avro_program.h"
#include "runtime/types/text_io.h"

enum weir_avro_op_code {
    // What no column wants.
    WEIR_AVRO_OP_SKIP_BYTES, // `number` of them
    WEIR_AVRO_OP_SKIP_LONGS, // `number` varints
    WEIR_AVRO_OP_SKIP_TEXT,  // a length and as many bytes
    WEIR_AVRO_OP_SKIP_ITEMS, // an array (`number` 0) or map (1); the next `jump` - 1 are its item's
    // Control.
    WEIR_AVRO_OP_NULLABLE, // a union of two; branch `number` is null: sets NULL and jumps
    WEIR_AVRO_OP_UNION,    // `number` branches: branch i goes on at targets[i] from here
    WEIR_AVRO_OP_JUMP,
    WEIR_AVRO_OP_FAIL,     // `text` says why
    WEIR_AVRO_OP_VALID,    // a composite
    WEIR_AVRO_OP_SET_NULL, // the writer has no such field
    WEIR_AVRO_OP_DEFAULT,  // the next `jump` - 1 are run over `bytes`
    // Values, by what they are read as and the layout they go to.
    WEIR_AVRO_OP_I64, // this and the next ones are read as a varint, up to TIMESTAMP
    WEIR_AVRO_OP_I32,
    WEIR_AVRO_OP_I16,
    WEIR_AVRO_OP_INTEGER_F32,
    WEIR_AVRO_OP_INTEGER_F64,
    WEIR_AVRO_OP_INTEGER_NUMERIC,
    WEIR_AVRO_OP_DATE,
    WEIR_AVRO_OP_TIME,      // `number` digits
    WEIR_AVRO_OP_TIMESTAMP, // `number` digits
    WEIR_AVRO_OP_BOOLEAN,
    WEIR_AVRO_OP_F32,
    WEIR_AVRO_OP_F32_F64,
    WEIR_AVRO_OP_F64,
    WEIR_AVRO_OP_TEXT,
    WEIR_AVRO_OP_VARCHAR,
    WEIR_AVRO_OP_BYTES,
    WEIR_AVRO_OP_FIXED,         // `number` bytes
    WEIR_AVRO_OP_ENUM,          // `symbols`: data NULL is one that the reader does not have
    WEIR_AVRO_OP_DECIMAL,       // bytes; `number` is the scale
    WEIR_AVRO_OP_DECIMAL_FIXED, // `size_bytes` of them
    WEIR_AVRO_OP_UUID,          // 16 bytes
    WEIR_AVRO_OP_DURATION,      // 12 bytes
    WEIR_AVRO_OP_PARSE,         // a string, through the input function of the column's type
    WEIR_AVRO_OP_ARRAY,         // of `type`; the next `jump` - 1 are its item's
    WEIR_AVRO_OP_JSON,          // any `type`, as jsonb
};

struct weir_avro_op {
    uint8_t code;    // enum weir_avro_op_code
    bool sets_valid; // the row's bit is set; else weir_avro_mark_rows does it
    bool is_int;     // the number must fit 32 bits
    uint32_t slot;   // none: WEIR_AVRO_NO_SLOT
    uint32_t number;
    uint32_t jump; // 0: no jump; of a union: to where all branches meet
    union {
        const uint32_t *targets;
        const char *text;
        const struct weir_view *symbols;
        const struct weir_avro_type *type;
        weir_text_parse_fn parse;
        uint32_t size_bytes;
        const struct weir_view *bytes;
    };
    const char *path; // of the column, or of the writer's field that is skipped
};

enum { WEIR_AVRO_NO_SLOT = UINT32_MAX };

struct weir_avro_program {
    uint32_t op_count;
    const struct weir_avro_op *ops;
    uint32_t least_bytes;
    uint32_t always_count; // slots that have a value in every row
    const uint32_t *always;
};

#endif
