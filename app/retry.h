// SPDX-License-Identifier: Apache-2.0
// The questions that a start asks of the brokers, each repeated while that can help and time is
// left. Thread: the main thread. Blocks.
#ifndef WEIR_APP_RETRY_H
#define WEIR_APP_RETRY_H

#include "kafka/client.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"

#include <stdatomic.h>

enum { WEIR_CALL_TIMEOUT_MS = 5000 };

struct weir_board;

struct weir_retry {
    const struct weir_clock *clock;
    int64_t deadline_ms; // monotonic
    const atomic_int *stop_requests;
    struct weir_board *board; // shows what is waited for; NULL: nobody looks
};

// How long one call may take: WEIR_CALL_TIMEOUT_MS, less when less time is left.
int32_t weir_retry_call_timeout_ms(const struct weir_retry *retry);

// To be asked after a failed call: true after a short pause when the same call may be made again.
// False turns an error that only time could have mended into one that ends the process (FAIL).
bool weir_retry_again(const struct weir_retry *retry, struct weir_error *error);

// Sleeps so long; a signal ends it.
void weir_pause_ms(int64_t ms);

// What several ask, as kafka/client.h has it.
enum weir_status weir_ask_topic(struct weir_kafka *kafka, const struct weir_retry *retry,
                                const char *topic, struct weir_topic_info *info,
                                struct weir_error *error);
enum weir_status weir_ask_offsets(struct weir_kafka *kafka, const struct weir_retry *retry,
                                  enum weir_offset_query query, int64_t timestamp_ms,
                                  uint32_t count, const struct weir_topic_partition *partitions,
                                  int64_t *offsets, struct weir_error *error);
enum weir_status weir_ask_committed(struct weir_kafka *kafka, const struct weir_retry *retry,
                                    enum weir_isolation isolation, uint32_t count,
                                    const struct weir_topic_partition *partitions,
                                    struct weir_committed *committed, struct weir_error *error);

#endif
