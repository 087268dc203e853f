// SPDX-License-Identifier: Apache-2.0
// What outsiders ask of the coordinator: checkpoints now, savepoints, stops with and without drain;
// every request is answered once, whatever becomes of the job.
#include "tests/unit/runtime/coordinator_world.h"

static struct weir_request *ask(struct world *world, const struct weir_request_wish *wish)
{
    struct weir_request *request = weir_request_create(wish);
    weir_request_post(request, world->coordinator_mailbox);
    return request;
}

static struct weir_request_answer look(struct weir_request *request)
{
    struct weir_request_answer answer;
    weir_request_wait(request, 0, &answer);
    return answer;
}

static enum weir_barrier_type take_type(struct world *world, int64_t number)
{
    struct weir_completed *completed = NULL;
    assert_int_equal(take_completed(world, &completed), number);
    enum weir_barrier_type type = completed->barrier.type;
    weir_completed_destroy(completed);
    return type;
}

static const struct weir_request_wish checkpoint_wish = {.kind = WEIR_REQUEST_CHECKPOINT};
static const struct weir_request_wish savepoint_wish = {.kind = WEIR_REQUEST_SAVEPOINT,
                                                        .path = "/sp"};
static const struct weir_request_wish stop_wish = {.kind = WEIR_REQUEST_STOP};
static const struct weir_request_wish drain_wish = {.kind = WEIR_REQUEST_STOP, .is_drain = true};

static void test_checkpoint_on_request_is_made_at_once_also_when_quiet(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_request *request = ask(&world, &checkpoint_wish);
    tick(&world, 1);
    assert_int_equal(take_type(&world, 1), WEIR_BARRIER_CHECKPOINT);
    assert_int_equal(look(request).state, WEIR_REQUEST_WAITING);
    commit(&world, 1);
    assert_int_equal(look(request).state, WEIR_REQUEST_DONE);
    assert_int_equal(look(request).number, 1);
    tick(&world, 5000); // asked for once, made once
    assert_int_equal(take_completed(&world, NULL), 0);
    weir_request_unref(request);
    free_world(&world);
}

static void test_request_waits_for_a_pending_checkpoint_and_gets_the_next_one(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    feed(&world, 1);
    tick(&world, 1000);
    assert_int_equal(take_type(&world, 1), WEIR_BARRIER_CHECKPOINT);
    struct weir_request *request = ask(&world, &checkpoint_wish);
    tick(&world, 1);
    commit(&world, 1); // was triggered before the request: it may lack what the asker has seen
    assert_int_equal(look(request).state, WEIR_REQUEST_WAITING);
    tick(&world, 1);
    assert_int_equal(take_type(&world, 2), WEIR_BARRIER_CHECKPOINT);
    commit(&world, 2);
    assert_int_equal(look(request).number, 2);
    weir_request_unref(request);
    free_world(&world);
}

static void test_committed_savepoint_goes_to_its_writer_one_at_a_time(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_request *first = ask(&world, &savepoint_wish);
    struct weir_request *second = ask(&world, &savepoint_wish);
    tick(&world, 1);
    assert_int_equal(take_type(&world, 1), WEIR_BARRIER_SAVEPOINT);
    struct weir_mail mail;
    assert_false(weir_mailbox_take(world.savepoints, &mail)); // committed first
    commit(&world, 1);
    assert_true(weir_mailbox_take(world.savepoints, &mail));
    assert_int_equal(mail.number, 1);
    assert_int_equal(mail.barrier_type, WEIR_BARRIER_SAVEPOINT);
    assert_ptr_equal(mail.payload, first);
    assert_false(weir_mailbox_take(world.savepoints, &mail));
    assert_int_equal(look(first).state, WEIR_REQUEST_WAITING); // the writer answers
    weir_request_done(first, 1);
    tick(&world, 1);
    assert_int_equal(take_type(&world, 2), WEIR_BARRIER_SAVEPOINT);
    commit(&world, 2);
    assert_true(weir_mailbox_take(world.savepoints, &mail));
    assert_ptr_equal(mail.payload, second);
    weir_request_done(second, 2);
    weir_request_unref(first);
    weir_request_unref(second);
    free_world(&world);
}

