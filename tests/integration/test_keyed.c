// SPDX-License-Identifier: Apache-2.0
// Keyed topics, aggregates that change and windows, end to end on a real broker: what a compacting
// reader sees of the outputs, and what late rows and stops do to windows.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <signal.h>
#include <stdlib.h>

static struct sql_job *make_job(const char *name, const char *sql)
{
    return sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
}

// value NULL: a tombstone.
static void feed_keyed(const struct sql_job *job, const char *key, const char *value)
{
    sql_job_feed_keyed(job, "in", key, value);
}

static void test_keyed_table_takes_changes_back(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("c106", "CREATE TABLE t (k text, v int, PRIMARY KEY (k)) WITH (topic = '$-in');\n"
                         "CREATE TABLE total (id int, s bigint, c bigint, PRIMARY KEY (id))\n"
                         "  WITH (topic = '$-total');\n"
                         "CREATE TABLE p (k text, v int, PRIMARY KEY (k)) WITH (topic = '$-p');\n"
                         "INSERT INTO total SELECT 1, sum(v), count(*) FROM t;\n"
                         "INSERT INTO p SELECT k, v FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "total", 1);
    sql_job_topic_create(job, "p", 2);
    feed_keyed(job, "{\"k\":\"k1\"}", "{\"v\":5}");
    feed_keyed(job, "{\"k\":\"k2\"}", "{\"v\":7}");
    feed_keyed(job, "{\"k\":\"k1\"}", NULL);
    feed_keyed(job, "{\"k\":\"k3\"}", NULL);
    feed_keyed(job, "{\"k\":\"k1\"}", "{\"v\":9}");
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "total"), "{\"id\":1,\"s\":16,\"c\":2}\n");
    feed_keyed(job, "{\"k\":\"k1\"}", NULL);
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "total"), "{\"id\":1,\"s\":7,\"c\":1}\n");
    assert_string_equal(sql_job_compacted(job, "p"), "{\"k\":\"k2\",\"v\":7}\n");
    // The tombstone of a key never seen writes nothing.
    struct weir_test_log *log = weir_test_read(job->bootstrap, sql_job_topic(job, "p"), NULL);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            assert_false(weir_test_key_is(&log->partitions[p].records[i], "{\"k\":\"k3\"}"));
        }
    }
    weir_test_log_destroy(log);
}

static void test_key_of_several_columns(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("c109", "CREATE TABLE t (k1 text, k2 text, v int, PRIMARY KEY (k1, k2))\n"
                         "  WITH (topic = '$-in');\n"
                         "CREATE TABLE p (k1 text, k2 text, v int, PRIMARY KEY (k1, k2))\n"
                         "  WITH (topic = '$-p');\n"
                         "INSERT INTO p SELECT k1, k2, v FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "p", 1);
    feed_keyed(job, "{\"k1\":\"m\",\"k2\":\"x\"}", "{\"v\":5}");
    feed_keyed(job, "{\"k1\":\"m\",\"k2\":\"y\"}", "{\"v\":6}");
    feed_keyed(job, "{\"k2\":\"x\",\"k1\":\"m\"}", "{\"v\":7}");
    feed_keyed(job, "{\"k1\":\"n\",\"k2\":\"x\"}", "{\"v\":8}");
    feed_keyed(job, "{\"k1\":\"m\",\"k2\":\"y\"}", NULL);
    feed_keyed(job, "{\"k1\":\"xy\",\"k2\":\"z\"}", "{\"v\":1}");
    feed_keyed(job, "{\"k1\":\"x\",\"k2\":\"yz\"}", "{\"v\":2}");
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "p"), "{\"k1\":\"m\",\"k2\":\"x\",\"v\":7}\n"
                                                     "{\"k1\":\"n\",\"k2\":\"x\",\"v\":8}\n"
                                                     "{\"k1\":\"x\",\"k2\":\"yz\",\"v\":2}\n"
                                                     "{\"k1\":\"xy\",\"k2\":\"z\",\"v\":1}\n");
}

static void test_bad_keys_are_bad_records(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("badkey", "CREATE TABLE t (k int, v int, PRIMARY KEY (k))\n"
                           "  WITH (topic = '$-in', on_error = 'dead_letter',\n"
                           "        dead_letter_topic = '$-dead');\n"
                           "CREATE TABLE p (k int, v int, PRIMARY KEY (k)) WITH (topic = '$-p');\n"
                           "INSERT INTO p SELECT k, v FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "p", 1);
    sql_job_topic_create(job, "dead", 1);
    feed_keyed(job, NULL, "{\"v\":1}");
    feed_keyed(job, "", "{\"v\":2}");
    feed_keyed(job, "rubbish", "{\"v\":3}");
    feed_keyed(job, "{\"k\":null}", "{\"v\":4}");
    feed_keyed(job, "{\"k\":5}", "{\"k\":6,\"v\":5}"); // contradicts
    feed_keyed(job, "{\"k\":7}", "{\"k\":7,\"v\":7}"); // repeats
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "p"), "{\"k\":7,\"v\":7}\n");
    struct weir_test_log *log = weir_test_read(job->bootstrap, sql_job_topic(job, "dead"), NULL);
    assert_int_equal(log->record_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct weir_test_header *why =
            weir_test_record_header(&log->partitions[0].records[i], "weir.error");
        assert_true(weir_test_bytes_are(why->value, why->value_bytes, "key"));
    }
    weir_test_log_destroy(log);
}

