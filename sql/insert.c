// SPDX-License-Identifier: Apache-2.0
// INSERT INTO … SELECT and CREATE TABLE … AS SELECT: what is written where, with assignment casts
// to the types of the sink's columns; and, at the end, one SINK for every table that is written,
// with a DERIVE for its constraints in front of it.
#include "sql/nearest.h"
#include "sql/planner.h"

#include <string.h>

// --- columns that are written ----------------------------------------------------------------

static enum weir_status unknown_target(struct weir_planner *planner,
                                       const struct weir_catalog_table *table,
                                       const struct weir_ast_name *name)
{
    struct weir_nearest nearest = weir_nearest_start(name->name);
    for (uint32_t i = 0; i < table->table.column_count; i++) {
        weir_nearest_offer(&nearest, table->table.columns[i].name);
    }
    return weir_fault_add(
        &planner->faults, name->offset, weir_fault_did_you_mean(&planner->faults, nearest.best),
        "column \"%s\" of relation \"%s\" does not exist", name->name, table->table.name);
}

// source[i]: the column of the query that column i of the table gets; -1: it is left out.
static enum weir_status map_named(struct weir_planner *planner,
                                  const struct weir_ast_statement *statement,
                                  const struct weir_catalog_table *table, int32_t *source)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < statement->column_name_count; i++) {
        const struct weir_ast_name *name = &statement->column_names[i];
        uint32_t idx = 0;
        while (idx < table->table.column_count &&
               strcmp(table->table.columns[idx].name, name->name) != 0) {
            idx++;
        }
        if (idx == table->table.column_count) {
            status = unknown_target(planner, table, name);
        } else if (table->table.columns[idx].is_generated) {
            status = weir_fault_add(&planner->faults, name->offset, NULL,
                                    "cannot insert a non-DEFAULT value into column \"%s\": it is "
                                    "a generated column",
                                    name->name);
        } else if (source[idx] >= 0) {
            status = weir_fault_add(&planner->faults, name->offset, NULL,
                                    "column \"%s\" specified more than once", name->name);
        } else {
            source[idx] = (int32_t)i;
        }
    }
    return status;
}

static enum weir_status map_columns(struct weir_planner *planner,
                                    const struct weir_ast_statement *statement,
                                    const struct weir_catalog_table *table,
                                    const struct weir_relation *relation, int32_t *source)
{
    uint32_t wanted_count = table->physical_count;
    for (uint32_t i = 0; i < table->table.column_count; i++) {
        source[i] = -1;
    }
    if (statement->column_name_count != 0) {
        wanted_count = statement->column_name_count;
        if (map_named(planner, statement, table, source) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (relation->column_count < wanted_count) {
            return weir_fault_add(&planner->faults,
                                  statement->column_names[relation->column_count].offset, NULL,
                                  "INSERT has more target columns than expressions");
        }
    } else {
        for (uint32_t i = 0; i < wanted_count && i < relation->column_count; i++) {
            source[table->physical_columns[i]] = (int32_t)i;
        }
    }
    if (relation->column_count > wanted_count) {
        return weir_fault_add(&planner->faults, relation->offsets[wanted_count],
                              weir_arena_printf(planner->arena,
                                                "the query gives %u columns, %u are written",
                                                relation->column_count, wanted_count),
                              "INSERT has more expressions than target columns");
    }
    return WEIR_OK;
}

static enum weir_status cast_column(struct weir_planner *planner,
                                    const struct weir_relation *relation, uint32_t idx,
                                    const struct weir_table_column *column, struct weir_expr **expr)
{
    struct weir_expr *given = relation->columns[idx].expr;
    struct weir_error error = {0};
    if (weir_expr_cast(planner->arena, given, &column->type, WEIR_CAST_ASSIGNMENT, expr, &error) ==
        WEIR_OK) {
        return WEIR_OK;
    }
    if (weir_expr_is_unknown(given)) {
        return weir_fault_add_error(&planner->faults, relation->offsets[idx], &error);
    }
    char wanted_name[256];
    char given_name[256];
    weir_type_name(&column->type, wanted_name, sizeof(wanted_name));
    weir_type_name(weir_expr_type(given), given_name, sizeof(given_name));
    bool can_cast = weir_expr_cast(planner->arena, given, &column->type, WEIR_CAST_EXPLICIT, expr,
                                   &error) == WEIR_OK;
    const char *hint =
        can_cast ? weir_arena_printf(planner->arena, "cast it: CAST(… AS %s)", wanted_name) : NULL;
    return weir_fault_add(&planner->faults, relation->offsets[idx], hint,
                          "column \"%s\" is of type %s but expression is of type %s", column->name,
                          wanted_name, given_name);
}

// One expression for each physical column of the table, over the rows of the query; given: as the
// query has them.
static enum weir_status assign_columns(struct weir_planner *planner,
                                       const struct weir_ast_statement *statement,
                                       const struct weir_catalog_table *table,
                                       const struct weir_relation *relation,
                                       struct weir_expr **exprs, struct weir_expr **given)
{
    int32_t *source = weir_arena_alloc(planner->arena, table->table.column_count * sizeof(*source));
    if (map_columns(planner, statement, table, relation, source) != WEIR_OK) {
        return WEIR_ERROR;
    }
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < table->physical_count; i++) {
        uint32_t idx = table->physical_columns[i];
        const struct weir_table_column *column = &table->table.columns[idx];
        if (source[idx] >= 0) {
            given[i] = relation->columns[source[idx]].expr;
            if (cast_column(planner, relation, (uint32_t)source[idx], column, &exprs[i]) !=
                WEIR_OK) {
                status = WEIR_ERROR;
            }
            continue;
        }
        if (column->is_not_null) {
            status = weir_fault_add(&planner->faults, statement->name_offset, NULL,
                                    "column \"%s\" of \"%s\" is NOT NULL, but this INSERT leaves "
                                    "it out",
                                    column->name, table->table.name);
            continue;
        }
        struct weir_error error = {0};
        struct weir_expr *null = weir_expr_literal(planner->arena, NULL);
        given[i] = null;
        if (weir_expr_cast(planner->arena, null, &column->type, WEIR_CAST_ASSIGNMENT, &exprs[i],
                           &error) != WEIR_OK) {
            status = weir_fault_add_error(&planner->faults, statement->name_offset, &error);
        }
    }
    return status;
}

