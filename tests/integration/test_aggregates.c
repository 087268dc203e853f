// SPDX-License-Identifier: Apache-2.0
// Cases about aggregates over rows that come, change and go, by their numbers, from topic to topic:
// sums that do not wrap, averages, groups of nothing, distinct values, extremes that leave, in two
// lives of one job. What PostgreSQL says of the same: tests/sql/oracle.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

static void expect(const struct sql_job *job, const char *suffix, const char *expected)
{
    char *found = sql_job_compacted(job, suffix);
    if (strcmp(found, expected) != 0) {
        WEIR_TEST_FAIL("%s-%s holds\n%s\ninstead of\n%s", job->name, suffix, found, expected);
    }
    free(found);
}

// Key {"id":n} of a keyed input; value NULL: deleted.
static void put(const struct sql_job *job, const char *suffix, int id, const char *value)
{
    sql_job_feed_keyed(job, suffix, weir_test_format("{\"id\":%d}", id), value);
}

// --- sums, averages, nothing ---------------------------------------------------------------------

#define LARGE "9223372036854775806"

static const char *const sums_sql =
    "CREATE TABLE c80 (id int PRIMARY KEY, b bigint, i int) WITH (topic = '$-c80');\n"
    "CREATE TABLE c80_sums (one int PRIMARY KEY, b numeric, a numeric, i bigint)\n"
    "  WITH (topic = '$-c80-sums');\n"
    "INSERT INTO c80_sums SELECT 1, sum(b), avg(b), sum(i) FROM c80;\n"
    // With windows: the same rows as they come.
    "CREATE TABLE rows (b bigint, i int, ts timestamptz)\n"
    "  WITH (topic = '$-rows', event_time = 'ts', watermark_delay = '0 s');\n"
    "CREATE TABLE c80_windows (w timestamptz, b numeric, a numeric, i bigint)\n"
    "  WITH (topic = '$-c80-windows');\n"
    "INSERT INTO c80_windows SELECT window_start, sum(b), avg(b), sum(i)\n"
    "  FROM tumble(rows, ts, interval '1 min') GROUP BY window_start;\n"
    "CREATE TABLE c83 (id int PRIMARY KEY, g text, v int) WITH (topic = '$-c83');\n"
    "CREATE TABLE c83_means (g text PRIMARY KEY, a numeric, r bigint, nothing numeric)\n"
    "  WITH (topic = '$-c83-means');\n"
    "INSERT INTO c83_means SELECT g, avg(v), avg(v), avg(v) FILTER (WHERE false) FROM c83\n"
    "  GROUP BY g;\n"
    "CREATE TABLE c84_groups (g text PRIMARY KEY, n bigint) WITH (topic = '$-c84-groups');\n"
    "INSERT INTO c84_groups SELECT g, count(*) FROM c83 GROUP BY g;\n"
    "CREATE TABLE c84_all (one int PRIMARY KEY, n bigint, v bigint, s bigint, a numeric, m int,\n"
    "  d bigint) WITH (topic = '$-c84-all');\n"
    "INSERT INTO c84_all SELECT 1, count(*), count(v), sum(v), avg(v), min(v), count(DISTINCT v)\n"
    "  FROM c83;\n";

static void feed_sums(const struct sql_job *job)
{
    put(job, "c80", 1, "{\"b\":" LARGE ",\"i\":2147483600}");
    put(job, "c80", 2, "{\"b\":5,\"i\":100}");
    sql_job_feed(job, "rows", 0, "{\"b\":" LARGE ",\"i\":2147483600,\"ts\":1000}");
    sql_job_feed(job, "rows", 0, "{\"b\":5,\"i\":100,\"ts\":2000}");
    sql_job_feed(job, "rows", 0, "{\"b\":" LARGE ",\"ts\":181000}");
    sql_job_feed(job, "rows", 0, "{\"b\":" LARGE ",\"ts\":182000}");
    static const int groups[][3] = {{'p', 2, 3}, {'q', 2, 2}, {'r', -2, -3}};
    for (int i = 0; i < 6; i++) {
        put(job, "c83", i,
            weir_test_format("{\"g\":\"%c\",\"v\":%d}", groups[i / 2][0],
                             groups[i / 2][1 + i % 2]));
    }
    put(job, "c83", 6, "{\"g\":\"q\",\"v\":3}");
    put(job, "c83", 7, "{\"g\":\"s\"}");
}

