// SPDX-License-Identifier: Apache-2.0
// What must come out of the windows: each (key, window) once, with every row that was not late;
// late is decided by the row's own partition. A window comes when all partitions' time has passed
// its end, so what a commit holds is final.
//
// Late rows are set aside, once each. A drain closes all windows at once: rows that come later for
// one that it closed are set aside at the window; whether those are that come for other windows of
// that time depends on which task had which key, but then all of them are, or the window comes.
#include "tests/sim/job_model.h"

#include "runtime/base/assert.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define TABLES                                                                                     \
    "CREATE TABLE src (id bigint, k text, v bigint, ts timestamptz)\n"                             \
    "  WITH (topic = 'in', event_time = 'ts', watermark_delay = '2 seconds',\n"                    \
    "        idle_timeout = '1 hour', late_topic = 'late');\n"                                     \
    "CREATE TABLE windows (w timestamptz, k text, c bigint, s numeric)\n"                          \
    "  WITH (topic = 'windows');\n"                                                                \
    "INSERT INTO windows "
#define FROM_WINDOWS "\n  FROM tumble(src, ts, interval '10 seconds') GROUP BY window_start, k"

static const char *const sql[] = {
    TABLES "SELECT window_start, k, count(*), sum(v)" FROM_WINDOWS ";\n",
    TABLES "(s, c, w, k) SELECT sum(v), count(*), window_start, k" FROM_WINDOWS
           " HAVING coalesce(max(k), '') < 'z';\n",
    TABLES "SELECT window_start, k, count(*), sum(v)" FROM_WINDOWS
           " HAVING count(DISTINCT id) >= 0;\n",
};
static_assert(SIM_WINDOW_US == 10000000, "as in the job's text");

static const char *const outputs[] = {"windows", "late", NULL};

struct window {
    int64_t start_us;
    uint32_t key;
    int64_t count; // expected, up to `before`
    int64_t sum;
    uint32_t taken_count;
    bool is_closed;      // was taken with a commit before
    bool is_doubtful;    // of a time that a drain has passed, and was not closed by it
    int64_t after_count; // came behind the drain that closed it
    int64_t after_sum;
    int64_t aside_count; // was set aside at the window
    int64_t aside_sum;
    int64_t taken_rows;
    int64_t taken_sum;
};

enum { WINDOWS_MAX = 16384 };

static struct {
    uint32_t window_count;
    int64_t drained_us; // the end of the last window that a drain has closed
    struct sim_positions before;
    int64_t largest_us[SIM_PARTITIONS_MAX]; // event time up to `before`
    bool has_time[SIM_PARTITIONS_MAX];
    uint8_t late[SIM_PARTITIONS_MAX][SIM_IDS_MAX]; // how often a row came out as late
    uint64_t late_count;                           // of these
    uint64_t accounted_count;                      // of these, of records up to `before`
    struct window windows[WINDOWS_MAX];            // last: what is saved ends with the last of them
} model;

static struct sim_saved state(void)
{
    return (struct sim_saved){&model, offsetof(__typeof__(model), windows) +
                                          model.window_count * sizeof model.windows[0]};
}

static struct window *window_of(int64_t start_us, uint32_t key)
{
    for (uint32_t i = model.window_count; i > 0; i--) {
        if (model.windows[i - 1].start_us == start_us && model.windows[i - 1].key == key) {
            return &model.windows[i - 1];
        }
    }
    WEIR_ASSERT(model.window_count < WINDOWS_MAX);
    model.windows[model.window_count] = (struct window){.start_us = start_us, .key = key};
    return &model.windows[model.window_count++];
}

static const char *take_late(const struct sim_record *record)
{
    int64_t id;
    uint32_t partition;
    uint32_t number;
    int64_t start_us;
    uint32_t key;
    int64_t value;
    // At the window nothing is left of the record but the columns that are used.
    if (sim_read_time(record->value, "window_start", &start_us) &&
        sim_read_key(record->value, &key) && sim_read_number(record->value, "v", &value)) {
        struct window *window = window_of(start_us, key);
        window->aside_count += sim_input.may_repeat ? 0 : 1;
        window->aside_sum += sim_input.may_repeat ? 0 : value;
        return NULL;
    }
    if (!sim_read_number(record->value, "id", &id) || !sim_split_id(id, &partition, &number) ||
        (sim_record_of(id) == NULL && !sim_input.may_repeat)) { // it may be of a former input
        return sim_wrong("no late row of this job: %.*s", (int)record->value.size_bytes,
                         record->value.data);
    }
    if (++model.late[partition][number] > 1 && !sim_input.may_repeat) {
        return sim_wrong("the late row of id %" PRId64 " is committed twice", id);
    }
    model.late_count++;
    return NULL;
}

static const char *take(const char *topic, const struct sim_record *record)
{
    if (strcmp(topic, "late") == 0) {
        return take_late(record);
    }

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
    if (sim_input.may_repeat) { // the one that came in time holds every row
        window->taken_count = 1;
        window->taken_rows = rows > window->taken_rows ? rows : window->taken_rows;
        return NULL;
    }
    if (++window->taken_count > 1) {
        return sim_wrong("the window of key%u at %" PRId64 " is committed twice", key,
                         start_us / 1000000);
    }
    window->taken_rows = rows;
    window->taken_sum = sum;
    return NULL;
}

