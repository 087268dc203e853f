// SPDX-License-Identifier: Apache-2.0
// See client.h: questions, and what the linker puts in the place of librdkafka's client.
#include "tests/sim/client.h"

#include "runtime/base/memory.h"
#include "tests/sim/broker.h"
#include "tests/sim/canary.h"
#include "tests/sim/fiber.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"
#include "tests/sim/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { PENDING_PAUSE_US = 20000, LOOKED_MAX = 64, MESSAGE_BYTES_MAX = 1048588 };

struct client {
    struct weir_kafka base;
    int64_t transaction_timeout_ms;
    uint32_t looked_count; // what the last look without fencing saw, for a canary
    struct weir_committed looked[LOOKED_MAX];
};

static enum weir_status no_answer(struct weir_error *error, const char *what)
{
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "%s: no answer", what);
}

static enum weir_status cluster_id(struct weir_kafka *kafka, char *text, size_t size_bytes,
                                   int32_t timeout_ms, struct weir_error *error)
{
    (void)kafka;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "cluster id");
    }
    snprintf(text, size_bytes, "sim-cluster");
    return WEIR_OK;
}

static enum weir_status topic_info(struct weir_kafka *kafka, const char *name,
                                   struct weir_topic_info *info, int32_t timeout_ms,
                                   struct weir_error *error)
{
    (void)kafka;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "topic");
    }
    *info = (struct weir_topic_info){0};
    snprintf(info->name, sizeof info->name, "%s", name);
    const struct sim_topic *topic = sim_topic_find(name);
    if (topic != NULL) {
        info->exists = true;
        info->partition_count = topic->partition_count;
        snprintf(info->topic_id, sizeof info->topic_id, "%s", topic->topic_id);
    }
    return WEIR_OK;
}

static bool is_any_pending(uint32_t count, const struct weir_topic_partition *partitions)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_offset offset;
        bool is_pending;
        sim_group_offset(partitions[i].topic, partitions[i].partition, &offset, &is_pending);
        if (is_pending) {
            return true;
        }
    }
    return false;
}

static void read_offsets(uint32_t count, const struct weir_topic_partition *partitions,
                         struct weir_committed *committed)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_offset offset;
        bool is_pending;
        committed[i] = (struct weir_committed){0};
        if (sim_group_offset(partitions[i].topic, partitions[i].partition, &offset, &is_pending)) {
            committed[i].has_offset = true;
            committed[i].offset = offset.offset;
            snprintf(committed[i].metadata, sizeof committed[i].metadata, "%s", offset.metadata);
        }
    }
}

static enum weir_status committed_offsets(struct weir_kafka *kafka, enum weir_isolation isolation,
                                          uint32_t count,
                                          const struct weir_topic_partition *partitions,
                                          struct weir_committed *committed, int32_t timeout_ms,
                                          struct weir_error *error)
{
    struct client *client = (struct client *)kafka;
    int64_t deadline_us = sim_now_us() + (int64_t)timeout_ms * 1000;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "committed offsets");
    }
    if (isolation == WEIR_READ_COMMITTED && sim_canary_is(SIM_CANARY_OFFSETS_BEFORE_FENCING) &&
        client->looked_count == count) {
        memcpy(committed, client->looked, count * sizeof *committed);
        return WEIR_OK;
    }
    while (isolation == WEIR_READ_COMMITTED && is_any_pending(count, partitions)) {
        if (sim_now_us() >= deadline_us) {
            return no_answer(error, "committed offsets are pending");
        }
        sim_sleep_us(PENDING_PAUSE_US);
    }
    read_offsets(count, partitions, committed);
    if (isolation == WEIR_READ_UNCOMMITTED && count <= LOOKED_MAX) {
        client->looked_count = count;
        memcpy(client->looked, committed, count * sizeof *committed);
    }
    return WEIR_OK;
}

static int64_t find_offset(const struct sim_partition *partition, enum weir_offset_query query,
                           int64_t timestamp_ms)
{
    uint32_t stable = sim_partition_stable(partition);
    switch (query) {
    case WEIR_OFFSET_EARLIEST:
        return 0;
    case WEIR_OFFSET_LATEST:
        return partition->count;
    case WEIR_OFFSET_STABLE:
        return stable;
    case WEIR_OFFSET_TIMESTAMP:
        for (uint32_t i = 0; i < stable; i++) {
            if (partition->records[i].state != SIM_RECORD_MARKER &&
                partition->records[i].timestamp_ms >= timestamp_ms) {
                return i;
            }
        }
        return stable;
    }
    return -1;
}

static enum weir_status offsets(struct weir_kafka *kafka, enum weir_offset_query query,
                                int64_t timestamp_ms, uint32_t count,
                                const struct weir_topic_partition *partitions, int64_t *found,
                                int32_t timeout_ms, struct weir_error *error)
{
    (void)kafka;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "offsets");
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_topic *topic = sim_topic_find(partitions[i].topic);
        if (topic == NULL || partitions[i].partition >= (int32_t)topic->partition_count) {
            return no_answer(error, "no such partition");
        }
        found[i] = find_offset(&topic->partitions[partitions[i].partition], query, timestamp_ms);
    }
    return WEIR_OK;
}

