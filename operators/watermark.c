// SPDX-License-Identifier: Apache-2.0
// See watermark.h.
//
// Invariants
// 1. A partition's time is a pure function of its rows, in their order: the same live and replayed.
// 2. The time that is passed on never goes back, not even over a restart, when a partition that was
//    idle is waited for again. It stands while every partition is idle. What each task has passed
//    on is in the checkpoint as a union list; all go on from the least time that was not idle,
//    since no task behind an exchange has seen less. Where all were idle nobody knows how far the
//    tasks behind the exchange had come: from the least of all, which can be less than they had
//    seen. No window is sent twice then (aggregate.c keeps which were), and no row is lost.
// 3. A partition is idle only at its end (the source says so) and after idle_timeout without rows;
//    or all the time, if it is in quarantine.
#include "operators/watermark.h"

#include "runtime/base/log.h"
#include "runtime/base/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// A record that moves its partition's time by so much more than the delay is told of: perhaps a
// clock is wrong, and all rows of the time between are late from then on.
static const int64_t JUMP_US = INT64_C(3600) * 1000000;

struct partition {
    int32_t number;
    int64_t event_time_us;
    int64_t last_row_ms; // monotonic
    bool is_idle;
    struct weir_metric *seconds; // what is shown of its time
};

// What a task has passed on, in the checkpoint.
struct passed {
    int64_t time_us;
    int64_t is_idle;
};

struct watermark {
    struct weir_operator op; // first: the interface
    struct weir_watermark_config config;
    struct partition *partitions;
    struct weir_time time;             // as last passed on
    struct weir_operator_list *passed; // struct passed
    int64_t passed_us;                 // the greatest one passed on, but for the end of all input
    uint64_t jump_count;
};

static struct partition *find(struct watermark *watermark, int32_t number)
{
    for (uint32_t i = 0; i < watermark->config.partition_count; i++) {
        if (watermark->partitions[i].number == number) {
            return &watermark->partitions[i];
        }
    }
    WEIR_ASSERT(!"a row of a partition that the task does not read");
}

static void show(const struct watermark *watermark, const struct partition *partition)
{
    if (partition->event_time_us != INT64_MIN) {
        int64_t reached_us = partition->event_time_us - watermark->config.delay_us;
        weir_metric_set(partition->seconds,
                        (double)(reached_us / 1000 + WEIR_EPOCH_SHIFT_MS) / 1000);
    }
}

// Passes on the least time of the partitions that are not idle, if that is news.
static enum weir_status pass_on(struct watermark *watermark, struct weir_error *error)
{
    struct weir_time time = {.watermark_us = INT64_MAX, .is_idle = true};
    for (uint32_t i = 0; i < watermark->config.partition_count; i++) {
        const struct partition *partition = &watermark->partitions[i];
        if (partition->is_idle) {
            continue;
        }
        time.is_idle = false;
        show(watermark, partition);
        int64_t reached_us = partition->event_time_us == INT64_MIN
                                 ? INT64_MIN
                                 : partition->event_time_us - watermark->config.delay_us;
        time.watermark_us = reached_us < time.watermark_us ? reached_us : time.watermark_us;
    }
    int64_t before_us = watermark->time.watermark_us > watermark->passed_us
                            ? watermark->time.watermark_us
                            : watermark->passed_us;
    if (time.is_idle || time.watermark_us < before_us) {
        time.watermark_us = before_us;
    }
    if (time.watermark_us == watermark->time.watermark_us &&
        time.is_idle == watermark->time.is_idle) {
        return WEIR_OK;
    }
    watermark->time = time;
    if (time.watermark_us != INT64_MAX) {
        watermark->passed_us = time.watermark_us;
    }
    return weir_operator_push_time(&watermark->op, &time, error);
}

static bool is_too_far_ahead(const struct watermark *watermark, const struct weir_record *record,
                             int64_t event_time_us)
{
    int64_t max_ahead_us = watermark->config.max_ahead_us;
    return max_ahead_us >= 0 && record->timestamp_ms >= 0 &&
           event_time_us > (record->timestamp_ms - WEIR_EPOCH_SHIFT_MS) * 1000 + max_ahead_us;
}

