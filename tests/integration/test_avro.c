// SPDX-License-Identifier: Apache-2.0
// Avro in and out, on a real broker with a stand-in for a schema registry (harness/
// registry_standin.py): kills, writers' schemas that change in mid-stream, a registry that is gone
// and comes back, and what of all that can be seen outside: nothing lost, nothing doubled, order.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/registry_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdlib.h>

enum { PARTITIONS = 4, WAIT_MS = 60000 };

// --- the registry ----------------------------------------------------------------------------

// Schemas 1 to 4 of subject "<job>-in-value": an older and a newer one, one that cannot become the
// columns, one that only comes later.
static const char store_text[] =
    "{\"schemas\": ["
    "\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Order\\\",\\\"fields\\\":["
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"},"
    "{\\\"name\\\":\\\"name\\\",\\\"type\\\":\\\"string\\\"}]}\","
    "\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Order\\\",\\\"fields\\\":["
    "{\\\"name\\\":\\\"name\\\",\\\"type\\\":\\\"string\\\"},"
    "{\\\"name\\\":\\\"more\\\",\\\"type\\\":{\\\"type\\\":\\\"array\\\",\\\"items\\\":\\\"int\\\"}"
    "},"
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"},"
    "{\\\"name\\\":\\\"tag\\\",\\\"type\\\":[\\\"null\\\",\\\"string\\\"],\\\"default\\\":null}]}"
    "\","
    "\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Order\\\",\\\"fields\\\":["
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"boolean\\\"}]}\","
    "\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Order\\\",\\\"fields\\\":["
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"int\\\"},"
    "{\\\"name\\\":\\\"name\\\",\\\"type\\\":\\\"string\\\"}]}\""
    "], \"subjects\": {}}";

static const char *const options[] = {"--path", "/apis/v7", "--user", "weir:Zx9-registry", NULL};

// --- the job ---------------------------------------------------------------------------------

static const char sql[] =
    "CREATE TABLE src (id bigint NOT NULL, name text, tag text)\n"
    "  WITH (topic = '$-in', format = 'avro', on_error = 'dead_letter',\n"
    "        dead_letter_topic = '$-dead');\n"
    "CREATE TABLE copy (id bigint NOT NULL, name text, tag text)\n"
    "  WITH (topic = '$-out', format = 'avro');\n"
    "CREATE TABLE totals (name text PRIMARY KEY, n bigint) WITH (topic = '$-totals',\n"
    "        format = 'avro');\n"
    "INSERT INTO copy SELECT id, name, tag FROM src;\n"
    "INSERT INTO totals SELECT name, count(*) FROM src GROUP BY name;\n";

static struct sql_job *make_job(const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
    sql_job_topic_create(job, "in", PARTITIONS);
    sql_job_topic_create(job, "out", PARTITIONS);
    sql_job_topic_create(job, "totals", 2);
    sql_job_topic_create(job, "dead", 1);
    return job;
}

static struct weir_test_process *start_weir(struct sql_job *job,
                                            const struct registry_standin *registry)
{
    return sql_job_start(
        job,
        SQL_JOB_EXTRA(
            HTTP_LISTEN,
            weir_test_format("WEIR_SCHEMA_REGISTRY=http://127.0.0.1:%d/apis/v7/", registry->port),
            "WEIR_SCHEMA_REGISTRY_USERNAME=weir", "WEIR_SCHEMA_REGISTRY_PASSWORD=Zx9-registry"));
}

// --- records ---------------------------------------------------------------------------------

// Record n by that schema.
static void make_record(struct avro_bytes *record, int schema, int64_t n)
{
    char *name = weir_test_format("name %d", (int)(n % 7));
    avro_begin(record, (uint32_t)schema);
    if (schema == 2) {
        avro_put_text(record, name);
        avro_put_long(record, 2); // an array of two, and its end
        avro_put_long(record, 1000);
        avro_put_long(record, -1);
        avro_put_long(record, 0);
        avro_put_long(record, n);
        avro_put_long(record, n % 2);
        if (n % 2 != 0) {
            avro_put_text(record, "odd");
        }
        return;
    }
    avro_put_long(record, n);
    avro_put_text(record, name);
}

// Records first … first + count - 1, record n to partition n mod 4 unless one is given.
static void feed(const struct sql_job *job, int schema, int64_t first, int count, int partition)
{
    struct avro_bytes *bytes = calloc((size_t)count, sizeof *bytes);
    struct weir_test_record *records = calloc((size_t)count, sizeof *records);
    for (int i = 0; i < count; i++) {
        make_record(&bytes[i], schema, first + i);
        records[i] = (struct weir_test_record){
            .partition = partition >= 0 ? partition : (int32_t)((first + i) % PARTITIONS),
            .value = bytes[i].data,
            .value_bytes = bytes[i].count};
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, (size_t)count);
    free(records);
    free(bytes);
}

// The n of a row of "copy": the schema that weir has registered begins with it.
static int64_t id_of(const struct weir_test_record *record)
{
    const unsigned char *at = (const unsigned char *)record->value + 5;
    assert_true(record->value_bytes > 5);
    assert_int_equal(((const unsigned char *)record->value)[0], 0);
    return avro_take_long(&at);
}

