// SPDX-License-Identifier: Apache-2.0
// What is secret, and that it is masked wherever it turns up.
#include "app/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void test_names(void **state)
{
    (void)state;
    static const char *const secret[] = {
        "sasl.password",
        "ssl.key.password",
        "ssl.keystore.password",
        "ssl.key.pem",
        "sasl.oauthbearer.config",
        "sasl.oauthbearer.client.secret",
        "WEIR_HTTP_TOKEN",
        "WEIR_KAFKA_SASL_PASSWORD",
        "WEIR_KAFKA_SSL_KEY_PEM",
        "schema_registry_password",
        "WEIR_KAFKA_SASL_OAUTHBEARER_ASSERTION_PRIVATE_KEY_PEM",
    };
    static const char *const open[] = {
        "sasl.username", "ssl.key.location",  "ssl.ca.location",
        "WEIR_JOB_ID",   "security.protocol", "topic",
        "key",
    };
    for (size_t i = 0; i < COUNT_OF(secret); i++) {
        assert_true(weir_name_is_secret(secret[i]));
    }
    for (size_t i = 0; i < COUNT_OF(open); i++) {
        assert_false(weir_name_is_secret(open[i]));
    }
}

static void test_mask_replaces_the_longest(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_secrets secrets;
    weir_secrets_init(&secrets, arena);
    weir_secrets_add(&secrets, "Zx9-broker");
    weir_secrets_add(&secrets, "Zx9-broker-long");
    weir_secrets_add(&secrets, "abc");
    weir_secrets_add(&secrets, "");
    static const struct {
        const char *text;
        const char *masked;
    } cases[] = {
        {"", ""},
        {"nothing here", "nothing here"},
        {"Zx9-broker", "***"},
        {"a Zx9-broker, b Zx9-broker-long!", "a ***, b ***!"},
        {"Zx9-brokeZx9-broker", "Zx9-broke***"},
        {"abcdef", "abcdef"}, // too short to look for
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct weir_buffer out = {0};
        weir_secrets_mask(&secrets, cases[i].text, &out);
        assert_string_equal(weir_buffer_text(&out), cases[i].masked);
        weir_buffer_deinit(&out);
    }
    weir_arena_destroy(arena);
}

static void test_secrets_inside_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *masked;
    } cases[] = {
        {"https://svc:Zx9-registry@host:8081/path", "https://***@host:8081/path"},
        {"'http://svc:a%3Ab%2Fc%40d%25@r' and a:b/c@d% alone", "'http://***@r' and *** alone"},
        {"http://host:8081", "http://host:8081"},
        {"http://host/@here", "http://host/@here"},
        {"http://user-only@host", "http://***@host"},
        {"schema_registry_password = 'Zx9-registry', topic = 'open'",
         "schema_registry_password = '***', topic = 'open'"},
        {"\"schema_registry_password\"='Zx9-registry'", "\"schema_registry_password\"='***'"},
        {"sasl_password = E'Zx9-broker'", "sasl_password = E'***'"},
        {"password = 'left''right'", "password = '***''***'"},
        {"SELECT password FROM t WHERE x = 'open'", "SELECT password FROM t WHERE x = 'open'"},
        {"password = 'not ended", "password = '***"},
        {"password =", "password ="},
        {"%zz://a:%4@h", "%zz://***@h"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct weir_arena *arena = weir_arena_create(4096);
        struct weir_secrets secrets;
        struct weir_buffer out = {0};
        weir_secrets_init(&secrets, arena);
        weir_secrets_add_from_text(&secrets, cases[i].text);
        weir_secrets_mask(&secrets, cases[i].text, &out);
        assert_string_equal(weir_buffer_text(&out), cases[i].masked);
        weir_buffer_deinit(&out);
        weir_arena_destroy(arena);
    }
}

// Whatever quotes the text quotes asterisks, at the same line and column.
static void test_blanking_keeps_places(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *blanked;
    } cases[] = {
        {"", ""},
        {"SELECT 1", "SELECT 1"},
        {"a_password='p\xc3\xa4ss', b", "a_password='****', b"},
        {"password='x' AND topic='x'", "password='*' AND topic='x'"},
        {"'http://u:p@h', secret = 'a''b\nc'", "'http://***@h', secret = '*''*\n*'"},
    };
    struct weir_arena *arena = weir_arena_create(4096);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(weir_text_blank_secrets(arena, cases[i].text), cases[i].blanked);
    }
    weir_arena_destroy(arena);
}

static void test_escapes(void **state)
{
    (void)state;
    struct weir_buffer out = {0};
    weir_append_escaped(&out, "a\nb\t\x7f\xc3\xa4");
    assert_string_equal(weir_buffer_text(&out), "a\\nb\\x09\\x7f\xc3\xa4");
    weir_buffer_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_mask_replaces_the_longest),
        cmocka_unit_test(test_secrets_inside_texts),
        cmocka_unit_test(test_blanking_keeps_places),
        cmocka_unit_test(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
