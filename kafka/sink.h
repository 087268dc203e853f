// SPDX-License-Identifier: Apache-2.0
// The sink: rows become messages of one topic. Encodes value and key, chooses partition and
// timestamp and hands the message to its writer.
#ifndef WEIR_KAFKA_SINK_H
#define WEIR_KAFKA_SINK_H

#include "kafka/format.h"
#include "kafka/writer.h"

struct weir_sink_config {
    const char *id;
    const char *name;
    const char *table;
    struct weir_writer *writer;          // taken over
    struct weir_encoder *value_encoder;  // taken over
    struct weir_encoder *key_encoder;    // taken over; NULL: null key
    bool has_headers;            // of a column, jsonb or text[], that is not in the value
    uint32_t headers_column;     // of the rows' schema
    bool is_keyed; // upserts and tombstones by the rows' change kinds
    bool is_timestamp_now;               // the wall clock instead of the event time
    const struct weir_clock *clock;
};

struct weir_operator *weir_sink_create(const struct weir_sink_config *config);

// Figures of one sink. Thread: any.
struct weir_sink_stats {
    uint64_t row_count;
    uint64_t byte_count;    // keys and values
    uint64_t clamped_count; // timestamps that a broker would have refused
};
struct weir_sink_stats weir_sink_stats(const struct weir_operator *sink);

// Java's murmur2 of the key, made non-negative: where Kafka's default partitioner puts it.
uint32_t weir_murmur2(struct weir_view key);

// What is written for an event time: what lies ahead of the wall clock is now, what lies before
// 1970 is 1 ms (0 would be taken for "now"). *is_clamped is set, never cleared.
int64_t weir_message_timestamp_ms(int64_t event_time_us, int64_t wall_ms, bool *is_clamped);

#endif
