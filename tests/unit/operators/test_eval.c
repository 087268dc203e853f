// SPDX-License-Identifier: Apache-2.0
#include "values.h"

static const char *const NUMBERS[] = {"0", "1", "5", NULL};

static void test_eval_fails_only_rows_that_fail(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    values_check(rows, "(call / 12 $x)", "!division by zero; 12; 2; NULL");
    values_check(rows, "(call % 12 $x)", "!division by zero; 0; 2; NULL");
    values_check(rows, "(call / 12.0 $x)",
                 "!division by zero; 12.0000000000000000; 2.4000000000000000; NULL");
    rows_destroy(rows);
}

static void test_eval_reports_the_first_error_of_a_row(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    values_check(rows, "(call + (call / 12 $x) (call * (call % 1 $x) 2147483647))",
                 "!division by zero; 12; !integer out of range; NULL");
    rows_destroy(rows);
}

static void test_eval_asks_branches_only_where_they_are_taken(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    values_check(rows, "(case (call <> $x 0) (call / 12 $x) -1)", "-1; 12; 2; -1");
    values_check(rows, "(case (call = $x 0) 0 (call > (call / 12 $x) 5) 1 2)", "0; 1; 2; 2");
    values_check(rows, "(coalesce (nullif $x 0) (call / 1 $x))", "!division by zero; 1; 5; NULL");
    values_check(rows, "(coalesce $x (call / 1 (call - 5 5)))", "0; 1; 5; !division by zero");
    values_check(rows, "(or (call = $x 0) (call > (call / 12 $x) 5))", "t; t; f; NULL");
    values_check(rows, "(and (call <> $x 0) (call > (call / 12 $x) 5))", "f; t; f; NULL");
    values_check(rows, "(in $x 0 (call / 12 $x))", "t; f; f; NULL");
    rows_destroy(rows);
}

static void test_eval_keeps_constants_that_fail_for_the_rows_that_reach_them(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    values_check(rows, "(case (call = $x 1) (call / 1 0) $x)", "0; !division by zero; 5; NULL");
    values_check(rows, "(call / 1 0)",
                 "!division by zero; !division by zero; !division by zero; !division by zero");
    values_check(rows, "(and false (call = 1 (call / 1 0)))", "f; f; f; f");
    rows_destroy(rows);
}

static void test_eval_spreads_constants_over_the_rows(void **state)
{
    (void)state;
    static const uint16_t SELECTED[] = {1, 3};
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    values_check(rows, "(call + 3 4)", "7; 7; 7; 7");
    values_check(rows, "(cast numeric null)", "NULL; NULL; NULL; NULL");
    rows->batch.selected = SELECTED;
    rows->batch.selected_count = 2;
    values_check(rows, "'text'", "text; text");
    values_check(rows, "(call + $x 1)", "2; NULL");
    rows_destroy(rows);
}

static void test_eval_of_an_empty_selection_gives_nothing(void **state)
{
    (void)state;
    static const uint16_t SELECTED[] = {0};
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    rows->batch.selected = SELECTED;
    rows->batch.selected_count = 0;
    values_check(rows, "(case (call = $x 0) (call / 12 $x) 7)", "");
    values_check(rows, "(in $x 1 2)", "");
    rows_destroy(rows);
}

static void test_eval_begins_anew_with_each_batch(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer", 4, NUMBERS);
    struct weir_eval *eval = weir_eval_create();
    struct weir_expr *expr = rows_expr(rows, "(call / 12 $x)");
    for (int i = 0; i < 3; i++) {
        struct weir_buffer out = {0};
        values_append(&out, rows, eval, expr);
        assert_string_equal(weir_buffer_text(&out), "!division by zero; 12; 2; NULL");
        weir_buffer_deinit(&out);
    }
    weir_eval_destroy(eval);
    rows_destroy(rows);
}

static void test_eval_knows_three_truth_values(void **state)
{
    (void)state;
    static const char *const VALUES[] = {"7", "ash", NULL, NULL, "0", "birch", "9", "cedar"};
    struct rows *rows = rows_create("n:integer w:text", 4, VALUES);
    values_check(rows, "(not (call = (call + $n 1) 8))", "f; NULL; t; t");
    values_check(rows, "(call !~~ $w 'a%')", "f; NULL; t; t");
    values_check(rows, "(not (in $n 7 9))", "f; NULL; t; f");
    values_check(rows, "(not (or (call = (call + $n 1) 8) (call ~~ $w 'b%')))", "f; NULL; f; t");
    values_check(rows, "(in 2 null $n)", "NULL; NULL; NULL; NULL");
    rows_destroy(rows);
}

