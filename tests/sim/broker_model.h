// SPDX-License-Identifier: Apache-2.0
// What broker.c (partitions), transactions.c and group.c know of each other.
#ifndef WEIR_TESTS_SIM_BROKER_MODEL_H
#define WEIR_TESTS_SIM_BROKER_MODEL_H

#include "tests/sim/broker.h"

enum sim_txn_state {
    SIM_TXN_EMPTY,
    SIM_TXN_ONGOING,
    SIM_TXN_PREPARE_COMMIT,
    SIM_TXN_PREPARE_ABORT,
    SIM_TXN_COMPLETE_COMMIT,
    SIM_TXN_COMPLETE_ABORT,
};

struct sim_part { // of a transaction
    char topic[SIM_NAME_BYTES_MAX];
    int32_t partition;
    bool is_marked;
};

struct sim_txn {
    char id[SIM_NAME_BYTES_MAX];
    int64_t producer_id;
    int32_t epoch;
    enum sim_txn_state state;
    int64_t timeout_us;
    int64_t begun_us;
    uint32_t part_count;
    struct sim_part *parts;
    bool has_group;
    bool is_group_marked;
};

// What a partition knows of a producer.
struct sim_partition_producer {
    int64_t producer_id;
    int32_t epoch;
    int32_t next_sequence;
    bool is_open;          // has records of a transaction that is not marked
    uint32_t first_offset; // of these
};

// Does the coordinator know an ongoing transaction of this producer and epoch with that partition?
enum sim_code sim_txn_verify(int64_t producer_id, int32_t epoch, const char *topic,
                             int32_t partition);
enum sim_code sim_txn_verify_group(int64_t producer_id, int32_t epoch);
void sim_txn_handle(struct sim_request *request);
void *sim_txn_run(void *unused);
void sim_txn_set_watch(void (*on_decided)(const char *id, int64_t producer_id));

void sim_partition_mark(struct sim_partition *partition, int64_t producer_id, int32_t epoch,
                        bool is_commit);
void sim_partition_decide(struct sim_partition *partition, int64_t producer_id);

void sim_group_handle(struct sim_request *request);
void sim_group_mark(int64_t producer_id, int32_t epoch, bool is_commit);
bool sim_broker_is_coordinator_away(void);

#endif
