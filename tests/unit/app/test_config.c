// SPDX-License-Identifier: Apache-2.0
// Variables: defaults, given values, files, and the exact text of every fault.
#include "config_fixture.h"

static void test_defaults(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(&fixture, WITH_REQUIRED);
    const struct weir_config *config = &fixture.config;
    assert_int_equal(fixture.faults.count, 0);
    assert_string_equal(config->job_id, "flights");
    assert_int_equal(config->instance_id, 0);
    assert_string_equal(config->sql_text, "SELECT 1");
    assert_string_equal(config->sql_source, "WEIR_SQL");
    assert_string_equal(config->state_dir, "/var/lib/weir");
    assert_string_equal(config->checkpoint_dir, "/var/lib/weir/checkpoints");
    assert_int_equal(config->checkpoint_interval_ms, 1000);
    assert_int_equal(config->checkpoint_timeout_ms, 60000);
    assert_int_equal(config->checkpoint_min_pause_ms, 0);
    assert_int_equal(config->checkpoint_concurrent_max, 1);
    assert_int_equal(config->checkpoint_tolerable_failures, 3);
    assert_int_equal(config->checkpoints_retained, 2);
    assert_int_equal(config->restore_kind, WEIR_RESTORE_AUTO);
    assert_string_equal(config->restore_value, "");
    assert_string_equal(config->restore_text, "auto");
    assert_int_equal(config->start.kind, WEIR_POSITION_EARLIEST);
    assert_false(config->is_bounded);
    assert_true(config->parallelism >= 1);
    assert_true(config->memory_bytes == UINT64_C(1) << 30);
    assert_int_equal(config->connect_timeout_ms, 60000);
    assert_int_equal(config->on_bad_record, WEIR_ON_ERROR_FAIL);
    assert_null(config->dead_letter_topic);
    assert_false(config->is_unverified_transactions_allowed);
    assert_false(config->is_state_loss_allowed);
    assert_int_equal(config->restart_attempts_max, 10);
    assert_int_equal(config->restart_backoff_ms, 1000);
    assert_int_equal(config->restart_backoff_max_ms, 60000);
    assert_string_equal(config->http_listen, "");
    assert_null(config->http_token);
    assert_int_equal(config->log_level, WEIR_LOG_INFO);
    assert_int_equal(config->log_format, WEIR_LOG_TEXT);
    assert_null(config->failpoints);
    assert_int_equal(config->transaction_timeout_ms, 152000);
    assert_false(config->is_transaction_timeout_given);
    assert_int_equal(config->notice_count, 0);
    fixture_deinit(&fixture);
}

