// SPDX-License-Identifier: Apache-2.0
// Records and rows that cannot be used, under each policy: what is said, what is committed, what a
// dead letter holds. The real program against a real broker.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECKED_SQL                                                                                \
    "CREATE TABLE input (n int NOT NULL, v int CHECK (v < 100), s varchar(3))\n"                   \
    "  WITH (topic = '$-in'%s);\n"                                                                 \
    "CREATE TABLE output (n int, q int CHECK (q < 12), s varchar(3)) WITH (topic = '$-out');\n"    \
    "INSERT INTO output SELECT n, 12 / v, s FROM input;\n"

// Each breaks one thing.
static const struct {
    const char *value;
    const char *reason;
    const char *message; // a part of it
} bad[] = {
    {"{\"n\": 1, nope", "decode", ""},
    {"{\"n\":3000000000,\"v\":1}", "decode", "column \"n\""},
    {"{\"n\":\"x\",\"v\":1}", "decode", "column \"n\""},
    {"", "decode", ""},
    {"{\"v\":2}", "constraint", "null value in column \"n\""},
    {"{\"n\":3,\"v\":100}", "constraint", "violates check constraint"},
    {"{\"n\":4,\"v\":2,\"s\":\"abcd\"}", "constraint",
     "value too long for type character varying(3)"},
    {"{\"n\":5,\"v\":0}", "expression", "division by zero"},
    {"{\"n\":6,\"v\":1}", "constraint", "violates check constraint"}, // the sink's
};
enum { BAD_COUNT = sizeof bad / sizeof bad[0] };

static struct sql_job *create_checked(const char *name, const char *options, int32_t partitions)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name,
                                         weir_test_format(CHECKED_SQL, options));
    sql_job_topic_create(job, "in", partitions);
    sql_job_topic_create(job, "out", partitions);
    return job;
}

// A good record, all that are bad, each followed by another good one: partition 0.
static void feed_all(const struct sql_job *job)
{
    struct weir_test_record records[2 * BAD_COUNT + 1];
    records[0] = weir_test_record_of(0, NULL, "{\"n\":100,\"v\":6}");
    for (int i = 0; i < BAD_COUNT; i++) {
        records[2 * i + 1] = weir_test_record_of(0, NULL, bad[i].value);
        records[2 * i + 2] = weir_test_record_of(
            0, NULL, weir_test_format("{\"n\":%d,\"v\":6,\"s\":\"ok\"}", 101 + i));
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 2 * BAD_COUNT + 1);
}

static void expect_good_rows(const struct sql_job *job)
{
    const char *values[BAD_COUNT + 2] = {"{\"n\":100,\"q\":2,\"s\":null}"};
    for (int i = 0; i < BAD_COUNT; i++) {
        values[i + 1] = weir_test_format("{\"n\":%d,\"q\":2,\"s\":\"ok\"}", 101 + i);
    }
    sql_job_expect_values(job, "out", 0, values);
}

static void test_fail_stops_before_the_record_is_committed(void **state)
{
    (void)state;
    for (int i = 0; i < BAD_COUNT; i++) {
        struct sql_job *job = create_checked(weir_test_format("fail-%d", i), "", 3);
        struct weir_test_record records[] = {
            weir_test_record_of(2, NULL, "{\"n\":1,\"v\":6}"),
            weir_test_record_of(2, NULL, "{\"n\":2,\"v\":6}"),
            weir_test_record_of(2, NULL, bad[i].value),
            weir_test_record_of(2, NULL, "{\"n\":3,\"v\":6}"),
        };
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 4);
        const char *log = sql_job_run(
            job, SQL_JOB_BOUNDED, 1,
            SQL_JOB_TEXTS(weir_test_format("topic fail-%d-in partition 2 offset 2: ", i),
                          bad[i].reason, bad[i].message, "on_error = 'skip' or 'dead_letter'"));
        assert_null(strstr(log, "restart")); // a replay would only repeat it
        assert_in_range(sql_job_committed(job, "in", 2), 0, 2);
        struct weir_test_log *rows = sql_job_read(job, "out");
        assert_int_equal(rows->record_count, sql_job_committed(job, "in", 2));
        weir_test_log_destroy(rows);
        if (i == 0) {
            // Again the same, until the policy changes; then everything comes once.
            sql_job_run(job, SQL_JOB_BOUNDED, 1, SQL_JOB_TEXTS("fail-0-in partition 2 offset 2: "));
            sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ON_BAD_RECORD=skip"), 0,
                        SQL_JOB_TEXTS("set 1 records aside: decode"));
            sql_job_expect_values(job, "out", 2,
                                  SQL_JOB_TEXTS("{\"n\":1,\"q\":2,\"s\":null}",
                                                "{\"n\":2,\"q\":2,\"s\":null}",
                                                "{\"n\":3,\"q\":2,\"s\":null}"));
        }
    }
}

