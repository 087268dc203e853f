// SPDX-License-Identifier: Apache-2.0
// A consumer handle of librdkafka as struct weir_consumer: the first step of a record's way.
// Records are handed on as views into librdkafka's messages; nothing is copied. Belongs to one
// thread.
//
// Invariants:
//   1. live[] holds exactly the messages that were fetched and not yet released: rd_kafka_destroy
//      hangs for ever while one of them lives.
//   2. A slot of the lookup is filled by the name of a topic, once per (topic handle, partition);
//      after that the pointer of the handle decides. librdkafka keeps one handle per topic for as
//      long as a partition of it is assigned.
// It does not decide what an error of a partition means for the job: it says so in the record.
#include "kafka/rdkafka_error.h"
#include "kafka/rdkafka_handle.h"

#include "runtime/base/assert.h"
#include "runtime/base/clock.h"
#include "runtime/base/memory.h"

#include <string.h>
#include <unistd.h>

enum {
    // librdkafka before 2.2.0 looks again after a full queue only when its broker thread happens to
    // wake, up to a second later. A request made now and then wakes it (keep_fetching).
    WAKE_INTERVAL_MS = 20,
    MESSAGES_AHEAD = 8, // brought into the processor's cache while one is looked at
    QUEUE_IS_DRAINED_IN_MS = 1000,

    ERRORS_MAX = 16, // texts kept until release; more of them share the last
};

struct partition {
    const char *topic;
    int32_t partition;
};

struct slot {
    const rd_kafka_topic_t *topic; // NULL: empty
    int32_t partition;
    uint32_t idx;
};

struct consumer {
    struct weir_consumer base;
    struct weir_rdkafka *kafka;
    rd_kafka_t *handle;
    rd_kafka_queue_t *queue;

    struct partition *partitions; // as assigned
    uint32_t partition_count;
    struct slot *slots; // open addressing, a power of two of them
    uint32_t slot_mask;
    struct slot last; // records come in runs of one partition

    rd_kafka_message_t **live;
    uint32_t live_count;
    uint32_t live_capacity;

    struct weir_error errors[ERRORS_MAX];
    uint32_t error_count;

    // For librdkafka without fetch.queue.backoff.ms.
    bool needs_waking;
    int64_t wake_ms;
    uint64_t records_since_wake;
    uint64_t bytes_since_wake;
    uint64_t records_to_wake;
    uint64_t bytes_to_wake;
};

static struct consumer *consumer_of(struct weir_consumer *base)
{
    return (struct consumer *)base; // base is the first member
}

// --- from topic handle and partition to the index given to assign --------------------------------

static uint32_t slot_hash(const rd_kafka_topic_t *topic, int32_t partition)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)topic >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    mixed ^= (uint64_t)(uint32_t)partition * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (uint32_t)(mixed >> 32);
}

static void reset_slots(struct consumer *consumer)
{
    uint32_t slot_count = 8;
    while (slot_count < consumer->partition_count * 2) {
        slot_count *= 2;
    }
    free(consumer->slots);
    consumer->slots = weir_alloc_zero(slot_count * sizeof(consumer->slots[0]));
    consumer->slot_mask = slot_count - 1;
    consumer->last = (struct slot){0};
}

static bool find_by_name(const struct consumer *consumer, const rd_kafka_topic_t *topic,
                         int32_t partition, uint32_t *idx)
{
    const char *name = rd_kafka_topic_name(topic);
    for (uint32_t i = 0; i < consumer->partition_count; i++) {
        if (consumer->partitions[i].partition == partition &&
            strcmp(consumer->partitions[i].topic, name) == 0) {
            *idx = i;
            return true;
        }
    }
    return false;
}

// False: a leftover of an earlier assignment.
static bool find_partition(struct consumer *consumer, const rd_kafka_topic_t *topic,
                           int32_t partition, uint32_t *idx)
{
    if (consumer->last.topic == topic && consumer->last.partition == partition) {
        *idx = consumer->last.idx;
        return true;
    }
    uint32_t at = slot_hash(topic, partition) & consumer->slot_mask;
    while (consumer->slots[at].topic != NULL) {
        if (consumer->slots[at].topic == topic && consumer->slots[at].partition == partition) {
            consumer->last = consumer->slots[at];
            *idx = consumer->last.idx;
            return true;
        }
        at = (at + 1) & consumer->slot_mask;
    }
    if (!find_by_name(consumer, topic, partition, idx)) {
        return false;
    }
    consumer->slots[at] = (struct slot){.topic = topic, .partition = partition, .idx = *idx};
    consumer->last = consumer->slots[at];
    return true;
}

