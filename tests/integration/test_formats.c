// SPDX-License-Identifier: Apache-2.0
// Formats end to end on a real broker: change events of Debezium with and without schema, CSV, keys
// as raw text, every type in and out, and records that are framed for a schema registry.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdlib.h>

static struct sql_job *make_job(const char *name, const char *sql)
{
    return sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
}

static void feed_keyed(const struct sql_job *job, const char *key, const char *value)
{
    struct weir_test_record record = weir_test_record_of(0, key, value);
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
}

// "key=value" of every record of partition 0 in order, a tombstone as "key=~".
static char *all_of(const struct sql_job *job, const char *suffix)
{
    char *text = weir_test_format("%s", "");
    struct weir_test_log *log = sql_job_read(job, suffix);
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        const struct weir_test_record *record = &log->partitions[0].records[i];
        text = weir_test_format("%s%s%.*s=%s", text, i == 0 ? "" : "\n", (int)record->key_bytes,
                                record->key != NULL ? (const char *)record->key : "",
                                record->value != NULL ? sql_job_text(record) : "~");
    }
    weir_test_log_destroy(log);
    return text;
}

// --- Debezium --------------------------------------------------------------------------------

static const char debezium_sql[] =
    "CREATE TABLE t (id int, name text, price numeric(10,3), d date, ts timestamp, b bytea,\n"
    "                PRIMARY KEY (id)) WITH (topic = '$-in', format = 'debezium_json',\n"
    "                on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
    "CREATE TABLE o (id int, name text, price numeric(10,3), d date, ts timestamp, b bytea,\n"
    "                PRIMARY KEY (id)) WITH (topic = '$-out');\n"
    "INSERT INTO o SELECT * FROM t;\n";

static void create_debezium_topics(struct sql_job *job)
{
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "dead", 1);
}

static void test_formats_debezium_without_schema(void **state)
{
    (void)state;
    struct sql_job *job = make_job("dbz1", debezium_sql);
    create_debezium_topics(job);
    // A snapshot, changes, a delete with its tombstone; ids of transactions are passed over.
    feed_keyed(job, "{\"id\":1}",
               "{\"before\":null,\"after\":{\"id\":1,\"name\":\"a\",\"price\":\"1.5\",\"d\":19000,"
               "\"ts\":1650000000123,\"b\":\"AQI=\"},\"source\":{\"db\":\"x\"},\"op\":\"r\","
               "\"ts_ms\":1,\"transaction\":{\"id\":\"7\",\"total_order\":1}}");
    feed_keyed(job, "{\"id\":2}",
               "{\"before\":null,\"after\":{\"id\":2,\"name\":\"b\"},\"op\":\"c\"}");
    sql_job_run_bounded(job);
    feed_keyed(job, "{\"id\":2}",
               "{\"op\":\"u\",\"before\":{\"id\":2,\"name\":\"b\"},"
               "\"after\":{\"name\":\"B\",\"id\":2}}");
    feed_keyed(job, "{\"id\":1}", "{\"before\":{\"id\":1},\"after\":null,\"op\":\"d\"}");
    feed_keyed(job, "{\"id\":1}", NULL);
    // The connector has started again and sends the last ones once more.
    feed_keyed(job, "{\"id\":2}",
               "{\"op\":\"u\",\"before\":{\"id\":2,\"name\":\"b\"},"
               "\"after\":{\"name\":\"B\",\"id\":2}}");
    feed_keyed(job, "{\"id\":1}", "{\"before\":{\"id\":1},\"after\":null,\"op\":\"d\"}");
    feed_keyed(job, "{\"id\":3}", "{\"id\":3,\"name\":\"flat\"}");
    feed_keyed(job, "{\"id\":3}", "{\"op\":\"t\"}");
    feed_keyed(job, "{\"id\":4}", "{\"op\":\"c\",\"after\":{\"id\":4,\"price\":\"MDk=\"}}");
    sql_job_run_bounded(job);
    assert_string_equal(
        all_of(job, "out"),
        "{\"id\":1}={\"id\":1,\"name\":\"a\",\"price\":1.500,\"d\":\"2022-01-08\","
        "\"ts\":\"2022-04-15T05:20:00.123\",\"b\":\"\\\\x0102\"}\n"
        "{\"id\":2}={\"id\":2,\"name\":\"b\",\"price\":null,\"d\":null,\"ts\":null,\"b\":null}\n"
        "{\"id\":2}={\"id\":2,\"name\":\"B\",\"price\":null,\"d\":null,\"ts\":null,\"b\":null}\n"
        "{\"id\":1}=~");
    struct weir_test_log *dead = sql_job_read(job, "dead");
    assert_int_equal(dead->partitions[0].record_count, 3);
    assert_true(
        weir_test_value_is(&dead->partitions[0].records[0], "{\"id\":3,\"name\":\"flat\"}"));
    weir_test_log_destroy(dead);
}

