// SPDX-License-Identifier: Apache-2.0
#include "timed.h"

#include "runtime/snapshot.h"

enum { IDLE_MS = 2000 };

struct fixture {
    struct timed_source source;
    struct weir_operator *op;
    struct changes changes;
};

static void open_of(struct fixture *fixture, struct weir_watermark_config config)
{
    timed_now_ms = 1000000;
    config.idle_timeout_ms = IDLE_MS;
    fixture->op = timed_watermark_of(&fixture->source, config);
    changes_init(&fixture->changes);
    changes_attach(&fixture->changes, fixture->op);
}

static void open_fixture(struct fixture *fixture, uint32_t partition_count, int64_t delay_ms)
{
    open_of(fixture, (struct weir_watermark_config){.delay_us = delay_ms * 1000,
                                                    .max_ahead_us = -1,
                                                    .partition_count = partition_count});
}

static void close_fixture(struct fixture *fixture)
{
    fixture->op->ops->destroy(fixture->op);
    weir_operator_state_store_destroy(fixture->source.operator_states);
    changes_deinit(&fixture->changes);
}

static void resume(struct fixture *fixture, const char *expected)
{
    struct weir_error error;
    assert_int_equal(fixture->op->ops->resume(fixture->op, &error), WEIR_OK);
    changes_expect(&fixture->changes, expected);
}

// Times in what comes out are ms since 2000: rows at 946684800000 + n.
#define AT(n) (WEIR_EPOCH_SHIFT_MS + (n))

static void test_watermark_is_the_largest_time_minus_the_delay(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, 1, 10);
    TIMED_FEED(fixture.op, 0, {0, AT(100), "a", 1}, {0, AT(50), "b", 2});
    changes_expect(&fixture.changes, "(a, 1) (b, 2) T90");
    TIMED_FEED(fixture.op, 2, {0, AT(99), "c", 3});
    changes_expect(&fixture.changes, "(c, 3)"); // time does not go back, nor is it said twice
    TIMED_FEED(fixture.op, 3, {0, AT(101), "d", 4});
    changes_expect(&fixture.changes, "(d, 4) T91");
    close_fixture(&fixture);
}

static void test_watermark_is_the_least_of_the_partitions(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, 2, 0);
    TIMED_FEED(fixture.op, 0, {0, AT(100), "a", 1});
    changes_expect(&fixture.changes, "(a, 1)"); // of partition 1 nothing is known
    TIMED_FEED(fixture.op, 1, {1, AT(70), "b", 1}, {0, AT(200), "c", 1}, {1, AT(80), "d", 1});
    changes_expect(&fixture.changes, "(b, 1) (c, 1) (d, 1) T80");
    close_fixture(&fixture);
}

static void test_watermark_rows_know_the_time_before_them(void **state)
{
    (void)state;
    struct fixture fixture;
    struct weir_operator *tumble = weir_tumble_create(
        "id", "tumble",
        &(struct weir_tumble_config){.output = &timed_window_schema,
                                     .window = {.size_us = 10000, .origin_us = 0}});
    struct weir_operator *next[] = {tumble};
    open_fixture(&fixture, 2, 0);
    timed_connect(fixture.op, next, &fixture.changes);
    changes_attach(&fixture.changes, tumble);
    // Each against its own partition: 1 of partition 1 is not late, though partition 0 is at 100.
    TIMED_FEED(fixture.op, 0, {0, AT(100), "a", 1}, {1, AT(1), "b", 1}, {0, AT(1), "c", 1},
               {1, AT(10), "d", 1}, {1, AT(9), "e", 1});
    assert_int_equal(fixture.changes.row_count, 3);
    changes_expect_reported(&fixture.changes,
                            "late: its window was closed 90 ms before; a larger watermark_delay "
                            "would have waited at 2; "
                            "late: its window was closed 0 ms before; a larger watermark_delay "
                            "would have waited at 4");
    tumble->ops->destroy(tumble);
    close_fixture(&fixture);
}

