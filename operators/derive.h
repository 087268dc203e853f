// SPDX-License-Identifier: Apache-2.0
// What stands right behind a source or in front of a sink: appends computed columns, checks NOT
// NULL and CHECK, sets the event time of the rows. Rows that fail are reported, with reason
// expression, constraint or event_time, and left out. No state. Thread: the task's.
#ifndef WEIR_OPERATORS_DERIVE_H
#define WEIR_OPERATORS_DERIVE_H

#include "operators/expr.h"
#include "runtime/operator.h"

// A condition that a row must meet.
struct weir_derive_check {
    const struct weir_expr *condition; // over the output's columns; false (not NULL) is a violation
    int32_t not_null_column;           // of the output; -1: `condition` instead
    const char *message;               // PostgreSQL's wording, e.g. null value in column "x" …
};

// Everything that is pointed to lives as long as the operator.
struct weir_derive_config {
    const struct weir_schema *schema; // of the output: the input's columns, then one for each expr
    uint32_t expr_count;
    const struct weir_expr *const *exprs; // over the input's columns
    uint32_t check_count;
    const struct weir_derive_check *checks; // in this order: a row fails with the first
    // The column of the output (date, timestamp or timestamptz) that is event time; -1: event time
    // stays as it was.
    int32_t event_time_column;
    // The rows come straight from a keyed topic: deleted keys pass unchecked.
    bool has_tombstones;
    // A row in which that column is NULL or infinite fails; not needed: its time stays as it was.
    bool is_event_time_needed;
};

struct weir_operator *weir_derive_create(const char *id, const char *name,
                                         const struct weir_derive_config *config);

#endif
