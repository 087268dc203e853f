// SPDX-License-Identifier: Apache-2.0
// Numbers on their way into columns: what a varint has given becomes a value of the column's type,
// or does not fit. Private to avro_program.c and avro_lanes_run.h, whose innermost loops these are
// part of. Thread: the task's.
#ifndef WEIR_KAFKA_AVRO_NUMBER_H
#define WEIR_KAFKA_AVRO_NUMBER_H

#include "kafka/avro_machine.h"
#include "runtime/types/datetime.h"

static inline bool weir_avro_store_time(const struct weir_avro_machine *machine,
                                        const struct weir_avro_op *op, int64_t value)
{
    int64_t us;
    if (!weir_us_from_count(value, op->number, &us)) {
        return false;
    }
    WEIR_AVRO_SLOT(int64_t) = us;
    return us >= 0 && us <= WEIR_DAY_US;
}

// Numbers: all of them are read as a varint.
static inline bool weir_avro_store_number(const struct weir_avro_machine *machine,
                                          const struct weir_avro_op *op, int64_t value)
{
    if (op->is_int && value != (int32_t)value) {
        return false;
    }
    switch ((int)op->code) {
    case WEIR_AVRO_OP_I64:
        WEIR_AVRO_SLOT(int64_t) = value;
        return true;
    case WEIR_AVRO_OP_I32:
        WEIR_AVRO_SLOT(int32_t) = (int32_t)value;
        return value == (int32_t)value;
    case WEIR_AVRO_OP_I16:
        WEIR_AVRO_SLOT(int16_t) = (int16_t)value;
        return value == (int16_t)value;
    case WEIR_AVRO_OP_INTEGER_F32:
        WEIR_AVRO_SLOT(float) = (float)value;
        return true;
    case WEIR_AVRO_OP_INTEGER_F64:
        WEIR_AVRO_SLOT(double) = (double)value;
        return true;
    case WEIR_AVRO_OP_INTEGER_NUMERIC:
        return weir_avro_store_numeric(machine, op, weir_numeric_from_int64(value, machine->arena));
    case WEIR_AVRO_OP_DATE:
        return weir_date_from_unix(value, &WEIR_AVRO_SLOT(int32_t));
    case WEIR_AVRO_OP_TIME:
        return weir_avro_store_time(machine, op, value);
    }
    return weir_timestamp_from_unix(value, op->number, &WEIR_AVRO_SLOT(int64_t));
}

#endif
