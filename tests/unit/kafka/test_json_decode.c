// SPDX-License-Identifier: Apache-2.0
// What becomes of records: names, repeated and missing members, composites, and that a record that
// fails leaves nothing behind. Single values are tested in test_json_convert.c.
#include "json_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t record_of_row(const struct weir_decoded *decoded, uint32_t row)
{
    return decoded->record_of_row != NULL ? decoded->record_of_row[row] : row;
}

// C012: missing, null, empty and unknown are four things.
static void test_decode_members_by_exact_name(void **state)
{
    static const struct weir_field fields[] = {
        {"n", PLAIN(INTEGER)}, {"t", PLAIN(TEXT)}, {"N", PLAIN(INTEGER)}};
    static const struct weir_schema schema = {3, fields};
    static const char *const texts[] = {"{\"n\":7}", "{\"n\":8,\"t\":null,\"more\":[1]}", "{}",
                                        "{\"N\":30,\"n\":9,\"t\":\"\"}"};
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 4);
    assert_string_equal(weir_buffer_text(&run.text),
                        "7|NULL|NULL\n8|NULL|NULL\nNULL|NULL|NULL\n9||30");
    assert_null(run.decoded.record_of_row);
    assert_int_equal(run.decoded.bad_count, 0);
    json_case_release(&run);
}

// C004 on the typed path.
static void test_decode_takes_the_last_of_repeated_names(void **state)
{
    static const struct weir_field inner[] = {{"p", PLAIN(INTEGER)}, {"q", PLAIN(TEXT)}};
    static const struct weir_composite composite = {"o_type", 2, inner};
    static const struct weir_field fields[] = {{"a", PLAIN(INTEGER)},
                                               {"o", {WEIR_TYPE_COMPOSITE, -1, &composite}}};
    static const struct weir_schema schema = {2, fields};
    static const char *const texts[] = {
        "{\"a\":4,\"a\":9,\"o\":{\"p\":1,\"p\":{\"q\":2},\"p\":8}}",
        "{\"o\":{\"p\":1,\"q\":\"x\"},\"o\":{\"p\":2}}",
        "{\"o\":{\"p\":1},\"o\":null}",
        "{\"a\":\"not a number\",\"a\":1}", // only the last value is looked at
        "{\"a\":1,\"\\u0061\":\"not a number\"}",
    };
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 5);
    assert_string_equal(weir_buffer_text(&run.text),
                        "9|(8,NULL)\nNULL|(2,NULL)\nNULL|NULL\n1|NULL");
    assert_int_equal(run.decoded.bad_count, 1);
    assert_string_equal(run.decoded.bad[0].message,
                        "column \"a\": invalid input syntax for type integer: \"not a number\"");
    json_case_release(&run);
}

static void test_decode_composites(void **state)
{
    static const struct weir_field innermost[] = {{"z", PLAIN(BIGINT)}};
    static const struct weir_composite inner_composite = {"z_type", 1, innermost};
    static const struct weir_field inner[] = {{"price", PLAIN(BIGINT)},
                                              {"deep", {WEIR_TYPE_COMPOSITE, -1, &inner_composite}},
                                              {"note", PLAIN(TEXT)}};
    static const struct weir_composite composite = {"bid_type", 3, inner};
    static const struct weir_field field = {"bid", {WEIR_TYPE_COMPOSITE, -1, &composite}};
    static const struct weir_schema schema = {1, &field};
    static const char *const texts[] = {
        "{\"bid\":{\"price\":5,\"deep\":{\"z\":6},\"note\":\"x\",\"more\":{}}}",
        "{\"bid\":{}}",
        "{\"bid\":null}",
        "{}",
        "{\"bid\":{\"deep\":null,\"price\":7}}",
        "{\"bid\":{\"deep\":{\"z\":\"x\"}}}",
        "{\"bid\":3}",
        "{\"bid\":\"(1,,x)\"}",
        "{\"bid\":[1]}",
        "{\"bid\":{\"price\":8}}",
    };
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 10);
    assert_string_equal(weir_buffer_text(&run.text),
                        "(5,(6),x)\n(NULL,NULL,NULL)\nNULL\nNULL\n(7,NULL,NULL)\n(8,NULL,NULL)");
    // The fields of a NULL composite are NULL.
    for (uint32_t row = 2; row < 4; row++) {
        const struct weir_column *fields = run.decoded.columns[0].children;
        assert_false(weir_column_is_valid(&fields[0], row));
        assert_false(weir_column_is_valid(&fields[1], row));
        assert_false(weir_column_is_valid(&fields[1].children[0], row));
        assert_int_equal(fields[0].i64[row], 0);
    }
    assert_int_equal(run.decoded.bad_count, 4);
    assert_string_equal(run.decoded.bad[0].message,
                        "column \"bid.deep.z\": invalid input syntax for type bigint: \"x\"");
    for (uint32_t i = 1; i < 4; i++) {
        assert_string_equal(
            run.decoded.bad[i].message,
            "column \"bid\": a JSON object was expected for composite type bid_type");
    }
    json_case_release(&run);
}

