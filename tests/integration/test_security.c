// SPDX-License-Identifier: Apache-2.0
// What weir may do, on a real broker that allows nothing by default: the least rights suffice for a
// job through kills and savepoints and for the commands; each of them is needed, and its absence is
// told with what to do; taken away and given back under a running job, nothing is lost.
// WEIR_TEST_SECURITY=full does so for every way to log in.
#include "kafka/client.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/secure_job_util.h"

#include <stdlib.h>

enum { WAIT_MS = 60000 };

#define SECONDS "WEIR_CONNECT_TIMEOUT=5s"

static bool is_full(void)
{
    return getenv("WEIR_TEST_SECURITY") != NULL;
}

// SCRAM has its program: old clients cannot log in by it at this broker.
static const enum secure_login logins[] = {SECURE_PLAIN, SECURE_TLS, SECURE_OAUTH};
enum { LOGINS = sizeof logins / sizeof logins[0] };

static void test_the_least_rights_suffice(void **state)
{
    (void)state;
    static const char *const codecs[LOGINS] = {"zstd", "snappy", "lz4"};
    for (size_t i = 0; i < (is_full() ? LOGINS : 2); i++) {
        struct secure_job job =
            secure_job_create(weir_test_format("least%zu", i), logins[i], codecs[i]);
        secure_job_expect_exactly_once(&job);
    }
}

static const char *const lacks[SECURE_NEED_COUNT] = {
    [SECURE_NEED_READ] = "the right Read (of a source) or Write (of a sink) on topic '%s-in'",
    [SECURE_NEED_WRITE] = "the right Read (of a source) or Write (of a sink) on topic '%s-out'",
    [SECURE_NEED_WRITE_KEYED] =
        "the right Read (of a source) or Write (of a sink) on topic '%s-counts'",
    [SECURE_NEED_WRITE_DEAD] =
        "the right Read (of a source) or Write (of a sink) on topic '%s-dead'",
    [SECURE_NEED_LIMIT] = "the right DescribeConfigs on topic '%s-out'",
    [SECURE_NEED_LIMIT_KEYED] = "the right DescribeConfigs on topic '%s-counts'",
    [SECURE_NEED_LIMIT_DEAD] = "the right DescribeConfigs on topic '%s-dead'",
    [SECURE_NEED_GROUP] = "the right Read on group '%s'",
    [SECURE_NEED_TRANSACTION] = "the right Write on transactional id '%s-0-",
    [SECURE_NEED_CLUSTER] = "the right DescribeConfigs on the cluster",
};

static const char *text_with(const char *format, const char *name)
{
    const char *at = strstr(format, "%s");
    return at == NULL ? format
                      : weir_test_format("%.*s%s%s", (int)(at - format), format, name, at + 2);
}

// Before the first life and between two.
static void test_each_right_is_needed(void **state)
{
    (void)state;
    for (size_t l = 0; l < (is_full() ? LOGINS : 1); l++) {
        struct secure_job job =
            secure_job_create(weir_test_format("each%zu", l), logins[l], "gzip");
        for (int round = 0; round < (is_full() ? 2 : 1); round++) {
            secure_job_feed(&job, 500);
            for (size_t i = 0; i < SECURE_NEED_COUNT; i++) {
                const struct secure_right *right = &secure_needs[i];
                assert_non_null(lacks[i]);
                secure_forbid(job.job, job.login, right);
                sql_job_expect_refused(job.job, secure_settings(job.login, SQL_JOB_EXTRA(SECONDS)),
                                       SQL_JOB_TEXTS("weir's user lacks ",
                                                     text_with(lacks[i], job.job->name),
                                                     ": grant it (docs/security.md)"));
                secure_allow(job.job, job.login, right);
            }
            secure_job_finish(&job, NULL);
            secure_job_check(&job);
        }
    }
}

// Somebody may look at a topic and no more: told before the first record is read, and where rows
// are written at the first row.
static void test_the_right_to_look_is_not_enough(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("look", SECURE_PLAIN, "uncompressed");
    secure_job_feed(&job, 500);
    static const struct secure_right looks[] = {
        {SECURE_DESCRIBE, SECURE_TOPIC, "$-in", false},
        {SECURE_DESCRIBE, SECURE_TOPIC, "$-out", false},
        {SECURE_DESCRIBE, SECURE_GROUP, "$", false},
        {SECURE_DESCRIBE, SECURE_TRANSACTIONAL_ID, "$-0-", true},
    };
    static const enum secure_need needs[] = {SECURE_NEED_READ, SECURE_NEED_WRITE, SECURE_NEED_GROUP,
                                             SECURE_NEED_TRANSACTION};
    static const int codes[] = {2, 1, 2, 2};
    static const char *const says[] = {
        "Read (of a source) on one of the topics", "the right Write on topic 'look-out'",
        "the right Read on the group of the job", "the right Write on transactional id 'look-0-"};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        secure_allow(job.job, job.login, &looks[i]);
        secure_forbid(job.job, job.login, &secure_needs[needs[i]]);
        sql_job_run(job.job, secure_settings(job.login, SQL_JOB_EXTRA(SECONDS)), codes[i],
                    SQL_JOB_TEXTS(says[i]));
        secure_allow(job.job, job.login, &secure_needs[needs[i]]);
        secure_forbid(job.job, job.login, &looks[i]);
    }
    secure_job_finish(&job, NULL);
    secure_job_check(&job);
}

