// SPDX-License-Identifier: Apache-2.0
// Arrays: order, subscripts, ANY and ALL, lengths, ARRAY[…], array_position, array_to_string, ||.
// Element types are checked while the job is planned (build_array.c). Each row's array is opened in
// the batch's arena. Thread: the task's.
#include "operators/function.h"

#include "runtime/types/array.h"
#include "runtime/types/compare.h"
#include "runtime/types/row_codec.h"
#include "runtime/types/text_io.h"

static struct weir_view array_at(const struct weir_kernel *kernel, uint32_t arg, uint32_t row)
{
    const struct weir_vector *vector = &kernel->args[arg];
    return vector->column.view[row & vector->row_mask];
}

static int32_t integer_at(const struct weir_kernel *kernel, uint32_t arg, uint32_t row)
{
    const struct weir_vector *vector = &kernel->args[arg];
    return vector->column.i32[row & vector->row_mask];
}

static void open_at(const struct weir_kernel *kernel, uint32_t arg, uint32_t row,
                    struct weir_array *array)
{
    weir_array_open(array_at(kernel, arg, row), &kernel->args[arg].column.type, kernel->arena,
                    array);
}

// --- order -----------------------------------------------------------------------------------

#define DEFINE_ORDER(verb, condition)                                                              \
    static inline uint8_t verb(struct weir_kernel *kernel, uint32_t row, struct weir_view a,       \
                               struct weir_view b)                                                 \
    {                                                                                              \
        (void)row;                                                                                 \
        int order = weir_array_compare(a, b, &kernel->args[0].column.type);                        \
        return condition;                                                                          \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_##verb, uint8_t, struct weir_view, struct weir_view, verb)

DEFINE_ORDER(equal, order == 0)
DEFINE_ORDER(unequal, order != 0)
DEFINE_ORDER(less, order < 0)
DEFINE_ORDER(less_equal, order <= 0)
DEFINE_ORDER(greater, order > 0)
DEFINE_ORDER(greater_equal, order >= 0)

// --- subscripts ------------------------------------------------------------------------------

// Row 0 of a column of any type into a row of the result.
static void copy_cell(const struct weir_column *from, struct weir_column *to, uint32_t row)
{
    if (to->type.kind != WEIR_TYPE_COMPOSITE) {
        size_t bytes = weir_layout_bytes(weir_type_layout(to->type.kind));
        memcpy((char *)to->data + row * bytes, from->data, bytes);
        return;
    }
    for (uint32_t i = 0; i < to->type.composite->field_count; i++) {
        if (weir_column_is_valid(&from->children[i], 0)) {
            weir_bitmap_set(to->children[i].validity, row);
            copy_cell(&from->children[i], &to->children[i], row);
        } else {
            weir_bitmap_clear(to->children[i].validity, row);
        }
    }
}

// The element that the subscripts name; false: there is none.
static bool find_element(const struct weir_kernel *kernel, uint32_t row,
                         const struct weir_array *array, uint32_t *idx)
{
    *idx = 0;
    if (array->dimension_count != kernel->arg_count - 1) {
        return false;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        int64_t at = (int64_t)integer_at(kernel, i + 1, row) - array->lower_bounds[i];
        if (at < 0 || at >= array->lengths[i]) {
            return false;
        }
        *idx = *idx * array->lengths[i] + (uint32_t)at;
    }
    return true;
}

static void kernel_subscript(struct weir_kernel *kernel)
{
    struct weir_column element;
    weir_column_init(&element, kernel->type, 1, true, kernel->arena);
    WEIR_KERNEL_EACH(kernel, row, {
        struct weir_view value = array_at(kernel, 0, row);
        struct weir_array array;
        uint32_t idx;
        weir_array_read_header(value, &array);
        bool is_there = find_element(kernel, row, &array, &idx);
        if (is_there) {
            weir_array_element(value, idx, &element, kernel->arena);
        }
        if (is_there && weir_column_is_valid(&element, 0)) {
            copy_cell(&element, kernel->out, row);
        } else {
            weir_kernel_set_null(kernel, row);
        }
    });
}

// --- ANY, ALL --------------------------------------------------------------------------------

enum comparison { EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

static bool holds(enum comparison comparison, int order)
{
    switch (comparison) {
    case EQUAL:
        return order == 0;
    case UNEQUAL:
        return order != 0;
    case LESS:
        return order < 0;
    case LESS_EQUAL:
        return order <= 0;
    case GREATER:
        return order > 0;
    case GREATER_EQUAL:
        return order >= 0;
    }
    return false;
}

// args: the value, the array. ANY is true once one holds, ALL false once one does not; else NULL if
// one is not known.
static void compare_row(struct weir_kernel *kernel, uint32_t row, enum comparison comparison,
                        bool is_all)
{
    const struct weir_vector *value = &kernel->args[0];
    struct weir_array array;
    if (!weir_vector_is_valid(&kernel->args[1], row)) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    open_at(kernel, 1, row, &array);
    kernel->out->u8[row] = is_all;
    bool is_unknown = array.element_count != 0 && !weir_vector_is_valid(value, row);
    weir_compare_fn compare = weir_compare_function(value->column.type.kind);
    for (uint32_t i = 0; !is_unknown && i < array.element_count; i++) {
        if (!weir_column_is_valid(&array.elements, i)) {
            continue;
        }
        int order = compare(&value->column, row & value->row_mask, &array.elements, i);
        if (holds(comparison, order) != is_all) {
            kernel->out->u8[row] = !is_all;
            return;
        }
    }
    for (uint32_t i = 0; !is_unknown && i < array.element_count; i++) {
        is_unknown = !weir_column_is_valid(&array.elements, i);
    }
    if (is_unknown) {
        weir_kernel_set_null(kernel, row);
    }
}

#define DEFINE_QUANTIFIED(verb, comparison)                                                        \
    static void kernel_any_##verb(struct weir_kernel *kernel)                                      \
    {                                                                                              \
        WEIR_KERNEL_EACH(kernel, row, compare_row(kernel, row, comparison, false));                \
    }                                                                                              \
    static void kernel_all_##verb(struct weir_kernel *kernel)                                      \
    {                                                                                              \
        WEIR_KERNEL_EACH(kernel, row, compare_row(kernel, row, comparison, true));                 \
    }

DEFINE_QUANTIFIED(equal, EQUAL)
DEFINE_QUANTIFIED(unequal, UNEQUAL)
DEFINE_QUANTIFIED(less, LESS)
DEFINE_QUANTIFIED(less_equal, LESS_EQUAL)
DEFINE_QUANTIFIED(greater, GREATER)
DEFINE_QUANTIFIED(greater_equal, GREATER_EQUAL)

// --- shapes ----------------------------------------------------------------------------------

static void shape_row(struct weir_kernel *kernel, uint32_t row, bool wants_upper, bool wants_lower)
{
    struct weir_array array;
    int32_t dimension = integer_at(kernel, 1, row);
    weir_array_read_header(array_at(kernel, 0, row), &array);
    if (dimension < 1 || (uint32_t)dimension > array.dimension_count) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    int32_t lower = array.lower_bounds[dimension - 1];
    int32_t length = (int32_t)array.lengths[dimension - 1];
    kernel->out->i32[row] = wants_lower ? lower : wants_upper ? lower + length - 1 : length;
}

static void kernel_length(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, shape_row(kernel, row, false, false));
}

static void kernel_upper(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, shape_row(kernel, row, true, false));
}

