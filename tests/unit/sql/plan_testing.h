// SPDX-License-Identifier: Apache-2.0
// What must hold for every plan, whatever the job: the order of nodes, schemas that fit together,
// expressions that name only columns that are there, with their types.
#ifndef WEIR_TESTS_UNIT_SQL_PLAN_TESTING_H
#define WEIR_TESTS_UNIT_SQL_PLAN_TESTING_H

#include "sql/plan.h"
#include "tests/unit/cmocka_all.h"

struct plan_expr_check {
    const struct weir_schema *over;
    const char *node_name;
};

static inline void plan_check_column(const struct weir_expr *expr, void *context)
{
    const struct plan_expr_check *check = context;
    int32_t idx = weir_expr_column_idx(expr);
    uint32_t field_idx;
    const struct weir_expr *composite = weir_expr_field_of(expr, &field_idx);
    if (idx >= 0) {
        if ((uint32_t)idx >= check->over->column_count ||
            !weir_type_equal(weir_expr_type(expr), &check->over->columns[idx].type)) {
            fail_msg("%s: column %d is not there or has another type", check->node_name, idx);
        }
    }
    if (composite != NULL) {
        const struct weir_composite *type = weir_expr_type(composite)->composite;
        if (field_idx >= type->field_count ||
            !weir_type_equal(weir_expr_type(expr), &type->fields[field_idx].type)) {
            fail_msg("%s: field %u is not there or has another type", check->node_name, field_idx);
        }
    }
}

static inline void plan_check_expr(const struct weir_plan_node *node, const struct weir_expr *expr,
                                   const struct weir_schema *over)
{
    struct plan_expr_check check = {.over = over, .node_name = node->name};
    weir_expr_walk(expr, plan_check_column, &check);
}

static inline void plan_check_same_schema(const struct weir_plan_node *node,
                                          const struct weir_schema *a, const struct weir_schema *b)
{
    if (a->column_count != b->column_count) {
        fail_msg("%s: %u columns and %u columns", node->name, a->column_count, b->column_count);
    }
    for (uint32_t i = 0; i < a->column_count; i++) {
        if (!weir_type_equal(&a->columns[i].type, &b->columns[i].type)) {
            fail_msg("%s: column %u has two types", node->name, i);
        }
    }
}

static inline void plan_check_derive(const struct weir_plan_node *node,
                                     const struct weir_schema *input)
{
    assert_int_equal(node->schema.column_count, input->column_count + node->expr_count);
    struct weir_schema passed = {.column_count = input->column_count,
                                 .columns = node->schema.columns};
    plan_check_same_schema(node, &passed, input);
    for (uint32_t i = 0; i < node->check_count; i++) {
        if (node->checks[i].condition != NULL) {
            plan_check_expr(node, node->checks[i].condition, &node->schema);
            assert_int_equal(weir_expr_type(node->checks[i].condition)->kind, WEIR_TYPE_BOOLEAN);
        } else {
            assert_in_range(node->checks[i].not_null_column, 0, node->schema.column_count - 1);
        }
    }
    assert_true(node->event_time_column < (int32_t)node->schema.column_count);
}

static inline void plan_check_sink(const struct weir_plan_node *node)
{
    assert_int_equal(node->schema.column_count, node->table->column_count);
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        assert_string_equal(node->schema.columns[i].name, node->table->columns[i].name);
        assert_true(weir_type_equal(&node->schema.columns[i].type, &node->table->columns[i].type));
    }
    assert_true(node->table->is_sink);
}

static inline void plan_check_keys(const struct weir_plan_node *node,
                                   const struct weir_schema *input)
{
    for (uint32_t i = 0; i < node->key_column_count; i++) {
        assert_true(node->key_columns[i] < input->column_count);
    }
    assert_null(node->table);
}

// Rows go by all keys of their group; by some of them where the others are its window.
static inline void plan_check_route(const struct weir_plan_node *node)
{
    const struct weir_plan_node *exchange = node->inputs[0];
    uint32_t matched_count = 0;
    for (uint32_t i = 0; i < node->key_column_count; i++) {
        matched_count += matched_count < exchange->key_column_count &&
                                 exchange->key_columns[matched_count] == node->key_columns[i]
                             ? 1
                             : 0;
    }
    assert_int_equal(matched_count, exchange->key_column_count);
    uint32_t left_out = node->key_column_count - matched_count;
    assert_true(left_out <= (node->window_end_column >= 0 ? 2 : 0));
}