static void test_what_is_taken_away_may_come_back(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("taken", SECURE_TLS, "uncompressed");
    secure_job_feed(&job, 100);
    struct weir_test_process *process = secure_job_start(
        &job, SQL_JOB_EXTRA(HTTP_LISTEN, SECONDS, "WEIR_RESTART_BACKOFF=200ms",
                            "WEIR_RESTART_BACKOFF_MAX=500ms", "WEIR_RESTART_ATTEMPTS=1000"));
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job.job, "in", 0) >= 50, WAIT_MS);
    static const enum secure_need needs[] = {SECURE_NEED_WRITE, SECURE_NEED_READ,
                                             SECURE_NEED_TRANSACTION, SECURE_NEED_GROUP};
    uint16_t port = http_port(process);
    size_t position = 0;
    for (size_t i = 0; i < (is_full() ? 4 : 2); i++) {
        secure_forbid(job.job, job.login, &secure_needs[needs[i]]);
        secure_job_feed(&job, 100);
        if (!weir_test_process_wait_text(process, "weir's user lacks the right ", WAIT_MS,
                                         &position)) {
            WEIR_TEST_FAIL("nothing is missing:\n%s", weir_test_process_output(process));
        }
        http_wait_ready(port, 503, "weir's user lacks the right ", WAIT_MS);
        secure_allow(job.job, job.login, &secure_needs[needs[i]]);
        http_wait_ready(port, 200, NULL, WAIT_MS);
        WEIR_TEST_WAIT_UNTIL(sql_job_committed(job.job, "in", 0) >= job.count / 2, WAIT_MS);
    }
    assert_true(live_util_metric(process, "weir_restarts_total", "reason=\"access\"") > 0);
    sql_job_stop(process);
    secure_job_check(&job);
}

static void test_brokers_may_keep_their_settings_to_themselves(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("unasked", SECURE_PLAIN, "uncompressed");
    secure_job_feed(&job, 100);
    secure_forbid(job.job, job.login, &secure_needs[SECURE_NEED_CLUSTER]);
    const char *log = sql_job_run(
        job.job,
        secure_settings(job.login,
                        SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ALLOW=unverified_transactions")),
        0, SQL_JOB_TEXTS("going on without it (allowed by WEIR_ALLOW=unverified_transactions)"));
    assert_non_null(log);
    secure_job_check(&job);
}

// The producers of at_least_once have no transactional id for their rows.
static void test_at_least_once_needs_no_more(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("seen", SECURE_PLAIN, "uncompressed");
    secure_job_feed(&job, 300);
    secure_job_finish(&job, SQL_JOB_EXTRA("WEIR_GUARANTEE=at_least_once"));
    secure_job_check(&job);
}

static void test_a_topic_is_made_with_the_right_to(void **state)
{
    (void)state;
    static const struct secure_right create = {SECURE_CREATE, SECURE_TOPIC, "$-made", false};
    static const struct secure_right rights[] = {
        {SECURE_WRITE, SECURE_TOPIC, "$-made", false},
        {SECURE_DESCRIBE_CONFIGS, SECURE_TOPIC, "$-made", false},
    };
    struct secure_job job = secure_job_create("make", SECURE_PLAIN, "uncompressed");
    secure_job_feed(&job, 2);
    secure_allow(job.job, job.login, &rights[0]);
    secure_allow(job.job, job.login, &rights[1]);
    sql_job_set_sql(job.job, "CREATE TABLE input (n int) WITH (topic = '$-in');\n"
                             "CREATE TABLE made (n int) WITH (topic = '$-made', partitions = 1);\n"
                             "INSERT INTO made SELECT n FROM input;\n");
    sql_job_expect_refused(job.job, secure_settings(job.login, SQL_JOB_EXTRA(SECONDS)),
                           SQL_JOB_TEXTS("the right Create on topic 'make-made'"));
    secure_allow(job.job, job.login, &create);
    secure_job_finish(&job, NULL);
    sql_job_wait_count(job.job, "made", 2);
}

// Old clients cannot: what the broker says of it is not all there is to know.
static void test_a_login_by_scram_that_fails_says_what_it_may_be(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("scram", SECURE_SCRAM_512, "uncompressed");
    bool is_old =
        atoi(weir_rdkafka_version()) < 2 ||
        (strncmp(weir_rdkafka_version(), "2.", 2) == 0 && atof(weir_rdkafka_version() + 2) < 6.1);
    const char *log =
        sql_job_run(job.job, secure_settings(job.login, SQL_JOB_EXTRA("WEIR_CONNECT_TIMEOUT=1s")),
                    1, SQL_JOB_TEXTS("invalid credentials with SASL mechanism SCRAM-SHA-512"));
    assert_int_equal(strstr(log, "this librdkafka (before 2.6.1) cannot") != NULL, is_old);
}

static void test_commands_need_little_more(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("commands", SECURE_PLAIN, "uncompressed");
    const char *const *settings = secure_settings(job.login, SQL_JOB_EXTRA(SECONDS));
    secure_job_feed(&job, 100);
    sql_job_run_command(job.job, SQL_JOB_TEXTS("check", "--connect"), settings, 0,
                        SQL_JOB_TEXTS("ok: "));
    secure_job_finish(&job, NULL);
    sql_job_run_command(job.job, SQL_JOB_TEXTS("check", "--connect"), settings, 0,
                        SQL_JOB_TEXTS("checkpoint ", "ok: "));
    sql_job_run_command(job.job, SQL_JOB_TEXTS("transactions", "--abort"), settings, 0,
                        SQL_JOB_TEXTS("no transaction is open"));
    sql_job_run_command(job.job,
                        SQL_JOB_TEXTS("offsets", "reset", "--table", "input", "--to", "latest"),
                        settings, 0, NULL);
    // What a replay needs is named, one after the other.
    static const struct {
        struct secure_right right;
        const char *says;
    } more[] = {
        {{SECURE_WRITE, SECURE_TRANSACTIONAL_ID, "$-dead-letters", false},
         "the right Write on transactional id 'commands-dead-letters'"},
        {{SECURE_READ, SECURE_GROUP, "$-dead-letters", false},
         "the right Read on group 'commands-dead-letters'"},
        {{SECURE_READ, SECURE_TOPIC, "$-dead", false}, "the right Read on topic 'commands-dead'"},
        {{SECURE_WRITE, SECURE_TOPIC, "$-in", false}, "the right Write on topic 'commands-in'"},
    };
    const char *const *replay =
        SQL_JOB_TEXTS("dead-letters", "replay", "--topic", sql_job_topic(job.job, "dead"));
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        sql_job_run_command(job.job, replay, settings, 2, SQL_JOB_TEXTS(more[i].says));
        secure_allow(job.job, job.login, &more[i].right);
    }
    sql_job_run_command(job.job, replay, settings, 0,
                        SQL_JOB_TEXTS("4 dead letters written back to topic commands-in"));
}

