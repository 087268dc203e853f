// SPDX-License-Identifier: Apache-2.0
// librdkafka handles for the other parts of the harness. The only header of the harness that shows
// librdkafka's types; tests do not need it.
#ifndef WEIR_TESTS_HARNESS_CLIENT_H
#define WEIR_TESTS_HARNESS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

// A handle with the settings of the list (name, value, …, NULL) on top of the harness's own: quick
// reconnects, errors to nobody's terminal. Fails the test if a setting is refused. The caller
// destroys it.
rd_kafka_t *weir_test_client_create(
    rd_kafka_type_t type, const char *bootstrap, const char *const *settings,
    void (*delivered)(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque),
    void *opaque);

// A producer handle for admin calls and questions.
rd_kafka_t *weir_test_client_create_plain(const char *bootstrap);

// Cluster metadata of one topic (NULL: of all), for rd_kafka_metadata_destroy; NULL if it is not
// there in time.
const struct rd_kafka_metadata *weir_test_client_metadata(rd_kafka_t *handle, const char *topic,
                                                          int timeout_ms);

// How many partitions the topic has; 0: there is no such topic.
int32_t weir_test_client_partition_count(rd_kafka_t *handle, const char *topic);

// The first and the end offset of a partition; the end is the last stable offset on a consumer that
// is read_committed, else the high watermark. Tries again for 30 s, then fails the test.
void weir_test_client_offsets(rd_kafka_t *handle, const char *topic, int32_t partition,
                              int64_t *first, int64_t *end);

#endif
