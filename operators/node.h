// SPDX-License-Identifier: Apache-2.0
// A node of an expression tree. Private to operators/; sql/ sees expr.h only. Immutable once its
// constructor has returned.
#ifndef WEIR_OPERATORS_NODE_H
#define WEIR_OPERATORS_NODE_H

#include "operators/expr.h"
#include "operators/function.h"

enum weir_expr_kind {
    WEIR_EXPR_COLUMN,
    WEIR_EXPR_CONSTANT, // also the untyped literal
    WEIR_EXPR_FIELD,    // args[0].field
    WEIR_EXPR_CALL,     // function(args)
    WEIR_EXPR_RELABEL,  // args[0] under another type with the same bits (text, varchar)
    WEIR_EXPR_AND,      // args[0] AND args[1]
    WEIR_EXPR_OR,
    WEIR_EXPR_NOT,
    WEIR_EXPR_TEST,
    WEIR_EXPR_DISTINCT, // NOT function(args[0], args[1]), NULLs counted as values
    WEIR_EXPR_CASE,     // condition, result, condition, result, …, otherwise
    WEIR_EXPR_COALESCE,
    WEIR_EXPR_GREATEST, // function(a, b): b is greater, resp. less
    WEIR_EXPR_LEAST,
    WEIR_EXPR_IN, // args: calls of "=", mostly with the same first argument, evaluated once
};

struct weir_expr {
    enum weir_expr_kind kind;
    struct weir_type type;
    bool is_unknown;
    bool is_cast_implicit; // a cast that nobody wrote: not printed
    bool is_assignment;    // an assignment cast: its errors are those of the column written to
    bool is_total;         // cheap and never fails: may be computed for rows that do not ask for it
    bool needs_now;
    bool needs_record;
    enum weir_test test;
    uint32_t field_idx;  // of a field
    uint32_t column_idx; // of a column
    const char *name;    // of a column
    const struct weir_function *function;
    uint32_t arg_count;
    struct weir_expr **args;
    struct weir_column constant; // one value, row 0
};

static inline bool weir_expr_is_null_constant(const struct weir_expr *expr)
{
    return expr->kind == WEIR_EXPR_CONSTANT && !weir_column_is_valid(&expr->constant, 0);
}

// A node with its arguments, and with the properties that follow from them.
struct weir_expr *weir_expr_new(struct weir_arena *arena, enum weir_expr_kind kind,
                                const struct weir_type *type, uint32_t arg_count,
                                struct weir_expr *const *args);
// The same for the kinds that carry a function.
struct weir_expr *weir_expr_new_with(struct weir_arena *arena, enum weir_expr_kind kind,
                                     const struct weir_function *function,
                                     const struct weir_type *type, uint32_t arg_count,
                                     struct weir_expr *const *args);
struct weir_expr *weir_expr_null(struct weir_arena *arena, const struct weir_type *type);

// function(args) with the arguments cast to what it is declared with and computed in.
enum weir_status weir_expr_bind_args(struct weir_arena *arena, const struct weir_function *function,
                                     uint32_t arg_count, struct weir_expr *const *args,
                                     struct weir_expr **bound, struct weir_error *error);
struct weir_expr *weir_expr_call_of(struct weir_arena *arena, const struct weir_function *function,
                                    const struct weir_type *type, uint32_t arg_count,
                                    struct weir_expr *const *args);

// In build_array.c. An argument declared as an array or as its element, when it is not one yet; the
// type of a result so declared; a cast of one array to another.
enum weir_status weir_array_bind_arg(struct weir_arena *arena, enum weir_arg declared,
                                     uint32_t arg_count, struct weir_expr *const *args,
                                     struct weir_expr *arg, struct weir_expr **bound,
                                     struct weir_error *error);
struct weir_type weir_array_result_type(enum weir_arg result, uint32_t arg_count,
                                        struct weir_expr *const *args);
// WEIR_ERROR: there is no such cast.
enum weir_status weir_array_cast(struct weir_arena *arena, struct weir_expr *expr,
                                 const struct weir_type *type, enum weir_cast_context context,
                                 struct weir_expr **cast);

// In fold.c: the same value with less to do; expr itself when there is nothing to gain.
struct weir_expr *weir_expr_fold(struct weir_arena *arena, struct weir_expr *expr);

// "argument of AND must be type boolean, not type integer", … (domain SQL, action REFUSE).
enum weir_status weir_expr_refuse(struct weir_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The type as messages name it: without modifier, "unknown" for an untyped literal. text: 64 bytes
// at least; returns it.
enum { WEIR_TYPE_NAME_BYTES = 128 };
const char *weir_expr_type_name(const struct weir_expr *expr, char *text);
const char *weir_kind_name(const struct weir_type *type, char *text);

#endif
