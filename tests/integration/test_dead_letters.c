// SPDX-License-Identifier: Apache-2.0
// `weir dead-letters replay`: what was set aside goes back to where it came from, as it was, once,
// also when the replay is killed at the end of its transaction. A real broker, the real program.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdlib.h>

enum { PARTITIONS = 2, RECORDS = 40, BAD_EVERY = 4, BAD_COUNT = RECORDS / BAD_EVERY };

#define SQL(division)                                                                              \
    "CREATE TABLE input (n int NOT NULL, v int) WITH (topic = '$-in', on_error = 'dead_letter',\n" \
    "  dead_letter_topic = '$-dead');\n"                                                           \
    "CREATE TABLE output (n int, q int) WITH (topic = '$-out');\n"                                 \
    "INSERT INTO output SELECT n, " division " FROM input;\n"

static void feed(const struct sql_job *job)
{
    static const struct weir_test_header headers[] = {{"trace", "a", 1},
                                                      {"weir.error", "an older one", 12}};
    for (int n = 0; n < RECORDS; n++) {
        struct weir_test_record record =
            weir_test_record_of(n / BAD_EVERY % PARTITIONS, weir_test_format("key %d", n),
                                weir_test_format("{\"n\":%d,\"v\":%d}", n, n % BAD_EVERY));
        record.headers = headers;
        record.header_count = 2;
        record.timestamp_ms = 1700000000000 + n;
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
    }
}

static struct weir_test_process *start(struct sql_job *job)
{
    struct weir_test_process *weir = sql_job_start(job, NULL);
    sql_job_wait_running(weir);
    return weir;
}

// Behind the records of `feed` lie the bad ones again, each once, just as they were.
static void expect_written_back(const struct sql_job *job)
{
    struct weir_test_log *log = sql_job_read(job, "in");
    bool seen[RECORDS] = {false};
    assert_int_equal(log->record_count, RECORDS + BAD_COUNT);
    for (int32_t p = 0; p < PARTITIONS; p++) {
        for (size_t i = RECORDS / PARTITIONS; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            int n = atoi(sql_job_text(record) + strlen("{\"n\":"));
            assert_true(n >= 0 && n < RECORDS && n % BAD_EVERY == 0);
            assert_false(seen[n]);
            seen[n] = true;
            assert_int_equal(n / BAD_EVERY % PARTITIONS, p);
            assert_true(weir_test_key_is(record, weir_test_format("key %d", n)));
            assert_int_equal(record->timestamp_ms, 1700000000000 + n);
            assert_int_equal(record->header_count, 2);
            assert_string_equal(record->headers[0].name, "trace");
            assert_true(weir_test_bytes_are(record->headers[1].value,
                                            record->headers[1].value_bytes, "an older one"));
        }
    }
    weir_test_log_destroy(log);
}

static void test_replay(void **state)
{
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "replay", SQL("12 / v"));
    const char *topic = sql_job_topic(job, "dead");
    (void)state;
    sql_job_topic_create(job, "in", PARTITIONS);
    sql_job_topic_create(job, "out", PARTITIONS);
    sql_job_topic_create(job, "dead", PARTITIONS);
    feed(job);
    // Another job's, and one that somebody else has put there.
    static const struct weir_test_header foreign[] = {{"weir.error", "decode", 6},
                                                      {"weir.topic", "elsewhere", 9},
                                                      {"weir.partition", "0", 1},
                                                      {"weir.job", "other", 5}};
    struct weir_test_record record = weir_test_record_of(1, NULL, "{}");
    weir_test_produce(job->bootstrap, topic, &record, 1);
    record.headers = foreign;
    record.header_count = 4;
    weir_test_produce(job->bootstrap, topic, &record, 1);
    struct weir_test_process *weir = start(job);
    sql_job_wait_count(job, "out", RECORDS - BAD_COUNT);
    sql_job_wait_count(job, "dead", BAD_COUNT + 2);
    sql_job_stop(weir);
    // Mended: 12 / 0 is NULL now.
    sql_job_set_sql(job, SQL("12 / nullif(v, 0)"));
    weir = start(job);
    sql_job_run_command(job, SQL_JOB_TEXTS("dead-letters", "replay"), NULL, 2,
                        SQL_JOB_TEXTS("neither --topic nor WEIR_DEAD_LETTER_TOPIC"));
    sql_job_run_command(job, SQL_JOB_TEXTS("dead-letters", "replay", "--topic", "nowhere"), NULL, 2,
                        SQL_JOB_TEXTS("topic \"nowhere\" does not exist"));
    sql_job_run_command(
        job, SQL_JOB_TEXTS("dead-letters", "replay", "--topic", topic, "--dry-run"), NULL, 0,
        SQL_JOB_TEXTS("10 dead letters would be written back to topic replay-in", "2 passed over"));
    sql_job_run_command(job, SQL_JOB_TEXTS("dead-letters", "replay", "--topic", topic),
                        SQL_JOB_EXTRA("WEIR_FAILPOINTS=kafka.sent.EndTxn=kill@1"), -9, NULL);
    sql_job_run_command(job, SQL_JOB_TEXTS("dead-letters", "replay", "--topic", topic), NULL, 0,
                        SQL_JOB_TEXTS("dead letters"));
    sql_job_wait_count(job, "out", RECORDS);
    sql_job_run_command(job, SQL_JOB_TEXTS("dead-letters", "replay", "--topic", topic), NULL, 0,
                        SQL_JOB_TEXTS("no dead letters to write back"));
    expect_written_back(job);
    sql_job_stop(weir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay)};
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
