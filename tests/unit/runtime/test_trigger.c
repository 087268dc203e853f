// SPDX-License-Identifier: Apache-2.0
// The pre-checks of a trigger as a table: one thing wrong at a time, and the order of the checks.
#include "runtime/trigger.h"

#include "tests/unit/cmocka_all.h"

static const struct weir_trigger_state healthy = {
    .is_running = true,
    .source_count = 2,
    .source_running_count = 2,
    .task_count = 3,
    .task_running_count = 3,
    .pending_count = 0,
    .concurrent_max = 1,
    .number = 8,
    .handle_ready_number = 11,
    .now_ms = 5000,
    .last_end_ms = 1000,
    .min_pause_ms = 4000,
};

static void expect(const struct weir_trigger_state *state, enum weir_trigger_kind kind,
                   enum weir_trigger_refusal refusal)
{
    assert_string_equal(weir_trigger_refusal_name(weir_trigger_check(state, kind)),
                        weir_trigger_refusal_name(refusal));
}

static void test_trigger_is_refused_by_name(void **state)
{
    (void)state;
    struct weir_trigger_state now = healthy;
    expect(&now, WEIR_TRIGGER_PERIODIC, WEIR_TRIGGER_ALLOWED);
    now.now_ms = 4999;
    expect(&now, WEIR_TRIGGER_PERIODIC, WEIR_TRIGGER_MIN_PAUSE);
    expect(&now, WEIR_TRIGGER_MANUAL, WEIR_TRIGGER_ALLOWED);
    now.handle_ready_number = 8; // epoch 9 has no open transaction yet
    expect(&now, WEIR_TRIGGER_MANUAL, WEIR_TRIGGER_TOO_MANY_PENDING);
    now = healthy;
    now.pending_count = 1;
    expect(&now, WEIR_TRIGGER_MANUAL, WEIR_TRIGGER_TOO_MANY_PENDING);
    now.task_running_count = 2;
    expect(&now, WEIR_TRIGGER_MANUAL, WEIR_TRIGGER_TASK_NOT_RUNNING);
    now.source_running_count = 1;
    expect(&now, WEIR_TRIGGER_MANUAL, WEIR_TRIGGER_SOURCE_NOT_RUNNING);
    now.is_running = false;
    expect(&now, WEIR_TRIGGER_FINAL, WEIR_TRIGGER_SUSPENDED);
    now.is_shutting_down = true;
    expect(&now, WEIR_TRIGGER_PERIODIC, WEIR_TRIGGER_SHUTTING_DOWN);
    expect(&now, WEIR_TRIGGER_MANUAL, WEIR_TRIGGER_SHUTTING_DOWN);
}

static void test_trigger_final_is_allowed_while_shutting_down(void **state)
{
    (void)state;
    struct weir_trigger_state now = healthy;
    now.is_shutting_down = true;
    now.now_ms = 1001;
    expect(&now, WEIR_TRIGGER_FINAL, WEIR_TRIGGER_ALLOWED);
    now.pending_count = 1;
    expect(&now, WEIR_TRIGGER_FINAL, WEIR_TRIGGER_TOO_MANY_PENDING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trigger_is_refused_by_name),
        cmocka_unit_test(test_trigger_final_is_allowed_while_shutting_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
