// SPDX-License-Identifier: Apache-2.0
// Cases in which comparable systems went wrong with event time, by their numbers, from topic to
// topic: which rows are late, what is said and counted of them, what holds windows back and what
// must not, what a stop does to a window. The windows themselves: tests/unit/operators.
#include "tests/harness/proxy.h"
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAIT_MS_MAX = 30000, HELD_MS = 10000 };

static int start(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){.is_proxied = true});
    return 0;
}

static const char *const listening[] = {HTTP_LISTEN, NULL};

// A job with sums of v and counts by k and window; topics "in" of so many partitions, "w", "late".
static struct sql_job *create(const char *name, const char *columns, const char *options,
                              const char *size, int32_t partition_count)
{
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), name,
        weir_test_format(
            "CREATE TABLE t (%s) WITH (topic = '$-in', late_topic = '$-late', %s);\n"
            "CREATE TABLE w (w timestamptz, k text, s bigint, c bigint) WITH (topic = '$-w');\n"
            "INSERT INTO w SELECT window_start, k, sum(v), count(*)\n"
            "  FROM tumble(t, ts, interval '%s') GROUP BY k, window_start;\n",
            columns, options, size));
    sql_job_topic_create(job, "in", partition_count);
    sql_job_topic_create(job, "w", 1);
    sql_job_topic_create(job, "late", partition_count);
    return job;
}

#define WITH_TIME "k text, v int, ts timestamptz"
#define WITHOUT_TIME "k text, v int, ts timestamptz GENERATED ALWAYS AS (kafka_timestamp()) STORED"

static void feed(const struct sql_job *job, const char *key, int v, const char *time)
{
    sql_job_feed(job, "in", 0,
                 weir_test_format("{\"k\":\"%s\",\"v\":%d,\"ts\":\"%s\"}", key, v, time));
}

static int count_text(struct weir_test_process *process, const char *text)
{
    char *output = weir_test_process_output(process);
    int count = 0;
    for (const char *at = strstr(output, text); at != NULL; at = strstr(at + 1, text)) {
        count++;
    }
    free(output);
    return count;
}

static void expect_late(struct weir_test_process *process, int count)
{
    assert_int_equal((int)live_util_metric(process, "weir_late_rows_total", "operator="), count);
}

// Everything that was fed into partition 0 is read and committed.
static void wait_read(const struct sql_job *job)
{
    const char *topic = sql_job_topic(job, "in");
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) ==
                             weir_test_topic_end_offset(job->bootstrap, topic, 0),
                         WAIT_MS_MAX);
}

static void test_c046_late_rows_are_in_no_window(void **state)
{
    (void)state;
    static const char *const delays[] = {"0 s", "200 s"};
    for (int i = 0; i < 2; i++) {
        struct sql_job *job = create(
            i == 0 ? "c046" : "c046-delay", WITH_TIME,
            weir_test_format("event_time = 'ts', watermark_delay = '%s'", delays[i]), "60 s", 1);
        static const int rows[][2] = {{7, 90000}, {1, 240000}, {500, 70000}, {1, 320000}};
        for (int j = 0; j < 4; j++) {
            sql_job_feed(
                job, "in", 0,
                weir_test_format("{\"k\":\"u\",\"v\":%d,\"ts\":%d}", rows[j][0], rows[j][1]));
        }
        struct weir_test_process *process = sql_job_start(job, listening);
        sql_job_wait_count(job, "w", i == 0 ? 2 : 1);
        wait_read(job);
        expect_late(process, i == 0 ? 1 : 0);
        sql_job_stop(process);
        static const char *const results[][3] = {
            {"{\"w\":\"1970-01-01T00:01:00+00:00\",\"k\":\"u\",\"s\":7,\"c\":1}",
             "{\"w\":\"1970-01-01T00:04:00+00:00\",\"k\":\"u\",\"s\":1,\"c\":1}", NULL},
            {"{\"w\":\"1970-01-01T00:01:00+00:00\",\"k\":\"u\",\"s\":507,\"c\":2}", NULL}};
        sql_job_expect_values(job, "w", 0, results[i]);
        sql_job_wait_count(job, "late", i == 0 ? 1 : 0);
    }
}

// The rows of C047; each record is as old as its row, but for the outlier, which is not.
static void feed_outlier(const struct sql_job *job)
{
    static const int64_t day_ms = INT64_C(1718438400000) - 8 * 3600000; // 2024-06-15
    for (int i = 0; i < 13; i++) {
        int minute = i == 0 ? 0 : i == 1 ? 2 : i == 2 ? 4 : i;
        struct weir_test_record record = weir_test_record_of(
            0, NULL,
            weir_test_format("{\"k\":\"d\",\"v\":1,\"ts\":\"2024-06-%dT08:%02d:00Z\"}",
                             i == 2 ? 16 : 15, i == 2 ? 0 : minute));
        record.timestamp_ms = day_ms + (8 * 60 + minute) * 60000;
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
    }
}

