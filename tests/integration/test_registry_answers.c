// SPDX-License-Identifier: Apache-2.0
// What registries answer, and how they are reached, that clients have stumbled over: against a
// stand-in (harness/registry_standin.py) that can be told to misbehave.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/registry_util.h"

#include <stdlib.h>

enum { WAIT_MS = 60000 };

#define NAME_OF_R "\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"R\\\","
#define DOC_OF_R "\\\"doc\\\":\\\"d\\\","
#define FIELDS_OF_R "\\\"fields\\\":[{\\\"name\\\":\\\"ok\\\",\\\"type\\\":\\\"boolean\\\"}]}\""

// Schemas 1 and 2: {ok boolean}, and the same with a doc. Subjects have the first one.
static const char store_text[] =
    "{\"schemas\":[" NAME_OF_R FIELDS_OF_R "," NAME_OF_R DOC_OF_R FIELDS_OF_R "],"
    "\"subjects\":{\"reguser\":[1],\"regyoung\":[1]}}";

static const char sql[] =
    "CREATE TABLE src (ok boolean, n bigint GENERATED ALWAYS AS (kafka_offset()) STORED)\n"
    "  WITH (topic = '$-in', format = 'avro', on_error = 'dead_letter',\n"
    "        dead_letter_topic = '$-dead');\n"
    "CREATE TABLE copy (ok boolean, n bigint) WITH (topic = '$-out');\n"
    "INSERT INTO copy SELECT ok, n FROM src;\n";

static struct sql_job *make_job(const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 2);
    sql_job_topic_create(job, "dead", 1);
    return job;
}

static void feed(const struct sql_job *job, int32_t partition, uint32_t schema)
{
    struct avro_bytes bytes;
    avro_begin(&bytes, schema);
    avro_put_long(&bytes, -1); // the byte 1: true
    struct weir_test_record record = {
        .partition = partition, .value = bytes.data, .value_bytes = bytes.count};
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), &record, 1);
}

static const char *url_of(const struct registry_standin *registry, const char *user,
                          const char *path)
{
    return weir_test_format("WEIR_SCHEMA_REGISTRY=http://%s127.0.0.1:%d%s", user, registry->port,
                            path);
}

// C035. The base path is kept, with and without a slash at its end; no schemaType means Avro,
// another one is named with its subject.
static void test_c035_paths_and_kinds_of_schemas(void **state)
{
    static const char *const options[] = {"--path", "/sr/compat", NULL};
    static const char *const paths[] = {"/sr/compat", "/sr/compat/"};
    struct sql_job *job = make_job("regpath");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, options);
    for (int i = 0; i < 2; i++) {
        feed(job, 0, (uint32_t)i + 1);
        sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", url_of(&registry, "", paths[i])), 0,
                    SQL_JOB_TEXTS(""));
    }
    feed(job, 0, 900);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", url_of(&registry, "", paths[0])), 0,
                SQL_JOB_TEXTS("it is of type JSON, not AVRO: subject jsonschema"));
    sql_job_expect_values(job, "out", 0,
                          SQL_JOB_TEXTS("{\"ok\":true,\"n\":0}", "{\"ok\":true,\"n\":1}"));
    sql_job_wait_count(job, "dead", 1);
    registry_standin_destroy(&registry);
}

// C037. No connection, three times 500, 429, no answer, then one: the partition waits, nothing is
// a bad record, and the other partition and a stop go on.
static void test_c037_a_schema_is_asked_for_until_it_comes(void **state)
{
    static const char *const well[] = {NULL};
    static const char *const unwell[] = {"--fail", "3:500,1:429,1:0", NULL};
    struct sql_job *job = make_job("regwait");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, well);
    const char *url = url_of(&registry, "", "");
    struct weir_test_process *weir = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, url));
    feed(job, 1, 1);
    sql_job_wait_count(job, "out", 1);
    registry_standin_kill(&registry);
    feed(job, 0, 1);
    feed(job, 0, 2);
    feed(job, 0, 1);
    http_wait_ready(http_port(weir), 503, "records wait for schema id 2", WAIT_MS);
    registry.options = unwell;
    registry_standin_start(&registry);
    feed(job, 1, 1);
    sql_job_wait_count(job, "out", 3);
    http_wait_ready(http_port(weir), 503, "429", WAIT_MS);
    feed(job, 1, 1);
    sql_job_wait_count(job, "out", 4); // while the registry is silent
    sql_job_wait_count(job, "out", 6);
    http_wait_ready(http_port(weir), 200, "ready", WAIT_MS);
    sql_job_stop(weir);
    sql_job_expect_values(
        job, "out", 0,
        SQL_JOB_TEXTS("{\"ok\":true,\"n\":0}", "{\"ok\":true,\"n\":1}", "{\"ok\":true,\"n\":2}"));
    sql_job_wait_count(job, "dead", 0);
    registry_standin_destroy(&registry);
}

