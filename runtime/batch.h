// SPDX-License-Identifier: Apache-2.0
// Rows on their way through a task: typed columns with validity bitmaps, the event time of each
// row, and the record that it came from. Column data, views and bitmaps live in the batch's arena
// or in memory that the batch pins (the fetched messages); whatever outlives the batch is copied.
// Thread: a batch belongs to one task at a time and is handed over whole.
#ifndef WEIR_RUNTIME_BATCH_H
#define WEIR_RUNTIME_BATCH_H

#include "runtime/base/assert.h"
#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/types/numeric.h"
#include "runtime/types/type.h"

enum { WEIR_BATCH_ROWS_MAX = 1024 };

// The columns that a batch carries: names, types, in order.
struct weir_schema {
    uint32_t column_count;
    const struct weir_field *columns;
};

struct weir_column {
    struct weir_type type;
    uint64_t *validity; // bit i of word i/64 set: row i has a value; NULL: every row has one
    union {
        void *data; // array of the layout's elements
        uint8_t *u8;
        int16_t *i16;
        int32_t *i32;
        int64_t *i64;
        float *f32;
        double *f64;
        struct weir_numeric *numeric;
        struct weir_view *view;
        struct weir_interval *interval;
        struct weir_uuid *uuid;
    };
    struct weir_column *children; // composites: one a field; a NULL composite has NULL fields
};

static inline bool weir_column_is_valid(const struct weir_column *column, uint32_t row)
{
    return column->validity == NULL || (column->validity[row / 64] >> (row % 64) & 1) != 0;
}

static inline void weir_bitmap_set(uint64_t *bitmap, uint32_t row)
{
    bitmap[row / 64] |= UINT64_C(1) << (row % 64);
}

static inline void weir_bitmap_clear(uint64_t *bitmap, uint32_t row)
{
    bitmap[row / 64] &= ~(UINT64_C(1) << (row % 64));
}

static inline bool weir_bitmap_get(const uint64_t *bitmap, uint32_t row)
{
    return (bitmap[row / 64] >> (row % 64) & 1) != 0;
}

// A record as it was read, for metadata columns and dead letters. All views point into the fetched
// messages, which the batch pins.
struct weir_record {
    const char *topic; // lives as long as the job
    int32_t partition;
    int64_t offset;
    int64_t timestamp_ms; // Kafka's; -1: none
    struct weir_view key;
    struct weir_view value;
    // Headers are read on request only: message is the client's own handle, read by the functions
    // of struct weir_record_ops below.
    const void *message;
    const struct weir_record_ops *ops;
};

struct weir_header {
    const char *name;
    struct weir_view value; // data NULL: null value
};

struct weir_record_ops {
    // The last header of that name; false: there is none.
    bool (*header_last)(const struct weir_record *record, const char *name,
                        struct weir_view *value);
    // Header idx in order; false: past the end.
    bool (*header_at)(const struct weir_record *record, uint32_t idx, struct weir_header *header);
};

// Kinds of change, for sources and results that change. An append-only batch has none.
enum weir_change {
    WEIR_CHANGE_INSERT = 0,
    WEIR_CHANGE_DELETE = 1,
    WEIR_CHANGE_UPDATE_BEFORE = 2,
    WEIR_CHANGE_UPDATE_AFTER = 3,
};

struct weir_state_key; // state.h

// What rows have been folded into before an exchange, a group each (operators/preaggregate.h).
// Only who made it and the operator behind the exchange know what a value is.
struct weir_partials {
    const struct weir_state_key *keys;
    const char *values; // value_bytes for each key
    uint32_t value_bytes;
};

struct weir_batch {
    const struct weir_schema *schema;
    uint32_t row_count; // at most WEIR_BATCH_ROWS_MAX
    // The rows that count, ascending; NULL: all of them (selected_count == row_count).
    const uint16_t *selected;
    uint32_t selected_count;
    struct weir_column *columns; // schema->column_count of them
    int64_t *event_time_us;      // per row, µs since 2000-01-01 UTC
    // Per row, behind a watermark node: the largest event time before it in its partition
    // (INT64_MIN: none). NULL elsewhere.
    const int64_t *partition_time_us;
    const uint8_t *change;             // enum weir_change per row; NULL: all inserts
    const struct weir_record *records; // the record that row i descends from; NULL: from several
    // Not NULL: these instead of columns and event times, row_count of them, all selected. Between
    // what folds rows and the aggregate only.
    const struct weir_partials *partials;
    struct weir_arena *arena; // what operators compute for this batch is put here
};

// A row that takes an earlier one back. What is wrong with it was said when that one came.
static inline bool weir_batch_is_taken_back(const struct weir_batch *batch, uint32_t row)
{
    return batch->change != NULL && (batch->change[row] == WEIR_CHANGE_DELETE ||
                                     batch->change[row] == WEIR_CHANGE_UPDATE_BEFORE);
}

// The i-th selected row (i < selected_count).
static inline uint32_t weir_batch_row(const struct weir_batch *batch, uint32_t i)
{
    return batch->selected != NULL ? batch->selected[i] : i;
}

// Array and bitmap (when with_validity; all NULL) of `row_count` rows from the arena, children too.
void weir_column_init(struct weir_column *column, const struct weir_type *type, uint32_t row_count,
                      bool with_validity, struct weir_arena *arena);

#endif
