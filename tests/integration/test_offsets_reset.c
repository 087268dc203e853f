// SPDX-License-Identifier: Apache-2.0
// weir offsets reset on a real job: records are read again or passed over, state stays, the other
// table's position too; it says what it did, is refused while the job runs, and a kill on the way
// leaves the old positions or the new ones, never a mixture.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

#define SUM_SQL                                                                                    \
    "CREATE TABLE a (n int) WITH (topic = '$-a');\n"                                               \
    "CREATE TABLE b (n int) WITH (topic = '$-b');\n"                                               \
    "CREATE TABLE copy (n int) WITH (topic = '$-copy');\n"                                         \
    "CREATE TABLE sums (k int PRIMARY KEY, total bigint) WITH (topic = '$-sums');\n"               \
    "INSERT INTO copy SELECT n FROM a;\n"                                                          \
    "INSERT INTO sums SELECT n % 1, sum(n) FROM (SELECT n FROM a UNION ALL SELECT n FROM b) u\n"   \
    "GROUP BY n % 1;\n"

// Table a: 1 to 10, table b: 100, both read and committed.
static struct sql_job *create_read(const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, SUM_SQL);
    sql_job_topic_create(job, "a", 1);
    sql_job_topic_create(job, "b", 1);
    sql_job_topic_create(job, "copy", 1);
    sql_job_topic_create(job, "sums", 1);
    sql_job_feed_numbers(job, "a", 0, 1, 10);
    sql_job_feed(job, "b", 0, "{\"n\":100}");
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "copy", 0, 1, 10);
    return job;
}

static const char *last_sum(const struct sql_job *job)
{
    struct weir_test_log *log = sql_job_read(job, "sums");
    const struct weir_test_log_partition *found = &log->partitions[0];
    assert_true(found->record_count > 0);
    const char *text = sql_job_text(&found->records[found->record_count - 1]);
    weir_test_log_destroy(log);
    return text;
}

#define RESET(table, to) SQL_JOB_TEXTS("offsets", "reset", "--table", table, "--to", to)

static void test_reset_reads_one_table_again_with_all_state(void **state)
{
    (void)state;
    struct sql_job *job = create_read("again");
    assert_string_equal(last_sum(job), "{\"k\":0,\"total\":155}");
    long long before = sql_job_pointer(job, "b");
    sql_job_run_command(
        job, RESET("a", "earliest"), NULL, 0,
        SQL_JOB_TEXTS("table a, topic again-a, partition 0: next offset 0\n", "is claimed"));
    assert_int_equal(sql_job_pointer(job, "a"), before + 1); // numbers never go back
    assert_int_equal(sql_job_committed(job, "a", 0), 0);
    assert_int_equal(sql_job_committed(job, "b", 0), 1);
    assert_int_equal(system(weir_test_format("grep -q '\"kind\": \"reset\"' %s",
                                             sql_job_pointed_manifest(job, "a"))),
                     0);
    sql_job_run_bounded(job);
    assert_string_equal(last_sum(job), "{\"k\":0,\"total\":210}"); // a counted twice, b once
    struct weir_test_log *log = sql_job_read(job, "copy");
    assert_int_equal(log->record_count, 20);
    weir_test_log_destroy(log);
}

static void test_reset_passes_over_records(void **state)
{
    (void)state;
    struct sql_job *job = create_read("over");
    sql_job_feed_numbers(job, "a", 0, 11, 5);
    sql_job_run_command(job, RESET("a", "latest"), NULL, 0, SQL_JOB_TEXTS("next offset 15\n"));
    sql_job_feed_numbers(job, "a", 0, 16, 1);
    sql_job_run_bounded(job);
    assert_string_equal(last_sum(job), "{\"k\":0,\"total\":171}");
}

static void test_reset_is_refused_by_name(void **state)
{
    (void)state;
    struct sql_job *job = create_read("refused");
    char *store = sql_job_store_print(job);
    sql_job_run_command(job, RESET("c", "earliest"), NULL, 2,
                        SQL_JOB_TEXTS("reads no table \"c\"; it reads: a, b"));
    sql_job_run_command(job, RESET("copy", "earliest"), NULL, 2,
                        SQL_JOB_TEXTS("reads no table \"copy\""));
    sql_job_run_command(job, RESET("a", "sometime"), NULL, 2,
                        SQL_JOB_TEXTS("--to: \"sometime\" is not known"));
    assert_string_equal(sql_job_store_print(job), store);
    struct weir_test_process *running = sql_job_start(job, NULL);
    sql_job_wait_running(running);
    sql_job_run_command(job, RESET("a", "earliest"), NULL, 1,
                        SQL_JOB_TEXTS("is in use by another process: stop it"));
    sql_job_stop(running);
    struct sql_job *fresh = sql_job_create(weir_test_cluster_bootstrap(cluster), "never", SUM_SQL);
    sql_job_topic_create(fresh, "a", 1);
    sql_job_topic_create(fresh, "b", 1);
    sql_job_topic_create(fresh, "copy", 1);
    sql_job_topic_create(fresh, "sums", 1);
    sql_job_run_command(fresh, RESET("a", "earliest"), NULL, 2,
                        SQL_JOB_TEXTS("has never committed anything"));
}

static void test_reset_that_is_killed_did_it_or_did_not(void **state)
{
    (void)state;
    struct sql_job *job = create_read("killed");
    static const char *const places[] = {"store.renamed", "claim.before", "commit.before_end",
                                         "commit.after_end"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        sql_job_run_command(job, RESET("a", "earliest"),
                            SQL_JOB_EXTRA(weir_test_format("WEIR_FAILPOINTS=%s=kill@1", places[i])),
                            -9, NULL);
    }
    assert_int_equal(sql_job_committed(job, "a", 0), 0); // the last one had committed
    sql_job_run_bounded(job);
    assert_string_equal(last_sum(job), "{\"k\":0,\"total\":210}");
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset_reads_one_table_again_with_all_state),
        cmocka_unit_test(test_reset_passes_over_records),
        cmocka_unit_test(test_reset_is_refused_by_name),
        cmocka_unit_test(test_reset_that_is_killed_did_it_or_did_not),
    };
    return cmocka_run_group_tests_name("integration/test_offsets_reset", tests, cluster_start,
                                       cluster_stop);
}
