// SPDX-License-Identifier: Apache-2.0
// What the tests of kafka/client.h share: a client of a test cluster, deliveries that are counted,
// reading until so many records are there. Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_CLIENT_UTIL_H
#define WEIR_TESTS_INTEGRATION_CLIENT_UTIL_H

#include "kafka/client.h"
#include "tests/harness/base.h"

#include <stdatomic.h>

// Fails with the error's text.
void assert_ok(enum weir_status status, const struct weir_error *error);

// Asks again while the answer is RETRY, as everybody has to who asks brokers, for 30 s; anything
// else than WEIR_OK then fails the test. call uses `error`, a struct weir_error in scope.
#define ASSERT_ANSWERED(call, error)                                                               \
    do {                                                                                           \
        int64_t client_deadline_ms = weir_test_now_ms() + 30000;                                   \
        enum weir_status client_status;                                                            \
        do {                                                                                       \
            client_status = (call);                                                                \
        } while (client_status != WEIR_OK && (error).action == WEIR_ACTION_RETRY &&                \
                 weir_test_now_ms() < client_deadline_ms);                                         \
        assert_ok(client_status, &(error));                                                        \
    } while (false)

// extra: name, value, … NULL, for both sides; or NULL.
struct weir_kafka *client_create(const char *bootstrap, const char *group,
                                 const char *const *extra);

struct counted_delivery {
    struct weir_delivery base;
    _Atomic uint32_t delivered_count;
    _Atomic uint32_t call_count;
    _Atomic uint32_t failed_count;
    struct weir_error error; // of the first failure
};

void counted_delivery_init(struct counted_delivery *delivery);

// create and init_transactions, which is asked again while it is retriable.
struct weir_producer *client_producer(struct weir_kafka *kafka, const char *transactional_id);

// Hands over one row of texts (either may be NULL); waits while the queue is full.
void client_produce(struct weir_producer *producer, const char *topic, int32_t partition,
                    const char *key, const char *value, struct counted_delivery *delivery);

// Takes what is there without waiting, until nothing is; the number of records.
uint32_t client_take_all(struct weir_consumer *consumer);

// Reads from where the consumer stands until `count` records were seen, handing each to `see`.
void client_read(struct weir_consumer *consumer, uint32_t count,
                 void (*see)(const struct weir_fetched *fetched, void *context), void *context);

#endif
