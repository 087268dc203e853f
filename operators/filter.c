// SPDX-License-Identifier: Apache-2.0
// See filter.h. A batch passes with a narrower selection; nothing is copied.
#include "operators/filter.h"

#include "operators/row_operator.h"

struct filter {
    struct weir_row_operator base;
    const struct weir_expr *condition;
};

// The rows of the selection for which the condition is true.
static void select_true(struct weir_batch *batch, const struct weir_column *condition)
{
    uint16_t *rows = weir_arena_alloc(batch->arena, batch->selected_count * sizeof *rows);
    const uint8_t *value = condition->u8;
    uint32_t count = 0;
    if (batch->selected == NULL && condition->validity == NULL) {
        for (uint32_t row = 0; row < batch->selected_count; row++) {
            rows[count] = (uint16_t)row;
            count += value[row];
        }
    } else {
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            uint32_t row = weir_batch_row(batch, i);
            rows[count] = (uint16_t)row;
            count += weir_column_is_valid(condition, row) & (value[row] == 1);
        }
    }
    batch->selected = rows;
    batch->selected_count = count;
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct filter *filter = (struct filter *)op;
    struct weir_batch kept = *batch;
    struct weir_column condition;
    weir_eval_begin(filter->base.eval, batch);
    weir_expr_eval(filter->condition, filter->base.eval, batch, weir_batch_selection(batch),
                   &condition);
    if (weir_row_operator_drop_failed(&filter->base, &kept, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    select_true(&kept, &condition);
    if (kept.selected_count == 0) {
        return WEIR_OK;
    }
    return weir_operator_push(op, &kept, error);
}

static void destroy(struct weir_operator *op)
{
    weir_row_operator_deinit((struct weir_row_operator *)op);
    free(op);
}

struct weir_operator *weir_filter_create(const char *id, const char *name,
                                         const struct weir_expr *condition)
{
    static const struct weir_operator_ops OPS = {.kind = "filter",
                                                 .process = process,
                                                 .barrier = weir_row_operator_barrier,
                                                 .destroy = destroy};
    WEIR_ASSERT(weir_expr_type(condition)->kind == WEIR_TYPE_BOOLEAN);
    struct filter *filter = weir_alloc_zero(sizeof *filter);
    weir_row_operator_init(&filter->base, &OPS, id, name);
    filter->condition = condition;
    return &filter->base.op;
}
