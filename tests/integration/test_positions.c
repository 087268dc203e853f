// SPDX-License-Identifier: Apache-2.0
// Where the real program begins and ends to read: start and end options, bounded runs and what a
// restart in the middle of one does, tables that are added later, another parallelism at a restart.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define COPY_SQL                                                                                   \
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"                                          \
    "CREATE TABLE output (n int) WITH (topic = '$-out');\n"                                        \
    "INSERT INTO output SELECT n FROM input;\n"

static struct sql_job *create_job(const char *name, const char *sql)
{
    return sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
}

static struct sql_job *create_copy(const char *name, int32_t partition_count)
{
    struct sql_job *job = create_job(name, COPY_SQL);
    sql_job_topic_create(job, "in", partition_count);
    sql_job_topic_create(job, "out", partition_count);
    return job;
}

static void feed_at(const struct sql_job *job, int n, int64_t timestamp_ms)
{
    struct weir_test_record record =
        weir_test_record_of(0, NULL, weir_test_format("{\"n\":%d}", n));
    record.timestamp_ms = timestamp_ms;
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
}

// A job with a table for each of the option lists, all over topic "in": table i to topic "out-i".
static struct sql_job *create_tables(const char *name, const char *const *options)
{
    struct sql_job *job = create_job(name, NULL);
    sql_job_topic_create(job, "in", 2); // partition 1 stays empty
    char *sql = weir_test_format("%s", "");
    for (int i = 0; options[i] != NULL; i++) {
        sql = weir_test_format("%sCREATE TABLE in_%d (n int) WITH (topic = '$-in'%s);\n"
                               "CREATE TABLE out_%d (n int) WITH (topic = '$-out-%d');\n"
                               "INSERT INTO out_%d SELECT n FROM in_%d;\n",
                               sql, i, options[i], i, i, i, i);
        sql_job_topic_create(job, weir_test_format("out-%d", i), 1);
    }
    sql_job_set_sql(job, sql);
    return job;
}

// C145, and two or more tables over one topic.
static void test_start_at_a_timestamp(void **state)
{
    (void)state;
    static const int counts[] = {3, 2, 1, 0, 2, 3, 0, 3};
    struct sql_job *job = create_tables(
        "start", SQL_JOB_TEXTS(", start = '1600000000000'", ", start = '1700000060000'",
                               ", start = '1700000060001'", ", start = '1900000000000'",
                               ", start = '2023-11-14 22:14:20+00'", ", start = 'earliest'",
                               ", start = 'latest'", ", start = '2023-11-14T22:13:20Z'"));
    feed_at(job, 0, INT64_C(1700000000000));
    feed_at(job, 1, INT64_C(1700000060000));
    feed_at(job, 2, INT64_C(1700000090000));
    sql_job_run_bounded(job);
    for (int i = 0; i < 8; i++) {
        sql_job_expect_numbers(job, weir_test_format("out-%d", i), 0, 3 - counts[i], counts[i]);
    }
    assert_int_equal(sql_job_committed(job, "in", 0), 3);
    assert_int_equal(sql_job_committed(job, "in", 1), 0);
    // From now on each goes on where it stands: one older record and the empty partition's first.
    feed_at(job, 3, INT64_C(1650000000000));
    sql_job_run_bounded(job);
    for (int i = 0; i < 8; i++) {
        sql_job_expect_numbers(job, weir_test_format("out-%d", i), 0, 3 - counts[i], counts[i] + 1);
    }
}

static void test_start_of_the_job_yields_to_that_of_a_table(void **state)
{
    (void)state;
    struct sql_job *job = create_tables("yields", SQL_JOB_TEXTS(", start = 'earliest'", ""));
    for (int i = 0; i < 3; i++) {
        feed_at(job, i, INT64_C(1700000000000) + i * 1000);
    }
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_START=1700000001500"), 0, NULL);
    sql_job_expect_numbers(job, "out-0", 0, 0, 3);
    sql_job_expect_numbers(job, "out-1", 0, 2, 1);
}

