// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: + - * / % and bits, abs, mod; overflow and division by zero are errors of the
// row with PostgreSQL's texts. Mixed widths are computed in the wider one. Thread: the task's.
#include "operators/function.h"

// The smallest integer divided by -1 traps in C: it is looked at before the division.
#define DEFINE_WIDTH(width, c_type, type_name)                                                     \
    static inline c_type add_##width(struct weir_kernel *kernel, uint32_t row, c_type a, c_type b) \
    {                                                                                              \
        c_type sum;                                                                                \
        if (__builtin_expect(__builtin_add_overflow(a, b, &sum), 0)) {                             \
            weir_kernel_fail(kernel, row, type_name " out of range");                              \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    static inline c_type subtract_##width(struct weir_kernel *kernel, uint32_t row, c_type a,      \
                                          c_type b)                                                \
    {                                                                                              \
        c_type difference;                                                                         \
        if (__builtin_expect(__builtin_sub_overflow(a, b, &difference), 0)) {                      \
            weir_kernel_fail(kernel, row, type_name " out of range");                              \
        }                                                                                          \
        return difference;                                                                         \
    }                                                                                              \
    static inline c_type multiply_##width(struct weir_kernel *kernel, uint32_t row, c_type a,      \
                                          c_type b)                                                \
    {                                                                                              \
        c_type product;                                                                            \
        if (__builtin_expect(__builtin_mul_overflow(a, b, &product), 0)) {                         \
            weir_kernel_fail(kernel, row, type_name " out of range");                              \
        }                                                                                          \
        return product;                                                                            \
    }                                                                                              \
    static inline c_type divide_##width(struct weir_kernel *kernel, uint32_t row, c_type a,        \
                                        c_type b)                                                  \
    {                                                                                              \
        if (__builtin_expect(b == 0, 0)) {                                                         \
            weir_kernel_fail(kernel, row, "division by zero");                                     \
            return 0;                                                                              \
        }                                                                                          \
        if (__builtin_expect(b == -1, 0)) {                                                        \
            return subtract_##width(kernel, row, 0, a);                                            \
        }                                                                                          \
        return (c_type)(a / b);                                                                    \
    }                                                                                              \
    static inline c_type negate_##width(struct weir_kernel *kernel, uint32_t row, c_type a)        \
    {                                                                                              \
        return subtract_##width(kernel, row, 0, a);                                                \
    }                                                                                              \
    static inline c_type same_##width(struct weir_kernel *kernel, uint32_t row, c_type a)          \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return a;                                                                                  \
    }                                                                                              \
    static inline c_type absolute_##width(struct weir_kernel *kernel, uint32_t row, c_type a)      \
    {                                                                                              \
        return a < 0 ? subtract_##width(kernel, row, 0, a) : a;                                    \
    }                                                                                              \
    static inline c_type bit_and_##width(struct weir_kernel *kernel, uint32_t row, c_type a,       \
                                         c_type b)                                                 \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)(a & b);                                                                    \
    }                                                                                              \
    static inline c_type bit_or_##width(struct weir_kernel *kernel, uint32_t row, c_type a,        \
                                        c_type b)                                                  \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)(a | b);                                                                    \
    }                                                                                              \
    static inline c_type bit_xor_##width(struct weir_kernel *kernel, uint32_t row, c_type a,       \
                                         c_type b)                                                 \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)(a ^ b);                                                                    \
    }                                                                                              \
    static inline c_type bit_not_##width(struct weir_kernel *kernel, uint32_t row, c_type a)       \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)~a;                                                                         \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_add_##width, c_type, c_type, c_type, add_##width)                         \
    WEIR_KERNEL_2(kernel_subtract_##width, c_type, c_type, c_type, subtract_##width)               \
    WEIR_KERNEL_2(kernel_multiply_##width, c_type, c_type, c_type, multiply_##width)               \
    WEIR_KERNEL_2(kernel_divide_##width, c_type, c_type, c_type, divide_##width)                   \
    WEIR_KERNEL_2(kernel_bit_and_##width, c_type, c_type, c_type, bit_and_##width)                 \
    WEIR_KERNEL_2(kernel_bit_or_##width, c_type, c_type, c_type, bit_or_##width)                   \
    WEIR_KERNEL_2(kernel_bit_xor_##width, c_type, c_type, c_type, bit_xor_##width)                 \
    WEIR_KERNEL_1(kernel_bit_not_##width, c_type, c_type, bit_not_##width)                         \
    WEIR_KERNEL_1(kernel_negate_##width, c_type, c_type, negate_##width)                           \
    WEIR_KERNEL_1(kernel_same_##width, c_type, c_type, same_##width)                               \
    WEIR_KERNEL_1(kernel_absolute_##width, c_type, c_type, absolute_##width)

DEFINE_WIDTH(i16, int16_t, "smallint")
DEFINE_WIDTH(i32, int32_t, "integer")
DEFINE_WIDTH(i64, int64_t, "bigint")

// --- remainder -------------------------------------------------------------------------------

#define DEFINE_MODULO(width, c_type)                                                               \
    static inline c_type modulo_##width(struct weir_kernel *kernel, uint32_t row, c_type a,        \
                                        c_type b)                                                  \
    {                                                                                              \
        if (__builtin_expect(b == 0, 0)) {                                                         \
            weir_kernel_fail(kernel, row, "division by zero");                                     \
            return 0;                                                                              \
        }                                                                                          \
        return (c_type)(b == -1 ? 0 : a % b);                                                      \
    }

DEFINE_MODULO(i16, int16_t)
DEFINE_MODULO(i32, int32_t)

// Division of 64 bits takes several times as long as one of 32, and most numbers are small.
static inline int64_t modulo_i64(struct weir_kernel *kernel, uint32_t row, int64_t a, int64_t b)
{
    if (__builtin_expect(b == 0, 0)) {
        weir_kernel_fail(kernel, row, "division by zero");
        return 0;
    }
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0) {
        return (int64_t)((uint32_t)a % (uint32_t)b);
    }
    return b == -1 ? 0 : a % b;
}

WEIR_KERNEL_2(kernel_modulo_i16, int16_t, int16_t, int16_t, modulo_i16)
WEIR_KERNEL_2(kernel_modulo_i32, int32_t, int32_t, int32_t, modulo_i32)
WEIR_KERNEL_2(kernel_modulo_i64, int64_t, int64_t, int64_t, modulo_i64)

// --- shifts: by the number modulo the width, as the processors do that PostgreSQL runs on
// ---------

#define DEFINE_SHIFTS(width, c_type, unsigned_type, mask)                                          \
    static inline c_type shift_left_##width(struct weir_kernel *kernel, uint32_t row, c_type a,    \
                                            int32_t b)                                             \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)((unsigned_type)a << (b & (mask)));                                         \
    }                                                                                              \
    static inline c_type shift_right_##width(struct weir_kernel *kernel, uint32_t row, c_type a,   \
                                             int32_t b)                                            \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)(a >> (b & (mask)));                                                        \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_shift_left_##width, c_type, c_type, int32_t, shift_left_##width)          \
    WEIR_KERNEL_2(kernel_shift_right_##width, c_type, c_type, int32_t, shift_right_##width)

DEFINE_SHIFTS(i16, int16_t, uint32_t, 31)
DEFINE_SHIFTS(i32, int32_t, uint32_t, 31)
DEFINE_SHIFTS(i64, int64_t, uint64_t, 63)

// --- table -----------------------------------------------------------------------------------

#define SAME(symbol, type, the_kernel, the_flags)                                                  \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_##type, WEIR_ARG_##type},                \
        .result = WEIR_ARG_##type, .flags = the_flags, .kernel = the_kernel                        \
    }
#define MIXED(symbol, type_a, type_b, type, the_kernel)                                            \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_##type_a, WEIR_ARG_##type_b},            \
        .result = WEIR_ARG_##type, .computed_in = WEIR_ARG_##type, .kernel = the_kernel            \
    }
#define ONE(symbol, type, the_kernel, the_flags)                                                   \
    {                                                                                              \
        .name = symbol, .arg_count = 1, .args = {WEIR_ARG_##type}, .result = WEIR_ARG_##type,      \
        .flags = the_flags, .kernel = the_kernel                                                   \
    }
#define SHIFT(symbol, type, the_kernel)                                                            \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_##type, WEIR_ARG_INTEGER},               \
        .result = WEIR_ARG_##type, .flags = WEIR_FUNCTION_TOTAL, .kernel = the_kernel              \
    }

// All pairs of the three widths.
#define ARITHMETIC(symbol, verb)                                                                   \
    SAME(symbol, SMALLINT, kernel_##verb##_i16, 0), SAME(symbol, INTEGER, kernel_##verb##_i32, 0), \
        SAME(symbol, BIGINT, kernel_##verb##_i64, 0),                                              \
        MIXED(symbol, SMALLINT, INTEGER, INTEGER, kernel_##verb##_i32),                            \
        MIXED(symbol, INTEGER, SMALLINT, INTEGER, kernel_##verb##_i32),                            \
        MIXED(symbol, SMALLINT, BIGINT, BIGINT, kernel_##verb##_i64),                              \
        MIXED(symbol, BIGINT, SMALLINT, BIGINT, kernel_##verb##_i64),                              \
        MIXED(symbol, INTEGER, BIGINT, BIGINT, kernel_##verb##_i64),                               \
        MIXED(symbol, BIGINT, INTEGER, BIGINT, kernel_##verb##_i64)
#define SAME_WIDTHS(symbol, verb, the_flags)                                                       \
    SAME(symbol, SMALLINT, kernel_##verb##_i16, the_flags),                                        \
        SAME(symbol, INTEGER, kernel_##verb##_i32, the_flags),                                     \
        SAME(symbol, BIGINT, kernel_##verb##_i64, the_flags)
#define ONE_WIDTHS(symbol, verb, the_flags)                                                        \
    ONE(symbol, SMALLINT, kernel_##verb##_i16, the_flags),                                         \
        ONE(symbol, INTEGER, kernel_##verb##_i32, the_flags),                                      \
        ONE(symbol, BIGINT, kernel_##verb##_i64, the_flags)

static const struct weir_function FUNCTIONS[] = {
    ARITHMETIC("+", add),
    ARITHMETIC("-", subtract),
    ARITHMETIC("*", multiply),
    ARITHMETIC("/", divide),
    SAME_WIDTHS("%", modulo, 0),
    SAME_WIDTHS("mod", modulo, 0),
    SAME_WIDTHS("&", bit_and, WEIR_FUNCTION_TOTAL),
    SAME_WIDTHS("|", bit_or, WEIR_FUNCTION_TOTAL),
    SAME_WIDTHS("#", bit_xor, WEIR_FUNCTION_TOTAL),
    ONE_WIDTHS("~", bit_not, WEIR_FUNCTION_TOTAL),
    ONE_WIDTHS("-", negate, 0),
    ONE_WIDTHS("+", same, WEIR_FUNCTION_TOTAL),
    ONE_WIDTHS("@", absolute, 0),
    ONE_WIDTHS("abs", absolute, 0),
    SHIFT("<<", SMALLINT, kernel_shift_left_i16),
    SHIFT("<<", INTEGER, kernel_shift_left_i32),
    SHIFT("<<", BIGINT, kernel_shift_left_i64),
    SHIFT(">>", SMALLINT, kernel_shift_right_i16),
    SHIFT(">>", INTEGER, kernel_shift_right_i32),
    SHIFT(">>", BIGINT, kernel_shift_right_i64),
};

const struct weir_function_table weir_functions_integer = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
