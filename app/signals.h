// SPDX-License-Identifier: Apache-2.0
// SIGTERM and SIGINT: the first asks for a final checkpoint, the second ends the process at once.
// Whatever hangs, the process ends within 30 s of the first. Thread: any.
#ifndef WEIR_APP_SIGNALS_H
#define WEIR_APP_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

// Counts the requests so far.
extern atomic_int weir_stop_requests;

// Installs the handlers. Once, before threads start.
void weir_signals_init(void);

// Between recovery and the end of a life: a stop wakes this descriptor (the coordinator's mailbox).
// -1: no job runs, and a stop ends the process at once, since there is nothing to commit.
void weir_signals_wake(int descriptor);

// The job has ended as asked: whatever happens while it is taken down, the process ends with 0.
void weir_signals_set_ended(void);

#endif