static const char *const c80_windows[] = {
    "{\"w\":\"1970-01-01T00:00:00+00:00\",\"b\":9223372036854775811,"
    "\"a\":4611686018427387906,\"i\":2147483700}",
    "{\"w\":\"1970-01-01T00:03:00+00:00\",\"b\":18446744073709551612,"
    "\"a\":" LARGE ",\"i\":null}",
};

static void test_c080_c083_c084_sums_averages_and_nothing(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "sums", sums_sql);
    static const char *const suffixes[] = {"c80", "c80-sums",  "rows",       "c80-windows",
                                           "c83", "c83-means", "c84-groups", "c84-all"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        sql_job_topic_create(job, suffixes[i], 1);
    }
    feed_sums(job);
    sql_job_run_bounded(job);
    expect(job, "c80-sums",
           "{\"one\":1,\"b\":9223372036854775811,\"a\":4611686018427387906,\"i\":2147483700}\n");
    struct weir_test_log *windows = sql_job_read(job, "c80-windows");
    assert_int_equal(windows->record_count, 2); // none for the time between
    bool is_swapped = !weir_test_value_is(&windows->partitions[0].records[0], c80_windows[0]);
    for (int i = 0; i < 2; i++) { // windows without key come in any order
        assert_true(weir_test_value_is(&windows->partitions[0].records[is_swapped ? 1 - i : i],
                                       c80_windows[i]));
    }
    weir_test_log_destroy(windows);
    expect(job, "c83-means",
           "{\"g\":\"p\",\"a\":2.5000000000000000,\"r\":3,\"nothing\":null}\n"
           "{\"g\":\"q\",\"a\":2.3333333333333333,\"r\":2,\"nothing\":null}\n"
           "{\"g\":\"r\",\"a\":-2.5000000000000000,\"r\":-3,\"nothing\":null}\n"
           "{\"g\":\"s\",\"a\":null,\"r\":null,\"nothing\":null}\n");
    expect(job, "c84-groups",
           "{\"g\":\"p\",\"n\":2}\n{\"g\":\"q\",\"n\":3}\n{\"g\":\"r\",\"n\":2}\n"
           "{\"g\":\"s\",\"n\":1}\n");
    expect(job, "c84-all",
           "{\"one\":1,\"n\":8,\"v\":7,\"s\":7,\"a\":1.00000000000000000000,\"m\":-3,\"d\":4}\n");

    put(job, "c80", 2, NULL);
    for (int i = 0; i < 8; i++) {
        put(job, "c83", i, NULL);
    }
    sql_job_run_bounded(job);
    expect(job, "c80-sums", "{\"one\":1,\"b\":" LARGE ",\"a\":" LARGE ",\"i\":2147483600}\n");
    expect(job, "c83-means", "");
    expect(job, "c84-groups", "");
    expect(job, "c84-all",
           "{\"one\":1,\"n\":0,\"v\":0,\"s\":null,\"a\":null,\"m\":null,\"d\":0}\n");
    put(job, "c80", 3, "{\"b\":" LARGE "}");
    sql_job_run_bounded(job);
    expect(job, "c80-sums",
           "{\"one\":1,\"b\":18446744073709551612,\"a\":" LARGE ",\"i\":2147483600}\n");
    // Tombstones for the groups, each once.
    struct weir_test_log *log = sql_job_read(job, "c84-groups");
    assert_int_equal(log->record_count, 8);
    weir_test_log_destroy(log);
}

