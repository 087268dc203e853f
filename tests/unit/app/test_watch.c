// SPDX-License-Identifier: Apache-2.0
// What the watch says of partitions and brokers, over a source whose client the test plays.
#include "app/watch.h"

#include "kafka/raw_format.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>

struct test_clock {
    struct weir_clock clock;
    int64_t now_ms;
};

static int64_t clock_now(const struct weir_clock *clock)
{
    return ((const struct test_clock *)clock)->now_ms;
}

struct fake_consumer {
    struct weir_consumer base;
    int64_t high_watermark;
    struct weir_fetched next; // kind END: nothing is there
    bool has_next;
};

static enum weir_status fake_assign(struct weir_consumer *base, uint32_t count,
                                    const struct weir_partition_start *starts,
                                    struct weir_error *error)
{
    (void)base;
    (void)count;
    (void)starts;
    (void)error;
    return WEIR_OK;
}

static enum weir_status fake_fetch(struct weir_consumer *base, uint32_t max, int32_t timeout_ms,
                                   struct weir_fetched *fetched, uint32_t *count,
                                   struct weir_error *error)
{
    (void)max;
    (void)timeout_ms;
    (void)error;
    struct fake_consumer *consumer = (struct fake_consumer *)base;
    *count = consumer->has_next ? 1 : 0;
    if (consumer->has_next) {
        fetched[0] = consumer->next;
        consumer->has_next = false;
    }
    return WEIR_OK;
}

static void fake_release(struct weir_consumer *base)
{
    (void)base;
}

static void fake_wake(struct weir_consumer *base, int descriptor)
{
    (void)base;
    (void)descriptor;
}

static int64_t fake_high_watermark(struct weir_consumer *base, uint32_t partition_idx)
{
    (void)partition_idx;
    return ((struct fake_consumer *)base)->high_watermark;
}

static void fake_destroy(struct weir_consumer *base)
{
    free(base);
}

static const struct weir_consumer_ops fake_ops = {
    .assign = fake_assign,
    .fetch = fake_fetch,
    .release = fake_release,
    .wake_on_data = fake_wake,
    .high_watermark = fake_high_watermark,
    .destroy = fake_destroy,
};

struct world {
    struct test_clock clock;
    struct fake_consumer *consumer;
    struct weir_mailbox *mailbox;
    struct weir_source *source;
    struct weir_job_task task;
    struct weir_job_tasks tasks;
    struct weir_watch *watch;
};

static const struct weir_field columns[] = {{.name = "t", .type = {.kind = WEIR_TYPE_TEXT}}};
static const struct weir_schema schema = {.column_count = 1, .columns = columns};
static const struct weir_table table = {.name = "t", .topic = "in"};
static const int32_t partitions[] = {7};

static void make_world_at(struct world *world, const struct weir_source_partition *at)
{
    memset(world, 0, sizeof *world);
    world->clock.clock = (struct weir_clock){.monotonic_ms = clock_now, .wall_ms = clock_now};
    world->clock.now_ms = 1000000;
    world->consumer = weir_alloc_zero(sizeof *world->consumer);
    world->consumer->base.ops = &fake_ops;
    world->consumer->high_watermark = -1;
    world->mailbox = weir_mailbox_create();
    struct weir_error error;
    assert_int_equal(
        weir_source_create(&(struct weir_source_config){.id = "s",
                                                        .name = "source t",
                                                        .table = "t",
                                                        .topic = "in",
                                                        .schema = &schema,
                                                        .decoder = weir_raw_decoder_create(&schema),
                                                        .consumer = &world->consumer->base,
                                                        .mailbox = world->mailbox,
                                                        .partition_count = 1,
                                                        .partitions = at},
                           &world->source, &error),
        WEIR_OK);
    world->task = (struct weir_job_task){
        .table = &table, .source = world->source, .partition_count = 1, .partitions = partitions};
    world->tasks = (struct weir_job_tasks){.count = 1, .tasks = &world->task};
    world->watch = weir_watch_create(&world->tasks, &world->clock.clock, 60000);
}