// --- fetch ---------------------------------------------------------------------------------------

static void reserve_live(struct consumer *consumer, uint32_t more)
{
    uint32_t needed = consumer->live_count + more;
    if (needed > consumer->live_capacity) {
        uint32_t capacity = consumer->live_capacity * 2;
        consumer->live_capacity = needed > capacity ? needed : capacity;
        consumer->live =
            weir_realloc(consumer->live, consumer->live_capacity * sizeof(consumer->live[0]));
    }
}

// rd_kafka_consume_batch_queue waits for a full batch, so only the first record is waited for.
static uint32_t take_batch(struct consumer *consumer, uint32_t max, int32_t timeout_ms)
{
    rd_kafka_message_t **messages = consumer->live + consumer->live_count;
    ssize_t count = rd_kafka_consume_batch_queue(consumer->queue, 0, messages, max);
    if (count != 0 || timeout_ms == 0) {
        return count > 0 ? (uint32_t)count : 0;
    }
    count = rd_kafka_consume_batch_queue(consumer->queue, timeout_ms, messages, 1);
    if (count <= 0 || max == 1) {
        return count > 0 ? (uint32_t)count : 0;
    }
    ssize_t more = rd_kafka_consume_batch_queue(consumer->queue, 0, messages + 1, max - 1);
    return more > 0 ? 1 + (uint32_t)more : 1;
}

static struct weir_error *next_error(struct consumer *consumer)
{
    if (consumer->error_count < ERRORS_MAX) {
        consumer->error_count++;
    }
    return &consumer->errors[consumer->error_count - 1];
}

// What is no record: the end of a partition, an error. False: nothing for the caller.
static bool read_event(struct consumer *consumer, const rd_kafka_message_t *message,
                       struct weir_fetched *fetched)
{
    uint32_t idx;
    if (message->rkt == NULL) {
        weir_rdkafka_note_error(consumer->kafka, message->err, rd_kafka_message_errstr(message));
        return false;
    }
    if (!find_partition(consumer, message->rkt, message->partition, &idx)) {
        return false;
    }
    const struct partition *partition = &consumer->partitions[idx];
    *fetched = (struct weir_fetched){
        .kind = WEIR_FETCH_END,
        .partition_idx = idx,
        .record = {.topic = partition->topic,
                   .partition = partition->partition,
                   .offset = message->offset,
                   .timestamp_ms = -1,
                   .ops = &weir_rdkafka_record_ops},
    };
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        return true;
    }
    fetched->kind = WEIR_FETCH_ERROR;
    struct weir_error *error = next_error(consumer);
    weir_rdkafka_error_set(error, WEIR_RDKAFKA_CONSUME, message->err,
                           rd_kafka_message_errstr(message), "reading topic '%s', partition %d",
                           partition->topic, (int)partition->partition);
    weir_rdkafka_error_name_right(error, message->err, "Read", partition->topic);
    fetched->error = error;
    return true;
}

// Wakes librdkafka's broker threads when the queue could run dry before they look at it again, and
// when it has (is_dry): what was drained within one interval would else be waited for. A metadata
// request that nobody waits for goes to a random broker that is up: with few brokers each is woken
// often enough. Costs nothing while little is read.
static void keep_fetching(struct consumer *consumer, uint32_t record_count, uint64_t size_bytes,
                          bool is_dry)
{
    consumer->records_since_wake += record_count;
    consumer->bytes_since_wake += size_bytes;
    if (consumer->records_since_wake < consumer->records_to_wake &&
        consumer->bytes_since_wake < consumer->bytes_to_wake) {
        return;
    }
    int64_t now_ms = weir_now_ms(&weir_system_clock);
    if (!is_dry && now_ms - consumer->wake_ms < WAKE_INTERVAL_MS) {
        return;
    }
    bool is_fast = now_ms - consumer->wake_ms < QUEUE_IS_DRAINED_IN_MS;
    consumer->wake_ms = now_ms;
    consumer->records_since_wake = 0;
    consumer->bytes_since_wake = 0;
    if (is_fast) {
        const struct rd_kafka_metadata *metadata = NULL;
        rd_kafka_topic_t *topic =
            consumer->live_count != 0 ? consumer->live[consumer->live_count - 1]->rkt : NULL;
        if (rd_kafka_metadata(consumer->handle, 0, topic, &metadata, 0) ==
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            rd_kafka_metadata_destroy(metadata);
        }
    }
}

