// SPDX-License-Identifier: Apache-2.0
// See sink.h. On the way of a row: the last node of a chain. The wall clock is read once a batch.
#include "kafka/sink.h"

#include "runtime/base/metrics.h"
#include "kafka/json_headers.h"
#include "runtime/types/json_out.h"

#include <stdio.h>

struct sink {
    struct weir_operator op; // first: the interface
    struct weir_sink_config config;
    struct weir_buffer bytes;
    struct weir_encoded *values; // of one batch
    struct weir_encoded *keys;
    struct weir_row_headers headers; // of one row
    uint32_t next_partition; // for rows of no single record: round robin by batch
    struct weir_metric *row_count;
    struct weir_metric *byte_count;
    struct weir_metric *clamped_count;
};

uint32_t weir_murmur2(struct weir_view key)
{
    const uint32_t m = 0x5bd1e995;
    const unsigned char *data = (const unsigned char *)key.data;
    size_t size = key.size_bytes;
    uint32_t hash = 0x9747b28cu ^ (uint32_t)size;
    for (; size >= 4; size -= 4, data += 4) {
        uint32_t k = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                     (uint32_t)data[3] << 24;
        k *= m;
        k ^= k >> 24;
        k *= m;
        hash = hash * m ^ k;
    }
    switch (size) {
    case 3:
        hash ^= (uint32_t)data[2] << 16;
        __attribute__((fallthrough));
    case 2:
        hash ^= (uint32_t)data[1] << 8;
        __attribute__((fallthrough));
    case 1:
        hash ^= data[0];
        hash *= m;
    }
    hash ^= hash >> 13;
    hash *= m;
    hash ^= hash >> 15;
    return hash & 0x7fffffff;
}

int64_t weir_message_timestamp_ms(int64_t event_time_us, int64_t wall_ms, bool *is_clamped)
{
    int64_t ms = event_time_us / 1000 - (event_time_us % 1000 < 0 ? 1 : 0);
    if (ms < 1 - WEIR_EPOCH_SHIFT_MS) {
        *is_clamped = true;
        return 1;
    }
    if (ms > wall_ms - WEIR_EPOCH_SHIFT_MS) {
        *is_clamped = true;
        return wall_ms;
    }
    return ms + WEIR_EPOCH_SHIFT_MS;
}

static int32_t choose_partition(struct sink *sink, const struct weir_batch *batch, uint32_t row,
                                struct weir_view key)
{
    uint32_t count = weir_writer_partition_count(sink->config.writer);
    if (key.data != NULL) {
        return (int32_t)(weir_murmur2(key) % count);
    }
    if (batch->records != NULL) {
        return (int32_t)((uint32_t)batch->records[row].partition % count);
    }
    return (int32_t)(sink->next_partition % count);
}

// Does the row after the i-th one take its place? Not if a filter has dropped that one.
static bool is_replaced(const struct sink *sink, const struct weir_batch *batch, uint32_t i)
{
    return batch->change[weir_batch_row(batch, i)] == WEIR_CHANGE_UPDATE_BEFORE &&
           i + 1 < batch->selected_count &&
           batch->change[weir_batch_row(batch, i + 1)] == WEIR_CHANGE_UPDATE_AFTER &&
           weir_view_equal(weir_encoded_view(&sink->bytes, &sink->keys[i]),
                           weir_encoded_view(&sink->bytes, &sink->keys[i + 1]));
}

// Before their values are encoded, which is most of the work.
static void drop_replaced(struct sink *sink, struct weir_batch *batch)
{
    uint16_t *selected = weir_arena_alloc(batch->arena, batch->selected_count * sizeof *selected);
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        if (!is_replaced(sink, batch, i)) {
            sink->keys[kept_count] = sink->keys[i];
            selected[kept_count++] = (uint16_t)weir_batch_row(batch, i);
        }
    }
    batch->selected = selected;
    batch->selected_count = kept_count;
}

static void encode(struct sink *sink, struct weir_batch *batch)
{
    sink->keys = NULL;
    sink->bytes.size_bytes = 0;
    if (sink->config.key_encoder != NULL) {
        sink->keys = weir_arena_alloc(batch->arena, batch->selected_count * sizeof *sink->keys);
        weir_encoder_encode(sink->config.key_encoder, batch, 0, batch->selected_count, &sink->bytes,
                            sink->keys);
        if (batch->change != NULL) {
            drop_replaced(sink, batch);
        }
    }
    sink->values = weir_arena_alloc(batch->arena, batch->selected_count * sizeof *sink->values);
    weir_encoder_encode(sink->config.value_encoder, batch, 0, batch->selected_count, &sink->bytes,
                        sink->values);
}

