// SPDX-License-Identifier: Apache-2.0
// What JSON values become in columns: PostgreSQL's jsonb_to_record with the differences that the
// docs list. Expected values are in PostgreSQL's text form, NULL, or ! and the message.
#include "json_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct value_case {
    struct weir_type type;
    const char *json;
    const char *expected;
};

static void check_values(const struct value_case *cases, size_t case_count,
                         uint32_t timestamp_digits)
{
    for (size_t i = 0; i < case_count; i++) {
        const struct weir_field field = {"v", cases[i].type};
        const struct weir_schema schema = {1, &field};
        char type_name[64];
        weir_type_name(&field.type, type_name, sizeof type_name);
        struct weir_buffer json = {0};
        weir_buffer_printf(&json, "{\"v\":%s}", cases[i].json);
        const char *text = weir_buffer_text(&json);
        struct decoded_case run;
        json_case_decode(&run, &schema, timestamp_digits, &text, 1);
        const char *result = weir_buffer_text(&run.text);
        if (cases[i].expected[0] != '!') {
            if (run.decoded.row_count != 1 || strcmp(result, cases[i].expected) != 0) {
                fail_msg("%s from %s: %s", type_name, text,
                         run.decoded.row_count == 1 ? result : run.decoded.bad[0].message);
            }
        } else {
            struct weir_buffer message = {0};
            weir_buffer_printf(&message, "column \"v\": %s", cases[i].expected + 1);
            if (run.decoded.row_count != 0) {
                fail_msg("%s from %s: %s", type_name, text, result);
            }
            assert_int_equal(run.decoded.bad_count, 1);
            assert_string_equal(run.decoded.bad[0].message, weir_buffer_text(&message));
            weir_buffer_deinit(&message);
        }
        json_case_release(&run);
        weir_buffer_deinit(&json);
    }
}

#define CHECK_VALUES(cases, digits) check_values(cases, sizeof(cases) / sizeof(cases)[0], digits)

// C001, C009 and the rule for exponents and points.
static void test_decode_integers(void **state)
{
    static const struct value_case cases[] = {
        {PLAIN(BIGINT), "9007199254740991", "9007199254740991"},
        {PLAIN(BIGINT), "9007199254740993", "9007199254740993"},
        {PLAIN(BIGINT), "-8123456789012345679", "-8123456789012345679"},
        {PLAIN(BIGINT), "9223372036854775807", "9223372036854775807"},
        {PLAIN(BIGINT), "-9223372036854775807", "-9223372036854775807"},
        {PLAIN(BIGINT), "-9223372036854775808", "-9223372036854775808"},
        {PLAIN(BIGINT), "9223372036854775808",
         "!value \"9223372036854775808\" is out of range for type bigint"},
        {PLAIN(BIGINT), "-9223372036854775809",
         "!value \"-9223372036854775809\" is out of range for type bigint"},
        {PLAIN(BIGINT), "123456789012345678901234567890",
         "!value \"123456789012345678901234567890\" is out of range for type bigint"},
        {PLAIN(BIGINT), "-0", "0"},
        {PLAIN(BIGINT), "1e3", "1000"},
        {PLAIN(BIGINT), "1E+3", "1000"},
        {PLAIN(BIGINT), "9e18", "9000000000000000000"},
        {PLAIN(BIGINT), "1.5e1", "15"},
        {PLAIN(BIGINT), "1.50e1", "!invalid input syntax for type bigint: \"15.0\""},
        {PLAIN(BIGINT), "1e19", "!value \"10000000000000000000\" is out of range for type bigint"},
        {PLAIN(BIGINT), "1.0", "!invalid input syntax for type bigint: \"1.0\""},
        {PLAIN(BIGINT), "1.5", "!invalid input syntax for type bigint: \"1.5\""},
        {PLAIN(BIGINT), "1e-1", "!invalid input syntax for type bigint: \"0.1\""},
        {PLAIN(BIGINT), "\"42\"", "42"},
        {PLAIN(BIGINT), "\" -42 \"", "-42"},
        {PLAIN(BIGINT), "\"4\\u0032\"", "42"},
        {PLAIN(BIGINT), "\"9223372036854775808\"",
         "!value \"9223372036854775808\" is out of range for type bigint"},
        {PLAIN(BIGINT), "\"1e3\"", "!invalid input syntax for type bigint: \"1e3\""},
        {PLAIN(BIGINT), "\"\"", "!invalid input syntax for type bigint: \"\""},
        {PLAIN(BIGINT), "\"x\"", "!invalid input syntax for type bigint: \"x\""},
        {PLAIN(BIGINT), "true", "!invalid input syntax for type bigint: \"true\""},
        {PLAIN(BIGINT), "[1]", "!invalid input syntax for type bigint: \"[1]\""},
        {PLAIN(BIGINT), "{\"b\":[ ]}", "!invalid input syntax for type bigint: \"{\"b\": []}\""},
        {PLAIN(BIGINT), "null", "NULL"},
        {PLAIN(INTEGER), "2147483647", "2147483647"},
        {PLAIN(INTEGER), "-2147483648", "-2147483648"},
        {PLAIN(INTEGER), "2147483648", "!value \"2147483648\" is out of range for type integer"},
        {PLAIN(INTEGER), "99999999999999999999",
         "!value \"99999999999999999999\" is out of range for type integer"},
        {PLAIN(INTEGER), "3e9", "!value \"3000000000\" is out of range for type integer"},
        {PLAIN(INTEGER), "2e9", "2000000000"},
        {PLAIN(INTEGER), "\"-7\"", "-7"},
        {PLAIN(SMALLINT), "32767", "32767"},
        {PLAIN(SMALLINT), "-32768", "-32768"},
        {PLAIN(SMALLINT), "32768", "!value \"32768\" is out of range for type smallint"},
        {PLAIN(SMALLINT), "-32769", "!value \"-32769\" is out of range for type smallint"},
        {PLAIN(SMALLINT), "3e4", "30000"},
        {PLAIN(SMALLINT), "4e4", "!value \"40000\" is out of range for type smallint"},
        {PLAIN(SMALLINT), "1.0", "!invalid input syntax for type smallint: \"1.0\""},
    };
    (void)state;
    CHECK_VALUES(cases, MILLISECONDS);
}

