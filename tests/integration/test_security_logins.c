// SPDX-License-Identifier: Apache-2.0
// How weir logs in to a real broker that asks everybody: SCRAM beside what test_security.c has, in
// full through kills and savepoints; logins that must fail, with what is said and the exit code;
// and whatever is logged, no secret is in it. WEIR_TEST_SECURITY=full takes all mechanisms.
#include "tests/integration/secure_job_util.h"

#include <stdlib.h>

enum { REFUSED_WAIT_MS = 60000 };

#define SHORT "WEIR_CONNECT_TIMEOUT=3s"
#define LOUD "WEIR_KAFKA_DEBUG=all", "WEIR_LOG_LEVEL=debug"

// All that is planted begins so.
static void expect_no_secret(const char *log)
{
    const char *found = strstr(log, "Zx9-");
    if (found != NULL) {
        WEIR_TEST_FAIL("a secret is shown: %.200s", found > log + 100 ? found - 100 : log);
    }
}

static void test_every_login_carries_a_job(void **state)
{
    (void)state;
    bool is_full = getenv("WEIR_TEST_SECURITY") != NULL;
    for (int login = 0; login < SECURE_LOGIN_COUNT; login++) {
        if (!is_full && login != SECURE_SCRAM_512) {
            continue;
        }
        struct secure_job job =
            secure_job_create(weir_test_format("login%d", login), (enum secure_login)login, "gzip");
        secure_job_expect_exactly_once(&job);
    }
}

static void test_no_secret_is_logged(void **state)
{
    (void)state;
    for (int login = 0; login < SECURE_LOGIN_COUNT; login++) {
        struct secure_job job = secure_job_create(weir_test_format("loud%d", login),
                                                  (enum secure_login)login, "uncompressed");
        secure_job_feed(&job, 20);
        const char *const *settings = secure_settings(
            job.login, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_HTTP_TOKEN=Zx9-http", LOUD));
        const char *log = sql_job_run(job.job, settings, 0, SQL_JOB_TEXTS("librdkafka: "));
        expect_no_secret(log);
        expect_no_secret(sql_job_run_command(job.job, SQL_JOB_TEXTS("config"), settings, 0, NULL));
        secure_job_check(&job);
        char **paths = sql_job_manifests(job.job);
        for (size_t i = 0; paths[i] != NULL; i++) {
            expect_no_secret(weir_test_read_file(paths[i], NULL));
        }
    }
}

// Side by side: each takes the whole WEIR_CONNECT_TIMEOUT.
static void test_logins_that_fail_say_why(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("refused", SECURE_PLAIN, "uncompressed");
    weir_test_write_file(secure_file("wrong-password"), "Zx9-wrong\n");
    const char *wrong =
        weir_test_format("WEIR_KAFKA_SASL_PASSWORD_FILE=%s", secure_file("wrong-password"));
    const struct {
        enum secure_login login;
        const char *setting;
        const char *says;
    } cases[] = {
        {SECURE_PLAIN, wrong, "Invalid username or password"},
        {SECURE_SCRAM_512, wrong, "invalid credentials with SASL mechanism SCRAM-SHA-512"},
        {SECURE_PLAIN,
         weir_test_format("WEIR_KAFKA_SSL_CA_LOCATION=%s", secure_file("other-ca.pem")),
         "certificate verify failed"},
        {SECURE_PLAIN,
         weir_test_format("WEIR_KAFKA_SSL_CA_LOCATION=%s", secure_file("expired-ca.pem")),
         "certificate verify failed"},
        {SECURE_TLS,
         weir_test_format("WEIR_KAFKA_SSL_CERTIFICATE_LOCATION=%s",
                          secure_file("other-client.pem")),
         "alert certificate unknown"},
        {SECURE_TLS,
         weir_test_format("WEIR_KAFKA_SSL_CERTIFICATE_LOCATION=%s", secure_file("old-client.pem")),
         "alert certificate unknown"},
        {SECURE_PLAIN, // no certificate at the listener that wants one
         "WEIR_KAFKA_SECURITY_PROTOCOL=ssl", "alert bad certificate"},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    struct weir_test_process *processes[CASES];
    for (size_t i = 0; i < CASES; i++) {
        const char *extra[5] = {SHORT, LOUD, cases[i].setting, NULL};
        char *other = weir_test_format("WEIR_STATE_DIR=%s/state-%zu", job.job->dir, i);
        const char *const *settings = secure_settings(cases[i].login, extra);
        const char *all[40] = {other};
        for (size_t s = 0; settings[s] != NULL; s++) {
            all[s + 1] = settings[s];
        }
        if (i == CASES - 1) {
            all[1] = secure_settings(SECURE_TLS, NULL)[0]; // the brokers' other listener
        }
        processes[i] = sql_job_start(job.job, all);
    }
    for (size_t i = 0; i < CASES; i++) {
        if (!weir_test_process_wait(processes[i], REFUSED_WAIT_MS, NULL)) {
            WEIR_TEST_FAIL("it hangs:\n%s", weir_test_process_output(processes[i]));
        }
        expect_no_secret(sql_job_expect_exit(
            processes[i], 1, SQL_JOB_TEXTS("gave up waiting for the brokers", cases[i].says)));
    }
}

static void test_what_cannot_be_read_ends_a_start_at_once(void **state)
{
    (void)state;
    struct secure_job job = secure_job_create("unread", SECURE_TLS, "uncompressed");
    const struct {
        enum secure_login login;
        const char *setting;
        const char *says;
    } cases[] = {
        {SECURE_PLAIN, "WEIR_KAFKA_SASL_PASSWORD_FILE=/nowhere/password",
         "WEIR_KAFKA_SASL_PASSWORD_FILE: cannot read \"/nowhere/password\": No such file"},
        {SECURE_PLAIN, weir_test_format("WEIR_KAFKA_SASL_PASSWORD_FILE=%s", job.job->dir),
         "Is a directory"},
        {SECURE_PLAIN, "WEIR_KAFKA_SSL_CA_LOCATION=/nowhere/ca.pem",
         "Kafka property ssl.ca.location: cannot read \"/nowhere/ca.pem\": No such file"},
        {SECURE_TLS, "WEIR_KAFKA_SSL_CERTIFICATE_LOCATION=/nowhere/client.pem",
         "ssl.certificate.location: cannot read \"/nowhere/client.pem\": No such file"},
        {SECURE_TLS, // the wrong passphrase
         weir_test_format("WEIR_KAFKA_SSL_KEY_PASSWORD_FILE=%s", secure_file("plain-password")),
         "maybe wrong password"},
        {SECURE_TLS, // the certificate of another key
         weir_test_format("WEIR_KAFKA_SSL_CERTIFICATE_LOCATION=%s", secure_file("server.pem")),
         "key values mismatch"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t began_ms = weir_test_now_ms();
        const char *log = sql_job_run(
            job.job, secure_settings(cases[i].login, SQL_JOB_EXTRA(cases[i].setting, LOUD)), 2,
            SQL_JOB_TEXTS(cases[i].says));
        expect_no_secret(log);
        assert_in_range(weir_test_now_ms() - began_ms, 0, 20000);
    }
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_login_carries_a_job),
        cmocka_unit_test(test_no_secret_is_logged),
        cmocka_unit_test(test_logins_that_fail_say_why),
        cmocka_unit_test(test_what_cannot_be_read_ends_a_start_at_once),
    };
    return cmocka_run_group_tests_name("integration/security_logins", tests,
                                       secure_cluster_start_for_scram, cluster_stop);
}