static void count_rows(struct sink *sink, uint64_t rows, uint64_t clamped)
{
    weir_metric_add(sink->row_count, rows);
    weir_metric_add(sink->byte_count, sink->bytes.size_bytes);
    weir_metric_add(sink->clamped_count, clamped);
}

static void show_pressure(struct sink *sink)
{
    sink->op.is_blocked = weir_writer_is_full(sink->config.writer);
    sink->op.is_waiting = weir_writer_is_waiting(sink->config.writer);
}

// The policy of the row's table decides what becomes of it.
static enum weir_status set_aside(struct sink *sink, const struct weir_batch *batch, uint32_t row,
                                  enum weir_row_error_reason reason, const char *why,
                                  struct weir_error *error)
{
    char message[640];
    snprintf(message, sizeof message, "sink %s: %s", sink->config.table, why);
    struct weir_row_error row_error = {
        .reason = reason, .operator_name = sink->op.name, .message = message};
    struct weir_buffer json = {0};
    if (batch->records != NULL) {
        row_error.record = &batch->records[row];
    } else {
        weir_json_append_row(&json, batch->schema, batch->columns, row);
        row_error.row_json = (struct weir_view){.data = json.data, .size_bytes = json.size_bytes};
    }
    enum weir_status status = weir_row_error_report(sink->op.row_errors, &row_error, error);
    weir_buffer_deinit(&json);
    return status;
}

// Chooses the partitions of the rows, and an order in which those of one partition come together,
// each partition's rows as they were: the client goes through its messages by partition, and those
// that were made one after the other lie beside each other in memory.
static void order_by_partition(struct sink *sink, const struct weir_batch *batch,
                               int32_t *partitions, uint16_t *order)
{
    uint32_t partition_count = weir_writer_partition_count(sink->config.writer);
    uint32_t *ends = weir_arena_alloc_zero(batch->arena, (partition_count + 1) * sizeof *ends);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        struct weir_view key = {.data = NULL};
        if (sink->keys != NULL) {
            key = weir_encoded_view(&sink->bytes, &sink->keys[i]);
        }
        partitions[i] = choose_partition(sink, batch, weir_batch_row(batch, i), key);
        ends[partitions[i] + 1]++;
    }
    for (uint32_t p = 0; p < partition_count; p++) {
        ends[p + 1] += ends[p];
    }
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        order[ends[partitions[i]]++] = (uint16_t)i;
    }
}

