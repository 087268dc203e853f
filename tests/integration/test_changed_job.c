// SPDX-License-Identifier: Apache-2.0
// A job whose SQL has changed since its last checkpoint, on a real broker: what keeps its state
// goes on counting, what would lose it is refused and leaves everything as it was, or drops it
// where that is allowed on purpose.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

#define TABLES                                                                                     \
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"                                          \
    "CREATE TABLE counts (k int PRIMARY KEY, c bigint) WITH (topic = '$-out');\n"                  \
    "CREATE TABLE sums (k int PRIMARY KEY, s bigint) WITH (topic = '$-sums');\n"
#define COUNTS "INSERT INTO counts SELECT n % 2, count(*) FROM input GROUP BY n % 2"
#define SUMS "INSERT INTO sums SELECT n % 2, sum(n) FROM input GROUP BY n % 2"

// The numbers 0 to 9 are counted and committed.
static struct sql_job *create(const char *name, const char *sql)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "sums", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 10);
    sql_job_run_bounded(job);
    return job;
}

static void expect_last(const struct sql_job *job, const char *suffix, int k, const char *value)
{
    struct weir_test_log *log = sql_job_read(job, suffix);
    const char *last = "nothing";
    const char *begin = weir_test_format("{\"k\":%d,", k);
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        const char *text = sql_job_text(&log->partitions[0].records[i]);
        last = strncmp(text, begin, strlen(begin)) == 0 ? text : last;
    }
    assert_string_equal(last, value);
    weir_test_log_destroy(log);
}

static void test_new_sink_and_condition_keep_the_state(void **state)
{
    (void)state;
    struct sql_job *job = create("keeps", TABLES COUNTS ";");
    expect_last(job, "out", 0, "{\"k\":0,\"c\":5}");
    sql_job_set_sql(job, TABLES COUNTS ";\n" SUMS ";");
    sql_job_feed_numbers(job, "in", 0, 10, 10);
    sql_job_run_bounded(job);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":10}");
    expect_last(job, "sums", 1, "{\"k\":1,\"s\":75}"); // from when it was there
    sql_job_set_sql(job, TABLES COUNTS " HAVING count(*) > 1;\n" SUMS ";");
    sql_job_feed_numbers(job, "in", 0, 20, 2);
    sql_job_run_bounded(job);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":11}");
    expect_last(job, "out", 1, "{\"k\":1,\"c\":11}");
}

static void wait_committed(const struct sql_job *job, int64_t offset)
{
    int64_t deadline_ms = weir_test_now_ms() + 30000;
    while (sql_job_committed(job, "in", 0) < offset) {
        assert_true(weir_test_now_ms() < deadline_ms);
        weir_test_sleep_ms(20);
    }
}

#define WIDE                                                                                       \
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"                                          \
    "CREATE TABLE wide (k int PRIMARY KEY, c bigint, d bigint, s bigint, m int)\n"                 \
    "  WITH (topic = '$-out');\n"                                                                  \
    "INSERT INTO wide "
#define BY " FROM input GROUP BY n % 2;"
#define NARROW WIDE "(k, c, d) SELECT n % 2, count(*), count(DISTINCT n % 4)" BY
#define WIDER                                                                                      \
    WIDE "(k, m, c, s, d) SELECT n % 2, max(n), count(*), sum(n), count(DISTINCT n % 4)" BY

// One life that ends at that place.
static void run_killed_at(struct sql_job *job, const char *point)
{
    char *failpoint = weir_test_format("WEIR_FAILPOINTS=%s=kill@1", point);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", failpoint), -9, NULL);
    free(failpoint);
}

