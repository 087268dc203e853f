// SPDX-License-Identifier: Apache-2.0
// Contexts, modifiers and literals; which casts there are and what they give is in
// test_expr_fixture.c.
#include "values.h"

static const char *const VALUES[] = {"12345", "abc  ", "1.005", "-7", "long text", "99.995"};

static struct rows *table(void)
{
    return rows_create("x:integer s:text n:numeric", 2, VALUES);
}

static void refused(struct rows *rows, const char *source, const char *expected)
{
    struct weir_error error = {0};
    struct weir_expr *expr = expr_text_parse(source, &rows->schema, rows->arena, &error);
    assert_null(expr);
    assert_string_equal(error.text, expected);
    assert_int_equal(error.domain, WEIR_DOMAIN_SQL);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
}

static void test_cast_assignment_checks_lengths(void **state)
{
    (void)state;
    struct rows *rows = table();
    values_check(rows, "(assign \"varchar(3)\" $s)",
                 "abc; !value too long for type character varying(3)");
    values_check(rows, "(cast \"varchar(3)\" $s)", "abc; lon");
    values_check(rows, "(assign \"varchar(4)\" $x)",
                 "!value too long for type character varying(4); -7");
    values_check(rows, "(assign \"numeric(4,2)\" $n)",
                 "1.01; !numeric field overflow: A field with precision 4, scale 2 must round to "
                 "an absolute value less than 10^2.");
    values_check(rows, "(assign smallint $n)", "1; 100");
    values_check(rows, "(assign text $x)", "12345; -7");
    rows_destroy(rows);
}

static void test_cast_marks_errors_of_assignment(void **state)
{
    (void)state;
    struct rows *rows = table();
    struct weir_eval *eval = weir_eval_create();
    struct weir_column out;
    weir_eval_begin(eval, &rows->batch);
    weir_expr_eval(rows_expr(rows, "(assign smallint (call * $x 10))"), eval, &rows->batch,
                   (struct weir_selection){.count = 2}, &out);
    assert_int_equal(weir_eval_error_count(eval), 1);
    assert_true(weir_eval_errors(eval)[0].is_constraint);
    weir_eval_begin(eval, &rows->batch);
    weir_expr_eval(rows_expr(rows, "(assign bigint (cast smallint (call * $x 10)))"), eval,
                   &rows->batch, (struct weir_selection){.count = 2}, &out);
    assert_int_equal(weir_eval_error_count(eval), 1);
    assert_false(weir_eval_errors(eval)[0].is_constraint);
    weir_eval_destroy(eval);
    rows_destroy(rows);
}

static void test_cast_context_decides_what_is_allowed(void **state)
{
    (void)state;
    struct rows *rows = table();
    refused(rows, "(assign integer $s)",
            "type text is not cast to integer on its own: write CAST(… AS integer)");
    refused(rows, "(assign boolean $x)",
            "type integer is not cast to boolean on its own: write CAST(… AS boolean)");
    refused(rows, "(cast date $x)", "cannot cast type integer to date");
    refused(rows, "(cast \"date(3)\" '2024-01-01')",
            "type modifier is not supported for type \"date\"");
    rows_destroy(rows);
}

static void test_cast_refuses_wrong_literals_at_once(void **state)
{
    (void)state;
    struct rows *rows = table();
    refused(rows, "(cast integer 'x')", "invalid input syntax for type integer: \"x\"");
    refused(rows, "(call + $x 'one')", "invalid input syntax for type integer: \"one\"");
    refused(rows, "(assign \"varchar(2)\" 'abc')", "value too long for type character varying(2)");
    refused(rows, "(cast \"numeric(3,1)\" '100')",
            "numeric field overflow: A field with precision 3, scale 1 must round to an absolute "
            "value less than 10^2.");
    values_check(rows, "(cast \"varchar(2)\" 'abc')", "ab; ab");
    rows_destroy(rows);
}

static void check_type(struct rows *rows, const char *source, const char *expected)
{
    char name[64];
    assert_string_equal(weir_type_name(weir_expr_type(rows_expr(rows, source)), name, sizeof name),
                        expected);
}

static void test_cast_types_carry_modifiers(void **state)
{
    (void)state;
    struct rows *rows = table();
    check_type(rows, "(cast \"numeric(10,2)\" $n)", "numeric(10,2)");
    check_type(rows, "(cast numeric (cast \"numeric(10,2)\" $n))", "numeric");
    check_type(rows, "(call + (cast \"numeric(10,2)\" $n) 1)", "numeric");
    check_type(rows, "(case true (cast \"varchar(5)\" $s) (cast \"varchar(5)\" 'x'))",
               "character varying(5)");
    check_type(rows, "(case (is-null $x) (cast \"varchar(5)\" $s) (cast \"varchar(6)\" $s))",
               "character varying");
    check_type(rows, "null", "text");
    rows_destroy(rows);
}

static void test_cast_without_effect_gives_the_expression_back(void **state)
{
    (void)state;
    struct rows *rows = table();
    struct weir_expr *column = rows_expr(rows, "$x");
    struct weir_type integer = weir_type_plain(WEIR_TYPE_INTEGER);
    struct weir_expr *cast;
    assert_int_equal(
        weir_expr_cast(rows->arena, column, &integer, WEIR_CAST_ASSIGNMENT, &cast, NULL), WEIR_OK);
    assert_ptr_equal(cast, column);
    rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cast_assignment_checks_lengths),
        cmocka_unit_test(test_cast_marks_errors_of_assignment),
        cmocka_unit_test(test_cast_context_decides_what_is_allowed),
        cmocka_unit_test(test_cast_refuses_wrong_literals_at_once),
        cmocka_unit_test(test_cast_types_carry_modifiers),
        cmocka_unit_test(test_cast_without_effect_gives_the_expression_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
