// SPDX-License-Identifier: Apache-2.0
// See metrics.h. The registry: for each family a list of series, each with the cells that are open.
// Series are never removed: there are as many as labels, which come from the job's plan and its
// partitions. Thread: any; one lock, never held while something waits.
#include "runtime/base/metrics.h"

#include "runtime/base/assert.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// Upper bounds in seconds: from a checkpoint of a small job to the time-out of a large one.
static const double bucket_bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                       1,     2.5,  5,     10,   30,  60};
enum { BUCKET_COUNT = sizeof bucket_bounds / sizeof bucket_bounds[0] };

// A gauge that was never set: a NaN that no calculation gives.
#define UNSET_BITS UINT64_C(0x7ff8dead00000000)

struct weir_metric_series {
    enum weir_metric_kind kind;
    struct weir_metric_series *next;
    struct weir_metric *cells;
    uint64_t closed; // a counter's sum of what was closed
    char *values[WEIR_METRIC_LABELS_MAX];
};

struct family {
    struct weir_metric_series *first;
    struct weir_metric_series **last; // NULL: there is none yet
    uint64_t buckets[BUCKET_COUNT];   // histograms: not cumulated
    uint64_t observed_count;
    double observed_sum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct family families[WEIR_METRIC_COUNT];

static uint32_t label_count(enum weir_metric_id id)
{
    uint32_t count = 0;
    while (weir_metric_families[id].labels[count] != NULL) {
        count++;
    }
    return count;
}

static struct weir_metric_series *find_series(enum weir_metric_id id, const char *const *values)
{
    uint32_t count = label_count(id);
    for (struct weir_metric_series *series = families[id].first; series != NULL;
         series = series->next) {
        uint32_t same = 0;
        while (same < count && strcmp(series->values[same], values[same]) == 0) {
            same++;
        }
        if (same == count) {
            return series;
        }
    }
    return NULL;
}

static struct weir_metric_series *add_series(enum weir_metric_id id, const char *const *values)
{
    struct weir_metric_series *series = weir_alloc_zero(sizeof *series);
    series->kind = weir_metric_families[id].kind;
    for (uint32_t i = 0; i < label_count(id); i++) {
        series->values[i] = weir_strdup(values[i]);
    }
    struct family *family = &families[id];
    if (family->last == NULL) {
        family->last = &family->first;
    }
    *family->last = series;
    family->last = &series->next;
    return series;
}

struct weir_metric *weir_metric_open(enum weir_metric_id id, const char *const *values)
{
    enum weir_metric_kind kind = weir_metric_families[id].kind;
    WEIR_ASSERT(kind != WEIR_METRIC_HISTOGRAM);
    struct weir_metric *metric = aligned_alloc(_Alignof(struct weir_metric), sizeof *metric);
    WEIR_ASSERT(metric != NULL);
    atomic_init(&metric->value, kind == WEIR_METRIC_COUNTER ? 0 : UNSET_BITS);
    pthread_mutex_lock(&lock);
    metric->series = find_series(id, values);
    if (metric->series == NULL) {
        metric->series = add_series(id, values);
    }
    metric->next = metric->series->cells;
    metric->series->cells = metric;
    pthread_mutex_unlock(&lock);
    return metric;
}

struct weir_metric *weir_metric_open_partition(enum weir_metric_id id, const char *table,
                                               const char *topic, int32_t partition)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRId32, partition);
    return label_count(id) == 2 ? weir_metric_open(id, WEIR_METRIC_LABELS(table, number))
                                : weir_metric_open(id, WEIR_METRIC_LABELS(table, topic, number));
}

void weir_metric_close(struct weir_metric *metric)
{
    if (metric == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    struct weir_metric_series *series = metric->series;
    if (series->kind == WEIR_METRIC_COUNTER) {
        series->closed += weir_metric_count(metric);
    }
    struct weir_metric **at = &series->cells;
    while (*at != metric) {
        at = &(*at)->next;
    }
    *at = metric->next;
    pthread_mutex_unlock(&lock);
    free(metric);
}

void weir_metric_observe(enum weir_metric_id id, double seconds)
{
    WEIR_ASSERT(weir_metric_families[id].kind == WEIR_METRIC_HISTOGRAM && label_count(id) == 0);
    pthread_mutex_lock(&lock);
    struct family *family = &families[id];
    for (int i = 0; i < BUCKET_COUNT; i++) {
        if (seconds <= bucket_bounds[i]) {
            family->buckets[i]++;
            break;
        }
    }
    family->observed_count++;
    family->observed_sum += seconds;
    pthread_mutex_unlock(&lock);
}

// False: a gauge of which no cell is set.
static bool series_number(const struct weir_metric_series *series, uint64_t *count, double *number)
{
    enum weir_metric_kind kind = series->kind;
    *count = series->closed;
    *number = 0;
    bool is_set = kind == WEIR_METRIC_COUNTER;
    for (const struct weir_metric *cell = series->cells; cell != NULL; cell = cell->next) {
        uint64_t bits = weir_metric_count(cell);
        if (kind == WEIR_METRIC_COUNTER) {
            *count += bits;
        } else if (bits != UNSET_BITS) {
            double part;
            memcpy(&part, &bits, sizeof part);
            *number += part;
            is_set = true;
        }
    }
    if (kind == WEIR_METRIC_COUNTER) {
        *number = (double)*count;
    }
    return is_set;
}

// Backslash, quote and newline, as the format says.
static void append_escaped(struct weir_buffer *out, const char *text, bool is_quoted)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            weir_buffer_append(out, "\\n", 2);
        } else if (*text == '\\' || (*text == '"' && is_quoted)) {
            weir_buffer_append_char(out, '\\');
            weir_buffer_append_char(out, *text);
        } else {
            weir_buffer_append_char(out, *text);
        }
    }
}