static void test_one_more_column_starts_from_now_whenever_it_is_killed(void **state)
{
    (void)state;
    static const char *const points[] = {
        "recover.fenced",        "state.restore.verified", "state.restore.applied", "state.publish",
        "state.published",       "task.barrier",           "state.log.written",     "store.written",
        "commit.before_offsets", "commit.before_end",      "commit.after_end",
    };
    struct sql_job *job = create("wider", NARROW);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":5,\"d\":2,\"s\":null,\"m\":null}");
    sql_job_set_sql(job, WIDER);
    sql_job_feed_numbers(job, "in", 0, 10, 10);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        run_killed_at(job, points[i]);
    }
    sql_job_run_bounded(job);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":10,\"d\":2,\"s\":70,\"m\":18}");
    expect_last(job, "out", 1, "{\"k\":1,\"c\":10,\"d\":2,\"s\":75,\"m\":19}");
    // Now there is a materialisation, of new slots; in another order, by other tasks.
    sql_job_set_sql(job, WIDE "(k, s, m, d, c) SELECT n % 2, sum(n), max(n), "
                              "count(DISTINCT n % 4), count(*)" BY);
    sql_job_feed_numbers(job, "in", 0, 20, 2);
    run_killed_at(job, "state.restore.laid_out");
    run_killed_at(job, "state.published");
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_PARALLELISM=3"), 0, NULL);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":11,\"d\":2,\"s\":90,\"m\":20}");
    expect_last(job, "out", 1, "{\"k\":1,\"c\":11,\"d\":2,\"s\":96,\"m\":21}");
}

// While it runs: stopped, changed, killed before and behind its first checkpoint.
static void test_changes_of_a_job_that_runs(void **state)
{
    (void)state;
    struct sql_job *job = create("live", NARROW);
    sql_job_set_sql(job, WIDER);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA("WEIR_CHECKPOINT_INTERVAL=5min"));
    sql_job_wait_running(process);
    assert_true(weir_test_process_wait_text(
        process, "sum(n) is new and starts from now: NULL in rows that are there (2 rows)", 1000,
        NULL));
    sql_job_feed_numbers(job, "in", 0, 10, 6);
    sql_job_kill(process);
    process = sql_job_start(job, NULL);
    wait_committed(job, 16);
    sql_job_kill(process);
    sql_job_feed_numbers(job, "in", 0, 16, 4);
    process = sql_job_start(job, NULL);
    wait_committed(job, 20);
    assert_false(weir_test_process_wait_text(process, "starts from now", 0, NULL));
    sql_job_stop(process);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":10,\"d\":2,\"s\":70,\"m\":18}");
    expect_last(job, "out", 1, "{\"k\":1,\"c\":10,\"d\":2,\"s\":75,\"m\":19}");
}

static void test_one_column_less_is_refused_or_dropped_alone(void **state)
{
    (void)state;
    struct sql_job *job = create("less", NARROW);
    sql_job_set_sql(job, WIDE "(k, c, m) SELECT n % 2, count(*), max(n)" BY);
    sql_job_expect_refused(
        job, NULL,
        SQL_JOB_TEXTS("aggregate → wide would no longer keep count(DISTINCT n % 4): "
                      "16 bytes of state, 2 rows",
                      "WEIR_ALLOW=state_loss"));
    sql_job_feed_numbers(job, "in", 0, 10, 2);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=state_loss"), 0,
                SQL_JOB_TEXTS("state is dropped: aggregate → wide would no longer keep"));
    expect_last(job, "out", 0, "{\"k\":0,\"c\":6,\"d\":null,\"s\":null,\"m\":10}");
    // What comes back has forgotten what it was.
    sql_job_set_sql(job, NARROW);
    sql_job_feed_numbers(job, "in", 0, 12, 2);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=state_loss"), 0, NULL);
    expect_last(job, "out", 0, "{\"k\":0,\"c\":7,\"d\":1,\"s\":null,\"m\":null}");
}

#define WINDOWS(sum)                                                                               \
    "CREATE TABLE input (k int, v int, ts timestamptz) WITH (topic = '$-in',\n"                    \
    "  event_time = 'ts', watermark_delay = '0 seconds');\n"                                       \
    "CREATE TABLE windows (k int, c bigint, s bigint) WITH (topic = '$-out');\n"                   \
    "INSERT INTO windows SELECT k, count(*), " sum "\n"                                            \
    "  FROM tumble(input, ts, interval '10 seconds') GROUP BY k, window_end;\n"

static void test_open_windows_take_one_more_column(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "windows", WINDOWS("NULL::bigint"));
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed(job, "in", 0, "{\"k\":1,\"v\":5,\"ts\":1700000001000}");
    sql_job_feed(job, "in", 0, "{\"k\":1,\"v\":6,\"ts\":1700000002000}");
    struct weir_test_process *process = sql_job_start(job, NULL);
    wait_committed(job, 2);
    sql_job_stop(process);
    sql_job_set_sql(job, WINDOWS("sum(v)"));
    sql_job_feed(job, "in", 0, "{\"k\":1,\"v\":7,\"ts\":1700000003000}");
    sql_job_feed(job, "in", 0, "{\"k\":2,\"v\":8,\"ts\":1700000004000}");
    sql_job_run_bounded(job);
    expect_last(job, "out", 1, "{\"k\":1,\"c\":3,\"s\":7}");
    expect_last(job, "out", 2, "{\"k\":2,\"c\":1,\"s\":8}");
}