// C002, C009: digits stay, the column's scale is applied, zero has no sign.
static void test_decode_numerics(void **state)
{
    static const struct value_case cases[] = {
        {NUMERIC(38, 18), "123456.789012345678901234", "123456.789012345678901234"},
        {NUMERIC(10, 2), "31", "31.00"},
        {NUMERIC(10, 2), "1234.56", "1234.56"},
        {NUMERIC(10, 2), "-0", "0.00"},
        {NUMERIC(10, 2), "12.5", "12.50"},
        {NUMERIC(10, 2), "0.005", "0.01"},
        {NUMERIC(10, 2), "\"12.30\"", "12.30"},
        {NUMERIC(4, 2), "1234.5",
         "!numeric field overflow: A field with precision 4, scale 2 must "
         "round to an absolute value less than 10^2."},
        {PLAIN(NUMERIC), "31", "31"},
        {PLAIN(NUMERIC), "-0", "0"},
        {PLAIN(NUMERIC), "1.50", "1.50"},
        {PLAIN(NUMERIC), "1e3", "1000"},
        {PLAIN(NUMERIC), "1.5e-3", "0.0015"},
        {PLAIN(NUMERIC), "999999999999999999", "999999999999999999"},
        {PLAIN(NUMERIC), "123456789012345678901234567890.123456789",
         "123456789012345678901234567890.123456789"},
        {PLAIN(NUMERIC), "\"NaN\"", "NaN"},
        {PLAIN(NUMERIC), "\"-Infinity\"", "-Infinity"},
        {PLAIN(NUMERIC), "\"1,5\"", "!invalid input syntax for type numeric: \"1,5\""},
        {PLAIN(NUMERIC), "false", "!invalid input syntax for type numeric: \"false\""},
        {PLAIN(NUMERIC), "null", "NULL"},
    };
    (void)state;
    CHECK_VALUES(cases, MILLISECONDS);
}

