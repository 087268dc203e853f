// SPDX-License-Identifier: Apache-2.0
// From the syntax of an expression to a typed one: names are resolved here, everything about types,
// overloads and casts is the constructors' of operators/expr.h. Their refusals get the place of the
// syntax that caused them.
#include "sql/interval.h"
#include "sql/nearest.h"
#include "sql/planner.h"

#include <string.h>

static const char *const metadata_functions[] = {"kafka_topic",  "kafka_partition",
                                                 "kafka_offset", "kafka_timestamp",
                                                 "kafka_key",    "kafka_header"};

static enum weir_status fail(struct weir_binder *binder, const struct weir_ast_expr *ast,
                             const struct weir_error *error)
{
    return weir_fault_add_error(&binder->planner->faults, ast->offset, error);
}

// --- names -----------------------------------------------------------------------------------

static struct weir_scope_column *find_column(const struct weir_scope *scope, const char *name,
                                             uint32_t *count)
{
    struct weir_scope_column *found = NULL;
    *count = 0;
    for (uint32_t i = 0; i < scope->column_count; i++) {
        const char *candidate = scope->columns[i].name;
        if (candidate != NULL && strcmp(candidate, name) == 0) {
            found = &scope->columns[i];
            *count += 1;
        }
    }
    return found;
}

static enum weir_status unknown_column(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                       const char *table, const char *name)
{
    const struct weir_scope *scope = binder->scope;
    struct weir_planner *planner = binder->planner;
    struct weir_nearest nearest = weir_nearest_start(name);
    for (uint32_t i = 0; i < scope->column_count; i++) {
        if (scope->columns[i].name != NULL) {
            weir_nearest_offer(&nearest, scope->columns[i].name);
        }
    }
    const char *hint = weir_fault_did_you_mean(&planner->faults, nearest.best);
    if (nearest.best != NULL && nearest.best_distance == 0) {
        hint = weir_arena_printf(planner->arena,
                                 "names without quotes are lower case; write \"%s\" with quotes",
                                 nearest.best);
    }
    if (table == NULL && scope->name != NULL && strcmp(scope->name, name) == 0) {
        return weir_fault_add(&planner->faults, ast->offset, "name its columns",
                              "not supported: a whole row (%s) as a value", name);
    }
    return table == NULL ? weir_fault_add(&planner->faults, ast->offset, hint,
                                          "column \"%s\" does not exist", name)
                         : weir_fault_add(&planner->faults, ast->offset, hint,
                                          "column %s.%s does not exist", table, name);
}

static enum weir_status bind_name(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  const char *table, const char *name, struct weir_expr **expr)
{
    uint32_t count;
    const struct weir_scope_column *column = find_column(binder->scope, name, &count);
    struct weir_faults *faults = &binder->planner->faults;
    if (column == NULL) {
        return unknown_column(binder, ast, table, name);
    }
    if (count > 1) {
        return weir_fault_add(faults, ast->offset, "give the columns different names: AS",
                              "column reference \"%s\" is ambiguous", name);
    }
    if (column->expr == NULL) {
        return weir_fault_add(
            faults, ast->offset, "a generated column is computed from those in the message",
            "cannot use generated column \"%s\" in column generation expression", name);
    }
    if (binder->grouping != NULL) {
        weir_grouping_name(binder, name, ast->offset);
    }
    *expr = column->expr;
    return WEIR_OK;
}

// It may be a column that wants parentheses, or an alias hides it.
enum weir_status weir_sql_unknown_table(struct weir_binder *binder, const struct weir_ast_expr *ast)
{
    const struct weir_scope *scope = binder->scope;
    struct weir_planner *planner = binder->planner;
    const char *table = ast->names[0];
    const char *field = ast->name_count > 1 ? ast->names[1] : "*";
    uint32_t count;
    const struct weir_scope_column *column = find_column(scope, table, &count);
    const char *hint = NULL;
    if (column != NULL && column->expr != NULL &&
        weir_expr_type(column->expr)->kind == WEIR_TYPE_COMPOSITE) {
        hint = weir_arena_printf(planner->arena, "for a field of column %s write (%s).%s", table,
                                 table, field);
    } else if (scope->table_name != NULL && strcmp(scope->table_name, table) == 0) {
        hint = weir_arena_printf(planner->arena, "its alias here is \"%s\"", scope->name);
    } else if (scope->name != NULL) {
        struct weir_nearest nearest = weir_nearest_start(table);
        weir_nearest_offer(&nearest, scope->name);
        hint = weir_fault_did_you_mean(&planner->faults, nearest.best);
    }
    return weir_fault_add(&planner->faults, ast->offset, hint,
                          "missing FROM-clause entry for table \"%s\"", table);
}

