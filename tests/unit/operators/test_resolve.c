// SPDX-License-Identifier: Apache-2.0
// The texts of refusals; which overload is chosen is in test_expr_fixture.c (overloads.txt).
#include "values.h"

static void check(const char *source, const char *expected)
{
    static const char *const NONE[] = {NULL};
    struct rows *rows = rows_create("i:integer s:text d:date t:timestamp", 0, NONE);
    struct weir_error error = {0};
    assert_null(expr_text_parse(source, &rows->schema, rows->arena, &error));
    assert_string_equal(error.text, expected);
    assert_int_equal(error.domain, WEIR_DOMAIN_SQL);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    rows_destroy(rows);
}

static void test_resolve_says_what_does_not_exist(void **state)
{
    (void)state;
    check("(call + $i $s)", "operator does not exist: integer + text");
    check("(call - $s)", "operator does not exist: - text");
    check("(call substring $i)",
          "function substring(integer) does not exist; there is substring(text, integer), "
          "substring(text, integer, integer), substring(bytea, integer), substring(bytea, integer, "
          "integer)");
    check("(call uper $s)", "function uper(text) does not exist; did you mean upper?");
    check("(call nothing_like_it 'a' $i)",
          "function nothing_like_it(unknown, integer) does not exist");
}

static void test_resolve_says_what_is_ambiguous(void **state)
{
    (void)state;
    check("(call + '1' '2')", "operator is not unique: unknown + unknown: give the literals a "
                              "type, e.g. CAST('…' AS integer)");
    check("(call + $d '1')", "operator is not unique: date + unknown: give the literals a type, "
                             "e.g. CAST('…' AS integer)");
    check("(call trunc null)", "function trunc(unknown) is not unique: give the literals a type, "
                               "e.g. CAST('…' AS integer)");
}

static void test_resolve_refuses_by_name_what_is_not_there_yet(void **state)
{
    (void)state;
    check("(call age $t)", "function age(timestamp without time zone) is not supported yet");
    check("(call ~ $s 'a.c')", "operator text ~ text is not supported yet");
    check("(call sqrt 2.0)", "function sqrt(numeric) is not supported yet");
    check("(call timezone 'Europe/Berlin' $t)",
          "time zone \"Europe/Berlin\" is not supported yet: only UTC is");
}

static void test_resolve_refuses_conditions_that_are_none(void **state)
{
    (void)state;
    check("(and $i true)", "argument of AND must be type boolean, not type integer");
    check("(case $i 1 2)", "argument of CASE/WHEN must be type boolean, not type integer");
    check("(case true $i $d)", "CASE types date and integer cannot be matched");
    check("(coalesce $i $s)", "COALESCE types integer and text cannot be matched");
    check("(in $i $s)", "operator does not exist: integer = text");
}

static void count_function(const char *name, const char *signature, void *context)
{
    uint32_t *counts = context;
    counts[0]++;
    counts[1] += strcmp(signature, "substr(text, integer, integer) → text") == 0;
    counts[2] += strcmp(signature, "integer + bigint → bigint") == 0;
    counts[3] += strcmp(name, "~") == 0 && strstr(signature, "text") != NULL;
}

static void test_resolve_lists_what_there_is(void **state)
{
    (void)state;
    uint32_t counts[4] = {0};
    weir_expr_list_functions(count_function, counts);
    assert_true(counts[0] > 200);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 1);
    assert_int_equal(counts[3], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolve_says_what_does_not_exist),
        cmocka_unit_test(test_resolve_says_what_is_ambiguous),
        cmocka_unit_test(test_resolve_refuses_by_name_what_is_not_there_yet),
        cmocka_unit_test(test_resolve_refuses_conditions_that_are_none),
        cmocka_unit_test(test_resolve_lists_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
