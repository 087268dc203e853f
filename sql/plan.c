// SPDX-License-Identifier: Apache-2.0
// Plans a job (plan.h): statement by statement, then the checks that look at all of them, then the
// passes over the graph. A fault in one statement does not keep the others from being looked at.
#include "sql/plan.h"

#include "sql/parse.h"
#include "sql/planner.h"

#include <stdlib.h>
#include <string.h>

static void plan_statement(struct weir_planner *planner, const struct weir_ast_statement *statement)
{
    switch (statement->kind) {
    case WEIR_AST_CREATE_TABLE:
        weir_sql_create_table(planner, statement);
        return;
    case WEIR_AST_CREATE_TABLE_AS:
        weir_sql_create_table_as(planner, statement);
        return;
    case WEIR_AST_CREATE_TYPE:
        weir_sql_create_type(planner, statement);
        return;
    case WEIR_AST_CREATE_VIEW:
        weir_sql_create_view(planner, statement);
        return;
    case WEIR_AST_INSERT:
        weir_sql_insert(planner, statement);
        return;
    case WEIR_AST_SET:
        if (!statement->is_broken) {
            weir_sql_set(planner, statement);
        }
        return;
    case WEIR_AST_REFUSED:
        return;
    }
}

// A topic that is read and written would feed itself.
static void check_topics(struct weir_planner *planner)
{
    for (uint32_t i = 0; i < planner->table_count; i++) {
        const struct weir_catalog_table *written = planner->tables[i];
        for (uint32_t j = 0; written->written_offset >= 0 && j < planner->table_count; j++) {
            const struct weir_catalog_table *read = planner->tables[j];
            if (read->read_offset < 0 || strcmp(read->table.topic, written->table.topic) != 0) {
                continue;
            }
            // The place that comes later in the text is the one that is too many.
            bool is_read_later = read->read_offset > written->written_offset;
            planner->faults.statement_number =
                is_read_later ? read->read_statement_number : written->written_statement_number;
            weir_fault_add(&planner->faults,
                           is_read_later ? read->read_offset : written->written_offset,
                           "a job cannot read what it writes; give the written table another topic",
                           "topic \"%s\" is both read (table %s) and written (table %s)",
                           read->table.topic, read->table.name, written->table.name);
        }
    }
    planner->faults.statement_number = 0;
}

// Two tables on one topic would write each other's keys.
static void check_keyed_topics(struct weir_planner *planner)
{
    for (uint32_t i = 0; i < planner->table_count; i++) {
        const struct weir_catalog_table *later = planner->tables[i];
        for (uint32_t j = 0; later->written_offset >= 0 && j < planner->table_count; j++) {
            const struct weir_catalog_table *earlier = planner->tables[j];
            if (earlier->written_offset < 0 || earlier->written_offset >= later->written_offset ||
                !(earlier->table.is_keyed || later->table.is_keyed) ||
                strcmp(earlier->table.topic, later->table.topic) != 0) {
                continue;
            }
            planner->faults.statement_number = later->written_statement_number;
            weir_fault_add(&planner->faults, later->written_offset,
                           "give one of them another topic",
                           "topic \"%s\" of a keyed table is written twice (tables %s and %s)",
                           later->table.topic, earlier->table.name, later->table.name);
        }
    }
    planner->faults.statement_number = 0;
}

static void check_written_formats(struct weir_planner *planner)
{
    for (uint32_t i = 0; i < planner->table_count; i++) {
        const struct weir_catalog_table *table = planner->tables[i];
        if (table->read_offset >= 0 && table->table.headers_column >= 0) {
            planner->faults.statement_number = table->read_statement_number;
            weir_fault_add(
                &planner->faults, table->read_offset, "a header is read with kafka_header('name')",
                "table \"%s\": option headers is for tables that are written", table->table.name);
        }
        enum weir_format format = table->table.format;
        if (table->written_offset >= 0 &&
            (format == WEIR_FORMAT_DEBEZIUM_JSON || format == WEIR_FORMAT_CSV)) {
            planner->faults.statement_number = table->written_statement_number;
            weir_fault_add(&planner->faults, table->written_offset,
                           "write format = 'json'; with a PRIMARY KEY it gives upserts",
                           "table \"%s\": format %s is for reading only", table->table.name,
                           format == WEIR_FORMAT_CSV ? "csv" : "debezium_json");
        }
    }
    planner->faults.statement_number = 0;
}

static void check_inserts(struct weir_planner *planner, const struct weir_ast *ast)
{
    if (planner->insert_count != 0 || planner->faults.count != 0) {
        return;
    }
    uint32_t count = ast->statement_count;
    planner->faults.statement_number = count;
    weir_fault_add(&planner->faults, count == 0 ? -1 : ast->statements[count - 1].offset,
                   "write INSERT INTO table SELECT … FROM table",
                   count == 0 ? "the job has no statement" : "the job has no INSERT");
}

