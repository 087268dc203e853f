// SPDX-License-Identifier: Apache-2.0
// From a query to the rows it reads and the expressions that make its columns (planner.h). Views,
// subqueries and WITH are bound where they are named, as if written there: their columns that are
// only columns or fields are passed through, others become a PROJECT of their own.
#include "runtime/base/assert.h"
#include "sql/nearest.h"
#include "sql/planner.h"

#include <string.h>

enum { NODE_COUNT_MAX = 10000 };

// The WITH names that are visible, innermost first.
struct environment {
    const struct environment *outer;
    const struct weir_ast_select *select; // whose ctes [0, count) are visible
    uint32_t cte_count;
};

static enum weir_status bind_query(struct weir_planner *planner,
                                   const struct weir_ast_select *select,
                                   const struct environment *outer, struct weir_relation *relation);

// --- FROM ------------------------------------------------------------------------------------

// The node that gives the table's rows with all columns, generated ones included. One for all who
// read the table.
static struct weir_graph_node *read_table(struct weir_planner *planner,
                                          struct weir_catalog_table *table)
{
    if (table->source != NULL) {
        return table->source;
    }
    struct weir_graph *graph = &planner->graph;
    const char *target = graph->target;
    graph->target = NULL;
    struct weir_graph_node *node = weir_graph_add(graph, WEIR_PLAN_SOURCE, 0, NULL);
    node->is_changing = table->table.is_keyed;
    node->table = table;
    node->schema = table->physical_schema;
    uint32_t generated_count = table->table.column_count - table->physical_count;
    if (generated_count != 0 || table->check_count != 0 || table->table.event_time_column >= 0) {
        node = weir_graph_add(graph, WEIR_PLAN_DERIVE, 1, &node);
        node->table = table;
        node->schema = table->derived_schema;
        node->exprs = weir_arena_alloc(planner->arena, generated_count * sizeof(*node->exprs));
        for (uint32_t i = 0; i < table->table.column_count; i++) {
            if (table->generated[i] != NULL) {
                node->exprs[node->expr_count++] = table->generated[i];
            }
        }
        node->check_count = table->check_count;
        node->checks = table->checks;
        if (table->table.event_time_column >= 0) {
            node->event_time_column = (int32_t)table->derived_idx[table->table.event_time_column];
        }
    }
    if (table->table.is_keyed) {
        node = weir_sql_normalize(planner, table, node);
    }
    graph->target = target;
    table->source = node;
    return node;
}

// The same behind the node that keeps the time of its partitions, for queries that need time.
static struct weir_graph_node *read_timed(struct weir_planner *planner,
                                          struct weir_catalog_table *table)
{
    struct weir_graph_node *node = read_table(planner, table);
    bool has_time = node->kind == WEIR_PLAN_DERIVE && node->event_time_column >= 0;
    if (!has_time && (!planner->is_ageing || table->table.is_keyed)) {
        return node; // there is no event time to be had: who asks for it is told
    }
    if (table->timed == NULL) {
        struct weir_graph *graph = &planner->graph;
        const char *target = graph->target;
        graph->target = NULL;
        table->timed = weir_graph_add_passing(graph, WEIR_PLAN_WATERMARK, 1, &node, 0, NULL);
        table->timed->table = table;
        graph->target = target;
    }
    return table->timed;
}

static enum weir_status bind_table(struct weir_planner *planner, struct weir_catalog_table *table,
                                   int32_t offset, struct weir_relation *relation)
{
    if (table->is_broken) {
        return WEIR_ERROR;
    }
    if (!planner->is_trial && table->read_offset < 0) {
        table->read_offset = offset;
        table->read_statement_number = planner->faults.statement_number;
    }
    uint32_t count = table->table.column_count;
    *relation = (struct weir_relation){
        .input_count = 1,
        .inputs = weir_arena_alloc(planner->arena, sizeof(struct weir_graph_node *)),
        .column_count = count,
        .columns = weir_arena_alloc(planner->arena, count * sizeof(*relation->columns)),
    };
    relation->inputs[0] =
        planner->is_timed || planner->is_ageing ? read_timed(planner, table)
                                                : read_table(planner, table);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_table_column *column = &table->table.columns[i];
        relation->columns[i] = (struct weir_scope_column){
            .name = column->name,
            .expr = weir_expr_column(planner->arena, table->derived_idx[i], column->name,
                                     &column->type),
        };
    }
    return WEIR_OK;
}

