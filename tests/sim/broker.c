// SPDX-License-Identifier: Apache-2.0
// See broker.h: topics and partitions, and which part of the cluster a request is for.
#include "tests/sim/broker_model.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"

#include <stdlib.h>

enum { TOPICS_MAX = 16 };

static struct sim_topic topics[TOPICS_MAX];
static uint32_t topic_count;
static int64_t coordinators_away_us;
static int64_t leaders_away_us;
static int appended; // only its address is used

const void *sim_broker_event(void)
{
    return &appended;
}

struct sim_topic *sim_topic_find(const char *name)
{
    for (uint32_t i = 0; i < topic_count; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            return &topics[i];
        }
    }
    return NULL;
}

static void name_topic(struct sim_topic *topic)
{
    snprintf(topic->topic_id, sizeof topic->topic_id, "id-%08x", (unsigned)sim_random());
}

struct sim_topic *sim_topic_create(const char *name, uint32_t partition_count)
{
    WEIR_ASSERT(topic_count < TOPICS_MAX);
    struct sim_topic *topic = &topics[topic_count++];
    snprintf(topic->name, sizeof topic->name, "%s", name);
    name_topic(topic);
    sim_topic_extend(topic, partition_count);
    return topic;
}

void sim_topic_extend(struct sim_topic *topic, uint32_t partition_count)
{
    topic->partitions =
        weir_realloc(topic->partitions, partition_count * sizeof *topic->partitions);
    memset(topic->partitions + topic->partition_count, 0,
           (partition_count - topic->partition_count) * sizeof *topic->partitions);
    topic->partition_count = partition_count;
}

void sim_topic_remake(struct sim_topic *topic)
{
    memset(topic->partitions, 0, topic->partition_count * sizeof *topic->partitions);
    name_topic(topic);
    sim_group_forget(topic->name);
    sim_signal(&appended);
}

static struct weir_view copy(struct weir_view view)
{
    if (view.data == NULL) {
        return view;
    }
    char *data = weir_alloc(view.size_bytes + 1);
    memcpy(data, view.data, view.size_bytes);
    return (struct weir_view){.data = data, .size_bytes = view.size_bytes};
}

static void append(struct sim_partition *partition, const struct sim_record *record)
{
    if (partition->count == partition->capacity) {
        partition->capacity = partition->capacity == 0 ? 64 : 2 * partition->capacity;
        partition->records =
            weir_realloc(partition->records, partition->capacity * sizeof *partition->records);
    }
    struct sim_record *added = &partition->records[partition->count++];
    *added = *record;
    added->key = copy(record->key);
    added->value = copy(record->value);
}

static struct sim_partition_producer *producer_of(struct sim_partition *partition,
                                                  int64_t producer_id)
{
    for (uint32_t i = 0; i < partition->producer_count; i++) {
        if (partition->producers[i].producer_id == producer_id) {
            return &partition->producers[i];
        }
    }
    partition->producers = weir_realloc(partition->producers, (partition->producer_count + 1) *
                                                                  sizeof *partition->producers);
    struct sim_partition_producer *producer = &partition->producers[partition->producer_count++];
    *producer = (struct sim_partition_producer){.producer_id = producer_id, .epoch = -1};
    return producer;
}

static void open_at_end(struct sim_partition *partition, struct sim_partition_producer *producer)
{
    if (!producer->is_open) {
        producer->is_open = true;
        producer->first_offset = partition->count;
    }
}

void sim_partition_append(struct sim_partition *partition, int64_t producer_id, const char *key,
                          const char *value, int64_t timestamp_ms)
{
    struct sim_record record = {
        .state = producer_id < 0 ? SIM_RECORD_COMMITTED : SIM_RECORD_OPEN,
        .producer_id = producer_id,
        .timestamp_ms = timestamp_ms,
        .key = key != NULL ? weir_view_of(key) : (struct weir_view){0},
        .value = value != NULL ? weir_view_of(value) : (struct weir_view){0},
    };
    if (producer_id >= 0) {
        open_at_end(partition, producer_of(partition, producer_id));
    }
    append(partition, &record);
    sim_signal(&appended);
}

void sim_partition_decide(struct sim_partition *partition, int64_t producer_id)
{
    struct sim_partition_producer *producer = producer_of(partition, producer_id);
    for (uint32_t i = producer->first_offset; producer->is_open && i < partition->count; i++) {
        if (partition->records[i].producer_id == producer_id) {
            partition->records[i].is_decided = true;
        }
    }
}

