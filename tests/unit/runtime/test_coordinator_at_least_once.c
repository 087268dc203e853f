// SPDX-License-Identifier: Apache-2.0
// The coordinator in at-least-once mode: failures that are tolerated, checkpoints that newer ones
// make needless, who is told. And what holds in both modes: acknowledgements and refusals counted,
// no trigger while a task does not run.
#include "tests/unit/runtime/coordinator_world.h"

static void make_tolerant_world(struct world *world, uint32_t concurrent_max, uint32_t failures)
{
    make_world_with(world, &(struct weir_coordinator_config){.concurrent_max = concurrent_max,
                                                             .is_at_least_once = true,
                                                             .tolerable_failures = failures});
}

static void test_checkpoint_that_expires_is_given_up_and_its_number_passed_over(void **state)
{
    (void)state;
    struct world world;
    make_tolerant_world(&world, 1, 3);
    feed(&world, 1);
    let_hold(&world);
    tick(&world, 1000);
    struct weir_snapshot *late = take_last_held(&world);
    tick(&world, 60000);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_NONE);
    assert_int_equal(world.sources[0]->cancelled_number, 1);
    // Nothing has moved since, but what 1 was to commit still has to be.
    tick(&world, 1000);
    assert_int_equal(take_completed(&world, NULL), 2);
    weir_snapshot_release(late);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(
        weir_coordinator_acknowledgement_count(world.coordinator, WEIR_ACKNOWLEDGEMENT_LATE), 1);
    commit(&world, 2);
    tick(&world, 5000); // now it is quiet
    assert_int_equal(take_completed(&world, NULL), 0);
    const struct weir_checkpoint_event *failed = &world.observer.events[1];
    assert_int_equal(failed->kind, WEIR_CHECKPOINT_FAILED);
    assert_int_equal(failed->failure, WEIR_FAILURE_EXPIRED);
    free_world(&world);
}

static void test_too_many_failures_in_a_row_end_the_run(void **state)
{
    (void)state;
    struct world world;
    make_tolerant_world(&world, 1, 2);
    feed(&world, 1);
    let_hold(&world);
    tick(&world, 1000);
    weir_snapshot_abandon(take_held(&world));
    tick(&world, 60000); // 1 is given up, 2 triggered
    weir_snapshot_abandon(take_last_held(&world));
    tick(&world, 60000); // 2 as well; 3 is complete and ends the count
    assert_int_equal(take_completed(&world, NULL), 3);
    commit(&world, 3);
    let_hold(&world);
    feed(&world, 1);
    tick(&world, 1000);
    for (int i = 0; i < 2; i++) {
        weir_snapshot_abandon(take_held(&world));
        tick(&world, 60000);
        assert_int_equal(outcome(&world), WEIR_OUTCOME_NONE);
    }
    tick(&world, 60000);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    assert_int_equal(weir_coordinator_outcome(world.coordinator)->error.action,
                     WEIR_ACTION_RECOVER);
    free_world(&world);
}

// Checkpoint 1 is asked for, and 2 complete before it. Returns the snapshot that 1 waits for.
static struct weir_snapshot *overtake(struct world *world, struct weir_request *request)
{
    make_tolerant_world(world, 2, 0);
    feed(world, 1);
    let_hold(world);
    weir_request_post(request, world->coordinator_mailbox);
    tick(world, 0);
    struct weir_snapshot *first = take_last_held(world);
    feed(world, 1);
    tick(world, 1000);
    return first;
}

static void test_older_pending_checkpoint_is_subsumed(void **state)
{
    (void)state;
    struct world world;
    struct weir_request *request =
        weir_request_create(&(struct weir_request_wish){.kind = WEIR_REQUEST_CHECKPOINT});
    struct weir_snapshot *first = overtake(&world, request);
    assert_int_equal(take_completed(&world, NULL), 2); // 1 is not waited for
    weir_snapshot_release(first);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 0);
    commit(&world, 2);
    struct weir_request_answer answer;
    assert_true(weir_request_wait(request, 0, &answer));
    assert_int_equal(answer.number, 2); // which says all that 1 would have said
    weir_request_unref(request);
    free_world(&world);
}

static void test_savepoint_is_not_subsumed(void **state)
{
    (void)state;
    struct world world;
    struct weir_request *request = weir_request_create(
        &(struct weir_request_wish){.kind = WEIR_REQUEST_SAVEPOINT, .path = "/sp"});
    struct weir_snapshot *first = overtake(&world, request);
    assert_int_equal(take_completed(&world, NULL), 0);
    weir_snapshot_release(first);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 1);
    assert_int_equal(take_completed(&world, NULL), 2);
    weir_request_unref(request);
    free_world(&world);
}