static void test_filter_over_a_changing_result_deletes(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("having", "CREATE TABLE t (k int, v int, PRIMARY KEY (k)) WITH (topic = '$-in');\n"
                           "CREATE TABLE p (g int, c bigint, PRIMARY KEY (g))\n"
                           "  WITH (topic = '$-p');\n"
                           "INSERT INTO p SELECT v, count(*) FROM t GROUP BY v\n"
                           "  HAVING count(*) < 3;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "p", 1);
    feed_keyed(job, "{\"k\":1}", "{\"v\":10}");
    feed_keyed(job, "{\"k\":2}", "{\"v\":10}");
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "p"), "{\"g\":10,\"c\":2}\n");
    feed_keyed(job, "{\"k\":3}", "{\"v\":10}");
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "p"), "");
    feed_keyed(job, "{\"k\":3}", NULL);
    sql_job_run_bounded(job);
    assert_string_equal(sql_job_compacted(job, "p"), "{\"g\":10,\"c\":2}\n");
}

#define WINDOW_JOB                                                                                 \
    "CREATE TABLE t (k text, v int, ts timestamptz)\n"                                             \
    "  WITH (topic = '$-in', event_time = 'ts', watermark_delay = '0 seconds',\n"                  \
    "        late_topic = '$-late');\n"                                                            \
    "CREATE TABLE w (k text, s bigint, ts timestamptz) WITH (topic = '$-w');\n"                    \
    "INSERT INTO w SELECT k, sum(v), window_start FROM tumble(t, ts, interval '1 minute')\n"       \
    "  GROUP BY k, window_start;\n"

static void test_late_rows_are_set_aside(void **state)
{
    (void)state;
    struct sql_job *job = make_job("c046", WINDOW_JOB);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "w", 1);
    sql_job_topic_create(job, "late", 1);
    sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":7,\"ts\":90000}");
    sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":1,\"ts\":240000}");
    sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":500,\"ts\":70000}");
    sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":1,\"ts\":320000}");
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_count(job, "w", 2); // the window of 300000 stays open
    sql_job_stop(process);
    sql_job_expect_values(
        job, "w", 0,
        SQL_JOB_TEXTS("{\"k\":\"u\",\"s\":7,\"ts\":\"1970-01-01T00:01:00+00:00\"}",
                      "{\"k\":\"u\",\"s\":1,\"ts\":\"1970-01-01T00:04:00+00:00\"}"));
    sql_job_expect_values(job, "late", 0, SQL_JOB_TEXTS("{\"k\":\"u\",\"v\":500,\"ts\":70000}"));
    struct weir_test_log *log = weir_test_read(job->bootstrap, sql_job_topic(job, "late"), NULL);
    const struct weir_test_header *by =
        weir_test_record_header(&log->partitions[0].records[0], "weir.late_by_ms");
    assert_true(weir_test_bytes_are(by->value, by->value_bytes, "120000"));
    weir_test_log_destroy(log);
}

static void test_stop_closes_no_window(void **state)
{
    (void)state;
    struct sql_job *job = make_job("c159", WINDOW_JOB);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "w", 1);
    sql_job_topic_create(job, "late", 1);
    for (int i = 0; i < 3; i++) {
        sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":1,\"ts\":10000}");
    }
    struct weir_test_process *process = sql_job_start(job, NULL);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) == 3, 20000);
    sql_job_stop(process);
    sql_job_expect_values(job, "w", 0, SQL_JOB_TEXTS(NULL));
    for (int i = 0; i < 3; i++) {
        sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":1,\"ts\":20000}");
    }
    sql_job_feed(job, "in", 0, "{\"k\":\"u\",\"v\":1,\"ts\":60000}");
    process = sql_job_start(job, NULL);
    sql_job_wait_count(job, "w", 1);
    sql_job_stop(process);
    sql_job_expect_values(
        job, "w", 0, SQL_JOB_TEXTS("{\"k\":\"u\",\"s\":6,\"ts\":\"1970-01-01T00:00:00+00:00\"}"));
}

static void test_idle_partitions_hold_no_window_back(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("c049", "CREATE TABLE t (v int, ts timestamptz)\n"
                         "  WITH (topic = '$-in', event_time = 'ts',\n"
                         "        watermark_delay = '0 seconds', idle_timeout = '2 seconds');\n"
                         "CREATE TABLE w (ts timestamptz, c bigint) WITH (topic = '$-w');\n"
                         "INSERT INTO w SELECT window_end, count(*)\n"
                         "  FROM tumble(t, ts, interval '10 seconds') GROUP BY window_end;\n");
    sql_job_topic_create(job, "in", 3);
    sql_job_topic_create(job, "w", 1);
    for (int i = 0; i <= 90; i += 10) {
        sql_job_feed(job, "in", 0, weir_test_format("{\"v\":1,\"ts\":%d}", i * 1000));
    }
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_count(job, "w", 9);
    sql_job_stop(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyed_table_takes_changes_back),
        cmocka_unit_test(test_key_of_several_columns),
        cmocka_unit_test(test_bad_keys_are_bad_records),
        cmocka_unit_test(test_filter_over_a_changing_result_deletes),
        cmocka_unit_test(test_late_rows_are_set_aside),
        cmocka_unit_test(test_stop_closes_no_window),
        cmocka_unit_test(test_idle_partitions_hold_no_window_back),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
