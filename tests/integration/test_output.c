// SPDX-License-Identifier: Apache-2.0
// What the real program writes: the bytes of every type, timestamps, keys and partitions of
// messages, topics that it makes. Expected bytes come from PostgreSQL 15
// (tests/sql/oracle_output.py), partitions from Java's murmur2 and from librdkafka's.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static struct sql_job *create_job(const char *name, const char *sql)
{
    return sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
}

static int64_t wall_ms(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000 + now.tv_usec / 1000;
}

// --- bytes ---------------------------------------------------------------------------------------

enum { MESSAGES_MAX = 64 };

struct messages {
    size_t count;
    const char *in[MESSAGES_MAX];
    const char *out[MESSAGES_MAX + 1]; // NULL behind the last
};

// fixtures/output_types.tsv: what comes in, a tab, what goes out.
static struct messages read_messages(void)
{
    int folder_bytes = (int)(strrchr(__FILE__, '/') - __FILE__);
    char *path = weir_test_format("%.*s/fixtures/output_types.tsv", folder_bytes, __FILE__);
    char *text = weir_test_read_file(path, NULL);
    assert_non_null(text);
    struct messages messages = {0};
    for (char *line; (line = strsep(&text, "\n")) != NULL && *line != '\0';) {
        assert_in_range(messages.count, 0, MESSAGES_MAX - 1);
        messages.in[messages.count] = strsep(&line, "\t");
        assert_non_null(line);
        messages.out[messages.count++] = line;
    }
    assert_true(messages.count > 5);
    return messages;
}

#define TYPE_COLUMNS                                                                               \
    "(b boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision,\n"              \
    "  nu numeric, n2 numeric(12,2), t text, vc varchar(5), by bytea, d date, ts timestamp,\n"     \
    "  tz timestamptz, jb jsonb, c pair)"

#define TYPES_SQL                                                                                  \
    "CREATE TYPE inner_pair AS (a int, b text);\n"                                                 \
    "CREATE TYPE pair AS (x numeric(6,2), p inner_pair, ok boolean);\n"                            \
    "CREATE TABLE input " TYPE_COLUMNS " WITH (topic = '%s');\n"                                   \
    "CREATE TABLE output " TYPE_COLUMNS " WITH (topic = '%s');\n"                                  \
    "INSERT INTO output SELECT %s FROM input;\n"

// In as PostgreSQL reads it, out as PostgreSQL writes it; and what came out, in and out once more.
static void test_bytes_of_every_type(void **state)
{
    (void)state;
    struct messages messages = read_messages();
    struct sql_job *job = create_job("types", weir_test_format(TYPES_SQL, "$-in", "$-out", "*"));
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    for (size_t i = 0; i < messages.count; i++) {
        sql_job_feed(job, "in", 0, messages.in[i]);
    }
    sql_job_run_bounded(job);
    sql_job_expect_values(job, "out", 0, messages.out);
    struct sql_job *back = create_job(
        "back", weir_test_format(TYPES_SQL, "types-out", "$-out",
                                 "b, i2, i4, i8, f4, f8, nu, n2, t, vc, by, d, ts, tz, jb, c"));
    sql_job_topic_create(back, "out", 1);
    sql_job_run_bounded(back);
    sql_job_expect_values(back, "out", 0, messages.out);
}

// Raw messages go through as they are; a NULL is a null value.
static void test_raw_bytes(void **state)
{
    (void)state;
    struct sql_job *job = create_job(
        "raw", "CREATE TABLE input (line text) WITH (topic = '$-in', format = 'raw',\n"
               "    on_error = 'skip');\n"
               "CREATE TABLE bytes (line bytea) WITH (topic = '$-in', format = 'raw');\n"
               "CREATE TABLE lines (line text) WITH (topic = '$-lines', format = 'raw');\n"
               "CREATE TABLE copies (line bytea) WITH (topic = '$-copies', format = 'raw');\n"
               "INSERT INTO lines SELECT nullif(upper(line), 'NONE') FROM input;\n"
               "INSERT INTO copies SELECT line FROM bytes;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "lines", 1);
    sql_job_topic_create(job, "copies", 1);
    const struct weir_test_record records[] = {
        {.value = "a b", .value_bytes = 3},     {.value = "", .value_bytes = 0},
        {.value = "\xff\0z", .value_bytes = 3}, {.value = NULL},
        {.value = "none", .value_bytes = 4},
    };
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, 5);
    sql_job_run(job, SQL_JOB_BOUNDED, 0, SQL_JOB_TEXTS("set 1 records aside: decode"));
    struct weir_test_log *log = sql_job_read(job, "lines");
    assert_int_equal(log->record_count, 3);
    assert_true(weir_test_value_is(&log->partitions[0].records[0], "A B"));
    assert_true(weir_test_value_is(&log->partitions[0].records[1], ""));
    assert_null(log->partitions[0].records[2].value);
    weir_test_log_destroy(log);
    log = sql_job_read(job, "copies");
    assert_int_equal(log->record_count, 4);
    assert_int_equal(log->partitions[0].records[2].value_bytes, 3);
    assert_memory_equal(log->partitions[0].records[2].value, "\xff\0z", 3);
    weir_test_log_destroy(log);
}

