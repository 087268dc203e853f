// SPDX-License-Identifier: Apache-2.0
// Writes records: see the header. Delivery reports are counted by a callback that flush serves; a
// record that was not delivered fails the test from the thread that flushes, never from the
// callback.
#include "tests/harness/producer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/base.h"
#include "tests/harness/client.h"

enum { DEADLINE_MS = 60000, MARKER_WAIT_MS = 300 };

// Where the last record that was acknowledged lies.
struct tail {
    struct tail *next;
    char *topic;
    int32_t partition;
    int64_t offset;
};

// Lives as long as its handle: reports may come until that is destroyed.
struct deliveries {
    size_t done;
    rd_kafka_resp_err_t failure; // the first
    struct tail *tails;
};

struct weir_test_transaction {
    rd_kafka_t *handle;
    char *bootstrap;
    char *transactional_id;
    struct deliveries deliveries;
};

static void note_tail(struct deliveries *deliveries, const rd_kafka_message_t *message)
{
    const char *topic = rd_kafka_topic_name(message->rkt);
    struct tail *tail = deliveries->tails;
    while (tail != NULL &&
           (tail->partition != message->partition || strcmp(tail->topic, topic) != 0)) {
        tail = tail->next;
    }
    if (tail == NULL) {
        tail = weir_test_alloc(sizeof(*tail));
        tail->topic = weir_test_format("%s", topic);
        tail->partition = message->partition;
        tail->next = deliveries->tails;
        deliveries->tails = tail;
    }
    tail->offset = message->offset > tail->offset ? message->offset : tail->offset;
}

static void free_tails(struct deliveries *deliveries)
{
    while (deliveries->tails != NULL) {
        struct tail *tail = deliveries->tails;
        deliveries->tails = tail->next;
        free(tail->topic);
        free(tail);
    }
}

static void delivered(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    (void)handle;
    struct deliveries *deliveries = opaque;
    deliveries->done++;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        note_tail(deliveries, message);
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR &&
        deliveries->failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
        deliveries->failure = message->err;
    }
}

static rd_kafka_headers_t *make_headers(const struct weir_test_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct weir_test_header *header = &record->headers[i];
        rd_kafka_header_add(headers, header->name, -1, header->value,
                            header->value != NULL ? (ssize_t)header->value_bytes : 0);
    }
    return headers;
}

static rd_kafka_resp_err_t send_one(rd_kafka_t *handle, const char *topic,
                                    const struct weir_test_record *record)
{
    rd_kafka_vu_t arguments[8] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = record->partition},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_KEY,
         .u.mem = {.ptr = (void *)(uintptr_t)record->key, .size = record->key_bytes}},
        {.vtype = RD_KAFKA_VTYPE_VALUE,
         .u.mem = {.ptr = (void *)(uintptr_t)record->value, .size = record->value_bytes}},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = record->timestamp_ms},
    };
    size_t argument_count = 6;
    rd_kafka_headers_t *headers = NULL;
    if (record->header_count > 0) {
        headers = make_headers(record);
        arguments[argument_count].vtype = RD_KAFKA_VTYPE_HEADERS;
        arguments[argument_count++].u.headers = headers;
    }
    rd_kafka_error_t *error = rd_kafka_produceva(handle, arguments, argument_count);
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    if (error != NULL) {
        rd_kafka_error_destroy(error);
        if (headers != NULL) {
            rd_kafka_headers_destroy(headers); // the library took them only on success
        }
    }
    return code;
}

static void send_all(rd_kafka_t *handle, struct deliveries *deliveries, const char *topic,
                     const struct weir_test_record *records, size_t record_count)
{
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    size_t done_before = deliveries->done;
    for (size_t i = 0; i < record_count; i++) {
        rd_kafka_resp_err_t code;
        while ((code = send_one(handle, topic, &records[i])) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
               weir_test_now_ms() < deadline_ms) {
            rd_kafka_poll(handle, 10);
        }
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            WEIR_TEST_FAIL("record %zu of %s: %s", i, topic, rd_kafka_err2str(code));
        }
    }
    rd_kafka_flush(handle, DEADLINE_MS);
    size_t done = deliveries->done - done_before;
    if (done != record_count || deliveries->failure != RD_KAFKA_RESP_ERR_NO_ERROR) {
        WEIR_TEST_FAIL("%zu of %zu records of %s were acknowledged, first error: %s", done,
                       record_count, topic, rd_kafka_err2name(deliveries->failure));
    }
}

void weir_test_produce(const char *bootstrap, const char *topic,
                       const struct weir_test_record *records, size_t record_count)
{
    struct deliveries *deliveries = weir_test_alloc(sizeof(*deliveries));
    const char *settings[] = {"enable.idempotence",
                              "true",
                              "linger.ms",
                              "5",
                              "partitioner",
                              "murmur2_random",
                              "message.timeout.ms",
                              "60000",
                              "queue.buffering.max.messages",
                              "500000",
                              "message.max.bytes",
                              "100000000", // the topic decides
                              NULL};
    rd_kafka_t *handle =
        weir_test_client_create(RD_KAFKA_PRODUCER, bootstrap, settings, delivered, deliveries);
    send_all(handle, deliveries, topic, records, record_count);
    rd_kafka_destroy(handle);
    free_tails(deliveries);
    free(deliveries);
}

// Takes the error. Fails the test if there is one.
static void check(rd_kafka_error_t *error, const char *what)
{
    if (error != NULL) {
        WEIR_TEST_FAIL("%s: %s", what, rd_kafka_error_string(error));
    }
}

