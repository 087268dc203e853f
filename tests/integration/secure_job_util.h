// SPDX-License-Identifier: Apache-2.0
// A job with everything that asks the brokers for a right: a source with dead letters, a sink
// without and one with keyed state. What it must have written is computed from the number of
// records alone. Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_SECURE_JOB_UTIL_H
#define WEIR_TESTS_INTEGRATION_SECURE_JOB_UTIL_H

#include "tests/integration/secure_util.h"

// The least rights of that job, each once: what docs/security.md says, with its topics put in.
enum secure_need {
    SECURE_NEED_READ,
    SECURE_NEED_WRITE,
    SECURE_NEED_WRITE_KEYED,
    SECURE_NEED_WRITE_DEAD,
    SECURE_NEED_LIMIT,
    SECURE_NEED_LIMIT_KEYED,
    SECURE_NEED_LIMIT_DEAD,
    SECURE_NEED_GROUP,
    SECURE_NEED_TRANSACTION,
    SECURE_NEED_CLUSTER,
    SECURE_NEED_COUNT,
};
extern const struct secure_right secure_needs[SECURE_NEED_COUNT];

struct secure_job {
    struct sql_job *job;
    enum secure_login login;
    int count; // records so far; record n is in partition n mod 2
};

// Topics, whose input the broker keeps in that codec, and the least rights.
struct secure_job secure_job_create(const char *name, enum secure_login login, const char *codec);

void secure_job_feed(struct secure_job *job, int count);

// Everything that was fed, each once, in order, in its place.
void secure_job_check(const struct secure_job *job);

// One that runs; a bounded run to its end with code 0.
struct weir_test_process *secure_job_start(const struct secure_job *job, const char *const *extra);
void secure_job_finish(const struct secure_job *job, const char *const *extra);

// Through a SIGKILL and a savepoint with drain, from which another life goes on; then the check.
void secure_job_expect_exactly_once(struct secure_job *job);

#endif
