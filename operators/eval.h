// SPDX-License-Identifier: Apache-2.0
// The scratch of an evaluation. Private to operators/ (eval.c, kernel.c). Thread: its task's.
#ifndef WEIR_OPERATORS_EVAL_H
#define WEIR_OPERATORS_EVAL_H

#include "operators/expr.h"

struct weir_eval {
    const struct weir_batch *batch;
    struct weir_arena *arena; // the batch's
    int64_t now_us;
    bool is_assignment; // the running kernel is an assignment cast
    char *text;         // room for text results: a piece of the arena, filled from the front
    char *text_end;
    struct weir_buffer scratch; // for texts that are written before their size is known
    uint64_t failed[WEIR_BATCH_ROWS_MAX / 64];
    uint32_t error_count;
    struct weir_eval_error errors[WEIR_BATCH_ROWS_MAX];
};

#endif
