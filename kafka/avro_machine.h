// SPDX-License-Identifier: Apache-2.0
// What runs a decode program: its state, and the values that are read one by one (avro_value.c).
// Private to avro_program.c, avro_lanes_run.h and avro_value.c. Thread: the task's.
#ifndef WEIR_KAFKA_AVRO_MACHINE_H
#define WEIR_KAFKA_AVRO_MACHINE_H

#include "kafka/avro_op.h"

struct weir_avro_machine {
    const uint8_t *end;
    const struct weir_avro_slot *slots;
    uint32_t row;
    struct weir_arena *arena;
    struct weir_avro_fault *fault;
};

// Where the column of an instruction has its value of this row.
#define WEIR_AVRO_SLOT(type) ((type *)machine->slots[op->slot].data)[machine->row]

// All of these return NULL, with the fault filled: a text; the value error that is set already; the
// bytes end too early.
const uint8_t *weir_avro_fail(const struct weir_avro_machine *machine,
                              const struct weir_avro_op *op, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));
const uint8_t *weir_avro_fail_value(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op) __attribute__((cold));
const uint8_t *weir_avro_fail_short(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op) __attribute__((cold));

// Runs op … op_end - 1 over what begins at p; the place behind it.
const uint8_t *weir_avro_run(const struct weir_avro_machine *machine, const struct weir_avro_op *op,
                             const struct weir_avro_op *op_end, const uint8_t *p);

// The data below a NULL is zero, also of a composite's fields.
void weir_avro_set_null(struct weir_column *column, uint32_t row);

// Reads a value that is no number and no text of a text column; the place behind it.
const uint8_t *weir_avro_read_value(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op, const uint8_t *p);

// As the column's type wants it: rounded, checked. False: the value error says why not.
bool weir_avro_store_numeric(const struct weir_avro_machine *machine, const struct weir_avro_op *op,
                             struct weir_numeric value);

#endif
