// SPDX-License-Identifier: Apache-2.0
// Ids and names of the dataflow's nodes, and the plan itself (graph.h). An id is a hash of what a
// node computes from its inputs' ids: state finds its operator by it after a change elsewhere in
// the job, so it depends on no other query: it is taken before pruning, of tables as declared.
// Nodes with one id are made one.
#include "sql/planner.h"

#include "operators/preaggregate.h"

#include <string.h>
#include <xxhash.h>

// --- ids -------------------------------------------------------------------------------------

static void put(struct weir_buffer *text, const char *part)
{
    weir_buffer_append(text, part, strlen(part) + 1);
}

static void put_expr(struct weir_buffer *text, const struct weir_expr *expr)
{
    weir_expr_print(expr, text);
    weir_buffer_append_char(text, '\0');
}

static const char *const kind_words[] = {
    [WEIR_PLAN_SOURCE] = "source",       [WEIR_PLAN_DERIVE] = "derive",
    [WEIR_PLAN_FILTER] = "filter",       [WEIR_PLAN_PROJECT] = "project",
    [WEIR_PLAN_SINK] = "sink",           [WEIR_PLAN_WATERMARK] = "watermark",
    [WEIR_PLAN_TUMBLE] = "tumble",       [WEIR_PLAN_EXCHANGE] = "exchange",
    [WEIR_PLAN_NORMALIZE] = "normalize", [WEIR_PLAN_AGGREGATE] = "aggregate",
};

// A group finds its state by its input, its keys and its window. Its aggregates are matched one by
// one inside, so that one more does not lose the others: neither they nor their arguments are in
// the id. By which of its keys rows are exchanged follows from input and keys. What tells two
// groups of different queries apart is then the table they are for.
static void put_group(struct weir_arena *arena, struct weir_buffer *text,
                      const struct weir_graph_node *exchange)
{
    const struct weir_graph_node *project = exchange->inputs[0];
    uint32_t key_count = project->key_count;
    const struct weir_expr **keys = weir_arena_alloc(arena, key_count * sizeof(*keys));
    for (uint32_t i = 0; i < key_count; i++) {
        char type[256];
        keys[i] = project->exprs[i];
        put(text, weir_type_name(&project->schema.columns[i].type, type, sizeof(type)));
    }
    // Whether projections could be merged hangs on the arguments, too: keys are those of the first.
    while (project->input_count == 1 && project->inputs[0]->kind == WEIR_PLAN_PROJECT) {
        project = project->inputs[0];
        for (uint32_t i = 0; i < key_count; i++) {
            keys[i] = weir_graph_put_in(arena, keys[i], project);
        }
    }
    put(text, kind_words[WEIR_PLAN_EXCHANGE]);
    for (uint32_t i = 0; i < project->input_count; i++) {
        put(text, project->inputs[i]->id);
    }
    put(text, "");
    put(text, exchange->target == NULL ? "" : exchange->target);
    for (uint32_t i = 0; i < key_count; i++) {
        put_expr(text, keys[i]);
    }
}

// An expression over the rows that are grouped, whatever projections there are before them.
static void put_argument(struct weir_arena *arena, struct weir_buffer *text,
                         const struct weir_graph_node *project, int32_t column_idx)
{
    const struct weir_expr *expr = project->exprs[column_idx];
    while (project->input_count == 1 && project->inputs[0]->kind == WEIR_PLAN_PROJECT) {
        project = project->inputs[0];
        expr = weir_graph_put_in(arena, expr, project);
    }
    weir_expr_print(expr, text);
}

static const char *const aggregate_words[] = {
    [WEIR_AGGREGATE_COUNT_ALL] = "count", [WEIR_AGGREGATE_COUNT] = "count",
    [WEIR_AGGREGATE_SUM] = "sum",         [WEIR_AGGREGATE_MIN] = "min",
    [WEIR_AGGREGATE_MAX] = "max",         [WEIR_AGGREGATE_AVG] = "avg",
};

