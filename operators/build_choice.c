// SPDX-License-Identifier: Apache-2.0
// Constructors of the expressions that choose among others: CASE, COALESCE, NULLIF, GREATEST,
// LEAST, IN; and the common type that PostgreSQL finds for such alternatives (section 10.5 of its
// manual). Thread: any; called while a job is planned.
#include "operators/node.h"

// --- common type -----------------------------------------------------------------------------

static bool is_same_type(const struct weir_type *a, const struct weir_type *b)
{
    return a->kind == b->kind && (a->kind != WEIR_TYPE_COMPOSITE || weir_type_equal(a, b));
}

// The modifier that all typed expressions of the type share, else -1.
static int32_t common_modifier(const struct weir_type *type, uint32_t expr_count,
                               struct weir_expr *const *exprs)
{
    for (uint32_t i = 0; i < expr_count; i++) {
        if (exprs[i]->is_unknown || !is_same_type(&exprs[i]->type, type) ||
            exprs[i]->type.modifier != exprs[0]->type.modifier) {
            return -1;
        }
    }
    return exprs[0]->type.modifier;
}

// false: none; then *type is what was found so far and *culprit does not go with it.
static bool find_common_type(uint32_t expr_count, struct weir_expr *const *exprs,
                             struct weir_type *type, const struct weir_expr **culprit)
{
    bool is_found = false;
    *type = weir_type_plain(WEIR_TYPE_TEXT);
    for (uint32_t i = 0; i < expr_count; i++) {
        const struct weir_type *next = &exprs[i]->type;
        if (exprs[i]->is_unknown || (is_found && is_same_type(next, type))) {
            continue;
        }
        if (!is_found) {
            *type = *next;
            is_found = true;
            continue;
        }
        enum weir_arg found = (enum weir_arg)type->kind;
        enum weir_arg other = (enum weir_arg)next->kind;
        if (weir_arg_category(found) != weir_arg_category(other) || found == WEIR_ARG_COMPOSITE) {
            *culprit = exprs[i];
            return false;
        }
        if (!weir_arg_is_preferred(found) && weir_arg_is_coercible(found, other) &&
            !weir_arg_is_coercible(other, found)) {
            *type = *next;
        }
    }
    type->modifier = common_modifier(type, expr_count, exprs);
    return true;
}

enum weir_status weir_expr_common_type(const char *construct, uint32_t expr_count,
                                       struct weir_expr *const *exprs, struct weir_type *type,
                                       struct weir_error *error)
{
    const struct weir_expr *culprit = NULL;
    if (!find_common_type(expr_count, exprs, type, &culprit)) {
        char found[WEIR_TYPE_NAME_BYTES];
        char other[WEIR_TYPE_NAME_BYTES];
        return weir_expr_refuse(error, "%s types %s and %s cannot be matched", construct,
                                weir_kind_name(type, found), weir_expr_type_name(culprit, other));
    }
    return WEIR_OK;
}

static enum weir_status cast_branch(struct weir_arena *arena, const char *construct,
                                    const struct weir_type *type, struct weir_expr **expr,
                                    struct weir_error *error)
{
    if (!weir_arg_is_coercible(weir_arg_of(*expr), (enum weir_arg)type->kind)) {
        char from[WEIR_TYPE_NAME_BYTES];
        char to[WEIR_TYPE_NAME_BYTES];
        return weir_expr_refuse(error, "%s could not convert type %s to %s", construct,
                                weir_expr_type_name(*expr, from), weir_kind_name(type, to));
    }
    return weir_expr_cast(arena, *expr, type, WEIR_CAST_IMPLICIT, expr, error);
}

