// SPDX-License-Identifier: Apache-2.0
// Change events: which become rows, which delete, which are bad, and what values stand for with and
// without a schema, whatever order the messages come in.
#include "json_case.h"

#include "kafka/json_debezium.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct weir_field fields[] = {
    {"id", PLAIN(INTEGER)},    {"n", NUMERIC(10, 3)}, {"d", PLAIN(DATE)},     {"t", PLAIN(TIME)},
    {"z", PLAIN(TIMESTAMPTZ)}, {"b", PLAIN(BYTEA)},   {"i", PLAIN(INTERVAL)}, {"s", PLAIN(TEXT)},
};
static const struct weir_schema schema = {8, fields};

// What becomes of each record, between newlines: a row as "1|…", "deletes", "nothing" or "bad: …".
static void expect_decoded(bool is_key, const char *const *texts, uint32_t count,
                           const char *expected)
{
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_json_decode_options options = {.timestamp_digits = MILLISECONDS};
    struct weir_decoder *decoder = is_key ? weir_debezium_key_decoder_create(&schema, &options)
                                          : weir_debezium_decoder_create(&schema, &options);
    struct weir_record *records = weir_arena_alloc_zero(arena, count * sizeof *records);
    for (uint32_t i = 0; i < count; i++) {
        records[i].value = texts[i] != NULL ? weir_view_of(texts[i]) : (struct weir_view){0};
    }
    struct weir_decoded decoded;
    weir_decoder_decode(decoder, records, count, arena, &decoded);
    struct weir_buffer out = {0};
    uint32_t row = 0;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        weir_buffer_append(&out, "\n", i != 0);
        if (decoded.fates[i] != WEIR_RECORD_IS_ROW) {
            weir_buffer_printf(&out, "%s",
                               decoded.fates[i] == WEIR_RECORD_DELETES ? "deletes" : "nothing");
        } else if (bad < decoded.bad_count && decoded.bad[bad].record_idx == i) {
            weir_buffer_printf(&out, "bad: %.60s", decoded.bad[bad++].message);
        } else {
            assert_int_equal(decoded.record_of_row[row], i);
            append_row(&out, &schema, &decoded, row++);
        }
    }
    assert_int_equal(row, decoded.row_count);
    assert_int_equal(bad, decoded.bad_count);
    assert_string_equal(weir_buffer_text(&out), expected);
    weir_buffer_deinit(&out);
    weir_decoder_destroy(decoder);
    weir_arena_destroy(arena);
}

#define COUNT(texts) (sizeof(texts) / sizeof(texts)[0])

static void test_debezium_operations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"op\":\"c\",\"after\":{\"id\":1}}",
        "{\"before\":{\"id\":9},\"after\":{\"id\":2,\"s\":\"x\",\"more\":1},\"op\":\"u\"}",
        "{\"op\":\"r\",\"after\":{\"id\":3},\"transaction\":{\"id\":\"1\"}}",
        "{\"op\":\"d\",\"before\":{\"id\":4},\"after\":null}",
        NULL,
        "{\"op\":\"m\",\"message\":{\"prefix\":\"p\"}}",
        "{\"op\":\"t\",\"before\":null,\"after\":null}",
        "{\"op\":\"c\",\"after\":null}",
        "{\"op\":\"x\",\"after\":{\"id\":1}}",
        "{\"id\":1,\"s\":\"flat\"}",
        "{\"op\":\"c\",\"after\":{\"id\":\"one\"}}",
        "{\"schema\":null,\"payload\":{\"op\":\"c\",\"after\":{\"id\":5}}}",
        "{\"schema\":{},\"payload\":null}",
        "no json",
        "{\"op\":\"c\",\"after\":{\"id\":6}}",
    };
    expect_decoded(false, texts, COUNT(texts),
                   "1|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n"
                   "2|NULL|NULL|NULL|NULL|NULL|NULL|x\n"
                   "3|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n"
                   "deletes\ndeletes\nnothing\n"
                   "bad: the table was truncated, which names no keys: let the connec\n"
                   "bad: a create, update or read without \"after\"\n"
                   "bad: unknown \"op\" \"x\"\n"
                   "bad: no change event of Debezium: it has no \"op\" of one letter (f\n"
                   "bad: column \"id\": invalid input syntax for type integer: \"one\"\n"
                   "5|NULL|NULL|NULL|NULL|NULL|NULL|NULL\ndeletes\n"
                   "bad: invalid JSON at byte 1 of 7: a value was expected\n"
                   "6|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
}