// Behind the columns of the message, those that are computed from them: all in declared order.
static struct weir_graph_node *add_generated(struct weir_planner *planner,
                                             const struct weir_catalog_table *table,
                                             struct weir_graph_node *input)
{
    uint32_t count = table->table.column_count;
    struct weir_expr **exprs = weir_arena_alloc(planner->arena, count * sizeof(*exprs));
    const char **names = weir_arena_alloc(planner->arena, count * sizeof(*names));
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_table_column *column = &table->table.columns[i];
        names[i] = column->name;
        exprs[i] = column->is_generated ? table->generated[i]
                                        : weir_expr_column(planner->arena, table->derived_idx[i],
                                                           column->name, &column->type);
    }
    struct weir_graph_node *node =
        weir_graph_add_project(&planner->graph, 1, &input, count, exprs, names);
    node->is_single = true;
    return node;
}

static enum weir_status check_sink(struct weir_planner *planner,
                                   const struct weir_ast_statement *statement,
                                   const struct weir_catalog_table *table)
{
    for (uint32_t i = 0; i < table->table.column_count; i++) {
        if (table->generated[i] != NULL && weir_expr_needs_record(table->generated[i])) {
            return weir_fault_add(
                &planner->faults, statement->name_offset,
                "give the written table columns without metadata",
                "table \"%s\" cannot be written: its column \"%s\" is metadata of "
                "records that are read",
                table->table.name, table->table.columns[i].name);
        }
    }
    return WEIR_OK;
}

// A PROJECT for each node that the query's rows come from: they can be merged with what is there.
static void add_sink_inputs(struct weir_planner *planner, struct weir_catalog_table *table,
                            const struct weir_relation *relation, struct weir_expr **exprs)
{
    const char **names = weir_arena_alloc(planner->arena, table->physical_count * sizeof(*names));
    for (uint32_t i = 0; i < table->physical_count; i++) {
        names[i] = table->physical_schema.columns[i].name;
    }
    for (uint32_t i = 0; i < relation->input_count; i++) {
        struct weir_graph_node *node = weir_graph_add_project(
            &planner->graph, 1, &relation->inputs[i], table->physical_count, exprs, names);
        node->is_single = true;
        if (table->physical_count != table->table.column_count) {
            node = add_generated(planner, table, node);
        }
        size_t old_bytes = table->sink_input_count * sizeof(node);
        table->sink_inputs = weir_arena_realloc(planner->arena, table->sink_inputs, old_bytes,
                                                old_bytes + sizeof(node));
        table->sink_inputs[table->sink_input_count++] = node;
    }
}