static inline void plan_check_aggregate(const struct weir_plan_node *node,
                                        const struct weir_schema *input)
{
    uint32_t key_count = node->key_column_count;
    assert_int_equal(node->schema.column_count, key_count + node->aggregate_count);
    assert_int_equal(node->input_count, 1);
    assert_int_equal(node->inputs[0]->kind, WEIR_PLAN_EXCHANGE);
    plan_check_route(node);
    for (uint32_t i = 0; i < key_count; i++) {
        assert_true(weir_type_equal(&node->schema.columns[i].type,
                                    &input->columns[node->key_columns[i]].type));
    }
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        const struct weir_aggregate *aggregate = &node->aggregates[i];
        assert_int_equal(aggregate->arg_column < 0, aggregate->kind == WEIR_AGGREGATE_COUNT_ALL);
        assert_true(aggregate->arg_column < (int32_t)input->column_count);
        assert_true(aggregate->filter_column < (int32_t)input->column_count);
        assert_true(
            weir_type_equal(&aggregate->result_type, &node->schema.columns[key_count + i].type));
        if (aggregate->filter_column >= 0) {
            assert_int_equal(input->columns[aggregate->filter_column].type.kind, WEIR_TYPE_BOOLEAN);
        }
    }
    assert_true(node->window_end_column < (int32_t)input->column_count);
    if (node->window_end_column >= 0) {
        assert_int_equal(input->columns[node->window_end_column].type.kind, WEIR_TYPE_TIMESTAMPTZ);
        assert_false(node->inputs[0]->is_changing);
    }
    assert_int_equal(node->is_changing, node->window_end_column < 0);
}

static inline void plan_check_time(const struct weir_plan_node *node,
                                   const struct weir_schema *input)
{
    assert_non_null(node->table);
    if (node->kind == WEIR_PLAN_WATERMARK) {
        assert_true(node->inputs[0]->kind == WEIR_PLAN_DERIVE ||
                    node->inputs[0]->kind == WEIR_PLAN_SOURCE);
        assert_true(node->inputs[0]->is_event_time_needed);
        assert_ptr_equal(node->inputs[0]->table, node->table);
        plan_check_same_schema(node, &node->schema, input);
        return;
    }
    assert_true(node->table->watermark_delay_us >= 0);
    assert_true(node->window.size_us > 0);
    assert_int_equal(node->schema.column_count, input->column_count + 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(node->schema.columns[input->column_count + i].type.kind,
                         WEIR_TYPE_TIMESTAMPTZ);
    }
}

static inline void plan_check_changes(const struct weir_plan_node *node)
{
    bool is_changing = node->kind == WEIR_PLAN_NORMALIZE ||
                       (node->kind == WEIR_PLAN_SOURCE && node->table->is_keyed);
    for (uint32_t i = 0; i < node->input_count; i++) {
        is_changing |= node->inputs[i]->is_changing;
    }
    if (node->kind != WEIR_PLAN_AGGREGATE) {
        assert_int_equal(node->is_changing, is_changing);
    }
}

static inline void plan_check_node(const struct weir_plan *plan, const struct weir_plan_node *node)
{
    const struct weir_schema *input = node->input_count == 0 ? NULL : &node->inputs[0]->schema;
    assert_int_equal(node->kind == WEIR_PLAN_SOURCE, node->input_count == 0);
    for (uint32_t i = 0; i < node->input_count; i++) {
        assert_true(node->inputs[i]->idx < node->idx);
        assert_ptr_equal(plan->nodes[node->inputs[i]->idx], node->inputs[i]);
        plan_check_same_schema(node, input, &node->inputs[i]->schema);
    }
    for (uint32_t i = 0; i < node->expr_count; i++) {
        plan_check_expr(node, node->exprs[i], input);
        if (node->kind != WEIR_PLAN_FILTER) {
            uint32_t passed_count = node->schema.column_count - node->expr_count;
            assert_true(weir_type_equal(weir_expr_type(node->exprs[i]),
                                        &node->schema.columns[passed_count + i].type));
        }
    }
    plan_check_changes(node);
    switch (node->kind) {
    case WEIR_PLAN_SOURCE:
        assert_int_equal(node->expr_count, 0);
        assert_true(node->table->is_source);
        return;
    case WEIR_PLAN_DERIVE:
        plan_check_derive(node, input);
        return;
    case WEIR_PLAN_FILTER:
        assert_int_equal(node->expr_count, 1);
        assert_int_equal(weir_expr_type(node->exprs[0])->kind, WEIR_TYPE_BOOLEAN);
        plan_check_same_schema(node, &node->schema, input);
        return;
    case WEIR_PLAN_PROJECT:
        assert_int_equal(node->expr_count, node->schema.column_count);
        return;
    case WEIR_PLAN_SINK:
        plan_check_same_schema(node, &node->schema, input);
        plan_check_sink(node);
        assert_true(node->table->is_keyed || !node->is_changing);
        return;
    case WEIR_PLAN_WATERMARK:
    case WEIR_PLAN_TUMBLE:
        plan_check_time(node, input);
        return;
    case WEIR_PLAN_EXCHANGE:
    case WEIR_PLAN_NORMALIZE:
        plan_check_keys(node, input);
        plan_check_same_schema(node, &node->schema, input);
        return;
    case WEIR_PLAN_AGGREGATE:
        plan_check_aggregate(node, input);
        return;
    }
}

static inline void plan_check(const struct weir_plan *plan)
{
    uint32_t sink_count = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        assert_int_equal(node->idx, i);
        assert_int_equal(strlen(node->id), 16);
        sink_count += node->kind == WEIR_PLAN_SINK;
        for (uint32_t j = 0; j < i; j++) {
            assert_string_not_equal(node->id, plan->nodes[j]->id);
            assert_string_not_equal(node->name, plan->nodes[j]->name);
        }
        plan_check_node(plan, node);
    }
    assert_true(sink_count > 0);
}

#endif
