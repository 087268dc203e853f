// SPDX-License-Identifier: Apache-2.0
// The harness's own tests: librdkafka behind the proxy, and the late requests of the design on a
// real broker. A late EndTxn commits half of a later transaction of the same handle; the same
// request is refused once the handle was made anew. If either stops being so, the rules of the
// protocol that weir builds on it have to be thought through again.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>

#include <cmocka.h>

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/group.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"

enum { INVALID_PRODUCER_EPOCH = 47 };

static struct weir_test_cluster *cluster;
static struct weir_test_proxy *proxy;
static const char *direct;

static int start_cluster(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){.is_proxied = true});
    proxy = weir_test_cluster_proxy(cluster);
    direct = weir_test_cluster_direct_bootstrap(cluster);
    return 0;
}

static int stop_cluster(void **state)
{
    (void)state;
    weir_test_cluster_destroy(cluster);
    return 0;
}

static rd_kafka_t *create_producer(const char *transactional_id)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const char *settings[] = {"bootstrap.servers",
                              weir_test_cluster_bootstrap(cluster),
                              "client.id",
                              "under-test",
                              "transactional.id",
                              transactional_id,
                              "socket.timeout.ms",
                              "2000",
                              "transaction.timeout.ms",
                              "60000",
                              "log_level",
                              "2"};
    char text[256];
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i += 2) {
        assert_int_equal(rd_kafka_conf_set(conf, settings[i], settings[i + 1], text, sizeof(text)),
                         RD_KAFKA_CONF_OK);
    }
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    assert_non_null(producer);
    return producer;
}

static void must(rd_kafka_error_t *error)
{
    if (error != NULL) {
        fail_msg("%s", rd_kafka_error_string(error));
    }
}

static void send_row(rd_kafka_t *producer, const char *topic, const char *value)
{
    rd_kafka_resp_err_t code = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value, strlen(value)), RD_KAFKA_V_END);
    assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_flush(producer, 20000), RD_KAFKA_RESP_ERR_NO_ERROR);
}

// librdkafka sends a request again by itself; what comes out as retriable is called again.
static void commit(rd_kafka_t *producer)
{
    int64_t deadline_ms = weir_test_now_ms() + 30000;
    rd_kafka_error_t *error;
    while ((error = rd_kafka_commit_transaction(producer, 10000)) != NULL) {
        if (!rd_kafka_error_is_retriable(error) || weir_test_now_ms() >= deadline_ms) {
            must(error);
        }
        rd_kafka_error_destroy(error);
    }
}

static size_t count_visible(const char *topic)
{
    struct weir_test_log *log = weir_test_read(direct, topic, NULL);
    size_t count = log->record_count;
    weir_test_log_destroy(log);
    return count;
}

// A broker answers EndTxn before it has written the markers.
static void wait_visible(const char *topic, size_t count)
{
    WEIR_TEST_WAIT_UNTIL(count_visible(topic) == count, 10000);
}

static struct weir_test_proxy_rule *hold_end_txn(const char *transactional_id)
{
    return weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_HOLD,
                                                      .api_key = WEIR_TEST_API_END_TXN,
                                                      .transactional_id = transactional_id,
                                                      .count = 1});
}

static void test_client_stays_behind_the_proxy(void **state)
{
    (void)state;
    weir_test_topic_create(direct, "behind", 1, NULL);
    int64_t before = weir_test_proxy_request_count(proxy, WEIR_TEST_API_PRODUCE);
    struct weir_test_record record = weir_test_record_of(0, "k", "v");
    weir_test_produce(weir_test_cluster_bootstrap(cluster), "behind", &record, 1);
    assert_int_equal(weir_test_proxy_request_count(proxy, WEIR_TEST_API_PRODUCE), before + 1);
    weir_test_produce(direct, "behind", &record, 1);
    assert_int_equal(weir_test_proxy_request_count(proxy, WEIR_TEST_API_PRODUCE), before + 1);
    int64_t fetches = weir_test_proxy_request_count(proxy, WEIR_TEST_API_FETCH);
    struct weir_test_log *log =
        weir_test_read(weir_test_cluster_bootstrap(cluster), "behind", NULL);
    assert_int_equal(log->record_count, 2);
    weir_test_log_destroy(log);
    assert_true(weir_test_proxy_request_count(proxy, WEIR_TEST_API_FETCH) > fetches);
}

