// SPDX-License-Identifier: Apache-2.0
// GROUP BY: one row of accumulators per group, kept in keyed state. Without window the result
// changes, and what changed is sent after each barrier (docs/state.md); with a window each group is
// sent once, when the watermark reaches the window's end, and forgotten.
#ifndef WEIR_OPERATORS_AGGREGATE_H
#define WEIR_OPERATORS_AGGREGATE_H

#include "runtime/operator.h"
#include "runtime/state.h"

enum weir_aggregate_kind {
    WEIR_AGGREGATE_COUNT_ALL, // count(*)
    WEIR_AGGREGATE_COUNT,     // of values that are not NULL
    WEIR_AGGREGATE_SUM,
    WEIR_AGGREGATE_MIN,
    WEIR_AGGREGATE_MAX,
    WEIR_AGGREGATE_AVG,
};

struct weir_aggregate {
    enum weir_aggregate_kind kind;
    bool is_distinct;
    int32_t arg_column;    // of the input; -1 for count(*)
    int32_t filter_column; // boolean column of the input (FILTER); -1: none
    struct weir_type result_type;
    // All that it computes of what it groups, as SQL: its state is found again by it. NULL: nobody
    // looks for it.
    const char *text;
};

// Sets kind and result_type to those of the aggregate of that name over an argument of that type
// (NULL: `*`), by PostgreSQL's rules (sum of bigint is numeric, avg of integers is numeric, …).
// Error (domain SQL): there is none.
enum weir_status weir_aggregate_resolve(const char *name, const struct weir_type *arg_type,
                                        struct weir_aggregate *aggregate, struct weir_error *error);

struct weir_aggregate_config {
    const struct weir_schema *input;
    // 0: one group of all rows, which stays when all of them are taken back (count 0, sum NULL).
    uint32_t key_count;
    // Of the input. For a window: window_start and/or window_end among them.
    const uint32_t *key_columns;
    // Some of key_columns, those of the exchange before in its order: key groups are computed from
    // them. For a window: if it can be done without window_start and window_end, so that one task
    // has all windows of a key and sends them in the order of their ends. NULL: key_columns.
    uint32_t route_count;
    const uint32_t *route_columns;
    int32_t window_end_column; // of the input; -1: no window
    bool is_input_changing;    // rows are taken back (batch->change)
    uint32_t aggregate_count;
    const struct weir_aggregate *aggregates;
    // Of each aggregate the number that its states are named by, as its manifest says; NULL: its
    // place.
    const uint32_t *slot_numbers;
    // Output: the key columns, then the aggregates.
    const struct weir_schema *output;
    struct weir_state_store *store;
    struct weir_key_group_range key_groups; // of the task
    int64_t first_epoch;                    // of the first row
    // Without window: of what changed only the newest row of a group is wanted, as UPDATE_AFTER;
    // for keyed sinks, to which it says all.
    bool is_newest_enough;
};

// Without window the nodes behind are is_behind_changes (operator.h), and none of them has state in
// the same store.
struct weir_operator *weir_aggregate_create(const char *id, const char *name,
                                            const struct weir_aggregate_config *config);

// Upserts by key (change kinds INSERT for the newest row and DELETE for a tombstone, whose other
// columns are NULL) to changes: INSERT, UPDATE_BEFORE + UPDATE_AFTER, DELETE with the whole old
// row. Nothing for a key that is deleted and was not there, or whose row stays the same.
struct weir_normalize_config {
    const struct weir_schema *schema;
    uint32_t key_count;
    const uint32_t *key_columns;
    struct weir_state_store *store;
};

struct weir_operator *weir_normalize_create(const char *id, const char *name,
                                            const struct weir_normalize_config *config);

#endif