static void kernel_lower(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, shape_row(kernel, row, false, true));
}

static void dimensions_row(struct weir_kernel *kernel, uint32_t row)
{
    struct weir_array array;
    weir_array_read_header(array_at(kernel, 0, row), &array);
    kernel->out->i32[row] = (int32_t)array.dimension_count;
    if (array.dimension_count == 0) {
        weir_kernel_set_null(kernel, row);
    }
}

static void kernel_dimensions(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, dimensions_row(kernel, row));
}

static inline int32_t cardinality(struct weir_kernel *kernel, uint32_t row, struct weir_view value)
{
    struct weir_array array;
    (void)kernel;
    (void)row;
    weir_array_read_header(value, &array);
    return (int32_t)array.element_count;
}

WEIR_KERNEL_1(kernel_cardinality, int32_t, struct weir_view, cardinality)

// --- making ----------------------------------------------------------------------------------

static struct weir_view keep(struct weir_kernel *kernel, const struct weir_array *shape,
                             const struct weir_buffer *elements)
{
    struct weir_buffer *scratch = weir_kernel_scratch(kernel);
    weir_array_append_header(scratch, shape);
    weir_buffer_append(scratch, elements->data, elements->size_bytes);
    return weir_kernel_scratch_text(kernel);
}

// ARRAY[a, b, …] of elements.
static void make_row(struct weir_kernel *kernel, uint32_t row, struct weir_buffer *elements)
{
    struct weir_array shape = {.dimension_count = 1,
                               .lengths = {kernel->arg_count},
                               .lower_bounds = {1},
                               .element_count = kernel->arg_count};
    elements->size_bytes = 0;
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct weir_vector *arg = &kernel->args[i];
        weir_row_encode(&arg->column, 1, row & arg->row_mask, elements);
    }
    kernel->out->view[row] = keep(kernel, &shape, elements);
}

