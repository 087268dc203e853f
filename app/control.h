// SPDX-License-Identifier: Apache-2.0
// The way from threads outside the job (HTTP) to whichever life of it is running: requests posted
// here reach the present coordinator, or are refused while there is none. Lives as long as the
// process. Thread: any.
#ifndef WEIR_APP_CONTROL_H
#define WEIR_APP_CONTROL_H

#include "runtime/request.h"

#include <pthread.h>

struct weir_control {
    pthread_mutex_t lock;
    struct weir_mailbox *coordinator; // NULL: no life is running
};

void weir_control_init(struct weir_control *control);
void weir_control_deinit(struct weir_control *control);

// By the main thread: a life has begun to run, or (NULL) it is over. The mailbox is not destroyed
// before it was taken away here.
void weir_control_set(struct weir_control *control, struct weir_mailbox *coordinator);

// Hands the request on; the caller keeps its own reference, waits with weir_request_wait, and does
// not hold anything that the answer needs. False: no life is running now, and the request is
// refused (503: not ready). A savepoint whose folder cannot be used is refused at once.
bool weir_control_ask(struct weir_control *control, struct weir_request *request);

#endif
