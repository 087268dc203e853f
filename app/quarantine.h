// SPDX-License-Identifier: Apache-2.0
// WEIR_QUARANTINE: partitions of source tables that this run leaves alone.
//
// Invariants
// 1. A quarantined partition is not read, and nobody asks its leader for anything that a start or a
//    checkpoint would wait for: it may be gone.
// 2. Its position, the end before which a bounded run was to stop left aside, is in every
//    checkpoint as it was in the one before; the next start without the variable goes on there.
// 3. It is idle: event time goes on without it. What was closed meanwhile stays closed, so that its
//    rows are late afterwards by the rule for partitions that were idle.
// 4. A run with an end does not wait for it.
//
// Thread: any; nothing here changes.
#ifndef WEIR_APP_QUARANTINE_H
#define WEIR_APP_QUARANTINE_H

#include "app/config.h"

struct weir_topics;

bool weir_quarantine_has(const struct weir_config *config, const char *table, int32_t partition);

// A fault for each table that the job does not read.
void weir_quarantine_check_tables(const struct weir_config *config, const struct weir_plan *plan,
                                  struct weir_fault_list *faults);

// Error (REFUSE): a partition that its topic does not have. Topics without partitions, which are
// not there, are left to others. Tables have been checked.
enum weir_status weir_quarantine_check(const struct weir_config *config,
                                       const struct weir_plan *plan,
                                       const struct weir_topics *topics, struct weir_error *error);

// A line for each partition: for people who ask whether the job is well.
void weir_quarantine_describe(const struct weir_config *config, struct weir_buffer *lines);

#endif
