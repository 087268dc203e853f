// SPDX-License-Identifier: Apache-2.0
// What the real program reads: transactions and their markers, holes, null values, keys, headers
// and the other metadata of records, several tables and statements over the same topics. Where it
// begins and ends: test_positions.c.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/sql_job_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int start(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){
        .properties = "log.cleaner.backoff.ms=200\n" // compaction at once
    });
    return 0;
}

static struct sql_job *create_job(const char *name, const char *sql)
{
    return sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
}

// Transactions of so many records each, committed or aborted, into one partition.
static void feed_transactions(const struct sql_job *job, const char *suffix, int32_t partition,
                              int transaction_count, int record_count, bool is_committed)
{
    for (int i = 0; i < transaction_count; i++) {
        struct weir_test_record records[8];
        for (int j = 0; j < record_count; j++) {
            int n = i * record_count + j;
            records[j] = weir_test_record_of(partition, NULL, weir_test_format("{\"n\":%d}", n));
        }
        weir_test_produce_transaction(job->bootstrap, "upstream", sql_job_topic(job, suffix),
                                      records, (size_t)record_count, is_committed);
    }
}

// C135. Every partition ends in a marker that no client delivers.
static void test_bounded_run_passes_transaction_markers_at_the_end(void **state)
{
    (void)state;
    static const char *const suffixes[] = {"a", "b", "c", "d", "e"};
    char *sql = weir_test_format("%s", "");
    struct sql_job *job = create_job("markers", NULL);
    for (int i = 0; i < 5; i++) {
        const char *s = suffixes[i];
        sql = weir_test_format("%sCREATE TABLE in_%s (n int) WITH (topic = '$-%s');\n"
                               "CREATE TABLE out_%s (n int) WITH (topic = '$-out-%s');\n"
                               "INSERT INTO out_%s SELECT n FROM in_%s;\n",
                               sql, s, s, s, s, s, s);
        sql_job_topic_create(job, s, i == 1 ? 3 : 1);
        sql_job_topic_create(job, weir_test_format("out-%s", s), 3);
    }
    sql_job_set_sql(job, sql);
    feed_transactions(job, "a", 0, 1, 5, true);
    feed_transactions(job, "b", 0, 1, 3, true);
    feed_transactions(job, "b", 2, 1, 4, true);
    feed_transactions(job, "c", 0, 4, 2, true);
    feed_transactions(job, "e", 0, 1, 3, false);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out-a", 0, 0, 5);
    sql_job_expect_numbers(job, "out-b", 0, 0, 3);
    sql_job_expect_numbers(job, "out-b", 1, 0, 0);
    sql_job_expect_numbers(job, "out-b", 2, 0, 4);
    sql_job_expect_numbers(job, "out-c", 0, 0, 8);
    sql_job_expect_numbers(job, "out-d", 0, 0, 0);
    sql_job_expect_numbers(job, "out-e", 0, 0, 0);
    // No lag is left: the positions are behind the markers.
    assert_int_equal(sql_job_committed(job, "a", 0), 6);
    assert_int_equal(sql_job_committed(job, "b", 0), 4);
    assert_int_equal(sql_job_committed(job, "b", 1), 0);
    assert_int_equal(sql_job_committed(job, "b", 2), 5);
    assert_int_equal(sql_job_committed(job, "c", 0), 12);
    assert_int_equal(sql_job_committed(job, "d", 0), 0);
    assert_int_equal(sql_job_committed(job, "e", 0), 4);
    // And nothing is read again.
    const char *again = sql_job_run_bounded(job);
    for (int digit = 1; digit <= 9; digit++) {
        assert_null(strstr(again, weir_test_format(" read %d", digit)));
    }
    assert_non_null(strstr(again, " read 0 records"));
    sql_job_wait_count(job, "out-c", 8);
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN));
    sql_job_wait_running(process);
    WEIR_TEST_WAIT_UNTIL(live_util_metric(process, "weir_source_lag_records", NULL) == 0, 10000);
    sql_job_stop(process);
}

#define COPY_SQL                                                                                   \
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"                                          \
    "CREATE TABLE output (n int) WITH (topic = '$-out');\n"                                        \
    "INSERT INTO output SELECT n FROM input;\n"

