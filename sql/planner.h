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
    struct weir_graph_node *source; // SOURCE, DERIVE or NORMALIZE; NULL: not read yet
    struct weir_graph_node *timed;  // the WATERMARK behind it; NULL: no query needs time yet
    int32_t read_offset;            // of the first place that reads it; -1: none
    uint32_t read_statement_number;
    int32_t written_offset;
    uint32_t written_statement_number;
    bool is_exchanged;         // its rows go to the tasks that own the primary key
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
    struct weir_sql_columns *columns; // who knows the columns of CREATE TABLE t (); NULL: nobody
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
    // What is bound now is for a window: tables are read behind their WATERMARK.
    bool is_timed;
    // The same for what is kept for a time only (state_ttl_us), for which any event time will do.
    bool is_ageing;
    int64_t state_ttl_us; // SET weir.state_ttl; -1: not set; INT64_MAX: 'infinity'
    struct weir_graph graph;
};

// Is what a query keeps forgotten after some time?
static inline bool weir_planner_has_ttl(const struct weir_planner *planner)
{
    return planner->state_ttl_us >= 0 && planner->state_ttl_us != INT64_MAX;
}

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

// --- option_value.c --------------------------------------------------------------------------

// The idx of the option's value among allowed; -1: a fault was added that lists them.
int32_t weir_sql_option_word(struct weir_planner *planner, const struct weir_ast_option *option,
                             const char *const *allowed, uint32_t allowed_count);

// A column as options name it: as it is; else, as PostgreSQL does without
// quotes, in lower case; within double quotes exactly so. -1: there is none; *wanted is its name
// without quotes, *nearest one that is like it or NULL.
int32_t weir_sql_option_column(struct weir_arena *arena, const struct weir_table *table,
                               const char *name, const char **wanted, const char **nearest);

// --- options.c -------------------------------------------------------------------------------

// Sets the fields of table from the WITH options of its statement. All faults are added. Columns
// must be known for the options that name some; with_columns false: they are broken.
enum weir_status weir_sql_options(struct weir_planner *planner,
                                  const struct weir_ast_statement *statement, bool with_columns,
                                  struct weir_table *table);

// --- set.c -----------------------------------------------------------------------------------

enum weir_status weir_sql_set(struct weir_planner *planner,
                              const struct weir_ast_statement *statement);

// --- options_registry.c ----------------------------------------------------------------------

// One of schema_registry, schema_registry_username, schema_registry_password,
// schema_registry_token, subject, subject_strategy, record_name, framing, schema, auto_register,
// with a value.
enum weir_status weir_sql_registry_option(struct weir_planner *planner,
                                          const struct weir_ast_option *option,
                                          struct weir_table *table);

// Of CREATE TABLE t (): the statement with the columns that the schema registry names, and their
// types. Error: a fault was added.
enum weir_status weir_sql_registry_columns(struct weir_planner *planner,
                                           const struct weir_ast_statement **statement,
                                           struct weir_table_column **columns);

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

struct weir_grouping;