static enum weir_status report_ahead(struct watermark *watermark, const struct weir_record *record,
                                     int64_t event_time_us, struct weir_error *error)
{
    char text[128];
    snprintf(text, sizeof text,
             "event time is %lld ms ahead of the record's timestamp (event_time_max_ahead)",
             (long long)(event_time_us / 1000 + WEIR_EPOCH_SHIFT_MS - record->timestamp_ms));
    return weir_row_error_report(watermark->op.row_errors,
                                 &(struct weir_row_error){.reason = WEIR_ROW_ERROR_EVENT_TIME,
                                                          .record = record,
                                                          .operator_name = watermark->op.name,
                                                          .message = text},
                                 error);
}

// Says so of the first such record, and then of one a power of two.
static void tell_jump(struct watermark *watermark, const struct weir_record *record,
                      uint64_t ahead_us)
{
    uint64_t count = ++watermark->jump_count;
    if ((count & (count - 1)) != 0) {
        return;
    }
    uint64_t minutes = ahead_us / 60000000;
    weir_log(WEIR_LOG_WARN,
             "table %s: topic %s partition %" PRId32 " offset %" PRId64 ": event time is %" PRIu64
             " h %" PRIu64 " min ahead of all before it in the partition: rows of the time between "
             "are late from now on; event_time_max_ahead sets such a record aside (%" PRIu64
             " like this so far)",
             watermark->config.table, record->topic, record->partition, record->offset,
             minutes / 60, minutes % 60, count);
}