static void test_open_transactions_upstream_are_not_read(void **state)
{
    (void)state;
    struct sql_job *job = create_job("upstream", COPY_SQL);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 3);
    struct weir_test_transaction *open =
        weir_test_transaction_begin(job->bootstrap, "open", 120000);
    struct weir_test_record pending = weir_test_record_of(0, NULL, "{\"n\":3}");
    weir_test_transaction_add(open, sql_job_topic(job, "in"), &pending, 1);
    sql_job_feed_numbers(job, "in", 0, 4, 2); // behind it: not stable either
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 3);
    assert_int_equal(sql_job_committed(job, "in", 0), 3);
    weir_test_transaction_end(open, true);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
}

// C140. p0: cut below 800; p1: cut at its very end.
static void test_log_that_does_not_begin_at_zero(void **state)
{
    (void)state;
    struct sql_job *job =
        create_job("cut", "CREATE TABLE input (n int,\n"
                          "    off bigint GENERATED ALWAYS AS (kafka_offset()) STORED)\n"
                          "  WITH (topic = '$-in');\n"
                          "CREATE TABLE output (n int, off bigint) WITH (topic = '$-out');\n"
                          "INSERT INTO output SELECT n, off FROM input;\n");
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 2);
    sql_job_feed_numbers(job, "in", 0, 0, 1000);
    sql_job_feed_numbers(job, "in", 1, 0, 800);
    weir_test_topic_delete_records(job->bootstrap, sql_job_topic(job, "in"), 0, 800);
    weir_test_topic_delete_records(job->bootstrap, sql_job_topic(job, "in"), 1, 800);
    sql_job_run_bounded(job);
    struct weir_test_log *log = sql_job_read(job, "out");
    assert_int_equal(log->record_count, 200);
    assert_int_equal(log->partitions[0].record_count, 200);
    assert_true(weir_test_value_is(&log->partitions[0].records[0], "{\"n\":800,\"off\":800}"));
    assert_true(weir_test_value_is(&log->partitions[0].records[199], "{\"n\":999,\"off\":999}"));
    weir_test_log_destroy(log);
    assert_int_equal(sql_job_committed(job, "in", 1), 800);
    sql_job_run_bounded(job);
    sql_job_wait_count(job, "out", 200);
}

// C140. Of 50 records of one key compaction leaves the last one; another key keeps its own.
static void test_holes_that_compaction_left_are_passed(void **state)
{
    (void)state;
    struct sql_job *job = create_job("holes", COPY_SQL);
    const char *in = sql_job_topic(job, "in");
    weir_test_topic_create(job->bootstrap, in, 1,
                           (const char *const[]){"cleanup.policy", "compact", "segment.ms", "100",
                                                 "min.cleanable.dirty.ratio", "0.01",
                                                 "min.compaction.lag.ms", "0", NULL});
    sql_job_topic_create(job, "out", 1);
    for (int i = 0; i < 50; i++) {
        struct weir_test_record record =
            weir_test_record_of(0, i == 20 ? "k" : "same", weir_test_format("{\"n\":%d}", i));
        weir_test_produce(job->bootstrap, in, &record, 1);
    }
    weir_test_sleep_ms(
        200); // the active segment is never compacted: the next record begins another
    struct weir_test_record last = weir_test_record_of(0, "last", "{\"n\":50}");
    weir_test_produce(job->bootstrap, in, &last, 1);
    size_t left = 51;
    int64_t deadline_ms = weir_test_now_ms() + 60000;
    while (left > 10 && weir_test_now_ms() < deadline_ms) {
        struct weir_test_log *log = weir_test_read(job->bootstrap, in, NULL);
        left = log->record_count;
        weir_test_log_destroy(log);
        weir_test_sleep_ms(100);
    }
    assert_in_range(left, 2, 10);
    sql_job_run_bounded(job);
    struct weir_test_log *log = sql_job_read(job, "out");
    assert_in_range(log->record_count, 2, left);
    assert_true(
        weir_test_value_is(&log->partitions[0].records[log->record_count - 1], "{\"n\":50}"));
    weir_test_log_destroy(log);
    assert_int_equal(sql_job_committed(job, "in", 0), 51);
    // Compaction may go on; what was read stays read, and is no gap.
    weir_test_produce(job->bootstrap, in, &last, 1);
    sql_job_run_bounded(job);
    assert_int_equal(sql_job_committed(job, "in", 0), 52);
}

