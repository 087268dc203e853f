// SPDX-License-Identifier: Apache-2.0
// A task: a chain of operators and what feeds it, run by one thread. All of its work happens in
// weir_task_step, first mail, then one bounded piece of input; the thread is only a loop around it
// that parks when idle, and a test or the simulator steps the same code itself.
#ifndef WEIR_RUNTIME_TASK_H
#define WEIR_RUNTIME_TASK_H

#include "runtime/base/clock.h"
#include "runtime/mailbox.h"
#include "runtime/operator.h"
#include "runtime/operator_state.h"
#include "runtime/snapshot.h"
#include "runtime/state.h"

enum weir_step {
    WEIR_STEP_MORE,   // there is more to do now
    WEIR_STEP_IDLE,   // nothing until mail, data or a wake comes
    WEIR_STEP_DONE,   // ended: final barrier passed and everything of it acknowledged
    WEIR_STEP_FAILED, // the error says why; the coordinator has been told
    WEIR_STEP_BARRIER, // of a source only: source->barrier passes the chain now
    WEIR_STEP_CANCEL,  // of a source only: source->cancelled_number will not be
};

// What feeds a task: Kafka (kafka/source.h) or other tasks (runtime/exchange.h). It is the first
// node of the chain.
struct weir_source;
struct weir_source_ops {
    // Reads once without blocking, and pushes at most one batch. MORE, IDLE, DONE (end of a
    // bounded input: polled no more), FAILED, or BARRIER and CANCEL (they have come in with the
    // input; sources that read Kafka get theirs as mail instead).
    enum weir_step (*poll)(struct weir_source *source, struct weir_error *error);
    // Is the partition read to its end, with nothing uncommitted behind it? For idleness. NULL: no
    // partitions.
    bool (*is_at_end)(const struct weir_source *source, int32_t partition);
    // Adds the positions as they are now.
    void (*snapshot)(struct weir_source *source, struct weir_snapshot *snapshot);
};

struct weir_source {
    struct weir_operator op; // process is NULL; barrier, committed, destroy as in operator.h
    const struct weir_source_ops *ops;
    // Goes up whenever a position moves: an epoch in which no source moved is skipped. Written by
    // the task, read by the coordinator.
    _Atomic uint64_t activity;
    struct weir_barrier barrier; // with WEIR_STEP_BARRIER
    int64_t align_us;            // how long its channels were waited for before that
    int64_t cancelled_number;    // with WEIR_STEP_CANCEL
    bool is_inlet;               // barriers come in with the input, not as mail
};

struct weir_task;

// The chain in order: inputs before the nodes they feed; node 0 is &source->op. The task takes over
// all nodes and destroys them, last first. name is copied.
struct weir_task *weir_task_create(uint32_t idx, const char *name, struct weir_source *source,
                                   uint32_t node_count, struct weir_operator **nodes,
                                   struct weir_mailbox *mailbox, struct weir_mailbox *coordinator);
void weir_task_destroy(struct weir_task *task); // its thread has been joined

// The keyed state of the chain, taken over; before the first step. Frozen at each barrier after the
// nodes have had theirs.
void weir_task_set_state(struct weir_task *task, struct weir_state_store *state);

// The operator states of the chain (operator_state.h), taken over; before the first step. Copied
// into the snapshot as each node has its barrier.
void weir_task_set_operator_states(struct weir_task *task, struct weir_operator_state_store *store);

const char *weir_task_name(const struct weir_task *task);
struct weir_mailbox *weir_task_mailbox(struct weir_task *task);
bool weir_task_is_source(const struct weir_task *task); // gets triggers as mail
uint64_t weir_task_activity(const struct weir_task *task); // any thread
// It has begun to step and neither failed nor ended: it takes part in checkpoints, also when its
// input is finished. Thread: any.
bool weir_task_is_running(const struct weir_task *task);

// How its thread has spent its time so far, monotonic: what is neither is work. Thread: any.
struct weir_task_times {
    int64_t now_us;
    int64_t idle_us;    // waited for input
    int64_t blocked_us; // waited for what is behind it: back-pressure
};
struct weir_task_times weir_task_times(const struct weir_task *task);

// One step. Thread: the task's.
enum weir_step weir_task_step(struct weir_task *task, struct weir_error *error);

void weir_task_start(struct weir_task *task); // creates the thread
void weir_task_join(struct weir_task *task);

#endif
