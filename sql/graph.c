// SPDX-License-Identifier: Apache-2.0
// Adding nodes to the dataflow (graph.h).
#include "sql/graph.h"

#include <string.h>

struct weir_graph_node *weir_graph_add(struct weir_graph *graph, enum weir_plan_kind kind,
                                       uint32_t input_count, struct weir_graph_node **inputs)
{
    struct weir_graph_node *node = weir_arena_alloc_zero(graph->arena, sizeof(*node));
    node->kind = kind;
    node->input_count = input_count;
    node->inputs = weir_arena_alloc(graph->arena, input_count * sizeof(struct weir_graph_node *));
    if (input_count != 0) {
        memcpy(node->inputs, inputs, input_count * sizeof(struct weir_graph_node *));
    }
    node->event_time_column = -1;
    node->window_end_column = -1;
    node->target = graph->target;
    for (uint32_t i = 0; i < input_count; i++) {
        node->is_changing |= inputs[i]->is_changing;
    }
    size_t old_bytes = graph->node_count * sizeof(node);
    graph->nodes =
        weir_arena_realloc(graph->arena, graph->nodes, old_bytes, old_bytes + sizeof(node));
    graph->nodes[graph->node_count++] = node;
    return node;
}

struct weir_graph_node *weir_graph_add_filter(struct weir_graph *graph, uint32_t input_count,
                                              struct weir_graph_node **inputs,
                                              struct weir_expr *condition)
{
    struct weir_graph_node *node = weir_graph_add(graph, WEIR_PLAN_FILTER, input_count, inputs);
    node->schema = inputs[0]->schema;
    node->expr_count = 1;
    node->exprs = weir_arena_alloc(graph->arena, sizeof(*node->exprs));
    node->exprs[0] = condition;
    return node;
}

