// SPDX-License-Identifier: Apache-2.0
#include "runtime/aligner.h"

#include "tests/unit/cmocka_all.h"

static enum weir_alignment arrive(struct weir_aligner *aligner, uint32_t channel_idx,
                                  int64_t number, int64_t now_ms)
{
    struct weir_barrier barrier = {.number = number, .timestamp_ms = number * 10};
    return weir_aligner_on_barrier(aligner, channel_idx, &barrier, now_ms);
}

static void check_blocked(const struct weir_aligner *aligner, const char *expected)
{
    for (uint32_t i = 0; expected[i] != '\0'; i++) {
        assert_int_equal(weir_aligner_is_blocked(aligner, i), expected[i] == 'x');
    }
}

static void test_aligner_one_channel_needs_no_alignment(void **state)
{
    (void)state;
    struct weir_aligner *aligner = weir_aligner_create(1);
    assert_int_equal(arrive(aligner, 0, 1, 100), WEIR_ALIGNMENT_PASS);
    assert_int_equal(weir_aligner_barrier(aligner)->number, 1);
    assert_int_equal(weir_aligner_duration_ms(aligner), 0);
    check_blocked(aligner, "-");
    assert_int_equal(arrive(aligner, 0, 2, 200), WEIR_ALIGNMENT_PASS);
    assert_int_equal(weir_aligner_barrier(aligner)->timestamp_ms, 20);
    weir_aligner_destroy(aligner);
}

static void test_aligner_blocks_who_has_delivered_until_all_have(void **state)
{
    (void)state;
    struct weir_aligner *aligner = weir_aligner_create(3);
    for (int64_t number = 1; number <= 3; number++) {
        assert_false(weir_aligner_is_aligning(aligner));
        assert_int_equal(arrive(aligner, 1, number, 1000), WEIR_ALIGNMENT_NONE);
        check_blocked(aligner, "-x-");
        assert_true(weir_aligner_is_aligning(aligner));
        assert_int_equal(weir_aligner_received_count(aligner), 1);
        assert_int_equal(arrive(aligner, 0, number, 1010), WEIR_ALIGNMENT_NONE);
        check_blocked(aligner, "xx-");
        assert_int_equal(arrive(aligner, 2, number, 1000 + number), WEIR_ALIGNMENT_PASS);
        check_blocked(aligner, "---");
        assert_int_equal(weir_aligner_barrier(aligner)->number, number);
        assert_int_equal(weir_aligner_duration_ms(aligner), number);
        assert_int_equal(weir_aligner_received_count(aligner), 0);
    }
    weir_aligner_destroy(aligner);
}

static void test_aligner_does_not_wait_for_who_has_ended(void **state)
{
    (void)state;
    struct weir_aligner *aligner = weir_aligner_create(3);
    assert_int_equal(weir_aligner_on_end(aligner, 0, 5), WEIR_ALIGNMENT_NONE);
    assert_int_equal(arrive(aligner, 1, 7, 10), WEIR_ALIGNMENT_NONE);
    check_blocked(aligner, "-x-");
    // An end completes it.
    assert_int_equal(weir_aligner_on_end(aligner, 2, 25), WEIR_ALIGNMENT_PASS);
    assert_int_equal(weir_aligner_barrier(aligner)->number, 7);
    assert_int_equal(weir_aligner_duration_ms(aligner), 15);
    check_blocked(aligner, "---");
    assert_int_equal(arrive(aligner, 1, 8, 30), WEIR_ALIGNMENT_PASS);
    assert_int_equal(weir_aligner_on_end(aligner, 1, 40), WEIR_ALIGNMENT_NONE);
    weir_aligner_destroy(aligner);
}

static void test_aligner_cancel_frees_and_late_barriers_pass_over(void **state)
{
    (void)state;
    struct weir_aligner *aligner = weir_aligner_create(2);
    assert_int_equal(arrive(aligner, 0, 4, 10), WEIR_ALIGNMENT_NONE);
    weir_aligner_on_cancel(aligner, 3); // an older one changes nothing
    check_blocked(aligner, "x-");
    weir_aligner_on_cancel(aligner, 4);
    check_blocked(aligner, "--");
    assert_false(weir_aligner_is_aligning(aligner));
    assert_int_equal(weir_aligner_received_count(aligner), 0);
    // The other channel's barrier of it was on its way.
    assert_int_equal(arrive(aligner, 1, 4, 11), WEIR_ALIGNMENT_NONE);
    check_blocked(aligner, "--");
    assert_int_equal(arrive(aligner, 1, 5, 12), WEIR_ALIGNMENT_NONE);
    weir_aligner_on_cancel(aligner, 4); // the second channel's word of the same
    check_blocked(aligner, "-x");
    assert_int_equal(arrive(aligner, 0, 5, 13), WEIR_ALIGNMENT_PASS);
    // A newer one: the older one that is waited for will not come either.
    assert_int_equal(arrive(aligner, 0, 6, 14), WEIR_ALIGNMENT_NONE);
    weir_aligner_on_cancel(aligner, 7);
    check_blocked(aligner, "--");
    assert_int_equal(arrive(aligner, 0, 8, 15), WEIR_ALIGNMENT_NONE);
    assert_int_equal(arrive(aligner, 1, 8, 15), WEIR_ALIGNMENT_PASS);
    weir_aligner_destroy(aligner);
}

static void test_aligner_cancel_before_the_first_barrier(void **state)
{
    (void)state;
    struct weir_aligner *aligner = weir_aligner_create(2);
    weir_aligner_on_cancel(aligner, 1);
    assert_int_equal(arrive(aligner, 0, 1, 0), WEIR_ALIGNMENT_NONE);
    assert_int_equal(arrive(aligner, 1, 1, 0), WEIR_ALIGNMENT_NONE);
    check_blocked(aligner, "--");
    weir_aligner_destroy(aligner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aligner_one_channel_needs_no_alignment),
        cmocka_unit_test(test_aligner_blocks_who_has_delivered_until_all_have),
        cmocka_unit_test(test_aligner_does_not_wait_for_who_has_ended),
        cmocka_unit_test(test_aligner_cancel_frees_and_late_barriers_pass_over),
        cmocka_unit_test(test_aligner_cancel_before_the_first_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