static void test_formats_debezium_with_schema(void **state)
{
    (void)state;
    struct sql_job *job = make_job("dbz2", debezium_sql);
    create_debezium_topics(job);
    const char *schema =
        "{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"field\":\"before\"},"
        "{\"type\":\"struct\",\"field\":\"after\",\"fields\":["
        "{\"type\":\"int32\",\"field\":\"id\"},{\"type\":\"string\",\"field\":\"name\"},"
        "{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\","
        "\"parameters\":{\"scale\":\"3\"},\"field\":\"price\"},"
        "{\"type\":\"int32\",\"name\":\"io.debezium.time.Date\",\"field\":\"d\"},"
        "{\"type\":\"int64\",\"name\":\"io.debezium.time.MicroTimestamp\",\"field\":\"ts\"},"
        "{\"type\":\"bytes\",\"field\":\"b\"}]}]}";
    const char *key = "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"int32\","
                      "\"field\":\"id\"}]},\"payload\":{\"id\":1}}";
    feed_keyed(job, key,
               weir_test_format("{\"schema\":%s,\"payload\":{\"before\":null,\"after\":{\"id\":1,"
                                "\"name\":\"a\",\"price\":\"MDk=\",\"d\":1,"
                                "\"ts\":1650000000123456,\"b\":\"\"},\"op\":\"c\"}}",
                                schema));
    // Without the schema the same number counts milliseconds.
    feed_keyed(job, "{\"id\":2}", "{\"after\":{\"id\":2,\"ts\":1650000000123},\"op\":\"c\"}");
    feed_keyed(job, key,
               weir_test_format("{\"schema\":%s,\"payload\":{\"before\":null,\"after\":{\"id\":1,"
                                "\"price\":\"/w==\"},\"op\":\"u\"}}",
                                schema));
    sql_job_run_bounded(job);
    const char *found = all_of(job, "out");
    assert_non_null(strstr(found, "{\"id\":1}={\"id\":1,\"name\":null,\"price\":-0.001,"));
    assert_non_null(strstr(found, "\"ts\":\"2022-04-15T05:20:00.123\",\"b\":null}"));
    feed_keyed(job, key,
               weir_test_format("{\"schema\":%s,\"payload\":{\"before\":null,\"after\":{\"id\":1,"
                                "\"name\":\"a\",\"price\":\"MDk=\",\"d\":1,"
                                "\"ts\":1650000000123456,\"b\":\"\"},\"op\":\"u\"}}",
                                schema));
    sql_job_run_bounded(job);
    assert_non_null(strstr(all_of(job, "out"),
                           "{\"id\":1}={\"id\":1,\"name\":\"a\",\"price\":12.345,"
                           "\"d\":\"1970-01-02\",\"ts\":\"2022-04-15T05:20:00.123456\","
                           "\"b\":\"\\\\x\"}"));
}

// --- CSV, framing ----------------------------------------------------------------------------