// The query's columns as columns of rows: literals get a type, expressions a PROJECT.
enum weir_status weir_sql_materialize(struct weir_planner *planner, struct weir_relation *relation,
                                      bool is_single)
{
    struct weir_arena *arena = planner->arena;
    uint32_t count = relation->column_count;
    bool is_plain = true;
    struct weir_expr **exprs = weir_arena_alloc(arena, count * sizeof(*exprs));
    const char **names = weir_arena_alloc(arena, count * sizeof(*names));
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = relation->columns[i].expr;
        names[i] = relation->columns[i].name;
        struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
        struct weir_error error = {0};
        if (weir_expr_is_unknown(exprs[i]) &&
            weir_expr_cast(arena, exprs[i], &text, WEIR_CAST_IMPLICIT, &exprs[i], &error) !=
                WEIR_OK) {
            return weir_fault_add_error(&planner->faults, relation->offsets[i], &error);
        }
        relation->columns[i].expr = exprs[i];
        is_plain &= weir_graph_is_path(exprs[i]) || weir_expr_is_constant(exprs[i]);
    }
    if (is_plain && !is_single) {
        return WEIR_OK;
    }
    struct weir_graph_node *node = weir_graph_add_project(&planner->graph, relation->input_count,
                                                          relation->inputs, count, exprs, names);
    node->is_single = is_single;
    relation->input_count = 1;
    relation->inputs = weir_arena_alloc(arena, sizeof(struct weir_graph_node *));
    relation->inputs[0] = node;
    for (uint32_t i = 0; i < count; i++) {
        relation->columns[i].expr =
            weir_expr_column(arena, i, node->schema.columns[i].name, &node->schema.columns[i].type);
    }
    return WEIR_OK;
}

