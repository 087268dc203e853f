// SPDX-License-Identifier: Apache-2.0
// See secure_job_util.h.
#include "tests/integration/secure_job_util.h"

#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTITIONS = 2, KEYS = 5, BROKEN_EVERY = 50, RECORDS_MAX = 8000, WAIT_MS = 60000 };

#define SQL                                                                                        \
    "CREATE TABLE input (n int, k int)\n"                                                          \
    "  WITH (topic = '$-in', on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"           \
    "CREATE TABLE copies (n int) WITH (topic = '$-out');\n"                                        \
    "CREATE TABLE counts (k int PRIMARY KEY, c bigint, s bigint) WITH (topic = '$-counts');\n"     \
    "INSERT INTO copies SELECT n FROM input;\n"                                                    \
    "INSERT INTO counts SELECT k, count(*), sum(n) FROM input GROUP BY k;\n"

const struct secure_right secure_needs[SECURE_NEED_COUNT] = {
    [SECURE_NEED_READ] = {SECURE_READ, SECURE_TOPIC, "$-in", false},
    [SECURE_NEED_WRITE] = {SECURE_WRITE, SECURE_TOPIC, "$-out", false},
    [SECURE_NEED_WRITE_KEYED] = {SECURE_WRITE, SECURE_TOPIC, "$-counts", false},
    [SECURE_NEED_WRITE_DEAD] = {SECURE_WRITE, SECURE_TOPIC, "$-dead", false},
    [SECURE_NEED_LIMIT] = {SECURE_DESCRIBE_CONFIGS, SECURE_TOPIC, "$-out", false},
    [SECURE_NEED_LIMIT_KEYED] = {SECURE_DESCRIBE_CONFIGS, SECURE_TOPIC, "$-counts", false},
    [SECURE_NEED_LIMIT_DEAD] = {SECURE_DESCRIBE_CONFIGS, SECURE_TOPIC, "$-dead", false},
    [SECURE_NEED_GROUP] = {SECURE_READ, SECURE_GROUP, "$", false},
    [SECURE_NEED_TRANSACTION] = {SECURE_WRITE, SECURE_TRANSACTIONAL_ID, "$-0-", true},
    [SECURE_NEED_CLUSTER] = {SECURE_DESCRIBE_CONFIGS, SECURE_CLUSTER, "kafka-cluster", false},
};

struct secure_job secure_job_create(const char *name, enum secure_login login, const char *codec)
{
    struct secure_job job = {
        .job = sql_job_create(weir_test_cluster_direct_bootstrap(cluster), name, SQL),
        .login = login};
    weir_test_topic_create(job.job->bootstrap, sql_job_topic(job.job, "in"), PARTITIONS,
                           (const char *const[]){"compression.type", codec, NULL});
    sql_job_topic_create(job.job, "out", PARTITIONS);
    sql_job_topic_create(job.job, "counts", 1);
    sql_job_topic_create(job.job, "dead", 1);
    for (size_t i = 0; i < SECURE_NEED_COUNT; i++) {
        secure_allow(job.job, login, &secure_needs[i]);
    }
    return job;
}

// Decided by more than n's place in a group, so that every key and partition has some.
static bool is_broken(int n)
{
    return n % BROKEN_EVERY == 7 || n % BROKEN_EVERY == 18;
}

static struct weir_test_record record_of(const void *context, int64_t number)
{
    (void)context;
    int n = (int)number;
    return weir_test_record_of(n % PARTITIONS, NULL,
                               is_broken(n) ? weir_test_format("broken %d", n)
                                            : weir_test_format("{\"n\":%d,\"k\":%d}", n, n % KEYS));
}

void secure_job_feed(struct secure_job *job, int count)
{
    assert_in_range(job->count + count, 1, RECORDS_MAX);
    sql_job_feed_each(job->job, "in", job->count, count, record_of, NULL);
    job->count += count;
}

// --- what must be there --------------------------------------------------------------------------

static void check_copies(const struct secure_job *job)
{
    for (int p = 0; p < PARTITIONS; p++) {
        const char **values = weir_test_alloc(RECORDS_MAX * sizeof *values);
        size_t count = 0;
        for (int n = p; n < job->count; n += PARTITIONS) {
            if (!is_broken(n)) {
                values[count++] = weir_test_format("{\"n\":%d}", n);
            }
        }
        sql_job_expect_values(job->job, "out", p, values);
        free(values);
    }
}

// Two partitions share the topic, so their order among each other is free.
static void check_dead_letters(const struct secure_job *job)
{
    bool is_seen[RECORDS_MAX] = {false};
    struct weir_test_log *log = sql_job_read(job->job, "dead");
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        char *text = sql_job_text(&log->partitions[0].records[i]);
        int n = -1;
        if (sscanf(text, "broken %d", &n) != 1 || n < 0 || n >= job->count || !is_broken(n) ||
            is_seen[n]) {
            WEIR_TEST_FAIL("dead letter %s is wrong or there twice", text);
        }
        is_seen[n] = true;
        free(text);
    }
    for (int n = 0; n < job->count; n++) {
        if (is_broken(n) && !is_seen[n]) {
            WEIR_TEST_FAIL("dead letter %d is missing", n);
        }
    }
    weir_test_log_destroy(log);
}

static void check_counts(const struct secure_job *job)
{
    char *text = weir_test_format("%s", "");
    for (int k = 0; k < KEYS; k++) {
        long long count = 0;
        long long sum = 0;
        for (int n = k; n < job->count; n += KEYS) {
            count += is_broken(n) ? 0 : 1;
            sum += is_broken(n) ? 0 : n;
        }
        text = weir_test_format("%s{\"k\":%d,\"c\":%lld,\"s\":%lld}\n", text, k, count, sum);
    }
    assert_string_equal(sql_job_compacted(job->job, "counts"), text);
}

void secure_job_check(const struct secure_job *job)
{
    check_copies(job);
    check_dead_letters(job);
    check_counts(job);
}

// --- lives ---------------------------------------------------------------------------------------

struct weir_test_process *secure_job_start(const struct secure_job *job, const char *const *extra)
{
    struct weir_test_process *process = sql_job_start(job->job, secure_settings(job->login, extra));
    sql_job_wait_running(process);
    return process;
}

void secure_job_finish(const struct secure_job *job, const char *const *extra)
{
    const char *settings[16] = {"WEIR_BOUNDED=true"};
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
        assert_in_range(i, 0, 13);
        settings[i + 1] = extra[i];
    }
    sql_job_run(job->job, secure_settings(job->login, settings), 0, NULL);
}

void secure_job_expect_exactly_once(struct secure_job *job)
{
    secure_job_feed(job, 1000);
    struct weir_test_process *process = secure_job_start(job, NULL);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job->job, "in", 0) > 0, WAIT_MS);
    secure_job_feed(job, 1000);
    sql_job_kill(process);
    process = secure_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN));
    secure_job_feed(job, 300);
    const char *path = weir_test_format("%s/drained", job->job->dir);
    free(live_util_post(process, "/api/v1/savepoints",
                        weir_test_format("{\"path\":\"%s\",\"drain\":true}", path), NULL));
    sql_job_expect_exit(process, 0, NULL);
    secure_job_feed(job, 200);
    secure_job_finish(job, SQL_JOB_EXTRA(weir_test_format("WEIR_RESTORE=savepoint:%s", path)));
    secure_job_check(job);
}
