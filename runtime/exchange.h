// SPDX-License-Identifier: Apache-2.0
// The two ends of an exchange. The outlet is the last node of a chain: it sends each row to the
// task that owns its key group, and what is not a row to all of them. The inlet is the source of a
// keyed task: it reads the task's channels, aligns barriers (at least once: tracks them) and merges
// time. A channel that has
// ended holds back neither barriers nor time.
#ifndef WEIR_RUNTIME_EXCHANGE_H
#define WEIR_RUNTIME_EXCHANGE_H

#include "runtime/aligner.h"
#include "runtime/channel.h"
#include "runtime/task.h"

struct weir_outlet_config {
    const char *id;
    const char *name;
    uint32_t key_count;          // 0: all rows to one task, the owner of the empty key
    const uint32_t *key_columns; // of the rows that come
    uint32_t channel_count;      // one to each task of the next stage, by task
    struct weir_channel **channels;
};

struct weir_operator *weir_outlet_create(const struct weir_outlet_config *config);

struct weir_inlet_config {
    const char *id;
    const char *name;
    uint32_t channel_count; // one from each task of the stage before
    struct weir_channel **channels; // taken over
    bool is_at_least_once;          // barriers are tracked instead of aligned
    const struct weir_clock *clock;
};

struct weir_source *weir_inlet_create(const struct weir_inlet_config *config);

#endif
