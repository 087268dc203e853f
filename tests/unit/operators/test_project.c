// SPDX-License-Identifier: Apache-2.0
#include "operators/project.h"

#include "rows.h"

static struct weir_operator *project_of(struct rows *rows, uint32_t count,
                                        const char *const *sources)
{
    struct weir_field *fields = weir_arena_alloc(rows->arena, count * sizeof *fields);
    const struct weir_expr **exprs = weir_arena_alloc(rows->arena, count * sizeof *exprs);
    struct weir_schema *schema = weir_arena_alloc(rows->arena, sizeof *schema);
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = rows_expr(rows, sources[i]);
        fields[i] = (struct weir_field){.name = "out", .type = *weir_expr_type(exprs[i])};
    }
    *schema = (struct weir_schema){.column_count = count, .columns = fields};
    return weir_project_create("id", "project", schema, exprs);
}

static void check(uint32_t count, const char *const *sources, struct rows *rows, const char *out,
                  const char *reported)
{
    struct weir_operator *project = project_of(rows, count, sources);
    ends_check(project, rows, out, reported);
    project->ops->destroy(project);
}

static const char *const VALUES[] = {"1", "one", "0", "zero", NULL, NULL};

static void test_project_gives_a_column_for_each_expression(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer s:text", 3, VALUES);
    static const char *const SOURCES[] = {"$s", "(call + $x 1)", "7", "null"};
    check(4, SOURCES, rows, "0: one, 2, 7, NULL; 1: zero, 1, 7, NULL; 2: NULL, NULL, 7, NULL", "");
    rows_destroy(rows);
}

static void test_project_reports_a_row_once(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer s:text", 3, VALUES);
    static const char *const SOURCES[] = {"(call / 12 $x)", "(cast integer $s)", "(call % 1 $x)"};
    check(3, SOURCES, rows, "2: NULL, NULL, NULL",
          "100 project expression: invalid input syntax for type integer: \"one\"; "
          "101 project expression: division by zero");
    rows_destroy(rows);
}

static void test_project_says_constraint_for_limits_of_the_target(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer s:text", 3, VALUES);
    static const char *const SOURCES[] = {"(assign \"varchar(3)\" $s)",
                                          "(assign \"numeric(2,2)\" $x)"};
    check(2, SOURCES, rows, "2: NULL, NULL",
          "100 project constraint: numeric field overflow: A field with precision 2, scale 2 must "
          "round to an absolute value less than 1.; "
          "101 project constraint: value too long for type character varying(3)");
    rows_destroy(rows);
}

static void test_project_passes_plain_columns_without_copy(void **state)
{
    (void)state;
    struct rows *rows = rows_create("x:integer s:text", 3, VALUES);
    const struct weir_expr *expr = rows_expr(rows, "$s");
    struct weir_eval *eval = weir_eval_create();
    struct weir_column out;
    weir_eval_begin(eval, &rows->batch);
    weir_expr_eval(expr, eval, &rows->batch, (struct weir_selection){.count = 3}, &out);
    assert_ptr_equal(out.data, rows->columns[1].data);
    assert_ptr_equal(out.validity, rows->columns[1].validity);
    weir_eval_destroy(eval);
    rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_project_gives_a_column_for_each_expression),
        cmocka_unit_test(test_project_reports_a_row_once),
        cmocka_unit_test(test_project_says_constraint_for_limits_of_the_target),
        cmocka_unit_test(test_project_passes_plain_columns_without_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
