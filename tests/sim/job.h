// SPDX-License-Identifier: Apache-2.0
// The jobs that are run, their input, and what must come out: computed from the input alone, by
// code that shares nothing with weir's. Thread: there is one.
#ifndef WEIR_TESTS_SIM_JOB_H
#define WEIR_TESTS_SIM_JOB_H

#include "tests/sim/broker.h"

enum sim_job_kind {
    SIM_JOB_PASS,   // two sinks, one behind a filter
    SIM_JOB_COUNT,  // one row a key, taken over by the next
    SIM_JOB_TUMBLE, // one row a key and window, once
    SIM_JOB_TTL,    // as count, of keys that are forgotten
    SIM_JOB_LATEST, // sums over a changelog with deletes
    SIM_JOB_KIND_COUNT,
};

enum { SIM_PARTITIONS_MAX = 8, SIM_KEYS_MAX = 64 };

struct sim_saved;

// Positions of all partitions of the input: the next offset to be read.
struct sim_positions {
    uint32_t count;
    int64_t offsets[SIM_PARTITIONS_MAX];
};

// 0: of a partition that is new.
static inline int64_t sim_position(const struct sim_positions *positions, uint32_t partition)
{
    return partition < positions->count ? positions->offsets[partition] : 0;
}

void sim_job_init(enum sim_job_kind kind, uint32_t partition_count, uint32_t key_count);
// At least once: nothing may be missing, but rows may come again, and count records again.
void sim_job_allow_repeats(void);
const char *sim_job_name(enum sim_job_kind kind);
// As it is written for that life: it changes, and loses nothing that matters.
const char *sim_job_sql(uint32_t life);
struct sim_topic *sim_job_input(void);
void sim_job_extend(uint32_t partition_count);
bool sim_job_can_extend(void); // not where a new partition's rows would be late

// The topics that it writes to; ends with NULL.
enum { SIM_OUTPUTS_MAX = 3 };
const char *const *sim_job_outputs(void);

// One more record, at once visible or in the upstream transaction of that producer.
void sim_job_feed(uint32_t partition, int64_t producer_id);
// The input's topic is deleted and created again, with so many records at once.
void sim_job_remake(uint32_t record_count);
// The last records of the run: time passes beyond all that came before.
void sim_job_feed_end(void);

// What is expected after the commit that was compared last; lives as long as the run.
struct sim_saved *sim_job_save(void);
// The job begins anew on purpose, from what was saved (NULL: from nothing): what has come out so
// far counts no more.
void sim_job_restore(const struct sim_saved *saved);
// Positions were moved on purpose, and nothing else; only where sim_job_can_rewind.
void sim_job_rewind(const struct sim_positions *positions);
bool sim_job_can_rewind(void);
bool sim_job_can_drain(void);
// A row of the output that is decided to be committed. NULL, or what is wrong with it.
const char *sim_job_take(const char *topic, const struct sim_record *record);
// After all rows of one commit: do they agree with the positions that it commits? NULL: yes.
// may_be_drained: time may have been advanced to its end before it.
const char *sim_job_compare(const struct sim_positions *positions, bool may_be_drained);
// At the end: everything is there, and in the order of the input.
const char *sim_job_compare_end(const struct sim_positions *positions);

#endif
