// SPDX-License-Identifier: Apache-2.0
// Evaluation of expression trees over a batch. Each node is computed for all rows asked for before
// its parent; CASE, COALESCE, AND, OR and IN ask their later arguments only for the rows that the
// earlier ones left open, so that an error in what is not reached is none.
//
// Place: operators (filter, project, derive) call it once a batch and expression.
// Thread: the task's. Allocates from the batch's arena only.
//
// Invariants
//   1. Vectors are indexed by row; what is at rows that were not asked for is undefined.
//   2. A row that failed has no value in any vector above, and is in the error list once, with the
//      message of what failed first in PostgreSQL's order of evaluation.
//   3. Columns of the input, and constants, are never written to and never copied.
#include "operators/eval.h"

#include "operators/node.h"

static void eval_vector(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out);

struct weir_eval *weir_eval_create(void)
{
    return weir_alloc_zero(sizeof(struct weir_eval));
}

void weir_eval_destroy(struct weir_eval *eval)
{
    if (eval != NULL) {
        weir_buffer_deinit(&eval->scratch);
        free(eval);
    }
}

void weir_eval_set_now(struct weir_eval *eval, int64_t now_us)
{
    eval->now_us = now_us;
}

void weir_eval_begin(struct weir_eval *eval, const struct weir_batch *batch)
{
    WEIR_ASSERT(batch->row_count <= WEIR_BATCH_ROWS_MAX);
    eval->batch = batch;
    eval->arena = batch->arena;
    eval->text = NULL;
    eval->text_end = NULL;
    if (eval->error_count != 0) {
        memset(eval->failed, 0, sizeof eval->failed);
        eval->error_count = 0;
    }
}

uint32_t weir_eval_error_count(const struct weir_eval *eval)
{
    return eval->error_count;
}

const struct weir_eval_error *weir_eval_errors(const struct weir_eval *eval)
{
    return eval->errors;
}

// --- selections ------------------------------------------------------------------------------

static uint32_t selection_row(struct weir_selection selection, uint32_t i)
{
    return selection.rows != NULL ? selection.rows[i] : i;
}

static uint16_t *alloc_rows(struct weir_eval *eval, uint32_t count)
{
    return weir_arena_alloc(eval->arena, count * sizeof(uint16_t));
}

// The rows of the selection whose bit is set.
static struct weir_selection select_bits(struct weir_eval *eval, const uint64_t *bits,
                                         struct weir_selection selection)
{
    uint16_t *rows = alloc_rows(eval, selection.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        rows[count] = (uint16_t)row;
        count += weir_bitmap_get(bits, row);
    }
    return (struct weir_selection){.rows = rows, .count = count};
}

// Splits a selection by a boolean vector: rows that are `value`, and the rest (NULLs included).
static void split(struct weir_eval *eval, const struct weir_vector *vector, uint8_t value,
                  struct weir_selection selection, struct weir_selection *equal,
                  struct weir_selection *rest)
{
    uint16_t *equal_rows = alloc_rows(eval, selection.count);
    uint16_t *rest_rows = alloc_rows(eval, selection.count);
    uint32_t equal_count = 0;
    uint32_t rest_count = 0;
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        bool is_equal = weir_vector_is_valid(vector, row) &
                        (vector->column.u8[row & vector->row_mask] == value);
        equal_rows[equal_count] = (uint16_t)row;
        rest_rows[rest_count] = (uint16_t)row;
        equal_count += is_equal;
        rest_count += !is_equal;
    }
    *equal = (struct weir_selection){.rows = equal_rows, .count = equal_count};
    *rest = (struct weir_selection){.rows = rest_rows, .count = rest_count};
}

// --- columns ---------------------------------------------------------------------------------

static uint32_t validity_words(const struct weir_eval *eval)
{
    return (eval->batch->row_count + 63) / 64;
}

// A column of the result type without bitmap (every row valid until set_null).
static void start_column(struct weir_eval *eval, const struct weir_type *type,
                         struct weir_vector *out)
{
    weir_column_init(&out->column, type, eval->batch->row_count, false, eval->arena);
    out->row_mask = UINT32_MAX;
}

// A column in which every row is NULL.
static void start_null_column(struct weir_eval *eval, const struct weir_type *type,
                              struct weir_vector *out)
{
    weir_column_init(&out->column, type, eval->batch->row_count, true, eval->arena);
    out->row_mask = UINT32_MAX;
}