// C107.
static void test_null_values_are_counted_and_passed(void **state)
{
    (void)state;
    struct sql_job *job =
        create_job("nulls", "CREATE TABLE input (v int) WITH (topic = '$-in', on_error = 'fail');\n"
                            "CREATE TABLE output (v int) WITH (topic = '$-out');\n"
                            "INSERT INTO output SELECT v FROM input;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    const struct weir_test_record records[] = {
        weir_test_record_of(0, "a", "{\"v\":1}"),
        weir_test_record_of(0, "b", NULL),
        weir_test_record_of(0, "c", "{\"v\":3}"),
        weir_test_record_of(0, "d", NULL),
    };
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 4);
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN));
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) == 4, 30000);
    assert_int_equal(
        (int)live_util_metric(process, "weir_rows_dropped_total", "reason=\"null_value\""), 2);
    WEIR_TEST_WAIT_UNTIL(live_util_metric(process, "weir_source_lag_records", NULL) == 0, 10000);
    sql_job_stop(process);
    sql_job_expect_values(job, "out", 0, SQL_JOB_TEXTS("{\"v\":1}", "{\"v\":3}"));
    sql_job_run(job, SQL_JOB_BOUNDED, 0, SQL_JOB_TEXTS("read 0 records"));
    sql_job_wait_count(job, "out", 2);
}

