// SPDX-License-Identifier: Apache-2.0
// What the fixtures of test_types_oracle.c do not reach: JSON numbers, UTF-8, characters, messages.
#include "runtime/types/text_io.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct weir_view view(const char *text)
{
    return weir_view_of(text);
}

static void check_json_bigint(const char *text, int64_t expected)
{
    int64_t value;
    assert_true(weir_bigint_parse_json_number(view(text), &value, NULL));
    assert_int_equal(value, expected);
}

static void test_text_io_json_number_as_bigint(void **state)
{
    (void)state;
    check_json_bigint("12", 12);
    check_json_bigint("-0", 0);
    check_json_bigint("1e3", 1000);
    check_json_bigint("-1E+3", -1000);
    check_json_bigint("1500e-2", 15);
    check_json_bigint("0e99999999999999999999", 0);
    check_json_bigint("-9223372036854775808", INT64_MIN);
    check_json_bigint("9e18", INT64_C(9000000000000000000));
    struct weir_value_error error;
    int64_t value;
    assert_false(weir_bigint_parse_json_number(view("1.0"), &value, &error));
    assert_string_equal(error.text, "invalid input syntax for type bigint: \"1.0\"");
    assert_false(weir_bigint_parse_json_number(view("1.5e3"), &value, NULL));
    assert_false(weir_bigint_parse_json_number(view("15e-2"), &value, NULL));
    assert_false(weir_bigint_parse_json_number(view("1e19"), &value, &error));
    assert_string_equal(error.text, "value \"1e19\" is out of range for type bigint");
    assert_false(weir_bigint_parse_json_number(view("1e99999999999999999999"), &value, NULL));
    assert_false(weir_bigint_parse_json_number(view("9223372036854775808"), &value, NULL));
}

static void test_text_io_json_number_as_float(void **state)
{
    (void)state;
    double value;
    assert_true(weir_double_parse_json_number(view("-0"), &value, NULL));
    assert_true(value == 0 && signbit(value));
    assert_true(weir_double_parse_json_number(view("1e-400"), &value, NULL));
    assert_true(value == 0 && !signbit(value));
    assert_true(weir_double_parse_json_number(view("-1e-400"), &value, NULL));
    assert_true(value == 0 && signbit(value));
    assert_false(weir_double_parse_json_number(view("1e400"), &value, NULL));
    float real;
    assert_true(weir_real_parse_json_number(view("1e-60"), &real, NULL));
    assert_true(real == 0);
    assert_false(weir_real_parse_json_number(view("1e60"), &real, NULL));
}

// The shortcut for short numbers against the C library.
static void test_text_io_short_floats_are_strtod_s(void **state)
{
    (void)state;
    srand(7);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        long long digits = ((long long)rand() << 20 ^ rand()) % 1000000000000000;
        switch (i % 3) {
        case 0:
            snprintf(text, sizeof text, "%lld.%03d", digits / 1000, rand() % 1000);
            break;
        case 1:
            snprintf(text, sizeof text, "-%llde%d", digits, rand() % 60 - 30);
            break;
        default:
            snprintf(text, sizeof text, "%d.%d", rand() % 100, rand() % 100000);
            break;
        }
        double value;
        float real;
        assert_true(weir_double_parse(view(text), &value, NULL));
        assert_true(value == strtod(text, NULL));
        float expected = strtof(text, NULL);
        bool is_in_range = weir_real_parse(view(text), &real, NULL);
        assert_int_equal(is_in_range, isfinite(expected) != 0);
        assert_true(!is_in_range || real == expected);
    }
}

static void test_text_io_views_end_where_they_say(void **state)
{
    (void)state;
    int32_t integer;
    double value;
    assert_true(weir_integer_parse((struct weir_view){"123456", 3}, &integer, NULL));
    assert_int_equal(integer, 123);
    assert_true(weir_double_parse((struct weir_view){"1.2345678901234567890", 3}, &value, NULL));
    assert_true(value == 1.2);
    // A NUL inside is no end.
    assert_false(weir_double_parse((struct weir_view){"1\0002", 3}, &value, NULL));
    assert_false(weir_integer_parse((struct weir_view){"1\0002", 3}, &integer, NULL));
    assert_false(weir_integer_parse((struct weir_view){"", 0}, &integer, NULL));
    char long_number[600];
    memset(long_number, '1', sizeof long_number);
    assert_true(weir_double_parse((struct weir_view){long_number, 300}, &value, NULL));
    assert_false(weir_double_parse((struct weir_view){long_number, 600}, &value, NULL));
}