#define SCHEMA(parts)                                                                              \
    "{\"schema\":{\"fields\":[{\"field\":\"after\",\"fields\":[" parts "]}]},\"payload\":"
#define DECIMAL(scale)                                                                             \
    "{\"field\":\"n\",\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\","      \
    "\"parameters\":{\"scale\":\"" scale "\"}}"

#define NAMED(field, type) "{\"field\":\"" field "\",\"name\":\"io.debezium.time." type "\"}"
#define AFTER(members) "{\"op\":\"c\",\"after\":{" members "}}}"

static void test_debezium_values_by_schema(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SCHEMA(DECIMAL("3")) "{\"op\":\"c\",\"after\":{\"id\":1,\"n\":\"MDk=\"}}}",
        // Another scale from here on; what was read before stays.
        SCHEMA(DECIMAL("1")) "{\"op\":\"c\",\"after\":{\"id\":2,\"n\":\"MDk=\"}}}",
        SCHEMA(DECIMAL("1")) "{\"op\":\"c\",\"after\":{\"id\":3,\"n\":\"/w==\"}}}",
        "{\"op\":\"c\",\"after\":{\"id\":4,\"n\":\"MDk=\"}}",
        SCHEMA(
            "{\"field\":\"n\",\"name\":\"io.debezium.data.VariableScaleDecimal\"}") "{\"op\":\"c\","
                                                                                    "\"after\":{"
                                                                                    "\"id\":5,"
                                                                                    "\"n\":{"
                                                                                    "\"scale\":2,"
                                                                                    "\"value\":"
                                                                                    "\"AN4=\"}}}}",
        SCHEMA("{\"field\":\"z\",\"name\":\"io.debezium.time.MicroTimestamp\"},"
               "{\"field\":\"t\",\"name\":\"io.debezium.time.Time\"},"
               "{\"field\":\"d\",\"name\":\"io.debezium.time.Date\"},"
               "{\"field\":\"i\",\"name\":\"io.debezium.time.NanoDuration\"}") "{\"op\":\"c\","
                                                                               "\"after\":{\"id\":"
                                                                               "6,\"z\":"
                                                                               "1650000000123456,"
                                                                               "\"t\":3600001,"
                                                                               "\"d\":-1,"
                                                                               "\"i\":1500}}}",
        SCHEMA("{\"field\":\"z\",\"name\":\"io.debezium.time.NanoTimestamp\"}") "{\"op\":\"c\","
                                                                                "\"after\":{\"id\":"
                                                                                "7,\"z\":"
                                                                                "165000000012345678"
                                                                                "9}}}",
        SCHEMA("{\"field\":\"s\",\"name\":\"io.debezium.time.Date\"}") "{\"op\":\"c\",\"after\":{"
                                                                       "\"id\":8,\"s\":19000}}}",
        SCHEMA("{\"field\":\"t\",\"name\":\"io.debezium.time.Time\"}") "{\"op\":\"c\",\"after\":{"
                                                                       "\"id\":9,\"t\":86400001}}}",
    };
    expect_decoded(
        false, texts, COUNT(texts),
        "1|12.345|NULL|NULL|NULL|NULL|NULL|NULL\n2|1234.500|NULL|NULL|NULL|NULL|NULL|NULL\n"
        "3|-0.100|NULL|NULL|NULL|NULL|NULL|NULL\n"
        "bad: column \"n\": invalid input syntax for type numeric: \"MDk=\": b\n"
        "5|2.220|NULL|NULL|NULL|NULL|NULL|NULL\n"
        "6|NULL|1969-12-31|01:00:00.001|2022-04-15 05:20:00.123456+00|NULL|00:00:00.000002|NULL\n"
        "7|NULL|NULL|NULL|2022-04-15 05:20:00.123457+00|NULL|NULL|NULL\n"
        "8|NULL|NULL|NULL|NULL|NULL|NULL|2022-01-08\n"
        "bad: column \"t\": 86400001 is out of range");
}