static void test_given_values(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(
        &fixture, WITH_REQUIRED, "WEIR_INSTANCE_ID=0", "WEIR_STATE_DIR=/data",
        "WEIR_CHECKPOINT_DIR=file:///store/a", "WEIR_CHECKPOINT_INTERVAL=250ms",
        "WEIR_CHECKPOINT_TIMEOUT=5min", "WEIR_CHECKPOINT_MIN_PAUSE=1s",
        "WEIR_CHECKPOINT_MAX_CONCURRENT=3", "WEIR_CHECKPOINT_RETAINED=7",
        "WEIR_GUARANTEE=exactly_once", "WEIR_RESTORE=discard:2024-05.b", "WEIR_START=latest",
        "WEIR_BOUNDED=true", "WEIR_PARALLELISM=4", "WEIR_MEMORY=128MiB", "WEIR_CONNECT_TIMEOUT=1d",
        "WEIR_ON_BAD_RECORD=dead_letter", "WEIR_DEAD_LETTER_TOPIC=bad.records",
        "WEIR_ALLOW=state_loss,unverified_transactions", "WEIR_RESTART_ATTEMPTS=0",
        "WEIR_RESTART_BACKOFF=1ms", "WEIR_RESTART_BACKOFF_MAX=1h", "WEIR_HTTP_TOKEN=abc",
        "WEIR_LOG_LEVEL=debug", "WEIR_LOG_FORMAT=json", "WEIR_FAILPOINTS=a=kill");
    const struct weir_config *config = &fixture.config;
    assert_string_equal(config->state_dir, "/data");
    assert_string_equal(config->checkpoint_dir, "/store/a");
    assert_int_equal(config->checkpoint_interval_ms, 250);
    assert_int_equal(config->checkpoint_timeout_ms, 300000);
    assert_int_equal(config->checkpoint_min_pause_ms, 1000);
    assert_int_equal(config->checkpoint_concurrent_max, 3);
    assert_int_equal(config->checkpoints_retained, 7);
    assert_int_equal(config->restore_kind, WEIR_RESTORE_DISCARD);
    assert_string_equal(config->restore_value, "2024-05.b");
    assert_string_equal(config->restore_text, "discard:2024-05.b");
    assert_int_equal(config->start.kind, WEIR_POSITION_LATEST);
    assert_true(config->is_bounded);
    assert_int_equal(config->parallelism, 4);
    assert_true(config->memory_bytes == UINT64_C(128) << 20);
    assert_true(weir_config_shared_bytes(config) == UINT64_C(80) << 20);
    assert_true(config->connect_timeout_ms == 86400000);
    assert_int_equal(config->on_bad_record, WEIR_ON_ERROR_DEAD_LETTER);
    assert_string_equal(config->dead_letter_topic, "bad.records");
    assert_true(config->is_unverified_transactions_allowed);
    assert_true(config->is_state_loss_allowed);
    assert_int_equal(config->restart_attempts_max, 0);
    assert_int_equal(config->restart_backoff_ms, 1);
    assert_int_equal(config->restart_backoff_max_ms, 3600000);
    assert_string_equal(config->http_token, "abc");
    assert_int_equal(config->log_level, WEIR_LOG_DEBUG);
    assert_int_equal(config->log_format, WEIR_LOG_JSON);
    assert_string_equal(config->failpoints, "a=kill");
    assert_int_equal(config->transaction_timeout_ms, (250 + 300000) * 4 + 30000);
    fixture_deinit(&fixture);
}

