// SPDX-License-Identifier: Apache-2.0
// Avro schemas as trees: what decoders and encoders are compiled from. A tree is made from the JSON
// text of a schema with everything that resolution needs (logical types, defaults, aliases, enum
// defaults), which Avro-C leaves out; names, symbols and structure are then validated by Avro-C.
// Trees are immutable and live in the arena given to the parser. Thread: any.
#ifndef WEIR_KAFKA_AVRO_SCHEMA_H
#define WEIR_KAFKA_AVRO_SCHEMA_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

enum weir_avro_kind {
    WEIR_AVRO_NULL,
    WEIR_AVRO_BOOLEAN,
    WEIR_AVRO_INT,
    WEIR_AVRO_LONG,
    WEIR_AVRO_FLOAT,
    WEIR_AVRO_DOUBLE,
    WEIR_AVRO_BYTES,
    WEIR_AVRO_STRING,
    WEIR_AVRO_RECORD,
    WEIR_AVRO_ENUM,
    WEIR_AVRO_ARRAY,
    WEIR_AVRO_MAP,
    WEIR_AVRO_UNION,
    WEIR_AVRO_FIXED,
};

// A logical type that does not fit its type (or that is not known) is NONE, as the specification
// has it.
enum weir_avro_logical {
    WEIR_AVRO_LOGICAL_NONE,
    WEIR_AVRO_DECIMAL,
    WEIR_AVRO_DATE,
    WEIR_AVRO_TIME_MS,
    WEIR_AVRO_TIME_US,
    WEIR_AVRO_TIMESTAMP_MS,
    WEIR_AVRO_TIMESTAMP_US,
    WEIR_AVRO_LOCAL_TIMESTAMP_MS,
    WEIR_AVRO_LOCAL_TIMESTAMP_US,
    WEIR_AVRO_UUID,
    WEIR_AVRO_DURATION,
};

enum {
    // Types within one another. A tree is walked by recursion; deeper ones are refused.
    WEIR_AVRO_DEPTH_MAX = 64,
    // Nodes of a tree with every name written out: three records that each name the next one twice
    // are eight. Programs grow with it.
    WEIR_AVRO_NODES_MAX = 100000,
};

struct weir_avro_field;

struct weir_avro_type {
    enum weir_avro_kind kind;
    enum weir_avro_logical logical;
    uint32_t precision;   // DECIMAL
    uint32_t scale;       // DECIMAL
    const char *name;     // full name of records, enums, fixeds; NULL: none
    uint32_t alias_count; // full names
    const char *const *aliases;
    uint32_t field_count; // RECORD
    const struct weir_avro_field *fields;
    uint32_t symbol_count; // ENUM
    const struct weir_view *symbols;
    int32_t default_symbol;            // ENUM; -1: none
    uint32_t size_bytes;               // FIXED
    const struct weir_avro_type *item; // ARRAY, MAP: of its values
    uint32_t branch_count;             // UNION
    const struct weir_avro_type *const *branches;
    uint32_t depth;          // 1: holds no other type
    uint32_t node_count;     // of the tree with every name written out
    uint32_t least_bytes;    // no value is shorter, saturated
    bool has_variable_bytes; // false: every value has just least_bytes
};

struct weir_avro_field {
    const char *name;
    uint32_t alias_count;
    const char *const *aliases;
    const struct weir_avro_type *type;
    // The default in Avro's binary form; data NULL: none, or one that does not fit the type.
    struct weir_view default_bytes;
};

// The schema of `text`; `references` are the texts of schemas that it may name, those that name
// others behind them. Errors (domain DATA, action FAIL) say what is wrong and where in the schema;
// among them: a type that holds itself, with its name and path.
enum weir_status weir_avro_schema_parse(struct weir_arena *arena, uint32_t reference_count,
                                        const struct weir_view *references, struct weir_view text,
                                        const struct weir_avro_type **type,
                                        struct weir_error *error);

// Appends the schema as JSON: structure and full names only (Avro's parsing canonical form).
void weir_avro_schema_append_canonical(const struct weir_avro_type *type, struct weir_buffer *out);

// "long (timestamp-micros)", "record com.acme.Order", "union of null, string": for messages.
void weir_avro_type_append_name(const struct weir_avro_type *type, struct weir_buffer *out);
char *weir_avro_type_name(const struct weir_avro_type *type, struct weir_arena *arena);

// The one branch besides null of a union of two, and which number null has; false: no such union.
static inline bool weir_avro_is_nullable(const struct weir_avro_type *type, uint32_t *null_branch)
{
    if (type->kind != WEIR_AVRO_UNION || type->branch_count != 2) {
        return false;
    }
    *null_branch = type->branches[0]->kind == WEIR_AVRO_NULL ? 0 : 1;
    return (type->branches[0]->kind == WEIR_AVRO_NULL) !=
           (type->branches[1]->kind == WEIR_AVRO_NULL);
}

#endif