static enum weir_status bind_column(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                    struct weir_expr **expr)
{
    if (ast->name_count == 1) {
        return bind_name(binder, ast, NULL, ast->names[0], expr);
    }
    const struct weir_scope *scope = binder->scope;
    if (scope->name == NULL || strcmp(scope->name, ast->names[0]) != 0) {
        return weir_sql_unknown_table(binder, ast);
    }
    if (ast->name_count > 2) {
        return weir_fault_add(&binder->planner->faults, ast->offset,
                              weir_arena_printf(binder->planner->arena, "write (%s.%s).%s",
                                                ast->names[0], ast->names[1], ast->names[2]),
                              "missing FROM-clause entry for table \"%s\"", ast->names[1]);
    }
    return bind_name(binder, ast, ast->names[0], ast->names[1], expr);
}

static enum weir_status bind_field(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                   struct weir_expr **expr)
{
    struct weir_expr *composite;
    if (weir_sql_bind_expr(binder, ast->args[0], &composite) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_faults *faults = &binder->planner->faults;
    const struct weir_type *type = weir_expr_type(composite);
    if (type->kind != WEIR_TYPE_COMPOSITE || weir_expr_is_unknown(composite)) {
        char name[256];
        return weir_fault_add(
            faults, ast->offset, NULL,
            "column notation .%s applied to type %s, which is not a composite type", ast->text,
            weir_expr_is_unknown(composite) ? "unknown" : weir_type_name(type, name, sizeof(name)));
    }
    struct weir_nearest nearest = weir_nearest_start(ast->text);
    for (uint32_t i = 0; i < type->composite->field_count; i++) {
        if (strcmp(type->composite->fields[i].name, ast->text) == 0) {
            *expr = weir_expr_field(binder->planner->arena, composite, i);
            return WEIR_OK;
        }
        weir_nearest_offer(&nearest, type->composite->fields[i].name);
    }
    return weir_fault_add(faults, ast->offset, weir_fault_did_you_mean(faults, nearest.best),
                          "column \"%s\" not found in data type %s", ast->text,
                          type->composite->name);
}

// --- calls and operators ---------------------------------------------------------------------

static enum weir_status bind_args(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  struct weir_expr ***args)
{
    *args = weir_arena_alloc(binder->planner->arena, ast->arg_count * sizeof(struct weir_expr *));
    for (uint32_t i = 0; i < ast->arg_count; i++) {
        if (weir_sql_bind_expr(binder, ast->args[i], &(*args)[i]) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static enum weir_status call(struct weir_binder *binder, const struct weir_ast_expr *ast,
                             const char *name, struct weir_expr *a, struct weir_expr *b,
                             struct weir_expr **expr)
{
    struct weir_error error = {0};
    struct weir_expr *args[] = {a, b};
    if (weir_expr_call(binder->planner->arena, name, 2, args, expr, &error) != WEIR_OK) {
        return fail(binder, ast, &error);
    }
    return WEIR_OK;
}

static enum weir_status bind_call(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  struct weir_expr **expr)
{
    struct weir_planner *planner = binder->planner;
    for (uint32_t i = 0; i < sizeof(metadata_functions) / sizeof(metadata_functions[0]); i++) {
        if (!ast->is_operator && strcmp(ast->text, metadata_functions[i]) == 0 &&
            binder->place != WEIR_BIND_GENERATED) {
            return weir_fault_add(
                &planner->faults, ast->offset,
                weir_arena_printf(planner->arena,
                                  "add a column to the table: name type GENERATED ALWAYS AS "
                                  "(%s(…)) STORED",
                                  ast->text),
                "%s() is for generated columns of the table that is read", ast->text);
        }
    }
    struct weir_expr **args;
    struct weir_error error = {0};
    if (bind_args(binder, ast, &args) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (weir_expr_call(planner->arena, ast->text, ast->arg_count, args, expr, &error) != WEIR_OK) {
        return fail(binder, ast, &error);
    }
    return WEIR_OK;
}

// items joined by AND or OR: in order, in a tree that is not deeper than it must be.
static struct weir_expr *join(struct weir_arena *arena, bool is_and, uint32_t count,
                              struct weir_expr **items)
{
    if (count == 1) {
        return items[0];
    }
    // Short lists lean to the left as people write them, long ones are halved.
    uint32_t left = count <= 16 ? count - 1 : count / 2;
    struct weir_expr *a = join(arena, is_and, left, items);
    struct weir_expr *b = join(arena, is_and, count - left, items + left);
    return is_and ? weir_expr_and(arena, a, b) : weir_expr_or(arena, a, b);
}

static enum weir_status bind_logic(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                   struct weir_expr **expr)
{
    struct weir_arena *arena = binder->planner->arena;
    const char *construct = ast->kind == WEIR_AST_AND  ? "AND"
                            : ast->kind == WEIR_AST_OR ? "OR"
                                                       : "NOT";
    struct weir_expr **args = weir_arena_alloc(arena, ast->arg_count * sizeof(struct weir_expr *));
    for (uint32_t i = 0; i < ast->arg_count; i++) {
        if (weir_sql_bind_condition(binder, ast->args[i], construct, &args[i]) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    *expr = ast->kind == WEIR_AST_NOT
                ? weir_expr_not(arena, args[0])
                : join(arena, ast->kind == WEIR_AST_AND, ast->arg_count, args);
    return WEIR_OK;
}

// A literal without a type becomes text where nothing else can give it one.
static enum weir_status as_text(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                struct weir_expr **expr)
{
    struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
    struct weir_error error = {0};
    if (weir_expr_is_unknown(*expr) &&
        weir_expr_cast(binder->planner->arena, *expr, &text, WEIR_CAST_IMPLICIT, expr, &error) !=
            WEIR_OK) {
        return fail(binder, ast, &error);
    }
    return WEIR_OK;
}

static enum weir_status bind_test(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  struct weir_expr **expr)
{
    struct weir_expr *arg;
    enum weir_status status =
        ast->test_name != NULL ? weir_sql_bind_condition(binder, ast->args[0], ast->test_name, &arg)
                               : weir_sql_bind_expr(binder, ast->args[0], &arg);
    if (status != WEIR_OK || as_text(binder, ast, &arg) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *expr = weir_expr_test(binder->planner->arena, ast->test, arg);
    return WEIR_OK;
}

static enum weir_status bind_between(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                     struct weir_expr **expr)
{
    struct weir_arena *arena = binder->planner->arena;
    const char *low_name = ast->is_negated ? "<" : ">=";
    const char *high_name = ast->is_negated ? ">" : "<=";
    struct weir_expr **args;
    if (bind_args(binder, ast, &args) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_expr *sides[2];
    for (uint32_t i = 0; i < 1 + (uint32_t)ast->is_symmetric; i++) {
        struct weir_expr *low;
        struct weir_expr *high;
        if (call(binder, ast, low_name, args[0], args[1 + i], &low) != WEIR_OK ||
            call(binder, ast, high_name, args[0], args[2 - i], &high) != WEIR_OK) {
            return WEIR_ERROR;
        }
        sides[i] =
            ast->is_negated ? weir_expr_or(arena, low, high) : weir_expr_and(arena, low, high);
    }
    *expr = !ast->is_symmetric ? sides[0]
            : ast->is_negated  ? weir_expr_and(arena, sides[0], sides[1])
                               : weir_expr_or(arena, sides[0], sides[1]);
    return WEIR_OK;
}

static enum weir_status bind_case(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  struct weir_expr **expr)
{
    struct weir_arena *arena = binder->planner->arena;
    uint32_t branch_count = ast->arg_count / 2;
    struct weir_case_branch *branches = weir_arena_alloc(arena, branch_count * sizeof(*branches));
    struct weir_expr *operand = NULL;
    struct weir_expr *otherwise = NULL;
    if (ast->operand != NULL && (weir_sql_bind_expr(binder, ast->operand, &operand) != WEIR_OK ||
                                 as_text(binder, ast->operand, &operand) != WEIR_OK)) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < branch_count; i++) {
        const struct weir_ast_expr *when = ast->args[2 * i];
        enum weir_status status;
        if (operand == NULL) {
            status = weir_sql_bind_condition(binder, when, "CASE/WHEN", &branches[i].condition);
        } else {
            struct weir_expr *value;
            status = weir_sql_bind_expr(binder, when, &value);
            if (status == WEIR_OK) {
                status = call(binder, when, "=", operand, value, &branches[i].condition);
            }
        }
        if (status != WEIR_OK ||
            weir_sql_bind_expr(binder, ast->args[2 * i + 1], &branches[i].result) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (ast->otherwise != NULL &&
        weir_sql_bind_expr(binder, ast->otherwise, &otherwise) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_error error = {0};
    return weir_expr_case(arena, branch_count, branches, otherwise, expr, &error) == WEIR_OK
               ? WEIR_OK
               : fail(binder, ast, &error);
}

// interval '5' minute. A broken number would lose what is below the field: refused as a precision.
static bool is_interval_of_field(const struct weir_ast_expr *ast)
{
    return strcmp(ast->type.name, "interval") == 0 && ast->type.modifier_count == 1 &&
           ast->args[0]->kind == WEIR_AST_STRING && strchr(ast->args[0]->text, '.') == NULL;
}

static enum weir_status bind_interval_of_field(struct weir_binder *binder,
                                               const struct weir_ast_expr *ast,
                                               struct weir_expr **expr)
{
    struct weir_arena *arena = binder->planner->arena;
    struct weir_type interval = weir_type_plain(WEIR_TYPE_INTERVAL);
    struct weir_error error = {0};
    const char *text = weir_sql_length_with_unit(arena, ast->type.modifiers[0], ast->args[0]->text);
    if (text == ast->args[0]->text) {
        return weir_sql_type(binder->planner, &ast->type, &interval);
    }
    struct weir_expr *literal = weir_expr_literal(arena, text);
    return weir_expr_cast(arena, literal, &interval, WEIR_CAST_EXPLICIT, expr, &error) == WEIR_OK
               ? WEIR_OK
               : fail(binder, ast->args[0], &error);
}

static enum weir_status bind_cast(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                  struct weir_expr **expr)
{
    struct weir_expr *arg;
    struct weir_type type;
    struct weir_error error = {0};
    if (is_interval_of_field(ast)) {
        return bind_interval_of_field(binder, ast, expr);
    }
    if (weir_sql_type(binder->planner, &ast->type, &type) != WEIR_OK ||
        weir_sql_bind_expr(binder, ast->args[0], &arg) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (weir_expr_cast(binder->planner->arena, arg, &type, WEIR_CAST_EXPLICIT, expr, &error) !=
        WEIR_OK) {
        return fail(binder, weir_expr_is_unknown(arg) ? ast->args[0] : ast, &error);
    }
    return WEIR_OK;
}

// COALESCE, NULLIF, GREATEST, LEAST, IN, IS DISTINCT FROM, what arrays have: constructors over all
// arguments.
static enum weir_status bind_choice(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                    struct weir_expr **expr)
{
    struct weir_arena *arena = binder->planner->arena;
    struct weir_error error = {0};
    struct weir_expr **args;
    if (bind_args(binder, ast, &args) != WEIR_OK) {
        return WEIR_ERROR;
    }
    enum weir_status status;
    if (ast->kind == WEIR_AST_COALESCE) {
        status = weir_expr_coalesce(arena, ast->arg_count, args, expr, &error);
    } else if (ast->kind == WEIR_AST_NULLIF) {
        status = weir_expr_nullif(arena, args[0], args[1], expr, &error);
    } else if (ast->kind == WEIR_AST_IN) {
        status = weir_expr_in(arena, args[0], ast->arg_count - 1, args + 1, ast->is_negated, expr,
                              &error);
    } else if (ast->kind == WEIR_AST_ANY) {
        status = weir_expr_any(arena, args[0], ast->text, args[1], ast->is_negated, expr, &error);
    } else if (ast->kind == WEIR_AST_ARRAY) {
        status = weir_expr_array(arena, ast->arg_count, args, expr, &error);
    } else if (ast->kind == WEIR_AST_SUBSCRIPT) {
        status = weir_expr_subscript(arena, args[0], ast->arg_count - 1, args + 1, expr, &error);
    } else if (ast->kind == WEIR_AST_DISTINCT) {
        status = weir_expr_distinct(arena, args[0], args[1], ast->is_negated, expr, &error);
    } else {
        status = weir_expr_greatest(arena, ast->kind == WEIR_AST_LEAST, ast->arg_count, args, expr,
                                    &error);
    }
    return status == WEIR_OK ? WEIR_OK : fail(binder, ast, &error);
}

static enum weir_status bind_any(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                 struct weir_expr **expr)
{
    struct weir_arena *arena = binder->planner->arena;
    switch (ast->kind) {
    case WEIR_AST_COLUMN:
        return bind_column(binder, ast, expr);
    case WEIR_AST_STAR:
    case WEIR_AST_FIELD_STAR:
        return weir_fault_add(&binder->planner->faults, ast->offset, NULL,
                              "row expansion via \"*\" is not supported here");
    case WEIR_AST_FIELD:
        return bind_field(binder, ast, expr);
    case WEIR_AST_STRING:
        *expr = weir_expr_literal(arena, ast->text);
        return WEIR_OK;
    case WEIR_AST_NULL:
        *expr = weir_expr_literal(arena, NULL);
        return WEIR_OK;
    case WEIR_AST_NUMBER:
        *expr = weir_expr_number(arena, ast->text);
        return WEIR_OK;
    case WEIR_AST_BOOLEAN:
        *expr = weir_expr_boolean(arena, ast->value);
        return WEIR_OK;
    case WEIR_AST_CALL:
        return bind_call(binder, ast, expr);
    case WEIR_AST_AND:
    case WEIR_AST_OR:
    case WEIR_AST_NOT:
        return bind_logic(binder, ast, expr);
    case WEIR_AST_TEST:
        return bind_test(binder, ast, expr);
    case WEIR_AST_BETWEEN:
        return bind_between(binder, ast, expr);
    case WEIR_AST_CASE:
        return bind_case(binder, ast, expr);
    case WEIR_AST_DISTINCT:
    case WEIR_AST_IN:
    case WEIR_AST_ANY:
    case WEIR_AST_ARRAY:
    case WEIR_AST_SUBSCRIPT:
    case WEIR_AST_COALESCE:
    case WEIR_AST_NULLIF:
    case WEIR_AST_GREATEST:
    case WEIR_AST_LEAST:
        return bind_choice(binder, ast, expr);
    case WEIR_AST_CAST:
        return bind_cast(binder, ast, expr);
    case WEIR_AST_AGGREGATE:
        return weir_sql_bind_aggregate(binder, ast, expr);
    }
    return WEIR_ERROR;
}

enum weir_status weir_sql_bind_expr(struct weir_binder *binder, const struct weir_ast_expr *ast,
                                    struct weir_expr **expr)
{
    struct weir_grouping *grouping = binder->grouping;
    uint32_t loose_count = grouping == NULL ? 0 : grouping->loose_count;
    if (bind_any(binder, ast, expr) != WEIR_OK) {
        return WEIR_ERROR;
    }
    // The columns in it are those of a key.
    if (grouping != NULL && grouping->loose_count != loose_count &&
        weir_grouping_find_key(grouping, *expr) >= 0) {
        grouping->loose_count = loose_count;
    }
    return WEIR_OK;
}

enum weir_status weir_sql_bind_condition(struct weir_binder *binder,
                                         const struct weir_ast_expr *ast, const char *construct,
                                         struct weir_expr **expr)
{
    struct weir_expr *bound;
    struct weir_error error = {0};
    if (weir_sql_bind_expr(binder, ast, &bound) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (weir_expr_condition(binder->planner->arena, bound, construct, expr, &error) != WEIR_OK) {
        return fail(binder, ast, &error);
    }
    return WEIR_OK;
}
