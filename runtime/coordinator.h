// SPDX-License-Identifier: Apache-2.0
// The checkpoint coordinator: triggers checkpoints, collects acknowledgements, hands complete ones
// to the committer strictly in order, and decides when the run of the job is over. It knows tasks
// and the committer by their mailboxes only. Thread: one (the process's main thread in production);
// weir_coordinator_step never blocks, so that tests and the simulator step it themselves.
#ifndef WEIR_RUNTIME_COORDINATOR_H
#define WEIR_RUNTIME_COORDINATOR_H

#include "runtime/base/clock.h"
#include "runtime/checkpoint_event.h"
#include "runtime/pending.h"
#include "runtime/request.h"
#include "runtime/snapshot.h"
#include "runtime/task.h"
#include "runtime/trigger.h"

#include <stdatomic.h>

struct weir_coordinator;

struct weir_coordinator_config {
    int64_t interval_ms;
    int64_t first_interval_ms; // until the first checkpoint, for at most interval_ms; 0: as ever
    int64_t timeout_ms; // from trigger to stored manifest
    int64_t min_pause_ms;
    int64_t quiet_commit_ms;     // a quiet job commits at least so often (offsets expire otherwise)
    int64_t commit_hang_ms;      // a commit that does not come back within it ends the process
    uint32_t concurrent_max;     // 1 to WEIR_CHECKPOINTS_CONCURRENT_MAX
    bool is_at_least_once;       // else exactly once
    uint32_t tolerable_failures; // in a row, at least once
    int64_t first_number;        // the pointer's successor
    uint32_t task_count;
    struct weir_task **tasks;
    struct weir_mailbox *mailbox;    // the coordinator's own; owned by the caller
    struct weir_mailbox *committer;  // gets WEIR_MAIL_COMPLETE
    struct weir_mailbox *savepoints; // gets WEIR_MAIL_SAVEPOINT; NULL: savepoints are refused
    const struct weir_clock *clock;
    struct weir_checkpoint_observer *observer; // NULL: nobody looks
};

// All snapshots of checkpoint n, on the way to the committer, who owns and destroys it.
struct weir_completed {
    struct weir_barrier barrier;
    int64_t triggered_ms; // monotonic
    uint32_t snapshot_count;
    struct weir_snapshot **snapshots; // by task idx
};
void weir_completed_destroy(struct weir_completed *completed);

enum weir_outcome_kind {
    WEIR_OUTCOME_NONE,    // still running
    WEIR_OUTCOME_DONE,    // bounded input read, final checkpoint committed
    WEIR_OUTCOME_STOPPED, // asked to stop, final checkpoint committed
    WEIR_OUTCOME_REBUILD, // partitions changed: committed, to be built anew and go on
    WEIR_OUTCOME_FAILED,  // see error.action
};

struct weir_outcome {
    enum weir_outcome_kind kind;
    struct weir_error error; // FAILED
    int64_t committed_count; // checkpoints of this run: health, for the restart strategy
};

struct weir_coordinator *weir_coordinator_create(const struct weir_coordinator_config *config);
void weir_coordinator_destroy(struct weir_coordinator *coordinator);

// Takes all mail, triggers what is due. Returns the milliseconds until it wants to be called again
// without mail (-1: never).
int64_t weir_coordinator_step(struct weir_coordinator *coordinator);
const struct weir_outcome *weir_coordinator_outcome(const struct weir_coordinator *coordinator);

// How often each kind of acknowledgement has come and each refusal was given (ALLOWED: 0) in this
// run. On /metrics these go on from run to run.
uint64_t weir_coordinator_acknowledgement_count(const struct weir_coordinator *coordinator,
                                                enum weir_acknowledgement acknowledgement);
uint64_t weir_coordinator_refusal_count(const struct weir_coordinator *coordinator,
                                        enum weir_trigger_refusal refusal);

// Steps and waits until there is an outcome. *stop_requests (a signal handler counts it up and
// wakes the mailbox) at 1: final checkpoint; from 2 on: returns at once.
void weir_coordinator_run(struct weir_coordinator *coordinator, const atomic_int *stop_requests);

// For mailbox destruction: frees what mail to the coordinator, the committer or the savepoint
// writer owns; requests among it fail.
void weir_coordinator_drop_mail(struct weir_mail *mail);

#endif
