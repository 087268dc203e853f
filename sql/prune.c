// SPDX-License-Identifier: Apache-2.0
// Which columns, and of composites which fields, anything needs (graph.h): sources decode no
// others. Needs go from the sinks down until nothing changes; then schemas and expressions are made
// anew from the sources up. The inputs of one UNION ALL keep the same columns. Of a table that is
// read, a constraint is checked when one of its columns is read; then it reads the others, too.
#include "runtime/base/assert.h"
#include "sql/planner.h"

#include <string.h>

// --- needs -----------------------------------------------------------------------------------

static bool need_whole(struct weir_usage *usage)
{
    bool is_new = !usage->is_whole;
    usage->is_whole = true;
    usage->is_used = true;
    return is_new;
}

static struct weir_usage *usage_fields(struct weir_arena *arena, const struct weir_type *type,
                                       struct weir_usage *usage)
{
    if (usage->fields == NULL) {
        usage->fields =
            weir_arena_alloc_zero(arena, type->composite->field_count * sizeof(struct weir_usage));
    }
    return usage->fields;
}

// Adds what `more` needs of a value of this type.
static bool need_more(struct weir_arena *arena, const struct weir_type *type,
                      struct weir_usage *usage, const struct weir_usage *more)
{
    if (!more->is_used || usage->is_whole) {
        return false;
    }
    if (more->is_whole || type->kind != WEIR_TYPE_COMPOSITE) {
        return need_whole(usage);
    }
    bool is_new = !usage->is_used;
    struct weir_usage *fields = usage_fields(arena, type, usage);
    usage->is_used = true;
    for (uint32_t i = 0; i < type->composite->field_count; i++) {
        is_new |= need_more(arena, &type->composite->fields[i].type, &fields[i], &more->fields[i]);
    }
    return is_new;
}

// The usage of what a path leads to; the parts on the way become used.
static struct weir_usage *usage_of_path(struct weir_arena *arena, struct weir_usage *columns,
                                        const struct weir_expr *path, bool *is_new)
{
    int32_t idx = weir_expr_column_idx(path);
    struct weir_usage *usage;
    if (idx >= 0) {
        usage = &columns[idx];
    } else {
        uint32_t field_idx;
        const struct weir_expr *composite = weir_expr_field_of(path, &field_idx);
        usage = usage_of_path(arena, columns, composite, is_new);
        if (usage->is_whole) {
            return usage;
        }
        usage = &usage_fields(arena, weir_expr_type(composite), usage)[field_idx];
    }
    *is_new |= !usage->is_used;
    usage->is_used = true;
    return usage;
}

struct need {
    struct weir_arena *arena;
    struct weir_usage *columns;
    const struct weir_expr *inner; // part of a path that was looked at as a whole
    bool is_new;
};

// Parents come first: a path is met at its end, then its parts follow one by one.
static void need_expr_node(const struct weir_expr *expr, void *context)
{
    struct need *need = context;
    uint32_t field_idx;
    if (expr == need->inner) {
        need->inner = weir_expr_field_of(expr, &field_idx);
        return;
    }
    need->inner = NULL;
    if (weir_graph_is_path(expr)) {
        need->is_new |= need_whole(usage_of_path(need->arena, need->columns, expr, &need->is_new));
        need->inner = weir_expr_field_of(expr, &field_idx);
    }
}

static bool need_expr(struct weir_arena *arena, const struct weir_expr *expr,
                      struct weir_usage *columns)
{
    struct need need = {.arena = arena, .columns = columns};
    weir_expr_walk(expr, need_expr_node, &need);
    return need.is_new;
}

struct touch {
    const struct weir_usage *columns;
    bool is_touched;
    bool has_columns;
};

static void touch_expr_node(const struct weir_expr *expr, void *context)
{
    struct touch *touch = context;
    int32_t idx = weir_expr_column_idx(expr);
    if (idx >= 0) {
        touch->has_columns = true;
        touch->is_touched |= touch->columns[idx].is_used;
    }
}

static bool is_check_active(const struct weir_graph_node *node, const struct weir_plan_check *check)
{
    if (check->condition == NULL) {
        return node->usage[check->not_null_column].is_used;
    }
    struct touch touch = {.columns = node->usage};
    weir_expr_walk(check->condition, touch_expr_node, &touch);
    return touch.is_touched || !touch.has_columns;
}

static bool need_checks(struct weir_arena *arena, struct weir_graph_node *node)
{
    bool is_new = false;
    for (uint32_t i = 0; i < node->check_count; i++) {
        const struct weir_plan_check *check = &node->checks[i];
        if (is_check_active(node, check)) {
            is_new |= check->condition == NULL ? need_whole(&node->usage[check->not_null_column])
                                               : need_expr(arena, check->condition, node->usage);
        }
    }
    if (node->event_time_column >= 0) {
        is_new |= need_whole(&node->usage[node->event_time_column]);
    }
    return is_new;
}

