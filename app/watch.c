// SPDX-License-Identifier: Apache-2.0
// See watch.h.
#include "app/watch.h"

#include "app/command.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum { LINES_MAX = 20 }; // of a hundred partitions without broker a few tell enough

struct partition {
    int64_t position;                  // when it was last looked at
    int64_t moved_ms;                  // monotonic: when it was first there, or had nothing to read
    int64_t moved_held_up_ms;          // of its task, at that time
    int64_t asked_end;                 // -1: not known
    struct weir_open_transaction open; // behind what was read; its age is computed
    int64_t open_since_ms;             // monotonic: when it was first seen
};

struct weir_watch {
    const struct weir_job_tasks *tasks;
    const struct weir_clock *clock;
    int64_t stuck_ms;
    pthread_mutex_t lock;
    struct partition **partitions; // by task, by partition of the task; NULL: a keyed task
    int64_t *held_up_ms;           // by task
    bool is_lost;
    int64_t lost_ms; // monotonic: the first round without answer
    char text[256];
};

struct weir_watch *weir_watch_create(const struct weir_job_tasks *tasks,
                                     const struct weir_clock *clock, int64_t stuck_ms)
{
    struct weir_watch *watch = weir_alloc_zero(sizeof *watch);
    watch->tasks = tasks;
    watch->clock = clock;
    watch->stuck_ms = stuck_ms;
    pthread_mutex_init(&watch->lock, NULL);
    watch->partitions = weir_alloc_zero((tasks->count + 1) * sizeof *watch->partitions);
    watch->held_up_ms = weir_alloc_zero((tasks->count + 1) * sizeof *watch->held_up_ms);
    for (uint32_t i = 0; i < tasks->count; i++) {
        const struct weir_job_task *task = &tasks->tasks[i];
        if (task->table == NULL) {
            continue;
        }
        watch->partitions[i] =
            weir_alloc_zero((task->partition_count + 1) * sizeof *watch->partitions[i]);
        for (uint32_t p = 0; p < task->partition_count; p++) {
            watch->partitions[i][p] =
                (struct partition){.position = weir_source_position(task->source, p),
                                   .moved_ms = weir_now_ms(clock),
                                   .asked_end = -1,
                                   .open = weir_open_transaction_at(-1)};
        }
    }
    return watch;
}

