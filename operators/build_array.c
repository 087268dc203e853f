// SPDX-License-Identifier: Apache-2.0
// Constructors of expressions over arrays: subscripts, ARRAY[…], ANY and ALL, and what the element
// types of a call have to do with one another. Thread: any; called while a job is planned.
#include "operators/node.h"

#include "runtime/types/array.h"

#include <stdio.h>

static bool is_array(const struct weir_expr *expr)
{
    return !expr->is_unknown && expr->type.kind == WEIR_TYPE_ARRAY;
}

// The array among the arguments that says what the elements are; NULL: there is none.
static const struct weir_type *find_array(uint32_t arg_count, struct weir_expr *const *args)
{
    for (uint32_t i = 0; i < arg_count; i++) {
        if (is_array(args[i])) {
            return &args[i]->type;
        }
    }
    return NULL;
}

enum weir_status weir_array_bind_arg(struct weir_arena *arena, enum weir_arg declared,
                                     uint32_t arg_count, struct weir_expr *const *args,
                                     struct weir_expr *arg, struct weir_expr **bound,
                                     struct weir_error *error)
{
    const struct weir_type *array = find_array(arg_count, args);
    if (array == NULL) {
        return weir_expr_refuse(error, "could not determine polymorphic type because input has "
                                       "type unknown");
    }
    struct weir_type wanted = declared == WEIR_ARG_ARRAY ? *array : *weir_type_element(array);
    wanted.modifier = -1;
    return weir_expr_cast(arena, arg, &wanted, WEIR_CAST_IMPLICIT, bound, error);
}

struct weir_type weir_array_result_type(enum weir_arg result, uint32_t arg_count,
                                        struct weir_expr *const *args)
{
    const struct weir_type *array = find_array(arg_count, args);
    WEIR_ASSERT(array != NULL);
    return result == WEIR_ARG_ARRAY ? *array : *weir_type_element(array);
}

