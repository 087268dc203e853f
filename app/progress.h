// SPDX-License-Identifier: Apache-2.0
// How far a job has come that has an end, or that has to catch up: one log line each ten seconds,
// with the rate of the last ten and the time that is left at that rate. A job that has caught up
// once is silent from then on.
#ifndef WEIR_APP_PROGRESS_H
#define WEIR_APP_PROGRESS_H

#include "app/watch.h"

// What one look at all partitions of all sources found.
struct weir_progress_look {
    int64_t at_ms;        // monotonic
    int64_t offsets_read; // since the first look
    int64_t offsets_left; // to the ends
    bool is_bounded;      // the ends stand still
};

// The line for what happened between two looks. False: there is nothing to say, as no time has
// passed, or little is left. Thread: any; pure.
bool weir_progress_describe(const struct weir_progress_look *before,
                            const struct weir_progress_look *now, struct weir_buffer *line);

struct weir_progress;

// tasks and watch outlive it. Thread of everything below: one at a time.
struct weir_progress *weir_progress_create(const struct weir_job_tasks *tasks,
                                           struct weir_watch *watch,
                                           const struct weir_clock *clock);
void weir_progress_destroy(struct weir_progress *progress); // accepts NULL

// To be called every few seconds; looks, and logs when it is time.
void weir_progress_note(struct weir_progress *progress);

#endif
