// SPDX-License-Identifier: Apache-2.0
// Casts among numbers and booleans. Floats round halves to the even neighbour, numerics away from
// zero; what does not fit fails with PostgreSQL's texts. Thread: the task's.
#include "operators/function.h"

#include <math.h>

// --- integers --------------------------------------------------------------------------------

#define DEFINE_WIDEN(name, from_type, to_type)                                                     \
    static inline to_type name(struct weir_kernel *kernel, uint32_t row, from_type a)              \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (to_type)a;                                                                         \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, to_type, from_type, name)

DEFINE_WIDEN(i16_to_i32, int16_t, int32_t)
DEFINE_WIDEN(i16_to_i64, int16_t, int64_t)
DEFINE_WIDEN(i32_to_i64, int32_t, int64_t)
DEFINE_WIDEN(i16_to_f32, int16_t, float)
DEFINE_WIDEN(i16_to_f64, int16_t, double)
DEFINE_WIDEN(i32_to_f32, int32_t, float)
DEFINE_WIDEN(i32_to_f64, int32_t, double)
DEFINE_WIDEN(i64_to_f32, int64_t, float)
DEFINE_WIDEN(i64_to_f64, int64_t, double)
DEFINE_WIDEN(f32_to_f64, float, double)
DEFINE_WIDEN(bool_to_i32, uint8_t, int32_t)

static inline uint8_t i32_to_bool(struct weir_kernel *kernel, uint32_t row, int32_t a)
{
    (void)kernel;
    (void)row;
    return a != 0;
}

WEIR_KERNEL_1(kernel_i32_to_bool, uint8_t, int32_t, i32_to_bool)

#define DEFINE_NARROW(name, from_type, to_type, type_name)                                         \
    static inline to_type name(struct weir_kernel *kernel, uint32_t row, from_type a)              \
    {                                                                                              \
        to_type narrow = (to_type)a;                                                               \
        if (__builtin_expect(narrow != a, 0)) {                                                    \
            weir_kernel_fail(kernel, row, type_name " out of range");                              \
        }                                                                                          \
        return narrow;                                                                             \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, to_type, from_type, name)

DEFINE_NARROW(i32_to_i16, int32_t, int16_t, "smallint")
DEFINE_NARROW(i64_to_i16, int64_t, int16_t, "smallint")
DEFINE_NARROW(i64_to_i32, int64_t, int32_t, "integer")

// --- floats ----------------------------------------------------------------------------------

// limit: 2^(bits - 1), which a double holds exactly.
#define DEFINE_ROUND(name, from_type, to_type, limit, type_name)                                   \
    static inline to_type name(struct weir_kernel *kernel, uint32_t row, from_type a)              \
    {                                                                                              \
        double rounded = rint((double)a);                                                          \
        if (__builtin_expect(!(rounded >= -(limit) && rounded < (limit)), 0)) {                    \
            weir_kernel_fail(kernel, row, type_name " out of range");                              \
            return 0;                                                                              \
        }                                                                                          \
        return (to_type)rounded;                                                                   \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, to_type, from_type, name)

DEFINE_ROUND(f32_to_i16, float, int16_t, 32768.0, "smallint")
DEFINE_ROUND(f32_to_i32, float, int32_t, 2147483648.0, "integer")
DEFINE_ROUND(f32_to_i64, float, int64_t, 9223372036854775808.0, "bigint")
DEFINE_ROUND(f64_to_i16, double, int16_t, 32768.0, "smallint")
DEFINE_ROUND(f64_to_i32, double, int32_t, 2147483648.0, "integer")
DEFINE_ROUND(f64_to_i64, double, int64_t, 9223372036854775808.0, "bigint")

static inline float f64_to_f32(struct weir_kernel *kernel, uint32_t row, double a)
{
    float narrow = (float)a;
    if (isinf(narrow) && !isinf(a)) {
        weir_kernel_fail(kernel, row, "value out of range: overflow");
    } else if (narrow == 0 && a != 0) {
        weir_kernel_fail(kernel, row, "value out of range: underflow");
    }
    return narrow;
}

WEIR_KERNEL_1(kernel_f64_to_f32, float, double, f64_to_f32)

// --- numeric ---------------------------------------------------------------------------------

#define DEFINE_TO_NUMERIC(name, from_type, function)                                               \
    static inline struct weir_numeric name(struct weir_kernel *kernel, uint32_t row, from_type a)  \
    {                                                                                              \
        (void)row;                                                                                 \
        return function(a, kernel->arena);                                                         \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, struct weir_numeric, from_type, name)

DEFINE_TO_NUMERIC(i16_to_numeric, int16_t, weir_numeric_from_int64)
DEFINE_TO_NUMERIC(i32_to_numeric, int32_t, weir_numeric_from_int64)
DEFINE_TO_NUMERIC(f32_to_numeric, float, weir_numeric_from_float)
DEFINE_TO_NUMERIC(f64_to_numeric, double, weir_numeric_from_double)

static inline struct weir_numeric i64_to_numeric(struct weir_kernel *kernel, uint32_t row,
                                                 int64_t a)
{
    (void)row;
    if (__builtin_expect(a < WEIR_NUMERIC_SMALL_LIMIT && a > -WEIR_NUMERIC_SMALL_LIMIT, 1)) {
        return weir_numeric_small(a, 0);
    }
    return weir_numeric_from_int64(a, kernel->arena);
}

