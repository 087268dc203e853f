// SPDX-License-Identifier: Apache-2.0
// A Kafka client of the test: four producers that take down what they are asked for and answer as
// they are told. Deliveries happen when the test says so. Nothing here has transactions: for
// protocol questions there are real brokers (tests/integration).
#ifndef WEIR_TESTS_UNIT_KAFKA_FAKE_KAFKA_H
#define WEIR_TESTS_UNIT_KAFKA_FAKE_KAFKA_H

#include "kafka/client.h"
#include "kafka/handles.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FAKE_ROWS_MAX = 1024, FAKE_PRODUCERS_MAX = 32 };

struct fake_row {
    int32_t partition;
    char value[16];
    bool is_key_null;
    bool is_value_null;
    int64_t timestamp_ms;
    struct weir_delivery *delivery;
};

struct fake_producer {
    struct weir_producer base; // first: the interface
    char id[64];
    bool is_open;
    bool is_used_up;
    bool is_deaf;
    bool is_doubtful;
    bool is_destroyed;
    uint32_t row_count;
    uint32_t delivered_count;
    uint32_t sent_now_count;
    struct fake_row rows[FAKE_ROWS_MAX];
};

static struct {
    struct weir_kafka base;
    uint32_t producer_count; // ever made
    struct fake_producer *producers[FAKE_PRODUCERS_MAX];
    bool is_full;                        // produce answers FULL
    uint32_t retry_count;                // so many calls answer RETRY first
    _Atomic int32_t unanswered_count;    // so many inits leave a request without an answer
    _Atomic int32_t deaf_count;          // so many producers never get an answer to their inits
    _Atomic int64_t waited_ms;           // for those, by the clock of the fake
    enum weir_error_action commit_fails; // 0 (REFUSE): it does not
    const char *pointer;                 // what is committed for every partition; NULL: nothing
    char calls[2048];                    // "init begin offsets commit …"
} fake_kafka;

// Handles are closed side by side.
static void fake_note(const char *call, const struct fake_producer *producer)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    size_t used = strlen(fake_kafka.calls);
    snprintf(fake_kafka.calls + used, sizeof fake_kafka.calls - used, "%s:%s ", call,
             producer->id + strlen(producer->id) - 1);
    pthread_mutex_unlock(&lock);
}

static enum weir_status fake_answer(struct weir_error *error)
{
    if (fake_kafka.retry_count == 0) {
        return WEIR_OK;
    }
    fake_kafka.retry_count--;
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "not now");
}

static enum weir_status fake_init(struct weir_producer *base, int32_t timeout_ms,
                                  struct weir_error *error)
{
    struct fake_producer *producer = (struct fake_producer *)base;
    if (atomic_fetch_sub(&fake_kafka.unanswered_count, 1) > 0) {
        producer->is_used_up = true;
    }
    if (producer->is_deaf) {
        fake_kafka.waited_ms += timeout_ms;
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "timed out");
    }
    return fake_answer(error);
}

static enum weir_status fake_begin(struct weir_producer *base, struct weir_error *error)
{
    (void)error;
    struct fake_producer *producer = (struct fake_producer *)base;
    WEIR_ASSERT(!producer->is_open && !producer->is_destroyed);
    producer->is_open = true;
    fake_note("begin", producer);
    return WEIR_OK;
}

static enum weir_produce_result fake_produce(struct weir_producer *base,
                                             const struct weir_message *message,
                                             struct weir_delivery *delivery,
                                             struct weir_error *error)
{
    (void)error;
    struct fake_producer *producer = (struct fake_producer *)base;
    if (fake_kafka.is_full) {
        return WEIR_PRODUCE_FULL;
    }
    WEIR_ASSERT(producer->row_count < FAKE_ROWS_MAX);
    struct fake_row *row = &producer->rows[producer->row_count++];
    *row = (struct fake_row){.partition = message->partition,
                             .is_key_null = message->key.data == NULL,
                             .is_value_null = message->value.data == NULL,
                             .timestamp_ms = message->timestamp_ms,
                             .delivery = delivery};
    snprintf(row->value, sizeof row->value, "%.*s", WEIR_VIEW_ARGS(message->value));
    return WEIR_PRODUCE_TAKEN;
}

static void fake_send_now(struct weir_producer *base)
{
    ((struct fake_producer *)base)->sent_now_count++;
}

static enum weir_status fake_offsets(struct weir_producer *base, uint32_t count,
                                     const struct weir_offset_commit *offsets, int32_t timeout_ms,
                                     struct weir_error *error)
{
    (void)count;
    (void)offsets;
    (void)timeout_ms;
    fake_note("offsets", (struct fake_producer *)base);
    return fake_answer(error);
}

