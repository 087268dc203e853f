// SPDX-License-Identifier: Apache-2.0
// Fewer and earlier steps (graph.h): a projection over a projection becomes one, a filter goes in
// front of a projection or a window, a window in front of a projection, unless something would be
// computed twice. Depends on nothing but the query itself, so that ids do not change with other
// queries of the job.
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

// How often the columns of `inner` are named.
static uint32_t *count_references(struct weir_graph *graph, const struct weir_graph_node *outer,
                                  const struct weir_graph_node *inner)
{
    struct reference_count references = {
        .counts =
            weir_arena_alloc_zero(graph->arena, inner->schema.column_count * sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < outer->expr_count; i++) {
        weir_expr_walk(outer->exprs[i], count_reference, &references);
    }
    return references.counts;
}

static bool is_free(const struct weir_expr *expr)
{
    return weir_graph_is_path(expr) || weir_expr_is_constant(expr);
}

// The projection that a node's rows come from, if they come from nowhere else and go nowhere else.
static struct weir_graph_node *inner_project(const struct weir_graph_node *outer)
{
    struct weir_graph_node *inner = outer->input_count == 1 ? outer->inputs[0] : NULL;
    return inner != NULL && inner->kind == WEIR_PLAN_PROJECT && inner->consumer_count == 1 ? inner
                                                                                           : NULL;
}

static struct weir_expr *put_in(struct weir_arena *arena, const struct weir_expr *node,
                                void *context)
{
    (void)arena;
    const struct weir_graph_node *inner = context;
    int32_t idx = weir_expr_column_idx(node);
    return idx < 0 ? NULL : inner->exprs[idx];
}

struct weir_expr *weir_graph_put_in(struct weir_arena *arena, const struct weir_expr *expr,
                                    const struct weir_graph_node *project)
{
    return weir_expr_remap(arena, expr, put_in, (void *)(uintptr_t)project);
}

static bool merge_project(struct weir_graph *graph, struct weir_graph_node *outer)
{
    struct weir_graph_node *inner = inner_project(outer);
    if (outer->kind != WEIR_PLAN_PROJECT || inner == NULL) {
        return false;
    }
    const uint32_t *counts = count_references(graph, outer, inner);
    for (uint32_t i = 0; i < inner->expr_count; i++) {
        if (counts[i] > 1 && !is_free(inner->exprs[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < outer->expr_count; i++) {
        outer->exprs[i] = weir_expr_remap(graph->arena, outer->exprs[i], put_in, inner);
    }
    outer->inputs = inner->inputs;
    outer->input_count = inner->input_count;
    inner->is_reached = false;
    return true;
}

// A condition that needs nothing computed goes in front of the projection: rows that it drops are
// then not computed at all. The two nodes change roles, so that their order stays.
static bool swap_filter(struct weir_graph *graph, struct weir_graph_node *outer)
{
    struct weir_graph_node *inner = inner_project(outer);
    if (outer->kind != WEIR_PLAN_FILTER || inner == NULL) {
        return false;
    }
    const uint32_t *counts = count_references(graph, outer, inner);
    for (uint32_t i = 0; i < inner->expr_count; i++) {
        if (counts[i] != 0 && !is_free(inner->exprs[i])) {
            return false;
        }
    }
    struct weir_expr **condition = outer->exprs;
    condition[0] = weir_expr_remap(graph->arena, condition[0], put_in, inner);
    outer->kind = WEIR_PLAN_PROJECT;
    outer->exprs = inner->exprs;
    outer->expr_count = inner->expr_count;
    outer->is_single = inner->is_single;
    inner->kind = WEIR_PLAN_FILTER;
    inner->exprs = condition;
    inner->expr_count = 1;
    inner->is_single = false;
    inner->schema = inner->inputs[0]->schema;
    return true;
}

// A condition that does not look at the window goes in front of it: rows that nobody wants are not
// late.
static bool swap_tumble(struct weir_graph *graph, struct weir_graph_node *outer)
{
    struct weir_graph_node *inner = outer->input_count == 1 ? outer->inputs[0] : NULL;
    if (outer->kind != WEIR_PLAN_FILTER || inner == NULL || inner->kind != WEIR_PLAN_TUMBLE ||
        inner->consumer_count != 1) {
        return false;
    }
    const uint32_t *counts = count_references(graph, outer, inner);
    const struct weir_schema *passed = &inner->inputs[0]->schema;
    if (counts[passed->column_count] != 0 || counts[passed->column_count + 1] != 0) {
        return false;
    }
    outer->kind = WEIR_PLAN_TUMBLE;
    outer->table = inner->table;
    outer->window = inner->window;
    outer->is_single = inner->is_single;
    inner->kind = WEIR_PLAN_FILTER;
    inner->table = NULL;
    inner->is_single = false;
    inner->schema = *passed;
    inner->exprs = outer->exprs;
    inner->expr_count = 1;
    outer->exprs = NULL;
    outer->expr_count = 0;
    return true;
}

// A window wants nothing computed: it goes in front of the projection, and the id of what is
// grouped by it does not hang on columns that the projection has for others.
static bool swap_window(struct weir_graph *graph, struct weir_graph_node *outer)
{
    struct weir_graph_node *inner = inner_project(outer);
    if (outer->kind != WEIR_PLAN_TUMBLE || inner == NULL) {
        return false;
    }
    uint32_t count = inner->expr_count;
    uint32_t first = inner->inputs[0]->schema.column_count;
    struct weir_schema schema = weir_graph_tumble_schema(graph, &inner->inputs[0]->schema);
    outer->exprs = weir_arena_alloc(graph->arena, (count + 2) * sizeof(*outer->exprs));
    for (uint32_t i = 0; i < count + 2; i++) {
        uint32_t idx = first + i - count; // of the window
        outer->exprs[i] = i < count ? inner->exprs[i]
                                    : weir_expr_column(graph->arena, idx, schema.columns[idx].name,
                                                       &schema.columns[idx].type);
    }
    outer->kind = WEIR_PLAN_PROJECT;
    outer->expr_count = count + 2;
    inner->kind = WEIR_PLAN_TUMBLE;
    inner->table = outer->table;
    inner->window = outer->window;
    inner->is_single = false;
    inner->schema = schema;
    inner->exprs = NULL;
    inner->expr_count = 0;
    outer->table = NULL;
    return true;
}

void weir_graph_merge(struct weir_graph *graph)
{
    // Inputs come first: what a node stands on is as simple as it gets, but for a filter that has
    // just come in front of a projection and may go further.
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weir_graph_node *outer = graph->nodes[i];
        while (outer->is_reached && merge_project(graph, outer)) {
        }
        for (struct weir_graph_node *window = outer;
             outer->is_reached && swap_window(graph, window);) {
            window = window->inputs[0];
        }
        for (struct weir_graph_node *filter = outer;
             outer->is_reached && (swap_filter(graph, filter) || swap_tumble(graph, filter));) {
            filter = filter->inputs[0];
        }
    }
}
