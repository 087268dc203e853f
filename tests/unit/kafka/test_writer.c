// SPDX-License-Identifier: Apache-2.0
// The writer's invariants, with deliveries that come when the test says: which rows wait for which,
// in which order they go, and when a snapshot is let go.
#include "kafka/writer.h"

#include "runtime/coordinator.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/kafka/fake_kafka.h"

struct world {
    struct weir_handles *handles;
    struct weir_mailbox *mailbox;
    struct weir_mailbox *coordinator;
    struct weir_writer *writer;
};

static void make_world(struct world *world, size_t held_bytes_max)
{
    world->handles = fake_handles_open();
    world->mailbox = weir_mailbox_create();
    world->coordinator = weir_mailbox_create();
    world->writer =
        weir_writer_create(&(struct weir_writer_config){.handles = world->handles,
                                                        .topic = "out",
                                                        .partition_count = 2,
                                                        .first_epoch = 1,
                                                        .mailbox = world->mailbox,
                                                        .held_bytes_max = held_bytes_max,
                                                        .client_bytes_max = 1000});
}

static void free_world(struct world *world)
{
    fake_handles_close(world->handles);
    weir_writer_destroy(world->writer);
    weir_mailbox_destroy(world->mailbox, NULL);
    weir_mailbox_destroy(world->coordinator, weir_coordinator_drop_mail);
}

static void put(struct world *world, int32_t partition, const char *value)
{
    struct weir_error error = {.text = ""};
    struct weir_message message = {.partition = partition, .value = weir_view_of(value)};
    if (weir_writer_write(world->writer, &message, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
}

// Barrier `number`; the snapshot's only other hold, the task's, is let go.
static void pass_barrier(struct world *world, int64_t number)
{
    struct weir_barrier barrier = {.number = number};
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 0, world->coordinator);
    weir_writer_barrier(world->writer, &barrier, snapshot);
    weir_snapshot_release(snapshot);
}

static void resume(struct world *world)
{
    struct weir_error error = {.text = ""};
    if (weir_writer_resume(world->writer, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
}

// The number of the next epoch that is acknowledged; 0: none.
static int64_t acknowledged(struct world *world)
{
    struct weir_mail mail;
    if (!weir_mailbox_take(world->coordinator, &mail)) {
        return 0;
    }
    assert_int_equal(mail.kind, WEIR_MAIL_ACKNOWLEDGED);
    weir_snapshot_destroy(mail.payload);
    return mail.number;
}

// What the producer of that epoch got so far, "partition value" joined.
static const char *rows_of(struct world *world, int64_t epoch)
{
    static char text[512];
    text[0] = '\0';
    struct fake_producer *producer = fake_of(world->handles, epoch);
    for (uint32_t i = 0; i < producer->row_count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%d%s ", producer->rows[i].partition,
                 producer->rows[i].value);
    }
    return text;
}

static void test_rows_go_to_the_producer_of_their_epoch(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    put(&world, 0, "a");
    fake_deliver(fake_of(world.handles, 1), 1);
    pass_barrier(&world, 1);
    put(&world, 0, "b");
    assert_string_equal(rows_of(&world, 1), "0a ");
    assert_string_equal(rows_of(&world, 2), "0b ");
    // What is waited for does not linger.
    assert_int_equal(fake_of(world.handles, 1)->sent_now_count, 1);
    assert_int_equal(fake_of(world.handles, 2)->sent_now_count, 0);
    free_world(&world);
}

static void test_row_waits_for_older_rows_of_its_partition_only(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    put(&world, 0, "a");
    pass_barrier(&world, 1);
    put(&world, 0, "b");
    put(&world, 1, "c");
    put(&world, 0, "d");
    assert_string_equal(rows_of(&world, 2), "1c ");
    assert_true(weir_writer_is_waiting(world.writer));
    resume(&world);
    assert_string_equal(rows_of(&world, 2), "1c ");
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    assert_string_equal(rows_of(&world, 2), "1c 0b 0d ");
    assert_false(weir_writer_is_waiting(world.writer));
    free_world(&world);
}

static void test_epoch_is_acknowledged_when_every_row_is(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    put(&world, 0, "a");
    put(&world, 1, "b");
    pass_barrier(&world, 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 0);
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 0);
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 1);
    assert_int_equal(acknowledged(&world), 0);
    free_world(&world);
}

static void test_held_row_counts_as_written_across_two_barriers(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    put(&world, 0, "a");
    pass_barrier(&world, 1);
    put(&world, 0, "b");
    pass_barrier(&world, 2);
    put(&world, 0, "c");
    resume(&world);
    assert_int_equal(acknowledged(&world), 0);
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 1);
    assert_string_equal(rows_of(&world, 2), "0b ");
    assert_string_equal(rows_of(&world, 3), ""); // b is not acknowledged yet
    assert_int_equal(acknowledged(&world), 0);
    fake_deliver(fake_of(world.handles, 2), 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 2);
    assert_string_equal(rows_of(&world, 3), "0c ");
    free_world(&world);
}

static void test_empty_epoch_is_acknowledged_at_once(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    pass_barrier(&world, 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 1);
    free_world(&world);
}

