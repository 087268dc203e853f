// SPDX-License-Identifier: Apache-2.0
// The comparison operators of all types. Orders are runtime/types/compare.h's; for fixed-size types
// they are written out here so that the loops vectorise. Thread: the task's.
#include "operators/function.h"

#include "runtime/types/compare.h"
#include "runtime/types/datetime.h"
#include "runtime/types/interval.h"
#include "runtime/types/jsonb.h"
#include "runtime/types/text_io.h"

#include <math.h>

// --- the six operators of a type -------------------------------------------------------------

#define DEFINE_OPERATOR(verb, suffix, a_type, b_type, expression)                                  \
    static inline uint8_t verb##_##suffix(struct weir_kernel *kernel, uint32_t row, a_type a,      \
                                          b_type b)                                                \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return expression;                                                                         \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_##verb##_##suffix, uint8_t, a_type, b_type, verb##_##suffix)

// By the operators of C.
#define DEFINE_NATIVE(suffix, c_type)                                                              \
    DEFINE_OPERATOR(equal, suffix, c_type, c_type, a == b)                                         \
    DEFINE_OPERATOR(unequal, suffix, c_type, c_type, a != b)                                       \
    DEFINE_OPERATOR(less, suffix, c_type, c_type, a < b)                                           \
    DEFINE_OPERATOR(less_equal, suffix, c_type, c_type, a <= b)                                    \
    DEFINE_OPERATOR(greater, suffix, c_type, c_type, a > b)                                        \
    DEFINE_OPERATOR(greater_equal, suffix, c_type, c_type, a >= b)

// By a function that gives -1, 0, 1.
#define DEFINE_ORDERED(suffix, a_type, b_type, order)                                              \
    DEFINE_OPERATOR(equal, suffix, a_type, b_type, order(a, b) == 0)                               \
    DEFINE_OPERATOR(unequal, suffix, a_type, b_type, order(a, b) != 0)                             \
    DEFINE_OPERATOR(less, suffix, a_type, b_type, order(a, b) < 0)                                 \
    DEFINE_OPERATOR(less_equal, suffix, a_type, b_type, order(a, b) <= 0)                          \
    DEFINE_OPERATOR(greater, suffix, a_type, b_type, order(a, b) > 0)                              \
    DEFINE_OPERATOR(greater_equal, suffix, a_type, b_type, order(a, b) >= 0)

// NaN is equal to itself and greater than everything.
#define DEFINE_FLOAT(suffix, c_type)                                                               \
    DEFINE_OPERATOR(equal, suffix, c_type, c_type, (a == b) | ((a != a) & (b != b)))               \
    DEFINE_OPERATOR(unequal, suffix, c_type, c_type, (a != b) & ((a == a) | (b == b)))             \
    DEFINE_OPERATOR(less, suffix, c_type, c_type, (a < b) | ((b != b) & (a == a)))                 \
    DEFINE_OPERATOR(less_equal, suffix, c_type, c_type, (a <= b) | (b != b))                       \
    DEFINE_OPERATOR(greater, suffix, c_type, c_type, (a > b) | ((a != a) & (b == b)))              \
    DEFINE_OPERATOR(greater_equal, suffix, c_type, c_type, (a >= b) | (a != a))

static inline int order_view(struct weir_view a, struct weir_view b)
{
    return weir_compare_view(a, b);
}

// Days beyond the end of timestamps compare as what they are: later than all of them.
static inline int64_t saturated_us(int32_t days)
{
    int64_t us;
    if (weir_timestamp_from_date(days, &us, NULL)) {
        return us;
    }
    return WEIR_TIMESTAMP_END_US;
}

static inline int order_date_time(int32_t days, int64_t us)
{
    return weir_compare_i64(saturated_us(days), us);
}

static inline int order_time_date(int64_t us, int32_t days)
{
    return weir_compare_i64(us, saturated_us(days));
}

static inline int order_char(struct weir_view a, struct weir_view b)
{
    return weir_compare_view(weir_char_trim(a), weir_char_trim(b));
}

static inline int order_uuid(struct weir_uuid a, struct weir_uuid b)
{
    return memcmp(&a, &b, sizeof a);
}

DEFINE_NATIVE(u8, uint8_t)
DEFINE_NATIVE(i16, int16_t)
DEFINE_NATIVE(i32, int32_t)
DEFINE_NATIVE(i64, int64_t)
DEFINE_FLOAT(f32, float)
DEFINE_FLOAT(f64, double)
DEFINE_ORDERED(numeric, struct weir_numeric, struct weir_numeric, weir_numeric_compare)
DEFINE_ORDERED(char, struct weir_view, struct weir_view, order_char)
DEFINE_ORDERED(interval, struct weir_interval, struct weir_interval, weir_interval_compare)
DEFINE_ORDERED(uuid, struct weir_uuid, struct weir_uuid, order_uuid)
DEFINE_ORDERED(jsonb, struct weir_view, struct weir_view, weir_jsonb_compare)
DEFINE_ORDERED(date_time, int32_t, int64_t, order_date_time)
DEFINE_ORDERED(time_date, int64_t, int32_t, order_time_date)