// What was committed before the bad record stays; nothing behind it is written.
static void test_fail_while_running(void **state)
{
    (void)state;
    struct sql_job *job = create_checked("running", ", on_error = 'fail'", 1);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA("WEIR_ON_BAD_RECORD=skip")); // the table's policy wins
    sql_job_feed(job, "in", 0, "{\"n\":1,\"v\":6}");
    sql_job_wait_count(job, "out", 1);
    sql_job_feed(job, "in", 0, "rubbish");
    sql_job_feed(job, "in", 0, "{\"n\":2,\"v\":6}");
    sql_job_expect_exit(process, 1, SQL_JOB_TEXTS("topic running-in partition 0 offset 1: "));
    sql_job_wait_count(job, "out", 1);
    assert_int_equal(sql_job_committed(job, "in", 0), 1);
}

static void test_skip_counts_by_reason(void **state)
{
    (void)state;
    struct sql_job *job = create_checked("skip", ", on_error = 'skip'", 1);
    feed_all(job);
    sql_job_run(job, SQL_JOB_BOUNDED, 0,
                SQL_JOB_TEXTS(
                    "skipped: topic skip-in partition 0 offset 1: ", "set 4 records aside: decode",
                    "set 4 records aside: constraint", "set 1 records aside: expression"));
    expect_good_rows(job);
    assert_int_equal(sql_job_committed(job, "in", 0), 2 * BAD_COUNT + 1);
}

static void expect_header(const struct weir_test_record *record, const char *name,
                          const char *value)
{
    const struct weir_test_header *header = weir_test_record_header(record, name);
    if (header == NULL || !weir_test_bytes_are(header->value, header->value_bytes, value)) {
        WEIR_TEST_FAIL("header %s is %.*s instead of %s", name,
                       header != NULL ? (int)header->value_bytes : 0,
                       header != NULL ? (const char *)header->value : "", value);
    }
}

static void expect_message(const struct weir_test_record *record, const char *part)
{
    const struct weir_test_header *header = weir_test_record_header(record, "weir.message");
    assert_non_null(header);
    assert_true(header->value_bytes > 0);
    char *text = weir_test_format("%.*s", (int)header->value_bytes, (const char *)header->value);
    if (strstr(text, part) == NULL) {
        WEIR_TEST_FAIL("weir.message is \"%s\", without \"%s\"", text, part);
    }
}

