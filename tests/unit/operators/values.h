// SPDX-License-Identifier: Apache-2.0
// One expression over a table of text, its results as one text.
#ifndef WEIR_TESTS_UNIT_OPERATORS_VALUES_H
#define WEIR_TESTS_UNIT_OPERATORS_VALUES_H

#include "rows.h"

// "a; NULL; !message" for the selected rows.
static inline void values_append(struct weir_buffer *out, struct rows *rows, struct weir_eval *eval,
                                 const struct weir_expr *expr)
{
    struct weir_column column;
    struct weir_selection selection = {.rows = rows->batch.selected,
                                       .count = rows->batch.selected_count};
    weir_eval_begin(eval, &rows->batch);
    weir_expr_eval(expr, eval, &rows->batch, selection, &column);
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_batch_row(&rows->batch, i);
        const char *message = NULL;
        for (uint32_t k = 0; k < weir_eval_error_count(eval); k++) {
            if (weir_eval_errors(eval)[k].row == row) {
                assert_null(message); // once a row
                message = weir_eval_errors(eval)[k].message;
            }
        }
        weir_buffer_printf(out, "%s", i != 0 ? "; " : "");
        if (message != NULL) {
            weir_buffer_printf(out, "!%s", message);
            assert_false(weir_column_is_valid(&column, row));
        } else if (!weir_column_is_valid(&column, row)) {
            weir_buffer_printf(out, "NULL");
        } else {
            weir_text_append(out, &column, row);
        }
    }
}

static inline void values_check(struct rows *rows, const char *source, const char *expected)
{
    struct weir_eval *eval = weir_eval_create();
    struct weir_buffer out = {0};
    values_append(&out, rows, eval, rows_expr(rows, source));
    if (strcmp(weir_buffer_text(&out), expected) != 0) {
        fail_msg("%s\n  expected %s\n  actual   %s", source, expected, out.data);
    }
    weir_buffer_deinit(&out);
    weir_eval_destroy(eval);
}

#endif