struct weir_binder {
    struct weir_planner *planner;
    const struct weir_scope *scope;
    enum weir_bind_place place;
    const char *clause;             // where aggregates are not allowed: "WHERE"; NULL: by `place`
    struct weir_grouping *grouping; // the SELECT list and HAVING of a grouped query; else NULL
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

// The columns become columns of rows: literals get a type, expressions a PROJECT of their own.
enum weir_status weir_sql_materialize(struct weir_planner *planner, struct weir_relation *relation,
                                      bool is_single);
// Literals without a type stay so for INSERT to give them one.
enum weir_status weir_sql_bind_query(struct weir_planner *planner,
                                     const struct weir_ast_select *select,
                                     struct weir_relation *relation);

// --- group.c ---------------------------------------------------------------------------------

// A grouped query while it is being bound. Expressions are bound over the rows that are grouped;
// an aggregate is a column behind theirs. At the end they are put over the rows of the AGGREGATE.
struct weir_grouping {
    uint32_t input_count;
    struct weir_graph_node **inputs;
    uint32_t key_count;
    struct weir_expr **keys;
    uint32_t aggregate_count;
    struct weir_aggregate *aggregates;
    const char **aggregate_names;
    uint32_t arg_count;
    struct weir_expr **args;
    bool is_inside; // an aggregate is being bound
    // Columns named outside of aggregates that no key covers so far.
    uint32_t loose_count;
    struct weir_grouping_loose {
        const char *name;
        int32_t offset;
    } * loose;
};

bool weir_sql_is_grouped(const struct weir_ast_select *select);
// GROUP BY. binder: of the rows that are grouped.
enum weir_status weir_sql_bind_keys(struct weir_binder *binder,
                                    const struct weir_ast_select *select,
                                    struct weir_grouping *grouping);
enum weir_status weir_sql_bind_aggregate(struct weir_binder *binder,
                                         const struct weir_ast_expr *ast, struct weir_expr **expr);
// A column was named.
void weir_grouping_name(struct weir_binder *binder, const char *name, int32_t offset);
// The key that the expression is, by text and type; -1: none.
int32_t weir_grouping_find_key(const struct weir_grouping *grouping, const struct weir_expr *expr);
// Adds a fault if a column is left that no key covers; forgets them all.
enum weir_status weir_grouping_check(struct weir_binder *binder);
// The idx of the expression in the list, to which it is added if it is new.
uint32_t weir_sql_add_expr(struct weir_arena *arena, struct weir_expr ***list, uint32_t *count,
                           struct weir_expr *expr);
// The same for what rows are told apart by: json, and what holds json, has no equality.
enum weir_status weir_sql_as_key(struct weir_planner *planner, int32_t offset,
                                 struct weir_expr **expr);
enum weir_status weir_sql_check_equality(struct weir_planner *planner, int32_t offset,
                                         const struct weir_type *type);
// A literal without a type becomes text.
enum weir_status weir_sql_as_text(struct weir_planner *planner, int32_t offset,
                                  struct weir_expr **expr);

// --- group_nodes.c ---------------------------------------------------------------------------

// The nodes. relation: the columns that were bound; having: NULL: none.
enum weir_status weir_sql_finish_group(struct weir_binder *binder,
                                       const struct weir_ast_select *select,
                                       struct weir_expr *having, struct weir_relation *relation);
enum weir_status weir_sql_bind_distinct(struct weir_planner *planner,
                                        const struct weir_ast_select *select,
                                        struct weir_relation *relation);

// --- window.c --------------------------------------------------------------------------------

// tumble(table, column, size [, origin]) over the rows of its table.
enum weir_status weir_sql_bind_tumble(struct weir_planner *planner,
                                      const struct weir_ast_expr *call, const char *table_name,
                                      struct weir_relation *relation);

// --- keyed.c ---------------------------------------------------------------------------------

// PRIMARY KEY: sets is_keyed, the key columns and their NOT NULL.
enum weir_status weir_sql_primary_key(struct weir_planner *planner,
                                      const struct weir_ast_statement *statement,
                                      struct weir_table_column *columns, struct weir_table *table);
// The rows of a keyed table as changes, each in the task that owns its key.
struct weir_graph_node *weir_sql_normalize(struct weir_planner *planner,
                                           const struct weir_catalog_table *table,
                                           struct weir_graph_node *node);
// Whether the result of the query may be written to the table: its key must be that of the table.
// exprs: for the physical columns, after the casts; given[i]: before them, NULL: left out.
enum weir_status weir_sql_check_result(struct weir_planner *planner,
                                       const struct weir_ast_statement *statement,
                                       struct weir_catalog_table *table,
                                       const struct weir_relation *relation,
                                       struct weir_expr *const *given);

// --- insert.c --------------------------------------------------------------------------------

void weir_sql_insert(struct weir_planner *planner, const struct weir_ast_statement *statement);
void weir_sql_create_table_as(struct weir_planner *planner,
                              const struct weir_ast_statement *statement);
// The sinks of all tables that were inserted into, once every statement has been looked at.
void weir_sql_finish_sinks(struct weir_planner *planner);

#endif