// A quarantined partition holds nobody back, from the first moment on and without being at its end.
static void test_watermark_does_not_wait_for_quarantined_partitions(void **state)
{
    (void)state;
    static const struct weir_partition_time PARTITIONS[] = {
        {.partition = 0, .event_time_us = INT64_MIN},
        {.partition = 1, .event_time_us = 5000, .is_quarantined = true}};
    struct fixture fixture;
    open_of(&fixture, (struct weir_watermark_config){
                          .max_ahead_us = -1, .partition_count = 2, .partitions = PARTITIONS});
    resume(&fixture, "");
    TIMED_FEED(fixture.op, 0, {0, AT(90), "a", 1});
    changes_expect(&fixture.changes, "(a, 1) T90");
    close_fixture(&fixture);
    // A task that has nothing else to read: others do not wait for it, and that is news at once.
    open_of(&fixture, (struct weir_watermark_config){
                          .max_ahead_us = -1, .partition_count = 1, .partitions = &PARTITIONS[1]});
    uint64_t activity = fixture.source.source.activity;
    resume(&fixture, "T-9223372036854775i");
    assert_int_equal(fixture.source.source.activity, activity + 1);
    close_fixture(&fixture);
}

// C049: idle is who is at its end and silent, not who is only silent.
static void test_watermark_silent_partitions_at_their_end_are_idle(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, 3, 0);
    resume(&fixture, "");
    assert_int_equal(fixture.op->wake_at_ms, timed_now_ms + IDLE_MS);
    timed_now_ms += 500;
    TIMED_FEED(fixture.op, 0, {0, AT(90), "a", 1});
    changes_expect(&fixture.changes, "(a, 1)");
    fixture.source.is_at_end[1] = true;
    timed_now_ms += IDLE_MS - 501;
    resume(&fixture, "");
    timed_now_ms += 1;
    uint64_t activity = fixture.source.source.activity;
    resume(&fixture, ""); // partition 1 is idle, 2 is not at its end
    assert_int_equal(fixture.source.source.activity, activity + 1);
    assert_true(fixture.op->wake_at_ms > timed_now_ms);
    assert_true(fixture.op->wake_at_ms <= timed_now_ms + 100);
    timed_now_ms += 100;
    resume(&fixture, "");
    fixture.source.is_at_end[2] = true;
    timed_now_ms += 100;
    resume(&fixture, "T90");
    // The last one falls silent: time stands.
    fixture.source.is_at_end[0] = true;
    timed_now_ms += IDLE_MS;
    resume(&fixture, "T90i");
    assert_int_equal(fixture.op->wake_at_ms, 0);
    // Back again, behind the time that has passed, which stays.
    TIMED_FEED(fixture.op, 1, {2, AT(20), "b", 1});
    changes_expect(&fixture.changes, "(b, 1) T90");
    TIMED_FEED(fixture.op, 2, {2, AT(95), "c", 1});
    changes_expect(&fixture.changes, "(c, 1) T95");
    resume(&fixture, "");
    assert_int_equal(fixture.op->wake_at_ms, timed_now_ms + IDLE_MS);
    close_fixture(&fixture);
}

static void test_watermark_without_partitions_is_idle(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, 0, 0);
    struct weir_error error;
    assert_int_equal(fixture.op->ops->resume(fixture.op, &error), WEIR_OK);
    assert_non_null(strchr(weir_buffer_text(&fixture.changes.out), 'i'));
    fixture.changes.out.size_bytes = 0;
    resume(&fixture, "");
    close_fixture(&fixture);
}

// C047: an outlier is set aside and does not move time.
static void test_watermark_sets_aside_what_is_too_far_ahead(void **state)
{
    (void)state;
    struct fixture fixture;
    open_of(&fixture, (struct weir_watermark_config){.max_ahead_us = INT64_C(3600000000),
                                                     .partition_count = 1});
    const struct timed_row rows[] = {
        {0, AT(3600000), "a", 1}, {0, AT(3600001), "b", 1}, {0, AT(5), "c", 1}};
    timed_feed(fixture.op, 3, rows, 7, AT(0));
    changes_expect(&fixture.changes, "(a, 1) (c, 1) T3600000");
    changes_expect_reported(&fixture.changes,
                            "event_time: event time is 3600001 ms ahead of the record's timestamp "
                            "(event_time_max_ahead) at 8");
    // Without a timestamp of the record there is no bound.
    timed_feed(fixture.op, 1, &rows[1], 8, -1);
    changes_expect(&fixture.changes, "(b, 1) T3600001");
    close_fixture(&fixture);
}

