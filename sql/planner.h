// SPDX-License-Identifier: Apache-2.0
// What the steps of planning share: the catalog of what the job has created so far, the graph that
// its INSERTs build, and the functions that the steps call in each other. The way of a statement:
// parse.h → plan.c (the loop) → create.c, options.c, select.c, insert.c (binding: names and types)
// → graph.c → merge.c, prune.c, finish.c. Everything lives in the job's arena.
// Thread: that of weir_sql_plan. Functions that fail have added a fault (fault.h).
#ifndef WEIR_SQL_PLANNER_H
#define WEIR_SQL_PLANNER_H

#include "sql/ast.h"
#include "sql/fault.h"
#include "sql/graph.h"
#include "sql/plan.h"

// A table as it was created, and what the job does with it.
struct weir_catalog_table {
    struct weir_table table; // what the plan shows
    const struct weir_ast_statement *statement;
    bool is_broken;               // its statement was refused: who names it fails in silence
    uint32_t physical_count;      // columns that are in the message: not generated
    uint32_t *physical_columns;   // their idx in table.columns
    struct weir_expr **generated; // by idx in table.columns, over the physical columns; NULL: none
    uint32_t check_count;
    struct weir_plan_check *checks; // over `derived_schema`
    struct weir_schema physical_schema;
    // The physical columns, then the generated ones: what DERIVE behind the source gives.
    struct weir_schema derived_schema;
    uint32_t *derived_idx;          // of table.columns in derived_schema
    struct weir_graph_node *source; // SOURCE or DERIVE; NULL: not read yet
    int32_t read_offset;            // of the first place that reads it; -1: none
    uint32_t read_statement_number;
    int32_t written_offset;
    uint32_t written_statement_number;
    uint32_t sink_input_count; // PROJECTs with the columns of the table
    struct weir_graph_node **sink_inputs;
};

struct weir_catalog_view {
    const char *name;
    const struct weir_ast_statement *statement;
    bool is_broken;
};

struct weir_catalog_type {
    const char *name;
    const struct weir_composite *composite; // NULL: its statement was refused
};

struct weir_planner {
    struct weir_arena *arena;
    struct weir_faults faults;
    uint32_t table_count;
    struct weir_catalog_table **tables;
    uint32_t view_count;
    struct weir_catalog_view **views;
    uint32_t type_count;
    struct weir_catalog_type *types;
    uint32_t insert_count; // also those that were refused
    // A view is bound where it is created only to find its faults: nothing is read by that.
    bool is_trial;
    struct weir_graph graph;
};

// --- catalog.c -------------------------------------------------------------------------------

struct weir_catalog_table *weir_catalog_find_table(const struct weir_planner *planner,
                                                   const char *name);
struct weir_catalog_view *weir_catalog_find_view(const struct weir_planner *planner,
                                                 const char *name);
// Tables, and views if there are any, that are named nearly so; NULL: none.
const char *weir_catalog_nearest(const struct weir_planner *planner, const char *name,
                                 bool with_views);
// A fault if a table or view has the name already.
enum weir_status weir_catalog_check_name(struct weir_planner *planner, const char *name,
                                         int32_t offset);
void weir_catalog_add_table(struct weir_planner *planner, struct weir_catalog_table *table);
void weir_catalog_add_view(struct weir_planner *planner, struct weir_catalog_view *view);
void weir_catalog_add_type(struct weir_planner *planner, const char *name,
                           const struct weir_composite *composite);

// --- types.c ---------------------------------------------------------------------------------

enum weir_status weir_sql_type(struct weir_planner *planner, const struct weir_ast_type *ast,
                               struct weir_type *type);

// --- options.c -------------------------------------------------------------------------------

// Sets the fields of table from the WITH options of its statement. All faults are added. Columns
// must be known for the options that name some; with_columns false: they are broken.
enum weir_status weir_sql_options(struct weir_planner *planner,
                                  const struct weir_ast_statement *statement, bool with_columns,
                                  struct weir_table *table);
enum weir_status weir_sql_set(struct weir_planner *planner,
                              const struct weir_ast_statement *statement);

// --- create.c --------------------------------------------------------------------------------

void weir_sql_create_table(struct weir_planner *planner,
                           const struct weir_ast_statement *statement);
void weir_sql_create_type(struct weir_planner *planner, const struct weir_ast_statement *statement);
void weir_sql_create_view(struct weir_planner *planner, const struct weir_ast_statement *statement);
// Schemas of a table whose columns are set, no column being generated.
void weir_sql_finish_plain_table(struct weir_planner *planner, struct weir_catalog_table *table);

// --- bind_expr.c -----------------------------------------------------------------------------

// What a name in an expression can mean: the columns of the one item in FROM.
struct weir_scope_column {
    const char *name;
    // Over the columns of the rows that the expression is computed for; NULL: a generated column,
    // which other generated columns cannot use.
    struct weir_expr *expr;
};

struct weir_scope {
    const char *name;       // alias or name of the table; NULL: none
    const char *table_name; // what the alias hides; NULL: nothing
    uint32_t column_count;
    struct weir_scope_column *columns;
};

enum weir_bind_place {
    WEIR_BIND_QUERY,
    WEIR_BIND_GENERATED, // of a column: metadata are allowed, now() is not
    WEIR_BIND_CHECK,
};

struct weir_binder {
    struct weir_planner *planner;
    const struct weir_scope *scope;
    enum weir_bind_place place;
};

enum weir_status weir_sql_bind_expr(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                    struct weir_expr **expr);
// As a condition: WHERE, CHECK.
enum weir_status weir_sql_bind_condition(struct weir_binder *binder,
                                         const struct weir_ast_expr *ast, const char *construct,
                                         struct weir_expr **expr);

// The fault of x.y or x.* where x is no table in FROM.
enum weir_status weir_sql_unknown_table(struct weir_binder *binder,
                                        const struct weir_ast_expr *ast);

// --- select.c --------------------------------------------------------------------------------

// The rows of a query and how its columns are computed from them.
struct weir_relation {
    uint32_t input_count; // more than one: UNION ALL of nodes with the same columns
    struct weir_graph_node **inputs;
    uint32_t column_count;
    struct weir_scope_column *columns; // name NULL: PostgreSQL's ?column?; expr: over the inputs
    int32_t *offsets;                  // of the targets, for messages; -1: none
};

// Literals without a type stay so for INSERT to give them one.
enum weir_status weir_sql_bind_query(struct weir_planner *planner,
                                     const struct weir_ast_select *select,
                                     struct weir_relation *relation);

// --- insert.c --------------------------------------------------------------------------------

void weir_sql_insert(struct weir_planner *planner, const struct weir_ast_statement *statement);
void weir_sql_create_table_as(struct weir_planner *planner,
                              const struct weir_ast_statement *statement);
// The sinks of all tables that were inserted into, once every statement has been looked at.
void weir_sql_finish_sinks(struct weir_planner *planner);

#endif
