// SPDX-License-Identifier: Apache-2.0
// The four handles: which epoch meets which, when one is made anew, and what is repeated.
#include "kafka/handles.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/kafka/fake_kafka.h"

static const struct weir_offset_commit offsets[] = {
    {.topic = "in", .partition = 0, .offset = 5, .metadata = "w1:…"}};

static enum weir_status commit(struct weir_handles *handles, int64_t epoch, int64_t wait_ms,
                               struct weir_error *error)
{
    return weir_handles_commit(handles, epoch, 1, offsets,
                               weir_now_ms(&weir_system_clock) + wait_ms, error);
}

static void test_epochs_take_turns_on_four_ids(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    assert_int_equal(fake_kafka.producer_count, 4);
    for (int64_t epoch = 0; epoch < 8; epoch++) {
        char id[32];
        snprintf(id, sizeof id, "job-0-%d", (int)(epoch % 4));
        assert_string_equal(weir_handles_id(handles, epoch), id);
        assert_string_equal(fake_of(handles, epoch)->id, id);
    }
    fake_handles_close(handles);
}

static void test_used_up_handle_is_made_anew_before_its_next_begin(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_error error;
    assert_int_equal(weir_handles_begin(handles, 1, &error), WEIR_OK);
    struct fake_producer *first = fake_of(handles, 1);
    first->is_used_up = true;
    assert_int_equal(commit(handles, 1, 1000, &error), WEIR_OK); // the commit itself counts
    assert_false(first->is_destroyed);
    assert_int_equal(weir_handles_begin(handles, 5, &error), WEIR_OK);
    assert_true(first->is_destroyed);
    assert_ptr_not_equal(fake_of(handles, 5), first);
    assert_string_equal(fake_of(handles, 5)->id, "job-0-1");
    assert_int_equal(fake_kafka.producer_count, 5);
    fake_handles_close(handles);
}

// Not at the claim, which comes after the pointer was read: whoever has claimed in between would be
// fenced, and taken back.
static void test_handle_whose_init_had_no_answer_is_made_anew_at_once(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open_with(2);
    struct weir_error error;
    assert_int_equal(fake_kafka.producer_count, 6);
    for (int64_t epoch = 0; epoch < 4; epoch++) {
        assert_false(weir_handles_is_used_up(handles, epoch));
        assert_int_equal(weir_handles_begin(handles, epoch, &error), WEIR_OK);
    }
    assert_int_equal(fake_kafka.producer_count, 6);
    fake_handles_close(handles);
}

static int64_t waited_ms(const struct weir_clock *clock)
{
    (void)clock;
    return fake_kafka.waited_ms;
}

// A client that has settled on a broker which died is not what a start fails of.
static void test_client_that_gets_no_answer_is_replaced(void **state)
{
    (void)state;
    static const struct weir_clock clock = {.monotonic_ms = waited_ms};
    static const struct weir_kafka_ops ops = {.producer_create = fake_producer_create};
    memset(&fake_kafka, 0, sizeof fake_kafka);
    fake_kafka.base.ops = &ops;
    fake_kafka.deaf_count = 2;
    struct weir_handles *handles;
    struct weir_error error;
    assert_int_equal(
        weir_handles_open(&fake_kafka.base, "job", 0, false, &clock, 60000, &handles, &error),
        WEIR_OK);
    assert_int_equal(fake_kafka.producer_count, 6);
    assert_in_range(fake_kafka.waited_ms, 1, 59999);
    for (int64_t epoch = 0; epoch < 4; epoch++) {
        assert_false(fake_of(handles, epoch)->is_deaf);
    }
    fake_handles_close(handles);
}

static void test_doubtful_offset_commit_gives_the_epoch_up(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_error error;
    assert_int_equal(weir_handles_begin(handles, 1, &error), WEIR_OK);
    fake_of(handles, 1)->is_doubtful = true;
    assert_int_equal(commit(handles, 1, 1000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_null(strstr(fake_kafka.calls, "commit"));
    fake_handles_close(handles);
}

static void test_calls_are_repeated_until_they_are_answered(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_error error;
    assert_int_equal(weir_handles_begin(handles, 2, &error), WEIR_OK);
    fake_kafka.retry_count = 2; // offsets twice
    assert_int_equal(commit(handles, 2, 10000, &error), WEIR_OK);
    assert_string_equal(fake_kafka.calls, "begin:2 offsets:2 offsets:2 offsets:2 commit:2 ");
    fake_handles_close(handles);
}

static void test_commit_without_an_answer_is_left_to_recovery_and_never_aborted(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_error error;
    assert_int_equal(weir_handles_begin(handles, 3, &error), WEIR_OK);
    fake_kafka.commit_fails = WEIR_ACTION_RETRY;
    assert_int_equal(commit(handles, 3, 0, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    // C128: which id, which call, what the broker said last.
    assert_non_null(strstr(error.text, "commit of job-0-3: no answer within its deadline"));
    assert_non_null(strstr(error.text, "told to fail"));
    fake_handles_close(handles);
    assert_null(strstr(fake_kafka.calls, "abort:3"));
}

static void test_open_transactions_are_aborted_at_the_end(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_error error;
    assert_int_equal(weir_handles_begin(handles, 3, &error), WEIR_OK);
    fake_handles_close(handles);
    assert_non_null(strstr(fake_kafka.calls, "abort:3"));
    assert_null(strstr(fake_kafka.calls, "abort:0"));
}

static void test_fencing_is_told_as_it_is(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_error error;
    assert_int_equal(weir_handles_begin(handles, 3, &error), WEIR_OK);
    fake_kafka.commit_fails = WEIR_ACTION_FENCED;
    assert_int_equal(commit(handles, 3, 10000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    fake_handles_close(handles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs_take_turns_on_four_ids),
        cmocka_unit_test(test_used_up_handle_is_made_anew_before_its_next_begin),
        cmocka_unit_test(test_handle_whose_init_had_no_answer_is_made_anew_at_once),
        cmocka_unit_test(test_client_that_gets_no_answer_is_replaced),
        cmocka_unit_test(test_doubtful_offset_commit_gives_the_epoch_up),
        cmocka_unit_test(test_calls_are_repeated_until_they_are_answered),
        cmocka_unit_test(test_commit_without_an_answer_is_left_to_recovery_and_never_aborted),
        cmocka_unit_test(test_open_transactions_are_aborted_at_the_end),
        cmocka_unit_test(test_fencing_is_told_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
