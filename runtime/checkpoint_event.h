// SPDX-License-Identifier: Apache-2.0
// What the coordinator tells about checkpoints, for figures and pages: nothing is decided by it.
#ifndef WEIR_RUNTIME_CHECKPOINT_EVENT_H
#define WEIR_RUNTIME_CHECKPOINT_EVENT_H

#include "runtime/snapshot.h"

enum weir_checkpoint_event_kind {
    WEIR_CHECKPOINT_TRIGGERED,
    WEIR_CHECKPOINT_COMMITTED,
    WEIR_CHECKPOINT_FAILED,  // it will not be; `failure` and `text` say why
    WEIR_CHECKPOINT_SKIPPED, // nothing had changed since the last one, which is as good as new
};

// Why a checkpoint failed (closed set).
enum weir_checkpoint_failure {
    WEIR_FAILURE_NONE,
    WEIR_FAILURE_EXPIRED,  // not complete within WEIR_CHECKPOINT_TIMEOUT
    WEIR_FAILURE_STORE,    // the checkpoint store did not take its manifest
    WEIR_FAILURE_COMMIT,   // the transaction was not committed, or nobody knows
    WEIR_FAILURE_FENCED,   // another instance took over, or the broker timed the transaction out
    WEIR_FAILURE_TASK,     // something else failed in the run: a task, the watch on topics
    WEIR_FAILURE_SUBSUMED, // at least once: a newer one was complete first
    WEIR_FAILURE_COUNT,
};
const char *weir_checkpoint_failure_name(enum weir_checkpoint_failure failure);

// "checkpoint", "savepoint", "final": in manifests and over HTTP.
const char *weir_barrier_type_name(enum weir_barrier_type type);

// Of a committed checkpoint, in microseconds; the longest of all tasks where they work side by
// side.
struct weir_checkpoint_phases {
    int64_t trigger_us;  // from the trigger until the sources had passed the barrier
    int64_t align_us;    // keyed tasks waited for the barrier of their last channel
    int64_t snapshot_us; // from the barrier until keyed state was durable
    int64_t flush_us;    // from the barrier until the last row was acknowledged by its broker
    int64_t commit_us;   // from the last acknowledgement of a task: manifest, offsets, transaction
    int64_t total_us;    // from trigger to commit
};

// Which task took longest in a phase; says something only where the phase took any time.
struct weir_checkpoint_slowest {
    uint32_t trigger_idx;
    uint32_t align_idx;
    uint32_t snapshot_idx;
    uint32_t flush_idx;
};

struct weir_checkpoint_event {
    enum weir_checkpoint_event_kind kind;
    int64_t number; // SKIPPED: that it would have had
    enum weir_barrier_type type;
    int64_t timestamp_ms;                 // wall clock of the trigger
    int64_t triggered_us;                 // monotonic, as the next one
    int64_t handed_us;                    // all tasks had acknowledged
    struct weir_checkpoint_phases phases; // COMMITTED
    struct weir_checkpoint_slowest slowest;
    uint64_t log_bytes; // COMMITTED: of the files that it consists of
    uint64_t materialised_bytes;
    enum weir_checkpoint_failure failure; // FAILED
    const char *text;                     // FAILED; valid during the call
};

// Takes in what the acknowledgement of a task tells.
void weir_checkpoint_event_add(struct weir_checkpoint_event *event,
                               const struct weir_snapshot *snapshot, bool is_source);
// It is committed now.
void weir_checkpoint_event_commit(struct weir_checkpoint_event *event);

struct weir_checkpoint_observer {
    // Thread: the coordinator's. May not block.
    void (*on_checkpoint)(struct weir_checkpoint_observer *observer,
                          const struct weir_checkpoint_event *event);
};

#endif