static void test_dead_letters_of_every_reason(void **state)
{
    (void)state;
    struct sql_job *job = create_checked(
        "dead", ", on_error = 'dead_letter', dead_letter_topic = '$-dead', partitions = 2", 1);
    feed_all(job);
    sql_job_run(job, SQL_JOB_BOUNDED, 0,
                SQL_JOB_TEXTS("created topic dead-dead with 2 partitions",
                              "dead letter: topic dead-in partition 0 offset 1: "));
    expect_good_rows(job);
    struct weir_test_log *log = sql_job_read(job, "dead");
    assert_int_equal(log->record_count, BAD_COUNT);
    assert_int_equal(log->partition_count, 2);
    assert_int_equal(log->partitions[0].record_count, BAD_COUNT);
    // Of one batch the decoder's come first, then each check's and the expression's; all are there.
    for (int i = 0; i < BAD_COUNT; i++) {
        const char *offset = weir_test_format("%d", 2 * i + 1);
        const struct weir_test_record *found = NULL;
        for (size_t j = 0; j < log->record_count; j++) {
            const struct weir_test_record *record = &log->partitions[0].records[j];
            const struct weir_test_header *at = weir_test_record_header(record, "weir.offset");
            assert_non_null(at);
            if (weir_test_bytes_are(at->value, at->value_bytes, offset)) {
                assert_null(found);
                found = record;
            }
        }
        assert_non_null(found);
        assert_true(weir_test_value_is(found, bad[i].value));
        assert_null(found->key);
        expect_header(found, "weir.error", bad[i].reason);
        expect_message(found, bad[i].message);
        expect_header(found, "weir.topic", "dead-in");
        expect_header(found, "weir.partition", "0");
        expect_header(found, "weir.job", "dead");
        assert_int_equal(found->header_count, 7);
    }
    weir_test_log_destroy(log);
}

static bool are_same_bytes(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return (a == NULL) == (b == NULL) && a_bytes == b_bytes &&
           (a == NULL || memcmp(a, b, a_bytes) == 0);
}

// Key, value and headers are the original's, byte for byte, headers of the same names included.
static void test_dead_letter_is_the_original_record(void **state)
{
    (void)state;
    struct sql_job *job =
        create_checked("original", ", on_error = 'dead_letter', dead_letter_topic = '$-dead'", 3);
    sql_job_topic_create(job, "dead", 2);
    const struct weir_test_header headers[] = {
        {.name = "null"},
        {.name = "empty", .value = ""},
        {.name = "twice", .value = "1", .value_bytes = 1},
        {.name = "twice", .value = "\0\xff", .value_bytes = 2},
        {.name = "weir.error", .value = "old", .value_bytes = 3}};
    struct weir_test_record records[] = {
        {.partition = 1,
         .timestamp_ms = INT64_C(1700000000123),
         .key = "\0k\xff",
         .key_bytes = 3,
         .value = "{\"n\":\xff\0}",
         .value_bytes = 7,
         .headers = headers,
         .header_count = 5},
        {.partition = 2,
         .timestamp_ms = INT64_C(1700000000456),
         .key = "",
         .key_bytes = 0,
         .value = "{\"n\":1,\"v\":0}",
         .value_bytes = 13},
        {.partition = 2,
         .timestamp_ms = INT64_C(1700000000789),
         .key = NULL,
         .value = "",
         .value_bytes = 0},
    };
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 3);
    sql_job_run_bounded(job);
    struct weir_test_log *log = sql_job_read(job, "dead");
    // Source partition modulo 2.
    assert_int_equal(log->partitions[0].record_count, 2);
    assert_int_equal(log->partitions[1].record_count, 1);
    for (int i = 0; i < 3; i++) {
        const struct weir_test_log_partition *partition = &log->partitions[i == 0 ? 1 : 0];
        const struct weir_test_record *found = NULL;
        for (size_t j = 0; j < partition->record_count; j++) {
            if (partition->records[j].timestamp_ms == records[i].timestamp_ms) {
                found = &partition->records[j];
            }
        }
        assert_non_null(found);
        assert_true(
            are_same_bytes(found->key, found->key_bytes, records[i].key, records[i].key_bytes));
        assert_true(are_same_bytes(found->value, found->value_bytes, records[i].value,
                                   records[i].value_bytes));
        assert_int_equal(found->header_count, records[i].header_count + 7);
        for (size_t j = 0; j < records[i].header_count; j++) {
            assert_string_equal(found->headers[j].name, headers[j].name);
            assert_true(are_same_bytes(found->headers[j].value, found->headers[j].value_bytes,
                                       headers[j].value, headers[j].value_bytes));
        }
        struct weir_test_record ours = *found;
        ours.headers += records[i].header_count;
        ours.header_count = 7;
        expect_header(&ours, "weir.error", i == 1 ? "expression" : "decode");
        expect_header(&ours, "weir.topic", "original-in");
        expect_header(&ours, "weir.partition", weir_test_format("%d", records[i].partition));
        expect_header(&ours, "weir.offset", i == 2 ? "1" : "0");
        expect_header(&ours, "weir.timestamp",
                      weir_test_format("%" PRId64, records[i].timestamp_ms));
        expect_header(&ours, "weir.job", "original");
    }
    weir_test_log_destroy(log);
}

