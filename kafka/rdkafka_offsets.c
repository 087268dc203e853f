// SPDX-License-Identifier: Apache-2.0
// Questions about offsets: what the group has committed, where partitions begin and end, which
// record lies at an offset. Asked on the two handles for questions, because librdkafka answers by
// the isolation level of the handle: a read_uncommitted one gives the high watermark and the
// offsets committed before a pending transaction, a read_committed one the last stable offset and
// waits for pending offsets. Any thread; every call ends by its time-out.
#include "kafka/rdkafka_error.h"
#include "kafka/rdkafka_handle.h"

#include "runtime/base/assert.h"
#include "runtime/base/clock.h"

#include <string.h>
#include <zlib.h>

static rd_kafka_topic_partition_list_t *
list_of(uint32_t count, const struct weir_topic_partition *partitions, int64_t offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (uint32_t i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, partitions[i].topic, partitions[i].partition)
            ->offset = offset;
    }
    return list;
}

static enum weir_status set_partition_error(struct weir_error *error,
                                            const rd_kafka_topic_partition_t *partition,
                                            const char *what)
{
    weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, partition->err, NULL,
                           "%s of topic '%s', partition %d", what, partition->topic,
                           (int)partition->partition);
    return weir_rdkafka_error_name_right(
        error, partition->err, "Read (of a source) or Write (of a sink)", partition->topic);
}

// --- committed -----------------------------------------------------------------------------------

static void read_committed_offset(const rd_kafka_topic_partition_t *partition,
                                  struct weir_committed *committed)
{
    *committed =
        (struct weir_committed){.has_offset = partition->offset >= 0, .offset = partition->offset};
    if (partition->offset < 0 || partition->metadata == NULL) {
        return;
    }
    // Not NUL-terminated.
    size_t size_bytes = partition->metadata_size;
    if (size_bytes > sizeof(committed->metadata) - 1) {
        size_bytes = sizeof(committed->metadata) - 1;
    }
    memcpy(committed->metadata, partition->metadata, size_bytes);
    committed->metadata[size_bytes] = '\0';
}

// A group whose coordinator may not be asked for looks like brokers that do not answer: the client
// goes on asking. It says why once, in the queue of records.
static bool is_group_denied(struct weir_rdkafka *kafka, rd_kafka_t *handle)
{
    rd_kafka_message_t *message;
    pthread_mutex_lock(&kafka->record_lock);
    while ((message = rd_kafka_consumer_poll(handle, 0)) != NULL) {
        kafka->is_group_denied |= message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
        rd_kafka_message_destroy(message);
    }
    bool is_denied = kafka->is_group_denied;
    pthread_mutex_unlock(&kafka->record_lock);
    return is_denied;
}

static enum weir_status set_committed_error(struct weir_rdkafka *kafka, rd_kafka_t *handle,
                                            rd_kafka_resp_err_t code, struct weir_error *error)
{
    if ((code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR__WAIT_COORD) &&
        is_group_denied(kafka, handle)) {
        code = RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
    }
    weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code, NULL, "asking for committed offsets");
    return weir_rdkafka_error_name_right(error, code, "Read", kafka->group_id);
}

enum weir_status weir_rdkafka_committed(struct weir_kafka *base, enum weir_isolation isolation,
                                        uint32_t count,
                                        const struct weir_topic_partition *partitions,
                                        struct weir_committed *committed, int32_t timeout_ms,
                                        struct weir_error *error)
{
    struct weir_rdkafka *kafka = weir_rdkafka_of(base);
    rd_kafka_t *handle = weir_rdkafka_question(kafka, isolation, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    if (count == 0) {
        return WEIR_OK;
    }
    rd_kafka_topic_partition_list_t *list = list_of(count, partitions, RD_KAFKA_OFFSET_INVALID);
    enum weir_status status = WEIR_OK;
    rd_kafka_resp_err_t code = rd_kafka_committed(handle, list, timeout_ms);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        status = set_committed_error(kafka, handle, code, error);
        goto out;
    }
    pthread_mutex_lock(&kafka->record_lock);
    kafka->is_group_denied = false;
    pthread_mutex_unlock(&kafka->record_lock);
    for (uint32_t i = 0; i < count; i++) {
        if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = set_partition_error(error, &list->elems[i], "committed offset");
            goto out;
        }
        read_committed_offset(&list->elems[i], &committed[i]);
    }
