// SPDX-License-Identifier: Apache-2.0
// Grouped queries (planner.h): GROUP BY and aggregates. Expressions are bound as in any query, over
// the rows that are grouped; an aggregate becomes a column behind theirs. What of an expression is
// a key is found by its text and type; what is left must be in aggregates. The nodes:
// group_nodes.c.
#include "sql/planner.h"

#include <stdlib.h>
#include <string.h>

// --- is it one? ------------------------------------------------------------------------------

static bool has_aggregate(const struct weir_ast_expr *ast)
{
    if (ast == NULL || ast->kind == WEIR_AST_AGGREGATE) {
        return ast != NULL;
    }
    for (uint32_t i = 0; i < ast->arg_count; i++) {
        if (has_aggregate(ast->args[i])) {
            return true;
        }
    }
    return has_aggregate(ast->operand) || has_aggregate(ast->otherwise);
}

bool weir_sql_is_grouped(const struct weir_ast_select *select)
{
    bool is_grouped = select->is_grouped || select->having != NULL;
    for (uint32_t i = 0; i < select->target_count && !is_grouped; i++) {
        is_grouped = has_aggregate(select->targets[i].expr);
    }
    return is_grouped;
}

// --- lists of expressions --------------------------------------------------------------------

static bool is_same(const struct weir_expr *a, const struct weir_expr *b)
{
    if (!weir_type_equal(weir_expr_type(a), weir_expr_type(b))) {
        return false;
    }
    struct weir_buffer a_text = {0};
    struct weir_buffer b_text = {0};
    weir_expr_print(a, &a_text);
    weir_expr_print(b, &b_text);
    bool is_equal = strcmp(weir_buffer_text(&a_text), weir_buffer_text(&b_text)) == 0;
    weir_buffer_deinit(&a_text);
    weir_buffer_deinit(&b_text);
    return is_equal;
}

uint32_t weir_sql_add_expr(struct weir_arena *arena, struct weir_expr ***list, uint32_t *count,
                           struct weir_expr *expr)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (is_same((*list)[i], expr)) {
            return i;
        }
    }
    size_t old_bytes = *count * sizeof(struct weir_expr *);
    *list = weir_arena_realloc(arena, *list, old_bytes, old_bytes + sizeof(struct weir_expr *));
    (*list)[*count] = expr;
    return (*count)++;
}

int32_t weir_grouping_find_key(const struct weir_grouping *grouping, const struct weir_expr *expr)
{
    for (uint32_t i = 0; i < grouping->key_count; i++) {
        if (is_same(grouping->keys[i], expr)) {
            return (int32_t)i;
        }
    }
    return -1;
}

// --- columns outside of aggregates -----------------------------------------------------------

void weir_grouping_name(struct weir_binder *binder, const char *name, int32_t offset)
{
    struct weir_grouping *grouping = binder->grouping;
    const char *table = binder->scope->name;
    if (grouping->is_inside) {
        return;
    }
    size_t old_bytes = grouping->loose_count * sizeof(*grouping->loose);
    grouping->loose = weir_arena_realloc(binder->planner->arena, grouping->loose, old_bytes,
                                         old_bytes + sizeof(*grouping->loose));
    grouping->loose[grouping->loose_count++] = (struct weir_grouping_loose){
        .name = table == NULL || name == NULL
                    ? name
                    : weir_arena_printf(binder->planner->arena, "%s.%s", table, name),
        .offset = offset,
    };
}

enum weir_status weir_grouping_check(struct weir_binder *binder)
{
    struct weir_grouping *grouping = binder->grouping;
    uint32_t count = grouping->loose_count;
    grouping->loose_count = 0;
    if (count == 0) {
        return WEIR_OK;
    }
    const struct weir_grouping_loose *loose = &grouping->loose[0];
    return weir_fault_add(&binder->planner->faults, loose->offset, NULL,
                          "column \"%s\" must appear in the GROUP BY clause or be used in an "
                          "aggregate function",
                          loose->name == NULL ? "?column?" : loose->name);
}

// --- GROUP BY --------------------------------------------------------------------------------

enum weir_status weir_sql_as_text(struct weir_planner *planner, int32_t offset,
                                  struct weir_expr **expr)
{
    struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
    struct weir_error error = {0};
    if (weir_expr_is_unknown(*expr) &&
        weir_expr_cast(planner->arena, *expr, &text, WEIR_CAST_IMPLICIT, expr, &error) != WEIR_OK) {
        return weir_fault_add_error(&planner->faults, offset, &error);
    }
    return WEIR_OK;
}

