// SPDX-License-Identifier: Apache-2.0
// Keyed state (runtime/state.h) on RocksDB: a write-back cache in front, a redo log a checkpoint,
// materialisations now and then. The design with its invariants: docs/state.md; the files of this
// folder: README.md.
//
// Thread: the task's, but for create, which runs before it, and destroy, after it.
#ifndef WEIR_ROCKSDB_BACKEND_STORE_H
#define WEIR_ROCKSDB_BACKEND_STORE_H

#include "runtime/base/clock.h"
#include "runtime/state.h"

struct weir_rocksdb_store_config {
    const char *work_folder;  // the task's own; made anew, whatever is in it
    const char *store_folder; // weir_store_path of the job's checkpoint store; it exists
    const char *stage;        // stable id of the keyed stage
    struct weir_key_group_range key_groups;
    const char *attempt;            // of the owner: its files are told from other lives' by it
    size_t budget_bytes;            // of everything: versions, blocks, memtables
    struct weir_mailbox *mailbox;   // the task's, woken when io has got on; outlives the store
    const struct weir_clock *clock; // outlives the store; asked by io threads too
    // The checkpoint to go on from, with all parts of the stage, of whatever key groups; number 0
    // and no handles: begin empty. Not kept.
    int64_t number;
    uint32_t handle_count;
    const struct weir_state_handle *handles;
    // Of states whose entries become others on the way, as the job has changed. Not kept.
    uint32_t conversion_count;
    const struct weir_state_conversion *conversions;
    // When to materialise (io.h); 0: the default.
    uint64_t materialise_log_bytes;
    uint32_t materialise_log_count;
    int64_t materialise_pause_ms;
    // Logged versions wait in memory until they are so many bytes or a materialisation is due. 0:
    // the default, a share of the budget, and only where the cache begins to fill up.
    size_t apply_bytes_min;
    uint64_t load_bytes_min; // of changes that come in as a file (bulk.h); 0: the default
    // No threads: weir_rocksdb_store_step runs the io. For tests and the simulator.
    bool is_stepped;
};

// Failure (REFUSE): a file of the checkpoint is missing or damaged (which, expected, found), a
// folder cannot be used.
enum weir_status weir_rocksdb_store_create(const struct weir_rocksdb_store_config *config,
                                           struct weir_state_store **store,
                                           struct weir_error *error);

enum weir_rocksdb_step {
    WEIR_ROCKSDB_STEP_LOG,     // the next set's redo log, and its acknowledgement
    WEIR_ROCKSDB_STEP_LIVE,    // the next set into the live RocksDB
    WEIR_ROCKSDB_STEP_PUBLISH, // the next materialisation into the checkpoint store
};
// Stepped stores only; false: there was nothing to do.
bool weir_rocksdb_store_step(struct weir_state_store *store, enum weir_rocksdb_step step);

struct weir_rocksdb_store_stats {
    size_t cache_bytes;
    size_t dirty_bytes;  // changed since the last barrier
    size_t frozen_bytes; // of earlier epochs, not in RocksDB yet
    size_t
        logged_bytes; // of these: durable, and waiting until there is a reason to write them there
    uint64_t read_count; // entries asked of RocksDB
    uint64_t evicted_count;
    uint64_t scanned_count; // ranges for which RocksDB was asked
};
// What the state of a task amounts to, for those who look. Thread: any, while the store lives and
// all of its states are open.
struct weir_rocksdb_store_look {
    const char *operator_id; // that has the first state; a stage with state has one, as a rule
    int64_t entry_count; // of all states: about what a restore found, and since then counted
    uint64_t disk_bytes; // in the live RocksDB, as it estimates
    size_t cache_bytes;  // in memory, as of the last barrier
    size_t unclean_bytes; // of these: not in RocksDB yet
};
void weir_rocksdb_store_look(const struct weir_state_store *store,
                             struct weir_rocksdb_store_look *look);

void weir_rocksdb_store_stats(const struct weir_state_store *store,
                              struct weir_rocksdb_store_stats *stats);

#endif
