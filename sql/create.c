// SPDX-License-Identifier: Apache-2.0
// CREATE TABLE, CREATE TYPE, CREATE VIEW (planner.h): columns, generated columns, constraints. A
// statement with faults leaves its name behind, marked as broken.
#include "runtime/base/assert.h"
#include "sql/planner.h"

#include <string.h>

static enum weir_status check_column_name(struct weir_planner *planner,
                                          const struct weir_ast_statement *statement, uint32_t idx)
{
    const struct weir_ast_column *column = &statement->columns[idx];
    for (uint32_t i = 0; i < idx; i++) {
        if (strcmp(statement->columns[i].name, column->name) == 0) {
            return weir_fault_add(&planner->faults, column->offset, NULL,
                                  "column \"%s\" specified more than once", column->name);
        }
    }
    return WEIR_OK;
}

static enum weir_status make_columns(struct weir_planner *planner,
                                     const struct weir_ast_statement *statement,
                                     struct weir_table_column *columns)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < statement->column_count; i++) {
        const struct weir_ast_column *ast = &statement->columns[i];
        columns[i] = (struct weir_table_column){
            .name = ast->name,
            .is_not_null = ast->is_not_null,
            .is_generated = ast->generated != NULL,
        };
        if (check_column_name(planner, statement, i) != WEIR_OK || ast->is_broken ||
            weir_sql_type(planner, &ast->type, &columns[i].type) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    return status;
}

// physical_* and derived_* from table->table.columns.
static void make_schemas(struct weir_planner *planner, struct weir_catalog_table *table)
{
    uint32_t count = table->table.column_count;
    const struct weir_table_column *columns = table->table.columns;
    struct weir_field *fields = weir_arena_alloc(planner->arena, count * sizeof(*fields));
    table->physical_columns = weir_arena_alloc(planner->arena, count * sizeof(uint32_t));
    table->derived_idx = weir_arena_alloc(planner->arena, count * sizeof(uint32_t));
    table->generated = weir_arena_alloc_zero(planner->arena, count * sizeof(*table->generated));
    uint32_t derived_count = 0;
    for (int want_generated = 0; want_generated < 2; want_generated++) {
        for (uint32_t i = 0; i < count; i++) {
            if (columns[i].is_generated != (want_generated != 0)) {
                continue;
            }
            if (want_generated == 0) {
                table->physical_columns[table->physical_count++] = i;
            }
            table->derived_idx[i] = derived_count;
            fields[derived_count++] =
                (struct weir_field){.name = columns[i].name, .type = columns[i].type};
        }
    }
    table->physical_schema =
        (struct weir_schema){.column_count = table->physical_count, .columns = fields};
    table->derived_schema = (struct weir_schema){.column_count = count, .columns = fields};
}

void weir_sql_finish_plain_table(struct weir_planner *planner, struct weir_catalog_table *table)
{
    make_schemas(planner, table);
    WEIR_ASSERT(table->physical_count == table->table.column_count);
}

// The columns of the table as names; generated ones only where with_generated.
static void make_scope(struct weir_planner *planner, const struct weir_catalog_table *table,
                       bool with_generated, struct weir_scope *scope)
{
    *scope = (struct weir_scope){
        .name = table->table.name,
        .column_count = table->table.column_count,
        .columns =
            weir_arena_alloc(planner->arena, table->table.column_count * sizeof(*scope->columns)),
    };
    for (uint32_t i = 0; i < table->table.column_count; i++) {
        const struct weir_table_column *column = &table->table.columns[i];
        scope->columns[i].name = column->name;
        scope->columns[i].expr = column->is_generated && !with_generated
                                     ? NULL
                                     : weir_expr_column(planner->arena, table->derived_idx[i],
                                                        column->name, &column->type);
    }
}

static enum weir_status bind_generated(struct weir_planner *planner,
                                       struct weir_catalog_table *table)
{
    struct weir_scope scope;
    make_scope(planner, table, false, &scope);
    struct weir_binder binder = {.planner = planner, .scope = &scope, .place = WEIR_BIND_GENERATED};
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < table->table.column_count; i++) {
        const struct weir_ast_column *ast = &table->statement->columns[i];
        struct weir_expr *expr;
        if (ast->generated == NULL) {
            continue;
        }
        if (weir_sql_bind_expr(&binder, ast->generated, &expr) != WEIR_OK) {
            status = WEIR_ERROR;
            continue;
        }
        if (weir_expr_needs_now(expr)) {
            status = weir_fault_add(&planner->faults, ast->generated->offset,
                                    "for the time of a record: kafka_timestamp()",
                                    "generation expression is not immutable");
            continue;
        }
        const struct weir_table_column *column = &table->table.columns[i];
        struct weir_error error = {0};
        if (weir_expr_cast(planner->arena, expr, &column->type, WEIR_CAST_ASSIGNMENT,
                           &table->generated[i], &error) == WEIR_OK) {
            continue;
        }
        char wanted[256];
        char given[256];
        status = weir_expr_is_unknown(expr)
                     ? weir_fault_add_error(&planner->faults, ast->generated->offset, &error)
                     : weir_fault_add(
                           &planner->faults, ast->generated->offset, "cast the expression",
                           "column \"%s\" is of type %s but default expression is of "
                           "type %s",
                           column->name, weir_type_name(&column->type, wanted, sizeof(wanted)),
                           weir_type_name(weir_expr_type(expr), given, sizeof(given)));
    }
    return status;
}

