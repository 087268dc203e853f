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

static void test_new_sink_and_condition_keep_the_state(void **state)
{
    (void)state;
    struct sql_job *job = create("keeps", TABLES COUNTS ";");
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":5}");
    sql_job_set_sql(job, TABLES COUNTS ";\n" SUMS ";");
    sql_job_feed_numbers(job, "in", 0, 10, 10);
    sql_job_run_bounded(job);
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":10}");
    sql_job_expect_last(job, "sums", 1, "{\"k\":1,\"s\":75}"); // from when it was there
    sql_job_set_sql(job, TABLES COUNTS " HAVING count(*) > 1;\n" SUMS ";");
    sql_job_feed_numbers(job, "in", 0, 20, 2);
    sql_job_run_bounded(job);
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":11}");
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"c\":11}");
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
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"s\":56,\"c\":2,\"m\":null}");
    // Both begin anew: what comes from now on is right.
    sql_job_set_sql(job, PEOPLE(", m", ", max(v)"));
    sql_job_feed_keyed(job, "in", "{\"id\":1}", "{\"k\":1,\"v\":4}");
    sql_job_feed_keyed(job, "in", "{\"id\":1}", "{\"k\":1,\"v\":3}");
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=state_loss"), 0, NULL);
    sql_job_expect_last(job, "out", 1, "{\"k\":1,\"s\":3,\"c\":null,\"m\":3}");
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
    sql_job_expect_last(job, "out", 0, "{\"k\":0,\"c\":1}"); // 10 alone
    sql_job_run_bounded(job);                        // nothing more to lose
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_sink_and_condition_keep_the_state),
        cmocka_unit_test(test_rows_that_are_taken_back_are_not_counted_from_now),
        cmocka_unit_test(test_lost_state_is_refused_or_dropped_on_purpose),
    };
    return cmocka_run_group_tests_name("integration/test_changed_job", tests, cluster_start,
                                       cluster_stop);
}