static enum weir_status fake_commit(struct weir_producer *base, int32_t timeout_ms,
                                    struct weir_error *error)
{
    (void)timeout_ms;
    struct fake_producer *producer = (struct fake_producer *)base;
    fake_note("commit", producer);
    if (fake_kafka.commit_fails != WEIR_ACTION_REFUSE) {
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, fake_kafka.commit_fails, "told to fail");
    }
    if (fake_answer(error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    producer->is_open = false;
    return WEIR_OK;
}

static enum weir_status fake_abort(struct weir_producer *base, int32_t timeout_ms,
                                   struct weir_error *error)
{
    (void)timeout_ms;
    (void)error;
    fake_note("abort", (struct fake_producer *)base);
    return WEIR_OK;
}

static bool fake_is_used_up(struct weir_producer *base)
{
    return ((struct fake_producer *)base)->is_used_up;
}

static bool fake_is_doubtful(struct weir_producer *base)
{
    return ((struct fake_producer *)base)->is_doubtful;
}

static void fake_destroy(struct weir_producer *base)
{
    ((struct fake_producer *)base)->is_destroyed = true;
}

static enum weir_status fake_producer_create(struct weir_kafka *kafka, const char *id,
                                             struct weir_producer **out, struct weir_error *error)
{
    static const struct weir_producer_ops ops = {.init_transactions = fake_init,
                                                 .begin = fake_begin,
                                                 .produce = fake_produce,
                                                 .send_now = fake_send_now,
                                                 .send_offsets = fake_offsets,
                                                 .commit = fake_commit,
                                                 .abort = fake_abort,
                                                 .is_used_up = fake_is_used_up,
                                                 .is_offset_commit_doubtful = fake_is_doubtful,
                                                 .destroy = fake_destroy};
    (void)kafka;
    (void)error;
    struct fake_producer *producer = weir_alloc_zero(sizeof *producer);
    producer->base.ops = &ops;
    snprintf(producer->id, sizeof producer->id, "%s", id != NULL ? id : "rows");
    producer->is_deaf = atomic_fetch_sub(&fake_kafka.deaf_count, 1) > 0;
    // Handles are opened side by side, each by a thread of its own.
    uint32_t idx = __atomic_fetch_add(&fake_kafka.producer_count, 1, __ATOMIC_SEQ_CST);
    WEIR_ASSERT(idx < FAKE_PRODUCERS_MAX);
    fake_kafka.producers[idx] = producer;
    *out = &producer->base;
    return WEIR_OK;
}

static enum weir_status fake_committed(struct weir_kafka *kafka, enum weir_isolation isolation,
                                       uint32_t count,
                                       const struct weir_topic_partition *partitions,
                                       struct weir_committed *committed, int32_t timeout_ms,
                                       struct weir_error *error)
{
    (void)kafka;
    (void)partitions;
    (void)timeout_ms;
    (void)error;
    WEIR_ASSERT(isolation == WEIR_READ_COMMITTED);
    for (uint32_t i = 0; i < count; i++) {
        committed[i] = (struct weir_committed){.has_offset = fake_kafka.pointer != NULL};
        if (fake_kafka.pointer != NULL) {
            snprintf(committed[i].metadata, sizeof committed[i].metadata, "%s", fake_kafka.pointer);
        }
    }
    return fake_answer(error);
}

static bool fake_is_at_least_once; // of the handles that are opened

static struct weir_handles *fake_handles_open_with(int32_t unanswered_count)
{
    static const struct weir_kafka_ops ops = {.producer_create = fake_producer_create,
                                              .committed = fake_committed};
    memset(&fake_kafka, 0, sizeof fake_kafka);
    fake_kafka.unanswered_count = unanswered_count;
    fake_kafka.base.ops = &ops;
    struct weir_handles *handles;
    struct weir_error error;
    enum weir_status status =
        weir_handles_open(&fake_kafka.base, "job", 0, fake_is_at_least_once, &weir_system_clock,
                          weir_now_ms(&weir_system_clock) + 1000, &handles, &error);
    WEIR_ASSERT(status == WEIR_OK);
    return handles;
}

static inline struct weir_handles *fake_handles_open(void)
{
    return fake_handles_open_with(0);
}

static void fake_handles_close(struct weir_handles *handles)
{
    weir_handles_close(handles);
    for (uint32_t i = 0; i < fake_kafka.producer_count; i++) {
        WEIR_ASSERT(fake_kafka.producers[i]->is_destroyed);
        free(fake_kafka.producers[i]);
    }
}

static struct fake_producer *fake_of(struct weir_handles *handles, int64_t epoch)
{
    return (struct fake_producer *)weir_handles_producer(handles, epoch);
}

// Reports the next `count` rows of a producer as delivered.
static inline void fake_deliver(struct fake_producer *producer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        WEIR_ASSERT(producer->delivered_count < producer->row_count);
        struct weir_delivery *delivery = producer->rows[producer->delivered_count++].delivery;
        delivery->delivered(delivery, 1);
    }
}

#endif
