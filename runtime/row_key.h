// SPDX-License-Identifier: Apache-2.0
// Keys of a batch's rows: some of its columns, encoded (types/key.h). Thread: the task's.
#ifndef WEIR_RUNTIME_ROW_KEY_H
#define WEIR_RUNTIME_ROW_KEY_H

#include "runtime/batch.h"
#include "runtime/state.h"

struct weir_row_key {
    uint32_t count;
    const uint32_t *columns;   // of the batch, in the key's order; not owned
    struct weir_column *input; // these of the batch under way
    struct weir_buffer bytes;
};

// columns outlive the key.
void weir_row_key_init(struct weir_row_key *key, uint32_t count, const uint32_t *columns);
void weir_row_key_deinit(struct weir_row_key *key);

// Before the two below are asked about rows of the batch.
void weir_row_key_begin(struct weir_row_key *key, const struct weir_batch *batch);
// The bytes of the row's key, never without data; valid until the next call.
struct weir_view weir_row_key_encode(struct weir_row_key *key, uint32_t row);
// Those of all selected rows, in their order, into keys[i].bytes; valid until the next call.
void weir_row_key_encode_all(struct weir_row_key *key, const struct weir_batch *batch,
                             struct weir_state_key *keys);
// Begins; bytes and key groups of all selected rows, where the key group is that of the bytes.
void weir_row_key_make(struct weir_row_key *key, const struct weir_batch *batch,
                       struct weir_state_key *keys);

#endif
