// SPDX-License-Identifier: Apache-2.0
// Typed expressions over the columns of a batch, and their evaluation by kernels: each node is
// computed for all selected rows before the next one. PostgreSQL 15 decides values, NULLs, errors
// and result types. Built by sql/ (which resolves names) through the constructors below; immutable
// afterwards, so that all tasks share one tree; scratch memory is the evaluating task's.
#ifndef WEIR_OPERATORS_EXPR_H
#define WEIR_OPERATORS_EXPR_H

#include "runtime/batch.h"

struct weir_expr;

// --- building (arena: the job's) -------------------------------------------------------------

// The type of an expression. An untyped string literal or NULL has is_unknown until it is coerced.
const struct weir_type *weir_expr_type(const struct weir_expr *expr);
bool weir_expr_is_unknown(const struct weir_expr *expr);

// Column idx of the input batch.
struct weir_expr *weir_expr_column(struct weir_arena *arena, uint32_t column_idx, const char *name,
                                   const struct weir_type *type);
// Field of a composite.
struct weir_expr *weir_expr_field(struct weir_arena *arena, struct weir_expr *composite,
                                  uint32_t field_idx);
// An untyped literal ('…' or NULL: text == NULL): unknown until coerced.
struct weir_expr *weir_expr_literal(struct weir_arena *arena, const char *text);
// A number as written: integer, bigint or numeric by PostgreSQL's rule.
struct weir_expr *weir_expr_number(struct weir_arena *arena, const char *text);
struct weir_expr *weir_expr_boolean(struct weir_arena *arena, bool value);

enum weir_cast_context {
    WEIR_CAST_IMPLICIT,   // function arguments, CASE branches
    WEIR_CAST_ASSIGNMENT, // INSERT into a column
    WEIR_CAST_EXPLICIT,   // CAST(x AS t), x::t, varchar cut silently
};

// expr itself when nothing is to be done. Error (domain SQL): no such cast in that context, or a
// literal that the type does not take (found now, not at run time).
enum weir_status weir_expr_cast(struct weir_arena *arena, struct weir_expr *expr,
                                const struct weir_type *type, enum weir_cast_context context,
                                struct weir_expr **cast, struct weir_error *error);

// A function or an operator ("+", "=", "~~" for LIKE, "substr", "kafka_partition", …) by name with
// PostgreSQL's resolution of overloads, unknown literals and implicit casts included. Error: no
// such function, naming it with the argument types as PostgreSQL does, or the nearest known name.
enum weir_status weir_expr_call(struct weir_arena *arena, const char *name, uint32_t arg_count,
                                struct weir_expr **args, struct weir_expr **call,
                                struct weir_error *error);

// expr as a boolean for AND, OR, NOT, IS TRUE, WHERE, CASE: the literals of text 't', NULL, … are
// taken, anything but a boolean is refused ("argument of WHERE must be type boolean, not type
// integer"). construct: as the message names it, e.g. "WHERE", "CASE/WHEN".
enum weir_status weir_expr_condition(struct weir_arena *arena, struct weir_expr *expr,
                                     const char *construct, struct weir_expr **condition,
                                     struct weir_error *error);

// a, b: booleans (weir_expr_condition). The right side is evaluated only for rows that the left one
// leaves open.
struct weir_expr *weir_expr_and(struct weir_arena *arena, struct weir_expr *a, struct weir_expr *b);
struct weir_expr *weir_expr_or(struct weir_arena *arena, struct weir_expr *a, struct weir_expr *b);
struct weir_expr *weir_expr_not(struct weir_arena *arena, struct weir_expr *a);

enum weir_test {
    WEIR_TEST_IS_NULL,
    WEIR_TEST_IS_NOT_NULL,
    WEIR_TEST_IS_TRUE,
    WEIR_TEST_IS_NOT_TRUE,
    WEIR_TEST_IS_FALSE,
    WEIR_TEST_IS_NOT_FALSE,
};
// IS NULL takes any type (a composite IS NULL when all its fields are, IS NOT NULL when none is);
// the others take booleans.
struct weir_expr *weir_expr_test(struct weir_arena *arena, enum weir_test test,
                                 struct weir_expr *a);

// a IS DISTINCT FROM b (types coerced as for "=").
enum weir_status weir_expr_distinct(struct weir_arena *arena, struct weir_expr *a,
                                    struct weir_expr *b, bool is_negated, struct weir_expr **out,
                                    struct weir_error *error);

struct weir_case_branch {
    struct weir_expr *condition; // boolean
    struct weir_expr *result;
};
// Branches are evaluated only for the rows that reach them, so that an error in a branch not taken
// is none. otherwise may be NULL. Result type by PostgreSQL's rule for CASE; also used for COALESCE
// (weir_expr_coalesce) and NULLIF.
enum weir_status weir_expr_case(struct weir_arena *arena, uint32_t branch_count,
                                const struct weir_case_branch *branches,
                                struct weir_expr *otherwise, struct weir_expr **out,
                                struct weir_error *error);
enum weir_status weir_expr_coalesce(struct weir_arena *arena, uint32_t arg_count,
                                    struct weir_expr **args, struct weir_expr **out,
                                    struct weir_error *error);
