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

// --- calls -----------------------------------------------------------------------------------

void weir_eval_call_function(const struct weir_function *function, const struct weir_type *type,
                             struct weir_eval *eval, uint32_t arg_count,
                             const struct weir_vector *args, struct weir_selection selection,
                             struct weir_vector *out)
{
    if (type->kind == WEIR_TYPE_COMPOSITE) {
        weir_eval_start_null(eval, type, out); // for the bitmaps of its fields
        memset(out->column.validity, 0xff, weir_eval_validity_words(eval) * sizeof(uint64_t));
    } else {
        weir_eval_start(eval, type, out);
    }
    if ((function->flags & WEIR_FUNCTION_TAKES_NULL) == 0) {
        out->column.validity = weir_eval_combine_validity(eval, arg_count, args);
        if (out->column.validity != NULL && (function->flags & WEIR_FUNCTION_TOTAL) == 0) {
            selection = weir_eval_select_bits(eval, out->column.validity, selection);
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

void weir_eval_call(const struct weir_expr *expr, struct weir_eval *eval,
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
            weir_eval_vector(expr->args[i], eval, selection, &args[i]);
        }
    }
    eval->is_assignment = expr->is_assignment;
    weir_eval_call_function(expr->function, &expr->type, eval, expr->arg_count, args, selection,
                            out);
    eval->is_assignment = false;
}

// --- nodes -----------------------------------------------------------------------------------

void weir_eval_vector(const struct weir_expr *expr, struct weir_eval *eval,
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
        weir_eval_vector(expr->args[0], eval, selection, out);
        out->column = out->column.children[expr->field_idx];
        return;
    case WEIR_EXPR_CALL:
        weir_eval_call(expr, eval, NULL, selection, out);
        return;
    case WEIR_EXPR_RELABEL:
        weir_eval_vector(expr->args[0], eval, selection, out);
        out->column.type = expr->type;
        return;
    case WEIR_EXPR_AND:
    case WEIR_EXPR_OR:
        weir_eval_and_or(expr, eval, selection, out);
        return;
    case WEIR_EXPR_NOT:
        weir_eval_not(expr, eval, selection, out);
        return;
    case WEIR_EXPR_TEST:
        weir_eval_test(expr, eval, selection, out);
        return;
    case WEIR_EXPR_DISTINCT:
        weir_eval_distinct(expr, eval, selection, out);
        return;
    case WEIR_EXPR_CASE:
        weir_eval_case(expr, eval, selection, out);
        return;
    case WEIR_EXPR_COALESCE:
        weir_eval_coalesce(expr, eval, selection, out);
        return;
    case WEIR_EXPR_GREATEST:
    case WEIR_EXPR_LEAST:
        weir_eval_greatest(expr, eval, selection, out);
        return;
    case WEIR_EXPR_IN:
        weir_eval_in(expr, eval, selection, out);
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
    weir_eval_vector(expr, eval, selection, &vector);
    if (!weir_vector_is_constant(&vector)) {
        *out = vector.column;
        return;
    }
    struct weir_vector column;
    weir_eval_start_null(eval, &expr->type, &column);
    weir_eval_copy_rows(&column.column, &vector, selection);
    *out = column.column;
}
