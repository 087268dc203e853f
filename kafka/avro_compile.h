// SPDX-License-Identifier: Apache-2.0
// The parts of the compiler of decode programs: avro_compile.c walks records and unions,
// avro_compile_value.c knows what a single value can become, avro_compile_skip.c passes over what
// no column wants. Private to them. Thread: any.
#ifndef WEIR_KAFKA_AVRO_COMPILE_H
#define WEIR_KAFKA_AVRO_COMPILE_H

#include "kafka/avro_op.h"

// A column, or a field of a composite, with what a program needs of it.
struct weir_avro_target {
    uint32_t slot;
    const char *path;
    const struct weir_field *field;
    uint32_t child_count;
    struct weir_avro_target *children;
};

struct weir_avro_compiler {
    const struct weir_avro_program_config *config;
    struct weir_arena *arena;
    struct weir_avro_op *ops; // malloc
    uint32_t op_count;
    uint32_t op_capacity;
    uint32_t slot_count;
    bool *is_always; // by slot
    const char *why; // the last thing that could not be
};

// Where in the writer's schema, and what the reader's says about it.
struct weir_avro_source {
    const struct weir_avro_type *writer;
    const struct weir_avro_type *reader; // NULL: nothing
    const char *path;
    bool is_mixed;       // a branch of a union of several: a string is no JSON text
    bool is_conditional; // the value is not there in every row: its bit is set by the program
};

// Appends an instruction; valid until the next one is.
struct weir_avro_op *weir_avro_emit(struct weir_avro_compiler *c, enum weir_avro_op_code code,
                                    const char *path);
// One that gives a column its value: its bit is set now, or for all rows.
struct weir_avro_op *weir_avro_emit_value(struct weir_avro_compiler *c, enum weir_avro_op_code code,
                                          const struct weir_avro_source *source,
                                          const struct weir_avro_target *target);
// Sets c->why and returns false.
bool weir_avro_cannot(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                      const struct weir_avro_target *target);

void weir_avro_compile_skip(struct weir_avro_compiler *c, const struct weir_avro_type *type,
                            const char *path);

// Anything but null, records and unions. False: it cannot become the column, c->why says why.
bool weir_avro_compile_scalar(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                              const struct weir_avro_target *target);

#endif
