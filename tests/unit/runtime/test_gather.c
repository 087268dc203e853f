// SPDX-License-Identifier: Apache-2.0
#include "exchange_rows.h"

static void test_gather_copies_rows_in_the_order_asked_for(void **state)
{
    (void)state;
    static const uint16_t ROWS[] = {99, 0, 63, 64, 7, 7, 65};
    enum { COUNT = sizeof ROWS / sizeof *ROWS };
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct weir_batch batch = make_batch(arena, 100, 10, 0, 1);
    struct weir_buffer expected = {0};
    struct weir_buffer actual = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        append_row(&expected, &batch, ROWS[i]);
    }
    struct weir_batch *copy = weir_batch_gather(&batch, ROWS, COUNT);
    weir_arena_destroy(arena); // the copy stands on its own
    assert_int_equal(copy->row_count, COUNT);
    assert_int_equal(copy->selected_count, COUNT);
    assert_null(copy->records);
    for (uint32_t i = 0; i < COUNT; i++) {
        append_row(&actual, copy, weir_batch_row(copy, i));
    }
    assert_string_equal(weir_buffer_text(&actual), weir_buffer_text(&expected));
    weir_batch_free(copy);
    weir_batch_free(NULL);
    weir_buffer_deinit(&expected);
    weir_buffer_deinit(&actual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather_copies_rows_in_the_order_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
