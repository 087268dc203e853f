// SPDX-License-Identifier: Apache-2.0
// kafka/client.h on librdkafka against one real broker: records in, rows out, the transaction with
// its offsets and metadata, and fencing. Questions are in test_client_questions.c, what a bad
// network does in test_client_network.c.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"
#include "tests/integration/client_util.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct weir_test_cluster *cluster;
static const char *bootstrap;
static struct weir_kafka *kafka;

static int start(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(NULL);
    bootstrap = weir_test_cluster_bootstrap(cluster);
    kafka = client_create(bootstrap, "client-group", NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    kafka->ops->destroy(kafka);
    weir_test_cluster_destroy(cluster);
    return 0;
}

static struct weir_consumer *consumer_on(const char *topic, int32_t partition_count, int64_t offset)
{
    struct weir_consumer *consumer = NULL;
    struct weir_error error;
    assert_ok(kafka->ops->consumer_create(kafka, &consumer, &error), &error);
    struct weir_partition_start starts[8];
    for (int32_t i = 0; i < partition_count; i++) {
        starts[i] = (struct weir_partition_start){topic, i, offset};
    }
    assert_ok(consumer->ops->assign(consumer, (uint32_t)partition_count, starts, &error), &error);
    return consumer;
}

// --- records in ----------------------------------------------------------------------------------

struct seen {
    uint32_t count;
    uint64_t partition_counts[8];
    int64_t next_offsets[8];
};

static void see_order(const struct weir_fetched *fetched, void *context)
{
    struct seen *seen = context;
    uint32_t idx = fetched->partition_idx;
    assert_int_equal(fetched->record.partition, idx);
    assert_true(fetched->record.offset >= seen->next_offsets[idx]);
    seen->next_offsets[idx] = fetched->record.offset + 1;
    seen->partition_counts[idx]++;
    seen->count++;
}

static void test_consumer_reads_every_partition_in_order(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "order", 3, NULL);
    struct weir_test_record records[300];
    for (int i = 0; i < 300; i++) {
        records[i] = weir_test_record_of(i % 3, "k", "v");
    }
    weir_test_produce(bootstrap, "order", records, 300);
    struct weir_consumer *consumer = consumer_on("order", 3, 0);
    struct seen seen = {0};
    client_read(consumer, 300, see_order, &seen);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen.partition_counts[i], 100);
    }
    // Assigned again from the middle: nothing of the first assignment comes through.
    const struct weir_partition_start start_at = {"order", 1, 40};
    struct weir_error error;
    assert_ok(consumer->ops->assign(consumer, 1, &start_at, &error), &error);
    struct weir_fetched fetched[64];
    uint32_t count = 0;
    while (count == 0) {
        assert_ok(consumer->ops->fetch(consumer, 1, 1000, fetched, &count, &error), &error);
    }
    assert_int_equal(fetched[0].kind, WEIR_FETCH_RECORD);
    assert_int_equal(fetched[0].partition_idx, 0);
    assert_int_equal(fetched[0].record.partition, 1);
    assert_int_equal(fetched[0].record.offset, 40);
    consumer->ops->destroy(consumer); // with a record that was not released
}

