// SPDX-License-Identifier: Apache-2.0
#include "app/phases.h"

#include "tests/unit/cmocka_all.h"

static int64_t now_ms;

static int64_t monotonic_ms(const struct weir_clock *clock)
{
    (void)clock;
    return now_ms;
}

static void test_each_phase_is_what_went_on_since_the_last(void **state)
{
    (void)state;
    const struct weir_clock clock = {.monotonic_ms = monotonic_ms};
    struct weir_phases phases;
    now_ms = 1000;
    weir_phases_begin(&phases, &clock);
    now_ms = 1120;
    weir_phases_note(&phases, "brokers");
    weir_phases_note(&phases, "nothing");
    now_ms = 1125;
    weir_phases_note(&phases, "claim");
    now_ms = 9000;
    struct weir_buffer text = {0};
    weir_phases_describe(&phases, &text);
    assert_string_equal(weir_buffer_text(&text), "125 ms: brokers 120, nothing 0, claim 5");
    weir_phases_begin(&phases, &clock);
    text.size_bytes = 0;
    weir_phases_describe(&phases, &text);
    assert_string_equal(weir_buffer_text(&text), "0 ms");
    weir_buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_phase_is_what_went_on_since_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
