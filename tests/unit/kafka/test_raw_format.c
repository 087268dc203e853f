// SPDX-License-Identifier: Apache-2.0
// Format raw: message values as they are, keys in the text form of one column.
#include "kafka/raw_format.h"

#include "runtime/types/text_io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct weir_view values[] = {
    {"plain", 5}, {NULL, 0}, {"", 0}, {"\xff\x00", 2}, {"a\0b", 3}, {"\xc3\xa4\xc3\xb6", 4},
};
enum { VALUE_COUNT = sizeof values / sizeof values[0] };

static void decode(const struct weir_schema *schema, struct weir_arena *arena,
                   struct weir_decoded *decoded)
{
    struct weir_record records[VALUE_COUNT] = {0};
    for (uint32_t i = 0; i < VALUE_COUNT; i++) {
        records[i].value = values[i];
    }
    struct weir_decoder *decoder = weir_raw_decoder_create(schema);
    weir_decoder_decode(decoder, records, VALUE_COUNT, arena, decoded);
    weir_decoder_destroy(decoder);
}

static void assert_row(const struct weir_decoded *decoded, uint32_t row, uint32_t record_idx)
{
    assert_int_equal(decoded->record_of_row[row], record_idx);
    assert_true(weir_column_is_valid(&decoded->columns[0], row));
    assert_ptr_equal(decoded->columns[0].view[row].data, values[record_idx].data); // not a copy
    assert_int_equal(decoded->columns[0].view[row].size_bytes, values[record_idx].size_bytes);
}

static void test_decode_bytea_takes_everything(void **state)
{
    static const struct weir_field field = {"v", {WEIR_TYPE_BYTEA, -1, NULL}};
    static const struct weir_schema schema = {1, &field};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_decoded decoded;
    (void)state;
    decode(&schema, arena, &decoded);
    assert_int_equal(decoded.row_count, 5);
    assert_int_equal(decoded.null_value_count, 1);
    assert_int_equal(decoded.bad_count, 0);
    static const uint32_t record_idxs[] = {0, 2, 3, 4, 5};
    for (uint32_t row = 0; row < 5; row++) {
        assert_row(&decoded, row, record_idxs[row]);
    }
    weir_arena_destroy(arena);
}

static void test_decode_text_refuses_what_is_not_text(void **state)
{
    static const struct weir_field field = {"v", {WEIR_TYPE_TEXT, -1, NULL}};
    static const struct weir_schema schema = {1, &field};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_decoded decoded;
    (void)state;
    decode(&schema, arena, &decoded);
    assert_int_equal(decoded.row_count, 3);
    assert_row(&decoded, 0, 0);
    assert_row(&decoded, 1, 2);
    assert_row(&decoded, 2, 5);
    assert_int_equal(decoded.bad_count, 2);
    assert_int_equal(decoded.bad[0].record_idx, 3);
    assert_int_equal(decoded.bad[0].reason, WEIR_ROW_ERROR_DECODE);
    assert_string_equal(decoded.bad[0].message,
                        "column \"v\": invalid byte sequence for encoding \"UTF8\": 0xff");
    assert_int_equal(decoded.bad[1].record_idx, 4);
    weir_arena_destroy(arena);
}

static void test_decode_varchar_checks_its_length(void **state)
{
    static const struct weir_field field = {"v", {WEIR_TYPE_VARCHAR, 4, NULL}};
    static const struct weir_schema schema = {1, &field};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_decoded decoded;
    (void)state;
    decode(&schema, arena, &decoded);
    assert_int_equal(decoded.row_count, 2);
    assert_row(&decoded, 1, 5);
    assert_int_equal(decoded.bad_count, 3);
    assert_int_equal(decoded.bad[0].reason, WEIR_ROW_ERROR_CONSTRAINT);
    assert_string_equal(decoded.bad[0].message,
                        "column \"v\": value too long for type character varying(4)");
    weir_arena_destroy(arena);
}

static void test_decode_without_columns_counts(void **state)
{
    static const struct weir_schema schema = {0, NULL};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_decoded decoded;
    (void)state;
    decode(&schema, arena, &decoded);
    assert_int_equal(decoded.row_count, 5);
    assert_int_equal(decoded.null_value_count, 1);
    assert_int_equal(decoded.record_of_row[1], 2);
    weir_arena_destroy(arena);
}

// NULL and empty stay apart; numbers, times and booleans are written as text.
static void test_encode_writes_the_text_form(void **state)
{
    static const struct weir_field fields[] = {
        {"t", {WEIR_TYPE_TEXT, -1, NULL}},        {"b", {WEIR_TYPE_BYTEA, -1, NULL}},
        {"n", {WEIR_TYPE_BIGINT, -1, NULL}},      {"f", {WEIR_TYPE_BOOLEAN, -1, NULL}},
        {"z", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}}, {"m", {WEIR_TYPE_NUMERIC, 10 << 16 | 2, NULL}},
    };
    static const struct weir_schema schema = {6, fields};
    static const char *const inputs[6] = {"a\"b", "\\x00ff", "-7", "true", "2024-05-06 07:08:09.5Z",
                                          "1.5"};
    static const struct weir_view expected[6] = {
        {"a\"b", 3}, {"\0\xff", 2}, {"-7", 2}, {"t", 1}, {"2024-05-06 07:08:09.5+00", 24},
        {"1.50", 4}};
    struct weir_arena *arena = weir_arena_create(4096);
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        struct weir_column columns[6] = {0};
        weir_column_init(&columns[i], &fields[i].type, 3, true, arena);
        assert_true(weir_text_parse(&columns[i], 0, weir_view_of(inputs[i]), arena, NULL));
        if (i < 2) {
            assert_true(weir_text_parse(&columns[i], 2, weir_view_of(""), arena, NULL));
        }
        struct weir_batch batch = {.schema = &schema,
                                   .row_count = 3,
                                   .selected_count = 3,
                                   .columns = columns,
                                   .arena = arena};
        struct weir_encoder *encoder = weir_raw_encoder_create(&schema, i);
        struct weir_buffer out = {0};
        struct weir_encoded encoded[3];
        weir_encoder_encode(encoder, &batch, 1, 2, &out, encoded);
        assert_true(encoded[0].is_null);
        assert_null(weir_encoded_view(&out, &encoded[0]).data);
        assert_int_equal(encoded[1].is_null, i >= 2);
        if (i < 2) { // an empty key is not a null one
            assert_non_null(weir_encoded_view(&out, &encoded[1]).data);
            assert_int_equal(weir_encoded_view(&out, &encoded[1]).size_bytes, 0);
        }
        weir_encoder_encode(encoder, &batch, 0, 1, &out, encoded);
        assert_true(weir_view_equal(weir_encoded_view(&out, &encoded[0]), expected[i]));
        weir_buffer_deinit(&out);
        weir_encoder_destroy(encoder);
    }
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_bytea_takes_everything),
        cmocka_unit_test(test_decode_text_refuses_what_is_not_text),
        cmocka_unit_test(test_decode_varchar_checks_its_length),
        cmocka_unit_test(test_decode_without_columns_counts),
        cmocka_unit_test(test_encode_writes_the_text_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