// Each of the records below `count` is there once, in order within its partition, and nothing else.
static void expect_all(const struct sql_job *job, int64_t count)
{
    struct weir_test_log *log = sql_job_read(job, "out");
    unsigned char *seen = calloc((size_t)count, 1);
    for (int32_t p = 0; p < log->partition_count; p++) {
        int64_t last = -1;
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            int64_t id = id_of(&log->partitions[p].records[i]);
            assert_true(id >= 0 && id < count);
            assert_int_equal(seen[id], 0);
            seen[id] = 1;
            assert_true(id > last);
            last = id;
        }
    }
    assert_int_equal(log->record_count, count);
    weir_test_log_destroy(log);
    free(seen);
}

// What the latest row of every name says, added up.
static int64_t total_of(const struct sql_job *job)
{
    enum { NAMES = 7 };
    int64_t totals[NAMES] = {0};
    struct weir_test_log *log = sql_job_read(job, "totals");
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            // Keys and values are records that begin with the name; values have a count behind it.
            const unsigned char *key = (const unsigned char *)record->key + 5;
            const unsigned char *value = (const unsigned char *)record->value + 5;
            int64_t key_bytes = avro_take_long(&key);
            int64_t name_bytes = avro_take_long(&value);
            assert_int_equal(key_bytes, 6);
            assert_int_equal(name_bytes, 6);
            assert_memory_equal(key, value, 6);
            int name = value[5] - '0';
            value += 6;
            assert_int_equal(avro_take_long(&value), 1); // the branch: not null
            totals[name] = avro_take_long(&value);
        }
    }
    weir_test_log_destroy(log);
    int64_t total = 0;
    for (int i = 0; i < NAMES; i++) {
        total += totals[i];
    }
    return total;
}

// --- tests -----------------------------------------------------------------------------------

// Schemas change while weir is killed and started again; what cannot be used is a dead letter with
// its reason.
static void test_schemas_change_between_kills(void **state)
{
    struct sql_job *job = make_job("avrokill");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, options);
    feed(job, 1, 0, 400, -1);
    struct weir_test_process *weir = start_weir(job, &registry);
    sql_job_wait_running(weir);
    feed(job, 2, 400, 400, -1);
    sql_job_kill(weir);
    feed(job, 3, 5000, 1, 0); // its id is a boolean
    struct weir_test_record unframed = weir_test_record_of(1, NULL, "{\"id\":1}");
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &unframed, 1);
    feed(job, 99, 5001, 1, 2); // an id that the registry does not know
    feed(job, 1, 800, 400, -1);
    weir = start_weir(job, &registry);
    sql_job_wait_running(weir);
    feed(job, 2, 1200, 400, -1);
    sql_job_kill(weir);
    weir = start_weir(job, &registry);
    feed(job, 1, 1600, 400, -1);
    sql_job_wait_count(job, "out", 2000);
    sql_job_stop(weir);
    expect_all(job, 2000);
    assert_int_equal(total_of(job), 2000);
    static const char *const reasons[] = {"schema", "framing", "schema"};
    struct weir_test_log *log = sql_job_read(job, "dead");
    assert_int_equal(log->record_count, 3);
    bool is_seen[3] = {false};
    for (size_t i = 0; i < 3; i++) {
        const struct weir_test_record *record = &log->partitions[0].records[i];
        const struct weir_test_header *reason = weir_test_record_header(record, "weir.error");
        const struct weir_test_header *from = weir_test_record_header(record, "weir.partition");
        int partition = ((const char *)from->value)[0] - '0';
        assert_in_range(partition, 0, 2);
        assert_false(is_seen[partition]);
        is_seen[partition] = true;
        assert_true(weir_test_bytes_are(reason->value, reason->value_bytes, reasons[partition]));
    }
    weir_test_log_destroy(log);
    registry_standin_destroy(&registry);
}

// A schema that comes while the registry is gone holds its partition only; checkpoints, the other
// partitions and a stop go on; a start without the registry goes on with what is kept on disk.
static void test_registry_is_gone_for_a_while(void **state)
{
    struct sql_job *job = make_job("avrogone");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, options);
    feed(job, 1, 0, 100, -1);
    struct weir_test_process *weir = start_weir(job, &registry);
    sql_job_wait_count(job, "out", 100);
    http_wait_ready(http_port(weir), 200, "ready", WAIT_MS);
    registry_standin_kill(&registry);
    feed(job, 1, 100, 1, 0); // partition 0: one record before,
    feed(job, 4, 104, 1, 0); // one by a schema that is not there yet,
    feed(job, 1, 108, 1, 0); // and one behind it
    if (!weir_test_process_wait_text(weir, "waits at offset", WAIT_MS, NULL)) {
        WEIR_TEST_FAIL("no partition waits");
    }
    for (int64_t n = 101; n < 112; n++) { // the other partitions
        if (n % PARTITIONS != 0) {
            feed(job, 1, n, 1, -1);
        }
    }
    sql_job_wait_count(job, "out", 100 + 1 + 9);
    http_wait_ready(http_port(weir), 503,
                    "records wait for schema id 4 of the schema registry: http", WAIT_MS);
    sql_job_stop(weir); // with the partition held
    weir = start_weir(job, &registry);
    sql_job_wait_running(weir); // without the registry
    feed(job, 1, 113, 1, -1);
    sql_job_wait_count(job, "out", 100 + 1 + 9 + 1);
    registry_standin_start(&registry);
    feed(job, 1, 112, 1, 0);
    sql_job_wait_count(job, "out", 114);
    http_wait_ready(http_port(weir), 200, "ready", WAIT_MS);
    sql_job_kill(weir);
    weir = start_weir(job, &registry);
    feed(job, 2, 114, 50, -1);
    sql_job_wait_count(job, "out", 164);
    sql_job_stop(weir);
    expect_all(job, 164);
    assert_int_equal(total_of(job), 164);
    registry_standin_destroy(&registry);
}

