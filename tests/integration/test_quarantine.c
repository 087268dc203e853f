// SPDX-License-Identifier: Apache-2.0
// A partition that WEIR_QUARANTINE names is left alone: a record in it that stops the job is not
// met, the others and the checkpoints go on over a kill, its position stays; and when it is read
// again nothing is missing and nothing double.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/sql_job_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_MS_MAX = 60000, STILL_MS = 700 };

#define QUARANTINE "WEIR_QUARANTINE=a:1"

static void expect_told(uint16_t port, const char *path, const char *text)
{
    char *page = http_get(port, path);
    if (strstr(page, text) == NULL) {
        fail_msg("%s says\n%s\nand not\n%s", path, page, text);
    }
    free(page);
}

static void expect_left_alone(struct sql_job *job, struct weir_test_process *process)
{
    uint16_t port = http_port(process);
    char *listen = weir_test_format("WEIR_HTTP_LISTEN=127.0.0.1:%u", port);
    http_wait_ready(port, 200, "in quarantine, not read: table a partition 1 (WEIR_QUARANTINE)\n",
                    WAIT_MS_MAX);
    expect_told(port, "/api/v1/job", "\"quarantined\": true");
    expect_told(port, "/metrics", "weir_source_partitions_quarantined{table=\"a\"} 1\n");
    sql_job_run_command(job, SQL_JOB_TEXTS("status"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("in quarantine: 1 of 3 partitions of a"));
    sql_job_run_command(job, SQL_JOB_TEXTS("resume", "a", "1"), SQL_JOB_EXTRA(listen), 2,
                        SQL_JOB_TEXTS("what WEIR_QUARANTINE names is not read before a start"));
    free(listen);
}

static void test_poison_partition_is_left_alone(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "poison",
                                         "CREATE TABLE a (n int) WITH (topic = '$-in');\n"
                                         "CREATE TABLE b (n int) WITH (topic = '$-out');\n"
                                         "INSERT INTO b SELECT n FROM a;\n");
    sql_job_topic_create(job, "in", 3);
    sql_job_topic_create(job, "out", 3);
    sql_job_expect_refused(
        job, SQL_JOB_EXTRA("WEIR_QUARANTINE=a:3"),
        SQL_JOB_TEXTS("WEIR_QUARANTINE: table a has no partition 3: its topic poison-in has 3"));
    sql_job_expect_refused(
        job, SQL_JOB_EXTRA("WEIR_QUARANTINE=aa:1"),
        SQL_JOB_TEXTS("WEIR_QUARANTINE: the job reads no table \"aa\"; the nearest is \"a\""));
    for (int p = 0; p < 3; p++) {
        sql_job_feed_numbers(job, "in", p, 0, 5);
    }
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_count(job, "out", 15);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 1) == 5, WAIT_MS_MAX);
    sql_job_feed(job, "in", 1, "no JSON");
    sql_job_expect_exit(process, 1, SQL_JOB_TEXTS("partition 1", "offset 5"));
    sql_job_feed_numbers(job, "in", 1, 5, 5);
    sql_job_run(job, NULL, 1, SQL_JOB_TEXTS("offset 5")); // it stays in the way

    process = sql_job_start(job, SQL_JOB_EXTRA(QUARANTINE, HTTP_LISTEN));
    sql_job_feed_numbers(job, "in", 0, 5, 5);
    sql_job_wait_count(job, "out", 20);
    expect_left_alone(job, process);
    sql_job_feed_numbers(job, "in", 2, 5, 5);
    sql_job_kill(process);
    process = sql_job_start(job, SQL_JOB_EXTRA(QUARANTINE, HTTP_LISTEN));
    sql_job_feed_numbers(job, "in", 0, 10, 5);
    sql_job_wait_count(job, "out", 30);
    expect_left_alone(job, process);
    weir_test_sleep_ms(STILL_MS);
    assert_int_equal(sql_job_committed(job, "in", 1), 5);
    sql_job_stop(process);
    size_t bytes = 0;
    char *manifest = weir_test_read_file(sql_job_pointed_manifest(job, "in"), &bytes);
    assert_non_null(strstr(manifest, "\"partition\": 1,\n            \"offset\": 5,\n"));
    free(manifest);
    sql_job_run_command(job, SQL_JOB_TEXTS("check", "--connect"), SQL_JOB_EXTRA(QUARANTINE), 0,
                        SQL_JOB_TEXTS("partition 1: offset 5, in quarantine\n"));
    sql_job_run_command(job, SQL_JOB_TEXTS("check", "--connect", "--json"),
                        SQL_JOB_EXTRA(QUARANTINE), 0,
                        SQL_JOB_TEXTS("\"offset\": 5,\n", "\"end\": null,\n"));

    // Mended: it goes on exactly where it stood.
    process = sql_job_start(job, SQL_JOB_EXTRA("WEIR_ON_BAD_RECORD=skip"));
    sql_job_wait_count(job, "out", 35);
    sql_job_stop(process);
    sql_job_expect_numbers(job, "out", 0, 0, 15);
    sql_job_expect_numbers(job, "out", 1, 0, 10);
    sql_job_expect_numbers(job, "out", 2, 0, 10);
}

