// SPDX-License-Identifier: Apache-2.0
// The real program with any SQL, against a real broker: a test writes records into topics, starts
// or runs weir, and compares what a read_committed reader finds, how the process ended, what it
// said, and what it left in Kafka and in its checkpoint store. Failures end the running test. What
// is allocated lives as long as the program. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_SQL_JOB_UTIL_H
#define WEIR_TESTS_INTEGRATION_SQL_JOB_UTIL_H

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/group.h"
#include "tests/harness/process.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"

#include "tests/unit/cmocka_all.h"

// Settings of one start: "NAME=value", …
#define SQL_JOB_EXTRA(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SQL_JOB_BOUNDED SQL_JOB_EXTRA("WEIR_BOUNDED=true")

// Texts that a log must hold, values that a partition must hold.
#define SQL_JOB_TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct sql_job {
    const char *bootstrap;
    const char *name;      // the job id; "$" in SQL stands for it
    const char *dir;       // everything of this job: logs, state, store
    const char *store_dir; // WEIR_CHECKPOINT_DIR
    const char *sql_path;
    int start_count;
};

// sql may be NULL: sql_job_set_sql comes later.
struct sql_job *sql_job_create(const char *bootstrap, const char *name, const char *sql);
void sql_job_set_sql(struct sql_job *job, const char *sql);

// "<name>-<suffix>": the topic that "$-<suffix>" in SQL names.
const char *sql_job_topic(const struct sql_job *job, const char *suffix);
void sql_job_topic_create(const struct sql_job *job, const char *suffix, int32_t partition_count);

// Appends records without key; value NULL is a null value.
void sql_job_feed(const struct sql_job *job, const char *suffix, int32_t partition,
                  const char *value);
// Appends a record with a key, in the partition of the key; value NULL is a tombstone.
void sql_job_feed_keyed(const struct sql_job *job, const char *suffix, const char *key,
                        const char *value);
// Appends {"n":first}, {"n":first+1}, …, count of them.
void sql_job_feed_numbers(const struct sql_job *job, const char *suffix, int32_t partition,
                          int first, int count);

// Appends a record for each of the numbers first, first+1, …, count of them; frees their keys and
// values.
void sql_job_feed_each(const struct sql_job *job, const char *suffix, int64_t first, int64_t count,
                       struct weir_test_record (*make)(const void *context, int64_t n),
                       const void *context);

// Starts weir with parallelism 2 and checkpoints every 100 ms. extra may be NULL; what it sets
// takes the place of a default.
struct weir_test_process *sql_job_start(struct sql_job *job, const char *const *extra);

// The same with another command than run, and one to its end (see sql_job_expect_exit).
struct weir_test_process *sql_job_start_command(struct sql_job *job, const char *const *words,
                                                const char *const *extra);
const char *sql_job_run_command(struct sql_job *job, const char *const *words,
                                const char *const *extra, int code, const char *const *texts);

// Waits until the process says that it is running.
void sql_job_wait_running(struct weir_test_process *process);

// SIGTERM, exit code 0, and gone.
void sql_job_stop(struct weir_test_process *process);

// SIGKILL, and gone.
void sql_job_kill(struct weir_test_process *process);

// Waits for the end, expects the exit code (below 0: that signal) and each of the texts in the log,
// and destroys the process. Returns the log.
const char *sql_job_expect_exit(struct weir_test_process *process, int code,
                                const char *const *texts);

// One life from start to an end by itself, as above.
const char *sql_job_run(struct sql_job *job, const char *const *extra, int code,
                        const char *const *texts);

// A bounded run that ends well.
const char *sql_job_run_bounded(struct sql_job *job);

// A start that is refused with code 2 and these texts, and that leaves the outputs (suffix "out"),
// the committed offsets and every file of the store as they were.
const char *sql_job_expect_refused(struct sql_job *job, const char *const *extra,
                                   const char *const *texts);

// The same of any command, with any code.
const char *sql_job_expect_untouched(struct sql_job *job, const char *const *words,
                                     const char *const *extra, int code, const char *const *texts);

// What a read_committed reader finds once no transaction is open there (or after 10 s all the
// same).
struct weir_test_log *sql_job_read(const struct sql_job *job, const char *suffix);

// Waits until a read_committed reader finds so many records (and then no more than that).
void sql_job_wait_count(const struct sql_job *job, const char *suffix, size_t count);

// The partition holds exactly these values, in order.
void sql_job_expect_values(const struct sql_job *job, const char *suffix, int32_t partition,
                           const char *const *values);

// The last value in partition 0 that begins with {"k":k, is this one.
void sql_job_expect_last(const struct sql_job *job, const char *suffix, int k, const char *value);

// The partition's values are exactly {"n":first}, {"n":first+1}, …, count of them.
void sql_job_expect_numbers(const struct sql_job *job, const char *suffix, int32_t partition,
                            int first, int count);

// The last value of every key, deleted ones left out, sorted, a line each; for free().
char *sql_job_compacted(const struct sql_job *job, const char *suffix);

// The value of a record as text.
char *sql_job_text(const struct weir_test_record *record);

// What the group has committed for the partition: -1: nothing.
int64_t sql_job_committed(const struct sql_job *job, const char *suffix, int32_t partition);

// The number of the greatest checkpoint that the topic's committed offsets point at; -1: none.
long long sql_job_pointer(const struct sql_job *job, const char *suffix);

// Paths of the store's files whose names begin so, sorted, NULL behind the last.
char **sql_job_files(const struct sql_job *job, const char *prefix);
char **sql_job_manifests(const struct sql_job *job);

// The manifest that the topic's pointer names.
char *sql_job_pointed_manifest(const struct sql_job *job, const char *suffix);

// Names, sizes, times and checksums of every file of the store, as one text to compare.
char *sql_job_store_print(const struct sql_job *job);

#endif
