// SPDX-License-Identifier: Apache-2.0
// The line that tells how far a job has come.
#include "tests/unit/cmocka_all.h"

#include "app/progress.h"

static void expect(struct weir_progress_look before, struct weir_progress_look now,
                   const char *expected)
{
    struct weir_buffer line = {0};
    bool has_line = weir_progress_describe(&before, &now, &line);
    assert_int_equal(has_line, expected != NULL);
    if (expected != NULL) {
        assert_string_equal(weir_buffer_text(&line), expected);
    }
    weir_buffer_deinit(&line);
}

static void test_progress_of_a_bounded_run_tells_share_rate_and_time_left(void **state)
{
    (void)state;
    struct weir_progress_look before = {
        .at_ms = 5000, .offsets_read = 1000, .offsets_left = 9000, .is_bounded = true};
    expect(before,
           (struct weir_progress_look){
               .at_ms = 15000, .offsets_read = 2000, .offsets_left = 8000, .is_bounded = true},
           "2000 of 10000 offsets read (20 %), 100 a second, done in about 1 min 21 s");
    expect(before,
           (struct weir_progress_look){
               .at_ms = 15000, .offsets_read = 1000, .offsets_left = 9000, .is_bounded = true},
           "1000 of 10000 offsets read (10 %), 0 a second, no end in sight");
    expect(before,
           (struct weir_progress_look){
               .at_ms = 15000, .offsets_read = 10000, .offsets_left = 0, .is_bounded = true},
           NULL);
    expect(before, before, NULL); // no time has passed
}

static void test_progress_of_a_job_that_catches_up_counts_what_comes_meanwhile(void **state)
{
    (void)state;
    struct weir_progress_look before = {.at_ms = 0, .offsets_left = 5000000};
    expect(before,
           (struct weir_progress_look){
               .at_ms = 10000, .offsets_read = 1000000, .offsets_left = 4500000},
           "4500000 offsets behind, 100000 a second, caught up in about 1 min 31 s");
    expect(before,
           (struct weir_progress_look){
               .at_ms = 10000, .offsets_read = 1000000, .offsets_left = 6000000},
           "6000000 offsets behind, 100000 a second, not catching up");
    expect(
        before,
        (struct weir_progress_look){.at_ms = 10000, .offsets_read = 10000, .offsets_left = 4999999},
        "4999999 offsets behind, 1000 a second, caught up in about 578 days");
}

static void test_progress_is_silent_once_little_is_left(void **state)
{
    (void)state;
    struct weir_progress_look before = {.at_ms = 0, .offsets_left = 5000000};
    expect(before,
           (struct weir_progress_look){
               .at_ms = 10000, .offsets_read = 5900000, .offsets_left = 100000},
           NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_of_a_bounded_run_tells_share_rate_and_time_left),
        cmocka_unit_test(test_progress_of_a_job_that_catches_up_counts_what_comes_meanwhile),
        cmocka_unit_test(test_progress_is_silent_once_little_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
