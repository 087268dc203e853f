// SPDX-License-Identifier: Apache-2.0
// The nodes of grouped queries and of SELECT DISTINCT (planner.h): which window they are of, what
// may be kept, the expressions put over the rows of the groups.
#include "runtime/base/assert.h"
#include "sql/planner.h"

static enum weir_time_kind time_of(uint32_t input_count, struct weir_graph_node *const *inputs,
                                   int32_t column_idx)
{
    enum weir_time_kind kind = WEIR_TIME_NONE;
    for (uint32_t i = 0; i < input_count && column_idx >= 0; i++) {
        struct weir_catalog_table *table;
        enum weir_time_kind more = weir_graph_time_of(inputs[i], (uint32_t)column_idx, &table);
        if (i != 0 && more != kind) {
            return WEIR_TIME_NONE;
        }
        kind = more;
    }
    return kind;
}

// Sets group->routes, and group->window_end where a key is the start or the end of a window. The
// end may have to come along as one more argument.
static enum weir_status find_window(struct weir_planner *planner, uint32_t input_count,
                                    struct weir_graph_node *const *inputs, int32_t offset,
                                    struct weir_graph_group *group)
{
    bool is_windowed = false;
    group->window_end = -1;
    uint32_t *routes = weir_arena_alloc(planner->arena, group->key_count * sizeof(*routes));
    for (uint32_t i = 0; i < group->key_count; i++) {
        enum weir_time_kind kind =
            time_of(input_count, inputs, weir_expr_column_idx(group->keys[i]));
        bool is_of_window = kind == WEIR_TIME_WINDOW_START || kind == WEIR_TIME_WINDOW_END;
        is_windowed |= is_of_window;
        if (!is_of_window) {
            routes[group->route_count++] = i;
        }
        if (kind == WEIR_TIME_WINDOW_END) {
            group->window_end = (int32_t)i;
        }
    }
    group->routes = group->route_count != 0 ? routes : NULL;
    const struct weir_schema *schema = &inputs[0]->schema;
    for (uint32_t i = 0; is_windowed && group->window_end < 0 && i < schema->column_count; i++) {
        if (time_of(input_count, inputs, (int32_t)i) == WEIR_TIME_WINDOW_END) {
            struct weir_expr *end = weir_expr_column(planner->arena, i, schema->columns[i].name,
                                                     &schema->columns[i].type);
            uint32_t idx = weir_sql_add_expr(planner->arena, &group->args, &group->arg_count, end);
            group->window_end = (int32_t)(group->key_count + idx);
        }
    }
    if (is_windowed && group->window_end < 0) {
        return weir_fault_add(&planner->faults, offset,
                              "let the subquery in FROM pass window_end on, too",
                              "a GROUP BY with window_start needs the window_end of that window");
    }
    return WEIR_OK;
}

// Sets group->state_ttl_us. What a window keeps goes with the window.
static enum weir_status set_ttl(struct weir_planner *planner, int32_t offset, uint32_t input_count,
                                struct weir_graph_node *const *inputs,
                                struct weir_graph_group *group, const char *what)
{
    static const char HINT[] = "SET weir.state_ttl = 'infinity' before it, or group by a window";
    if (!weir_planner_has_ttl(planner) || group->window_end >= 0) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < input_count; i++) {
        if (inputs[i]->is_changing) {
            return weir_fault_add(&planner->faults, offset, HINT,
                                  "not supported: weir.state_ttl with %s over rows that change: "
                                  "what is taken back would no longer be there",
                                  what);
        }
    }
    group->state_ttl_us = planner->state_ttl_us;
    return WEIR_OK;
}

static enum weir_status check_now(struct weir_planner *planner, int32_t offset,
                                  const struct weir_graph_node *aggregate)
{
    return weir_graph_has_now(aggregate->inputs[0], true)
               ? weir_fault_add(&planner->faults, offset, "use a column of event time",
                                "not supported: now() below a GROUP BY over rows that change")
               : WEIR_OK;
}

struct remap {
    const struct weir_grouping *grouping;
    const struct weir_schema *schema; // of the AGGREGATE
};

static struct weir_expr *put_over_group(struct weir_arena *arena, const struct weir_expr *node,
                                        void *context)
{
    const struct remap *remap = context;
    const struct weir_grouping *grouping = remap->grouping;
    uint32_t first = grouping->inputs[0]->schema.column_count;
    int32_t column_idx = weir_expr_column_idx(node);
    int32_t idx = column_idx >= (int32_t)first
                      ? column_idx - (int32_t)first + (int32_t)grouping->key_count
                      : weir_grouping_find_key(grouping, node);
    WEIR_ASSERT(idx >= 0 || column_idx < 0);
    return idx < 0 ? NULL
                   : weir_expr_column(arena, (uint32_t)idx, remap->schema->columns[idx].name,
                                      &remap->schema->columns[idx].type);
}

static void set_input(struct weir_planner *planner, struct weir_relation *relation,
                      struct weir_graph_node *node)
{
    relation->input_count = 1;
    relation->inputs = weir_arena_alloc(planner->arena, sizeof(struct weir_graph_node *));
    relation->inputs[0] = node;
}

