// SPDX-License-Identifier: Apache-2.0
// Which partitions somebody wants not to be read, for as long as the process lives: the job may go
// back to its last checkpoint meanwhile, and partitions may come. A list of wishes, of which the
// last one that is about a partition counts. Thread: any, one at a time (the control's lock).
#ifndef WEIR_APP_PAUSES_H
#define WEIR_APP_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

struct weir_job_tasks;

struct weir_pause {
    char *table;       // NULL: every table that is read
    int32_t partition; // -1: every partition
    bool is_paused;
};

struct weir_pauses {
    uint32_t count;
    struct weir_pause *list;
};

void weir_pauses_deinit(struct weir_pauses *pauses);

// A wish of anybody: table NULL and partition -1 as above.
void weir_pauses_add(struct weir_pauses *pauses, const char *table, int32_t partition,
                     bool is_paused);

// What the wishes say of this partition.
bool weir_pauses_has(const struct weir_pauses *pauses, const char *table, int32_t partition);

// How many partitions that these tasks read a wish is about; those in quarantine are not read.
int64_t weir_pauses_count(const struct weir_job_tasks *tasks, const char *table, int32_t partition);

// Hands them on to the sources of these tasks.
void weir_pauses_apply(const struct weir_pauses *pauses, const struct weir_job_tasks *tasks);

#endif
