// SPDX-License-Identifier: Apache-2.0
// Reads a topic: see the header. The position in a partition is one more than the offset of its
// last record, or what an end-of-partition event says: only that event passes transaction markers
// and aborted rows at the end of a partition.
#include "tests/harness/reader.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/base.h"
#include "tests/harness/client.h"

struct reader {
    rd_kafka_t *handle;
    struct weir_test_log *log;
    int64_t *goals; // end offset of each partition at the time of the call
    size_t *capacities;
    int32_t unfinished_count;
};

static rd_kafka_t *create_consumer(const char *bootstrap, bool is_uncommitted)
{
    const char *settings[] = {"group.id",
                              "weir-test-harness",
                              "isolation.level",
                              is_uncommitted ? "read_uncommitted" : "read_committed",
                              "enable.auto.commit",
                              "false",
                              "enable.partition.eof",
                              "true",
                              "auto.offset.reset",
                              "error",
                              "fetch.wait.max.ms",
                              "20",
                              "fetch.error.backoff.ms",
                              "20",
                              "queued.min.messages",
                              "1000000",
                              "topic.metadata.refresh.interval.ms",
                              "50", // wakes a fetcher that found its queue full
                              NULL};
    return weir_test_client_create(RD_KAFKA_CONSUMER, bootstrap, settings, NULL, NULL);
}

static void *copy_bytes(const void *bytes, size_t count)
{
    if (bytes == NULL) {
        return NULL;
    }
    char *copy = weir_test_alloc(count + 1); // with a NUL, for tests that print it
    memcpy(copy, bytes, count);
    return copy;
}

static void copy_headers(struct weir_test_record *record, const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    size_t count = rd_kafka_header_cnt(headers);
    struct weir_test_header *copies = weir_test_alloc(count * sizeof(*copies));
    for (size_t i = 0; i < count; i++) {
        const char *name;
        const void *value;
        size_t value_bytes;
        rd_kafka_header_get_all(headers, i, &name, &value, &value_bytes);
        copies[i].name = weir_test_format("%s", name);
        copies[i].value = copy_bytes(value, value_bytes);
        copies[i].value_bytes = value_bytes;
    }
    record->headers = copies;
    record->header_count = count;
}

static void keep(struct reader *reader, const rd_kafka_message_t *message)
{
    struct weir_test_log_partition *partition = &reader->log->partitions[message->partition];
    size_t *capacity = &reader->capacities[message->partition];
    if (partition->record_count == *capacity) {
        *capacity = *capacity > 0 ? *capacity * 2 : 64;
        partition->records =
            weir_test_realloc(partition->records, *capacity * sizeof(*partition->records));
    }
    struct weir_test_record *record = &partition->records[partition->record_count++];
    *record = (struct weir_test_record){.partition = message->partition,
                                        .offset = message->offset,
                                        .timestamp_ms = rd_kafka_message_timestamp(message, NULL),
                                        .key = copy_bytes(message->key, message->key_len),
                                        .key_bytes = message->key_len,
                                        .value = copy_bytes(message->payload, message->len),
                                        .value_bytes = message->len};
    copy_headers(record, message);
    reader->log->record_count++;
}

static void move_to(struct reader *reader, int32_t partition_idx, int64_t position)
{
    struct weir_test_log_partition *partition = &reader->log->partitions[partition_idx];
    int64_t goal = reader->goals[partition_idx];
    if (partition->end_offset < goal && position >= goal) {
        reader->unfinished_count--;
    }
    if (position > partition->end_offset) {
        partition->end_offset = position;
    }
}

static void handle_message(struct reader *reader, const rd_kafka_message_t *message,
                           bool is_past_ok)
{
    switch ((int)message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        if (!is_past_ok && message->offset >= reader->goals[message->partition]) {
            // Written after the call: not part of the answer, but it shows that the end is passed.
            move_to(reader, message->partition, reader->goals[message->partition]);
            return;
        }
        keep(reader, message);
        move_to(reader, message->partition, message->offset + 1);
        return;
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        move_to(reader, message->partition,
                is_past_ok || message->offset < reader->goals[message->partition]
                    ? message->offset
                    : reader->goals[message->partition]);
        return;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        WEIR_TEST_FAIL("reading failed: %s", rd_kafka_message_errstr(message));
    default:
        return; // brokers that come and go; the time-out is the judge
    }
}

