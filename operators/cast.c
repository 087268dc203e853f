// SPDX-License-Identifier: Apache-2.0
// Casts: which there are (as pg_cast has them for our types), in which context, and the node that
// does one. Literals are read here, so that a wrong one is found before the first record.
// Thread: any; called while a job is planned.
#include "operators/node.h"

#include "runtime/types/text_io.h"

static const struct weir_cast_table *const TABLES[] = {
    &weir_casts_number, &weir_casts_time, &weir_casts_interval, &weir_casts_json, &weir_casts_text,
};

const struct weir_cast *weir_cast_find(enum weir_arg from, enum weir_arg to,
                                       enum weir_cast_context context)
{
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        for (uint32_t k = 0; k < TABLES[i]->count; k++) {
            const struct weir_cast *cast = &TABLES[i]->casts[k];
            if (cast->function.args[0] == from && cast->function.result == to) {
                return cast->context <= context ? cast : NULL;
            }
        }
    }
    return NULL;
}

bool weir_arg_is_coercible(enum weir_arg from, enum weir_arg to)
{
    return from == to || from == WEIR_ARG_UNKNOWN || to == WEIR_ARG_ANY ||
           (to == WEIR_ARG_ANYNONARRAY && from != WEIR_ARG_ARRAY) || to == WEIR_ARG_ANYELEMENT ||
           weir_cast_find(from, to, WEIR_CAST_IMPLICIT) != NULL;
}

char weir_arg_category(enum weir_arg arg)
{
    switch (arg) {
    case WEIR_ARG_UNKNOWN:
        return 'X';
    case WEIR_ARG_BOOLEAN:
        return 'B';
    case WEIR_ARG_SMALLINT:
    case WEIR_ARG_INTEGER:
    case WEIR_ARG_BIGINT:
    case WEIR_ARG_REAL:
    case WEIR_ARG_DOUBLE:
    case WEIR_ARG_NUMERIC:
    case WEIR_ARG_MONEY:
        return 'N';
    case WEIR_ARG_TEXT:
    case WEIR_ARG_VARCHAR:
    case WEIR_ARG_CHAR:
        return 'S';
    case WEIR_ARG_BYTEA:
    case WEIR_ARG_JSONB:
    case WEIR_ARG_JSON:
    case WEIR_ARG_MACADDR:
    case WEIR_ARG_UUID:
        return 'U';
    case WEIR_ARG_DATE:
    case WEIR_ARG_TIMESTAMP:
    case WEIR_ARG_TIMESTAMPTZ:
    case WEIR_ARG_TIME:
    case WEIR_ARG_TIMETZ:
        return 'D';
    case WEIR_ARG_COMPOSITE:
        return 'C';
    case WEIR_ARG_ANY:
    case WEIR_ARG_ANYNONARRAY:
    case WEIR_ARG_ANYELEMENT:
        return 'P';
    case WEIR_ARG_INTERVAL:
        return 'T';
    case WEIR_ARG_TEXT_ARRAY:
    case WEIR_ARG_ARRAY:
        return 'A';
    case WEIR_ARG_RANGE:
        return 'R';
    case WEIR_ARG_INET:
        return 'I';
    case WEIR_ARG_BIT:
        return 'V';
    case WEIR_ARG_GEOMETRY:
        return 'G';
    }
    return 'X';
}

bool weir_arg_is_preferred(enum weir_arg arg)
{
    return arg == WEIR_ARG_BOOLEAN || arg == WEIR_ARG_DOUBLE || arg == WEIR_ARG_TEXT ||
           arg == WEIR_ARG_TIMESTAMPTZ || arg == WEIR_ARG_INTERVAL || arg == WEIR_ARG_INET;
}

// --- literals --------------------------------------------------------------------------------

// An untyped literal read as the type, its modifier included.
static enum weir_status read_literal(struct weir_arena *arena, const struct weir_expr *literal,
                                     const struct weir_type *type, struct weir_expr **out,
                                     struct weir_error *error)
{
    *out = weir_expr_null(arena, type);
    if (weir_expr_is_null_constant(literal)) {
        return WEIR_OK;
    }
    struct weir_value_error value_error;
    struct weir_view text = literal->constant.view[0];
    if (!weir_text_parse(&(*out)->constant, 0, text, arena, &value_error)) {
        bool has_detail = value_error.detail[0] != '\0';
        return weir_expr_refuse(error, "%s%s%s", value_error.text, has_detail ? ": " : "",
                                value_error.detail);
    }
    return WEIR_OK;
}

// --- modifiers -------------------------------------------------------------------------------

