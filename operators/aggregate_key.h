// SPDX-License-Identifier: Apache-2.0
// Keys of groups as they lie in the state: window_end first if there is a window, then the other
// key columns; and the key group that each of them belongs to. Shared by the aggregate and by what
// folds rows before the exchange, so that both mean the same group. Private to operators/. Thread:
// the task's.
#ifndef WEIR_OPERATORS_AGGREGATE_KEY_H
#define WEIR_OPERATORS_AGGREGATE_KEY_H

#include "operators/aggregate.h"
#include "runtime/row_key.h"

struct weir_group_keys {
    struct weir_row_key key;
    int32_t *outputs;          // of key: of the aggregate's output; -1: window_end is not in it
    bool has_spelling;         // equal keys can be spelt in several ways
    bool is_route_apart;       // the key group is not that of the state's key
    struct weir_row_key route; // what the key group is of then
    struct weir_state_key *of_rows; // by selected row of the batch under way
};

// What the config points to must outlive it; memory comes from the arena, but for what deinit
// frees.
void weir_group_keys_init(struct weir_group_keys *keys, const struct weir_aggregate_config *config,
                          struct weir_arena *arena);
void weir_group_keys_deinit(struct weir_group_keys *keys);

// Before key and route are asked about rows of the batch.
void weir_group_keys_begin(struct weir_group_keys *keys, const struct weir_batch *batch);
// The key group of the row, whose key these bytes are.
uint16_t weir_group_keys_group(struct weir_group_keys *keys, uint32_t row, struct weir_view key);

// Begins; bytes and key groups of all selected rows, in `of_rows`.
void weir_group_keys_make(struct weir_group_keys *keys, const struct weir_batch *batch);

#endif