static void append_labels(struct weir_buffer *out, enum weir_metric_id id,
                          const struct weir_metric_series *series)
{
    uint32_t count = label_count(id);
    for (uint32_t i = 0; i < count; i++) {
        weir_buffer_printf(out, "%s%s=\"", i == 0 ? "{" : ",", weir_metric_families[id].labels[i]);
        append_escaped(out, series->values[i], true);
        weir_buffer_append_char(out, '"');
    }
    if (count > 0) {
        weir_buffer_append_char(out, '}');
    }
}

// Whole numbers without exponent, others with as many digits as tell them apart.
static void append_number(struct weir_buffer *out, double number)
{
    if (isnan(number)) {
        weir_buffer_printf(out, "NaN");
    } else if (isinf(number)) {
        weir_buffer_printf(out, number > 0 ? "+Inf" : "-Inf");
    } else {
        weir_buffer_printf(out, "%.16g", number);
    }
}

static void render_histogram(struct weir_buffer *out, enum weir_metric_id id)
{
    const char *name = weir_metric_families[id].name;
    const struct family *family = &families[id];
    uint64_t below = 0;
    for (int i = 0; i < BUCKET_COUNT; i++) {
        below += family->buckets[i];
        weir_buffer_printf(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, bucket_bounds[i],
                           below);
    }
    weir_buffer_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum ", name,
                       family->observed_count, name);
    append_number(out, family->observed_sum);
    weir_buffer_printf(out, "\n%s_count %" PRIu64 "\n", name, family->observed_count);
}

static const char *kind_name(enum weir_metric_kind kind)
{
    switch (kind) {
    case WEIR_METRIC_COUNTER:
        return "counter";
    case WEIR_METRIC_GAUGE:
        return "gauge";
    case WEIR_METRIC_HISTOGRAM:
        return "histogram";
    }
    WEIR_ASSERT(!"unreachable");
}

static void render_family(struct weir_buffer *out, enum weir_metric_id id)
{
    const struct weir_metric_family *family = &weir_metric_families[id];
    weir_buffer_printf(out, "# HELP %s ", family->name);
    append_escaped(out, family->help, false);
    weir_buffer_printf(out, "\n# TYPE %s %s\n", family->name, kind_name(family->kind));
    if (family->kind == WEIR_METRIC_HISTOGRAM) {
        render_histogram(out, id);
        return;
    }
    for (const struct weir_metric_series *series = families[id].first; series != NULL;
         series = series->next) {
        uint64_t count;
        double number;
        if (!series_number(series, &count, &number)) {
            continue;
        }
        weir_buffer_printf(out, "%s", family->name);
        append_labels(out, id, series);
        weir_buffer_append_char(out, ' ');
        if (family->kind == WEIR_METRIC_COUNTER) {
            weir_buffer_printf(out, "%" PRIu64, count);
        } else {
            append_number(out, number);
        }
        weir_buffer_append_char(out, '\n');
    }
}

void weir_metrics_render(struct weir_buffer *out)
{
    pthread_mutex_lock(&lock);
    for (int id = 0; id < WEIR_METRIC_COUNT; id++) {
        render_family(out, (enum weir_metric_id)id);
    }
    pthread_mutex_unlock(&lock);
}

void weir_metrics_print_markdown(struct weir_buffer *out)
{
    for (int id = 0; id < WEIR_METRIC_COUNT; id++) {
        const struct weir_metric_family *family = &weir_metric_families[id];
        weir_buffer_printf(out, "| `%s` | %s | ", family->name, kind_name(family->kind));
        for (uint32_t i = 0; i < label_count((enum weir_metric_id)id); i++) {
            weir_buffer_printf(out, "%s`%s`", i == 0 ? "" : ", ", family->labels[i]);
        }
        weir_buffer_printf(out, " | %s |\n", family->help);
    }
}

bool weir_metrics_read(enum weir_metric_id id, const char *const *values, double *number)
{
    pthread_mutex_lock(&lock);
    const struct weir_metric_series *series = find_series(id, values);
    uint64_t count;
    bool is_set = series != NULL && series_number(series, &count, number);
    pthread_mutex_unlock(&lock);
    return is_set;
}

void weir_metrics_visit(enum weir_metric_id id, weir_metrics_visit_fn *visit, void *context)
{
    pthread_mutex_lock(&lock);
    for (const struct weir_metric_series *series = families[id].first; series != NULL;
         series = series->next) {
        uint64_t count;
        double number;
        if (series_number(series, &count, &number)) {
            visit(context, (const char *const *)series->values, number);
        }
    }
    pthread_mutex_unlock(&lock);
}
