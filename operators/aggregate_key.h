// SPDX-License-Identifier: Apache-2.0
// Keys of groups as they lie in the state: window_end first if there is a window, then the other
// key columns; and the key group that each of them belongs to. Shared by the aggregate and by what
// folds rows before the exchange, so that both mean the same group. Private to operators/. Thread:
// the task's.
#ifndef WEIR_OPERATORS_AGGREGATE_KEY_H
#define WEIR_OPERATORS_AGGREGATE_KEY_H

#include "operators/aggregate.h"

struct weir_group_keys {
    uint32_t count;
    uint32_t *columns;         // of the input
    int32_t *outputs;          // of the aggregate's output; -1: window_end is not among the keys
    bool has_spelling;         // equal keys can be spelt in several ways
    struct weir_column *input; // of the batch under way, in the state's order
    bool is_route_apart;       // the key group is not that of the state's key
    uint32_t route_count;
    const uint32_t *route_columns;
    struct weir_column *route_input;
    struct weir_buffer bytes;
    struct weir_buffer route_bytes;
    struct weir_state_key *of_rows; // by selected row of the batch under way
};

static inline struct weir_view weir_group_view_of(const struct weir_buffer *buffer)
{
    return (struct weir_view){.data = buffer->size_bytes != 0 ? buffer->data : "",
                              .size_bytes = buffer->size_bytes};
}

// What the config points to must outlive it; memory comes from the arena, but for what deinit
// frees.
void weir_group_keys_init(struct weir_group_keys *keys, const struct weir_aggregate_config *config,
                          struct weir_arena *arena);
void weir_group_keys_deinit(struct weir_group_keys *keys);

// Before the three below are asked about rows of the batch.
void weir_group_keys_begin(struct weir_group_keys *keys, const struct weir_batch *batch);
// The bytes of the row's key, valid until the next call.
struct weir_view weir_group_keys_encode(struct weir_group_keys *keys, uint32_t row);
// The key group of the row, whose key these bytes are.
uint16_t weir_group_keys_group(struct weir_group_keys *keys, uint32_t row, struct weir_view key);

// Begins; bytes and key groups of all selected rows, in `of_rows`.
void weir_group_keys_make(struct weir_group_keys *keys, const struct weir_batch *batch);

#endif
