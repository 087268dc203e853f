// SPDX-License-Identifier: Apache-2.0
// jsonb beyond the fixtures of test_types_oracle.c: depth, large documents, messages, hashes.
#include "runtime/types/jsonb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct weir_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = weir_arena_create(4096);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_arena_destroy(arena);
    return 0;
}

static struct weir_view canonical(const char *text)
{
    struct weir_view value;
    struct weir_value_error error = {.text = ""};
    if (!weir_jsonb_parse(weir_view_of(text), arena, &value, &error)) {
        fail_msg("%s: %s", text, error.text);
    }
    return value;
}

static void check(const char *text, const char *expected)
{
    assert_true(weir_view_equal(canonical(text), weir_view_of(expected)));
    // What is canonical stays.
    assert_true(weir_view_equal(canonical(expected), weir_view_of(expected)));
}

static void test_jsonb_is_canonical(void **state)
{
    (void)state;
    check("{\"a\":4,\"a\":9,\"o\":{\"p\":1,\"p\":{\"q\":2},\"p\":8}}",
          "{\"a\": 9, \"o\": {\"p\": 8}}");
    check("{\"bb\":1,\"c\":2,\"aaa\":3,\"ab\":4}", "{\"c\": 2, \"ab\": 4, \"bb\": 1, \"aaa\": 3}");
    check("[1e3,1.0,-0,1.50e1,1E-2]", "[1000, 1.0, 0, 15.0, 0.01]");
    check("\"\\u00e9\\/\\u001f\\t\"", "\"\u00e9/\\u001f\\t\"");
    check(" null ", "null");
    check("{}", "{}");
    check("123456789012345678901234567890.12", "123456789012345678901234567890.12");
}

static void check_refused(const char *text, const char *message)
{
    struct weir_view value;
    struct weir_value_error error;
    assert_false(weir_jsonb_parse(weir_view_of(text), arena, &value, &error));
    assert_string_equal(error.text, message);
}

static void test_jsonb_refuses(void **state)
{
    (void)state;
    check_refused("\"\\u0000\"", "unsupported Unicode escape sequence");
    check_refused("{\"\\u0000\":1}", "unsupported Unicode escape sequence");
    check_refused("{\"a\":\"\\u0000\",\"a\":1}", "unsupported Unicode escape sequence");
    check_refused("{\"a\":1e999999,\"a\":1}", "value overflows numeric format");
    check_refused("\"\\ud800\"", "invalid input syntax for type json");
    check_refused("", "invalid input syntax for type json");
    check_refused("{\"a\":1,}", "invalid input syntax for type json");
    check_refused("\"\xff\"", "invalid input syntax for type json");
    check_refused("[1] 2", "invalid input syntax for type json");
    check_refused("1e131072", "value overflows numeric format");
}

static char *nested(uint32_t depth, char open, char close)
{
    char *text = malloc(6 * (size_t)depth + 2);
    char *out = text;
    for (uint32_t i = 0; i < depth; i++) {
        *out++ = open;
        if (open == '{') {
            out += sprintf(out, "\"a\":");
        }
    }
    *out++ = '1';
    for (uint32_t i = 0; i < depth; i++) {
        *out++ = close;
    }
    *out = '\0';
    return text;
}

static void test_jsonb_depth_is_bounded(void **state)
{
    (void)state;
    static const char brackets[2][2] = {{'[', ']'}, {'{', '}'}};
    for (size_t i = 0; i < 2; i++) {
        struct weir_view value;
        struct weir_value_error error;
        char *text = nested(WEIR_JSONB_DEPTH_MAX, brackets[i][0], brackets[i][1]);
        assert_true(weir_jsonb_parse(weir_view_of(text), arena, &value, &error));
        char *other = weir_arena_alloc(arena, value.size_bytes);
        memcpy(other, value.data, value.size_bytes);
        *strchr(other, '1') = '2';
        struct weir_view larger = {other, value.size_bytes};
        assert_int_equal(weir_jsonb_compare(value, larger), -1);
        free(text);
        text = nested(WEIR_JSONB_DEPTH_MAX + 1, brackets[i][0], brackets[i][1]);
        assert_false(weir_jsonb_parse(weir_view_of(text), arena, &value, &error));
        assert_non_null(strstr(error.text, "nested deeper than 2000"));
        free(text);
        text = nested(200000, brackets[i][0], brackets[i][1]);
        assert_false(weir_jsonb_parse(weir_view_of(text), arena, &value, &error));
        free(text);
    }
}

static void test_jsonb_sorts_large_objects(void **state)
{
    (void)state;
    // Twice each key, in falling order, nested arrays in between: the array of pairs has to grow.
    struct weir_buffer text = {0};
    weir_buffer_append_char(&text, '{');
    for (int round = 0; round < 2; round++) {
        for (int i = 999; i >= 0; i--) {
            weir_buffer_printf(&text, "%s\"k%03d\":{\"z\":%d,\"a\":[%d]}",
                               text.size_bytes > 1 ? "," : "", i, round, i);
        }
    }
    weir_buffer_append_char(&text, '}');
    struct weir_buffer expected = {0};
    weir_buffer_append_char(&expected, '{');
    for (int i = 0; i < 1000; i++) {
        weir_buffer_printf(&expected, "%s\"k%03d\": {\"a\": [%d], \"z\": 1}", i != 0 ? ", " : "", i,
                           i);
    }
    weir_buffer_append_char(&expected, '}');
    struct weir_view value = canonical(weir_buffer_text(&text));
    assert_true(weir_view_equal(value, (struct weir_view){expected.data, expected.size_bytes}));
    weir_buffer_deinit(&text);
    weir_buffer_deinit(&expected);
}

static void check_order(const char *a, const char *b, int order)
{
    struct weir_view left = canonical(a);
    struct weir_view right = canonical(b);
    assert_int_equal(weir_jsonb_compare(left, right), order);
    assert_int_equal(weir_jsonb_compare(right, left), -order);
    assert_true((weir_jsonb_hash(left) == weir_jsonb_hash(right)) == (order == 0));
}

static void test_jsonb_order_and_hash(void **state)
{
    (void)state;
    check_order("1.0", "1.00", 0);
    check_order("{\"a\":[1.50,-2.0]}", "{\"a\":[1.5,-2]}", 0);
    check_order("[1,0.0]", "[1,0]", 0);
    check_order("10", "1", 1);
    check_order("10", "9", 1);
    check_order("-10", "-9", -1);
    check_order("-1", "1", -1);
    check_order("0.5", "0.45", 1);
    check_order("\"1.0\"", "\"1.00\"", -1);
    check_order("null", "\"\"", -1);
    check_order("\"z\"", "0", -1);
    check_order("99", "false", -1);
    check_order("true", "[1]", -1);
    check_order("[9]", "{}", -1);
    check_order("[]", "null", -1); // as PostgreSQL has it
    check_order("[[]]", "[null]", 1);
    check_order("\"a\\\"\"", "\"a#\"", -1);
    check_order("\"\\u0001\"", "\"\\n\"", -1);
    check_order("{\"a\":1}", "{\"b\":0}", -1);
    check_order("{\"a\":1,\"b\":1}", "{\"z\":9}", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jsonb_is_canonical),
        cmocka_unit_test(test_jsonb_refuses),
        cmocka_unit_test(test_jsonb_depth_is_bounded),
        cmocka_unit_test(test_jsonb_sorts_large_objects),
        cmocka_unit_test(test_jsonb_order_and_hash),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
