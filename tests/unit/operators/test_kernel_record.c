// SPDX-License-Identifier: Apache-2.0
#include "values.h"

// The last header of record 1 is color = red; record 0 has none.
static bool header_last(const struct weir_record *record, const char *name, struct weir_view *value)
{
    if (record->message == NULL || strcmp(name, "color") != 0) {
        return false;
    }
    *value = weir_view_of("red");
    return true;
}

static struct rows *records(void)
{
    static const struct weir_record_ops OPS = {.header_last = header_last};
    static const char *const VALUES[] = {"color", "size", "color"};
    struct rows *rows = rows_create("name:text", 3, VALUES);
    for (uint32_t i = 0; i < 3; i++) {
        rows->records[i].timestamp_ms = i == 1 ? -1 : INT64_C(1000000000000) + i;
        rows->records[i].key = i == 0 ? weir_view_of("") : (struct weir_view){0};
        rows->records[i].ops = &OPS;
        rows->records[i].message = i == 2 ? rows : NULL;
    }
    rows->records[2].key = weir_view_of("\x01k");
    return rows;
}

static void test_kernel_record_reads_the_record(void **state)
{
    (void)state;
    struct rows *rows = records();
    values_check(rows, "(call kafka_topic)", "topic; topic; topic");
    values_check(rows, "(call kafka_partition)", "3; 3; 3");
    values_check(rows, "(call kafka_offset)", "100; 101; 102");
    values_check(rows, "(call kafka_timestamp)",
                 "2001-09-09 01:46:40+00; NULL; 2001-09-09 01:46:40.002+00");
    values_check(rows, "(call kafka_key)", "\\x; NULL; \\x016b");
    values_check(rows, "(call kafka_header 'color')", "NULL; NULL; \\x726564");
    values_check(rows, "(call kafka_header 'size')", "NULL; NULL; NULL");
    values_check(rows, "(call kafka_header $name)", "NULL; NULL; \\x726564");
    rows_destroy(rows);
}

static void test_kernel_record_is_never_a_constant(void **state)
{
    (void)state;
    struct rows *rows = records();
    struct weir_expr *header = rows_expr(rows, "(call kafka_header 'color')");
    assert_true(weir_expr_needs_record(header));
    assert_false(weir_expr_is_constant(header));
    struct weir_expr *now = rows_expr(rows, "(call > (call now) '2024-01-01')");
    assert_true(weir_expr_needs_now(now));
    assert_false(weir_expr_is_constant(now));
    assert_false(weir_expr_needs_record(now));
    rows_destroy(rows);
}

static void test_kernel_record_now_is_what_was_set(void **state)
{
    (void)state;
    struct rows *rows = records();
    struct weir_eval *eval = weir_eval_create();
    struct weir_buffer out = {0};
    weir_eval_set_now(eval, 1000000);
    values_append(&out, rows, eval, rows_expr(rows, "(call now)"));
    assert_string_equal(weir_buffer_text(&out), "2000-01-01 00:00:01+00; 2000-01-01 00:00:01+00; "
                                                "2000-01-01 00:00:01+00");
    weir_buffer_deinit(&out);
    weir_eval_destroy(eval);
    rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_record_reads_the_record),
        cmocka_unit_test(test_kernel_record_is_never_a_constant),
        cmocka_unit_test(test_kernel_record_now_is_what_was_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