static void test_eval_full_batch(void **state)
{
    (void)state;
    const char **values = calloc(WEIR_BATCH_ROWS_MAX, sizeof *values);
    for (uint32_t i = 0; i < WEIR_BATCH_ROWS_MAX; i++) {
        values[i] = i % 3 == 0 ? NULL : i % 2 == 0 ? "0" : "2";
    }
    struct rows *rows = rows_create("x:bigint", WEIR_BATCH_ROWS_MAX, values);
    struct weir_eval *eval = weir_eval_create();
    struct weir_column out;
    weir_eval_begin(eval, &rows->batch);
    weir_expr_eval(rows_expr(rows, "(call / 10 $x)"), eval, &rows->batch,
                   (struct weir_selection){.count = WEIR_BATCH_ROWS_MAX}, &out);
    uint32_t failed_count = 0;
    for (uint32_t i = 0; i < WEIR_BATCH_ROWS_MAX; i++) {
        bool has_value = i % 3 != 0 && i % 2 == 1;
        assert_int_equal(weir_column_is_valid(&out, i), has_value);
        failed_count += i % 3 != 0 && i % 2 == 0;
        if (has_value) {
            assert_int_equal(out.i64[i], 5);
        }
    }
    assert_int_equal(weir_eval_error_count(eval), failed_count);
    weir_eval_destroy(eval);
    rows_destroy(rows);
    free(values);
}

// --- composites ------------------------------------------------------------------------------

static const struct weir_field PAIR_FIELDS[] = {
    {"a", {.kind = WEIR_TYPE_INTEGER, .modifier = -1}},
    {"b", {.kind = WEIR_TYPE_TEXT, .modifier = -1}},
};
static const struct weir_composite PAIR = {.name = "pair", .field_count = 2, .fields = PAIR_FIELDS};

// A column p of type pair beside a column c of booleans.
static struct rows *pairs(void)
{
    static const char *const FLAGS[] = {"t", "f", NULL, "t"};
    static const char *const TEXTS[] = {"(1,one)", "(2,)", "(,)", NULL};
    struct rows *rows = rows_create("c:boolean", 4, FLAGS);
    rows->fields[1] = (struct weir_field){
        .name = "p", .type = {.kind = WEIR_TYPE_COMPOSITE, .modifier = -1, .composite = &PAIR}};
    rows->schema.column_count = 2;
    weir_column_init(&rows->columns[1], &rows->fields[1].type, 4, true, rows->arena);
    for (uint32_t i = 0; i < 4; i++) {
        if (TEXTS[i] != NULL) {
            assert_true(
                weir_text_parse(&rows->columns[1], i, weir_view_of(TEXTS[i]), rows->arena, NULL));
        }
    }
    return rows;
}

static void test_eval_composites(void **state)
{
    (void)state;
    struct rows *rows = pairs();
    values_check(rows, "(field $p 0)", "1; 2; NULL; NULL");
    values_check(rows, "(call + (field $p 0) 1)", "2; 3; NULL; NULL");
    values_check(rows, "(is-null $p)", "f; f; t; t");
    values_check(rows, "(is-not-null $p)", "t; f; f; f");
    values_check(rows, "(case $c $p null)", "(1,one); NULL; NULL; NULL");
    values_check(rows, "(field (case $c $p null) 1)", "one; NULL; NULL; NULL");
    values_check(rows, "(coalesce $p (case $c $p null))", "(1,one); (2,); (,); NULL");
    values_check(rows, "(cast text $p)", "(1,one); (2,); (,); NULL");
    values_check(rows, "(call || 'p=' $p)", "p=(1,one); p=(2,); p=(,); NULL");
    rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eval_fails_only_rows_that_fail),
        cmocka_unit_test(test_eval_reports_the_first_error_of_a_row),
        cmocka_unit_test(test_eval_asks_branches_only_where_they_are_taken),
        cmocka_unit_test(test_eval_keeps_constants_that_fail_for_the_rows_that_reach_them),
        cmocka_unit_test(test_eval_spreads_constants_over_the_rows),
        cmocka_unit_test(test_eval_of_an_empty_selection_gives_nothing),
        cmocka_unit_test(test_eval_begins_anew_with_each_batch),
        cmocka_unit_test(test_eval_knows_three_truth_values),
        cmocka_unit_test(test_eval_full_batch),
        cmocka_unit_test(test_eval_composites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