// C014.
static void test_keys_are_left_alone_and_given_as_they_are(void **state)
{
    (void)state;
    struct sql_job *job = create_job(
        "keys", "CREATE TABLE plain (a int) WITH (topic = '$-in');\n"
                "CREATE TABLE keyed (a int, k bytea GENERATED ALWAYS AS (kafka_key()) STORED)\n"
                "  WITH (topic = '$-in');\n"
                "CREATE TABLE out_plain (a int) WITH (topic = '$-plain');\n"
                "CREATE TABLE out_keyed (a int, k bytea) WITH (topic = '$-keyed');\n"
                "INSERT INTO out_plain SELECT a FROM plain;\n"
                "INSERT INTO out_keyed SELECT a, k FROM keyed;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "plain", 1);
    sql_job_topic_create(job, "keyed", 1);
    struct weir_test_record records[4];
    const char *keys[] = {"batch-17", "\xff\0", "", NULL};
    const size_t key_bytes[] = {8, 2, 0, 0};
    for (int i = 0; i < 4; i++) {
        records[i] = weir_test_record_of(0, NULL, "{\"a\":1}");
        records[i].key = keys[i];
        records[i].key_bytes = key_bytes[i];
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 4);
    sql_job_run_bounded(job);
    sql_job_expect_values(job, "plain", 0,
                          SQL_JOB_TEXTS("{\"a\":1}", "{\"a\":1}", "{\"a\":1}", "{\"a\":1}"));
    sql_job_expect_values(job, "keyed", 0,
                          SQL_JOB_TEXTS("{\"a\":1,\"k\":\"\\\\x62617463682d3137\"}",
                                        "{\"a\":1,\"k\":\"\\\\xff00\"}",
                                        "{\"a\":1,\"k\":\"\\\\x\"}", "{\"a\":1,\"k\":null}"));
}

#define HEADERS_SQL                                                                                \
    "CREATE TABLE input (a int,\n"                                                                 \
    "    p bytea GENERATED ALWAYS AS (kafka_header('p')) STORED,\n"                                \
    "    q bytea GENERATED ALWAYS AS (kafka_header('q')) STORED,\n"                                \
    "    s bytea GENERATED ALWAYS AS (kafka_header('ß')) STORED,\n"                               \
    "    e bytea GENERATED ALWAYS AS (kafka_header('e')) STORED,\n"                                \
    "    absent bytea GENERATED ALWAYS AS (kafka_header('nobody')) STORED)\n"                      \
    "  WITH (topic = '$-in');\n"                                                                   \
    "CREATE TABLE output (a int, p bytea, q bytea, s bytea, e bytea, absent bytea, n bigint)\n"    \
    "  WITH (topic = '$-out');\n"                                                                  \
    "INSERT INTO output SELECT a, p, q, s, e, absent, octet_length(q) FROM input\n"                \
    "  WHERE octet_length(q) < 100;\n"                                                             \
    "INSERT INTO output_long SELECT a, octet_length(q) FROM input WHERE octet_length(q) >= 100;\n"

// C167.
static void test_headers_null_empty_repeated_many_and_large(void **state)
{
    (void)state;
    struct sql_job *job = create_job(
        "headers",
        "CREATE TABLE output_long (a int, n bigint) WITH (topic = '$-long');\n" HEADERS_SQL);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "long", 1);
    const struct weir_test_header named[] = {{.name = "p"},
                                             {.name = "q", .value = ""},
                                             {.name = "q", .value = "7", .value_bytes = 1},
                                             {.name = "ß", .value = "y", .value_bytes = 1},
                                             {.name = "e", .value = ""}};
    enum { MANY = 10000, LARGE_BYTES = 900000 };
    struct weir_test_header *many = weir_test_alloc(MANY * sizeof *many);
    for (int i = 0; i < MANY; i++) {
        many[i] = (struct weir_test_header){.name = "q", .value = "12345", .value_bytes = 5};
    }
    char *large_value = weir_test_alloc(LARGE_BYTES);
    memset(large_value, 'x', LARGE_BYTES);
    const struct weir_test_header large = {
        .name = "q", .value = large_value, .value_bytes = LARGE_BYTES};
    struct weir_test_record records[] = {
        weir_test_record_of(0, NULL, "{\"a\":1}"),
        weir_test_record_of(0, NULL, "{\"a\":2}"),
        weir_test_record_of(0, NULL, "{\"a\":3}"),
        weir_test_record_of(0, "k", NULL), // headers do not make a row of a tombstone
        weir_test_record_of(0, NULL, "{\"a\":5}"),
    };
    records[0].headers = named;
    records[0].header_count = 5;
    records[1].headers = many;
    records[1].header_count = MANY;
    records[2].headers = &large;
    records[2].header_count = 1;
    records[3].headers = named;
    records[3].header_count = 5;
    records[4].headers = named + 2;
    records[4].header_count = 1;
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 5);
    sql_job_run(job, SQL_JOB_BOUNDED, 0, SQL_JOB_TEXTS("read 5 records, of these 1 null values"));
    sql_job_expect_values(
        job, "out", 0,
        SQL_JOB_TEXTS("{\"a\":1,\"p\":null,\"q\":\"\\\\x37\",\"s\":\"\\\\x79\",\"e\":\"\\\\x\","
                      "\"absent\":null,\"n\":1}",
                      "{\"a\":2,\"p\":null,\"q\":\"\\\\x3132333435\",\"s\":null,\"e\":null,"
                      "\"absent\":null,\"n\":5}",
                      "{\"a\":5,\"p\":null,\"q\":\"\\\\x37\",\"s\":null,\"e\":null,"
                      "\"absent\":null,\"n\":1}"));
    sql_job_expect_values(job, "long", 0, SQL_JOB_TEXTS("{\"a\":3,\"n\":900000}"));
}

static void test_metadata_of_records(void **state)
{
    (void)state;
    struct sql_job *job = create_job(
        "meta", "CREATE TABLE input (n int,\n"
                "    topic text GENERATED ALWAYS AS (kafka_topic()) STORED,\n"
                "    part int GENERATED ALWAYS AS (kafka_partition()) STORED,\n"
                "    off bigint GENERATED ALWAYS AS (kafka_offset()) STORED,\n"
                "    at timestamptz GENERATED ALWAYS AS (kafka_timestamp()) STORED,\n"
                "    twice int GENERATED ALWAYS AS (n * 2) STORED) WITH (topic = '$-in');\n"
                "CREATE TABLE output (topic text, part int, off bigint, at timestamptz, twice int)"
                " WITH (topic = '$-out');\n"
                "INSERT INTO output SELECT topic, part, off, at, twice FROM input;\n");
    sql_job_topic_create(job, "in", 3);
    sql_job_topic_create(job, "out", 3);
    for (int i = 0; i < 4; i++) {
        struct weir_test_record record =
            weir_test_record_of(i < 2 ? 0 : 2, NULL, weir_test_format("{\"n\":%d}", i));
        record.timestamp_ms = INT64_C(1700000000123) + i;
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
    }
    sql_job_run_bounded(job);
    sql_job_expect_values(job, "out", 0,
                          SQL_JOB_TEXTS("{\"topic\":\"meta-in\",\"part\":0,\"off\":0,"
                                        "\"at\":\"2023-11-14T22:13:20.123+00:00\",\"twice\":0}",
                                        "{\"topic\":\"meta-in\",\"part\":0,\"off\":1,"
                                        "\"at\":\"2023-11-14T22:13:20.124+00:00\",\"twice\":2}"));
    sql_job_expect_values(job, "out", 2,
                          SQL_JOB_TEXTS("{\"topic\":\"meta-in\",\"part\":2,\"off\":0,"
                                        "\"at\":\"2023-11-14T22:13:20.125+00:00\",\"twice\":4}",
                                        "{\"topic\":\"meta-in\",\"part\":2,\"off\":1,"
                                        "\"at\":\"2023-11-14T22:13:20.126+00:00\",\"twice\":6}"));
}

