// SPDX-License-Identifier: Apache-2.0
// Rows and records that cannot be used: counted by reason, and stopped, skipped or sent to a
// dead-letter topic by the policy of their table. Nothing vanishes silently: an operator that
// leaves a row out reports it here, once. Thread: the task's.
#ifndef WEIR_RUNTIME_ROW_ERROR_H
#define WEIR_RUNTIME_ROW_ERROR_H

#include "runtime/base/error.h"
#include "runtime/batch.h"

// The word in the header `weir.error` and in counters (closed list, documented for users).
enum weir_row_error_reason {
    WEIR_ROW_ERROR_DECODE,     // not JSON, wrong type, out of range
    WEIR_ROW_ERROR_KEY,        // message key null, undecodable, contradicted
    WEIR_ROW_ERROR_CONSTRAINT, // NOT NULL, CHECK, varchar(n) of a table
    WEIR_ROW_ERROR_EXPRESSION, // an expression failed: division by zero, overflow, bad cast
    WEIR_ROW_ERROR_EVENT_TIME, // no usable event time
    WEIR_ROW_ERROR_OVERSIZE,   // larger than the sink can take
    WEIR_ROW_ERROR_LATE,
    WEIR_ROW_ERROR_FRAMING, // Avro without the frame of a schema registry
    WEIR_ROW_ERROR_SCHEMA,  // a schema id that is not known, or whose schema cannot be used
    WEIR_ROW_ERROR_REASON_COUNT,
};

const char *weir_row_error_reason_name(enum weir_row_error_reason reason);

struct weir_row_error {
    enum weir_row_error_reason reason;
    const struct weir_record *record; // the record that the row descends from; NULL: from several
    const char *operator_name;        // where it failed
    const char *message;              // what failed, e.g. "division by zero"
    struct weir_view row_json;        // the row as JSON when record is NULL
    int64_t late_by_ms;               // LATE only
};

// Implemented in kafka/ (stop, skip, dead letter). report() counts and acts; WEIR_ERROR means stop
// the job (policy `fail`): *error then says topic, partition, offset and reason.
struct weir_row_error_policy {
    enum weir_status (*report)(struct weir_row_error_policy *policy,
                               const struct weir_row_error *row_error, struct weir_error *error);
    // After each run of records of the table, whatever became of them. NULL: nobody counts.
    // WEIR_ERROR: too many of them could not be used.
    enum weir_status (*seen)(struct weir_row_error_policy *policy, uint32_t record_count,
                             struct weir_error *error);
};

static inline enum weir_status weir_row_error_report(struct weir_row_error_policy *policy,
                                                     const struct weir_row_error *row_error,
                                                     struct weir_error *error)
{
    return policy->report(policy, row_error, error);
}

#endif
