// SPDX-License-Identifier: Apache-2.0
// The input as the checks of the jobs see it; for job.c, and the files of the jobs, job_*.c.
#ifndef WEIR_TESTS_SIM_JOB_MODEL_H
#define WEIR_TESTS_SIM_JOB_MODEL_H

#include "tests/sim/job.h"

#include <stdarg.h>

#define SIM_TIME_BEGIN_US INT64_C(1767200000000000) // before the clock's beginning
#define SIM_TIME_SPAN_US INT64_C(20000000000)       // the last records' time; input ends before it
enum {
    SIM_GROUPS = 5, // of a changelog
    SIM_IDS_PER_PARTITION = 1000000,
    SIM_IDS_MAX = 4096, // of a partition
    SIM_WINDOW_US = 10000000,
    SIM_DELAY_US = 2000000,
};

// A block of memory.
struct sim_saved {
    void *data;
    size_t size_bytes;
};

struct sim_row {
    int64_t id;
    uint32_t key;
    int64_t value;
    int64_t time_us;
    bool is_bad;     // its value cannot be decoded
    bool is_deleted; // of a changelog: the key's row goes
};

struct sim_rows {
    struct sim_row *rows; // by offset; nothing at markers
    uint32_t capacity;
    int64_t next_id;
    int64_t time_us;
};

// A job: its text, and what must come out of it.
struct sim_job_model {
    const char *name;
    const char *const *outputs; // topics; ends with NULL
    // In ways that give the same rows and keep other values for it, in another order: what is more
    // starts from now, and is in a condition that holds whatever it is.
    const char *const *variants;
    uint32_t variant_count;
    bool has_own_keys; // each partition has keys of its own, so that a key's rows have one order
    bool is_changelog; // records have keys, and no value where the key's row goes
    // The expectation as one block of memory, all zero at the beginning.
    struct sim_saved (*state)(void);
    void (*rewind)(const struct sim_positions *positions); // NULL: cannot
    void (*begin_output)(void);                            // NULL: has nothing to do
    // See job.h.
    const char *(*take)(const char *topic, const struct sim_record *record);
    const char *(*compare)(const struct sim_positions *positions, bool may_be_drained);
    const char *(*compare_end)(const struct sim_positions *positions);
};
extern const struct sim_job_model sim_pass, sim_count, sim_tumble, sim_ttl, sim_latest;

struct sim_input {
    enum sim_job_kind kind;
    const struct sim_job_model *model;
    uint32_t key_count;
    bool may_repeat; // at least once
    struct sim_topic *topic;
    struct sim_rows rows[SIM_PARTITIONS_MAX];
};
extern struct sim_input sim_input;

// Hands each row between the positions that readers of committed records see to visit, until that
// says what is wrong. NULL: never.
const char *sim_each_row(const struct sim_positions *from, const struct sim_positions *to,
                         const char *(*visit)(uint32_t partition, const struct sim_row *row));
// The same from *before on, which then is *positions; wrong is also a position that goes back.
const char *sim_advance(struct sim_positions *before, const struct sim_positions *positions,
                        const char *(*visit)(uint32_t partition, const struct sim_row *row));

// The group of a changelog's row: column g.
static inline uint32_t sim_group_of(const struct sim_row *row)
{
    return (uint32_t)(row->id % SIM_GROUPS);
}

void sim_format_time(int64_t time_us, char *text, size_t text_bytes);
bool sim_read_number(struct weir_view json, const char *name, int64_t *number);
bool sim_read_key(struct weir_view json, uint32_t *key);
bool sim_read_time(struct weir_view json, const char *name, int64_t *time_us);
// The record that an id was given to; NULL: none.
const struct sim_record *sim_record_of(int64_t id);
static inline bool sim_split_id(int64_t id, uint32_t *partition, uint32_t *number)
{
    *partition = (uint32_t)(id / SIM_IDS_PER_PARTITION);
    *number = (uint32_t)(id % SIM_IDS_PER_PARTITION);
    return id >= 0 && *partition < SIM_PARTITIONS_MAX && *number < SIM_IDS_MAX;
}
// A text that lives until the next call.
const char *sim_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Hands each row of that output that counts to visit, in the order of its partition, until that
// says what is wrong. NULL: never. Counts what is decided: its marker may be on its way.
const char *sim_each_output(const char *topic,
                            const char *(*visit)(void *context, uint32_t partition,
                                                 const struct sim_record *record),
                            void *context);

#endif
