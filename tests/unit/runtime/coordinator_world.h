// SPDX-License-Identifier: Apache-2.0
// A coordinator with two source tasks, stepped by hand over a clock of the test; the test plays the
// committer. For the coordinator's tests.
#ifndef WEIR_TESTS_UNIT_RUNTIME_COORDINATOR_WORLD_H
#define WEIR_TESTS_UNIT_RUNTIME_COORDINATOR_WORLD_H

#include "tests/unit/cmocka_all.h"

#include "runtime/coordinator.h"

enum { TASK_COUNT = 2 };

struct test_clock {
    struct weir_clock clock;
    int64_t now_ms;
};

static inline int64_t clock_now(const struct weir_clock *clock)
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
    int end_of_time_count;
    int64_t cancelled_number;
    struct weir_operator sink; // behind it: sees time
    struct weir_operator *next[1];
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
    struct weir_mailbox *savepoints;
    struct fake_source *sources[TASK_COUNT];
    struct weir_task *tasks[TASK_COUNT];
    struct weir_coordinator *coordinator;
};

static inline enum weir_step fake_poll(struct weir_source *base, struct weir_error *error)
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

static inline void fake_snapshot(struct weir_source *base, struct weir_snapshot *snapshot)
{
    struct fake_source *source = (struct fake_source *)base;
    weir_snapshot_add_position(snapshot, &(struct weir_position_entry){.offset = source->position});
}

static inline enum weir_status fake_barrier(struct weir_operator *op,
                                            const struct weir_barrier *barrier,
                                            struct weir_snapshot *snapshot,
                                            struct weir_error *error)
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

static inline void fake_cancelled(struct weir_operator *op, int64_t number)
{
    ((struct fake_source *)op)->cancelled_number = number;
}

static inline void fake_destroy(struct weir_operator *op)
{
    struct fake_source *source = (struct fake_source *)op;
    if (source->held != NULL) {
        weir_snapshot_abandon(source->held);
    }
    free(source);
}

static inline enum weir_status fake_time(struct weir_operator *op, const struct weir_time *time,
                                         struct weir_error *error)
{
    (void)error;
    struct fake_source *source =
        (struct fake_source *)((char *)op - offsetof(struct fake_source, sink));
    source->end_of_time_count += time->watermark_us == INT64_MAX ? 1 : 0;
    return WEIR_OK;
}

static const struct weir_operator_ops fake_sink_ops = {.kind = "fake sink",
                                                       .time_passed = fake_time};
static const struct weir_source_ops fake_source_ops = {.poll = fake_poll,
                                                       .snapshot = fake_snapshot};
static const struct weir_operator_ops fake_operator_ops = {
    .kind = "fake", .barrier = fake_barrier, .cancelled = fake_cancelled, .destroy = fake_destroy};

static inline void on_checkpoint(struct weir_checkpoint_observer *base,
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

// Mode, concurrency and tolerance as wished.
static inline void make_world_with(struct world *world, const struct weir_coordinator_config *wish)
{
    memset(world, 0, sizeof *world);
    world->clock.clock = (struct weir_clock){.monotonic_ms = clock_now, .wall_ms = clock_now};
    world->clock.now_ms = 1000000;
    world->observer.base.on_checkpoint = on_checkpoint;
    world->coordinator_mailbox = weir_mailbox_create();
    world->committer = weir_mailbox_create();
    world->savepoints = weir_mailbox_create();
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        struct fake_source *source = weir_alloc_zero(sizeof *source);
        source->base.op.ops = &fake_operator_ops;
        source->base.ops = &fake_source_ops;
        source->sink.ops = &fake_sink_ops;
        source->next[0] = &source->sink;
        source->base.op.next = source->next;
        source->base.op.next_count = 1;
        world->sources[i] = source;
        struct weir_operator *nodes[] = {&source->base.op};
        world->tasks[i] = weir_task_create(i, "fake", &source->base, 1, nodes,
                                           weir_mailbox_create(), world->coordinator_mailbox);
    }
    struct weir_coordinator_config config = *wish;
    config.interval_ms = 1000;
    config.timeout_ms = 60000;
    config.quiet_commit_ms = 1800000;
    config.commit_hang_ms = 150000;
    config.first_number = 1;
    config.task_count = TASK_COUNT;
    config.tasks = world->tasks;
    config.mailbox = world->coordinator_mailbox;
    config.committer = world->committer;
    config.savepoints = world->savepoints;
    config.clock = &world->clock.clock;
    config.observer = &world->observer.base;
    world->coordinator = weir_coordinator_create(&config);
    weir_mailbox_post(world->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_HANDLE_READY, .number = 4});
}

static inline void step_tasks(struct world *world)
{
    struct weir_error error;
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        for (int j = 0; j < 10 && weir_task_step(world->tasks[i], &error) == WEIR_STEP_MORE; j++) {
        }
    }
}

static inline void make_world(struct world *world, uint32_t concurrent_max)
{
    make_world_with(world, &(struct weir_coordinator_config){.concurrent_max = concurrent_max});
    step_tasks(world); // they run
}

static inline void free_world(struct world *world)
{
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        weir_task_destroy(world->tasks[i]);
    }
    weir_coordinator_destroy(world->coordinator);
    weir_mailbox_destroy(world->coordinator_mailbox, weir_coordinator_drop_mail);
    weir_mailbox_destroy(world->committer, weir_coordinator_drop_mail);
    weir_mailbox_destroy(world->savepoints, weir_coordinator_drop_mail);
}

// The committer's next checkpoint; 0: it has none.
static inline int64_t take_completed(struct world *world, struct weir_completed **completed)
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

static inline void commit(struct world *world, int64_t number)
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
static inline void feed(struct world *world, int count)
{
    world->sources[0]->left_count = count;
    step_tasks(world);
}

// Moves time on and lets coordinator and tasks do what is due.
static inline void tick(struct world *world, int64_t ms)
{
    world->clock.now_ms += ms;
    weir_coordinator_step(world->coordinator);
    step_tasks(world);
    weir_coordinator_step(world->coordinator);
}

// From here on snapshots of the first source wait, as behind a sink that waits for
// acknowledgements.
static inline void let_hold(struct world *world)
{
    world->sources[0]->holds = true;
}

// The snapshot that waits: the test releases or abandons it.
static inline struct weir_snapshot *take_held(struct world *world)
{
    struct weir_snapshot *held = world->sources[0]->held;
    assert_non_null(held);
    world->sources[0]->held = NULL;
    return held;
}

// The same, and those to come do not wait.
static inline struct weir_snapshot *take_last_held(struct world *world)
{
    world->sources[0]->holds = false;
    return take_held(world);
}

static inline enum weir_outcome_kind outcome(const struct world *world)
{
    return weir_coordinator_outcome(world->coordinator)->kind;
}

#endif