static void test_each_fault_has_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *variable;
        const char *fault;
    } cases[] = {
        {"WEIR_INSTANCE_ID=1", "WEIR_INSTANCE_ID: \"1\" is refused: a job runs in one process, "
                               "whose instance id is 0"},
        {"WEIR_STATE_DIR=s3://b/p", "WEIR_STATE_DIR: \"s3://b/p\" is not a path"},
        {"WEIR_CHECKPOINT_DIR=s3://bucket/prefix",
         "WEIR_CHECKPOINT_DIR: \"s3://bucket/prefix\" is refused: checkpoints in an object store "
         "do "
         "not exist yet; write a path or file:// and a path"},
        {"WEIR_CHECKPOINT_DIR=gs://x", "WEIR_CHECKPOINT_DIR: \"gs://x\" is not a checkpoint store; "
                                       "write a path or file:// and a path"},
        {"WEIR_CHECKPOINT_DIR=file://host/x",
         "WEIR_CHECKPOINT_DIR: \"file://host/x\" names another host; write file:/// and a path"},
        {"WEIR_CHECKPOINT_INTERVAL=5x",
         "WEIR_CHECKPOINT_INTERVAL: \"5x\" is not a duration; write a whole number and ms, s, min, "
         "h or d, such as 250ms or 5min"},
        {"WEIR_CHECKPOINT_INTERVAL=5",
         "WEIR_CHECKPOINT_INTERVAL: \"5\" has no unit; write 5ms, 5s, "
         "5min, 5h or 5d"},
        {"WEIR_CHECKPOINT_INTERVAL=0s", "WEIR_CHECKPOINT_INTERVAL: \"0s\" is out of range; it is a "
                                        "duration from 10ms to 1h"},
        {"WEIR_CHECKPOINT_TIMEOUT=2h", "WEIR_CHECKPOINT_TIMEOUT: \"2h\" is out of range; it is a "
                                       "duration from 1s to 1h"},
        {"WEIR_CHECKPOINT_MIN_PAUSE=soon",
         "WEIR_CHECKPOINT_MIN_PAUSE: \"soon\" is not a duration; write a whole number and ms, s, "
         "min, h or d, such as 250ms or 5min"},
        {"WEIR_CHECKPOINT_MAX_CONCURRENT=4", "WEIR_CHECKPOINT_MAX_CONCURRENT: \"4\" is out of "
                                             "range; it is a number from 1 to 3"},
        {"WEIR_CHECKPOINT_MAX_CONCURRENT=0", "WEIR_CHECKPOINT_MAX_CONCURRENT: \"0\" is out of "
                                             "range; it is a number from 1 to 3"},
        {"WEIR_CHECKPOINT_MAX_CONCURRENT=two", "WEIR_CHECKPOINT_MAX_CONCURRENT: \"two\" is not a "
                                               "whole number from 1 to 3"},
        {"WEIR_CHECKPOINT_RETAINED=0", "WEIR_CHECKPOINT_RETAINED: \"0\" is out of range; it is a "
                                       "number from 1 to 1000000"},
        {"WEIR_GUARANTEE=none",
         "WEIR_GUARANTEE: \"none\" is not known; write exactly_once or at_least_once"},
        {"WEIR_RESTORE=savepoint:x",
         "WEIR_RESTORE: \"savepoint:x\" needs the absolute path of a savepoint's folder behind the "
         "colon"},
        {"WEIR_RESTORE=savepoint:",
         "WEIR_RESTORE: \"savepoint:\" needs the absolute path of a savepoint's folder behind the "
         "colon"},
        {"WEIR_RESTORE=latest",
         "WEIR_RESTORE: \"latest\" is not known; write auto, savepoint:<path> or discard:<word>"},
        {"WEIR_RESTORE=discard:",
         "WEIR_RESTORE: \"discard:\" needs a word behind the colon: 1 to 100 of the characters A-Z "
         "a-z 0-9 . _ -, another one for each discarding"},
        {"WEIR_START=yesterday",
         "WEIR_START: \"yesterday\" is not known; write earliest, latest or a timestamp, such as "
         "2024-05-01T00:00:00Z or milliseconds since 1970"},
        {"WEIR_START=-1",
         "WEIR_START: \"-1\" lies before 1970, and so before every record; write earliest"},
        {"WEIR_START=1969-12-31",
         "WEIR_START: \"1969-12-31\" lies before 1970, and so before every record; write earliest"},
        {"WEIR_START=infinity",
         "WEIR_START: \"infinity\" is no place in a topic; write earliest or latest"},
        {"WEIR_BOUNDED=yes", "WEIR_BOUNDED: \"yes\" is not known; write true or false"},
        {"WEIR_PARALLELISM=", "WEIR_PARALLELISM: empty; give a value or leave the variable out"},
        {"WEIR_PARALLELISM=1.5", "WEIR_PARALLELISM: \"1.5\" is not a whole number from 1 to 128"},
        {"WEIR_MEMORY=127MiB",
         "WEIR_MEMORY: \"127MiB\" is out of range; it is a size of at least 128MiB"},
        {"WEIR_MEMORY=1GB",
         "WEIR_MEMORY: \"1GB\" is not a size; write a whole number of bytes or of KiB, MiB, GiB or "
         "TiB, such as 64MiB or 1GiB"},
        {"WEIR_ON_BAD_RECORD=ignore",
         "WEIR_ON_BAD_RECORD: \"ignore\" is not known; write fail, skip or dead_letter"},
        {"WEIR_DEAD_LETTER_TOPIC=a b",
         "WEIR_DEAD_LETTER_TOPIC: \"a b\" is not a topic's name: those have 1 to 249 of the "
         "characters A-Z a-z 0-9 . _ -"},
        {"WEIR_QUARANTINE=orders",
         "WEIR_QUARANTINE: \"orders\" is no partition of a table; "
         "write table:number, several with commas between and no blanks"},
        {"WEIR_QUARANTINE=a:1,b:-1",
         "WEIR_QUARANTINE: \"b:-1\" is no partition of a table; "
         "write table:number, several with commas between and no blanks"},
        {"WEIR_QUARANTINE=a:1,,b:1",
         "WEIR_QUARANTINE: \"\" is no partition of a table; "
         "write table:number, several with commas between and no blanks"},
        {"WEIR_QUARANTINE=:1",
         "WEIR_QUARANTINE: \":1\" is no partition of a table; "
         "write table:number, several with commas between and no blanks"},
        {"WEIR_QUARANTINE=a:2147483648",
         "WEIR_QUARANTINE: \"a:2147483648\" is no partition of a table; "
         "write table:number, several with commas between and no blanks"},
        {"WEIR_ALLOW=state_loss,unverified_transaction",
         "WEIR_ALLOW: \"unverified_transaction\" is not known; the nearest is "
         "unverified_transactions (both: unverified_transactions,state_loss)"},
        {"WEIR_RESTART_BACKOFF=2min",
         "WEIR_RESTART_BACKOFF (2min) is longer than WEIR_RESTART_BACKOFF_MAX (1min)"},
        {"WEIR_LOG_LEVEL=trace",
         "WEIR_LOG_LEVEL: \"trace\" is not known; write debug, info, warn or error"},
        {"WEIR_LOG_FORMAT=xml", "WEIR_LOG_FORMAT: \"xml\" is not known; write text or json"},
        {"WEIR_CHECKPOINT_INTERVALL=5s",
         "WEIR_CHECKPOINT_INTERVALL: no such variable; the nearest is WEIR_CHECKPOINT_INTERVAL"},
        {"WEIR_HTTP_TOKEN_FIL=x",
         "WEIR_HTTP_TOKEN_FIL: no such variable; the nearest is WEIR_HTTP_TOKEN_FILE"},
        {"WEIR_SERVICE_HOST=10.0.0.1",
         "WEIR_SERVICE_HOST: no such variable; the nearest is WEIR_STATE_DIR (Kubernetes sets such "
         "variables for a Service whose name begins with weir: enableServiceLinks: false stops "
         "it)"},
        {"WEIR_JOB_ID_FILE=/x", "WEIR_JOB_ID and WEIR_JOB_ID_FILE are both given; keep one"},
        {"WEIR_MEMORY_FILE=/no/such/file",
         "WEIR_MEMORY_FILE: cannot read \"/no/such/file\": No such file or directory"},
        {"WEIR_MEMORY_FILE=", "WEIR_MEMORY_FILE: empty; give a path or leave the variable out"},
        {"WEIR_MEMORY_FILE=/", "WEIR_MEMORY_FILE: cannot read \"/\": Is a directory"},
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(fixture_load(&fixture, WITH_REQUIRED, cases[i].variable), WEIR_ERROR);
        fixture_expect(&fixture, cases[i].fault);
    }
    fixture_deinit(&fixture);
}

