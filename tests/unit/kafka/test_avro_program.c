// SPDX-License-Identifier: Apache-2.0
// What becomes of single values: logical types, defaults, promotions, unions, enums.
#include "../cmocka_all.h"
#include "avro_case.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define FIELD_DEFAULT(name, type, value)                                                           \
    "{\"name\":\"" name "\",\"type\":" type ",\"default\":" value "}"
#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"

static const struct weir_avro_decode_options plain_options = {.timestamp_digits = MILLISECONDS};

struct value_case {
    const char *schema;    // of field v
    struct weir_type type; // of column v
    const char *body;      // in hex
    const char *expected;  // the value's text; the message of the bad record begins with a !
};

static void check_values(const struct value_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct avro_case run;
        struct weir_field field = {"v", cases[i].type};
        struct weir_schema schema = {1, &field};
        avro_case_begin(&run);
        avro_case_add(
            &run, 1,
            weir_arena_printf(run.arena, RECORD("{\"name\":\"v\",\"type\":%s}"), cases[i].schema));
        const char *frame = weir_arena_printf(run.arena, "0000000001%s", cases[i].body);
        avro_case_decode(&run, &schema, plain_options, &frame, 1);
        if (cases[i].expected[0] == '!') {
            const char *got = run.decoded.bad_count == 1 ? run.decoded.bad[0].message : "no error";
            if (strstr(got, cases[i].expected + 1) == NULL) {
                fail_msg("case %u, %s: %s", i, cases[i].schema, got);
            }
        } else if (run.decoded.row_count != 1 || strcmp(run.text.data, cases[i].expected) != 0) {
            fail_msg("case %u, %s: %s", i, cases[i].schema,
                     run.decoded.row_count == 1 ? run.text.data : run.decoded.bad[0].message);
        }
        avro_case_end(&run);
    }
}

static void test_values_of_every_type(void **state)
{
    static const struct value_case cases[] = {
        {"\"boolean\"", PLAIN(BOOLEAN), "01", "t"},
        {"\"boolean\"", PLAIN(BOOLEAN), "02", "!a boolean is 0 or 1, not 2"},
        {"\"int\"", PLAIN(SMALLINT), "ffff03", "-32768"},
        {"\"int\"", PLAIN(SMALLINT), "808004", "!out of range for type smallint"},
        {"\"int\"", PLAIN(INTEGER), "ffffffff0f", "-2147483648"},
        {"\"int\"", PLAIN(BIGINT), "8080808010", "!out of range"},
        {"\"int\"", PLAIN(BIGINT), "feffffff0f", "2147483647"},
        {"\"long\"", PLAIN(BIGINT), "ffffffffffffffffff01", "-9223372036854775808"},
        {"\"long\"", PLAIN(BIGINT), "feffffffffffffffff01", "9223372036854775807"},
        {"\"long\"", PLAIN(BIGINT), "ffffffffffffffffff02", "!a length is wrong"},
        {"\"long\"", PLAIN(BIGINT), "ffffffffffffffffffff01", "!a length is wrong"},
        {"\"long\"", PLAIN(INTEGER), "8080808010", "!out of range for type integer"},
        {"\"long\"", PLAIN(DOUBLE), "04", "2"},
        {"\"long\"", PLAIN(REAL), "04", "2"},
        {"\"long\"", NUMERIC(5, 2), "04", "2.00"},
        {"\"float\"", PLAIN(DOUBLE), "0000c03f", "1.5"},
        {"\"float\"", PLAIN(REAL), "0000c0ff", "NaN"},
        {"\"double\"", PLAIN(DOUBLE), "000000000000f87f", "NaN"},
        {"\"double\"", PLAIN(DOUBLE), "0000000000000080", "-0"},
        {"\"string\"", PLAIN(TEXT), "06c3a478", "\xc3\xa4x"},
        {"\"string\"", VARCHAR(2), "06616263", "!value too long for type character varying(2)"},
        {"\"string\"", PLAIN(BIGINT), "043432", "42"},
        {"\"string\"", PLAIN(BIGINT), "043478", "!invalid input syntax for type bigint"},
        {"\"bytes\"", PLAIN(BYTEA), "0601fe7f", "\\x01fe7f"}, // C033
        {"\"bytes\"", PLAIN(BYTEA), "00", "\\x"},
        {"\"bytes\"", PLAIN(TEXT), "046869", "hi"},
        {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":3}", PLAIN(BYTEA), "0010ff", "\\x0010ff"},
        {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}", PLAIN(TEXT), "02", "B"},
        {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}", PLAIN(TEXT), "04",
         "!symbol number 2 of an enum of 2"},
        {"\"null\"", PLAIN(TEXT), "", "NULL"},
    };
    (void)state;
    check_values(cases, sizeof cases / sizeof cases[0]);
}

