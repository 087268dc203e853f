// SPDX-License-Identifier: Apache-2.0
// See checkpoint_event.h.
#include "runtime/checkpoint_event.h"

#include "runtime/base/clock.h"
#include "runtime/state.h"

const char *weir_barrier_type_name(enum weir_barrier_type type)
{
    switch (type) {
    case WEIR_BARRIER_CHECKPOINT:
        return "checkpoint";
    case WEIR_BARRIER_SAVEPOINT:
        return "savepoint";
    case WEIR_BARRIER_FINAL:
        return "final";
    }
    return "unknown";
}

const char *weir_checkpoint_failure_name(enum weir_checkpoint_failure failure)
{
    switch (failure) {
    case WEIR_FAILURE_NONE:
        return "none";
    case WEIR_FAILURE_EXPIRED:
        return "expired";
    case WEIR_FAILURE_STORE:
        return "store";
    case WEIR_FAILURE_COMMIT:
        return "commit";
    case WEIR_FAILURE_FENCED:
        return "fenced";
    case WEIR_FAILURE_TASK:
        return "task";
    case WEIR_FAILURE_SUBSUMED:
        return "subsumed";
    case WEIR_FAILURE_COUNT:
        break;
    }
    WEIR_ASSERT(!"unreachable");
}

static void keep_longest(int64_t *longest_us, uint32_t *slowest_idx, uint32_t task_idx,
                         int64_t from_us, int64_t to_us)
{
    if (to_us - from_us > *longest_us) {
        *longest_us = to_us - from_us;
        *slowest_idx = task_idx;
    }
}

void weir_checkpoint_event_add(struct weir_checkpoint_event *event,
                               const struct weir_snapshot *snapshot, bool is_source)
{
    struct weir_checkpoint_phases *phases = &event->phases;
    struct weir_checkpoint_slowest *slowest = &event->slowest;
    uint32_t idx = snapshot->task_idx;
    if (is_source) {
        keep_longest(&phases->trigger_us, &slowest->trigger_idx, idx, event->triggered_us,
                     snapshot->passed_us);
    }
    keep_longest(&phases->align_us, &slowest->align_idx, idx, 0, snapshot->align_us);
    keep_longest(&phases->snapshot_us, &slowest->snapshot_idx, idx, snapshot->passed_us,
                 snapshot->stored_us);
    keep_longest(&phases->flush_us, &slowest->flush_idx, idx, snapshot->passed_us,
                 snapshot->flushed_us);
    for (uint32_t i = 0; snapshot->state != NULL && i < snapshot->state->file_count; i++) {
        const struct weir_state_file *file = &snapshot->state->files[i];
        if (file->is_materialised) {
            event->materialised_bytes += file->size_bytes;
        } else {
            event->log_bytes += file->size_bytes;
        }
    }
}

void weir_checkpoint_event_commit(struct weir_checkpoint_event *event)
{
    int64_t now_us = weir_monotonic_us();
    event->kind = WEIR_CHECKPOINT_COMMITTED;
    event->phases.commit_us = now_us - event->handed_us;
    event->phases.total_us = now_us - event->triggered_us;
}