static bool has_equality(const struct weir_type *type)
{
    bool has_fields = type->kind == WEIR_TYPE_COMPOSITE || type->kind == WEIR_TYPE_ARRAY;
    for (uint32_t i = 0; has_fields && i < type->composite->field_count; i++) {
        if (!has_equality(&type->composite->fields[i].type)) {
            return false;
        }
    }
    return type->kind != WEIR_TYPE_JSON;
}

enum weir_status weir_sql_check_equality(struct weir_planner *planner, int32_t offset,
                                         const struct weir_type *type)
{
    char name[256];
    return has_equality(type)
               ? WEIR_OK
               : weir_fault_add(&planner->faults, offset, "jsonb has one: CAST(… AS jsonb)",
                                "could not identify an equality operator for type %s",
                                weir_type_name(type, name, sizeof(name)));
}

enum weir_status weir_sql_as_key(struct weir_planner *planner, int32_t offset,
                                 struct weir_expr **expr)
{
    return weir_sql_as_text(planner, offset, expr) == WEIR_OK
               ? weir_sql_check_equality(planner, offset, weir_expr_type(*expr))
               : WEIR_ERROR;
}

// Column `position` of the SELECT list, from 0, with stars written out. *is_there false: there are
// not so many.
static enum weir_status bind_position(struct weir_binder *binder,
                                      const struct weir_ast_select *select, uint64_t position,
                                      bool *is_there, struct weir_expr **expr)
{
    const struct weir_scope *scope = binder->scope;
    *is_there = true;
    for (uint32_t i = 0; i < select->target_count; i++) {
        const struct weir_ast_expr *target = select->targets[i].expr;
        uint32_t count = 1;
        struct weir_expr *composite = NULL;
        if (target->kind == WEIR_AST_STAR) {
            count = scope->column_count;
        } else if (target->kind == WEIR_AST_FIELD_STAR) {
            if (weir_sql_bind_expr(binder, target->args[0], &composite) != WEIR_OK) {
                return WEIR_ERROR;
            }
            const struct weir_type *type = weir_expr_type(composite);
            count = type->kind == WEIR_TYPE_COMPOSITE ? type->composite->field_count : 1;
        }
        if (position >= count) {
            position -= count;
        } else if (target->kind == WEIR_AST_STAR) {
            *expr = scope->columns[position].expr;
            return WEIR_OK;
        } else if (composite != NULL && weir_expr_type(composite)->kind == WEIR_TYPE_COMPOSITE) {
            *expr = weir_expr_field(binder->planner->arena, composite, (uint32_t)position);
            return WEIR_OK;
        } else {
            return weir_sql_bind_expr(binder, target, expr);
        }
    }
    *is_there = false;
    return WEIR_OK;
}

// A name that is no column of FROM but the alias of a target; NULL: it is not.
static enum weir_status find_alias(struct weir_binder *binder, const struct weir_ast_select *select,
                                   const struct weir_ast_expr *key,
                                   const struct weir_ast_expr **target)
{
    *target = NULL;
    if (key->kind != WEIR_AST_COLUMN || key->name_count != 1) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < binder->scope->column_count; i++) {
        const char *name = binder->scope->columns[i].name;
        if (name != NULL && strcmp(name, key->names[0]) == 0) {
            return WEIR_OK;
        }
    }
    struct weir_expr *first = NULL;
    for (uint32_t i = 0; i < select->target_count; i++) {
        const struct weir_ast_target *candidate = &select->targets[i];
        const char *name = candidate->name != NULL ? candidate->name : candidate->expr->label;
        if (name == NULL || strcmp(name, key->names[0]) != 0) {
            continue;
        }
        if (*target != NULL) {
            struct weir_expr *second;
            if (weir_sql_bind_expr(binder, *target, &first) != WEIR_OK ||
                weir_sql_bind_expr(binder, candidate->expr, &second) != WEIR_OK) {
                return WEIR_ERROR;
            }
            if (!is_same(first, second)) {
                return weir_fault_add(&binder->planner->faults, key->offset, NULL,
                                      "GROUP BY \"%s\" is ambiguous", key->names[0]);
            }
        } else {
            *target = candidate->expr;
        }
    }
    return WEIR_OK;
}

