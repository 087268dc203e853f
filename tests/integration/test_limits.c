// SPDX-License-Identifier: Apache-2.0
// Cases about limits, by their numbers: memory with many partitions and a sink that is slow, rows
// above what a message may be. In smaller form: test_broker_faults.c.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

// --- memory --------------------------------------------------------------------------------------

enum {
    PARTITIONS = 200,
    RECORDS = 80000,
    FEED = 4000,
    BODY_BYTES = 1000,
    MEMORY_MIB = 128,
    SLOW_MS = 4000,
};

// A sanitizer's own memory is no concern of the budget.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_memory_ours = false;
#else
static const bool is_memory_ours = true;
#endif

// 0: it has ended.
static long peak_kib(const struct weir_test_process *process)
{
    char *text = weir_test_read_file(
        weir_test_format("/proc/%d/status", (int)weir_test_process_pid(process)), NULL);
    const char *line = text != NULL ? strstr(text, "VmHWM:") : NULL;
    long kib = line != NULL ? strtol(line + strlen("VmHWM:"), NULL, 10) : 0;
    free(text);
    return kib;
}

static void feed_partitions(const struct sql_job *job)
{
    struct weir_test_record records[FEED];
    for (int first = 0; first < RECORDS; first += FEED) {
        for (int i = 0; i < FEED; i++) {
            int n = first + i;
            records[i] = weir_test_record_of(
                n % PARTITIONS, NULL,
                weir_test_format("{\"n\":%d,\"body\":\"%0*d\"}", n, BODY_BYTES, n));
        }
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, FEED);
        for (int i = 0; i < FEED; i++) {
            free((void *)records[i].value);
        }
    }
}

static void expect_within_budget(const struct weir_test_process *process)
{
    long kib = peak_kib(process);
    print_message("%d partitions: at most %ld MiB resident\n", PARTITIONS, kib / 1024);
    if (is_memory_ours && kib > MEMORY_MIB * 1024L) {
        WEIR_TEST_FAIL("%ld MiB resident with WEIR_MEMORY=%dMiB", kib / 1024, MEMORY_MIB);
    }
}

// The backlog of all partitions is several times the budget; the sink takes a row or two a
// millisecond, later as many as there are.
static void test_c162_the_budget_is_that_of_the_process(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "c162",
                       "CREATE TABLE input (n int, body text) WITH (topic = '$-in');\n"
                       "CREATE TABLE output (n int, size int) WITH (topic = '$-out');\n"
                       "INSERT INTO output SELECT n, length(body) FROM input;\n");
    sql_job_topic_create(job, "in", PARTITIONS);
    sql_job_topic_create(job, "out", 1);
    feed_partitions(job);
    const char *memory = weir_test_format("WEIR_MEMORY=%dMiB", MEMORY_MIB);
    struct weir_test_process *process = sql_job_start(
        job, SQL_JOB_EXTRA(memory, "WEIR_KAFKA_QUEUE_BUFFERING_MAX_MESSAGES=200",
                           "WEIR_KAFKA_PRODUCER_LINGER_MS=100", "WEIR_LOG_LEVEL=info"));
    sql_job_wait_running(process);
    weir_test_sleep_ms(SLOW_MS);
    assert_true(weir_test_process_is_running(process));
    expect_within_budget(process);
    sql_job_stop(process);
    process = sql_job_start(job, SQL_JOB_EXTRA(memory, "WEIR_BOUNDED=true", "WEIR_LOG_LEVEL=info"));
    long kib = 0;
    for (struct weir_test_exit how; !weir_test_process_wait(process, 20, &how);) {
        long now_kib = peak_kib(process);
        kib = now_kib > kib ? now_kib : kib;
    }
    print_message("as fast as it can: at most %ld MiB resident\n", kib / 1024);
    assert_true(kib > 0);
    assert_true(!is_memory_ours || kib <= MEMORY_MIB * 1024L);
    sql_job_expect_exit(process, 0, NULL);
    // Every number once.
    static bool is_seen[RECORDS];
    struct weir_test_log *log = sql_job_read(job, "out");
    assert_int_equal(log->record_count, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        char *text = sql_job_text(&log->partitions[0].records[i]);
        int n = -1;
        assert_int_equal(sscanf(text, "{\"n\":%d,\"size\":1000}", &n), 1);
        assert_in_range(n, 0, RECORDS - 1);
        assert_false(is_seen[n]);
        is_seen[n] = true;
        free(text);
    }
    weir_test_log_destroy(log);
}

// --- sizes ---------------------------------------------------------------------------------------

static void feed_body(const struct sql_job *job, const char *key, size_t bytes)
{
    char *body = weir_test_alloc(bytes + 1);
    memset(body, 'x', bytes);
    body[bytes] = '\0';
    char *value = weir_test_format("{\"k\":\"%s\",\"body\":\"%s\"}", key, body);
    sql_job_feed(job, "in", 0, value);
    free(value);
    free(body);
}

// Rows of 0.9 MB, and of 1.1 or 20 MB, where a message is at most 1 MB for the broker, or for the
// client.
static void test_c165_a_row_above_the_limit_is_one_error(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t bytes;
        const char *setting;
        const char *limit;
    } rows[] = {
        {"c165-broker", 1100000, "WEIR_KAFKA_MESSAGE_MAX_BYTES=50000000", "max.message.bytes"},
        {"c165-client", 1100000, "WEIR_LOG_LEVEL=info", "message.max.bytes"},
        {"c165-20mb", 20000000, "WEIR_KAFKA_MESSAGE_MAX_BYTES=50000000", "max.message.bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sql_job *job = sql_job_create(
            weir_test_cluster_bootstrap(cluster), rows[i].name,
            "CREATE TABLE texts (k text, body text) WITH (topic = '$-in');\n"
            "CREATE TABLE copies (k text, body text) WITH (topic = '$-out', key = 'k',\n"
            "    key_format = 'raw');\n"
            "INSERT INTO copies SELECT k, body FROM texts;\n");
        weir_test_topic_create(job->bootstrap, sql_job_topic(job, "in"), 1,
                               (const char *const[]){"max.message.bytes", "30000000", NULL});
        sql_job_topic_create(job, "out", 1);
        feed_body(job, "first", 900000);
        const char *log =
            sql_job_run(job, SQL_JOB_EXTRA(rows[i].setting, "WEIR_BOUNDED=true"), 0, NULL);
        feed_body(job, "second", rows[i].bytes);
        feed_body(job, "third", 100);
        log = sql_job_run(
            job, SQL_JOB_EXTRA(rows[i].setting), 1,
            SQL_JOB_TEXTS("oversize", "sink copies", "second", rows[i].limit,
                          weir_test_format("%zu bytes", rows[i].bytes + strlen("second") * 2 +
                                                            strlen("{\"k\":\"\",\"body\":\"\"}"))));
        assert_null(strstr(strstr(log, " error ") + 1, " error ")); // said once
        assert_null(strstr(log, "going back to the last committed checkpoint"));
        sql_job_wait_count(job, "out", 1);
        assert_int_equal(sql_job_committed(job, "in", 0), 1);
    }
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c162_the_budget_is_that_of_the_process),
        cmocka_unit_test(test_c165_a_row_above_the_limit_is_one_error),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
