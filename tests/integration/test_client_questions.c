// SPDX-License-Identifier: Apache-2.0
// The questions of kafka/client.h against one real broker: the cluster, topics, offsets, records at
// an offset, settings.
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
#include "tests/harness/topic.h"
#include "tests/integration/client_util.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

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

static void test_topic_info_tells_existence_and_partitions(void **state)
{
    (void)state;
    struct weir_error error;
    struct weir_topic_info info;
    char id[64] = "";
    ASSERT_ANSWERED(kafka->ops->cluster_id(kafka, id, sizeof(id), 5000, &error), error);
    assert_true(strlen(id) > 10);
    ASSERT_ANSWERED(kafka->ops->topic_info(kafka, "made", &info, 5000, &error), error);
    assert_false(info.exists);
    ASSERT_ANSWERED(kafka->ops->create_topic(kafka, "made", 5, 1, 5000, &error), error);
    ASSERT_ANSWERED(kafka->ops->create_topic(kafka, "made", 5, 1, 5000, &error), error); // again
    WEIR_TEST_WAIT_UNTIL(
        kafka->ops->topic_info(kafka, "made", &info, 5000, &error) == WEIR_OK && info.exists, 5000);
    assert_string_equal(info.name, "made");
    assert_int_equal(info.partition_count, 5);
    // Topic ids are known to librdkafka from 2.3 on; a topic made anew has another one.
    int major = 0;
    int minor = 0;
    assert_int_equal(sscanf(weir_rdkafka_version(), "%d.%d", &major, &minor), 2);
    bool has_id = major > 2 || (major == 2 && minor >= 3);
    assert_int_equal(info.topic_id[0] != '\0', has_id);
    if (has_id) {
        struct weir_topic_info again;
        weir_test_topic_delete(bootstrap, "made");
        weir_test_topic_create(bootstrap, "made", 2, NULL);
        WEIR_TEST_WAIT_UNTIL(kafka->ops->topic_info(kafka, "made", &again, 5000, &error) ==
                                     WEIR_OK &&
                                 again.partition_count == 2,
                             5000);
        assert_string_not_equal(again.topic_id, info.topic_id);
    }
    assert_int_equal(kafka->ops->create_topic(kafka, "made-3", 1, 3, 5000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE); // one broker cannot hold three replicas
    assert_int_equal(kafka->ops->topic_info(kafka, "not/a/topic", &info, 5000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
}

static int64_t offset_of(const char *topic, enum weir_offset_query query, int64_t timestamp_ms)
{
    const struct weir_topic_partition partition = {topic, 0};
    int64_t offset = -1;
    struct weir_error error;
    ASSERT_ANSWERED(
        kafka->ops->offsets(kafka, query, timestamp_ms, 1, &partition, &offset, 5000, &error),
        error);
    return offset;
}

static void test_offsets_tell_begin_ends_and_timestamps(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "asked", 1, NULL);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_EARLIEST, 0), 0);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_LATEST, 0), 0);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_TIMESTAMP, 1000), 0);
    struct weir_test_record records[10];
    for (int i = 0; i < 10; i++) {
        records[i] = weir_test_record_of(0, "k", "v");
        records[i].timestamp_ms = 1000000 + i * 1000;
    }
    weir_test_produce(bootstrap, "asked", records, 10);
    weir_test_topic_delete_records(bootstrap, "asked", 0, 3);
    struct weir_test_transaction *open = weir_test_transaction_begin(bootstrap, "asked", 60000);
    weir_test_transaction_add(open, "asked", records, 1);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_EARLIEST, 0), 3);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_LATEST, 0), 11);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_STABLE, 0), 10);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_TIMESTAMP, 1005001), 6);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_TIMESTAMP, 1005000), 5);
    assert_int_equal(offset_of("asked", WEIR_OFFSET_TIMESTAMP, 2000000), 10);
    weir_test_transaction_end(open, false);

    const struct weir_topic_partition missing = {"asked", 7};
    int64_t offset;
    struct weir_error error;
    assert_int_equal(
        kafka->ops->offsets(kafka, WEIR_OFFSET_LATEST, 0, 1, &missing, &offset, 1000, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
}

static void test_record_at_finds_only_the_record_of_that_offset(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "look", 2, NULL);
    struct weir_test_record records[4];
    for (int i = 0; i < 4; i++) {
        records[i] = weir_test_record_of(1, i == 2 ? NULL : "key", "value");
        records[i].timestamp_ms = 1000000 + i;
    }
    weir_test_produce_transaction(bootstrap, "look", "look", records, 4, true); // marker at 4
    weir_test_produce(bootstrap, "look", records, 1);                           // 5
    weir_test_topic_delete_records(bootstrap, "look", 1, 1);
    const struct weir_topic_partition at = {"look", 1};
    static const struct {
        int64_t offset;
        bool is_there;
    } cases[] = {{0, false}, {1, true},  {2, true},  {3, true}, {4, false},
                 {5, true},  {6, false}, {7, false}, {3, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool found;
        int64_t timestamp_ms = 0;
        uint32_t crc = 0;
        struct weir_error error;
        ASSERT_ANSWERED(kafka->ops->record_at(kafka, &at, cases[i].offset, &found, &timestamp_ms,
                                              &crc, 10000, &error),
                        error);
        assert_int_equal(found, cases[i].is_there);
        if (found) {
            int64_t idx = cases[i].offset == 5 ? 0 : cases[i].offset;
            const char *bytes = idx == 2 ? "value" : "keyvalue";
            assert_int_equal(timestamp_ms, 1000000 + idx);
            assert_int_equal(crc, crc32(0, (const Bytef *)bytes, (uInt)strlen(bytes)));
        }
    }
}

static void test_settings_of_brokers_and_topics_can_be_asked(void **state)
{
    (void)state;
    static const char *const settings[] = {"retention.ms", "123456", NULL};
    weir_test_topic_create(bootstrap, "settings", 1, settings);
    char value[64];
    struct weir_error error;
    ASSERT_ANSWERED(kafka->ops->broker_config(kafka, "transaction.partition.verification.enable",
                                              value, sizeof(value), 5000, &error),
                    error);
    assert_string_equal(value, "true");
    ASSERT_ANSWERED(
        kafka->ops->broker_config(kafka, "no.such.setting", value, sizeof(value), 5000, &error),
        error);
    assert_string_equal(value, "");
    ASSERT_ANSWERED(kafka->ops->topic_config(kafka, "settings", "retention.ms", value,
                                             sizeof(value), 5000, &error),
                    error);
    assert_string_equal(value, "123456");
    assert_int_equal(kafka->ops->topic_config(kafka, "settings-none", "retention.ms", value,
                                              sizeof(value), 5000, &error),
                     WEIR_ERROR);
}

static void test_transaction_timeout_above_the_brokers_is_refused(void **state)
{
    (void)state;
    const struct weir_property property = {"bootstrap.servers", bootstrap};
    const struct weir_kafka_config config = {.group_id = "g",
                                             .property_count = 1,
                                             .properties = &property,
                                             .transaction_timeout_ms = 3600000};
    struct weir_kafka *slow = NULL;
    struct weir_error error;
    assert_ok(weir_rdkafka_create(&config, &slow, &error), &error);
    struct weir_producer *producer = NULL;
    assert_ok(slow->ops->producer_create(slow, "slow", &producer, &error), &error);
    assert_int_equal(producer->ops->init_transactions(producer, 10000, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    producer->ops->destroy(producer);
    slow->ops->destroy(slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topic_info_tells_existence_and_partitions),
        cmocka_unit_test(test_offsets_tell_begin_ends_and_timestamps),
        cmocka_unit_test(test_record_at_finds_only_the_record_of_that_offset),
        cmocka_unit_test(test_settings_of_brokers_and_topics_can_be_asked),
        cmocka_unit_test(test_transaction_timeout_above_the_brokers_is_refused),
    };
    return cmocka_run_group_tests_name("integration/test_client_questions", tests, start, stop);
}