static void test_full_queue_is_back_pressure(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 300 << 10);
    put(&world, 0, "w");
    assert_int_equal(fake_of(world.handles, 1)->sent_now_count, 0);
    fake_kafka.is_full = true;
    for (int i = 0; i < 100; i++) {
        put(&world, 0, i % 2 == 0 ? "x" : "y");
    }
    // What fills the queue does not linger in it.
    assert_int_equal(fake_of(world.handles, 1)->sent_now_count, 1);
    assert_false(weir_writer_is_full(world.writer));
    char large[900];
    memset(large, 'z', sizeof large);
    large[sizeof large - 1] = '\0';
    int more = 0;
    for (; !weir_writer_is_full(world.writer); more++) {
        put(&world, 1, large);
    }
    assert_true(more > 100);
    resume(&world);
    assert_true(weir_writer_is_full(world.writer));
    fake_kafka.is_full = false;
    resume(&world);
    assert_false(weir_writer_is_full(world.writer));
    assert_int_equal(fake_of(world.handles, 1)->row_count, 101 + more);
    free_world(&world);
}

static void test_failed_delivery_is_reported_with_its_action(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    put(&world, 0, "a");
    struct weir_error why;
    weir_error_set(&why, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FENCED, "gone");
    struct weir_delivery *delivery = fake_of(world.handles, 1)->rows[0].delivery;
    delivery->failed(delivery, &why);
    struct weir_error error;
    assert_int_equal(weir_writer_resume(world.writer, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    free_world(&world);
}

static void test_snapshots_of_a_dead_writer_complete_nothing(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 1 << 20);
    put(&world, 0, "a");
    pass_barrier(&world, 1);
    fake_handles_close(world.handles);
    weir_writer_destroy(world.writer);
    assert_int_equal(acknowledged(&world), 0);
    weir_mailbox_destroy(world.mailbox, NULL);
    weir_mailbox_destroy(world.coordinator, weir_coordinator_drop_mail);
}

// At least once: one producer keeps the order by itself, so nothing waits for older epochs.
static void make_world_at_least_once(struct world *world)
{
    fake_is_at_least_once = true;
    make_world(world, 1 << 20);
    fake_is_at_least_once = false;
    weir_writer_destroy(world->writer);
    world->writer = weir_writer_create(&(struct weir_writer_config){.handles = world->handles,
                                                                    .topic = "out",
                                                                    .partition_count = 2,
                                                                    .first_epoch = 1,
                                                                    .is_at_least_once = true,
                                                                    .mailbox = world->mailbox,
                                                                    .held_bytes_max = 1 << 20,
                                                                    .client_bytes_max = 1000});
}

static void test_at_least_once_rows_wait_for_nothing_and_epochs_for_their_rows(void **state)
{
    (void)state;
    struct world world;
    make_world_at_least_once(&world);
    put(&world, 0, "a");
    pass_barrier(&world, 1);
    put(&world, 0, "b");
    put(&world, 1, "c");
    pass_barrier(&world, 4); // 2 and 3 were passed over
    put(&world, 0, "d");
    assert_false(weir_writer_is_waiting(world.writer));
    assert_string_equal(rows_of(&world, 1), "0a 0b 1c 0d ");
    assert_string_equal(rows_of(&world, 2), "0a 0b 1c 0d "); // the same producer
    resume(&world);
    assert_int_equal(acknowledged(&world), 0);
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 1);
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    assert_int_equal(acknowledged(&world), 0);
    fake_deliver(fake_of(world.handles, 1), 1); // c; d is not waited for
    resume(&world);
    assert_int_equal(acknowledged(&world), 4);
    free_world(&world);
}

static void test_at_least_once_cancelled_epochs_are_never_acknowledged(void **state)
{
    (void)state;
    struct world world;
    make_world_at_least_once(&world);
    put(&world, 0, "a");
    for (int64_t number = 1; number <= 6; number++) {
        pass_barrier(&world, number); // 1 and 2 give way: no more than four can wait
    }
    weir_writer_cancel(world.writer, 4);
    weir_writer_cancel(world.writer, 1); // says nothing about 5, which has its place
    fake_deliver(fake_of(world.handles, 1), 1);
    resume(&world);
    bool is_acknowledged[7] = {false};
    for (int64_t number = acknowledged(&world); number != 0; number = acknowledged(&world)) {
        is_acknowledged[number] = true;
    }
    for (int64_t number = 1; number <= 6; number++) {
        assert_int_equal(is_acknowledged[number], number == 3 || number >= 5);
    }
    free_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_go_to_the_producer_of_their_epoch),
        cmocka_unit_test(test_row_waits_for_older_rows_of_its_partition_only),
        cmocka_unit_test(test_epoch_is_acknowledged_when_every_row_is),
        cmocka_unit_test(test_held_row_counts_as_written_across_two_barriers),
        cmocka_unit_test(test_empty_epoch_is_acknowledged_at_once),
        cmocka_unit_test(test_full_queue_is_back_pressure),
        cmocka_unit_test(test_failed_delivery_is_reported_with_its_action),
        cmocka_unit_test(test_snapshots_of_a_dead_writer_complete_nothing),
        cmocka_unit_test(test_at_least_once_rows_wait_for_nothing_and_epochs_for_their_rows),
        cmocka_unit_test(test_at_least_once_cancelled_epochs_are_never_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
