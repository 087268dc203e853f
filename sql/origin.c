// SPDX-License-Identifier: Apache-2.0
// Where the columns of a result come from (graph.h): from the event time of a table, from a window,
// from the key of a group or of a keyed table. Answers hold while the graph is built; the passes do
// not ask.
#include "sql/planner.h"

// What several inputs say together.
static enum weir_time_kind both(enum weir_time_kind a, const struct weir_catalog_table *a_table,
                                enum weir_time_kind b, const struct weir_catalog_table *b_table)
{
    bool is_time = (a == WEIR_TIME_EVENT || a == WEIR_TIME_MIXED_DELAYS) &&
                   (b == WEIR_TIME_EVENT || b == WEIR_TIME_MIXED_DELAYS);
    if (is_time && (a != b || (a == WEIR_TIME_EVENT && a_table->table.watermark_delay_us !=
                                                           b_table->table.watermark_delay_us))) {
        return WEIR_TIME_MIXED_DELAYS;
    }
    return a == b ? a : WEIR_TIME_NONE;
}

static enum weir_time_kind time_of_inputs(const struct weir_graph_node *node, uint32_t column_idx,
                                          struct weir_catalog_table **table)
{
    enum weir_time_kind kind = weir_graph_time_of(node->inputs[0], column_idx, table);
    for (uint32_t i = 1; i < node->input_count && kind != WEIR_TIME_NONE; i++) {
        struct weir_catalog_table *other = NULL;
        enum weir_time_kind more = weir_graph_time_of(node->inputs[i], column_idx, &other);
        kind = both(kind, *table, more, other);
    }
    return kind;
}

enum weir_time_kind weir_graph_time_of(const struct weir_graph_node *node, uint32_t column_idx,
                                       struct weir_catalog_table **table)
{
    switch (node->kind) {
    case WEIR_PLAN_FILTER:
    case WEIR_PLAN_WATERMARK:
    case WEIR_PLAN_EXCHANGE:
    case WEIR_PLAN_SINK:
        return time_of_inputs(node, column_idx, table);
    case WEIR_PLAN_NORMALIZE:
        return WEIR_TIME_KEYED;
    case WEIR_PLAN_PROJECT: {
        int32_t idx = weir_expr_column_idx(node->exprs[column_idx]);
        return idx < 0 ? WEIR_TIME_NONE : time_of_inputs(node, (uint32_t)idx, table);
    }
    case WEIR_PLAN_TUMBLE: {
        uint32_t passed_count = node->inputs[0]->schema.column_count;
        return column_idx < passed_count    ? time_of_inputs(node, column_idx, table)
               : column_idx == passed_count ? WEIR_TIME_WINDOW_START
                                            : WEIR_TIME_WINDOW_END;
    }
    case WEIR_PLAN_AGGREGATE: {
        enum weir_time_kind kind = WEIR_TIME_NONE;
        if (node->window_end_column >= 0 && column_idx < node->key_count) {
            kind = time_of_inputs(node, node->key_columns[column_idx], table);
        }
        return kind == WEIR_TIME_WINDOW_START || kind == WEIR_TIME_WINDOW_END ? kind
                                                                              : WEIR_TIME_NONE;
    }
    case WEIR_PLAN_SOURCE:
    case WEIR_PLAN_DERIVE:
        *table = node->table;
        return node->event_time_column == (int32_t)column_idx ? WEIR_TIME_EVENT : WEIR_TIME_NONE;
    }
    return WEIR_TIME_NONE;
}

bool weir_graph_has_now(const struct weir_graph_node *node, bool with_projects)
{
    bool has_now = false;
    if (!node->is_changing || node->kind == WEIR_PLAN_AGGREGATE ||
        node->kind == WEIR_PLAN_NORMALIZE) {
        return false;
    }
    bool is_looked_at =
        node->kind == WEIR_PLAN_FILTER || (node->kind == WEIR_PLAN_PROJECT && with_projects);
    for (uint32_t i = 0; is_looked_at && i < node->expr_count; i++) {
        has_now |= weir_expr_needs_now(node->exprs[i]);
    }
    for (uint32_t i = 0; i < node->input_count && !has_now; i++) {
        has_now = weir_graph_has_now(node->inputs[i], with_projects);
    }
    return has_now;
}

const struct weir_graph_node *weir_graph_keyed_by(const struct weir_graph_node *node)
{
    while (node->kind != WEIR_PLAN_AGGREGATE && node->kind != WEIR_PLAN_NORMALIZE) {
        if (node->input_count != 1 || node->kind == WEIR_PLAN_TUMBLE) {
            return NULL;
        }
        node = node->inputs[0];
    }
    return node;
}

int32_t weir_graph_key_of(const struct weir_graph_node *node, uint32_t column_idx)
{
    int32_t idx = (int32_t)column_idx;
    while (node->kind != WEIR_PLAN_AGGREGATE && node->kind != WEIR_PLAN_NORMALIZE) {
        if (node->kind == WEIR_PLAN_PROJECT) {
            idx = weir_expr_column_idx(node->exprs[idx]);
        }
        if (idx < 0 || node->input_count != 1) {
            return -1;
        }
        node = node->inputs[0];
    }
    if (node->kind == WEIR_PLAN_AGGREGATE) {
        return idx < (int32_t)node->key_count ? idx : -1;
    }
    for (uint32_t i = 0; i < node->key_count; i++) {
        if (node->key_columns[i] == (uint32_t)idx) {
            return (int32_t)i;
        }
    }
    return -1;
}
