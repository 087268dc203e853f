// SPDX-License-Identifier: Apache-2.0
// Rows as JSON. What is expected was taken from PostgreSQL 15: row_to_json with TimeZone UTC.
#include "kafka/json_encode.h"

#include "runtime/types/text_io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }
#define NUMERIC(precision, scale)                                                                  \
    {                                                                                              \
        WEIR_TYPE_NUMERIC, (precision) << 16 | (scale), NULL                                       \
    }
#define VARCHAR(char_count)                                                                        \
    {                                                                                              \
        WEIR_TYPE_VARCHAR, char_count, NULL                                                        \
    }

static void put_text(struct weir_column *column, uint32_t row, const char *text,
                     struct weir_arena *arena)
{
    struct weir_value_error error;
    if (!weir_text_parse(column, row, weir_view_of(text), arena, &error)) {
        fail_msg("%s: %s", text, error.text);
    }
}

static struct weir_batch batch_of(const struct weir_schema *schema, uint32_t row_count,
                                  struct weir_arena *arena)
{
    struct weir_column *columns =
        weir_arena_alloc_zero(arena, schema->column_count * sizeof *columns);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        weir_column_init(&columns[i], &schema->columns[i].type, row_count, true, arena);
    }
    return (struct weir_batch){.schema = schema,
                               .row_count = row_count,
                               .selected_count = row_count,
                               .columns = columns,
                               .arena = arena};
}

static void assert_encoded(const struct weir_buffer *out, const struct weir_encoded *encoded,
                           const char *expected)
{
    struct weir_view view = weir_encoded_view(out, encoded);
    if (!weir_view_equal(view, weir_view_of(expected))) {
        fail_msg("%.*s instead of %s", WEIR_VIEW_ARGS(view), expected);
    }
}

