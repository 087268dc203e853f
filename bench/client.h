// SPDX-License-Identifier: Apache-2.0
//
// Handles of librdkafka with the settings that weir uses, so that the raw programs and weir are
// measured on the same terms. A fault ends the process (weir_bench_die). Thread: any.
#ifndef WEIR_BENCH_CLIENT_H
#define WEIR_BENCH_CLIENT_H

#include "options.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

struct weir_bench_partition {
    int64_t first; // first offset there is
    int64_t end;   // one past the last that a reader of the handle's isolation level may see
};

// A consumer for assign(): read_committed, end-of-partition events, no stored offsets.
rd_kafka_t *weir_bench_consumer_create(const char *brokers, const char *group,
                                       const struct weir_bench_settings *settings);

// How delivery reports come back.
enum weir_bench_reports {
    WEIR_BENCH_REPORTS_CALLBACK, // dr_msg_cb, served by poll and flush
    WEIR_BENCH_REPORTS_EVENT,    // events on the main queue
};

typedef void (*weir_bench_delivered_fn)(rd_kafka_t *producer, const rd_kafka_message_t *message,
                                        void *opaque);

// A producer. transactional_id NULL: idempotent only; otherwise init_transactions is done.
// `delivered` is only used with WEIR_BENCH_REPORTS_CALLBACK; it gets `opaque`.
rd_kafka_t *weir_bench_producer_create(const char *brokers, const char *transactional_id,
                                       enum weir_bench_reports reports,
                                       weir_bench_delivered_fn delivered, void *opaque,
                                       const struct weir_bench_settings *settings);

// Waits up to 5 s for the topic to be there with all its leaders.
int32_t weir_bench_partition_count(rd_kafka_t *handle, const char *topic);

// First and end offset of each partition; the caller frees the array.
struct weir_bench_partition *weir_bench_partitions(rd_kafka_t *consumer, const char *topic,
                                                   int32_t partition_count);

// Assigns the partitions p with p mod task_count = task to the consumer, each from its first
// offset. Returns the queue that carries the messages; the caller destroys it.
rd_kafka_queue_t *weir_bench_assign(rd_kafka_t *consumer, const char *topic,
                                    const struct weir_bench_partition *partitions,
                                    int32_t partition_count, int task, int task_count);

// Ends the process with the error's text if there is an error.
void weir_bench_check(rd_kafka_error_t *error, const char *what);

#endif