// A timestamp as end is exclusive; a job whose sources all have an end is over with them.
static void test_end_options(void **state)
{
    (void)state;
    struct sql_job *job =
        create_tables("end", SQL_JOB_TEXTS(", end = 'latest'", ", end = '1700000060000'",
                                           ", end = '1700000060001'", ", end = 'earliest'",
                                           ", start = '1700000060000', end = '1700000090000'",
                                           ", end = '1900000000000'", ", end = '1600000000000'",
                                           ", start = 'latest', end = 'earliest'"));
    feed_at(job, 0, INT64_C(1700000000000));
    feed_at(job, 1, INT64_C(1700000060000));
    feed_at(job, 2, INT64_C(1700000090000));
    sql_job_run(job, NULL, 0, SQL_JOB_TEXTS("all input is read and committed: done"));
    sql_job_expect_numbers(job, "out-0", 0, 0, 3);
    sql_job_expect_numbers(job, "out-1", 0, 0, 1);
    sql_job_expect_numbers(job, "out-2", 0, 0, 2);
    sql_job_expect_numbers(job, "out-3", 0, 0, 0);
    sql_job_expect_numbers(job, "out-4", 0, 1, 1);
    sql_job_expect_numbers(job, "out-5", 0, 0, 3);
    sql_job_expect_numbers(job, "out-6", 0, 0, 0);
    sql_job_expect_numbers(job, "out-7", 0, 0, 0);
    // Once more: what came since, as far as each end allows.
    feed_at(job, 3, INT64_C(1700000099000));
    sql_job_run(job, NULL, 0, NULL);
    sql_job_expect_numbers(job, "out-0", 0, 0, 4);
    sql_job_expect_numbers(job, "out-1", 0, 0, 1);
}

// One source with an end beside one without: the end stays where it was over restarts and over
// additions of partitions.
static void test_end_stays_while_another_source_goes_on(void **state)
{
    (void)state;
    struct sql_job *job =
        create_job("mixed", "CREATE TABLE old (n int) WITH (topic = '$-old', end = 'latest');\n"
                            "CREATE TABLE live (n int) WITH (topic = '$-live');\n"
                            "CREATE TABLE output (n int) WITH (topic = '$-out');\n"
                            "INSERT INTO output SELECT n FROM old UNION ALL SELECT n FROM live;\n");
    sql_job_topic_create(job, "old", 1);
    sql_job_topic_create(job, "live", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed_numbers(job, "old", 0, 0, 5);
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_count(job, "out", 5);
    sql_job_feed_numbers(job, "old", 0, 100, 3);
    sql_job_stop(process);
    process = sql_job_start(job, NULL);
    sql_job_feed_numbers(job, "live", 0, 5, 1);
    sql_job_wait_count(job, "out", 6);
    sql_job_kill(process);
    process = sql_job_start(job, NULL);
    sql_job_feed_numbers(job, "live", 0, 6, 1);
    sql_job_wait_count(job, "out", 7);
    sql_job_stop(process);
    sql_job_expect_numbers(job, "out", 0, 0, 7);
    // A bounded run ends the job; the next one is another run.
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 7);
    sql_job_run_bounded(job);
    sql_job_wait_count(job, "out", 10);
}

// Killed in the middle, a bounded run goes on to the end that it began with.
static void test_bounded_run_that_was_killed_keeps_its_end(void **state)
{
    (void)state;
    enum { BATCHES = 40, BATCH = 50 };
    struct sql_job *job = create_copy("unfinished", 1);
    for (int i = 0; i < BATCHES; i++) {
        sql_job_feed_numbers(job, "in", 0, i * BATCH, BATCH);
    }
    // Small fetches and a checkpoint after each, so that the kill finds it on the way.
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_FAILPOINTS=claim.after=kill",
                              "WEIR_RESTART_ATTEMPTS=0"),
                -SIGKILL, NULL);
    sql_job_feed_numbers(job, "in", 0, BATCHES * BATCH, 10);
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_CHECKPOINT_INTERVAL=10ms",
                              "WEIR_KAFKA_CONSUMER_FETCH_MESSAGE_MAX_BYTES=1000",
                              "WEIR_KAFKA_CONSUMER_QUEUED_MIN_MESSAGES=1",
                              "WEIR_FAILPOINTS=commit.after_end=kill@3"),
                -SIGKILL, NULL);
    int64_t position = sql_job_committed(job, "in", 0);
    assert_in_range(position, 1, BATCHES * BATCH - 1);
    sql_job_feed_numbers(job, "in", 0, BATCHES * BATCH + 10, 10);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, BATCHES * BATCH);
    assert_int_equal(sql_job_committed(job, "in", 0), BATCHES * BATCH);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, BATCHES * BATCH + 20);
}