void weir_watch_destroy(struct weir_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    for (uint32_t i = 0; i < watch->tasks->count; i++) {
        free(watch->partitions[i]);
    }
    free(watch->partitions);
    free(watch->held_up_ms);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static int64_t lag_of(const struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx)
{
    const struct weir_source *source = watch->tasks->tasks[task_idx].source;
    int64_t lag = weir_source_lag(source, partition_idx);
    int64_t asked_end = watch->partitions[task_idx][partition_idx].asked_end;
    // What a bounded run does not read is no lag: the source knows its end.
    if (asked_end >= 0 && !weir_source_is_bounded(source, partition_idx)) {
        int64_t asked_lag = asked_end - weir_source_position(source, partition_idx);
        lag = asked_lag > lag ? asked_lag : lag;
    }
    return lag;
}

// Notes that it has got on, if it has.
static void look(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx)
{
    struct partition *partition = &watch->partitions[task_idx][partition_idx];
    const struct weir_source *source = watch->tasks->tasks[task_idx].source;
    int64_t position = weir_source_position(source, partition_idx);
    if (position != partition->position || lag_of(watch, task_idx, partition_idx) == 0 ||
        weir_source_is_paused(source, partition_idx) ||
        weir_source_is_quarantined(source, partition_idx)) {
        partition->position = position;
        partition->moved_ms = weir_now_ms(watch->clock);
        partition->moved_held_up_ms = watch->held_up_ms[task_idx];
    }
}

void weir_watch_note_held_up(struct weir_watch *watch, uint32_t task_idx, int64_t held_up_ms)
{
    pthread_mutex_lock(&watch->lock);
    watch->held_up_ms[task_idx] = held_up_ms;
    pthread_mutex_unlock(&watch->lock);
}

void weir_watch_note_end(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx,
                         int64_t end_offset)
{
    pthread_mutex_lock(&watch->lock);
    watch->partitions[task_idx][partition_idx].asked_end = end_offset;
    look(watch, task_idx, partition_idx);
    pthread_mutex_unlock(&watch->lock);
}

void weir_watch_note_stable(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx,
                            int64_t stable_offset)
{
    pthread_mutex_lock(&watch->lock);
    struct partition *partition = &watch->partitions[task_idx][partition_idx];
    const struct weir_source *source = watch->tasks->tasks[task_idx].source;
    if (stable_offset >= partition->asked_end ||
        weir_source_position(source, partition_idx) < stable_offset) {
        partition->open = weir_open_transaction_at(-1);
    } else if (stable_offset != partition->open.offset) {
        partition->open = weir_open_transaction_at(stable_offset);
        partition->open_since_ms = weir_now_ms(watch->clock);
    }
    pthread_mutex_unlock(&watch->lock);
}

void weir_watch_note_transaction(struct weir_watch *watch, uint32_t task_idx,
                                 uint32_t partition_idx, int64_t offset, int64_t timestamp_ms,
                                 const struct weir_transaction_owner *owner)
{
    pthread_mutex_lock(&watch->lock);
    struct partition *partition = &watch->partitions[task_idx][partition_idx];
    if (partition->open.offset == offset) {
        partition->open.record_ms = timestamp_ms;
        partition->open.owner = *owner;
    }
    pthread_mutex_unlock(&watch->lock);
}

static struct weir_open_transaction open_transaction_of(const struct weir_watch *watch,
                                                        uint32_t task_idx, uint32_t partition_idx)
{
    const struct partition *partition = &watch->partitions[task_idx][partition_idx];
    struct weir_open_transaction open = partition->open;
    if (open.offset >= 0) {
        open.age_ms = weir_now_ms(watch->clock) - partition->open_since_ms;
    }
    return open;
}

struct weir_open_transaction weir_watch_open_transaction(struct weir_watch *watch,
                                                         uint32_t task_idx, uint32_t partition_idx)
{
    pthread_mutex_lock(&watch->lock);
    struct weir_open_transaction open = open_transaction_of(watch, task_idx, partition_idx);
    pthread_mutex_unlock(&watch->lock);
    return open;
}

void weir_watch_note_round(struct weir_watch *watch, bool has_answer, const char *text)
{
    pthread_mutex_lock(&watch->lock);
    if (!has_answer && !watch->is_lost) {
        watch->lost_ms = weir_now_ms(watch->clock);
    }
    watch->is_lost = !has_answer;
    snprintf(watch->text, sizeof watch->text, "%s", text);
    pthread_mutex_unlock(&watch->lock);
}

int64_t weir_watch_lag(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx)
{
    pthread_mutex_lock(&watch->lock);
    int64_t lag = lag_of(watch, task_idx, partition_idx);
    pthread_mutex_unlock(&watch->lock);
    return lag;
}

// Why nothing of it can be read.
static void describe_cause(const struct weir_open_transaction *open, struct weir_buffer *lines)
{
    if (open->offset < 0) {
        weir_buffer_printf(lines, "its leader is gone, or a transaction is open there");
        return;
    }
    weir_buffer_printf(
        lines, "a transaction is open there from offset %" PRId64 " on, for %" PRId64 " s at least",
        open->offset, open->age_ms / 1000);
    if (open->record_ms >= 0) {
        char text[WEIR_UTC_BYTES];
        weir_buffer_printf(lines, ", its first record of %s", weir_utc_text(open->record_ms, text));
    }
    weir_open_transaction_describe_owner(open, lines);
}

static bool describe_partition(struct weir_watch *watch, uint32_t task_idx, uint32_t partition_idx,
                               uint32_t line_count, struct weir_buffer *lines)
{
    const struct weir_job_task *task = &watch->tasks->tasks[task_idx];
    look(watch, task_idx, partition_idx);
    if (weir_source_is_paused(task->source, partition_idx) ||
        weir_source_is_quarantined(task->source, partition_idx)) {
        return false;
    }
    int64_t lag = lag_of(watch, task_idx, partition_idx);
    const struct partition *partition = &watch->partitions[task_idx][partition_idx];
    int64_t still_ms = weir_now_ms(watch->clock) - partition->moved_ms -
                       (watch->held_up_ms[task_idx] - partition->moved_held_up_ms);
    bool is_stuck = lag > 0 && still_ms >= watch->stuck_ms;
    if (lag >= 0 && !is_stuck) {
        return false;
    }
    if (line_count >= LINES_MAX) {
        return true;
    }
    weir_buffer_printf(lines, "table %s: topic %s partition %" PRId32 " ", task->table->name,
                       task->table->topic, task->partitions[partition_idx]);
    if (lag < 0) {
        weir_buffer_printf(lines, "is assigned, but no broker has answered for it yet\n");
    } else {
        weir_buffer_printf(lines,
                           "is stuck: %" PRId64 " records behind offset %" PRId64
                           " and none was read for %" PRId64 " s (",
                           lag, weir_source_position(task->source, partition_idx), still_ms / 1000);
        struct weir_open_transaction open = open_transaction_of(watch, task_idx, partition_idx);
        describe_cause(&open, lines);
        weir_buffer_printf(lines, ")\n");
    }
    return true;
}

bool weir_watch_describe(struct weir_watch *watch, struct weir_buffer *lines)
{
    uint32_t count = 0;
    pthread_mutex_lock(&watch->lock);
    if (watch->is_lost) {
        count++;
        weir_buffer_printf(lines, "no broker has answered for %" PRId64 " s: %s\n",
                           (weir_now_ms(watch->clock) - watch->lost_ms) / 1000, watch->text);
    }
    for (uint32_t i = 0; i < watch->tasks->count; i++) {
        uint32_t partition_count =
            watch->partitions[i] != NULL ? watch->tasks->tasks[i].partition_count : 0;
        for (uint32_t p = 0; p < partition_count; p++) {
            count += describe_partition(watch, i, p, count, lines) ? 1 : 0;
        }
    }
    pthread_mutex_unlock(&watch->lock);
    if (count > LINES_MAX) {
        weir_buffer_printf(lines, "and %u partitions more\n", count - LINES_MAX);
    }
    return count > 0;
}
