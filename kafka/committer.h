// SPDX-License-Identifier: Apache-2.0
// The committer: takes complete checkpoints in order and makes each one true: manifest, offsets
// with the pointer, commit of the transaction. Also the claim, with which a new owner begins.
#ifndef WEIR_KAFKA_COMMITTER_H
#define WEIR_KAFKA_COMMITTER_H

#include "kafka/handles.h"
#include "kafka/janitor.h"
#include "runtime/coordinator.h"
#include "runtime/recovery.h"
#include "runtime/store.h"

// A source topic's partition that the job's offsets are committed for.
struct weir_commit_partition {
    const char *topic;
    int32_t partition;
    const char *topic_id; // "" where the client cannot tell
    bool has_pointer;     // the claim or an earlier commit has put one there
    int64_t offset;       // as committed, when has_pointer
};

struct weir_committer_config {
    struct weir_kafka *kafka;
    struct weir_handles *handles;
    struct weir_store *store;
    const struct weir_clock *clock;
    struct weir_mailbox *coordinator;
    struct weir_attempt attempt; // of this owner
    int64_t claim_epoch;         // what an older owner would commit next: the pointer found + 1
    const char *job_id;
    int32_t instance_id;
    const char *cluster_id;
    const char *restore; // WEIR_RESTORE, recorded in every manifest
    uint32_t parallelism;
    uint32_t retained;
    uint32_t operator_count; // with keyed state: recorded in every manifest
    const struct weir_manifest_operator *operators;
    bool is_at_least_once; // rows are in no transaction: only offsets and pointer are
    const struct weir_state_files *files; // NULL: the job keeps no keyed state
    struct weir_janitor *janitor;         // made by the claim; taken over by the committer
    int64_t checkpoint_timeout_ms;
    int64_t commit_timeout_ms; // send_offsets and commit
    int64_t full_commit_ms;    // all positions at least so often: offsets expire
    uint32_t partition_count;  // each topic's partition once
    const struct weir_commit_partition *partitions; // copied
};

// Takes the store over, then commits the pointer again with the new owner's attempt, before the
// first record is read: whoever comes later sees who owns the job. Fails if an older owner could
// still commit the next epoch. `manifest` is the checkpoint that was restored or just written;
// partitions that it does not know are left out. On success config->janitor is made and leftovers
// of dead attempts are removed, before this life writes anything else into the store. Blocks.
enum weir_status weir_claim(struct weir_committer_config *config,
                            const struct weir_manifest *manifest, struct weir_error *error);

struct weir_committer;

// Opens the transactions of the next epochs (first_number and the three after it; at least once:
// none) and starts the thread. Error: a transaction could not be opened. Blocks.
enum weir_status weir_committer_start(const struct weir_committer_config *config,
                                      int64_t first_number, struct weir_committer **committer,
                                      struct weir_error *error);
struct weir_mailbox *weir_committer_mailbox(struct weir_committer *committer);

// Ends the thread after the call it is in; what was not committed is dropped. May block as long as
// one call of the client.
void weir_committer_stop(struct weir_committer *committer);

#endif
