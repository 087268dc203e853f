// SPDX-License-Identifier: Apache-2.0
// AND, OR, NOT, IS …, IS DISTINCT FROM: three-valued logic over vectors of booleans. See eval.h.
// Thread: the task's.
#include "operators/eval.h"

// AND, OR. `decisive` is the value that settles the row alone: false for AND, true for OR.
void weir_eval_and_or(const struct weir_expr *expr, struct weir_eval *eval,
                      struct weir_selection selection, struct weir_vector *out)
{
    const uint8_t decisive = expr->kind == WEIR_EXPR_OR;
    struct weir_vector a;
    struct weir_vector b;
    weir_eval_vector(expr->args[0], eval, selection, &a);
    struct weir_selection open = selection;
    if (!expr->args[1]->is_total) {
        struct weir_selection settled;
        weir_eval_split(eval, &a, decisive, selection, &settled, &open);
        if (open.count == 0) {
            *out = a;
            return;
        }
    }
    weir_eval_vector(expr->args[1], eval, open, &b);
    weir_eval_start(eval, &expr->type, out);
    uint8_t *value = out->column.u8;
    if (a.column.validity == NULL && b.column.validity == NULL) {
        const uint8_t *a_value = a.column.u8;
        const uint8_t *b_value = b.column.u8;
        for (uint32_t i = 0; i < selection.count; i++) {
            uint32_t row = weir_selection_row(selection, i);
            uint8_t left = a_value[row & a.row_mask];
            value[row] = left == decisive ? decisive : b_value[row & b.row_mask];
        }
        return;
    }
    out->column.validity =
        weir_arena_alloc_zero(eval->arena, weir_eval_validity_words(eval) * sizeof(uint64_t));
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
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

void weir_eval_not(const struct weir_expr *expr, struct weir_eval *eval,
                   struct weir_selection selection, struct weir_vector *out)
{
    struct weir_vector a;
    weir_eval_vector(expr->args[0], eval, selection, &a);
    weir_eval_start(eval, &expr->type, out);
    out->column.validity = weir_eval_combine_validity(eval, 1, &a);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
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

void weir_eval_test(const struct weir_expr *expr, struct weir_eval *eval,
                    struct weir_selection selection, struct weir_vector *out)
{
    struct weir_vector a;
    weir_eval_vector(expr->args[0], eval, selection, &a);
    weir_eval_start(eval, &expr->type, out);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
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

void weir_eval_distinct(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out)
{
    struct weir_vector args[2];
    struct weir_vector equal;
    weir_eval_vector(expr->args[0], eval, selection, &args[0]);
    weir_eval_vector(expr->args[1], eval, selection, &args[1]);
    weir_eval_call_function(expr->function, &expr->type, eval, 2, args, selection, &equal);
    weir_eval_start(eval, &expr->type, out);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
        bool has_a = weir_vector_is_valid(&args[0], row);
        bool has_b = weir_vector_is_valid(&args[1], row);
        out->column.u8[row] = has_a && has_b ? !equal.column.u8[row] : has_a != has_b;
    }
}