#define COPY_EACH(type)                                                                            \
    do {                                                                                           \
        type *to = out->data;                                                                      \
        const type *from = in->column.data;                                                        \
        for (uint32_t i = 0; i < selection.count; i++) {                                           \
            uint32_t row = selection_row(selection, i);                                            \
            to[row] = from[row & in->row_mask];                                                    \
        }                                                                                          \
    } while (0)

// The rows of the selection from one column into another that has a bitmap.
static void copy_rows(struct weir_column *out, const struct weir_vector *in,
                      struct weir_selection selection)
{
    switch (weir_type_layout(out->type.kind)) {
    case WEIR_LAYOUT_U8:
        COPY_EACH(uint8_t);
        break;
    case WEIR_LAYOUT_I16:
        COPY_EACH(int16_t);
        break;
    case WEIR_LAYOUT_I32:
    case WEIR_LAYOUT_F32:
        COPY_EACH(uint32_t);
        break;
    case WEIR_LAYOUT_I64:
    case WEIR_LAYOUT_F64:
        COPY_EACH(uint64_t);
        break;
    case WEIR_LAYOUT_NUMERIC:
        COPY_EACH(struct weir_numeric);
        break;
    case WEIR_LAYOUT_VIEW:
        COPY_EACH(struct weir_view);
        break;
    case WEIR_LAYOUT_COMPOSITE:
        for (uint32_t i = 0; i < out->type.composite->field_count; i++) {
            struct weir_vector child = {.column = in->column.children[i],
                                        .row_mask = in->row_mask};
            copy_rows(&out->children[i], &child, selection);
        }
        break;
    }
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        if (weir_vector_is_valid(in, row)) {
            weir_bitmap_set(out->validity, row);
        } else {
            weir_bitmap_clear(out->validity, row);
        }
    }
}

// --- calls -----------------------------------------------------------------------------------

// The bitmap of rows in which every argument has a value; NULL: all. A constant NULL clears it.
static uint64_t *combine_validity(struct weir_eval *eval, uint32_t arg_count,
                                  const struct weir_vector *args)
{
    uint64_t *validity = NULL;
    uint32_t word_count = validity_words(eval);
    for (uint32_t i = 0; i < arg_count; i++) {
        if (args[i].column.validity == NULL) {
            continue;
        }
        bool is_constant = weir_vector_is_constant(&args[i]);
        if (is_constant && weir_vector_is_valid(&args[i], 0)) {
            continue;
        }
        if (validity == NULL) {
            validity = weir_arena_alloc(eval->arena, word_count * sizeof(uint64_t));
            memset(validity, 0xff, word_count * sizeof(uint64_t));
        }
        for (uint32_t word = 0; word < word_count; word++) {
            validity[word] &= is_constant ? 0 : args[i].column.validity[word];
        }
    }
    return validity;
}

static void call_function(const struct weir_function *function, const struct weir_type *type,
                          struct weir_eval *eval, uint32_t arg_count,
                          const struct weir_vector *args, struct weir_selection selection,
                          struct weir_vector *out)
{
    if (type->kind == WEIR_TYPE_COMPOSITE) {
        start_null_column(eval, type, out); // for the bitmaps of its fields
        memset(out->column.validity, 0xff, validity_words(eval) * sizeof(uint64_t));
    } else {
        start_column(eval, type, out);
    }
    if ((function->flags & WEIR_FUNCTION_TAKES_NULL) == 0) {
        out->column.validity = combine_validity(eval, arg_count, args);
        if (out->column.validity != NULL && (function->flags & WEIR_FUNCTION_TOTAL) == 0) {
            selection = select_bits(eval, out->column.validity, selection);
        }
    }
    if (selection.count == 0) {
        return;
    }
    struct weir_kernel kernel = {.eval = eval,
                                 .batch = eval->batch,
                                 .arena = eval->arena,
                                 .type = type,
                                 .arg_count = arg_count,
                                 .args = args,
                                 .out = &out->column,
                                 .rows = selection};
    function->kernel(&kernel);
}

