// SPDX-License-Identifier: Apache-2.0
// The command line: which command runs, what is refused, what goes where, exit codes.
#include "config_fixture.h"

#include "app/cli.h"
#include "app/exit_code.h"

static const char job[] = "CREATE TABLE src (id bigint, name text) WITH (topic = 'in');"
                          "CREATE TABLE dst (id bigint, name text) WITH (topic = 'out');"
                          "INSERT INTO dst SELECT id, name FROM src WHERE id > 10;";

static struct weir_config ran_with;
static int run_count;

static int fake_run(const struct weir_config *config)
{
    ran_with = *config;
    run_count++;
    return 7;
}

struct outcome {
    int exit_code;
    char *out;
    char *err;
};

static struct outcome invoke(const struct fixture *fixture, char *const *environment,
                             char *const *argv)
{
    struct outcome outcome = {0};
    size_t out_bytes;
    size_t err_bytes;
    struct weir_cli cli = {.out = open_memstream(&outcome.out, &out_bytes),
                           .err = open_memstream(&outcome.err, &err_bytes),
                           .environment = environment,
                           .root_dir = fixture->root_dir,
                           .run = fake_run};
    int argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    run_count = 0;
    outcome.exit_code = weir_cli_main(&cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    return outcome;
}

static void outcome_deinit(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
}

#define ARGV(...) ((char *[]){"weir", __VA_ARGS__, NULL})
#define NOTHING ((char *[]){NULL})

static void expect(const struct fixture *fixture, char *const *environment, char *const *argv,
                   int exit_code, const char *out, const char *err)
{
    struct outcome outcome = invoke(fixture, environment, argv);
    assert_string_equal(outcome.err, err);
    assert_string_equal(outcome.out, out);
    assert_int_equal(outcome.exit_code, exit_code);
    outcome_deinit(&outcome);
}

static void test_refused_command_lines(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    static const struct {
        const char *words[4];
        const char *err;
    } cases[] = {
        {{"chek"},
         "weir: there is no command \"chek\"; the nearest is check (weir --help lists all)\n"},
        {{"explian", "/x"},
         "weir: there is no command \"explian\"; the nearest is explain (weir --help lists all)\n"},
        {{"--dot"},
         "weir: there is no command \"--dot\"; the nearest is top (weir --help lists "
         "all)\n"},
        {{"explain", "--dott"}, "weir: explain has no option \"--dott\"; the nearest is --dot\n"},
        {{"explain", "--dot", "--json"},
         "weir: more than one of --dot, --svg and --json is given; keep one\n"},
        {{"version", "--x"}, "weir: version has no option \"--x\"; the nearest is --help\n"},
        {{"offsets", "reset", "--table"},
         "weir: --table of offsets needs a value (weir offsets --help)\n"},
        {{"savepoint"}, "weir: savepoint takes the folder to be written (weir savepoint --help)\n"},
        {{"savepoint", "/x", "/y"},
         "weir: savepoint does not expect \"/y\" (weir savepoint --help)\n"},
        {{"offsets", "reset"},
         "weir: offsets takes reset --table T --to earliest|latest|<timestamp> (weir offsets "
         "--help)\n"},
        {{"run", "job.sql"}, "weir: run does not expect \"job.sql\" (weir run --help)\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *argv[6] = {"weir"};
        for (size_t k = 0; k < 4 && cases[i].words[k] != NULL; k++) {
            argv[k + 1] = weir_arena_strdup(fixture.arena, cases[i].words[k]);
        }
        expect(&fixture, NOTHING, argv, WEIR_EXIT_REFUSED, "", cases[i].err);
        assert_int_equal(run_count, 0);
    }
    fixture_deinit(&fixture);
}

static void test_help_everywhere(void **state)
{
    (void)state;
    static const char *const commands[] = {"run",         "check",   "explain",   "config",
                                           "checkpoints", "offsets", "savepoint", "version"};
    struct fixture fixture;
    fixture_init(&fixture);
    struct outcome overview = invoke(&fixture, NOTHING, ARGV("--help"));
    assert_int_equal(overview.exit_code, WEIR_EXIT_OK);
    assert_string_equal(overview.err, "");
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        char *listed = weir_arena_printf(fixture.arena, "\n  %s ", commands[i]);
        assert_non_null(strstr(overview.out, listed));

        char *usage = weir_arena_printf(fixture.arena, "Usage: weir %s", commands[i]);
        char *name = weir_arena_strdup(fixture.arena, commands[i]);
        struct outcome help = invoke(&fixture, NOTHING, ARGV(name, "--help"));
        assert_int_equal(help.exit_code, WEIR_EXIT_OK);
        assert_string_equal(help.err, "");
        assert_memory_equal(help.out, usage, strlen(usage));
        assert_int_equal(run_count, 0);
        outcome_deinit(&help);
    }
    outcome_deinit(&overview);
    fixture_deinit(&fixture);
}

static void test_version(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    char *expected =
        weir_arena_printf(fixture.arena, "weir 0.1.0\nlibrdkafka %s", weir_rdkafka_version());
    struct outcome outcome = invoke(&fixture, NOTHING, ARGV("version"));
    assert_memory_equal(outcome.out, expected, strlen(expected));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_OK);
    outcome_deinit(&outcome);
    fixture_deinit(&fixture);
}