out:
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

// --- begin, end, timestamp -----------------------------------------------------------------------

enum { REFRESH_TIMEOUT_MS = 2000 };

// A handle keeps what it knows of a topic for minutes: a partition that was added since is unknown
// to it until it asks again, and a leader that has moved is asked where it is no longer. What comes
// of it is seen by the caller's next try.
static void refresh_topic(rd_kafka_t *handle, const char *topic, int32_t timeout_ms)
{
    rd_kafka_topic_t *topic_handle = rd_kafka_topic_new(handle, topic, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    if (topic_handle != NULL && rd_kafka_metadata(handle, 0, topic_handle, &metadata, timeout_ms) ==
                                    RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }
    if (topic_handle != NULL) {
        rd_kafka_topic_destroy(topic_handle);
    }
}

static void refresh_topics(rd_kafka_t *handle, uint32_t count,
                           const struct weir_topic_partition *partitions, int32_t timeout_ms)
{
    timeout_ms = timeout_ms < REFRESH_TIMEOUT_MS ? timeout_ms : REFRESH_TIMEOUT_MS;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(partitions[i].topic, partitions[i - 1].topic) != 0) {
            refresh_topic(handle, partitions[i].topic, timeout_ms);
        }
    }
}

// One request a leader for all partitions. The protocol takes -2 for the first offset and -1 for
// the end where others give a timestamp, and so does librdkafka, whose logical offsets are the
// same.
static enum weir_status list_offsets(rd_kafka_t *handle, int64_t timestamp_ms, uint32_t count,
                                     const struct weir_topic_partition *partitions,
                                     int64_t *offsets, int32_t timeout_ms, struct weir_error *error)
{
    rd_kafka_topic_partition_list_t *list = list_of(count, partitions, timestamp_ms);
    enum weir_status status = WEIR_OK;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(handle, list, timeout_ms);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        status = weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code, NULL, "asking for offsets");
        refresh_topics(handle, count, partitions, timeout_ms);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = set_partition_error(error, &list->elems[i], "offset");
            refresh_topic(handle, list->elems[i].topic, timeout_ms);
            goto out;
        }
        offsets[i] = list->elems[i].offset;
    }
out:
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

