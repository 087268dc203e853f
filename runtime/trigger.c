// SPDX-License-Identifier: Apache-2.0
// See trigger.h.
#include "runtime/trigger.h"

enum weir_trigger_refusal weir_trigger_check(const struct weir_trigger_state *state,
                                             enum weir_trigger_kind kind)
{
    if (state->is_shutting_down && kind != WEIR_TRIGGER_FINAL) {
        return WEIR_TRIGGER_SHUTTING_DOWN;
    }
    if (!state->is_running) {
        return WEIR_TRIGGER_SUSPENDED;
    }
    if (state->source_running_count < state->source_count) {
        return WEIR_TRIGGER_SOURCE_NOT_RUNNING;
    }
    if (state->task_running_count < state->task_count) {
        return WEIR_TRIGGER_TASK_NOT_RUNNING;
    }
    if (state->pending_count >= state->concurrent_max ||
        state->handle_ready_number < state->number + 1) {
        return WEIR_TRIGGER_TOO_MANY_PENDING;
    }
    if (kind == WEIR_TRIGGER_PERIODIC && state->now_ms - state->last_end_ms < state->min_pause_ms) {
        return WEIR_TRIGGER_MIN_PAUSE;
    }
    return WEIR_TRIGGER_ALLOWED;
}

const char *weir_trigger_refusal_name(enum weir_trigger_refusal refusal)
{
    switch (refusal) {
    case WEIR_TRIGGER_ALLOWED:
        return "allowed";
    case WEIR_TRIGGER_SHUTTING_DOWN:
        return "shutting_down";
    case WEIR_TRIGGER_SUSPENDED:
        return "periodic_suspended";
    case WEIR_TRIGGER_SOURCE_NOT_RUNNING:
        return "source_not_running";
    case WEIR_TRIGGER_TASK_NOT_RUNNING:
        return "task_not_running";
    case WEIR_TRIGGER_TOO_MANY_PENDING:
        return "too_many_pending";
    case WEIR_TRIGGER_MIN_PAUSE:
        return "minimum_pause";
    case WEIR_TRIGGER_REFUSAL_COUNT:
        break;
    }
    return "unknown";
}
