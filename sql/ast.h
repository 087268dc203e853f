// SPDX-License-Identifier: Apache-2.0
// The syntax of a job as sql/ sees it: what the parse step makes of the tree of whatever
// libpg_query is there, and all that the steps behind it know of the text. Syntax only: names are
// not resolved, nothing is typed. Everything lives in the job's arena; offsets are bytes of the
// job's text.
#ifndef WEIR_SQL_AST_H
#define WEIR_SQL_AST_H

#include "operators/expr.h"

#include <stdbool.h>
#include <stdint.h>

enum weir_ast_expr_kind {
    WEIR_AST_COLUMN,     // names: [table.]column as written
    WEIR_AST_STAR,       // *, or name.* (targets only)
    WEIR_AST_FIELD,      // (args[0]).name
    WEIR_AST_FIELD_STAR, // (args[0]).* (targets only)
    WEIR_AST_STRING,     // text
    WEIR_AST_NULL,
    WEIR_AST_NUMBER, // text
    WEIR_AST_BOOLEAN,
    WEIR_AST_CALL, // text: function or operator, also the special forms (extract, …)
    WEIR_AST_AND,
    WEIR_AST_OR,
    WEIR_AST_NOT,
    WEIR_AST_TEST,
    WEIR_AST_DISTINCT, // args[0] IS DISTINCT FROM args[1]
    WEIR_AST_BETWEEN,  // args[0] BETWEEN [SYMMETRIC] args[1] AND args[2]
    WEIR_AST_IN,       // args[0] IN (args[1] …)
    WEIR_AST_ANY,       // args[0] text ANY (args[1]); is_negated: ALL
    WEIR_AST_ARRAY,     // ARRAY[args …]
    WEIR_AST_SUBSCRIPT, // args[0][args[1]][args[2]] …
    WEIR_AST_CASE, // args: condition, result, condition, result …; operand and otherwise below
    WEIR_AST_COALESCE,
    WEIR_AST_NULLIF,
    WEIR_AST_GREATEST,
    WEIR_AST_LEAST,
    WEIR_AST_CAST,      // args[0] to `type`
    WEIR_AST_AGGREGATE, // text: its name; args: none for count(*); is_distinct, filter
};

// The name of a type as written; sql/types.c knows what it means.
struct weir_ast_type {
    const char *name;
    bool is_array;
    uint32_t modifier_count;
    const int64_t *modifiers;
    int32_t offset;
};

struct weir_ast_expr {
    enum weir_ast_expr_kind kind;
    int32_t offset;     // where PostgreSQL's messages point: the operator, the name, the literal
    const char *label;  // the column name that PostgreSQL gives it in a SELECT; NULL: none
    bool is_label_weak; // a name that comes from a type or from CASE: an outer one wins
    const char *text;
    uint32_t name_count; // COLUMN, STAR
    const char **names;
    uint32_t arg_count;
    struct weir_ast_expr **args;
    bool is_operator;  // CALL
    bool is_negated;   // DISTINCT, BETWEEN, IN
    bool is_symmetric; // BETWEEN
    bool value;        // BOOLEAN
    enum weir_test test;
    const char *test_name;           // TEST on booleans: "IS TRUE", for messages
    struct weir_ast_expr *operand;   // CASE operand WHEN …; NULL: CASE WHEN
    struct weir_ast_expr *otherwise; // ELSE; NULL: none
    struct weir_ast_type type;       // CAST
    bool is_star;                    // AGGREGATE: (*)
    bool is_distinct;                // AGGREGATE
    struct weir_ast_expr *filter;    // AGGREGATE: FILTER (WHERE …); NULL: none
};

struct weir_ast_target {
    struct weir_ast_expr *expr;
    const char *name; // AS name; NULL: none
    int32_t offset;
};

struct weir_ast_name {
    const char *name;
    int32_t offset; // -1: the parse tree gives none
};

struct weir_ast_select;

struct weir_ast_from {
    const char *table; // NULL: a subquery or a function
    int32_t offset;
    const struct weir_ast_expr *function; // a CALL: the window tumble(…); NULL: none
    struct weir_ast_select *subquery;
    const char *alias; // NULL: none
    uint32_t column_count;
    const char **columns; // aliases of columns
};

struct weir_ast_cte {
    const char *name;
    int32_t offset;
    uint32_t column_count;
    const char **columns;
    struct weir_ast_select *select;
};

struct weir_ast_select {
    int32_t offset;
    uint32_t cte_count;
    struct weir_ast_cte *ctes;
    // UNION ALL of the branches; 0: a plain SELECT, described by what follows.
    uint32_t branch_count;
    struct weir_ast_select **branches;
    uint32_t target_count;
    struct weir_ast_target *targets;
    struct weir_ast_from from;
    struct weir_ast_expr *where; // NULL: none
    bool is_distinct;            // SELECT DISTINCT
    int32_t distinct_offset;
    bool is_grouped;    // GROUP BY is there, perhaps with nothing but ()
    uint32_t key_count; // GROUP BY
    struct weir_ast_expr **keys;
    struct weir_ast_expr *having; // NULL: none
};

struct weir_ast_check {
    const char *name; // CONSTRAINT name; NULL: one is made up
    struct weir_ast_expr *expr;
    int32_t column_idx; // a constraint of this column; -1: of the table
    int32_t offset;
};

struct weir_ast_column {
    const char *name;
    int32_t offset;
    struct weir_ast_type type;
    bool is_not_null;
    struct weir_ast_expr *generated; // NULL: an ordinary column
    bool is_broken;                  // something about it was refused
};

struct weir_ast_option {
    const char *name;
    const char *value; // NULL: none was written
    int32_t offset;
    int32_t value_offset;
};

enum weir_ast_statement_kind {
    WEIR_AST_CREATE_TABLE,    // name, columns, checks, options
    WEIR_AST_CREATE_TABLE_AS, // name, column_names, options, select
    WEIR_AST_CREATE_TYPE,     // name, columns
    WEIR_AST_CREATE_VIEW,     // name, column_names, select
    WEIR_AST_INSERT,          // name, column_names, select
    WEIR_AST_SET,             // options[0]: without "weir."
    WEIR_AST_REFUSED,         // the parse step has said why
};

struct weir_ast_statement {
    enum weir_ast_statement_kind kind;
    uint32_t number; // from 1
    int32_t offset;
    bool is_broken; // something in it was refused: only its name is of use
    const char *name;
    int32_t name_offset;
    uint32_t column_count;
    struct weir_ast_column *columns;
    uint32_t column_name_count;
    struct weir_ast_name *column_names;
    uint32_t check_count;
    struct weir_ast_check *checks;
    uint32_t option_count;
    struct weir_ast_option *options;
    struct weir_ast_select *select;
    // PRIMARY KEY of CREATE TABLE, in its order.
    uint32_t key_column_count;
    struct weir_ast_name *key_columns;
    int32_t key_offset; // of the constraint
};

struct weir_ast {
    uint32_t statement_count;
    struct weir_ast_statement *statements;
};

#endif
