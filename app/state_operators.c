// SPDX-License-Identifier: Apache-2.0
// See state_operators.h. An operator's id says what it groups by and where its rows come from; its
// slots what it computes of them; its layout all that it keeps, in order.
#include "app/state_operators.h"

#include "operators/aggregate_convert.h"

#include <string.h>

static const struct weir_type *argument_of(const struct weir_plan_node *node, uint32_t idx)
{
    int32_t column = node->aggregates[idx].arg_column;
    return column >= 0 ? &node->inputs[0]->schema.columns[column].type : NULL;
}

static void put_layout(const struct weir_plan_node *node, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        char type[256];
        weir_buffer_printf(out, "%s%s %s", i == 0 ? "" : ", ", node->schema.columns[i].name,
                           weir_type_name(&node->schema.columns[i].type, type, sizeof type));
    }
    // Names can be equal where arguments are not.
    const struct weir_schema *input = &node->inputs[0]->schema;
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        const struct weir_aggregate *aggregate = &node->aggregates[i];
        weir_buffer_printf(out, "; %s%s%s", aggregate->is_distinct ? "distinct " : "",
                           aggregate->arg_column >= 0 ? input->columns[aggregate->arg_column].name
                                                      : "*",
                           aggregate->filter_column >= 0 ? " filtered by " : "");
        if (aggregate->filter_column >= 0) {
            weir_buffer_printf(out, "%s", input->columns[aggregate->filter_column].name);
        }
    }
}

const struct weir_manifest_operator *
weir_manifest_find_operator(const struct weir_manifest *manifest, const char *stage, const char *id)
{
    for (uint32_t i = 0; manifest != NULL && i < manifest->operator_count; i++) {
        const struct weir_manifest_operator *op = &manifest->operators[i];
        if (strcmp(op->stage, stage) == 0 && strcmp(op->id, id) == 0) {
            return op;
        }
    }
    return NULL;
}

int32_t weir_state_slot_find(const struct weir_manifest_operator *op,
                             const struct weir_manifest_slot *slot)
{
    for (uint32_t i = 0; i < op->slot_count; i++) {
        const struct weir_manifest_slot *other = &op->slots[i];
        if (strcmp(other->what, slot->what) == 0 && strcmp(other->argument, slot->argument) == 0 &&
            strcmp(other->form, slot->form) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

// A number is never given twice while the operator's state lives, so that no state of single values
// is taken for another slot's. False: each is that of its place.
static bool number_slots(struct weir_manifest_slot *slots, uint32_t count,
                         const struct weir_manifest_operator *before)
{
    bool is_apart = false;
    uint32_t next = 0;
    for (uint32_t i = 0; before != NULL && i < before->slot_count; i++) {
        next = before->slots[i].number >= next ? before->slots[i].number + 1 : next;
    }
    for (uint32_t i = 0; i < count; i++) {
        int32_t place = before != NULL ? weir_state_slot_find(before, &slots[i]) : -1;
        slots[i].number = before == NULL || !before->has_slots ? i
                          : place >= 0                         ? before->slots[place].number
                                                               : next++;
        is_apart |= slots[i].number != i;
    }
    return is_apart;
}

static struct weir_manifest_operator record_of(const struct weir_plan_node *node,
                                               const struct weir_manifest *before,
                                               struct weir_arena *arena)
{
    const struct weir_plan_node *head = node;
    while (head->kind != WEIR_PLAN_EXCHANGE) {
        head = head->inputs[0];
    }
    struct weir_buffer layout = {0};
    struct weir_manifest_operator record = {
        .stage = head->id,
        .id = node->id,
        .name = node->name,
        .has_slots = node->kind == WEIR_PLAN_AGGREGATE,
        .slot_count = node->aggregate_count,
    };
    struct weir_manifest_slot *slots =
        weir_arena_alloc_zero(arena, (node->aggregate_count + 1) * sizeof *slots);
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        const struct weir_type *type = argument_of(node, i);
        char name[256];
        slots[i].what = node->aggregates[i].text;
        slots[i].argument =
            type != NULL ? weir_arena_strdup(arena, weir_type_name(type, name, sizeof name)) : "";
        slots[i].form = weir_aggregate_form(&node->aggregates[i], type);
    }
    put_layout(node, &layout);
    if (number_slots(slots, node->aggregate_count,
                     weir_manifest_find_operator(before, record.stage, record.id))) {
        // An early version, which knows slots by their places, must not read it.
        weir_buffer_printf(&layout, "; slots");
        for (uint32_t i = 0; i < node->aggregate_count; i++) {
            weir_buffer_printf(&layout, " %u", slots[i].number);
        }
    }
    record.slots = slots;
    record.layout = weir_arena_strdup(arena, weir_buffer_text(&layout));
    weir_buffer_deinit(&layout);
    return record;
}

struct weir_state_operators weir_state_operators_of(const struct weir_plan *plan,
                                                    const struct weir_manifest *before,
                                                    struct weir_arena *arena)
{
    struct weir_state_operator *items =
        weir_arena_alloc_zero(arena, (plan->node_count + 1) * sizeof *items);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        if (node->kind == WEIR_PLAN_AGGREGATE || node->kind == WEIR_PLAN_NORMALIZE) {
            items[count++] =
                (struct weir_state_operator){.record = record_of(node, before, arena),
                                             .node = node,
                                             .is_input_changing = node->inputs[0]->is_changing};
        }
    }
    return (struct weir_state_operators){.count = count, .items = items};
}
