// SPDX-License-Identifier: Apache-2.0
// Coordinator and tasks stepped by hand over a clock of the test: the way of an epoch from trigger
// to commit, and every way in which it can go wrong.
#include "tests/unit/runtime/coordinator_world.h"

static void test_epoch_goes_from_trigger_to_commit(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    feed(&world, 3);
    tick(&world, 999);
    assert_int_equal(take_completed(&world, NULL), 0);
    tick(&world, 1);
    struct weir_completed *completed = NULL;
    assert_int_equal(take_completed(&world, &completed), 1);
    assert_int_equal(completed->snapshots[0]->positions[0].offset, 3);
    assert_int_equal(completed->snapshots[1]->positions[0].offset, 0);
    weir_completed_destroy(completed);
    feed(&world, 1);
    tick(&world, 5000); // one at a time: nothing new while 1 is being committed
    assert_int_equal(take_completed(&world, NULL), 0);
    commit(&world, 1);
    step_tasks(&world);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 2);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_NONE);
    free_world(&world);
}

// After a recovery: readers have waited long enough. What is skipped as nothing has come yet does
// not make the next one wait for the interval either.
static void test_first_checkpoint_after_a_recovery_does_not_wait_for_the_interval(void **state)
{
    (void)state;
    struct world world;
    make_world_with(
        &world, &(struct weir_coordinator_config){.concurrent_max = 1, .first_interval_ms = 100});
    step_tasks(&world);
    tick(&world, 250); // nothing has come
    feed(&world, 1);
    tick(&world, 99);
    assert_int_equal(take_completed(&world, NULL), 0);
    tick(&world, 1);
    assert_int_equal(take_completed(&world, NULL), 1);
    commit(&world, 1);
    feed(&world, 1);
    tick(&world, 999);
    assert_int_equal(take_completed(&world, NULL), 0);
    tick(&world, 1);
    assert_int_equal(take_completed(&world, NULL), 2);
    free_world(&world);
}

static void test_first_checkpoint_is_early_within_the_first_interval_only(void **state)
{
    (void)state;
    struct world world;
    make_world_with(
        &world, &(struct weir_coordinator_config){.concurrent_max = 1, .first_interval_ms = 100});
    step_tasks(&world);
    for (int i = 0; i < 11; i++) {
        tick(&world, 100);
    }
    feed(&world, 1);
    tick(&world, 799); // the last was skipped after 900
    assert_int_equal(take_completed(&world, NULL), 0);
    tick(&world, 1);
    assert_int_equal(take_completed(&world, NULL), 1);
    free_world(&world);
}

static void test_quiet_job_commits_nothing_until_offsets_could_expire(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    for (int i = 0; i < 1799; i++) {
        tick(&world, 1000);
        assert_int_equal(take_completed(&world, NULL), 0);
    }
    tick(&world, 1000);
    assert_int_equal(take_completed(&world, NULL), 1);
    free_world(&world);
}

static void test_checkpoints_are_handed_on_in_order(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 2);
    feed(&world, 1);
    let_hold(&world);
    tick(&world, 1000);
    struct weir_snapshot *first = take_last_held(&world); // epoch 2 is complete at once
    feed(&world, 1);
    tick(&world, 1000);
    assert_int_equal(take_completed(&world, NULL), 0);
    weir_snapshot_release(first);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 1);
    assert_int_equal(take_completed(&world, NULL), 2);
    free_world(&world);
}

static void test_no_more_epochs_than_handles_that_have_begun(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 3);
    for (int64_t number = 1; number <= 3; number++) {
        feed(&world, 1);
        tick(&world, 1000);
        assert_int_equal(take_completed(&world, NULL), number);
    }
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_COMMITTED, .number = 1});
    feed(&world, 1);
    tick(&world, 1000); // 4 would send rows to epoch 5, whose handle is not ready
    assert_int_equal(take_completed(&world, NULL), 0);
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_HANDLE_READY, .number = 5});
    tick(&world, 0);
    assert_int_equal(take_completed(&world, NULL), 4);
    free_world(&world);
}

static void test_checkpoint_that_times_out_means_recovery(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    feed(&world, 1);
    let_hold(&world);
    tick(&world, 1000);
    tick(&world, 59999);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_NONE);
    tick(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    const struct weir_error *error = &weir_coordinator_outcome(world.coordinator)->error;
    assert_int_equal(error->action, WEIR_ACTION_RECOVER);
    assert_non_null(strstr(error->text, "1 of 2 tasks"));
    free_world(&world);
}

static void
test_process_that_slept_lets_its_client_say_first_what_became_of_the_commit(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    feed(&world, 1);
    tick(&world, 1000);
    struct weir_completed *completed = NULL;
    assert_int_equal(take_completed(&world, &completed), 1);
    weir_completed_destroy(completed);
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_MANIFEST_STORED, .number = 1});
    tick(&world, 0);
    tick(&world, 3600000); // it would have ended itself
    assert_int_equal(outcome(&world), WEIR_OUTCOME_NONE);
    struct weir_error *fenced = weir_alloc(sizeof *fenced);
    weir_error_set(fenced, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FENCED, "fenced");
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_FAILED, .payload = fenced});
    tick(&world, 3000);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    assert_int_equal(weir_coordinator_outcome(world.coordinator)->error.action, WEIR_ACTION_FENCED);
    free_world(&world);
}