static void test_config_prints_and_reports(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct outcome outcome = invoke(
        &fixture, (char *[]){WITH_REQUIRED, "WEIR_HTTP_TOKEN=Zx9-token", NULL}, ARGV("config"));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_OK);
    assert_string_equal(outcome.err, "");
    assert_non_null(strstr(outcome.out, "\nWEIR_JOB_ID "));
    assert_null(strstr(outcome.out, "Zx9-"));
    outcome_deinit(&outcome);

    outcome = invoke(&fixture, (char *[]){WITH_REQUIRED, "WEIR_BOUNDED=x", NULL}, ARGV("config"));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_REFUSED);
    assert_string_equal(outcome.err,
                        "weir: WEIR_BOUNDED: \"x\" is not known; write true or false\n");
    assert_non_null(strstr(outcome.out, "\nWEIR_JOB_ID "));
    outcome_deinit(&outcome);

    outcome = invoke(&fixture, NOTHING, ARGV("config", "--markdown"));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_OK);
    assert_memory_equal(outcome.out, "# Configuration\n", 16);
    outcome_deinit(&outcome);
    fixture_deinit(&fixture);
}

// `job` with what else a run needs.
static char *const *job_environment(struct fixture *fixture, const char *sql, const char *more)
{
    char **environment = weir_arena_alloc(fixture->arena, 6 * sizeof *environment);
    environment[0] = weir_arena_printf(fixture->arena, "WEIR_SQL=%s", sql);
    environment[1] = "WEIR_JOB_ID=flights";
    environment[2] = "WEIR_KAFKA_BOOTSTRAP_SERVERS=broker:9092";
    environment[3] = "WEIR_HTTP_LISTEN=";
    environment[4] = weir_arena_strdup(fixture->arena, more);
    environment[5] = NULL;
    return environment;
}

static void test_run_is_the_default(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    char *const *environment = job_environment(&fixture, job, "WEIR_PARALLELISM=3");
    struct outcome outcome = invoke(&fixture, environment, (char *[]){"weir", NULL});
    assert_string_equal(outcome.err, "");
    assert_int_equal(run_count, 1);
    assert_int_equal(ran_with.parallelism, 3);
    assert_int_equal(outcome.exit_code, 7);
    outcome_deinit(&outcome);
    outcome = invoke(&fixture, environment, ARGV("run"));
    assert_int_equal(run_count, 1);
    outcome_deinit(&outcome);
    fixture_deinit(&fixture);
}