// first: the value of args[0] if it is known already, else NULL.
static void eval_call(const struct weir_expr *expr, struct weir_eval *eval,
                      const struct weir_vector *first, struct weir_selection selection,
                      struct weir_vector *out)
{
    struct weir_vector few[WEIR_FUNCTION_ARGS_MAX];
    struct weir_vector *args = few;
    if (expr->arg_count > WEIR_FUNCTION_ARGS_MAX) {
        args = weir_arena_alloc(eval->arena, expr->arg_count * sizeof *args);
    }
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (i == 0 && first != NULL) {
            args[0] = *first;
        } else {
            eval_vector(expr->args[i], eval, selection, &args[i]);
        }
    }
    eval->is_assignment = expr->is_assignment;
    call_function(expr->function, &expr->type, eval, expr->arg_count, args, selection, out);
    eval->is_assignment = false;
}

// --- logic -----------------------------------------------------------------------------------

// AND, OR. `decisive` is the value that settles the row alone: false for AND, true for OR.
static void eval_and_or(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out)
{
    const uint8_t decisive = expr->kind == WEIR_EXPR_OR;
    struct weir_vector a;
    struct weir_vector b;
    eval_vector(expr->args[0], eval, selection, &a);
    struct weir_selection open = selection;
    if (!expr->args[1]->is_total) {
        struct weir_selection settled;
        split(eval, &a, decisive, selection, &settled, &open);
        if (open.count == 0) {
            *out = a;
            return;
        }
    }
    eval_vector(expr->args[1], eval, open, &b);
    start_column(eval, &expr->type, out);
    uint8_t *value = out->column.u8;
    if (a.column.validity == NULL && b.column.validity == NULL) {
        const uint8_t *a_value = a.column.u8;
        const uint8_t *b_value = b.column.u8;
        for (uint32_t i = 0; i < selection.count; i++) {
            uint32_t row = selection_row(selection, i);
            uint8_t left = a_value[row & a.row_mask];
            value[row] = left == decisive ? decisive : b_value[row & b.row_mask];
        }
        return;
    }
    out->column.validity =
        weir_arena_alloc_zero(eval->arena, validity_words(eval) * sizeof(uint64_t));
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        bool has_a = weir_vector_is_valid(&a, row);
        if (has_a && a.column.u8[row & a.row_mask] == decisive) {
            value[row] = decisive;
            weir_bitmap_set(out->column.validity, row);
            continue;
        }
        bool has_b = weir_vector_is_valid(&b, row);
        bool is_decided = has_b && b.column.u8[row & b.row_mask] == decisive;
        value[row] = is_decided ? decisive : !decisive;
        if (is_decided || (has_a && has_b)) {
            weir_bitmap_set(out->column.validity, row);
        }
    }
}

static void eval_not(const struct weir_expr *expr, struct weir_eval *eval,
                     struct weir_selection selection, struct weir_vector *out)
{
    struct weir_vector a;
    eval_vector(expr->args[0], eval, selection, &a);
    start_column(eval, &expr->type, out);
    out->column.validity = combine_validity(eval, 1, &a);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        out->column.u8[row] = !a.column.u8[row & a.row_mask];
    }
}

// IS NULL of a row type looks at its fields: PostgreSQL's rule for composites, one level deep.
static bool is_null(const struct weir_vector *a, uint32_t row)
{
    if (!weir_vector_is_valid(a, row) || a->column.type.kind != WEIR_TYPE_COMPOSITE) {
        return !weir_vector_is_valid(a, row);
    }
    for (uint32_t i = 0; i < a->column.type.composite->field_count; i++) {
        if (weir_column_is_valid(&a->column.children[i], row & a->row_mask)) {
            return false;
        }
    }
    return true;
}

static bool is_not_null(const struct weir_vector *a, uint32_t row)
{
    if (!weir_vector_is_valid(a, row) || a->column.type.kind != WEIR_TYPE_COMPOSITE) {
        return weir_vector_is_valid(a, row);
    }
    for (uint32_t i = 0; i < a->column.type.composite->field_count; i++) {
        if (!weir_column_is_valid(&a->column.children[i], row & a->row_mask)) {
            return false;
        }
    }
    return true;
}

