// SPDX-License-Identifier: Apache-2.0
#include "values.h"

static const char *const VALUES[] = {"1", "2", "a"};

static struct rows *table(void)
{
    return rows_create("x:integer dep_delay:bigint Odd:text", 1, VALUES);
}

static void check_print(struct rows *rows, const char *source, const char *expected)
{
    struct weir_buffer out = {0};
    weir_expr_print(rows_expr(rows, source), &out);
    assert_string_equal(weir_buffer_text(&out), expected);
    weir_buffer_deinit(&out);
}

static void test_tree_prints_sql(void **state)
{
    (void)state;
    struct rows *rows = table();
    check_print(rows, "(call > (call + $dep_delay 1) 15)", "(dep_delay + 1) > 15");
    check_print(rows, "(call substr $Odd 2 3)", "substr(\"Odd\", 2, 3)");
    check_print(rows, "(call ~~ $Odd 'it''s')", "\"Odd\" ~~ 'it''s'");
    check_print(rows, "(and (not (is-null $x)) (or (call = $x 1) (call < $x $dep_delay)))",
                "(NOT (x IS NULL)) AND ((x = 1) OR (x < dep_delay))");
    check_print(rows, "(case (call = $x 1) 'a' null)",
                "CASE WHEN x = 1 THEN 'a' ELSE NULL::text END");
    check_print(rows, "(in $x 1 2)", "(x = 1) OR (x = 2)");
    check_print(rows, "(cast \"numeric(10,2)\" $x)", "x::numeric::numeric(10,2)");
    check_print(rows, "(call * $x 0.908)", "x * 0.908");
    check_print(rows, "(cast date '2024-01-02')", "'2024-01-02'::date");
    check_print(rows, "(call - (call - $x))", "-(-x)");
    check_print(rows, "(distinct $x null)", "x IS DISTINCT FROM NULL::integer");
    check_print(rows, "(coalesce $x 0)", "COALESCE(x, 0)");
    check_print(rows, "(call + 1 2)", "3");
    rows_destroy(rows);
}

static void count_columns(const struct weir_expr *expr, void *context)
{
    *(uint32_t *)context += weir_expr_column_idx(expr) >= 0;
}

static void test_tree_walk_sees_every_node(void **state)
{
    (void)state;
    struct rows *rows = table();
    uint32_t count = 0;
    weir_expr_walk(rows_expr(rows, "(case (call = $x 1) $dep_delay (call + $x 2))"), count_columns,
                   &count);
    assert_int_equal(count, 3);
    rows_destroy(rows);
}

// Column i becomes column i + 1.
static struct weir_expr *shift(struct weir_arena *arena, const struct weir_expr *node,
                               void *context)
{
    struct rows *rows = context;
    int32_t idx = weir_expr_column_idx(node);
    return idx < 0 ? NULL
                   : weir_expr_column(arena, (uint32_t)idx + 1, rows->fields[idx].name,
                                      weir_expr_type(node));
}

static void test_tree_remap_replaces_columns(void **state)
{
    (void)state;
    static const char *const SHIFTED[] = {"0", "2", "100", "b"};
    struct rows *rows = table();
    struct rows *shifted = rows_create("new:text x:integer dep_delay:bigint Odd:text", 1, SHIFTED);
    static const char *const SOURCES[] = {
        "(call + $x $dep_delay)",
        "(in (call + $x 1) 3 4 $dep_delay)",
        "(case (call = $x 2) $Odd 'none')",
    };
    static const char *const RESULTS[] = {"102", "t", "b"};
    for (uint32_t i = 0; i < 3; i++) {
        struct weir_expr *copy =
            weir_expr_remap(rows->arena, rows_expr(rows, SOURCES[i]), shift, rows);
        struct weir_eval *eval = weir_eval_create();
        struct weir_buffer out = {0};
        values_append(&out, shifted, eval, copy);
        assert_string_equal(weir_buffer_text(&out), RESULTS[i]);
        weir_buffer_deinit(&out);
        weir_eval_destroy(eval);
    }
    rows_destroy(shifted);
    rows_destroy(rows);
}

static void test_tree_knows_constants(void **state)
{
    (void)state;
    struct rows *rows = table();
    assert_true(weir_expr_is_constant(rows_expr(rows, "(call / 1 0)")));
    assert_true(weir_expr_is_constant(rows_expr(rows, "'x'")));
    assert_false(weir_expr_is_constant(rows_expr(rows, "(call + $x 1)")));
    rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_prints_sql),
        cmocka_unit_test(test_tree_walk_sees_every_node),
        cmocka_unit_test(test_tree_remap_replaces_columns),
        cmocka_unit_test(test_tree_knows_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