// --- constraints -----------------------------------------------------------------------------

struct column_set {
    uint32_t count; // different columns
    uint32_t first;
};

static void visit_column(const struct weir_expr *expr, void *context)
{
    struct column_set *set = context;
    int32_t idx = weir_expr_column_idx(expr);
    if (idx >= 0 && (set->count == 0 || set->first != (uint32_t)idx)) {
        set->first = set->count == 0 ? (uint32_t)idx : set->first;
        set->count++;
    }
}

static bool is_name_taken(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// As PostgreSQL names it: table_column_check if it is about one column, else table_check, with a
// number behind it where that is taken.
static const char *constraint_name(struct weir_planner *planner,
                                   const struct weir_catalog_table *table,
                                   const struct weir_ast_check *ast,
                                   const struct weir_expr *condition, const char *const *taken,
                                   uint32_t taken_count)
{
    if (ast->name != NULL) {
        return ast->name;
    }
    struct column_set set = {0};
    weir_expr_walk(condition, visit_column, &set);
    const char *column = set.count == 1 ? table->derived_schema.columns[set.first].name : NULL;
    char *base = column == NULL
                     ? weir_arena_printf(planner->arena, "%s_check", table->table.name)
                     : weir_arena_printf(planner->arena, "%s_%s_check", table->table.name, column);
    char *name = base;
    for (uint32_t n = 1; is_name_taken(taken, taken_count, name); n++) {
        name = weir_arena_printf(planner->arena, "%s%u", base, n);
    }
    return name;
}

static enum weir_status bind_checks(struct weir_planner *planner, struct weir_catalog_table *table)
{
    const struct weir_ast_statement *statement = table->statement;
    uint32_t count_max = statement->check_count + table->table.column_count;
    struct weir_scope scope;
    make_scope(planner, table, true, &scope);
    struct weir_binder binder = {.planner = planner, .scope = &scope, .place = WEIR_BIND_CHECK};
    const char **names =
        weir_arena_alloc(planner->arena, statement->check_count * sizeof(const char *));
    enum weir_status status = WEIR_OK;
    table->checks = weir_arena_alloc(planner->arena, count_max * sizeof(*table->checks));
    for (uint32_t i = 0; i < table->table.column_count; i++) {
        const struct weir_table_column *column = &table->table.columns[i];
        if (column->is_not_null) {
            table->checks[table->check_count++] = (struct weir_plan_check){
                .not_null_column = (int32_t)table->derived_idx[i],
                .message = weir_arena_printf(
                    planner->arena,
                    "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
                    column->name, table->table.name),
            };
        }
    }
    for (uint32_t i = 0; i < statement->check_count; i++) {
        const struct weir_ast_check *ast = &statement->checks[i];
        struct weir_expr *condition;
        names[i] = "";
        if (weir_sql_bind_condition(&binder, ast->expr, "CHECK", &condition) != WEIR_OK) {
            status = WEIR_ERROR;
            continue;
        }
        names[i] = constraint_name(planner, table, ast, condition, names, i);
        if (ast->name != NULL && is_name_taken(names, i, ast->name)) {
            status = weir_fault_add(&planner->faults, ast->offset, NULL,
                                    "constraint \"%s\" for relation \"%s\" already exists",
                                    ast->name, table->table.name);
        }
        table->checks[table->check_count++] = (struct weir_plan_check){
            .condition = condition,
            .not_null_column = -1,
            .message = weir_arena_printf(
                planner->arena, "new row for relation \"%s\" violates check constraint \"%s\"",
                table->table.name, names[i]),
        };
    }
    return status;
}

// --- statements ------------------------------------------------------------------------------

static bool has_option(const struct weir_ast_statement *statement, const char *name)
{
    for (uint32_t i = 0; i < statement->option_count; i++) {
        if (strcmp(statement->options[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void weir_sql_create_table(struct weir_planner *planner, const struct weir_ast_statement *statement)
{
    struct weir_catalog_table *table = weir_arena_alloc_zero(planner->arena, sizeof(*table));
    struct weir_table_column *columns =
        weir_arena_alloc(planner->arena, statement->column_count * sizeof(*columns));
    bool is_asking = statement->column_count == 0 && !statement->is_broken;
    enum weir_status status =
        is_asking ? weir_sql_registry_columns(planner, &statement, &columns) : WEIR_OK;
    table->statement = statement;
    table->table.name = statement->name;
    table->table.column_count = statement->column_count;
    table->table.columns = columns;
    table->read_offset = -1;
    table->written_offset = -1;
    if (weir_catalog_check_name(planner, statement->name, statement->name_offset) != WEIR_OK) {
        return; // the first one keeps the name
    }
    if (!is_asking && make_columns(planner, statement, columns) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    bool with_columns = status == WEIR_OK;
    if ((!is_asking || with_columns) &&
        weir_sql_primary_key(planner, statement, columns, &table->table) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    if (weir_sql_options(planner, statement, with_columns, &table->table) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    if (is_asking && !has_option(statement, "auto_register")) {
        table->table.is_registering = false; // it is there
    }
    if (status == WEIR_OK && table->table.event_time_column >= 0) {
        columns[table->table.event_time_column].is_event_time = true;
    }
    if (with_columns) {
        make_schemas(planner, table);
        if (bind_generated(planner, table) != WEIR_OK || bind_checks(planner, table) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    table->is_broken = status != WEIR_OK || statement->is_broken;
    weir_catalog_add_table(planner, table);
}

void weir_sql_create_type(struct weir_planner *planner, const struct weir_ast_statement *statement)
{
    struct weir_composite *composite = weir_arena_alloc(planner->arena, sizeof(*composite));
    struct weir_field *fields =
        weir_arena_alloc(planner->arena, statement->column_count * sizeof(*fields));
    enum weir_status status = statement->is_broken ? WEIR_ERROR : WEIR_OK;
    for (uint32_t i = 0; i < planner->type_count; i++) {
        if (strcmp(planner->types[i].name, statement->name) == 0) {
            weir_fault_add(&planner->faults, statement->name_offset, NULL,
                           "type \"%s\" already exists", statement->name);
            return;
        }
    }
    if (statement->column_count == 0 && !statement->is_broken) {
        status = weir_fault_add(&planner->faults, statement->name_offset, NULL,
                                "type \"%s\" has no fields", statement->name);
    }
    for (uint32_t i = 0; i < statement->column_count; i++) {
        const struct weir_ast_column *ast = &statement->columns[i];
        fields[i].name = ast->name;
        if (check_column_name(planner, statement, i) != WEIR_OK || ast->is_broken ||
            weir_sql_type(planner, &ast->type, &fields[i].type) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    *composite = (struct weir_composite){
        .name = statement->name, .field_count = statement->column_count, .fields = fields};
    weir_catalog_add_type(planner, statement->name, status == WEIR_OK ? composite : NULL);
}

// The names that a query gives, once they are those of a view.
static enum weir_status check_view_columns(struct weir_planner *planner,
                                           const struct weir_ast_statement *statement,
                                           const struct weir_relation *relation)
{
    if (statement->column_name_count > relation->column_count) {
        return weir_fault_add(&planner->faults, statement->name_offset, NULL,
                              "CREATE VIEW specifies more column names than columns");
    }
    for (uint32_t i = 0; i < relation->column_count; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            const char *name = i < statement->column_name_count ? statement->column_names[i].name
                                                                : relation->columns[i].name;
            const char *other = j < statement->column_name_count ? statement->column_names[j].name
                                                                 : relation->columns[j].name;
            if (j < i && name != NULL && other != NULL && strcmp(name, other) == 0) {
                return weir_fault_add(&planner->faults, relation->offsets[i], "give it a name: AS",
                                      "column \"%s\" specified more than once", name);
            }
        }
    }
    return WEIR_OK;
}

void weir_sql_create_view(struct weir_planner *planner, const struct weir_ast_statement *statement)
{
    struct weir_catalog_view *view = weir_arena_alloc_zero(planner->arena, sizeof(*view));
    *view = (struct weir_catalog_view){
        .name = statement->name, .statement = statement, .is_broken = statement->is_broken};
    if (weir_catalog_check_name(planner, statement->name, statement->name_offset) != WEIR_OK) {
        return;
    }
    struct weir_relation relation;
    planner->is_trial = true;
    if (!view->is_broken &&
        (weir_sql_bind_query(planner, statement->select, &relation) != WEIR_OK ||
         check_view_columns(planner, statement, &relation) != WEIR_OK)) {
        view->is_broken = true;
    }
    planner->is_trial = false;
    weir_catalog_add_view(planner, view);
}
