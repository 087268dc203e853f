// SPDX-License-Identifier: Apache-2.0
// The coordinator's own parts: coordinator.c, coordinator_watch.c and coordinator_counts.c.
#ifndef WEIR_RUNTIME_COORDINATOR_INTERNAL_H
#define WEIR_RUNTIME_COORDINATOR_INTERNAL_H

#include "runtime/coordinator.h"

enum weir_ending {
    WEIR_ENDING_NOT,
    WEIR_ENDING_BOUNDED,
    WEIR_ENDING_STOP,
    WEIR_ENDING_DRAIN, // as STOP, once every source task has advanced time to the end
    WEIR_ENDING_REBUILD,
};

struct weir_coordinator {
    struct weir_coordinator_config config;
    struct weir_metric *acknowledgements[WEIR_ACKNOWLEDGEMENT_COUNT];
    struct weir_metric *refusals[WEIR_TRIGGER_REFUSAL_COUNT]; // of ALLOWED: NULL
    uint32_t refused_reasons; // bits: why the trigger that is due was refused so far
    uint32_t failures_in_row;
    bool is_behind; // a checkpoint was given up: the next one is not skipped
    struct weir_pending_list pending;
    int64_t next_number;
    int64_t handle_ready_number;
    int64_t created_ms;
    int64_t last_trigger_ms;
    int64_t last_end_ms;
    uint64_t *activity;    // by task idx, at the last trigger
    bool *is_finished;     // by task idx
    uint32_t source_count; // tasks that read Kafka and get the triggers
    uint32_t finished_count;
    bool is_checkpoint_wanted;        // a task asked for one: the interval is not waited for
    struct weir_request_list waiting; // for the next checkpoint; those that end the job, the last
    enum weir_ending ending;
    bool is_final_triggered;
    struct weir_outcome outcome;
};

// What is counted on /metrics; opened before and closed after everything else.
void weir_coordinator_open_counts(struct weir_coordinator *coordinator);
void weir_coordinator_close_counts(struct weir_coordinator *coordinator);
// A trigger that is due is looked at again with every mail; each reason counts once until it is
// out.
void weir_coordinator_count_refusal(struct weir_coordinator *coordinator,
                                    enum weir_trigger_refusal refusal);

// The run is over; every pending checkpoint and every request fails with it.
void weir_coordinator_end_failed(struct weir_coordinator *coordinator,
                                 enum weir_checkpoint_failure failure,
                                 const struct weir_error *error);

// A checkpoint that will not be. In exactly-once mode its rows are in its transaction, so the run
// ends. Else it is given up: whoever waits for it stops waiting, and only too many in a row end the
// run. The last checkpoint of a run has no next one to make up for it.
void weir_coordinator_fail_pending(struct weir_coordinator *coordinator,
                                   struct weir_pending *pending,
                                   enum weir_checkpoint_failure failure,
                                   const struct weir_error *error);

// The canceller of every pending checkpoint, and the watchdog of the commit. Returns the
// milliseconds until the next one is due, -1 when none is pending.
int64_t weir_coordinator_check_deadlines(struct weir_coordinator *coordinator, int64_t now_ms);

#endif