// --- timestamps ----------------------------------------------------------------------------------

static void expect_timestamps(const struct sql_job *job, const char *suffix,
                              const int64_t *expected_ms, size_t count, int64_t after_ms)
{
    struct weir_test_log *log = sql_job_read(job, suffix);
    assert_int_equal(log->record_count, count);
    for (size_t i = 0; i < count; i++) {
        int64_t found_ms = log->partitions[0].records[i].timestamp_ms;
        bool is_now = expected_ms[i] < 0;
        if (is_now ? found_ms < after_ms || found_ms > wall_ms() : found_ms != expected_ms[i]) {
            WEIR_TEST_FAIL("%s: row %zu is at %" PRId64 " instead of %" PRId64, suffix, i, found_ms,
                           is_now ? after_ms : expected_ms[i]);
        }
    }
    weir_test_log_destroy(log);
}

// With an event time: that; without a usable one, or without the option: the record's timestamp.
static void test_message_timestamps(void **state)
{
    (void)state;
    enum { COUNT = 7, NOW = -1, OWN = 1 };
    static const struct {
        const char *at;
        int64_t expected_ms; // NOW, or OWN: the record's
    } rows[COUNT] = {
        {"\"2024-05-01T00:00:00.123999Z\"", INT64_C(1714521600123)},
        {"\"2024-05-01T02:00:00.5+02:00\"", INT64_C(1714521600500)},
        {"null", OWN},
        {"\"infinity\"", OWN},
        {"\"2999-01-01\"", NOW},
        {"\"1969-12-31T23:59:59.999Z\"", 1},
        {"\"1970-01-01T00:00:00.001Z\"", 1},
    };
    struct sql_job *job = create_job(
        "times", "CREATE TABLE input (at timestamptz, n int)\n"
                 "  WITH (topic = '$-in', event_time = 'at');\n"
                 "CREATE TABLE plain (n int) WITH (topic = '$-in');\n"
                 "CREATE TABLE computed (n int,\n"
                 "    at timestamptz GENERATED ALWAYS AS (date_trunc('hour', kafka_timestamp()))\n"
                 "      STORED) WITH (topic = '$-in', event_time = 'at');\n"
                 "CREATE TABLE out_event (n int) WITH (topic = '$-event');\n"
                 "CREATE TABLE out_now (n int) WITH (topic = '$-now', timestamp = 'now');\n"
                 "CREATE TABLE out_plain (n int) WITH (topic = '$-plain', timestamp = 'event');\n"
                 "CREATE TABLE out_computed (n int) WITH (topic = '$-computed');\n"
                 "INSERT INTO out_event SELECT n + 1 FROM input WHERE n >= 0;\n"
                 "INSERT INTO out_now SELECT n FROM input;\n"
                 "INSERT INTO out_plain SELECT n FROM plain;\n"
                 "INSERT INTO out_computed SELECT n FROM computed;\n");
    const char *const suffixes[] = {"in", "event", "now", "plain", "computed"};
    for (int i = 0; i < 5; i++) {
        sql_job_topic_create(job, suffixes[i], 1);
    }
    int64_t event_ms[COUNT];
    int64_t now_ms[COUNT];
    int64_t own_ms[COUNT];
    int64_t computed_ms[COUNT];
    for (int i = 0; i < COUNT; i++) {
        own_ms[i] = INT64_C(1650000000000) + i;
        computed_ms[i] = INT64_C(1649998800000); // the hour of 1650000000000
        now_ms[i] = NOW;
        event_ms[i] = i == 2 || i == 3 ? own_ms[i] : rows[i].expected_ms;
        struct weir_test_record record =
            weir_test_record_of(0, NULL, weir_test_format("{\"at\":%s,\"n\":%d}", rows[i].at, i));
        record.timestamp_ms = own_ms[i];
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
    }
    int64_t before_ms = wall_ms();
    sql_job_run_bounded(job);
    expect_timestamps(job, "event", event_ms, COUNT, before_ms);
    expect_timestamps(job, "now", now_ms, COUNT, before_ms);
    expect_timestamps(job, "plain", own_ms, COUNT, before_ms);
    expect_timestamps(job, "computed", computed_ms, COUNT, before_ms);
}

