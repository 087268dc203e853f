// SPDX-License-Identifier: Apache-2.0
// See snapshot.h.
#include "runtime/snapshot.h"

#include "runtime/base/assert.h"
#include "runtime/base/clock.h"
#include "runtime/operator_state.h"
#include "runtime/state.h"

struct weir_snapshot *weir_snapshot_create(const struct weir_barrier *barrier, uint32_t task_idx,
                                           struct weir_mailbox *coordinator)
{
    struct weir_snapshot *snapshot = weir_alloc_zero(sizeof *snapshot);
    snapshot->barrier = *barrier;
    snapshot->task_idx = task_idx;
    snapshot->coordinator = coordinator;
    atomic_init(&snapshot->hold_count, 1);
    return snapshot;
}

void weir_snapshot_destroy(struct weir_snapshot *snapshot)
{
    if (snapshot != NULL) {
        free(snapshot->positions);
        free(snapshot->state);
        for (uint32_t i = 0; i < snapshot->operator_state_count; i++) {
            free(snapshot->operator_states[i]);
        }
        free(snapshot->operator_states);
        free(snapshot);
    }
}

void weir_snapshot_add_position(struct weir_snapshot *snapshot,
                                const struct weir_position_entry *entry)
{
    snapshot->positions = weir_realloc(snapshot->positions, (snapshot->position_count + 1) *
                                                                sizeof *snapshot->positions);
    snapshot->positions[snapshot->position_count++] = *entry;
}

void weir_snapshot_set_state(struct weir_snapshot *snapshot, const struct weir_state_handle *handle)
{
    WEIR_ASSERT(snapshot->state == NULL);
    snapshot->state = weir_state_handle_copy(handle);
    snapshot->stored_us = weir_monotonic_us();
}

void weir_snapshot_add_operator_state(struct weir_snapshot *snapshot,
                                      const struct weir_operator_state_part *part)
{
    snapshot->operator_states =
        weir_realloc(snapshot->operator_states, (snapshot->operator_state_count + 1) *
                                                    sizeof(struct weir_operator_state_part *));
    snapshot->operator_states[snapshot->operator_state_count++] =
        weir_operator_state_part_copy(part);
}

void weir_snapshot_hold(struct weir_snapshot *snapshot)
{
    unsigned before = atomic_fetch_add(&snapshot->hold_count, 1);
    WEIR_ASSERT(before > 0);
}

void weir_snapshot_release(struct weir_snapshot *snapshot)
{
    unsigned before = atomic_fetch_sub(&snapshot->hold_count, 1);
    WEIR_ASSERT(before > 0);
    if (before == 1 && atomic_load(&snapshot->is_abandoned)) {
        weir_snapshot_destroy(snapshot);
    } else if (before == 1) {
        weir_mailbox_post(snapshot->coordinator,
                          &(struct weir_mail){.kind = WEIR_MAIL_ACKNOWLEDGED,
                                              .task_idx = snapshot->task_idx,
                                              .number = snapshot->barrier.number,
                                              .payload = snapshot});
    }
}

void weir_snapshot_abandon(struct weir_snapshot *snapshot)
{
    atomic_store(&snapshot->is_abandoned, true);
    weir_snapshot_release(snapshot);
}