static enum weir_status bind_key(struct weir_binder *binder, const struct weir_ast_select *select,
                                 const struct weir_ast_expr *key, struct weir_expr **expr)
{
    struct weir_faults *faults = &binder->planner->faults;
    const struct weir_ast_expr *target;
    if (key->kind == WEIR_AST_NUMBER) {
        bool is_integer = key->text[strspn(key->text, "0123456789")] == '\0';
        bool is_there = false;
        // More digits than any list has columns are no position either.
        uint64_t position = is_integer ? strtoull(key->text, NULL, 10) : 0;
        if (is_integer && position > 0 &&
            bind_position(binder, select, position - 1, &is_there, expr) != WEIR_OK) {
            return WEIR_ERROR;
        }
        return is_there ? weir_sql_as_key(binder->planner, key->offset, expr)
               : is_integer
                   ? weir_fault_add(faults, key->offset, NULL,
                                    "GROUP BY position %s is not in select list", key->text)
                   : weir_fault_add(faults, key->offset, NULL, "non-integer constant in GROUP BY");
    }
    if (key->kind == WEIR_AST_STRING || key->kind == WEIR_AST_NULL ||
        key->kind == WEIR_AST_BOOLEAN) {
        return weir_fault_add(faults, key->offset, NULL, "non-integer constant in GROUP BY");
    }
    if (find_alias(binder, select, key, &target) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return weir_sql_bind_expr(binder, target != NULL ? target : key, expr) == WEIR_OK
               ? weir_sql_as_key(binder->planner, key->offset, expr)
               : WEIR_ERROR;
}

enum weir_status weir_sql_bind_keys(struct weir_binder *binder,
                                    const struct weir_ast_select *select,
                                    struct weir_grouping *grouping)
{
    struct weir_binder plain = *binder;
    enum weir_status status = WEIR_OK;
    plain.grouping = NULL;
    plain.clause = "GROUP BY";
    for (uint32_t i = 0; i < select->key_count; i++) {
        struct weir_expr *expr;
        if (bind_key(&plain, select, select->keys[i], &expr) != WEIR_OK) {
            status = WEIR_ERROR;
            continue;
        }
        weir_sql_add_expr(binder->planner->arena, &grouping->keys, &grouping->key_count, expr);
    }
    return status;
}

// --- aggregates ------------------------------------------------------------------------------

static enum weir_status refuse_aggregate(struct weir_binder *binder,
                                         const struct weir_ast_expr *ast)
{
    const char *clause = binder->clause != NULL                 ? binder->clause
                         : binder->place == WEIR_BIND_GENERATED ? "column generation expressions"
                         : binder->place == WEIR_BIND_CHECK     ? "check constraints"
                                                                : "WHERE";
    return weir_fault_add(&binder->planner->faults, ast->offset,
                          strcmp(clause, "WHERE") == 0 ? "conditions over groups are HAVING" : NULL,
                          "aggregate functions are not allowed in %s", clause);
}

// As PostgreSQL says it of the wrong number of arguments.
static enum weir_status refuse_args(struct weir_binder *binder, const struct weir_ast_expr *ast)
{
    struct weir_planner *planner = binder->planner;
    struct weir_buffer types = {0};
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < ast->arg_count && status == WEIR_OK; i++) {
        struct weir_expr *arg;
        char name[256];
        status = weir_sql_bind_expr(binder, ast->args[i], &arg);
        if (status == WEIR_OK) {
            weir_buffer_printf(&types, "%s%s", i == 0 ? "" : ", ",
                               weir_expr_is_unknown(arg)
                                   ? "unknown"
                                   : weir_type_name(weir_expr_type(arg), name, sizeof(name)));
        }
    }
    if (status == WEIR_OK) {
        weir_fault_add(&planner->faults, ast->offset, NULL, "function %s(%s) does not exist",
                       ast->text, weir_buffer_text(&types));
    }
    weir_buffer_deinit(&types);
    return WEIR_ERROR;
}

static enum weir_status bind_arg(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                 struct weir_aggregate *aggregate)
{
    struct weir_planner *planner = binder->planner;
    struct weir_expr *arg = NULL;
    struct weir_error error = {0};
    if (strcmp(ast->text, "count") == 0 && ast->arg_count == 0 && !ast->is_star) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "count(*) must be used to call a parameterless aggregate function");
    }
    if (ast->arg_count > 1 || (ast->arg_count == 0 && !ast->is_star)) {
        return refuse_args(binder, ast);
    }
    if (ast->arg_count == 1 && (weir_sql_bind_expr(binder, ast->args[0], &arg) != WEIR_OK ||
                                weir_sql_as_text(planner, ast->args[0]->offset, &arg) != WEIR_OK)) {
        return WEIR_ERROR;
    }
    if (weir_aggregate_resolve(ast->text, arg == NULL ? NULL : weir_expr_type(arg), aggregate,
                               &error) != WEIR_OK) {
        return weir_fault_add_error(&planner->faults, ast->offset, &error);
    }
    if (arg != NULL) {
        struct weir_grouping *grouping = binder->grouping;
        aggregate->arg_column =
            (int32_t)weir_sql_add_expr(planner->arena, &grouping->args, &grouping->arg_count, arg);
    }
    return WEIR_OK;
}