// --- distinct values -----------------------------------------------------------------------------

static void test_c085_c103_distinct_values(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "distinct",
        "CREATE TABLE t (id int PRIMARY KEY, g text, v int, d double precision, n numeric,\n"
        "  i interval) WITH (topic = '$-in');\n"
        "CREATE TABLE counts (g text PRIMARY KEY, n bigint, v bigint, d bigint, b bigint,\n"
        "  nothing bigint) WITH (topic = '$-counts');\n"
        "INSERT INTO counts SELECT g, count(*), count(v), count(DISTINCT v),\n"
        "  count(DISTINCT v) FILTER (WHERE v > 10), sum(v) FILTER (WHERE false) FROM t\n"
        "  WHERE g IS NOT NULL GROUP BY g;\n"
        "CREATE TABLE others (one int PRIMARY KEY, d bigint, i bigint) WITH (topic = '$-others');\n"
        "INSERT INTO others SELECT 1, count(DISTINCT d), count(DISTINCT i) FROM t\n"
        "  WHERE g IS NULL;\n"
        "CREATE TABLE numbers (n numeric PRIMARY KEY, c bigint) WITH (topic = '$-numbers');\n"
        "INSERT INTO numbers SELECT n, count(*) FROM t WHERE n IS NOT NULL GROUP BY n;\n"
        "CREATE TABLE intervals (i interval PRIMARY KEY) WITH (topic = '$-intervals');\n"
        "INSERT INTO intervals SELECT DISTINCT i FROM t WHERE i IS NOT NULL;\n");
    static const char *const suffixes[] = {"in", "counts", "others", "numbers", "intervals"};
    for (int i = 0; i < 5; i++) {
        sql_job_topic_create(job, suffixes[i], 1);
    }
    static const char *const rows[] = {
        "{\"g\":\"p\",\"v\":10}",  "{\"g\":\"p\",\"v\":20}",   "{\"g\":\"p\",\"v\":20}",
        "{\"g\":\"q\",\"v\":10}",  "{\"g\":\"r\",\"v\":null}", "{\"d\":0.0,\"n\":2.0}",
        "{\"d\":-0.0,\"n\":2.00}", "{\"d\":\"NaN\",\"n\":2}",  "{\"d\":\"NaN\",\"i\":\"48 h\"}",
        "{\"i\":\"2 d\"}",
    };
    for (int i = 0; i < 10; i++) {
        put(job, "in", i, rows[i]);
    }
    sql_job_run_bounded(job);
    const char *rest = "{\"g\":\"q\",\"n\":1,\"v\":1,\"d\":1,\"b\":0,\"nothing\":null}\n"
                       "{\"g\":\"r\",\"n\":1,\"v\":0,\"d\":0,\"b\":0,\"nothing\":null}\n";
    expect(job, "counts",
           weir_test_format("{\"g\":\"p\",\"n\":3,\"v\":3,\"d\":2,\"b\":1,\"nothing\":null}\n%s",
                            rest));
    expect(job, "others", "{\"one\":1,\"d\":2,\"i\":1}\n");
    expect(job, "numbers", "{\"n\":2.0,\"c\":3}\n");
    // One row, spelt as either of the two.
    char *interval = sql_job_compacted(job, "intervals");
    assert_true(strcmp(interval, "{\"i\":\"48:00:00\"}\n") == 0 ||
                strcmp(interval, "{\"i\":\"2 days\"}\n") == 0);
    free(interval);
    put(job, "in", 1, NULL);
    sql_job_run_bounded(job);
    expect(job, "counts",
           weir_test_format("{\"g\":\"p\",\"n\":2,\"v\":2,\"d\":2,\"b\":1,\"nothing\":null}\n%s",
                            rest));
    put(job, "in", 2, NULL);
    put(job, "in", 8, NULL);
    sql_job_run_bounded(job);
    expect(job, "counts",
           weir_test_format("{\"g\":\"p\",\"n\":1,\"v\":1,\"d\":1,\"b\":0,\"nothing\":null}\n%s",
                            rest));
    expect(job, "others", "{\"one\":1,\"d\":2,\"i\":1}\n");
}

