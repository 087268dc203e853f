// SPDX-License-Identifier: Apache-2.0
// What a client of a schema registry must be able to do: certificates and tokens, against a
// stand-in; and the rest against a real one, whose base URL has a path. Without a real one those
// tests say that they are skipped.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/registry_util.h"

#include <signal.h>
#include <stdlib.h>

enum { WAIT_MS = 60000 };

static const char empty_store[] = "{\"schemas\": [], \"subjects\": {}}";

// --- who may ask -----------------------------------------------------------------------------

static const char copy_sql[] =
    "CREATE TABLE src (n bigint) WITH (topic = '$-in');\n"
    "CREATE TABLE copy (n bigint) WITH (topic = '$-out', format = 'avro',\n"
    "  subject_strategy = 'topic_record', record_name = 'com.acme.Copy', key = 'n');\n"
    "INSERT INTO copy SELECT n FROM src;\n";

static void test_tokens_and_certificates(void **state)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "regtls", copy_sql);
    (void)state;
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    const char *folder = registry_certificates(job);
    const char *const options[] = {"--tls", folder, "--token", "Zx9-token", NULL};
    struct registry_standin registry;
    registry_standin_create(&registry, job, empty_store, options);
    const char *url = weir_test_format("WEIR_SCHEMA_REGISTRY=https://127.0.0.1:%d", registry.port);
    const char *ca = weir_test_format("WEIR_SCHEMA_REGISTRY_CA=%s/ca.pem", folder);
    const char *certificate =
        weir_test_format("WEIR_SCHEMA_REGISTRY_CERTIFICATE=%s/client.crt", folder);
    const char *key = weir_test_format("WEIR_SCHEMA_REGISTRY_KEY=%s/client.key", folder);
    const char *token = "WEIR_SCHEMA_REGISTRY_TOKEN=Zx9-token";
    const char *brief = "WEIR_CONNECT_TIMEOUT=2s";
    sql_job_run(job, SQL_JOB_EXTRA(url, token, brief), 1, SQL_JOB_TEXTS("certificate"));
    sql_job_run(job, SQL_JOB_EXTRA(url, ca, token, brief), 1, SQL_JOB_TEXTS("https://127.0.0.1"));
    sql_job_expect_refused(
        job,
        SQL_JOB_EXTRA(url, ca, certificate, key, "WEIR_SCHEMA_REGISTRY_TOKEN=Zx9-other", brief),
        SQL_JOB_TEXTS("Unauthorized"));
    sql_job_expect_refused(job, SQL_JOB_EXTRA(url, token, key, "WEIR_SCHEMA_REGISTRY_USERNAME=u"),
                           SQL_JOB_TEXTS("WEIR_SCHEMA_REGISTRY_TOKEN is given beside",
                                         "given without WEIR_SCHEMA_REGISTRY_CERTIFICATE"));
    sql_job_feed_numbers(job, "in", 0, 0, 10);
    struct weir_test_process *weir =
        sql_job_start(job, SQL_JOB_EXTRA(url, ca, certificate, key, token));
    sql_job_wait_count(job, "out", 10);
    sql_job_stop(weir);
    char *store = weir_test_read_file(registry.store, NULL);
    assert_non_null(strstr(store, "\"regtls-out-com.acme.Copy\""));
    assert_non_null(strstr(store, "\"regtls-out-com.acme.Copy_key\""));
    assert_non_null(strstr(store, "\\\"name\\\":\\\"Copy\\\",\\\"namespace\\\":\\\"com.acme\\\""));
    free(store);
    registry_standin_destroy(&registry);
}

// --- CREATE TABLE t () -----------------------------------------------------------------------

static const char columns_sql[] =
    "CREATE TABLE src () WITH (topic = '$-in', format = 'avro',\n"
    "  schema_registry_username = 'svc', schema_registry_password = 'Zx9-registry');\n"
    "CREATE TABLE states (PRIMARY KEY (id)) WITH (topic = '$-states', format = 'avro',\n"
    "  schema_registry_username = 'svc', schema_registry_password = 'Zx9-registry');\n"
    "CREATE TABLE out (id bigint, \"fullName\" text, zip text, price numeric(9,2),\n"
    "  at timestamptz, tags text[]) WITH (topic = '$-out');\n"
    "CREATE TABLE latest (id bigint PRIMARY KEY, state text) WITH (topic = '$-latest');\n"
    "INSERT INTO out SELECT id, \"fullName\", (address).zip, price, at, tags FROM src;\n"
    "INSERT INTO latest SELECT id, state FROM states;\n";