static enum weir_status unify(struct weir_arena *arena, const char *construct, uint32_t expr_count,
                              struct weir_expr **exprs, struct weir_type *type,
                              struct weir_error *error)
{
    if (weir_expr_common_type(construct, expr_count, exprs, type, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < expr_count; i++) {
        if (cast_branch(arena, construct, type, &exprs[i], error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static struct weir_expr **copy_exprs(struct weir_arena *arena, uint32_t count,
                                     struct weir_expr *const *exprs)
{
    struct weir_expr **copy = weir_arena_alloc(arena, count * sizeof(struct weir_expr *));
    memcpy(copy, exprs, count * sizeof(struct weir_expr *));
    return copy;
}

// --- CASE, COALESCE, NULLIF ------------------------------------------------------------------

enum weir_status weir_expr_case(struct weir_arena *arena, uint32_t branch_count,
                                const struct weir_case_branch *branches,
                                struct weir_expr *otherwise, struct weir_expr **out,
                                struct weir_error *error)
{
    // ELSE comes first: PostgreSQL takes it for the most significant when it chooses the type.
    uint32_t result_count = branch_count + 1;
    struct weir_expr **results = weir_arena_alloc(arena, result_count * sizeof(struct weir_expr *));
    results[0] = otherwise != NULL ? otherwise : weir_expr_literal(arena, NULL);
    for (uint32_t i = 0; i < branch_count; i++) {
        results[i + 1] = branches[i].result;
    }
    struct weir_type type;
    if (weir_expr_common_type("CASE", result_count, results, &type, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < result_count; i++) {
        if (cast_branch(arena, i == 0 ? "CASE/ELSE" : "CASE/WHEN", &type, &results[i], error) !=
            WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    uint32_t arg_count = 2 * branch_count + 1;
    struct weir_expr **args = weir_arena_alloc(arena, arg_count * sizeof(struct weir_expr *));
    for (uint32_t i = 0; i < branch_count; i++) {
        if (weir_expr_condition(arena, branches[i].condition, "CASE/WHEN", &args[2 * i], error) !=
            WEIR_OK) {
            return WEIR_ERROR;
        }
        args[2 * i + 1] = results[i + 1];
    }
    args[arg_count - 1] = results[0];
    *out = weir_expr_fold(arena, weir_expr_new(arena, WEIR_EXPR_CASE, &type, arg_count, args));
    return WEIR_OK;
}

enum weir_status weir_expr_coalesce(struct weir_arena *arena, uint32_t arg_count,
                                    struct weir_expr **args, struct weir_expr **out,
                                    struct weir_error *error)
{
    struct weir_type type;
    struct weir_expr **unified = copy_exprs(arena, arg_count, args);
    if (unify(arena, "COALESCE", arg_count, unified, &type, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *out =
        weir_expr_fold(arena, weir_expr_new(arena, WEIR_EXPR_COALESCE, &type, arg_count, unified));
    return WEIR_OK;
}

enum weir_status weir_expr_nullif(struct weir_arena *arena, struct weir_expr *a,
                                  struct weir_expr *b, struct weir_expr **out,
                                  struct weir_error *error)
{
    // The result has the type that "=" compares a in: NULLIF(1, 2.0) is a numeric.
    struct weir_expr *args[2] = {a, b};
    const struct weir_function *equal;
    if (weir_function_resolve("=", 2, args, &equal, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_type declared = weir_type_plain((enum weir_type_kind)equal->args[0]);
    if (a->is_unknown || a->type.kind != declared.kind) {
        if (weir_expr_cast(arena, a, &declared, WEIR_CAST_IMPLICIT, &args[0], error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    struct weir_expr *condition;
    struct weir_expr *value = args[0];
    if (weir_expr_call(arena, "=", 2, args, &condition, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_case_branch branch = {.condition = condition,
                                      .result = weir_expr_null(arena, &value->type)};
    return weir_expr_case(arena, 1, &branch, value, out, error);
}

// --- GREATEST, LEAST -------------------------------------------------------------------------

enum weir_status weir_expr_greatest(struct weir_arena *arena, bool is_least, uint32_t arg_count,
                                    struct weir_expr **args, struct weir_expr **out,
                                    struct weir_error *error)
{
    struct weir_type type;
    struct weir_expr **unified = copy_exprs(arena, arg_count, args);
    if (unify(arena, is_least ? "LEAST" : "GREATEST", arg_count, unified, &type, error) !=
        WEIR_OK) {
        return WEIR_ERROR;
    }
    const struct weir_function *is_better;
    struct weir_expr *pair[2] = {unified[0], unified[0]};
    if (weir_function_resolve(is_least ? "<" : ">", 2, pair, &is_better, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *out = weir_expr_fold(arena,
                          weir_expr_new_with(arena, is_least ? WEIR_EXPR_LEAST : WEIR_EXPR_GREATEST,
                                             is_better, &type, arg_count, unified));
    return WEIR_OK;
}

// --- IN --------------------------------------------------------------------------------------

static void note_column(const struct weir_expr *expr, void *context)
{
    bool *has_column = context;
    *has_column = *has_column || expr->kind == WEIR_EXPR_COLUMN;
}

static bool has_column(const struct weir_expr *expr)
{
    bool found = false;
    weir_expr_walk(expr, note_column, &found);
    return found;
}

// PostgreSQL compares with all items that hold no column in one type, if there are several and they
// have one in common with the left side; with each of the others on its own.
static bool find_item_type(struct weir_arena *arena, struct weir_expr *a, uint32_t item_count,
                           struct weir_expr *const *items, struct weir_type *type)
{
    struct weir_expr **plain =
        weir_arena_alloc(arena, (item_count + 1) * sizeof(struct weir_expr *));
    uint32_t count = 0;
    plain[count++] = a;
    for (uint32_t i = 0; i < item_count; i++) {
        if (!has_column(items[i])) {
            plain[count++] = items[i];
        }
    }
    const struct weir_expr *culprit;
    if (count <= 2 || !find_common_type(count, plain, type, &culprit)) {
        return false;
    }
    type->modifier = -1;
    return true;
}

enum weir_status weir_expr_in(struct weir_arena *arena, struct weir_expr *a, uint32_t item_count,
                              struct weir_expr **items, bool is_negated, struct weir_expr **out,
                              struct weir_error *error)
{
    struct weir_type boolean = weir_type_plain(WEIR_TYPE_BOOLEAN);
    struct weir_type type;
    bool has_type = find_item_type(arena, a, item_count, items, &type);
    struct weir_expr **calls = weir_arena_alloc(arena, item_count * sizeof(struct weir_expr *));
    struct weir_expr *shared = NULL; // the left side as the last call before took it
    const struct weir_function *shared_function = NULL;
    for (uint32_t i = 0; i < item_count; i++) {
        struct weir_expr *pair[2] = {a, items[i]};
        if (has_type && !has_column(items[i]) &&
            weir_expr_cast(arena, items[i], &type, WEIR_CAST_IMPLICIT, &pair[1], error) !=
                WEIR_OK) {
            return WEIR_ERROR;
        }
        const struct weir_function *equal;
        if (weir_function_resolve("=", 2, pair, &equal, error) != WEIR_OK ||
            weir_expr_bind_args(arena, equal, 2, pair, pair, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (equal == shared_function) {
            pair[0] = shared;
        }
        shared = pair[0];
        shared_function = equal;
        calls[i] = weir_expr_fold(arena, weir_expr_call_of(arena, equal, &boolean, 2, pair));
    }
    *out = weir_expr_fold(arena, weir_expr_new(arena, WEIR_EXPR_IN, &boolean, item_count, calls));
    if (is_negated) {
        *out = weir_expr_not(arena, *out);
    }
    return WEIR_OK;
}