static const struct weir_test_record seven[] = {
    {.value = "{\"t\":1,\"w\":10}", .value_bytes = 14},
    {.value = "{\"t\": 77zz, \"w\": 1}", .value_bytes = 19},
    {.value = "{\"t\":2,\"w\":007}", .value_bytes = 15},
    {.value = "{\"t\":3,\"s\":\"\xff\xfe\"}", .value_bytes = 16},
    {.value = "{\"t\":4", .value_bytes = 6},
    {.value = "{\"t\":5,\"w\":11}", .value_bytes = 14},
    {.value = "{\"t\":6,\"w\":12}", .value_bytes = 14},
};

// C007: in one fetch and in seven.
static void test_a_rejected_message_leaves_no_trace_in_the_next(void **state)
{
    (void)state;
    for (int is_single = 0; is_single < 2; is_single++) {
        struct sql_job *job = sql_job_create(
            weir_test_cluster_bootstrap(cluster), is_single ? "seven" : "one",
            "CREATE TABLE input (t bigint, w bigint, s text) WITH (topic = '$-in',\n"
            "    on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
            "CREATE TABLE output (t bigint, w bigint, s text) WITH (topic = '$-out');\n"
            "INSERT INTO output SELECT t, w, s FROM input;\n");
        const char *in = sql_job_topic(job, "in");
        sql_job_topic_create(job, "in", 1);
        sql_job_topic_create(job, "out", 1);
        sql_job_topic_create(job, "dead", 1);
        if (is_single) {
            struct weir_test_process *process = sql_job_start(job, NULL);
            for (int i = 0; i < 7; i++) {
                weir_test_produce(job->bootstrap, in, &seven[i], 1);
                WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) == i + 1, 20000);
            }
            sql_job_stop(process);
        } else {
            weir_test_produce(job->bootstrap, in, seven, 7);
            sql_job_run_bounded(job);
        }
        sql_job_expect_values(job, "out", 0,
                              SQL_JOB_TEXTS("{\"t\":1,\"w\":10,\"s\":null}",
                                            "{\"t\":5,\"w\":11,\"s\":null}",
                                            "{\"t\":6,\"w\":12,\"s\":null}"));
        struct weir_test_log *log = sql_job_read(job, "dead");
        assert_int_equal(log->record_count, 4);
        for (int i = 0; i < 4; i++) {
            const struct weir_test_record *dead = &log->partitions[0].records[i];
            assert_true(are_same_bytes(dead->value, dead->value_bytes, seven[i + 1].value,
                                       seven[i + 1].value_bytes));
            expect_header(dead, "weir.error", "decode");
            expect_header(dead, "weir.offset", weir_test_format("%d", i + 1));
        }
        weir_test_log_destroy(log);
    }
}

