// SPDX-License-Identifier: Apache-2.0
// Values of which is known beforehand how much they take, but for the length of a text: written
// without a look at the room. Private to avro_put.c and avro_put_rows.c, whose innermost loops
// these are part of. Thread: the task's.
#ifndef WEIR_KAFKA_AVRO_PUT_VALUE_H
#define WEIR_KAFKA_AVRO_PUT_VALUE_H

#include "kafka/avro_put.h"
#include "kafka/avro_wire.h"
#include "runtime/types/datetime.h"

// What such a value takes at most, without its union's branch and without its text.
enum { WEIR_AVRO_VALUE_BYTES_MAX = WEIR_AVRO_LONG_BYTES_MAX };

static inline bool weir_avro_put_is_plain(const struct weir_avro_put *put)
{
    return put->code <= WEIR_AVRO_PUT_BOOLEAN;
}

// Since 1970; what is below a millisecond is dropped.
static inline int64_t weir_avro_timestamp_ms(int64_t us)
{
    return us / 1000 - (us % 1000 < 0 ? 1 : 0) + WEIR_EPOCH_SHIFT_MS;
}

static inline char *weir_avro_write_timestamp(const struct weir_avro_put *put, char *to, int64_t us)
{
    int64_t unix_us;
    if (__builtin_expect(!weir_timestamp_is_finite(us), 0)) {
        return NULL;
    }
    if (put->code == WEIR_AVRO_PUT_TIMESTAMP_MS) {
        return weir_avro_write_long(to, weir_avro_timestamp_ms(us));
    }
    return __builtin_add_overflow(us, WEIR_EPOCH_SHIFT_US, &unix_us)
               ? NULL
               : weir_avro_write_long(to, unix_us);
}

// column[row], which is no NULL; the place behind it. NULL: it does not fit.
__attribute__((always_inline)) static inline char *
weir_avro_write_value(const struct weir_avro_put *put, const struct weir_column *column,
                      uint32_t row, char *to)
{
    switch ((int)put->code) {
    case WEIR_AVRO_PUT_I64:
        return __builtin_expect(put->is_int && column->i64[row] != (int32_t)column->i64[row], 0)
                   ? NULL
                   : weir_avro_write_long(to, column->i64[row]);
    case WEIR_AVRO_PUT_BYTES:
        return weir_avro_write_bytes(to, column->view[row]);
    case WEIR_AVRO_PUT_TIMESTAMP_MS:
    case WEIR_AVRO_PUT_TIMESTAMP_US:
        return weir_avro_write_timestamp(put, to, column->i64[row]);
    case WEIR_AVRO_PUT_I32:
        return weir_avro_write_long(to, column->i32[row]);
    case WEIR_AVRO_PUT_I16:
        return weir_avro_write_long(to, column->i16[row]);
    case WEIR_AVRO_PUT_F64:
        memcpy(to, &column->f64[row], sizeof(double));
        return to + sizeof(double);
    case WEIR_AVRO_PUT_BOOLEAN:
        *to = (char)column->u8[row];
        return to + 1;
    }
    int32_t days = column->i32[row]; // DATE
    return weir_date_is_finite(days)
               ? weir_avro_write_long(to, (int64_t)days + WEIR_EPOCH_SHIFT_DAYS)
               : NULL;
}

#endif
