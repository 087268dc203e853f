// SPDX-License-Identifier: Apache-2.0
// The Kafka client's properties as variables: names, sides, precedence, refusals.
#include "config_fixture.h"

#include "kafka/rdkafka_property.h"

#include <ctype.h>

// "name=value name=value" of a list, in the fixture's arena.
static const char *joined(struct fixture *fixture, uint32_t count,
                          const struct weir_property *properties)
{
    const char *text = "";
    for (uint32_t i = 0; i < count; i++) {
        text = weir_arena_printf(fixture->arena, "%s%s%s=%s", text, i == 0 ? "" : " ",
                                 properties[i].name, properties[i].value);
    }
    return text;
}

static void expect_lists(struct fixture *fixture, const char *both, const char *consumer,
                         const char *producer)
{
    const struct weir_config *config = &fixture->config;
    assert_string_equal(joined(fixture, config->property_count, config->properties), both);
    assert_string_equal(
        joined(fixture, config->consumer_property_count, config->consumer_properties), consumer);
    assert_string_equal(
        joined(fixture, config->producer_property_count, config->producer_properties), producer);
}

static void test_names_become_properties(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_KAFKA_SASL_USERNAME=svc",
                    "WEIR_KAFKA_SSL_CA_LOCATION=/ca.pem", "WEIR_KAFKA_LOG_LEVEL=7",
                    "WEIR_KAFKA_CLIENT_ID=w");
    expect_lists(&fixture,
                 "bootstrap.servers=broker:9092 client.id=w log_level=7 sasl.username=svc "
                 "ssl.ca.location=/ca.pem",
                 "", "");
    fixture_deinit(&fixture);
}

// The side that a property does not belong to would only warn about it.
static void test_one_sided_properties_go_to_their_side(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_KAFKA_LINGER_MS=7",
                    "WEIR_KAFKA_FETCH_MIN_BYTES=9", "WEIR_KAFKA_CONSUMER_CLIENT_ID=c",
                    "WEIR_KAFKA_PRODUCER_COMPRESSION_TYPE=lz4");
    expect_lists(&fixture, "bootstrap.servers=broker:9092", "fetch.min.bytes=9 client.id=c",
                 "linger.ms=7 compression.type=lz4");
    fixture_deinit(&fixture);
}

// The client takes them in this order: the last one counts.
static void test_a_side_wins_over_the_general_form(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_KAFKA_CONSUMER_FETCH_MIN_BYTES=1",
                    "WEIR_KAFKA_FETCH_MIN_BYTES=2", "WEIR_KAFKA_PRODUCER_LINGER_MS=3",
                    "WEIR_KAFKA_LINGER_MS=4");
    expect_lists(&fixture, "bootstrap.servers=broker:9092", "fetch.min.bytes=2 fetch.min.bytes=1",
                 "linger.ms=4 linger.ms=3");
    fixture_deinit(&fixture);
}

static void test_transaction_timeout_may_be_set(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS=400000");
    assert_true(fixture.config.is_transaction_timeout_given);
    assert_int_equal(fixture.config.transaction_timeout_ms, 400000);
    expect_lists(&fixture, "bootstrap.servers=broker:9092", "", "");

    fixture_load_ok(&fixture, WITH_REQUIRED, "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS=400000",
                    "WEIR_KAFKA_PRODUCER_TRANSACTION_TIMEOUT_MS=500000");
    assert_int_equal(fixture.config.transaction_timeout_ms, 500000);
    fixture_deinit(&fixture);
}