static void test_c047_a_wrong_clock_is_told_and_can_be_set_aside(void **state)
{
    (void)state;
    struct sql_job *job =
        create("c047", WITH_TIME, "event_time = 'ts', watermark_delay = '60 s'", "1 minute", 1);
    feed_outlier(job);
    struct weir_test_process *process = sql_job_start(job, listening);
    wait_read(job);
    expect_late(process, 10);
    sql_job_wait_count(job, "late", 10);
    assert_int_equal(count_text(process, "topic c047-in partition 0 offset 2: event time is 23 h "
                                         "58 min ahead of all before it"),
                     1);
    assert_int_equal(count_text(process, "ahead of all before it"), 1);
    sql_job_stop(process);
    // No window of the empty day.
    sql_job_expect_values(
        job, "w", 0,
        SQL_JOB_TEXTS("{\"w\":\"2024-06-15T08:00:00+00:00\",\"k\":\"d\",\"s\":1,\"c\":1}",
                      "{\"w\":\"2024-06-15T08:02:00+00:00\",\"k\":\"d\",\"s\":1,\"c\":1}"));

    job = create("c047-ahead", WITH_TIME,
                 "event_time = 'ts', watermark_delay = '60 s', event_time_max_ahead = '1 hour', "
                 "on_error = 'skip'",
                 "1 minute", 1);
    feed_outlier(job);
    const char *log =
        sql_job_run(job, SQL_JOB_BOUNDED, 0,
                    SQL_JOB_TEXTS("topic c047-ahead-in partition 0 offset 2: event "
                                  "time is ",
                                  "(event_time_max_ahead)", "set 1 records aside: event_time"));
    assert_null(strstr(log, "ahead of all before it"));
    sql_job_wait_count(job, "late", 0);
    struct weir_test_log *windows = sql_job_read(job, "w");
    assert_int_equal(windows->record_count, 12);
    for (int i = 0; i < 12; i++) {
        char *expected =
            weir_test_format("{\"w\":\"2024-06-15T08:%02d:00+00:00\",\"k\":\"d\",\"s\":1,\"c\":1}",
                             i == 0 ? 0 : i + 1);
        assert_true(weir_test_value_is(&windows->partitions[0].records[i], expected));
    }
    weir_test_log_destroy(windows);
}

// Two tasks, one of whose fetches is answered only after 10 s: silent, and not idle.
static void test_c049_a_slow_fetch_makes_no_row_late(void **state)
{
    (void)state;
    struct sql_job *job =
        create("c049-slow", WITH_TIME,
               "event_time = 'ts', watermark_delay = '0 s', idle_timeout = '2 s'", "10 s", 2);
    enum { ROWS = 2000 };
    struct weir_test_record records[ROWS];
    for (int i = 0; i < ROWS; i++) {
        records[i] = weir_test_record_of(
            i % 2, NULL, weir_test_format("{\"k\":\"a\",\"v\":%d,\"ts\":%d}", i % 2, i / 2 * 100));
    }
    weir_test_produce(weir_test_cluster_direct_bootstrap(cluster), sql_job_topic(job, "in"),
                      records, ROWS);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, "WEIR_FAILPOINTS=claim.after=sleep:500"));
    assert_true(weir_test_process_wait_text(process, "failpoint claim.after", WAIT_MS_MAX, NULL));
    struct weir_test_proxy_rule *rule = weir_test_proxy_add_rule(
        weir_test_cluster_proxy(cluster),
        &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_HOLD,
                                               .api_key = WEIR_TEST_API_FETCH,
                                               .count = 1,
                                               .duration_ms = HELD_MS});
    int64_t began_ms = weir_test_now_ms();
    assert_true(weir_test_proxy_wait_hit(rule, 1, WAIT_MS_MAX));
    // 0 to 99.9 s in both: the windows up to 90 s are due.
    sql_job_wait_count(job, "w", 9);
    assert_true(weir_test_now_ms() - began_ms >= HELD_MS);
    expect_late(process, 0);
    weir_test_proxy_end_rule(rule);
    sql_job_stop(process);
    struct weir_test_log *windows = sql_job_read(job, "w");
    for (int i = 0; i < 9; i++) {
        char *expected = weir_test_format(
            "{\"w\":\"1970-01-01T00:%02d:%02d+00:00\",\"k\":\"a\",\"s\":100,\"c\":200}",
            i * 10 / 60, i * 10 % 60);
        assert_true(weir_test_value_is(&windows->partitions[0].records[i], expected));
    }
    weir_test_log_destroy(windows);
}