// C019, C022.
static void test_values_of_logical_types(void **state)
{
    static const char decimal[] =
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":10,\"scale\":2}";
    static const char micros[] = "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}";
    static const char millis[] = "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}";
    static const char fixed[] = "{\"type\":\"fixed\",\"name\":\"f\",\"size\":2,\"logicalType\":"
                                "\"decimal\",\"precision\":4,\"scale\":1}";
    static const struct value_case cases[] = {
        {decimal, PLAIN(NUMERIC), "0200", "0.00"},
        {decimal, PLAIN(NUMERIC), "0207", "0.07"},
        {decimal, PLAIN(NUMERIC), "040fa0", "40.00"},
        {decimal, PLAIN(NUMERIC), "0a00000000c8", "2.00"},
        {decimal, PLAIN(NUMERIC), "02ff", "-0.01"},
        {decimal, PLAIN(NUMERIC), "00", "!a decimal has no bytes"},
        {decimal, NUMERIC(5, 1), "040fa1", "40.0"},
        {decimal, NUMERIC(3, 2), "040fa0", "!numeric field overflow"},
        {decimal, PLAIN(BYTEA), "040fa0", "\\x0fa0"},
        {fixed, PLAIN(NUMERIC), "ffff", "-0.1"},
        {micros, PLAIN(TIMESTAMPTZ), "808998fed1aaee05", "2022-04-15 05:20:00.123456+00"},
        {millis, PLAIN(TIMESTAMP), "f6d1cfba8560", "2022-04-15 05:20:00.123"},
        {micros, PLAIN(TIMESTAMPTZ), "ffffffffffffffffff01", "!out of range for type timestamp"},
        {"{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}", PLAIN(TIMESTAMP), "01",
         "1969-12-31 23:59:59.999999"},
        {"\"long\"", PLAIN(TIMESTAMPTZ), "f6d1cfba8560", "2022-04-15 05:20:00.123+00"},
        {"{\"type\":\"int\",\"logicalType\":\"date\"}", PLAIN(DATE), "02", "1970-01-02"},
        {"{\"type\":\"int\",\"logicalType\":\"date\"}", PLAIN(DATE), "ffffffff0f",
         "!out of range for type date"},
        {"{\"type\":\"int\",\"logicalType\":\"decimal\",\"precision\":3}", PLAIN(BIGINT), "02",
         "1"},
    };
    (void)state;
    check_values(cases, sizeof cases / sizeof cases[0]);
}

static void test_values_of_unions_and_containers(void **state)
{
    static const char map[] = "{\"type\":\"map\",\"values\":[\"null\",\"long\"]}";
    static const struct value_case cases[] = {
        {"[\"null\",\"long\"]", PLAIN(BIGINT), "00", "NULL"},
        {"[\"long\",\"null\"]", PLAIN(BIGINT), "0006", "3"},
        {"[\"int\",\"null\",\"long\"]", PLAIN(BIGINT), "0406", "3"},
        {"[\"int\",\"null\",\"long\"]", PLAIN(BIGINT), "02", "NULL"},
        {"[\"int\",\"string\"]", PLAIN(TEXT), "020278", "x"},
        {"[\"int\",\"string\"]", PLAIN(TEXT), "0002", "!int cannot become text"},
        {"[\"int\",\"string\"]", PLAIN(BIGINT), "02043437", "47"},
        {"[\"string\",{\"type\":\"map\",\"values\":\"int\"}]", PLAIN(JSONB), "020202611400",
         "{\"a\": 10}"},
        {map, PLAIN(JSONB), "04026100016202040300", "!length is wrong"},
        {map, PLAIN(JSONB), "0402610002620204 00", "{\"a\": null, \"b\": 2}"},
        {map, PLAIN(JSONB), "01 0e 0261020a 00", "{\"a\": 5}"}, // a block that tells its size
        {"{\"type\":\"array\",\"items\":\"double\"}", PLAIN(JSONB),
         "02000000000000f03f02000000000000f87f00", "[1, \"NaN\"]"},
        {"{\"type\":\"array\",\"items\":\"null\"}", PLAIN(JSONB), "feffffffffffffffff0100",
         "!cannot be"},
        {"{\"type\":\"array\",\"items\":\"long\"}", PLAIN(JSONB), "feffffffffffffffff0100",
         "!cannot be"},
        {"\"string\"", PLAIN(JSONB), "0e7b2261223a317d", "{\"a\": 1}"}, // JSON text
        {"[\"string\",\"long\",\"null\"]", PLAIN(JSONB), "000478",
         "!the record ends within a value"},
        {"[\"string\",\"long\",\"null\"]", PLAIN(JSONB), "000278", "\"x\""},
    };
    (void)state;
    check_values(cases, 8);
    check_values(cases + 9, 1);
    check_values(cases + 11, sizeof cases / sizeof cases[0] - 11);
}

