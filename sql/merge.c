// SPDX-License-Identifier: Apache-2.0
// A projection over a projection becomes one (graph.h), unless that would compute something twice.
// Depends on nothing but the query itself, so that ids do not change with other queries of the job.
#include "sql/graph.h"

struct reference_count {
    uint32_t *counts; // by column
};

static void count_reference(const struct weir_expr *expr, void *context)
{
    struct reference_count *references = context;
    int32_t idx = weir_expr_column_idx(expr);
    if (idx >= 0) {
        references->counts[idx]++;
    }
}

static bool can_merge(struct weir_graph *graph, const struct weir_graph_node *outer)
{
    const struct weir_graph_node *inner = outer->input_count == 1 ? outer->inputs[0] : NULL;
    if (outer->kind != WEIR_PLAN_PROJECT || inner == NULL || inner->kind != WEIR_PLAN_PROJECT ||
        inner->consumer_count != 1) {
        return false;
    }
    struct reference_count references = {
        .counts =
            weir_arena_alloc_zero(graph->arena, inner->schema.column_count * sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < outer->expr_count; i++) {
        weir_expr_walk(outer->exprs[i], count_reference, &references);
    }
    for (uint32_t i = 0; i < inner->expr_count; i++) {
        if (references.counts[i] > 1 && !weir_graph_is_path(inner->exprs[i]) &&
            !weir_expr_is_constant(inner->exprs[i])) {
            return false;
        }
    }
    return true;
}

static struct weir_expr *put_in(struct weir_arena *arena, const struct weir_expr *node,
                                void *context)
{
    (void)arena;
    const struct weir_graph_node *inner = context;
    int32_t idx = weir_expr_column_idx(node);
    return idx < 0 ? NULL : inner->exprs[idx];
}

void weir_graph_merge(struct weir_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weir_graph_node *outer = graph->nodes[i];
        while (outer->is_reached && can_merge(graph, outer)) {
            struct weir_graph_node *inner = outer->inputs[0];
            for (uint32_t j = 0; j < outer->expr_count; j++) {
                outer->exprs[j] = weir_expr_remap(graph->arena, outer->exprs[j], put_in, inner);
            }
            outer->inputs = inner->inputs;
            outer->input_count = inner->input_count;
            inner->is_reached = false;
        }
    }
}