static void make_world(struct world *world, int64_t offset, int64_t end_offset)
{
    make_world_at(world, &(struct weir_source_partition){.partition = 7,
                                                         .offset = offset,
                                                         .end_offset = end_offset,
                                                         .last_offset = -1,
                                                         .event_time_us = INT64_MIN});
}

static void free_world(struct world *world)
{
    weir_watch_destroy(world->watch);
    world->source->op.ops->destroy(&world->source->op);
    weir_mailbox_destroy(world->mailbox, NULL);
}

// text NULL: nothing is wrong.
static void expect(struct world *world, const char *text)
{
    struct weir_buffer lines = {0};
    bool is_wrong = weir_watch_describe(world->watch, &lines);
    if (is_wrong != (text != NULL) ||
        (text != NULL && strstr(weir_buffer_text(&lines), text) == NULL)) {
        fail_msg("says \"%s\" instead of \"%s\"", weir_buffer_text(&lines),
                 text != NULL ? text : "");
    }
    weir_buffer_deinit(&lines);
}

// The client tells that the end is reached at that offset.
static void reach_end(struct world *world, int64_t offset)
{
    struct weir_error error;
    world->consumer->next =
        (struct weir_fetched){.kind = WEIR_FETCH_END, .record = {.offset = offset}};
    world->consumer->has_next = true;
    world->source->ops->poll(world->source, &error);
}

static void test_partition_that_no_broker_answers_for_is_named(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 0, -1);
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), -1);
    expect(&world, "table t: topic in partition 7 is assigned, but no broker has answered for it");
    world.consumer->high_watermark = 0;
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 0);
    expect(&world, NULL);
    free_world(&world);
}

static void test_partition_that_does_not_get_on_is_stuck(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 10, -1);
    world.consumer->high_watermark = 15;
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 5);
    world.clock.now_ms += 59999;
    expect(&world, NULL);
    world.clock.now_ms += 1;
    expect(&world, "topic in partition 7 is stuck: 5 records behind offset 10 and none was read "
                   "for 60 s");
    reach_end(&world, 12); // the last stable offset: a transaction is open behind it
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 0);
    expect(&world, NULL);
    world.consumer->high_watermark = 20; // more of it: nothing of it can be read
    world.clock.now_ms += 60000;
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 8);
    expect(&world, "is stuck: 8 records behind offset 12");
    reach_end(&world, 20);
    expect(&world, NULL);
    // Quiet for long, then records: the time runs from when they came.
    world.clock.now_ms += 3600000;
    expect(&world, NULL);
    world.consumer->high_watermark = 21;
    expect(&world, NULL);
    world.clock.now_ms += 60000;
    expect(&world, "is stuck: 1 records behind offset 20");
    free_world(&world);
}

// A task that is held up reads nothing: its partitions wait for their turn.
static void test_time_in_which_the_task_is_held_up_does_not_count(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 10, -1);
    world.consumer->high_watermark = 15;
    weir_watch_note_held_up(world.watch, 0, 500);
    world.clock.now_ms += 59999 + 300000;
    weir_watch_note_held_up(world.watch, 0, 500 + 299500);
    expect(&world, NULL);
    world.clock.now_ms += 1;
    expect(&world, "is stuck: 5 records behind offset 10 and none was read for 60 s");
    reach_end(&world, 15);
    expect(&world, NULL);
    world.consumer->high_watermark = 16; // what was counted before counts no more
    world.clock.now_ms += 59999;
    expect(&world, NULL);
    world.clock.now_ms += 1;
    expect(&world, "is stuck: 1 records behind offset 15");
    free_world(&world);
}