// A row that one statement cannot use is still there for the others; two that cannot give two.
static void test_expression_errors_concern_one_statement(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "statements",
                       "CREATE TABLE input (n int, v int, s text) WITH (topic = '$-in');\n"
                       "CREATE TABLE out_n (n int) WITH (topic = '$-n');\n"
                       "CREATE TABLE out_v (q int) WITH (topic = '$-v');\n"
                       "CREATE TABLE out_s (i int) WITH (topic = '$-s');\n"
                       "INSERT INTO out_n SELECT n FROM input WHERE n >= 0;\n"
                       "INSERT INTO out_v SELECT 12 / v FROM input WHERE CASE WHEN n = 3 THEN 1 / "
                       "v > 0 ELSE true END;\n"
                       "INSERT INTO out_s SELECT s::int FROM input;\n");
    const char *const suffixes[] = {"in", "n", "v", "s", "dead"};
    for (int i = 0; i < 5; i++) {
        sql_job_topic_create(job, suffixes[i], 1);
    }
    sql_job_feed(job, "in", 0, "{\"n\":1,\"v\":3,\"s\":\"7\"}");
    sql_job_feed(job, "in", 0, "{\"n\":2,\"v\":0,\"s\":\"8\"}");
    sql_job_feed(job, "in", 0, "{\"n\":3,\"v\":0,\"s\":\"x\"}");
    sql_job_feed(job, "in", 0, "{\"n\":4,\"v\":4,\"s\":\"9\"}");
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ON_BAD_RECORD=dead_letter",
                              "WEIR_DEAD_LETTER_TOPIC=statements-dead"),
                0, SQL_JOB_TEXTS("set 3 records aside: expression"));
    sql_job_expect_numbers(job, "n", 0, 1, 4);
    sql_job_expect_values(job, "v", 0, SQL_JOB_TEXTS("{\"q\":4}", "{\"q\":3}"));
    sql_job_expect_values(job, "s", 0, SQL_JOB_TEXTS("{\"i\":7}", "{\"i\":8}", "{\"i\":9}"));
    struct weir_test_log *log = sql_job_read(job, "dead");
    assert_int_equal(log->record_count, 3);
    int casts = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct weir_test_record *dead = &log->partitions[0].records[i];
        const struct weir_test_header *message = weir_test_record_header(dead, "weir.message");
        expect_header(dead, "weir.error", "expression");
        casts += weir_test_bytes_are(message->value, message->value_bytes,
                                     "invalid input syntax for type integer: \"x\"");
    }
    assert_int_equal(casts, 1);
    weir_test_log_destroy(log);
}

static void test_policy_without_topic_is_refused(void **state)
{
    (void)state;
    struct sql_job *job = create_checked("nowhere", ", on_error = 'dead_letter'", 1);
    sql_job_expect_refused(job, NULL, SQL_JOB_TEXTS("table \"input\"", "WEIR_DEAD_LETTER_TOPIC"));
    sql_job_expect_refused(job, SQL_JOB_EXTRA("WEIR_DEAD_LETTER_TOPIC=nowhere-in"),
                           SQL_JOB_TEXTS("\"nowhere-in\" is read by the same job"));
    sql_job_expect_refused(job, SQL_JOB_EXTRA("WEIR_DEAD_LETTER_TOPIC=nowhere-dead"),
                           SQL_JOB_TEXTS("dead-letter topic \"nowhere-dead\" does not exist"));
    // The table's own topic wins over the job's.
    sql_job_topic_create(job, "dead", 1);
    sql_job_topic_create(job, "own", 1);
    sql_job_feed(job, "in", 0, "rubbish");
    sql_job_set_sql(job, weir_test_format(CHECKED_SQL, ", on_error = 'dead_letter', "
                                                       "dead_letter_topic = '$-own'"));
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_DEAD_LETTER_TOPIC=nowhere-dead"), 0,
                NULL);
    sql_job_wait_count(job, "own", 1);
    sql_job_wait_count(job, "dead", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_stops_before_the_record_is_committed),
        cmocka_unit_test(test_fail_while_running),
        cmocka_unit_test(test_skip_counts_by_reason),
        cmocka_unit_test(test_dead_letters_of_every_reason),
        cmocka_unit_test(test_dead_letter_is_the_original_record),
        cmocka_unit_test(test_a_rejected_message_leaves_no_trace_in_the_next),
        cmocka_unit_test(test_expression_errors_concern_one_statement),
        cmocka_unit_test(test_policy_without_topic_is_refused),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