// Of an AGGREGATE: a key, or the argument and condition of an aggregate.
static bool need_of_group(const struct weir_graph_node *node, uint32_t idx,
                          struct weir_graph_node *input)
{
    if (idx < node->key_count) {
        return false; // needed anyway
    }
    const struct weir_aggregate *aggregate = &node->aggregates[idx - node->key_count];
    bool is_new = false;
    if (aggregate->arg_column >= 0) {
        is_new |= need_whole(&input->usage[aggregate->arg_column]);
    }
    if (aggregate->filter_column >= 0) {
        is_new |= need_whole(&input->usage[aggregate->filter_column]);
    }
    return is_new;
}

// Keys and windows are needed whoever reads the result.
static bool need_keys(const struct weir_graph_node *node, struct weir_graph_node *input)
{
    bool is_new = false;
    bool is_keyed = node->kind == WEIR_PLAN_EXCHANGE || node->kind == WEIR_PLAN_NORMALIZE ||
                    node->kind == WEIR_PLAN_AGGREGATE;
    for (uint32_t i = 0; is_keyed && i < node->key_count; i++) {
        is_new |= need_whole(&input->usage[node->key_columns[i]]);
    }
    if (node->kind == WEIR_PLAN_AGGREGATE && node->window_end_column >= 0) {
        is_new |= need_whole(&input->usage[node->window_end_column]);
    }
    return is_new;
}

// What node's column idx needs of the input.
static bool need_column(struct weir_arena *arena, const struct weir_graph_node *node, uint32_t idx,
                        struct weir_graph_node *input)
{
    const struct weir_usage *usage = &node->usage[idx];
    bool is_new = false;
    if (!usage->is_used) {
        return false;
    }
    if (node->kind == WEIR_PLAN_AGGREGATE) {
        return need_of_group(node, idx, input);
    }
    uint32_t passed_count = node->kind == WEIR_PLAN_PROJECT ? 0 : input->schema.column_count;
    if (idx < passed_count) {
        return need_more(arena, &node->schema.columns[idx].type, &input->usage[idx], usage);
    }
    if (node->kind == WEIR_PLAN_TUMBLE) {
        return false;
    }
    const struct weir_expr *expr = node->exprs[idx - passed_count];
    if (!weir_graph_is_path(expr)) {
        return need_expr(arena, expr, input->usage);
    }
    struct weir_usage *target = usage_of_path(arena, input->usage, expr, &is_new);
    return need_more(arena, weir_expr_type(expr), target, usage) || is_new;
}

static bool need_of_inputs(struct weir_arena *arena, struct weir_graph_node *node)
{
    bool is_new = false;
    for (uint32_t i = 0; node->kind == WEIR_PLAN_SINK && i < node->schema.column_count; i++) {
        is_new |= need_whole(&node->usage[i]);
    }
    is_new |= need_checks(arena, node);
    for (uint32_t i = 0; i < node->input_count; i++) {
        struct weir_graph_node *input = node->inputs[i];
        for (uint32_t j = 0; j < node->schema.column_count; j++) {
            is_new |= need_column(arena, node, j, input);
        }
        if (node->kind == WEIR_PLAN_FILTER) {
            is_new |= need_expr(arena, node->exprs[0], input->usage);
        }
        is_new |= need_keys(node, input);
    }
    // All inputs have the columns that any of them must have.
    for (uint32_t i = 1; i < 2 * node->input_count; i++) {
        const struct weir_graph_node *from = node->inputs[(i - 1) % node->input_count];
        struct weir_graph_node *to = node->inputs[i % node->input_count];
        for (uint32_t j = 0; j < from->schema.column_count && from != to; j++) {
            is_new |=
                need_more(arena, &from->schema.columns[j].type, &to->usage[j], &from->usage[j]);
        }
    }
    return is_new;
}

// --- pruned schemas --------------------------------------------------------------------------