static void see_bytes(const struct weir_fetched *fetched, void *context)
{
    (void)context;
    const struct weir_record *record = &fetched->record;
    assert_string_equal(record->topic, "bytes");
    switch (record->offset) {
    case 0: // ordinary, with headers
        assert_true(weir_view_equal(record->key, weir_view_of("key")));
        assert_true(weir_view_equal(record->value, weir_view_of("value")));
        assert_int_equal(record->timestamp_ms, 1234567890123);
        break;
    case 1: // null key, empty value
        assert_null(record->key.data);
        assert_non_null(record->value.data);
        assert_int_equal(record->value.size_bytes, 0);
        break;
    case 2: // empty key, tombstone
        assert_non_null(record->key.data);
        assert_int_equal(record->key.size_bytes, 0);
        assert_null(record->value.data);
        break;
    default:
        fail();
    }
    struct weir_view value;
    struct weir_header header;
    bool has_headers = record->offset == 0;
    assert_int_equal(record->ops->header_last(record, "name", &value), has_headers);
    assert_int_equal(record->ops->header_at(record, 0, &header), has_headers);
    if (has_headers) {
        assert_true(weir_view_equal(value, weir_view_of("second")));
        assert_string_equal(header.name, "name");
        assert_true(weir_view_equal(header.value, weir_view_of("first")));
        assert_true(record->ops->header_at(record, 1, &header));
        assert_true(weir_view_equal(header.value, weir_view_of("second")));
        assert_true(record->ops->header_at(record, 2, &header));
        assert_string_equal(header.name, "null");
        assert_null(header.value.data);
        assert_false(record->ops->header_at(record, 3, &header));
        assert_false(record->ops->header_last(record, "other", &value));
        assert_true(record->ops->header_last(record, "null", &value));
        assert_null(value.data);
    }
}

static void test_null_and_empty_and_headers_survive_the_way_out_and_in(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "bytes", 1, NULL);
    struct weir_producer *producer = client_producer(kafka, NULL);
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    const struct weir_header headers[] = {
        {"name", {"first", 5}}, {"name", {"second", 6}}, {"null", {NULL, 0}}};
    const struct weir_message messages[] = {
        {.topic = "bytes",
         .timestamp_ms = 1234567890123,
         .key = {"key", 3},
         .value = {"value", 5},
         .header_count = 3,
         .headers = headers},
        {.topic = "bytes", .key = {NULL, 0}, .value = {"", 0}},
        {.topic = "bytes", .key = {"", 0}, .value = {NULL, 0}},
    };
    struct weir_error error;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(producer->ops->produce(producer, &messages[i], &delivery.base, &error),
                         WEIR_PRODUCE_TAKEN);
    }
    WEIR_TEST_WAIT_UNTIL(atomic_load(&delivery.delivered_count) == 3, 10000);
    producer->ops->destroy(producer);
    struct weir_consumer *consumer = consumer_on("bytes", 1, 0);
    client_read(consumer, 3, see_bytes, NULL);
    consumer->ops->destroy(consumer);
}

struct position {
    int64_t end; // as the last end of the partition told; -1: none yet
    uint32_t record_count;
};

static void read_once(struct weir_consumer *consumer, struct position *position)
{
    struct weir_fetched fetched[64];
    struct weir_error error;
    uint32_t count = 0;
    assert_ok(consumer->ops->fetch(consumer, 64, 100, fetched, &count, &error), &error);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_not_equal(fetched[i].kind, WEIR_FETCH_ERROR);
        if (fetched[i].kind == WEIR_FETCH_END) {
            position->end = fetched[i].record.offset;
        } else {
            position->record_count++;
        }
    }
    consumer->ops->release(consumer);
}

static void read_to_end(struct weir_consumer *consumer, struct position *position, int64_t end)
{
    int64_t deadline_ms = weir_test_now_ms() + 10000;
    while (position->end != end && weir_test_now_ms() < deadline_ms) {
        read_once(consumer, position);
    }
    assert_int_equal(position->end, end);
}

static void test_end_is_behind_markers_and_before_open_transactions(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "ends", 1, NULL);
    const struct weir_test_record record = weir_test_record_of(0, "k", "v");
    weir_test_produce_transaction(bootstrap, "ends-t", "ends", &record, 1, true);
    weir_test_produce_transaction(bootstrap, "ends-t", "ends", &record, 1, false);
    struct weir_consumer *consumer = consumer_on("ends", 1, 0);
    struct position position = {.end = -1};
    assert_int_equal(consumer->ops->high_watermark(consumer, 0), -1);
    read_to_end(consumer, &position, 4); // two rows, two markers
    assert_int_equal(position.record_count, 1);
    assert_int_equal(consumer->ops->high_watermark(consumer, 0), 4);

    // The end is not told again, but the high watermark moves away from it.
    struct weir_test_transaction *open = weir_test_transaction_begin(bootstrap, "ends-u", 60000);
    weir_test_transaction_add(open, "ends", &record, 1);
    int64_t deadline_ms = weir_test_now_ms() + 10000;
    while (consumer->ops->high_watermark(consumer, 0) != 5 && weir_test_now_ms() < deadline_ms) {
        read_once(consumer, &position);
    }
    assert_int_equal(consumer->ops->high_watermark(consumer, 0), 5);
    assert_int_equal(position.record_count, 1);
    assert_int_equal(position.end, 4);
    weir_test_transaction_end(open, true);
    read_to_end(consumer, &position, 6);
    assert_int_equal(position.record_count, 2);
    consumer->ops->destroy(consumer);
}