// Two sources into one sink, a view over both, one of them also into a sink of its own.
static void test_several_statements_over_several_topics(void **state)
{
    (void)state;
    struct sql_job *job =
        create_job("several", "CREATE TABLE a (n int) WITH (topic = '$-a');\n"
                              "CREATE TABLE b (n bigint, extra text) WITH (topic = '$-b');\n"
                              "CREATE VIEW both_of_them AS SELECT n, 'a' AS src FROM a\n"
                              "  UNION ALL SELECT n + 1000, extra FROM b WHERE n >= 0;\n"
                              "CREATE TABLE out_all (n bigint, src text) WITH (topic = '$-all');\n"
                              "CREATE TABLE out_a (n int) WITH (topic = '$-out-a');\n"
                              "CREATE TABLE out_large (n bigint) WITH (topic = '$-large');\n"
                              "INSERT INTO out_all SELECT * FROM both_of_them;\n"
                              "INSERT INTO out_a SELECT n FROM a;\n"
                              "INSERT INTO out_large SELECT n FROM both_of_them WHERE n > 1001;\n");
    const char *const suffixes[] = {"a", "b", "all", "out-a", "large"};
    for (int i = 0; i < 5; i++) {
        sql_job_topic_create(job, suffixes[i], i == 2 ? 2 : 1);
    }
    weir_test_topic_grow(job->bootstrap, sql_job_topic(job, "b"), 2);
    sql_job_feed_numbers(job, "a", 0, 0, 3);
    sql_job_feed(job, "b", 1, "{\"n\":1,\"extra\":\"x\"}");
    sql_job_feed(job, "b", 1, "{\"n\":-1,\"extra\":\"out\"}");
    sql_job_feed(job, "b", 1, "{\"n\":2}");
    sql_job_run_bounded(job);
    // Source partition modulo 2: a's rows are in 0, b's in 1.
    sql_job_expect_values(job, "all", 0,
                          SQL_JOB_TEXTS("{\"n\":0,\"src\":\"a\"}", "{\"n\":1,\"src\":\"a\"}",
                                        "{\"n\":2,\"src\":\"a\"}"));
    sql_job_expect_values(job, "all", 1,
                          SQL_JOB_TEXTS("{\"n\":1001,\"src\":\"x\"}", "{\"n\":1002,\"src\":null}"));
    sql_job_expect_numbers(job, "out-a", 0, 0, 3);
    sql_job_expect_numbers(job, "large", 0, 1002, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded_run_passes_transaction_markers_at_the_end),
        cmocka_unit_test(test_open_transactions_upstream_are_not_read),
        cmocka_unit_test(test_log_that_does_not_begin_at_zero),
        cmocka_unit_test(test_holes_that_compaction_left_are_passed),
        cmocka_unit_test(test_null_values_are_counted_and_passed),
        cmocka_unit_test(test_keys_are_left_alone_and_given_as_they_are),
        cmocka_unit_test(test_headers_null_empty_repeated_many_and_large),
        cmocka_unit_test(test_metadata_of_records),
        cmocka_unit_test(test_several_statements_over_several_topics),
    };
    return cmocka_run_group_tests(tests, start, cluster_stop);
}