static void test_faults_of_required_variables(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    assert_int_equal(fixture_load_all(&fixture, (const char *const[]){NULL}), WEIR_ERROR);
    fixture_expect(&fixture,
                   weir_arena_printf(fixture.arena,
                                     "WEIR_SQL: there is no job: neither WEIR_SQL nor "
                                     "WEIR_SQL_FILE is given, and %s/etc/weir/job.sql is not there",
                                     fixture.root_dir),
                   "WEIR_JOB_ID: not set, and required",
                   "WEIR_KAFKA_BOOTSTRAP_SERVERS: not set, and required");
    assert_null(fixture.config.sql_text);

    assert_int_equal(fixture_load(&fixture, "WEIR_SQL=x", "WEIR_JOB_ID=a/b",
                                  "WEIR_KAFKA_BOOTSTRAP_SERVERS=a:9092,b", "WEIR_HTTP_LISTEN=8080"),
                     WEIR_ERROR);
    fixture_expect(&fixture,
                   "WEIR_JOB_ID: \"a/b\" is not a job id; write 1 to 100 of the characters A-Z a-z "
                   "0-9 . _ -",
                   "WEIR_KAFKA_BOOTSTRAP_SERVERS: \"b\" is not a broker; write host:port, several "
                   "with commas between and no blanks",
                   "WEIR_HTTP_LISTEN: \"8080\" is not an address; write host:port such as "
                   "0.0.0.0:8080, or leave it empty for no HTTP");
    fixture_deinit(&fixture);
}