// By these texts aggregates are matched one by one.
static void describe_aggregates(struct weir_arena *arena, struct weir_graph_node *node)
{
    const struct weir_graph_node *project = node->inputs[0]->inputs[0];
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        struct weir_aggregate *aggregate = &node->aggregates[i];
        struct weir_buffer text = {0};
        weir_buffer_printf(&text, "%s(%s", aggregate_words[aggregate->kind],
                           aggregate->is_distinct ? "DISTINCT " : "");
        if (aggregate->arg_column >= 0) {
            put_argument(arena, &text, project, aggregate->arg_column);
        } else {
            weir_buffer_append_char(&text, '*');
        }
        weir_buffer_append_char(&text, ')');
        if (aggregate->filter_column >= 0) {
            weir_buffer_printf(&text, " FILTER (WHERE ");
            put_argument(arena, &text, project, aggregate->filter_column);
            weir_buffer_append_char(&text, ')');
        }
        aggregate->text = weir_arena_strdup(arena, weir_buffer_text(&text));
        weir_buffer_deinit(&text);
    }
}

static void put_node(struct weir_arena *arena, struct weir_buffer *text,
                     const struct weir_graph_node *node)
{
    if (node->kind == WEIR_PLAN_EXCHANGE && node->is_group_input) {
        put_group(arena, text, node);
        return;
    }
    put(text, kind_words[node->kind]);
    for (uint32_t i = 0; i < node->input_count; i++) {
        put(text, node->inputs[i]->id);
    }
    put(text, "");
    if (node->table != NULL) {
        put(text, node->table->table.name);
        put(text, node->table->table.topic);
    }
    for (uint32_t i = 0; i < node->expr_count; i++) {
        put_expr(text, node->exprs[i]);
    }
    for (uint32_t i = 0; node->kind == WEIR_PLAN_PROJECT && i < node->schema.column_count; i++) {
        char type[256]; // casts that nobody wrote are not in the text of an expression
        put(text, node->schema.columns[i].name);
        put(text, weir_type_name(&node->schema.columns[i].type, type, sizeof(type)));
    }
    for (uint32_t i = 0; i < node->check_count; i++) {
        put(text, node->checks[i].message);
        if (node->checks[i].condition != NULL) {
            put_expr(text, node->checks[i].condition);
        }
    }
    if (node->event_time_column >= 0) {
        put(text, node->schema.columns[node->event_time_column].name);
    }
    // The keys of an AGGREGATE are in the id of its exchange.
    bool has_keys = node->kind == WEIR_PLAN_EXCHANGE || node->kind == WEIR_PLAN_NORMALIZE;
    for (uint32_t i = 0; has_keys && i < node->key_count; i++) {
        put(text, node->inputs[0]->schema.columns[node->key_columns[i]].name);
    }
    if (node->kind == WEIR_PLAN_TUMBLE) {
        weir_buffer_printf(text, "%lld %lld", (long long)node->window.size_us,
                           (long long)node->window.origin_us);
    }
    if (node->kind == WEIR_PLAN_AGGREGATE && node->window_end_column >= 0) {
        put(text, "window");
    }
    // Not for how long: that can be changed, and what is kept stays.
    if (node->state_ttl_us != 0) {
        put(text, "ttl");
    }
}

// Whether two nodes with one id do the same: groups may differ in what their ids leave out.
static bool is_same(const struct weir_graph_node *a, const struct weir_graph_node *b)
{
    if (a->kind != b->kind || a->aggregate_count != b->aggregate_count ||
        a->state_ttl_us != b->state_ttl_us) {
        return false;
    }
    for (uint32_t i = 0; i < a->aggregate_count; i++) {
        const struct weir_aggregate *left = &a->aggregates[i];
        const struct weir_aggregate *right = &b->aggregates[i];
        if (left->kind != right->kind || left->is_distinct != right->is_distinct ||
            left->arg_column != right->arg_column || left->filter_column != right->filter_column) {
            return false;
        }
    }
    bool is_group = a->kind == WEIR_PLAN_AGGREGATE || a->is_group_input;
    return !is_group || a->kind == WEIR_PLAN_PROJECT || a->inputs[0] == b->inputs[0];
}

