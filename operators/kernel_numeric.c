// SPDX-License-Identifier: Apache-2.0
// Arithmetic of numeric: the values are runtime/types/numeric.h's, the loops are here.
// Thread: the task's.
#include "operators/function.h"

// A function of numeric.h that can fail, as the function of one row.
#define DEFINE_2(name, function)                                                                   \
    static inline struct weir_numeric name(struct weir_kernel *kernel, uint32_t row,               \
                                           struct weir_numeric a, struct weir_numeric b)           \
    {                                                                                              \
        struct weir_numeric out;                                                                   \
        struct weir_value_error error;                                                             \
        if (__builtin_expect(!function(a, b, kernel->arena, &out, &error), 0)) {                   \
            weir_kernel_fail_value(kernel, row, &error);                                           \
        }                                                                                          \
        return out;                                                                                \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_##name, struct weir_numeric, struct weir_numeric, struct weir_numeric,    \
                  name)

DEFINE_2(add, weir_numeric_add)
DEFINE_2(subtract, weir_numeric_subtract)
DEFINE_2(multiply, weir_numeric_multiply)
DEFINE_2(divide, weir_numeric_divide)
DEFINE_2(modulo, weir_numeric_modulo)
DEFINE_2(divide_integer, weir_numeric_divide_integer)

#define DEFINE_1(name) WEIR_KERNEL_1(kernel_##name, struct weir_numeric, struct weir_numeric, name)

static struct weir_numeric negate(struct weir_kernel *kernel, uint32_t row, struct weir_numeric a)
{
    (void)row;
    return weir_numeric_negate(a, kernel->arena);
}

static struct weir_numeric same(struct weir_kernel *kernel, uint32_t row, struct weir_numeric a)
{
    (void)kernel;
    (void)row;
    return a;
}

static struct weir_numeric absolute(struct weir_kernel *kernel, uint32_t row, struct weir_numeric a)
{
    (void)row;
    return weir_numeric_absolute(a, kernel->arena);
}

static struct weir_numeric sign(struct weir_kernel *kernel, uint32_t row, struct weir_numeric a)
{
    (void)kernel;
    (void)row;
    return a.kind == WEIR_NUMERIC_NAN ? a : weir_numeric_small(weir_numeric_sign(a), 0);
}

static struct weir_numeric round_to(struct weir_kernel *kernel, uint32_t row, struct weir_numeric a,
                                    int32_t digits)
{
    struct weir_numeric out;
    struct weir_value_error error;
    if (!weir_numeric_round(a, digits, kernel->arena, &out, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return out;
}

static struct weir_numeric round_whole(struct weir_kernel *kernel, uint32_t row,
                                       struct weir_numeric a)
{
    return round_to(kernel, row, a, 0);
}

static struct weir_numeric truncate_to(struct weir_kernel *kernel, uint32_t row,
                                       struct weir_numeric a, int32_t digits)
{
    (void)row;
    return weir_numeric_truncate(a, digits, kernel->arena);
}

static struct weir_numeric truncate_whole(struct weir_kernel *kernel, uint32_t row,
                                          struct weir_numeric a)
{
    return truncate_to(kernel, row, a, 0);
}

static struct weir_numeric ceil_numeric(struct weir_kernel *kernel, uint32_t row,
                                        struct weir_numeric a)
{
    struct weir_numeric out;
    struct weir_value_error error;
    if (!weir_numeric_ceil(a, kernel->arena, &out, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return out;
}

static struct weir_numeric floor_numeric(struct weir_kernel *kernel, uint32_t row,
                                         struct weir_numeric a)
{
    struct weir_numeric out;
    struct weir_value_error error;
    if (!weir_numeric_floor(a, kernel->arena, &out, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return out;
}

DEFINE_1(negate)
DEFINE_1(same)
DEFINE_1(absolute)
DEFINE_1(sign)
DEFINE_1(round_whole)
DEFINE_1(truncate_whole)
DEFINE_1(ceil_numeric)
DEFINE_1(floor_numeric)
WEIR_KERNEL_2(kernel_round_to, struct weir_numeric, struct weir_numeric, int32_t, round_to)
WEIR_KERNEL_2(kernel_truncate_to, struct weir_numeric, struct weir_numeric, int32_t, truncate_to)

// --- numeric(p,s) ----------------------------------------------------------------------------

static struct weir_numeric apply_modifier(struct weir_kernel *kernel, uint32_t row,
                                          struct weir_numeric a)
{
    struct weir_numeric out;
    struct weir_value_error error;
    if (!weir_numeric_apply_modifier(a, kernel->type->modifier, kernel->arena, &out, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return out;
}

DEFINE_1(apply_modifier)

const struct weir_function weir_numeric_modifier_function = {.name = "numeric",
                                                             .arg_count = 1,
                                                             .args = {WEIR_ARG_NUMERIC},
                                                             .result = WEIR_ARG_NUMERIC,
                                                             .flags = WEIR_FUNCTION_CAST,
                                                             .kernel = kernel_apply_modifier};

// --- table -----------------------------------------------------------------------------------

#define TWO(symbol, the_kernel)                                                                    \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_NUMERIC, WEIR_ARG_NUMERIC},              \
        .result = WEIR_ARG_NUMERIC, .kernel = the_kernel                                           \
    }
#define ONE(symbol, the_kernel)                                                                    \
    {                                                                                              \
        .name = symbol, .arg_count = 1, .args = {WEIR_ARG_NUMERIC}, .result = WEIR_ARG_NUMERIC,    \
        .kernel = the_kernel                                                                       \
    }
#define DIGITS(symbol, the_kernel)                                                                 \
    {                                                                                              \
        .name = symbol, .arg_count = 2, .args = {WEIR_ARG_NUMERIC, WEIR_ARG_INTEGER},              \
        .result = WEIR_ARG_NUMERIC, .kernel = the_kernel                                           \
    }

static const struct weir_function FUNCTIONS[] = {
    TWO("+", kernel_add),
    TWO("-", kernel_subtract),
    TWO("*", kernel_multiply),
    TWO("/", kernel_divide),
    TWO("%", kernel_modulo),
    TWO("mod", kernel_modulo),
    TWO("div", kernel_divide_integer),
    ONE("-", kernel_negate),
    ONE("+", kernel_same),
    ONE("@", kernel_absolute),
    ONE("abs", kernel_absolute),
    ONE("sign", kernel_sign),
    ONE("round", kernel_round_whole),
    DIGITS("round", kernel_round_to),
    ONE("trunc", kernel_truncate_whole),
    DIGITS("trunc", kernel_truncate_to),
    {.name = "trunc", .arg_count = 1, .args = {WEIR_ARG_MACADDR}, .result = WEIR_ARG_MACADDR},
    ONE("ceil", kernel_ceil_numeric),
    ONE("ceiling", kernel_ceil_numeric),
    ONE("floor", kernel_floor_numeric),
    // PostgreSQL computes these exactly to a scale of its own; a detour over double would not.
    TWO("power", NULL),
    TWO("pow", NULL),
    TWO("^", NULL),
    ONE("sqrt", NULL),
    ONE("exp", NULL),
    ONE("ln", NULL),
    ONE("log", NULL),
    TWO("log", NULL),
    ONE("log10", NULL),
};

const struct weir_function_table weir_functions_numeric = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
