// SPDX-License-Identifier: Apache-2.0
// One admin request: see the header.
#include "tests/harness/admin.h"

#include <stdbool.h>
#include <stddef.h>

#include "tests/harness/base.h"

enum { DEADLINE_MS = 60000, ATTEMPT_MS = 10000 };

static bool is_transient(rd_kafka_resp_err_t code)
{
    static const rd_kafka_resp_err_t transient[] = {
        RD_KAFKA_RESP_ERR__TIMED_OUT,
        RD_KAFKA_RESP_ERR__TRANSPORT,
        RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
        RD_KAFKA_RESP_ERR__WAIT_COORD,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        RD_KAFKA_RESP_ERR_NOT_CONTROLLER,
        RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
        RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        // Fewer live brokers than copies: one is just coming back.
        RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR,
    };
    for (size_t i = 0; i < sizeof(transient) / sizeof(transient[0]); i++) {
        if (code == transient[i]) {
            return true;
        }
    }
    return false;
}

rd_kafka_resp_err_t weir_test_admin_call(rd_kafka_t *admin, rd_kafka_admin_op_t operation,
                                         weir_test_admin_ask_fn *ask, const void *request,
                                         weir_test_admin_read_fn *read, void *answer)
{
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(admin, operation);
    rd_kafka_AdminOptions_set_request_timeout(options, ATTEMPT_MS, NULL, 0);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin);
    rd_kafka_resp_err_t code;
    do {
        ask(admin, options, queue, request);
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 2 * ATTEMPT_MS);
        code = event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            code = read(event, answer);
        }
        if (event != NULL) {
            rd_kafka_event_destroy(event);
        }
        if (is_transient(code)) {
            weir_test_sleep_ms(50);
        }
    } while (is_transient(code) && weir_test_now_ms() < deadline_ms);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    return code;
}