// C007: in one fetch and in seven, with nothing left behind by a record that failed.
static void test_decode_leaves_no_trace_of_bad_records(void **state)
{
    static const struct weir_field fields[] = {
        {"t", PLAIN(BIGINT)}, {"w", PLAIN(BIGINT)}, {"s", PLAIN(TEXT)}};
    static const struct weir_schema schema = {3, fields};
    static const char *const texts[] = {"{\"t\":1,\"w\":10}",
                                        "{\"t\": 77zz, \"w\": 1}",
                                        "{\"t\":2,\"w\":007}",
                                        "{\"t\":3,\"s\":\"\xff\xfe\"}",
                                        "{\"t\":4",
                                        "{\"t\":5,\"w\":11}",
                                        "{\"t\":6,\"w\":12}"};
    static const char *const messages[] = {
        "invalid JSON at byte 9 of 19: a comma or } was expected",
        "invalid JSON at byte 13 of 15: a comma or } was expected",
        "invalid JSON at byte 13 of 16: not valid UTF-8",
        "invalid JSON at its end (6 bytes): a comma or } was expected",
    };
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 7);
    assert_string_equal(weir_buffer_text(&run.text), "1|10|NULL\n5|11|NULL\n6|12|NULL");
    assert_int_equal(record_of_row(&run.decoded, 0), 0);
    assert_int_equal(record_of_row(&run.decoded, 1), 5);
    assert_int_equal(record_of_row(&run.decoded, 2), 6);
    assert_int_equal(run.decoded.bad_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(run.decoded.bad[i].record_idx, i + 1);
        assert_int_equal(run.decoded.bad[i].reason, WEIR_ROW_ERROR_DECODE);
        assert_string_equal(run.decoded.bad[i].message, messages[i]);
    }
    json_case_release(&run);

    for (uint32_t i = 0; i < 7; i++) {
        json_case_decode(&run, &schema, MILLISECONDS, &texts[i], 1);
        bool is_good = i == 0 || i >= 5;
        assert_int_equal(run.decoded.row_count, is_good);
        assert_int_equal(run.decoded.bad_count, !is_good);
        json_case_release(&run);
    }
}

// A record that fails in its last column has filled the ones before it; the next row must not
// inherit them.
static void test_decode_clears_the_row_of_a_failed_conversion(void **state)
{
    static const struct weir_field inner[] = {{"x", PLAIN(TEXT)}};
    static const struct weir_composite composite = {"o_type", 1, inner};
    static const struct weir_field fields[] = {{"a", PLAIN(TEXT)},
                                               {"o", {WEIR_TYPE_COMPOSITE, -1, &composite}},
                                               {"v", VARCHAR(2)},
                                               {"n", PLAIN(SMALLINT)}};
    static const struct weir_schema schema = {4, fields};
    static const char *const texts[] = {
        "{\"a\":\"left\",\"o\":{\"x\":\"left\"},\"v\":\"l\",\"n\":70000}",
        "{\"n\":1}",
        "{\"a\":\"left\",\"o\":{\"x\":\"left\"},\"v\":\"lmn\",\"n\":1}",
        "{\"n\":2}",
        "{\"a\":\"left\",\"o\":{\"x\":\"left\"},\"n\":70000}",
    };
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 5);
    assert_string_equal(weir_buffer_text(&run.text), "NULL|NULL|NULL|1\nNULL|NULL|NULL|2");
    assert_int_equal(run.decoded.bad_count, 3);
    assert_int_equal(run.decoded.bad[0].reason, WEIR_ROW_ERROR_DECODE);
    assert_int_equal(run.decoded.bad[1].reason, WEIR_ROW_ERROR_CONSTRAINT);
    assert_int_equal(run.decoded.bad[2].reason, WEIR_ROW_ERROR_DECODE);
    assert_string_equal(run.decoded.bad[0].message,
                        "column \"n\": value \"70000\" is out of range for type smallint");
    // Every row has an n, no row an a.
    assert_null(run.decoded.columns[3].validity);
    assert_non_null(run.decoded.columns[0].validity);
    json_case_release(&run);
}