// --- keys and partitions -------------------------------------------------------------------------

// Kafka's own tests of Utils.murmur2 (Java).
static const struct {
    const char *key;
    int32_t hash;
} java_hashes[] = {
    {"21", -973932308},
    {"foobar", -790332482},
    {"a-little-bit-long-string", -985981536},
    {"a-little-bit-longer-string", -1486304829},
    {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
    {"abc", 479470107},
};

static const struct weir_test_record *find_value(const struct weir_test_log *log, const char *value)
{
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            if (weir_test_value_is(&log->partitions[p].records[i], value)) {
                return &log->partitions[p].records[i];
            }
        }
    }
    WEIR_TEST_FAIL("there is no %s", value);
}

static void test_keys_are_partitioned_as_in_java(void **state)
{
    (void)state;
    enum { KEYS = 200, PARTITIONS = 7, JAVA = sizeof java_hashes / sizeof java_hashes[0] };
    struct sql_job *job =
        create_job("murmur", "CREATE TABLE input (k text, n int) WITH (topic = '$-in');\n"
                             "CREATE TABLE output (k text, n int)\n"
                             "  WITH (topic = '$-out', key = 'k', key_format = 'raw');\n"
                             "INSERT INTO output SELECT k, n FROM input;\n");
    sql_job_topic_create(job, "in", 3);
    sql_job_topic_create(job, "out", PARTITIONS);
    sql_job_topic_create(job, "reference", PARTITIONS);
    struct weir_test_record inputs[KEYS];
    struct weir_test_record references[KEYS];
    for (int i = 0; i < KEYS; i++) {
        // Texts of every length modulo 4, bytes above 127 among them.
        const char *key = i < JAVA ? java_hashes[i].key
                                   : weir_test_format("%d%s", i * 7919, i % 3 == 0 ? "ä€" : "");
        inputs[i] =
            weir_test_record_of(i % 3, NULL, weir_test_format("{\"k\":\"%s\",\"n\":%d}", key, i));
        references[i] = weir_test_record_of(-1, key, inputs[i].value);
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), inputs, KEYS);
    weir_test_produce(job->bootstrap, sql_job_topic(job, "reference"), references, KEYS);
    sql_job_run_bounded(job);
    struct weir_test_log *log = sql_job_read(job, "out");
    struct weir_test_log *reference = sql_job_read(job, "reference");
    assert_int_equal(log->record_count, KEYS);
    for (int i = 0; i < KEYS; i++) {
        const struct weir_test_record *found = find_value(log, inputs[i].value);
        assert_true(weir_test_key_is(found, references[i].key));
        assert_int_equal(found->partition, find_value(reference, inputs[i].value)->partition);
        if (i < JAVA) {
            assert_int_equal(found->partition, (java_hashes[i].hash & 0x7fffffff) % PARTITIONS);
        }
    }
    weir_test_log_destroy(log);
    weir_test_log_destroy(reference);
}

static void expect_keys(const struct sql_job *job, const char *suffix, const char *const *keys,
                        size_t count)
{
    struct weir_test_log *log = sql_job_read(job, suffix);
    assert_int_equal(log->record_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct weir_test_record *record = &log->partitions[0].records[i];
        if (!weir_test_key_is(record, keys[i])) {
            WEIR_TEST_FAIL("%s: key %zu is %.*s instead of %s", suffix, i, (int)record->key_bytes,
                           record->key != NULL ? (const char *)record->key : "", keys[i]);
        }
    }
    weir_test_log_destroy(log);
}

