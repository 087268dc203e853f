// SPDX-License-Identifier: Apache-2.0
// The producer against librdkafka's mock cluster: what errors of brokers become at each call, and
// that deliveries are counted in runs.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "kafka/client.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <string.h>

enum { END_TXN = 26, ADD_PARTITIONS_TO_TXN = 24, TXN_OFFSET_COMMIT = 28, PRODUCE = 0 };

struct fixture {
    rd_kafka_t *mock_owner;
    rd_kafka_mock_cluster_t *mock;
    struct weir_kafka *kafka;
    struct weir_producer *producer; // transaction begun
};

struct counted {
    struct weir_delivery base;
    uint32_t delivered_count; // read after a commit, which waits for all deliveries
    uint32_t call_count;
    uint32_t failed_count;
    struct weir_error error;
};

static void on_delivered(struct weir_delivery *base, uint32_t count)
{
    struct counted *counted = (struct counted *)base;
    counted->delivered_count += count;
    counted->call_count++;
}

static void on_failed(struct weir_delivery *base, const struct weir_error *error)
{
    struct counted *counted = (struct counted *)base;
    counted->error = *error;
    counted->failed_count++;
}

static int start(void **state)
{
    static struct fixture fixture;
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "0", text, sizeof(text));
    fixture.mock_owner = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    assert_non_null(fixture.mock_owner);
    fixture.mock = rd_kafka_mock_cluster_new(fixture.mock_owner, 1);
    assert_non_null(fixture.mock);
    rd_kafka_mock_topic_create(fixture.mock, "out", 2, 1);
    rd_kafka_mock_topic_create(fixture.mock, "in", 2, 1);
    const struct weir_property properties[] = {
        {"bootstrap.servers", rd_kafka_mock_cluster_bootstraps(fixture.mock)}, {"log_level", "0"}};
    const struct weir_kafka_config config = {.group_id = "job",
                                             .property_count = 2,
                                             .properties = properties,
                                             .transaction_timeout_ms = 60000};
    struct weir_error error;
    assert_int_equal(weir_rdkafka_create(&config, &fixture.kafka, &error), WEIR_OK);
    assert_int_equal(
        fixture.kafka->ops->producer_create(fixture.kafka, "id", &fixture.producer, &error),
        WEIR_OK);
    assert_int_equal(fixture.producer->ops->init_transactions(fixture.producer, 10000, &error),
                     WEIR_OK);
    assert_int_equal(fixture.producer->ops->begin(fixture.producer, &error), WEIR_OK);
    *state = &fixture;
    return 0;
}

static int stop(void **state)
{
    struct fixture *fixture = *state;
    fixture->producer->ops->destroy(fixture->producer);
    fixture->kafka->ops->destroy(fixture->kafka);
    rd_kafka_mock_cluster_destroy(fixture->mock);
    rd_kafka_destroy(fixture->mock_owner);
    return 0;
}

static struct counted counted_new(void)
{
    return (struct counted){.base = {.delivered = on_delivered, .failed = on_failed}};
}

static void produce(struct fixture *fixture, uint32_t count, struct counted *counted)
{
    const struct weir_message message = {
        .topic = "out", .partition = 1, .key = {"k", 1}, .value = {"v", 1}};
    struct weir_error error;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(
            fixture->producer->ops->produce(fixture->producer, &message, &counted->base, &error),
            WEIR_PRODUCE_TAKEN);
    }
}

static void fail_next(struct fixture *fixture, int16_t api_key, size_t count,
                      rd_kafka_resp_err_t err)
{
    rd_kafka_resp_err_t errors[8];
    for (size_t i = 0; i < count; i++) {
        errors[i] = err;
    }
    rd_kafka_mock_push_request_errors_array(fixture->mock, api_key, count, errors);
}

static enum weir_status send_offsets(struct fixture *fixture, struct weir_error *error)
{
    const struct weir_offset_commit offset = {"in", 0, 7, "w1:1:a:b"};
    return fixture->producer->ops->send_offsets(fixture->producer, 1, &offset, 5000, error);
}

static void test_deliveries_are_counted_in_runs(void **state)
{
    struct fixture *fixture = *state;
    struct counted a = counted_new();
    struct counted b = counted_new();
    struct weir_error error;
    produce(fixture, 1000, &a);
    produce(fixture, 500, &b);
    produce(fixture, 500, &a);
    assert_int_equal(send_offsets(fixture, &error), WEIR_OK);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_OK);
    assert_int_equal(a.delivered_count, 1500);
    assert_int_equal(b.delivered_count, 500);
    assert_int_equal(a.failed_count + b.failed_count, 0);
    assert_true(a.call_count <= 50 && b.call_count <= 50);
    assert_false(fixture->producer->ops->is_used_up(fixture->producer));
}

