// SPDX-License-Identifier: Apache-2.0
// Which failed requests use a producer handle up.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "kafka/rdkafka_intercept.h"

static void check(int16_t api_key, rd_kafka_resp_err_t err, bool is_used_up, bool is_doubtful)
{
    struct weir_rdkafka_watch watch = {0};
    weir_rdkafka_watch_response(&watch, api_key, err);
    assert_int_equal(atomic_load(&watch.is_used_up), is_used_up);
    assert_int_equal(atomic_load(&watch.is_offset_commit_doubtful), is_doubtful);
}

static void test_failed_transactional_request_uses_the_handle_up(void **state)
{
    (void)state;
    static const int16_t api_keys[] = {22, 24, 25, 26, 28};
    for (size_t i = 0; i < sizeof(api_keys) / sizeof(api_keys[0]); i++) {
        check(api_keys[i], RD_KAFKA_RESP_ERR__TIMED_OUT, true, api_keys[i] == 28);
        check(api_keys[i], RD_KAFKA_RESP_ERR__TRANSPORT, true, api_keys[i] == 28);
        check(api_keys[i], RD_KAFKA_RESP_ERR_NO_ERROR, false, false);
    }
}

static void test_other_failed_requests_do_not(void **state)
{
    (void)state;
    static const int16_t api_keys[] = {-1, 0, 1, 2, 3, 10, 18, 23, 27, 29};
    for (size_t i = 0; i < sizeof(api_keys) / sizeof(api_keys[0]); i++) {
        check(api_keys[i], RD_KAFKA_RESP_ERR__TIMED_OUT, false, false);
    }
}

static void test_used_up_stays_when_later_requests_succeed(void **state)
{
    (void)state;
    struct weir_rdkafka_watch watch = {0};
    weir_rdkafka_watch_response(&watch, 28, RD_KAFKA_RESP_ERR__TIMED_OUT);
    weir_rdkafka_watch_response(&watch, 28, RD_KAFKA_RESP_ERR_NO_ERROR);
    weir_rdkafka_watch_response(&watch, 26, RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_true(atomic_load(&watch.is_used_up));
    assert_true(atomic_load(&watch.is_offset_commit_doubtful));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_transactional_request_uses_the_handle_up),
        cmocka_unit_test(test_other_failed_requests_do_not),
        cmocka_unit_test(test_used_up_stays_when_later_requests_succeed),
    };
    return cmocka_run_group_tests_name("kafka/rdkafka_intercept", tests, NULL, NULL);
}
