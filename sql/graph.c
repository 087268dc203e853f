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
    node->target = graph->target;
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
    memcpy(node->exprs, exprs, expr_count * sizeof(*node->exprs));
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
