// SPDX-License-Identifier: Apache-2.0
// weir transactions on real topics: what is open is named with its place, whoever left it; what a
// killed job left is aborted on demand; a running job is left alone.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/metrics_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS_MAX = 60000 };

#define COPY_SQL                                                                                   \
    "CREATE TABLE a (n int) WITH (topic = '$-a', on_error = 'dead_letter',\n"                      \
    "    dead_letter_topic = '$-dead');\n"                                                         \
    "CREATE TABLE b (n int) WITH (topic = '$-b');\n"                                               \
    "INSERT INTO b SELECT n FROM a;\n"

static struct sql_job *create_job(const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, COPY_SQL);
    sql_job_topic_create(job, "a", 2);
    sql_job_topic_create(job, "b", 1);
    sql_job_topic_create(job, "dead", 1);
    return job;
}

#define SHOW SQL_JOB_TEXTS("transactions")
#define ABORT SQL_JOB_TEXTS("transactions", "--abort")

static void test_transactions_of_others_are_named_with_their_place(void **state)
{
    (void)state;
    struct sql_job *job = create_job("others");
    sql_job_run_command(
        job, SHOW, NULL, 0,
        SQL_JOB_TEXTS("transactional ids of the job: others-0-0 others-0-1 others-0-2 others-0-3\n"
                      "no transaction is open on the 3 topics of the job\n"));
    sql_job_feed_numbers(job, "a", 1, 0, 5);
    struct weir_test_transaction *open =
        weir_test_transaction_begin(job->bootstrap, "somebody", 60000);
    struct weir_test_record record = weir_test_record_of(1, NULL, "{\"n\":5}");
    record.timestamp_ms = 1700000000000;
    weir_test_transaction_add(open, sql_job_topic(job, "a"), &record, 1);
    sql_job_run_command(
        job, SHOW, NULL, 0,
        SQL_JOB_TEXTS("topic others-a partition 1: open from offset 5, 1 offsets "
                      "held back, the first with timestamp 2023-11-14T22:13:20Z, by producer ",
                      " with transactional id somebody\n"));
    // Not the job's own: nothing that it may abort.
    sql_job_run_command(job, ABORT, NULL, 0,
                        SQL_JOB_TEXTS("topic others-a partition 1: open from offset 5"));
    weir_test_transaction_end(open, true);
    sql_job_run_command(job, SHOW, NULL, 0, SQL_JOB_TEXTS("no transaction is open"));
}

static void test_transactions_that_a_killed_job_left_are_aborted_on_demand(void **state)
{
    (void)state;
    struct sql_job *job = create_job("left");
    sql_job_feed_numbers(job, "a", 0, 0, 10);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA("WEIR_CHECKPOINT_INTERVAL=5min"));
    sql_job_wait_running(process);
    // Refused while the job works on its state directory.
    sql_job_run_command(job, ABORT, NULL, 1, SQL_JOB_TEXTS("is in use by another process"));
    struct weir_test_read_options uncommitted = {
        .is_uncommitted = true, .has_minimum = true, .record_count_min = 10};
    weir_test_log_destroy(weir_test_read(job->bootstrap, sql_job_topic(job, "b"), &uncommitted));
    sql_job_kill(process);
    sql_job_run_command(job, SHOW, NULL, 0,
                        SQL_JOB_TEXTS("topic left-b partition 0: open from offset 0, 10 offsets"));
    sql_job_run_command(job, ABORT, NULL, 0, SQL_JOB_TEXTS("no transaction is open"));
    // Nothing is lost by it.
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "b", 0, 0, 10);
}

// A running job says what holds its input up, and is well again when that has ended.
static void test_running_job_names_what_holds_its_input_up(void **state)
{
    (void)state;
    struct sql_job *job = create_job("held");
    sql_job_feed_numbers(job, "a", 0, 0, 5);
    sql_job_feed_numbers(job, "a", 1, 0, 5);
    struct weir_test_transaction *open =
        weir_test_transaction_begin(job->bootstrap, "somebody-else", 60000);
    struct weir_test_record record = weir_test_record_of(1, NULL, "{\"n\":5}");
    record.timestamp_ms = 1700000000000;
    weir_test_transaction_add(open, sql_job_topic(job, "a"), &record, 1);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, "WEIR_CHECKPOINT_TIMEOUT=1s"));
    uint16_t port = http_port(process);
    http_wait_ready(port, 503,
                    "topic held-a partition 1 is stuck: 1 records behind offset 5 and none was "
                    "read for",
                    WAIT_MS_MAX);
    http_wait_ready(port, 503, "(a transaction is open there from offset 5 on, for ", WAIT_MS_MAX);
    http_wait_ready(port, 503, " with transactional id somebody-else)\n", WAIT_MS_MAX);
    char *page = http_get(port, "/metrics");
    struct metrics_page *metrics = metrics_read(page);
    assert_true(
        metrics_sum(metrics, "weir_source_open_transaction_seconds", "partition=\"1\"", NULL) > 0);
    assert_true(
        metrics_sum(metrics, "weir_source_open_transaction_seconds", "partition=\"0\"", NULL) == 0);
    metrics_free(metrics);
    free(page);
    page = http_get(port, "/api/v1/job");
    assert_non_null(strstr(page, "\"open_transaction\": {\n"));
    assert_non_null(strstr(page, "\"offset\": 5,\n"));
    assert_non_null(strstr(page, "\"first_record_ms\": 1700000000000,\n"));
    assert_non_null(strstr(page, "\"transactional_id\": \"somebody-else\"\n"));
    free(page);
    weir_test_transaction_end(open, true);
    sql_job_wait_count(job, "b", 11);
    http_wait_ready(port, 200, "ready\n", WAIT_MS_MAX);
    sql_job_stop(process);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transactions_of_others_are_named_with_their_place),
        cmocka_unit_test(test_running_job_names_what_holds_its_input_up),
        cmocka_unit_test(test_transactions_that_a_killed_job_left_are_aborted_on_demand),
    };
    return cmocka_run_group_tests_name("integration/test_transactions", tests, cluster_start,
                                       cluster_stop);
}
