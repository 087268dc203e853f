// SPDX-License-Identifier: Apache-2.0
// What is JSON and what is not, where wanted values are found, and that nothing outside the text is
// looked at: texts are put into blocks of just their size, for the address sanitizer to watch.
#include "kafka/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct weir_arena *arena;
    struct weir_json_scanner scanner;
    char *block;
};

// Wanted: a, b, long names, and in o: p, q.
static int set_up(void **state)
{
    static const struct weir_field inner[] = {{"p", {WEIR_TYPE_TEXT, -1, NULL}},
                                              {"q", {WEIR_TYPE_TEXT, -1, NULL}}};
    static const struct weir_composite composite = {"o_type", 2, inner};
    static const struct weir_field fields[] = {
        {"a", {WEIR_TYPE_TEXT, -1, NULL}},
        {"b", {WEIR_TYPE_TEXT, -1, NULL}},
        {"o", {WEIR_TYPE_COMPOSITE, -1, &composite}},
        {"twelve_bytes", {WEIR_TYPE_TEXT, -1, NULL}},
        {"a_name_of_twenty-two_b", {WEIR_TYPE_TEXT, -1, NULL}},
        {"\xc3\xa4\"\\", {WEIR_TYPE_TEXT, -1, NULL}},
    };
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    fixture->arena = weir_arena_create(4096);
    uint32_t slot_count = 0;
    struct weir_json_shape *shape = weir_json_shape_create(sizeof fields / sizeof fields[0], fields,
                                                           &slot_count, fixture->arena);
    weir_json_scanner_init(&fixture->scanner, shape, slot_count, fixture->arena);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    weir_json_scanner_deinit(&fixture->scanner);
    weir_arena_destroy(fixture->arena);
    free(fixture->block);
    free(fixture);
    return 0;
}

enum { SLOT_A, SLOT_B, SLOT_O, SLOT_TWELVE, SLOT_TWENTY_TWO, SLOT_ESCAPED, SLOT_P, SLOT_Q };

static bool scan_bytes(struct fixture *fixture, const char *data, size_t size_bytes)
{
    free(fixture->block);
    fixture->block = malloc(size_bytes != 0 ? size_bytes : 1);
    assert_non_null(fixture->block);
    memcpy(fixture->block, data, size_bytes);
    struct weir_view text = {.data = fixture->block, .size_bytes = size_bytes};
    return weir_json_scan(&fixture->scanner, text);
}

static bool scan(struct fixture *fixture, const char *text)
{
    return scan_bytes(fixture, text, strlen(text));
}

static void assert_slot(const struct fixture *fixture, uint32_t slot_idx, enum weir_json_kind kind,
                        const char *expected)
{
    const struct weir_json_slot *slot = &fixture->scanner.slots[slot_idx];
    assert_int_equal(slot->kind, kind);
    if (expected != NULL) {
        assert_int_equal(slot->size_bytes, strlen(expected));
        assert_memory_equal(slot->data, expected, strlen(expected));
    }
}

