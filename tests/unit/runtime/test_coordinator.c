// SPDX-License-Identifier: Apache-2.0
// Coordinator and tasks stepped by hand over a clock of the test: the way of an epoch from trigger
// to commit, and every way in which it can go wrong.
#include "runtime/coordinator.h"

#include "tests/unit/cmocka_all.h"

enum { TASK_COUNT = 2 };

struct test_clock {
    struct weir_clock clock;
    int64_t now_ms;
};

static int64_t clock_now(const struct weir_clock *clock)
{
    return ((const struct test_clock *)clock)->now_ms;
}

// A source whose input is a number that the test sets.
struct fake_source {
    struct weir_source base;
    int left_count;  // polls that still move the position
    bool is_bounded; // DONE when nothing is left
    bool is_failing;
    int64_t position;
    struct weir_snapshot *held; // as a sink would, waiting for acknowledgements
    bool holds;
};

// What the coordinator tells, in order.
struct observer {
    struct weir_checkpoint_observer base;
    uint32_t count;
    struct weir_checkpoint_event events[16];
    char text[64]; // of the last failure
};

struct world {
    struct test_clock clock;
    struct observer observer;
    struct weir_mailbox *coordinator_mailbox;
    struct weir_mailbox *committer;
    struct fake_source *sources[TASK_COUNT];
    struct weir_task *tasks[TASK_COUNT];
    struct weir_coordinator *coordinator;
};

static enum weir_step fake_poll(struct weir_source *base, struct weir_error *error)
{
    struct fake_source *source = (struct fake_source *)base;
    if (source->is_failing) {
        weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "no good");
        return WEIR_STEP_FAILED;
    }
    if (source->left_count == 0) {
        return source->is_bounded ? WEIR_STEP_DONE : WEIR_STEP_IDLE;
    }
    source->left_count--;
    source->position++;
    atomic_fetch_add(&base->activity, 1);
    return WEIR_STEP_MORE;
}

static void fake_snapshot(struct weir_source *base, struct weir_snapshot *snapshot)
{
    struct fake_source *source = (struct fake_source *)base;
    weir_snapshot_add_position(snapshot, &(struct weir_position_entry){.offset = source->position});
}

static enum weir_status fake_barrier(struct weir_operator *op, const struct weir_barrier *barrier,
                                     struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)barrier;
    (void)error;
    struct fake_source *source = (struct fake_source *)op;
    if (source->holds) {
        weir_snapshot_hold(snapshot);
        source->held = snapshot;
    }
    return WEIR_OK;
}

static void fake_destroy(struct weir_operator *op)
{
    struct fake_source *source = (struct fake_source *)op;
    if (source->held != NULL) {
        weir_snapshot_abandon(source->held);
    }
    free(source);
}

static const struct weir_source_ops fake_source_ops = {.poll = fake_poll,
                                                       .snapshot = fake_snapshot};
static const struct weir_operator_ops fake_operator_ops = {
    .kind = "fake", .barrier = fake_barrier, .destroy = fake_destroy};

static void on_checkpoint(struct weir_checkpoint_observer *base,
                          const struct weir_checkpoint_event *event)
{
    struct observer *observer = (struct observer *)base;
    if (observer->count < sizeof observer->events / sizeof observer->events[0]) {
        observer->events[observer->count++] = *event;
    }
    if (event->kind == WEIR_CHECKPOINT_FAILED) {
        snprintf(observer->text, sizeof observer->text, "%s", event->text);
    }
}

static void make_world(struct world *world, uint32_t concurrent_max)
{
    memset(world, 0, sizeof *world);
    world->clock.clock = (struct weir_clock){.monotonic_ms = clock_now, .wall_ms = clock_now};
    world->clock.now_ms = 1000000;
    world->observer.base.on_checkpoint = on_checkpoint;
    world->coordinator_mailbox = weir_mailbox_create();
    world->committer = weir_mailbox_create();
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        struct fake_source *source = weir_alloc_zero(sizeof *source);
        source->base.op.ops = &fake_operator_ops;
        source->base.ops = &fake_source_ops;
        world->sources[i] = source;
        struct weir_operator *nodes[] = {&source->base.op};
        world->tasks[i] = weir_task_create(i, "fake", &source->base, 1, nodes,
                                           weir_mailbox_create(), world->coordinator_mailbox);
    }
    world->coordinator = weir_coordinator_create(
        &(struct weir_coordinator_config){.interval_ms = 1000,
                                          .timeout_ms = 60000,
                                          .quiet_commit_ms = 1800000,
                                          .commit_hang_ms = 150000,
                                          .concurrent_max = concurrent_max,
                                          .first_number = 1,
                                          .task_count = TASK_COUNT,
                                          .tasks = world->tasks,
                                          .mailbox = world->coordinator_mailbox,
                                          .committer = world->committer,
                                          .clock = &world->clock.clock,
                                          .observer = &world->observer.base});
    weir_mailbox_post(world->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_HANDLE_READY, .number = 4});
}

static void free_world(struct world *world)
{
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        weir_task_destroy(world->tasks[i]);
    }
    weir_coordinator_destroy(world->coordinator);
    weir_mailbox_destroy(world->coordinator_mailbox, weir_coordinator_drop_mail);
    weir_mailbox_destroy(world->committer, weir_coordinator_drop_mail);
}

static void step_tasks(struct world *world)
{
    struct weir_error error;
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        for (int j = 0; j < 10 && weir_task_step(world->tasks[i], &error) == WEIR_STEP_MORE; j++) {
        }
    }
}

// The committer's next checkpoint; 0: it has none.
static int64_t take_completed(struct world *world, struct weir_completed **completed)
{
    struct weir_mail mail;
    if (!weir_mailbox_take(world->committer, &mail)) {
        return 0;
    }
    if (completed != NULL) {
        *completed = mail.payload;
    } else {
        weir_completed_destroy(mail.payload);
    }
    return mail.number;
}

static void commit(struct world *world, int64_t number)
{
    weir_mailbox_post(world->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_MANIFEST_STORED, .number = number});
    weir_mailbox_post(world->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_COMMITTED, .number = number});
    weir_mailbox_post(world->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_HANDLE_READY, .number = number + 4});
    weir_coordinator_step(world->coordinator);
}

// So many positions move on at the first source.
static void feed(struct world *world, int count)
{
    world->sources[0]->left_count = count;
    step_tasks(world);
}

// Moves time on and lets coordinator and tasks do what is due.
static void tick(struct world *world, int64_t ms)
{
    world->clock.now_ms += ms;
    weir_coordinator_step(world->coordinator);
    step_tasks(world);
    weir_coordinator_step(world->coordinator);
}

static enum weir_outcome_kind outcome(const struct world *world)
{
    return weir_coordinator_outcome(world->coordinator)->kind;
}

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
    world.sources[0]->holds = true;
    tick(&world, 1000);
    struct weir_snapshot *first = world.sources[0]->held;
    assert_non_null(first);
    world.sources[0]->holds = false; // epoch 2 is complete at once
    world.sources[0]->held = NULL;
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
    world.sources[0]->holds = true;
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
    world.sources[0]->holds = true;
    tick(&world, 1000);
    barrier.number = 1;
    weir_snapshot_release(weir_snapshot_create(&barrier, 1, world.coordinator_mailbox)); // again
    weir_coordinator_step(world.coordinator);
    assert_int_equal(take_completed(&world, NULL), 0);
    weir_snapshot_release(world.sources[0]->held);
    world.sources[0]->held = NULL;
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
