// SPDX-License-Identifier: Apache-2.0
// The order of a recovery (docs/commit.md): look → fence → read → decide → claim. After it this
// process owns the job, every older owner is fenced, and it is known where to read on.
#ifndef WEIR_APP_RECOVER_H
#define WEIR_APP_RECOVER_H

#include "app/board.h"
#include "app/config.h"
#include "app/control.h"
#include "app/owner.h"
#include "app/phases.h"
#include "app/registries.h"
#include "app/starts.h"
#include "app/state_change.h"
#include "app/topics.h"
#include "kafka/committer.h"
#include "kafka/handles.h"

#include <stdatomic.h>

// A table whose positions are given up on purpose (weir offsets reset).
struct weir_reset {
    const struct weir_table *table;
    struct weir_position to;
};

// What stays the same through all recoveries of a process.
struct weir_job_context {
    const struct weir_config *config;
    const struct weir_plan *plan;
    struct weir_kafka *kafka;
    struct weir_store *store;
    const struct weir_clock *clock;
    const atomic_int *stop_requests;
    struct weir_registries *registries; // of tables in Avro
    struct weir_owner owner;
    struct weir_phases phases; // of the recovery
    struct weir_control *control;
    const struct weir_reset *reset; // NULL, but for weir offsets reset
    struct weir_board *board;       // NULL: nobody looks
};

struct weir_recovered {
    char cluster_id[64];
    struct weir_topics topics;
    struct weir_attempt attempt;
    struct weir_handles *handles;
    int64_t number;      // of the checkpoint that was claimed: the next epoch is number + 1
    int64_t from_number; // of the one that was gone on from; -1: none
    int64_t barrier_ms;  // when its barrier was triggered, Unix epoch: now() until the next one
    struct weir_job_change change; // what is gone on with of its keyed state
    uint32_t operator_state_count;
    const struct weir_operator_state_part *operator_states;
    uint32_t start_count;
    struct weir_start *starts;
    uint32_t partition_count; // of topics, each once
    struct weir_commit_partition *partitions;
    struct weir_committer_config committer; // ready for weir_committer_start
};

// Texts and arrays go to the arena. On success the caller closes recovered->handles.
// Errors: REFUSE (the operator's turn), FENCED (another instance was faster or has taken over),
// RECOVER (again), FAIL. Blocks for as long as brokers need, at most WEIR_CONNECT_TIMEOUT.
enum weir_status weir_recover(struct weir_job_context *context, struct weir_arena *arena,
                              struct weir_recovered *recovered, struct weir_error *error);

// Only the look: FENCED (as an error) when a newer instance owns the job.
enum weir_status weir_recover_look(struct weir_job_context *context, struct weir_error *error);

#endif
