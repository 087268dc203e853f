// SPDX-License-Identifier: Apache-2.0
#include "runtime/types/jsonb_access.h"

#include "../cmocka_all.h"
#include "runtime/types/jsonb.h"

static struct weir_view parse(struct weir_arena *arena, const char *text)
{
    struct weir_view value;
    assert_true(weir_jsonb_parse(weir_view_of(text), arena, &value, NULL));
    return value;
}

static void check(bool is_found, struct weir_view value, const char *expected)
{
    assert_int_equal(is_found, expected != NULL);
    if (expected != NULL) {
        assert_int_equal(value.size_bytes, strlen(expected));
        assert_memory_equal(value.data, expected, value.size_bytes);
    }
}

static void test_jsonb_access_finds_members(void **state)
{
    (void)state;
    static const struct {
        const char *object;
        const char *key;
        const char *expected;
    } CASES[] = {
        {"{\"a\": 1}", "a", "1"},
        {"{\"a\": 1, \"b\": 2}", "b", "2"},
        {"{\"a\": {\"b\": [1, {\"c\": 2}]}, \"b\": \"x\"}", "b", "\"x\""},
        {"{\"a\": {\"b\": [1, {\"c\": 2}]}, \"b\": \"x\"}", "a", "{\"b\": [1, {\"c\": 2}]}"},
        {"{\"a\": \"}, \\\"b\\\": 1\", \"b\": 2}", "b", "2"},
        {"{\"a\": \"\\\\\", \"b\": null}", "b", "null"},
        {"{\"q\\\"k\": true, \"\": []}", "q\"k", "true"},
        {"{\"q\\\"k\": true, \"\": []}", "", "[]"},
        {"{\"ë\": 1.50}", "ë", "1.50"},
        {"{\"a\": 1}", "b", NULL},
        {"{}", "a", NULL},
        {"[\"a\"]", "a", NULL},
        {"\"a\"", "a", NULL},
    };
    struct weir_arena *arena = weir_arena_create(4096);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct weir_buffer key = {0};
        weir_jsonb_append_key(&key, weir_view_of(CASES[i].key));
        struct weir_view value = {0};
        bool is_found = weir_jsonb_member(
            parse(arena, CASES[i].object),
            (struct weir_view){.data = key.data, .size_bytes = key.size_bytes}, &value);
        check(is_found, value, CASES[i].expected);
        weir_buffer_deinit(&key);
    }
    weir_arena_destroy(arena);
}

static void test_jsonb_access_finds_elements(void **state)
{
    (void)state;
    static const struct {
        const char *array;
        int64_t idx;
        const char *expected;
    } CASES[] = {
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", 0, "1"},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", 1, "\"a, b\""},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", 2, "[2, 3]"},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", 4, "null"},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", 5, NULL},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", -1, "null"},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", -2, "{\"k\": [4]}"},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", -5, "1"},
        {"[1, \"a, b\", [2, 3], {\"k\": [4]}, null]", -6, NULL},
        {"[]", 0, NULL},
        {"[]", -1, NULL},
        {"7", 0, "7"},
        {"7", -1, "7"},
        {"7", 1, NULL},
        {"{\"a\": 1}", 0, NULL},
    };
    struct weir_arena *arena = weir_arena_create(4096);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct weir_view value = {0};
        bool is_found = weir_jsonb_element(parse(arena, CASES[i].array), CASES[i].idx, &value);
        check(is_found, value, CASES[i].expected);
    }
    weir_arena_destroy(arena);
}

static void test_jsonb_access_gives_text(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *expected;
    } CASES[] = {
        {"\"plain\"", "plain"},
        {"\"\"", ""},
        {"\"q\\\" b\\\\ s\\/ n\\n t\\t r\\r f\\f b\\b\"", "q\" b\\ s/ n\n t\t r\r f\f b\b"},
        {"\"\\u0001 \\u00e9 \\ud83d\\ude00\"", "\x01 é 😀"},
        {"12.50", "12.50"},
        {"{\"a\":[1]}", "{\"a\": [1]}"},
    };
    struct weir_arena *arena = weir_arena_create(4096);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct weir_buffer text = {0};
        weir_jsonb_append_text(&text, parse(arena, CASES[i].value));
        assert_string_equal(weir_buffer_text(&text), CASES[i].expected);
        weir_buffer_deinit(&text);
    }
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jsonb_access_finds_members),
        cmocka_unit_test(test_jsonb_access_finds_elements),
        cmocka_unit_test(test_jsonb_access_gives_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