static enum weir_status rename_columns(struct weir_planner *planner, const char *table,
                                       int32_t offset, uint32_t count, const char **names,
                                       struct weir_relation *relation)
{
    if (count > relation->column_count) {
        return weir_fault_add(&planner->faults, offset, NULL,
                              "table \"%s\" has %u columns available but %u columns specified",
                              table, relation->column_count, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        relation->columns[i].name = names[i];
    }
    return WEIR_OK;
}

static enum weir_status bind_subquery(struct weir_planner *planner,
                                      const struct weir_ast_select *select,
                                      const struct environment *environment,
                                      struct weir_relation *relation)
{
    return bind_query(planner, select, environment, relation) == WEIR_OK
               ? weir_sql_materialize(planner, relation, false)
               : WEIR_ERROR;
}

static enum weir_status bind_view(struct weir_planner *planner,
                                  const struct weir_catalog_view *view,
                                  struct weir_relation *relation)
{
    const struct weir_ast_statement *statement = view->statement;
    if (view->is_broken) {
        return WEIR_ERROR;
    }
    // Faults of a view were found where it was created.
    if (bind_subquery(planner, statement->select, NULL, relation) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < statement->column_name_count; i++) {
        relation->columns[i].name = statement->column_names[i].name;
    }
    return WEIR_OK;
}

static enum weir_status unknown_relation(struct weir_planner *planner,
                                         const struct weir_ast_from *from,
                                         const struct environment *environment)
{
    const char *best = weir_catalog_nearest(planner, from->table, true);
    for (; best == NULL && environment != NULL; environment = environment->outer) {
        struct weir_nearest nearest = weir_nearest_start(from->table);
        for (uint32_t i = 0; i < environment->cte_count; i++) {
            weir_nearest_offer(&nearest, environment->select->ctes[i].name);
        }
        best = nearest.best;
    }
    return weir_fault_add(&planner->faults, from->offset,
                          weir_fault_did_you_mean(&planner->faults, best),
                          "relation \"%s\" does not exist", from->table);
}

// The name in FROM: of a WITH, of a table, of a view.
static enum weir_status bind_named(struct weir_planner *planner, const struct weir_ast_from *from,
                                   const struct environment *environment,
                                   struct weir_relation *relation)
{
    for (const struct environment *at = environment; at != NULL; at = at->outer) {
        for (uint32_t i = at->cte_count; i-- > 0;) {
            const struct weir_ast_cte *cte = &at->select->ctes[i];
            if (strcmp(cte->name, from->table) != 0) {
                continue;
            }
            struct environment before = {.outer = at->outer, .select = at->select, .cte_count = i};
            return bind_subquery(planner, cte->select, &before, relation) == WEIR_OK
                       ? rename_columns(planner, cte->name, cte->offset, cte->column_count,
                                        cte->columns, relation)
                       : WEIR_ERROR;
        }
    }
    struct weir_catalog_table *table = weir_catalog_find_table(planner, from->table);
    if (table != NULL) {
        return bind_table(planner, table, from->offset, relation);
    }
    const struct weir_catalog_view *view = weir_catalog_find_view(planner, from->table);
    return view != NULL ? bind_view(planner, view, relation)
                        : unknown_relation(planner, from, environment);
}

// tumble(table, …): the table is named as it would be in FROM.
static enum weir_status bind_function(struct weir_planner *planner,
                                      const struct weir_ast_expr *call,
                                      const struct environment *environment,
                                      struct weir_relation *relation)
{
    const struct weir_ast_expr *table = call->arg_count == 0 ? NULL : call->args[0];
    if (call->arg_count < 3 || call->arg_count > 4 || table->kind != WEIR_AST_COLUMN ||
        table->name_count != 1) {
        return weir_fault_add(
            &planner->faults, call->offset,
            "a table, view or WITH name; its event time; the size of the windows: "
            "tumble(t, ts, interval '1 minute' [, origin])",
            call->arg_count < 3 || call->arg_count > 4
                ? "tumble() takes 3 or 4 arguments"
                : "the first argument of tumble() is the name of a table");
    }
    struct weir_ast_from from = {.table = table->names[0], .offset = table->offset};
    bool was_timed = planner->is_timed;
    planner->is_timed = true;
    enum weir_status status = bind_named(planner, &from, environment, relation);
    planner->is_timed = was_timed;
    return status == WEIR_OK ? weir_sql_bind_tumble(planner, call, from.table, relation)
                             : WEIR_ERROR;
}

static enum weir_status bind_from(struct weir_planner *planner, const struct weir_ast_from *from,
                                  const struct environment *environment,
                                  struct weir_relation *relation, struct weir_scope *scope)
{
    enum weir_status status =
        from->function != NULL ? bind_function(planner, from->function, environment, relation)
        : from->table != NULL  ? bind_named(planner, from, environment, relation)
                               : bind_subquery(planner, from->subquery, environment, relation);
    const char *name = from->alias != NULL      ? from->alias
                       : from->function != NULL ? from->function->text
                                                : from->table;
    if (status != WEIR_OK || rename_columns(planner, name, from->offset, from->column_count,
                                            from->columns, relation) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *scope = (struct weir_scope){
        .name = name,
        .table_name = from->alias != NULL ? from->table : NULL,
        .column_count = relation->column_count,
        .columns = relation->columns,
    };
    return WEIR_OK;
}

// --- targets ---------------------------------------------------------------------------------

static void add_column(struct weir_planner *planner, struct weir_relation *relation,
                       const char *name, struct weir_expr *expr, int32_t offset)
{
    uint32_t count = relation->column_count++;
    relation->columns =
        weir_arena_realloc(planner->arena, relation->columns, count * sizeof(*relation->columns),
                           (count + 1) * sizeof(*relation->columns));
    relation->offsets =
        weir_arena_realloc(planner->arena, relation->offsets, count * sizeof(*relation->offsets),
                           (count + 1) * sizeof(*relation->offsets));
    relation->columns[count] = (struct weir_scope_column){.name = name, .expr = expr};
    relation->offsets[count] = offset;
}

// * and t.*
static enum weir_status expand_star(struct weir_binder *binder,
                                    const struct weir_ast_target *target,
                                    struct weir_relation *relation)
{
    const struct weir_scope *scope = binder->scope;
    const struct weir_ast_expr *ast = target->expr;
    bool is_known =
        scope->name != NULL && ast->name_count == 1 && strcmp(scope->name, ast->names[0]) == 0;
    if (ast->name_count != 0 && !is_known) {
        return weir_sql_unknown_table(binder, ast);
    }
    for (uint32_t i = 0; i < scope->column_count; i++) {
        struct weir_expr *expr = scope->columns[i].expr;
        if (binder->grouping != NULL && weir_grouping_find_key(binder->grouping, expr) < 0) {
            weir_grouping_name(binder, scope->columns[i].name, target->offset);
        }
        add_column(binder->planner, relation, scope->columns[i].name, expr, target->offset);
    }
    return WEIR_OK;
}

// (composite).*
static enum weir_status expand_fields(struct weir_binder *binder,
                                      const struct weir_ast_target *target,
                                      struct weir_relation *relation)
{
    struct weir_expr *composite;
    const struct weir_ast_expr *ast = target->expr->args[0];
    // (t).* is t.*
    if (ast->kind == WEIR_AST_COLUMN && ast->name_count == 1 && binder->scope->name != NULL &&
        strcmp(binder->scope->name, ast->names[0]) == 0) {
        struct weir_ast_expr star = {
            .kind = WEIR_AST_STAR, .offset = ast->offset, .name_count = 1, .names = ast->names};
        struct weir_ast_target whole = {.expr = &star, .offset = target->offset};
        return expand_star(binder, &whole, relation);
    }
    if (weir_sql_bind_expr(binder, ast, &composite) != WEIR_OK) {
        return WEIR_ERROR;
    }
    const struct weir_type *type = weir_expr_type(composite);
    if (type->kind != WEIR_TYPE_COMPOSITE || weir_expr_is_unknown(composite)) {
        char name[256];
        return weir_fault_add(&binder->planner->faults, target->offset, NULL,
                              "type %s is not composite", weir_type_name(type, name, sizeof(name)));
    }
    for (uint32_t i = 0; i < type->composite->field_count; i++) {
        add_column(binder->planner, relation, type->composite->fields[i].name,
                   weir_expr_field(binder->planner->arena, composite, i), target->offset);
    }
    return WEIR_OK;
}

static enum weir_status bind_target(struct weir_binder *binder,
                                    const struct weir_ast_target *target,
                                    struct weir_relation *relation)
{
    if (target->expr->kind == WEIR_AST_STAR) {
        return expand_star(binder, target, relation);
    }
    if (target->expr->kind == WEIR_AST_FIELD_STAR) {
        return expand_fields(binder, target, relation);
    }
    struct weir_expr *expr;
    if (weir_sql_bind_expr(binder, target->expr, &expr) != WEIR_OK) {
        return WEIR_ERROR;
    }
    add_column(binder->planner, relation, target->name != NULL ? target->name : target->expr->label,
               expr, target->offset);
    return WEIR_OK;
}

// The SELECT list and HAVING.
static enum weir_status bind_targets(struct weir_binder *binder,
                                     const struct weir_ast_select *select,
                                     struct weir_relation *relation)
{
    enum weir_status status = WEIR_OK;
    struct weir_expr *having = NULL;
    for (uint32_t i = 0; i < select->target_count; i++) {
        if (bind_target(binder, &select->targets[i], relation) != WEIR_OK ||
            (binder->grouping != NULL && weir_grouping_check(binder) != WEIR_OK)) {
            status = WEIR_ERROR;
        }
        if (binder->grouping != NULL) {
            binder->grouping->loose_count = 0;
        }
    }
    if (binder->grouping == NULL) {
        return status;
    }
    if (select->having != NULL &&
        (weir_sql_bind_condition(binder, select->having, "HAVING", &having) != WEIR_OK ||
         weir_grouping_check(binder) != WEIR_OK)) {
        status = WEIR_ERROR;
    }
    return status == WEIR_OK ? weir_sql_finish_group(binder, select, having, relation) : WEIR_ERROR;
}

// --- queries ---------------------------------------------------------------------------------

static enum weir_status bind_plain(struct weir_planner *planner,
                                   const struct weir_ast_select *select,
                                   const struct environment *environment,
                                   struct weir_relation *relation)
{
    struct weir_relation from;
    struct weir_scope scope;
    // WITH queries and views that name each other twice grow without bound.
    if (planner->graph.node_count > NODE_COUNT_MAX) {
        return weir_fault_add(&planner->faults, select->offset, NULL,
                              "the job is too large: more than %d operators", NODE_COUNT_MAX);
    }
    bool was_ageing = planner->is_ageing;
    bool is_keeping = weir_sql_is_grouped(select) || select->is_distinct;
    planner->is_ageing = was_ageing || (is_keeping && weir_planner_has_ttl(planner));
    enum weir_status found = bind_from(planner, &select->from, environment, &from, &scope);
    planner->is_ageing = was_ageing;
    if (found != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_binder binder = {.planner = planner, .scope = &scope, .place = WEIR_BIND_QUERY};
    enum weir_status status = WEIR_OK;
    *relation = (struct weir_relation){.input_count = from.input_count, .inputs = from.inputs};
    if (select->where != NULL) {
        struct weir_expr *condition;
        status = weir_sql_bind_condition(&binder, select->where, "WHERE", &condition);
        if (status == WEIR_OK) {
            relation->inputs = weir_arena_alloc(planner->arena, sizeof(struct weir_graph_node *));
            relation->inputs[0] =
                weir_graph_add_filter(&planner->graph, from.input_count, from.inputs, condition);
            relation->input_count = 1;
        }
    }
    struct weir_grouping grouping = {.input_count = relation->input_count,
                                     .inputs = relation->inputs};
    if (weir_sql_is_grouped(select)) {
        // Without its keys every column would be one too many.
        if (weir_sql_bind_keys(&binder, select, &grouping) != WEIR_OK) {
            return WEIR_ERROR;
        }
        binder.grouping = &grouping;
    }
    if (bind_targets(&binder, select, relation) != WEIR_OK || status != WEIR_OK) {
        return WEIR_ERROR;
    }
    return select->is_distinct ? weir_sql_bind_distinct(planner, select, relation) : WEIR_OK;
}

// Casts column `idx` of all branches to their common type.
static enum weir_status unite_column(struct weir_planner *planner, uint32_t branch_count,
                                     struct weir_relation *branches, uint32_t idx)
{
    struct weir_expr **exprs = weir_arena_alloc(planner->arena, branch_count * sizeof(*exprs));
    struct weir_type type;
    struct weir_error error = {0};
    for (uint32_t i = 0; i < branch_count; i++) {
        exprs[i] = branches[i].columns[idx].expr;
    }
    if (weir_expr_common_type("UNION", branch_count, exprs, &type, &error) != WEIR_OK) {
        return weir_fault_add_error(&planner->faults, branches[branch_count - 1].offsets[idx],
                                    &error);
    }
    for (uint32_t i = 0; i < branch_count; i++) {
        if (weir_expr_cast(planner->arena, exprs[i], &type, WEIR_CAST_IMPLICIT,
                           &branches[i].columns[idx].expr, &error) != WEIR_OK) {
            return weir_fault_add_error(&planner->faults, branches[i].offsets[idx], &error);
        }
    }
    return WEIR_OK;
}

static enum weir_status bind_union(struct weir_planner *planner,
                                   const struct weir_ast_select *select,
                                   const struct environment *environment,
                                   struct weir_relation *relation)
{
    uint32_t count = select->branch_count;
    struct weir_relation *branches = weir_arena_alloc(planner->arena, count * sizeof(*branches));
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (bind_query(planner, select->branches[i], environment, &branches[i]) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    if (status != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 1; i < count; i++) {
        if (branches[i].column_count != branches[0].column_count) {
            return weir_fault_add(&planner->faults, select->branches[i]->offset, NULL,
                                  "each UNION query must have the same number of columns");
        }
    }
    for (uint32_t i = 0; i < branches[0].column_count; i++) {
        if (unite_column(planner, count, branches, i) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    *relation = branches[0];
    relation->input_count = count;
    relation->inputs = weir_arena_alloc(planner->arena, count * sizeof(*relation->inputs));
    for (uint32_t i = 0; i < count && status == WEIR_OK; i++) {
        for (uint32_t j = 0; j < branches[0].column_count; j++) {
            branches[i].columns[j].name = branches[0].columns[j].name;
        }
        status = weir_sql_materialize(planner, &branches[i], true);
        relation->inputs[i] = branches[i].inputs[0];
    }
    return status;
}

static enum weir_status bind_query(struct weir_planner *planner,
                                   const struct weir_ast_select *select,
                                   const struct environment *outer, struct weir_relation *relation)
{
    struct environment environment = {
        .outer = outer, .select = select, .cte_count = select->cte_count};
    for (uint32_t i = 0; i < select->cte_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(select->ctes[i].name, select->ctes[j].name) == 0) {
                return weir_fault_add(&planner->faults, select->ctes[i].offset, NULL,
                                      "WITH query name \"%s\" specified more than once",
                                      select->ctes[i].name);
            }
        }
    }
    return select->branch_count != 0 ? bind_union(planner, select, &environment, relation)
                                     : bind_plain(planner, select, &environment, relation);
}

enum weir_status weir_sql_bind_query(struct weir_planner *planner,
                                     const struct weir_ast_select *select,
                                     struct weir_relation *relation)
{
    return bind_query(planner, select, NULL, relation);
}
