// SPDX-License-Identifier: Apache-2.0
// Rows copied into batches that own their memory: what crosses from one task to another.
#ifndef WEIR_RUNTIME_GATHER_H
#define WEIR_RUNTIME_GATHER_H

#include "runtime/batch.h"

// The rows `rows[0..count-1]` of a batch, in that order, all selected: columns, event times and
// change kinds (or partials) deep-copied; no records. The result owns its arena: free it with
// weir_batch_free. count: 1 to WEIR_BATCH_ROWS_MAX. The schema is shared and must outlive it.
struct weir_batch *weir_batch_gather(const struct weir_batch *batch, const uint16_t *rows,
                                     uint32_t count);
void weir_batch_free(struct weir_batch *batch); // only what weir_batch_gather made; accepts NULL

// Copies row values of one column into another (allocated for `count` rows with the same type);
// views and numerics go to the arena.
void weir_column_gather(const struct weir_column *from, const uint16_t *rows, uint32_t count,
                        struct weir_column *to, struct weir_arena *arena);

#endif
