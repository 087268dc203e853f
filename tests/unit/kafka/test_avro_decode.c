// SPDX-License-Identifier: Apache-2.0
// Framing, and records of several schemas in one run. Single values: test_avro_program.c.
#include "../cmocka_all.h"
#include "avro_case.h"

static const struct weir_avro_decode_options plain_options = {.timestamp_digits = MILLISECONDS};

// C039: three different reasons.
static void test_decode_tells_bad_frames_apart(void **state)
{
    static const struct weir_field field = {"v", PLAIN(INTEGER)};
    static const struct weir_schema schema = {1, &field};
    static const char *const frames[] = {
        "7b226b223a397d",       // {"k":9}
        "310000000102",         // '1'
        "020000000102",         //
        "",                     //
        "00",                   //
        "000000020002",         // id 512
        "00000000000000000102", // an id of eight bytes
        NULL,                   // a null value
        "000000000102",         // the row
    };
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1, "\"int\"");
    struct weir_avro_decode_options options = plain_options;
    options.is_single_column = true;
    avro_case_decode(&run, &schema, options, frames, 9);
    assert_string_equal(run.text.data, "1");
    assert_int_equal(run.decoded.null_value_count, 1);
    assert_int_equal(run.decoded.record_of_row[0], 8);
    static const enum weir_row_error_reason reasons[] = {
        WEIR_ROW_ERROR_FRAMING, WEIR_ROW_ERROR_FRAMING, WEIR_ROW_ERROR_FRAMING,
        WEIR_ROW_ERROR_DECODE,  WEIR_ROW_ERROR_DECODE,  WEIR_ROW_ERROR_SCHEMA,
        WEIR_ROW_ERROR_SCHEMA};
    assert_int_equal(run.decoded.bad_count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(run.decoded.bad[i].record_idx, i);
        assert_int_equal(run.decoded.bad[i].reason, reasons[i]);
    }
    assert_string_equal(run.decoded.bad[5].message, "schema id 512 is unknown to the registry");
    assert_string_equal(run.decoded.bad[6].message, "schema id 0 is unknown to the registry");
    avro_case_end(&run);
}

// C030: lengths are not believed.
static void test_decode_refuses_wrong_lengths(void **state)
{
    static const struct weir_field field = {"s", PLAIN(TEXT)};
    static const struct weir_schema schema = {1, &field};
    static const char *const frames[] = {
        "0000000001086162",     // claims 4
        "00000000018080808010", // 2^31
        "00000000010b",         // -6
        "0000000001",           // none
        "00000000",             // no whole frame
        "00000000010678797a",
        "00000000010678797a00", // a byte too many
        "000000000104ff41",     // not UTF-8
        "00000000010400 41",    // NUL
    };
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"s\",\"type\":"
                  "\"string\"}]}");
    avro_case_decode(&run, &schema, plain_options, frames, 9);
    assert_string_equal(run.text.data, "xyz");
    assert_int_equal(run.decoded.bad_count, 8);
    assert_string_equal(run.decoded.bad[0].message,
                        "column \"s\": the record ends within a value, or a length is wrong "
                        "(schema 1)");
    assert_string_equal(run.decoded.bad[6].message,
                        "column \"s\": invalid byte sequence for encoding \"UTF8\": 0xff "
                        "(schema 1)");
    avro_case_end(&run);
}

// C043: each record by its own writer's schema; columns by name.
static void test_decode_each_record_by_its_writers_schema(void **state)
{
    static const struct weir_field fields[] = {
        {"a", PLAIN(TEXT)}, {"b", PLAIN(INTEGER)}, {"c", PLAIN(TEXT)}};
    static const struct weir_schema schema = {3, fields};
    static const char *const frames[] = {
        "0000000001 0278 02",         // v1: a x, b 1
        "0000000002 04 0279 00",      // v2: b 2, a y, c null
        "0000000003 027a",            // v3: a z
        "0000000002 06 0277 02 0271", // v2: b 3, a w, c q
        "0000000001 0276 08",         // v1
    };
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":"
                  "\"string\"},{\"name\":\"b\",\"type\":\"int\"}]}");
    avro_case_add(&run, 2,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"b\",\"type\":"
                  "\"int\"},{\"name\":\"a\",\"type\":\"string\"},{\"name\":\"c\",\"type\":["
                  "\"null\",\"string\"],\"default\":null}]}");
    avro_case_add(&run, 3,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":"
                  "\"string\"}]}");
    avro_case_decode(&run, &schema, plain_options, frames, 5);
    assert_string_equal(run.text.data, "x|1|NULL\ny|2|NULL\nz|NULL|NULL\nw|3|q\nv|4|NULL");
    assert_null(run.decoded.columns[0].validity);
    avro_case_end(&run);
}