static enum weir_status consumer_fetch(struct weir_consumer *base, uint32_t max, int32_t timeout_ms,
                                       struct weir_fetched *fetched, uint32_t *count,
                                       struct weir_error *error)
{
    struct consumer *consumer = consumer_of(base);
    reserve_live(consumer, max);
    uint32_t taken = take_batch(consumer, max, timeout_ms);
    rd_kafka_message_t **messages = consumer->live + consumer->live_count;
    uint32_t kept = 0;  // messages that stay alive: they are moved to the front
    uint32_t given = 0; // entries of fetched[]
    uint64_t size_bytes = 0;
    bool has_event = false;
    for (uint32_t i = 0; i < taken; i++) {
        rd_kafka_message_t *message = messages[i];
        uint32_t idx;
        if (i + MESSAGES_AHEAD < taken) { // another thread has written it, on another core
            __builtin_prefetch(messages[i + MESSAGES_AHEAD]);
            __builtin_prefetch((const char *)messages[i + MESSAGES_AHEAD] + 64);
        }
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            given += read_event(consumer, message, &fetched[given]) ? 1 : 0;
            rd_kafka_message_destroy(message);
            has_event = true;
            continue;
        }
        if (!find_partition(consumer, message->rkt, message->partition, &idx)) {
            rd_kafka_message_destroy(message);
            continue;
        }
        rd_kafka_timestamp_type_t timestamp_type;
        fetched[given++] = (struct weir_fetched){
            .kind = WEIR_FETCH_RECORD,
            .partition_idx = idx,
            .record = {.topic = consumer->partitions[idx].topic,
                       .partition = message->partition,
                       .offset = message->offset,
                       .timestamp_ms = rd_kafka_message_timestamp(message, &timestamp_type),
                       .key = {.data = message->key, .size_bytes = message->key_len},
                       .value = {.data = message->payload, .size_bytes = message->len},
                       .message = message,
                       .ops = &weir_rdkafka_record_ops},
        };
        size_bytes += message->key_len + message->len;
        messages[kept++] = message;
    }
    consumer->live_count += kept;
    *count = given;
    if (consumer->needs_waking) {
        keep_fetching(consumer, kept, size_bytes, taken == 0);
    }
    if (has_event && rd_kafka_fatal_error(consumer->handle, NULL, 0) != 0) {
        return weir_rdkafka_error_set_fatal(error, WEIR_RDKAFKA_CONSUME, consumer->handle,
                                            "reading", NULL);
    }
    return WEIR_OK;
}

static void consumer_release(struct weir_consumer *base)
{
    struct consumer *consumer = consumer_of(base);
    for (uint32_t i = 0; i < consumer->live_count; i++) {
        rd_kafka_message_destroy(consumer->live[i]);
    }
    consumer->live_count = 0;
    consumer->error_count = 0;
}

// --- the rest ------------------------------------------------------------------------------------

static enum weir_status consumer_assign(struct weir_consumer *base, uint32_t count,
                                        const struct weir_partition_start *starts,
                                        struct weir_error *error)
{
    struct consumer *consumer = consumer_of(base);
    WEIR_ASSERT(consumer->live_count == 0);
    // Other threads ask for watermarks meanwhile: the same partitions stay where they are.
    if (consumer->partitions == NULL || count != consumer->partition_count) {
        consumer->partitions =
            weir_realloc(consumer->partitions, (count + 1) * sizeof(consumer->partitions[0]));
        memset(consumer->partitions, 0, (count + 1) * sizeof(consumer->partitions[0]));
        consumer->partition_count = count;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (uint32_t i = 0; i < count; i++) {
        struct partition *partition = &consumer->partitions[i];
        if (partition->topic != starts[i].topic || partition->partition != starts[i].partition) {
            *partition =
                (struct partition){.topic = starts[i].topic, .partition = starts[i].partition};
        }
        if (starts[i].offset >= 0) {
            rd_kafka_topic_partition_list_add(list, starts[i].topic, starts[i].partition)->offset =
                starts[i].offset;
        }
    }
    reset_slots(consumer);
    rd_kafka_resp_err_t code = rd_kafka_assign(consumer->handle, list->cnt != 0 ? list : NULL);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return weir_rdkafka_error_set(error, WEIR_RDKAFKA_CONSUME, code, NULL,
                                      "assigning %u partitions", count);
    }
    return WEIR_OK;
}

