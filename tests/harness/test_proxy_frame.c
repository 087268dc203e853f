// SPDX-License-Identifier: Apache-2.0
// The harness's own tests: reading the head of requests and the error of answers. No broker.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/harness/proxy_frame.h"

// EndTxn version 1: plain strings.
static const uint8_t plain_request[] = {0,   26,  0,   1, 0, 0, 0, 9, 0, 2, 'c', 'l', 0, 3,
                                        'j', '-', '0', 0, 0, 0, 0, 0, 0, 0, 5,   0,   1, 1};

// EndTxn version 3: one tagged field (number 0, two bytes), then a compact string.
static const uint8_t flexible_request[] = {0,   26, 0, 3, 0,   0,   0, 9,   0,   2,   'c',
                                           'l', 1,  0, 2, 'x', 'y', 4, 'j', '-', '0', 0,
                                           0,   0,  0, 0, 0,   0,   5, 0,   1,   1,   0};

static void test_request_head_is_read_in_both_encodings(void **state)
{
    (void)state;
    struct weir_test_proxy_request request;
    assert_true(weir_test_frame_read_request(plain_request, sizeof(plain_request), &request));
    assert_int_equal(request.api_key, WEIR_TEST_API_END_TXN);
    assert_int_equal(request.api_version, 1);
    assert_int_equal(request.correlation_id, 9);
    assert_string_equal(request.client_id, "cl");
    assert_string_equal(request.transactional_id, "j-0");
    assert_true(weir_test_frame_read_request(flexible_request, sizeof(flexible_request), &request));
    assert_int_equal(request.api_version, 3);
    assert_string_equal(request.client_id, "cl");
    assert_string_equal(request.transactional_id, "j-0");
}

static void test_request_without_transactional_id(void **state)
{
    (void)state;
    // Metadata: what follows the head is not a transactional id. Produce: null (-1) is none.
    const uint8_t metadata[] = {0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0, 1, 'x', 'x'};
    const uint8_t produce[] = {0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 0, 1};
    struct weir_test_proxy_request request;
    assert_true(weir_test_frame_read_request(metadata, sizeof(metadata), &request));
    assert_string_equal(request.client_id, "");
    assert_string_equal(request.transactional_id, "");
    assert_true(weir_test_frame_read_request(produce, sizeof(produce), &request));
    assert_string_equal(request.transactional_id, "");
}

static void test_cut_requests_are_refused_or_read_in_part(void **state)
{
    (void)state;
    struct weir_test_proxy_request request;
    for (size_t bytes = 0; bytes < sizeof(plain_request); bytes++) {
        bool is_read = weir_test_frame_read_request(plain_request, bytes, &request);
        assert_true(is_read == (bytes >= 12)); // up to the client id
        assert_string_equal(request.transactional_id, bytes >= 17 ? "j-0" : "");
    }
}

static void test_long_ids_are_cut_off(void **state)
{
    (void)state;
    uint8_t frame[1024] = {0, 26, 0, 1, 0, 0, 0, 9, 1, 0};
    memset(frame + 10, 'c', 256);
    frame[266] = 1;
    frame[267] = 0x2c; // 300
    memset(frame + 268, 't', 300);
    struct weir_test_proxy_request request;
    assert_true(weir_test_frame_read_request(frame, 568, &request));
    assert_int_equal(strlen(request.client_id), sizeof(request.client_id) - 1);
    assert_int_equal(strlen(request.transactional_id), sizeof(request.transactional_id) - 1);
}

static void test_errors_of_answers_are_read(void **state)
{
    (void)state;
    int error = -7;
    const uint8_t plain[] = {0, 0, 0, 9, 0, 0, 0, 0, 0, 47};
    assert_true(weir_test_frame_read_error(WEIR_TEST_API_END_TXN, 1, plain, sizeof(plain), &error));
    assert_int_equal(error, 47);
    const uint8_t flexible[] = {0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 47, 0};
    assert_true(weir_test_frame_read_error(WEIR_TEST_API_INIT_PRODUCER_ID, 2, flexible,
                                           sizeof(flexible), &error));
    assert_int_equal(error, 47);
    // Topics, partitions, then the error of the first partition.
    const uint8_t offsets[] = {0, 0, 0, 9, 0, 0, 0, 0, 0, 2, 2, 't', 2, 0, 0, 0, 3, 0, 51, 0, 0, 0};
    assert_true(weir_test_frame_read_error(WEIR_TEST_API_TXN_OFFSET_COMMIT, 3, offsets,
                                           sizeof(offsets), &error));
    assert_int_equal(error, 51);
    const uint8_t partitions[] = {0, 0,   0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0,
                                  1, 't', 0, 0, 0, 1, 0, 0, 0, 3, 0, 48};
    assert_true(weir_test_frame_read_error(WEIR_TEST_API_ADD_PARTITIONS_TO_TXN, 0, partitions,
                                           sizeof(partitions), &error));
    assert_int_equal(error, 48);
    // Produce has its throttle time at the end.
    const uint8_t produce[] = {0, 0, 0, 9, 0, 0, 0, 1, 0,    1,   't',
                               0, 0, 0, 1, 0, 0, 0, 3, 0xff, 0xff};
    assert_true(
        weir_test_frame_read_error(WEIR_TEST_API_PRODUCE, 7, produce, sizeof(produce), &error));
    assert_int_equal(error, -1);
}

static void test_unknown_or_cut_answers_are_refused(void **state)
{
    (void)state;
    int error = -7;
    const uint8_t answer[] = {0, 0, 0, 9, 0, 0, 0, 0, 0, 47};
    for (size_t bytes = 0; bytes < sizeof(answer); bytes++) {
        assert_false(weir_test_frame_read_error(WEIR_TEST_API_END_TXN, 1, answer, bytes, &error));
    }
    assert_false(
        weir_test_frame_read_error(WEIR_TEST_API_METADATA, 1, answer, sizeof(answer), &error));
    assert_false(
        weir_test_frame_read_error(WEIR_TEST_API_PRODUCE, 13, answer, sizeof(answer), &error));
    assert_int_equal(error, -7);
    assert_int_equal(weir_test_frame_correlation_id(answer, sizeof(answer)), 9);
    assert_int_equal(weir_test_frame_correlation_id(answer, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_head_is_read_in_both_encodings),
        cmocka_unit_test(test_request_without_transactional_id),
        cmocka_unit_test(test_cut_requests_are_refused_or_read_in_part),
        cmocka_unit_test(test_long_ids_are_cut_off),
        cmocka_unit_test(test_errors_of_answers_are_read),
        cmocka_unit_test(test_unknown_or_cut_answers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