static void check_invalid(const char *bytes, size_t size_bytes, const char *shown)
{
    struct weir_value_error error;
    char message[100];
    snprintf(message, sizeof message, "invalid byte sequence for encoding \"UTF8\": %s", shown);
    assert_false(weir_text_validate((struct weir_view){bytes, size_bytes}, &error));
    assert_string_equal(error.text, message);
}

static void test_text_validate_finds_what_is_no_utf8(void **state)
{
    (void)state;
    assert_true(weir_text_validate(view(""), NULL));
    assert_true(weir_text_validate(view("plain text of more than eight bytes"), NULL));
    assert_true(weir_text_validate(view("\u00e9 \u20ac \U0001d11e \u07ff\uffff\U0010ffff"), NULL));
    check_invalid("\xff", 1, "0xff");
    check_invalid("a\0b", 3, "0x00");
    check_invalid("12345678\0", 9, "0x00");
    check_invalid("1234567\x80", 8, "0x80");
    check_invalid("\xc0\xaf", 2, "0xc0 0xaf");                   // overlong
    check_invalid("\xe0\x80\xaf", 3, "0xe0 0x80 0xaf");          // overlong
    check_invalid("\xed\xa0\x80", 3, "0xed 0xa0 0x80");          // surrogate
    check_invalid("\xf4\x90\x80\x80", 4, "0xf4 0x90 0x80 0x80"); // beyond Unicode
    check_invalid("\xe2\x82", 2, "0xe2 0x82");                   // cut
    check_invalid("abc\xc3", 4, "0xc3");
    // At every place of a word.
    for (size_t i = 0; i < 24; i++) {
        char text[24];
        memset(text, 'x', sizeof text);
        text[i] = '\x80';
        assert_false(weir_text_validate((struct weir_view){text, sizeof text}, NULL));
        text[i] = '\0';
        assert_false(weir_text_validate((struct weir_view){text, sizeof text}, NULL));
        text[i] = '\x01';
        assert_true(weir_text_validate((struct weir_view){text, sizeof text}, NULL));
    }
}

static void test_text_prefix_counts_characters(void **state)
{
    (void)state;
    struct weir_view text = view("a\u00e9\U0001d11ez");
    assert_int_equal(weir_text_char_count(text), 4);
    assert_int_equal(weir_text_prefix(text, 0).size_bytes, 0);
    assert_int_equal(weir_text_prefix(text, 1).size_bytes, 1);
    assert_int_equal(weir_text_prefix(text, 2).size_bytes, 3);
    assert_int_equal(weir_text_prefix(text, 3).size_bytes, 7);
    assert_int_equal(weir_text_prefix(text, 4).size_bytes, 8);
    assert_int_equal(weir_text_prefix(text, 100).size_bytes, 8);
    struct weir_view fitted;
    assert_true(weir_varchar_fit(view("\u00e9\u00e9\u00e9  "), 3, &fitted, NULL));
    assert_int_equal(fitted.size_bytes, 6);
    assert_false(weir_varchar_fit(view("\u00e9\u00e9\u00e9 x"), 3, &fitted, NULL));
}

static void test_value_error_shows_the_beginning_of_long_texts(void **state)
{
    (void)state;
    struct weir_value_error error;
    char text[1001];
    for (size_t i = 0; i < 1000; i += 2) {
        memcpy(text + i, "\u00e9", 2);
    }
    text[1000] = '\0';
    for (size_t shift = 0; shift < 2; shift++) {
        int32_t value;
        text[0] = 'x';
        assert_false(weir_integer_parse(view(text + shift * 2), &value, &error));
        assert_true(strlen(error.text) < 200);
        assert_true(weir_text_validate(view(error.text), NULL) || shift == 0);
        assert_non_null(strstr(error.text, "\u2026\""));
    }
    weir_value_error_set(&error, "%s", text + 2);
    assert_true(weir_text_validate(view(error.text), NULL));
    weir_value_error_set(&error, "x%s", text + 2);
    assert_true(weir_text_validate(view(error.text), NULL));
    assert_string_equal(error.detail, "");
    assert_false(weir_value_error_detail(&error, "hint %d", 1));
    assert_string_equal(error.detail, "hint 1");
    assert_false(weir_value_error_set(NULL, "nobody listens"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_io_json_number_as_bigint),
        cmocka_unit_test(test_text_io_json_number_as_float),
        cmocka_unit_test(test_text_io_short_floats_are_strtod_s),
        cmocka_unit_test(test_text_io_views_end_where_they_say),
        cmocka_unit_test(test_text_validate_finds_what_is_no_utf8),
        cmocka_unit_test(test_text_prefix_counts_characters),
        cmocka_unit_test(test_value_error_shows_the_beginning_of_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
