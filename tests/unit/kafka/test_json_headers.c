// SPDX-License-Identifier: Apache-2.0
// Headers from a column: order, several of one name, values that are none.
#include "kafka/json_headers.h"
#include "runtime/types/array.h"
#include "runtime/types/text_io.h"

#include "tests/unit/cmocka_all.h"

static const struct {
    bool is_array;
    const char *value;    // NULL: NULL
    const char *expected; // name=value, one a header; ~: no value; "!" and what is wrong
} rows[] = {
    {false, NULL, ""},
    {false, "{}", ""},
    {false, "{\"b\":\"x\",\"a\":[\"1\",\"2\",\"1\"]}", "a=1 a=2 a=1 b=x"},
    {false, "{\"a\":1.50,\"b\":true,\"c\":null,\"d\":{\"e\":1},\"f\":\"\"}",
     "a=1.50 b=true c=~ d={\"e\":1} f="},
    {false, "{\"a\":[],\"b\":[null,[1]]}", "b=~ b=[1]"},
    {false, "[1]", "!headers are a JSON object of names and values"},
    {false, "null", "!headers are a JSON object of names and values"},
    {true, "{}", ""},
    {true, "{z,1,a,NULL,z,\"\"}", "z=1 a=~ z="},
    {true, "{{z,1},{a,2}}", "z=1 a=2"},
    {true, "{z}",
     "!headers are names and values in turn, {name,value,name,value}, or pairs of "
     "them"},
    {true, "{{a,b,c,d}}",
     "!headers are names and values in turn, {name,value,name,value}, or "
     "pairs of them"},
    {true, "{NULL,1}", "!the name of a header is NULL"},
};

static void test_headers_of_a_column(void **state)
{
    (void)state;
    struct weir_row_headers list = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_arena *arena = weir_arena_create(4096);
        struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
        struct weir_type type =
            rows[i].is_array ? weir_array_type(&text, arena) : weir_type_plain(WEIR_TYPE_JSONB);
        struct weir_column column;
        struct weir_buffer out = {0};
        const char *why;
        weir_column_init(&column, &type, 1, true, arena);
        if (rows[i].value != NULL) {
            assert_true(weir_text_parse(&column, 0, weir_view_of(rows[i].value), arena, NULL));
        }
        if (!weir_row_headers_read(&list, &column, 0, arena, &why)) {
            weir_buffer_printf(&out, "!%s", why);
        } else {
            for (uint32_t k = 0; k < list.count; k++) {
                struct weir_view value = list.headers[k].value;
                weir_buffer_printf(&out, "%s%s=", k != 0 ? " " : "", list.headers[k].name);
                weir_buffer_append(&out, value.data != NULL ? value.data : "~",
                                   value.data != NULL ? value.size_bytes : 1);
            }
        }
        assert_string_equal(weir_buffer_text(&out), rows[i].expected);
        weir_buffer_deinit(&out);
        weir_arena_destroy(arena);
    }
    weir_row_headers_deinit(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_headers_of_a_column)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
