// SPDX-License-Identifier: Apache-2.0
#include "operators/filter.h"

#include "rows.h"

static void check(const char *condition, struct rows *rows, const char *out, const char *reported)
{
    struct weir_operator *filter = weir_filter_create("id", "filter", rows_expr(rows, condition));
    ends_check(filter, rows, out, reported);
    filter->ops->destroy(filter);
}

static struct rows *numbers(void)
{
    static const char *const VALUES[] = {"0", "1", "5", NULL};
    return rows_create("x:integer", 4, VALUES);
}

static void test_filter_keeps_rows_that_are_true(void **state)
{
    (void)state;
    struct rows *rows = numbers();
    check("(call > $x 0)", rows, "1: 1; 2: 5", "");
    check("(is-null $x)", rows, "3: NULL", "");
    check("(call > $x 100)", rows, "", "");
    check("true", rows, "0: 0; 1: 1; 2: 5; 3: NULL", "");
    rows_destroy(rows);
}

static void test_filter_reports_rows_that_fail(void **state)
{
    (void)state;
    struct rows *rows = numbers();
    check("(call > (call / 12 $x) 2)", rows, "1: 1", "100 filter expression: division by zero");
    check("(and (call <> $x 0) (call > (call / 12 $x) 2))", rows, "1: 1", "");
    rows_destroy(rows);
}

static void test_filter_narrows_a_selection(void **state)
{
    (void)state;
    static const uint16_t SELECTED[] = {0, 2, 3};
    struct rows *rows = numbers();
    rows->batch.selected = SELECTED;
    rows->batch.selected_count = 3;
    check("(call >= $x 0)", rows, "0: 0; 2: 5", "");
    check("(call < (call / 12 $x) 5)", rows, "2: 5", "100 filter expression: division by zero");
    rows_destroy(rows);
}

static void test_filter_rows_without_record_are_reported_as_json(void **state)
{
    (void)state;
    struct rows *rows = numbers();
    rows->batch.records = NULL;
    check("(call = (call / 12 $x) 2)", rows, "2: 5",
          "{\"x\":0} filter expression: division by zero");
    rows_destroy(rows);
}

static void test_filter_stops_when_the_policy_says_so(void **state)
{
    (void)state;
    struct rows *rows = numbers();
    struct weir_operator *filter =
        weir_filter_create("id", "filter", rows_expr(rows, "(call = (call / 12 $x) 2)"));
    struct ends *ends = ends_create(filter);
    ends->is_strict = true;
    struct weir_error error;
    assert_int_equal(filter->ops->process(filter, &rows->batch, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FAIL);
    assert_int_equal(ends->batch_count, 0);
    ends_destroy(ends);
    filter->ops->destroy(filter);
    rows_destroy(rows);
}

static void test_filter_takes_now_from_the_barrier(void **state)
{
    (void)state;
    static const char *const VALUES[] = {"2024-05-01 00:00:00+00", "2024-05-03 00:00:00+00"};
    struct rows *rows = rows_create("t:timestamptz", 2, VALUES);
    struct weir_operator *filter =
        weir_filter_create("id", "filter", rows_expr(rows, "(call < $t (call now))"));
    struct weir_barrier barrier = {.number = 1, .timestamp_ms = INT64_C(1714608000000)}; // May 2nd
    assert_int_equal(filter->ops->barrier(filter, &barrier, NULL, NULL), WEIR_OK);
    ends_check(filter, rows, "0: 2024-05-01 00:00:00+00", "");
    filter->ops->destroy(filter);
    rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_keeps_rows_that_are_true),
        cmocka_unit_test(test_filter_reports_rows_that_fail),
        cmocka_unit_test(test_filter_narrows_a_selection),
        cmocka_unit_test(test_filter_rows_without_record_are_reported_as_json),
        cmocka_unit_test(test_filter_stops_when_the_policy_says_so),
        cmocka_unit_test(test_filter_takes_now_from_the_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
