// SPDX-License-Identifier: Apache-2.0
// Where each source partition begins and ends: the recovery decision, the options `start` and
// `end`, WEIR_START and WEIR_BOUNDED become offsets.
#ifndef WEIR_APP_STARTS_H
#define WEIR_APP_STARTS_H

#include "app/config.h"
#include "app/retry.h"
#include "kafka/source.h"
#include "runtime/recovery.h"

// Where reading goes on, one for each partition of each source table.
struct weir_start {
    const struct weir_table *table;
    struct weir_source_partition partition;
};

struct weir_starts_question {
    struct weir_kafka *kafka;
    const struct weir_config *config;
    const struct weir_retry *retry;
    const struct weir_recovery *decision;
    const struct weir_partition_decision *partition_decisions; // of the starts; not read for FRESH
    struct weir_position reset;                                // for WEIR_START_RESET
};

// Fills the partitions of the starts; table and partition number are there. Errors: FAIL when the
// brokers cannot be asked in time. Blocks.
enum weir_status weir_starts_resolve(const struct weir_starts_question *question,
                                     uint32_t start_count, struct weir_start *starts,
                                     struct weir_error *error);

#endif
