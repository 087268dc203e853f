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

static void put_column(const struct weir_plan_node *node, uint32_t idx, bool is_first,
                       struct weir_buffer *out)
{
    char type[256];
    weir_buffer_printf(out, "%s%s %s", is_first ? "" : ", ", node->schema.columns[idx].name,
                       weir_type_name(&node->schema.columns[idx].type, type, sizeof type));
}

// Names can be equal where arguments are not.
static void put_argument(const struct weir_plan_node *node, uint32_t idx, struct weir_buffer *out)
{
    const struct weir_schema *input = &node->inputs[0]->schema;
    const struct weir_aggregate *aggregate = &node->aggregates[idx];
    weir_buffer_printf(out, "; %s%s%s", aggregate->is_distinct ? "distinct " : "",
                       aggregate->arg_column >= 0 ? input->columns[aggregate->arg_column].name
                                                  : "*",
                       aggregate->filter_column >= 0 ? " filtered by " : "");
    if (aggregate->filter_column >= 0) {
        weir_buffer_printf(out, "%s", input->columns[aggregate->filter_column].name);
    }
}

static void put_layout(const struct weir_plan_node *node, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        put_column(node, i, i == 0, out);
    }
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        put_argument(node, i, out);
    }
}

// --- early versions -----------------------------------------------------------------------------

// The aggregate whose column stands at that place of the layout; -1: none of the plan's.
static int32_t find_column(const struct weir_plan_node *node, const char *at, bool is_first,
                           size_t *size_bytes)
{
    int32_t found = -1;
    *size_bytes = 0;
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        struct weir_buffer text = {0};
        put_column(node, node->key_column_count + i, is_first, &text);
        const char *column = weir_buffer_text(&text);
        size_t size = text.size_bytes;
        bool is_there = strncmp(at, column, size) == 0 &&
                        (at[size] == '\0' || at[size] == ',' || at[size] == ';');
        if (is_there && size > *size_bytes) {
            found = (int32_t)i;
            *size_bytes = size;
        }
        weir_buffer_deinit(&text);
    }
    return found;
}

// An early version knew its slots by their places, and wrote down names and arguments: where each
// of them is one of the plan's, it is known what they were. NULL: it is not.
static const struct weir_manifest_operator *with_slots(const struct weir_manifest_operator *before,
                                                       const struct weir_plan_node *node,
                                                       const struct weir_manifest_slot *now,
                                                       struct weir_arena *arena)
{
    struct weir_buffer layout = {0};
    for (uint32_t i = 0; i < node->key_column_count; i++) {
        put_column(node, i, i == 0, &layout);
    }
    const char *rest = before->layout;
    if (strncmp(rest, weir_buffer_text(&layout), layout.size_bytes) != 0) {
        weir_buffer_deinit(&layout);
        return NULL;
    }
    rest += layout.size_bytes;
    struct weir_manifest_slot *slots =
        weir_arena_alloc_zero(arena, (node->aggregate_count + 1) * sizeof *slots);
    bool *is_used = weir_arena_alloc_zero(arena, node->aggregate_count + 1);
    struct weir_buffer arguments = {0};
    uint32_t count = 0;
    size_t size_bytes;
    int32_t idx;
    while ((idx = find_column(node, rest, rest == before->layout, &size_bytes)) >= 0 &&
           !is_used[idx]) {
        is_used[idx] = true;
        slots[count] = now[idx];
        slots[count].number = count;
        count++;
        put_argument(node, (uint32_t)idx, &arguments);
        rest += size_bytes;
    }
    struct weir_manifest_operator *op = NULL;
    if (strcmp(rest, weir_buffer_text(&arguments)) == 0) {
        op = weir_arena_alloc(arena, sizeof *op);
        *op = *before;
        op->has_slots = true;
        op->slot_count = count;
        op->slots = slots;
    }
    weir_buffer_deinit(&layout);
    weir_buffer_deinit(&arguments);
    return op;
}

// --- slots --------------------------------------------------------------------------------------

// NULL: there is none.
static const struct weir_manifest_operator *find_operator(const struct weir_manifest *manifest,
                                                          const char *stage, const char *id)
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

// Sets *before, too.
static struct weir_manifest_operator record_of(const struct weir_plan_node *node,
                                               const struct weir_manifest *manifest,
                                               struct weir_arena *arena,
                                               const struct weir_manifest_operator **before)
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
    *before = find_operator(manifest, record.stage, record.id);
    if (*before != NULL && !(*before)->has_slots && record.has_slots) {
        const struct weir_manifest_operator *known = with_slots(*before, node, slots, arena);
        *before = known != NULL ? known : *before;
    }
    put_layout(node, &layout);
    if (number_slots(slots, node->aggregate_count, *before)) {
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
            struct weir_state_operator *item = &items[count++];
            item->node = node;
            item->is_input_changing = node->inputs[0]->is_changing;
            item->record = record_of(node, before, arena, &item->before);
        }
    }
    return (struct weir_state_operators){.count = count, .items = items};
}