// C041. A password that means something in a URL, there and by itself; a refusal is told as one,
// whether the registry has words for it or a page.
static void test_c041_users_with_special_characters(void **state)
{
    static const char *const words[] = {"--user", "svc:a:b/c@d%", NULL};
    static const char *const page[] = {"--user", "svc:a:b/c@d%", "--html", NULL};
    struct sql_job *job = make_job("reguser");
    struct registry_standin registry;
    (void)state;
    registry_standin_create(&registry, job, store_text, words);
    const char *url = url_of(&registry, "", "");
    sql_job_set_sql(job, "CREATE TABLE src () WITH (topic = '$-in', format = 'avro',\n"
                         "  subject = 'reguser');\n"
                         "CREATE TABLE copy (ok boolean) WITH (topic = '$-out');\n"
                         "INSERT INTO copy SELECT ok FROM src;\n");
    feed(job, 0, 1);
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true", url_of(&registry, "svc:a%3Ab%2Fc%40d%25@", "")),
                0, SQL_JOB_TEXTS(""));
    feed(job, 0, 1);
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true", url, "WEIR_SCHEMA_REGISTRY_USERNAME=svc",
                              "WEIR_SCHEMA_REGISTRY_PASSWORD=a:b/c@d%"),
                0, SQL_JOB_TEXTS(""));
    sql_job_wait_count(job, "out", 2);
    for (int i = 0; i < 2; i++) {
        const char *said =
            sql_job_expect_refused(job,
                                   SQL_JOB_EXTRA(url, "WEIR_SCHEMA_REGISTRY_USERNAME=svc",
                                                 "WEIR_SCHEMA_REGISTRY_PASSWORD=a:b/c@e%"),
                                   SQL_JOB_TEXTS("authentication failed",
                                                 weir_test_format("127.0.0.1:%d", registry.port)));
        assert_null(strstr(said, "a:b/c@e%"));
        registry_standin_kill(&registry);
        registry.options = page;
        registry_standin_start(&registry);
    }
    registry_standin_destroy(&registry);
}

// A registry that was just started knows nothing for a moment: a subject that was there before is
// waited for, and neither refused nor registered anew.
static void test_a_registry_that_still_reads_its_schemas(void **state)
{
    static const char *const well[] = {NULL};
    static const char *const young[] = {"--young", "4", NULL};
    struct sql_job *job = make_job("regyoung");
    struct registry_standin registry;
    (void)state;
    sql_job_set_sql(job, "CREATE TABLE src (ok boolean) WITH (topic = '$-in', format = 'avro');\n"
                         "CREATE TABLE copy (ok boolean NOT NULL) WITH (topic = '$-out',\n"
                         "  format = 'avro', subject = 'regyoung', auto_register = 'false');\n"
                         "INSERT INTO copy SELECT ok FROM src;\n");
    registry_standin_create(&registry, job, store_text, well);
    const char *const *settings = SQL_JOB_EXTRA("WEIR_BOUNDED=true", url_of(&registry, "", ""));
    feed(job, 0, 1);
    sql_job_run(job, settings, 0, SQL_JOB_TEXTS(""));
    registry_standin_kill(&registry);
    registry.options = young;
    registry_standin_start(&registry);
    feed(job, 0, 1);
    sql_job_run(job, settings, 0, SQL_JOB_TEXTS(""));
    sql_job_wait_count(job, "out", 2);
    registry_standin_destroy(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c035_paths_and_kinds_of_schemas),
        cmocka_unit_test(test_c037_a_schema_is_asked_for_until_it_comes),
        cmocka_unit_test(test_c041_users_with_special_characters),
        cmocka_unit_test(test_a_registry_that_still_reads_its_schemas),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