static struct weir_type prune_type(struct weir_arena *arena, const struct weir_type *type,
                                   const struct weir_usage *usage)
{
    if (usage->is_whole || type->kind != WEIR_TYPE_COMPOSITE) {
        return *type;
    }
    const struct weir_composite *whole = type->composite;
    struct weir_field *fields =
        weir_arena_alloc(arena, whole->field_count * sizeof(struct weir_field));
    uint32_t count = 0;
    bool is_same = true;
    for (uint32_t i = 0; i < whole->field_count; i++) {
        if (usage->fields == NULL || !usage->fields[i].is_used) {
            continue;
        }
        fields[count].name = whole->fields[i].name;
        fields[count].type = prune_type(arena, &whole->fields[i].type, &usage->fields[i]);
        is_same &= fields[count].type.composite == whole->fields[i].type.composite;
        count++;
    }
    if (is_same && count == whole->field_count) {
        return *type;
    }
    struct weir_composite *pruned = weir_arena_alloc(arena, sizeof(*pruned));
    *pruned = (struct weir_composite){.name = whole->name, .field_count = count, .fields = fields};
    struct weir_type result = *type;
    result.composite = pruned;
    return result;
}

static struct weir_expr *rebuild_path(struct weir_arena *arena, const struct weir_expr *path,
                                      const struct weir_graph_node *node)
{
    int32_t idx = weir_expr_column_idx(path);
    if (idx >= 0) {
        int32_t kept_idx = node->kept_idx[idx];
        WEIR_ASSERT(kept_idx >= 0);
        return weir_expr_column(arena, (uint32_t)kept_idx, node->pruned.columns[kept_idx].name,
                                &node->pruned.columns[kept_idx].type);
    }
    uint32_t field_idx;
    const struct weir_expr *composite = weir_expr_field_of(path, &field_idx);
    const char *name = weir_expr_type(composite)->composite->fields[field_idx].name;
    struct weir_expr *rebuilt = rebuild_path(arena, composite, node);
    const struct weir_composite *pruned = weir_expr_type(rebuilt)->composite;
    uint32_t i = 0;
    while (strcmp(pruned->fields[i].name, name) != 0) {
        i++;
        WEIR_ASSERT(i < pruned->field_count);
    }
    return weir_expr_field(arena, rebuilt, i);
}

static struct weir_expr *replace_path(struct weir_arena *arena, const struct weir_expr *expr,
                                      void *context)
{
    return weir_graph_is_path(expr) ? rebuild_path(arena, expr, context) : NULL;
}

// The expression over the pruned columns of `over`.
static struct weir_expr *rebuild(struct weir_arena *arena, const struct weir_expr *expr,
                                 struct weir_graph_node *over)
{
    return weir_graph_is_path(expr) ? rebuild_path(arena, expr, over)
                                    : weir_expr_remap(arena, expr, replace_path, over);
}

// Keys stay, aggregates that nobody reads go.
static void keep_group(struct weir_arena *arena, struct weir_graph_node *node)
{
    const struct weir_graph_node *input = node->inputs[0];
    uint32_t count = node->schema.column_count;
    struct weir_field *columns = weir_arena_alloc(arena, count * sizeof(*columns));
    uint32_t kept_count = 0;
    uint32_t aggregate_count = 0;
    node->kept_idx = weir_arena_alloc(arena, count * sizeof(int32_t));
    for (uint32_t i = 0; i < count; i++) {
        bool is_key = i < node->key_count;
        node->kept_idx[i] = -1;
        if (!is_key && !node->usage[i].is_used) {
            continue;
        }
        if (!is_key) {
            struct weir_aggregate aggregate = node->aggregates[i - node->key_count];
            if (aggregate.arg_column >= 0) {
                aggregate.arg_column = input->kept_idx[aggregate.arg_column];
            }
            if (aggregate.filter_column >= 0) {
                aggregate.filter_column = input->kept_idx[aggregate.filter_column];
            }
            node->aggregates[aggregate_count++] = aggregate;
        }
        node->kept_idx[i] = (int32_t)kept_count;
        columns[kept_count++] = node->schema.columns[i];
    }
    node->aggregate_count = aggregate_count;
    node->pruned = (struct weir_schema){.column_count = kept_count, .columns = columns};
}

static void keep_keys(struct weir_arena *arena, struct weir_graph_node *node)
{
    const struct weir_graph_node *input = node->inputs[0];
    uint32_t *key_columns = weir_arena_alloc(arena, node->key_count * sizeof(*key_columns));
    for (uint32_t i = 0; i < node->key_count; i++) {
        key_columns[i] = (uint32_t)input->kept_idx[node->key_columns[i]];
    }
    node->key_columns = key_columns;
    if (node->window_end_column >= 0) {
        node->window_end_column = input->kept_idx[node->window_end_column];
    }
}

