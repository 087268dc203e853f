// SPDX-License-Identifier: Apache-2.0
// The deadlines of pending checkpoints: until its manifest is stored, a checkpoint is given up when
// its time is out; from then on only its commit counts, whose outcome nobody can know but Kafka.
#include "runtime/coordinator_internal.h"

#include "runtime/base/log.h"

#include <unistd.h>

enum { OVERDUE_GRACE_MS = 30000 };

// Ends the process when the commit has not come back for too long. A process that was stopped for a
// while (SIGSTOP, a paused machine) finds its commit overdue when it wakes, and its client first
// has to hear from the brokers: mostly that a newer owner has fenced it.
static int64_t watch_commit(struct weir_coordinator *coordinator, struct weir_pending *pending,
                            int64_t now_ms)
{
    int64_t left_ms = pending->stored_ms + coordinator->config.commit_hang_ms - now_ms;
    if (left_ms > 0) {
        return left_ms;
    }
    if (pending->overdue_ms == 0) {
        pending->overdue_ms = now_ms;
    }
    if (now_ms - pending->overdue_ms < OVERDUE_GRACE_MS) {
        return pending->overdue_ms + OVERDUE_GRACE_MS - now_ms;
    }
    weir_log(WEIR_LOG_ERROR,
             "the commit of checkpoint %lld has not come back for %lld s: the client hangs; "
             "ending the process, the next start goes on from the last commit",
             (long long)pending->barrier.number, (long long)((now_ms - pending->handed_ms) / 1000));
    _exit(1);
}

int64_t weir_coordinator_check_deadlines(struct weir_coordinator *coordinator, int64_t now_ms)
{
    const struct weir_coordinator_config *config = &coordinator->config;
    int64_t wait_ms = -1;
    for (uint32_t i = 0; i < coordinator->pending.count; i++) {
        struct weir_pending *pending = &coordinator->pending.items[i];
        // The committer keeps the deadline itself once it has it; what it says comes first.
        bool is_committing = pending->state == WEIR_PENDING_COMMITTING;
        int64_t grace_ms = is_committing && config->is_at_least_once ? OVERDUE_GRACE_MS : 0;
        int64_t left_ms = pending->is_stored
                              ? watch_commit(coordinator, pending, now_ms)
                              : pending->triggered_ms + config->timeout_ms + grace_ms - now_ms;
        if (left_ms <= 0) {
            struct weir_error error;
            weir_error_set(&error, WEIR_DOMAIN_RUNTIME, WEIR_ACTION_RECOVER,
                           "checkpoint %lld was not complete within %lld s "
                           "(WEIR_CHECKPOINT_TIMEOUT): %u of %u tasks had acknowledged",
                           (long long)pending->barrier.number,
                           (long long)(config->timeout_ms / 1000), pending->acknowledged_count,
                           config->task_count);
            if (is_committing) {
                weir_coordinator_end_failed(coordinator, WEIR_FAILURE_EXPIRED, &error);
            } else {
                weir_coordinator_fail_pending(coordinator, pending, WEIR_FAILURE_EXPIRED, &error);
            }
            return 0;
        }
        wait_ms = wait_ms < 0 || left_ms < wait_ms ? left_ms : wait_ms;
    }
    return wait_ms;
}