// Values that are JSON; each is tried as value of a wanted and of an unwanted member, in an array,
// and with every prefix of the text, none of which is JSON.
static void test_scan_accepts_what_is_json(void **state)
{
    static const char *const values[] = {
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "123456789012345678901234567890",
        "0.0",
        "-0.5e1",
        "1e0",
        "1E+9",
        "1e-9",
        "12.500",
        "1e999999",
        "true",
        "false",
        "null",
        "\"\"",
        "\"x\"",
        "\"sixteen bytes or more: this one has them\"",
        "\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\"",
        "\"\\u0041\"",
        "\"\\u0000\"",
        "\"\\ud83d\\ude80\"",
        "\"\\uD83D\\uDE80\"",
        "\"\\uabcd\"",
        "\"\\uABCD\"",
        "\"\x7f\"",
        "\"\xc3\xa4\"",
        "\"\xe2\x82\xac\"",
        "\"\xf0\x9f\x9a\x80\"",
        "\"\xed\x9f\xbf\xee\x80\x80\"",
        "\"\xf4\x8f\xbf\xbf\"",
        "\"15 bytes, then \xc3\xa4\"",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1]",
        "[[],[[]],{}]",
        "[1,\"x\",null,true,{\"a\":[2]}]",
        "{\"a\":1}",
        "{\"a\":{\"a\":{\"a\":[]}},\"b\":[{}]}",
        "{\"\":0}",
        "{\"a\":1,\"a\":2}",
        " [ 1 , 2 ] ",
        "\t\n\r {\t\"a\"\n:\r1 }",
        "[[[[[[[[[[{\"x\":[]}]]]]]]]]]]",
        "{\"\\u0061\\n\":1}",
    };
    static const char *const frames[] = {"{\"a\":%s}", "{\"no\":%s}", "{\"no\":[0,%s ]}",
                                         "{\"o\":{\"p\":%s},\"o\":{\"r\":%s}} ",
                                         " { \"b\" : 1 , \"no\" : %s , \"a\" : %s } "};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (size_t j = 0; j < sizeof frames / sizeof frames[0]; j++) {
            struct weir_buffer text = {0};
            for (const char *p = frames[j]; *p != '\0'; p++) {
                if (*p == '%') {
                    weir_buffer_append(&text, values[i], strlen(values[i]));
                    p++;
                } else {
                    weir_buffer_append_char(&text, *p);
                }
            }
            if (!scan_bytes(fixture, text.data, text.size_bytes)) {
                fail_msg("%s: %s", weir_buffer_text(&text), fixture->scanner.error);
            }
            size_t end = text.size_bytes;
            while (text.data[end - 1] == ' ') {
                end--;
            }
            for (size_t size = 0; size < end; size++) {
                if (scan_bytes(fixture, text.data, size)) {
                    fail_msg("%zu bytes of %s", size, weir_buffer_text(&text));
                }
            }
            weir_buffer_deinit(&text);
        }
    }
}

static void test_scan_refuses_what_is_not_json(void **state)
{
    static const char *const texts[] = {
        // not an object
        "",
        " ",
        "null",
        "1",
        "\"x\"",
        "[]",
        "[{}]",
        "nul",
        "x",
        "\xef\xbb\xbf{}",
        // structure
        "{",
        "}",
        "{]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{,\"a\":1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",
        "{\"a\"::1}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{null:1}",
        "{\"a\":1}}",
        "{}{}",
        "{} x",
        "{}\x01",
        "{\"a\":[}",
        "{\"a\":[1,]}",
        "{\"a\":[,1]}",
        "{\"a\":[1 2]}",
        "{\"a\":[1}]",
        "{\"a\":{\"b\":1]}",
        "{\"a\":[1]]}",
        "{\"x\":{\"b\"}}",
        "{\"x\":{\"b\":}}",
        "{\"x\":{\"b\":1,}}",
        "{\"x\":{1:1}}",
        "{\"x\":{\"b\":1 \"c\":2}}",
        "{\"a\":1//\n}",
        "{/**/}",
        "{\"a\":\x0b"
        "1}",
        "{\"a\":\xc2\xa0"
        "1}",
        // words
        "{\"a\":tru}",
        "{\"a\":True}",
        "{\"a\":nulll}",
        "{\"a\":fals}",
        "{\"a\":falsy}",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":-Infinity}",
        "{\"a\":undefined}",
        "{\"x\":truefalse}",
        // numbers
        "{\"a\":01}",
        "{\"a\":-01}",
        "{\"a\":007}",
        "{\"a\":+1}",
        "{\"a\":-}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":1.e1}",
        "{\"a\":1e}",
        "{\"a\":1e+}",
        "{\"a\":1e1.5}",
        "{\"a\":0x10}",
        "{\"a\":77zz}",
        "{\"a\":1_000}",
        "{\"a\":--1}",
        "{\"a\":1-1}",
        "{\"a\":\xef\xbc\x91}",
        // strings
        "{\"a\":\"x}",
        "{\"a\":\"\\\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\\u 123\"}",
        "{\"a\":\"\\U0041\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"\x1f\"}",
        "{\"a\":\"seventeen bytes or\x01 more\"}",
        "{\"a\":'x'}",
        // surrogates: alone, reversed, with something else behind, in a name
        "{\"a\":\"\\ud83d\"}",
        "{\"a\":\"\\ude80\"}",
        "{\"a\":\"\\ude80\\ud83d\"}",
        "{\"a\":\"\\ud83dx\"}",
        "{\"a\":\"\\ud83d\\n\"}",
        "{\"a\":\"\\ud83d\\u0041\"}",
        "{\"a\":\"\\ud83d\\ud83d\"}",
        "{\"\\ud83d\":1,\"s\":\"ok\"}",
        "{\"x\":{\"\\ud83d\":1}}",
        // UTF-8: lone and missing continuation, overlong, surrogates, too large, bytes never used
        "{\"a\":\"\x80\"}",
        "{\"a\":\"\xbf\"}",
        "{\"a\":\"\xc3\"}",
        "{\"a\":\"\xc3x\"}",
        "{\"a\":\"\xe2\x82\"}",
        "{\"a\":\"\xe2\x82x\"}",
        "{\"a\":\"\xf0\x9f\x9a\"}",
        "{\"a\":\"\xf0\x9f\x9ax\"}",
        "{\"a\":\"\xc0\xaf\"}",
        "{\"a\":\"\xc1\xbf\"}",
        "{\"a\":\"\xe0\x80\xaf\"}",
        "{\"a\":\"\xe0\x9f\xbf\"}",
        "{\"a\":\"\xf0\x80\x80\xaf\"}",
        "{\"a\":\"\xf0\x8f\xbf\xbf\"}",
        "{\"a\":\"\xed\xa0\x80\"}",
        "{\"a\":\"\xed\xbf\xbf\"}",
        "{\"a\":\"\xf4\x90\x80\x80\"}",
        "{\"a\":\"\xf5\x80\x80\x80\"}",
        "{\"a\":\"\xff\xfe\"}",
        "{\"\xff\":1}",
        "{\"x\":[{\"\xff\":1}]}",
        "{\"a\":\xff}",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (scan(fixture, texts[i])) {
            fail_msg("accepted: %s", texts[i]);
        }
        assert_non_null(fixture->scanner.error);
        ptrdiff_t place = fixture->scanner.error_place - fixture->block;
        assert_true(place >= 0 && place <= (ptrdiff_t)strlen(texts[i]));
    }
    assert_false(scan_bytes(fixture, "{\"a\":1}\0", 8)); // NUL is not a space
    assert_false(scan_bytes(fixture, "{\"a\":\"\0\"}", 9));
    assert_false(scan_bytes(fixture, "{\"a\":\"\\\0\"}", 10));
}