// C107: a null value is no row and not bad; a value of zero length is bad.
static void test_decode_counts_null_values(void **state)
{
    static const struct weir_field field = {"v", PLAIN(BIGINT)};
    static const struct weir_schema schema = {1, &field};
    static const char *const texts[] = {"{\"v\":1}", NULL, "{\"v\":3}", NULL, "", "null"};
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 6);
    assert_string_equal(weir_buffer_text(&run.text), "1\n3");
    assert_int_equal(run.decoded.null_value_count, 2);
    assert_int_equal(record_of_row(&run.decoded, 1), 2);
    assert_int_equal(run.decoded.bad_count, 2);
    assert_string_equal(run.decoded.bad[0].message,
                        "invalid JSON at its end (0 bytes): there is no value");
    assert_string_equal(run.decoded.bad[1].message,
                        "invalid JSON at byte 1 of 4: an object was expected");
    json_case_release(&run);
}

// Members that no column names need only be well-formed.
static void test_decode_without_columns_counts_objects(void **state)
{
    static const struct weir_schema schema = {0, NULL};
    static const char *const texts[] = {"{}",
                                        "{\"a\":1e999,\"b\":\"\\u0000\"}",
                                        "{\"a\":tru}",
                                        "[]",
                                        "{\"a\":{\"b\":[{}]}}",
                                        "{\"\\ud83d\":1,\"s\":\"ok\"}"};
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 6);
    assert_int_equal(run.decoded.row_count, 3);
    assert_int_equal(record_of_row(&run.decoded, 2), 4);
    assert_int_equal(run.decoded.bad_count, 3);
    json_case_release(&run);
}

// As many records as a batch holds, every third of them bad: bitmaps beyond one word.
static void test_decode_a_full_batch(void **state)
{
    static const struct weir_field fields[] = {{"n", PLAIN(INTEGER)}, {"s", PLAIN(TEXT)}};
    static const struct weir_schema schema = {2, fields};
    const char **texts = malloc(WEIR_BATCH_ROWS_MAX * sizeof *texts);
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_buffer expected = {0};
    (void)state;
    assert_non_null(texts);
    for (int i = 0; i < WEIR_BATCH_ROWS_MAX; i++) {
        bool has_s = i % 2 == 0;
        const char *number = i % 3 == 0 ? "\"bad\"" : weir_arena_printf(arena, "%d", i);
        texts[i] =
            weir_arena_printf(arena, has_s ? "{\"s\":\"x\\n\",\"n\":%s}" : "{\"n\":%s}", number);
        if (i % 3 != 0) {
            weir_buffer_printf(&expected, "%s%d|%s", expected.size_bytes != 0 ? "\n" : "", i,
                               has_s ? "x\n" : "NULL");
        }
    }
    struct decoded_case run;
    json_case_decode(&run, &schema, MILLISECONDS, texts, WEIR_BATCH_ROWS_MAX);
    assert_string_equal(weir_buffer_text(&run.text), weir_buffer_text(&expected));
    assert_null(run.decoded.columns[0].validity);
    for (uint32_t row = 0; row < run.decoded.row_count; row++) {
        assert_int_equal(record_of_row(&run.decoded, row), row + row / 2 + 1);
    }
    json_case_release(&run);
    weir_buffer_deinit(&expected);
    weir_arena_destroy(arena);
    free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_members_by_exact_name),
        cmocka_unit_test(test_decode_takes_the_last_of_repeated_names),
        cmocka_unit_test(test_decode_composites),
        cmocka_unit_test(test_decode_leaves_no_trace_of_bad_records),
        cmocka_unit_test(test_decode_clears_the_row_of_a_failed_conversion),
        cmocka_unit_test(test_decode_counts_null_values),
        cmocka_unit_test(test_decode_without_columns_counts_objects),
        cmocka_unit_test(test_decode_a_full_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