static void kernel_make(struct weir_kernel *kernel)
{
    struct weir_buffer elements = {0};
    WEIR_KERNEL_EACH(kernel, row, make_row(kernel, row, &elements));
    weir_buffer_deinit(&elements);
}

static void append_elements(struct weir_buffer *elements, struct weir_view value,
                            struct weir_array *shape)
{
    const char *at = weir_array_read_header(value, shape);
    weir_buffer_append(elements, at, value.size_bytes - (size_t)(at - value.data));
}

// ARRAY[a, b, …] of arrays: one dimension more.
static void stack_row(struct weir_kernel *kernel, uint32_t row, struct weir_buffer *elements)
{
    struct weir_array first = {0};
    elements->size_bytes = 0;
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        struct weir_array shape;
        if (!weir_vector_is_valid(&kernel->args[i], row)) {
            weir_kernel_fail(kernel, row, "multidimensional arrays must not hold NULL arrays");
            return;
        }
        append_elements(elements, array_at(kernel, i, row), &shape);
        if (i == 0) {
            first = shape;
        }
        if (shape.dimension_count != first.dimension_count ||
            memcmp(shape.lengths, first.lengths, shape.dimension_count * sizeof(uint32_t)) != 0) {
            weir_kernel_fail(kernel, row,
                             "multidimensional arrays must have array expressions with matching "
                             "dimensions");
            return;
        }
    }
    if (first.dimension_count == WEIR_ARRAY_DIMENSIONS_MAX) {
        weir_kernel_fail(kernel, row, "number of array dimensions exceeds the maximum allowed (6)");
        return;
    }
    struct weir_array shape = {0};
    if (first.dimension_count != 0) {
        shape.dimension_count = first.dimension_count + 1;
        shape.lengths[0] = kernel->arg_count;
        shape.lower_bounds[0] = 1;
        for (uint32_t i = 0; i < first.dimension_count; i++) {
            shape.lengths[i + 1] = first.lengths[i];
            shape.lower_bounds[i + 1] = first.lower_bounds[i];
        }
    }
    kernel->out->view[row] = keep(kernel, &shape, elements);
}

static void kernel_stack(struct weir_kernel *kernel)
{
    struct weir_buffer elements = {0};
    WEIR_KERNEL_EACH(kernel, row, stack_row(kernel, row, &elements));
    weir_buffer_deinit(&elements);
}