void sim_partition_mark(struct sim_partition *partition, int64_t producer_id, int32_t epoch,
                        bool is_commit)
{
    struct sim_partition_producer *producer = producer_of(partition, producer_id);
    for (uint32_t i = producer->first_offset; producer->is_open && i < partition->count; i++) {
        struct sim_record *record = &partition->records[i];
        if (record->producer_id == producer_id && record->state == SIM_RECORD_OPEN) {
            record->state = is_commit ? SIM_RECORD_COMMITTED : SIM_RECORD_ABORTED;
        }
    }
    if (epoch > producer->epoch) {
        producer->epoch = epoch;
        producer->next_sequence = 0;
    }
    producer->is_open = false;
    append(partition, &(struct sim_record){.state = SIM_RECORD_MARKER, .producer_id = producer_id});
    sim_signal(&appended);
}

void sim_partition_end(struct sim_partition *partition, int64_t producer_id, bool is_commit)
{
    sim_partition_mark(partition, producer_id, 0, is_commit);
}

uint32_t sim_partition_stable(const struct sim_partition *partition)
{
    uint32_t stable = partition->count;
    for (uint32_t i = 0; i < partition->producer_count; i++) {
        const struct sim_partition_producer *producer = &partition->producers[i];
        if (producer->is_open && producer->first_offset < stable) {
            stable = producer->first_offset;
        }
    }
    return stable;
}

// A batch that is there already is answered well and added no more.
static enum sim_code produce(const struct sim_request *request)
{
    struct sim_topic *topic = sim_topic_find(request->topic);
    if (topic == NULL || request->partition >= (int32_t)topic->partition_count) {
        return SIM_UNKNOWN_TOPIC;
    }
    struct sim_partition *partition = &topic->partitions[request->partition];
    struct sim_partition_producer *producer = producer_of(partition, request->producer_id);
    if (request->epoch < producer->epoch) {
        return SIM_FENCED;
    }
    bool is_new_epoch = request->epoch > producer->epoch;
    int32_t next_sequence = is_new_epoch ? 0 : producer->next_sequence;
    if (request->sequence < next_sequence) {
        return SIM_OK;
    }
    if (request->sequence > next_sequence) {
        return SIM_OUT_OF_ORDER;
    }
    bool is_transactional = request->id[0] != '\0';
    if (is_transactional && (!producer->is_open || is_new_epoch)) {
        enum sim_code code = sim_txn_verify(request->producer_id, request->epoch, request->topic,
                                            request->partition);
        if (code != SIM_OK) {
            return code;
        }
    }
    if (is_transactional) {
        open_at_end(partition, producer);
    }
    producer->epoch = request->epoch;
    producer->next_sequence = next_sequence + (int32_t)request->record_count;
    for (uint32_t i = 0; i < request->record_count; i++) {
        struct sim_record record = request->records[i];
        record.state = is_transactional ? SIM_RECORD_OPEN : SIM_RECORD_COMMITTED;
        record.is_plain = !is_transactional;
        record.producer_id = request->producer_id;
        append(partition, &record);
    }
    sim_signal(&appended);
    return SIM_OK;
}

void sim_broker_move_until(int64_t until_us, bool coordinators, bool leaders)
{
    coordinators_away_us = coordinators ? until_us : coordinators_away_us;
    leaders_away_us = leaders ? until_us : leaders_away_us;
}

bool sim_broker_is_coordinator_away(void)
{
    return sim_now_us() < coordinators_away_us;
}

void sim_broker_handle(struct sim_request *request)
{
    bool is_away = request->api == SIM_PRODUCE ? sim_now_us() < leaders_away_us
                                               : sim_broker_is_coordinator_away();
    if (is_away) {
        request->code = SIM_NOT_COORDINATOR;
        return;
    }
    switch (request->api) {
    case SIM_PRODUCE:
        request->code = produce(request);
        return;
    case SIM_TXN_OFFSET_COMMIT:
        sim_group_handle(request);
        return;
    case SIM_INIT_PRODUCER_ID:
    case SIM_ADD_PARTITIONS:
    case SIM_ADD_OFFSETS:
    case SIM_END_TXN:
        sim_txn_handle(request);
        return;
    }
}

void sim_broker_watch(void (*on_decided)(const char *id, int64_t producer_id))
{
    sim_txn_set_watch(on_decided);
}

void sim_broker_start(void)
{
    sim_fiber_create(NULL, "coordinator", 0, sim_txn_run, NULL);
}

const char *sim_api_name(enum sim_api api)
{
    static const char *const names[] = {"InitProducerId",  "AddPartitions", "AddOffsets",
                                        "TxnOffsetCommit", "EndTxn",        "Produce"};
    return names[api];
}

const char *sim_code_name(enum sim_code code)
{
    static const char *const names[] = {
        "ok",           "not coordinator",           "concurrent transactions",
        "fenced",       "invalid transaction state", "out of order",
        "unknown topic"};
    return names[code];
}
