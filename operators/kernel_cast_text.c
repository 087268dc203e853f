// SPDX-License-Identifier: Apache-2.0
// Casts from and to text, through the types' input and output functions (runtime/types/text_io.h),
// and the lengths of varchar(n) and char(n). Thread: the task's.
#include "operators/function.h"

#include "runtime/types/text_io.h"

// --- to text ---------------------------------------------------------------------------------

static void output_row(struct weir_kernel *kernel, uint32_t row, weir_text_append_fn append)
{
    const struct weir_vector *arg = &kernel->args[0];
    append(weir_kernel_scratch(kernel), &arg->column, row & arg->row_mask);
    kernel->out->view[row] = weir_kernel_scratch_text(kernel);
}

static void kernel_output(struct weir_kernel *kernel)
{
    weir_text_append_fn append = weir_text_append_function(kernel->args[0].column.type.kind);
    WEIR_KERNEL_EACH(kernel, row, output_row(kernel, row, append));
}

// A cast says "true" where the output function says "t".
static inline struct weir_view bool_to_text(struct weir_kernel *kernel, uint32_t row, uint8_t a)
{
    (void)kernel;
    (void)row;
    return a != 0 ? (struct weir_view){.data = "true", .size_bytes = 4}
                  : (struct weir_view){.data = "false", .size_bytes = 5};
}

WEIR_KERNEL_1(kernel_bool_to_text, struct weir_view, uint8_t, bool_to_text)

const struct weir_function weir_text_output_function = {.name = "text",
                                                        .arg_count = 1,
                                                        .args = {WEIR_ARG_ANY},
                                                        .result = WEIR_ARG_TEXT,
                                                        .flags = WEIR_FUNCTION_CAST,
                                                        .kernel = kernel_output};

// --- from text -------------------------------------------------------------------------------

static void input_row(struct weir_kernel *kernel, uint32_t row, weir_text_parse_fn parse)
{
    const struct weir_vector *arg = &kernel->args[0];
    struct weir_value_error error;
    struct weir_view text = arg->column.view[row & arg->row_mask];
    if (__builtin_expect(!parse(kernel->out, row, text, kernel->arena, &error), 0)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
}

static void kernel_input(struct weir_kernel *kernel)
{
    weir_text_parse_fn parse = weir_text_parse_function(kernel->type->kind);
    WEIR_KERNEL_EACH(kernel, row, input_row(kernel, row, parse));
}

// --- varchar(n), char(n)
// ------------------------------------------------------------------------------

static struct weir_view fit(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    struct weir_view out = text;
    struct weir_value_error error;
    if (!weir_varchar_fit(text, kernel->type->modifier, &out, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return out;
}

static struct weir_view cut(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    (void)row;
    return weir_text_prefix(text, (uint32_t)kernel->type->modifier);
}

WEIR_KERNEL_1(kernel_fit, struct weir_view, struct weir_view, fit)
WEIR_KERNEL_1(kernel_cut, struct weir_view, struct weir_view, cut)

static struct weir_view fit_char(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    struct weir_view out = text;
    struct weir_value_error error;
    if (!weir_char_fit(text, kernel->type->modifier, kernel->arena, &out, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return out;
}

static struct weir_view cut_char(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    (void)row;
    return weir_char_cut(text, kernel->type->modifier, kernel->arena);
}

static struct weir_view char_to_text(struct weir_kernel *kernel, uint32_t row,
                                     struct weir_view text)
{
    (void)kernel;
    (void)row;
    return weir_char_trim(text);
}

WEIR_KERNEL_1(kernel_fit_char, struct weir_view, struct weir_view, fit_char)
WEIR_KERNEL_1(kernel_cut_char, struct weir_view, struct weir_view, cut_char)
WEIR_KERNEL_1(kernel_char_to_text, struct weir_view, struct weir_view, char_to_text)

#define LENGTH(the_name, type, the_kernel)                                                         \
    {                                                                                              \
        .name = the_name, .arg_count = 1, .args = {WEIR_ARG_##type}, .result = WEIR_ARG_##type,    \
        .flags = WEIR_FUNCTION_CAST, .kernel = the_kernel                                          \
    }

const struct weir_function weir_varchar_assignment_function =
    LENGTH("varchar", VARCHAR, kernel_fit);
const struct weir_function weir_varchar_explicit_function = LENGTH("varchar", VARCHAR, kernel_cut);
const struct weir_function weir_char_assignment_function = LENGTH("bpchar", CHAR, kernel_fit_char);
const struct weir_function weir_char_explicit_function = LENGTH("bpchar", CHAR, kernel_cut_char);

// --- table -----------------------------------------------------------------------------------

#define CAST(from, to, the_context, the_kernel)                                                    \
    WEIR_CAST_ROW(WEIR_ARG_##from, WEIR_ARG_##to, WEIR_CAST_##the_context, the_kernel, 0)
#define BOTH_WAYS(type)                                                                            \
    CAST(type, TEXT, ASSIGNMENT, kernel_output), CAST(type, VARCHAR, ASSIGNMENT, kernel_output),   \
        CAST(type, CHAR, ASSIGNMENT, kernel_output), CAST(TEXT, type, EXPLICIT, kernel_input),     \
        CAST(VARCHAR, type, EXPLICIT, kernel_input), CAST(CHAR, type, EXPLICIT, kernel_input)

static const struct weir_cast CASTS[] = {
    CAST(TEXT, VARCHAR, IMPLICIT, NULL),
    CAST(VARCHAR, TEXT, IMPLICIT, NULL),
    CAST(TEXT, CHAR, IMPLICIT, NULL),
    CAST(VARCHAR, CHAR, IMPLICIT, NULL),
    CAST(CHAR, TEXT, IMPLICIT, kernel_char_to_text),
    CAST(CHAR, VARCHAR, IMPLICIT, kernel_char_to_text),
    CAST(BOOLEAN, CHAR, ASSIGNMENT, kernel_bool_to_text),
    CAST(CHAR, BOOLEAN, EXPLICIT, kernel_input),
    CAST(BOOLEAN, TEXT, ASSIGNMENT, kernel_bool_to_text),
    CAST(BOOLEAN, VARCHAR, ASSIGNMENT, kernel_bool_to_text),
    CAST(TEXT, BOOLEAN, EXPLICIT, kernel_input),
    CAST(VARCHAR, BOOLEAN, EXPLICIT, kernel_input),
    BOTH_WAYS(SMALLINT),
    BOTH_WAYS(INTEGER),
    BOTH_WAYS(BIGINT),
    BOTH_WAYS(REAL),
    BOTH_WAYS(DOUBLE),
    BOTH_WAYS(NUMERIC),
    BOTH_WAYS(BYTEA),
    BOTH_WAYS(DATE),
    BOTH_WAYS(TIMESTAMP),
    BOTH_WAYS(TIMESTAMPTZ),
    BOTH_WAYS(JSONB),
    BOTH_WAYS(COMPOSITE),
    BOTH_WAYS(TIME),
    BOTH_WAYS(INTERVAL),
    BOTH_WAYS(UUID),
    BOTH_WAYS(JSON),
    BOTH_WAYS(ARRAY),
    CAST(JSON, JSONB, ASSIGNMENT, kernel_input),
    CAST(JSONB, JSON, ASSIGNMENT, kernel_output),
};

const struct weir_cast_table weir_casts_text = {.casts = CASTS,
                                                .count = sizeof CASTS / sizeof CASTS[0]};