static void test_fetch_reports_offset_that_is_gone_as_error_of_the_partition(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "gone", 1, NULL);
    struct weir_test_record records[10];
    for (int i = 0; i < 10; i++) {
        records[i] = weir_test_record_of(0, "k", "v");
    }
    weir_test_produce(bootstrap, "gone", records, 10);
    weir_test_topic_delete_records(bootstrap, "gone", 0, 5);
    static const int64_t starts[] = {2, 11}; // below the first record, beyond the end
    for (int i = 0; i < 2; i++) {
        struct weir_consumer *consumer = consumer_on("gone", 1, starts[i]);
        struct weir_fetched fetched[64];
        struct weir_error error;
        uint32_t count = 0;
        for (int tries = 0; count == 0 && tries < 300; tries++) {
            assert_ok(consumer->ops->fetch(consumer, 64, 100, fetched, &count, &error), &error);
        }
        assert_int_equal(count, 1);
        assert_int_equal(fetched[0].kind, WEIR_FETCH_ERROR);
        assert_int_equal(fetched[0].error->action, WEIR_ACTION_RECOVER);
        assert_non_null(strstr(fetched[0].error->text, "gone"));
        consumer->ops->destroy(consumer);
    }
}

static void test_descriptor_wakes_when_records_come_in(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "wake", 1, NULL);
    struct weir_consumer *consumer = consumer_on("wake", 1, 0);
    struct position position = {.end = -1};
    read_to_end(consumer, &position, 0);
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    consumer->ops->wake_on_data(consumer, descriptor);
    struct pollfd wait = {.fd = descriptor, .events = POLLIN};
    const struct weir_test_record record = weir_test_record_of(0, "k", "v");
    for (int round = 0; round < 5; round++) {
        assert_int_equal(client_take_all(consumer), 0);
        weir_test_produce(bootstrap, "wake", &record, 1);
        // As a task does: sleep on the descriptor, empty it, then the queue. The end of the
        // partition wakes too.
        uint32_t record_count = 0;
        for (int wakes = 0; record_count == 0 && wakes < 10; wakes++) {
            uint64_t value;
            assert_int_equal(poll(&wait, 1, 10000), 1);
            assert_int_equal(read(descriptor, &value, sizeof(value)), sizeof(value));
            record_count = client_take_all(consumer);
        }
        assert_int_equal(record_count, 1);
    }
    consumer->ops->destroy(consumer);
    close(descriptor);
}

// --- rows out ------------------------------------------------------------------------------------

