// SPDX-License-Identifier: Apache-2.0
// jsonb: -> and ->> by key and by position, jsonb_typeof, casts of scalars. Values are canonical
// text (runtime/types/jsonb.h); what -> finds is a view into it. Thread: the task's.
#include "operators/function.h"

#include "runtime/types/jsonb_access.h"

// --- access ----------------------------------------------------------------------------------

// A text argument as a key of canonical jsonb, made once when it is a constant.
struct key_reader {
    struct weir_view key;
    bool is_constant;
};

static struct weir_view key_of(struct key_reader *reader, struct weir_kernel *kernel, uint32_t row)
{
    if (!reader->is_constant) {
        const struct weir_vector *keys = &kernel->args[1];
        weir_jsonb_append_key(weir_kernel_scratch(kernel), keys->column.view[row & keys->row_mask]);
        reader->key = weir_kernel_scratch_text(kernel);
        reader->is_constant = weir_vector_is_constant(keys);
    }
    return reader->key;
}

static struct weir_view json_at(const struct weir_kernel *kernel, uint32_t row)
{
    const struct weir_vector *values = &kernel->args[0];
    return values->column.view[row & values->row_mask];
}

static int32_t idx_at(const struct weir_kernel *kernel, uint32_t row)
{
    const struct weir_vector *positions = &kernel->args[1];
    return positions->column.i32[row & positions->row_mask];
}

static void give_json(struct weir_kernel *kernel, uint32_t row, bool is_found,
                      struct weir_view value)
{
    if (is_found) {
        kernel->out->view[row] = value;
    } else {
        weir_kernel_set_null(kernel, row);
    }
}

static void give_text(struct weir_kernel *kernel, uint32_t row, bool is_found,
                      struct weir_view value)
{
    if (!is_found || weir_jsonb_kind_of(value) == WEIR_JSONB_NULL) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    if (weir_jsonb_kind_of(value) != WEIR_JSONB_STRING) {
        kernel->out->view[row] = value;
        return;
    }
    if (memchr(value.data, '\\', value.size_bytes) == NULL) {
        kernel->out->view[row] =
            (struct weir_view){.data = value.data + 1, .size_bytes = value.size_bytes - 2};
        return;
    }
    weir_jsonb_append_text(weir_kernel_scratch(kernel), value);
    kernel->out->view[row] = weir_kernel_scratch_text(kernel);
}

typedef void (*give_fn)(struct weir_kernel *kernel, uint32_t row, bool is_found,
                        struct weir_view value);

static void member_row(struct weir_kernel *kernel, uint32_t row, struct key_reader *reader,
                       give_fn give)
{
    struct weir_view value = {0};
    bool is_found = weir_jsonb_member(json_at(kernel, row), key_of(reader, kernel, row), &value);
    give(kernel, row, is_found, value);
}

static void element_row(struct weir_kernel *kernel, uint32_t row, give_fn give)
{
    struct weir_view value = {0};
    bool is_found = weir_jsonb_element(json_at(kernel, row), idx_at(kernel, row), &value);
    give(kernel, row, is_found, value);
}

static void kernel_member(struct weir_kernel *kernel)
{
    struct key_reader reader = {0};
    WEIR_KERNEL_EACH(kernel, row, member_row(kernel, row, &reader, give_json));
}

static void kernel_member_text(struct weir_kernel *kernel)
{
    struct key_reader reader = {0};
    WEIR_KERNEL_EACH(kernel, row, member_row(kernel, row, &reader, give_text));
}

static void kernel_element(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, element_row(kernel, row, give_json));
}

static void kernel_element_text(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, element_row(kernel, row, give_text));
}

static struct weir_view type_of(struct weir_kernel *kernel, uint32_t row, struct weir_view value)
{
    (void)kernel;
    (void)row;
    return weir_view_of(weir_jsonb_kind_name(weir_jsonb_kind_of(value)));
}

WEIR_KERNEL_1(kernel_type_of, struct weir_view, struct weir_view, type_of)

// --- casts of scalars ------------------------------------------------------------------------

static void refuse_cast(struct weir_kernel *kernel, uint32_t row, struct weir_view value)
{
    enum weir_jsonb_kind kind = weir_jsonb_kind_of(value);
    weir_kernel_fail_format(kernel, row, "cannot cast jsonb %s to type %s",
                            kind == WEIR_JSONB_NUMBER ? "numeric" : weir_jsonb_kind_name(kind),
                            weir_arg_name((enum weir_arg)kernel->type->kind));
}

static uint8_t to_bool(struct weir_kernel *kernel, uint32_t row, struct weir_view value)
{
    if (weir_jsonb_kind_of(value) != WEIR_JSONB_BOOLEAN) {
        refuse_cast(kernel, row, value);
    }
    return value.data[0] == 't';
}

