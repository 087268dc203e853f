// SPDX-License-Identifier: Apache-2.0
// What happens to rows and records that cannot be used: the policy of one table in one task. Under
// dead_letter it is a node of the chain that feeds a writer of its own, so that dead letters are in
// the same transaction as the rows around them.
#ifndef WEIR_KAFKA_ROW_POLICY_H
#define WEIR_KAFKA_ROW_POLICY_H

#include "kafka/writer.h"
#include "runtime/row_error.h"

enum weir_row_policy_kind {
    WEIR_ROW_POLICY_FAIL,
    WEIR_ROW_POLICY_SKIP,
    WEIR_ROW_POLICY_DEAD_LETTER,
};

struct weir_row_policy_config {
    enum weir_row_policy_kind kind;
    const char *table;  // for messages
    const char *job_id; // header weir.job
    double max_ratio;   // of bad records among those read: more end the job; 0: no limit
    struct weir_writer *writer; // DEAD_LETTER: taken over
    // Late rows are no errors: counted whatever the policy, and sent here if set (taken over).
    struct weir_writer *late_writer;
};

// A node (process is NULL) and a policy at once.
struct weir_row_policy {
    struct weir_operator op; // for the task: barrier, resume, destroy
    struct weir_row_error_policy policy; // for operators: report
};

struct weir_row_policy *weir_row_policy_create(const struct weir_row_policy_config *config);

// Rows reported so far, by reason. Thread: any.
uint64_t weir_row_policy_count(const struct weir_row_policy *policy,
                               enum weir_row_error_reason reason);

#endif