static void eval_test(const struct weir_expr *expr, struct weir_eval *eval,
                      struct weir_selection selection, struct weir_vector *out)
{
    struct weir_vector a;
    eval_vector(expr->args[0], eval, selection, &a);
    start_column(eval, &expr->type, out);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        bool result = false;
        switch (expr->test) {
        case WEIR_TEST_IS_NULL:
            result = is_null(&a, row);
            break;
        case WEIR_TEST_IS_NOT_NULL:
            result = is_not_null(&a, row);
            break;
        case WEIR_TEST_IS_TRUE:
            result = weir_vector_is_valid(&a, row) && a.column.u8[row & a.row_mask] == 1;
            break;
        case WEIR_TEST_IS_NOT_TRUE:
            result = !weir_vector_is_valid(&a, row) || a.column.u8[row & a.row_mask] != 1;
            break;
        case WEIR_TEST_IS_FALSE:
            result = weir_vector_is_valid(&a, row) && a.column.u8[row & a.row_mask] == 0;
            break;
        case WEIR_TEST_IS_NOT_FALSE:
            result = !weir_vector_is_valid(&a, row) || a.column.u8[row & a.row_mask] != 0;
            break;
        }
        out->column.u8[row] = result;
    }
}

static void eval_distinct(const struct weir_expr *expr, struct weir_eval *eval,
                          struct weir_selection selection, struct weir_vector *out)
{
    struct weir_vector args[2];
    struct weir_vector equal;
    eval_vector(expr->args[0], eval, selection, &args[0]);
    eval_vector(expr->args[1], eval, selection, &args[1]);
    call_function(expr->function, &expr->type, eval, 2, args, selection, &equal);
    start_column(eval, &expr->type, out);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = selection_row(selection, i);
        bool has_a = weir_vector_is_valid(&args[0], row);
        bool has_b = weir_vector_is_valid(&args[1], row);
        out->column.u8[row] = has_a && has_b ? !equal.column.u8[row] : has_a != has_b;
    }
}

// --- choices ---------------------------------------------------------------------------------

static void eval_case(const struct weir_expr *expr, struct weir_eval *eval,
                      struct weir_selection selection, struct weir_vector *out)
{
    start_null_column(eval, &expr->type, out);
    struct weir_selection open = selection;
    struct weir_vector value;
    uint32_t i = 0;
    for (; i + 1 < expr->arg_count && open.count > 0; i += 2) {
        struct weir_vector condition;
        struct weir_selection taken;
        eval_vector(expr->args[i], eval, open, &condition);
        split(eval, &condition, 1, open, &taken, &open);
        if (taken.count > 0) {
            eval_vector(expr->args[i + 1], eval, taken, &value);
            copy_rows(&out->column, &value, taken);
        }
    }
    if (open.count > 0) {
        eval_vector(expr->args[expr->arg_count - 1], eval, open, &value);
        copy_rows(&out->column, &value, open);
    }
}

static void eval_coalesce(const struct weir_expr *expr, struct weir_eval *eval,
                          struct weir_selection selection, struct weir_vector *out)
{
    start_null_column(eval, &expr->type, out);
    struct weir_selection open = selection;
    for (uint32_t i = 0; i < expr->arg_count && open.count > 0; i++) {
        struct weir_vector value;
        eval_vector(expr->args[i], eval, open, &value);
        copy_rows(&out->column, &value, open);
        uint16_t *rows = alloc_rows(eval, open.count);
        uint32_t count = 0;
        for (uint32_t k = 0; k < open.count; k++) {
            uint32_t row = selection_row(open, k);
            rows[count] = (uint16_t)row;
            count += !weir_bitmap_get(out->column.validity, row);
        }
        open = (struct weir_selection){.rows = rows, .count = count};
    }
}

// expr->function says whether its first argument is to be preferred over its second.
static void eval_greatest(const struct weir_expr *expr, struct weir_eval *eval,
                          struct weir_selection selection, struct weir_vector *out)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    start_null_column(eval, &expr->type, out);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        struct weir_vector args[2];
        struct weir_vector is_better;
        eval_vector(expr->args[i], eval, selection, &args[0]);
        args[1] = *out;
        call_function(expr->function, &boolean, eval, 2, args, selection, &is_better);
        uint16_t *rows = alloc_rows(eval, selection.count);
        uint32_t count = 0;
        for (uint32_t k = 0; k < selection.count; k++) {
            uint32_t row = selection_row(selection, k);
            bool has_best = weir_bitmap_get(out->column.validity, row);
            bool is_taken = weir_vector_is_valid(&args[0], row) &&
                            (!has_best || is_better.column.u8[row] != 0);
            rows[count] = (uint16_t)row;
            count += is_taken;
        }
        copy_rows(&out->column, &args[0], (struct weir_selection){.rows = rows, .count = count});
    }
}

