// SPDX-License-Identifier: Apache-2.0
// See window.h. Late rows are set aside here and nowhere else: later nodes take what comes.
#include "operators/window.h"

#include "runtime/row_error.h"

#include <stdio.h>
#include <stdlib.h>

struct tumble {
    struct weir_operator op; // first: the interface
    struct weir_tumble_config config;
};

int64_t weir_tumble_start_us(const struct weir_tumble *window, int64_t time_us)
{
    int64_t into_us = (time_us - window->origin_us % window->size_us) % window->size_us;
    return time_us - (into_us < 0 ? into_us + window->size_us : into_us);
}

static enum weir_status report_late(struct tumble *tumble, const struct weir_batch *batch,
                                    uint32_t row, int64_t end_us, struct weir_error *error)
{
    int64_t reached_us = batch->partition_time_us[row] - tumble->config.delay_us;
    char text[160];
    snprintf(text, sizeof text,
             "its window was closed %lld ms before; a larger watermark_delay would have waited",
             (long long)((reached_us - end_us) / 1000));
    return weir_row_error_report(
        tumble->op.row_errors,
        &(struct weir_row_error){.reason = WEIR_ROW_ERROR_LATE,
                                 .record = &batch->records[row],
                                 .operator_name = tumble->op.name,
                                 .message = text,
                                 .late_by_ms = (reached_us - end_us) / 1000},
        error);
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct tumble *tumble = (struct tumble *)op;
    struct weir_batch windowed = *batch;
    uint32_t input_count = batch->schema->column_count;
    windowed.schema = tumble->config.output;
    windowed.columns = weir_arena_alloc(batch->arena, (input_count + 2) * sizeof *windowed.columns);
    memcpy(windowed.columns, batch->columns, input_count * sizeof *windowed.columns);
    struct weir_column *start = &windowed.columns[input_count];
    struct weir_column *end = &windowed.columns[input_count + 1];
    struct weir_type type = weir_type_plain(WEIR_TYPE_TIMESTAMPTZ);
    weir_column_init(start, &type, batch->row_count, false, batch->arena);
    weir_column_init(end, &type, batch->row_count, false, batch->arena);
    uint16_t *selected = weir_arena_alloc(batch->arena, batch->row_count * sizeof *selected);
    windowed.selected = selected;
    windowed.selected_count = 0;
    int64_t size_us = tumble->config.window.size_us;
    int64_t start_us = 0;
    int64_t end_us = 0; // no window yet; most rows are of the same one as the row before
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        int64_t time_us = batch->event_time_us[row];
        if (time_us < start_us || time_us >= end_us) {
            start_us = weir_tumble_start_us(&tumble->config.window, time_us);
            end_us = start_us + size_us;
        }
        start->i64[row] = start_us;
        end->i64[row] = end_us;
        if (weir_is_late(end->i64[row], batch->partition_time_us[row], tumble->config.delay_us)) {
            if (report_late(tumble, batch, row, end->i64[row], error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            continue;
        }
        selected[windowed.selected_count++] = (uint16_t)row;
    }
    return windowed.selected_count > 0 ? weir_operator_push(op, &windowed, error) : WEIR_OK;
}

static void destroy(struct weir_operator *op)
{
    free(op);
}

static const struct weir_operator_ops tumble_ops = {
    .kind = "tumble", .process = process, .destroy = destroy};

struct weir_operator *weir_tumble_create(const char *id, const char *name,
                                         const struct weir_tumble_config *config)
{
    WEIR_ASSERT(config->window.size_us > 0);
    struct tumble *tumble = weir_alloc_zero(sizeof *tumble);
    tumble->op.ops = &tumble_ops;
    tumble->op.id = id;
    tumble->op.name = name;
    tumble->config = *config;
    return &tumble->op;
}
