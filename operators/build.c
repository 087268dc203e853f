// SPDX-License-Identifier: Apache-2.0
// Constructors of expression nodes: leaves, calls, logic. Choices (CASE, COALESCE, …) are in
// build_choice.c, casts in cast.c. Thread: any; called while a job is planned.
#include "operators/node.h"

#include "runtime/types/text_io.h"

#include <stdio.h>

enum weir_status weir_expr_refuse(struct weir_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum weir_status status =
        weir_error_set_va(error, WEIR_DOMAIN_SQL, WEIR_ACTION_REFUSE, format, args);
    va_end(args);
    return status;
}

const char *weir_kind_name(const struct weir_type *type, char *text)
{
    struct weir_type plain = *type;
    plain.modifier = -1;
    return weir_type_name(&plain, text, WEIR_TYPE_NAME_BYTES);
}

const char *weir_expr_type_name(const struct weir_expr *expr, char *text)
{
    if (expr->is_unknown) {
        snprintf(text, WEIR_TYPE_NAME_BYTES, "unknown");
        return text;
    }
    return weir_kind_name(&expr->type, text);
}

const struct weir_type *weir_expr_type(const struct weir_expr *expr)
{
    return &expr->type;
}

bool weir_expr_is_unknown(const struct weir_expr *expr)
{
    return expr->is_unknown;
}

// --- nodes -----------------------------------------------------------------------------------

// Whether a node of this kind, all of whose arguments are total, is total too.
static bool is_total_kind(const struct weir_expr *expr)
{
    switch (expr->kind) {
    case WEIR_EXPR_COLUMN:
    case WEIR_EXPR_CONSTANT:
    case WEIR_EXPR_FIELD:
    case WEIR_EXPR_RELABEL:
    case WEIR_EXPR_AND:
    case WEIR_EXPR_OR:
    case WEIR_EXPR_NOT:
    case WEIR_EXPR_TEST:
        return true;
    case WEIR_EXPR_CALL:
    case WEIR_EXPR_DISTINCT:
        return (expr->function->flags & WEIR_FUNCTION_TOTAL) != 0;
    case WEIR_EXPR_CASE:
    case WEIR_EXPR_COALESCE:
    case WEIR_EXPR_GREATEST:
    case WEIR_EXPR_LEAST:
    case WEIR_EXPR_IN:
        return false;
    }
    return false;
}

static void inherit(struct weir_expr *expr)
{
    if (expr->function != NULL) {
        expr->needs_now = (expr->function->flags & WEIR_FUNCTION_NEEDS_NOW) != 0;
        expr->needs_record = (expr->function->flags & WEIR_FUNCTION_NEEDS_RECORD) != 0;
    }
    expr->is_total = is_total_kind(expr);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        expr->is_total = expr->is_total && expr->args[i]->is_total;
        expr->needs_now = expr->needs_now || expr->args[i]->needs_now;
        expr->needs_record = expr->needs_record || expr->args[i]->needs_record;
    }
}

static struct weir_expr *new_node(struct weir_arena *arena, enum weir_expr_kind kind,
                                  const struct weir_function *function,
                                  const struct weir_type *type, uint32_t arg_count,
                                  struct weir_expr *const *args)
{
    struct weir_expr *expr = weir_arena_alloc_zero(arena, sizeof *expr);
    expr->kind = kind;
    expr->type = *type;
    expr->function = function;
    expr->arg_count = arg_count;
    expr->args = weir_arena_alloc(arena, arg_count * sizeof(struct weir_expr *));
    for (uint32_t i = 0; i < arg_count; i++) {
        expr->args[i] = args[i];
    }
    inherit(expr);
    return expr;
}

struct weir_expr *weir_expr_new(struct weir_arena *arena, enum weir_expr_kind kind,
                                const struct weir_type *type, uint32_t arg_count,
                                struct weir_expr *const *args)
{
    return new_node(arena, kind, NULL, type, arg_count, args);
}

struct weir_expr *weir_expr_new_with(struct weir_arena *arena, enum weir_expr_kind kind,
                                     const struct weir_function *function,
                                     const struct weir_type *type, uint32_t arg_count,
                                     struct weir_expr *const *args)
{
    return new_node(arena, kind, function, type, arg_count, args);
}

