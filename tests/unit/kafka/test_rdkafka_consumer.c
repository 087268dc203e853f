// SPDX-License-Identifier: Apache-2.0
// The consumer against librdkafka's mock cluster: many partitions of several topics come with the
// index they were assigned with, whatever their order, and after every new assignment.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPIC_COUNT = 3, PARTITION_COUNT = 20, ALL_COUNT = TOPIC_COUNT * PARTITION_COUNT };

static const char *const topics[TOPIC_COUNT] = {"a", "b", "c"};

struct fixture {
    rd_kafka_t *owner; // of the mock cluster; fills it too
    rd_kafka_mock_cluster_t *mock;
    struct weir_kafka *kafka;
    struct weir_consumer *consumer;
};

// Ten records a partition, each with "<topic>-<partition>" as its value.
static void fill(struct fixture *fixture)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "0", text, sizeof(text));
    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(fixture->mock),
                      text, sizeof(text));
    rd_kafka_t *writer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    assert_non_null(writer);
    for (int i = 0; i < ALL_COUNT * 10; i++) {
        const char *topic = topics[i % TOPIC_COUNT];
        int32_t partition = i / TOPIC_COUNT % PARTITION_COUNT;
        char value[16];
        int length = snprintf(value, sizeof(value), "%s-%d", topic, (int)partition);
        assert_int_equal(rd_kafka_producev(writer, RD_KAFKA_V_TOPIC(topic),
                                           RD_KAFKA_V_PARTITION(partition),
                                           RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                           RD_KAFKA_V_VALUE(value, (size_t)length), RD_KAFKA_V_END),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(rd_kafka_flush(writer, 10000), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(writer);
}

static int start(void **state)
{
    static struct fixture fixture;
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "0", text, sizeof(text));
    fixture.owner = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    assert_non_null(fixture.owner);
    fixture.mock = rd_kafka_mock_cluster_new(fixture.owner, 2);
    assert_non_null(fixture.mock);
    for (int i = 0; i < TOPIC_COUNT; i++) {
        rd_kafka_mock_topic_create(fixture.mock, topics[i], PARTITION_COUNT, 1);
    }
    fill(&fixture);
    const struct weir_property properties[] = {
        {"bootstrap.servers", rd_kafka_mock_cluster_bootstraps(fixture.mock)}, {"log_level", "0"}};
    const struct weir_kafka_config config = {
        .group_id = "job", .property_count = 2, .properties = properties};
    struct weir_error error;
    assert_int_equal(weir_rdkafka_create(&config, &fixture.kafka, &error), WEIR_OK);
    assert_int_equal(fixture.kafka->ops->consumer_create(fixture.kafka, &fixture.consumer, &error),
                     WEIR_OK);
    *state = &fixture;
    return 0;
}

static int stop(void **state)
{
    struct fixture *fixture = *state;
    fixture->consumer->ops->destroy(fixture->consumer);
    fixture->kafka->ops->destroy(fixture->kafka);
    rd_kafka_mock_cluster_destroy(fixture->mock);
    rd_kafka_destroy(fixture->owner);
    return 0;
}

// Partition i of the assignment is number (i * step) mod all.
static void assign(struct fixture *fixture, uint32_t count, uint32_t step, int64_t offset,
                   struct weir_partition_start *starts)
{
    struct weir_error error;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i * step % ALL_COUNT;
        starts[i] = (struct weir_partition_start){topics[at % TOPIC_COUNT],
                                                  (int32_t)(at / TOPIC_COUNT), offset};
    }
    assert_int_equal(fixture->consumer->ops->assign(fixture->consumer, count, starts, &error),
                     WEIR_OK);
}

static void check_record(const struct weir_fetched *fetched,
                         const struct weir_partition_start *starts, uint32_t count)
{
    assert_true(fetched->partition_idx < count);
    const struct weir_partition_start *start_at = &starts[fetched->partition_idx];
    assert_ptr_equal(fetched->record.topic, start_at->topic); // the caller's own pointer
    assert_int_equal(fetched->record.partition, start_at->partition);
    char value[16];
    snprintf(value, sizeof(value), "%s-%d", start_at->topic, (int)start_at->partition);
    assert_true(weir_view_equal(fetched->record.value, weir_view_of(value)));
}

// Reads until each of the partitions is at its end; the number of records.
static uint32_t read_all(struct fixture *fixture, const struct weir_partition_start *starts,
                         uint32_t count)
{
    bool is_ended[ALL_COUNT] = {false};
    uint32_t ended_count = 0;
    uint32_t record_count = 0;
    struct weir_fetched fetched[100];
    struct weir_error error;
    for (int tries = 0; ended_count < count && tries < 1000; tries++) {
        uint32_t fetched_count = 0;
        assert_int_equal(fixture->consumer->ops->fetch(fixture->consumer, 100, 100, fetched,
                                                       &fetched_count, &error),
                         WEIR_OK);
        for (uint32_t i = 0; i < fetched_count; i++) {
            if (fetched[i].kind == WEIR_FETCH_RECORD) {
                check_record(&fetched[i], starts, count);
                record_count++;
            } else {
                assert_int_equal(fetched[i].kind, WEIR_FETCH_END);
                assert_int_equal(fetched[i].record.offset, 10);
                ended_count += is_ended[fetched[i].partition_idx] ? 0 : 1;
                is_ended[fetched[i].partition_idx] = true;
            }
        }
        if (tries % 3 == 0) { // several fetches may lie between releases
            fixture->consumer->ops->release(fixture->consumer);
        }
    }
    fixture->consumer->ops->release(fixture->consumer);
    assert_int_equal(ended_count, count);
    return record_count;
}

static void test_records_carry_the_index_of_their_assignment(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        uint32_t count;
        uint32_t step;
        int64_t offset;
        uint32_t record_count;
    } cases[] = {
        {ALL_COUNT, 1, 0, ALL_COUNT * 10},
        {ALL_COUNT, 7, 4, ALL_COUNT * 6},
        {1, 1, 9, 1},
        {5, 11, 0, 50},
        {ALL_COUNT, 1, 10, 0},
        {3, 1, 0, 30},
    };
    struct weir_partition_start starts[ALL_COUNT];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assign(fixture, cases[i].count, cases[i].step, cases[i].offset, starts);
        assert_int_equal(read_all(fixture, starts, cases[i].count), cases[i].record_count);
    }
}

static void test_nothing_is_fetched_without_partitions(void **state)
{
    struct fixture *fixture = *state;
    struct weir_partition_start starts[ALL_COUNT];
    struct weir_fetched fetched[8];
    struct weir_error error;
    uint32_t count = 1;
    assign(fixture, ALL_COUNT, 1, 0, starts);
    assign(fixture, 0, 1, 0, starts);
    assert_int_equal(
        fixture->consumer->ops->fetch(fixture->consumer, 8, 50, fetched, &count, &error), WEIR_OK);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records_carry_the_index_of_their_assignment, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_nothing_is_fetched_without_partitions, start, stop),
    };
    return cmocka_run_group_tests_name("kafka/rdkafka_consumer", tests, NULL, NULL);
}