static void test_run_touches_nothing_with_a_fault(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    expect(&fixture, job_environment(&fixture, job, "WEIR_BOUNDED=x"), ARGV("run"),
           WEIR_EXIT_REFUSED, "", "weir: WEIR_BOUNDED: \"x\" is not known; write true or false\n");
    assert_int_equal(run_count, 0);
    expect(&fixture, job_environment(&fixture, job, "WEIR_FAILPOINTS=x"), ARGV("run"),
           WEIR_EXIT_REFUSED, "",
           "weir: WEIR_FAILPOINTS: cannot read \"x\" (want "
           "name=kill|error|sleep:<ms>[@hit])\n");
    assert_int_equal(run_count, 0);
    fixture_deinit(&fixture);
}

// A registry that does not answer is as a broker that does not; one that nobody has named is not.
static void test_a_registry_that_is_not_there_is_no_fault_of_the_configuration(void **state)
{
    (void)state;
    static const char columns[] = "CREATE TABLE src () WITH (topic = 'in', format = 'avro');"
                                  "CREATE TABLE dst (id bigint) WITH (topic = 'out');"
                                  "INSERT INTO dst SELECT id FROM src;";
    static const char *const commands[] = {"run", "check", "explain", "transactions"};
    struct fixture fixture;
    fixture_init(&fixture);
    char *environment[] = {
        weir_arena_printf(fixture.arena, "WEIR_SQL=%s", columns),
        "WEIR_JOB_ID=flights",
        "WEIR_KAFKA_BOOTSTRAP_SERVERS=broker:9092",
        "WEIR_CONNECT_TIMEOUT=100ms",
        "WEIR_SCHEMA_REGISTRY=http://127.0.0.1:1",
        NULL, // another fault
        NULL,
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct outcome outcome = invoke(&fixture, environment, ARGV((char *)commands[i]));
        assert_non_null(strstr(outcome.err, "the columns cannot be had: gave up waiting: schema "
                                            "registry http://127.0.0.1:1, subject \"in-value\""));
        assert_int_equal(outcome.exit_code, WEIR_EXIT_FAILED);
        outcome_deinit(&outcome);
    }
    environment[5] = "WEIR_BOUNDED=x";
    struct outcome outcome = invoke(&fixture, environment, ARGV("run"));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_REFUSED);
    outcome_deinit(&outcome);
    environment[4] = NULL;
    outcome = invoke(&fixture, environment, ARGV("run"));
    assert_non_null(strstr(outcome.err, "neither option schema_registry nor WEIR_SCHEMA_REGISTRY"));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_REFUSED);
    outcome_deinit(&outcome);
    fixture_deinit(&fixture);
}

static void test_check(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    expect(&fixture, job_environment(&fixture, job, "WEIR_BOUNDED=true"), ARGV("check"),
           WEIR_EXIT_OK, "ok: 1 source, 1 sink\n", "");
    expect(&fixture, job_environment(&fixture, job, "WEIR_CHECKPOINT_TOLERABLE_FAILURES=5"),
           ARGV("check"), WEIR_EXIT_OK, "ok: 1 source, 1 sink\n",
           "weir: warning: WEIR_CHECKPOINT_TOLERABLE_FAILURES has no effect under exactly_once\n");
    fixture_deinit(&fixture);
}

static void test_check_compares_plan_and_configuration(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    expect(&fixture, job_environment(&fixture, job, "WEIR_ON_BAD_RECORD=dead_letter"),
           ARGV("check"), WEIR_EXIT_REFUSED, "",
           "weir: table \"src\": bad records are dead letters, but neither the table's "
           "dead_letter_topic nor WEIR_DEAD_LETTER_TOPIC names a topic\n");
    fixture_deinit(&fixture);
}

