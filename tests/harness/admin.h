// SPDX-License-Identifier: Apache-2.0
// One admin request of librdkafka, asked until a broker answers. For the other parts of the
// harness; tests use topic.h and group.h.
#ifndef WEIR_TESTS_HARNESS_ADMIN_H
#define WEIR_TESTS_HARNESS_ADMIN_H

#include <librdkafka/rdkafka.h>

// Sends the request; its result is to come into the queue.
typedef void weir_test_admin_ask_fn(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                                    rd_kafka_queue_t *queue, const void *request);

// The code of the one item that was asked for; may keep more of the event's result in *answer. The
// event has no error of its own.
typedef rd_kafka_resp_err_t weir_test_admin_read_fn(rd_kafka_event_t *event, void *answer);

// Asks, and asks again for up to 60 s while brokers cannot be reached or move. Returns the last
// code.
rd_kafka_resp_err_t weir_test_admin_call(rd_kafka_t *admin, rd_kafka_admin_op_t operation,
                                         weir_test_admin_ask_fn *ask, const void *request,
                                         weir_test_admin_read_fn *read, void *answer);

#endif