static void bind_statements(struct weir_planner *planner, const struct weir_ast *ast)
{
    for (uint32_t i = 0; i < ast->statement_count; i++) {
        const struct weir_ast_statement *statement = &ast->statements[i];
        planner->faults.statement_number = statement->number;
        planner->faults.statement_offset = statement->offset;
        plan_statement(planner, statement);
    }
    planner->faults.statement_number = 0;
    planner->faults.statement_offset = -1;
    weir_sql_finish_sinks(planner);
    check_topics(planner);
    check_keyed_topics(planner);
    check_written_formats(planner);
    check_inserts(planner, ast);
}

static struct weir_plan *make_plan(struct weir_planner *planner)
{
    struct weir_graph *graph = &planner->graph;
    weir_graph_reach(graph);
    weir_graph_merge(graph);
    weir_graph_reach(graph);
    weir_graph_identify(graph);
    weir_graph_reach(graph);
    weir_graph_prune(graph);
    struct weir_plan *plan = weir_graph_write(graph);
    plan->table_count = planner->table_count;
    plan->tables =
        weir_arena_alloc(planner->arena, planner->table_count * sizeof(struct weir_table *));
    for (uint32_t i = 0; i < planner->table_count; i++) {
        plan->tables[i] = &planner->tables[i]->table;
        plan->tables[i]->is_source = planner->tables[i]->read_offset >= 0;
        plan->tables[i]->is_sink = planner->tables[i]->written_offset >= 0;
    }
    return plan;
}

static int compare_faults(const void *a, const void *b)
{
    const struct weir_fault *left = a;
    const struct weir_fault *right = b;
    if (left->statement_number != right->statement_number) {
        return left->statement_number < right->statement_number ? -1 : 1;
    }
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static enum weir_status plan_job(const char *sql_text, struct weir_sql_columns *columns,
                                 struct weir_arena *arena, const struct weir_plan **plan,
                                 struct weir_planner *planner)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (strncmp(sql_text, byte_order_mark, 3) == 0) {
        sql_text += 3;
    }
    *planner = (struct weir_planner){
        .arena = arena,
        .columns = columns,
        .faults = {.arena = arena,
                   .text = {.data = sql_text, .size_bytes = strlen(sql_text)},
                   .statement_offset = -1},
        .state_ttl_us = -1,
        .graph = {.arena = arena},
    };
    const struct weir_ast *ast = weir_sql_parse(&planner->faults);
    bind_statements(planner, ast);
    if (planner->faults.count != 0) {
        qsort(planner->faults.items, planner->faults.count, sizeof(struct weir_fault),
              compare_faults);
        return WEIR_ERROR;
    }
    *plan = make_plan(planner);
    return WEIR_OK;
}

enum weir_status weir_sql_plan(const char *sql_text, struct weir_arena *arena,
                               const struct weir_plan **plan, struct weir_error *error)
{
    return weir_sql_plan_asking(sql_text, NULL, arena, plan, error);
}

enum weir_status weir_sql_plan_asking(const char *sql_text, struct weir_sql_columns *columns,
                                      struct weir_arena *arena, const struct weir_plan **plan,
                                      struct weir_error *error)
{
    struct weir_planner planner;
    return plan_job(sql_text, columns, arena, plan, &planner) == WEIR_OK
               ? WEIR_OK
               : weir_faults_to_error(&planner.faults, error);
}

enum weir_status weir_sql_plan_all(const char *sql_text, struct weir_arena *arena,
                                   const struct weir_plan **plan, struct weir_sql_faults *faults)
{
    struct weir_planner planner;
    *faults = (struct weir_sql_faults){0};
    if (plan_job(sql_text, NULL, arena, plan, &planner) == WEIR_OK) {
        return WEIR_OK;
    }
    uint32_t count = planner.faults.count;
    struct weir_sql_fault *items = weir_arena_alloc_zero(arena, count * sizeof(*items));
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_fault *fault = &planner.faults.items[i];
        struct weir_buffer text = {0};
        weir_fault_print(&planner.faults, fault, &text);
        items[i] = (struct weir_sql_fault){
            .statement_number = fault->statement_number,
            .message = fault->text,
            .hint = fault->hint,
            .text = weir_arena_strdup(arena, weir_buffer_text(&text)),
        };
        weir_buffer_deinit(&text);
        if (fault->offset >= 0) {
            weir_sql_text_place(&planner.faults.text, (size_t)fault->offset, &items[i].line_number,
                                &items[i].column_number);
        }
    }
    *faults = (struct weir_sql_faults){.count = count, .items = items};
    return WEIR_ERROR;
}
