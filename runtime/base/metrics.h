// SPDX-License-Identifier: Apache-2.0
// Metrics: what the process counts and measures, in one registry of the process, as the log is one.
// A family (a row of the table in metrics_table.c) has a series for each combination of its labels;
// whoever counts opens a cell of a series and owns it until it closes it. A cell has one writer, so
// that nobody shares a cache line: counters are added to once a batch with relaxed atomics, and the
// cells of a series are summed when somebody looks.
//
// A closed counter's value stays in its series: it never goes back while the process lives. A
// closed gauge is gone.
//
// Threads: open, close, observe and render take a lock, any thread; add and set take none.
#ifndef WEIR_RUNTIME_BASE_METRICS_H
#define WEIR_RUNTIME_BASE_METRICS_H

#include "runtime/base/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

// In the order of the page.
enum weir_metric_id {
    WEIR_METRIC_BUILD_INFO,
    WEIR_METRIC_JOB_STATE,
    WEIR_METRIC_READY,
    WEIR_METRIC_RESTARTS,
    WEIR_METRIC_SOURCE_RECORDS,
    WEIR_METRIC_SOURCE_BYTES,
    WEIR_METRIC_SOURCE_LAG,
    WEIR_METRIC_SOURCE_OPEN_TRANSACTION,
    WEIR_METRIC_SOURCE_PAUSED,
    WEIR_METRIC_SOURCE_QUARANTINED,
    WEIR_METRIC_SINK_RECORDS,
    WEIR_METRIC_SINK_BYTES,
    WEIR_METRIC_TIMESTAMPS_CLAMPED,
    WEIR_METRIC_ROWS_DROPPED,
    WEIR_METRIC_DEAD_LETTERS,
    WEIR_METRIC_LATE_ROWS,
    WEIR_METRIC_OPERATOR_RECORDS,
    WEIR_METRIC_WATERMARK,
    WEIR_METRIC_CHECKPOINTS,
    WEIR_METRIC_CHECKPOINT_FAILURES,
    WEIR_METRIC_CHECKPOINT_REFUSALS,
    WEIR_METRIC_CHECKPOINT_ACKNOWLEDGEMENTS,
    WEIR_METRIC_CHECKPOINT_DURATION,
    WEIR_METRIC_CHECKPOINT_PHASE,
    WEIR_METRIC_CHECKPOINT_LAST_COMPLETED,
    WEIR_METRIC_CHECKPOINT_AGE,
    WEIR_METRIC_CHECKPOINT_BYTES,
    WEIR_METRIC_TASK_BUSY,
    WEIR_METRIC_TASK_BACKPRESSURE,
    WEIR_METRIC_STATE_ENTRIES,
    WEIR_METRIC_STATE_BYTES,
    WEIR_METRIC_MEMORY,
    WEIR_METRIC_OPEN_FILES,
    WEIR_METRIC_THREADS,
    WEIR_METRIC_COUNT,
};

enum weir_metric_kind {
    WEIR_METRIC_COUNTER,   // whole numbers that only grow
    WEIR_METRIC_GAUGE,     // any number; the cells of a series are added up
    WEIR_METRIC_HISTOGRAM, // of seconds, in the buckets of metrics.c
};

enum { WEIR_METRIC_LABELS_MAX = 3 };

struct weir_metric_family {
    const char *name;
    enum weir_metric_kind kind;
    const char *labels[WEIR_METRIC_LABELS_MAX + 1]; // ended by NULL
    const char *help;                               // one line
};

extern const struct weir_metric_family weir_metric_families[WEIR_METRIC_COUNT];

struct weir_metric_series;

// A cell. Opened by weir_metric_open; only `value` is touched outside of metrics.c, through the
// functions below.
struct weir_metric {
    _Alignas(64) _Atomic uint64_t value; // a counter's number, or the bits of a gauge's double
    struct weir_metric_series *series;
    struct weir_metric *next;
};

#define WEIR_METRIC_LABELS(...) ((const char *const[]){__VA_ARGS__})

// values: one a label of the family (copied); NULL where it has none. A counter begins at 0, a
// gauge shows nothing until it is set.
struct weir_metric *weir_metric_open(enum weir_metric_id id, const char *const *values);
// The same for the labels {table, partition} or {table, topic, partition}.
struct weir_metric *weir_metric_open_partition(enum weir_metric_id id, const char *table,
                                               const char *topic, int32_t partition);
void weir_metric_close(struct weir_metric *metric); // accepts NULL

// One writer a cell.
static inline void weir_metric_add(struct weir_metric *metric, uint64_t count)
{
    uint64_t value = atomic_load_explicit(&metric->value, memory_order_relaxed);
    atomic_store_explicit(&metric->value, value + count, memory_order_relaxed);
}

static inline void weir_metric_set(struct weir_metric *metric, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    atomic_store_explicit(&metric->value, bits, memory_order_relaxed);
}

// What this cell of a counter was given. Thread: any.
static inline uint64_t weir_metric_count(const struct weir_metric *metric)
{
    return atomic_load_explicit(&metric->value, memory_order_relaxed);
}

// Of a histogram without labels.
void weir_metric_observe(enum weir_metric_id id, double seconds);

// Every family with its HELP and TYPE, and all series, in Prometheus' text format 0.0.4.
void weir_metrics_render(struct weir_buffer *out);

// docs/metrics.md, from the table alone.
void weir_metrics_print_markdown(struct weir_buffer *out);

// What a series shows now; false: nothing. For those who show figures elsewhere, and for tests.
bool weir_metrics_read(enum weir_metric_id id, const char *const *values, double *number);

// Visits the series of a family with their label values, in the order of their first opening.
typedef void weir_metrics_visit_fn(void *context, const char *const *values, double number);
void weir_metrics_visit(enum weir_metric_id id, weir_metrics_visit_fn *visit, void *context);

#endif
