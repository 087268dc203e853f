// SPDX-License-Identifier: Apache-2.0
// Numbers on their way into columns: what a varint has given becomes a value of the column's type,
// or does not fit. Private to avro_program.c and avro_lanes.c, whose innermost loops these are part
// of. Thread: the task's.
#ifndef WEIR_KAFKA_AVRO_NUMBER_H
#define WEIR_KAFKA_AVRO_NUMBER_H

#include "kafka/avro_machine.h"
#include "runtime/types/datetime.h"

static inline bool weir_avro_store_date(const struct weir_avro_machine *machine,
                                        const struct weir_avro_op *op, int64_t days)
{
    int64_t shifted = days - WEIR_EPOCH_SHIFT_DAYS;
    if (days < INT32_MIN || days > INT32_MAX || shifted < WEIR_DATE_MIN_DAYS ||
        shifted >= WEIR_DATE_END_DAYS) {
        return false;
    }
    WEIR_AVRO_SLOT(int32_t) = (int32_t)shifted;
    return true;
}

static inline bool weir_avro_store_time(const struct weir_avro_machine *machine,
                                        const struct weir_avro_op *op, int64_t value)
{
    int64_t us = value;
    if (op->number == 3 && __builtin_mul_overflow(value, 1000, &us)) {
        return false;
    }
    WEIR_AVRO_SLOT(int64_t) = us;
    return us >= 0 && us <= WEIR_DAY_US;
}

static inline bool weir_avro_store_timestamp(const struct weir_avro_machine *machine,
                                             const struct weir_avro_op *op, int64_t value)
{
    static const int64_t factors[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    int64_t us;
    if (op->number > 6) { // nanoseconds: halves away from zero, as JSON has it
        int64_t half = value < 0 ? -500 : 500;
        us = value / 1000 + (value % 1000 + half) / 1000;
    } else if (__builtin_mul_overflow(value, factors[op->number], &us)) {
        return false;
    }
    if (__builtin_sub_overflow(us, WEIR_EPOCH_SHIFT_US, &us) || !weir_timestamp_is_valid(us)) {
        return false;
    }
    WEIR_AVRO_SLOT(int64_t) = us;
    return true;
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
        return weir_avro_store_date(machine, op, value);
    case WEIR_AVRO_OP_TIME:
        return weir_avro_store_time(machine, op, value);
    }
    return weir_avro_store_timestamp(machine, op, value);
}

#endif
