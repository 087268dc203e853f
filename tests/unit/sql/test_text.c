// SPDX-License-Identifier: Apache-2.0
// Places, excerpts and tokens of a job's text.
#include "sql/text.h"

#include "tests/unit/cmocka_all.h"

static struct weir_sql_text text_of(const char *data)
{
    return (struct weir_sql_text){.data = data, .size_bytes = strlen(data)};
}

static void assert_place(const char *data, size_t offset, int32_t line, int32_t column)
{
    struct weir_sql_text text = text_of(data);
    int32_t line_number;
    int32_t column_number;
    weir_sql_text_place(&text, offset, &line_number, &column_number);
    assert_int_equal(line_number, line);
    assert_int_equal(column_number, column);
}

static void test_place_counts_characters(void **state)
{
    (void)state;
    assert_place("abc", 0, 1, 1);
    assert_place("abc", 3, 1, 4);
    assert_place("a\nbc", 3, 2, 2);
    assert_place("größe x", 8, 1, 7); // two characters of two bytes before it
    assert_place("€ x", 4, 1, 3);
    assert_place("a\r\nb", 3, 2, 1);
}

static void test_offset_of_character(void **state)
{
    (void)state;
    struct weir_sql_text text = text_of("größe x");
    assert_int_equal(weir_sql_text_offset(&text, 0), 0);
    assert_int_equal(weir_sql_text_offset(&text, 3), 4);
    assert_int_equal(weir_sql_text_offset(&text, 6), 8);
    assert_int_equal(weir_sql_text_offset(&text, 100), text.size_bytes);
}

static void assert_excerpt(const char *data, size_t offset, const char *expected)
{
    struct weir_sql_text text = text_of(data);
    struct weir_buffer out = {0};
    weir_sql_text_excerpt(&text, offset, &out);
    assert_string_equal(weir_buffer_text(&out), expected);
    weir_buffer_deinit(&out);
}

static void test_excerpt_points_at_character(void **state)
{
    (void)state;
    assert_excerpt("one\ntwo x\nthree", 8, "  two x\n      ^\n");
    assert_excerpt("größe x", 8, "  größe x\n        ^\n");
    assert_excerpt("\tx y\r\n", 3, "  \tx y\n  \t  ^\n");
    assert_excerpt("", 0, "  \n  ^\n");
}

static void test_excerpt_cuts_long_lines(void **state)
{
    (void)state;
    char line[1001];
    memset(line, 'a', 1000);
    line[1000] = '\0';
    line[500] = 'X';
    struct weir_sql_text text = text_of(line);
    struct weir_buffer out = {0};
    weir_sql_text_excerpt(&text, 500, &out);
    const char *excerpt = weir_buffer_text(&out);
    const char *caret = strchr(excerpt, '^');
    const char *newline = strchr(excerpt, '\n');
    assert_true(newline - excerpt < 200);
    assert_int_equal(excerpt[caret - newline - 1], 'X');
    weir_buffer_deinit(&out);
}

static void assert_tokens(const char *data, const char *expected)
{
    static const char letters[] = "ewqsno"; // by kind
    struct weir_sql_text text = text_of(data);
    struct weir_buffer out = {0};
    struct weir_sql_token token = weir_sql_token_at(&text, 0);
    while (token.kind != WEIR_SQL_TOKEN_END) {
        weir_buffer_printf(&out, "%c%.*s|", letters[token.kind], (int)token.size_bytes,
                           data + token.offset);
        token = weir_sql_token_at(&text, weir_sql_token_end(&token));
    }
    assert_string_equal(weir_buffer_text(&out), expected);
    weir_buffer_deinit(&out);
}

static void test_tokens_follow_lexical_rules(void **state)
{
    (void)state;
    assert_tokens("select a1_$ from", "wselect|wa1_$|wfrom|");
    assert_tokens("'it''s' \"a\"\"b\"", "s'it''s'|q\"a\"\"b\"|");
    assert_tokens("E'a\\'b' U&\"x\" b'1'", "sE'a\\'b'|qU&\"x\"|sb'1'|");
    assert_tokens("a--x\n/* y /* z */ */ b", "wa|wb|");
    assert_tokens("$$ it's $$ $t$ $$ $t$ $1", "s$$ it's $$|s$t$ $$ $t$|o$|n1|");
    assert_tokens("1.5e-3 .5 1..2 3e", "n1.5e-3|n.5|n1..2|n3|we|");
    assert_tokens("größe=5;", "wgröße|o=|n5|o;|");
}

static void test_unterminated_tokens_end_with_text(void **state)
{
    (void)state;
    assert_tokens("'abc", "s'abc|");
    assert_tokens("\"abc", "q\"abc|");
    assert_tokens("E'a\\", "sE'a\\|");
    assert_tokens("$x$ abc", "s$x$ abc|");
    assert_tokens("a /* b", "wa|");
    assert_tokens("a --", "wa|");
}

static void test_keywords_are_found_outside_of_strings(void **state)
{
    (void)state;
    struct weir_sql_text text =
        text_of("select 'group', \"group\" -- group\n from t GROUP by; group");
    assert_int_equal(weir_sql_keyword_after(&text, 0, "group"), 41);
    assert_int_equal(weir_sql_keyword_after(&text, 45, "group"), -1);
    assert_int_equal(weir_sql_keyword_before(&text, 0, text.size_bytes, "group"), 51);
    assert_int_equal(weir_sql_keyword_before(&text, 0, 41, "group"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_counts_characters),
        cmocka_unit_test(test_offset_of_character),
        cmocka_unit_test(test_excerpt_points_at_character),
        cmocka_unit_test(test_excerpt_cuts_long_lines),
        cmocka_unit_test(test_tokens_follow_lexical_rules),
        cmocka_unit_test(test_unterminated_tokens_end_with_text),
        cmocka_unit_test(test_keywords_are_found_outside_of_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
