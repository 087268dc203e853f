// SPDX-License-Identifier: Apache-2.0
// From plan to tasks. A stage is what lies between two exchanges; its head is a source or an
// exchange. A source's stage has one task per share of its partitions, a keyed stage one per share
// of the key groups; each task has its own instance of every node of its stage.
#ifndef WEIR_APP_JOB_BUILD_H
#define WEIR_APP_JOB_BUILD_H

#include "app/job_nodes.h"

// What one task is made of, for figures; the task owns the nodes.
struct weir_job_task {
    struct weir_task *task;
    const struct weir_table *table; // that it reads; NULL: a keyed task
    struct weir_source *source;
    uint32_t partition_count;
    const int32_t *partitions;
    struct weir_row_policy *policy;
    // Of the nodes behind changes, whose barrier comes later; NULL: not a keyed task.
    struct weir_row_policy *changes_policy;
    struct weir_state_store *state; // NULL: it keeps none
    uint32_t sink_count;
    struct weir_operator **sinks;
    const struct weir_table **sink_tables;
};

struct weir_job_tasks {
    uint32_t count;
    struct weir_job_task *tasks;
};

// On error what was built so far is destroyed. Texts and arrays live in the arena.
enum weir_status weir_job_build(const struct weir_job_context *context,
                                const struct weir_recovered *recovered,
                                struct weir_mailbox *coordinator, struct weir_arena *arena,
                                struct weir_job_tasks *tasks, struct weir_error *error);

#endif
