// SPDX-License-Identifier: Apache-2.0
// What a start of the job would find, now: brokers, topics, the checkpoint that it would go on from
// and what a changed job makes of its state. It asks and reads; nobody is fenced, nothing is
// claimed, made or written. Thread: the main thread.
#ifndef WEIR_APP_PREVIEW_H
#define WEIR_APP_PREVIEW_H

#include "app/fault_list.h"
#include "app/recovering.h"
#include "app/state_change.h"

struct weir_preview_topic {
    struct weir_topic_wish wish;
    bool exists;
    uint32_t partition_count; // that it has; if it is missing: that it would be made with, 0: none
};

struct weir_preview {
    const struct weir_config *config;
    struct weir_fault_list faults; // what a start would be refused for
    bool is_failed;                // brokers do not answer: not known
    char cluster_id[64];           // "": not known
    const char *store_path;
    uint32_t topic_count;
    struct weir_preview_topic *topics;
    // A decision was made: the fields below are set.
    bool is_decided;
    struct weir_recovery decision;
    bool is_savepoint; // decision.manifest is that of WEIR_RESTORE
    uint32_t position_count;
    const struct weir_found_partition *partitions;
    const struct weir_partition_decision *positions; // of the partitions; not of a fresh start
    struct weir_job_change change;
};

// Looks. Everything is in the arena; what is wrong is in the result. Blocks for as long as brokers
// need, at most WEIR_CONNECT_TIMEOUT.
void weir_preview(const struct weir_config *config, struct weir_arena *arena,
                  struct weir_preview *preview);

// --- preview_print.c, preview_json.c ------------------------------------------------------------

void weir_preview_print(const struct weir_preview *preview, FILE *out);
void weir_preview_print_json(const struct weir_preview *preview, FILE *out);

#endif