static void test_commit_goes_on_after_answers_that_say_later(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    fail_next(fixture, ADD_PARTITIONS_TO_TXN, 2, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS);
    produce(fixture, 1, &counted);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_OK);
    assert_int_equal(counted.delivered_count, 1);
    // What was answered is not under way any more, and is asked again harmlessly.
    assert_false(fixture->producer->ops->is_used_up(fixture->producer));
}

static void test_commit_goes_on_after_a_coordinator_that_moves(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    produce(fixture, 1, &counted);
    fail_next(fixture, END_TXN, 1, RD_KAFKA_RESP_ERR_NOT_COORDINATOR);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_OK);
    assert_int_equal(counted.delivered_count, 1);
}

static void test_commit_fenced_is_fatal_and_stays(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    produce(fixture, 1, &counted);
    fail_next(fixture, END_TXN, 1, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    assert_non_null(strstr(error.text, "transactional id 'id'"));
    const struct weir_message message = {.topic = "out", .value = {"v", 1}};
    assert_int_equal(
        fixture->producer->ops->produce(fixture->producer, &message, &counted.base, &error),
        WEIR_PRODUCE_FAILED);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    assert_int_equal(fixture->producer->ops->begin(fixture->producer, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
}

static void test_offsets_that_are_refused_lose_the_epoch(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    produce(fixture, 1, &counted);
    fail_next(fixture, TXN_OFFSET_COMMIT, 1, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
    assert_int_equal(send_offsets(fixture, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_int_equal(fixture->producer->ops->abort(fixture->producer, 10000, &error), WEIR_OK);
    // After the abort the handle works again.
    assert_int_equal(fixture->producer->ops->begin(fixture->producer, &error), WEIR_OK);
    produce(fixture, 1, &counted);
    assert_int_equal(send_offsets(fixture, &error), WEIR_OK);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_OK);
    // The first row was delivered, or thrown away by the abort.
    assert_int_equal(counted.delivered_count + counted.failed_count, 2);
}

static void test_rows_that_are_refused_fail_their_delivery_once_a_run(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    produce(fixture, 100, &counted);
    fail_next(fixture, PRODUCE, 8, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FAIL);
    assert_int_equal(fixture->producer->ops->abort(fixture->producer, 10000, &error), WEIR_OK);
    assert_true(counted.failed_count >= 1 && counted.failed_count < 10);
    assert_int_equal(counted.error.action, WEIR_ACTION_FAIL);
    assert_int_equal(counted.error.domain, WEIR_DOMAIN_DATA);
    assert_non_null(strstr(counted.error.text, "topic 'out', partition 1"));
}

static void test_partition_that_is_not_there_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    produce(fixture, 1, &counted);
    assert_int_equal(fixture->producer->ops->commit(fixture->producer, 10000, &error), WEIR_OK);
    assert_int_equal(fixture->producer->ops->begin(fixture->producer, &error), WEIR_OK);
    const struct weir_message message = {.topic = "out", .partition = 9, .value = {"v", 1}};
    assert_int_equal(
        fixture->producer->ops->produce(fixture->producer, &message, &counted.base, &error),
        WEIR_PRODUCE_FAILED);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_non_null(strstr(error.text, "_UNKNOWN_PARTITION"));
}

static void test_cut_connection_uses_the_handle_up(void **state)
{
    struct fixture *fixture = *state;
    struct counted counted = counted_new();
    struct weir_error error;
    produce(fixture, 1, &counted);
    fail_next(fixture, TXN_OFFSET_COMMIT, 1, RD_KAFKA_RESP_ERR__TRANSPORT);
    send_offsets(fixture, &error); // may go on after the retry: that is the point
    assert_true(fixture->producer->ops->is_used_up(fixture->producer));
    assert_true(fixture->producer->ops->is_offset_commit_doubtful(fixture->producer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_deliveries_are_counted_in_runs, start, stop),
        cmocka_unit_test_setup_teardown(test_commit_goes_on_after_answers_that_say_later, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_commit_goes_on_after_a_coordinator_that_moves, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_commit_fenced_is_fatal_and_stays, start, stop),
        cmocka_unit_test_setup_teardown(test_offsets_that_are_refused_lose_the_epoch, start, stop),
        cmocka_unit_test_setup_teardown(test_rows_that_are_refused_fail_their_delivery_once_a_run,
                                        start, stop),
        cmocka_unit_test_setup_teardown(test_partition_that_is_not_there_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(test_cut_connection_uses_the_handle_up, start, stop),
    };
    return cmocka_run_group_tests_name("kafka/rdkafka_producer", tests, NULL, NULL);
}