// C002, C009, C011 and every type besides.
static void test_encode_values_as_row_to_json(void **state)
{
    static const struct {
        struct weir_type type;
        const char *text;
        const char *json;
    } cases[] = {
        {PLAIN(BOOLEAN), "t", "true"},
        {PLAIN(BOOLEAN), "f", "false"},
        {PLAIN(SMALLINT), "-32768", "-32768"},
        {PLAIN(SMALLINT), "7", "7"},
        {PLAIN(INTEGER), "0", "0"},
        {PLAIN(INTEGER), "2147483647", "2147483647"},
        {PLAIN(BIGINT), "9223372036854775807", "9223372036854775807"},
        {PLAIN(BIGINT), "-9223372036854775808", "-9223372036854775808"},
        {PLAIN(REAL), "0.1", "0.1"},
        {PLAIN(REAL), "-0", "-0"},
        {PLAIN(REAL), "16777216", "1.6777216e+07"},
        {PLAIN(REAL), "1e10", "1e+10"},
        {PLAIN(REAL), "1e-10", "1e-10"},
        {PLAIN(REAL), "3.4028235e38", "3.4028235e+38"},
        {PLAIN(REAL), "NaN", "\"NaN\""},
        {PLAIN(REAL), "Infinity", "\"Infinity\""},
        {PLAIN(REAL), "-Infinity", "\"-Infinity\""},
        {PLAIN(REAL), "1e15", "1e+15"},
        {PLAIN(REAL), "123456", "123456"},
        {PLAIN(DOUBLE), "0.1", "0.1"},
        {PLAIN(DOUBLE), "-0", "-0"},
        {PLAIN(DOUBLE), "1e15", "1e+15"},
        {PLAIN(DOUBLE), "1e16", "1e+16"},
        {PLAIN(DOUBLE), "1e22", "1e+22"},
        {PLAIN(DOUBLE), "123456789012345680", "1.2345678901234568e+17"},
        {PLAIN(DOUBLE), "1e-5", "1e-05"},
        {PLAIN(DOUBLE), "0.0001", "0.0001"},
        {PLAIN(DOUBLE), "5e-324", "5e-324"},
        {PLAIN(DOUBLE), "1.7976931348623157e308", "1.7976931348623157e+308"},
        {PLAIN(DOUBLE), "NaN", "\"NaN\""},
        {PLAIN(DOUBLE), "Infinity", "\"Infinity\""},
        {PLAIN(DOUBLE), "-Infinity", "\"-Infinity\""},
        {PLAIN(DOUBLE), "8", "8"},
        {PLAIN(NUMERIC), "0", "0"},
        {PLAIN(NUMERIC), "-0.00", "0.00"},
        {PLAIN(NUMERIC), "12.30", "12.30"},
        {PLAIN(NUMERIC), "123456.789012345678901234", "123456.789012345678901234"},
        {PLAIN(NUMERIC), "1e30", "1000000000000000000000000000000"},
        {PLAIN(NUMERIC), "NaN", "\"NaN\""},
        {PLAIN(NUMERIC), "Infinity", "\"Infinity\""},
        {PLAIN(NUMERIC), "-Infinity", "\"-Infinity\""},
        {NUMERIC(10, 2), "31", "31.00"},
        {NUMERIC(10, 2), "-0", "0.00"},
        {PLAIN(TEXT), "", "\"\""},
        {PLAIN(TEXT), "x", "\"x\""},
        {PLAIN(TEXT), "a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {PLAIN(TEXT), "\010\014\012\015\011", "\"\\b\\f\\n\\r\\t\""},
        {PLAIN(TEXT), "\001\037\177", "\"\\u0001\\u001f\177\""},
        {PLAIN(TEXT), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80",
         "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80\""},
        {PLAIN(TEXT), "<&>'", "\"<&>'\""},
        {PLAIN(TEXT), "null", "\"null\""},
        {PLAIN(TEXT), "12", "\"12\""},
        {VARCHAR(5), "ab\"cd", "\"ab\\\"cd\""},
        {PLAIN(BYTEA), "\\x", "\"\\\\x\""},
        {PLAIN(BYTEA), "\\x00ff5c22", "\"\\\\x00ff5c22\""},
        {PLAIN(DATE), "2025-01-02", "\"2025-01-02\""},
        {PLAIN(DATE), "0044-03-15 BC", "\"0044-03-15 BC\""},
        {PLAIN(DATE), "infinity", "\"infinity\""},
        {PLAIN(DATE), "-infinity", "\"-infinity\""},
        {PLAIN(DATE), "10000-01-01", "\"10000-01-01\""},
        {PLAIN(DATE), "0001-01-01", "\"0001-01-01\""},
        {PLAIN(TIMESTAMP), "2024-05-06 07:08:09.654321", "\"2024-05-06T07:08:09.654321\""},
        {PLAIN(TIMESTAMP), "2024-05-06 07:08:09", "\"2024-05-06T07:08:09\""},
        {PLAIN(TIMESTAMP), "2024-05-06 07:08:09.5", "\"2024-05-06T07:08:09.5\""},
        {PLAIN(TIMESTAMP), "0044-03-15 01:02:03 BC", "\"0044-03-15T01:02:03 BC\""},
        {PLAIN(TIMESTAMP), "infinity", "\"infinity\""},
        {PLAIN(TIMESTAMP), "-infinity", "\"-infinity\""},
        {PLAIN(TIMESTAMP), "12345-01-01 00:00:00", "\"12345-01-01T00:00:00\""},
        {PLAIN(TIMESTAMPTZ), "2024-05-06 07:08:09.654321+02",
         "\"2024-05-06T05:08:09.654321+00:00\""},
        {PLAIN(TIMESTAMPTZ), "2024-05-06 07:08:09", "\"2024-05-06T07:08:09+00:00\""},
        {PLAIN(TIMESTAMPTZ), "2024-05-06 07:08:09.50", "\"2024-05-06T07:08:09.5+00:00\""},
        {PLAIN(TIMESTAMPTZ), "0044-03-15 01:02:03 BC", "\"0044-03-15T01:02:03+00:00 BC\""},
        {PLAIN(TIMESTAMPTZ), "infinity", "\"infinity\""},
        {PLAIN(TIMESTAMPTZ), "-infinity", "\"-infinity\""},
        {PLAIN(TIMESTAMPTZ), "54256-06-02 05:22:03.456+00", "\"54256-06-02T05:22:03.456+00:00\""},
        {PLAIN(JSONB), "{\"b\":1,\"a\":[1,2.50,\"x\\u0041\",null]}",
         "{\"a\": [1, 2.50, \"xA\", null], \"b\": 1}"},
        {PLAIN(JSONB), "\"x\"", "\"x\""},
        {PLAIN(JSONB), "null", "null"},
        {PLAIN(JSONB), "1e3", "1000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_arena *arena = weir_arena_create(4096);
        const struct weir_field field = {"v", cases[i].type};
        const struct weir_schema schema = {1, &field};
        struct weir_batch batch = batch_of(&schema, 1, arena);
        put_text(&batch.columns[0], 0, cases[i].text, arena);
        struct weir_encoder *encoder = weir_json_encoder_create(&schema);
        struct weir_buffer out = {0};
        struct weir_encoded encoded;
        weir_encoder_encode(encoder, &batch, 0, 1, &out, &encoded);
        assert_encoded(&out, &encoded, weir_arena_printf(arena, "{\"v\":%s}", cases[i].json));
        weir_buffer_deinit(&out);
        weir_encoder_destroy(encoder);
        weir_arena_destroy(arena);
    }
}

static void test_encode_composites(void **state)
{
    static const struct weir_field innermost[] = {{"z", PLAIN(BIGINT)}};
    static const struct weir_composite deep = {"d_type", 1, innermost};
    static const struct weir_field inner[] = {{"price", PLAIN(BIGINT)},
                                              {"de\"ep", {WEIR_TYPE_COMPOSITE, -1, &deep}},
                                              {"note", PLAIN(TEXT)}};
    static const struct weir_composite bid = {"b_type", 3, inner};
    static const struct weir_field fields[] = {{"bid", {WEIR_TYPE_COMPOSITE, -1, &bid}},
                                               {"n", {WEIR_TYPE_COMPOSITE, -1, &bid}},
                                               {"e", {WEIR_TYPE_COMPOSITE, -1, &bid}}};
    static const struct weir_schema schema = {3, fields};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_batch batch = batch_of(&schema, 1, arena);
    (void)state;
    struct weir_column *full = &batch.columns[0];
    weir_bitmap_set(full->validity, 0);
    put_text(&full->children[0], 0, "5", arena);
    weir_bitmap_set(full->children[1].validity, 0);
    put_text(&full->children[1].children[0], 0, "6", arena);
    put_text(&full->children[2], 0, "x", arena);
    weir_bitmap_set(batch.columns[2].validity, 0);
    struct weir_encoder *encoder = weir_json_encoder_create(&schema);
    struct weir_buffer out = {0};
    struct weir_encoded encoded;
    weir_encoder_encode(encoder, &batch, 0, 1, &out, &encoded);
    assert_encoded(&out, &encoded,
                   "{\"bid\":{\"price\":5,\"de\\\"ep\":{\"z\":6},\"note\":\"x\"},\"n\":null,"
                   "\"e\":{\"price\":null,\"de\\\"ep\":null,\"note\":null}}");
    weir_buffer_deinit(&out);
    weir_encoder_destroy(encoder);
    weir_arena_destroy(arena);
}

static void test_encode_names_and_nulls(void **state)
{
    static const struct weir_field fields[] = {{"a b", PLAIN(INTEGER)},
                                               {"q\"\\", PLAIN(INTEGER)},
                                               {"\xc3\xa4\n", PLAIN(INTEGER)},
                                               {"n", PLAIN(INTEGER)}};
    static const struct weir_schema schema = {4, fields};
    static const struct weir_schema empty = {0, NULL};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_batch batch = batch_of(&schema, 1, arena);
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        put_text(&batch.columns[i], 0, weir_arena_printf(arena, "%u", i + 1), arena);
    }
    struct weir_encoder *encoder = weir_json_encoder_create(&schema);
    struct weir_encoder *empty_encoder = weir_json_encoder_create(&empty);
    struct weir_buffer out = {0};
    weir_json_encode_row(encoder, batch.columns, 0, &out);
    assert_string_equal(weir_buffer_text(&out),
                        "{\"a b\":1,\"q\\\"\\\\\":2,\"\xc3\xa4\\n\":3,\"n\":null}");
    out.size_bytes = 0;
    weir_json_encode_row(empty_encoder, batch.columns, 0, &out);
    assert_string_equal(weir_buffer_text(&out), "{}");
    weir_buffer_deinit(&out);
    weir_encoder_destroy(encoder);
    weir_encoder_destroy(empty_encoder);
    weir_arena_destroy(arena);
}