static void test_scan_finds_wanted_values(void **state)
{
    struct fixture *fixture = *state;
    assert_true(scan(fixture,
                     "{\"b\":\"x\\n\",\"no\":[1],\"a\":-12,\"o\":{\"q\":[1, {\"p\":2}],\"r\":0}}"));
    assert_slot(fixture, SLOT_B, WEIR_JSON_STRING, "x\\n");
    assert_false(fixture->scanner.slots[SLOT_B].is_plain);
    assert_slot(fixture, SLOT_A, WEIR_JSON_NUMBER, "-12");
    assert_true(fixture->scanner.slots[SLOT_A].is_plain);
    assert_int_equal(fixture->scanner.slots[SLOT_A].integer, -12);
    assert_slot(fixture, SLOT_O, WEIR_JSON_OBJECT, "{\"q\":[1, {\"p\":2}],\"r\":0}");
    assert_slot(fixture, SLOT_P, WEIR_JSON_ABSENT, NULL);
    assert_slot(fixture, SLOT_Q, WEIR_JSON_ARRAY, "[1, {\"p\":2}]");
    assert_slot(fixture, SLOT_TWELVE, WEIR_JSON_ABSENT, NULL);

    // The next record starts afresh.
    assert_true(scan(fixture, "{}"));
    for (uint32_t i = 0; i < fixture->scanner.slot_count; i++) {
        assert_slot(fixture, i, WEIR_JSON_ABSENT, NULL);
    }
}

