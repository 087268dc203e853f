// SPDX-License-Identifier: Apache-2.0
// See starts.h. Thread: the main thread.
#include "app/starts.h"

#include "app/quarantine.h"
#include "runtime/base/log.h"
#include "runtime/base/metrics.h"

#include <inttypes.h>

static enum weir_status ask(const struct weir_starts_question *question,
                            struct weir_position position, const struct weir_start *start,
                            int64_t *offset, struct weir_error *error)
{
    enum weir_offset_query query = WEIR_OFFSET_EARLIEST;
    switch (position.kind) {
    case WEIR_POSITION_DEFAULT:
    case WEIR_POSITION_EARLIEST:
        break;
    case WEIR_POSITION_LATEST:
        query = WEIR_OFFSET_STABLE;
        break;
    case WEIR_POSITION_TIMESTAMP:
        query = WEIR_OFFSET_TIMESTAMP;
        break;
    }
    struct weir_topic_partition at = {.topic = start->table->topic,
                                      .partition = start->partition.partition};
    return weir_ask_offsets(question->kafka, question->retry, query, position.timestamp_ms, 1, &at,
                            offset, error) == WEIR_OK
               ? WEIR_OK
               : weir_error_context(error, "where to begin in topic %s", at.topic);
}

// A fresh start writes its positions before it reads; a later one has its first checkpoint for it.
static void mark_moved(const struct weir_starts_question *question, struct weir_start *start)
{
    start->partition.is_moved = question->decision->kind != WEIR_RECOVERY_FRESH;
}

static void start_at(struct weir_start *start, const struct weir_partition_decision *decision)
{
    const struct weir_position_entry *entry = &decision->position->entry;
    start->partition =
        (struct weir_source_partition){.partition = start->partition.partition,
                                       .offset = decision->offset,
                                       .end_offset = entry->end_offset,
                                       .last_offset = entry->last_offset,
                                       .last_timestamp_ms = entry->last_timestamp_ms,
                                       .last_crc32 = entry->last_crc32,
                                       .event_time_us = entry->event_time_us,
                                       .is_moved = decision->missing_count > 0,
                                       .is_quarantined = start->partition.is_quarantined};
    if (decision->missing_count > 0) {
        struct weir_metric *missing = weir_metric_open(
            WEIR_METRIC_ROWS_DROPPED, WEIR_METRIC_LABELS(start->table->name, "missing"));
        weir_metric_add(missing, (uint64_t)decision->missing_count);
        weir_metric_close(missing);
        weir_log(WEIR_LOG_WARN,
                 "topic %s partition %" PRId32 ": %" PRId64 " records, from offset %" PRId64
                 " to %" PRId64
                 ", were removed before they were read; going on without them (on_missing)",
                 start->table->topic, start->partition.partition, decision->missing_count,
                 entry->offset, decision->offset - 1);
    }
}

static enum weir_status resolve_start(const struct weir_starts_question *question,
                                      const struct weir_partition_decision *decision,
                                      struct weir_start *start, struct weir_error *error)
{
    struct weir_position position = {.kind = WEIR_POSITION_EARLIEST};
    switch (decision->kind) {
    case WEIR_START_AT_OFFSET:
        start_at(start, decision);
        return WEIR_OK;
    case WEIR_START_EARLIEST:
        break;
    case WEIR_START_TABLE:
        position = start->table->start.kind != WEIR_POSITION_DEFAULT ? start->table->start
                                                                     : question->config->start;
        break;
    case WEIR_START_RESET:
        position = question->reset;
        break;
    }
    start->partition.last_offset = -1;
    start->partition.end_offset = -1;
    start->partition.event_time_us = INT64_MIN;
    // A fresh start writes its positions before it reads; a later one has its next checkpoint for
    // it.
    start->partition.is_moved = question->decision->kind != WEIR_RECOVERY_FRESH;
    return ask(question, position, start, &start->partition.offset, error);
}

// Had the run that made this checkpoint read all that it was to read? One that had not goes on to
// the ends that it began with, whatever has been written since. A partition that is in quarantine
// has no end and is not waited for; the first run that reads it again goes on to the ends of before
// with the others, and with it to where it ends then.
static bool is_run_over(const struct weir_starts_question *question)
{
    const struct weir_manifest *manifest = question->decision->manifest;
    for (uint32_t i = 0; manifest != NULL && i < manifest->position_count; i++) {
        const struct weir_position_entry *entry = &manifest->positions[i].entry;
        if (!weir_quarantine_has(question->config, entry->table, entry->partition) &&
            (entry->end_offset < 0 || entry->offset < entry->end_offset)) {
            return false;
        }
    }
    return true;
}

static enum weir_status resolve_end(const struct weir_starts_question *question,
                                    struct weir_start *start, struct weir_error *error)
{
    struct weir_position end = start->table->end;
    int64_t before = start->partition.end_offset;
    if (question->config->is_bounded && end.kind == WEIR_POSITION_DEFAULT) {
        end.kind = WEIR_POSITION_LATEST;
    }
    bool is_kept = before >= 0 && !is_run_over(question);
    if (end.kind == WEIR_POSITION_DEFAULT || start->partition.is_quarantined) {
        start->partition.end_offset = -1;
        start->partition.is_left_out = end.kind != WEIR_POSITION_DEFAULT;
    } else if (!is_kept &&
               ask(question, end, start, &start->partition.end_offset, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    // A run with an end is over only when a checkpoint says so, also when it had nothing to read.
    if (start->partition.end_offset != before) {
        mark_moved(question, start);
    }
    return WEIR_OK;
}

enum weir_status weir_starts_resolve(const struct weir_starts_question *question,
                                     uint32_t start_count, struct weir_start *starts,
                                     struct weir_error *error)
{
    static const struct weir_partition_decision fresh = {.kind = WEIR_START_TABLE};
    bool is_fresh = question->decision->kind == WEIR_RECOVERY_FRESH;
    for (uint32_t i = 0; i < start_count; i++) {
        const struct weir_partition_decision *decision =
            is_fresh ? &fresh : &question->partition_decisions[i];
        if (resolve_start(question, decision, &starts[i], error) != WEIR_OK ||
            resolve_end(question, &starts[i], error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}
