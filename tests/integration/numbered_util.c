// SPDX-License-Identifier: Apache-2.0
// See numbered_util.h.
#include "tests/integration/numbered_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct weir_test_record record_of(const void *context, int64_t n)
{
    const struct numbered *numbered = context;
    return weir_test_record_of(
        (int32_t)(n % NUMBERED_PARTITIONS), NULL,
        weir_test_format("{\"n\":%" PRId64 ",\"k\":%d,\"g\":%d,\"ts\":%" PRId64 "}", n,
                         (int)(n % numbered->key_count), (int)(n % NUMBERED_GROUPS), n));
}

void numbered_feed(struct numbered *numbered, int64_t count)
{
    sql_job_feed_each(numbered->job, "in", numbered->count, count, record_of, numbered);
    numbered->count += count;
}

// Keeps the first fault; takes over the text.
static void note(struct numbered_found *found, char *fault)
{
    if (found->fault == NULL) {
        found->fault = fault;
    } else {
        free(fault);
    }
}

// How often the effect of `truth` records is there instead of once.
static void weigh(struct numbered_found *found, int64_t is, int64_t truth)
{
    found->lost_count += is < truth ? truth - is : 0;
    found->double_count += is > truth ? is - truth : 0;
}

// Hands the text of every row of the topic to `look`.
static void each_row(const struct numbered *numbered, const char *suffix, void *context,
                     struct numbered_found *found,
                     void (*look)(void *context, const char *text, struct numbered_found *found))
{
    struct weir_test_log *log = sql_job_read(numbered->job, suffix);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = sql_job_text(&log->partitions[p].records[i]);
            look(context, text, found);
            free(text);
        }
    }
    found->row_count += (int64_t)log->record_count;
    weir_test_log_destroy(log);
}

// --- rows passed through -------------------------------------------------------------------------

struct copies {
    const struct numbered *numbered;
    int *seen;                         // by number
    int64_t last[NUMBERED_PARTITIONS]; // by source partition
};

static void look_at_copy(void *context, const char *text, struct numbered_found *found)
{
    struct copies *copies = context;
    int64_t n = -1;
    if (sscanf(text, "{\"n\":%" SCNd64 "}", &n) != 1 || n < 0 || n >= copies->numbered->count) {
        found->double_count++;
        note(found, weir_test_format("copies holds %s", text));
        return;
    }
    int64_t *last = &copies->last[n % NUMBERED_PARTITIONS];
    if (copies->seen[n]++ > 0) {
        found->double_count++;
        if (!found->is_at_least_once) {
            note(found, weir_test_format("copies: %" PRId64 " is there twice", n));
        }
    } else if (n <= *last && !found->is_at_least_once) {
        note(found, weir_test_format("copies: %" PRId64 " after %" PRId64, n, *last));
    }
    *last = n;
}

void numbered_check_copies(const struct numbered *numbered, struct numbered_found *found)
{
    struct copies copies = {.numbered = numbered, .last = {-1, -1, -1, -1}};
    copies.seen = weir_test_alloc((size_t)numbered->count * sizeof *copies.seen);
    each_row(numbered, "copies", &copies, found, look_at_copy);
    for (int64_t n = 0; n < numbered->count; n++) {
        if (copies.seen[n] == 0) {
            found->lost_count++;
            note(found, weir_test_format("copies: %" PRId64 " of %" PRId64 " is lost", n,
                                         numbered->count));
        }
    }
    free(copies.seen);
}

// --- counts by key -------------------------------------------------------------------------------

struct counts {
    const struct numbered *numbered;
    int64_t *last_counts; // by key
    int64_t *last_sums;
};

static int64_t different_groups(const struct numbered *numbered, int64_t count)
{
    int64_t most = numbered->key_count % NUMBERED_GROUPS == 0 ? 1 : NUMBERED_GROUPS; // a prime
    return count < most ? count : most;
}

static void look_at_count(void *context, const char *text, struct numbered_found *found)
{
    struct counts *counts = context;
    int k = -1;
    int64_t count = -1;
    int64_t sum = -1;
    int64_t distinct = -1;
    if (sscanf(text, "{\"k\":%d,\"c\":%" SCNd64 ",\"s\":%" SCNd64 ",\"d\":%" SCNd64 "}", &k, &count,
               &sum, &distinct) != 4 ||
        k < 0 || k >= counts->numbered->key_count) {
        note(found, weir_test_format("counts holds %s", text));
        return;
    }
    if (!found->is_at_least_once && count <= counts->last_counts[k]) {
        found->double_count++;
        note(found, weir_test_format("key %d: count %" PRId64 " after %" PRId64, k, count,
                                     counts->last_counts[k]));
    }
    if (!found->is_at_least_once && distinct != different_groups(counts->numbered, count)) {
        note(found, weir_test_format("key %d: %" PRId64 " different values in %" PRId64, k,
                                     distinct, count));
    }
    counts->last_counts[k] = count;
    counts->last_sums[k] = sum;
}