static void eval_in(const struct weir_expr *expr, struct weir_eval *eval,
                    struct weir_selection selection, struct weir_vector *out)
{
    start_null_column(eval, &expr->type, out);
    uint64_t *is_null_seen =
        weir_arena_alloc_zero(eval->arena, validity_words(eval) * sizeof(uint64_t));
    const struct weir_expr *first = NULL;
    struct weir_vector first_value;
    struct weir_selection open = selection;
    for (uint32_t i = 0; i < expr->arg_count && open.count > 0; i++) {
        const struct weir_expr *equal = expr->args[i];
        struct weir_vector value;
        if (equal->kind == WEIR_EXPR_CALL) {
            if (equal->args[0] != first) {
                first = equal->args[0];
                eval_vector(first, eval, open, &first_value);
            }
            eval_call(equal, eval, &first_value, open, &value);
        } else {
            eval_vector(equal, eval, open, &value);
        }
        struct weir_selection found;
        struct weir_selection rest;
        split(eval, &value, 1, open, &found, &rest);
        for (uint32_t k = 0; k < found.count; k++) {
            out->column.u8[found.rows[k]] = 1;
            weir_bitmap_set(out->column.validity, found.rows[k]);
        }
        for (uint32_t k = 0; k < rest.count; k++) {
            if (!weir_vector_is_valid(&value, rest.rows[k])) {
                weir_bitmap_set(is_null_seen, rest.rows[k]);
            }
        }
        open = rest;
    }
    for (uint32_t k = 0; k < open.count; k++) {
        uint32_t row = selection_row(open, k);
        out->column.u8[row] = 0;
        if (!weir_bitmap_get(is_null_seen, row)) {
            weir_bitmap_set(out->column.validity, row);
        }
    }
}

// --- nodes -----------------------------------------------------------------------------------

static void eval_vector(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out)
{
    switch (expr->kind) {
    case WEIR_EXPR_COLUMN:
        out->column = eval->batch->columns[expr->column_idx];
        out->row_mask = UINT32_MAX;
        return;
    case WEIR_EXPR_CONSTANT:
        out->column = expr->constant;
        out->row_mask = 0;
        return;
    case WEIR_EXPR_FIELD:
        eval_vector(expr->args[0], eval, selection, out);
        out->column = out->column.children[expr->field_idx];
        return;
    case WEIR_EXPR_CALL:
        eval_call(expr, eval, NULL, selection, out);
        return;
    case WEIR_EXPR_RELABEL:
        eval_vector(expr->args[0], eval, selection, out);
        out->column.type = expr->type;
        return;
    case WEIR_EXPR_AND:
    case WEIR_EXPR_OR:
        eval_and_or(expr, eval, selection, out);
        return;
    case WEIR_EXPR_NOT:
        eval_not(expr, eval, selection, out);
        return;
    case WEIR_EXPR_TEST:
        eval_test(expr, eval, selection, out);
        return;
    case WEIR_EXPR_DISTINCT:
        eval_distinct(expr, eval, selection, out);
        return;
    case WEIR_EXPR_CASE:
        eval_case(expr, eval, selection, out);
        return;
    case WEIR_EXPR_COALESCE:
        eval_coalesce(expr, eval, selection, out);
        return;
    case WEIR_EXPR_GREATEST:
    case WEIR_EXPR_LEAST:
        eval_greatest(expr, eval, selection, out);
        return;
    case WEIR_EXPR_IN:
        eval_in(expr, eval, selection, out);
        return;
    }
    WEIR_ASSERT(false); // every kind has returned
}

void weir_expr_eval(const struct weir_expr *expr, struct weir_eval *eval,
                    const struct weir_batch *batch, struct weir_selection selection,
                    struct weir_column *out)
{
    WEIR_ASSERT(eval->batch == batch);
    WEIR_ASSERT(!expr->is_unknown);
    struct weir_vector vector;
    eval_vector(expr, eval, selection, &vector);
    if (!weir_vector_is_constant(&vector)) {
        *out = vector.column;
        return;
    }
    struct weir_vector column;
    start_null_column(eval, &expr->type, &column);
    copy_rows(&column.column, &vector, selection);
    *out = column.column;
}
