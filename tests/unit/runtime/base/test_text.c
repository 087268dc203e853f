// SPDX-License-Identifier: Apache-2.0
// Names by distance, durations and sizes: tables of text and what it means.
#include "runtime/base/text.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void test_distance_counts_edits(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        uint32_t distance;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "", 3},
        {"abc", "abc", 0},
        {"ABC", "abc", 0},
        {"abc", "abd", 1},
        {"abc", "ac", 1},
        {"ac", "abc", 1},
        {"abc", "acb", 1},
        {"watermark_dely", "watermark_delay", 1},
        {"kitten", "sitting", 3},
        {"ca", "abc", 3}, // a swapped pair is not edited again
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(weir_text_distance(cases[i].a, cases[i].b), cases[i].distance);
    }
}

static void test_distance_stops_at_its_bound(void **state)
{
    (void)state;
    char a[300];
    char b[300];
    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    memset(b + 128, 'b', sizeof b - 128);
    a[299] = '\0';
    b[250] = '\0';
    assert_int_equal(weir_text_distance(a, b), 0);
}

static void test_nearest_is_the_first_of_the_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"run", "check", "checks", "config"};
    assert_string_equal(weir_text_nearest("chek", 4, names, UINT32_MAX), "check");
    assert_string_equal(weir_text_nearest("checkz", 4, names, UINT32_MAX), "check");
    assert_string_equal(weir_text_nearest("zzzzzzzzzzzz", 4, names, UINT32_MAX), "run");
    assert_null(weir_text_nearest("zzzzzzzzzzzz", 4, names, 3));
    assert_string_equal(weir_text_nearest("rum", 4, names, 1), "run");
    assert_null(weir_text_nearest("rum", 0, NULL, UINT32_MAX));
}

static void test_integer_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-7", true, -7},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"0x10", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = 0;
        assert_int_equal(weir_text_integer_parse(cases[i].text, &value), cases[i].is_ok);
        if (cases[i].is_ok) {
            assert_true(value == cases[i].value);
        }
    }
}

static void test_duration_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t duration_ms; // -1: the error below
        const char *error;
    } cases[] = {
        {"250ms", 250, NULL},
        {"10s", 10000, NULL},
        {"5min", 300000, NULL},
        {"1h", 3600000, NULL},
        {"2d", 172800000, NULL},
        {"0s", 0, NULL},
        {"9223372036854775807ms", INT64_MAX, NULL},
        {"5", -1, "\"5\" has no unit; write 5ms, 5s, 5min, 5h or 5d"},
        {"9223372036854775808ms", -1, "\"9223372036854775808ms\" is too long a time"},
        {"9223372036854776s", -1, "\"9223372036854776s\" is too long a time"},
        {"5x", -1,
         "\"5x\" is not a duration; write a whole number and ms, s, min, h or d, such as 250ms or "
         "5min"},
        {"1.5s", -1,
         "\"1.5s\" is not a duration; write a whole number and ms, s, min, h or d, such as 250ms "
         "or 5min"},
        {"-5s", -1,
         "\"-5s\" is not a duration; write a whole number and ms, s, min, h or d, such as 250ms or "
         "5min"},
        {"5 s", -1,
         "\"5 s\" is not a duration; write a whole number and ms, s, min, h or d, such as 250ms or "
         "5min"},
        {"5S", -1,
         "\"5S\" is not a duration; write a whole number and ms, s, min, h or d, such as 250ms or "
         "5min"},
        {"s", -1,
         "\"s\" is not a duration; write a whole number and ms, s, min, h or d, such as 250ms or "
         "5min"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t duration_ms = -1;
        struct weir_error error;
        enum weir_status status = weir_duration_parse(cases[i].text, &duration_ms, &error);
        if (cases[i].error == NULL) {
            assert_int_equal(status, WEIR_OK);
            assert_true(duration_ms == cases[i].duration_ms);
        } else {
            assert_int_equal(status, WEIR_ERROR);
            assert_string_equal(error.text, cases[i].error);
            assert_int_equal(error.action, WEIR_ACTION_REFUSE);
        }
    }
}

static void test_size_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t size_bytes;
        const char *error;
    } cases[] = {
        {"0", 0, NULL},
        {"1000", 1000, NULL},
        {"64MiB", UINT64_C(64) << 20, NULL},
        {"1GiB", UINT64_C(1) << 30, NULL},
        {"3KiB", 3072, NULL},
        {"2TiB", UINT64_C(2) << 40, NULL},
        {"9223372036854775807", INT64_MAX, NULL},
        {"9223372036854775808", 0, "\"9223372036854775808\" is too large a size"},
        {"8388608TiB", 0, "\"8388608TiB\" is too large a size"},
        {"64MB", 0,
         "\"64MB\" is not a size; write a whole number of bytes or of KiB, MiB, GiB or TiB, such "
         "as 64MiB or 1GiB"},
        {"-1", 0,
         "\"-1\" is not a size; write a whole number of bytes or of KiB, MiB, GiB or TiB, such as "
         "64MiB or 1GiB"},
        {"", 0,
         "\"\" is not a size; write a whole number of bytes or of KiB, MiB, GiB or TiB, such as "
         "64MiB or 1GiB"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t size_bytes = 1;
        struct weir_error error;
        enum weir_status status = weir_size_parse(cases[i].text, &size_bytes, &error);
        if (cases[i].error == NULL) {
            assert_int_equal(status, WEIR_OK);
            assert_true(size_bytes == cases[i].size_bytes);
        } else {
            assert_int_equal(status, WEIR_ERROR);
            assert_string_equal(error.text, cases[i].error);
        }
    }
}

static void test_formats_use_the_largest_whole_unit(void **state)
{
    (void)state;
    char text[WEIR_DURATION_TEXT_BYTES];
    assert_string_equal(weir_duration_format(0, text, sizeof text), "0s");
    assert_string_equal(weir_duration_format(250, text, sizeof text), "250ms");
    assert_string_equal(weir_duration_format(60000, text, sizeof text), "1min");
    assert_string_equal(weir_duration_format(90000, text, sizeof text), "90s");
    assert_string_equal(weir_duration_format(172800000, text, sizeof text), "2d");
    assert_string_equal(weir_duration_format(INT64_MAX, text, sizeof text),
                        "9223372036854775807ms");
    assert_string_equal(weir_size_format(0, text, sizeof text), "0");
    assert_string_equal(weir_size_format(1000, text, sizeof text), "1000");
    assert_string_equal(weir_size_format(UINT64_C(1) << 30, text, sizeof text), "1GiB");
    assert_string_equal(weir_size_format(UINT64_C(1536) << 20, text, sizeof text), "1536MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_counts_edits),
        cmocka_unit_test(test_distance_stops_at_its_bound),
        cmocka_unit_test(test_nearest_is_the_first_of_the_nearest),
        cmocka_unit_test(test_integer_parse),
        cmocka_unit_test(test_duration_parse),
        cmocka_unit_test(test_size_parse),
        cmocka_unit_test(test_formats_use_the_largest_whole_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