// Schema 1 is what is in "in", 2 and 3 are keys and values of "states".
static const char columns_store[] =
    "{\"schemas\":[\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Order\\\",\\\"field"
    "s\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"},{\\\"name\\\":\\\"fullNam"
    "e\\\",\\\"type\\\":[\\\"null\\\",\\\"string\\\"]},{\\\"name\\\":\\\"address\\\",\\\""
    "type\\\":{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Address\\\",\\\"fields\\\":"
    "[{\\\"name\\\":\\\"zip\\\",\\\"type\\\":\\\"string\\\"}]}},{\\\"name\\\":\\\"price"
    "\\\",\\\"type\\\":{\\\"type\\\":\\\"bytes\\\",\\\"logicalType\\\":\\\"decimal\\\","
    "\\\"precision\\\":9,\\\"scale\\\":2}},{\\\"name\\\":\\\"at\\\",\\\"type\\\":{\\\"t"
    "ype\\\":\\\"long\\\",\\\"logicalType\\\":\\\"timestamp-millis\\\"}},{\\\"nam"
    "e\\\":\\\"tags\\\",\\\"type\\\":{\\\"type\\\":\\\"array\\\",\\\"items\\\":\\\"string"
    "\\\"}}]}\",\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"K\\\",\\\"fields\\\":[{\\\""
    "name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\",\"{\\\"type\\\":\\\"record\\\",\\\""
    "name\\\":\\\"V\\\",\\\"fields\\\":[{\\\"name\\\":\\\"state\\\",\\\"type\\\":\\\"stri"
    "ng\\\"}]}\"],\"subjects\":{\"regcols-in-value\":[1],\"regcols-states"
    "-key\":[2],\"regcols-states-value\":[3]}}";

static void append(const struct sql_job *job, const char *topic, const struct avro_bytes *key,
                   const struct avro_bytes *value)
{
    struct weir_test_record record = {.partition = 0,
                                      .key = key != NULL ? key->data : NULL,
                                      .key_bytes = key != NULL ? key->count : 0,
                                      .value = value->data,
                                      .value_bytes = value->count};
    weir_test_produce(job->bootstrap, sql_job_topic(job, topic), &record, 1);
}

static void make_order(struct avro_bytes *order)
{
    avro_begin(order, 1);
    avro_put_long(order, 7);
    avro_put_long(order, 1); // the branch
    avro_put_text(order, "Ann");
    avro_put_text(order, "8001");
    avro_put_text(order, "\x04\xd2"); // 12.34
    avro_put_long(order, 1700000000123);
    avro_put_long(order, 2);
    avro_put_text(order, "a");
    avro_put_text(order, "b");
    avro_put_long(order, 0);
}

static void test_columns_from_the_registry(void **state)
{
    static const char *const options[] = {"--user", "svc:Zx9-registry", NULL};
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "regcols", columns_sql);
    struct registry_standin registry;
    (void)state;
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "states", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "latest", 1);
    registry_standin_create(&registry, job, columns_store, options);
    const char *url = weir_test_format("WEIR_SCHEMA_REGISTRY=http://127.0.0.1:%d", registry.port);
    struct avro_bytes order;
    struct avro_bytes key;
    struct avro_bytes value;
    make_order(&order);
    append(job, "in", NULL, &order);
    avro_begin(&key, 2);
    avro_put_long(&key, 5);
    avro_begin(&value, 3);
    avro_put_text(&value, "open");
    append(job, "states", &key, &value);
    struct weir_test_process *weir = sql_job_start(job, SQL_JOB_EXTRA(url));
    sql_job_wait_count(job, "out", 1);
    sql_job_wait_count(job, "latest", 1);
    sql_job_kill(weir);
    sql_job_expect_values(job, "out", 0,
                          SQL_JOB_TEXTS("{\"id\":7,\"fullName\":\"Ann\",\"zip\":\"8001\","
                                        "\"price\":12.34,\"at\":\"2023-11-14T22:13:20.123+00:00\","
                                        "\"tags\":[\"a\",\"b\"]}"));
    sql_job_expect_values(job, "latest", 0, SQL_JOB_TEXTS("{\"id\":5,\"state\":\"open\"}"));
    // A start without the registry takes the columns that it had.
    registry_standin_kill(&registry);
    weir = sql_job_start(job, SQL_JOB_EXTRA(url, "WEIR_CONNECT_TIMEOUT=5s"));
    sql_job_wait_running(weir);
    append(job, "in", NULL, &order);
    sql_job_wait_count(job, "out", 2);
    sql_job_stop(weir);
    registry_standin_start(&registry);
    sql_job_set_sql(job, "CREATE TABLE src () WITH (topic = '$-none', format = 'avro',\n"
                         "  schema_registry_username = 'svc',\n"
                         "  schema_registry_password = 'Zx9-registry');\n"
                         "CREATE TABLE out (id bigint) WITH (topic = '$-out');\n"
                         "INSERT INTO out SELECT id FROM src;\n");
    sql_job_expect_refused(job, SQL_JOB_EXTRA(url),
                           SQL_JOB_TEXTS("the columns cannot be had: subject "
                                         "\"regcols-none-value\" has no schema in http://127"));
    registry_standin_destroy(&registry);
}