static void test_open_transaction_that_holds_a_partition_up_is_named(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 10, -1);
    world.consumer->high_watermark = 20;
    weir_watch_note_end(world.watch, 0, 0, 20);
    weir_watch_note_stable(world.watch, 0, 0, 12); // there are records to be read before it
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).offset, -1);
    reach_end(&world, 12);
    weir_watch_note_stable(world.watch, 0, 0, 12);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).offset, 12);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).record_ms, -1);
    expect(&world, NULL);
    world.clock.now_ms += 60000;
    weir_watch_note_stable(world.watch, 0, 0, 12);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).age_ms, 60000);
    expect(&world, "(a transaction is open there from offset 12 on, for 60 s at least)");
    struct weir_transaction_owner owner = {.producer_id = 8, .transactional_id = "some\nbody"};
    weir_watch_note_transaction(world.watch, 0, 0, 11, 5, &owner);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).record_ms,
                     -1); // of another one
    weir_watch_note_transaction(world.watch, 0, 0, 12, 1700000000000, &owner);
    expect(&world,
           "for 60 s at least, its first record of 2023-11-14T22:13:20Z, by producer 8 with "
           "transactional id some\\nbody)");
    // It has ended, and the next one is young.
    reach_end(&world, 15);
    weir_watch_note_stable(world.watch, 0, 0, 15);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).offset, 15);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).age_ms, 0);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).record_ms, -1);
    weir_watch_note_stable(world.watch, 0, 0, 20);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).offset, -1);
    assert_int_equal(weir_watch_open_transaction(world.watch, 0, 0).age_ms, 0);
    free_world(&world);
}

// Its records wait on purpose: it has a lag and is not stuck. A run with an end does not wait.
static void test_quarantined_partition_is_not_stuck(void **state)
{
    (void)state;
    struct weir_source_partition at = {.partition = 7,
                                       .offset = 10,
                                       .end_offset = -1,
                                       .last_offset = -1,
                                       .event_time_us = INT64_MIN,
                                       .is_quarantined = true};
    struct weir_error error;
    struct world world;
    make_world_at(&world, &at);
    expect(&world, NULL); // that no broker answers for it is no news either
    weir_watch_note_end(world.watch, 0, 0, 15);
    world.clock.now_ms += 600000;
    expect(&world, NULL);
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 5);
    assert_int_equal(world.source->ops->poll(world.source, &error), WEIR_STEP_IDLE);
    free_world(&world);
    at.is_left_out = true;
    make_world_at(&world, &at);
    assert_int_equal(world.source->ops->poll(world.source, &error), WEIR_STEP_DONE);
    assert_int_equal(weir_source_position(world.source, 0), 10);
    free_world(&world);
}

static void test_end_that_a_broker_was_asked_for_counts(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 0, -1);
    world.consumer->high_watermark = 3;
    weir_watch_note_end(world.watch, 0, 0, 100); // the client does not get as far
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 100);
    free_world(&world);
    make_world(&world, 0, 5); // a bounded run reads up to 5
    world.consumer->high_watermark = 100;
    weir_watch_note_end(world.watch, 0, 0, 100);
    assert_int_equal(weir_watch_lag(world.watch, 0, 0), 5);
    free_world(&world);
}

static void test_brokers_that_do_not_answer_are_told(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 0, -1);
    world.consumer->high_watermark = 0;
    weir_watch_note_round(world.watch, false, "timed out");
    world.clock.now_ms += 5000;
    weir_watch_note_round(world.watch, false, "timed out again");
    expect(&world, "no broker has answered for 5 s: timed out again");
    weir_watch_note_round(world.watch, true, "");
    expect(&world, NULL);
    free_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_that_no_broker_answers_for_is_named),
        cmocka_unit_test(test_partition_that_does_not_get_on_is_stuck),
        cmocka_unit_test(test_time_in_which_the_task_is_held_up_does_not_count),
        cmocka_unit_test(test_open_transaction_that_holds_a_partition_up_is_named),
        cmocka_unit_test(test_quarantined_partition_is_not_stuck),
        cmocka_unit_test(test_end_that_a_broker_was_asked_for_counts),
        cmocka_unit_test(test_brokers_that_do_not_answer_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
