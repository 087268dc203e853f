// SPDX-License-Identifier: Apache-2.0
// Arithmetic of real and double precision, and the functions that PostgreSQL has for double
// precision alone. IEEE with PostgreSQL's additions: a finite argument must not give an infinity,
// nor a nonzero one a zero. Mixed widths are computed in double. Thread: the task's.
#include "operators/function.h"

#include <errno.h>
#include <math.h>

#define OVERFLOW_TEXT "value out of range: overflow"
#define UNDERFLOW_TEXT "value out of range: underflow"

#define DEFINE_WIDTH(width, c_type)                                                                \
    static inline c_type add_##width(struct weir_kernel *kernel, uint32_t row, c_type a, c_type b) \
    {                                                                                              \
        c_type sum = a + b;                                                                        \
        if (__builtin_expect(isinf(sum), 0) && !isinf(a) && !isinf(b)) {                           \
            weir_kernel_fail(kernel, row, OVERFLOW_TEXT);                                          \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    static inline c_type subtract_##width(struct weir_kernel *kernel, uint32_t row, c_type a,      \
                                          c_type b)                                                \
    {                                                                                              \
        return add_##width(kernel, row, a, -b);                                                    \
    }                                                                                              \
    static inline c_type multiply_##width(struct weir_kernel *kernel, uint32_t row, c_type a,      \
                                          c_type b)                                                \
    {                                                                                              \
        c_type product = a * b;                                                                    \
        if (__builtin_expect(isinf(product), 0) && !isinf(a) && !isinf(b)) {                       \
            weir_kernel_fail(kernel, row, OVERFLOW_TEXT);                                          \
        }                                                                                          \
        if (__builtin_expect(product == 0, 0) && a != 0 && b != 0) {                               \
            weir_kernel_fail(kernel, row, UNDERFLOW_TEXT);                                         \
        }                                                                                          \
        return product;                                                                            \
    }                                                                                              \
    static inline c_type divide_##width(struct weir_kernel *kernel, uint32_t row, c_type a,        \
                                        c_type b)                                                  \
    {                                                                                              \
        if (__builtin_expect(b == 0, 0) && !isnan(a)) {                                            \
            weir_kernel_fail(kernel, row, "division by zero");                                     \
            return 0;                                                                              \
        }                                                                                          \
        c_type quotient = a / b;                                                                   \
        if (__builtin_expect(isinf(quotient), 0) && !isinf(a)) {                                   \
            weir_kernel_fail(kernel, row, OVERFLOW_TEXT);                                          \
        }                                                                                          \
        if (__builtin_expect(quotient == 0, 0) && a != 0 && !isinf(b)) {                           \
            weir_kernel_fail(kernel, row, UNDERFLOW_TEXT);                                         \
        }                                                                                          \
        return quotient;                                                                           \
    }                                                                                              \
    static inline c_type negate_##width(struct weir_kernel *kernel, uint32_t row, c_type a)        \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return -a;                                                                                 \
    }                                                                                              \
    static inline c_type same_##width(struct weir_kernel *kernel, uint32_t row, c_type a)          \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return a;                                                                                  \
    }                                                                                              \
    static inline c_type absolute_##width(struct weir_kernel *kernel, uint32_t row, c_type a)      \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return (c_type)fabs(a);                                                                    \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_add_##width, c_type, c_type, c_type, add_##width)                         \
    WEIR_KERNEL_2(kernel_subtract_##width, c_type, c_type, c_type, subtract_##width)               \
    WEIR_KERNEL_2(kernel_multiply_##width, c_type, c_type, c_type, multiply_##width)               \
    WEIR_KERNEL_2(kernel_divide_##width, c_type, c_type, c_type, divide_##width)                   \
    WEIR_KERNEL_1(kernel_negate_##width, c_type, c_type, negate_##width)                           \
    WEIR_KERNEL_1(kernel_same_##width, c_type, c_type, same_##width)                               \
    WEIR_KERNEL_1(kernel_absolute_##width, c_type, c_type, absolute_##width)

DEFINE_WIDTH(f32, float)
DEFINE_WIDTH(f64, double)

// --- functions of double precision -----------------------------------------------------------

#define DEFINE_PLAIN(name, expression)                                                             \
    static inline double name(struct weir_kernel *kernel, uint32_t row, double a)                  \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return expression;                                                                         \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, double, double, name)

DEFINE_PLAIN(round_f64, rint(a)) // halves to the even neighbour
DEFINE_PLAIN(truncate_f64, trunc(a))
DEFINE_PLAIN(ceil_f64, ceil(a))
DEFINE_PLAIN(floor_f64, floor(a))
DEFINE_PLAIN(sign_f64, (double)((a > 0) - (a < 0)))
DEFINE_PLAIN(cbrt_f64, cbrt(a))

static double square_root(struct weir_kernel *kernel, uint32_t row, double a)
{
    if (a < 0) {
        weir_kernel_fail(kernel, row, "cannot take square root of a negative number");
    }
    return sqrt(a);
}

static double exponential(struct weir_kernel *kernel, uint32_t row, double a)
{
    if (isnan(a) || isinf(a)) {
        return a < 0 ? 0 : a;
    }
    double result = exp(a);
    if (isinf(result)) {
        weir_kernel_fail(kernel, row, OVERFLOW_TEXT);
    } else if (result == 0) {
        weir_kernel_fail(kernel, row, UNDERFLOW_TEXT);
    }
    return result;
}

static bool can_take_logarithm(struct weir_kernel *kernel, uint32_t row, double a)
{
    if (a > 0 || isnan(a)) {
        return true;
    }
    weir_kernel_fail(kernel, row,
                     a == 0 ? "cannot take logarithm of zero"
                            : "cannot take logarithm of a negative number");
    return false;
}

static double natural_logarithm(struct weir_kernel *kernel, uint32_t row, double a)
{
    return can_take_logarithm(kernel, row, a) ? log(a) : 0;
}

static double decimal_logarithm(struct weir_kernel *kernel, uint32_t row, double a)
{
    return can_take_logarithm(kernel, row, a) ? log10(a) : 0;
}

static double power(struct weir_kernel *kernel, uint32_t row, double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return b == 0 || a == 1 ? 1 : NAN;
    }
    if (a == 0 && b < 0) {
        weir_kernel_fail(kernel, row, "zero raised to a negative power is undefined");
        return 0;
    }
    if (a < 0 && !isinf(b) && floor(b) != b) {
        weir_kernel_fail(kernel, row,
                         "a negative number raised to a non-integer power yields a "
                         "complex result");
        return 0;
    }
    double result = pow(a, b);
    if (isinf(a) || isinf(b)) {
        return result;
    }
    if (isinf(result)) {
        weir_kernel_fail(kernel, row, OVERFLOW_TEXT);
    } else if (result == 0 && a != 0) {
        weir_kernel_fail(kernel, row, UNDERFLOW_TEXT);
    }
    return result;
}

WEIR_KERNEL_1(kernel_square_root, double, double, square_root)
WEIR_KERNEL_1(kernel_exponential, double, double, exponential)
WEIR_KERNEL_1(kernel_natural_logarithm, double, double, natural_logarithm)
WEIR_KERNEL_1(kernel_decimal_logarithm, double, double, decimal_logarithm)
WEIR_KERNEL_2(kernel_power, double, double, double, power)

// --- table -----------------------------------------------------------------------------------

#define TWO(symbol, type_a, type_b, type, the_kernel)                                              \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_##type_a, WEIR_ARG_##type_b},            \
        .result = WEIR_ARG_##type, .computed_in = WEIR_ARG_##type, .kernel = the_kernel            \
    }
#define ONE(symbol, type, the_kernel, the_flags)                                                   \
    {                                                                                              \
        .name = symbol, .arg_count = 1, .args = {WEIR_ARG_##type}, .result = WEIR_ARG_##type,      \
        .flags = the_flags, .kernel = the_kernel                                                   \
    }
#define ARITHMETIC(symbol, verb)                                                                   \
    TWO(symbol, REAL, REAL, REAL, kernel_##verb##_f32),                                            \
        TWO(symbol, DOUBLE, DOUBLE, DOUBLE, kernel_##verb##_f64),                                  \
        TWO(symbol, REAL, DOUBLE, DOUBLE, kernel_##verb##_f64),                                    \
        TWO(symbol, DOUBLE, REAL, DOUBLE, kernel_##verb##_f64)
#define ONE_WIDTHS(symbol, verb)                                                                   \
    ONE(symbol, REAL, kernel_##verb##_f32, WEIR_FUNCTION_TOTAL),                                   \
        ONE(symbol, DOUBLE, kernel_##verb##_f64, WEIR_FUNCTION_TOTAL)

static const struct weir_function FUNCTIONS[] = {
    ARITHMETIC("+", add),
    ARITHMETIC("-", subtract),
    ARITHMETIC("*", multiply),
    ARITHMETIC("/", divide),
    ONE_WIDTHS("-", negate),
    ONE_WIDTHS("+", same),
    ONE_WIDTHS("@", absolute),
    ONE_WIDTHS("abs", absolute),
    ONE("round", DOUBLE, kernel_round_f64, WEIR_FUNCTION_TOTAL),
    ONE("trunc", DOUBLE, kernel_truncate_f64, WEIR_FUNCTION_TOTAL),
    ONE("ceil", DOUBLE, kernel_ceil_f64, WEIR_FUNCTION_TOTAL),
    ONE("ceiling", DOUBLE, kernel_ceil_f64, WEIR_FUNCTION_TOTAL),
    ONE("floor", DOUBLE, kernel_floor_f64, WEIR_FUNCTION_TOTAL),
    ONE("sign", DOUBLE, kernel_sign_f64, WEIR_FUNCTION_TOTAL),
    ONE("cbrt", DOUBLE, kernel_cbrt_f64, 0),
    ONE("sqrt", DOUBLE, kernel_square_root, 0),
    ONE("|/", DOUBLE, kernel_square_root, 0),
    ONE("exp", DOUBLE, kernel_exponential, 0),
    ONE("ln", DOUBLE, kernel_natural_logarithm, 0),
    ONE("log", DOUBLE, kernel_decimal_logarithm, 0),
    ONE("log10", DOUBLE, kernel_decimal_logarithm, 0),
    TWO("power", DOUBLE, DOUBLE, DOUBLE, kernel_power),
    TWO("pow", DOUBLE, DOUBLE, DOUBLE, kernel_power),
    TWO("^", DOUBLE, DOUBLE, DOUBLE, kernel_power),
};

const struct weir_function_table weir_functions_float = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
