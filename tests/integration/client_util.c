// SPDX-License-Identifier: Apache-2.0
// See client_util.h.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "tests/integration/client_util.h"
#include "tests/harness/base.h"

void assert_ok(enum weir_status status, const struct weir_error *error)
{
    if (status != WEIR_OK) {
        WEIR_TEST_FAIL("%s: %s", weir_error_action_name(error->action), error->text);
    }
}

struct weir_kafka *client_create(const char *bootstrap, const char *group, const char *const *extra)
{
    struct weir_property properties[16] = {{"bootstrap.servers", bootstrap}};
    uint32_t count = 1;
    for (; extra != NULL && extra[0] != NULL; extra += 2) {
        properties[count++] = (struct weir_property){extra[0], extra[1]};
    }
    const struct weir_kafka_config config = {
        .group_id = group,
        .property_count = count,
        .properties = properties,
        .transaction_timeout_ms = 60000,
        .consumer_queue_bytes_max = 64 << 20,
        .producer_queue_messages_max = 20000,
        .producer_queue_bytes_max = 64 << 20,
    };
    struct weir_kafka *kafka = NULL;
    struct weir_error error;
    assert_ok(weir_rdkafka_create(&config, &kafka, &error), &error);
    return kafka;
}

static void on_delivered(struct weir_delivery *base, uint32_t count)
{
    struct counted_delivery *delivery = (struct counted_delivery *)base;
    atomic_fetch_add(&delivery->delivered_count, count);
    atomic_fetch_add(&delivery->call_count, 1);
}

static void on_failed(struct weir_delivery *base, const struct weir_error *error)
{
    struct counted_delivery *delivery = (struct counted_delivery *)base;
    if (atomic_load(&delivery->failed_count) == 0) {
        delivery->error = *error;
    }
    atomic_fetch_add(&delivery->failed_count, 1);
}

void counted_delivery_init(struct counted_delivery *delivery)
{
    *delivery = (struct counted_delivery){.base = {.delivered = on_delivered, .failed = on_failed}};
}

struct weir_producer *client_producer(struct weir_kafka *kafka, const char *transactional_id)
{
    struct weir_producer *producer = NULL;
    struct weir_error error;
    assert_ok(kafka->ops->producer_create(kafka, transactional_id, &producer, &error), &error);
    if (transactional_id == NULL) {
        return producer;
    }
    enum weir_status status;
    int64_t deadline_ms = weir_test_now_ms() + 60000;
    do {
        status = producer->ops->init_transactions(producer, 5000, &error);
    } while (status != WEIR_OK && error.action == WEIR_ACTION_RETRY &&
             weir_test_now_ms() < deadline_ms);
    assert_ok(status, &error);
    return producer;
}

void client_produce(struct weir_producer *producer, const char *topic, int32_t partition,
                    const char *key, const char *value, struct counted_delivery *delivery)
{
    const struct weir_message message = {
        .topic = topic,
        .partition = partition,
        .key = key != NULL ? weir_view_of(key) : (struct weir_view){0},
        .value = value != NULL ? weir_view_of(value) : (struct weir_view){0},
    };
    struct weir_error error;
    enum weir_produce_result result;
    while ((result = producer->ops->produce(producer, &message, &delivery->base, &error)) ==
           WEIR_PRODUCE_FULL) {
        weir_test_sleep_ms(1);
    }
    assert_ok(result == WEIR_PRODUCE_TAKEN ? WEIR_OK : WEIR_ERROR, &error);
}

void client_read(struct weir_consumer *consumer, uint32_t count,
                 void (*see)(const struct weir_fetched *fetched, void *context), void *context)
{
    struct weir_fetched fetched[64];
    struct weir_error error;
    uint32_t seen = 0;
    int64_t deadline_ms = weir_test_now_ms() + 30000;
    while (seen < count) {
        uint32_t fetched_count = 0;
        if (weir_test_now_ms() > deadline_ms) {
            WEIR_TEST_FAIL("%u records in 30 s instead of %u", seen, count);
        }
        assert_ok(consumer->ops->fetch(consumer, 64, 100, fetched, &fetched_count, &error), &error);
        for (uint32_t i = 0; i < fetched_count; i++) {
            if (fetched[i].kind == WEIR_FETCH_ERROR) {
                WEIR_TEST_FAIL("%s", fetched[i].error->text);
            }
            if (fetched[i].kind == WEIR_FETCH_RECORD) {
                see(&fetched[i], context);
                seen++;
            }
        }
        consumer->ops->release(consumer);
    }
}

uint32_t client_take_all(struct weir_consumer *consumer)
{
    struct weir_fetched fetched[64];
    struct weir_error error;
    uint32_t record_count = 0;
    uint32_t count = 0;
    do {
        assert_ok(consumer->ops->fetch(consumer, 64, 0, fetched, &count, &error), &error);
        for (uint32_t i = 0; i < count; i++) {
            record_count += fetched[i].kind == WEIR_FETCH_RECORD;
        }
        consumer->ops->release(consumer);
    } while (count != 0);
    return record_count;
}
