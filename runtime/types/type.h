// SPDX-License-Identifier: Apache-2.0
// Column types: PostgreSQL's names and semantics, and how a value of each lies in a column.
// Descriptors are immutable and live in the job's arena. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_TYPE_H
#define WEIR_RUNTIME_TYPES_TYPE_H

#include <stdbool.h>
#include <stdint.h>

// Numbers are written into manifests: add at the end, never renumber.
enum weir_type_kind {
    WEIR_TYPE_BOOLEAN = 1,
    WEIR_TYPE_SMALLINT = 2,
    WEIR_TYPE_INTEGER = 3,
    WEIR_TYPE_BIGINT = 4,
    WEIR_TYPE_REAL = 5,
    WEIR_TYPE_DOUBLE = 6,
    WEIR_TYPE_NUMERIC = 7,
    WEIR_TYPE_TEXT = 8,
    WEIR_TYPE_VARCHAR = 9,
    WEIR_TYPE_BYTEA = 10,
    WEIR_TYPE_DATE = 11,
    WEIR_TYPE_TIMESTAMP = 12,
    WEIR_TYPE_TIMESTAMPTZ = 13,
    WEIR_TYPE_JSONB = 14,
    WEIR_TYPE_COMPOSITE = 15,
    WEIR_TYPE_CHAR = 16, // character(n)
    WEIR_TYPE_TIME = 17,
    WEIR_TYPE_INTERVAL = 18,
    WEIR_TYPE_UUID = 19,
    WEIR_TYPE_JSON = 20,
    WEIR_TYPE_ARRAY = 21,
};

struct weir_composite;

struct weir_type {
    enum weir_type_kind kind;
    // numeric(p,s): (p << 16 | (s & 0xffff)); varchar(n), char(n): n characters; -1: none.
    int32_t modifier;
    // WEIR_TYPE_COMPOSITE: its fields. WEIR_TYPE_ARRAY: one field, the element (weir_type_element).
    const struct weir_composite *composite;
};

struct weir_field {
    const char *name;
    struct weir_type type;
};

struct weir_composite {
    const char *name; // of CREATE TYPE; of an array nothing
    uint32_t field_count;
    const struct weir_field *fields;
};

// How one value lies in a column's data array.
enum weir_layout {
    WEIR_LAYOUT_U8,  // boolean: 0 or 1
    WEIR_LAYOUT_I16, // smallint
    WEIR_LAYOUT_I32, // integer; date: days since 2000-01-01, INT32_MIN/MAX: infinities
    // bigint; timestamp(tz): µs since 2000-01-01 UTC, the same with INT64; time: µs since midnight
    WEIR_LAYOUT_I64,
    WEIR_LAYOUT_F32,     // real
    WEIR_LAYOUT_F64,     // double precision
    WEIR_LAYOUT_NUMERIC, // struct weir_numeric (runtime/types/numeric.h)
    // struct weir_view: text, varchar, bytea; char(n) with its blanks; jsonb as PostgreSQL's text;
    // json as it was written; arrays as runtime/types/array.h has them
    WEIR_LAYOUT_VIEW,
    WEIR_LAYOUT_COMPOSITE, // no data; one child column a field
    WEIR_LAYOUT_INTERVAL,  // struct weir_interval
    WEIR_LAYOUT_UUID,      // struct weir_uuid
};

struct weir_interval {
    int64_t us;
    int32_t days;
    int32_t months;
};

struct weir_uuid {
    uint8_t bytes[16];
};

enum weir_layout weir_type_layout(enum weir_type_kind kind);
uint32_t weir_layout_bytes(enum weir_layout layout); // 0 for composites

// PostgreSQL's spelling as format_type gives it: "timestamp with time zone", "numeric(12,2)",
// a composite's own name. Writes at most size bytes with NUL; returns `text`.
const char *weir_type_name(const struct weir_type *type, char *text, uint32_t size_bytes);
bool weir_type_equal(const struct weir_type *a, const struct weir_type *b);

// Of an array.
static inline const struct weir_type *weir_type_element(const struct weir_type *type)
{
    return &type->composite->fields[0].type;
}

static inline struct weir_type weir_type_plain(enum weir_type_kind kind)
{
    return (struct weir_type){.kind = kind, .modifier = -1, .composite = (void *)0};
}

static inline int32_t weir_numeric_modifier(int32_t precision, int32_t scale)
{
    return (precision << 16) | (scale & 0xffff);
}

// Of a modifier >= 0. PostgreSQL 15 allows scales from -1000 to 1000.
static inline int32_t weir_numeric_precision(int32_t modifier)
{
    return modifier >> 16;
}

static inline int32_t weir_numeric_scale(int32_t modifier)
{
    return (int16_t)(modifier & 0xffff);
}

// Days, milliseconds and microseconds between 1970-01-01 (Kafka) and 2000-01-01 (PostgreSQL).
#define WEIR_EPOCH_SHIFT_DAYS 10957
#define WEIR_EPOCH_SHIFT_US INT64_C(946684800000000)
#define WEIR_EPOCH_SHIFT_MS INT64_C(946684800000)

#endif
