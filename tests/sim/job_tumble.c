// SPDX-License-Identifier: Apache-2.0
// What must come out of the windows: each (key, window) once, with every row that was not late;
// late is decided by the row's own partition. A window comes when all partitions' time has passed
// its end, so what a commit holds is final.
#include "tests/sim/job_model.h"

#include "runtime/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct window {
    int64_t start_us;
    uint32_t key;
    int64_t count; // expected, up to `before`
    int64_t sum;
    uint32_t taken_count;
    int64_t taken_rows;
    int64_t taken_sum;
};

static struct window *windows;
static uint32_t window_count;
static struct sim_positions before;
static int64_t largest_us[SIM_PARTITIONS_MAX]; // event time up to `before`
static bool has_time[SIM_PARTITIONS_MAX];

void sim_tumble_reset(void)
{
    window_count = 0;
    before.count = 0;
    memset(has_time, 0, sizeof has_time);
}

static struct window *window_of(int64_t start_us, uint32_t key)
{
    for (uint32_t i = window_count; i > 0; i--) {
        if (windows[i - 1].start_us == start_us && windows[i - 1].key == key) {
            return &windows[i - 1];
        }
    }
    windows = weir_realloc(windows, (window_count + 1) * sizeof *windows);
    windows[window_count] = (struct window){.start_us = start_us, .key = key};
    return &windows[window_count++];
}

const char *sim_tumble_take(const struct sim_record *record)
{
    int64_t start_us;
    uint32_t key;
    int64_t rows;
    int64_t sum;
    if (record->value.data == NULL || !sim_read_time(record->value, "w", &start_us) ||
        !sim_read_key(record->value, &key) || !sim_read_number(record->value, "c", &rows) ||
        !sim_read_number(record->value, "s", &sum)) {
        return sim_wrong("not a row of this job: %.*s", (int)record->value.size_bytes,
                         record->value.data != NULL ? record->value.data : "");
    }
    struct window *window = window_of(start_us, key);
    if (++window->taken_count > 1) {
        return sim_wrong("the window of key%u at %" PRId64 " is committed twice", key,
                         start_us / 1000000);
    }
    window->taken_rows = rows;
    window->taken_sum = sum;
    return NULL;
}

static void add_row(uint32_t partition, const struct sim_row *row)
{
    int64_t start_us = row->time_us - row->time_us % SIM_WINDOW_US;
    bool is_late =
        has_time[partition] && start_us + SIM_WINDOW_US <= largest_us[partition] - SIM_DELAY_US;
    if (!is_late) {
        struct window *window = window_of(start_us, row->key);
        window->count++;
        window->sum += row->value;
    }
    if (!has_time[partition] || row->time_us > largest_us[partition]) {
        largest_us[partition] = row->time_us;
        has_time[partition] = true;
    }
}

// How far time has come at these positions, over all partitions.
static int64_t watermark(const struct sim_positions *positions)
{
    int64_t least_us = INT64_MAX;
    for (uint32_t p = 0; p < positions->count; p++) {
        int64_t time_us = has_time[p] ? largest_us[p] - SIM_DELAY_US : INT64_MIN;
        least_us = time_us < least_us ? time_us : least_us;
    }
    return least_us;
}

const char *sim_tumble_compare(const struct sim_positions *positions)
{
    const char *wrong = sim_positions_compare(&before, positions);
    if (wrong != NULL) {
        return wrong;
    }
    for (uint32_t p = 0; p < positions->count; p++) {
        for (int64_t offset = sim_position(&before, p); offset < positions->offsets[p]; offset++) {
            const struct sim_row *row = sim_visible_row(p, offset);
            if (row != NULL) {
                add_row(p, row);
            }
        }
    }
    before = *positions;
    int64_t time_us = watermark(positions);
    for (uint32_t i = 0; i < window_count; i++) {
        const struct window *window = &windows[i];
        if (window->taken_count > 0 && window->start_us + SIM_WINDOW_US > time_us) {
            return sim_wrong("the window of key%u at %" PRId64
                             " is committed before its time has come",
                             window->key, window->start_us / 1000000);
        }
        if (window->taken_count > 0 &&
            (window->taken_rows != window->count || window->taken_sum != window->sum)) {
            return sim_wrong("the window of key%u at %" PRId64 " is committed with %" PRId64
                             " rows and sum %" PRId64 ", expected %" PRId64 " and %" PRId64,
                             window->key, window->start_us / 1000000, window->taken_rows,
                             window->taken_sum, window->count, window->sum);
        }
    }
    return NULL;
}

const char *sim_tumble_compare_end(const struct sim_positions *positions)
{
    int64_t time_us = watermark(positions);
    for (uint32_t i = 0; i < window_count; i++) {
        const struct window *window = &windows[i];
        if (window->taken_count == 0 && window->count > 0 &&
            window->start_us + SIM_WINDOW_US <= time_us) {
            return sim_wrong("the window of key%u at %" PRId64 " is missing", window->key,
                             window->start_us / 1000000);
        }
    }
    return NULL;
}
