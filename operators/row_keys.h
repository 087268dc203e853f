// SPDX-License-Identifier: Apache-2.0
// The keys under which an operator keeps what it knows of a batch's rows: the encoding of some
// columns (runtime/types/key.h), whose key group is that of these bytes. Thread: the task's.
#ifndef WEIR_OPERATORS_ROW_KEYS_H
#define WEIR_OPERATORS_ROW_KEYS_H

#include "runtime/batch.h"
#include "runtime/state.h"

struct weir_row_keys {
    uint32_t column_count;
    const uint32_t *columns; // of the batch
    struct weir_column *input;
    struct weir_buffer bytes;
    struct weir_state_key of[WEIR_BATCH_ROWS_MAX]; // of the batch's selected rows, in their order
};

// columns outlive the keys.
void weir_row_keys_init(struct weir_row_keys *keys, uint32_t column_count, const uint32_t *columns);
void weir_row_keys_deinit(struct weir_row_keys *keys);

// Sets keys->of for the batch; valid until the next call.
void weir_row_keys_make(struct weir_row_keys *keys, const struct weir_batch *batch);

#endif