static struct weir_graph_node *find_id(const struct weir_graph *graph, uint32_t end, const char *id)
{
    for (uint32_t i = 0; i < end; i++) {
        struct weir_graph_node *node = graph->nodes[i];
        if (node->is_reached && strcmp(node->id, id) == 0) {
            return node;
        }
    }
    return NULL;
}

static void identify(struct weir_graph *graph, uint32_t idx)
{
    struct weir_graph_node *node = graph->nodes[idx];
    struct weir_buffer text = {0};
    for (uint32_t i = 0; i < node->input_count; i++) {
        node->inputs[i] = node->inputs[i]->same;
    }
    put_node(graph->arena, &text, node);
    if (node->kind == WEIR_PLAN_AGGREGATE) {
        describe_aggregates(graph->arena, node);
    }
    struct weir_graph_node *twin;
    do {
        XXH64_hash_t hash = XXH3_64bits(text.data, text.size_bytes);
        node->id = weir_arena_printf(graph->arena, "%016llx", (unsigned long long)hash);
        twin = find_id(graph, idx, node->id);
        put(&text, "again");
    } while (twin != NULL && (node->is_single || !is_same(node, twin->same)));
    node->same = twin != NULL ? twin->same : node;
    weir_buffer_deinit(&text);
}

// --- names -----------------------------------------------------------------------------------

static const char *name_of(struct weir_arena *arena, const struct weir_graph_node *node)
{
    const char *word = kind_words[node->kind];
    if (node->table == NULL || node->kind == WEIR_PLAN_TUMBLE) {
        return weir_arena_printf(arena, "%s → %s", word, node->target);
    }
    // The constraints of a sink are a DERIVE with a target.
    bool is_check = node->kind == WEIR_PLAN_DERIVE && node->target != NULL;
    return weir_arena_printf(arena, "%s %s", is_check ? "check" : word, node->table->table.name);
}

static bool is_name_taken(const struct weir_plan *plan, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(plan->nodes[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

// --- the plan --------------------------------------------------------------------------------

static struct weir_plan_node *write_node(struct weir_graph *graph,
                                         const struct weir_graph_node *node, struct weir_plan *plan)
{
    struct weir_plan_node *written = weir_arena_alloc_zero(graph->arena, sizeof(*written));
    const char *base = name_of(graph->arena, node);
    const char *name = base;
    for (uint32_t n = 2; is_name_taken(plan, plan->node_count, name); n++) {
        name = weir_arena_printf(graph->arena, "%s %u", base, n);
    }
    // What stands behind an exchange belongs to no table: its task may be fed by several.
    bool is_keyed = node->kind == WEIR_PLAN_EXCHANGE || node->kind == WEIR_PLAN_NORMALIZE ||
                    node->kind == WEIR_PLAN_AGGREGATE;
    const struct weir_expr **exprs =
        weir_arena_alloc(graph->arena, node->expr_count * sizeof(*exprs));
    for (uint32_t i = 0; i < node->expr_count; i++) {
        exprs[i] = node->exprs[i];
    }
    *written = (struct weir_plan_node){
        .kind = node->kind,
        .idx = plan->node_count,
        .id = node->id,
        .name = name,
        .input_count = node->input_count,
        .inputs =
            weir_arena_alloc(graph->arena, node->input_count * sizeof(struct weir_plan_node *)),
        .schema = node->pruned,
        .table = node->table == NULL || is_keyed ? NULL : &node->table->table,
        .expr_count = node->expr_count,
        .exprs = exprs,
        .check_count = node->check_count,
        .checks = node->checks,
        .key_column_count = is_keyed ? node->key_count : 0,
        .key_columns = is_keyed ? node->key_columns : NULL,
        .is_changing = node->is_changing,
        .window = node->window,
        .window_end_column = node->window_end_column,
        .state_ttl_us = node->state_ttl_us,
        .aggregate_count = node->aggregate_count,
        .aggregates = node->aggregates,
        .event_time_column = node->event_time_column,
        .is_event_time_needed = node->is_event_time_needed,
    };
    for (uint32_t i = 0; i < node->input_count; i++) {
        written->inputs[i] = node->inputs[i]->plan;
    }
    plan->nodes[plan->node_count++] = written;
    return written;
}

// Nothing of it is needed: a table whose constraints are all on columns that nobody reads.
static bool is_empty(const struct weir_graph_node *node)
{
    return node->kind == WEIR_PLAN_DERIVE && node->expr_count == 0 && node->check_count == 0 &&
           node->event_time_column < 0;
}

// One DERIVE serves all queries: a row without event time is bad for all if it is for one. The id
// knows nothing of that, as it knows no other query.
static void need_event_time(struct weir_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weir_graph_node *node = graph->nodes[i];
        if (node->is_reached && node->kind == WEIR_PLAN_WATERMARK) {
            node->inputs[0]->is_event_time_needed = true;
        }
    }
}

void weir_graph_identify(struct weir_graph *graph)
{
    need_event_time(graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i]->is_reached) {
            identify(graph, i);
        }
    }
}

