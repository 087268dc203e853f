// SPDX-License-Identifier: Apache-2.0
// CASE, COALESCE, GREATEST, LEAST, IN: nodes that take each row's value from one of their
// arguments. See eval.h. Thread: the task's.
#include "operators/eval.h"

void weir_eval_case(const struct weir_expr *expr, struct weir_eval *eval,
                    struct weir_selection selection, struct weir_vector *out)
{
    weir_eval_start_null(eval, &expr->type, out);
    struct weir_selection open = selection;
    struct weir_vector value;
    uint32_t i = 0;
    for (; i + 1 < expr->arg_count && open.count > 0; i += 2) {
        struct weir_vector condition;
        struct weir_selection taken;
        weir_eval_vector(expr->args[i], eval, open, &condition);
        weir_eval_split(eval, &condition, 1, open, &taken, &open);
        if (taken.count > 0) {
            weir_eval_vector(expr->args[i + 1], eval, taken, &value);
            weir_eval_copy_rows(&out->column, &value, taken);
        }
    }
    if (open.count > 0) {
        weir_eval_vector(expr->args[expr->arg_count - 1], eval, open, &value);
        weir_eval_copy_rows(&out->column, &value, open);
    }
}

void weir_eval_coalesce(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out)
{
    weir_eval_start_null(eval, &expr->type, out);
    struct weir_selection open = selection;
    for (uint32_t i = 0; i < expr->arg_count && open.count > 0; i++) {
        struct weir_vector value;
        weir_eval_vector(expr->args[i], eval, open, &value);
        weir_eval_copy_rows(&out->column, &value, open);
        uint16_t *rows = weir_eval_alloc_rows(eval, open.count);
        uint32_t count = 0;
        for (uint32_t k = 0; k < open.count; k++) {
            uint32_t row = weir_selection_row(open, k);
            rows[count] = (uint16_t)row;
            count += !weir_bitmap_get(out->column.validity, row);
        }
        open = (struct weir_selection){.rows = rows, .count = count};
    }
}

// expr->function says whether its first argument is to be preferred over its second.
void weir_eval_greatest(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    weir_eval_start_null(eval, &expr->type, out);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        struct weir_vector args[2];
        struct weir_vector is_better;
        weir_eval_vector(expr->args[i], eval, selection, &args[0]);
        args[1] = *out;
        weir_eval_call_function(expr->function, &boolean, eval, 2, args, selection, &is_better);
        uint16_t *rows = weir_eval_alloc_rows(eval, selection.count);
        uint32_t count = 0;
        for (uint32_t k = 0; k < selection.count; k++) {
            uint32_t row = weir_selection_row(selection, k);
            bool has_best = weir_bitmap_get(out->column.validity, row);
            bool is_taken =
                weir_vector_is_valid(&args[0], row) && (!has_best || is_better.column.u8[row] != 0);
            rows[count] = (uint16_t)row;
            count += is_taken;
        }
        weir_eval_copy_rows(&out->column, &args[0],
                            (struct weir_selection){.rows = rows, .count = count});
    }
}

void weir_eval_in(const struct weir_expr *expr, struct weir_eval *eval,
                  struct weir_selection selection, struct weir_vector *out)
{
    weir_eval_start_null(eval, &expr->type, out);
    uint64_t *is_null_seen =
        weir_arena_alloc_zero(eval->arena, weir_eval_validity_words(eval) * sizeof(uint64_t));
    const struct weir_expr *first = NULL;
    struct weir_vector first_value;
    struct weir_selection open = selection;
    for (uint32_t i = 0; i < expr->arg_count && open.count > 0; i++) {
        const struct weir_expr *equal = expr->args[i];
        struct weir_vector value;
        if (equal->kind == WEIR_EXPR_CALL) {
            if (equal->args[0] != first) {
                first = equal->args[0];
                weir_eval_vector(first, eval, open, &first_value);
            }
            weir_eval_call(equal, eval, &first_value, open, &value);
        } else {
            weir_eval_vector(equal, eval, open, &value);
        }
        struct weir_selection found;
        struct weir_selection rest;
        weir_eval_split(eval, &value, 1, open, &found, &rest);
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
        uint32_t row = weir_selection_row(open, k);
        out->column.u8[row] = 0;
        if (!weir_bitmap_get(is_null_seen, row)) {
            weir_bitmap_set(out->column.validity, row);
        }
    }
}