static struct weir_numeric to_numeric(struct weir_kernel *kernel, uint32_t row,
                                      struct weir_view value)
{
    struct weir_numeric number = weir_numeric_small(0, 0);
    struct weir_value_error error;
    if (weir_jsonb_kind_of(value) != WEIR_JSONB_NUMBER) {
        refuse_cast(kernel, row, value);
    } else if (!weir_numeric_parse(value, -1, kernel->arena, &number, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return number;
}

#define DEFINE_TO(name, to_type, function)                                                         \
    static to_type name(struct weir_kernel *kernel, uint32_t row, struct weir_view value)          \
    {                                                                                              \
        to_type out = 0;                                                                           \
        struct weir_value_error error;                                                             \
        if (!function(to_numeric(kernel, row, value), &out, &error)) {                             \
            weir_kernel_fail_value(kernel, row, &error);                                           \
        }                                                                                          \
        return out;                                                                                \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, to_type, struct weir_view, name)

DEFINE_TO(to_i16, int16_t, weir_numeric_to_int16)
DEFINE_TO(to_i32, int32_t, weir_numeric_to_int32)
DEFINE_TO(to_i64, int64_t, weir_numeric_to_int64)
DEFINE_TO(to_f32, float, weir_numeric_to_float)
DEFINE_TO(to_f64, double, weir_numeric_to_double)
WEIR_KERNEL_1(kernel_to_bool, uint8_t, struct weir_view, to_bool)
WEIR_KERNEL_1(kernel_to_numeric, struct weir_numeric, struct weir_view, to_numeric)

#define CAST(to, the_kernel)                                                                       \
    WEIR_CAST_ROW(WEIR_ARG_JSONB, WEIR_ARG_##to, WEIR_CAST_EXPLICIT, the_kernel, 0)

static const struct weir_cast CASTS[] = {
    CAST(BOOLEAN, kernel_to_bool),    CAST(SMALLINT, kernel_to_i16), CAST(INTEGER, kernel_to_i32),
    CAST(BIGINT, kernel_to_i64),      CAST(REAL, kernel_to_f32),     CAST(DOUBLE, kernel_to_f64),
    CAST(NUMERIC, kernel_to_numeric),
};

const struct weir_cast_table weir_casts_json = {.casts = CASTS,
                                                .count = sizeof CASTS / sizeof CASTS[0]};

// --- table -----------------------------------------------------------------------------------

#define FUNCTION(the_name, type, the_kernel, ...)                                                  \
    WEIR_FUNCTION_ROW(the_name, WEIR_ARG_##type, the_kernel, NULL, 0, __VA_ARGS__)
#define JSONB WEIR_ARG_JSONB
#define JSON WEIR_ARG_JSON
#define TEXT WEIR_ARG_TEXT
#define INT WEIR_ARG_INTEGER

static const struct weir_function FUNCTIONS[] = {
    FUNCTION("->", JSONB, kernel_member, JSONB, TEXT),
    FUNCTION("->", JSONB, kernel_element, JSONB, INT),
    FUNCTION("->>", TEXT, kernel_member_text, JSONB, TEXT),
    FUNCTION("->>", TEXT, kernel_element_text, JSONB, INT),
    FUNCTION("->", JSON, NULL, JSON, TEXT),
    FUNCTION("->", JSON, NULL, JSON, INT),
    FUNCTION("->>", TEXT, NULL, JSON, TEXT),
    FUNCTION("->>", TEXT, NULL, JSON, INT),
    FUNCTION("#>", JSON, NULL, JSON, WEIR_ARG_TEXT_ARRAY),
    FUNCTION("#>>", TEXT, NULL, JSON, WEIR_ARG_TEXT_ARRAY),
    FUNCTION("#>", JSONB, NULL, JSONB, WEIR_ARG_TEXT_ARRAY),
    FUNCTION("#>>", TEXT, NULL, JSONB, WEIR_ARG_TEXT_ARRAY),
    FUNCTION("?", BOOLEAN, NULL, JSONB, TEXT),
    FUNCTION("@>", BOOLEAN, NULL, JSONB, JSONB),
    FUNCTION("<@", BOOLEAN, NULL, JSONB, JSONB),
    FUNCTION("-", JSONB, NULL, JSONB, INT),
    FUNCTION("-", JSONB, NULL, JSONB, TEXT),
    FUNCTION("-", JSONB, NULL, JSONB, WEIR_ARG_TEXT_ARRAY),
    FUNCTION("jsonb_typeof", TEXT, kernel_type_of, JSONB),
};

const struct weir_function_table weir_functions_json = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
