// SPDX-License-Identifier: Apache-2.0
// What to do about which error, and what the texts hold.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "kafka/rdkafka_error.h"

#include <string.h>

static void test_error_action_follows_the_table(void **state)
{
    (void)state;
    static const struct {
        enum weir_rdkafka_call call;
        struct weir_rdkafka_verdict verdict;
        enum weir_error_action action;
    } cases[] = {
        // A commit whose outcome is not known is asked again.
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR__TIMED_OUT, .is_retriable = true},
         WEIR_ACTION_RETRY},
        // So is a coordinator that moves.
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_NOT_COORDINATOR, .is_retriable = true},
         WEIR_ACTION_RETRY},
        // The same code without librdkafka's word for it is no reason to ask again.
        {WEIR_RDKAFKA_TRANSACT, {.code = RD_KAFKA_RESP_ERR__TIMED_OUT}, WEIR_ACTION_RECOVER},
        // An abort that is required wins over "retriable".
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR__TIMED_OUT, .is_retriable = true, .is_abort_required = true},
         WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, .is_abort_required = true},
         WEIR_ACTION_RECOVER},
        // A replay would send the same metadata again.
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE, .is_abort_required = true},
         WEIR_ACTION_FAIL},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR__FENCED, .is_fatal = true},
         WEIR_ACTION_FENCED},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, .is_fatal = true},
         WEIR_ACTION_FENCED},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH},
         WEIR_ACTION_FENCED},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_PRODUCER_FENCED, .is_fatal = true},
         WEIR_ACTION_FENCED},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, .is_fatal = true},
         WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, .is_fatal = true},
         WEIR_ACTION_REFUSE},
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, .is_fatal = true},
         WEIR_ACTION_FAIL},
        // A commit under way blocks every other call until the handle is gone.
        {WEIR_RDKAFKA_TRANSACT,
         {.code = RD_KAFKA_RESP_ERR__CONFLICT, .is_retriable = true},
         WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_PRODUCE, {.code = RD_KAFKA_RESP_ERR__STATE}, WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_PRODUCE, {.code = RD_KAFKA_RESP_ERR__MSG_TIMED_OUT}, WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_PRODUCE, {.code = RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION}, WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_PRODUCE, {.code = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE}, WEIR_ACTION_FAIL},
        {WEIR_RDKAFKA_PRODUCE, {.code = RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP}, WEIR_ACTION_FAIL},
        {WEIR_RDKAFKA_PRODUCE,
         {.code = RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH},
         WEIR_ACTION_FENCED},
        {WEIR_RDKAFKA_CONSUME, {.code = RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET}, WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_CONSUME,
         {.code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART},
         WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_CONSUME, {.code = RD_KAFKA_RESP_ERR__BAD_MSG}, WEIR_ACTION_RECOVER},
        {WEIR_RDKAFKA_ASK, {.code = RD_KAFKA_RESP_ERR__TIMED_OUT}, WEIR_ACTION_RETRY},
        {WEIR_RDKAFKA_ASK, {.code = RD_KAFKA_RESP_ERR__TRANSPORT}, WEIR_ACTION_RETRY},
        {WEIR_RDKAFKA_ASK, {.code = RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT}, WEIR_ACTION_RETRY},
        {WEIR_RDKAFKA_ASK,
         {.code = RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED},
         WEIR_ACTION_REFUSE},
        {WEIR_RDKAFKA_ASK,
         {.code = RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR},
         WEIR_ACTION_REFUSE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum weir_error_action action = weir_rdkafka_error_action(cases[i].call, &cases[i].verdict);
        if (action != cases[i].action) {
            fail_msg("case %zu, %s: %s", i, rd_kafka_err2name(cases[i].verdict.code),
                     weir_error_action_name(action));
        }
    }
}

