// SPDX-License-Identifier: Apache-2.0
// The tracker of at-least-once mode: counts the barriers that arrive on a task's channels and says
// when one has come on all of them. It never blocks: rows behind a barrier that come before it has
// passed are in the snapshot as well, and are seen twice after a restore. Pure: no channel is
// touched here. (Flink: CheckpointBarrierTracker.)
//
// Invariants
// 1. A barrier passes when every channel has delivered it or has ended, once, and not before.
// 2. When one passes, older ones are forgotten: their checkpoints say nothing that it does not.
// 3. At most WEIR_TRACKED_MAX barriers are remembered; the oldest is forgotten for a newer one.
#ifndef WEIR_RUNTIME_TRACKER_H
#define WEIR_RUNTIME_TRACKER_H

#include "runtime/operator.h"

enum { WEIR_TRACKED_MAX = 32 };

struct weir_tracker;

struct weir_tracker *weir_tracker_create(uint32_t channel_count);
void weir_tracker_destroy(struct weir_tracker *tracker);

// True: weir_tracker_barrier passes now. now_ms: for the time between its first and last arrival.
bool weir_tracker_on_barrier(struct weir_tracker *tracker, uint32_t channel_idx,
                             const struct weir_barrier *barrier, int64_t now_ms);
// The end of a channel can complete a barrier; of several the newest passes.
bool weir_tracker_on_end(struct weir_tracker *tracker, uint32_t channel_idx, int64_t now_ms);
// The checkpoint will not be: its barrier does not pass any more, however many arrive.
void weir_tracker_on_cancel(struct weir_tracker *tracker, int64_t number);

uint32_t weir_tracker_count(const struct weir_tracker *tracker); // barriers that are remembered
const struct weir_barrier *weir_tracker_barrier(const struct weir_tracker *tracker);
int64_t weir_tracker_duration_ms(const struct weir_tracker *tracker);

#endif