static void test_formats_csv(void **state)
{
    (void)state;
    struct sql_job *job = make_job(
        "csv",
        "CREATE TABLE t (a int, b text, c numeric, d int GENERATED ALWAYS AS (a + 1) STORED,\n"
        "                e varchar(3), f int[]) WITH (topic = '$-in', format = 'csv',\n"
        "                on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
        "CREATE TABLE o (f int[], e text, d int, c numeric, b text)\n"
        "  WITH (topic = '$-out');\n"
        "INSERT INTO o SELECT f, e, d, c, b FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "dead", 1);
    sql_job_feed(job, "in", 0, "1,plain,1.50,x,\"{1,2}\"\r\n");
    sql_job_feed(job, "in", 0, "2,\"say \"\"hi\"\", \nyou\",,\"\",");
    sql_job_feed(job, "in", 0, "3,a,b");
    sql_job_feed(job, "in", 0, "x,,,,");
    sql_job_feed(job, "in", 0, "4,,,long,");
    sql_job_feed(job, "in", 0, "5,\"open,,,");
    sql_job_feed(job, "in", 0, "6,,,,\n7,,,,");
    sql_job_run_bounded(job);
    assert_string_equal(
        all_of(job, "out"),
        "={\"f\":[1,2],\"e\":\"x\",\"d\":2,\"c\":1.50,\"b\":\"plain\"}\n"
        "={\"f\":null,\"e\":\"\",\"d\":3,\"c\":null,\"b\":\"say \\\"hi\\\", \\nyou\"}");
    struct weir_test_log *dead = sql_job_read(job, "dead");
    assert_int_equal(dead->partitions[0].record_count, 5);
    weir_test_log_destroy(dead);
}

static void test_formats_framed_values_are_named(void **state)
{
    (void)state;
    struct sql_job *job = make_job("framed", "CREATE TABLE t (a int) WITH (topic = '$-in');\n"
                                             "CREATE TABLE o (a int) WITH (topic = '$-out');\n"
                                             "INSERT INTO o SELECT a FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    struct weir_test_record record = {
        .partition = 0, .value = (const void *)"\0\0\0\0\x07\x02", .value_bytes = 6};
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
    sql_job_run(job, SQL_JOB_BOUNDED, 1,
                SQL_JOB_TEXTS("framed for a schema registry", "schema id 7", "format = 'avro'"));
}

// --- types and keys --------------------------------------------------------------------------

#define ALL_COLUMNS                                                                                \
    "i interval, t time, u uuid, c char(5), j json, ai int[], at text[], ad date[], n numeric, "   \
    "d double precision, ts timestamptz, jb jsonb"

static void test_formats_every_type_in_and_out(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("types", "CREATE TABLE t (" ALL_COLUMNS ") WITH (topic = '$-in');\n"
                          "CREATE TABLE o (" ALL_COLUMNS ") WITH (topic = '$-out');\n"
                          "INSERT INTO o SELECT * FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed(job, "in", 0,
                 "{\"i\":\"P1Y2M3DT4H5M6.5S\",\"t\":\"04:05 PM\","
                 "\"u\":\"{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}\",\"c\":\"ab\","
                 "\"j\": {\"x\" : [1, 2.50] , \"x\":\"y z\"},\"ai\":[[1,2],[3,null]],"
                 "\"at\":[\"a,b\",\"\\u00e9\",null],\"ad\":\"{2024-02-29,infinity}\","
                 "\"n\":\"NaN\",\"d\":1e400000,\"ts\":\"0044-03-15 00:00:00+00 BC\","
                 "\"jb\":[1.0 ,{\"b\":1,\"a\":2}]}");
    sql_job_feed(job, "in", 0,
                 "{\"i\":\"P1Y2M3DT4H5M6.5S\",\"t\":\"04:05 PM\","
                 "\"u\":\"{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}\",\"c\":\"ab\","
                 "\"j\": {\"x\" : [1, 2.50] , \"x\":\"y z\"},\"ai\":[[1,2],[3,null]],"
                 "\"at\":[\"a,b\",\"\\u00e9\",null],\"ad\":\"{2024-02-29,infinity}\","
                 "\"n\":\"NaN\",\"d\":\"-Infinity\",\"ts\":\"0044-03-15 00:00:00+00 BC\","
                 "\"jb\":[1.0 ,{\"b\":1,\"a\":2}]}");
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ON_BAD_RECORD=skip"), 0, NULL);
    assert_string_equal(
        all_of(job, "out"),
        "={\"i\":\"1 year 2 mons 3 days 04:05:06.5\",\"t\":\"16:05:00\","
        "\"u\":\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\",\"c\":\"ab   \","
        "\"j\":{\"x\":[1,2.50],\"x\":\"y z\"},\"ai\":[[1,2],[3,null]],"
        "\"at\":[\"a,b\",\"é\",null],\"ad\":[\"2024-02-29\",\"infinity\"],\"n\":\"NaN\","
        "\"d\":\"-Infinity\",\"ts\":\"0044-03-15T00:00:00+00:00 BC\","
        "\"jb\":[1.0, {\"a\": 2, \"b\": 1}]}");
}

// Keys of the new types are found again in state, whatever their spelling.
static void test_formats_types_as_keys(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("keys", "CREATE TABLE t (i interval, u uuid, c char(3), a numeric[])\n"
                         "  WITH (topic = '$-in');\n"
                         "CREATE TABLE o (i interval, u uuid, c char(3), a numeric[], n bigint,\n"
                         "                PRIMARY KEY (i, u, c, a)) WITH (topic = '$-out');\n"
                         "INSERT INTO o SELECT i, u, c, a, count(*) FROM t GROUP BY i, u, c, a;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed(job, "in", 0,
                 "{\"i\":\"48 h\",\"u\":\"a0eebc999c0b4ef8bb6d6bb9bd380a11\",\"c\":\"x\","
                 "\"a\":[1.0]}");
    sql_job_run_bounded(job);
    sql_job_feed(job, "in", 0,
                 "{\"i\":\"2 d\",\"u\":\"A0EEBC999C0B4EF8BB6D6BB9BD380A11\",\"c\":\"x \","
                 "\"a\":[1]}");
    sql_job_run_bounded(job);
    assert_string_equal(all_of(job, "out"),
                        "{\"i\":\"2 days\",\"u\":\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\","
                        "\"c\":\"x  \",\"a\":[1]}={\"i\":\"2 days\","
                        "\"u\":\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\",\"c\":\"x  \",\"a\":[1],"
                        "\"n\":1}\n"
                        "{\"i\":\"2 days\",\"u\":\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\","
                        "\"c\":\"x  \",\"a\":[1]}={\"i\":\"2 days\","
                        "\"u\":\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\",\"c\":\"x  \",\"a\":[1],"
                        "\"n\":2}");
}

static void test_formats_raw_keys_of_other_types(void **state)
{
    (void)state;
    struct sql_job *job = make_job(
        "rawkeys", "CREATE TABLE t (id bigint, v text, PRIMARY KEY (id))\n"
                   "  WITH (topic = '$-in', key_format = 'raw', on_error = 'dead_letter',\n"
                   "        dead_letter_topic = '$-dead');\n"
                   "CREATE TABLE o (id bigint, v text, PRIMARY KEY (id))\n"
                   "  WITH (topic = '$-out', key_format = 'raw');\n"
                   "INSERT INTO o SELECT id, v FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "dead", 1);
    feed_keyed(job, "17", "{\"v\":\"a\"}");
    feed_keyed(job, "x", "{\"v\":\"b\"}");
    feed_keyed(job, "18", "{\"v\":\"c\",\"id\":18}");
    sql_job_run_bounded(job);
    feed_keyed(job, "17", NULL);
    sql_job_run_bounded(job);
    assert_string_equal(all_of(job, "out"), "17={\"id\":17,\"v\":\"a\"}\n"
                                            "18={\"id\":18,\"v\":\"c\"}\n17=~");
    assert_string_equal(all_of(job, "dead"), "x={\"v\":\"b\"}");
}

// --- headers, limits -------------------------------------------------------------------------

static void expect_headers(const struct weir_test_record *record, size_t count,
                           const char *const (*headers)[2])
{
    assert_int_equal(record->header_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(record->headers[i].name, headers[i][0]);
        assert_true(weir_test_bytes_are(record->headers[i].value, record->headers[i].value_bytes,
                                        headers[i][1]));
    }
}

static void test_formats_headers_of_a_column(void **state)
{
    (void)state;
    struct sql_job *job = make_job("headers", NULL);
    sql_job_set_sql(job, "CREATE TABLE t (a int, h jsonb, l text[]) WITH (topic = '$-in',\n"
                         "  on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
                         "CREATE TABLE o (h jsonb, a int) WITH (topic = '$-out', headers = 'h');\n"
                         "CREATE TABLE p (a int, l text[]) WITH (topic = '$-list', headers = 'l',\n"
                         "  key = 'a', key_format = 'raw', timestamp = 'now');\n"
                         "INSERT INTO o SELECT h, a FROM t;\n"
                         "INSERT INTO p SELECT a, l FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "list", 1);
    sql_job_topic_create(job, "dead", 1);
    sql_job_feed(job, "in", 0,
                 "{\"a\":1,\"h\":{\"x\":[\"1\",2,null],\"y\":\"\"},"
                 "\"l\":[\"z\",\"1\",\"b\",null,\"z\",\"2\"]}");
    sql_job_feed(job, "in", 0, "{\"a\":2}");
    sql_job_feed(job, "in", 0, "{\"a\":3,\"h\":[1],\"l\":[\"odd\"]}");
    sql_job_run_bounded(job);
    assert_string_equal(all_of(job, "out"), "={\"a\":1}\n={\"a\":2}");
    assert_string_equal(all_of(job, "list"), "1={\"a\":1}\n2={\"a\":2}");
    struct weir_test_log *log = sql_job_read(job, "out");
    expect_headers(&log->partitions[0].records[0], 4,
                   (const char *const[][2]){{"x", "1"}, {"x", "2"}, {"x", NULL}, {"y", ""}});
    expect_headers(&log->partitions[0].records[1], 0, NULL);
    weir_test_log_destroy(log);
    log = sql_job_read(job, "list");
    expect_headers(&log->partitions[0].records[0], 3,
                   (const char *const[][2]){{"z", "1"}, {"b", NULL}, {"z", "2"}});
    weir_test_log_destroy(log);
    log = sql_job_read(job, "dead");
    assert_int_equal(log->partitions[0].record_count, 2); // one for each sink
    weir_test_log_destroy(log);
}

static void test_formats_too_many_bad_records_end_the_job(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("ratio", "CREATE TABLE t (a int) WITH (topic = '$-in', on_error = 'dead_letter',\n"
                          "  dead_letter_topic = '$-dead', on_error_max_ratio = 0.5);\n"
                          "CREATE TABLE o (a int) WITH (topic = '$-out');\n"
                          "INSERT INTO o SELECT a FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "dead", 1);
    for (int i = 0; i < 10; i++) {
        sql_job_feed(job, "in", 0, i % 2 == 0 ? "{\"a\":1}" : "bad");
    }
    sql_job_run_bounded(job);
    for (int i = 0; i < 12; i++) {
        sql_job_feed(job, "in", 0, "{\"a\":\"other\"}");
    }
    sql_job_run(job, SQL_JOB_BOUNDED, 1, SQL_JOB_TEXTS("on_error_max_ratio = 0.5"));
    struct weir_test_log *dead = sql_job_read(job, "dead");
    assert_int_equal(dead->partitions[0].record_count, 5);
    weir_test_log_destroy(dead);
}

static void test_formats_arrays_in_queries(void **state)
{
    (void)state;
    struct sql_job *job =
        make_job("arrays",
                 "CREATE TYPE item AS (name text, n int);\n"
                 "CREATE TABLE t (tags text[], m int[], items item[], i interval, ts timestamptz)\n"
                 "  WITH (topic = '$-in');\n"
                 "CREATE TABLE o (first text, c int, has boolean, name text, made int[], later\n"
                 "  timestamptz) WITH (topic = '$-out');\n"
                 "INSERT INTO o SELECT tags[1], cardinality(m), 'b' = ANY(tags),\n"
                 "  (items[2]).name, ARRAY[m[2][1], 7], ts + i FROM t\n"
                 "  WHERE array_length(tags, 1) > 1 AND i > interval '1' hour;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed(job, "in", 0,
                 "{\"tags\":[\"a\",\"b\"],\"m\":[[1,2],[3,4]],\"i\":\"1 day\","
                 "\"items\":[{\"name\":\"x\"},{\"name\":\"y\",\"n\":2}],"
                 "\"ts\":\"2024-02-28T23:00:00Z\"}");
    sql_job_feed(job, "in", 0, "{\"tags\":[\"a\"],\"i\":\"1 day\"}");
    sql_job_feed(job, "in", 0, "{\"tags\":[\"c\",null],\"i\":\"02:00\"}");
    sql_job_run_bounded(job);
    assert_string_equal(all_of(job, "out"),
                        "={\"first\":\"a\",\"c\":4,\"has\":true,\"name\":\"y\",\"made\":[3,7],"
                        "\"later\":\"2024-02-29T23:00:00+00:00\"}\n"
                        "={\"first\":\"c\",\"c\":null,\"has\":null,\"name\":null,\"made\":[null,7],"
                        "\"later\":null}");
}

static void test_formats_extremes_of_types(void **state)
{
    (void)state;
    struct sql_job *job = make_job(
        "extremes", "CREATE TABLE t (i interval, t time, c char(3)) WITH (topic = '$-in');\n"
                    "CREATE TABLE o (k int, i interval, t time, c char(3), n bigint,\n"
                    "  PRIMARY KEY (k)) WITH (topic = '$-out');\n"
                    "INSERT INTO o SELECT 1, max(i), min(t), max(c), count(DISTINCT i) FROM t;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed(job, "in", 0, "{\"i\":\"2 days\",\"t\":\"04:05\",\"c\":\"b\"}");
    sql_job_feed(job, "in", 0, "{\"i\":\"48:00\",\"t\":\"04:04\",\"c\":\"a\"}");
    sql_job_run_bounded(job);
    sql_job_feed(job, "in", 0, "{\"i\":\"1 mon\",\"t\":\"24:00\",\"c\":\"bb\"}");
    sql_job_run_bounded(job);
    assert_non_null(strstr(all_of(job, "out"), "{\"k\":1,\"i\":\"1 mon\",\"t\":\"04:04:00\","
                                               "\"c\":\"bb \",\"n\":2}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_debezium_without_schema),
        cmocka_unit_test(test_formats_debezium_with_schema),
        cmocka_unit_test(test_formats_csv),
        cmocka_unit_test(test_formats_framed_values_are_named),
        cmocka_unit_test(test_formats_every_type_in_and_out),
        cmocka_unit_test(test_formats_types_as_keys),
        cmocka_unit_test(test_formats_raw_keys_of_other_types),
        cmocka_unit_test(test_formats_headers_of_a_column),
        cmocka_unit_test(test_formats_too_many_bad_records_end_the_job),
        cmocka_unit_test(test_formats_arrays_in_queries),
        cmocka_unit_test(test_formats_extremes_of_types),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
