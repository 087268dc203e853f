// SPDX-License-Identifier: Apache-2.0
// The watermark node: keeps the time of each partition of a source task and passes on the task's
// (docs/state.md, Time). It stands right behind the node that knows the event time, before any
// filter: every row moves time.
#ifndef WEIR_OPERATORS_WATERMARK_H
#define WEIR_OPERATORS_WATERMARK_H

#include "runtime/task.h"

struct weir_partition_time {
    int32_t partition;
    int64_t event_time_us; // the largest one seen before; INT64_MIN: none
    bool is_quarantined;   // no row of it will come: idle from the beginning
};

struct weir_watermark_config {
    int64_t delay_us;
    int64_t idle_timeout_ms;
    int64_t max_ahead_us; // of the record's own timestamp (event_time_max_ahead); -1: no bound
    struct weir_source *source;
    const char *table;
    uint32_t partition_count;
    const struct weir_partition_time *partitions;      // copied
    struct weir_operator_state_store *operator_states; // of the task
    const struct weir_clock *clock;
};

struct weir_operator *weir_watermark_create(const char *id, const char *name,
                                            const struct weir_watermark_config *config);

#endif