// --- without a registry ----------------------------------------------------------------------

#define GIVEN                                                                                      \
    "schema = "                                                                                    \
    "'{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"n\",\"type\":\"long\"},"         \
    "{\"name\":\"t\",\"type\":[\"null\",\"string\"],\"default\":null}]}'"

// Out in single-object encoding, in again with columns from the schema, out bare.
static void test_a_given_schema(void **state)
{
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "regnone",
        "CREATE TABLE src (n bigint, t text) WITH (topic = '$-in');\n"
        "CREATE TABLE mid (n bigint, t text) WITH (topic = '$-mid', format = 'avro',\n"
        "  framing = 'single_object', " GIVEN ");\n"
        "INSERT INTO mid SELECT n, t FROM src;\n");
    (void)state;
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "mid", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed(job, "in", 0, "{\"n\":1,\"t\":\"x\"}");
    sql_job_feed(job, "in", 0, "{\"n\":-2}");
    sql_job_run_bounded(job);
    struct weir_test_log *log = sql_job_read(job, "mid");
    assert_int_equal(log->record_count, 2);
    assert_int_equal(log->partitions[0].records[0].value_bytes, 10 + 4);
    assert_memory_equal(log->partitions[0].records[0].value, "\xc3\x01", 2);
    weir_test_log_destroy(log);
    struct sql_job *second = sql_job_create(
        weir_test_cluster_bootstrap(cluster), "regnone",
        "CREATE TABLE mid () WITH (topic = '$-mid', format = 'avro',\n"
        "  framing = 'single_object', " GIVEN ");\n"
        "CREATE TABLE out (n bigint, t text) WITH (topic = '$-out', format = 'avro',\n"
        "  framing = 'none', " GIVEN ");\n"
        "INSERT INTO out SELECT n, t FROM mid;\n");
    sql_job_run(second, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_JOB_ID=regnone2"), 0, NULL);
    log = sql_job_read(job, "out");
    assert_int_equal(log->record_count, 2);
    assert_int_equal(log->partitions[0].records[0].value_bytes, 4);
    assert_memory_equal(log->partitions[0].records[0].value, "\x02\x02\x02x", 4);
    assert_memory_equal(log->partitions[0].records[1].value, "\x03\x00", 2);
    weir_test_log_destroy(log);
    sql_job_set_sql(job, "CREATE TABLE mid (n bigint) WITH (topic = '$-mid', format = 'avro',\n"
                         "  framing = 'single_object');\n"
                         "CREATE TABLE out (n bigint) WITH (topic = '$-out', format = 'avro',\n"
                         "  framing = 'none', schema = '{\"type\":\"lnog\"}');\n"
                         "INSERT INTO out SELECT n FROM mid;\n");
    sql_job_expect_refused(
        job, NULL, SQL_JOB_TEXTS("need the option schema", "table \"out\", option schema:"));
}

// --- a real one ------------------------------------------------------------------------------

static const char in_out_sql[] =
    "CREATE TABLE src (n bigint NOT NULL, name text) WITH (topic = '$-in', format = 'avro');\n"
    "CREATE TABLE copy (n bigint NOT NULL, name text, \"when\" timestamptz)\n"
    "  WITH (topic = '$-out', format = 'avro');\n"
    "INSERT INTO copy SELECT n, name, now() FROM src;\n";

#define RECORD(fields) "{\"type\":\"record\",\"name\":\"Order\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
static const char narrow[] = RECORD(FIELD("n", "\"int\"") "," FIELD("name", "\"string\""));
static const char wide[] = RECORD(FIELD("name", "\"string\"") "," FIELD("n", "\"long\""));