static void insert_into(struct weir_planner *planner, const struct weir_ast_statement *statement,
                        struct weir_catalog_table *table, const struct weir_relation *relation)
{
    struct weir_expr **exprs =
        weir_arena_alloc_zero(planner->arena, table->physical_count * sizeof(*exprs));
    struct weir_expr **given =
        weir_arena_alloc_zero(planner->arena, table->physical_count * sizeof(*given));
    if (assign_columns(planner, statement, table, relation, exprs, given) != WEIR_OK ||
        weir_sql_check_result(planner, statement, table, relation, given) != WEIR_OK ||
        check_sink(planner, statement, table) != WEIR_OK) {
        return;
    }
    add_sink_inputs(planner, table, relation, exprs);
    if (table->written_offset < 0) {
        table->written_offset = statement->name_offset;
        table->written_statement_number = statement->number;
    }
}

// --- statements ------------------------------------------------------------------------------

static enum weir_status find_target(struct weir_planner *planner,
                                    const struct weir_ast_statement *statement,
                                    struct weir_catalog_table **table)
{
    *table = weir_catalog_find_table(planner, statement->name);
    if (*table != NULL) {
        return (*table)->is_broken ? WEIR_ERROR : WEIR_OK;
    }
    if (weir_catalog_find_view(planner, statement->name) != NULL) {
        return weir_fault_add(&planner->faults, statement->name_offset, "write into a table",
                              "cannot insert into view \"%s\"", statement->name);
    }
    return weir_fault_add(
        &planner->faults, statement->name_offset,
        weir_fault_did_you_mean(&planner->faults,
                                weir_catalog_nearest(planner, statement->name, false)),
        "relation \"%s\" does not exist", statement->name);
}

void weir_sql_insert(struct weir_planner *planner, const struct weir_ast_statement *statement)
{
    struct weir_catalog_table *table;
    struct weir_relation relation;
    planner->insert_count++;
    enum weir_status status = find_target(planner, statement, &table);
    if (statement->is_broken) {
        return;
    }
    planner->graph.target = statement->name;
    // The query is bound even without a table, for its own faults.
    if (weir_sql_bind_query(planner, statement->select, &relation) == WEIR_OK &&
        status == WEIR_OK) {
        insert_into(planner, statement, table, &relation);
    }
    planner->graph.target = NULL;
}

static enum weir_status make_column(struct weir_planner *planner,
                                    const struct weir_ast_statement *statement,
                                    const struct weir_relation *relation, uint32_t idx,
                                    struct weir_table_column *columns)
{
    const char *name = idx < statement->column_name_count ? statement->column_names[idx].name
                                                          : relation->columns[idx].name;
    struct weir_expr *expr = relation->columns[idx].expr;
    if (name == NULL) {
        return weir_fault_add(&planner->faults, relation->offsets[idx], "give it a name: AS",
                              "column %u of the written table has no name", idx + 1);
    }
    for (uint32_t i = 0; i < idx; i++) {
        if (columns[i].name != NULL && strcmp(columns[i].name, name) == 0) {
            return weir_fault_add(&planner->faults, relation->offsets[idx],
                                  "give it another name: AS",
                                  "column \"%s\" specified more than once", name);
        }
    }
    columns[idx].name = name;
    columns[idx].type =
        weir_expr_is_unknown(expr) ? weir_type_plain(WEIR_TYPE_TEXT) : *weir_expr_type(expr);
    return WEIR_OK;
}

