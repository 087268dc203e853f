// SPDX-License-Identifier: Apache-2.0
// A worker: a thread that does one kind of work on items, first in, first out. Stepped ones have no
// thread: a test or the simulator runs their items itself, one at a time, when it likes.
#ifndef WEIR_ROCKSDB_BACKEND_WORKER_H
#define WEIR_ROCKSDB_BACKEND_WORKER_H

#include <stdbool.h>

struct weir_worker;

struct weir_worker_config {
    const char *name; // at most 15 bytes: the thread's
    void *context;
    void (*run)(void *context, void *item);  // the worker's thread
    void (*drop)(void *context, void *item); // for what stop finds in the queue: stop's thread
    bool is_stepped;
};

struct weir_worker *weir_worker_create(const struct weir_worker_config *config);
void weir_worker_push(struct weir_worker *worker, void *item); // any thread; never blocks for long
// Stepped only: runs the oldest item in the caller's thread; false: there is none.
bool weir_worker_step(struct weir_worker *worker);
// The item in work is finished, the others dropped. Pushes after it are dropped at once.
void weir_worker_stop(struct weir_worker *worker);
void weir_worker_destroy(struct weir_worker *worker); // stopped; accepts NULL

#endif
