// SPDX-License-Identifier: Apache-2.0
// The aligner of exactly-once mode: decides, from the barriers that arrive on a task's channels,
// which channels must wait and when a barrier passes. Pure: no channel is touched here, the caller
// asks before it pops. (Flink: SingleCheckpointBarrierHandler.)
//
//   no barrier → first barrier n: that channel is blocked → … → last one: n passes, all are free
//
// Invariants
// 1. A channel that has delivered barrier n is blocked until n passes or is cancelled.
// 2. While n is aligned for, no channel can deliver another number: a newer barrier that overtakes
//    is a bug in exactly-once mode.
// 3. A channel that has ended is not waited for.
#ifndef WEIR_RUNTIME_ALIGNER_H
#define WEIR_RUNTIME_ALIGNER_H

#include "runtime/operator.h"

struct weir_aligner;

enum weir_alignment {
    WEIR_ALIGNMENT_NONE, // nothing passes now
    WEIR_ALIGNMENT_PASS, // the barrier (weir_aligner_barrier) passes: snapshot now
};

struct weir_aligner *weir_aligner_create(uint32_t channel_count);
void weir_aligner_destroy(struct weir_aligner *aligner);

bool weir_aligner_is_blocked(const struct weir_aligner *aligner, uint32_t channel_idx);
// A barrier has arrived and others are waited for.
bool weir_aligner_is_aligning(const struct weir_aligner *aligner);
uint32_t weir_aligner_received_count(const struct weir_aligner *aligner);

// now_ms: for the alignment time.
enum weir_alignment weir_aligner_on_barrier(struct weir_aligner *aligner, uint32_t channel_idx,
                                            const struct weir_barrier *barrier, int64_t now_ms);
// The end of a channel can complete an alignment.
enum weir_alignment weir_aligner_on_end(struct weir_aligner *aligner, uint32_t channel_idx,
                                        int64_t now_ms);
// The checkpoint will not be, nor will an older one: whoever waits is free, and a barrier of it
// that comes yet is passed over. An older number changes nothing.
void weir_aligner_on_cancel(struct weir_aligner *aligner, int64_t number);

// The barrier that passed last, and how long its alignment took (0 with one channel).
const struct weir_barrier *weir_aligner_barrier(const struct weir_aligner *aligner);
int64_t weir_aligner_duration_ms(const struct weir_aligner *aligner);

#endif