static void test_error_text_has_call_reason_and_code(void **state)
{
    (void)state;
    struct weir_error error;
    assert_int_equal(weir_rdkafka_error_set(&error, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR__TRANSPORT,
                                            NULL, "asking about topic '%s'", "t"),
                     WEIR_ERROR);
    assert_string_equal(error.text,
                        "asking about topic 't': Local: Broker transport failure (_TRANSPORT)");
    assert_int_equal(error.domain, WEIR_DOMAIN_KAFKA);
    weir_rdkafka_error_set(NULL, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR__TRANSPORT, NULL, "x");
}

static void test_a_right_is_named_where_it_is_missing_and_only_there(void **state)
{
    (void)state;
    struct weir_error error;
    weir_rdkafka_error_set(&error, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR__TRANSPORT, NULL, "x");
    weir_rdkafka_error_name_right(&error, RD_KAFKA_RESP_ERR__TRANSPORT, "Read", "t");
    assert_string_equal(error.text, "x: Local: Broker transport failure (_TRANSPORT)");
    static const struct {
        rd_kafka_resp_err_t code;
        const char *name;
        const char *text;
    } cases[] = {
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "t", "Read on topic 't': grant"},
        {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, "g", "Read on group 'g': grant"},
        {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, NULL, "Read on the group of the job: grant"},
        {RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "i",
         "Read on transactional id 'i': grant"},
        {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, "1", "Read on the cluster: grant"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_rdkafka_error_set(&error, WEIR_RDKAFKA_ASK, cases[i].code, NULL, "x");
        assert_int_equal(error.domain, WEIR_DOMAIN_ACCESS);
        weir_rdkafka_error_name_right(&error, cases[i].code, "Read", cases[i].name);
        assert_non_null(strstr(error.text, cases[i].text));
    }
    weir_rdkafka_error_name_right(NULL, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "Read", "t");
}

static void test_error_take_frees_the_cause_and_names_the_id(void **state)
{
    (void)state;
    struct weir_error error;
    assert_int_equal(weir_rdkafka_error_take(&error, NULL, NULL, "commit", "id"), WEIR_OK);
    rd_kafka_error_t *cause =
        rd_kafka_error_new(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "not for you");
    assert_int_equal(weir_rdkafka_error_take(&error, NULL, cause, "commit_transaction", "job-0-1"),
                     WEIR_ERROR);
    assert_string_equal(error.text,
                        "commit_transaction, transactional id 'job-0-1': not for you "
                        "(TOPIC_AUTHORIZATION_FAILED); weir's user lacks the right Write (of a "
                        "sink) or Read (of a source) on one of the topics: grant it "
                        "(docs/security.md)");
    assert_int_equal(error.action, WEIR_ACTION_FAIL);
    assert_int_equal(error.domain, WEIR_DOMAIN_ACCESS);
}

static void test_fatal_error_of_a_handle_is_looked_up(void **state)
{
    (void)state;
    char text[128];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    assert_int_equal(rd_kafka_conf_set(conf, "log_level", "0", text, sizeof(text)),
                     RD_KAFKA_CONF_OK);
    rd_kafka_conf_set(conf, "enable.idempotence", "true", text, sizeof(text));
    rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    assert_non_null(handle);
    struct weir_error error;
    weir_rdkafka_error_set_fatal(&error, WEIR_RDKAFKA_PRODUCE, handle, "writing", NULL);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    rd_kafka_test_fatal_error(handle, RD_KAFKA_RESP_ERR__FENCED, "made up");
    weir_rdkafka_error_set_fatal(&error, WEIR_RDKAFKA_PRODUCE, handle, "writing", "id");
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
    assert_non_null(strstr(error.text, "writing, transactional id 'id': "));
    assert_non_null(strstr(error.text, "made up"));
    assert_non_null(strstr(error.text, "(_FENCED)"));
    rd_kafka_destroy(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_action_follows_the_table),
        cmocka_unit_test(test_error_text_has_call_reason_and_code),
        cmocka_unit_test(test_a_right_is_named_where_it_is_missing_and_only_there),
        cmocka_unit_test(test_error_take_frees_the_cause_and_names_the_id),
        cmocka_unit_test(test_fatal_error_of_a_handle_is_looked_up),
    };
    return cmocka_run_group_tests_name("kafka/rdkafka_error", tests, NULL, NULL);
}
