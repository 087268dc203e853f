// SPDX-License-Identifier: Apache-2.0
// See row_operator.h.
#include "operators/row_operator.h"

#include "runtime/types/json_out.h"

void weir_row_operator_init(struct weir_row_operator *row_operator,
                            const struct weir_operator_ops *ops, const char *id, const char *name)
{
    row_operator->op.ops = ops;
    row_operator->op.id = id;
    row_operator->op.name = name;
    row_operator->eval = weir_eval_create();
}

void weir_row_operator_deinit(struct weir_row_operator *row_operator)
{
    weir_eval_destroy(row_operator->eval);
}

enum weir_status weir_row_operator_barrier(struct weir_operator *op,
                                           const struct weir_barrier *barrier,
                                           struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)snapshot;
    (void)error;
    weir_row_operator_set_now(op, (barrier->timestamp_ms - WEIR_EPOCH_SHIFT_MS) * 1000);
    return WEIR_OK;
}

void weir_row_operator_set_now(struct weir_operator *op, int64_t now_us)
{
    weir_eval_set_now(((struct weir_row_operator *)op)->eval, now_us);
}

enum weir_status weir_row_operator_report(struct weir_row_operator *row_operator,
                                          const struct weir_batch *batch, uint32_t row,
                                          enum weir_row_error_reason reason, const char *message,
                                          struct weir_error *error)
{
    if (weir_batch_is_taken_back(batch, row)) {
        return WEIR_OK;
    }
    struct weir_row_error row_error = {
        .reason = reason, .operator_name = row_operator->op.name, .message = message};
    if (batch->records != NULL) {
        row_error.record = &batch->records[row];
        return weir_row_error_report(row_operator->op.row_errors, &row_error, error);
    }
    struct weir_buffer json = {0};
    weir_json_append_row(&json, batch->schema, batch->columns, row);
    row_error.row_json = (struct weir_view){.data = json.data, .size_bytes = json.size_bytes};
    enum weir_status status = weir_row_error_report(row_operator->op.row_errors, &row_error, error);
    weir_buffer_deinit(&json);
    return status;
}

enum weir_status weir_row_operator_drop_failed(struct weir_row_operator *row_operator,
                                               struct weir_batch *batch, struct weir_error *error)
{
    uint32_t error_count = weir_eval_error_count(row_operator->eval);
    if (error_count == 0) {
        return WEIR_OK;
    }
    const struct weir_eval_error *errors = weir_eval_errors(row_operator->eval);
    bool has_failed[WEIR_BATCH_ROWS_MAX] = {false};
    const struct weir_eval_error *by_row[WEIR_BATCH_ROWS_MAX];
    for (uint32_t i = 0; i < error_count; i++) {
        has_failed[errors[i].row] = true;
        by_row[errors[i].row] = &errors[i];
    }
    // In the order of rows, so that a replay reports the same.
    uint16_t *rows = weir_arena_alloc(batch->arena, batch->selected_count * sizeof *rows);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        if (!has_failed[row]) {
            rows[count++] = (uint16_t)row;
            continue;
        }
        enum weir_row_error_reason reason =
            by_row[row]->is_constraint ? WEIR_ROW_ERROR_CONSTRAINT : WEIR_ROW_ERROR_EXPRESSION;
        if (weir_row_operator_report(row_operator, batch, row, reason, by_row[row]->message,
                                     error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    batch->selected = rows;
    batch->selected_count = count;
    return WEIR_OK;
}
