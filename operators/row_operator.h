// SPDX-License-Identifier: Apache-2.0
// What the operators without state (filter, project, derive) have in common: an evaluation, and the
// rows that fail in it reported and left out. Thread: the task's.
#ifndef WEIR_OPERATORS_ROW_OPERATOR_H
#define WEIR_OPERATORS_ROW_OPERATOR_H

#include "operators/expr.h"
#include "runtime/operator.h"

struct weir_row_operator {
    struct weir_operator op; // first: operators are cast to it
    struct weir_eval *eval;
};

void weir_row_operator_init(struct weir_row_operator *row_operator,
                            const struct weir_operator_ops *ops, const char *id, const char *name);
void weir_row_operator_deinit(struct weir_row_operator *row_operator);

// barrier of struct weir_operator_ops: now() is its time from here on.
enum weir_status weir_row_operator_barrier(struct weir_operator *op,
                                           const struct weir_barrier *barrier,
                                           struct weir_snapshot *snapshot,
                                           struct weir_error *error);

// now() before the first barrier of a run: the time of the checkpoint that was restored. For
// filter, project and derive only.
void weir_row_operator_set_now(struct weir_operator *op, int64_t now_us);

static inline struct weir_selection weir_batch_selection(const struct weir_batch *batch)
{
    return (struct weir_selection){.rows = batch->selected, .count = batch->selected_count};
}

// Reports the rows that the evaluation had errors for and takes them out of the batch's selection
// (a copy of the operator's own; the array is made anew in the arena).
enum weir_status weir_row_operator_drop_failed(struct weir_row_operator *row_operator,
                                               struct weir_batch *batch, struct weir_error *error);

// Reports one row.
enum weir_status weir_row_operator_report(struct weir_row_operator *row_operator,
                                          const struct weir_batch *batch, uint32_t row,
                                          enum weir_row_error_reason reason, const char *message,
                                          struct weir_error *error);

#endif
