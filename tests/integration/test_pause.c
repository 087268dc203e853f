// SPDX-License-Identifier: Apache-2.0
// Partitions that somebody does not want to be read for now: nothing of them is read, the others
// and the checkpoints go on, also when the job goes back to its last checkpoint; their event time
// stands still; and afterwards nothing is missing.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/sql_job_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_MS_MAX = 60000, STILL_MS = 700, IDLE_MS = 3000 };

static char *listen_at(uint16_t port)
{
    return weir_test_format("WEIR_HTTP_LISTEN=127.0.0.1:%u", port);
}

static bool tells(uint16_t port, const char *path, const char *text)
{
    char *page = http_get(port, path);
    bool is_told = strstr(page, text) != NULL;
    free(page);
    return is_told;
}

static void test_paused_partition_is_left_alone(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "left",
                                         "CREATE TABLE a (n int) WITH (topic = '$-in');\n"
                                         "CREATE TABLE b (n int) WITH (topic = '$-out');\n"
                                         "INSERT INTO b SELECT n FROM a;\n");
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 2);
    sql_job_feed_numbers(job, "in", 1, 0, 5);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, "WEIR_FAILPOINTS=task.barrier=error@12",
                                         "WEIR_RESTART_BACKOFF=10ms"));
    uint16_t port = http_port(process);
    char *listen = listen_at(port);
    sql_job_wait_count(job, "out", 5);
    sql_job_run_command(job, SQL_JOB_TEXTS("pause", "a", "1"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("{\"state\": \"paused\", \"partitions\": 1}\n"));
    sql_job_run_command(job, SQL_JOB_TEXTS("pause", "a", "2"), SQL_JOB_EXTRA(listen), 2,
                        SQL_JOB_TEXTS("nothing was paused (HTTP 409)", "no such partition"));
    sql_job_run_command(job, SQL_JOB_TEXTS("pause", "a", "one"), SQL_JOB_EXTRA(listen), 2,
                        SQL_JOB_TEXTS("\"one\" is no number of a partition"));

    // The other partition goes on, through a return to the last checkpoint, too.
    sql_job_feed_numbers(job, "in", 1, 5, 10);
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    size_t fed = 0;
    for (; !tells(port, "/api/v1/job", "\"restart_count\": 1"); fed++) {
        assert_true(weir_test_now_ms() < deadline_ms);
        sql_job_feed_numbers(job, "in", 0, (int)fed, 1);
        weir_test_sleep_ms(50);
    }
    sql_job_wait_count(job, "out", 5 + fed);
    http_wait_ready(port, 200, NULL, WAIT_MS_MAX); // what is paused is not stuck
    weir_test_sleep_ms(STILL_MS);
    assert_int_equal(sql_job_committed(job, "in", 1), 5);
    assert_true(tells(port, "/api/v1/job", "\"paused\": true"));
    assert_true(tells(port, "/metrics", "weir_source_partitions_paused{table=\"a\"} 1\n"));
    sql_job_run_command(job, SQL_JOB_TEXTS("status"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("paused: 1 of 2 partitions of a (weir resume)\n"));

    sql_job_run_command(job, SQL_JOB_TEXTS("resume"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("{\"state\": \"resumed\", \"partitions\": 2}\n"));
    sql_job_wait_count(job, "out", 15 + fed);
    sql_job_stop(process);
    sql_job_expect_numbers(job, "out", 1, 0, 15);
    sql_job_expect_numbers(job, "out", 0, 0, (int)fed);
    free(listen);
}

// Rows of the paused partition are older than those that are read meanwhile: no window may close
// before they have come.
static void test_paused_partition_holds_time_back(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "time",
        "CREATE TABLE a (n int, t timestamptz) WITH (topic = '$-in', event_time = 't',\n"
        "  watermark_delay = '0 seconds', idle_timeout = '3 seconds',\n"
        "  late_topic = '$-late');\n"
        "CREATE TABLE b (n bigint, t timestamptz) WITH (topic = '$-out');\n"
        "INSERT INTO b SELECT count(*), window_start\n"
        "  FROM tumble(a, t, interval '1 minute') GROUP BY window_start;\n");
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "late", 1);
    sql_job_feed(job, "in", 1, "{\"n\":1,\"t\":\"2026-01-01T00:00:10Z\"}");
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN));
    uint16_t port = http_port(process);
    char *listen = listen_at(port);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 1) == 1, WAIT_MS_MAX);
    sql_job_run_command(job, SQL_JOB_TEXTS("pause", "a", "1"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("\"partitions\": 1"));
    sql_job_feed(job, "in", 0, "{\"n\":2,\"t\":\"2026-01-01T01:00:00Z\"}");
    sql_job_feed(job, "in", 1, "{\"n\":3,\"t\":\"2026-01-01T00:00:50Z\"}");
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) == 1, WAIT_MS_MAX);
    weir_test_sleep_ms(IDLE_MS + STILL_MS); // what is silent for so long counts as idle
    sql_job_run_command(job, SQL_JOB_TEXTS("resume", "a"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("\"partitions\": 2"));
    sql_job_feed(job, "in", 1, "{\"n\":4,\"t\":\"2026-01-01T01:00:00Z\"}");
    sql_job_wait_count(job, "out", 1);
    sql_job_stop(process);
    sql_job_expect_values(job, "out", 0,
                          SQL_JOB_TEXTS("{\"n\":2,\"t\":\"2026-01-01T00:00:00+00:00\"}"));
    sql_job_expect_values(job, "late", 0, SQL_JOB_TEXTS(NULL));
    free(listen);
}

// An argument is a pattern of test names.
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paused_partition_is_left_alone),
        cmocka_unit_test(test_paused_partition_holds_time_back),
    };
    return cmocka_run_group_tests_name("integration/test_pause", tests, cluster_start,
                                       cluster_stop);
}