static struct weir_expr *apply_modifier(struct weir_arena *arena, struct weir_expr *expr,
                                        const struct weir_type *type,
                                        enum weir_cast_context context)
{
    if (expr->type.modifier == type->modifier) {
        return expr;
    }
    if (type->modifier == -1) {
        struct weir_expr *label = weir_expr_new(arena, WEIR_EXPR_RELABEL, type, 1, &expr);
        label->is_cast_implicit = true;
        return weir_expr_fold(arena, label);
    }
    const struct weir_function *function = &weir_numeric_modifier_function;
    if (type->kind == WEIR_TYPE_VARCHAR) {
        function = context == WEIR_CAST_EXPLICIT ? &weir_varchar_explicit_function
                                                 : &weir_varchar_assignment_function;
    } else if (type->kind == WEIR_TYPE_CHAR) {
        function = context == WEIR_CAST_EXPLICIT ? &weir_char_explicit_function
                                                 : &weir_char_assignment_function;
    }
    struct weir_expr *call = weir_expr_call_of(arena, function, type, 1, &expr);
    call->is_assignment = context == WEIR_CAST_ASSIGNMENT;
    call->is_cast_implicit = context != WEIR_CAST_EXPLICIT;
    return weir_expr_fold(arena, call);
}

// --- weir_expr_cast --------------------------------------------------------------------------

static bool is_same_kind(const struct weir_type *a, const struct weir_type *b)
{
    bool is_plain = a->kind != WEIR_TYPE_COMPOSITE && a->kind != WEIR_TYPE_ARRAY;
    return a->kind == b->kind && (is_plain || weir_type_equal(a, b));
}

static enum weir_status refuse_cast(const struct weir_expr *expr, const struct weir_type *type,
                                    enum weir_cast_context context, struct weir_error *error)
{
    char from[WEIR_TYPE_NAME_BYTES];
    char to[WEIR_TYPE_NAME_BYTES];
    weir_expr_type_name(expr, from);
    weir_kind_name(type, to);
    if (context != WEIR_CAST_EXPLICIT && expr->type.kind != WEIR_TYPE_COMPOSITE &&
        expr->type.kind != type->kind &&
        weir_cast_find((enum weir_arg)expr->type.kind, (enum weir_arg)type->kind,
                       WEIR_CAST_EXPLICIT) != NULL) {
        return weir_expr_refuse(error, "type %s is not cast to %s on its own: write CAST(… AS %s)",
                                from, to, to);
    }
    return weir_expr_refuse(error, "cannot cast type %s to %s", from, to);
}

enum weir_status weir_expr_cast(struct weir_arena *arena, struct weir_expr *expr,
                                const struct weir_type *type, enum weir_cast_context context,
                                struct weir_expr **cast, struct weir_error *error)
{
    if (type->modifier != -1 && type->kind != WEIR_TYPE_NUMERIC &&
        type->kind != WEIR_TYPE_VARCHAR && type->kind != WEIR_TYPE_CHAR) {
        char name[WEIR_TYPE_NAME_BYTES];
        return weir_expr_refuse(error, "type modifier is not supported for type \"%s\"",
                                weir_kind_name(type, name));
    }
    if (type->kind == WEIR_TYPE_ARRAY && type->composite == NULL) {
        return weir_expr_refuse(error, "could not determine polymorphic type because input has "
                                       "type unknown");
    }
    if (expr->is_unknown) {
        struct weir_type read_as = *type;
        bool is_of_length = type->kind == WEIR_TYPE_VARCHAR || type->kind == WEIR_TYPE_CHAR;
        if (is_of_length && context == WEIR_CAST_EXPLICIT) {
            read_as.modifier = -1; // cut, not refused
        }
        if (read_literal(arena, expr, &read_as, cast, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        *cast = apply_modifier(arena, *cast, type, context);
        return WEIR_OK;
    }
    if (is_same_kind(&expr->type, type)) {
        *cast = apply_modifier(arena, expr, type, context);
        return WEIR_OK;
    }
    if (expr->type.kind == WEIR_TYPE_ARRAY && type->kind == WEIR_TYPE_ARRAY) {
        return weir_array_cast(arena, expr, type, context, cast) == WEIR_OK
                   ? WEIR_OK
                   : refuse_cast(expr, type, context, error);
    }
    const struct weir_cast *found =
        weir_cast_find((enum weir_arg)expr->type.kind, (enum weir_arg)type->kind, context);
    if (found == NULL) {
        return refuse_cast(expr, type, context, error);
    }
    struct weir_type plain = *type;
    plain.modifier = -1;
    struct weir_expr *node = found->function.kernel == NULL
                                 ? weir_expr_new(arena, WEIR_EXPR_RELABEL, &plain, 1, &expr)
                                 : weir_expr_call_of(arena, &found->function, &plain, 1, &expr);
    node->is_assignment = context == WEIR_CAST_ASSIGNMENT;
    node->is_cast_implicit = context != WEIR_CAST_EXPLICIT;
    node = weir_expr_fold(arena, node);
    *cast = apply_modifier(arena, node, type, context);
    return WEIR_OK;
}