// NULLIF(a, b).
enum weir_status weir_expr_nullif(struct weir_arena *arena, struct weir_expr *a,
                                  struct weir_expr *b, struct weir_expr **out,
                                  struct weir_error *error);
// GREATEST, LEAST: NULLs are passed over.
enum weir_status weir_expr_greatest(struct weir_arena *arena, bool is_least, uint32_t arg_count,
                                    struct weir_expr **args, struct weir_expr **out,
                                    struct weir_error *error);
// a IN (items…), a NOT IN (items…) with PostgreSQL's choice of a common type.
enum weir_status weir_expr_in(struct weir_arena *arena, struct weir_expr *a, uint32_t item_count,
                              struct weir_expr **items, bool is_negated, struct weir_expr **out,
                              struct weir_error *error);

// array[subscripts…]: NULL where there is no such element.
enum weir_status weir_expr_subscript(struct weir_arena *arena, struct weir_expr *array,
                                     uint32_t subscript_count, struct weir_expr *const *subscripts,
                                     struct weir_expr **out, struct weir_error *error);
// ARRAY[elements…]; of arrays: one with a dimension more.
enum weir_status weir_expr_array(struct weir_arena *arena, uint32_t element_count,
                                 struct weir_expr *const *elements, struct weir_expr **out,
                                 struct weir_error *error);
// value <symbol> ANY (array), ALL (array).
enum weir_status weir_expr_any(struct weir_arena *arena, struct weir_expr *value,
                               const char *symbol, struct weir_expr *array, bool is_all,
                               struct weir_expr **out, struct weir_error *error);

// The common type of several expressions as CASE, UNION and VALUES choose it (unknown literals
// count as text when nothing else is there). construct: for the message ("UNION types integer and
// text cannot be matched"). The caller casts with WEIR_CAST_IMPLICIT.
enum weir_status weir_expr_common_type(const char *construct, uint32_t expr_count,
                                       struct weir_expr *const *exprs, struct weir_type *type,
                                       struct weir_error *error);

// Every function, operator and its overloads, for documentation and for "did you mean" elsewhere:
// name, and signature with result, e.g. "substr(text, integer, integer) → text".
void weir_expr_list_functions(void (*visit)(const char *name, const char *signature, void *context),
                              void *context);

// --- looking at a tree (planner, explain) ----------------------------------------------------

// Calls visit for expr and everything below it, parents first.
void weir_expr_walk(const struct weir_expr *expr,
                    void (*visit)(const struct weir_expr *expr, void *context), void *context);
// Column idx if the node is a column, else -1.
int32_t weir_expr_column_idx(const struct weir_expr *expr);
// For a field node: its composite and its field idx; NULL otherwise.
const struct weir_expr *weir_expr_field_of(const struct weir_expr *expr, uint32_t *field_idx);
// The value is the same for every row and every run (it was folded, or it would have been but for
// an error that stays one of the rows: 1 / 0).
bool weir_expr_is_constant(const struct weir_expr *expr);
// Something in the tree reads batch->records (kafka_offset(), …) or the barrier's time (now()).
bool weir_expr_needs_record(const struct weir_expr *expr);
bool weir_expr_needs_now(const struct weir_expr *expr);
// A copy in which replace(node) stands for every node for which it does not give NULL (what it
// gives is taken as it is); the other nodes are copied with their arguments remapped. Replacements
// must have the type of what they replace: for pruned columns build new ones with weir_expr_column
// and weir_expr_field.
struct weir_expr *weir_expr_remap(struct weir_arena *arena, const struct weir_expr *expr,
                                  struct weir_expr *(*replace)(struct weir_arena *arena,
                                                               const struct weir_expr *node,
                                                               void *context),
                                  void *context);
// SQL-like text, e.g. (dep_delay + 1) > 15; canonical: goes into operator ids.
void weir_expr_print(const struct weir_expr *expr, struct weir_buffer *out);

// --- evaluation ------------------------------------------------------------------------------

// Scratch of one operator instance in one task.
struct weir_eval;
struct weir_eval *weir_eval_create(void);
void weir_eval_destroy(struct weir_eval *eval);
// `now()`: the time of the last barrier.
void weir_eval_set_now(struct weir_eval *eval, int64_t now_us);

struct weir_selection {
    const uint16_t *rows; // NULL: 0..count-1
    uint32_t count;
};

// Computes expr for the selected rows; out's arrays (arena of the batch, or the input column's own
// where the expression is a plain column) are indexed by row, not by position in the selection.
// A row that fails gets no value and an entry in the eval's error list, once per row.
void weir_expr_eval(const struct weir_expr *expr, struct weir_eval *eval,
                    const struct weir_batch *batch, struct weir_selection selection,
                    struct weir_column *out);

// The rows that failed since weir_eval_begin, for the operator to report and leave out.
struct weir_eval_error {
    uint16_t row;
    bool is_constraint;  // a limit of the column written to (assignment cast), not the expression
    const char *message; // PostgreSQL's text; in the batch's arena or static
};
void weir_eval_begin(struct weir_eval *eval, const struct weir_batch *batch);
uint32_t weir_eval_error_count(const struct weir_eval *eval);
const struct weir_eval_error *weir_eval_errors(const struct weir_eval *eval);

#endif