// All that the input has, and the window.
static void keep_tumble(struct weir_arena *arena, struct weir_graph_node *node)
{
    const struct weir_graph_node *input = node->inputs[0];
    uint32_t passed_count = input->schema.column_count;
    uint32_t kept_count = input->pruned.column_count;
    struct weir_field *columns = weir_arena_alloc(arena, (kept_count + 2) * sizeof(*columns));
    node->kept_idx = weir_arena_alloc(arena, node->schema.column_count * sizeof(int32_t));
    if (passed_count != 0) {
        memcpy(node->kept_idx, input->kept_idx, passed_count * sizeof(int32_t));
    }
    if (kept_count != 0) {
        memcpy(columns, input->pruned.columns, kept_count * sizeof(*columns));
    }
    for (uint32_t i = 0; i < 2; i++) {
        columns[kept_count + i] = node->schema.columns[passed_count + i];
        node->kept_idx[passed_count + i] = (int32_t)(kept_count + i);
    }
    node->pruned = (struct weir_schema){.column_count = kept_count + 2, .columns = columns};
}

static void keep_columns(struct weir_arena *arena, struct weir_graph_node *node)
{
    uint32_t count = node->schema.column_count;
    struct weir_field *columns = weir_arena_alloc(arena, count * sizeof(*columns));
    struct weir_graph_node *input = node->input_count == 0 ? NULL : node->inputs[0];
    uint32_t kept_count = 0;
    uint32_t first = 0;
    node->kept_idx = weir_arena_alloc(arena, count * sizeof(int32_t));
    // DERIVE passes all on that its input has.
    if (node->kind == WEIR_PLAN_DERIVE) {
        first = input->schema.column_count;
        memcpy(node->kept_idx, input->kept_idx, first * sizeof(int32_t));
        memcpy(columns, input->pruned.columns, input->pruned.column_count * sizeof(*columns));
        kept_count = input->pruned.column_count;
    }
    uint32_t kept_expr_count = 0;
    for (uint32_t i = first; i < count; i++) {
        node->kept_idx[i] = -1;
        if (!node->usage[i].is_used) {
            continue;
        }
        columns[kept_count].name = node->schema.columns[i].name;
        if (node->kind == WEIR_PLAN_SOURCE) {
            columns[kept_count].type =
                prune_type(arena, &node->schema.columns[i].type, &node->usage[i]);
        } else {
            struct weir_expr *expr = rebuild(arena, node->exprs[i - first], input);
            node->exprs[kept_expr_count++] = expr;
            columns[kept_count].type = *weir_expr_type(expr);
        }
        node->kept_idx[i] = (int32_t)kept_count++;
    }
    node->expr_count = kept_expr_count;
    node->pruned = (struct weir_schema){.column_count = kept_count, .columns = columns};
}

static void keep_checks(struct weir_arena *arena, struct weir_graph_node *node)
{
    struct weir_plan_check *checks = weir_arena_alloc(arena, node->check_count * sizeof(*checks));
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->check_count; i++) {
        const struct weir_plan_check *check = &node->checks[i];
        if (!is_check_active(node, check)) {
            continue;
        }
        checks[count] = *check;
        if (check->condition == NULL) {
            checks[count].not_null_column = node->kept_idx[check->not_null_column];
        } else {
            checks[count].condition = rebuild(arena, check->condition, node);
        }
        count++;
    }
    node->checks = checks;
    node->check_count = count;
    if (node->event_time_column >= 0) {
        node->event_time_column = node->kept_idx[node->event_time_column];
    }
}

void weir_graph_prune(struct weir_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weir_graph_node *node = graph->nodes[i];
        node->usage =
            weir_arena_alloc_zero(graph->arena, node->schema.column_count * sizeof(*node->usage));
    }
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (uint32_t i = graph->node_count; i-- > 0;) {
            if (graph->nodes[i]->is_reached) {
                is_new |= need_of_inputs(graph->arena, graph->nodes[i]);
            }
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weir_graph_node *node = graph->nodes[i];
        if (!node->is_reached) {
            continue;
        }
        if (weir_graph_is_passing(node)) {
            node->kept_idx = node->inputs[0]->kept_idx;
            node->pruned = node->inputs[0]->pruned;
        } else if (node->kind == WEIR_PLAN_AGGREGATE) {
            keep_group(graph->arena, node);
        } else if (node->kind == WEIR_PLAN_TUMBLE) {
            keep_tumble(graph->arena, node);
        } else {
            keep_columns(graph->arena, node);
            keep_checks(graph->arena, node);
        }
        if (node->kind == WEIR_PLAN_FILTER) {
            node->exprs[0] = rebuild(graph->arena, node->exprs[0], node->inputs[0]);
        }
        if (node->kind == WEIR_PLAN_EXCHANGE || node->kind == WEIR_PLAN_NORMALIZE ||
            node->kind == WEIR_PLAN_AGGREGATE) {
            keep_keys(graph->arena, node);
        }
    }
}