// A run of the selected rows, behind what the buffer holds already; keys from some columns.
static void test_encode_selected_rows_and_keys(void **state)
{
    static const struct weir_field fields[] = {
        {"id", PLAIN(BIGINT)}, {"name", PLAIN(TEXT)}, {"part", PLAIN(INTEGER)}};
    static const struct weir_schema schema = {3, fields};
    static const uint32_t key_columns[] = {2, 0};
    static const uint16_t selected[] = {1, 4, 5, 9};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_batch batch = batch_of(&schema, 10, arena);
    (void)state;
    for (uint32_t row = 0; row < 10; row++) {
        put_text(&batch.columns[0], row, weir_arena_printf(arena, "%u", row), arena);
        put_text(&batch.columns[1], row, weir_arena_printf(arena, "name %u", row), arena);
        if (row != 5) {
            put_text(&batch.columns[2], row, weir_arena_printf(arena, "%u", row * 10), arena);
        }
    }
    batch.columns[0].validity = NULL;
    batch.selected = selected;
    batch.selected_count = 4;
    struct weir_encoder *values = weir_json_encoder_create(&schema);
    struct weir_encoder *keys = weir_json_encoder_create_for(&schema, 2, key_columns);
    struct weir_buffer out = {0};
    weir_buffer_append(&out, "left", 4);
    struct weir_encoded value[2];
    struct weir_encoded key[4];
    weir_encoder_encode(values, &batch, 1, 2, &out, value);
    weir_encoder_encode(keys, &batch, 0, 4, &out, key);
    assert_memory_equal(out.data, "left", 4);
    assert_encoded(&out, &value[0], "{\"id\":4,\"name\":\"name 4\",\"part\":40}");
    assert_encoded(&out, &value[1], "{\"id\":5,\"name\":\"name 5\",\"part\":null}");
    assert_encoded(&out, &key[0], "{\"part\":10,\"id\":1}");
    assert_encoded(&out, &key[2], "{\"part\":null,\"id\":5}");
    assert_encoded(&out, &key[3], "{\"part\":90,\"id\":9}");
    weir_encoder_encode(keys, &batch, 4, 0, &out, key);
    weir_buffer_deinit(&out);
    weir_encoder_destroy(values);
    weir_encoder_destroy(keys);
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_values_as_row_to_json),
        cmocka_unit_test(test_encode_composites),
        cmocka_unit_test(test_encode_names_and_nulls),
        cmocka_unit_test(test_encode_selected_rows_and_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