// --- extremes ------------------------------------------------------------------------------------

// Three tasks, and another life for every step; max of maxima, and the same with min.
static void test_c087_an_extreme_that_leaves_brings_the_next_one_back(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "c087",
        "CREATE TABLE t (id int PRIMARY KEY, g text, v int) WITH (topic = '$-in');\n"
        "CREATE TABLE one (g text PRIMARY KEY, high int, low int) WITH (topic = '$-one');\n"
        "INSERT INTO one SELECT g, max(v), min(-v) FROM t GROUP BY g;\n"
        "CREATE TABLE two (g text PRIMARY KEY, high int, low int) WITH (topic = '$-two');\n"
        "INSERT INTO two SELECT g, max(high), min(low) FROM\n"
        "  (SELECT id, g, max(v) AS high, min(-v) AS low FROM t GROUP BY id, g) AS each\n"
        "  GROUP BY g;\n");
    sql_job_topic_create(job, "in", 3);
    sql_job_topic_create(job, "one", 1);
    sql_job_topic_create(job, "two", 1);
    static const struct {
        int id;
        const char *value;
        int high; // -1: no group
    } steps[] = {
        {1, "{\"g\":\"g\",\"v\":40}", 40},
        {2, "{\"g\":\"g\",\"v\":15}", 40},
        {3, "{\"g\":\"g\",\"v\":30}", 40},
        {1, NULL, 30},
        {3, NULL, 15},
        {2, NULL, -1},
        {4, "{\"g\":\"g\",\"v\":7}", 7},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        put(job, "in", steps[i].id, steps[i].value);
        sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_PARALLELISM=3"), 0, NULL);
        char *expected = steps[i].high < 0
                             ? weir_test_format("%s", "")
                             : weir_test_format("{\"g\":\"g\",\"high\":%d,\"low\":%d}\n",
                                                steps[i].high, -steps[i].high);
        expect(job, "one", expected);
        expect(job, "two", expected);
        free(expected);
    }
    // 40, 30, 15, the tombstone, 7: what stays as it was is not written again.
    struct weir_test_log *log = sql_job_read(job, "one");
    assert_int_equal(log->record_count, 5);
    assert_null(log->partitions[0].records[3].value);
    weir_test_log_destroy(log);
}

// --- times ---------------------------------------------------------------------------------------

static void test_c103_intervals_are_bounded_and_clamped(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "c103",
        "CREATE TABLE t (n int, i interval, tz timestamptz, ts timestamp)\n"
        "  WITH (topic = '$-in', on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
        "CREATE TABLE o (n int, a timestamptz, b timestamp) WITH (topic = '$-out');\n"
        "INSERT INTO o SELECT n, tz - i, ts + interval '1 month' FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "dead", 1);
    sql_job_feed(job, "in", 0,
                 "{\"n\":1,\"i\":\"-2147483648 days\",\"tz\":\"2024-03-01\","
                 "\"ts\":\"2023-01-31\"}");
    sql_job_feed(job, "in", 0,
                 "{\"n\":2,\"i\":\"1 day\",\"tz\":\"2024-03-01\",\"ts\":\"2023-01-31\"}");
    sql_job_run_bounded(job);
    sql_job_expect_values(job, "out", 0,
                          SQL_JOB_TEXTS("{\"n\":2,\"a\":\"2024-02-29T00:00:00+00:00\","
                                        "\"b\":\"2023-02-28T00:00:00\"}"));
    struct weir_test_log *log = sql_job_read(job, "dead");
    assert_int_equal(log->record_count, 1);
    const struct weir_test_header *message =
        weir_test_record_header(&log->partitions[0].records[0], "weir.message");
    assert_true(
        weir_test_bytes_are(message->value, message->value_bytes, "timestamp out of range"));
    weir_test_log_destroy(log);
}