// Equality of bytes need not find the first difference.
DEFINE_OPERATOR(equal, view, struct weir_view, struct weir_view, weir_view_equal(a, b))
DEFINE_OPERATOR(unequal, view, struct weir_view, struct weir_view, !weir_view_equal(a, b))
DEFINE_OPERATOR(less, view, struct weir_view, struct weir_view, order_view(a, b) < 0)
DEFINE_OPERATOR(less_equal, view, struct weir_view, struct weir_view, order_view(a, b) <= 0)
DEFINE_OPERATOR(greater, view, struct weir_view, struct weir_view, order_view(a, b) > 0)
DEFINE_OPERATOR(greater_equal, view, struct weir_view, struct weir_view, order_view(a, b) >= 0)

// --- table -----------------------------------------------------------------------------------

#define ROW(symbol, type_a, type_b, computed, the_flags, the_kernel)                               \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_##type_a, WEIR_ARG_##type_b},            \
        .result = WEIR_ARG_BOOLEAN, .computed_in = computed, .flags = the_flags,                   \
        .kernel = the_kernel                                                                       \
    }
#define SIX(type_a, type_b, computed, the_flags, suffix)                                           \
    ROW("=", type_a, type_b, computed, the_flags, kernel_equal_##suffix),                          \
        ROW("<>", type_a, type_b, computed, the_flags, kernel_unequal_##suffix),                   \
        ROW("<", type_a, type_b, computed, the_flags, kernel_less_##suffix),                       \
        ROW("<=", type_a, type_b, computed, the_flags, kernel_less_equal_##suffix),                \
        ROW(">", type_a, type_b, computed, the_flags, kernel_greater_##suffix),                    \
        ROW(">=", type_a, type_b, computed, the_flags, kernel_greater_equal_##suffix)
#define FIXED(type, suffix) SIX(type, type, 0, WEIR_FUNCTION_TOTAL, suffix)
#define POINTED(type, suffix) SIX(type, type, 0, 0, suffix)
#define MIXED(type_a, type_b, type, suffix)                                                        \
    SIX(type_a, type_b, WEIR_ARG_##type, WEIR_FUNCTION_TOTAL, suffix),                             \
        SIX(type_b, type_a, WEIR_ARG_##type, WEIR_FUNCTION_TOTAL, suffix)
// Known to PostgreSQL: an untyped literal could mean them too.
#define ABSENT(type)                                                                               \
    ROW("=", type, type, 0, 0, NULL), ROW("<>", type, type, 0, 0, NULL),                           \
        ROW("<", type, type, 0, 0, NULL), ROW("<=", type, type, 0, 0, NULL),                       \
        ROW(">", type, type, 0, 0, NULL), ROW(">=", type, type, 0, 0, NULL)

static const struct weir_function FUNCTIONS[] = {
    FIXED(BOOLEAN, u8),
    FIXED(SMALLINT, i16),
    FIXED(INTEGER, i32),
    FIXED(BIGINT, i64),
    MIXED(SMALLINT, INTEGER, INTEGER, i32),
    MIXED(SMALLINT, BIGINT, BIGINT, i64),
    MIXED(INTEGER, BIGINT, BIGINT, i64),
    FIXED(REAL, f32),
    FIXED(DOUBLE, f64),
    MIXED(REAL, DOUBLE, DOUBLE, f64),
    POINTED(NUMERIC, numeric),
    POINTED(TEXT, view),
    POINTED(BYTEA, view),
    POINTED(JSONB, jsonb),
    FIXED(DATE, i32),
    FIXED(TIMESTAMP, i64),
    FIXED(TIMESTAMPTZ, i64),
    // The time zone is UTC: the bits of both timestamps mean the same.
    SIX(TIMESTAMP, TIMESTAMPTZ, 0, WEIR_FUNCTION_TOTAL, i64),
    SIX(TIMESTAMPTZ, TIMESTAMP, 0, WEIR_FUNCTION_TOTAL, i64),
    SIX(DATE, TIMESTAMP, 0, WEIR_FUNCTION_TOTAL, date_time),
    SIX(DATE, TIMESTAMPTZ, 0, WEIR_FUNCTION_TOTAL, date_time),
    SIX(TIMESTAMP, DATE, 0, WEIR_FUNCTION_TOTAL, time_date),
    SIX(TIMESTAMPTZ, DATE, 0, WEIR_FUNCTION_TOTAL, time_date),
    FIXED(TIME, i64),
    FIXED(INTERVAL, interval),
    FIXED(UUID, uuid),
    POINTED(CHAR, char),
    ABSENT(TIMETZ),
};

const struct weir_function_table weir_functions_compare = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