static const char *const c051_results[] = {
    "{\"w\":\"2022-04-15T05:20:00+00:00\",\"k\":\"a\",\"s\":2,\"c\":2}",
    "{\"w\":\"2022-04-15T05:21:00+00:00\",\"k\":\"a\",\"s\":1,\"c\":1}", NULL};

static void test_c051_old_records_have_old_windows(void **state)
{
    (void)state;
    static const int64_t times_ms[] = {1650000000000, 1650000030000, 1650000090000};
    for (int i = 0; i < 2; i++) {
        struct sql_job *job =
            create(i == 0 ? "c051" : "c051-column", i == 0 ? WITHOUT_TIME : WITH_TIME,
                   i == 0 ? "event_time = 'ts', watermark_delay = '0 s'"
                          : "event_time = 'ts', watermark_delay = '0 s', timestamp_unit = 'ms'",
                   "1 minute", 1);
        for (int j = 0; j < 3; j++) {
            struct weir_test_record record = weir_test_record_of(
                0, NULL,
                weir_test_format("{\"k\":\"a\",\"v\":1,\"ts\":%lld}", (long long)times_ms[j]));
            record.timestamp_ms = i == 0 ? times_ms[j] : 0;
            weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
        }
        sql_job_run_bounded(job);
        sql_job_expect_values(job, "w", 0, c051_results);
        // Once more from the beginning.
        sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_RESTORE=discard:again"), 0, NULL);
        sql_job_expect_values(
            job, "w", 0,
            SQL_JOB_TEXTS(c051_results[0], c051_results[1], c051_results[0], c051_results[1]));
    }
}

static void test_c056_late_rows_are_counted_told_and_kept(void **state)
{
    (void)state;
    struct sql_job *job =
        create("c056", WITH_TIME, "event_time = 'ts', watermark_delay = '0 s'", "1 day", 1);
    feed(job, "a", 1, "2024-06-10 00:00:01");
    feed(job, "a", 1, "2024-06-09 22:59:59");
    struct weir_test_process *process = sql_job_start(job, listening);
    sql_job_wait_count(job, "late", 1);
    expect_late(process, 1);
    assert_int_equal(count_text(process,
                                "topic c056-in partition 0 offset 1: its window was closed "
                                "1000 ms before; a larger watermark_delay"),
                     1);
    sql_job_stop(process);
    sql_job_run_bounded(job);
    sql_job_expect_values(
        job, "w", 0,
        SQL_JOB_TEXTS("{\"w\":\"2024-06-10T00:00:00+00:00\",\"k\":\"a\",\"s\":1,\"c\":1}"));
    sql_job_expect_values(job, "late", 0,
                          SQL_JOB_TEXTS("{\"k\":\"a\",\"v\":1,\"ts\":\"2024-06-09 22:59:59\"}"));

    job = create("c056-delay", WITH_TIME, "event_time = 'ts', watermark_delay = '2 hours'", "1 day",
                 1);
    feed(job, "a", 1, "2024-06-10 00:00:01");
    feed(job, "a", 1, "2024-06-09 22:59:59");
    sql_job_run_bounded(job);
    sql_job_expect_values(
        job, "w", 0,
        SQL_JOB_TEXTS("{\"w\":\"2024-06-09T00:00:00+00:00\",\"k\":\"a\",\"s\":1,\"c\":1}",
                      "{\"w\":\"2024-06-10T00:00:00+00:00\",\"k\":\"a\",\"s\":1,\"c\":1}"));
    sql_job_wait_count(job, "late", 0);
}

// What the watermarks have passed on, as the committed manifest has it: the greatest of all tasks,
// ms since 1970, and of how many tasks.
static int64_t passed_ms(const struct sql_job *job, int *task_count)
{
    size_t bytes = 0;
    char *text = weir_test_read_file(sql_job_pointed_manifest(job, "in"), &bytes);
    int64_t greatest_us = INT64_MIN;
    *task_count = 0;
    for (char *at = text; (at = strstr(at, "\"name\": \"passed\"")) != NULL; (*task_count)++) {
        uint64_t us = 0;
        at = strstr(at, "\"items\"");
        at = strchr(strchr(at, '['), '"') + 1;
        for (int i = 7; i >= 0; i--) { // lowest byte first
            char byte[] = {at[2 * i], at[2 * i + 1], '\0'};
            us = us << 8 | strtoul(byte, NULL, 16);
        }
        greatest_us = (int64_t)us > greatest_us ? (int64_t)us : greatest_us;
    }
    free(text);
    return greatest_us / 1000 + INT64_C(946684800000);
}