static void feed(const struct sql_job *job, uint32_t id, bool name_is_first, int64_t first,
                 int count)
{
    for (int i = 0; i < count; i++) {
        struct avro_bytes bytes;
        avro_begin(&bytes, id);
        if (name_is_first) {
            avro_put_text(&bytes, "a name");
        }
        avro_put_long(&bytes, first + i);
        if (!name_is_first) {
            avro_put_text(&bytes, "a name");
        }
        struct weir_test_record record = {
            .partition = 0, .value = bytes.data, .value_bytes = bytes.count};
        weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
    }
}

static void expect_numbers(const struct sql_job *job, int64_t count)
{
    struct weir_test_log *log = sql_job_read(job, "out");
    assert_int_equal(log->record_count, count);
    for (int64_t i = 0; i < count; i++) {
        const struct weir_test_record *record = &log->partitions[0].records[i];
        const unsigned char *at = (const unsigned char *)record->value + 5;
        assert_int_equal(avro_take_long(&at), i);
    }
    weir_test_log_destroy(log);
}

// A job from topic to topic, and its registry; ends the test as skipped where none can be had.
static struct sql_job *create_with_real(struct registry_real *registry, const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, in_out_sql);
    if (!registry_real_create(registry, job)) {
        skip();
    }
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    return job;
}

static void test_a_real_registry_comes_and_goes(void **state)
{
    struct registry_real registry;
    (void)state;
    struct sql_job *job = create_with_real(&registry, "regreal");
    const char *url = registry_real_setting(&registry);
    uint32_t narrow_id = registry_real_register(&registry, "regreal-in-value", narrow);
    feed(job, narrow_id, false, 0, 20);
    struct weir_test_process *weir = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, url));
    sql_job_wait_count(job, "out", 20);
    http_wait_ready(http_port(weir), 200, "ready", WAIT_MS);
    // Gone, with a schema that weir has not seen yet: nothing is skipped, and it is told.
    uint32_t wide_id = registry_real_register(&registry, "regreal-in-value", wide);
    assert_int_not_equal(wide_id, narrow_id);
    registry_real_kill(&registry);
    feed(job, narrow_id, false, 20, 5);
    feed(job, wide_id, true, 25, 5);
    feed(job, narrow_id, false, 30, 5);
    sql_job_wait_count(job, "out", 25);
    http_wait_ready(http_port(weir), 503, weir_test_format("schema id %u", wide_id), WAIT_MS);
    sql_job_kill(weir);
    // A start without it, from what is kept on disk; then stopped, not dead: requests hang.
    weir = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, url));
    sql_job_wait_running(weir);
    registry_real_start(&registry);
    weir_test_process_signal(registry.process, SIGSTOP);
    feed(job, wide_id, true, 35, 5);
    weir_test_sleep_ms(500);
    weir_test_process_signal(registry.process, SIGCONT);
    sql_job_wait_count(job, "out", 40);
    http_wait_ready(http_port(weir), 200, "ready", WAIT_MS);
    sql_job_stop(weir);
    expect_numbers(job, 40);
    registry_real_destroy(&registry);
}

// The registry's own words where it refuses: full compatibility, and a column less.
static void test_a_real_registry_refuses(void **state)
{
    struct registry_real registry;
    (void)state;
    struct sql_job *job = create_with_real(&registry, "regrefuse");
    const char *url = registry_real_setting(&registry);
    registry_real_register(&registry, "regrefuse-out-value",
                           "{\"type\":\"record\",\"name\":\"copy\",\"namespace\":\"weir\","
                           "\"fields\":[" FIELD("n", "\"string\"") "]}");
    struct http_answer answer =
        http_ask((uint16_t)registry.port, "PUT", REGISTRY_PATH "/config/regrefuse-out-value",
                 "{\"compatibility\":\"FULL\"}", NULL);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    sql_job_expect_refused(job, SQL_JOB_EXTRA(url),
                           SQL_JOB_TEXTS("subject \"regrefuse-out-value\"", "ncompatible"));
    registry_real_destroy(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_and_certificates),
        cmocka_unit_test(test_columns_from_the_registry),
        cmocka_unit_test(test_a_given_schema),
        cmocka_unit_test(test_a_real_registry_comes_and_goes),
        cmocka_unit_test(test_a_real_registry_refuses),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