// --- folding -----------------------------------------------------------------------------------

static bool has_late_topic(const struct weir_plan_node *node)
{
    bool has = node->kind == WEIR_PLAN_TUMBLE && node->table->late_topic != NULL;
    for (uint32_t i = 0; !has && i < node->input_count; i++) {
        has = has_late_topic(node->inputs[i]);
    }
    return has;
}

// Rows that a late topic may want one by one stay rows; so do those whose times a time to live
// counts by.
static bool is_foldable(const struct weir_plan_node *aggregate)
{
    const struct weir_plan_node *exchange = aggregate->inputs[0];
    return aggregate->kind == WEIR_PLAN_AGGREGATE && aggregate->state_ttl_us == 0 &&
           !(aggregate->window_end_column >= 0 && has_late_topic(exchange)) &&
           weir_preaggregate_is_exact(&(struct weir_aggregate_config){
               .input = &exchange->schema,
               .key_count = aggregate->key_column_count,
               .key_columns = aggregate->key_columns,
               .window_end_column = aggregate->window_end_column,
               .is_input_changing = exchange->is_changing,
               .aggregate_count = aggregate->aggregate_count,
               .aggregates = aggregate->aggregates,
           });
}

static void mark_folded(struct weir_plan *plan)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        struct weir_plan_node *exchange = plan->nodes[i];
        const struct weir_plan_node *behind = NULL;
        uint32_t count = 0;
        for (uint32_t j = i + 1; exchange->kind == WEIR_PLAN_EXCHANGE && j < plan->node_count;
             j++) {
            for (uint32_t k = 0; k < plan->nodes[j]->input_count; k++) {
                if (plan->nodes[j]->inputs[k] == exchange) {
                    behind = plan->nodes[j];
                    count++;
                }
            }
        }
        exchange->folded_for = count == 1 && is_foldable(behind) ? behind : NULL;
    }
}

struct weir_plan *weir_graph_write(struct weir_graph *graph)
{
    struct weir_plan *plan = weir_arena_alloc_zero(graph->arena, sizeof(*plan));
    plan->nodes =
        weir_arena_alloc(graph->arena, graph->node_count * sizeof(struct weir_plan_node *));
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weir_graph_node *node = graph->nodes[i];
        if (node->is_reached) {
            node->plan = is_empty(node) ? node->inputs[0]->plan : write_node(graph, node, plan);
        }
    }
    mark_folded(plan);
    return plan;
}