static enum weir_status bind_filter(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                    struct weir_aggregate *aggregate)
{
    struct weir_binder plain = *binder;
    struct weir_expr *condition;
    plain.grouping = NULL;
    plain.clause = "FILTER";
    if (ast->filter == NULL) {
        return WEIR_OK;
    }
    if (weir_sql_bind_condition(&plain, ast->filter, "FILTER", &condition) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_grouping *grouping = binder->grouping;
    aggregate->filter_column = (int32_t)weir_sql_add_expr(binder->planner->arena, &grouping->args,
                                                          &grouping->arg_count, condition);
    return WEIR_OK;
}

static const char *name_aggregate(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  const struct weir_aggregate *aggregate)
{
    const struct weir_grouping *grouping = binder->grouping;
    const struct weir_schema *schema = &grouping->inputs[0]->schema;
    struct weir_arena *arena = binder->planner->arena;
    const char *arg =
        aggregate->arg_column < 0
            ? "*"
            : weir_graph_expr_name(arena, grouping->args[aggregate->arg_column], schema);
    const char *name = weir_arena_printf(arena, "%s(%s%s)", ast->text,
                                         aggregate->is_distinct ? "DISTINCT " : "", arg);
    return aggregate->filter_column < 0
               ? name
               : weir_arena_printf(
                     arena, "%s filter %s", name,
                     weir_graph_expr_name(arena, grouping->args[aggregate->filter_column], schema));
}

static uint32_t add_aggregate(struct weir_arena *arena, struct weir_grouping *grouping,
                              const struct weir_aggregate *aggregate, const char *name)
{
    uint32_t count = grouping->aggregate_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_aggregate *known = &grouping->aggregates[i];
        if (known->kind == aggregate->kind && known->is_distinct == aggregate->is_distinct &&
            known->arg_column == aggregate->arg_column &&
            known->filter_column == aggregate->filter_column) {
            return i;
        }
    }
    grouping->aggregates = weir_arena_realloc(
        arena, grouping->aggregates, count * sizeof(*aggregate), (count + 1) * sizeof(*aggregate));
    grouping->aggregate_names = weir_arena_realloc(
        arena, grouping->aggregate_names, count * sizeof(name), (count + 1) * sizeof(name));
    grouping->aggregates[count] = *aggregate;
    grouping->aggregate_names[count] = name;
    return grouping->aggregate_count++;
}

enum weir_status weir_sql_bind_aggregate(struct weir_binder *binder,
                                         const struct weir_ast_expr *ast, struct weir_expr **expr)
{
    struct weir_grouping *grouping = binder->grouping;
    struct weir_aggregate aggregate = {0};
    if (grouping == NULL) {
        return refuse_aggregate(binder, ast);
    }
    if (grouping->is_inside) {
        return weir_fault_add(&binder->planner->faults, ast->offset,
                              "group twice: FROM (SELECT … GROUP BY …) AS s",
                              "aggregate function calls cannot be nested");
    }
    grouping->is_inside = true;
    aggregate.arg_column = -1;
    aggregate.filter_column = -1;
    enum weir_status status = bind_arg(binder, ast, &aggregate);
    grouping->is_inside = false;
    if (bind_filter(binder, ast, &aggregate) != WEIR_OK || status != WEIR_OK) {
        return WEIR_ERROR;
    }
    // The least and the greatest of different values are those of all.
    aggregate.is_distinct = ast->is_distinct && aggregate.kind != WEIR_AGGREGATE_MIN &&
                            aggregate.kind != WEIR_AGGREGATE_MAX;
    const char *name = name_aggregate(binder, ast, &aggregate);
    uint32_t idx = add_aggregate(binder->planner->arena, grouping, &aggregate, name);
    *expr = weir_expr_column(binder->planner->arena, grouping->inputs[0]->schema.column_count + idx,
                             name, &aggregate.result_type);
    return WEIR_OK;
}