static void test_scan_takes_the_last_of_repeated_names(void **state)
{
    struct fixture *fixture = *state;
    assert_true(scan(fixture, "{\"a\":4,\"a\":9,\"o\":{\"p\":1,\"p\":{\"q\":2},\"p\":8}}"));
    assert_slot(fixture, SLOT_A, WEIR_JSON_NUMBER, "9");
    assert_slot(fixture, SLOT_P, WEIR_JSON_NUMBER, "8");
    assert_slot(fixture, SLOT_Q, WEIR_JSON_ABSENT, NULL);
    // A second object does not complete the first one.
    assert_true(scan(fixture, "{\"o\":{\"p\":1},\"o\":{\"q\":2}}"));
    assert_slot(fixture, SLOT_P, WEIR_JSON_ABSENT, NULL);
    assert_slot(fixture, SLOT_Q, WEIR_JSON_NUMBER, "2");
    assert_true(scan(fixture, "{\"o\":{\"p\":1},\"o\":null}"));
    assert_slot(fixture, SLOT_O, WEIR_JSON_NULL, "null");
    assert_true(scan(fixture, "{\"o\":[],\"\\u006f\":{\"p\":1},\"o\":{}}"));
    assert_slot(fixture, SLOT_O, WEIR_JSON_OBJECT, "{}");
    assert_slot(fixture, SLOT_P, WEIR_JSON_ABSENT, NULL);
}

static void test_scan_matches_names_exactly(void **state)
{
    static const char *const others[] = {
        "{\"A\":1}",
        "{\"aa\":1}",
        "{\"\":1}",
        "{\"twelve_byteS\":1}",
        "{\"twelve_byte\":1}",
        "{\"twelve_bytes_\":1}",
        "{\"a_name_of_twenty-two_B\":1}",
        "{\"a_name_of_twenty_two_b\":1}",
        "{\"A_name_of_twenty-two_b\":1}",
        "{\"a\\u0000\":1}",
        "{\"\xc3\xa4\\\\\\\"\":1}",
    };
    struct fixture *fixture = *state;
    for (uint32_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            assert_true(scan(fixture, others[i]));
            for (uint32_t j = 0; j < fixture->scanner.slot_count; j++) {
                assert_slot(fixture, j, WEIR_JSON_ABSENT, NULL);
            }
        }
        assert_true(scan(fixture, "{\"twelve_bytes\":1,\"a_name_of_twenty-two_b\":2,"
                                  "\"\\u0061\":3,\"\xc3\xa4\\\"\\\\\":4}"));
        assert_slot(fixture, SLOT_TWELVE, WEIR_JSON_NUMBER, "1");
        assert_slot(fixture, SLOT_TWENTY_TWO, WEIR_JSON_NUMBER, "2");
        assert_slot(fixture, SLOT_A, WEIR_JSON_NUMBER, "3");
        assert_slot(fixture, SLOT_ESCAPED, WEIR_JSON_NUMBER, "4");
    }
    // A name that needs escapes does not match its unescaped spelling.
    assert_false(scan(fixture, "{\"\xc3\xa4\"\\\":4}"));
}

// Members come in any order and with more unknown names than are remembered: what is found depends
// on the text alone, not on the texts before it.
static void test_scan_depends_on_no_former_record(void **state)
{
    struct fixture *fixture = *state;
    uint32_t random = 1;
    for (uint32_t round = 0; round < 3000; round++) {
        static const char *const names[] = {"a", "b", "twelve_bytes", "a_name_of_twenty-two_b"};
        static const uint32_t slot_idxs[] = {SLOT_A, SLOT_B, SLOT_TWELVE, SLOT_TWENTY_TWO};
        uint32_t last_number[4] = {0};
        struct weir_buffer text = {0};
        uint32_t member_count = (random >> 16) % 12;
        for (uint32_t i = 0; i < member_count; i++) {
            random = random * 1103515245 + 12345;
            uint32_t pick = (random >> 16) % 8;
            weir_buffer_append_char(&text, i == 0 ? '{' : ',');
            if (pick < 4) {
                weir_buffer_printf(&text, "\"%s\":%u", names[pick], i + 1);
                last_number[pick] = i + 1;
            } else {
                weir_buffer_printf(&text, "\"unknown_%u\":%u", (random >> 8) % 150, i + 1);
            }
        }
        weir_buffer_printf(&text, member_count == 0 ? "{}" : "}");
        random = random * 1103515245 + 12345;
        assert_true(scan_bytes(fixture, text.data, text.size_bytes));
        for (uint32_t i = 0; i < 4; i++) {
            const struct weir_json_slot *slot = &fixture->scanner.slots[slot_idxs[i]];
            assert_int_equal(slot->kind, last_number[i] == 0 ? WEIR_JSON_ABSENT : WEIR_JSON_NUMBER);
            assert_true(last_number[i] == 0 || slot->integer == last_number[i]);
        }
        weir_buffer_deinit(&text);
    }
}

