// SPDX-License-Identifier: Apache-2.0
// From the text of a job to its syntax (ast.h). The files parse*.c are the only ones that know
// libpg_query and its trees, those of PostgreSQL 15 and of 17; what PostgreSQL's grammar takes and
// weir does not is refused here, by name. Thread: any, one at a time per process.
#ifndef WEIR_SQL_PARSE_H
#define WEIR_SQL_PARSE_H

#include "sql/ast.h"
#include "sql/fault.h"
#include "sql/parse_node.h"

// Never NULL: statements that were refused are in it, marked as broken; a text that does not parse
// has none. faults->text is what is parsed.
struct weir_ast *weir_sql_parse(struct weir_faults *faults);

// --- between the files of this step ----------------------------------------------------------

// Deeper nesting is refused: the steps behind go down by recursion.
enum { WEIR_SQL_DEPTH_MAX = 1000 };

#define WEIR_SUBQUERY_ALIAS_HINT "for example: FROM (SELECT …) AS s"

struct weir_parse_context {
    struct weir_faults *faults;
    struct weir_arena *arena;
    const struct weir_sql_text *text;
    uint32_t depth;
};

// The translations below add a fault and return NULL for what is not taken.
// In parse_subscript.c: expr[a][b] from step *at on, which is moved to the last one.
struct weir_ast_expr *weir_parse_subscripts(struct weir_parse_context *context,
                                            struct weir_ast_expr *expr,
                                            const struct weir_parse_list *steps, uint32_t *at);

struct weir_ast_expr *weir_parse_expr(struct weir_parse_context *context,
                                      const struct weir_parse_node *node);
// body: that of the FuncCall of a window in FROM; a CALL.
struct weir_ast_expr *weir_parse_window_call(struct weir_parse_context *context,
                                             const struct weir_parse_node *body);
// body: that of a TypeName.
enum weir_status weir_parse_type(struct weir_parse_context *context,
                                 const struct weir_parse_node *body, struct weir_ast_type *type);
// body: that of a SelectStmt; with: that of a WithClause in front of it, NULL: none.
struct weir_ast_select *weir_parse_select(struct weir_parse_context *context,
                                          const struct weir_parse_node *body,
                                          const struct weir_parse_node *with);
// document: the parse tree of the whole text.
struct weir_ast *weir_parse_statements(struct weir_parse_context *context,
                                       const struct weir_parse_node *root);

// The name of a RangeVar's body; schemas are refused: NULL.
const char *weir_parse_relation(struct weir_parse_context *context,
                                const struct weir_parse_node *body);
// An integer constant as it stands in the text (body: that of an A_Const), "-12"; NULL: it is none.
const char *weir_parse_integer(struct weir_parse_context *context,
                               const struct weir_parse_node *body);
// The list of String nodes as names in the arena.
const char **weir_parse_names(struct weir_parse_context *context,
                              const struct weir_parse_node *node, const char *name,
                              uint32_t *count);
// The last of a list [pg_catalog.]name; other schemas are refused: NULL.
const char *weir_parse_qualified(struct weir_parse_context *context,
                                 const struct weir_parse_node *body, const char *list_name,
                                 int32_t offset);
// The leftmost place of an expression; -1: unknown.
int32_t weir_parse_leftmost(const struct weir_parse_node *node);

// The first place of a keyword in the statement; -1: there is none.
int32_t weir_parse_keyword(struct weir_parse_context *context, const char *keyword);

// "not supported yet: <what>" or "not supported: <what>" as a fault; NULL, for callers to return.
void *weir_parse_refuse(struct weir_parse_context *context, int32_t offset, const char *hint,
                        const char *what, ...) __attribute__((format(printf, 4, 5)));

// Whether a word must be quoted to be a column's name.
bool weir_sql_is_reserved(const char *word);

#endif