// Event time goes on without it, and at once; what was closed meanwhile stays closed.
static void test_quarantined_partition_does_not_hold_time_back(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "time",
        "CREATE TABLE a (n int, t timestamptz) WITH (topic = '$-in', event_time = 't',\n"
        "  watermark_delay = '0 seconds', idle_timeout = '1 hour', late_topic = '$-late');\n"
        "CREATE TABLE b (n bigint, t timestamptz) WITH (topic = '$-out');\n"
        "INSERT INTO b SELECT count(*), window_start\n"
        "  FROM tumble(a, t, interval '1 minute') GROUP BY window_start;\n");
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "late", 1);
    sql_job_feed(job, "in", 0, "{\"n\":1,\"t\":\"2026-01-01T00:00:10Z\"}");
    sql_job_feed(job, "in", 1, "{\"n\":2,\"t\":\"2026-01-01T00:00:20Z\"}"); // will be late
    sql_job_feed(job, "in", 1, "{\"n\":3,\"t\":\"2026-01-01T01:00:20Z\"}"); // will not
    sql_job_feed(job, "in", 0, "{\"n\":4,\"t\":\"2026-01-01T01:00:00Z\"}");
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(QUARANTINE));
    sql_job_wait_count(job, "out", 1); // long before the idle timeout
    sql_job_kill(process);
    process = sql_job_start(job, NULL);
    sql_job_feed(job, "in", 0, "{\"n\":5,\"t\":\"2026-01-01T02:00:00Z\"}");
    sql_job_feed(job, "in", 1, "{\"n\":6,\"t\":\"2026-01-01T02:00:00Z\"}");
    sql_job_wait_count(job, "out", 2);
    sql_job_stop(process);
    sql_job_expect_values(job, "out", 0,
                          SQL_JOB_TEXTS("{\"n\":1,\"t\":\"2026-01-01T00:00:00+00:00\"}",
                                        "{\"n\":2,\"t\":\"2026-01-01T01:00:00+00:00\"}"));
    // Its own partition did not know that it was late: the aggregate did.
    sql_job_expect_values(job, "late", 0,
                          SQL_JOB_TEXTS("{\"window_start\":\"2026-01-01T00:00:00+00:00\","
                                        "\"window_end\":\"2026-01-01T00:01:00+00:00\"}"));
}

// A run with an end ends without it, also again and again; the first one that reads it reads all.
static void test_bounded_run_leaves_it_out(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "bounded",
                                         "CREATE TABLE a (n int) WITH (topic = '$-in');\n"
                                         "CREATE TABLE b (n int) WITH (topic = '$-out');\n"
                                         "INSERT INTO b SELECT n FROM a;\n");
    const char *const *left_out = SQL_JOB_EXTRA("WEIR_BOUNDED=true", QUARANTINE);
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 2);
    sql_job_feed_numbers(job, "in", 0, 0, 3);
    sql_job_feed_numbers(job, "in", 1, 0, 3);
    const char *const *said = SQL_JOB_TEXTS("partition 1 is in quarantine", "stays at 0",
                                            "this run ends without what lies behind it");
    sql_job_run(job, left_out, 0, said);
    sql_job_expect_numbers(job, "out", 0, 0, 3);
    sql_job_expect_numbers(job, "out", 1, 0, 0);
    sql_job_feed_numbers(job, "in", 0, 3, 3);
    sql_job_feed_numbers(job, "in", 1, 3, 3);
    sql_job_run(job, left_out, 0, said);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
    sql_job_expect_numbers(job, "out", 1, 0, 0);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
    sql_job_expect_numbers(job, "out", 1, 0, 6);
}

// An argument is a pattern of test names.
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poison_partition_is_left_alone),
        cmocka_unit_test(test_quarantined_partition_does_not_hold_time_back),
        cmocka_unit_test(test_bounded_run_leaves_it_out),
    };
    return cmocka_run_group_tests_name("integration/test_quarantine", tests, cluster_start,
                                       cluster_stop);
}