// Slow answers, answers that mean nothing (a server that is not well, a proxy that knows no such
// page), a registry that has just been started and does not know yet what it has kept: asked again,
// and no good record becomes a bad one.
static void test_registry_is_slow_and_wrong(void **state)
{
    static const char *const unwell[] = {"--path", "/apis/v7", "--user", "weir:Zx9-registry",
                                         "--slow", "0.2",      "--fail", "3:503",
                                         NULL};
    static const char *const wrong[] = {"--path", "/apis/v7", "--user", "weir:Zx9-registry",
                                        "--fail", "4:404",    NULL};
    static const char *const young[] = {"--path",  "/apis/v7", "--user", "weir:Zx9-registry",
                                        "--young", "4",        NULL};
    struct sql_job *job = make_job("avroslow");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, unwell);
    feed(job, 1, 0, 50, -1);
    struct weir_test_process *weir = start_weir(job, &registry);
    sql_job_wait_count(job, "out", 50);
    registry_standin_kill(&registry);
    registry.options = wrong;
    registry_standin_start(&registry);
    feed(job, 2, 50, 50, -1);
    sql_job_wait_count(job, "out", 100);
    registry_standin_kill(&registry);
    registry.options = young;
    registry_standin_start(&registry);
    feed(job, 4, 100, 50, -1);
    sql_job_wait_count(job, "out", 150);
    sql_job_stop(weir);
    expect_all(job, 150);
    assert_int_equal(total_of(job), 150);
    struct weir_test_log *log = sql_job_read(job, "dead");
    assert_int_equal(log->record_count, 0);
    weir_test_log_destroy(log);
    registry_standin_destroy(&registry);
}

static void test_a_registry_that_refuses_is_refused(void **state)
{
    struct sql_job *job = make_job("avrofrozen");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, options);
    const char *url =
        weir_test_format("WEIR_SCHEMA_REGISTRY=http://127.0.0.1:%d/apis/v7", registry.port);
    sql_job_expect_refused(job,
                           SQL_JOB_EXTRA(url, "WEIR_SCHEMA_REGISTRY_USERNAME=weir",
                                         "WEIR_SCHEMA_REGISTRY_PASSWORD=Zx9-wrong"),
                           SQL_JOB_TEXTS("Unauthorized"));
    sql_job_set_sql(job, "CREATE TABLE src (id bigint) WITH (topic = '$-in', format = 'avro');\n"
                         "CREATE TABLE copy (id bigint) WITH (topic = '$-out', format = 'avro',\n"
                         "  subject = 'frozen');\n"
                         "INSERT INTO copy SELECT id FROM src;\n");
    const char *const *user = SQL_JOB_EXTRA(url, "WEIR_SCHEMA_REGISTRY_USERNAME=weir",
                                            "WEIR_SCHEMA_REGISTRY_PASSWORD=Zx9-registry");
    sql_job_expect_refused(job, user, SQL_JOB_TEXTS("frozen", "is incompatible with an earlier"));
    sql_job_set_sql(job, "CREATE TABLE src (id bigint) WITH (topic = '$-in', format = 'avro');\n"
                         "CREATE TABLE copy (id bigint) WITH (topic = '$-out', format = 'avro',\n"
                         "  auto_register = 'false');\n"
                         "INSERT INTO copy SELECT id FROM src;\n");
    sql_job_expect_refused(job, user, SQL_JOB_TEXTS("has no schema in"));
    // Not every schema of a registry is one of Avro.
    sql_job_set_sql(job, "CREATE TABLE src (id bigint) WITH (topic = '$-in', format = 'avro');\n"
                         "CREATE TABLE copy (id bigint) WITH (topic = '$-out', format = 'avro',\n"
                         "  auto_register = 'false', subject = 'jsonschema');\n"
                         "INSERT INTO copy SELECT id FROM src;\n");
    sql_job_expect_refused(job, user,
                           SQL_JOB_TEXTS("it is of type JSON, not AVRO", "subject jsonschema"));
    registry_standin_destroy(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemas_change_between_kills),
        cmocka_unit_test(test_registry_is_gone_for_a_while),
        cmocka_unit_test(test_registry_is_slow_and_wrong),
        cmocka_unit_test(test_a_registry_that_refuses_is_refused),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
