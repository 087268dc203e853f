// SPDX-License-Identifier: Apache-2.0
// A simulated Kafka cluster: partitions with records and markers, the transaction coordinator, the
// group's offsets. It answers one request at a time, each in one step; losing, delaying and
// doubling requests is the network's business (network.h). What it does is what was measured on a
// real one (test_kafka.c asks both the same). Thread: there is one.
//
// A transaction: EMPTY → ONGOING → PREPARE_COMMIT or PREPARE_ABORT → (markers) COMPLETE_… → ONGOING
// The commit is decided by PREPARE_COMMIT; markers come later, partition by partition.
#ifndef WEIR_TESTS_SIM_BROKER_H
#define WEIR_TESTS_SIM_BROKER_H

#include "kafka/client.h"

enum { SIM_NAME_BYTES_MAX = 160, SIM_METADATA_BYTES_MAX = 128 };

enum sim_record_state {
    SIM_RECORD_OPEN, // its transaction is not decided, or its marker not written
    SIM_RECORD_COMMITTED,
    SIM_RECORD_ABORTED,
    SIM_RECORD_MARKER, // none: the end of a transaction
};

struct sim_record {
    enum sim_record_state state;
    int64_t producer_id; // -1: written without a transaction
    int64_t timestamp_ms;
    struct weir_view key;   // data NULL: null
    struct weir_view value; // data NULL: null
    bool is_decided;        // its transaction's commit is
    bool is_plain;          // of a producer that is idempotent only
};

struct sim_partition {
    struct sim_record *records; // by offset
    uint32_t count;             // the high watermark
    uint32_t capacity;
    uint32_t producer_count;
    struct sim_partition_producer *producers;
};

struct sim_topic {
    char name[SIM_NAME_BYTES_MAX];
    char topic_id[40];
    uint32_t partition_count;
    struct sim_partition *partitions;
};

enum sim_api {
    SIM_INIT_PRODUCER_ID,
    SIM_ADD_PARTITIONS,
    SIM_ADD_OFFSETS,
    SIM_TXN_OFFSET_COMMIT,
    SIM_END_TXN,
    SIM_PRODUCE,
};

enum sim_code {
    SIM_OK,
    SIM_NOT_COORDINATOR, // nor leader: somebody else is, or nobody for now
    SIM_CONCURRENT_TRANSACTIONS,
    SIM_FENCED, // a newer epoch of the producer
    SIM_INVALID_TXN_STATE,
    SIM_OUT_OF_ORDER,
    SIM_UNKNOWN_TOPIC,
};

struct sim_offset {
    char topic[SIM_NAME_BYTES_MAX];
    int32_t partition;
    int64_t offset;
    char metadata[SIM_METADATA_BYTES_MAX];
};

struct sim_request {
    enum sim_api api;
    char id[SIM_NAME_BYTES_MAX]; // transactional; "": the producer is idempotent only
    int64_t producer_id;
    int32_t epoch;
    int64_t timeout_ms;             // INIT_PRODUCER_ID: of transactions
    bool is_commit;                 // END_TXN
    char topic[SIM_NAME_BYTES_MAX]; // ADD_PARTITIONS, PRODUCE
    int32_t partition;
    uint32_t offset_count; // TXN_OFFSET_COMMIT
    struct sim_offset *offsets;
    int32_t sequence; // PRODUCE: of the first record
    uint32_t record_count;
    struct sim_record *records;
    // The answer.
    enum sim_code code;
    int64_t given_producer_id;
    int32_t given_epoch;
};

struct sim_topic *sim_topic_create(const char *name, uint32_t partition_count);
struct sim_topic *sim_topic_find(const char *name); // NULL: none
void sim_topic_extend(struct sim_topic *topic, uint32_t partition_count);
// What a topic is after it was deleted and created again: empty, and the group's offsets are gone.
void sim_topic_remake(struct sim_topic *topic);

// Records of others. producer_id -1: at once visible.
void sim_partition_append(struct sim_partition *partition, int64_t producer_id, const char *key,
                          const char *value, int64_t timestamp_ms);
void sim_partition_end(struct sim_partition *partition, int64_t producer_id, bool is_commit);
// The last stable offset: where a read_committed reader stands at the end.
uint32_t sim_partition_stable(const struct sim_partition *partition);
// Signalled whenever something becomes readable.
const void *sim_broker_event(void);

void sim_broker_start(void); // the coordinator's own work, as a fiber
void sim_broker_handle(struct sim_request *request);
const char *sim_api_name(enum sim_api api);
const char *sim_code_name(enum sim_code code);

// The group's offset; is_pending: a transaction that is open or not marked yet has one.
bool sim_group_offset(const char *topic, int32_t partition, struct sim_offset *offset,
                      bool *is_pending);
void sim_group_forget(const char *topic);
void sim_group_each_pending(int64_t producer_id,
                            void (*visit)(void *context, const struct sim_offset *offset),
                            void *context);
// Coordinators, or leaders, are somewhere else or nowhere until then.
void sim_broker_move_until(int64_t until_us, bool coordinators, bool leaders);

// Called when a commit is decided, before anything of it is visible. The records are still OPEN;
// afterwards is_decided is set.
void sim_broker_watch(void (*on_decided)(const char *id, int64_t producer_id));
// A transaction that is neither empty nor complete.
bool sim_broker_has_open(void);

#endif
