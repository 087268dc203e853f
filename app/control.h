// SPDX-License-Identifier: Apache-2.0
// The way from threads outside the job (HTTP) to whichever life of it is running: requests posted
// here reach the present coordinator, or are refused while there is none. Lives as long as the
// process. Thread: any.
#ifndef WEIR_APP_CONTROL_H
#define WEIR_APP_CONTROL_H

#include "app/pauses.h"
#include "runtime/request.h"

#include <pthread.h>

struct weir_job_tasks;

// Why nothing can be asked while no life is running.
#define WEIR_CONTROL_ABSENT                                                                        \
    "the job is not running now: it is starting, ending or going back to its last checkpoint"

struct weir_control {
    pthread_mutex_t lock;
    struct weir_mailbox *coordinator;   // NULL: no life is running
    const struct weir_job_tasks *tasks; // of the life; NULL: there is none
    struct weir_pauses pauses;
};

void weir_control_init(struct weir_control *control);
void weir_control_deinit(struct weir_control *control);

// By the main thread, before the tasks begin to run: what is paused stays so. They outlive the
// life.
void weir_control_begin(struct weir_control *control, const struct weir_job_tasks *tasks);

// By the main thread: a life has begun to run, or (NULL) it is over. The mailbox is not destroyed
// before it was taken away here.
void weir_control_set(struct weir_control *control, struct weir_mailbox *coordinator);

// Hands the request on; the caller keeps its own reference, waits with weir_request_wait, and does
// not hold anything that the answer needs. False: no life is running now, and the request is
// refused (503: not ready). A savepoint whose folder cannot be used is refused at once.
bool weir_control_ask(struct weir_control *control, struct weir_request *request);

// Partitions that are read are read no more, or again. table NULL: of every table; partition -1:
// all of them. How many that are; 0: none matches, nothing was changed. -1: no life is running now.
int64_t weir_control_pause(struct weir_control *control, const char *table, int32_t partition,
                           bool is_paused);

#endif
