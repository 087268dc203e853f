// SPDX-License-Identifier: Apache-2.0
#include "operators/derive.h"

#include "rows.h"

static const char *const VALUES[] = {
    "1",  "2024-05-01 00:00:00", // fine
    "0",  "2024-05-01 00:00:01", // the expression fails
    NULL, "2024-05-01 00:00:02", // NOT NULL
    "-3", "2024-05-01 00:00:03", // CHECK
    "5",  NULL,                  // no time
    "6",  "infinity",            // no finite time
    "7",  "2024-05-01 00:00:06", // fine
};

struct derived {
    struct rows *rows;
    struct weir_schema schema;
    struct weir_field fields[ROWS_COLUMNS_MAX];
    const struct weir_expr *exprs[1];
    struct weir_derive_check checks[2];
    struct weir_derive_config config;
};

// x integer, t timestamp, and y = 12 / x.
static struct derived *derived_create(const char *time_type)
{
    char columns[64];
    snprintf(columns, sizeof columns, "x:integer t:%s", time_type);
    struct derived *derived = weir_alloc_zero(sizeof *derived);
    struct rows *rows = rows_create(columns, 7, VALUES);
    derived->rows = rows;
    derived->exprs[0] = rows_expr(rows, "(call / 12 $x)");
    memcpy(derived->fields, rows->fields, sizeof rows->fields);
    derived->fields[2] =
        (struct weir_field){.name = "y", .type = weir_type_plain(WEIR_TYPE_INTEGER)};
    derived->schema = (struct weir_schema){.column_count = 3, .columns = derived->fields};
    derived->config = (struct weir_derive_config){.schema = &derived->schema,
                                                  .expr_count = 1,
                                                  .exprs = derived->exprs,
                                                  .checks = derived->checks,
                                                  .event_time_column = -1};
    return derived;
}

static void derived_destroy(struct derived *derived)
{
    rows_destroy(derived->rows);
    free(derived);
}

static void check(struct derived *derived, const char *out, const char *reported)
{
    struct weir_operator *derive = weir_derive_create("id", "derive", &derived->config);
    ends_check(derive, derived->rows, out, reported);
    derive->ops->destroy(derive);
}

static void test_derive_appends_columns(void **state)
{
    (void)state;
    struct derived *derived = derived_create("text");
    check(derived,
          "0: 1, 2024-05-01 00:00:00, 12; 2: NULL, 2024-05-01 00:00:02, NULL; "
          "3: -3, 2024-05-01 00:00:03, -4; 4: 5, NULL, 2; 5: 6, infinity, 2; "
          "6: 7, 2024-05-01 00:00:06, 1",
          "101 derive expression: division by zero");
    derived_destroy(derived);
}

static void test_derive_checks_each_row_once(void **state)
{
    (void)state;
    struct derived *derived = derived_create("timestamp");
    derived->checks[0] = (struct weir_derive_check){
        .not_null_column = 0,
        .message = "null value in column \"x\" of relation \"r\" violates not-null constraint"};
    struct rows over = *derived->rows; // conditions are over the output's columns
    over.schema = derived->schema;
    derived->checks[1] = (struct weir_derive_check){
        .not_null_column = -1,
        .condition = rows_expr(&over, "(call > $y 0)"),
        .message = "new row for relation \"r\" violates check constraint \"r_y_check\""};
    derived->config.check_count = 2;
    derived->config.event_time_column = 1;
    derived->config.is_event_time_needed = true;
    check(derived, "0: 1, 2024-05-01 00:00:00, 12; 6: 7, 2024-05-01 00:00:06, 1",
          "101 derive expression: division by zero; "
          "102 derive constraint: null value in column \"x\" of relation \"r\" violates not-null "
          "constraint; "
          "103 derive constraint: new row for relation \"r\" violates check constraint "
          "\"r_y_check\"; "
          "104 derive event_time: column \"t\" has no usable event time; "
          "105 derive event_time: column \"t\" has no usable event time");
    derived_destroy(derived);
}

// A deleted key of a keyed topic comes with its key alone.
static void test_derive_deleted_keys_pass_unchecked(void **state)
{
    (void)state;
    struct derived *derived = derived_create("timestamp");
    uint8_t change[7] = {[2] = WEIR_CHANGE_DELETE, [4] = WEIR_CHANGE_DELETE};
    derived->rows->batch.change = change;
    derived->checks[0] = (struct weir_derive_check){.not_null_column = 0, .message = "is NULL"};
    derived->config.expr_count = 0;
    derived->schema.column_count = 2;
    derived->config.check_count = 1;
    derived->config.event_time_column = 1;
    derived->config.is_event_time_needed = true;
    derived->config.has_tombstones = true;
    derived->rows->batch.event_time_us[4] = 7000;
    check(derived,
          "0: 1, 2024-05-01 00:00:00; 1: 0, 2024-05-01 00:00:01; 2: NULL, 2024-05-01 00:00:02; "
          "3: -3, 2024-05-01 00:00:03; 4: 5, NULL; 6: 7, 2024-05-01 00:00:06",
          "105 derive event_time: column \"t\" has no usable event time");
    assert_int_equal(derived->rows->batch.event_time_us[4], 7000);
    derived_destroy(derived);
}