static const char *compare_late(uint32_t partition, const struct sim_row *row, bool is_late)
{
    uint8_t taken = model.late[partition][row->id % SIM_IDS_PER_PARTITION];
    model.accounted_count += taken;
    if (is_late != (taken > 0)) {
        return sim_wrong("the row of id %" PRId64 " is %s, and %s set aside", row->id,
                         is_late ? "late" : "not late", taken > 0 ? "was" : "was not");
    }
    return NULL;
}

static const char *add_row(uint32_t partition, const struct sim_row *row)
{
    int64_t start_us = row->time_us - row->time_us % SIM_WINDOW_US;
    int64_t end_us = start_us + SIM_WINDOW_US;
    bool is_late =
        model.has_time[partition] && end_us <= model.largest_us[partition] - SIM_DELAY_US;
    if (!is_late) {
        struct window *window = window_of(start_us, row->key);
        bool is_closed = window->is_closed && end_us <= model.drained_us;
        window->is_doubtful = end_us <= model.drained_us && !is_closed;
        window->count += is_closed ? 0 : 1;
        window->sum += is_closed ? 0 : row->value;
        window->after_count += is_closed ? 1 : 0;
        window->after_sum += is_closed ? row->value : 0;
    }
    if (!model.has_time[partition] || row->time_us > model.largest_us[partition]) {
        model.largest_us[partition] = row->time_us;
        model.has_time[partition] = true;
    }
    return compare_late(partition, row, is_late);
}

// What came for a window behind a drain that closed it was set aside, all of it; for one of that
// time that the drain did not close, all of it or nothing.
static bool is_aside_right(const struct window *window)
{
    int64_t count = window->is_doubtful ? window->count : window->after_count;
    int64_t sum = window->is_doubtful ? window->sum : window->after_sum;
    if (window->is_doubtful && window->aside_count == 0) {
        return true;
    }
    return window->aside_count == count && window->aside_sum == sum &&
           !(window->is_doubtful && window->taken_count > 0);
}

// How far time has come at these positions, over all partitions.
static int64_t watermark(const struct sim_positions *positions)
{
    int64_t least_us = INT64_MAX;
    for (uint32_t p = 0; p < positions->count; p++) {
        int64_t time_us = model.has_time[p] ? model.largest_us[p] - SIM_DELAY_US : INT64_MIN;
        least_us = time_us < least_us ? time_us : least_us;
    }
    return least_us;
}

static const char *drain(void)
{
    for (uint32_t i = 0; i < model.window_count; i++) {
        const struct window *window = &model.windows[i];
        if (window->taken_count == 0 && window->count > 0 && window->aside_count == 0) {
            return sim_wrong("the window of key%u at %" PRId64 " is open after a drain",
                             window->key, window->start_us / 1000000);
        }
        if (window->taken_count > 0 && window->start_us + SIM_WINDOW_US > model.drained_us) {
            model.drained_us = window->start_us + SIM_WINDOW_US;
        }
    }
    return NULL;
}

static const char *compare(const struct sim_positions *positions, bool may_be_drained)
{
    const char *wrong = sim_advance(&model.before, positions, add_row);
    if (wrong != NULL) {
        return wrong;
    }
    if (model.accounted_count != model.late_count && !sim_input.may_repeat) {
        return sim_wrong("%" PRIu64 " late rows are committed, of these %" PRIu64
                         " of records up to the committed positions",
                         model.late_count, model.accounted_count);
    }
    int64_t time_us = watermark(positions);
    bool is_drained = false;
    for (uint32_t i = 0; i < model.window_count && !sim_input.may_repeat; i++) {
        struct window *window = &model.windows[i];
        window->is_closed = window->taken_count > 0;
        int64_t end_us = window->start_us + SIM_WINDOW_US;
        bool is_early = window->taken_count > 0 && end_us > time_us && end_us > model.drained_us;
        is_drained = is_drained || is_early;
        if (!is_aside_right(window)) {
            return sim_wrong("of the window of key%u at %" PRId64 " %" PRId64
                             " rows are set aside behind a drain",
                             window->key, window->start_us / 1000000, window->aside_count);
        }
        if (is_early && !may_be_drained) {
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
    return is_drained ? drain() : NULL;
}

static const char *compare_end(const struct sim_positions *positions)
{
    int64_t time_us = watermark(positions);
    for (uint32_t i = 0; i < model.window_count; i++) {
        const struct window *window = &model.windows[i];
        bool is_short = sim_input.may_repeat && window->taken_rows < window->count;
        if ((window->taken_count == 0 || is_short) && window->count > 0 &&
            window->aside_count == 0 && window->start_us + SIM_WINDOW_US <= time_us) {
            return sim_wrong("the window of key%u at %" PRId64 " is missing, or rows of it",
                             window->key, window->start_us / 1000000);
        }
    }
    return NULL;
}

const struct sim_job_model sim_tumble = {
    .name = "tumble",
    .outputs = outputs,
    .variants = sql,
    .variant_count = sizeof sql / sizeof sql[0],
    .state = state,
    .take = take,
    .compare = compare,
    .compare_end = compare_end,
};