static bool is_taken(const struct weir_field *columns, uint32_t column_count, const char *name)
{
    for (uint32_t i = 0; i < column_count; i++) {
        if (strcmp(columns[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

struct weir_graph_node *weir_graph_add_project(struct weir_graph *graph, uint32_t input_count,
                                               struct weir_graph_node **inputs, uint32_t expr_count,
                                               struct weir_expr **exprs, const char *const *names)
{
    struct weir_graph_node *node = weir_graph_add(graph, WEIR_PLAN_PROJECT, input_count, inputs);
    struct weir_field *columns =
        weir_arena_alloc(graph->arena, expr_count * sizeof(struct weir_field));
    for (uint32_t i = 0; i < expr_count; i++) {
        const char *name = names[i] == NULL ? "?column?" : names[i];
        columns[i].name = name;
        for (uint32_t n = 2; is_taken(columns, i, columns[i].name); n++) {
            columns[i].name = weir_arena_printf(graph->arena, "%s:%u", name, n);
        }
        columns[i].type = *weir_expr_type(exprs[i]);
    }
    node->schema = (struct weir_schema){.column_count = expr_count, .columns = columns};
    node->expr_count = expr_count;
    node->exprs = weir_arena_alloc(graph->arena, expr_count * sizeof(*node->exprs));
    if (expr_count != 0) {
        memcpy(node->exprs, exprs, expr_count * sizeof(*node->exprs));
    }
    return node;
}

struct weir_graph_node *weir_graph_add_passing(struct weir_graph *graph, enum weir_plan_kind kind,
                                               uint32_t input_count,
                                               struct weir_graph_node **inputs, uint32_t key_count,
                                               uint32_t *key_columns)
{
    struct weir_graph_node *node = weir_graph_add(graph, kind, input_count, inputs);
    node->schema = inputs[0]->schema;
    node->key_count = key_count;
    node->key_columns = key_columns;
    node->is_changing |= kind == WEIR_PLAN_NORMALIZE;
    return node;
}

struct weir_schema weir_graph_tumble_schema(struct weir_graph *graph,
                                            const struct weir_schema *input)
{
    static const char *const names[] = {"window_start", "window_end"};
    uint32_t count = input->column_count;
    struct weir_field *columns = weir_arena_alloc(graph->arena, (count + 2) * sizeof(*columns));
    if (count != 0) {
        memcpy(columns, input->columns, count * sizeof(*columns));
    }
    for (uint32_t i = 0; i < 2; i++) {
        columns[count + i].name = names[i];
        for (uint32_t n = 2; is_taken(columns, count + i, columns[count + i].name); n++) {
            columns[count + i].name = weir_arena_printf(graph->arena, "%s:%u", names[i], n);
        }
        columns[count + i].type = weir_type_plain(WEIR_TYPE_TIMESTAMPTZ);
    }
    return (struct weir_schema){.column_count = count + 2, .columns = columns};
}

struct weir_graph_node *weir_graph_add_tumble(struct weir_graph *graph,
                                              struct weir_graph_node *input,
                                              struct weir_catalog_table *table,
                                              const struct weir_tumble *window)
{
    struct weir_graph_node *node = weir_graph_add(graph, WEIR_PLAN_TUMBLE, 1, &input);
    node->schema = weir_graph_tumble_schema(graph, &input->schema);
    node->table = table;
    node->window = *window;
    return node;
}

const char *weir_graph_expr_name(struct weir_arena *arena, const struct weir_expr *expr,
                                 const struct weir_schema *schema)
{
    struct weir_buffer text = {0};
    int32_t idx = weir_expr_column_idx(expr);
    if (idx >= 0) {
        return schema->columns[idx].name;
    }
    weir_expr_print(expr, &text);
    const char *copy = weir_arena_strdup(arena, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return copy;
}

// The columns that a group needs, keys first, and the exchange by them.
static struct weir_graph_node *add_group_input(struct weir_graph *graph, uint32_t input_count,
                                               struct weir_graph_node **inputs,
                                               const struct weir_graph_group *group)
{
    struct weir_arena *arena = graph->arena;
    uint32_t key_count = group->key_count;
    uint32_t count = key_count + group->arg_count;
    struct weir_expr **exprs = weir_arena_alloc(arena, count * sizeof(*exprs));
    const char **names = weir_arena_alloc(arena, count * sizeof(*names));
    uint32_t *all_keys = weir_arena_alloc(arena, key_count * sizeof(*all_keys));
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = i < key_count ? group->keys[i] : group->args[i - key_count];
        names[i] = weir_graph_expr_name(arena, exprs[i], &inputs[0]->schema);
        if (i < key_count) {
            all_keys[i] = i;
        }
    }
    struct weir_graph_node *node =
        weir_graph_add_project(graph, input_count, inputs, count, exprs, names);
    node->is_group_input = true;
    node->key_count = key_count;
    node->key_columns = all_keys;
    bool is_all = group->routes == NULL;
    node = weir_graph_add_passing(graph, WEIR_PLAN_EXCHANGE, 1, &node,
                                  is_all ? key_count : group->route_count,
                                  is_all ? all_keys : group->routes);
    node->is_group_input = true;
    return node;
}

struct weir_graph_node *weir_graph_add_group(struct weir_graph *graph, uint32_t input_count,
                                             struct weir_graph_node **inputs,
                                             const struct weir_graph_group *group)
{
    struct weir_arena *arena = graph->arena;
    struct weir_graph_node *exchange = add_group_input(graph, input_count, inputs, group);
    struct weir_graph_node *node = weir_graph_add(graph, WEIR_PLAN_AGGREGATE, 1, &exchange);
    uint32_t key_count = group->key_count;
    uint32_t count = key_count + group->aggregate_count;
    struct weir_field *columns = weir_arena_alloc(arena, count * sizeof(*columns));
    if (key_count != 0) {
        memcpy(columns, exchange->schema.columns, key_count * sizeof(*columns));
    }
    node->aggregate_count = group->aggregate_count;
    node->aggregates = weir_arena_alloc(arena, group->aggregate_count * sizeof(*node->aggregates));
    for (uint32_t i = 0; i < group->aggregate_count; i++) {
        struct weir_aggregate *aggregate = &node->aggregates[i];
        struct weir_field *column = &columns[key_count + i];
        *aggregate = group->aggregates[i];
        column->name = group->aggregate_names[i];
        for (uint32_t n = 2; is_taken(columns, key_count + i, column->name); n++) {
            column->name = weir_arena_printf(arena, "%s:%u", group->aggregate_names[i], n);
        }
        column->type = aggregate->result_type;
    }
    node->schema = (struct weir_schema){.column_count = count, .columns = columns};
    node->key_count = key_count;
    node->key_columns = exchange->inputs[0]->key_columns;
    node->window_end_column = group->window_end;
    node->state_ttl_us = group->state_ttl_us;
    node->is_changing = node->window_end_column < 0;
    return node;
}

bool weir_graph_is_path(const struct weir_expr *expr)
{
    while (expr != NULL && weir_expr_column_idx(expr) < 0) {
        uint32_t field_idx;
        expr = weir_expr_field_of(expr, &field_idx);
    }
    return expr != NULL;
}

void weir_graph_reach(struct weir_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i]->is_reached = graph->nodes[i]->kind == WEIR_PLAN_SINK;
        graph->nodes[i]->consumer_count = 0;
    }
    for (uint32_t i = graph->node_count; i-- > 0;) {
        const struct weir_graph_node *node = graph->nodes[i];
        for (uint32_t j = 0; node->is_reached && j < node->input_count; j++) {
            node->inputs[j]->is_reached = true;
            node->inputs[j]->consumer_count++;
        }
    }
}