// What a row taken back lacks was said when it came: nothing is reported again.
static void test_derive_rows_taken_back_are_not_reported(void **state)
{
    (void)state;
    struct derived *derived = derived_create("text");
    uint8_t change[7] = {[1] = WEIR_CHANGE_DELETE, [3] = WEIR_CHANGE_UPDATE_BEFORE};
    derived->rows->batch.change = change;
    derived->checks[0] =
        (struct weir_derive_check){.not_null_column = -1,
                                   .condition = rows_expr(derived->rows, "(call > $x 1)"),
                                   .message = "violated"};
    derived->config.expr_count = 0;
    derived->schema.column_count = 2;
    derived->config.check_count = 1;
    check(derived,
          "2: NULL, 2024-05-01 00:00:02; 4: 5, NULL; 5: 6, infinity; 6: 7, 2024-05-01 00:00:06",
          "100 derive constraint: violated");
    derived_destroy(derived);
}

static void test_derive_check_is_violated_by_false_only(void **state)
{
    (void)state;
    struct derived *derived = derived_create("text");
    derived->checks[0] =
        (struct weir_derive_check){.not_null_column = -1,
                                   .condition = rows_expr(derived->rows, "(call > $x 1)"),
                                   .message = "violated"};
    derived->config.expr_count = 0;
    derived->schema.column_count = 2;
    derived->config.check_count = 1;
    check(derived,
          "2: NULL, 2024-05-01 00:00:02; 4: 5, NULL; 5: 6, infinity; 6: 7, 2024-05-01 00:00:06",
          "100 derive constraint: violated; 101 derive constraint: violated; "
          "103 derive constraint: violated");
    derived_destroy(derived);
}

static void test_derive_check_that_fails_is_an_expression_error(void **state)
{
    (void)state;
    struct derived *derived = derived_create("text");
    derived->checks[0] = (struct weir_derive_check){
        .not_null_column = -1,
        .condition = rows_expr(derived->rows, "(call < (call / 5 $x) 5)"),
        .message = "violated"};
    derived->config.expr_count = 0;
    derived->schema.column_count = 2;
    derived->config.check_count = 1;
    check(derived,
          "2: NULL, 2024-05-01 00:00:02; 3: -3, 2024-05-01 00:00:03; 4: 5, NULL; 5: 6, infinity; "
          "6: 7, 2024-05-01 00:00:06",
          "101 derive expression: division by zero; 100 derive constraint: violated");
    derived_destroy(derived);
}

static void check_event_time(const char *type, int64_t expected_us)
{
    struct derived *derived = derived_create(type);
    derived->config.expr_count = 0;
    derived->schema.column_count = 2;
    derived->config.event_time_column = 1;
    for (uint32_t i = 0; i < 7; i++) {
        derived->rows->batch.event_time_us[i] = 1000 + i;
    }
    struct weir_operator *derive = weir_derive_create("id", "derive", &derived->config);
    struct ends *ends = ends_create(derive);
    struct weir_error error;
    assert_int_equal(derive->ops->process(derive, &derived->rows->batch, &error), WEIR_OK);
    assert_int_equal(ends->event_time_us[6], expected_us);
    // NULL and infinite: as it was, and nothing is wrong with the row.
    assert_int_equal(ends->event_time_us[4], 1004);
    assert_int_equal(ends->event_time_us[5], 1005);
    assert_int_equal(ends->reported.size_bytes, 0);
    assert_int_equal(derived->rows->batch.event_time_us[6], 1006); // the caller's stays
    ends_destroy(ends);
    derive->ops->destroy(derive);
    derived_destroy(derived);
}

static void test_derive_sets_event_time(void **state)
{
    (void)state;
    const int64_t day_us = INT64_C(767836800000000); // 2024-05-01 since 2000-01-01
    check_event_time("timestamp", day_us + 6000000);
    check_event_time("timestamptz", day_us + 6000000);
    check_event_time("date", day_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derive_appends_columns),
        cmocka_unit_test(test_derive_checks_each_row_once),
        cmocka_unit_test(test_derive_deleted_keys_pass_unchecked),
        cmocka_unit_test(test_derive_rows_taken_back_are_not_reported),
        cmocka_unit_test(test_derive_check_is_violated_by_false_only),
        cmocka_unit_test(test_derive_check_that_fails_is_an_expression_error),
        cmocka_unit_test(test_derive_sets_event_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