// a || b of arrays: along the first dimension, or one as an element of the other.
static bool shape_of_both(const struct weir_array *a, const struct weir_array *b,
                          struct weir_array *out)
{
    const struct weir_array *deep = b->dimension_count > a->dimension_count ? b : a;
    const struct weir_array *flat = deep == a ? b : a;
    uint32_t below = deep->dimension_count - flat->dimension_count;
    bool is_same = below <= 1;
    *out = *deep;
    // The dimensions under the first one have to be the same.
    for (uint32_t i = 1; is_same && i < deep->dimension_count; i++) {
        is_same = deep->lengths[i] == flat->lengths[i - below];
    }
    out->lengths[0] += below == 0 ? flat->lengths[0] : 1;
    return is_same;
}

static void concatenate_row(struct weir_kernel *kernel, uint32_t row, struct weir_buffer *elements)
{
    struct weir_array a = {0};
    struct weir_array b = {0};
    struct weir_array shape;
    bool has_a = weir_vector_is_valid(&kernel->args[0], row);
    bool has_b = weir_vector_is_valid(&kernel->args[1], row);
    if (!has_a && !has_b) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    elements->size_bytes = 0;
    if (has_a) {
        append_elements(elements, array_at(kernel, 0, row), &a);
    }
    if (has_b) {
        append_elements(elements, array_at(kernel, 1, row), &b);
    }
    if (a.dimension_count == 0 || b.dimension_count == 0) {
        kernel->out->view[row] = keep(kernel, a.dimension_count == 0 ? &b : &a, elements);
    } else if (shape_of_both(&a, &b, &shape)) {
        kernel->out->view[row] = keep(kernel, &shape, elements);
    } else {
        weir_kernel_fail(kernel, row, "cannot concatenate incompatible arrays");
    }
}

static void kernel_concatenate(struct weir_kernel *kernel)
{
    struct weir_buffer elements = {0};
    WEIR_KERNEL_EACH(kernel, row, concatenate_row(kernel, row, &elements));
    weir_buffer_deinit(&elements);
}

static void add_row(struct weir_kernel *kernel, uint32_t row, struct weir_buffer *elements,
                    bool is_prepended)
{
    uint32_t array_arg = is_prepended;
    const struct weir_vector *added = &kernel->args[!is_prepended];
    struct weir_array shape = {0};
    elements->size_bytes = 0;
    if (is_prepended) {
        weir_row_encode(&added->column, 1, row & added->row_mask, elements);
    }
    if (weir_vector_is_valid(&kernel->args[array_arg], row)) {
        append_elements(elements, array_at(kernel, array_arg, row), &shape);
    }
    if (!is_prepended) {
        weir_row_encode(&added->column, 1, row & added->row_mask, elements);
    }
    if (shape.dimension_count > 1) {
        weir_kernel_fail(kernel, row, "argument must be empty or one-dimensional array");
        return;
    }
    if (shape.dimension_count == 0) {
        shape.dimension_count = 1;
        shape.lengths[0] = 0;
        shape.lower_bounds[0] = 1;
    }
    shape.lengths[0]++;
    kernel->out->view[row] = keep(kernel, &shape, elements);
}

static void kernel_append(struct weir_kernel *kernel)
{
    struct weir_buffer elements = {0};
    WEIR_KERNEL_EACH(kernel, row, add_row(kernel, row, &elements, false));
    weir_buffer_deinit(&elements);
}

static void kernel_prepend(struct weir_kernel *kernel)
{
    struct weir_buffer elements = {0};
    WEIR_KERNEL_EACH(kernel, row, add_row(kernel, row, &elements, true));
    weir_buffer_deinit(&elements);
}

