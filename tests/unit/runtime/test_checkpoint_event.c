// SPDX-License-Identifier: Apache-2.0
// What is kept of the acknowledgements of tasks: the longest of each phase, and whose it was.
#include "runtime/checkpoint_event.h"

#include "tests/unit/cmocka_all.h"

// A trigger is the way to a source: others pass it later.
static void test_event_keeps_the_longest_of_each_phase_and_its_task(void **state)
{
    (void)state;
    struct weir_checkpoint_event event = {.triggered_us = 1000};
    const struct weir_snapshot snapshots[] = {
        {.task_idx = 0, .passed_us = 1400, .stored_us = 1500, .flushed_us = 1400},
        {.task_idx = 1, .passed_us = 1100, .stored_us = 1900, .flushed_us = 1150},
        {.task_idx = 2, .align_us = 70, .passed_us = 1600, .stored_us = 1600, .flushed_us = 1700},
    };
    for (uint32_t i = 0; i < 3; i++) {
        weir_checkpoint_event_add(&event, &snapshots[i], i < 2);
    }
    assert_int_equal(event.phases.trigger_us, 400);
    assert_int_equal(event.slowest.trigger_idx, 0);
    assert_int_equal(event.phases.align_us, 70);
    assert_int_equal(event.slowest.align_idx, 2);
    assert_int_equal(event.phases.snapshot_us, 800);
    assert_int_equal(event.slowest.snapshot_idx, 1);
    assert_int_equal(event.phases.flush_us, 100);
    assert_int_equal(event.slowest.flush_idx, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_keeps_the_longest_of_each_phase_and_its_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
