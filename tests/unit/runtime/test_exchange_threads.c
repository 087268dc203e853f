// SPDX-License-Identifier: Apache-2.0
// Two producers and two consumers in threads of their own: every epoch has exactly its rows.
#include "exchange_rows.h"

#include <pthread.h>

enum { TASK_COUNT = 2, EPOCH_COUNT = 60, BATCHES_A_EPOCH = 15, THREAD_KEYS = 400 };

struct producer {
    pthread_t thread;
    uint32_t idx;
    struct weir_mailbox *mailbox;
    struct weir_channel *channels[TASK_COUNT];
};

struct consumer {
    struct weir_operator op; // first: what the inlet feeds
    struct weir_operator *next[1];
    pthread_t thread;
    uint32_t idx;
    struct weir_mailbox *mailbox;
    struct weir_source *inlet;
    int32_t epoch;
    int64_t row_count;
    int64_t watermark_us;
    int64_t last_seq[TASK_COUNT][THREAD_KEYS];
};

static void wait_for_room(struct weir_operator *outlet, struct weir_mailbox *mailbox)
{
    struct weir_error error;
    while (outlet->is_blocked) {
        weir_mailbox_wait(mailbox, -1); // for ever, if a wake were missed
        outlet->ops->resume(outlet, &error);
    }
}

static void *produce(void *argument)
{
    struct producer *producer = argument;
    struct weir_operator *outlet =
        weir_outlet_create(&(struct weir_outlet_config){.id = "id",
                                                        .name = "exchange",
                                                        .key_count = 1,
                                                        .key_columns = key_columns,
                                                        .channel_count = TASK_COUNT,
                                                        .channels = producer->channels});
    struct weir_error error;
    struct weir_arena *arena = weir_arena_create(1 << 14);
    int64_t seq = (int64_t)producer->idx << SENDER_SHIFT;
    for (int32_t epoch = 1; epoch <= EPOCH_COUNT; epoch++) {
        for (uint32_t i = 0; i < BATCHES_A_EPOCH; i++) {
            uint32_t row_count = 1 + (uint32_t)(seq * 31 + i * 17) % 97;
            weir_arena_reset(arena);
            struct weir_batch batch = make_batch(arena, row_count, THREAD_KEYS, seq, epoch);
            seq += row_count;
            outlet->ops->process(outlet, &batch, &error);
            outlet->ops->time_passed(outlet, &(struct weir_time){.watermark_us = seq & 0xffffffff},
                                     &error);
            wait_for_room(outlet, producer->mailbox);
        }
        outlet->ops->barrier(outlet, &(struct weir_barrier){.number = epoch}, NULL, &error);
        wait_for_room(outlet, producer->mailbox);
    }
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        struct weir_item end = {.kind = WEIR_ITEM_END};
        while (!weir_channel_push(producer->channels[i], &end)) {
            weir_mailbox_wait(producer->mailbox, -1);
        }
    }
    weir_arena_destroy(arena);
    outlet->ops->destroy(outlet);
    return NULL;
}

static enum weir_status consumer_process(struct weir_operator *op, struct weir_batch *batch,
                                         struct weir_error *error)
{
    (void)error;
    struct consumer *consumer = (struct consumer *)op;
    for (uint32_t row = 0; row < batch->row_count; row++) {
        int64_t seq = batch->columns[SEQ].i64[row];
        int64_t *last = &consumer->last_seq[seq >> SENDER_SHIFT][(uint64_t)seq * 7 % THREAD_KEYS];
        // Exactly the rows of the epoch, those of a key in order, none of another task.
        WEIR_ASSERT(batch->columns[EPOCH].i32[row] == consumer->epoch);
        WEIR_ASSERT(seq > *last);
        WEIR_ASSERT(owner_of(batch, row, TASK_COUNT) == consumer->idx);
        *last = seq;
        consumer->row_count++;
    }
    return WEIR_OK;
}

static enum weir_status consumer_time_passed(struct weir_operator *op, const struct weir_time *time,
                                             struct weir_error *error)
{
    (void)error;
    struct consumer *consumer = (struct consumer *)op;
    WEIR_ASSERT(time->watermark_us >= consumer->watermark_us);
    consumer->watermark_us = time->watermark_us;
    return WEIR_OK;
}

static void *consume(void *argument)
{
    struct consumer *consumer = argument;
    struct weir_error error;
    enum weir_step step;
    while ((step = consumer->inlet->ops->poll(consumer->inlet, &error)) != WEIR_STEP_DONE) {
        WEIR_ASSERT(step != WEIR_STEP_FAILED);
        if (step == WEIR_STEP_IDLE) {
            weir_mailbox_wait(consumer->mailbox, -1);
        } else if (step == WEIR_STEP_BARRIER) {
            WEIR_ASSERT(consumer->inlet->barrier.number == consumer->epoch);
            consumer->epoch++;
        }
    }
    return NULL;
}

static const struct weir_operator_ops consumer_ops = {
    .kind = "consumer", .process = consumer_process, .time_passed = consumer_time_passed};

static void test_exchange_between_threads_cuts_epochs_exactly(void **state)
{
    (void)state;
    static struct producer producers[TASK_COUNT];
    static struct consumer consumers[TASK_COUNT];
    static struct weir_channel *channels[TASK_COUNT][TASK_COUNT]; // by consumer
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        producers[i] = (struct producer){.idx = i, .mailbox = weir_mailbox_create()};
        consumers[i] = (struct consumer){
            .op.ops = &consumer_ops, .idx = i, .mailbox = weir_mailbox_create(), .epoch = 1};
        memset(consumers[i].last_seq, 0xff, sizeof consumers[i].last_seq);
    }
    for (uint32_t to = 0; to < TASK_COUNT; to++) {
        for (uint32_t from = 0; from < TASK_COUNT; from++) {
            channels[to][from] = weir_channel_create(4, producers[from].mailbox,
                                                     consumers[to].mailbox, weir_batch_free);
            producers[from].channels[to] = channels[to][from];
        }
        consumers[to].inlet =
            weir_inlet_create(&(struct weir_inlet_config){.id = "id",
                                                          .name = "inlet",
                                                          .channel_count = TASK_COUNT,
                                                          .channels = channels[to],
                                                          .clock = &weir_system_clock});
        consumers[to].next[0] = &consumers[to].op;
        consumers[to].inlet->op.next = consumers[to].next;
        consumers[to].inlet->op.next_count = 1;
    }
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
        assert_int_equal(pthread_create(&consumers[i].thread, NULL, consume, &consumers[i]), 0);
    }
    int64_t row_count = 0;
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        pthread_join(producers[i].thread, NULL);
        pthread_join(consumers[i].thread, NULL);
        assert_int_equal(consumers[i].epoch, EPOCH_COUNT + 1);
        row_count += consumers[i].row_count;
    }
    int64_t expected = 0;
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        int64_t seq = (int64_t)i << SENDER_SHIFT;
        for (int32_t epoch = 1; epoch <= EPOCH_COUNT; epoch++) {
            for (uint32_t k = 0; k < BATCHES_A_EPOCH; k++) {
                uint32_t count = 1 + (uint32_t)(seq * 31 + k * 17) % 97;
                seq += count;
                expected += count;
            }
        }
    }
    assert_int_equal(row_count, expected);
    for (uint32_t i = 0; i < TASK_COUNT; i++) {
        consumers[i].inlet->op.ops->destroy(&consumers[i].inlet->op);
        weir_mailbox_destroy(producers[i].mailbox, NULL);
        weir_mailbox_destroy(consumers[i].mailbox, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange_between_threads_cuts_epochs_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