static void test_fields_that_no_column_wants_are_passed(void **state)
{
    static const struct weir_field field = {"z", PLAIN(INTEGER)};
    static const struct weir_schema schema = {1, &field};
    // clang-format off
    static const char text[] = RECORD(
        FIELD("a", "\"string\"") ","
        FIELD("b", "{\"type\":\"array\",\"items\":\"string\"}") ","
        FIELD("c", "{\"type\":\"map\",\"values\":\"double\"}") ","
        FIELD("d", "[\"null\",\"long\"]") ","
        FIELD("e", "[\"int\",\"string\",\"null\"]") ","
        FIELD("f", "{\"type\":\"array\",\"items\":\"null\"}") ","
        FIELD("g", "\"long\"") "," FIELD("h", "\"int\"") "," FIELD("i", "\"boolean\"") ","
        FIELD("z", "\"int\"") "," FIELD("y", "\"string\""));
    // clang-format on
    static const char *const frames[] = {
        ("0000000001 0278 04 0261 0262 00 02 026b 000000000000f03f 00 02 06 02 0271"
         " feffffffffffffffff01 00 7f 03 01 54 00"),
        "0000000001 0278 03 08 0261 0262 00 00 00 04 00 02 02 01 56 00",
        "0000000001 0278 feffffffffffffffff01 0261 0262 00 00 00 04 00 02 02 01 56 00",
        "0000000001 0278 04 0261 0262 00 00 00 04 00 02 02 01 56",
    };
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1, text);
    avro_case_decode(&run, &schema, plain_options, frames, 4);
    assert_string_equal(run.text.data, "42\n43");
    assert_int_equal(run.decoded.bad_count, 2);
    avro_case_end(&run);
}

// C018 and C025: what the writer did not know has the reader's default, in its logical type.
static void test_defaults_of_the_reader(void **state)
{
    static const struct weir_field fields[] = {{"id", PLAIN(INTEGER)},     {"d", PLAIN(DATE)},
                                               {"ts", PLAIN(TIMESTAMPTZ)}, {"amt", NUMERIC(6, 2)},
                                               {"n", PLAIN(TEXT)},         {"fee", PLAIN(NUMERIC)}};
    static const struct weir_schema schema = {6, fields};
    // clang-format off
#define FEE                                                                                        \
    "[{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":5,\"scale\":2},\"null\"]"
    static const char reader[] = RECORD(
        FIELD("id", "\"int\"") ","
        FIELD_DEFAULT("d", "{\"type\":\"int\",\"logicalType\":\"date\"}", "1") ","
        FIELD_DEFAULT("ts", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
                      "1650000000123456") ","
        FIELD_DEFAULT("amt", "{\"type\":\"bytes\",\"logicalType\":\"decimal\","
                             "\"precision\":6,\"scale\":2}", "\"\\u0003\\u00e9\"") ","
        FIELD_DEFAULT("n", "[\"null\",\"string\"]", "null") ","
        FIELD_DEFAULT("fee", FEE, "\"\\u0000\""));
    // clang-format on
    static const char *const frames[] = {"000000000a0a", "000000000b0400027d"};
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 10, RECORD(FIELD("id", "\"int\"")));
    avro_case_add(&run, 11, RECORD(FIELD("id", "\"int\"") "," FIELD("fee", FEE)));
    struct weir_avro_decode_options options = plain_options;
    options.reader = avro_case_parse(&run, reader);
    avro_case_decode(&run, &schema, options, frames, 2);
    assert_string_equal(run.text.data,
                        "5|1970-01-02|2022-04-15 05:20:00.123456+00|10.01|NULL|0.00\n"
                        "2|1970-01-02|2022-04-15 05:20:00.123456+00|10.01|NULL|1.25");
    avro_case_end(&run);
}

