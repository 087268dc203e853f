// SPDX-License-Identifier: Apache-2.0
// A snapshot: what one task contributes to checkpoint n. The task fills it at the barrier; nodes
// whose part is complete only later hold it. With the last hold released it goes to the coordinator
// as the task's acknowledgement.
#ifndef WEIR_RUNTIME_SNAPSHOT_H
#define WEIR_RUNTIME_SNAPSHOT_H

#include "runtime/mailbox.h"
#include "runtime/operator.h"

#include <stdatomic.h>

// How far a source has read one partition, and by what a topic made anew is told apart.
struct weir_position_entry {
    const char *table; // job's arena, as topic
    const char *topic;
    int32_t partition;
    int64_t offset;            // the next record to read
    int64_t end_offset;        // a bounded run reads up to here; -1: no end
    int64_t last_offset;       // the last record read, -1: none yet
    int64_t last_timestamp_ms; // of that record
    uint32_t last_crc32;       // zlib's, over key then value
    int64_t event_time_us;     // the largest one seen; INT64_MIN: none
};

struct weir_state_handle;
struct weir_operator_state_part;

struct weir_snapshot {
    struct weir_barrier barrier;
    uint32_t task_idx;
    uint32_t position_count;
    struct weir_position_entry *positions; // malloc
    struct weir_state_handle *state;       // the task's keyed state (state.h), NULL: it has none
    uint32_t operator_state_count;
    struct weir_operator_state_part **operator_states; // malloc, and each (operator_state.h)
    // Figures, monotonic: when the barrier had passed the task, how long its channels were waited
    // for, when its state was durable and its rows acknowledged; 0: there was none. Each written by
    // a thread that holds the snapshot.
    int64_t passed_us;
    int64_t align_us;
    int64_t stored_us;
    int64_t flushed_us;
    atomic_uint hold_count;
    atomic_bool is_abandoned; // will never be complete: its task has failed or is being taken down
    struct weir_mailbox *coordinator; // where the acknowledgement goes
};

// One hold is taken for the caller.
struct weir_snapshot *weir_snapshot_create(const struct weir_barrier *barrier, uint32_t task_idx,
                                           struct weir_mailbox *coordinator);
void weir_snapshot_destroy(struct weir_snapshot *snapshot);

void weir_snapshot_add_position(struct weir_snapshot *snapshot,
                                const struct weir_position_entry *entry);

// Any thread, but only one that has a hold. Once; the handle and its strings are copied.
void weir_snapshot_set_state(struct weir_snapshot *snapshot,
                             const struct weir_state_handle *handle);

// The part is copied.
void weir_snapshot_add_operator_state(struct weir_snapshot *snapshot,
                                      const struct weir_operator_state_part *part);

// Any thread. The last release posts WEIR_MAIL_ACKNOWLEDGED, which then owns the snapshot.
void weir_snapshot_hold(struct weir_snapshot *snapshot);
void weir_snapshot_release(struct weir_snapshot *snapshot);

// A release of one that can no longer become complete: the last one posts nothing and frees it.
void weir_snapshot_abandon(struct weir_snapshot *snapshot);

#endif