// A table that joins a job begins at its own start, once: also on a topic that was read before,
// also when no record comes before the next restart.
static void test_table_added_later_begins_at_its_own_start(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("later", 1);
    sql_job_topic_create(job, "more", 1);
    sql_job_topic_create(job, "all", 1);
    sql_job_topic_create(job, "fresh", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    sql_job_run_bounded(job);
    sql_job_feed_numbers(job, "more", 0, 0, 5);
    sql_job_set_sql(job, COPY_SQL
                    "CREATE TABLE again (n int) WITH (topic = '$-in', start = 'earliest');\n"
                    "CREATE TABLE latest (n int) WITH (topic = '$-more', start = 'latest');\n"
                    "CREATE TABLE out_all (n int) WITH (topic = '$-all');\n"
                    "CREATE TABLE out_fresh (n int) WITH (topic = '$-fresh');\n"
                    "INSERT INTO out_all SELECT n FROM again;\n"
                    "INSERT INTO out_fresh SELECT n FROM latest;\n");
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_count(job, "all", 5);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "more", 0) == 5, 20000);
    sql_job_kill(process);
    sql_job_feed_numbers(job, "more", 0, 5, 3);
    sql_job_feed_numbers(job, "in", 0, 5, 1);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
    sql_job_expect_numbers(job, "all", 0, 0, 6);
    sql_job_expect_numbers(job, "fresh", 0, 5, 3);
}

// The same, but nothing moves in the life that begins with the new table.
static void test_latest_of_a_table_added_later_is_remembered_without_records(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("quiet", 1);
    sql_job_topic_create(job, "more", 1);
    sql_job_topic_create(job, "fresh", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    sql_job_run_bounded(job);
    sql_job_feed_numbers(job, "more", 0, 0, 5);
    sql_job_set_sql(job, COPY_SQL
                    "CREATE TABLE latest (n int) WITH (topic = '$-more', start = 'latest');\n"
                    "CREATE TABLE out_fresh (n int) WITH (topic = '$-fresh');\n"
                    "INSERT INTO out_fresh SELECT n FROM latest;\n");
    struct weir_test_process *process = sql_job_start(job, NULL);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "more", 0) == 5, 30000);
    sql_job_kill(process);
    sql_job_feed_numbers(job, "more", 0, 5, 3);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "fresh", 0, 5, 3);
}

static void test_parallelism_changes_at_restarts(void **state)
{
    (void)state;
    enum { PARTITIONS = 5, STEP = 20 };
    static const int parallelisms[] = {1, 3, 2, 8};
    struct sql_job *job = create_copy("parallel", PARTITIONS);
    int fed = 0;
    for (int round = 0; round < 4; round++) {
        const char *const *extra =
            SQL_JOB_EXTRA(weir_test_format("WEIR_PARALLELISM=%d", parallelisms[round]));
        struct weir_test_process *process = sql_job_start(job, extra);
        for (int32_t p = 0; p < PARTITIONS; p++) {
            sql_job_feed_numbers(job, "in", p, fed, STEP);
        }
        fed += STEP;
        sql_job_wait_count(job, "out", (size_t)(fed * PARTITIONS));
        char *tasks =
            weir_test_format("is running: %d tasks", round == 3 ? 5 : parallelisms[round]);
        assert_non_null(strstr(weir_test_process_output(process), tasks));
        if (round % 2 == 0) {
            sql_job_stop(process);
        } else {
            sql_job_kill(process);
        }
    }
    for (int32_t p = 0; p < PARTITIONS; p++) {
        sql_job_expect_numbers(job, "out", p, 0, fed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_at_a_timestamp),
        cmocka_unit_test(test_start_of_the_job_yields_to_that_of_a_table),
        cmocka_unit_test(test_end_options),
        cmocka_unit_test(test_end_stays_while_another_source_goes_on),
        cmocka_unit_test(test_bounded_run_that_was_killed_keeps_its_end),
        cmocka_unit_test(test_table_added_later_begins_at_its_own_start),
        cmocka_unit_test(test_latest_of_a_table_added_later_is_remembered_without_records),
        cmocka_unit_test(test_parallelism_changes_at_restarts),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