// C027.
static void test_symbols_that_the_reader_does_not_know(void **state)
{
    static const char writer[] = RECORD(
        FIELD("c", "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"RED\",\"BLUE\",\"PINK\"]}"));
    static const char *const readers[] = {
        RECORD(FIELD_DEFAULT("c",
                             "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"RED\","
                             "\"BLUE\",\"OTHER\"],\"default\":\"OTHER\"}",
                             "\"RED\"")),
        RECORD(FIELD_DEFAULT("c",
                             "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"RED\","
                             "\"BLUE\",\"OTHER\"]}",
                             "\"RED\"")),
    };
    static const struct weir_field field = {"c", PLAIN(TEXT)};
    static const struct weir_schema schema = {1, &field};
    static const char *const frames[] = {"000000000104", "000000000102"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct avro_case run;
        avro_case_begin(&run);
        avro_case_add(&run, 1, writer);
        struct weir_avro_decode_options options = plain_options;
        options.reader = i < 2 ? avro_case_parse(&run, readers[i]) : NULL;
        options.is_reader_strict = true;
        avro_case_decode(&run, &schema, options, frames, 2);
        static const char *const expected[] = {"OTHER\nBLUE", "BLUE", "PINK\nBLUE"};
        assert_string_equal(run.text.data, expected[i]);
        assert_int_equal(run.decoded.bad_count, i == 1);
        avro_case_end(&run);
    }
}

static void test_nested_records_and_aliases(void **state)
{
    static const struct weir_field inner[] = {{"x", PLAIN(BIGINT)}, {"y", PLAIN(TEXT)}};
    static const struct weir_composite composite = {"pair", 2, inner};
    static const struct weir_field fields[] = {{"p", {WEIR_TYPE_COMPOSITE, -1, &composite}},
                                               {"q", {WEIR_TYPE_COMPOSITE, -1, &composite}},
                                               {"renamed", PLAIN(INTEGER)}};
    static const struct weir_schema schema = {3, fields};
    static const char writer[] = RECORD(FIELD("old", "\"int\"") "," FIELD(
        "p",
        "{\"type\":\"record\",\"name\":\"pair\",\"fields\":[" FIELD("y", "\"string\"") "," FIELD(
            "more", "\"string\"") "," FIELD("x", "\"int\"") "]}") "," FIELD("q",
                                                                            "[\"null\",\"pair\"]"));
    static const char reader[] =
        RECORD("{\"name\":\"renamed\",\"type\":\"int\",\"aliases\":[\"old\"]}");
    static const char *const frames[] = {"0000000001 02 0261 0262 0e 00",
                                         "0000000001 04 0263 0264 10 02 0265 0266 12"};
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1, writer);
    struct weir_avro_decode_options options = plain_options;
    options.reader = avro_case_parse(&run, reader);
    avro_case_decode(&run, &schema, options, frames, 2);
    assert_string_equal(run.text.data, "(7,a)|NULL|1\n(8,c)|(9,e)|2");
    avro_case_end(&run);
}

static void test_schemas_that_cannot_become_the_columns(void **state)
{
    static const struct weir_field field = {"v", PLAIN(BOOLEAN)};
    static const struct weir_schema schema = {1, &field};
    static const char *const frames[] = {"000000000102"};
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1,
                  RECORD(FIELD("v", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}")));
    avro_case_decode(&run, &schema, plain_options, frames, 1);
    assert_int_equal(run.decoded.bad[0].reason, WEIR_ROW_ERROR_SCHEMA);
    assert_string_equal(run.decoded.bad[0].message,
                        "schema 1: column \"v\": long (timestamp-micros) cannot become boolean");
    avro_case_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_every_type),
        cmocka_unit_test(test_values_of_logical_types),
        cmocka_unit_test(test_values_of_unions_and_containers),
        cmocka_unit_test(test_fields_that_no_column_wants_are_passed),
        cmocka_unit_test(test_defaults_of_the_reader),
        cmocka_unit_test(test_symbols_that_the_reader_does_not_know),
        cmocka_unit_test(test_nested_records_and_aliases),
        cmocka_unit_test(test_schemas_that_cannot_become_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
