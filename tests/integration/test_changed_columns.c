// SPDX-License-Identifier: Apache-2.0
// One more aggregate column in a job with state, on a real broker: it starts from now and
// everything else goes on, whenever the job is killed on the way, in open windows, behind a reset
// of positions, over a store of an early version; columns may change places, and one less is lost
// alone.
#include "runtime/store.h"

#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

// The numbers 0 to 9 are counted and committed.
static struct sql_job *create(const char *name, const char *sql)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 10);
    sql_job_run_bounded(job);
    return job;
}

static void wait_committed(const struct sql_job *job, int64_t offset)
{
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) >= offset, 30000);
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
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":5,\"d\":2,\"s\":null,\"m\":null}");
    sql_job_set_sql(job, WIDER);
    sql_job_feed_numbers(job, "in", 0, 10, 10);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        run_killed_at(job, points[i]);
    }
    sql_job_run_bounded(job);
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":10,\"d\":2,\"s\":70,\"m\":18}");
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"c\":10,\"d\":2,\"s\":75,\"m\":19}");
    // Now there is a materialisation, of new slots; in another order, by other tasks.
    sql_job_set_sql(job, WIDE "(k, s, m, d, c) SELECT n % 2, sum(n), max(n), "
                              "count(DISTINCT n % 4), count(*)" BY);
    sql_job_feed_numbers(job, "in", 0, 20, 2);
    run_killed_at(job, "state.restore.laid_out");
    run_killed_at(job, "state.published");
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_PARALLELISM=3"), 0, NULL);
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":11,\"d\":2,\"s\":90,\"m\":20}");
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"c\":11,\"d\":2,\"s\":96,\"m\":21}");
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
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":10,\"d\":2,\"s\":70,\"m\":18}");
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"c\":10,\"d\":2,\"s\":75,\"m\":19}");
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
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":6,\"d\":null,\"s\":null,\"m\":10}");
    // What comes back has forgotten what it was.
    sql_job_set_sql(job, NARROW);
    sql_job_feed_numbers(job, "in", 0, 12, 2);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=state_loss"), 0, NULL);
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":7,\"d\":1,\"s\":null,\"m\":null}");
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
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"c\":3,\"s\":7}");
    sql_job_expect_last(job, "out", 2, "{\"k\":2,\"c\":1,\"s\":8}");
}

// Positions are reset between the change and its first run: the start manifest lists the files of
// the job before, and says so.
static void test_positions_reset_before_the_first_run(void **state)
{
    (void)state;
    struct sql_job *job = create("reset", NARROW);
    sql_job_set_sql(job, WIDER);
    sql_job_run_command(
        job, SQL_JOB_TEXTS("offsets", "reset", "--table", "input", "--to", "earliest"), NULL, 0,
        SQL_JOB_TEXTS("sum(n) is new and starts from now", "next offset 0"));
    run_killed_at(job, "state.published");
    sql_job_run_bounded(job);
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":10,\"d\":2,\"s\":20,\"m\":8}");
}

// Takes out of the newest manifest what an early version did not write.
static void make_early(const struct sql_job *job)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_store *store;
    struct weir_store_entry *entries;
    struct weir_error error;
    struct weir_manifest manifest;
    uint32_t count;
    bool is_missing;
    assert_int_equal(weir_store_open_read_only(job->store_dir, job->name, 0, &store, &error),
                     WEIR_OK);
    assert_int_equal(weir_store_list(store, arena, &entries, &count, &error), WEIR_OK);
    assert_true(count > 0);
    assert_int_equal(weir_store_read_manifest(store, entries[count - 1].number,
                                              &entries[count - 1].attempt, arena, &manifest,
                                              &is_missing, &error),
                     WEIR_OK);
    assert_int_equal(manifest.operator_count, 1);
    ((struct weir_manifest_operator *)(uintptr_t)manifest.operators)[0].has_slots = false;
    for (uint32_t i = 0; i < manifest.state_count; i++) {
        ((struct weir_state_handle *)(uintptr_t)manifest.states)[i].rows_count = 0;
    }
    assert_int_equal(weir_store_write_manifest(store, &manifest, &error), WEIR_OK);
    weir_store_close(store);
    weir_arena_destroy(arena);
}

static void test_store_of_an_early_version(void **state)
{
    (void)state;
    struct sql_job *job = create("early", NARROW);
    make_early(job);
    sql_job_set_sql(job, WIDE "(k, c) SELECT n % 2, count(*)" BY);
    sql_job_expect_refused(job, NULL, SQL_JOB_TEXTS("and would keep", "rows not counted"));
    sql_job_set_sql(job, WIDER);
    sql_job_feed_numbers(job, "in", 0, 10, 10);
    run_killed_at(job, "state.published");
    sql_job_run_bounded(job);
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"c\":10,\"d\":2,\"s\":75,\"m\":19}");
    // From now on it says which slots there are, and how many rows.
    sql_job_set_sql(job, WIDE "(k, c) SELECT n % 2, count(*)" BY);
    sql_job_expect_refused(job, NULL,
                           SQL_JOB_TEXTS("would no longer keep sum(n): 32 bytes of "
                                         "state, 2 rows"));
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_more_column_starts_from_now_whenever_it_is_killed),
        cmocka_unit_test(test_changes_of_a_job_that_runs),
        cmocka_unit_test(test_one_column_less_is_refused_or_dropped_alone),
        cmocka_unit_test(test_open_windows_take_one_more_column),
        cmocka_unit_test(test_positions_reset_before_the_first_run),
        cmocka_unit_test(test_store_of_an_early_version),
    };
    return cmocka_run_group_tests_name("integration/test_changed_columns", tests, cluster_start,
                                       cluster_stop);
}