// Numbers are read by strtod: -0 stays, underflow is 0, overflow a bad record. Strings go through
// the input function, which refuses both.
static void test_decode_floats(void **state)
{
    static const struct value_case cases[] = {
        {PLAIN(DOUBLE), "8", "8"},
        {PLAIN(DOUBLE), "8.0", "8"},
        {PLAIN(DOUBLE), "-0", "-0"},
        {PLAIN(DOUBLE), "-0.0", "-0"},
        {PLAIN(DOUBLE), "0", "0"},
        {PLAIN(DOUBLE), "-7", "-7"},
        {PLAIN(DOUBLE), "0.1", "0.1"},
        {PLAIN(DOUBLE), "9007199254740993", "9.007199254740992e+15"},
        {PLAIN(DOUBLE), "123456789012345678901234567890", "1.2345678901234568e+29"},
        {PLAIN(DOUBLE), "1.7976931348623157e308", "1.7976931348623157e+308"},
        {PLAIN(DOUBLE), "5e-324", "5e-324"},
        {PLAIN(DOUBLE), "1e-400", "0"},
        {PLAIN(DOUBLE), "-1e-400", "-0"},
        {PLAIN(DOUBLE), "1e400", "!\"1e400\" is out of range for type double precision"},
        {PLAIN(DOUBLE), "\"1e-400\"", "!\"1e-400\" is out of range for type double precision"},
        {PLAIN(DOUBLE), "\"NaN\"", "NaN"},
        {PLAIN(DOUBLE), "\"-Infinity\"", "-Infinity"},
        {PLAIN(DOUBLE), "\"x\"", "!invalid input syntax for type double precision: \"x\""},
        {PLAIN(DOUBLE), "true", "!invalid input syntax for type double precision: \"true\""},
        {PLAIN(REAL), "8", "8"},
        {PLAIN(REAL), "-0", "-0"},
        {PLAIN(REAL), "16777217", "1.6777216e+07"},
        {PLAIN(REAL), "0.1", "0.1"},
        {PLAIN(REAL), "3.4028235e38", "3.4028235e+38"},
        {PLAIN(REAL), "1e-50", "0"},
        {PLAIN(REAL), "1e39", "!\"1e39\" is out of range for type real"},
        {PLAIN(REAL), "\"Infinity\"", "Infinity"},
    };
    (void)state;
    CHECK_VALUES(cases, MILLISECONDS);
}

// C005 among others: a text column takes everything, numbers and containers as they were written.
static void test_decode_texts(void **state)
{
    static const struct value_case cases[] = {
        {PLAIN(TEXT), "\"\"", ""},
        {PLAIN(TEXT), "\"x\"", "x"},
        {PLAIN(TEXT), "\"\\ud83d\\ude80\"", "\xf0\x9f\x9a\x80"},
        {PLAIN(TEXT), "\"a\\\"b\\\\c\\/d\\n\"", "a\"b\\c/d\n"},
        {PLAIN(TEXT), "1e3", "1e3"},
        {PLAIN(TEXT), "1.50", "1.50"},
        {PLAIN(TEXT), "-0", "-0"},
        {PLAIN(TEXT), "123456789012345678901234567890", "123456789012345678901234567890"},
        {PLAIN(TEXT), "true", "true"},
        {PLAIN(TEXT), "false", "false"},
        {PLAIN(TEXT), "null", "NULL"},
        {PLAIN(TEXT), "{\"b\":1, \"a\" : [1,\"\\u0041\"]}", "{\"b\":1, \"a\" : [1,\"\\u0041\"]}"},
        {PLAIN(TEXT), "[ 1 ,2]", "[ 1 ,2]"},
        {PLAIN(TEXT), "\"a\\u0000b\"",
         "!unsupported Unicode escape sequence: \\u0000 cannot be converted to text"},
        {VARCHAR(3), "\"abc\"", "abc"},
        {VARCHAR(3), "\"\xc3\xa4\xc3\xb6\xc3\xbc\"", "\xc3\xa4\xc3\xb6\xc3\xbc"},
        {VARCHAR(3), "\"abc  \"", "abc"},
        {VARCHAR(3), "\"abcd\"", "!value too long for type character varying(3)"},
        {VARCHAR(3), "1234", "!value too long for type character varying(3)"},
        {VARCHAR(-1), "\"abcd\"", "abcd"},
        {PLAIN(BYTEA), "\"\\\\x00ff\"", "\\x00ff"},
        {PLAIN(BYTEA), "\"a\\\\001\"", "\\x6101"},
        {PLAIN(BYTEA), "\"\"", "\\x"},
        {PLAIN(BYTEA), "12", "\\x3132"},
        {PLAIN(BYTEA), "[1,\"\\u0041\"]", "\\x5b312c202241225d"},
        {PLAIN(BOOLEAN), "true", "t"},
        {PLAIN(BOOLEAN), "false", "f"},
        {PLAIN(BOOLEAN), "\"yes\"", "t"},
        {PLAIN(BOOLEAN), "1", "t"},
        {PLAIN(BOOLEAN), "0", "f"},
        {PLAIN(BOOLEAN), "2", "!invalid input syntax for type boolean: \"2\""},
        {PLAIN(BOOLEAN), "\"maybe\"", "!invalid input syntax for type boolean: \"maybe\""},
        {PLAIN(BOOLEAN), "null", "NULL"},
    };
    (void)state;
    CHECK_VALUES(cases, MILLISECONDS);
}