// --- time to live --------------------------------------------------------------------------------

static const char *const ttl_sql =
    "CREATE TABLE rows (k int, ts timestamptz) WITH (topic = '$-rows', event_time = 'ts');\n"
    "CREATE TABLE counts (k int PRIMARY KEY, n bigint, d bigint)\n"
    "  WITH (topic = '$-counts');\n"
    "CREATE TABLE seen (k int PRIMARY KEY) WITH (topic = '$-seen');\n"
    "CREATE TABLE ever (k int PRIMARY KEY, n bigint) WITH (topic = '$-ever');\n"
    "SET weir.state_ttl = '1 min';\n"
    "INSERT INTO counts SELECT k, count(*), count(DISTINCT k) FROM rows GROUP BY k;\n"
    "INSERT INTO seen SELECT DISTINCT k FROM rows;\n"
    "SET weir.state_ttl = 'infinity';\n"
    "INSERT INTO ever SELECT k, count(*) FROM rows GROUP BY k;\n";

static void feed_times(const struct sql_job *job, const char *row_list)
{
    char *list = strdup(row_list);
    for (char *rest = list, *row; (row = strsep(&rest, " ")) != NULL;) {
        int k = atoi(strsep(&row, "@"));
        sql_job_feed(job, "rows", 0, weir_test_format("{\"k\":%d,\"ts\":%s000}", k, row));
    }
    free(list);
}

// By the rows' own times, over two lives with another number of tasks: 60 s after the last row of a
// key its count begins anew, 59 s after it goes on, whatever the batches.
static void test_groups_are_forgotten_after_their_time_to_live(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "ttl", ttl_sql);
    static const char *const suffixes[] = {"counts", "seen", "ever"};
    sql_job_topic_create(job, "rows", 1); // the order of the rows is the point
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        sql_job_topic_create(job, suffixes[i], 1);
    }
    feed_times(job, "1@1 1@30 2@30 3@31 1@90 2@89 1@91 4@100");
    sql_job_run_bounded(job);
    expect(job, "counts",
           "{\"k\":1,\"n\":2,\"d\":1}\n{\"k\":2,\"n\":2,\"d\":1}\n{\"k\":3,\"n\":1,\"d\":1}\n{"
           "\"k\":4,\"n\":1,\"d\":1}\n");
    feed_times(job, "1@150 2@149 3@150 4@160 4@159 3@209");
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_PARALLELISM=3"), 0, NULL);
    expect(job, "counts",
           "{\"k\":1,\"n\":3,\"d\":1}\n{\"k\":2,\"n\":1,\"d\":1}\n{\"k\":3,\"n\":2,\"d\":1}\n{"
           "\"k\":4,\"n\":2,\"d\":1}\n");
    expect(job, "ever",
           "{\"k\":1,\"n\":5}\n{\"k\":2,\"n\":3}\n{\"k\":3,\"n\":3}\n{\"k\":4,\"n\":3}\n");
    expect(job, "seen", "{\"k\":1}\n{\"k\":2}\n{\"k\":3}\n{\"k\":4}\n");
    struct weir_test_log *seen = sql_job_read(job, "seen");
    assert_true(seen->record_count >= 7); // 2, 3 and 4 were new once more
    weir_test_log_destroy(seen);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c080_c083_c084_sums_averages_and_nothing),
        cmocka_unit_test(test_c085_c103_distinct_values),
        cmocka_unit_test(test_c087_an_extreme_that_leaves_brings_the_next_one_back),
        cmocka_unit_test(test_c103_intervals_are_bounded_and_clamped),
        cmocka_unit_test(test_groups_are_forgotten_after_their_time_to_live),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