// Partitions without a record at or after the timestamp begin at their end.
static enum weir_status fill_missing_with_end(rd_kafka_t *handle, uint32_t count,
                                              const struct weir_topic_partition *partitions,
                                              int64_t *offsets, int32_t timeout_ms,
                                              struct weir_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (offsets[i] < 0 && list_offsets(handle, RD_KAFKA_OFFSET_END, 1, &partitions[i],
                                           &offsets[i], timeout_ms, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

enum weir_status weir_rdkafka_offsets(struct weir_kafka *kafka, enum weir_offset_query query,
                                      int64_t timestamp_ms, uint32_t count,
                                      const struct weir_topic_partition *partitions,
                                      int64_t *offsets, int32_t timeout_ms,
                                      struct weir_error *error)
{
    enum weir_isolation isolation = WEIR_READ_COMMITTED;
    int64_t wanted = RD_KAFKA_OFFSET_BEGINNING;
    switch (query) {
    case WEIR_OFFSET_EARLIEST:
        break;
    case WEIR_OFFSET_LATEST:
        isolation = WEIR_READ_UNCOMMITTED;
        wanted = RD_KAFKA_OFFSET_END;
        break;
    case WEIR_OFFSET_STABLE:
        wanted = RD_KAFKA_OFFSET_END;
        break;
    case WEIR_OFFSET_TIMESTAMP:
        // Read committed: behind the last stable offset lie records that may come yet.
        wanted = timestamp_ms > 0 ? timestamp_ms : 0;
        break;
    }
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), isolation, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    if (count == 0) {
        return WEIR_OK;
    }
    if (list_offsets(handle, wanted, count, partitions, offsets, timeout_ms, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (query == WEIR_OFFSET_TIMESTAMP) {
        return fill_missing_with_end(handle, count, partitions, offsets, timeout_ms, error);
    }
    return WEIR_OK;
}

// --- one record ----------------------------------------------------------------------------------

enum look {
    LOOK_AGAIN,
    LOOK_FOUND,
    LOOK_NOTHING,
    LOOK_FAILED,
};

// What a message tells about the record that is looked for.
static enum look look_at(const rd_kafka_message_t *message, const struct weir_topic_partition *at,
                         int64_t offset, struct weir_error *error)
{
    // Errors of brokers and leftovers of the record that was asked for before.
    if (message->rkt == NULL || message->partition != at->partition ||
        strcmp(rd_kafka_topic_name(message->rkt), at->topic) != 0) {
        return LOOK_AGAIN;
    }
    switch ((int)message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        if (message->offset == offset) {
            return LOOK_FOUND;
        }
        return message->offset > offset ? LOOK_NOTHING : LOOK_AGAIN;
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return LOOK_NOTHING;
    default:
        weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, message->err,
                               rd_kafka_message_errstr(message),
                               "looking at topic '%s', partition %d, offset %lld", at->topic,
                               (int)at->partition, (long long)offset);
        weir_rdkafka_error_name_right(error, message->err, "Read", at->topic);
        return LOOK_FAILED;
    }
}

static uint32_t crc_of(const rd_kafka_message_t *message)
{
    uLong crc = crc32(0, NULL, 0);
    if (message->key != NULL) {
        crc = crc32_z(crc, message->key, message->key_len);
    }
    if (message->payload != NULL) {
        crc = crc32_z(crc, message->payload, message->len);
    }
    return (uint32_t)crc;
}

static enum weir_status assign_one(rd_kafka_t *handle, const struct weir_topic_partition *at,
                                   int64_t offset, struct weir_error *error)
{
    rd_kafka_topic_partition_list_t *list = list_of(1, at, offset);
    rd_kafka_resp_err_t code = rd_kafka_assign(handle, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return WEIR_OK;
    }
    return weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code, NULL,
                                  "looking at topic '%s', partition %d", at->topic,
                                  (int)at->partition);
}

// Records behind the one that was looked for; left in the queue they would hold up the next look.
static void drop_rest(rd_kafka_t *handle)
{
    rd_kafka_message_t *message;
    while ((message = rd_kafka_consumer_poll(handle, 0)) != NULL) {
        rd_kafka_message_destroy(message);
    }
}

enum weir_status weir_rdkafka_record_at(struct weir_kafka *base,
                                        const struct weir_topic_partition *at, int64_t offset,
                                        bool *found, int64_t *timestamp_ms, uint32_t *crc32_out,
                                        int32_t timeout_ms, struct weir_error *error)
{
    struct weir_rdkafka *kafka = weir_rdkafka_of(base);
    rd_kafka_t *handle = weir_rdkafka_question(kafka, WEIR_READ_UNCOMMITTED, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    WEIR_ASSERT(offset >= 0);
    *found = false;
    int64_t deadline_ms = weir_now_ms(&weir_system_clock) + timeout_ms;
    pthread_mutex_lock(&kafka->record_lock);
    enum weir_status status = assign_one(handle, at, offset, error);
    enum look look = LOOK_AGAIN;
    while (status == WEIR_OK && look == LOOK_AGAIN) {
        int64_t left_ms = deadline_ms - weir_now_ms(&weir_system_clock);
        if (left_ms <= 0) {
            status =
                weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR__TIMED_OUT, NULL,
                                       "looking at topic '%s', partition %d, offset %lld",
                                       at->topic, (int)at->partition, (long long)offset);
            break;
        }
        rd_kafka_message_t *message = rd_kafka_consumer_poll(handle, (int)left_ms);
        if (message == NULL) {
            continue;
        }
        look = look_at(message, at, offset, error);
        if (look == LOOK_FOUND) {
            rd_kafka_timestamp_type_t timestamp_type;
            *found = true;
            *timestamp_ms = rd_kafka_message_timestamp(message, &timestamp_type);
            *crc32_out = crc_of(message);
        } else if (look == LOOK_FAILED) {
            status = WEIR_ERROR;
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_assign(handle, NULL);
    drop_rest(handle);
    pthread_mutex_unlock(&kafka->record_lock);
    return status;
}