static uint32_t add_crc(uint32_t crc, struct weir_view view)
{
    return view.data == NULL ? crc
                             : (uint32_t)crc32_z(crc, (const Bytef *)view.data, view.size_bytes);
}

static enum weir_status record_at(struct weir_kafka *kafka, const struct weir_topic_partition *at,
                                  int64_t offset, bool *found, int64_t *timestamp_ms,
                                  uint32_t *crc32_out, int32_t timeout_ms, struct weir_error *error)
{
    (void)kafka;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "record");
    }
    const struct sim_partition *partition = &sim_topic_find(at->topic)->partitions[at->partition];
    *found = offset >= 0 && offset < partition->count &&
             partition->records[offset].state != SIM_RECORD_MARKER;
    if (*found) {
        const struct sim_record *record = &partition->records[offset];
        *timestamp_ms = record->timestamp_ms;
        *crc32_out = add_crc(add_crc(0, record->key), record->value);
    }
    return WEIR_OK;
}

static enum weir_status broker_config(struct weir_kafka *kafka, const char *name, char *value,
                                      size_t size_bytes, int32_t timeout_ms,
                                      struct weir_error *error)
{
    (void)kafka;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "settings of brokers");
    }
    snprintf(value, size_bytes, "%s",
             strcmp(name, "transaction.partition.verification.enable") == 0 ? "true"
             : strcmp(name, "transaction.max.timeout.ms") == 0              ? "900000"
                                                                            : "");
    return WEIR_OK;
}

static enum weir_status topic_config(struct weir_kafka *kafka, const char *topic, const char *name,
                                     char *value, size_t size_bytes, int32_t timeout_ms,
                                     struct weir_error *error)
{
    (void)kafka;
    (void)topic;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "settings of a topic");
    }
    if (strcmp(name, "max.message.bytes") == 0) {
        snprintf(value, size_bytes, "%d", MESSAGE_BYTES_MAX);
    } else {
        value[0] = '\0';
    }
    return WEIR_OK;
}

static enum weir_status create_topic(struct weir_kafka *kafka, const char *topic,
                                     int32_t partition_count, int32_t replica_count,
                                     int32_t timeout_ms, struct weir_error *error)
{
    (void)kafka;
    (void)replica_count;
    if (!sim_network_question((int64_t)timeout_ms * 1000)) {
        return no_answer(error, "create topic");
    }
    if (sim_topic_find(topic) == NULL) {
        sim_topic_create(topic, (uint32_t)partition_count);
    }
    return WEIR_OK;
}

static enum weir_status limits(struct weir_kafka *kafka, struct weir_client_limits *found,
                               struct weir_error *error)
{
    (void)kafka;
    (void)error;
    *found = (struct weir_client_limits){.message_bytes_max = 1000000};
    return WEIR_OK;
}

static void limit_batches(struct weir_kafka *kafka, uint64_t size_bytes_max)
{
    (void)kafka;
    (void)size_bytes_max;
}

static enum weir_status consumer_create(struct weir_kafka *kafka, struct weir_consumer **consumer,
                                        struct weir_error *error)
{
    (void)kafka;
    (void)error;
    *consumer = sim_consumer_create();
    return WEIR_OK;
}

// Canary: the ids depend on more than the epoch, so that two owners do not meet on them.
static void own_id(const char *id, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "%s-%u", id, sim_process_current()->id % 2);
}

static enum weir_status producer_create(struct weir_kafka *kafka, const char *transactional_id,
                                        struct weir_producer **producer, struct weir_error *error)
{
    (void)error;
    char id[SIM_NAME_BYTES_MAX];
    snprintf(id, sizeof id, "%s", transactional_id != NULL ? transactional_id : "");
    if (transactional_id != NULL && sim_canary_is(SIM_CANARY_OWN_PRODUCERS)) {
        own_id(transactional_id, id, sizeof id);
    }
    *producer = sim_producer_create(id, ((struct client *)kafka)->transaction_timeout_ms);
    return WEIR_OK;
}

static void destroy(struct weir_kafka *kafka)
{
    free(kafka);
}

static const struct weir_kafka_ops kafka_ops = {
    .cluster_id = cluster_id,
    .topic_info = topic_info,
    .committed = committed_offsets,
    .offsets = offsets,
    .record_at = record_at,
    .broker_config = broker_config,
    .topic_config = topic_config,
    .create_topic = create_topic,
    .limits = limits,
    .limit_batches = limit_batches,
    .consumer_create = consumer_create,
    .producer_create = producer_create,
    .destroy = destroy,
};

struct weir_kafka *sim_client_create(int64_t transaction_timeout_ms)
{
    struct client *client = weir_alloc_zero(sizeof *client);
    client->transaction_timeout_ms = transaction_timeout_ms;
    client->base.ops = &kafka_ops;
    return &client->base;
}

enum weir_status __wrap_weir_rdkafka_create(const struct weir_kafka_config *config,
                                            struct weir_kafka **kafka, struct weir_error *error)
{
    if (sim_fiber_current() == NULL) {
        return __real_weir_rdkafka_create(config, kafka, error);
    }
    *kafka = sim_client_create(config->transaction_timeout_ms);
    return WEIR_OK;
}