static void test_transaction_commits_rows_offsets_and_metadata_together(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "in", 2, NULL);
    weir_test_topic_create(bootstrap, "out", 2, NULL);
    struct weir_producer *producer = client_producer(kafka, "together");
    struct counted_delivery deliveries[2];
    counted_delivery_init(&deliveries[0]);
    counted_delivery_init(&deliveries[1]);
    struct weir_error error;
    assert_ok(producer->ops->begin(producer, &error), &error);
    for (int i = 0; i < 1000; i++) {
        client_produce(producer, "out", i % 2, "k", "v", &deliveries[i % 2]);
    }
    WEIR_TEST_WAIT_UNTIL(atomic_load(&deliveries[0].delivered_count) == 500 &&
                             atomic_load(&deliveries[1].delivered_count) == 500,
                         10000);
    assert_true(atomic_load(&deliveries[0].call_count) < 100); // in runs
    const struct weir_offset_commit offsets[] = {{"in", 0, 17, "w1:1:abc:def"},
                                                 {"in", 1, 4, "w1:1:abc:def"}};
    assert_ok(producer->ops->send_offsets(producer, 2, offsets, 5000, &error), &error);

    const struct weir_topic_partition partitions[] = {{"in", 0}, {"in", 1}};
    struct weir_committed committed[2];
    ASSERT_ANSWERED(
        kafka->ops->committed(kafka, WEIR_READ_UNCOMMITTED, 2, partitions, committed, 5000, &error),
        error);
    assert_false(committed[0].has_offset);
    // read_committed waits for the pending offsets until its time is over.
    assert_int_equal(
        kafka->ops->committed(kafka, WEIR_READ_COMMITTED, 2, partitions, committed, 300, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);

    assert_ok(producer->ops->commit(producer, 10000, &error), &error);
    ASSERT_ANSWERED(
        kafka->ops->committed(kafka, WEIR_READ_COMMITTED, 2, partitions, committed, 5000, &error),
        error);
    assert_true(committed[0].has_offset && committed[1].has_offset);
    assert_int_equal(committed[0].offset, 17);
    assert_int_equal(committed[1].offset, 4);
    assert_string_equal(committed[0].metadata, "w1:1:abc:def");
    assert_false(producer->ops->is_used_up(producer));
    assert_false(producer->ops->is_offset_commit_doubtful(producer));
    producer->ops->destroy(producer);
    struct weir_test_log *log = weir_test_read(bootstrap, "out", NULL);
    assert_int_equal(log->record_count, 1000);
    weir_test_log_destroy(log);
}

static void test_abort_and_destroy_leave_nothing_and_never_call_back(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "dropped", 1, NULL);
    struct weir_error error;
    for (int round = 0; round < 20; round++) {
        struct weir_producer *producer = client_producer(kafka, "dropped");
        struct counted_delivery delivery;
        counted_delivery_init(&delivery);
        assert_ok(producer->ops->begin(producer, &error), &error);
        for (int i = 0; i < 10 * round; i++) {
            client_produce(producer, "dropped", 0, "k", "v", &delivery);
        }
        if (round % 2 == 1) {
            assert_ok(producer->ops->abort(producer, 10000, &error), &error);
        }
        producer->ops->destroy(producer); // at once: librdkafka 2.0.2 dislikes that
        // The memory of the delivery may go now: a late callback would write into it.
        memset(&delivery, 0, sizeof(delivery));
    }
    struct weir_producer *plain = client_producer(kafka, NULL);
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    weir_test_topic_create(bootstrap, "plain", 1, NULL);
    for (int i = 0; i < 100; i++) {
        client_produce(plain, "plain", 0, "k", "v", &delivery);
    }
    plain->ops->destroy(plain);
    struct weir_test_log *log = weir_test_read(bootstrap, "dropped", NULL);
    assert_int_equal(log->record_count, 0);
    weir_test_log_destroy(log);
}

static void test_newer_owner_fences_produce_and_commit(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "fenced", 1, NULL);
    struct weir_error error;
    struct weir_producer *old = client_producer(kafka, "fenced");
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    assert_ok(old->ops->begin(old, &error), &error);
    client_produce(old, "fenced", 0, "k", "old", &delivery);
    WEIR_TEST_WAIT_UNTIL(atomic_load(&delivery.delivered_count) == 1, 10000);

    struct weir_producer *newer = client_producer(kafka, "fenced");
    assert_ok(newer->ops->begin(newer, &error), &error);
    client_produce(newer, "fenced", 0, "k", "new", &delivery);

    enum weir_status status;
    do { // a commit's time-out is retriable
        status = old->ops->commit(old, 10000, &error);
    } while (status != WEIR_OK && error.action == WEIR_ACTION_RETRY);
    assert_int_equal(status, WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    assert_non_null(strstr(error.text, "fenced"));
    const struct weir_message message = {.topic = "fenced", .value = {"x", 1}};
    assert_int_equal(old->ops->produce(old, &message, &delivery.base, &error), WEIR_PRODUCE_FAILED);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    old->ops->destroy(old);
    assert_ok(newer->ops->commit(newer, 10000, &error), &error);
    newer->ops->destroy(newer);
    struct weir_test_log *log = weir_test_read(bootstrap, "fenced", NULL);
    assert_int_equal(log->record_count, 1);
    assert_true(weir_test_value_is(&log->partitions[0].records[0], "new"));
    weir_test_log_destroy(log);
}

