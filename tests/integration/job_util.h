// SPDX-License-Identifier: Apache-2.0
// A job under test: numbered records go into topic "in", and what a read_committed reader finds in
// the outputs is compared with what these numbers must give, row by row and in order. Failures end
// the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_JOB_UTIL_H
#define WEIR_TESTS_INTEGRATION_JOB_UTIL_H

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/group.h"
#include "tests/harness/process.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"

enum { JOB_PARTITIONS = 8, JOB_EVEN_PARTITIONS = 3 };

struct job {
    const char *bootstrap;
    const char *name;      // job id; topics are "<name>-in", "-all", "-even", "-dead"
    const char *dir;       // everything of this job: logs, state, store
    const char *store_dir; // WEIR_CHECKPOINT_DIR: shared by two owners of one identity
    const char *sql_path;
    int64_t fed_count; // records in the topic; record n is in partition n mod 8 at offset n / 8
    int start_count;   // processes started so far; also names state directories and logs
};

// Makes the topics, replicated as the cluster's defaults say.
struct job *job_create(const char *bootstrap, const char *name);

// Appends `count` records. One in a hundred is no JSON, one in a hundred divides by zero: dead
// letters both.
void job_feed(struct job *job, int64_t count);

// Starts weir with parallelism 2 and checkpoints every 100 ms. extra: "NAME=value" …, NULL.
// own_state_dir: a state directory that no other process has (two owners of one identity).
struct weir_test_process *job_start(struct job *job, bool own_state_dir, const char *const *extra);

// Runs weir with WEIR_BOUNDED=true until it has read everything; exit code 0 is asserted.
void job_finish(struct job *job);

// The committed outputs are exactly what the fed records give: nothing lost, nothing twice, in
// order within each source partition.
void job_check(const struct job *job);

// The same without failing the test: the first fault as text, for free(); NULL: there is none.
char *job_fault(const struct job *job);

// Until the job says that it is running; fails the test if it ends before.
void job_wait_running(struct weir_test_process *process);

// The process ends within that time with this exit code; its log holds the text (NULL: any).
void job_expect_end(struct weir_test_process *process, int code, int timeout_ms, const char *text);

// How often the process's log holds the text.
int job_count_text(struct weir_test_process *process, const char *text);

// "<name>-0-<epoch mod 4>", for free().
char *job_transactional_id(const struct job *job, int64_t epoch);

// The pointer as the group has it now, offsets of open transactions left aside; number -1: none.
struct job_pointer {
    int64_t number;
    char manifest_attempt[17];
    char owner_attempt[17];
};
struct job_pointer job_pointer(const struct job *job);

// Until the pointer is at that checkpoint, or behind it; fails the test if the process ends.
void job_wait_committed(const struct job *job, struct weir_test_process *process, int64_t number,
                        int timeout_ms);

// Until everything that was fed is read and committed.
void job_wait_read(const struct job *job, struct weir_test_process *process, int timeout_ms);

// Waits until everything is read, ends the process with SIGTERM and exit code 0, each within that
// time, and destroys it; then job_finish and job_check.
void job_end_and_check(struct job *job, struct weir_test_process *process, int timeout_ms);

// The files of the checkpoint store with sizes and times, a line each, for free().
char *job_store_listing(const struct job *job);

#endif
