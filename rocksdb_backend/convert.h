// SPDX-License-Identifier: Apache-2.0
// What is done to the entries of a checkpoint on their way into the live RocksDB: converted where
// an operator keeps something else than it did (runtime/state.h), counted where nobody knows how
// many there are. Thread: the caller's, before the task runs.
#ifndef WEIR_ROCKSDB_BACKEND_CONVERT_H
#define WEIR_ROCKSDB_BACKEND_CONVERT_H

#include "rocksdb_backend/live.h"
#include "runtime/state.h"

// The id of a state in stored keys and logs.
uint64_t weir_state_id(const char *operator_id, const char *name);
uint64_t weir_state_id_of(struct weir_view stored_key);

// The conversion of that state; NULL: its entries stay as they are.
const struct weir_state_conversion *
weir_convert_find(uint32_t count, const struct weir_state_conversion *conversions,
                  uint64_t state_id);

// Appends what the value becomes to `out`. Error (REFUSE): it is not what the manifest says.
enum weir_status weir_convert_value(const struct weir_state_conversion *conversion,
                                    struct weir_view value, struct weir_buffer *out,
                                    struct weir_error *error);

// How many entries each state has.
struct weir_state_count {
    uint64_t state_id;
    int64_t count;
};

// Reads all of it. *counts: malloc.
enum weir_status weir_live_count(struct weir_live *live, uint32_t *count,
                                 struct weir_state_count **counts, struct weir_error *error);

#endif