static void test_broker_that_refuses_a_row_fails_its_delivery(void **state)
{
    (void)state;
    static const char *const settings[] = {"max.message.bytes", "2000", NULL};
    weir_test_topic_create(bootstrap, "small", 1, settings);
    struct weir_producer *producer = client_producer(kafka, "small");
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    struct weir_error error;
    assert_ok(producer->ops->begin(producer, &error), &error);
    char large[4000];
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    client_produce(producer, "small", 0, "k", large, &delivery);
    WEIR_TEST_WAIT_UNTIL(atomic_load(&delivery.failed_count) == 1, 10000);
    assert_int_equal(delivery.error.action, WEIR_ACTION_FAIL);
    assert_int_equal(delivery.error.domain, WEIR_DOMAIN_DATA);
    assert_non_null(strstr(delivery.error.text, "topic 'small', partition 0"));
    assert_null(strstr(delivery.error.text, "xxxx")); // no row data
    // Then the transaction cannot go on.
    assert_int_equal(producer->ops->commit(producer, 10000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FAIL);
    producer->ops->destroy(producer);
}

static void test_full_queue_is_an_ordinary_result(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "full", 1, NULL);
    static const char *const few[] = {"queue.buffering.max.messages", "10", "linger.ms", "1000",
                                      NULL};
    struct weir_kafka *narrow = client_create(bootstrap, "narrow", few);
    struct weir_producer *producer = client_producer(narrow, "full");
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    struct weir_error error;
    assert_ok(producer->ops->begin(producer, &error), &error);
    const struct weir_message message = {.topic = "full", .value = {"x", 1}};
    for (int i = 0; i < 10; i++) {
        assert_int_equal(producer->ops->produce(producer, &message, &delivery.base, &error),
                         WEIR_PRODUCE_TAKEN);
    }
    assert_int_equal(producer->ops->produce(producer, &message, &delivery.base, &error),
                     WEIR_PRODUCE_FULL);
    WEIR_TEST_WAIT_UNTIL(atomic_load(&delivery.delivered_count) == 10, 10000);
    assert_int_equal(producer->ops->produce(producer, &message, &delivery.base, &error),
                     WEIR_PRODUCE_TAKEN);
    assert_ok(producer->ops->commit(producer, 10000, &error), &error);
    producer->ops->destroy(producer);
    narrow->ops->destroy(narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consumer_reads_every_partition_in_order),
        cmocka_unit_test(test_null_and_empty_and_headers_survive_the_way_out_and_in),
        cmocka_unit_test(test_end_is_behind_markers_and_before_open_transactions),
        cmocka_unit_test(test_fetch_reports_offset_that_is_gone_as_error_of_the_partition),
        cmocka_unit_test(test_descriptor_wakes_when_records_come_in),
        cmocka_unit_test(test_transaction_commits_rows_offsets_and_metadata_together),
        cmocka_unit_test(test_abort_and_destroy_leave_nothing_and_never_call_back),
        cmocka_unit_test(test_newer_owner_fences_produce_and_commit),
        cmocka_unit_test(test_broker_that_refuses_a_row_fails_its_delivery),
        cmocka_unit_test(test_full_queue_is_an_ordinary_result),
    };
    return cmocka_run_group_tests_name("integration/test_client", tests, start, stop);
}
