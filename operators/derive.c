// SPDX-License-Identifier: Apache-2.0
// See derive.h. Steps of a batch: expressions, checks, event time; after each the rows that failed
// are gone, so that a row is reported once.
#include "operators/derive.h"

#include "operators/row_operator.h"

#include "runtime/types/datetime.h"

struct derive {
    struct weir_row_operator base;
    struct weir_derive_config config;
};

static void append_columns(struct derive *derive, struct weir_batch *batch)
{
    uint32_t count = derive->config.schema->column_count;
    uint32_t input_count = count - derive->config.expr_count;
    struct weir_column *columns = weir_arena_alloc(batch->arena, count * sizeof *columns);
    memcpy(columns, batch->columns, input_count * sizeof *columns);
    for (uint32_t i = 0; i < derive->config.expr_count; i++) {
        weir_expr_eval(derive->config.exprs[i], derive->base.eval, batch,
                       weir_batch_selection(batch), &columns[input_count + i]);
    }
    batch->columns = columns;
}

// --- checks ----------------------------------------------------------------------------------

typedef bool (*is_kept_fn)(const struct weir_column *column, uint32_t row);

// A deleted key of a keyed topic: its other columns are NULL, which says nothing.
static bool is_tombstone(const struct derive *derive, const struct weir_batch *batch, uint32_t row)
{
    return derive->config.has_tombstones && batch->change != NULL &&
           batch->change[row] == WEIR_CHANGE_DELETE;
}

// Reports the rows of the selection that are not to be kept, and leaves them out.
static enum weir_status keep(struct derive *derive, struct weir_batch *batch,
                             const struct weir_column *column, is_kept_fn is_kept,
                             enum weir_row_error_reason reason, const char *message,
                             struct weir_error *error)
{
    uint16_t *rows = weir_arena_alloc(batch->arena, batch->selected_count * sizeof *rows);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        if (__builtin_expect(is_kept(column, row), 1) || is_tombstone(derive, batch, row)) {
            rows[count++] = (uint16_t)row;
        } else if (weir_row_operator_report(&derive->base, batch, row, reason, message, error) !=
                   WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (count != batch->selected_count) {
        batch->selected = rows;
        batch->selected_count = count;
    }
    return WEIR_OK;
}

static bool is_not_false(const struct weir_column *column, uint32_t row)
{
    return !weir_column_is_valid(column, row) || column->u8[row] != 0;
}

static enum weir_status check(struct derive *derive, struct weir_batch *batch,
                              const struct weir_derive_check *check, struct weir_error *error)
{
    if (check->not_null_column >= 0) {
        const struct weir_column *column = &batch->columns[check->not_null_column];
        if (column->validity == NULL) {
            return WEIR_OK;
        }
        return keep(derive, batch, column, weir_column_is_valid, WEIR_ROW_ERROR_CONSTRAINT,
                    check->message, error);
    }
    struct weir_column condition;
    weir_eval_begin(derive->base.eval, batch);
    weir_expr_eval(check->condition, derive->base.eval, batch, weir_batch_selection(batch),
                   &condition);
    if (weir_row_operator_drop_failed(&derive->base, batch, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return keep(derive, batch, &condition, is_not_false, WEIR_ROW_ERROR_CONSTRAINT, check->message,
                error);
}

// --- event time ------------------------------------------------------------------------------

// As µs; dates begin their day. false: NULL, infinite, or a day beyond timestamps.
static bool event_time_of(const struct weir_column *column, uint32_t row, int64_t *us)
{
    if (!weir_column_is_valid(column, row)) {
        return false;
    }
    if (column->type.kind != WEIR_TYPE_DATE) {
        *us = column->i64[row];
    } else if (!weir_timestamp_from_date(column->i32[row], us, NULL)) {
        return false;
    }
    return weir_timestamp_is_finite(*us);
}

static bool has_event_time(const struct weir_column *column, uint32_t row)
{
    int64_t us;
    return event_time_of(column, row, &us);
}

static enum weir_status check_event_time(struct derive *derive, struct weir_batch *batch,
                                         struct weir_error *error)
{
    const uint32_t idx = (uint32_t)derive->config.event_time_column;
    char *message = weir_arena_printf(batch->arena, "column \"%s\" has no usable event time",
                                      derive->config.schema->columns[idx].name);
    return keep(derive, batch, &batch->columns[idx], has_event_time, WEIR_ROW_ERROR_EVENT_TIME,
                message, error);
}

static bool have_event_time(const struct weir_column *column, const struct weir_batch *batch)
{
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        if (!has_event_time(column, weir_batch_row(batch, i))) {
            return false;
        }
    }
    return true;
}

// The column itself where it holds the time of every row.
static void set_event_time(const struct derive *derive, struct weir_batch *batch)
{
    const struct weir_column *column = &batch->columns[derive->config.event_time_column];
    if (column->type.kind != WEIR_TYPE_DATE &&
        ((derive->config.is_event_time_needed && !derive->config.has_tombstones) ||
         have_event_time(column, batch))) {
        batch->event_time_us = column->i64;
        return;
    }
    const int64_t *before_us = batch->event_time_us;
    batch->event_time_us =
        weir_arena_alloc(batch->arena, batch->row_count * sizeof *batch->event_time_us);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        if (!event_time_of(column, row, &batch->event_time_us[row])) {
            batch->event_time_us[row] = before_us[row];
        }
    }
}

// --- operator --------------------------------------------------------------------------------

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct derive *derive = (struct derive *)op;
    struct weir_batch kept = *batch;
    weir_eval_begin(derive->base.eval, &kept);
    append_columns(derive, &kept);
    if (weir_row_operator_drop_failed(&derive->base, &kept, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    kept.schema = derive->config.schema;
    for (uint32_t i = 0; i < derive->config.check_count; i++) {
        if (check(derive, &kept, &derive->config.checks[i], error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (derive->config.event_time_column >= 0) {
        if (derive->config.is_event_time_needed &&
            check_event_time(derive, &kept, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        set_event_time(derive, &kept);
    }
    if (kept.selected_count == 0) {
        return WEIR_OK;
    }
    return weir_operator_push(op, &kept, error);
}

static void destroy(struct weir_operator *op)
{
    weir_row_operator_deinit((struct weir_row_operator *)op);
    free(op);
}

struct weir_operator *weir_derive_create(const char *id, const char *name,
                                         const struct weir_derive_config *config)
{
    static const struct weir_operator_ops OPS = {.kind = "derive",
                                                 .process = process,
                                                 .barrier = weir_row_operator_barrier,
                                                 .destroy = destroy};
    WEIR_ASSERT(config->expr_count <= config->schema->column_count);
    struct derive *derive = weir_alloc_zero(sizeof *derive);
    weir_row_operator_init(&derive->base, &OPS, id, name);
    derive->config = *config;
    return &derive->base.op;
}