// The same rows give the same after a restart from a checkpoint.
static void test_watermark_time_of_partitions_is_in_the_checkpoint(void **state)
{
    (void)state;
    struct fixture fixture;
    struct weir_error error;
    open_fixture(&fixture, 2, 5);
    TIMED_FEED(fixture.op, 0, {0, AT(100), "a", 1}, {0, AT(60), "b", 1});
    struct weir_barrier barrier = {.number = 1};
    struct weir_mailbox *mailbox = weir_mailbox_create();
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 0, mailbox);
    for (int32_t partition = 0; partition < 2; partition++) {
        weir_snapshot_add_position(snapshot,
                                   &(struct weir_position_entry){.table = "t",
                                                                 .topic = "topic",
                                                                 .partition = partition,
                                                                 .event_time_us = INT64_MIN});
    }
    weir_snapshot_add_position(
        snapshot, &(struct weir_position_entry){
                      .table = "other", .topic = "topic", .partition = 77, .event_time_us = 3});
    assert_int_equal(fixture.op->ops->barrier(fixture.op, &barrier, snapshot, &error), WEIR_OK);
    assert_int_equal(snapshot->positions[0].event_time_us, timed_us(AT(100)));
    assert_int_equal(snapshot->positions[1].event_time_us, INT64_MIN);
    assert_int_equal(snapshot->positions[2].event_time_us, 3);
    struct weir_partition_time restored[] = {{0, snapshot->positions[0].event_time_us, false},
                                             {1, snapshot->positions[1].event_time_us, false}};
    weir_snapshot_abandon(snapshot);
    weir_mailbox_destroy(mailbox, NULL);
    close_fixture(&fixture);

    open_of(&fixture, (struct weir_watermark_config){.delay_us = 5000,
                                                     .max_ahead_us = -1,
                                                     .partition_count = 2,
                                                     .partitions = restored});
    TIMED_FEED(fixture.op, 2, {1, AT(300), "c", 1});
    changes_expect(&fixture.changes, "(c, 1) T95");
    close_fixture(&fixture);
}

// Also to tasks that get no more rows: what is due in them comes without waiting for one.
static void test_watermark_time_of_the_checkpoint_is_passed_on_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    const struct weir_partition_time restored[] = {{0, timed_us(AT(100)), false},
                                                   {1, timed_us(AT(70)), false}};
    open_of(&fixture, (struct weir_watermark_config){.delay_us = 5000,
                                                     .max_ahead_us = -1,
                                                     .partition_count = 2,
                                                     .partitions = restored});
    resume(&fixture, "T65");
    resume(&fixture, "");
    TIMED_FEED(fixture.op, 2, {1, AT(71), "c", 1});
    changes_expect(&fixture.changes, "(c, 1) T66");
    close_fixture(&fixture);
}

// What a task of the stage has passed on, as its part of the checkpoint.
static struct weir_operator_state_part *snapshot_of(struct fixture *fixture, uint32_t task_idx,
                                                    uint32_t task_count)
{
    struct weir_error error;
    struct weir_barrier barrier = {.number = 1};
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 0, NULL);
    assert_int_equal(fixture->op->ops->barrier(fixture->op, &barrier, snapshot, &error), WEIR_OK);
    assert_int_equal(
        weir_operator_state_snapshot(fixture->source.operator_states, "id", snapshot, &error),
        WEIR_OK);
    struct weir_operator_state_part *part =
        weir_operator_state_part_copy(snapshot->operator_states[0]);
    part->task_idx = task_idx;
    part->task_count = task_count;
    weir_snapshot_destroy(snapshot);
    return part;
}

// A new life with one task over two partitions of which nothing is known.
static void open_restored(struct fixture *fixture, const struct weir_operator_state_part *parts,
                          uint32_t part_count)
{
    open_of(fixture, (struct weir_watermark_config){
                         .max_ahead_us = -1,
                         .partition_count = 2,
                         .operator_states =
                             weir_operator_state_store_create(&(struct weir_operator_state_config){
                                 .task_count = 1, .part_count = part_count, .parts = parts})});
}

