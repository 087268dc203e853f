// SPDX-License-Identifier: Apache-2.0
// The gauges of one life: lag of partitions, how busy tasks are. Read from the parts of the job
// when somebody looks. Thread: any, one at a time (the board's lock).
#ifndef WEIR_APP_JOB_FIGURES_H
#define WEIR_APP_JOB_FIGURES_H

#include "app/watch.h"

// How a task has spent its time lately, 0 to 1; negative: not known yet.
struct weir_task_shares {
    double busy;
    double backpressure;
};

// Gauges of the keyed state of a task; NULL: it keeps none.
struct weir_state_gauges {
    struct weir_metric *entries;
    struct weir_metric *bytes;
    struct weir_metric *cache;
    struct weir_metric *unclean;
};

struct weir_job_figures {
    const struct weir_job_tasks *tasks; // outlive the figures, as the watch does
    struct weir_watch *watch;
    struct weir_metric ***lags;              // by task, by partition; NULL: a keyed task
    struct weir_metric ***open_transactions; // likewise: open transactions
    struct weir_task_times *times;           // by task: when the shares were last computed
    struct weir_task_shares *shares;         // by task
    struct weir_metric **paused;             // by task: of its partitions; NULL: a keyed task
    struct weir_metric **quarantined;        // likewise
    struct weir_metric **busy;
    struct weir_metric **backpressure;
    struct weir_state_gauges *states; // by task
};

struct weir_job_figures *weir_job_figures_create(const struct weir_job_tasks *tasks,
                                                 struct weir_watch *watch,
                                                 const struct weir_plan *plan);
void weir_job_figures_destroy(struct weir_job_figures *figures); // accepts NULL

void weir_job_figures_refresh(struct weir_job_figures *figures);

#endif
