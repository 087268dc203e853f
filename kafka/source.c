// SPDX-License-Identifier: Apache-2.0
// See source.h. One poll: fetch → positions → decode → (bad records to the policy) → push → give
// the messages back. Everything that a batch points to lives until the end of the poll.
//
// Invariants
// 1. A position moves only past records that were pushed, reported or counted in this very poll, so
//    that positions noted between two polls (the barrier) agree with what the chain has seen.
// 2. A position is where the next record is read, transaction markers included: at a partition's
//    end it is that of the end, not of the last record plus one.
// 3. A bounded partition ends at its end offset; what lies behind is neither pushed nor passed.
// 4. A record whose schema is not there yet is not passed, nor is any record behind it in its
//    partition. The whole fetch waits for a moment, which is enough for a registry that is well;
//    then the partition is held: given back, while the others go on, and assigned anew from its
//    position when the schema has come. Nothing of it is kept meanwhile.
// 5. A quarantined partition is never assigned: every snapshot says of it what the one before said.
#include "kafka/source.h"

#include "runtime/base/log.h"
#include "runtime/base/metrics.h"

#include <inttypes.h>
#include <zlib.h>

enum { SCHEMA_GRACE_MS = 250 }; // for a schema to come, before its partition is held

struct partition {
    struct weir_source_partition at;
    _Atomic bool is_pause_wanted;
    bool is_paused;           // not read, as somebody wants it
    bool is_held;             // not read, until a schema has come
    uint32_t missing_id;      // held: that schema
    bool is_done;             // bounded and at its end
    _Atomic int64_t position; // at.offset, for other threads
    _Atomic int64_t end;      // last known end, -1: unknown
    // The high watermark when the end was last reached: with another one there is more to read.
    _Atomic int64_t end_high_watermark;
    uint32_t fetched_count; // in this poll, not counted yet
    uint64_t fetched_bytes;
    struct weir_metric *record_count;
    struct weir_metric *byte_count;
};

struct source {
    struct weir_source base; // first: the interface
    struct weir_source_config config;
    struct partition *partitions;
    uint32_t open_count;          // partitions that are not done
    _Atomic uint32_t pause_count; // how often somebody wanted something else
    uint32_t pause_done_count;    // as far as it was done
    uint32_t held_count;
    uint32_t waiting_count;   // entries of fetched that wait for a schema
    int64_t waiting_until_ms; // monotonic; 0: nothing waits
    bool has_moved;           // a position did, in this poll
    struct weir_arena *arena;
    struct weir_fetched *fetched; // WEIR_BATCH_ROWS_MAX, as the two below
    struct weir_record *records;  // of this poll, without ends and errors
    uint32_t *partition_idxs;     // of records
    struct weir_metric *null_value_count;
    bool has_read;
};

static void mark_if_done(struct source *source, struct partition *partition)
{
    const struct weir_source_partition *at = &partition->at;
    bool is_over = at->end_offset >= 0 && at->offset >= at->end_offset;
    if (!partition->is_done && (is_over || at->is_left_out)) {
        partition->is_done = true;
        source->open_count--;
    }
}

static void move_to(struct source *source, struct partition *partition, int64_t offset)
{
    if (partition->at.end_offset >= 0 && offset > partition->at.end_offset) {
        offset = partition->at.end_offset;
    }
    if (offset > partition->at.offset) {
        partition->at.offset = offset;
        atomic_store_explicit(&partition->position, offset, memory_order_relaxed);
        source->has_moved = true;
    }
    mark_if_done(source, partition);
}

// A null key or value adds nothing. (zlib takes a NULL for the wish to begin anew.)
static uint32_t record_crc32(const struct weir_record *record)
{
    uLong crc = crc32(0, Z_NULL, 0);
    if (record->key.data != NULL) {
        crc = crc32_z(crc, (const Bytef *)record->key.data, record->key.size_bytes);
    }
    if (record->value.data != NULL) {
        crc = crc32_z(crc, (const Bytef *)record->value.data, record->value.size_bytes);
    }
    return (uint32_t)crc;
}