// A partition of which nothing is left is caught up at once and holds no window back. After a
// restart with fewer tasks, where it is waited for again, time stands where it was.
static void test_c140_a_partition_without_records_holds_no_window_back(void **state)
{
    (void)state;
    struct sql_job *job =
        create("c140-idle", WITH_TIME,
               "event_time = 'ts', watermark_delay = '0 s', idle_timeout = '4 s'", "10 s", 2);
    sql_job_feed_numbers(job, "in", 1, 0, 800);
    weir_test_topic_delete_records(weir_test_cluster_direct_bootstrap(cluster),
                                   sql_job_topic(job, "in"), 1, 800);
    for (int i = 0; i <= 90; i += 10) {
        sql_job_feed(job, "in", 0, weir_test_format("{\"k\":\"a\",\"v\":1,\"ts\":%d}", i * 1000));
    }
    struct weir_test_process *process = sql_job_start(job, listening);
    sql_job_wait_count(job, "w", 9);
    assert_int_equal((int)live_util_metric(process, "weir_source_lag_records", NULL), 0);
    // One partition is not idle at the stop: where all are, time may begin anew.
    sql_job_feed(job, "in", 0, "{\"k\":\"a\",\"v\":1,\"ts\":90500}");
    wait_read(job);
    sql_job_stop(process);
    int task_count;
    assert_int_equal(passed_ms(job, &task_count), 90500);
    assert_int_equal(task_count, 2);
    sql_job_feed(job, "in", 0, "{\"k\":\"a\",\"v\":1,\"ts\":91000}");
    process = sql_job_start(job, SQL_JOB_EXTRA("WEIR_PARALLELISM=1"));
    wait_read(job);
    sql_job_stop(process);
    assert_in_range(passed_ms(job, &task_count), 90500, 91000);
    assert_int_equal(task_count, 1);
    sql_job_wait_count(job, "w", 9);
}

static const char c159_result[] =
    "{\"w\":\"2024-06-10T09:00:00+00:00\",\"k\":\"a\",\"s\":10,\"c\":10}";

static void test_c159_a_stop_closes_no_window(void **state)
{
    (void)state;
    struct sql_job *job = create("c159-stop", WITH_TIME,
                                 "event_time = 'ts', watermark_delay = '0 s'", "10 minutes", 1);
    struct weir_test_process *process = sql_job_start(job, NULL);
    for (int i = 0; i < 5; i++) {
        feed(job, "a", 1, weir_test_format("2024-06-10 09:%02d", i));
    }
    wait_read(job);
    sql_job_stop(process);
    sql_job_wait_count(job, "w", 0);
    process = sql_job_start(job, listening);
    for (int i = 5; i < 10; i++) {
        feed(job, "a", 1, weir_test_format("2024-06-10 09:%02d", i));
    }
    feed(job, "a", 1, "2024-06-10 09:10");
    sql_job_wait_count(job, "w", 1);
    sql_job_expect_values(job, "w", 0, SQL_JOB_TEXTS(c159_result));
    // A stop with drain closes the window of 09:10, and it is closed for good.
    free(live_util_post(process, "/api/v1/stop", "{\"drain\":true}", NULL));
    sql_job_expect_exit(process, 0, NULL);
    static const char drained[] =
        "{\"w\":\"2024-06-10T09:10:00+00:00\",\"k\":\"a\",\"s\":1,\"c\":1}";
    sql_job_expect_values(job, "w", 0, SQL_JOB_TEXTS(c159_result, drained));
    feed(job, "a", 1, "2024-06-10 09:19:59");
    feed(job, "a", 1, "2024-06-10 09:20");
    sql_job_run_bounded(job);
    sql_job_expect_values(
        job, "w", 0,
        SQL_JOB_TEXTS(c159_result, drained,
                      "{\"w\":\"2024-06-10T09:20:00+00:00\",\"k\":\"a\",\"s\":1,\"c\":1}"));
    // Behind the exchange the record is no longer at hand: the row goes there.
    sql_job_expect_values(
        job, "late", 0,
        SQL_JOB_TEXTS("{\"k\":\"a\",\"window_start\":\"2024-06-10T09:10:00+00:00\",\"v\":1,"
                      "\"window_end\":\"2024-06-10T09:20:00+00:00\"}"));
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c046_late_rows_are_in_no_window),
        cmocka_unit_test(test_c047_a_wrong_clock_is_told_and_can_be_set_aside),
        cmocka_unit_test(test_c049_a_slow_fetch_makes_no_row_late),
        cmocka_unit_test(test_c051_old_records_have_old_windows),
        cmocka_unit_test(test_c056_late_rows_are_counted_told_and_kept),
        cmocka_unit_test(test_c140_a_partition_without_records_holds_no_window_back),
        cmocka_unit_test(test_c159_a_stop_closes_no_window),
    };
    return cmocka_run_group_tests(tests, start, cluster_stop);
}
