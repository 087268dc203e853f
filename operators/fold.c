// SPDX-License-Identifier: Apache-2.0
// Simplification of a node whose arguments are simplified already, as PostgreSQL's planner does it:
// constants are computed, NULLs go through strict functions, branches that cannot be reached go
// away. What fails stays as it is and fails for the rows that reach it: 1 / 0 in a branch of CASE
// that is never taken must not stop a job (PostgreSQL refuses some of these).
// Thread: any; called while a job is planned.
#include "operators/node.h"

static bool is_constant(const struct weir_expr *expr)
{
    return expr->kind == WEIR_EXPR_CONSTANT;
}

static bool is_boolean_constant(const struct weir_expr *expr, bool value)
{
    return is_constant(expr) && weir_column_is_valid(&expr->constant, 0) &&
           expr->constant.u8[0] == value;
}

static bool are_args_constant(const struct weir_expr *expr)
{
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (!is_constant(expr->args[i])) {
            return false;
        }
    }
    return true;
}

static void copy_constant(struct weir_column *column, struct weir_arena *arena)
{
    if (!weir_column_is_valid(column, 0)) {
        return;
    }
    switch (weir_type_layout(column->type.kind)) {
    case WEIR_LAYOUT_NUMERIC:
        column->numeric[0] = weir_numeric_copy(column->numeric[0], arena);
        break;
    case WEIR_LAYOUT_VIEW:
        column->view[0] = weir_arena_copy(arena, column->view[0]);
        break;
    case WEIR_LAYOUT_COMPOSITE:
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            copy_constant(&column->children[i], arena);
        }
        break;
    case WEIR_LAYOUT_U8:
    case WEIR_LAYOUT_I16:
    case WEIR_LAYOUT_I32:
    case WEIR_LAYOUT_I64:
    case WEIR_LAYOUT_F32:
    case WEIR_LAYOUT_F64:
    case WEIR_LAYOUT_INTERVAL:
    case WEIR_LAYOUT_UUID:
        break;
    }
}

// Moves row 0 of a computed column into a constant in the arena.
static void keep_row(struct weir_column *to, const struct weir_column *from,
                     struct weir_arena *arena)
{
    if (!weir_column_is_valid(from, 0)) {
        return;
    }
    weir_bitmap_set(to->validity, 0);
    if (to->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < to->type.composite->field_count; i++) {
            keep_row(&to->children[i], &from->children[i], arena);
        }
        return;
    }
    memcpy(to->data, from->data, weir_layout_bytes(weir_type_layout(to->type.kind)));
    copy_constant(to, arena);
}

// The value of an expression without columns; expr itself if it fails.
static struct weir_expr *compute(struct weir_arena *arena, struct weir_expr *expr)
{
    static const struct weir_schema NO_COLUMNS = {0};
    struct weir_arena *scratch = weir_arena_create(4096);
    struct weir_batch batch = {
        .schema = &NO_COLUMNS, .row_count = 1, .selected_count = 1, .arena = scratch};
    struct weir_eval *eval = weir_eval_create();
    weir_eval_begin(eval, &batch);
    struct weir_column value;
    weir_expr_eval(expr, eval, &batch, (struct weir_selection){.rows = NULL, .count = 1}, &value);
    struct weir_expr *result = expr;
    if (weir_eval_error_count(eval) == 0) {
        result = weir_expr_null(arena, &expr->type);
        keep_row(&result->constant, &value, arena);
    }
    weir_eval_destroy(eval);
    weir_arena_destroy(scratch);
    return result;
}

static struct weir_expr *fold_call(struct weir_arena *arena, struct weir_expr *expr)
{
    if ((expr->function->flags & WEIR_FUNCTION_TAKES_NULL) == 0) {
        for (uint32_t i = 0; i < expr->arg_count; i++) {
            if (weir_expr_is_null_constant(expr->args[i])) {
                return weir_expr_null(arena, &expr->type);
            }
        }
    }
    if (expr->needs_now || expr->needs_record || !are_args_constant(expr)) {
        return expr;
    }
    return compute(arena, expr);
}

static struct weir_expr *fold_and_or(struct weir_arena *arena, struct weir_expr *expr)
{
    bool decisive = expr->kind == WEIR_EXPR_OR;
    struct weir_expr *a = expr->args[0];
    struct weir_expr *b = expr->args[1];
    if (is_boolean_constant(a, decisive) || is_boolean_constant(b, !decisive)) {
        return a;
    }
    if (is_boolean_constant(b, decisive) || is_boolean_constant(a, !decisive)) {
        return b;
    }
    return are_args_constant(expr) ? compute(arena, expr) : expr;
}

static struct weir_expr *fold_case(struct weir_arena *arena, struct weir_expr *expr)
{
    struct weir_expr **args = weir_arena_alloc(arena, expr->arg_count * sizeof(struct weir_expr *));
    uint32_t count = 0;
    struct weir_expr *otherwise = expr->args[expr->arg_count - 1];
    for (uint32_t i = 0; i + 1 < expr->arg_count; i += 2) {
        struct weir_expr *condition = expr->args[i];
        if (is_boolean_constant(condition, true)) {
            otherwise = expr->args[i + 1];
            break;
        }
        if (!is_constant(condition)) {
            args[count++] = condition;
            args[count++] = expr->args[i + 1];
        }
    }
    if (count == 0) {
        return otherwise;
    }
    args[count++] = otherwise;
    return count == expr->arg_count
               ? expr
               : weir_expr_new(arena, WEIR_EXPR_CASE, &expr->type, count, args);
}

static struct weir_expr *fold_coalesce(struct weir_arena *arena, struct weir_expr *expr)
{
    struct weir_expr **args = weir_arena_alloc(arena, expr->arg_count * sizeof(struct weir_expr *));
    uint32_t count = 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (weir_expr_is_null_constant(expr->args[i])) {
            continue;
        }
        args[count++] = expr->args[i];
        if (is_constant(expr->args[i])) {
            break;
        }
    }
    if (count == 0) {
        return weir_expr_null(arena, &expr->type);
    }
    if (count == 1) {
        return args[0];
    }
    return weir_expr_new(arena, WEIR_EXPR_COALESCE, &expr->type, count, args);
}

struct weir_expr *weir_expr_fold(struct weir_arena *arena, struct weir_expr *expr)
{
    switch (expr->kind) {
    case WEIR_EXPR_COLUMN:
    case WEIR_EXPR_CONSTANT:
        return expr;
    case WEIR_EXPR_CALL:
        return fold_call(arena, expr);
    case WEIR_EXPR_AND:
    case WEIR_EXPR_OR:
        return fold_and_or(arena, expr);
    case WEIR_EXPR_CASE:
        return fold_case(arena, expr);
    case WEIR_EXPR_COALESCE:
        return fold_coalesce(arena, expr);
    case WEIR_EXPR_FIELD:
    case WEIR_EXPR_RELABEL:
    case WEIR_EXPR_NOT:
    case WEIR_EXPR_TEST:
    case WEIR_EXPR_DISTINCT:
    case WEIR_EXPR_GREATEST:
    case WEIR_EXPR_LEAST:
    case WEIR_EXPR_IN:
        return are_args_constant(expr) ? compute(arena, expr) : expr;
    }
    return expr;
}