// Why the i-th row cannot be written; NULL: it can.
static const char *failure_of(const struct sink *sink, uint32_t i, bool is_tombstone)
{
    if (sink->keys != NULL && sink->keys[i].failure != NULL) {
        return sink->keys[i].failure;
    }
    return is_tombstone ? NULL : sink->values[i].failure;
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *given,
                                struct weir_error *error)
{
    struct sink *sink = (struct sink *)op;
    // Other nodes may get the batch after this one: its rows stay selected for them.
    struct weir_batch own = *given;
    struct weir_batch *batch = &own;
    encode(sink, batch);
    int64_t wall_ms = weir_wall_ms(sink->config.clock);
    uint64_t clamped_count = 0;
    uint64_t written_count = 0;
    int32_t partitions[WEIR_BATCH_ROWS_MAX];
    uint16_t order[WEIR_BATCH_ROWS_MAX];
    order_by_partition(sink, batch, partitions, order);
    for (uint32_t at = 0; at < batch->selected_count; at++) {
        uint32_t i = order[at];
        uint32_t row = weir_batch_row(batch, i);
        enum weir_change change =
            batch->change != NULL ? (enum weir_change)batch->change[row] : WEIR_CHANGE_INSERT;
        struct weir_message message = {
            .timestamp_ms = wall_ms,
            .value = weir_encoded_view(&sink->bytes, &sink->values[i]),
        };
        if (sink->keys != NULL) {
            message.key = weir_encoded_view(&sink->bytes, &sink->keys[i]);
        }
        if (!sink->config.is_timestamp_now) {
            bool is_clamped = false;
            message.timestamp_ms =
                weir_message_timestamp_ms(batch->event_time_us[row], wall_ms, &is_clamped);
            clamped_count += is_clamped ? 1 : 0;
        }
        bool is_tombstone = change == WEIR_CHANGE_DELETE || change == WEIR_CHANGE_UPDATE_BEFORE;
        const char *failure = failure_of(sink, i, is_tombstone);
        if (__builtin_expect(failure != NULL, 0)) {
            if (set_aside(sink, batch, row, WEIR_ROW_ERROR_CONSTRAINT, failure, error) !=
                WEIR_OK) {
                return WEIR_ERROR;
            }
            continue;
        }
        if (is_tombstone) {
            message.value = (struct weir_view){0};
        }
        message.partition = partitions[i];
        char why[512];
        const char *wrong;
        if (sink->config.has_headers) {
            if (!weir_row_headers_read(&sink->headers,
                                       &batch->columns[sink->config.headers_column], row,
                                       batch->arena, &wrong)) {
                if (set_aside(sink, batch, row, WEIR_ROW_ERROR_CONSTRAINT, wrong, error) !=
                    WEIR_OK) {
                    return WEIR_ERROR;
                }
                continue;
            }
            message.header_count = sink->headers.count;
            message.headers = sink->headers.headers;
        }
        if (__builtin_expect(
                weir_writer_is_too_large(sink->config.writer, &message, why, sizeof why), 0)) {
            if (set_aside(sink, batch, row, WEIR_ROW_ERROR_OVERSIZE, why, error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            continue;
        }
        if (weir_writer_write(sink->config.writer, &message, error) != WEIR_OK) {
            return weir_error_context(error, "sink %s", sink->config.table);
        }
        written_count++;
    }
    sink->next_partition++;
    count_rows(sink, written_count, clamped_count);
    show_pressure(sink);
    return WEIR_OK;
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)error;
    weir_writer_barrier(((struct sink *)op)->config.writer, at, snapshot);
    return WEIR_OK;
}

static void cancelled(struct weir_operator *op, int64_t number)
{
    weir_writer_cancel(((struct sink *)op)->config.writer, number);
}

static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    struct sink *sink = (struct sink *)op;
    if (weir_writer_resume(sink->config.writer, error) != WEIR_OK) {
        return weir_error_context(error, "sink %s", sink->config.table);
    }
    show_pressure(sink);
    return WEIR_OK;
}

static void destroy(struct weir_operator *op)
{
    struct sink *sink = (struct sink *)op;
    weir_writer_destroy(sink->config.writer);
    weir_encoder_destroy(sink->config.value_encoder);
    weir_encoder_destroy(sink->config.key_encoder);
    weir_buffer_deinit(&sink->bytes);
    weir_row_headers_deinit(&sink->headers);
    weir_metric_close(sink->row_count);
    weir_metric_close(sink->byte_count);
    weir_metric_close(sink->clamped_count);
    free(sink);
}

static const struct weir_operator_ops sink_ops = {
    .kind = "kafka sink",
    .process = process,
    .barrier = barrier,
    .cancelled = cancelled,
    .resume = resume,
    .destroy = destroy,
};

struct weir_operator *weir_sink_create(const struct weir_sink_config *config)
{
    struct sink *sink = weir_alloc_zero(sizeof *sink);
    WEIR_ASSERT(!config->is_keyed || config->key_encoder != NULL);
    sink->config = *config;
    sink->op.ops = &sink_ops;
    sink->op.id = config->id;
    sink->op.name = config->name;
    const char *const *labels = WEIR_METRIC_LABELS(
        config->table, config->writer != NULL ? weir_writer_topic(config->writer) : "");
    sink->row_count = weir_metric_open(WEIR_METRIC_SINK_RECORDS, labels);
    sink->byte_count = weir_metric_open(WEIR_METRIC_SINK_BYTES, labels);
    sink->clamped_count =
        weir_metric_open(WEIR_METRIC_TIMESTAMPS_CLAMPED, WEIR_METRIC_LABELS(config->table));
    return &sink->op;
}

struct weir_sink_stats weir_sink_stats(const struct weir_operator *op)
{
    const struct sink *sink = (const struct sink *)op;
    return (struct weir_sink_stats){
        .row_count = weir_metric_count(sink->row_count),
        .byte_count = weir_metric_count(sink->byte_count),
        .clamped_count = weir_metric_count(sink->clamped_count),
    };
}
