// SPDX-License-Identifier: Apache-2.0
// The wall clock that goes back, told from one that only drifts or is set ahead.
#include "tests/unit/cmocka_all.h"

#include "app/wall_clock.h"

static void test_wall_clock_set_back_is_told_once(void **state)
{
    (void)state;
    struct weir_wall_clock clock = {0};
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 1000, 1700000001000), 0);
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 6000, 1700000006000), 0);
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 11000, 1699996411000), 3600000);
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 16000, 1699996416000), 0);
    // Hidden behind the time that went by in between.
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 86416000, 1700079216000), 3600000);
}

static void test_wall_clock_that_drifts_or_goes_ahead_is_nothing(void **state)
{
    (void)state;
    struct weir_wall_clock clock = {0};
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 1000, 1700000001000), 0);
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 6000, 1700000004001), 0);
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 11000, 1700090000000), 0);
    assert_int_equal(weir_wall_clock_went_back_ms(&clock, 16000, 1700090003000), 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wall_clock_set_back_is_told_once),
        cmocka_unit_test(test_wall_clock_that_drifts_or_goes_ahead_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