// Partition 1 was idle, and is waited for again: time does not go back for it, in however many
// tasks it was.
static void test_watermark_does_not_go_back_over_a_restart(void **state)
{
    (void)state;
    struct fixture fixture;
    struct weir_operator_state_part *parts[3];
    static const int64_t REACHED_MS[] = {100, 80};
    for (uint32_t i = 0; i < 2; i++) {
        open_fixture(&fixture, 1, 0);
        TIMED_FEED(fixture.op, 0, {0, AT(REACHED_MS[i]), "a", 1});
        parts[i] = snapshot_of(&fixture, i, 3);
        close_fixture(&fixture);
    }
    open_fixture(&fixture, 1, 0); // a task that has never had a row, and is idle
    fixture.source.is_at_end[0] = true;
    timed_now_ms += IDLE_MS;
    resume(&fixture, "T-9223372036854775i");
    parts[2] = snapshot_of(&fixture, 2, 3);
    close_fixture(&fixture);

    struct weir_operator_state_part former[] = {*parts[0], *parts[1], *parts[2]};
    open_restored(&fixture, former, 3);
    resume(&fixture, "T80");
    TIMED_FEED(fixture.op, 3, {0, AT(90), "b", 1}, {1, AT(10), "c", 1});
    changes_expect(&fixture.changes, "(b, 1) (c, 1)");
    TIMED_FEED(fixture.op, 5, {1, AT(85), "d", 1});
    changes_expect(&fixture.changes, "(d, 1) T85");
    close_fixture(&fixture);
    for (uint32_t i = 0; i < 3; i++) {
        free(parts[i]);
    }
}

// A run that goes on behind the end of all input: its time is not at the end any more.
static void test_watermark_goes_on_after_the_end_of_all_input(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, 1, 0);
    TIMED_FEED(fixture.op, 0, {0, AT(100), "a", 1});
    changes_pass_time(fixture.op, INT64_MAX);
    struct weir_operator_state_part *part = snapshot_of(&fixture, 0, 1);
    close_fixture(&fixture);
    open_restored(&fixture, part, 1);
    resume(&fixture, "T100");
    TIMED_FEED(fixture.op, 1, {0, AT(101), "b", 1}, {1, AT(102), "c", 1});
    changes_expect(&fixture.changes, "(b, 1) (c, 1) T101");
    close_fixture(&fixture);
    free(part);
}

static void test_watermark_end_of_input_is_the_end_of_time(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, 1, 0);
    changes_pass_time(fixture.op, INT64_MAX);
    changes_expect(&fixture.changes, "T9223372036854775");
    fixture.source.is_at_end[0] = true;
    timed_now_ms += IDLE_MS;
    struct weir_error error;
    assert_int_equal(fixture.op->ops->resume(fixture.op, &error), WEIR_OK);
    // Idle now, but never back from the end.
    changes_expect(&fixture.changes, "T9223372036854775i");
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watermark_is_the_largest_time_minus_the_delay),
        cmocka_unit_test(test_watermark_is_the_least_of_the_partitions),
        cmocka_unit_test(test_watermark_rows_know_the_time_before_them),
        cmocka_unit_test(test_watermark_does_not_wait_for_quarantined_partitions),
        cmocka_unit_test(test_watermark_silent_partitions_at_their_end_are_idle),
        cmocka_unit_test(test_watermark_without_partitions_is_idle),
        cmocka_unit_test(test_watermark_sets_aside_what_is_too_far_ahead),
        cmocka_unit_test(test_watermark_time_of_partitions_is_in_the_checkpoint),
        cmocka_unit_test(test_watermark_time_of_the_checkpoint_is_passed_on_at_once),
        cmocka_unit_test(test_watermark_does_not_go_back_over_a_restart),
        cmocka_unit_test(test_watermark_goes_on_after_the_end_of_all_input),
        cmocka_unit_test(test_watermark_end_of_input_is_the_end_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