// Each of the commands of the page, with the names of its example, and no other.
static void test_the_page_lists_these_rights(void **state)
{
    (void)state;
    static const char *const operations[] = {[SECURE_READ] = "Read",
                                             [SECURE_WRITE] = "Write",
                                             [SECURE_DESCRIBE_CONFIGS] = "DescribeConfigs"};
    static const char *const options[] = {[SECURE_TOPIC] = "--topic orders%s",
                                          [SECURE_GROUP] = "--group orders%s",
                                          [SECURE_CLUSTER] = "--cluster",
                                          [SECURE_TRANSACTIONAL_ID] =
                                              "--transactional-id orders%s"};
    char *page = weir_test_read_file(WEIR_TEST_TOOLS "/../docs/security.md", NULL);
    assert_non_null(page);
    size_t command_count = 0;
    for (const char *at = page; (at = strstr(at, "\n    $acls --operation ")) != NULL; at++) {
        command_count++;
    }
    assert_int_equal(command_count, SECURE_NEED_COUNT);
    for (size_t i = 0; i < SECURE_NEED_COUNT; i++) {
        const struct secure_right *right = &secure_needs[i];
        const char *line =
            weir_test_format("    $acls --operation %s %s%s\n", operations[right->operation],
                             text_with(options[right->resource], right->name + 1),
                             right->is_prefix ? " --resource-pattern-type prefixed" : "");
        if (strstr(page, line) == NULL) {
            WEIR_TEST_FAIL("docs/security.md has no line with %s", line);
        }
    }
    free(page);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_least_rights_suffice),
        cmocka_unit_test(test_each_right_is_needed),
        cmocka_unit_test(test_the_right_to_look_is_not_enough),
        cmocka_unit_test(test_what_is_taken_away_may_come_back),
        cmocka_unit_test(test_brokers_may_keep_their_settings_to_themselves),
        cmocka_unit_test(test_at_least_once_needs_no_more),
        cmocka_unit_test(test_a_topic_is_made_with_the_right_to),
        cmocka_unit_test(test_a_login_by_scram_that_fails_says_what_it_may_be),
        cmocka_unit_test(test_commands_need_little_more),
        cmocka_unit_test(test_the_page_lists_these_rights),
    };
    return cmocka_run_group_tests_name("integration/security", tests, secure_cluster_start,
                                       cluster_stop);
}
