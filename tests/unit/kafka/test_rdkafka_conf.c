// SPDX-License-Identifier: Apache-2.0
// Settings: every fault is told, no secret is, the user wins over defaults and weir over the user.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "kafka/rdkafka_handle.h"

#include <string.h>

static void test_create_tells_all_faults_and_no_secret(void **state)
{
    (void)state;
    const struct weir_property common[] = {{"bootstrap.servers", "127.0.0.1:1"},
                                           {"no.such.thing", "1"},
                                           {"linger.ms", "many"},
                                           {"group.id", "mine"}};
    const struct weir_property consumer[] = {{"isolation.level", "read_uncommitted"}};
    const struct weir_property producer[] = {{"acks", "1"}, {"sasl.password", "hunter2"}};
    const struct weir_kafka_config config = {.group_id = "job",
                                             .property_count = 4,
                                             .properties = common,
                                             .consumer_property_count = 1,
                                             .consumer_properties = consumer,
                                             .producer_property_count = 2,
                                             .producer_properties = producer};
    struct weir_kafka *kafka = NULL;
    struct weir_error error;
    assert_int_equal(weir_rdkafka_create(&config, &kafka, &error), WEIR_ERROR);
    assert_null(kafka);
    assert_int_equal(error.domain, WEIR_DOMAIN_CONFIG);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    static const char *const lines[] = {
        "Kafka property no.such.thing: there is no such property\n",
        "Kafka property linger.ms: ", "Kafka property group.id: weir sets it itself",
        "Kafka property isolation.level (consumer): weir sets it itself",
        "Kafka property acks (producer): weir sets it itself"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (strstr(error.text, lines[i]) == NULL) {
            fail_msg("not in the text: %s\n%s", lines[i], error.text);
        }
    }
    assert_null(strstr(error.text, "hunter2"));
}

static void test_create_refuses_settings_that_do_not_go_together(void **state)
{
    (void)state;
    const struct weir_property properties[] = {
        {"bootstrap.servers", "127.0.0.1:1"},
        {"security.protocol", "ssl"},
        {"ssl.ca.location", "/nowhere/ca.pem"},
        {"ssl.key.password", "hunter2"},
    };
    const struct weir_kafka_config config = {
        .group_id = "job", .property_count = 4, .properties = properties};
    struct weir_kafka *kafka = NULL;
    struct weir_error error;
    assert_int_equal(weir_rdkafka_create(&config, &kafka, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    assert_non_null(strstr(error.text, "ssl.ca.location"));
    assert_null(strstr(error.text, "hunter2"));
}

static void check_setting(const rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[64] = "";
    size_t text_bytes = sizeof(text);
    assert_int_equal(rd_kafka_conf_get(conf, name, text, &text_bytes), RD_KAFKA_CONF_OK);
    assert_string_equal(text, value);
}

static void check_telemetry_is_off(const rd_kafka_conf_t *conf)
{
    if (weir_rdkafka_property_exists("enable.metrics.push")) { // from 2.5.0 on
        check_setting(conf, "enable.metrics.push", "false");
    }
}

static void test_layers_of_settings(void **state)
{
    (void)state;
    struct weir_property common[] = {{"bootstrap.servers", "127.0.0.1:1"},
                                     {"client.id", "mine"},
                                     {"socket.timeout.ms", "20000"}};
    struct weir_property consumer[] = {{"fetch.wait.max.ms", "33"}};
    struct weir_property producer[] = {{"linger.ms", "44"}};
    struct weir_rdkafka kafka = {
        .group_id = "job",
        .properties = {3, common},
        .consumer_properties = {1, consumer},
        .producer_properties = {1, producer},
        .transaction_timeout_ms = 15000,
        .consumer_queue_bytes_max = 3 << 20,
        .producer_queue_messages_max = 1234,
        .producer_queue_bytes_max = 5 << 20,
    };
    struct weir_error error;
    rd_kafka_conf_t *conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_CONSUMER, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "client.id", "mine");
    check_setting(conf, "fetch.wait.max.ms", "33");
    check_setting(conf, "queued.max.messages.kbytes", "3072");
    check_setting(conf, "group.id", "job");
    check_setting(conf, "isolation.level", "read_committed");
    check_setting(conf, "enable.auto.commit", "false");
    check_setting(conf, "enable.auto.offset.store", "false");
    check_setting(conf, "enable.partition.eof", "true");
    check_setting(conf, "fetch.max.bytes", "4194304");
    check_telemetry_is_off(conf);
    rd_kafka_conf_destroy(conf);

    // Little memory, small answers; never less than a message.
    kafka.fetch_bytes_max = 2 << 20;
    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_CONSUMER, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "fetch.max.bytes", "2097152");
    rd_kafka_conf_destroy(conf);
    kafka.fetch_bytes_max = 4096;
    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_CONSUMER, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "fetch.max.bytes", "1000000");
    rd_kafka_conf_destroy(conf);
    kafka.fetch_bytes_max = 0;

    // Whoever has larger records, or says how much, is not held back.
    consumer[0] = (struct weir_property){"message.max.bytes", "5000000"};
    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_CONSUMER, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "fetch.max.bytes", "52428800");
    rd_kafka_conf_destroy(conf);
    consumer[0] = (struct weir_property){"fetch.max.bytes", "3000000"};
    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_CONSUMER, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "fetch.max.bytes", "3000000");
    rd_kafka_conf_destroy(conf);
    consumer[0] = (struct weir_property){"fetch.wait.max.ms", "33"};

    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_QUESTION_UNCOMMITTED, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "isolation.level", "read_uncommitted");
    check_setting(conf, "fetch.wait.max.ms", "10");
    rd_kafka_conf_destroy(conf);

    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_PRODUCER, "id-1", &error);
    assert_non_null(conf);
    check_setting(conf, "linger.ms", "44");
    check_setting(conf, "transactional.id", "id-1");
    check_setting(conf, "transaction.timeout.ms", "15000");
    check_setting(conf, "socket.timeout.ms", "14900"); // 20000 would be refused
    check_setting(conf, "queue.buffering.max.messages", "1234");
    check_setting(conf, "queue.buffering.max.kbytes", "5120");
    check_setting(conf, "enable.idempotence", "true");
    rd_kafka_conf_destroy(conf);

    conf = weir_rdkafka_conf_create(&kafka, WEIR_RDKAFKA_PRODUCER, NULL, &error);
    assert_non_null(conf);
    check_setting(conf, "socket.timeout.ms", "20000");
    check_setting(conf, "enable.idempotence", "true");
    check_telemetry_is_off(conf);
    rd_kafka_conf_destroy(conf);
}

static void test_property_exists_knows_names_of_handles_and_topics(void **state)
{
    (void)state;
    assert_true(weir_rdkafka_property_exists("bootstrap.servers"));
    assert_true(weir_rdkafka_property_exists("linger.ms"));
    assert_true(weir_rdkafka_property_exists("compression.codec"));
    assert_false(weir_rdkafka_property_exists("linger_ms"));
    assert_false(weir_rdkafka_property_exists(""));
    assert_true(strlen(weir_rdkafka_version()) >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_tells_all_faults_and_no_secret),
        cmocka_unit_test(test_create_refuses_settings_that_do_not_go_together),
        cmocka_unit_test(test_layers_of_settings),
        cmocka_unit_test(test_property_exists_knows_names_of_handles_and_topics),
    };
    return cmocka_run_group_tests_name("kafka/rdkafka_conf", tests, NULL, NULL);
}
