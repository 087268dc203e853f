// SPDX-License-Identifier: Apache-2.0
// Rows with a time and a partition, as they come from a source: a source and a clock that the test
// owns, and batches from tables.
#ifndef WEIR_TESTS_UNIT_OPERATORS_TIMED_H
#define WEIR_TESTS_UNIT_OPERATORS_TIMED_H

#include "changes.h"

#include "operators/watermark.h"
#include "operators/window.h"

enum { TIMED_PARTITIONS_MAX = 4 };

struct timed_row {
    int32_t partition;
    int64_t time_ms; // since 1970, as Kafka counts
    const char *key;
    int64_t value;
};

static const struct weir_field timed_fields[] = {
    {"k", {WEIR_TYPE_TEXT, -1, NULL}},
    {"v", {WEIR_TYPE_BIGINT, -1, NULL}},
    {"window_start", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}},
    {"window_end", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}},
};
static const struct weir_schema timed_schema = {2, timed_fields};
static const struct weir_schema timed_window_schema = {4, timed_fields};

struct timed_source {
    struct weir_source source; // first
    bool is_at_end[TIMED_PARTITIONS_MAX];
    struct weir_operator_state_store *operator_states; // of the watermark; the test destroys it
};

static inline bool timed_is_at_end(const struct weir_source *source, int32_t partition)
{
    return ((const struct timed_source *)source)->is_at_end[partition];
}

static const struct weir_source_ops timed_source_ops = {.is_at_end = timed_is_at_end};

static int64_t timed_now_ms;

static inline int64_t timed_clock_ms(const struct weir_clock *clock)
{
    (void)clock;
    return timed_now_ms;
}

static const struct weir_clock timed_clock = {.monotonic_ms = timed_clock_ms,
                                              .wall_ms = timed_clock_ms};

static inline int64_t timed_us(int64_t unix_ms)
{
    return (unix_ms - WEIR_EPOCH_SHIFT_MS) * 1000;
}

// "2024-03-05 02:15:00+00".
static inline int64_t timed_parse_us(const char *text)
{
    struct weir_arena *arena = weir_arena_create(1 << 10);
    struct weir_column column;
    struct weir_type type = weir_type_plain(WEIR_TYPE_TIMESTAMPTZ);
    weir_column_init(&column, &type, 1, true, arena);
    assert_true(weir_text_parse(&column, 0, weir_view_of(text), arena, NULL));
    int64_t us = column.i64[0];
    weir_arena_destroy(arena);
    return us;
}

// The record's offset is its place from first_offset, its timestamp record_ms (-1: none).
static inline void timed_feed(struct weir_operator *op, uint32_t count,
                              const struct timed_row *rows, int64_t first_offset, int64_t record_ms)
{
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct weir_batch batch = {
        .schema = &timed_schema,
        .row_count = count,
        .selected_count = count,
        .columns = weir_arena_alloc(arena, 2 * sizeof *batch.columns),
        .event_time_us = weir_arena_alloc(arena, count * sizeof(int64_t)),
        .arena = arena,
    };
    struct weir_record *records = weir_arena_alloc_zero(arena, count * sizeof *records);
    batch.records = records;
    for (uint32_t c = 0; c < 2; c++) {
        weir_column_init(&batch.columns[c], &timed_fields[c].type, count, false, arena);
    }
    for (uint32_t i = 0; i < count; i++) {
        batch.columns[0].view[i] = weir_view_of(rows[i].key);
        batch.columns[1].i64[i] = rows[i].value;
        batch.event_time_us[i] = timed_us(rows[i].time_ms);
        records[i] = (struct weir_record){.topic = "topic",
                                          .partition = rows[i].partition,
                                          .offset = first_offset + i,
                                          .timestamp_ms = record_ms};
    }
    struct weir_error error;
    assert_int_equal(op->ops->process(op, &batch, &error), WEIR_OK);
    weir_arena_destroy(arena);
}

#define TIMED_FEED(op, first_offset, ...)                                                          \
    timed_feed(op, sizeof((const struct timed_row[]){__VA_ARGS__}) / sizeof(struct timed_row),     \
               (const struct timed_row[]){__VA_ARGS__}, first_offset, -1)

// A watermark node. What the config leaves out: partitions of which nothing is known yet, operator
// states without a checkpoint.
static inline struct weir_operator *timed_watermark_of(struct timed_source *source,
                                                       struct weir_watermark_config config)
{
    static const struct weir_partition_time PARTITIONS[TIMED_PARTITIONS_MAX] = {
        {0, INT64_MIN, false}, {1, INT64_MIN, false}, {2, INT64_MIN, false}, {3, INT64_MIN, false}};
    if (config.partitions == NULL) {
        config.partitions = PARTITIONS;
    }
    if (config.operator_states == NULL) {
        config.operator_states =
            weir_operator_state_store_create(&(struct weir_operator_state_config){.task_count = 1});
    }
    *source = (struct timed_source){.source.ops = &timed_source_ops,
                                    .operator_states = config.operator_states};
    config.source = &source->source;
    config.table = "t";
    config.clock = &timed_clock;
    return weir_watermark_create("id", "watermark", &config);
}

// One over partitions 0 to count - 1.
static inline struct weir_operator *timed_watermark(struct timed_source *source, uint32_t count,
                                                    int64_t delay_ms, int64_t idle_timeout_ms)
{
    return timed_watermark_of(source,
                              (struct weir_watermark_config){.delay_us = delay_ms * 1000,
                                                             .idle_timeout_ms = idle_timeout_ms,
                                                             .max_ahead_us = -1,
                                                             .partition_count = count});
}

static inline void timed_connect(struct weir_operator *op, struct weir_operator **next,
                                 struct changes *changes)
{
    op->next = next;
    op->next_count = 1;
    op->row_errors = &changes->policy;
}

#endif
