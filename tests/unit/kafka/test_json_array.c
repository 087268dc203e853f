// SPDX-License-Identifier: Apache-2.0
// JSON arrays for array columns, against what PostgreSQL 15 gives for them (jsonb_to_record), and
// json columns, which keep their text.
#include "json_case.h"

#include "runtime/types/array.h"
#include "runtime/types/json_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct weir_field pair_fields[] = {{"a", PLAIN(INTEGER)}, {"b", PLAIN(TEXT)}};
static const struct weir_composite pair = {"pair", 2, pair_fields};

static const struct {
    struct weir_type element;
    const char *json;
    const char *text;  // NULL: refused
    const char *other; // as JSON; or the message
} rows[] = {
    {PLAIN(INTEGER), "[1,2,null]", "{1,2,NULL}", "[1,2,null]"},
    {PLAIN(INTEGER), "[]", "{}", "[]"},
    {PLAIN(INTEGER), " [ [ 1 , 2 ] , [3,4]]", "{{1,2},{3,4}}", "[[1,2],[3,4]]"},
    {PLAIN(INTEGER), "[[1,2],[3]]", NULL, "malformed JSON array"},
    {PLAIN(INTEGER), "[1,[2]]", NULL, "invalid input syntax for type integer: \"[2]\""},
    {PLAIN(INTEGER), "[[1],2]", NULL, "expected JSON array"},
    {PLAIN(INTEGER), "\"{1,2}\"", "{1,2}", "[1,2]"},
    {PLAIN(INTEGER), "5", NULL, "expected JSON array"},
    {PLAIN(INTEGER), "{\"a\":1}", NULL, "expected JSON array"},
    {PLAIN(INTEGER), "[[],[]]", "{}", "[]"},
    {PLAIN(INTEGER), "[\"7\",\" 8 \"]", "{7,8}", "[7,8]"},
    {PLAIN(INTEGER), "[1.5]", NULL, "invalid input syntax for type integer: \"1.5\""},
    {PLAIN(INTEGER), "[1e2]", "{100}", "[100]"},
    {PLAIN(INTEGER), "[99999999999]", NULL,
     "value \"99999999999\" is out of range for type integer"},
    {PLAIN(INTEGER), "[[[[[[[1]]]]]]]", NULL,
     "number of array dimensions (7) exceeds the maximum allowed (6)"},
    // Texts of containers are as received, where PostgreSQL gives those of jsonb.
    {PLAIN(TEXT), "[\"a\",\"b,c\",{\"x\":1},[1,2],true,1.50,\"\\u00e9\\\"\"]",
     "{a,\"b,c\",\"{\\\"x\\\":1}\",\"[1,2]\",true,1.50,\"é\\\"\"}",
     "[\"a\",\"b,c\",\"{\\\"x\\\":1}\",\"[1,2]\",\"true\",\"1.50\",\"é\\\"\"]"},
    {PLAIN(JSONB), "[{\"x\":1},[1, 2],\"s\",null]",
     "{\"{\\\"x\\\": 1}\",\"[1, 2]\",\"\\\"s\\\"\",NULL}", "[{\"x\": 1},[1, 2],\"s\",null]"},
    {PLAIN(JSON), "[{\"x\" : 1}]", "{\"{\\\"x\\\" : 1}\"}", "[{\"x\":1}]"},
    {PLAIN(DATE), "[\"2024-02-29\"]", "{2024-02-29}", "[\"2024-02-29\"]"},
    {PLAIN(NUMERIC), "[1.50,\"NaN\"]", "{1.50,NaN}", "[1.50,\"NaN\"]"},
    {PLAIN(BOOLEAN), "[true,\"f\"]", "{t,f}", "[true,false]"},
    {{WEIR_TYPE_COMPOSITE, -1, &pair},
     "[{\"a\":1,\"b\":\"x\"},null,{\"b\":\"y\",\"c\":1},{\"a\":1,\"\\u0061\":2 , \"b\":null}]",
     "{\"(1,x)\",NULL,\"(,y)\",\"(2,)\"}",
     "[{\"a\":1,\"b\":\"x\"},null,{\"a\":null,\"b\":\"y\"},{\"a\":2,\"b\":null}]"},
    {{WEIR_TYPE_COMPOSITE, -1, &pair},
     "[1]",
     NULL,
     "a JSON object was expected for composite type pair"},
    {VARCHAR(2), "[\"abc\"]", NULL, "value too long for type character varying(2)"},
};

static void test_json_array_is_postgresql_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_arena *arena = weir_arena_create(4096);
        struct weir_field field = {"x", weir_array_type(&rows[i].element, arena)};
        struct weir_schema schema = {1, &field};
        const char *record = weir_arena_printf(arena, "{\"x\":%s}", rows[i].json);
        struct decoded_case run;
        json_case_decode(&run, &schema, MILLISECONDS, &record, 1);
        if (rows[i].text == NULL) {
            assert_int_equal(run.decoded.bad_count, 1);
            assert_non_null(strstr(run.decoded.bad[0].message, rows[i].other));
        } else {
            struct weir_buffer json = {0};
            if (run.decoded.bad_count != 0) {
                fail_msg("%s: %s", record, run.decoded.bad[0].message);
            }
            assert_string_equal(weir_buffer_text(&run.text), rows[i].text);
            weir_json_append_value(&json, &run.decoded.columns[0], 0);
            assert_string_equal(weir_buffer_text(&json), rows[i].other);
            weir_buffer_deinit(&json);
        }
        json_case_release(&run);
        weir_arena_destroy(arena);
    }
}

static void test_json_column_keeps_its_text(void **state)
{
    static const struct weir_field field = {"j", PLAIN(JSON)};
    static const struct weir_schema schema = {1, &field};
    static const char *const texts[] = {"{\"j\": {\"b\" : 1.0, \"a\":[ ], \"b\":\" x \\\" y\"} }",
                                        "{\"j\":\"text\"}", "{\"j\": -0.50}", "{\"j\":null}"};
    static const char *const written[] = {"{\"b\":1.0,\"a\":[],\"b\":\" x \\\" y\"}", "\"text\"",
                                          "-0.50", "null"};
    struct decoded_case run;
    (void)state;
    json_case_decode(&run, &schema, MILLISECONDS, texts, 4);
    assert_string_equal(weir_buffer_text(&run.text),
                        "{\"b\" : 1.0, \"a\":[ ], \"b\":\" x \\\" y\"}\n\"text\"\n-0.50\nNULL");
    for (uint32_t i = 0; i < 4; i++) {
        struct weir_buffer json = {0};
        weir_json_append_value(&json, &run.decoded.columns[0], i);
        assert_string_equal(weir_buffer_text(&json), written[i]);
        weir_buffer_deinit(&json);
    }
    json_case_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_array_is_postgresql_s),
        cmocka_unit_test(test_json_column_keeps_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