#define PEOPLE(name, value)                                                                        \
    "CREATE TABLE people (id int PRIMARY KEY, k int, v int) WITH (topic = '$-in');\n"              \
    "CREATE TABLE sums (k int PRIMARY KEY, s bigint, c bigint, m int) WITH (topic = '$-out');\n"   \
    "INSERT INTO sums (k, s" name ") SELECT k, sum(v)" value " FROM people GROUP BY k;\n"

static void test_rows_that_are_taken_back_are_not_counted_from_now(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "taken-back", PEOPLE("", ""));
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed_keyed(job, "in", "{\"id\":1}", "{\"k\":1,\"v\":5}");
    sql_job_feed_keyed(job, "in", "{\"id\":2}", "{\"k\":1,\"v\":6}");
    sql_job_feed_keyed(job, "in", "{\"id\":3}", "{\"k\":2,\"v\":7}");
    sql_job_run_bounded(job);
    sql_job_set_sql(job, PEOPLE(", m", ", max(v)"));
    sql_job_expect_refused(job, NULL,
                           SQL_JOB_TEXTS("aggregate → sums cannot keep max(v) from now on",
                                         "bytes of state, 2 rows", "bytes of state, 3 rows",
                                         "normalize"));
    // How many there are is known.
    sql_job_set_sql(job, PEOPLE(", c", ", count(*)"));
    sql_job_feed_keyed(job, "in", "{\"id\":1}", "{\"k\":1,\"v\":50}");
    sql_job_run_bounded(job);
    expect_last(job, "out", 1, "{\"k\":1,\"s\":56,\"c\":2,\"m\":null}");
    // Both begin anew: what comes from now on is right.
    sql_job_set_sql(job, PEOPLE(", m", ", max(v)"));
    sql_job_feed_keyed(job, "in", "{\"id\":1}", "{\"k\":1,\"v\":4}");
    sql_job_feed_keyed(job, "in", "{\"id\":1}", "{\"k\":1,\"v\":3}");
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=state_loss"), 0, NULL);
    expect_last(job, "out", 1, "{\"k\":1,\"s\":3,\"c\":null,\"m\":3}");
}

static void test_lost_state_is_refused_or_dropped_on_purpose(void **state)
{
    (void)state;
    struct sql_job *job = create("loses", TABLES COUNTS ";");
    sql_job_feed_numbers(job, "in", 0, 10, 2);
    sql_job_set_sql(job,
                    TABLES "INSERT INTO counts SELECT n % 2, sum(n) FROM input GROUP BY n % 2;");
    sql_job_expect_refused(job, NULL,
                           SQL_JOB_TEXTS("would lose state of checkpoint",
                                         "would no longer keep count(*)",
                                         "16 bytes of state, 2 rows", "WEIR_ALLOW=state_loss"));
    sql_job_set_sql(job, TABLES "INSERT INTO counts SELECT n % 2, count(*) FROM input WHERE n > 3 "
                                "GROUP BY n % 2;");
    sql_job_expect_refused(job, NULL,
                           SQL_JOB_TEXTS("is no longer there", "bytes of state, 2 rows"));
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=state_loss"), 0,
                SQL_JOB_TEXTS("WEIR_ALLOW=state_loss: state is dropped"));
    expect_last(job, "out", 0, "{\"k\":0,\"c\":1}"); // 10 alone
    sql_job_run_bounded(job);                        // nothing more to lose
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_sink_and_condition_keep_the_state),
        cmocka_unit_test(test_one_more_column_starts_from_now_whenever_it_is_killed),
        cmocka_unit_test(test_changes_of_a_job_that_runs),
        cmocka_unit_test(test_one_column_less_is_refused_or_dropped_alone),
        cmocka_unit_test(test_open_windows_take_one_more_column),
        cmocka_unit_test(test_rows_that_are_taken_back_are_not_counted_from_now),
        cmocka_unit_test(test_lost_state_is_refused_or_dropped_on_purpose),
    };
    return cmocka_run_group_tests_name("integration/test_changed_job", tests, cluster_start,
                                       cluster_stop);
}