static void fail_commit(struct world *world, int64_t number, enum weir_error_domain domain)
{
    struct weir_error *error = weir_alloc(sizeof *error);
    weir_error_set(error, domain, WEIR_ACTION_RECOVER, "told to fail");
    weir_mailbox_post(
        world->coordinator_mailbox,
        &(struct weir_mail){.kind = WEIR_MAIL_COMMIT_FAILED, .number = number, .payload = error});
}

static void test_store_that_is_full_for_a_while_costs_checkpoints_only(void **state)
{
    (void)state;
    struct world world;
    make_tolerant_world(&world, 1, 1);
    feed(&world, 1);
    tick(&world, 1000);
    assert_int_equal(take_completed(&world, NULL), 1);
    fail_commit(&world, 1, WEIR_DOMAIN_STORE);
    tick(&world, 1000);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_NONE);
    assert_int_equal(take_completed(&world, NULL), 2);
    fail_commit(&world, 2, WEIR_DOMAIN_KAFKA); // nobody knows what became of it
    tick(&world, 0);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    free_world(&world);
}

static void test_exactly_once_tolerates_nothing_after_the_barrier(void **state)
{
    (void)state;
    struct world world;
    make_world_with(
        &world, &(struct weir_coordinator_config){.concurrent_max = 1, .tolerable_failures = 9});
    feed(&world, 1);
    tick(&world, 1000);
    assert_int_equal(take_completed(&world, NULL), 1);
    fail_commit(&world, 1, WEIR_DOMAIN_STORE);
    tick(&world, 0);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    free_world(&world);
}

static void test_last_checkpoint_of_a_run_is_not_given_up(void **state)
{
    (void)state;
    struct world world;
    make_tolerant_world(&world, 1, 9);
    feed(&world, 1);
    let_hold(&world);
    weir_mailbox_post(world.coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_REQUEST_STOP});
    tick(&world, 0);
    tick(&world, 60000);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    free_world(&world);
}

static void test_acknowledgements_are_counted_by_kind(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_barrier barrier = {.number = 7};
    weir_snapshot_release(weir_snapshot_create(&barrier, 0, world.coordinator_mailbox));
    feed(&world, 1);
    tick(&world, 1000);
    barrier.number = 1;
    weir_snapshot_release(weir_snapshot_create(&barrier, 1, world.coordinator_mailbox));
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 1);
    commit(&world, 1);
    weir_snapshot_release(weir_snapshot_create(&barrier, 1, world.coordinator_mailbox));
    weir_coordinator_step(world.coordinator);
    static const uint64_t counts[WEIR_ACKNOWLEDGEMENT_COUNT] = {
        [WEIR_ACKNOWLEDGEMENT_SUCCESS] = TASK_COUNT,
        [WEIR_ACKNOWLEDGEMENT_DUPLICATE] = 1,
        [WEIR_ACKNOWLEDGEMENT_UNKNOWN] = 1,
        [WEIR_ACKNOWLEDGEMENT_LATE] = 1};
    for (int i = 0; i < WEIR_ACKNOWLEDGEMENT_COUNT; i++) {
        assert_int_equal(
            weir_coordinator_acknowledgement_count(world.coordinator, (enum weir_acknowledgement)i),
            counts[i]);
    }
    free_world(&world);
}

static void test_nothing_is_triggered_before_every_task_runs(void **state)
{
    (void)state;
    struct world world;
    make_world_with(&world, &(struct weir_coordinator_config){.concurrent_max = 1});
    struct weir_error error;
    world.clock.now_ms += 1000;
    weir_coordinator_step(world.coordinator);
    world.sources[0]->left_count = 1;
    weir_task_step(world.tasks[0], &error);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(
        weir_coordinator_refusal_count(world.coordinator, WEIR_TRIGGER_SOURCE_NOT_RUNNING),
        1); // looked at twice, due once
    assert_int_equal(world.observer.count, 0);
    weir_task_step(world.tasks[1], &error);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(world.observer.events[0].kind, WEIR_CHECKPOINT_TRIGGERED);
    assert_int_equal(weir_coordinator_refusal_count(world.coordinator, WEIR_TRIGGER_ALLOWED), 0);
    free_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint_that_expires_is_given_up_and_its_number_passed_over),
        cmocka_unit_test(test_too_many_failures_in_a_row_end_the_run),
        cmocka_unit_test(test_older_pending_checkpoint_is_subsumed),
        cmocka_unit_test(test_savepoint_is_not_subsumed),
        cmocka_unit_test(test_store_that_is_full_for_a_while_costs_checkpoints_only),
        cmocka_unit_test(test_exactly_once_tolerates_nothing_after_the_barrier),
        cmocka_unit_test(test_last_checkpoint_of_a_run_is_not_given_up),
        cmocka_unit_test(test_acknowledgements_are_counted_by_kind),
        cmocka_unit_test(test_nothing_is_triggered_before_every_task_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