WEIR_KERNEL_1(kernel_i64_to_numeric, struct weir_numeric, int64_t, i64_to_numeric)

#define DEFINE_FROM_NUMERIC(name, to_type, function)                                               \
    static inline to_type name(struct weir_kernel *kernel, uint32_t row, struct weir_numeric a)    \
    {                                                                                              \
        to_type out = 0;                                                                           \
        struct weir_value_error error;                                                             \
        if (__builtin_expect(!function(a, &out, &error), 0)) {                                     \
            weir_kernel_fail_value(kernel, row, &error);                                           \
        }                                                                                          \
        return out;                                                                                \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, to_type, struct weir_numeric, name)

DEFINE_FROM_NUMERIC(numeric_to_i16, int16_t, weir_numeric_to_int16)
DEFINE_FROM_NUMERIC(numeric_to_i32, int32_t, weir_numeric_to_int32)
DEFINE_FROM_NUMERIC(numeric_to_i64, int64_t, weir_numeric_to_int64)
DEFINE_FROM_NUMERIC(numeric_to_f32, float, weir_numeric_to_float)
DEFINE_FROM_NUMERIC(numeric_to_f64, double, weir_numeric_to_double)

// --- table -----------------------------------------------------------------------------------

#define CAST(from, to, the_context, the_kernel, the_flags)                                         \
    WEIR_CAST_ROW(WEIR_ARG_##from, WEIR_ARG_##to, WEIR_CAST_##the_context, the_kernel, the_flags)
#define TOTAL WEIR_FUNCTION_TOTAL

static const struct weir_cast CASTS[] = {
    CAST(SMALLINT, INTEGER, IMPLICIT, kernel_i16_to_i32, TOTAL),
    CAST(SMALLINT, BIGINT, IMPLICIT, kernel_i16_to_i64, TOTAL),
    CAST(SMALLINT, REAL, IMPLICIT, kernel_i16_to_f32, TOTAL),
    CAST(SMALLINT, DOUBLE, IMPLICIT, kernel_i16_to_f64, TOTAL),
    CAST(SMALLINT, NUMERIC, IMPLICIT, kernel_i16_to_numeric, 0),
    CAST(INTEGER, SMALLINT, ASSIGNMENT, kernel_i32_to_i16, 0),
    CAST(INTEGER, BIGINT, IMPLICIT, kernel_i32_to_i64, TOTAL),
    CAST(INTEGER, REAL, IMPLICIT, kernel_i32_to_f32, TOTAL),
    CAST(INTEGER, DOUBLE, IMPLICIT, kernel_i32_to_f64, TOTAL),
    CAST(INTEGER, NUMERIC, IMPLICIT, kernel_i32_to_numeric, 0),
    CAST(INTEGER, BOOLEAN, EXPLICIT, kernel_i32_to_bool, TOTAL),
    CAST(BIGINT, SMALLINT, ASSIGNMENT, kernel_i64_to_i16, 0),
    CAST(BIGINT, INTEGER, ASSIGNMENT, kernel_i64_to_i32, 0),
    CAST(BIGINT, REAL, IMPLICIT, kernel_i64_to_f32, TOTAL),
    CAST(BIGINT, DOUBLE, IMPLICIT, kernel_i64_to_f64, TOTAL),
    CAST(BIGINT, NUMERIC, IMPLICIT, kernel_i64_to_numeric, 0),
    CAST(REAL, SMALLINT, ASSIGNMENT, kernel_f32_to_i16, 0),
    CAST(REAL, INTEGER, ASSIGNMENT, kernel_f32_to_i32, 0),
    CAST(REAL, BIGINT, ASSIGNMENT, kernel_f32_to_i64, 0),
    CAST(REAL, DOUBLE, IMPLICIT, kernel_f32_to_f64, TOTAL),
    CAST(REAL, NUMERIC, ASSIGNMENT, kernel_f32_to_numeric, 0),
    CAST(DOUBLE, SMALLINT, ASSIGNMENT, kernel_f64_to_i16, 0),
    CAST(DOUBLE, INTEGER, ASSIGNMENT, kernel_f64_to_i32, 0),
    CAST(DOUBLE, BIGINT, ASSIGNMENT, kernel_f64_to_i64, 0),
    CAST(DOUBLE, REAL, ASSIGNMENT, kernel_f64_to_f32, 0),
    CAST(DOUBLE, NUMERIC, ASSIGNMENT, kernel_f64_to_numeric, 0),
    CAST(NUMERIC, SMALLINT, ASSIGNMENT, kernel_numeric_to_i16, 0),
    CAST(NUMERIC, INTEGER, ASSIGNMENT, kernel_numeric_to_i32, 0),
    CAST(NUMERIC, BIGINT, ASSIGNMENT, kernel_numeric_to_i64, 0),
    CAST(NUMERIC, REAL, IMPLICIT, kernel_numeric_to_f32, 0),
    CAST(NUMERIC, DOUBLE, IMPLICIT, kernel_numeric_to_f64, 0),
    CAST(BOOLEAN, INTEGER, EXPLICIT, kernel_bool_to_i32, TOTAL),
};

const struct weir_cast_table weir_casts_number = {.casts = CASTS,
                                                  .count = sizeof CASTS / sizeof CASTS[0]};
