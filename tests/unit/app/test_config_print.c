// SPDX-License-Identifier: Apache-2.0
// `weir config` and its page: nothing secret, everything there, and the page in docs/ not stale.
#include "config_fixture.h"

#include "app/config_table.h"

static const char *printed(struct fixture *fixture)
{
    struct weir_buffer out = {0};
    weir_config_print(&fixture->config, &out);
    const char *text = weir_arena_strdup(fixture->arena, weir_buffer_text(&out));
    weir_buffer_deinit(&out);
    return text;
}

// The words of the row of a variable, one blank between them.
static const char *row(struct fixture *fixture, const char *text, const char *name)
{
    const char *mark = weir_arena_printf(fixture->arena, "\n%s ", name);
    const char *begin = strstr(text, mark);
    if (begin == NULL) {
        fail_msg("no row of %s", name);
    }
    begin++;
    char *line = weir_arena_alloc(fixture->arena, strlen(begin) + 1);
    size_t used = 0;
    for (; *begin != '\n' && *begin != '\0'; begin++) {
        if (*begin != ' ' || line[used - 1] != ' ') {
            line[used++] = *begin;
        }
    }
    line[used] = '\0';
    return line;
}

static void test_value_source_and_default(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    const char *path = fixture_file(&fixture, "/level", "warn\n");
    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_CHECKPOINT_INTERVAL=250ms",
                    weir_arena_printf(fixture.arena, "WEIR_LOG_LEVEL_FILE=%s", path),
                    "WEIR_KAFKA_LINGER_MS=7");
    const char *text = printed(&fixture);
    assert_string_equal(row(&fixture, text, "WEIR_CHECKPOINT_INTERVAL"),
                        "WEIR_CHECKPOINT_INTERVAL 250ms environment 1s");
    assert_string_equal(row(&fixture, text, "WEIR_CHECKPOINT_TIMEOUT"),
                        "WEIR_CHECKPOINT_TIMEOUT 60s default 60s");
    assert_string_equal(row(&fixture, text, "WEIR_LOG_LEVEL"),
                        weir_arena_printf(fixture.arena, "WEIR_LOG_LEVEL warn %s info", path));
    assert_string_equal(row(&fixture, text, "WEIR_HTTP_LISTEN"),
                        "WEIR_HTTP_LISTEN (empty) environment 0.0.0.0:8080");
    assert_string_equal(row(&fixture, text, "WEIR_SQL"),
                        "WEIR_SQL (8 bytes) environment /etc/weir/job.sql if it exists");
    assert_string_equal(row(&fixture, text, "WEIR_CHECKPOINT_DIR"),
                        "WEIR_CHECKPOINT_DIR /var/lib/weir/checkpoints default "
                        "$WEIR_STATE_DIR/checkpoints");
    assert_string_equal(row(&fixture, text, "WEIR_DEAD_LETTER_TOPIC"),
                        "WEIR_DEAD_LETTER_TOPIC - default -");
    assert_string_equal(row(&fixture, text, "WEIR_KAFKA_LINGER_MS"),
                        "WEIR_KAFKA_LINGER_MS 7 environment the client's");
    assert_string_equal(row(&fixture, text, "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS"),
                        "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS 150500 default from the checkpoints' "
                        "interval, time-out and number");
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        row(&fixture, text, weir_variables[i].name);
    }
    fixture_deinit(&fixture);
}

