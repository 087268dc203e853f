// SPDX-License-Identifier: Apache-2.0
// Lines of CSV: quotes, line ends, NULL and empty texts, columns by position, and what is refused.
#include "json_case.h"

#include "kafka/csv_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

// The columns that are read: the third and the first of three.
static const struct weir_field fields[] = {{"c", VARCHAR(3)}, {"a", PLAIN(INTEGER)}};
static const struct weir_schema schema = {2, fields};
static const uint32_t positions[] = {2, 0};

static const struct {
    const char *line;
    const char *expected;
} rows[] = {
    {"1,x,abc", "abc|1"},
    {"1,x,abc\r\n", "abc|1"},
    {"1,x,abc\n", "abc|1"},
    {"\"1\",\"x, \"\"y\"\"\nz\",\"\"\"\"", "\"|1"},
    {",,", "NULL|NULL"},
    {",,\"\"", "|NULL"},
    {" 1 ,,é😀", "é😀|1"},
    {"1,x", "invalid CSV: 2 fields, the table has 3"},
    {"1,x,y,z", "invalid CSV: 4 fields, the table has 3"},
    {"", "invalid CSV: 1 fields, the table has 3"},
    {"1,x,\"abc", "invalid CSV: a quoted field is not closed"},
    {"1,\"x\"y,z", "invalid CSV: characters behind a closing quote"},
    {"1,x\"y,z", "invalid CSV: a quote in a field without quotes"},
    {"1,x,y\n2,x,y", "invalid CSV: a second line: a message holds one"},
    {"one,x,y", "column \"a\": invalid input syntax for type integer: \"one\""},
    {"1,x,abcd", "column \"c\": value too long for type character varying(3)"},
    {"1,x,\xff", "column \"c\": invalid byte sequence for encoding \"UTF8\": 0xff"},
};

static void test_csv_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_arena *arena = weir_arena_create(4096);
        struct weir_decoder *decoder = weir_csv_decoder_create(&schema, positions, 3);
        struct weir_record record = {.value = weir_view_of(rows[i].line)};
        struct weir_decoded decoded;
        struct weir_buffer text = {0};
        weir_decoder_decode(decoder, &record, 1, arena, &decoded);
        if (decoded.bad_count == 0) {
            append_value(&text, &decoded.columns[0], 0);
            weir_buffer_append_char(&text, '|');
            append_value(&text, &decoded.columns[1], 0);
        } else {
            bool is_long = strstr(rows[i].expected, "too long") != NULL;
            weir_buffer_printf(&text, "%s", decoded.bad[0].message);
            assert_int_equal(decoded.bad[0].reason,
                             is_long ? WEIR_ROW_ERROR_CONSTRAINT : WEIR_ROW_ERROR_DECODE);
        }
        assert_string_equal(rows[i].expected, weir_buffer_text(&text));
        weir_buffer_deinit(&text);
        weir_decoder_destroy(decoder);
        weir_arena_destroy(arena);
    }
}

// A bad line leaves nothing in the row that the next one gets.
static void test_csv_bad_lines_leave_nothing(void **state)
{
    (void)state;
    static const char *const lines[] = {"x,,abc", "2,,", NULL, "3,,abcd", ",,"};
    struct weir_record records[5] = {{0}};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_decoder *decoder = weir_csv_decoder_create(&schema, positions, 3);
    struct weir_decoded decoded;
    for (uint32_t i = 0; i < 5; i++) {
        records[i].value = lines[i] != NULL ? weir_view_of(lines[i]) : (struct weir_view){0};
    }
    weir_decoder_decode(decoder, records, 5, arena, &decoded);
    assert_int_equal(decoded.row_count, 2);
    assert_int_equal(decoded.null_value_count, 1);
    assert_int_equal(decoded.bad_count, 2);
    assert_int_equal(decoded.record_of_row[0], 1);
    assert_int_equal(decoded.record_of_row[1], 4);
    assert_false(weir_column_is_valid(&decoded.columns[0], 0));
    assert_int_equal(decoded.columns[1].i32[0], 2);
    assert_false(weir_column_is_valid(&decoded.columns[0], 1));
    assert_false(weir_column_is_valid(&decoded.columns[1], 1));
    weir_decoder_destroy(decoder);
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_lines),
        cmocka_unit_test(test_csv_bad_lines_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