static enum weir_status on_fetch_error(const struct source *source,
                                       const struct weir_fetched *fetched, struct weir_error *error)
{
    *error = *fetched->error;
    const struct partition *partition = &source->partitions[fetched->partition_idx];
    return weir_error_context(error, "topic %s partition %" PRId32 " at offset %" PRId64,
                              source->config.topic, partition->at.partition, partition->at.offset);
}

// Splits what was fetched into records to be decoded and positions to be moved. Records of one
// partition come in order, so that the last one seen is the last one read.
static enum weir_status sort_fetched(struct source *source, uint32_t fetched_count,
                                     uint32_t *record_count, struct weir_error *error)
{
    *record_count = 0;
    for (uint32_t i = 0; i < fetched_count; i++) {
        const struct weir_fetched *fetched = &source->fetched[i];
        struct partition *partition = &source->partitions[fetched->partition_idx];
        switch (fetched->kind) {
        case WEIR_FETCH_RECORD:
            if (partition->is_done || fetched->record.offset < partition->at.offset) {
                break;
            }
            if (partition->at.end_offset >= 0 &&
                fetched->record.offset >= partition->at.end_offset) {
                move_to(source, partition, partition->at.end_offset);
                break;
            }
            source->records[*record_count] = fetched->record;
            source->partition_idxs[(*record_count)++] = fetched->partition_idx;
            partition->fetched_count++;
            partition->fetched_bytes +=
                fetched->record.key.size_bytes + fetched->record.value.size_bytes;
            // Overwritten by later records of this poll: what stays is the last one.
            partition->at.last_offset = fetched->record.offset;
            move_to(source, partition, fetched->record.offset + 1);
            break;
        case WEIR_FETCH_END:
            atomic_store_explicit(&partition->end_high_watermark,
                                  source->config.consumer->ops->high_watermark(
                                      source->config.consumer, fetched->partition_idx),
                                  memory_order_relaxed);
            atomic_store_explicit(&partition->end, fetched->record.offset, memory_order_release);
            move_to(source, partition, fetched->record.offset);
            break;
        case WEIR_FETCH_ERROR:
            return on_fetch_error(source, fetched, error);
        }
    }
    return WEIR_OK;
}

// Fingerprints of the last record of each partition of this poll.
static void note_last_records(struct source *source, uint32_t record_count)
{
    for (uint32_t i = record_count; i > 0; i--) {
        const struct weir_record *record = &source->records[i - 1];
        struct partition *partition = &source->partitions[source->partition_idxs[i - 1]];
        if (record->offset == partition->at.last_offset) {
            partition->at.last_timestamp_ms = record->timestamp_ms;
            partition->at.last_crc32 = record_crc32(record);
        }
    }
}

