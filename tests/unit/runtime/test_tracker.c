// SPDX-License-Identifier: Apache-2.0
// The tracker over scripts of arrivals: what passes when, and a model over random ones.
#include "runtime/tracker.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>

static bool put(struct weir_tracker *tracker, uint32_t channel, int64_t number)
{
    struct weir_barrier barrier = {.number = number, .timestamp_ms = number * 10};
    return weir_tracker_on_barrier(tracker, channel, &barrier, number * 100 + channel);
}

static void test_barrier_passes_when_every_channel_has_delivered_it(void **state)
{
    (void)state;
    struct weir_tracker *tracker = weir_tracker_create(3);
    assert_false(put(tracker, 0, 1));
    assert_false(put(tracker, 0, 2)); // nobody is blocked: the same channel goes on
    assert_false(put(tracker, 1, 1));
    assert_true(put(tracker, 2, 1));
    assert_int_equal(weir_tracker_barrier(tracker)->number, 1);
    assert_int_equal(weir_tracker_barrier(tracker)->timestamp_ms, 10);
    assert_int_equal(weir_tracker_duration_ms(tracker), 2);
    assert_false(put(tracker, 2, 2));
    assert_true(put(tracker, 1, 2));
    assert_int_equal(weir_tracker_barrier(tracker)->number, 2);
    assert_int_equal(weir_tracker_count(tracker), 0);
    weir_tracker_destroy(tracker);
    tracker = weir_tracker_create(1);
    assert_true(put(tracker, 0, 7));
    assert_int_equal(weir_tracker_duration_ms(tracker), 0);
    weir_tracker_destroy(tracker);
}

// A channel that has delivered a barrier and then ended counts once.
static void test_end_of_a_channel_counts_for_it_alone(void **state)
{
    (void)state;
    struct weir_tracker *tracker = weir_tracker_create(2);
    assert_false(put(tracker, 0, 1));
    assert_false(weir_tracker_on_end(tracker, 0, 5));
    assert_true(put(tracker, 1, 1));
    assert_false(weir_tracker_on_end(tracker, 1, 6));
    weir_tracker_destroy(tracker);
    tracker = weir_tracker_create(2);
    assert_false(put(tracker, 0, 1));
    assert_false(put(tracker, 0, 2));
    assert_true(weir_tracker_on_end(tracker, 1, 9)); // the newest of both
    assert_int_equal(weir_tracker_barrier(tracker)->number, 2);
    weir_tracker_destroy(tracker);
}

static void test_cancelled_barrier_does_not_pass(void **state)
{
    (void)state;
    struct weir_tracker *tracker = weir_tracker_create(2);
    assert_false(put(tracker, 0, 1));
    weir_tracker_on_cancel(tracker, 1);
    assert_int_equal(weir_tracker_count(tracker), 0);
    assert_false(put(tracker, 1, 1));
    assert_false(put(tracker, 0, 2));
    weir_tracker_on_cancel(tracker, 1); // says nothing new
    assert_true(put(tracker, 1, 2));
    weir_tracker_destroy(tracker);
}

static void test_oldest_is_forgotten_beyond_the_bound(void **state)
{
    (void)state;
    struct weir_tracker *tracker = weir_tracker_create(2);
    for (int64_t number = 1; number <= WEIR_TRACKED_MAX + 2; number++) {
        assert_false(put(tracker, 0, number));
        assert_true(weir_tracker_count(tracker) <= WEIR_TRACKED_MAX);
    }
    assert_false(put(tracker, 1, 1)); // forgotten
    assert_false(put(tracker, 1, 2));
    assert_true(put(tracker, 1, 3));
    weir_tracker_destroy(tracker);
}

// Every barrier passes exactly once, with the arrival that makes it complete on all channels.
static void test_random_arrivals_as_a_model_says(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 300; round++) {
        enum { CHANNELS_MAX = 5, NUMBERS = 20 };
        uint32_t channels = 1 + (uint32_t)rand() % CHANNELS_MAX;
        int64_t delivered[CHANNELS_MAX] = {0};
        int64_t passed = 0;
        struct weir_tracker *tracker = weir_tracker_create(channels);
        for (uint32_t left = channels * NUMBERS; left > 0; left--) {
            uint32_t channel = (uint32_t)rand() % channels;
            while (delivered[channel] == NUMBERS) {
                channel = (channel + 1) % channels;
            }
            bool is_passing = put(tracker, channel, ++delivered[channel]);
            int64_t least = NUMBERS;
            for (uint32_t i = 0; i < channels; i++) {
                least = delivered[i] < least ? delivered[i] : least;
            }
            assert_int_equal(is_passing, least > passed);
            if (is_passing) {
                assert_int_equal(weir_tracker_barrier(tracker)->number, least);
                passed = least;
            }
        }
        assert_int_equal(passed, NUMBERS);
        weir_tracker_destroy(tracker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier_passes_when_every_channel_has_delivered_it),
        cmocka_unit_test(test_end_of_a_channel_counts_for_it_alone),
        cmocka_unit_test(test_cancelled_barrier_does_not_pass),
        cmocka_unit_test(test_oldest_is_forgotten_beyond_the_bound),
        cmocka_unit_test(test_random_arrivals_as_a_model_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
