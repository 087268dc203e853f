// SPDX-License-Identifier: Apache-2.0
// The watch over what a life reads: do brokers answer, and does every partition get on? Fed by
// discovery, which asks brokers every few seconds anyway; looked at by the board.
// Thread: any; it has a lock of its own.
#ifndef WEIR_APP_WATCH_H
#define WEIR_APP_WATCH_H

#include "app/job_build.h"
#include "app/open_transaction.h"

struct weir_watch;

// stuck_ms: a partition with records that have not been read for so long is stuck. tasks outlive
// the watch.
struct weir_watch *weir_watch_create(const struct weir_job_tasks *tasks,
                                     const struct weir_clock *clock, int64_t stuck_ms);
void weir_watch_destroy(struct weir_watch *watch); // accepts NULL

// The end of a partition as a broker just told; the position is looked up here.
void weir_watch_note_end(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx,
                         int64_t end_offset);
// For how long the task has been held up so far by what is behind it (back-pressure). That time
// does not count: of a hundred partitions with a backlog one waits for its turn as long as all
// others take.
void weir_watch_note_held_up(struct weir_watch *watch, uint32_t task_idx, int64_t held_up_ms);
// What became of a round of questions: was at least one answered? text: of the last failure.
void weir_watch_note_round(struct weir_watch *watch, bool has_answer, const char *text);

// The last stable offset, asked for after the end was.
void weir_watch_note_stable(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx,
                            int64_t stable_offset);
// What is known of the one that begins there: its first record's timestamp (-1: nothing is there)
// and whose it is.
void weir_watch_note_transaction(struct weir_watch *watch, uint32_t task_idx,
                                 uint32_t partition_idx, int64_t offset, int64_t timestamp_ms,
                                 const struct weir_transaction_owner *owner);
// The one that holds the partition up: all before it has been read.
struct weir_open_transaction weir_watch_open_transaction(struct weir_watch *watch,
                                                         uint32_t task_idx, uint32_t partition_idx);

// Records between the position and the end of the partition, by the newest of what is known; -1:
// nothing is.
int64_t weir_watch_lag(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx);

// A line for each thing that is wrong; false: nothing is.
bool weir_watch_describe(struct weir_watch *watch, struct weir_buffer *lines);

#endif