// The ends of 64 bits: nanoseconds are rounded to a time, days are out of range.
static void test_debezium_counts_at_their_ends(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SCHEMA(NAMED("z", "NanoTimestamp")) AFTER("\"id\":1,\"z\":9223372036854775807"),
        SCHEMA(NAMED("z", "NanoTimestamp")) AFTER("\"id\":2,\"z\":-9223372036854775808"),
        SCHEMA(NAMED("d", "Date")) AFTER("\"id\":3,\"d\":-9223372036854775808"),
    };
    expect_decoded(false, texts, COUNT(texts),
                   "1|NULL|NULL|NULL|2262-04-11 23:47:16.854776+00|NULL|NULL|NULL\n"
                   "2|NULL|NULL|NULL|1677-09-21 00:12:43.145224+00|NULL|NULL|NULL\n"
                   "bad: column \"d\": -9223372036854775808 is out of range");
}

static void test_debezium_values_without_schema(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"op\":\"c\",\"after\":{\"id\":1,\"n\":\"12.5\",\"d\":0,\"t\":3600000000,"
        "\"z\":1650000000123,\"b\":\"AP8=\",\"i\":-1}}",
        "{\"op\":\"c\",\"after\":{\"id\":2,\"n\":7.25,\"d\":\"2024-02-29\",\"t\":\"04:05\","
        "\"z\":\"2024-02-29T00:00:00Z\",\"b\":\"\",\"i\":\"P1D\"}}",
        "{\"op\":\"c\",\"after\":{\"id\":3,\"b\":\"A\"}}",
        "{\"op\":\"c\",\"after\":{\"id\":4,\"b\":\"A===\"}}",
        "{\"op\":\"c\",\"after\":{\"id\":5,\"b\":\"\\/w==\"}}",
    };
    expect_decoded(false, texts, COUNT(texts),
                   "1|12.500|1970-01-01|01:00:00|2022-04-15 05:20:00.123+00|\\x00ff|"
                   "-00:00:00.000001|NULL\n"
                   "2|7.250|2024-02-29|04:05:00|2024-02-29 00:00:00+00|\\x|1 day|NULL\n"
                   "bad: column \"b\": \"A\" is no base64\n"
                   "bad: column \"b\": \"A===\" is no base64\n"
                   "5|NULL|NULL|NULL|NULL|\\xff|NULL|NULL");
}

static void test_debezium_keys(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"id\":1}",
        ("{\"schema\":{\"fields\":[{\"field\":\"id\"},{\"field\":\"z\",\"name\":"
         "\"io.debezium.time.MicroTimestamp\"}]},\"payload\":{\"id\":2,\"z\":1000000}}"),
        "{\"payload\":3,\"id\":3}", // a column of that name
        "5",
    };
    expect_decoded(true, texts, COUNT(texts),
                   "1|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n"
                   "2|NULL|NULL|NULL|1970-01-01 00:00:01+00|NULL|NULL|NULL\n"
                   "3|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n"
                   "bad: invalid JSON at byte 1 of 1: an object was expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debezium_operations),
        cmocka_unit_test(test_debezium_values_by_schema),
        cmocka_unit_test(test_debezium_counts_at_their_ends),
        cmocka_unit_test(test_debezium_values_without_schema),
        cmocka_unit_test(test_debezium_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