// Element by element by way of text: for element types whose cast that is.
static void recast_row(struct weir_kernel *kernel, uint32_t row, struct weir_buffer *elements,
                       struct weir_column *to)
{
    struct weir_array array;
    struct weir_buffer text = {0};
    struct weir_value_error error;
    bool is_good = true;
    open_at(kernel, 0, row, &array);
    elements->size_bytes = 0;
    for (uint32_t i = 0; is_good && i < array.element_count; i++) {
        weir_bitmap_clear(to->validity, 0);
        if (weir_column_is_valid(&array.elements, i)) {
            text.size_bytes = 0;
            weir_text_append(&text, &array.elements, i);
            struct weir_view view = {.data = text.data, .size_bytes = text.size_bytes};
            is_good =
                weir_text_parse(to, 0, weir_arena_copy(kernel->arena, view), kernel->arena, &error);
        }
        weir_row_encode(to, 1, 0, elements);
    }
    weir_buffer_deinit(&text);
    if (is_good) {
        kernel->out->view[row] = keep(kernel, &array, elements);
    } else {
        weir_kernel_fail_value(kernel, row, &error);
    }
}

static void kernel_recast(struct weir_kernel *kernel)
{
    struct weir_buffer elements = {0};
    struct weir_column to;
    weir_column_init(&to, weir_type_element(kernel->type), 1, true, kernel->arena);
    WEIR_KERNEL_EACH(kernel, row, recast_row(kernel, row, &elements, &to));
    weir_buffer_deinit(&elements);
}

// --- looking ---------------------------------------------------------------------------------

static void position_row(struct weir_kernel *kernel, uint32_t row)
{
    const struct weir_vector *value = &kernel->args[1];
    struct weir_array array;
    if (!weir_vector_is_valid(&kernel->args[0], row)) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    open_at(kernel, 0, row, &array);
    if (array.dimension_count > 1) {
        weir_kernel_fail(kernel, row,
                         "searching for elements in multidimensional arrays is not supported");
        return;
    }
    for (uint32_t i = 0; i < array.element_count; i++) {
        struct weir_column one = value->column;
        if (weir_compare_values(&array.elements, i, &one, row & value->row_mask) == 0) {
            kernel->out->i32[row] = array.lower_bounds[0] + (int32_t)i;
            return;
        }
    }
    weir_kernel_set_null(kernel, row);
}

static void kernel_position(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, position_row(kernel, row));
}

// array_to_string(array, delimiter [, what stands for NULL])
static void join_row(struct weir_kernel *kernel, uint32_t row)
{
    struct weir_array array;
    struct weir_buffer *out;
    bool has_null_text = kernel->arg_count > 2 && weir_vector_is_valid(&kernel->args[2], row);
    if (!weir_vector_is_valid(&kernel->args[0], row) ||
        !weir_vector_is_valid(&kernel->args[1], row)) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    struct weir_view delimiter = array_at(kernel, 1, row);
    open_at(kernel, 0, row, &array);
    out = weir_kernel_scratch(kernel);
    bool is_first = true;
    for (uint32_t i = 0; i < array.element_count; i++) {
        bool is_valid = weir_column_is_valid(&array.elements, i);
        if (!is_valid && !has_null_text) {
            continue;
        }
        if (!is_first) {
            weir_buffer_append(out, delimiter.data, delimiter.size_bytes);
        }
        is_first = false;
        if (is_valid) {
            weir_text_append(out, &array.elements, i);
        } else {
            struct weir_view null_text = array_at(kernel, 2, row);
            weir_buffer_append(out, null_text.data, null_text.size_bytes);
        }
    }
    kernel->out->view[row] = weir_kernel_scratch_text(kernel);
}

static void kernel_join(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, join_row(kernel, row));
}

// --- tables ----------------------------------------------------------------------------------