// C155: variables and table options in one run, each with its neighbour.
static void test_check_reports_configuration_and_sql_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    static const char bad[] =
        "CREATE TABLE src (id bigint)\n"
        "WITH (topic = 'in', watermark_dely = '5 seconds', format = 'json', format = 'json');\n"
        "CREATE TABLE dst (id bigint) WITH (topic = 'out');\n"
        "INSERT INTO dst SELECT id FROM src;";
    char *const *environment = job_environment(&fixture, bad, "WEIR_CHECKPOINT_INTERVALL=5s");
    for (int i = 0; i < 2; i++) {
        struct outcome outcome =
            invoke(&fixture, environment, i == 0 ? ARGV("check") : ARGV("run"));
        assert_int_equal(outcome.exit_code, WEIR_EXIT_REFUSED);
        assert_string_equal(outcome.out, "");
        assert_non_null(strstr(outcome.err,
                               "weir: WEIR_CHECKPOINT_INTERVALL: no such variable; the "
                               "nearest is WEIR_CHECKPOINT_INTERVAL\n"));
        assert_non_null(strstr(outcome.err, "weir: WEIR_SQL: statement 1, line 2, column "));
        assert_non_null(strstr(outcome.err, "watermark_dely"));
        assert_non_null(strstr(outcome.err, "watermark_delay"));
        outcome_deinit(&outcome);
    }
    fixture_deinit(&fixture);
}

// C154: an error quotes the line of a text that holds a password.
static void test_sql_errors_show_no_secret(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    static const char bad[] =
        "CREATE TABLE src (id bigint) WITH (topic = 'in', schema_registry_password = 'Zx9-inner', "
        "schema_registry = 'https://svc:Zx9-url@r', nonsense = 'x');";
    struct outcome outcome =
        invoke(&fixture, job_environment(&fixture, bad, "WEIR_BOUNDED=true"), ARGV("check"));
    assert_int_equal(outcome.exit_code, WEIR_EXIT_REFUSED);
    assert_null(strstr(outcome.err, "Zx9-"));
    assert_non_null(strstr(outcome.err, "nonsense"));
    outcome_deinit(&outcome);
    fixture_deinit(&fixture);
}

static void test_explain_needs_the_sql_only(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    char *sql = weir_arena_printf(fixture.arena, "WEIR_SQL=%s", job);
    char *environment[] = {sql, NULL};
    struct outcome text = invoke(&fixture, environment, ARGV("explain"));
    struct outcome dot = invoke(&fixture, environment, ARGV("explain", "--dot"));
    struct outcome json = invoke(&fixture, environment, ARGV("explain", "--json"));
    assert_string_equal(text.err, "");
    assert_int_equal(text.exit_code, WEIR_EXIT_OK);
    assert_non_null(strstr(text.out, "src"));
    assert_non_null(strstr(dot.out, "digraph"));
    assert_true(json.out[0] == '{' || json.out[0] == '[');
    outcome_deinit(&text);
    outcome_deinit(&dot);
    outcome_deinit(&json);

    // What the configuration lacks is no fault of the dataflow.
    environment[0] =
        "WEIR_SQL=CREATE TABLE src (id bigint) WITH (topic = 'in', on_error = 'dead_letter');"
        "CREATE TABLE dst (id bigint) WITH (topic = 'out'); INSERT INTO dst SELECT id FROM src;";
    text = invoke(&fixture, environment, ARGV("explain"));
    assert_string_equal(text.err, "");
    assert_int_equal(text.exit_code, WEIR_EXIT_OK);
    outcome_deinit(&text);
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_command_lines),
        cmocka_unit_test(test_help_everywhere),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_config_prints_and_reports),
        cmocka_unit_test(test_run_is_the_default),
        cmocka_unit_test(test_run_touches_nothing_with_a_fault),
        cmocka_unit_test(test_a_registry_that_is_not_there_is_no_fault_of_the_configuration),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_compares_plan_and_configuration),
        cmocka_unit_test(test_check_reports_configuration_and_sql_at_once),
        cmocka_unit_test(test_sql_errors_show_no_secret),
        cmocka_unit_test(test_explain_needs_the_sql_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