// C154: planted secrets are found nowhere, whether the variable stands or is refused.
static void test_secrets_are_masked(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    const char *path = fixture_file(&fixture, "/pw", "Zx9-key\n");
    fixture_load(
        &fixture,
        "WEIR_SQL=CREATE TABLE t () WITH (schema_registry_password = 'Zx9-inner', "
        "schema_registry = 'http://svc:Zx9-url@r');",
        "WEIR_JOB_ID=Zx9-broker is no job id", "WEIR_KAFKA_BOOTSTRAP_SERVERS=b:1",
        "WEIR_KAFKA_SASL_PASSWORD=Zx9-broker", "WEIR_KAFKA_CONSUMER_SASL_PASSWORD=Zx9-consumer",
        weir_arena_printf(fixture.arena, "WEIR_KAFKA_SSL_KEY_PASSWORD_FILE=%s", path),
        "WEIR_KAFKA_SSL_KEY_PEM=Zx9-pem", "WEIR_HTTP_TOKEN=Zx9-token",
        "WEIR_KAFKA_SASL_OAUTHBEARER_CONFIG=Zx9-oauth",
        "WEIR_SCHEMA_REGISTRY=http://svc:Zx9-registry@r:8081",
        "WEIR_SCHEMA_REGISTRY_PASSWORD=Zx9-registry", "WEIR_SCHEMA_REGISTRY_PASWORD=Zx9-misspelt",
        "WEIR_KAFKA_SASL_PASWORD=Zx9-misspelt", "WEIR_BOUNDED=http://a:Zx9-odd@b");
    const char *text = printed(&fixture);
    assert_null(strstr(text, "Zx9-"));
    assert_true(fixture.faults.count >= 3);
    for (uint32_t i = 0; i < fixture.faults.count; i++) {
        assert_null(strstr(fixture.faults.texts[i], "Zx9-"));
    }
    for (uint32_t i = 0; i < fixture.config.notice_count; i++) {
        assert_null(strstr(fixture.config.notices[i], "Zx9-"));
    }
    assert_string_equal(row(&fixture, text, "WEIR_HTTP_TOKEN"),
                        "WEIR_HTTP_TOKEN *** environment -");
    assert_string_equal(row(&fixture, text, "WEIR_SCHEMA_REGISTRY"),
                        "WEIR_SCHEMA_REGISTRY http://***@r:8081 environment -");
    assert_string_equal(row(&fixture, text, "WEIR_KAFKA_SASL_PASSWORD"),
                        "WEIR_KAFKA_SASL_PASSWORD *** environment the client's");
    assert_string_equal(
        row(&fixture, text, "WEIR_KAFKA_SSL_KEY_PASSWORD"),
        weir_arena_printf(fixture.arena, "WEIR_KAFKA_SSL_KEY_PASSWORD *** %s the client's", path));

    // What SQL errors may quote.
    struct weir_buffer out = {0};
    weir_secrets_mask(&fixture.config.secrets, fixture.config.sql_text, &out);
    assert_null(strstr(weir_buffer_text(&out), "Zx9-"));
    weir_buffer_deinit(&out);
    fixture_deinit(&fixture);
}

static void test_page_names_every_variable(void **state)
{
    (void)state;
    struct weir_buffer page = {0};
    weir_config_print_markdown(&page);
    const char *text = weir_buffer_text(&page);
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        char mark[128];
        snprintf(mark, sizeof mark, "\n| `%s` | ", weir_variables[i].name);
        assert_non_null(strstr(text, mark));
    }
    assert_null(strstr(text, "(null)"));
    weir_buffer_deinit(&page);
}

// This file lies in tests/unit/app below the root of the sources.
static void test_page_is_not_stale(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%.*s../../../docs/configuration.md",
             (int)(strrchr(__FILE__, '/') + 1 - __FILE__), __FILE__);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("%s is missing", path);
        return;
    }
    char *on_disk = weir_alloc(1 << 20);
    size_t size = fread(on_disk, 1, (1 << 20) - 1, file);
    on_disk[size] = '\0';
    fclose(file);
    struct weir_buffer page = {0};
    weir_config_print_markdown(&page);
    if (strcmp(on_disk, weir_buffer_text(&page)) != 0) {
        fail_msg("stale: weir config --markdown > docs/configuration.md");
    }
    weir_buffer_deinit(&page);
    free(on_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_source_and_default),
        cmocka_unit_test(test_secrets_are_masked),
        cmocka_unit_test(test_page_names_every_variable),
        cmocka_unit_test(test_page_is_not_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