static void test_failed_task_ends_the_run_once(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    world.sources[0]->is_failing = true;
    world.sources[1]->is_failing = true;
    tick(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    assert_int_equal(weir_coordinator_outcome(world.coordinator)->error.action, WEIR_ACTION_FAIL);
    tick(&world, 5000);
    assert_int_equal(take_completed(&world, NULL), 0);
    free_world(&world);
}

static void test_stop_makes_a_final_checkpoint_and_reads_no_more(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    feed(&world, 1);
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_REQUEST_STOP});
    tick(&world, 0);
    world.sources[0]->left_count = 100;
    step_tasks(&world);
    assert_int_equal(world.sources[0]->position, 1);
    struct weir_completed *completed = NULL;
    assert_int_equal(take_completed(&world, &completed), 1);
    assert_int_equal(completed->barrier.type, WEIR_BARRIER_FINAL);
    weir_completed_destroy(completed);
    commit(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_STOPPED);
    free_world(&world);
}

static void test_stop_of_a_quiet_job_ends_at_once(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_REQUEST_STOP});
    tick(&world, 0);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_STOPPED);
    free_world(&world);
}

static void test_bounded_input_ends_with_a_final_checkpoint(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    for (int i = 0; i < TASK_COUNT; i++) {
        world.sources[i]->is_bounded = true;
        world.sources[i]->left_count = i + 1;
    }
    tick(&world, 1);
    step_tasks(&world);
    weir_coordinator_step(world.coordinator);
    struct weir_completed *completed = NULL;
    assert_int_equal(take_completed(&world, &completed), 1);
    assert_int_equal(completed->snapshots[1]->positions[0].offset, 2);
    weir_completed_destroy(completed);
    commit(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_DONE);
    free_world(&world);
}

static void test_acknowledgements_nobody_waits_for_are_dropped(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_barrier barrier = {.number = 7};
    weir_snapshot_release(weir_snapshot_create(&barrier, 0, world.coordinator_mailbox)); // unknown
    feed(&world, 1);
    let_hold(&world);
    tick(&world, 1000);
    barrier.number = 1;
    weir_snapshot_release(weir_snapshot_create(&barrier, 1, world.coordinator_mailbox)); // again
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 0);
    weir_snapshot_release(take_held(&world));
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 1);
    free_world(&world);
}

static void test_abandoned_snapshot_never_completes_a_checkpoint(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_barrier barrier = {.number = 1};
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 0, world.coordinator_mailbox);
    weir_snapshot_hold(snapshot);
    weir_snapshot_abandon(snapshot);
    weir_snapshot_release(snapshot);
    struct weir_mail mail;
    assert_true(weir_mailbox_take(world.coordinator_mailbox, &mail));
    assert_int_equal(mail.kind, WEIR_MAIL_HANDLE_READY);
    assert_false(weir_mailbox_take(world.coordinator_mailbox, &mail));
    free_world(&world);
}

static void test_observer_hears_of_every_checkpoint(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    tick(&world, 1000); // quiet
    feed(&world, 3);
    tick(&world, 1000);
    commit(&world, 1);
    feed(&world, 1);
    tick(&world, 1000);
    world.sources[1]->is_failing = true;
    step_tasks(&world);
    weir_coordinator_step(world.coordinator);
    const struct weir_checkpoint_event *events = world.observer.events;
    assert_int_equal(world.observer.count, 5);
    assert_int_equal(events[0].kind, WEIR_CHECKPOINT_SKIPPED);
    assert_int_equal(events[1].kind, WEIR_CHECKPOINT_TRIGGERED);
    assert_int_equal(events[1].number, 1);
    assert_int_equal(events[1].timestamp_ms, 1002000);
    assert_int_equal(events[2].kind, WEIR_CHECKPOINT_COMMITTED);
    assert_int_equal(events[2].number, 1);
    assert_true(events[2].phases.trigger_us >= 0 && events[2].phases.commit_us >= 0);
    assert_true(events[2].phases.total_us >=
                events[2].phases.trigger_us + events[2].phases.commit_us);
    assert_int_equal(events[3].kind, WEIR_CHECKPOINT_TRIGGERED);
    assert_int_equal(events[4].kind, WEIR_CHECKPOINT_FAILED);
    assert_int_equal(events[4].number, 2);
    assert_string_equal(world.observer.text, "task fake: no good");
    free_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epoch_goes_from_trigger_to_commit),
        cmocka_unit_test(test_first_checkpoint_after_a_recovery_does_not_wait_for_the_interval),
        cmocka_unit_test(test_first_checkpoint_is_early_within_the_first_interval_only),
        cmocka_unit_test(test_quiet_job_commits_nothing_until_offsets_could_expire),
        cmocka_unit_test(test_checkpoints_are_handed_on_in_order),
        cmocka_unit_test(test_no_more_epochs_than_handles_that_have_begun),
        cmocka_unit_test(test_checkpoint_that_times_out_means_recovery),
        cmocka_unit_test(
            test_process_that_slept_lets_its_client_say_first_what_became_of_the_commit),
        cmocka_unit_test(test_failed_task_ends_the_run_once),
        cmocka_unit_test(test_stop_makes_a_final_checkpoint_and_reads_no_more),
        cmocka_unit_test(test_stop_of_a_quiet_job_ends_at_once),
        cmocka_unit_test(test_bounded_input_ends_with_a_final_checkpoint),
        cmocka_unit_test(test_acknowledgements_nobody_waits_for_are_dropped),
        cmocka_unit_test(test_observer_hears_of_every_checkpoint),
        cmocka_unit_test(test_abandoned_snapshot_never_completes_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
