// SPDX-License-Identifier: Apache-2.0
// Windows in FROM (planner.h): tumble(). The second argument must be the event time of the table,
// however many views and subqueries passed it on; sizes and origins are constants.
#include "runtime/types/datetime.h"
#include "sql/interval.h"
#include "sql/planner.h"

#include <string.h>

static const char usage[] = "tumble(table, event time, interval '1 minute' [, origin])";

// A literal, perhaps with the name of its type; NULL: it is none.
static const struct weir_ast_expr *literal_of(const struct weir_ast_expr *ast, const char *type)
{
    const struct weir_ast_expr *literal = ast;
    if (ast->kind == WEIR_AST_CAST && strncmp(ast->type.name, type, strlen(type)) == 0) {
        literal = ast->args[0];
    }
    return literal->kind == WEIR_AST_STRING ? literal : NULL;
}

static enum weir_status read_size(struct weir_planner *planner, const struct weir_ast_expr *ast,
                                  int64_t *size_us)
{
    const struct weir_ast_expr *literal = literal_of(ast, "interval");
    const char *why;
    if (literal == NULL) {
        return weir_fault_add(&planner->faults, ast->offset, usage,
                              "the size of a window is a constant: interval '…'");
    }
    const char *text = literal->text;
    if (ast->kind == WEIR_AST_CAST && ast->type.modifier_count == 1) {
        text = weir_sql_length_with_unit(planner->arena, ast->type.modifiers[0], text);
    }
    if (!weir_sql_length_parse(text, size_us, &why)) {
        return weir_fault_add(&planner->faults, ast->offset, "for example interval '1 minute'",
                              "the size of a window cannot be \"%s\": %s", literal->text, why);
    }
    if (*size_us <= 0) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "the size of a window must be above 0, not \"%s\"", literal->text);
    }
    return WEIR_OK;
}

static enum weir_status read_origin(struct weir_planner *planner, const struct weir_ast_expr *ast,
                                    int64_t *origin_us)
{
    const struct weir_ast_expr *literal = literal_of(ast, "timestamp");
    struct weir_value_error error;
    if (literal == NULL) {
        return weir_fault_add(&planner->faults, ast->offset, usage,
                              "the origin of a window is a constant: timestamptz '…'");
    }
    if (!weir_timestamptz_parse(weir_view_of(literal->text), origin_us, &error)) {
        return weir_fault_add(&planner->faults, literal->offset, NULL, "%s", error.text);
    }
    if (!weir_timestamp_is_finite(*origin_us)) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "the origin of a window cannot be infinite");
    }
    return WEIR_OK;
}

static enum weir_status refuse_time(struct weir_planner *planner, const struct weir_ast_expr *ast,
                                    enum weir_time_kind kind, const char *table_name)
{
    struct weir_faults *faults = &planner->faults;
    if (kind == WEIR_TIME_KEYED) {
        return weir_fault_add(faults, ast->offset, NULL,
                              "not supported yet: tumble() over a keyed table");
    }
    if (kind == WEIR_TIME_MIXED_DELAYS) {
        return weir_fault_add(faults, ast->offset, "give them the same watermark_delay",
                              "not supported yet: tumble() over tables with different "
                              "watermark_delay");
    }
    const char *name = ast->kind == WEIR_AST_COLUMN ? ast->names[ast->name_count - 1] : NULL;
    return weir_fault_add(
        faults, ast->offset,
        "set the option event_time of the table and pass the column on unchanged",
        name == NULL ? "the second argument of tumble() is not the event time of a table"
                     : "the second argument of tumble() is not the event time of a table: %s of %s",
        name, table_name);
}

// The table whose event time the expression is, in this input.
static enum weir_status find_time(struct weir_planner *planner, const struct weir_ast_expr *ast,
                                  const struct weir_expr *expr, const char *table_name,
                                  const struct weir_graph_node *input,
                                  struct weir_catalog_table **table)
{
    int32_t idx = weir_expr_column_idx(expr);
    enum weir_time_kind kind =
        idx < 0 ? WEIR_TIME_NONE : weir_graph_time_of(input, (uint32_t)idx, table);
    if (kind != WEIR_TIME_EVENT) {
        return refuse_time(planner, ast, kind, table_name);
    }
    if ((*table)->table.watermark_delay_us < 0) {
        return weir_fault_add(&planner->faults, ast->offset,
                              weir_arena_printf(planner->arena,
                                                "add it to CREATE TABLE %s … WITH "
                                                "(watermark_delay = '5 seconds'): how late rows "
                                                "may be",
                                                (*table)->table.name),
                              "tumble() needs the option watermark_delay of table \"%s\"",
                              (*table)->table.name);
    }
    return WEIR_OK;
}

// Behind every input a TUMBLE; two more columns.
static enum weir_status add_windows(struct weir_planner *planner, const struct weir_ast_expr *call,
                                    const struct weir_expr *time, const char *table_name,
                                    const struct weir_tumble *window,
                                    struct weir_relation *relation)
{
    struct weir_graph_node **inputs =
        weir_arena_alloc(planner->arena, relation->input_count * sizeof(*inputs));
    for (uint32_t i = 0; i < relation->input_count; i++) {
        struct weir_catalog_table *table = NULL;
        if (find_time(planner, call->args[1], time, table_name, relation->inputs[i], &table) !=
            WEIR_OK) {
            return WEIR_ERROR;
        }
        inputs[i] = weir_graph_add_tumble(&planner->graph, relation->inputs[i], table, window);
        inputs[i]->is_single = relation->input_count > 1;
    }
    const struct weir_schema *schema = &inputs[0]->schema;
    size_t old_bytes = relation->column_count * sizeof(*relation->columns);
    relation->columns = weir_arena_realloc(planner->arena, relation->columns, old_bytes,
                                           old_bytes + 2 * sizeof(*relation->columns));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t idx = schema->column_count - 2 + i;
        relation->columns[relation->column_count++] = (struct weir_scope_column){
            .name = i == 0 ? "window_start" : "window_end",
            .expr = weir_expr_column(planner->arena, idx, schema->columns[idx].name,
                                     &schema->columns[idx].type),
        };
    }
    relation->inputs = inputs;
    relation->offsets = NULL; // what is in FROM needs none
    return WEIR_OK;
}

enum weir_status weir_sql_bind_tumble(struct weir_planner *planner,
                                      const struct weir_ast_expr *call, const char *table_name,
                                      struct weir_relation *relation)
{
    struct weir_scope scope = {
        .name = table_name, .column_count = relation->column_count, .columns = relation->columns};
    struct weir_binder binder = {
        .planner = planner, .scope = &scope, .place = WEIR_BIND_QUERY, .clause = "tumble()"};
    // The grid goes through the beginning of 1970, as PostgreSQL's days and hours do.
    struct weir_tumble window = {.origin_us = -WEIR_EPOCH_SHIFT_US};
    struct weir_expr *time;
    enum weir_status status = weir_sql_bind_expr(&binder, call->args[1], &time);
    if (read_size(planner, call->args[2], &window.size_us) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    if (call->arg_count == 4 && read_origin(planner, call->args[3], &window.origin_us) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    return status == WEIR_OK ? add_windows(planner, call, time, table_name, &window, relation)
                             : WEIR_ERROR;
}