static void test_each_fault_has_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *variable;
        const char *fault;
    } cases[] = {
        {"WEIR_KAFKA_FETCH_MIN_BYTE=1",
         "WEIR_KAFKA_FETCH_MIN_BYTE: the Kafka client has no such property; the nearest is "
         "WEIR_KAFKA_FETCH_MIN_BYTES (fetch.min.bytes)"},
        {"WEIR_KAFKA_CONSUMER_FETCH_MIN_BYTE=1",
         "WEIR_KAFKA_CONSUMER_FETCH_MIN_BYTE: the Kafka client has no such property; the nearest "
         "is WEIR_KAFKA_CONSUMER_FETCH_MIN_BYTES (fetch.min.bytes)"},
        {"WEIR_KAFKA_SASL_PASWORD_FILE=/x",
         "WEIR_KAFKA_SASL_PASWORD_FILE: the Kafka client has no such property; the nearest is "
         "WEIR_KAFKA_SASL_PASSWORD (sasl.password)"},
        {"WEIR_KAFKA_fetch_min_bytes=1",
         "WEIR_KAFKA_fetch_min_bytes: the Kafka client has no such property; the nearest is "
         "WEIR_KAFKA_FETCH_MIN_BYTES (fetch.min.bytes)"},
        {"WEIR_KAFKA_GROUP_ID=g",
         "WEIR_KAFKA_GROUP_ID: weir sets group.id itself: it is the job id (WEIR_JOB_ID)"},
        {"WEIR_KAFKA_CONSUMER_ISOLATION_LEVEL=read_uncommitted",
         "WEIR_KAFKA_CONSUMER_ISOLATION_LEVEL: weir sets isolation.level itself: only committed "
         "records are read"},
        {"WEIR_KAFKA_ENABLE_AUTO_COMMIT_FILE=/x",
         "WEIR_KAFKA_ENABLE_AUTO_COMMIT_FILE: weir sets enable.auto.commit itself: positions are "
         "committed in the transaction of each checkpoint"},
        {"WEIR_KAFKA_MAX_IN_FLIGHT=1",
         "WEIR_KAFKA_MAX_IN_FLIGHT: weir sets max.in.flight itself: rows would be lost, doubled or "
         "reordered with another value"},
        {"WEIR_KAFKA_METADATA_BROKER_LIST=b:1",
         "WEIR_KAFKA_METADATA_BROKER_LIST: weir sets metadata.broker.list itself: it is "
         "WEIR_KAFKA_BOOTSTRAP_SERVERS"},
        {"WEIR_KAFKA_CONSUMER_BOOTSTRAP_SERVERS=b:1",
         "WEIR_KAFKA_CONSUMER_BOOTSTRAP_SERVERS: one job reads and writes one cluster; set "
         "WEIR_KAFKA_BOOTSTRAP_SERVERS"},
        {"WEIR_KAFKA_CONSUMER_LINGER_MS=1",
         "WEIR_KAFKA_CONSUMER_LINGER_MS: linger.ms is a property of producers; set "
         "WEIR_KAFKA_PRODUCER_LINGER_MS"},
        {"WEIR_KAFKA_PRODUCER_FETCH_MIN_BYTES=1",
         "WEIR_KAFKA_PRODUCER_FETCH_MIN_BYTES: fetch.min.bytes is a property of consumers; set "
         "WEIR_KAFKA_CONSUMER_FETCH_MIN_BYTES"},
        {"WEIR_KAFKA_FETCH_MIN_BYTES=",
         "WEIR_KAFKA_FETCH_MIN_BYTES: empty; give a value or leave the variable out"},
        {"WEIR_KAFKA_CLIENT_ID_FILE=/no/such/file",
         "WEIR_KAFKA_CLIENT_ID_FILE: cannot read \"/no/such/file\": No such file or directory"},
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(fixture_load(&fixture, WITH_REQUIRED, cases[i].variable), WEIR_ERROR);
        fixture_expect(&fixture, cases[i].fault);
    }
    fixture_deinit(&fixture);
}

// The client's own words follow; they differ from release to release.
static void test_values_are_checked(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_load(&fixture, WITH_REQUIRED, "WEIR_KAFKA_FETCH_MIN_BYTES=many");
    static const char fault[] = "WEIR_KAFKA_FETCH_MIN_BYTES: \"many\" is refused: ";
    assert_int_equal(fixture.faults.count, 1);
    assert_memory_equal(fixture.faults.texts[0], fault, strlen(fault));
    fixture_deinit(&fixture);
}

static void test_one_property_by_two_names(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    const char *path = fixture_file(&fixture, "/id", "x");
    fixture_load(&fixture, WITH_REQUIRED, "WEIR_KAFKA_LINGER_MS=1",
                 "WEIR_KAFKA_QUEUE_BUFFERING_MAX_MS=2", "WEIR_KAFKA_CLIENT_ID=y",
                 weir_arena_printf(fixture.arena, "WEIR_KAFKA_CLIENT_ID_FILE=%s", path));
    fixture_expect(
        &fixture, "WEIR_KAFKA_CLIENT_ID and WEIR_KAFKA_CLIENT_ID_FILE are both given; keep one",
        "WEIR_KAFKA_LINGER_MS and WEIR_KAFKA_QUEUE_BUFFERING_MAX_MS set the same property; keep "
        "one");
    fixture_deinit(&fixture);
}

static void test_values_from_files(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    const char *path = fixture_file(&fixture, "/password", "p w\n");
    fixture_load_ok(&fixture, WITH_REQUIRED,
                    weir_arena_printf(fixture.arena, "WEIR_KAFKA_SASL_PASSWORD_FILE=%s", path));
    expect_lists(&fixture, "bootstrap.servers=broker:9092 sasl.password=p w", "", "");
    fixture_deinit(&fixture);
}

// No owned property slips through, on any side.
static void test_every_owned_property_is_refused(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"WEIR_KAFKA_", "WEIR_KAFKA_CONSUMER_",
                                           "WEIR_KAFKA_PRODUCER_"};
    struct fixture fixture;
    fixture_init(&fixture);
    for (uint32_t i = 0; i < weir_rdkafka_owned_count; i++) {
        for (size_t k = 0; k < COUNT_OF(prefixes); k++) {
            char *variable =
                weir_arena_printf(fixture.arena, "%s%s", prefixes[k], weir_rdkafka_owned[i].name);
            for (char *at = variable; *at != '\0'; at++) {
                *at = *at == '.' ? '_' : (char)toupper((unsigned char)*at);
            }
            fixture_load(&fixture, WITH_REQUIRED,
                         weir_arena_printf(fixture.arena, "%s=1", variable));
            fixture_expect(&fixture, weir_arena_printf(fixture.arena, "%s: weir sets %s itself: %s",
                                                       variable, weir_rdkafka_owned[i].name,
                                                       weir_rdkafka_owned[i].reason));
        }
    }
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_become_properties),
        cmocka_unit_test(test_one_sided_properties_go_to_their_side),
        cmocka_unit_test(test_a_side_wins_over_the_general_form),
        cmocka_unit_test(test_transaction_timeout_may_be_set),
        cmocka_unit_test(test_each_fault_has_its_line),
        cmocka_unit_test(test_values_are_checked),
        cmocka_unit_test(test_one_property_by_two_names),
        cmocka_unit_test(test_values_from_files),
        cmocka_unit_test(test_every_owned_property_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
