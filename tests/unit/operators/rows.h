// SPDX-License-Identifier: Apache-2.0
// Batches from tables of text, and the ends that operators under test push into: a sink that keeps
// what it was given as text, and a policy that keeps what was reported.
#ifndef WEIR_TESTS_UNIT_OPERATORS_ROWS_H
#define WEIR_TESTS_UNIT_OPERATORS_ROWS_H

#include "expr_text.h"

#include "../cmocka_all.h"
#include "runtime/operator.h"
#include "runtime/types/text_io.h"

enum { ROWS_COLUMNS_MAX = 8 };

struct rows {
    struct weir_arena *arena;
    struct weir_schema schema;
    struct weir_field fields[ROWS_COLUMNS_MAX];
    struct weir_column columns[ROWS_COLUMNS_MAX];
    struct weir_record *records;
    struct weir_batch batch;
};

// "x:integer y:text"; then row_count rows of as many values, NULL for NULL. Record i has offset
// 100 + i. Memory is the arena's.
static inline struct rows *rows_create(const char *columns, uint32_t row_count,
                                       const char *const *values)
{
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct rows *rows = weir_arena_alloc_zero(arena, sizeof *rows);
    rows->arena = arena;
    char *rest = weir_arena_strdup(arena, columns);
    uint32_t count = 0;
    for (char *cell; (cell = strsep(&rest, " ")) != NULL; count++) {
        char *name = strsep(&cell, ":");
        rows->fields[count] = (struct weir_field){.name = name, .type = expr_text_type(cell)};
        weir_column_init(&rows->columns[count], &rows->fields[count].type, row_count, true, arena);
    }
    for (uint32_t i = 0; i < row_count * count; i++) {
        struct weir_column *column = &rows->columns[i % count];
        if (values[i] != NULL) {
            assert_true(weir_text_parse(column, i / count, weir_view_of(values[i]), arena, NULL));
        }
    }
    rows->records = weir_arena_alloc_zero(arena, row_count * sizeof *rows->records);
    for (uint32_t i = 0; i < row_count; i++) {
        rows->records[i] =
            (struct weir_record){.topic = "topic", .partition = 3, .offset = 100 + i};
    }
    rows->schema = (struct weir_schema){.column_count = count, .columns = rows->fields};
    rows->batch = (struct weir_batch){
        .schema = &rows->schema,
        .row_count = row_count,
        .selected_count = row_count,
        .columns = rows->columns,
        .event_time_us = weir_arena_alloc_zero(arena, row_count * sizeof(int64_t)),
        .records = rows->records,
        .arena = arena,
    };
    return rows;
}

static inline void rows_destroy(struct rows *rows)
{
    weir_arena_destroy(rows->arena);
}

static inline struct weir_expr *rows_expr(struct rows *rows, const char *source)
{
    struct weir_error error;
    struct weir_expr *expr = expr_text_parse(source, &rows->schema, rows->arena, &error);
    if (expr == NULL) {
        fail_msg("%s: %s", source, error.text);
    }
    return expr;
}

// --- ends ------------------------------------------------------------------------------------

struct ends {
    struct weir_operator sink; // what comes out, as "row: a, b; row: …"
    struct weir_row_error_policy policy;
    struct weir_operator *next[1];
    struct weir_buffer out;
    struct weir_buffer reported; // "offset reason message; …"
    uint32_t batch_count;
    bool is_strict; // the policy ends the job
    int64_t event_time_us[WEIR_BATCH_ROWS_MAX];
};

static inline enum weir_status ends_process(struct weir_operator *op, struct weir_batch *batch,
                                            struct weir_error *error)
{
    (void)error;
    struct ends *ends = (struct ends *)op;
    ends->batch_count++;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        ends->event_time_us[row] = batch->event_time_us[row];
        weir_buffer_printf(&ends->out, "%s%u:", ends->out.size_bytes != 0 ? "; " : "", row);
        for (uint32_t k = 0; k < batch->schema->column_count; k++) {
            weir_buffer_printf(&ends->out, k != 0 ? ", " : " ");
            if (weir_column_is_valid(&batch->columns[k], row)) {
                weir_text_append(&ends->out, &batch->columns[k], row);
            } else {
                weir_buffer_printf(&ends->out, "NULL");
            }
        }
    }
    return WEIR_OK;
}

static inline enum weir_status ends_report(struct weir_row_error_policy *policy,
                                           const struct weir_row_error *row_error,
                                           struct weir_error *error)
{
    struct ends *ends = (struct ends *)((char *)policy - offsetof(struct ends, policy));
    weir_buffer_printf(&ends->reported, "%s", ends->reported.size_bytes != 0 ? "; " : "");
    if (row_error->record != NULL) {
        weir_buffer_printf(&ends->reported, "%lld", (long long)row_error->record->offset);
    } else {
        weir_buffer_printf(&ends->reported, "%.*s", WEIR_VIEW_ARGS(row_error->row_json));
    }
    weir_buffer_printf(&ends->reported, " %s %s: %s", row_error->operator_name,
                       weir_row_error_reason_name(row_error->reason), row_error->message);
    if (ends->is_strict) {
        return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "%s", row_error->message);
    }
    return WEIR_OK;
}

static inline struct ends *ends_create(struct weir_operator *op)
{
    static const struct weir_operator_ops OPS = {.kind = "ends", .process = ends_process};
    struct ends *ends = weir_alloc_zero(sizeof *ends);
    ends->sink.ops = &OPS;
    ends->policy.report = ends_report;
    ends->next[0] = &ends->sink;
    op->next = ends->next;
    op->next_count = 1;
    op->row_errors = &ends->policy;
    return ends;
}

static inline void ends_destroy(struct ends *ends)
{
    weir_buffer_deinit(&ends->out);
    weir_buffer_deinit(&ends->reported);
    free(ends);
}

// Gives the rows to the operator and looks at what comes out of both ends.
static inline void ends_check(struct weir_operator *op, struct rows *rows, const char *out,
                              const char *reported)
{
    struct ends *ends = ends_create(op);
    struct weir_error error;
    const struct weir_batch before = rows->batch;
    assert_int_equal(op->ops->process(op, &rows->batch, &error), WEIR_OK);
    assert_string_equal(weir_buffer_text(&ends->out), out);
    assert_string_equal(weir_buffer_text(&ends->reported), reported);
    // The caller's struct stays as it was.
    assert_memory_equal(&before, &rows->batch, sizeof before);
    ends_destroy(ends);
}

#endif