// Arguments that are keys need no column of their own.
static void place_args(struct weir_arena *arena, const struct weir_grouping *grouping,
                       struct weir_graph_group *group)
{
    int32_t *places = weir_arena_alloc(arena, grouping->arg_count * sizeof(*places));
    for (uint32_t i = 0; i < grouping->arg_count; i++) {
        places[i] = weir_grouping_find_key(grouping, grouping->args[i]);
        if (places[i] < 0) {
            places[i] = (int32_t)(group->key_count + weir_sql_add_expr(arena, &group->args,
                                                                       &group->arg_count,
                                                                       grouping->args[i]));
        }
    }
    for (uint32_t i = 0; i < grouping->aggregate_count; i++) {
        struct weir_aggregate *aggregate = &grouping->aggregates[i];
        if (aggregate->arg_column >= 0) {
            aggregate->arg_column = places[aggregate->arg_column];
        }
        if (aggregate->filter_column >= 0) {
            aggregate->filter_column = places[aggregate->filter_column];
        }
    }
}

enum weir_status weir_sql_finish_group(struct weir_binder *binder,
                                       const struct weir_ast_select *select,
                                       struct weir_expr *having, struct weir_relation *relation)
{
    struct weir_planner *planner = binder->planner;
    struct weir_grouping *grouping = binder->grouping;
    int32_t offset = select->key_count != 0 ? select->keys[0]->offset : select->offset;
    struct weir_graph_group group = {
        .key_count = grouping->key_count,
        .keys = grouping->keys,
        .aggregate_count = grouping->aggregate_count,
        .aggregates = grouping->aggregates,
        .aggregate_names = grouping->aggregate_names,
    };
    place_args(planner->arena, grouping, &group);
    if (find_window(planner, grouping->input_count, grouping->inputs, offset, &group) != WEIR_OK ||
        set_ttl(planner, offset, grouping->input_count, grouping->inputs, &group, "GROUP BY") !=
            WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_graph_node *node =
        weir_graph_add_group(&planner->graph, grouping->input_count, grouping->inputs, &group);
    if (check_now(planner, offset, node) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct remap remap = {.grouping = grouping, .schema = &node->schema};
    for (uint32_t i = 0; i < relation->column_count; i++) {
        relation->columns[i].expr =
            weir_expr_remap(planner->arena, relation->columns[i].expr, put_over_group, &remap);
    }
    if (having != NULL) {
        having = weir_expr_remap(planner->arena, having, put_over_group, &remap);
        node = weir_graph_add_filter(&planner->graph, 1, &node, having);
    }
    set_input(planner, relation, node);
    return WEIR_OK;
}

// --- DISTINCT --------------------------------------------------------------------------------

// All keys of the result are among the columns: no two rows are equal.
static bool is_distinct_already(const struct weir_relation *relation)
{
    const struct weir_graph_node *input = relation->inputs[0];
    const struct weir_graph_node *keyed =
        relation->input_count == 1 ? weir_graph_keyed_by(input) : NULL;
    for (uint32_t i = 0; keyed != NULL && i < keyed->key_count; i++) {
        bool is_there = false;
        for (uint32_t j = 0; j < relation->column_count; j++) {
            int32_t idx = weir_expr_column_idx(relation->columns[j].expr);
            is_there |= idx >= 0 && weir_graph_key_of(input, (uint32_t)idx) == (int32_t)i;
        }
        keyed = is_there ? keyed : NULL;
    }
    return keyed != NULL;
}

enum weir_status weir_sql_bind_distinct(struct weir_planner *planner,
                                        const struct weir_ast_select *select,
                                        struct weir_relation *relation)
{
    int32_t offset = select->distinct_offset;
    struct weir_graph_group group = {0};
    bool is_changing = false;
    if (is_distinct_already(relation)) {
        return WEIR_OK;
    }
    uint32_t *column_keys =
        weir_arena_alloc(planner->arena, relation->column_count * sizeof(*column_keys));
    for (uint32_t i = 0; i < relation->column_count; i++) {
        struct weir_expr *expr = relation->columns[i].expr;
        if (weir_sql_as_key(planner, relation->offsets[i], &expr) != WEIR_OK) {
            return WEIR_ERROR;
        }
        column_keys[i] = weir_sql_add_expr(planner->arena, &group.keys, &group.key_count, expr);
    }
    if (find_window(planner, relation->input_count, relation->inputs, offset, &group) != WEIR_OK ||
        set_ttl(planner, offset, relation->input_count, relation->inputs, &group,
                "SELECT DISTINCT") != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < relation->input_count; i++) {
        is_changing |= relation->inputs[i]->is_changing;
    }
    if (group.window_end < 0 && !is_changing && planner->state_ttl_us < 0) {
        return weir_fault_add(
            &planner->faults, offset,
            "choose: window_start or window_end of a window (FROM tumble(…)) in the SELECT, a time "
            "range, SET weir.state_ttl = '1 day', or on purpose SET weir.state_ttl = 'infinity'",
            "SELECT DISTINCT over a stream without end would keep every row for ever");
    }
    struct weir_graph_node *node =
        weir_graph_add_group(&planner->graph, relation->input_count, relation->inputs, &group);
    if (check_now(planner, offset, node) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < relation->column_count; i++) {
        uint32_t idx = column_keys[i];
        relation->columns[i].expr = weir_expr_column(
            planner->arena, idx, node->schema.columns[idx].name, &node->schema.columns[idx].type);
    }
    set_input(planner, relation, node);
    return WEIR_OK;
}