// C004: canonical, without repeated names. A JSON null is NULL.
static void test_decode_jsonb(void **state)
{
    static const struct value_case cases[] = {
        {PLAIN(JSONB), "{\"b\":1,\"a\":[1,2.50,\"x\",null,true]}",
         "{\"a\": [1, 2.50, \"x\", null, true], \"b\": 1}"},
        {PLAIN(JSONB), "{\"p\":1,\"p\":{\"q\":2},\"p\":8}", "{\"p\": 8}"},
        {PLAIN(JSONB), "\"a\\u0041\"", "\"aA\""},
        {PLAIN(JSONB), "\"42\"", "\"42\""},
        {PLAIN(JSONB), "1e3", "1000"},
        {PLAIN(JSONB), "true", "true"},
        {PLAIN(JSONB), "null", "NULL"},
        {PLAIN(JSONB), "[]", "[]"},
    };
    (void)state;
    CHECK_VALUES(cases, MILLISECONDS);
}

// C100 and the words that change with the day.
static void test_decode_times_from_strings(void **state)
{
    static const struct value_case cases[] = {
        {PLAIN(TIMESTAMPTZ), "\"2025-03-04T05:06:07.123456789+02:00\"",
         "2025-03-04 03:06:07.123457+00"},
        {PLAIN(TIMESTAMPTZ), "\"2025-03-04T05:06:07.9999999Z\"", "2025-03-04 05:06:08+00"},
        {PLAIN(TIMESTAMPTZ), "\"2025-03-04T05:06:07+0530\"", "2025-03-03 23:36:07+00"},
        {PLAIN(TIMESTAMPTZ), "\"20250102T000000Z\"", "2025-01-02 00:00:00+00"},
        {PLAIN(TIMESTAMP), "\"2024-12-31 23:59:60\"", "2025-01-01 00:00:00"},
        {PLAIN(TIMESTAMP), "\"2025-01-02 24:00:00\"", "2025-01-03 00:00:00"},
        {PLAIN(TIMESTAMPTZ), "\"2025-01-02T00:00:00,5Z\"",
         "!invalid input syntax for type timestamp with time zone: \"2025-01-02T00:00:00,5Z\""},
        {PLAIN(TIMESTAMP), "\"2025-02-29\"", "!date/time field value out of range: \"2025-02-29\""},
        {PLAIN(TIMESTAMP), "\"2024-05-06 07:08:09.5\"", "2024-05-06 07:08:09.5"},
        {PLAIN(TIMESTAMP), "\"infinity\"", "infinity"},
        {PLAIN(TIMESTAMPTZ), "\"-infinity\"", "-infinity"},
        {PLAIN(TIMESTAMPTZ), "\"epoch\"", "1970-01-01 00:00:00+00"},
        {PLAIN(DATE), "\"2025-01-02\"", "2025-01-02"},
        {PLAIN(DATE), "20250102", "2025-01-02"},
        {PLAIN(DATE), "\"epoch\"", "1970-01-01"},
        {PLAIN(DATE), "null", "NULL"},
    };
    static const char *const words[] = {"now", "today", "tomorrow", "yesterday"};
    (void)state;
    CHECK_VALUES(cases, MILLISECONDS);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        static const enum weir_type_kind kinds[] = {WEIR_TYPE_DATE, WEIR_TYPE_TIMESTAMP,
                                                    WEIR_TYPE_TIMESTAMPTZ};
        for (size_t j = 0; j < sizeof kinds / sizeof kinds[0]; j++) {
            const struct weir_field field = {"v", weir_type_plain(kinds[j])};
            const struct weir_schema schema = {1, &field};
            struct weir_buffer json = {0};
            weir_buffer_printf(&json, "{\"v\":\"%s\"}", words[i]);
            const char *text = weir_buffer_text(&json);
            struct decoded_case run;
            json_case_decode(&run, &schema, MILLISECONDS, &text, 1);
            assert_int_equal(run.decoded.row_count, 0);
            assert_int_equal(run.decoded.bad_count, 1);
            json_case_release(&run);
            weir_buffer_deinit(&json);
        }
    }
}