struct weir_expr *weir_expr_null(struct weir_arena *arena, const struct weir_type *type)
{
    struct weir_expr *expr = weir_expr_new(arena, WEIR_EXPR_CONSTANT, type, 0, NULL);
    weir_column_init(&expr->constant, type, 1, true, arena);
    if (expr->constant.data != NULL) {
        memset(expr->constant.data, 0, weir_layout_bytes(weir_type_layout(type->kind)));
    }
    return expr;
}

// A constant that has a value, to be put into its row 0.
static struct weir_expr *new_constant(struct weir_arena *arena, enum weir_type_kind kind)
{
    struct weir_type type = weir_type_plain(kind);
    struct weir_expr *expr = weir_expr_null(arena, &type);
    weir_bitmap_set(expr->constant.validity, 0);
    return expr;
}

struct weir_expr *weir_expr_column(struct weir_arena *arena, uint32_t column_idx, const char *name,
                                   const struct weir_type *type)
{
    struct weir_expr *expr = weir_expr_new(arena, WEIR_EXPR_COLUMN, type, 0, NULL);
    expr->column_idx = column_idx;
    expr->name = weir_arena_strdup(arena, name);
    return expr;
}

struct weir_expr *weir_expr_field(struct weir_arena *arena, struct weir_expr *composite,
                                  uint32_t field_idx)
{
    WEIR_ASSERT(composite->type.kind == WEIR_TYPE_COMPOSITE);
    WEIR_ASSERT(field_idx < composite->type.composite->field_count);
    struct weir_expr *expr = weir_expr_new(
        arena, WEIR_EXPR_FIELD, &composite->type.composite->fields[field_idx].type, 1, &composite);
    expr->field_idx = field_idx;
    return weir_expr_fold(arena, expr);
}

struct weir_expr *weir_expr_literal(struct weir_arena *arena, const char *text)
{
    struct weir_type type = weir_type_plain(WEIR_TYPE_TEXT);
    struct weir_expr *expr =
        text == NULL ? weir_expr_null(arena, &type) : new_constant(arena, WEIR_TYPE_TEXT);
    expr->is_unknown = true;
    if (text != NULL) {
        expr->constant.view[0] = weir_arena_copy(arena, weir_view_of(text));
    }
    return expr;
}

struct weir_expr *weir_expr_number(struct weir_arena *arena, const char *text)
{
    struct weir_view view = weir_view_of(text);
    struct weir_expr *expr;
    int32_t integer;
    int64_t bigint;
    if (weir_integer_parse(view, &integer, NULL)) {
        expr = new_constant(arena, WEIR_TYPE_INTEGER);
        expr->constant.i32[0] = integer;
    } else if (weir_bigint_parse(view, &bigint, NULL)) {
        expr = new_constant(arena, WEIR_TYPE_BIGINT);
        expr->constant.i64[0] = bigint;
    } else {
        // More digits than a numeric has room for fail as a cast of the text does, for every row.
        struct weir_type numeric = weir_type_plain(WEIR_TYPE_NUMERIC);
        expr = new_constant(arena, WEIR_TYPE_TEXT);
        expr->constant.view[0] = weir_arena_copy(arena, view);
        weir_expr_cast(arena, expr, &numeric, WEIR_CAST_EXPLICIT, &expr, NULL);
    }
    return expr;
}

struct weir_expr *weir_expr_boolean(struct weir_arena *arena, bool value)
{
    struct weir_expr *expr = new_constant(arena, WEIR_TYPE_BOOLEAN);
    expr->constant.u8[0] = value;
    return expr;
}

// --- calls -----------------------------------------------------------------------------------

struct weir_expr *weir_expr_call_of(struct weir_arena *arena, const struct weir_function *function,
                                    const struct weir_type *type, uint32_t arg_count,
                                    struct weir_expr *const *args)
{
    return new_node(arena, WEIR_EXPR_CALL, function, type, arg_count, args);
}