// True: the call has to be made again. Takes the error.
static bool is_again(rd_kafka_error_t *error, int64_t deadline_ms, const char *what)
{
    if (error != NULL && rd_kafka_error_is_retriable(error) && weir_test_now_ms() < deadline_ms) {
        rd_kafka_error_destroy(error);
        weir_test_sleep_ms(20);
        return true;
    }
    check(error, what);
    return false;
}

// Fences whoever had the id and waits until his last transaction is decided.
static rd_kafka_t *create_owner(const char *bootstrap, const char *transactional_id, int timeout_ms,
                                struct deliveries *deliveries)
{
    char timeout[16];
    snprintf(timeout, sizeof(timeout), "%d", timeout_ms);
    const char *settings[] = {"transactional.id",
                              transactional_id,
                              "transaction.timeout.ms",
                              timeout,
                              "message.timeout.ms",
                              timeout,
                              "socket.timeout.ms",
                              timeout,
                              "partitioner",
                              "murmur2_random",
                              NULL};
    rd_kafka_t *handle =
        weir_test_client_create(RD_KAFKA_PRODUCER, bootstrap, settings, delivered, deliveries);
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    while (is_again(rd_kafka_init_transactions(handle, 10000), deadline_ms, "init_transactions")) {
    }
    return handle;
}

struct weir_test_transaction *
weir_test_transaction_begin(const char *bootstrap, const char *transactional_id, int timeout_ms)
{
    struct weir_test_transaction *transaction = weir_test_alloc(sizeof(*transaction));
    transaction->bootstrap = weir_test_format("%s", bootstrap);
    transaction->transactional_id = weir_test_format("%s", transactional_id);
    transaction->handle =
        create_owner(bootstrap, transactional_id, timeout_ms, &transaction->deliveries);
    check(rd_kafka_begin_transaction(transaction->handle), "begin_transaction");
    return transaction;
}

void weir_test_transaction_add(struct weir_test_transaction *transaction, const char *topic,
                               const struct weir_test_record *records, size_t record_count)
{
    send_all(transaction->handle, &transaction->deliveries, topic, records, record_count);
}

void weir_test_transaction_add_offset(struct weir_test_transaction *transaction, const char *group,
                                      const char *topic, int32_t partition, int64_t offset,
                                      const char *metadata)
{
    const char *settings[] = {"group.id", group, NULL};
    rd_kafka_t *consumer =
        weir_test_client_create(RD_KAFKA_CONSUMER, transaction->bootstrap, settings, NULL, NULL);
    rd_kafka_consumer_group_metadata_t *membership = rd_kafka_consumer_group_metadata(consumer);
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *entry =
        rd_kafka_topic_partition_list_add(offsets, topic, partition);
    entry->offset = offset;
    if (metadata != NULL) {
        entry->metadata = weir_test_format("%s", metadata); // the list frees it
        entry->metadata_size = strlen(metadata);
    }
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    while (is_again(
        rd_kafka_send_offsets_to_transaction(transaction->handle, offsets, membership, 10000),
        deadline_ms, "send_offsets_to_transaction")) {
    }
    rd_kafka_topic_partition_list_destroy(offsets);
    rd_kafka_consumer_group_metadata_destroy(membership);
    rd_kafka_destroy(consumer);
}

static void free_transaction(struct weir_test_transaction *transaction)
{
    free_tails(&transaction->deliveries);
    free(transaction->bootstrap);
    free(transaction->transactional_id);
    free(transaction);
}

void weir_test_transaction_leave(struct weir_test_transaction *transaction)
{
    rd_kafka_destroy(transaction->handle);
    free_transaction(transaction);
}

// The last stable offset has passed all its rows: surely decided. Else perhaps another transaction
// holds it back.
static bool is_seen_decided(const struct weir_test_transaction *transaction)
{
    const char *settings[] = {"group.id", "weir-test-harness", NULL};
    rd_kafka_t *consumer =
        weir_test_client_create(RD_KAFKA_CONSUMER, transaction->bootstrap, settings, NULL, NULL);
    int64_t deadline_ms = weir_test_now_ms() + MARKER_WAIT_MS;
    bool is_decided = true;
    for (struct tail *tail = transaction->deliveries.tails; tail != NULL; tail = tail->next) {
        int64_t first;
        int64_t end;
        while (weir_test_client_offsets(consumer, tail->topic, tail->partition, &first, &end),
               end <= tail->offset && weir_test_now_ms() < deadline_ms) {
            weir_test_sleep_ms(5);
        }
        is_decided = is_decided && end > tail->offset;
    }
    rd_kafka_destroy(consumer);
    return is_decided;
}

void weir_test_transaction_end(struct weir_test_transaction *transaction, bool is_committed)
{
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    while (is_again(is_committed ? rd_kafka_commit_transaction(transaction->handle, 10000)
                                 : rd_kafka_abort_transaction(transaction->handle, 10000),
                    deadline_ms, is_committed ? "commit_transaction" : "abort_transaction")) {
    }
    rd_kafka_destroy(transaction->handle);
    if (!is_seen_decided(transaction)) {
        // The coordinator hands the id on only when all markers are written.
        rd_kafka_destroy(create_owner(transaction->bootstrap, transaction->transactional_id,
                                      DEADLINE_MS, &transaction->deliveries));
    }
    free_transaction(transaction);
}

void weir_test_produce_transaction(const char *bootstrap, const char *transactional_id,
                                   const char *topic, const struct weir_test_record *records,
                                   size_t record_count, bool is_committed)
{
    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(bootstrap, transactional_id, DEADLINE_MS);
    weir_test_transaction_add(transaction, topic, records, record_count);
    weir_test_transaction_end(transaction, is_committed);
}