static void consumer_wake_on_data(struct weir_consumer *base, int descriptor)
{
    struct consumer *consumer = consumer_of(base);
    static const uint64_t one = 1;
    rd_kafka_queue_io_event_enable(consumer->queue, descriptor, &one, sizeof(one));
    if (descriptor >= 0 && rd_kafka_queue_length(consumer->queue) != 0) {
        // What came before is not told again. A full eventfd is awake already.
        (void)!write(descriptor, &one, sizeof(one));
    }
}

static int64_t consumer_high_watermark(struct weir_consumer *base, uint32_t partition_idx)
{
    struct consumer *consumer = consumer_of(base);
    WEIR_ASSERT(partition_idx < consumer->partition_count);
    const struct partition *partition = &consumer->partitions[partition_idx];
    int64_t low = -1;
    int64_t high = -1;
    if (rd_kafka_get_watermark_offsets(consumer->handle, partition->topic, partition->partition,
                                       &low, &high) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return -1;
    }
    return high >= 0 ? high : -1;
}

static void consumer_destroy(struct weir_consumer *base)
{
    struct consumer *consumer = consumer_of(base);
    if (consumer == NULL) {
        return;
    }
    consumer_release(base);
    rd_kafka_queue_io_event_enable(consumer->queue, -1, NULL, 0);
    rd_kafka_assign(consumer->handle, NULL);
    rd_kafka_queue_destroy(consumer->queue);
    weir_rdkafka_stats_close(consumer->handle);
    weir_rdkafka_handle_destroy(consumer->kafka, consumer->handle);
    free(consumer->partitions);
    free(consumer->slots);
    free(consumer->live);
    free(consumer);
}

static const struct weir_consumer_ops consumer_ops = {
    .assign = consumer_assign,
    .fetch = consumer_fetch,
    .release = consumer_release,
    .wake_on_data = consumer_wake_on_data,
    .high_watermark = consumer_high_watermark,
    .destroy = consumer_destroy,
};

enum weir_status weir_rdkafka_consumer_create(struct weir_kafka *kafka,
                                              struct weir_consumer **consumer_out,
                                              struct weir_error *error)
{
    struct weir_rdkafka *owner = weir_rdkafka_of(kafka);
    rd_kafka_conf_t *conf = weir_rdkafka_conf_create(owner, WEIR_RDKAFKA_CONSUMER, NULL, error);
    if (conf == NULL) {
        return WEIR_ERROR;
    }
    rd_kafka_conf_set_error_cb(conf, weir_rdkafka_on_error);
    rd_kafka_conf_set_stats_cb(conf, weir_rdkafka_on_stats);
    rd_kafka_t *handle = weir_rdkafka_handle_create(RD_KAFKA_CONSUMER, conf, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    rd_kafka_poll_set_consumer(handle);

    struct consumer *consumer = weir_alloc_zero(sizeof(*consumer));
    consumer->base.ops = &consumer_ops;
    consumer->kafka = owner;
    consumer->handle = handle;
    consumer->queue = rd_kafka_queue_get_consumer(handle);
    weir_rdkafka_stats_open(handle, "fetch_queue");
    consumer->needs_waking = !weir_rdkafka_property_exists("fetch.queue.backoff.ms");
    // Half of what may be queued, drained within the second that librdkafka may sleep.
    const int64_t windows = 2 * QUEUE_IS_DRAINED_IN_MS / WAKE_INTERVAL_MS;
    consumer->records_to_wake =
        (uint64_t)(weir_rdkafka_handle_setting(handle, "queued.min.messages") / windows);
    consumer->bytes_to_wake =
        (uint64_t)(weir_rdkafka_handle_setting(handle, "queued.max.messages.kbytes") * 1024 /
                   windows);
    reset_slots(consumer);
    *consumer_out = &consumer->base;
    return WEIR_OK;
}