// A record that fails in its last field has filled the ones before it.
static void test_decode_leaves_no_trace_of_bad_records(void **state)
{
    static const struct weir_field fields[] = {{"a", PLAIN(TEXT)}, {"n", PLAIN(SMALLINT)}};
    static const struct weir_schema schema = {2, fields};
    static const char *const frames[] = {
        "0000000001 02 0278 e0c508", // n is 70000
        "0000000001 00 02",          // a NULL, n 1
        "0000000001 04 02",          // branch 2 of 2
        "0000000001 02 0279 04",
    };
    struct avro_case run;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":["
                  "\"null\",\"string\"]},{\"name\":\"n\",\"type\":\"long\"}]}");
    avro_case_decode(&run, &schema, plain_options, frames, 4);
    assert_string_equal(run.text.data, "NULL|1\ny|2");
    assert_int_equal(run.decoded.bad_count, 2);
    assert_string_equal(run.decoded.bad[0].message,
                        "column \"n\": value \"70000\" is out of range for type smallint "
                        "(schema 1)");
    assert_string_equal(run.decoded.bad[1].message,
                        "column \"a\": branch 2 of a union of 2 (schema 1)");
    avro_case_end(&run);
}

static void test_missing_tells_what_is_waited_for(void **state)
{
    static const struct weir_field field = {"s", PLAIN(TEXT)};
    static const struct weir_schema schema = {1, &field};
    struct avro_case run;
    uint32_t id = 0;
    (void)state;
    avro_case_begin(&run);
    run.known[run.known_count++].id = 7; // pending
    avro_case_decode(&run, &schema, plain_options, NULL, 0);
    struct weir_record waiting = {.value = avro_case_bytes(&run, "0000000007 0278")};
    struct weir_record unknown = {.value = avro_case_bytes(&run, "0000000008 0278")};
    struct weir_record unframed = {.value = avro_case_bytes(&run, "0100000007")};
    const struct weir_decoder_ops *ops = run.decoder->ops;
    assert_true(ops->missing(run.decoder, &waiting, &id));
    assert_int_equal(id, 7);
    assert_true(ops->is_missing(run.decoder, 7));
    assert_false(ops->missing(run.decoder, &unknown, &id));
    assert_false(ops->missing(run.decoder, &unframed, &id));
    run.known[0].type = avro_case_parse(&run, "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                                              "{\"name\":\"s\",\"type\":\"string\"}]}");
    assert_false(ops->is_missing(run.decoder, 7));
    assert_false(ops->missing(run.decoder, &waiting, &id));
    weir_decoder_decode(run.decoder, &waiting, 1, run.arena, &run.decoded);
    assert_int_equal(run.decoded.row_count, 1);
    avro_case_end(&run);
}

// Between two records of one schema somebody asks for another one.
static void test_decode_after_another_schema_was_asked_for(void **state)
{
    static const struct weir_field field = {"s", PLAIN(TEXT)};
    static const struct weir_schema schema = {1, &field};
    static const char *const frames[] = {"0000000001 0a68656c6c6f"};
    struct avro_case run;
    uint32_t id = 0;
    (void)state;
    avro_case_begin(&run);
    avro_case_add(&run, 1,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                  "{\"name\":\"s\",\"type\":\"string\"}]}");
    avro_case_add(&run, 2,
                  "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                  "{\"name\":\"t\",\"type\":\"string\"}]}");
    avro_case_decode(&run, &schema, plain_options, frames, 1);
    assert_string_equal(run.text.data, "hello");
    struct weir_record first = {.value = avro_case_bytes(&run, frames[0])};
    struct weir_record other = {.value = avro_case_bytes(&run, "0000000002 0a68656c6c6f")};
    struct weir_record refused = {.value = avro_case_bytes(&run, "0000000009 0a68656c6c6f")};
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(run.decoder->ops->missing(run.decoder, i == 1 ? &refused : &other, &id));
        weir_decoder_decode(run.decoder, i == 2 ? &other : &first, 1, run.arena, &run.decoded);
        assert_int_equal(run.decoded.row_count, 1);
        assert_int_equal(weir_column_is_valid(run.decoded.columns, 0), i != 2);
    }
    avro_case_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_tells_bad_frames_apart),
        cmocka_unit_test(test_decode_refuses_wrong_lengths),
        cmocka_unit_test(test_decode_each_record_by_its_writers_schema),
        cmocka_unit_test(test_decode_leaves_no_trace_of_bad_records),
        cmocka_unit_test(test_decode_after_another_schema_was_asked_for),
        cmocka_unit_test(test_missing_tells_what_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