// C099: the unit is the option's, not the size's.
static void test_decode_times_from_numbers(void **state)
{
    static const struct value_case seconds[] = {
        {PLAIN(TIMESTAMPTZ), "0", "1970-01-01 00:00:00+00"},
        {PLAIN(TIMESTAMPTZ), "1650000000.5", "2022-04-15 05:20:00.5+00"},
        {PLAIN(TIMESTAMPTZ), "1.65e9", "2022-04-15 05:20:00+00"},
        {PLAIN(TIMESTAMPTZ), "0.0000005", "1970-01-01 00:00:00.000001+00"},
        {PLAIN(TIMESTAMPTZ), "-0.0000005", "1969-12-31 23:59:59.999999+00"},
        {PLAIN(TIMESTAMPTZ), "9999999999999",
         "!value \"9999999999999\" is out of range for type timestamp with time zone"},
        {PLAIN(TIMESTAMPTZ), "999999999999999999",
         "!value \"999999999999999999\" is out of range for type timestamp with time zone"},
        {PLAIN(TIMESTAMPTZ), "1e300",
         "!value \"1e300\" is out of range for type timestamp with time zone"},
    };
    static const struct value_case milliseconds[] = {
        {PLAIN(TIMESTAMPTZ), "250", "1970-01-01 00:00:00.25+00"},
        {PLAIN(TIMESTAMPTZ), "1650000000123456", "54256-06-02 05:22:03.456+00"},
        {PLAIN(TIMESTAMPTZ), "-1", "1969-12-31 23:59:59.999+00"},
        {PLAIN(TIMESTAMPTZ), "0.0015", "1970-01-01 00:00:00.000002+00"},
        {PLAIN(TIMESTAMP), "250", "1970-01-01 00:00:00.25"},
        {PLAIN(TIMESTAMPTZ), "\"2024-05-06T07:08:09.654321Z\"", "2024-05-06 07:08:09.654321+00"},
        {PLAIN(TIMESTAMPTZ), "\"2024-05-06 07:08:09.5\"", "2024-05-06 07:08:09.5+00"},
    };
    static const struct value_case microseconds[] = {
        {PLAIN(TIMESTAMPTZ), "250", "1970-01-01 00:00:00.00025+00"},
        {PLAIN(TIMESTAMPTZ), "1650000000123456", "2022-04-15 05:20:00.123456+00"},
        {PLAIN(TIMESTAMPTZ), "9223371331199999999999",
         "!value \"9223371331199999999999\" is out of range for type timestamp with time zone"},
        {PLAIN(TIMESTAMPTZ), "\"2024-05-06T07:08:09.654321Z\"", "2024-05-06 07:08:09.654321+00"},
    };
    static const struct value_case nanoseconds[] = {
        {PLAIN(TIMESTAMPTZ), "1650000000123456789", "2022-04-15 05:20:00.123457+00"},
        {PLAIN(TIMESTAMPTZ), "1650000000123456499", "2022-04-15 05:20:00.123456+00"},
        {PLAIN(TIMESTAMPTZ), "500", "1970-01-01 00:00:00.000001+00"},
        {PLAIN(TIMESTAMPTZ), "499", "1970-01-01 00:00:00+00"},
        {PLAIN(TIMESTAMPTZ), "-500", "1969-12-31 23:59:59.999999+00"},
    };
    (void)state;
    CHECK_VALUES(seconds, 0);
    CHECK_VALUES(milliseconds, 3);
    CHECK_VALUES(microseconds, 6);
    CHECK_VALUES(nanoseconds, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_integers),
        cmocka_unit_test(test_decode_numerics),
        cmocka_unit_test(test_decode_floats),
        cmocka_unit_test(test_decode_texts),
        cmocka_unit_test(test_decode_jsonb),
        cmocka_unit_test(test_decode_times_from_strings),
        cmocka_unit_test(test_decode_times_from_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