enum weir_status weir_expr_subscript(struct weir_arena *arena, struct weir_expr *array,
                                     uint32_t subscript_count, struct weir_expr *const *subscripts,
                                     struct weir_expr **out, struct weir_error *error)
{
    char name[WEIR_TYPE_NAME_BYTES];
    struct weir_type integer = weir_type_plain(WEIR_TYPE_INTEGER);
    if (!is_array(array)) {
        return weir_expr_refuse(error, "cannot subscript type %s because it is no array%s",
                                weir_expr_type_name(array, name),
                                array->type.kind == WEIR_TYPE_JSONB ? ": write js -> 'key'" : "");
    }
    if (subscript_count > WEIR_ARRAY_DIMENSIONS_MAX) {
        return weir_expr_refuse(error,
                                "number of array dimensions (%u) exceeds the maximum allowed (%d)",
                                subscript_count, WEIR_ARRAY_DIMENSIONS_MAX);
    }
    struct weir_expr **args =
        weir_arena_alloc(arena, (subscript_count + 1) * sizeof(struct weir_expr *));
    args[0] = array;
    for (uint32_t i = 0; i < subscript_count; i++) {
        if (weir_expr_cast(arena, subscripts[i], &integer, WEIR_CAST_ASSIGNMENT, &args[i + 1],
                           error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    *out = weir_expr_fold(arena, weir_expr_call_of(arena, &weir_array_subscript_function,
                                                   weir_type_element(&array->type),
                                                   subscript_count + 1, args));
    return WEIR_OK;
}

enum weir_status weir_expr_array(struct weir_arena *arena, uint32_t element_count,
                                 struct weir_expr *const *elements, struct weir_expr **out,
                                 struct weir_error *error)
{
    struct weir_type type;
    if (element_count == 0) {
        return weir_expr_refuse(error, "cannot determine type of empty array: write '{}' with a "
                                       "cast, e.g. '{}'::integer[]");
    }
    if (weir_expr_common_type("ARRAY", element_count, elements, &type, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_expr **args = weir_arena_alloc(arena, element_count * sizeof(struct weir_expr *));
    for (uint32_t i = 0; i < element_count; i++) {
        if (weir_expr_cast(arena, elements[i], &type, WEIR_CAST_IMPLICIT, &args[i], error) !=
            WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    bool is_stack = type.kind == WEIR_TYPE_ARRAY;
    struct weir_type result = is_stack ? type : weir_array_type(&type, arena);
    *out = weir_expr_fold(
        arena,
        weir_expr_call_of(arena, is_stack ? &weir_array_stack_function : &weir_array_make_function,
                          &result, element_count, args));
    return WEIR_OK;
}

// --- ANY, ALL --------------------------------------------------------------------------------

static const struct weir_function *find_quantified(const char *symbol, bool is_all)
{
    char name[16];
    snprintf(name, sizeof name, "%.8s %s", symbol, is_all ? "all" : "any");
    for (uint32_t i = 0; i < weir_array_quantified_count; i++) {
        if (strcmp(weir_array_quantified_functions[i].name, name) == 0) {
            return &weir_array_quantified_functions[i];
        }
    }
    return NULL;
}

enum weir_status weir_expr_any(struct weir_arena *arena, struct weir_expr *value,
                               const char *symbol, struct weir_expr *array, bool is_all,
                               struct weir_expr **out, struct weir_error *error)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
    const char *word = is_all ? "ALL" : "ANY";
    const struct weir_function *function = find_quantified(symbol, is_all);
    if (function == NULL) {
        return weir_expr_refuse(error,
                                "operator %s with %s (array) is not supported yet: there are "
                                "=, <>, <, <=, > and >=",
                                symbol, word);
    }
    struct weir_type element = value->is_unknown ? text : value->type;
    if (is_array(array)) {
        // The type that both have in common, as "=" between them would choose it.
        struct weir_expr *sides[2] = {value,
                                      weir_expr_null(arena, weir_type_element(&array->type))};
        if (weir_expr_common_type(word, 2, sides, &element, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    } else if (!array->is_unknown) {
        return weir_expr_refuse(error, "op %s (array) requires array on right side", word);
    }
    element.modifier = -1;
    struct weir_type wanted = weir_array_type(&element, arena);
    struct weir_expr *args[2];
    const struct weir_function *order;
    struct weir_expr *pair[2] = {weir_expr_null(arena, &element), weir_expr_null(arena, &element)};
    if (weir_expr_cast(arena, value, &element, WEIR_CAST_IMPLICIT, &args[0], error) != WEIR_OK ||
        weir_expr_cast(arena, array, &wanted, WEIR_CAST_IMPLICIT, &args[1], error) != WEIR_OK ||
        weir_function_resolve(symbol, 2, pair, &order, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *out = weir_expr_fold(arena, weir_expr_call_of(arena, function, &boolean, 2, args));
    return WEIR_OK;
}

// --- casts -----------------------------------------------------------------------------------

static bool is_text(enum weir_type_kind kind)
{
    return kind == WEIR_TYPE_TEXT || kind == WEIR_TYPE_VARCHAR;
}

// Whether a value cast is what the type's input function makes of its text.
static bool is_cast_by_text(enum weir_type_kind from, enum weir_type_kind to)
{
    bool is_integer =
        from == WEIR_TYPE_SMALLINT || from == WEIR_TYPE_INTEGER || from == WEIR_TYPE_BIGINT;
    bool is_number = to == WEIR_TYPE_INTEGER || to == WEIR_TYPE_BIGINT || to == WEIR_TYPE_NUMERIC ||
                     to == WEIR_TYPE_DOUBLE;
    bool is_time = to == WEIR_TYPE_TIMESTAMP || to == WEIR_TYPE_TIMESTAMPTZ;
    return from == to || (is_integer && is_number) || (is_text(from) && is_text(to)) ||
           (from == WEIR_TYPE_NUMERIC && to == WEIR_TYPE_DOUBLE) ||
           (from == WEIR_TYPE_DATE && is_time) || (from == WEIR_TYPE_TIMESTAMP && is_time);
}

enum weir_status weir_array_cast(struct weir_arena *arena, struct weir_expr *expr,
                                 const struct weir_type *type, enum weir_cast_context context,
                                 struct weir_expr **cast)
{
    const struct weir_type *from = weir_type_element(&expr->type);
    const struct weir_type *to = weir_type_element(type);
    bool is_plain = from->kind != WEIR_TYPE_COMPOSITE && to->kind != WEIR_TYPE_COMPOSITE;
    bool is_allowed =
        from->kind == to->kind ||
        weir_cast_find((enum weir_arg)from->kind, (enum weir_arg)to->kind, context) != NULL;
    if (!is_plain || !is_allowed || !is_cast_by_text(from->kind, to->kind)) {
        return WEIR_ERROR;
    }
    struct weir_expr *node = weir_expr_call_of(arena, &weir_array_recast_function, type, 1, &expr);
    node->is_assignment = context == WEIR_CAST_ASSIGNMENT;
    node->is_cast_implicit = context != WEIR_CAST_EXPLICIT;
    *cast = weir_expr_fold(arena, node);
    return WEIR_OK;
}
