// SPDX-License-Identifier: Apache-2.0
// See progress.h.
#include "app/progress.h"

#include "runtime/base/log.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    LINE_INTERVAL_MS = 10000,
    CAUGHT_UP_S = 2, // a job that never ends has caught up when so little is left
};

struct weir_progress {
    const struct weir_job_tasks *tasks;
    struct weir_watch *watch;
    const struct weir_clock *clock;
    bool has_first;
    bool is_over;
    int64_t first_position; // of all partitions together, at the first look
    struct weir_progress_look last;
};

static void append_duration(struct weir_buffer *line, int64_t seconds)
{
    if (seconds >= 2 * 24 * 3600) {
        weir_buffer_printf(line, "%" PRId64 " days", seconds / (24 * 3600));
    } else if (seconds >= 3600) {
        weir_buffer_printf(line, "%" PRId64 " h %" PRId64 " min", seconds / 3600,
                           seconds / 60 % 60);
    } else if (seconds >= 60) {
        weir_buffer_printf(line, "%" PRId64 " min %" PRId64 " s", seconds / 60, seconds % 60);
    } else {
        weir_buffer_printf(line, "%" PRId64 " s", seconds);
    }
}

bool weir_progress_describe(const struct weir_progress_look *before,
                            const struct weir_progress_look *now, struct weir_buffer *line)
{
    int64_t span_ms = now->at_ms - before->at_ms;
    if (span_ms <= 0 || now->offsets_left <= 0) {
        return false;
    }
    double rate = (double)(now->offsets_read - before->offsets_read) * 1000 / (double)span_ms;
    // What comes meanwhile has to be read, too.
    double nearer = now->is_bounded ? rate
                                    : (double)(before->offsets_left - now->offsets_left) * 1000 /
                                          (double)span_ms;
    if (!now->is_bounded && (double)now->offsets_left < rate * CAUGHT_UP_S) {
        return false;
    }
    if (now->is_bounded) {
        int64_t whole = now->offsets_read + now->offsets_left;
        weir_buffer_printf(line, "%" PRId64 " of %" PRId64 " offsets read (%d %%)",
                           now->offsets_read, whole,
                           (int)(100 * (double)now->offsets_read / (double)whole));
    } else {
        weir_buffer_printf(line, "%" PRId64 " offsets behind", now->offsets_left);
    }
    weir_buffer_printf(line, ", %.0f a second, ", rate);
    double seconds = nearer > 0 ? (double)now->offsets_left / nearer : -1;
    if (seconds < 0 || seconds > 1e9) {
        weir_buffer_printf(line, now->is_bounded ? "no end in sight" : "not catching up");
    } else {
        weir_buffer_printf(line, now->is_bounded ? "done in about " : "caught up in about ");
        append_duration(line, (int64_t)seconds + 1);
    }
    return true;
}

struct weir_progress *weir_progress_create(const struct weir_job_tasks *tasks,
                                           struct weir_watch *watch, const struct weir_clock *clock)
{
    struct weir_progress *progress = weir_alloc_zero(sizeof *progress);
    progress->tasks = tasks;
    progress->watch = watch;
    progress->clock = clock;
    return progress;
}

void weir_progress_destroy(struct weir_progress *progress)
{
    free(progress);
}

// False: not every partition has been answered for yet.
static bool look(struct weir_progress *progress, struct weir_progress_look *now, int64_t *position)
{
    *now = (struct weir_progress_look){.at_ms = weir_now_ms(progress->clock), .is_bounded = true};
    *position = 0;
    for (uint32_t i = 0; i < progress->tasks->count; i++) {
        const struct weir_job_task *task = &progress->tasks->tasks[i];
        uint32_t partition_count = task->table != NULL ? task->partition_count : 0;
        for (uint32_t p = 0; p < partition_count; p++) {
            if (weir_source_is_quarantined(task->source, p)) {
                continue;
            }
            int64_t lag = weir_watch_lag(progress->watch, i, p);
            if (lag < 0) {
                return false;
            }
            now->offsets_left += lag;
            now->is_bounded = now->is_bounded && weir_source_is_bounded(task->source, p);
            *position += weir_source_position(task->source, p);
        }
    }
    return true;
}

void weir_progress_note(struct weir_progress *progress)
{
    struct weir_progress_look now;
    int64_t position;
    if (progress->is_over || !look(progress, &now, &position)) {
        return;
    }
    if (!progress->has_first) {
        progress->has_first = true;
        progress->first_position = position;
        progress->last = now;
        return;
    }
    now.offsets_read = position - progress->first_position;
    if (now.at_ms - progress->last.at_ms < LINE_INTERVAL_MS) {
        return;
    }
    struct weir_buffer line = {0};
    if (weir_progress_describe(&progress->last, &now, &line)) {
        weir_log(WEIR_LOG_INFO, "%s", weir_buffer_text(&line));
    } else {
        progress->is_over = !now.is_bounded;
    }
    weir_buffer_deinit(&line);
    progress->last = now;
}