// One argument as the function is declared to take it.
static enum weir_status bind_arg(struct weir_arena *arena, enum weir_arg declared,
                                 struct weir_expr *arg, struct weir_expr **bound,
                                 struct weir_error *error)
{
    struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
    if (declared == WEIR_ARG_ANYNONARRAY) {
        return weir_expr_cast(arena, arg, &text, WEIR_CAST_EXPLICIT, bound, error);
    }
    if (declared == WEIR_ARG_ANY) {
        bool is_text = arg->is_unknown || arg->type.kind == WEIR_TYPE_TEXT;
        if (is_text) {
            return weir_expr_cast(arena, arg, &text, WEIR_CAST_IMPLICIT, bound, error);
        }
        *bound = weir_expr_fold(
            arena, weir_expr_call_of(arena, &weir_text_output_function, &text, 1, &arg));
        return WEIR_OK;
    }
    struct weir_type type = weir_type_plain((enum weir_type_kind)declared);
    if (!arg->is_unknown && arg->type.kind == type.kind) {
        *bound = arg; // whatever its modifier
        return WEIR_OK;
    }
    return weir_expr_cast(arena, arg, &type, WEIR_CAST_IMPLICIT, bound, error);
}

enum weir_status weir_expr_bind_args(struct weir_arena *arena, const struct weir_function *function,
                                     uint32_t arg_count, struct weir_expr *const *args,
                                     struct weir_expr **bound, struct weir_error *error)
{
    for (uint32_t i = 0; i < arg_count; i++) {
        uint32_t last = function->arg_count - 1u;
        enum weir_arg declared = (enum weir_arg)function->args[i < last ? i : last];
        bool is_of_array = declared == WEIR_ARG_ARRAY || declared == WEIR_ARG_ANYELEMENT;
        enum weir_status status =
            is_of_array ? weir_array_bind_arg(arena, declared, arg_count, args, args[i], &bound[i],
                                              error)
                        : bind_arg(arena, declared, args[i], &bound[i], error);
        if (status != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (function->computed_in != 0 && bind_arg(arena, (enum weir_arg)function->computed_in,
                                                   bound[i], &bound[i], error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

// PostgreSQL takes a call of one argument by a type's internal name as a cast: date(x), int4(x).
static bool find_type_name(const char *name, struct weir_type *type)
{
    static const struct {
        const char *name;
        enum weir_type_kind kind;
    } NAMES[] = {
        {"bool", WEIR_TYPE_BOOLEAN},
        {"int2", WEIR_TYPE_SMALLINT},
        {"int4", WEIR_TYPE_INTEGER},
        {"int8", WEIR_TYPE_BIGINT},
        {"float4", WEIR_TYPE_REAL},
        {"float8", WEIR_TYPE_DOUBLE},
        {"numeric", WEIR_TYPE_NUMERIC},
        {"text", WEIR_TYPE_TEXT},
        {"varchar", WEIR_TYPE_VARCHAR},
        {"bytea", WEIR_TYPE_BYTEA},
        {"date", WEIR_TYPE_DATE},
        {"timestamp", WEIR_TYPE_TIMESTAMP},
        {"timestamptz", WEIR_TYPE_TIMESTAMPTZ},
        {"jsonb", WEIR_TYPE_JSONB},
        {"json", WEIR_TYPE_JSON},
        {"bpchar", WEIR_TYPE_CHAR},
        {"interval", WEIR_TYPE_INTERVAL},
        {"time", WEIR_TYPE_TIME},
        {"uuid", WEIR_TYPE_UUID},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(NAMES[i].name, name) == 0) {
            *type = weir_type_plain(NAMES[i].kind);
            return true;
        }
    }
    return false;
}

static bool has_cast(const struct weir_expr *expr, const struct weir_type *type)
{
    enum weir_arg from = weir_arg_of(expr);
    enum weir_arg to = (enum weir_arg)type->kind;
    return from == to || from == WEIR_ARG_UNKNOWN ||
           weir_cast_find(from, to, WEIR_CAST_EXPLICIT) != NULL;
}

enum weir_status weir_expr_call(struct weir_arena *arena, const char *name, uint32_t arg_count,
                                struct weir_expr **args, struct weir_expr **call,
                                struct weir_error *error)
{
    struct weir_type type;
    if (arg_count == 1 && find_type_name(name, &type) && has_cast(args[0], &type)) {
        return weir_expr_cast(arena, args[0], &type, WEIR_CAST_EXPLICIT, call, error);
    }
    const struct weir_function *function;
    if (weir_function_resolve(name, arg_count, args, &function, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_expr **bound = weir_arena_alloc(arena, arg_count * sizeof(struct weir_expr *));
    if (weir_expr_bind_args(arena, function, arg_count, args, bound, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_value_error value_error;
    if (function->check != NULL && !function->check(function, bound, &value_error)) {
        return weir_expr_refuse(error, "%s", value_error.text);
    }
    bool is_of_array =
        function->result == WEIR_ARG_ARRAY || function->result == WEIR_ARG_ANYELEMENT;
    type = is_of_array ? weir_array_result_type((enum weir_arg)function->result, arg_count, bound)
                       : weir_type_plain((enum weir_type_kind)function->result);
    *call = weir_expr_fold(arena, weir_expr_call_of(arena, function, &type, arg_count, bound));
    return WEIR_OK;
}

// --- logic -----------------------------------------------------------------------------------

enum weir_status weir_expr_condition(struct weir_arena *arena, struct weir_expr *expr,
                                     const char *construct, struct weir_expr **condition,
                                     struct weir_error *error)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    if (!expr->is_unknown && expr->type.kind != WEIR_TYPE_BOOLEAN) {
        char name[WEIR_TYPE_NAME_BYTES];
        return weir_expr_refuse(error, "argument of %s must be type boolean, not type %s",
                                construct, weir_expr_type_name(expr, name));
    }
    return weir_expr_cast(arena, expr, &boolean, WEIR_CAST_IMPLICIT, condition, error);
}

static struct weir_expr *new_logic(struct weir_arena *arena, enum weir_expr_kind kind,
                                   uint32_t arg_count, struct weir_expr *const *args)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    for (uint32_t i = 0; i < arg_count; i++) {
        WEIR_ASSERT(args[i]->type.kind == WEIR_TYPE_BOOLEAN && !args[i]->is_unknown);
    }
    return weir_expr_fold(arena, weir_expr_new(arena, kind, &boolean, arg_count, args));
}

struct weir_expr *weir_expr_and(struct weir_arena *arena, struct weir_expr *a, struct weir_expr *b)
{
    return new_logic(arena, WEIR_EXPR_AND, 2, (struct weir_expr *[]){a, b});
}

struct weir_expr *weir_expr_or(struct weir_arena *arena, struct weir_expr *a, struct weir_expr *b)
{
    return new_logic(arena, WEIR_EXPR_OR, 2, (struct weir_expr *[]){a, b});
}

struct weir_expr *weir_expr_not(struct weir_arena *arena, struct weir_expr *a)
{
    return new_logic(arena, WEIR_EXPR_NOT, 1, &a);
}

struct weir_expr *weir_expr_test(struct weir_arena *arena, enum weir_test test, struct weir_expr *a)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    bool is_null_test = test == WEIR_TEST_IS_NULL || test == WEIR_TEST_IS_NOT_NULL;
    WEIR_ASSERT(is_null_test || (a->type.kind == WEIR_TYPE_BOOLEAN && !a->is_unknown));
    struct weir_expr *expr = weir_expr_new(arena, WEIR_EXPR_TEST, &boolean, 1, &a);
    expr->test = test;
    return weir_expr_fold(arena, expr);
}

enum weir_status weir_expr_distinct(struct weir_arena *arena, struct weir_expr *a,
                                    struct weir_expr *b, bool is_negated, struct weir_expr **out,
                                    struct weir_error *error)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    struct weir_expr *args[2] = {a, b};
    const struct weir_function *equal;
    if (weir_function_resolve("=", 2, args, &equal, error) != WEIR_OK ||
        weir_expr_bind_args(arena, equal, 2, args, args, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *out = weir_expr_fold(arena,
                          weir_expr_new_with(arena, WEIR_EXPR_DISTINCT, equal, &boolean, 2, args));
    if (is_negated) {
        *out = weir_expr_not(arena, *out);
    }
    return WEIR_OK;
}
