// SPDX-License-Identifier: Apache-2.0
// Of several wishes about a partition the last one counts, and the list does not grow.
#include "app/pauses.h"

#include "tests/unit/cmocka_all.h"

static void test_the_last_wish_about_a_partition_counts(void **state)
{
    (void)state;
    struct weir_pauses pauses = {0};
    assert_false(weir_pauses_has(&pauses, "a", 0));
    weir_pauses_add(&pauses, "a", 3, true);
    assert_true(weir_pauses_has(&pauses, "a", 3));
    assert_false(weir_pauses_has(&pauses, "a", 2));
    assert_false(weir_pauses_has(&pauses, "b", 3));

    weir_pauses_add(&pauses, NULL, -1, true); // everything, also what is not there yet
    assert_true(weir_pauses_has(&pauses, "b", 77));
    weir_pauses_add(&pauses, "a", -1, false);
    assert_false(weir_pauses_has(&pauses, "a", 3));
    assert_true(weir_pauses_has(&pauses, "b", 3));
    weir_pauses_add(&pauses, NULL, 3, false); // partition 3 of every table
    assert_false(weir_pauses_has(&pauses, "b", 3));
    assert_true(weir_pauses_has(&pauses, "b", 4));
    weir_pauses_deinit(&pauses);
}

static void test_a_wish_takes_away_those_that_it_covers(void **state)
{
    (void)state;
    struct weir_pauses pauses = {0};
    for (int32_t i = 0; i < 100; i++) {
        weir_pauses_add(&pauses, i % 2 == 0 ? "a" : "b", i % 4, i % 3 == 0);
    }
    assert_int_equal(pauses.count, 4);
    weir_pauses_add(&pauses, "a", -1, true);
    assert_int_equal(pauses.count, 3);
    weir_pauses_add(&pauses, NULL, -1, false);
    assert_int_equal(pauses.count, 1);
    assert_false(weir_pauses_has(&pauses, "a", 0));
    weir_pauses_deinit(&pauses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_wish_about_a_partition_counts),
        cmocka_unit_test(test_a_wish_takes_away_those_that_it_covers),
    };
    return cmocka_run_group_tests_name("app/pauses", tests, NULL, NULL);
}
