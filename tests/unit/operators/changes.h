// SPDX-License-Identifier: Apache-2.0
// Streams of changes as text, for operators with state: rows go in as lines, what comes out is one
// text. A line is a change, an event time in ms if it matters, and values parted by bars:
//   "+ a|1"  insert   "- a|1"  delete   "< a|1"  update before   "> a|1"  update after
//   "@1500 a|NULL" a row of an append-only input
// What comes out is "+(a, 1)" and so on, "(a, 1)" from an append-only batch, "T1500" for a time.
#ifndef WEIR_TESTS_UNIT_OPERATORS_CHANGES_H
#define WEIR_TESTS_UNIT_OPERATORS_CHANGES_H

#include "../memory_state.h"
#include "rows.h"

static const char CHANGE_SIGNS[] = "+-<>";

struct changes {
    struct weir_operator sink; // first: what comes out
    struct weir_operator *next[1];
    struct weir_row_error_policy policy;
    struct weir_buffer out;
    struct weir_buffer reported;
    bool has_event_times; // show them
    uint32_t row_count;
    // Instead of text.
    void (*visit)(void *context, const struct weir_batch *batch, uint32_t row);
    void *context;
};

static inline void changes_append_row(struct weir_buffer *out, const struct weir_batch *batch,
                                      uint32_t row)
{
    for (uint32_t k = 0; k < batch->schema->column_count; k++) {
        weir_buffer_printf(out, k != 0 ? ", " : "");
        if (weir_column_is_valid(&batch->columns[k], row)) {
            weir_text_append(out, &batch->columns[k], row);
        } else {
            weir_buffer_printf(out, "NULL");
        }
    }
}

static inline enum weir_status changes_process(struct weir_operator *op, struct weir_batch *batch,
                                               struct weir_error *error)
{
    (void)error;
    struct changes *changes = (struct changes *)op;
    assert_true(batch->selected_count > 0);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        changes->row_count++;
        if (changes->visit != NULL) {
            changes->visit(changes->context, batch, row);
            continue;
        }
        weir_buffer_printf(&changes->out, "%s", changes->out.size_bytes != 0 ? " " : "");
        if (batch->change != NULL) {
            weir_buffer_append_char(&changes->out, CHANGE_SIGNS[batch->change[row]]);
        }
        weir_buffer_append_char(&changes->out, '(');
        changes_append_row(&changes->out, batch, row);
        weir_buffer_append_char(&changes->out, ')');
        if (changes->has_event_times) {
            weir_buffer_printf(&changes->out, "@%lld", (long long)batch->event_time_us[row] / 1000);
        }
    }
    return WEIR_OK;
}

static inline enum weir_status changes_time_passed(struct weir_operator *op,
                                                   const struct weir_time *time,
                                                   struct weir_error *error)
{
    (void)error;
    struct changes *changes = (struct changes *)op;
    weir_buffer_printf(&changes->out, "%sT%lld%s", changes->out.size_bytes != 0 ? " " : "",
                       (long long)time->watermark_us / 1000, time->is_idle ? "i" : "");
    return WEIR_OK;
}

static inline enum weir_status changes_report(struct weir_row_error_policy *policy,
                                              const struct weir_row_error *row_error,
                                              struct weir_error *error)
{
    (void)error;
    struct changes *changes = (struct changes *)((char *)policy - offsetof(struct changes, policy));
    weir_buffer_printf(&changes->reported, "%s%s: %s",
                       changes->reported.size_bytes != 0 ? "; " : "",
                       weir_row_error_reason_name(row_error->reason), row_error->message);
    if (row_error->record == NULL) {
        weir_buffer_printf(&changes->reported, " %.*s", WEIR_VIEW_ARGS(row_error->row_json));
    } else {
        weir_buffer_printf(&changes->reported, " at %lld", (long long)row_error->record->offset);
    }
    return WEIR_OK;
}

static inline void changes_init(struct changes *changes)
{
    static const struct weir_operator_ops OPS = {
        .kind = "changes", .process = changes_process, .time_passed = changes_time_passed};
    *changes = (struct changes){.sink.ops = &OPS, .policy.report = changes_report};
    changes->next[0] = &changes->sink;
}

static inline void changes_attach(struct changes *changes, struct weir_operator *op)
{
    op->next = changes->next;
    op->next_count = 1;
    op->row_errors = &changes->policy;
}

static inline void changes_deinit(struct changes *changes)
{
    weir_buffer_deinit(&changes->out);
    weir_buffer_deinit(&changes->reported);
}

// What has come out since the last time.
static inline void changes_expect(struct changes *changes, const char *expected)
{
    assert_string_equal(weir_buffer_text(&changes->out), expected);
    changes->out.size_bytes = 0;
}