static void test_key_formats(void **state)
{
    (void)state;
    static const char *const columns[] = {"a int, b text",  "a int, b text",  "a int, b text",
                                          "d numeric(5,2)", "at timestamptz", "by bytea"};
    static const char *const selects[] = {"a, b", "a, b", "a, b", "d", "at", "by"};
    static const char *const options[] = {"key = 'a'",
                                          "key = 'b, a', key_format = 'json'",
                                          "key = 'b', key_format = 'raw'",
                                          "key = 'd', key_format = 'raw'",
                                          "key = 'at', key_format = 'raw'",
                                          "key = 'by', key_format = 'raw'"};
    static const char *const keys[][3] = {
        {"{\"a\":1}", "{\"a\":null}", "{\"a\":3}"},
        {"{\"b\":\"x\",\"a\":1}", "{\"b\":null,\"a\":null}", "{\"b\":\"\",\"a\":3}"},
        {"x", NULL, ""},
        {"12.50", NULL, "-0.10"},
        {"2024-05-01 00:00:00.5+00", NULL, "infinity"},
        {"\x01\x7f", NULL, ""},
    };
    enum { KINDS = sizeof options / sizeof options[0] };
    struct sql_job *job = create_job("keys", NULL);
    char *sql = weir_test_format("CREATE TABLE input (a int, b text, d numeric(5,2),\n"
                                 "    at timestamptz, by bytea) WITH (topic = '$-in');\n");
    for (int i = 0; i < KINDS; i++) {
        sql_job_topic_create(job, weir_test_format("out-%d", i), 1);
        sql = weir_test_format("%sCREATE TABLE out_%d (%s) WITH (topic = '$-out-%d', %s);\n"
                               "INSERT INTO out_%d SELECT %s FROM input;\n",
                               sql, i, columns[i], i, options[i], i, selects[i]);
    }
    sql_job_set_sql(job, sql);
    sql_job_topic_create(job, "in", 1);
    sql_job_feed(job, "in", 0,
                 "{\"a\":1,\"b\":\"x\",\"d\":12.5,\"at\":\"2024-05-01T00:00:00.5Z\","
                 "\"by\":\"\\\\x017f\"}");
    sql_job_feed(job, "in", 0, "{}");
    sql_job_feed(job, "in", 0,
                 "{\"a\":3,\"b\":\"\",\"d\":-0.1,\"at\":\"infinity\",\"by\":\"\\\\x\"}");
    sql_job_run_bounded(job);
    for (int i = 0; i < KINDS; i++) {
        expect_keys(job, weir_test_format("out-%d", i), keys[i], 3);
    }
}

// Topics that are not there are made with the partitions that the tables ask for; rows without a
// key keep the order of their source partition.
static void test_topics_are_made_and_rows_without_key_keep_their_partition(void **state)
{
    (void)state;
    struct sql_job *job = create_job(
        "made", "CREATE TABLE input (n int) WITH (topic = '$-in');\n"
                "CREATE TABLE fewer (n int) WITH (topic = '$-fewer', partitions = 3);\n"
                "CREATE TABLE more (n int) WITH (topic = '$-more', partitions = 7, replicas = 1);\n"
                "INSERT INTO fewer SELECT n FROM input;\n"
                "INSERT INTO more SELECT n FROM input;\n");
    sql_job_topic_create(job, "in", 5);
    for (int32_t p = 0; p < 5; p++) {
        sql_job_feed_numbers(job, "in", p, p * 100, 50);
    }
    sql_job_run(job, SQL_JOB_BOUNDED, 0,
                SQL_JOB_TEXTS("table fewer: created topic made-fewer with 3 partitions",
                              "table more: created topic made-more with 7 partitions"));
    for (int32_t p = 0; p < 7; p++) {
        sql_job_expect_numbers(job, "more", p, p * 100, p < 5 ? 50 : 0);
    }
    struct weir_test_log *log = sql_job_read(job, "fewer");
    assert_int_equal(log->partition_count, 3);
    assert_int_equal(log->partitions[0].record_count, 100); // of 0 and 3
    assert_int_equal(log->partitions[1].record_count, 100); // of 1 and 4
    assert_int_equal(log->partitions[2].record_count, 50);
    for (int32_t p = 0; p < 3; p++) {
        int next[5] = {0, 100, 200, 300, 400};
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            int n = -1;
            char *text = sql_job_text(&log->partitions[p].records[i]);
            assert_int_equal(sscanf(text, "{\"n\":%d}", &n), 1);
            assert_int_equal(n / 100 % 3, p);
            assert_int_equal(n, next[n / 100]++);
            assert_null(log->partitions[p].records[i].key);
        }
    }
    weir_test_log_destroy(log);
    // They are there now.
    assert_null(strstr(sql_job_run_bounded(job), "created topic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_every_type),
        cmocka_unit_test(test_raw_bytes),
        cmocka_unit_test(test_message_timestamps),
        cmocka_unit_test(test_keys_are_partitioned_as_in_java),
        cmocka_unit_test(test_key_formats),
        cmocka_unit_test(test_topics_are_made_and_rows_without_key_keep_their_partition),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
