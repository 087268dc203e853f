// SPDX-License-Identifier: Apache-2.0
// Whether a checkpoint may be triggered now: the pre-checks of the coordinator as one pure
// function of what it knows (after Flink's CheckpointRequestDecider). No clock, no lock.
#ifndef WEIR_RUNTIME_TRIGGER_H
#define WEIR_RUNTIME_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

// Why not (closed set, in the order of the checks).
enum weir_trigger_refusal {
    WEIR_TRIGGER_ALLOWED,
    WEIR_TRIGGER_SHUTTING_DOWN,
    WEIR_TRIGGER_SUSPENDED,           // periodic triggers are off: the job is not running
    WEIR_TRIGGER_SOURCE_NOT_RUNNING,
    WEIR_TRIGGER_TASK_NOT_RUNNING,
    WEIR_TRIGGER_TOO_MANY_PENDING,
    WEIR_TRIGGER_MIN_PAUSE,
    WEIR_TRIGGER_REFUSAL_COUNT,
};

enum weir_trigger_kind {
    WEIR_TRIGGER_PERIODIC,
    WEIR_TRIGGER_MANUAL, // on request: the minimum pause does not hold
    WEIR_TRIGGER_FINAL,  // the last one: allowed while shutting down
};

struct weir_trigger_state {
    bool is_shutting_down;
    bool is_running; // the scheduler of checkpoints is on
    uint32_t source_count;
    uint32_t source_running_count;
    uint32_t task_count;
    uint32_t task_running_count;
    uint32_t pending_count;
    uint32_t concurrent_max;
    int64_t number;               // that the checkpoint would have
    int64_t handle_ready_number;  // greatest epoch whose producer handle has begun
    int64_t now_ms;
    int64_t last_end_ms; // when the last commit was made
    int64_t min_pause_ms;
};

// After barrier n rows belong to epoch n + 1: its handle must have begun, or n is one too many.
enum weir_trigger_refusal weir_trigger_check(const struct weir_trigger_state *state,
                                             enum weir_trigger_kind kind);
const char *weir_trigger_refusal_name(enum weir_trigger_refusal refusal);

#endif