static void test_scan_survives_deep_texts(void **state)
{
    enum { DEPTH = 100000 };
    static const char *const opening[] = {"[", "{\"x\":", "[{\"x\":"};
    static const char *const closing[] = {"]", "}", "}]"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof opening / sizeof opening[0]; i++) {
        struct weir_buffer text = {0};
        weir_buffer_append(&text, "{\"a\":", 5);
        for (uint32_t j = 0; j < DEPTH; j++) {
            weir_buffer_append(&text, opening[i], strlen(opening[i]));
        }
        assert_false(scan_bytes(fixture, text.data, text.size_bytes));
        weir_buffer_append(&text, "0", 1);
        for (uint32_t j = 0; j < DEPTH; j++) {
            assert_true(j > 3 || !scan_bytes(fixture, text.data, text.size_bytes));
            weir_buffer_append(&text, closing[i], strlen(closing[i]));
        }
        weir_buffer_append(&text, "}", 1);
        assert_true(scan_bytes(fixture, text.data, text.size_bytes));
        // One wrong bracket in the middle of the closing ones is seen.
        char *wrong = &text.data[text.size_bytes - DEPTH / 2];
        *wrong = *wrong == ']' ? '}' : ']';
        assert_false(scan_bytes(fixture, text.data, text.size_bytes));
        weir_buffer_deinit(&text);
    }
}

static void test_scan_tells_plain_integers(void **state)
{
    static const struct {
        const char *text;
        bool is_plain;
        int64_t integer;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"7", true, 7},
        {"-9007199254740993", true, -INT64_C(9007199254740993)},
        {"999999999999999999", true, INT64_C(999999999999999999)},
        {"-999999999999999999", true, -INT64_C(999999999999999999)},
        {"1000000000000000000", false, 0},
        {"99999999999999999999999999", false, 0},
        {"1.0", false, 0},
        {"1e1", false, 0},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_buffer text = {0};
        weir_buffer_printf(&text, "{\"a\":%s}", cases[i].text);
        assert_true(scan_bytes(fixture, text.data, text.size_bytes));
        assert_slot(fixture, SLOT_A, WEIR_JSON_NUMBER, cases[i].text);
        assert_int_equal(fixture->scanner.slots[SLOT_A].is_plain, cases[i].is_plain);
        assert_true(!cases[i].is_plain ||
                    fixture->scanner.slots[SLOT_A].integer == cases[i].integer);
        weir_buffer_deinit(&text);
    }
}

// Numbers of every length, of every digit, before every byte that may follow: digits are taken in
// steps of eight, near the end of the text one by one.
static void test_scan_reads_integers_of_any_length(void **state)
{
    static const char *const behind[] = {"}", " }", ",\"b\":\"12345678\"}", "\n}     ",
                                         ", \"b\" : 1}"};
    struct fixture *fixture = *state;
    for (int64_t step = 0; step < 18 * 9 * 5; step++) {
        int64_t value = 0;
        for (int64_t i = 0; i <= step / 45; i++) {
            value = value * 10 + (step + i * i) % 9 + 1;
        }
        struct weir_buffer text = {0};
        weir_buffer_printf(&text, "{\"a\":%lld%s", (long long)value, behind[step % 5]);
        assert_true(scan_bytes(fixture, text.data, text.size_bytes));
        assert_true(fixture->scanner.slots[SLOT_A].is_plain);
        assert_true(fixture->scanner.slots[SLOT_A].integer == value);
        weir_buffer_deinit(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scan_accepts_what_is_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_refuses_what_is_not_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_finds_wanted_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_takes_the_last_of_repeated_names, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_scan_matches_names_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_depends_on_no_former_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_survives_deep_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_tells_plain_integers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_reads_integers_of_any_length, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
