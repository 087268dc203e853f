// SPDX-License-Identifier: Apache-2.0
// JSON of rows: escapes at every place, NULLs, composites. Values by type: test_types_oracle.c.
#include "runtime/types/json_out.h"
#include "runtime/types/text_io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

// The slow and obvious way.
static void append_expected(struct weir_buffer *out, const char *text, size_t size_bytes)
{
    weir_buffer_append_char(out, '"');
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *at = strchr("\"\"\\\\\bb\ff\nn\rr\tt", c);
        if (c != 0 && at != NULL && strchr("\"\\\b\f\n\r\t", c) != NULL) {
            weir_buffer_append_char(out, '\\');
            weir_buffer_append_char(out, at[1]);
        } else if (c < 0x20) {
            weir_buffer_printf(out, "\\u%04x", c);
        } else {
            weir_buffer_append_char(out, (char)c);
        }
    }
    weir_buffer_append_char(out, '"');
}

static void check_string(const char *text, size_t size_bytes)
{
    struct weir_buffer expected = {0};
    struct weir_buffer got = {0};
    append_expected(&expected, text, size_bytes);
    weir_json_append_string(&got, (struct weir_view){text, size_bytes});
    assert_int_equal(got.size_bytes, expected.size_bytes);
    assert_memory_equal(got.data, expected.data, got.size_bytes);
    weir_buffer_deinit(&expected);
    weir_buffer_deinit(&got);
}

static void test_json_string_escapes_every_byte_at_every_place(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        for (size_t size = 1; size <= 20; size++) {
            for (size_t place = 0; place < size; place++) {
                char text[20];
                memset(text, 'x', sizeof text);
                text[place] = (char)c;
                check_string(text, size);
            }
        }
    }
    check_string("", 0);
}

static void test_json_string_random_and_long(void **state)
{
    (void)state;
    static const char alphabet[] = "ab \"\\\n\x01\x1f\x20\x21\x7f\x80\xc3\xa9\xff";
    srand(3);
    char text[5000];
    for (int round = 0; round < 3000; round++) {
        size_t size = (size_t)rand() % (round % 50 == 0 ? sizeof text : 64);
        for (size_t i = 0; i < size; i++) {
            text[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        }
        check_string(text, size);
    }
    memset(text, '\x02', sizeof text); // the longest escapes only
    check_string(text, sizeof text);
}

static const struct weir_field pair_fields[] = {
    {"x", {WEIR_TYPE_INTEGER, -1, NULL}},
    {"a\"b", {WEIR_TYPE_TEXT, -1, NULL}},
};
static const struct weir_composite pair = {"pair", 2, pair_fields};

static void test_json_row_is_row_to_json_s(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(4096);
    const struct weir_field fields[] = {
        {"id", {WEIR_TYPE_BIGINT, -1, NULL}},    {"ok", {WEIR_TYPE_BOOLEAN, -1, NULL}},
        {"p", {WEIR_TYPE_COMPOSITE, -1, &pair}}, {"q", {WEIR_TYPE_COMPOSITE, -1, &pair}},
        {"b", {WEIR_TYPE_BYTEA, -1, NULL}},      {"t", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}},
    };
    const struct weir_schema schema = {6, fields};
    static const char *const texts[] = {"-9223372036854775808", "t", "(1,)", NULL, "\\x00ff",
                                        "2013-01-01 05:00"};
    struct weir_column columns[6];
    for (uint32_t i = 0; i < 6; i++) {
        weir_column_init(&columns[i], &fields[i].type, 3, true, arena);
        if (texts[i] != NULL) {
            assert_true(weir_text_parse(&columns[i], 2, weir_view_of(texts[i]), arena, NULL));
        }
    }
    struct weir_buffer buffer = {0};
    weir_json_append_row(&buffer, &schema, columns, 2);
    assert_string_equal(weir_buffer_text(&buffer),
                        "{\"id\":-9223372036854775808,\"ok\":true,\"p\":{\"x\":1,\"a\\\"b\":null},"
                        "\"q\":null,\"b\":\"\\\\x00ff\",\"t\":\"2013-01-01T05:00:00+00:00\"}");
    buffer.size_bytes = 0;
    weir_json_append_row(&buffer, &schema, columns, 0);
    assert_string_equal(weir_buffer_text(&buffer), "{\"id\":null,\"ok\":null,\"p\":null,\"q\":null,"
                                                   "\"b\":null,\"t\":null}");
    buffer.size_bytes = 0;
    const struct weir_schema none = {0, NULL};
    weir_json_append_row(&buffer, &none, NULL, 0);
    assert_string_equal(weir_buffer_text(&buffer), "{}");
    weir_buffer_deinit(&buffer);
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_string_escapes_every_byte_at_every_place),
        cmocka_unit_test(test_json_string_random_and_long),
        cmocka_unit_test(test_json_row_is_row_to_json_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