void numbered_check_counts(const struct numbered *numbered, struct numbered_found *found)
{
    struct counts counts = {.numbered = numbered};
    int key_count = numbered->key_count;
    counts.last_counts = weir_test_alloc((size_t)key_count * sizeof *counts.last_counts);
    counts.last_sums = weir_test_alloc((size_t)key_count * sizeof *counts.last_sums);
    each_row(numbered, "counts", &counts, found, look_at_count);
    for (int k = 0; k < key_count; k++) {
        int64_t count = (numbered->count - k + key_count - 1) / key_count;
        int64_t sum = count * k + key_count * (count * (count - 1) / 2);
        weigh(found, counts.last_counts[k], count);
        bool is_good = found->is_at_least_once
                           ? counts.last_counts[k] >= count && counts.last_sums[k] >= sum
                           : counts.last_counts[k] == count && counts.last_sums[k] == sum;
        if (!is_good) {
            note(found,
                 weir_test_format("key %d ends at count %" PRId64 " and sum %" PRId64
                                  ", it should be %" PRId64 " and %" PRId64,
                                  k, counts.last_counts[k], counts.last_sums[k], count, sum));
        }
    }
    free(counts.last_counts);
    free(counts.last_sums);
}

// --- windows -------------------------------------------------------------------------------------

struct windows {
    const struct numbered *numbered;
    int64_t window_count;
    int64_t *counts; // by window and group: what its rows said, added up; the most of them in
                     // at-least-once mode
};

struct window_truth {
    int64_t count;
    int64_t sum;
};

static struct window_truth truth_of(const struct numbered *numbered, int64_t window, int g)
{
    struct window_truth truth = {0};
    for (int64_t n = window * NUMBERED_WINDOW_MS;
         n < (window + 1) * NUMBERED_WINDOW_MS && n < numbered->count; n++) {
        truth.count += n % NUMBERED_GROUPS == g ? 1 : 0;
        truth.sum += n % NUMBERED_GROUPS == g ? n : 0;
    }
    return truth;
}

static void look_at_window(void *context, const char *text, struct numbered_found *found)
{
    struct windows *windows = context;
    int hour = -1;
    int minute = -1;
    int second = -1;
    int g = -1;
    int64_t count = -1;
    int64_t sum = -1;
    if (sscanf(text,
               "{\"w\":\"1970-01-01T%d:%d:%d+00:00\",\"g\":%d,\"c\":%" SCNd64 ",\"s\":%" SCNd64 "}",
               &hour, &minute, &second, &g, &count, &sum) != 6) {
        note(found, weir_test_format("windows holds %s", text));
        return;
    }
    int64_t window = (hour * 60 + minute) * 60 + second;
    if (window >= windows->window_count || g < 0 || g >= NUMBERED_GROUPS) {
        found->double_count += count;
        note(found, weir_test_format("windows holds %s", text));
        return;
    }
    int64_t *seen = &windows->counts[window * NUMBERED_GROUPS + g];
    struct window_truth truth = truth_of(windows->numbered, window, g);
    if (found->is_at_least_once) {
        found->double_count += *seen > 0 ? count : 0;
        *seen = count > *seen ? count : *seen;
        return;
    }
    if (*seen > 0 || count != truth.count || sum != truth.sum) {
        note(found,
             weir_test_format("window %s: expected count %" PRId64 " and sum %" PRId64 ", once",
                              text, truth.count, truth.sum));
    }
    *seen += count;
}

void numbered_check_windows(const struct numbered *numbered, struct numbered_found *found)
{
    struct windows windows = {.numbered = numbered,
                              .window_count =
                                  (numbered->count + NUMBERED_WINDOW_MS - 1) / NUMBERED_WINDOW_MS};
    int64_t cell_count = windows.window_count * NUMBERED_GROUPS;
    windows.counts = weir_test_alloc((size_t)cell_count * sizeof *windows.counts);
    each_row(numbered, "windows", &windows, found, look_at_window);
    for (int64_t i = 0; i < cell_count; i++) {
        struct window_truth truth =
            truth_of(numbered, i / NUMBERED_GROUPS, (int)(i % NUMBERED_GROUPS));
        weigh(found, windows.counts[i], truth.count);
        if (windows.counts[i] < truth.count) {
            note(found, weir_test_format("window %" PRId64 " of group %" PRId64 " counts %" PRId64
                                         " instead of %" PRId64,
                                         i / NUMBERED_GROUPS, i % NUMBERED_GROUPS,
                                         windows.counts[i], truth.count));
        }
    }
    free(windows.counts);
}
