// SPDX-License-Identifier: Apache-2.0
// The dataflow while it is being planned. Binding adds nodes (graph.c) whose schemas hold every
// column; then the passes run, in this order: merge.c puts projections into each other, finish.c
// gives ids and makes nodes that compute the same one, prune.c finds out which columns and fields
// anything needs, finish.c writes the plan. Thread: that of weir_sql_plan.
#ifndef WEIR_SQL_GRAPH_H
#define WEIR_SQL_GRAPH_H

#include "sql/plan.h"

// Which parts of a column are needed.
struct weir_usage {
    bool is_whole;
    bool is_used;              // whole, or a field of it
    struct weir_usage *fields; // of a composite; NULL: none was looked at yet
};

struct weir_graph_node {
    enum weir_plan_kind kind;
    uint32_t input_count;
    struct weir_graph_node **inputs;
    struct weir_catalog_table *table; // SOURCE, SINK and the DERIVE of either
    struct weir_schema schema;        // every column
    uint32_t expr_count;
    struct weir_expr **exprs;
    uint32_t check_count;
    const struct weir_plan_check *checks; // over `schema`
    int32_t event_time_column;            // DERIVE: in `schema`; -1: as it was
    // A sink it leads to, for its name; NULL for what lies in front of the first FILTER or PROJECT.
    const char *target;
    // Two of the same are two: the inputs of one UNION ALL, of one sink.
    bool is_single;

    // --- passes ---
    bool is_reached; // by a sink
    uint32_t consumer_count;
    struct weir_usage *usage; // of `schema`
    int32_t *kept_idx;        // of `schema` in the pruned one; -1: gone
    struct weir_schema pruned;
    const char *id;
    struct weir_graph_node *same; // the node that computes the same; itself if there is none
    struct weir_plan_node *plan;
};

struct weir_graph {
    struct weir_arena *arena;
    uint32_t node_count;
    struct weir_graph_node **nodes; // inputs come before the nodes they feed
    const char *target;             // of nodes added from now on
};

// A node with its inputs, not yet anything else.
struct weir_graph_node *weir_graph_add(struct weir_graph *graph, enum weir_plan_kind kind,
                                       uint32_t input_count, struct weir_graph_node **inputs);
// Passes its inputs' columns on.
struct weir_graph_node *weir_graph_add_filter(struct weir_graph *graph, uint32_t input_count,
                                              struct weir_graph_node **inputs,
                                              struct weir_expr *condition);
// Names the columns; equal and missing names are made different: they go into ids.
struct weir_graph_node *weir_graph_add_project(struct weir_graph *graph, uint32_t input_count,
                                               struct weir_graph_node **inputs, uint32_t expr_count,
                                               struct weir_expr **exprs, const char *const *names);

// A column, or a field of one, at any depth: what can be computed twice for nothing.
bool weir_graph_is_path(const struct weir_expr *expr);

// Marks what leads to a sink and counts consumers.
void weir_graph_reach(struct weir_graph *graph);
void weir_graph_merge(struct weir_graph *graph);
// Gives ids; of nodes with the same one, inputs name only the first.
void weir_graph_identify(struct weir_graph *graph);
void weir_graph_prune(struct weir_graph *graph);
// The nodes as a plan; tables are left to the caller.
struct weir_plan *weir_graph_write(struct weir_graph *graph);

#endif