#define FUNCTION(the_name, type, the_kernel, the_flags, ...)                                       \
    WEIR_FUNCTION_ROW(the_name, WEIR_ARG_##type, the_kernel, NULL, the_flags, __VA_ARGS__)
#define ARRAY WEIR_ARG_ARRAY
#define ELEMENT WEIR_ARG_ANYELEMENT
#define INT WEIR_ARG_INTEGER
#define TEXT WEIR_ARG_TEXT
#define TAKES_NULL WEIR_FUNCTION_TAKES_NULL
#define VARIADIC WEIR_FUNCTION_VARIADIC

static const struct weir_function FUNCTIONS[] = {
    FUNCTION("=", BOOLEAN, kernel_equal, 0, ARRAY, ARRAY),
    FUNCTION("<>", BOOLEAN, kernel_unequal, 0, ARRAY, ARRAY),
    FUNCTION("<", BOOLEAN, kernel_less, 0, ARRAY, ARRAY),
    FUNCTION("<=", BOOLEAN, kernel_less_equal, 0, ARRAY, ARRAY),
    FUNCTION(">", BOOLEAN, kernel_greater, 0, ARRAY, ARRAY),
    FUNCTION(">=", BOOLEAN, kernel_greater_equal, 0, ARRAY, ARRAY),
    FUNCTION("||", ARRAY, kernel_concatenate, TAKES_NULL, ARRAY, ARRAY),
    FUNCTION("||", ARRAY, kernel_append, TAKES_NULL, ARRAY, ELEMENT),
    FUNCTION("||", ARRAY, kernel_prepend, TAKES_NULL, ELEMENT, ARRAY),
    FUNCTION("array_cat", ARRAY, kernel_concatenate, TAKES_NULL, ARRAY, ARRAY),
    FUNCTION("array_append", ARRAY, kernel_append, TAKES_NULL, ARRAY, ELEMENT),
    FUNCTION("array_prepend", ARRAY, kernel_prepend, TAKES_NULL, ELEMENT, ARRAY),
    FUNCTION("array_length", INTEGER, kernel_length, 0, ARRAY, INT),
    FUNCTION("array_upper", INTEGER, kernel_upper, 0, ARRAY, INT),
    FUNCTION("array_lower", INTEGER, kernel_lower, 0, ARRAY, INT),
    FUNCTION("array_ndims", INTEGER, kernel_dimensions, 0, ARRAY),
    FUNCTION("cardinality", INTEGER, kernel_cardinality, 0, ARRAY),
    FUNCTION("array_position", INTEGER, kernel_position, TAKES_NULL, ARRAY, ELEMENT),
    FUNCTION("array_to_string", TEXT, kernel_join, TAKES_NULL, ARRAY, TEXT),
    FUNCTION("array_to_string", TEXT, kernel_join, TAKES_NULL, ARRAY, TEXT, TEXT),
};

const struct weir_function_table weir_functions_array = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};

// What has a grammar of its own: built by build_array.c, not found by name.
const struct weir_function weir_array_subscript_function =
    FUNCTION("[]", ANYELEMENT, kernel_subscript, VARIADIC, ARRAY, INT);
const struct weir_function weir_array_make_function =
    FUNCTION("array", ARRAY, kernel_make, VARIADIC | TAKES_NULL, ELEMENT);
const struct weir_function weir_array_stack_function =
    FUNCTION("array", ARRAY, kernel_stack, VARIADIC | TAKES_NULL, ARRAY);
const struct weir_function weir_array_recast_function =
    FUNCTION("cast", ARRAY, kernel_recast, WEIR_FUNCTION_CAST, ARRAY);

#define QUANTIFIED(symbol, verb)                                                                   \
    FUNCTION(symbol " any", BOOLEAN, kernel_any_##verb, TAKES_NULL, ELEMENT, ARRAY),               \
        FUNCTION(symbol " all", BOOLEAN, kernel_all_##verb, TAKES_NULL, ELEMENT, ARRAY)

const struct weir_function weir_array_quantified_functions[] = {
    QUANTIFIED("=", equal),       QUANTIFIED("<>", unequal), QUANTIFIED("<", less),
    QUANTIFIED("<=", less_equal), QUANTIFIED(">", greater),  QUANTIFIED(">=", greater_equal),
};
const uint32_t weir_array_quantified_count =
    sizeof weir_array_quantified_functions / sizeof weir_array_quantified_functions[0];