static enum weir_status report_bad(struct source *source, const struct weir_decoded *decoded,
                                   struct weir_error *error)
{
    for (uint32_t i = 0; i < decoded->bad_count; i++) {
        const struct weir_bad_record *bad = &decoded->bad[i];
        struct weir_row_error row_error = {
            .reason = bad->reason,
            .record = &source->records[bad->record_idx],
            .operator_name = source->config.name,
            .message = bad->message,
        };
        if (weir_row_error_report(source->config.row_errors, &row_error, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static enum weir_status push_rows(struct source *source, const struct weir_decoded *decoded,
                                  struct weir_error *error)
{
    const struct weir_record *records = source->records;
    if (decoded->record_of_row != NULL) {
        struct weir_record *of_rows =
            weir_arena_alloc(source->arena, decoded->row_count * sizeof *of_rows);
        for (uint32_t row = 0; row < decoded->row_count; row++) {
            of_rows[row] = source->records[decoded->record_of_row[row]];
        }
        records = of_rows;
    }
    int64_t *event_time_us =
        weir_arena_alloc(source->arena, decoded->row_count * sizeof *event_time_us);
    for (uint32_t row = 0; row < decoded->row_count; row++) {
        event_time_us[row] = (records[row].timestamp_ms - WEIR_EPOCH_SHIFT_MS) * 1000;
    }
    struct weir_batch batch = {
        .schema = source->config.schema,
        .row_count = decoded->row_count,
        .selected_count = decoded->row_count,
        .columns = decoded->columns,
        .event_time_us = event_time_us,
        .change = decoded->change,
        .records = records,
        .arena = source->arena,
    };
    return weir_operator_push(&source->base.op, &batch, error);
}

static void count_fetched(struct source *source)
{
    for (uint32_t i = 0; i < source->config.partition_count; i++) {
        struct partition *partition = &source->partitions[i];
        if (partition->fetched_count > 0) {
            weir_metric_add(partition->record_count, partition->fetched_count);
            weir_metric_add(partition->byte_count, partition->fetched_bytes);
            partition->fetched_count = 0;
            partition->fetched_bytes = 0;
        }
    }
}

static enum weir_status take_records(struct source *source, uint32_t fetched_count,
                                     struct weir_error *error)
{
    uint32_t record_count;
    if (sort_fetched(source, fetched_count, &record_count, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (record_count == 0) {
        return WEIR_OK;
    }
    if (!source->has_read) {
        source->has_read = true;
        weir_log(WEIR_LOG_DEBUG, "source %s has its first records", source->config.table);
    }
    note_last_records(source, record_count);
    struct weir_decoded decoded;
    weir_decoder_decode(source->config.decoder, source->records, record_count, source->arena,
                        &decoded);
    count_fetched(source);
    weir_metric_add(source->null_value_count, decoded.null_value_count);
    if (report_bad(source, &decoded, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (decoded.row_count != 0 && push_rows(source, &decoded, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_row_error_policy *policy = source->config.row_errors;
    return policy == NULL || policy->seen == NULL ? WEIR_OK
                                                  : policy->seen(policy, record_count, error);
}

// --- partitions that are not read ---------------------------------------------------------------

static bool is_read(const struct partition *partition)
{
    return !partition->is_held && !partition->is_paused && !partition->at.is_quarantined;
}

// Every partition that is read, from its position.
static enum weir_status assign(struct source *source, struct weir_error *error)
{
    const struct weir_source_config *config = &source->config;
    struct weir_partition_start *starts = weir_alloc(config->partition_count * sizeof *starts);
    for (uint32_t i = 0; i < config->partition_count; i++) {
        const struct partition *partition = &source->partitions[i];
        starts[i] =
            (struct weir_partition_start){.topic = config->topic,
                                          .partition = partition->at.partition,
                                          .offset = is_read(partition) ? partition->at.offset : -1};
    }
    enum weir_status status =
        config->consumer->ops->assign(config->consumer, config->partition_count, starts, error);
    free(starts);
    return status;
}

// Takes over what is wanted of partitions; true: something else than before.
static bool pause_partitions(struct source *source)
{
    // Read first: what is wanted meanwhile is done by the next poll.
    uint32_t count = atomic_load_explicit(&source->pause_count, memory_order_acquire);
    if (count == source->pause_done_count) {
        return false;
    }
    source->pause_done_count = count;
    for (uint32_t i = 0; i < source->config.partition_count; i++) {
        struct partition *partition = &source->partitions[i];
        partition->is_paused = atomic_load(&partition->is_pause_wanted);
    }
    return true;
}

static bool needs_schema(const struct source *source, const struct weir_fetched *fetched,
                         uint32_t *id)
{
    struct weir_decoder *decoder = source->config.decoder;
    int64_t end_offset = source->partitions[fetched->partition_idx].at.end_offset;
    return fetched->kind == WEIR_FETCH_RECORD &&
           (end_offset < 0 || fetched->record.offset < end_offset) &&
           decoder->ops->missing(decoder, &fetched->record, id);
}

// Leaves out what was fetched of a partition from the first record on whose schema is missing.
static uint32_t hold_partitions(struct source *source, uint32_t fetched_count)
{
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < fetched_count; i++) {
        const struct weir_fetched *fetched = &source->fetched[i];
        struct partition *partition = &source->partitions[fetched->partition_idx];
        uint32_t id;
        if (!partition->is_held && needs_schema(source, fetched, &id)) {
            partition->is_held = true;
            partition->missing_id = id;
            source->held_count++;
            weir_log(WEIR_LOG_WARN,
                     "topic %s partition %" PRId32 " waits at offset %" PRId64
                     " for schema %" PRIu32 " of the registry",
                     source->config.topic, partition->at.partition, fetched->record.offset, id);
        }
        if (!partition->is_held) {
            source->fetched[kept_count++] = *fetched;
        }
    }
    return kept_count;
}

// Partitions whose schemas have come are held no more; true: there are some.
static bool release_partitions(struct source *source)
{
    struct weir_decoder *decoder = source->config.decoder;
    uint32_t held_count = source->held_count;
    for (uint32_t i = 0; held_count != 0 && i < source->config.partition_count; i++) {
        struct partition *partition = &source->partitions[i];
        if (partition->is_held && !decoder->ops->is_missing(decoder, partition->missing_id)) {
            partition->is_held = false;
            source->held_count--;
        }
    }
    return source->held_count != held_count;
}

// True: all of what was fetched, but for the partitions that are held from now on, can be decoded.
static bool is_decodable(struct source *source, uint32_t *fetched_count)
{
    uint32_t id;
    uint32_t i = 0;
    while (i < *fetched_count && !needs_schema(source, &source->fetched[i], &id)) {
        i++;
    }
    int64_t until_ms = source->waiting_until_ms;
    source->waiting_count = 0;
    source->waiting_until_ms = 0;
    source->base.op.wake_at_ms = 0;
    if (i == *fetched_count) {
        return true;
    }
    int64_t now_ms = weir_now_ms(&weir_system_clock);
    if (until_ms == 0 || now_ms < until_ms) {
        source->waiting_count = *fetched_count;
        source->waiting_until_ms = until_ms == 0 ? now_ms + SCHEMA_GRACE_MS : until_ms;
        source->base.op.wake_at_ms = source->waiting_until_ms;
        return false;
    }
    *fetched_count = hold_partitions(source, *fetched_count);
    return true;
}

static enum weir_status fetch(struct source *source, uint32_t *fetched_count,
                              struct weir_error *error)
{
    struct weir_consumer *consumer = source->config.consumer;
    *fetched_count = source->waiting_count;
    if (*fetched_count != 0) {
        return WEIR_OK;
    }
    bool is_paused_otherwise = pause_partitions(source);
    bool is_released = release_partitions(source);
    if ((is_paused_otherwise || is_released) && assign(source, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return consumer->ops->fetch(consumer, WEIR_BATCH_ROWS_MAX, 0, source->fetched, fetched_count,
                                error);
}

static enum weir_step poll_once(struct weir_source *base, struct weir_error *error)
{
    struct source *source = (struct source *)base;
    if (source->open_count == 0) {
        return WEIR_STEP_DONE;
    }
    struct weir_consumer *consumer = source->config.consumer;
    uint32_t fetched_count = 0;
    bool was_waiting = source->waiting_count != 0;
    uint32_t held_count = source->held_count;
    if (fetch(source, &fetched_count, error) != WEIR_OK) {
        return WEIR_STEP_FAILED;
    }
    if (source->config.decoder->ops->missing != NULL && fetched_count > 0 &&
        !is_decodable(source, &fetched_count)) {
        // The task looks at wake_at_ms before it polls: once more, then it can sleep.
        return was_waiting ? WEIR_STEP_IDLE : WEIR_STEP_MORE;
    }
    enum weir_status status = WEIR_OK;
    bool was_fetched = fetched_count > 0 || source->held_count > held_count;
    if (was_fetched) {
        status = take_records(source, fetched_count, error);
        consumer->ops->release(consumer);
        weir_arena_reset(source->arena);
    }
    if (status == WEIR_OK && source->held_count > held_count) {
        status = assign(source, error);
    }
    if (source->has_moved) {
        source->has_moved = false;
        atomic_fetch_add_explicit(&base->activity, 1, memory_order_release);
    }
    if (status != WEIR_OK) {
        return WEIR_STEP_FAILED;
    }
    return was_fetched || source->open_count == 0 ? WEIR_STEP_MORE : WEIR_STEP_IDLE;
}

static void snapshot(struct weir_source *base, struct weir_snapshot *snapshot_out)
{
    struct source *source = (struct source *)base;
    for (uint32_t i = 0; i < source->config.partition_count; i++) {
        const struct weir_source_partition *at = &source->partitions[i].at;
        weir_snapshot_add_position(
            snapshot_out, &(struct weir_position_entry){.table = source->config.table,
                                                        .topic = source->config.topic,
                                                        .partition = at->partition,
                                                        .offset = at->offset,
                                                        .end_offset = at->end_offset,
                                                        .last_offset = at->last_offset,
                                                        .last_timestamp_ms = at->last_timestamp_ms,
                                                        .last_crc32 = at->last_crc32,
                                                        .event_time_us = at->event_time_us});
    }
}

static bool is_at_end(const struct weir_source *base, int32_t number)
{
    const struct source *source = (const struct source *)base;
    struct weir_consumer *consumer = source->config.consumer;
    for (uint32_t i = 0; i < source->config.partition_count; i++) {
        const struct partition *partition = &source->partitions[i];
        if (partition->at.partition == number) {
            // One that is held is not at its end: a record waits. In one that is paused any may.
            return partition->is_done ||
                   (is_read(partition) &&
                    atomic_load_explicit(&partition->end, memory_order_relaxed) ==
                        partition->at.offset &&
                    consumer->ops->high_watermark(consumer, i) == partition->at.offset);
        }
    }
    return false;
}

static void destroy(struct weir_operator *op)
{
    struct source *source = (struct source *)op;
    source->config.consumer->ops->destroy(source->config.consumer);
    weir_decoder_destroy(source->config.decoder);
    weir_arena_destroy(source->arena);
    for (uint32_t i = 0; i < source->config.partition_count; i++) {
        weir_metric_close(source->partitions[i].record_count);
        weir_metric_close(source->partitions[i].byte_count);
    }
    weir_metric_close(source->null_value_count);
    free(source->partitions);
    free(source->fetched);
    free(source->records);
    free(source->partition_idxs);
    free(source);
}

static const struct weir_operator_ops operator_ops = {.kind = "kafka source", .destroy = destroy};
static const struct weir_source_ops source_ops = {
    .poll = poll_once, .is_at_end = is_at_end, .snapshot = snapshot};

enum weir_status weir_source_create(const struct weir_source_config *config,
                                    struct weir_source **out, struct weir_error *error)
{
    struct source *source = weir_alloc_zero(sizeof *source);
    source->base.op.ops = &operator_ops;
    source->base.op.id = config->id;
    source->base.op.name = config->name;
    source->base.op.row_errors = config->row_errors;
    source->base.ops = &source_ops;
    source->config = *config;
    source->arena = weir_arena_create(1 << 20);
    source->fetched = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *source->fetched);
    source->records = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *source->records);
    source->partition_idxs = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *source->partition_idxs);
    source->partitions = weir_alloc_zero(config->partition_count * sizeof *source->partitions);
    source->null_value_count =
        weir_metric_open(WEIR_METRIC_ROWS_DROPPED, WEIR_METRIC_LABELS(config->name, "null_value"));
    source->open_count = config->partition_count;
    for (uint32_t i = 0; i < config->partition_count; i++) {
        source->partitions[i].at = config->partitions[i];
        atomic_init(&source->partitions[i].position, config->partitions[i].offset);
        atomic_init(&source->partitions[i].end, -1);
        source->partitions[i].record_count =
            weir_metric_open_partition(WEIR_METRIC_SOURCE_RECORDS, config->table, config->topic,
                                       config->partitions[i].partition);
        source->partitions[i].byte_count =
            weir_metric_open_partition(WEIR_METRIC_SOURCE_BYTES, config->table, config->topic,
                                       config->partitions[i].partition);
        mark_if_done(source, &source->partitions[i]);
        if (config->partitions[i].is_moved) {
            atomic_fetch_add_explicit(&source->base.activity, 1, memory_order_release);
        }
    }
    config->consumer->ops->wake_on_data(config->consumer, weir_mailbox_descriptor(config->mailbox));
    if (assign(source, error) != WEIR_OK) {
        destroy(&source->base.op);
        return weir_error_context(error, "source %s", config->table);
    }
    *out = &source->base;
    return WEIR_OK;
}

struct weir_source_stats weir_source_stats(const struct weir_source *base)
{
    const struct source *source = (const struct source *)base;
    struct weir_source_stats stats = {.null_value_count =
                                          weir_metric_count(source->null_value_count)};
    for (uint32_t i = 0; i < source->config.partition_count; i++) {
        stats.record_count += weir_metric_count(source->partitions[i].record_count);
        stats.byte_count += weir_metric_count(source->partitions[i].byte_count);
    }
    return stats;
}

int64_t weir_source_position(const struct weir_source *base, uint32_t partition_idx)
{
    const struct source *source = (const struct source *)base;
    return atomic_load_explicit(&source->partitions[partition_idx].position, memory_order_relaxed);
}

bool weir_source_is_bounded(const struct weir_source *base, uint32_t partition_idx)
{
    return ((const struct source *)base)->partitions[partition_idx].at.end_offset >= 0;
}

void weir_source_pause(struct weir_source *base, uint32_t partition_idx, bool is_paused)
{
    struct source *source = (struct source *)base;
    atomic_store(&source->partitions[partition_idx].is_pause_wanted, is_paused);
    atomic_fetch_add_explicit(&source->pause_count, 1, memory_order_release);
    weir_mailbox_wake(source->config.mailbox);
}

bool weir_source_is_paused(const struct weir_source *base, uint32_t partition_idx)
{
    const struct source *source = (const struct source *)base;
    return atomic_load(&source->partitions[partition_idx].is_pause_wanted);
}

bool weir_source_is_quarantined(const struct weir_source *base, uint32_t partition_idx)
{
    return ((const struct source *)base)->partitions[partition_idx].at.is_quarantined;
}

int64_t weir_source_lag(const struct weir_source *base, uint32_t partition_idx)
{
    const struct source *source = (const struct source *)base;
    const struct partition *partition = &source->partitions[partition_idx];
    int64_t end = partition->at.end_offset;
    if (end < 0) {
        struct weir_consumer *consumer = source->config.consumer;
        int64_t high_watermark = consumer->ops->high_watermark(consumer, partition_idx);
        end = atomic_load_explicit(&partition->end, memory_order_acquire);
        if (end < 0 || high_watermark != atomic_load_explicit(&partition->end_high_watermark,
                                                              memory_order_relaxed)) {
            end = high_watermark;
        }
    }
    int64_t position = atomic_load_explicit(&partition->position, memory_order_relaxed);
    return end < 0 ? -1 : end > position ? end - position : 0;
}
