// SPDX-License-Identifier: Apache-2.0
// The contract of an operator, whole. An operator is a node of a task's chain: batches are pushed
// into it, and it pushes into the nodes behind it. All calls come from the one thread of its task,
// in order, never two at a time; none may block. A record's way, a barrier's way: docs/FLOW.md.
//
// Life: created by app/job_build → { process | barrier | send | committed | resume }* → destroy.
#ifndef WEIR_RUNTIME_OPERATOR_H
#define WEIR_RUNTIME_OPERATOR_H

#include "runtime/base/error.h"
#include "runtime/base/metrics.h"
#include "runtime/batch.h"
#include "runtime/row_error.h"

struct weir_operator;
struct weir_snapshot;

// What travels between tasks and through chains besides rows.
enum weir_barrier_type {
    WEIR_BARRIER_CHECKPOINT,
    WEIR_BARRIER_SAVEPOINT,
    WEIR_BARRIER_FINAL, // the last one of this run: nothing follows it
};

struct weir_barrier {
    int64_t number;       // of the checkpoint that it begins
    int64_t timestamp_ms; // wall clock of the trigger; now() in SQL
    enum weir_barrier_type type;
};

// How far event time has come: no row at or below it is expected any more.
struct weir_time {
    int64_t watermark_us; // INT64_MIN: nothing is known yet; INT64_MAX: the end of all input
    bool is_idle;         // nothing comes for now: does not hold others back
    // Part of the input is at its end, and its time no longer that of its rows, which a later run
    // may go on with: others' time may be ahead of those.
    bool has_ended;
};

struct weir_operator_ops {
    const char *kind; // "filter", "project", "kafka sink", …

    // The rows of a batch. The batch stays the caller's, who resets it after the call: what is to
    // outlive it is copied. Columns, selection and arena may be extended, rows not be changed.
    // Rows that fail are reported with weir_row_error_report and left out; WEIR_ERROR is for
    // failures of the operator itself.
    enum weir_status (*process)(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error);

    // Event time has moved on (or begun or ceased to be idle). Rows that are due are pushed first,
    // then the time. NULL: only passed on.
    enum weir_status (*time_passed)(struct weir_operator *op, const struct weir_time *time,
                                    struct weir_error *error);

    // Barrier n, between two batches: whatever process was given before belongs to the snapshot.
    // The task calls this once for every node of its chain, inputs before the nodes they feed:
    // rows pushed here (what changed since the last barrier) still belong to epoch n. Nothing is
    // forwarded. State goes into the snapshot; a node whose part is complete only later (a writer
    // waiting for acknowledgements) takes a hold (weir_snapshot_hold) and releases it when it is.
    // A node that has much to push sets is_sending instead (send). Right behind this call the task
    // copies the node's operator states (operator_state.h); its keyed ones are frozen when all
    // nodes had theirs. NULL: nothing to do.
    enum weir_status (*barrier)(struct weir_operator *op, const struct weir_barrier *barrier,
                                struct weir_snapshot *snapshot, struct weir_error *error);

    // Only while is_sending: pushes some more of what belongs to the epoch that the last barrier
    // ended, and clears is_sending with the last of it. Between two calls process is given rows of
    // the next epoch already; the nodes behind (is_behind_changes) get nothing else, and their
    // barrier n when all of it has been sent.
    enum weir_status (*send)(struct weir_operator *op, struct weir_error *error);

    // Checkpoint n is committed: what was kept for its failure can go. NULL: nothing.
    void (*committed)(struct weir_operator *op, int64_t number);

    // Checkpoint n will not be (at-least-once mode only; barrier n may have passed or never come):
    // whoever still works for it can stop. What goes between tasks passes it on. NULL: nothing.
    void (*cancelled)(struct weir_operator *op, int64_t number);

    // Called when the task was woken: try again what was held back, release what is complete, clear
    // is_blocked if input can be taken again. NULL: never holds anything back.
    enum weir_status (*resume)(struct weir_operator *op, struct weir_error *error);

    void (*destroy)(struct weir_operator *op); // accepts the memory of the operator itself
};

enum { WEIR_OPERATOR_NEXT_MAX = 64 };

// The common part: operators embed it as their first member.
struct weir_operator {
    const struct weir_operator_ops *ops;
    const char *id;   // stable: derived from inputs, kind, keys (design); in the job's arena
    const char *name; // for people: "filter of flights_late"
    struct weir_operator **next; // the nodes behind it
    uint32_t next_count;
    struct weir_row_error_policy *row_errors; // where rows that fail go
    // Set by process when the chain must not be given more until the task is woken: back-pressure.
    bool is_blocked;
    // Something is held back: resume is called again within milliseconds even without a wake.
    bool is_waiting;
    bool is_sending;        // rows of the epoch before are still to be pushed: send
    bool is_behind_changes; // behind a node that may be sending; says who builds the chain
    // resume is called at that time of the monotonic clock at the latest; 0: no need.
    int64_t wake_at_ms;
    // Rows given to it and pushed by it, counted a batch at a time; the task's, NULL: not counted.
    struct weir_metric *rows_in;
    struct weir_metric *rows_out;
};

// Pushes a batch to every node behind. A node may narrow selected/columns in its own struct copy,
// never in the caller's.
static inline enum weir_status
weir_operator_push(struct weir_operator *op, struct weir_batch *batch, struct weir_error *error)
{
    if (op->rows_out != NULL) {
        weir_metric_add(op->rows_out, batch->selected_count);
    }
    for (uint32_t i = 0; i < op->next_count; i++) {
        if (op->next[i]->rows_in != NULL) {
            weir_metric_add(op->next[i]->rows_in, batch->selected_count);
        }
        if (op->next[i]->ops->process(op->next[i], batch, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

// Passes time on to every node behind, and through those that do not care.
static inline enum weir_status weir_operator_push_time(struct weir_operator *op,
                                                       const struct weir_time *time,
                                                       struct weir_error *error)
{
    for (uint32_t i = 0; i < op->next_count; i++) {
        struct weir_operator *next = op->next[i];
        enum weir_status status = next->ops->time_passed != NULL
                                      ? next->ops->time_passed(next, time, error)
                                      : weir_operator_push_time(next, time, error);
        if (status != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

#endif
