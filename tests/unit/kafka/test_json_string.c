// SPDX-License-Identifier: Apache-2.0
// The characters that a JSON string stands for. What a string may look like at all is tested with
// the texts around it, in test_json_scan.c.
#include "kafka/json_string.h"

#include "runtime/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

// Ordinary characters are passed in steps of sixteen: a special byte is found at any distance from
// the start and from the end of the text.
static void test_find_special_at_any_place(void **state)
{
    static const char specials[] = {'"', '\\', '\0', '\x1f', '\x80', '\xff'};
    (void)state;
    for (size_t size_bytes = 0; size_bytes < 70; size_bytes++) {
        char *text = malloc(size_bytes != 0 ? size_bytes : 1); // for the sanitizer: just its size
        assert_non_null(text);
        memset(text, '~', size_bytes);
        const char *end = text + size_bytes;
        assert_ptr_equal(weir_json_find_special(text, text, end), end);
        for (size_t i = 0; i < size_bytes; i++) {
            for (size_t j = 0; j < sizeof specials; j++) {
                text[i] = specials[j];
                for (size_t from = 0; from <= i; from++) {
                    assert_ptr_equal(weir_json_find_special(text, text + from, end), text + i);
                }
                assert_ptr_equal(weir_json_find_special(text, text + i + 1, end), end);
            }
            text[i] = i % 2 == 0 ? ' ' : '\x7f';
        }
        free(text);
    }
}

static void test_unescape_gives_characters(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"a\\u0041b", "aAb"},
        {"\\u00e4\\u20AC", "\xc3\xa4\xe2\x82\xac"},
        {"\\ud83d\\ude80", "\xf0\x9f\x9a\x80"},
        {"\\uDBFF\\uDFFF", "\xf4\x8f\xbf\xbf"},
        {"\\uffff\\u07ff\\u0800", "\xef\xbf\xbf\xdf\xbf\xe0\xa0\x80"},
        {"\xc3\xa4\\\\u0041", "\xc3\xa4\\u0041"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size_bytes = strlen(cases[i].text);
        char *out = malloc(size_bytes + 1);
        bool has_nul = true;
        size_t out_bytes = weir_json_unescape(weir_view_of(cases[i].text), out, &has_nul);
        assert_int_equal(out_bytes, strlen(cases[i].expected));
        assert_memory_equal(out, cases[i].expected, out_bytes);
        assert_false(has_nul);
        free(out);
    }
    char out[8];
    bool has_nul = false;
    assert_int_equal(weir_json_unescape(weir_view_of("\\u0000"), out, &has_nul), 1);
    assert_true(has_nul);
}

static void test_is_literal_tells_what_needs_no_escape(void **state)
{
    (void)state;
    assert_true(weir_json_is_literal(weir_view_of("")));
    assert_true(weir_json_is_literal(weir_view_of("dateTime")));
    assert_true(weir_json_is_literal(weir_view_of("/ \xc3\xa4 \xf0\x9f\x9a\x80")));
    assert_false(weir_json_is_literal(weir_view_of("a\"")));
    assert_false(weir_json_is_literal(weir_view_of("\\")));
    assert_false(weir_json_is_literal(weir_view_of("a\nb")));
    assert_false(weir_json_is_literal(weir_view_of("\xc3")));
    assert_false(weir_json_is_literal(weir_view_of("\xed\xa0\x80")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_special_at_any_place),
        cmocka_unit_test(test_unescape_gives_characters),
        cmocka_unit_test(test_is_literal_tells_what_needs_no_escape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