static void assign(struct reader *reader, const char *topic)
{
    int32_t count = reader->log->partition_count;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int32_t i = 0; i < count; i++) {
        struct weir_test_log_partition *partition = &reader->log->partitions[i];
        weir_test_client_offsets(reader->handle, topic, i, &partition->first_offset,
                                 &reader->goals[i]);
        partition->end_offset = partition->first_offset;
        reader->unfinished_count += partition->end_offset < reader->goals[i];
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = partition->first_offset;
    }
    rd_kafka_resp_err_t code = rd_kafka_assign(reader->handle, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        WEIR_TEST_FAIL("cannot read %s: %s", topic, rd_kafka_err2str(code));
    }
}

static bool is_done(const struct reader *reader, const struct weir_test_read_options *options)
{
    return reader->unfinished_count == 0 &&
           (!options->has_minimum || reader->log->record_count >= options->record_count_min);
}

struct weir_test_log *weir_test_read(const char *bootstrap, const char *topic,
                                     const struct weir_test_read_options *options)
{
    struct weir_test_read_options defaults = {0};
    options = options != NULL ? options : &defaults;
    int64_t deadline_ms =
        weir_test_now_ms() + (options->timeout_ms > 0 ? options->timeout_ms : 60000);
    struct reader reader = {.handle = create_consumer(bootstrap, options->is_uncommitted),
                            .log = weir_test_alloc(sizeof(*reader.log))};
    reader.log->partition_count = weir_test_client_partition_count(reader.handle, topic);
    if (reader.log->partition_count == 0) {
        WEIR_TEST_FAIL("no topic %s", topic);
    }
    size_t count = (size_t)reader.log->partition_count;
    reader.log->partitions = weir_test_alloc(count * sizeof(*reader.log->partitions));
    reader.goals = weir_test_alloc(count * sizeof(*reader.goals));
    reader.capacities = weir_test_alloc(count * sizeof(*reader.capacities));
    assign(&reader, topic);
    while (!is_done(&reader, options)) {
        if (weir_test_now_ms() >= deadline_ms) {
            if (!options->has_minimum) {
                WEIR_TEST_FAIL("%d partitions of %s were not read to their end in time",
                               reader.unfinished_count, topic);
            }
            break;
        }
        rd_kafka_message_t *message = rd_kafka_consumer_poll(reader.handle, 20);
        if (message != NULL) {
            handle_message(&reader, message, options->has_minimum);
            rd_kafka_message_destroy(message);
        }
    }
    rd_kafka_assign(reader.handle, NULL);
    rd_kafka_consumer_close(reader.handle);
    rd_kafka_destroy(reader.handle);
    free(reader.goals);
    free(reader.capacities);
    return reader.log;
}

struct weir_test_log *weir_test_read_count(const char *bootstrap, const char *topic,
                                           size_t record_count, int timeout_ms)
{
    struct weir_test_read_options options = {
        .has_minimum = true, .record_count_min = record_count, .timeout_ms = timeout_ms};
    return weir_test_read(bootstrap, topic, &options);
}

const struct weir_test_header *weir_test_record_header(const struct weir_test_record *record,
                                                       const char *name)
{
    for (size_t i = 0; i < record->header_count; i++) {
        if (strcmp(record->headers[i].name, name) == 0) {
            return &record->headers[i];
        }
    }
    return NULL;
}

static void free_borrowed(const void *memory)
{
    free((void *)(uintptr_t)memory); // records show their bytes as constant
}

void weir_test_log_destroy(struct weir_test_log *log)
{
    for (int32_t i = 0; log != NULL && i < log->partition_count; i++) {
        for (size_t j = 0; j < log->partitions[i].record_count; j++) {
            struct weir_test_record *record = &log->partitions[i].records[j];
            for (size_t k = 0; k < record->header_count; k++) {
                free_borrowed(record->headers[k].name);
                free_borrowed(record->headers[k].value);
            }
            free_borrowed(record->headers);
            free_borrowed(record->key);
            free_borrowed(record->value);
        }
        free(log->partitions[i].records);
    }
    if (log != NULL) {
        free(log->partitions);
    }
    free(log);
}