static void test_late_end_txn_commits_half_of_a_later_transaction(void **state)
{
    (void)state;
    weir_test_topic_create(direct, "half", 1, NULL);
    rd_kafka_t *producer = create_producer("half-0");
    must(rd_kafka_init_transactions(producer, 20000));
    must(rd_kafka_begin_transaction(producer));
    send_row(producer, "half", "first");
    struct weir_test_proxy_rule *rule = hold_end_txn("half-0");
    commit(producer); // by a repeated request on another connection
    assert_int_equal(weir_test_proxy_hit_count(rule), 1);
    assert_int_equal(weir_test_proxy_delivered_count(rule), 0);
    wait_visible("half", 1);
    must(rd_kafka_begin_transaction(producer));
    send_row(producer, "half", "later");
    assert_int_equal(count_visible("half"), 1);
    weir_test_proxy_end_rule(rule);
    assert_true(weir_test_proxy_wait_answered(rule, 1, 10000));
    assert_int_equal(weir_test_proxy_answer_error(rule), 0);
    wait_visible("half", 2); // nobody asked for this
    rd_kafka_error_t *error = rd_kafka_abort_transaction(producer, 10000);
    if (error != NULL) {
        rd_kafka_error_destroy(error); // the broker knows of no transaction any more
    }
    rd_kafka_destroy(producer);
}

static void test_late_end_txn_is_refused_after_a_new_handle(void **state)
{
    (void)state;
    weir_test_topic_create(direct, "anew", 1, NULL);
    rd_kafka_t *producer = create_producer("anew-0");
    must(rd_kafka_init_transactions(producer, 20000));
    must(rd_kafka_begin_transaction(producer));
    send_row(producer, "anew", "first");
    struct weir_test_proxy_rule *rule = hold_end_txn("anew-0");
    commit(producer);
    rd_kafka_destroy(producer);
    producer = create_producer("anew-0");
    must(rd_kafka_init_transactions(producer, 20000));
    must(rd_kafka_begin_transaction(producer));
    send_row(producer, "anew", "later");
    weir_test_proxy_end_rule(rule);
    assert_true(weir_test_proxy_wait_answered(rule, 1, 10000));
    assert_int_equal(weir_test_proxy_answer_error(rule), INVALID_PRODUCER_EPOCH);
    assert_int_equal(count_visible("anew"), 1);
    commit(producer);
    wait_visible("anew", 2);
    rd_kafka_destroy(producer);
}

static void test_answers_of_every_transactional_request_are_read(void **state)
{
    (void)state;
    weir_test_topic_create(direct, "keys", 1, NULL);
    const enum weir_test_api keys[] = {
        WEIR_TEST_API_INIT_PRODUCER_ID,  WEIR_TEST_API_ADD_PARTITIONS_TO_TXN,
        WEIR_TEST_API_PRODUCE,           WEIR_TEST_API_ADD_OFFSETS_TO_TXN,
        WEIR_TEST_API_TXN_OFFSET_COMMIT, WEIR_TEST_API_END_TXN,
    };
    enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };
    struct weir_test_proxy_rule *rules[KEY_COUNT];
    for (size_t i = 0; i < KEY_COUNT; i++) {
        rules[i] = weir_test_proxy_add_rule(
            proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_PASS,
                                                          .api_key = keys[i],
                                                          .client_id = "harness",
                                                          .transactional_id = "eys-"});
    }
    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(weir_test_cluster_bootstrap(cluster), "keys-0", 60000);
    struct weir_test_record record = weir_test_record_of(0, "k", "v");
    weir_test_transaction_add(transaction, "keys", &record, 1);
    weir_test_transaction_add_offset(transaction, "keys-group", "keys", 0, 1, "m");
    weir_test_transaction_end(transaction, true);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        assert_true(weir_test_proxy_wait_answered(rules[i], 1, 10000));
        assert_int_equal(weir_test_proxy_answer_error(rules[i]), 0);
        weir_test_proxy_end_rule(rules[i]);
    }
}

static void test_commit_survives_a_cut(void **state)
{
    (void)state;
    const enum weir_test_proxy_action actions[] = {
        WEIR_TEST_PROXY_CUT_BEFORE, WEIR_TEST_PROXY_CUT_AFTER,   WEIR_TEST_PROXY_CUT_ANSWER,
        WEIR_TEST_PROXY_DROP,       WEIR_TEST_PROXY_DROP_ANSWER,
    };
    weir_test_topic_create(direct, "cut", 1, NULL);
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        rd_kafka_t *producer = create_producer("cut-0");
        must(rd_kafka_init_transactions(producer, 20000));
        must(rd_kafka_begin_transaction(producer));
        send_row(producer, "cut", "row");
        struct weir_test_proxy_rule *rule = weir_test_proxy_add_rule(
            proxy, &(struct weir_test_proxy_rule_options){.action = actions[i],
                                                          .api_key = WEIR_TEST_API_END_TXN,
                                                          .transactional_id = "cut-0",
                                                          .count = 1});
        commit(producer);
        rd_kafka_destroy(producer);
        assert_int_equal(weir_test_proxy_hit_count(rule), 1);
        wait_visible("cut", i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_stays_behind_the_proxy),
        cmocka_unit_test(test_late_end_txn_commits_half_of_a_later_transaction),
        cmocka_unit_test(test_late_end_txn_is_refused_after_a_new_handle),
        cmocka_unit_test(test_answers_of_every_transactional_request_are_read),
        cmocka_unit_test(test_commit_survives_a_cut),
    };
    return cmocka_run_group_tests(tests, start_cluster, stop_cluster);
}