void weir_sql_create_table_as(struct weir_planner *planner,
                              const struct weir_ast_statement *statement)
{
    struct weir_catalog_table *table = weir_arena_alloc_zero(planner->arena, sizeof(*table));
    struct weir_relation relation = {0};
    planner->insert_count++;
    table->statement = statement;
    table->table.name = statement->name;
    table->read_offset = -1;
    table->written_offset = -1;
    table->is_broken = true;
    if (weir_catalog_check_name(planner, statement->name, statement->name_offset) != WEIR_OK) {
        return;
    }
    planner->graph.target = statement->name;
    enum weir_status status = statement->is_broken
                                  ? WEIR_ERROR
                                  : weir_sql_bind_query(planner, statement->select, &relation);
    planner->graph.target = NULL;
    if (status == WEIR_OK && statement->column_name_count > relation.column_count) {
        status = weir_fault_add(&planner->faults, statement->name_offset, NULL,
                                "too many column names were specified");
    }
    struct weir_table_column *columns =
        weir_arena_alloc_zero(planner->arena, relation.column_count * sizeof(*columns));
    for (uint32_t i = 0; i < relation.column_count && status == WEIR_OK; i++) {
        status = make_column(planner, statement, &relation, i, columns);
    }
    table->table.columns = columns;
    table->table.column_count = status == WEIR_OK ? relation.column_count : 0;
    if (weir_sql_options(planner, statement, status == WEIR_OK, &table->table) != WEIR_OK) {
        status = WEIR_ERROR;
    } else if (table->table.event_time_column >= 0) {
        columns[table->table.event_time_column].is_event_time = true;
    }
    weir_catalog_add_table(planner, table);
    if (status != WEIR_OK) {
        return;
    }
    table->is_broken = false;
    weir_sql_finish_plain_table(planner, table);
    // The list of names is that of the table itself: its columns are taken in order.
    struct weir_ast_statement plain = *statement;
    plain.column_name_count = 0;
    planner->graph.target = statement->name;
    insert_into(planner, &plain, table, &relation);
    planner->graph.target = NULL;
}

// --- sinks -----------------------------------------------------------------------------------

// The constraints over the columns in declared order.
static struct weir_expr *in_declared_order(struct weir_arena *arena, const struct weir_expr *node,
                                           void *context)
{
    const struct weir_catalog_table *table = context;
    int32_t idx = weir_expr_column_idx(node);
    for (uint32_t i = 0; idx >= 0 && i < table->table.column_count; i++) {
        if (table->derived_idx[i] == (uint32_t)idx) {
            return weir_expr_column(arena, i, table->table.columns[i].name,
                                    &table->table.columns[i].type);
        }
    }
    return NULL;
}

static struct weir_graph_node *add_constraints(struct weir_planner *planner,
                                               struct weir_catalog_table *table)
{
    struct weir_graph_node *node = weir_graph_add(&planner->graph, WEIR_PLAN_DERIVE,
                                                  table->sink_input_count, table->sink_inputs);
    struct weir_plan_check *checks =
        weir_arena_alloc(planner->arena, table->check_count * sizeof(*checks));
    for (uint32_t i = 0; i < table->check_count; i++) {
        checks[i] = table->checks[i];
        for (uint32_t j = 0; j < table->table.column_count; j++) {
            if (table->checks[i].not_null_column == (int32_t)table->derived_idx[j]) {
                checks[i].not_null_column = (int32_t)j;
            }
        }
        if (checks[i].condition != NULL) {
            checks[i].condition =
                weir_expr_remap(planner->arena, checks[i].condition, in_declared_order, table);
        }
    }
    node->table = table;
    node->schema = table->sink_inputs[0]->schema;
    node->checks = checks;
    node->check_count = table->check_count;
    return node;
}

static uint32_t *copy_keys(struct weir_planner *planner, const struct weir_table *table)
{
    size_t size_bytes = table->key_column_count * sizeof(uint32_t);
    uint32_t *copy = weir_arena_alloc(planner->arena, size_bytes);
    memcpy(copy, table->key_columns, size_bytes);
    return copy;
}

void weir_sql_finish_sinks(struct weir_planner *planner)
{
    for (uint32_t i = 0; i < planner->table_count; i++) {
        struct weir_catalog_table *table = planner->tables[i];
        if (table->sink_input_count == 0) {
            continue;
        }
        uint32_t input_count = table->sink_input_count;
        struct weir_graph_node **inputs = table->sink_inputs;
        struct weir_graph_node *checked;
        planner->graph.target = table->table.name;
        if (table->check_count != 0) {
            checked = add_constraints(planner, table);
            inputs = &checked;
            input_count = 1;
        }
        // Behind the checks: what fails one is reported with its record, which ends here.
        struct weir_graph_node *exchanged;
        if (table->is_exchanged) {
            exchanged = weir_graph_add_passing(&planner->graph, WEIR_PLAN_EXCHANGE, input_count,
                                               inputs, table->table.key_column_count,
                                               copy_keys(planner, &table->table));
            exchanged->is_single = true;
            inputs = &exchanged;
            input_count = 1;
        }
        struct weir_graph_node *sink =
            weir_graph_add(&planner->graph, WEIR_PLAN_SINK, input_count, inputs);
        sink->table = table;
        sink->schema = inputs[0]->schema;
        planner->graph.target = NULL;
    }
}