// Time never goes back.
static void advance(struct watermark *watermark, struct partition *partition,
                    const struct weir_record *record, int64_t event_time_us)
{
    if (event_time_us <= partition->event_time_us) {
        return;
    }
    uint64_t ahead_us = (uint64_t)event_time_us - (uint64_t)partition->event_time_us;
    if (ahead_us > (uint64_t)watermark->config.delay_us + (uint64_t)JUMP_US &&
        partition->event_time_us != INT64_MIN) {
        tell_jump(watermark, record, ahead_us);
    }
    partition->event_time_us = event_time_us;
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct watermark *watermark = (struct watermark *)op;
    int64_t *before_us = weir_arena_alloc(batch->arena, batch->row_count * sizeof *before_us);
    uint16_t *selected = weir_arena_alloc(batch->arena, batch->row_count * sizeof *selected);
    uint32_t selected_count = 0;
    int64_t now_ms = weir_now_ms(watermark->config.clock);
    struct partition *partition = NULL;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        const struct weir_record *record = &batch->records[row];
        int64_t event_time_us = batch->event_time_us[row];
        if (is_too_far_ahead(watermark, record, event_time_us)) {
            if (report_ahead(watermark, record, event_time_us, error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            continue;
        }
        if (partition == NULL || partition->number != record->partition) {
            partition = find(watermark, record->partition);
            partition->last_row_ms = now_ms;
            partition->is_idle = false;
        }
        before_us[row] = partition->event_time_us;
        advance(watermark, partition, record, event_time_us);
        selected[selected_count++] = (uint16_t)row;
    }
    struct weir_batch timed = *batch;
    timed.partition_time_us = before_us;
    timed.selected = selected;
    timed.selected_count = selected_count;
    if (selected_count > 0 && weir_operator_push(op, &timed, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return pass_on(watermark, error);
}

static bool has_awake(const struct watermark *watermark)
{
    for (uint32_t i = 0; i < watermark->config.partition_count; i++) {
        if (!watermark->partitions[i].is_idle) {
            return true;
        }
    }
    return false;
}

// Looks for partitions that have fallen silent; says when to look again. The first time of all it
// passes on what a checkpoint knew: rows may not come for long, and windows would wait for them.
static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    struct watermark *watermark = (struct watermark *)op;
    int64_t now_ms = weir_now_ms(watermark->config.clock);
    if (now_ms < op->wake_at_ms) {
        return WEIR_OK;
    }
    // With nothing to wait for (no partition, or quarantine), nobody may wait for this task.
    bool has_changed = !has_awake(watermark) && !watermark->time.is_idle;
    op->wake_at_ms = 0;
    for (uint32_t i = 0; i < watermark->config.partition_count; i++) {
        struct partition *partition = &watermark->partitions[i];
        if (partition->is_idle) {
            continue;
        }
        struct weir_source *source = watermark->config.source;
        int64_t due_ms = partition->last_row_ms + watermark->config.idle_timeout_ms;
        if (now_ms >= due_ms && source->ops->is_at_end(source, partition->number)) {
            partition->is_idle = true;
            has_changed = true;
            continue;
        }
        // Not at its end though silent: its rows are on the way. Look again soon.
        int64_t next_ms = now_ms >= due_ms ? now_ms + 100 : due_ms;
        op->wake_at_ms = op->wake_at_ms == 0 || next_ms < op->wake_at_ms ? next_ms : op->wake_at_ms;
    }
    if (has_changed) {
        atomic_fetch_add(&watermark->config.source->activity, 1); // time is a change of the epoch
    }
    return pass_on(watermark, error);
}

// The end of a bounded input.
static enum weir_status time_passed(struct weir_operator *op, const struct weir_time *time,
                                    struct weir_error *error)
{
    ((struct watermark *)op)->time = *time;
    return weir_operator_push_time(op, time, error);
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)at;
    (void)error;
    struct watermark *watermark = (struct watermark *)op;
    for (uint32_t i = 0; i < snapshot->position_count; i++) {
        if (strcmp(snapshot->positions[i].table, watermark->config.table) == 0) {
            snapshot->positions[i].event_time_us =
                find(watermark, snapshot->positions[i].partition)->event_time_us;
        }
    }
    struct passed passed = {.time_us = watermark->passed_us, .is_idle = watermark->time.is_idle};
    weir_operator_list_clear(watermark->passed);
    weir_operator_list_add(watermark->passed, (struct weir_view){.data = (const char *)&passed,
                                                                 .size_bytes = sizeof passed});
    return WEIR_OK;
}

// What all tasks go on from; INT64_MIN: nothing is known.
static int64_t restored_us(const struct weir_operator_list *list)
{
    int64_t least_us = INT64_MAX; // of all
    int64_t least_awake_us = INT64_MAX;
    for (uint32_t i = 0; i < weir_operator_list_count(list); i++) {
        struct weir_view item = weir_operator_list_at(list, i);
        struct passed passed;
        WEIR_ASSERT(item.size_bytes == sizeof passed);
        memcpy(&passed, item.data, sizeof passed);
        least_us = passed.time_us < least_us ? passed.time_us : least_us;
        if (!passed.is_idle && passed.time_us < least_awake_us) {
            least_awake_us = passed.time_us;
        }
    }
    least_us = least_awake_us != INT64_MAX ? least_awake_us : least_us;
    return least_us != INT64_MAX ? least_us : INT64_MIN;
}

static void destroy(struct weir_operator *op)
{
    struct watermark *watermark = (struct watermark *)op;
    for (uint32_t i = 0; i < watermark->config.partition_count; i++) {
        weir_metric_close(watermark->partitions[i].seconds);
    }
    free(watermark->partitions);
    free(op);
}

static const struct weir_operator_ops watermark_ops = {
    .kind = "watermark",
    .process = process,
    .time_passed = time_passed,
    .barrier = barrier,
    .resume = resume,
    .destroy = destroy,
};

struct weir_operator *weir_watermark_create(const char *id, const char *name,
                                            const struct weir_watermark_config *config)
{
    struct watermark *watermark = weir_alloc_zero(sizeof *watermark);
    watermark->op.ops = &watermark_ops;
    watermark->op.id = id;
    watermark->op.name = name;
    watermark->config = *config;
    watermark->time.watermark_us = INT64_MIN;
    watermark->passed =
        weir_operator_state_list(config->operator_states, id, "passed", WEIR_OPERATOR_STATE_UNION);
    watermark->passed_us = restored_us(watermark->passed);
    watermark->partitions = weir_alloc(config->partition_count * sizeof *watermark->partitions);
    int64_t now_ms = weir_now_ms(config->clock);
    for (uint32_t i = 0; i < config->partition_count; i++) {
        watermark->partitions[i] = (struct partition){
            .number = config->partitions[i].partition,
            .event_time_us = config->partitions[i].event_time_us,
            .last_row_ms = now_ms,
            .is_idle = config->partitions[i].is_quarantined,
            .seconds = weir_metric_open_partition(WEIR_METRIC_WATERMARK, config->table, NULL,
                                                  config->partitions[i].partition)};
        show(watermark, &watermark->partitions[i]);
    }
    return &watermark->op;
}