// C155: all of them in one run, a line each.
static void test_everything_is_reported_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load(&fixture, WITH_REQUIRED, "WEIR_CHECKPOINT_INTERVALL=5s",
                 "WEIR_CHECKPOINT_INTERVAL=5x", "WEIR_PARALLELISM=", "WEIR_KAFKA_FETCH_MIN_BYTE=1",
                 "WEIR_KAFKA_TRANSACTIONAL_ID=x", "WEIR_JOB_ID=again");
    fixture_expect(
        &fixture, "WEIR_JOB_ID: given twice; keep one",
        "WEIR_CHECKPOINT_INTERVAL: \"5x\" is not a duration; write a whole number and ms, s, min, "
        "h "
        "or d, such as 250ms or 5min",
        "WEIR_PARALLELISM: empty; give a value or leave the variable out",
        "WEIR_KAFKA_FETCH_MIN_BYTE: the Kafka client has no such property; the nearest is "
        "WEIR_KAFKA_FETCH_MIN_BYTES (fetch.min.bytes)",
        "WEIR_KAFKA_TRANSACTIONAL_ID: weir sets transactional.id itself: it is made from the job "
        "id "
        "(WEIR_JOB_ID)",
        "WEIR_CHECKPOINT_INTERVALL: no such variable; the nearest is WEIR_CHECKPOINT_INTERVAL");
    fixture_deinit(&fixture);
}

static void test_partial_needs_the_job_only(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    char *environment[] = {"WEIR_SQL=SELECT 1", NULL};
    assert_int_equal(weir_config_load(&(struct weir_config_input){.environment = environment,
                                                                  .root_dir = fixture.root_dir,
                                                                  .is_partial_ok = true},
                                      fixture.arena, &fixture.config, &fixture.faults),
                     WEIR_OK);
    assert_string_equal(fixture.config.sql_text, "SELECT 1");
    fixture_deinit(&fixture);
}

static void test_values_from_files(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    const char *sql = fixture_file(&fixture, "/job.sql", "SELECT 1;\n\n");
    const char *token = fixture_file(&fixture, "/token", "abc\r\n");
    const char *listen = fixture_file(&fixture, "/listen", "\n");
    fixture_load_ok(&fixture, weir_arena_printf(fixture.arena, "WEIR_SQL_FILE=%s", sql),
                    weir_arena_printf(fixture.arena, "WEIR_HTTP_TOKEN_FILE=%s", token),
                    weir_arena_printf(fixture.arena, "WEIR_HTTP_LISTEN_FILE=%s", listen),
                    "WEIR_JOB_ID=j", "WEIR_KAFKA_BOOTSTRAP_SERVERS=[::1]:9092");
    assert_string_equal(fixture.config.sql_text, "SELECT 1;\n");
    assert_string_equal(fixture.config.sql_source, sql);
    assert_string_equal(fixture.config.http_token, "abc");
    assert_string_equal(fixture.config.http_listen, "");

    const char *empty = fixture_file(&fixture, "/empty", "\n");
    assert_int_equal(
        fixture_load(&fixture, WITH_REQUIRED,
                     weir_arena_printf(fixture.arena, "WEIR_HTTP_TOKEN_FILE=%s", empty)),
        WEIR_ERROR);
    fixture_expect(
        &fixture, weir_arena_printf(fixture.arena, "WEIR_HTTP_TOKEN_FILE: \"%s\" is empty", empty));
    fixture_deinit(&fixture);
}

static void test_default_job_file(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    const char *path = fixture_file(&fixture, "/etc/weir/job.sql", "SELECT 2");
    fixture_load_ok(&fixture, "WEIR_JOB_ID=j", "WEIR_KAFKA_BOOTSTRAP_SERVERS=b:1");
    assert_string_equal(fixture.config.sql_text, "SELECT 2");
    assert_string_equal(fixture.config.sql_source, path);
    // A variable wins over the file.
    fixture_load_ok(&fixture, WITH_REQUIRED);
    assert_string_equal(fixture.config.sql_text, "SELECT 1");
    fixture_deinit(&fixture);
}

static void test_values_with_newlines_stay_on_one_line(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load(&fixture, WITH_REQUIRED, "WEIR_BOUNDED=a\nb\x01");
    fixture_expect(&fixture, "WEIR_BOUNDED: \"a\\nb\\x01\" is not known; write true or false");
    fixture_deinit(&fixture);
}