static inline void changes_expect_reported(struct changes *changes, const char *expected)
{
    assert_string_equal(weir_buffer_text(&changes->reported), expected);
    changes->reported.size_bytes = 0;
}

// --- in ---------------------------------------------------------------------------------------

// "x:integer y:double_precision".
static inline struct weir_schema *changes_schema(struct weir_arena *arena, const char *columns)
{
    struct weir_schema *schema = weir_arena_alloc_zero(arena, sizeof *schema);
    struct weir_field *fields = weir_arena_alloc_zero(arena, 32 * sizeof *fields);
    char *rest = weir_arena_strdup(arena, columns);
    for (char *cell; (cell = strsep(&rest, " ")) != NULL;) {
        char *name = strsep(&cell, ":");
        for (char *blank = cell; (blank = strchr(blank, '_')) != NULL;) {
            *blank = ' ';
        }
        fields[schema->column_count++] =
            (struct weir_field){.name = name, .type = expr_text_type(cell)};
    }
    schema->columns = fields;
    return schema;
}

static inline void changes_read_line(struct weir_batch *batch, uint32_t row, const char *line)
{
    const char *sign = strchr(CHANGE_SIGNS, *line);
    char *rest = weir_arena_strdup(batch->arena, line);
    if (sign != NULL) {
        assert_non_null(batch->change);
        ((uint8_t *)batch->change)[row] = (uint8_t)(sign - CHANGE_SIGNS);
        rest++;
        rest += *rest == ' ';
    } else {
        batch->change = NULL;
    }
    if (*rest == '@') {
        batch->event_time_us[row] = strtoll(rest + 1, &rest, 10) * 1000;
        rest += *rest == ' ';
    }
    for (uint32_t c = 0; c < batch->schema->column_count; c++) {
        char *value = strsep(&rest, "|");
        assert_non_null(value);
        if (strcmp(value, "NULL") != 0) {
            assert_true(
                weir_text_parse(&batch->columns[c], row, weir_view_of(value), batch->arena, NULL));
        }
    }
}

// The lines as one batch without records; the caller destroys its arena.
static inline struct weir_batch *changes_batch(const struct weir_schema *schema,
                                               uint32_t line_count, const char *const *lines)
{
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct weir_batch *batch = weir_arena_alloc_zero(arena, sizeof *batch);
    *batch = (struct weir_batch){
        .schema = schema,
        .row_count = line_count,
        .selected_count = line_count,
        .columns = weir_arena_alloc(arena, schema->column_count * sizeof *batch->columns),
        .event_time_us = weir_arena_alloc_zero(arena, line_count * sizeof(int64_t)),
        .change = weir_arena_alloc_zero(arena, line_count),
        .arena = arena,
    };
    for (uint32_t c = 0; c < schema->column_count; c++) {
        weir_column_init(&batch->columns[c], &schema->columns[c].type, line_count, true, arena);
    }
    for (uint32_t row = 0; row < line_count; row++) {
        changes_read_line(batch, row, lines[row]);
    }
    return batch;
}

static inline void changes_feed(struct weir_operator *op, const struct weir_schema *schema,
                                uint32_t line_count, const char *const *lines)
{
    struct weir_batch *batch = changes_batch(schema, line_count, lines);
    struct weir_error error;
    assert_int_equal(op->ops->process(op, batch, &error), WEIR_OK);
    weir_arena_destroy(batch->arena);
}

#define CHANGES_FEED(op, schema, ...)                                                              \
    changes_feed(op, schema, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *),         \
                 (const char *[]){__VA_ARGS__})

static inline void changes_pass_time(struct weir_operator *op, int64_t watermark_ms)
{
    struct weir_time time = {.watermark_us =
                                 watermark_ms == INT64_MAX ? INT64_MAX : watermark_ms * 1000};
    struct weir_error error;
    assert_int_equal(op->ops->time_passed(op, &time, &error), WEIR_OK);
}

// What the operator still has to send of the epoch that the last barrier ended.
static inline void changes_send(struct weir_operator *op)
{
    struct weir_error error;
    while (op->is_sending) {
        assert_int_equal(op->ops->send(op, &error), WEIR_OK);
    }
}

// A barrier through the operator, then its state.
static inline void changes_begin_barrier(struct weir_operator *op, struct weir_state_store *store)
{
    struct memory_state_store *memory = (struct memory_state_store *)store;
    struct weir_barrier barrier = {.number = memory->barrier_number + 1};
    struct weir_error error;
    if (op->ops->barrier != NULL) {
        assert_int_equal(op->ops->barrier(op, &barrier, NULL, &error), WEIR_OK);
    }
    store->ops->barrier(store, &barrier, NULL);
}

static inline void changes_pass_barrier(struct weir_operator *op, struct weir_state_store *store)
{
    changes_begin_barrier(op, store);
    changes_send(op);
}

#endif