static void test_stop_is_done_when_the_final_checkpoint_is_committed(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    feed(&world, 1);
    struct weir_request *stop = ask(&world, &stop_wish);
    struct weir_request *other = ask(&world, &checkpoint_wish);
    tick(&world, 0);
    struct weir_request *late = ask(&world, &checkpoint_wish);
    tick(&world, 0);
    assert_int_equal(look(late).state, WEIR_REQUEST_REFUSED);
    assert_non_null(strstr(look(late).text, "shutting_down"));
    assert_int_equal(take_type(&world, 1), WEIR_BARRIER_FINAL);
    commit(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_STOPPED);
    assert_int_equal(look(stop).number, 1);
    assert_int_equal(look(other).number, 1);
    weir_request_unref(stop);
    weir_request_unref(other);
    weir_request_unref(late);
    free_world(&world);
}

static void test_stop_of_a_quiet_job_needs_no_checkpoint_but_its_savepoint_does(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_request *stop = ask(&world, &stop_wish);
    tick(&world, 0);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_STOPPED);
    assert_int_equal(look(stop).state, WEIR_REQUEST_DONE);
    assert_int_equal(look(stop).number, -1);
    weir_request_unref(stop);
    free_world(&world);
    make_world(&world, 1);
    struct weir_request *savepoint =
        ask(&world, &(struct weir_request_wish){
                        .kind = WEIR_REQUEST_SAVEPOINT, .path = "/sp", .is_stop = true});
    tick(&world, 0);
    assert_int_equal(take_type(&world, 1), WEIR_BARRIER_FINAL);
    commit(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_STOPPED);
    struct weir_mail mail;
    assert_true(weir_mailbox_take(world.savepoints, &mail));
    weir_request_done(mail.payload, mail.number);
    weir_request_unref(savepoint);
    free_world(&world);
}

static void test_drain_advances_time_in_every_task_before_the_final_barrier(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    struct weir_request *drain = ask(&world, &drain_wish);
    weir_coordinator_step(world.coordinator);
    struct weir_error error;
    world.sources[0]->left_count = 100; // there would be more
    world.sources[1]->left_count = 100;
    assert_int_equal(weir_task_step(world.tasks[0], &error), WEIR_STEP_MORE);
    assert_int_equal(world.sources[0]->position, 0);
    assert_int_equal(world.sources[0]->end_of_time_count, 1);
    weir_coordinator_step(world.coordinator); // the other task has not
    assert_int_equal(weir_task_step(world.tasks[0], &error), WEIR_STEP_IDLE);
    step_tasks(&world);
    weir_coordinator_step(world.coordinator);
    step_tasks(&world);
    weir_coordinator_step(world.coordinator);
    assert_int_equal(world.sources[1]->position, 0);
    assert_int_equal(world.sources[1]->end_of_time_count, 1);
    assert_int_equal(take_type(&world, 1), WEIR_BARRIER_FINAL); // though no position moved
    commit(&world, 1);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_STOPPED);
    assert_int_equal(look(drain).number, 1);
    weir_request_unref(drain);
    free_world(&world);
}

static void test_requests_fail_with_the_run(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1);
    let_hold(&world);
    struct weir_request *pending = ask(&world, &checkpoint_wish);
    tick(&world, 0);
    struct weir_request *waiting = ask(&world, &savepoint_wish);
    tick(&world, 60000);
    assert_int_equal(outcome(&world), WEIR_OUTCOME_FAILED);
    assert_int_equal(look(pending).state, WEIR_REQUEST_FAILED);
    assert_non_null(strstr(look(pending).text, "WEIR_CHECKPOINT_TIMEOUT"));
    assert_int_equal(look(waiting).state, WEIR_REQUEST_FAILED);
    struct weir_request *unread = ask(&world, &checkpoint_wish);
    free_world(&world);
    assert_int_equal(look(unread).state, WEIR_REQUEST_FAILED);
    weir_request_unref(pending);
    weir_request_unref(waiting);
    weir_request_unref(unread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint_on_request_is_made_at_once_also_when_quiet),
        cmocka_unit_test(test_request_waits_for_a_pending_checkpoint_and_gets_the_next_one),
        cmocka_unit_test(test_committed_savepoint_goes_to_its_writer_one_at_a_time),
        cmocka_unit_test(test_stop_is_done_when_the_final_checkpoint_is_committed),
        cmocka_unit_test(test_stop_of_a_quiet_job_needs_no_checkpoint_but_its_savepoint_does),
        cmocka_unit_test(test_drain_advances_time_in_every_task_before_the_final_barrier),
        cmocka_unit_test(test_requests_fail_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