static void test_start_takes_timestamps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t timestamp_ms;
    } cases[] = {
        {"WEIR_START=0", 0},
        {"WEIR_START=1714521600000", INT64_C(1714521600000)},
        {"WEIR_START=2024-05-01T00:00:00Z", INT64_C(1714521600000)},
        {"WEIR_START=2024-05-01 02:00:00+02", INT64_C(1714521600000)},
        {"WEIR_START=2024-05-01", INT64_C(1714521600000)},
        {"WEIR_START=2024-05-01 00:00:00.0001", INT64_C(1714521600001)}, // at or after
        {"WEIR_START=1970-01-01", 0},
        {"WEIR_START=1999-12-31 23:59:59.9995", INT64_C(946684800000)},
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fixture_load_ok(&fixture, WITH_REQUIRED, cases[i].text);
        assert_int_equal(fixture.config.start.kind, WEIR_POSITION_TIMESTAMP);
        assert_true(fixture.config.start.timestamp_ms == cases[i].timestamp_ms);
    }
    fixture_deinit(&fixture);
}

static void test_memory_and_parallelism_follow_the_container(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_file(&fixture, "/proc/self/cgroup", "0::/\n");
    fixture_file(&fixture, "/sys/fs/cgroup/cpu.max", "50000 100000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/memory.max", "1073741824\n");
    fixture_load_ok(&fixture, WITH_REQUIRED);
    assert_int_equal(fixture.config.parallelism, 1);
    assert_true(fixture.config.memory_bytes == UINT64_C(819) << 20);
    assert_int_equal(fixture.config.notice_count, 0);

    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_MEMORY=2GiB");
    assert_int_equal(fixture.config.notice_count, 1);
    assert_string_equal(fixture.config.notices[0],
                        "WEIR_MEMORY 2GiB is more than the container's limit of 1GiB: the process "
                        "may be killed for memory");

    fixture_file(&fixture, "/sys/fs/cgroup/memory.max", "104857600\n");
    assert_int_equal(fixture_load(&fixture, WITH_REQUIRED), WEIR_ERROR);
    fixture_expect(&fixture,
                   "WEIR_MEMORY (not given): \"80MiB\" is out of range; it is a size of at "
                   "least 128MiB");
    fixture_deinit(&fixture);
}

static void test_notices_say_what_has_no_effect(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(&fixture, "WEIR_SQL=SELECT 1", "WEIR_JOB_ID=j",
                    "WEIR_KAFKA_BOOTSTRAP_SERVERS=b:1", "WEIR_CHECKPOINT_TOLERABLE_FAILURES=5",
                    "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS=100000");
    static const char *const notices[] = {
        "WEIR_CHECKPOINT_TOLERABLE_FAILURES has no effect under exactly_once",
        "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS 100000 is less than the 152000 that the checkpoint "
        "settings need: slow checkpoints will be replayed",
    };
    assert_int_equal(fixture.config.notice_count, COUNT_OF(notices));
    for (size_t i = 0; i < COUNT_OF(notices); i++) {
        assert_string_equal(fixture.config.notices[i], notices[i]);
    }
    fixture_deinit(&fixture);
}

static void test_transaction_timeout_rule(void **state)
{
    (void)state;
    assert_int_equal(weir_transaction_timeout_ms(1000, 60000, 1), 152000);
    assert_int_equal(weir_transaction_timeout_ms(1000, 60000, 3), 274000);
    assert_int_equal(weir_transaction_timeout_ms(100, 1000, 1), 90000);
    assert_int_equal(weir_transaction_timeout_ms(0, 30000, 1), 90000);
    assert_int_equal(weir_transaction_timeout_ms(1, 30000, 1), 90002);
    assert_int_equal(weir_transaction_timeout_ms(3600000, 3600000, 3), 28830000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_given_values),
        cmocka_unit_test(test_each_fault_has_its_line),
        cmocka_unit_test(test_faults_of_required_variables),
        cmocka_unit_test(test_everything_is_reported_at_once),
        cmocka_unit_test(test_partial_needs_the_job_only),
        cmocka_unit_test(test_values_from_files),
        cmocka_unit_test(test_default_job_file),
        cmocka_unit_test(test_values_with_newlines_stay_on_one_line),
        cmocka_unit_test(test_start_takes_timestamps),
        cmocka_unit_test(test_memory_and_parallelism_follow_the_container),
        cmocka_unit_test(test_notices_say_what_has_no_effect),
        cmocka_unit_test(test_transaction_timeout_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
