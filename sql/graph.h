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
    bool is_event_time_needed;            // DERIVE; found out with the ids
    uint32_t key_count;                   // EXCHANGE, NORMALIZE, AGGREGATE: of inputs[0]->schema
    uint32_t *key_columns;
    struct weir_tumble window; // TUMBLE
    uint32_t aggregate_count;  // AGGREGATE
    struct weir_aggregate *aggregates;
    int32_t window_end_column; // AGGREGATE: of inputs[0]->schema; -1: no window
    int64_t state_ttl_us;      // AGGREGATE: as in struct weir_plan_node
    bool is_changing;          // as in struct weir_plan_node
    // The PROJECT and the EXCHANGE in front of an AGGREGATE: their ids know its keys only.
    bool is_group_input;
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

// Passes its inputs' columns on: FILTER, WATERMARK, EXCHANGE, NORMALIZE, SINK.
static inline bool weir_graph_is_passing(const struct weir_graph_node *node)
{
    return node->kind == WEIR_PLAN_FILTER || node->kind == WEIR_PLAN_WATERMARK ||
           node->kind == WEIR_PLAN_EXCHANGE || node->kind == WEIR_PLAN_NORMALIZE ||
           node->kind == WEIR_PLAN_SINK;
}

// WATERMARK, EXCHANGE or NORMALIZE. key_columns: kept by pointer; of the inputs' schema.
struct weir_graph_node *weir_graph_add_passing(struct weir_graph *graph, enum weir_plan_kind kind,
                                               uint32_t input_count,
                                               struct weir_graph_node **inputs, uint32_t key_count,
                                               uint32_t *key_columns);
// The input's columns, then window_start and window_end.
struct weir_schema weir_graph_tumble_schema(struct weir_graph *graph,
                                            const struct weir_schema *input);
struct weir_graph_node *weir_graph_add_tumble(struct weir_graph *graph,
                                              struct weir_graph_node *input,
                                              struct weir_catalog_table *table,
                                              const struct weir_tumble *window);

struct weir_graph_group {
    uint32_t key_count; // 0: all rows are one group
    struct weir_expr **keys;
    uint32_t aggregate_count;
    // arg_column and filter_column: of the keys, then `args`.
    const struct weir_aggregate *aggregates;
    const char *const *aggregate_names;
    uint32_t arg_count;
    struct weir_expr **args;
    int32_t window_end; // of the keys, then `args`; -1: no window
    int64_t state_ttl_us; // 0: what is kept is kept for ever
    // The keys by which rows are exchanged: without those of the window, if there are others, so
    // that one task sees all windows of a key. NULL: all of them.
    uint32_t route_count;
    uint32_t *routes;
};
// PROJECT, EXCHANGE, AGGREGATE. The schema: one column a key, then one an aggregate.
struct weir_graph_node *weir_graph_add_group(struct weir_graph *graph, uint32_t input_count,
                                             struct weir_graph_node **inputs,
                                             const struct weir_graph_group *group);

// --- origin.c: where columns come from -------------------------------------------------------

enum weir_time_kind {
    WEIR_TIME_NONE,
    WEIR_TIME_EVENT,        // the event time of a table
    WEIR_TIME_WINDOW_START, // of a window whose results are append-only
    WEIR_TIME_WINDOW_END,
    WEIR_TIME_MIXED_DELAYS, // event times of tables with different watermark delays
    WEIR_TIME_KEYED,        // a column of a keyed table
};
// Of a column of the node. table: of EVENT.
enum weir_time_kind weir_graph_time_of(const struct weir_graph_node *node, uint32_t column_idx,
                                       struct weir_catalog_table **table);

// Whether rows that change are filtered by now(), or computed with it where with_projects: what is
// taken back would then not be what was given.
bool weir_graph_has_now(const struct weir_graph_node *node, bool with_projects);

// What makes rows of a result unique: the keys of the AGGREGATE or NORMALIZE that all of its rows
// come from. NULL: nothing known does.
const struct weir_graph_node *weir_graph_keyed_by(const struct weir_graph_node *node);
// The position among the keys of that node which a column of `node` is, passed on unchanged; -1: it
// is none.
int32_t weir_graph_key_of(const struct weir_graph_node *node, uint32_t column_idx);

// What the expression is called where it becomes a column: the name of the column it is, else its
// text. Not how the query spells it: names go into ids.
const char *weir_graph_expr_name(struct weir_arena *arena, const struct weir_expr *expr,
                                 const struct weir_schema *schema);

// A column, or a field of one, at any depth: what can be computed twice for nothing.
bool weir_graph_is_path(const struct weir_expr *expr);

// Marks what leads to a sink and counts consumers.
void weir_graph_reach(struct weir_graph *graph);
// The expression over the rows of a PROJECT, over the rows of that PROJECT's inputs.
struct weir_expr *weir_graph_put_in(struct weir_arena *arena, const struct weir_expr *expr,
                                    const struct weir_graph_node *project);
void weir_graph_merge(struct weir_graph *graph);
// Gives ids; of nodes with the same one, inputs name only the first.
void weir_graph_identify(struct weir_graph *graph);
void weir_graph_prune(struct weir_graph *graph);
// The nodes as a plan; tables are left to the caller.
struct weir_plan *weir_graph_write(struct weir_graph *graph);

#endif
