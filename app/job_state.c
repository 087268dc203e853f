// SPDX-License-Identifier: Apache-2.0
// What tasks are given of the state that the job goes on from (job_nodes.h): which files of the
// checkpoint, what becomes of their entries, how the values in them are told apart.
#include "app/job_nodes.h"
#include "app/state_change.h"
#include "rocksdb_backend/store.h"

#include <string.h>

const uint32_t *weir_node_slot_numbers(const struct weir_node_builder *builder,
                                       const struct weir_plan_node *aggregate)
{
    const struct weir_recovered *recovered = builder->recovered;
    uint32_t *numbers =
        weir_arena_alloc(builder->arena, (aggregate->aggregate_count + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < recovered->operator_count; i++) {
        const struct weir_manifest_operator *op = &recovered->operators[i];
        if (strcmp(op->id, aggregate->id) == 0) {
            WEIR_ASSERT(op->slot_count == aggregate->aggregate_count);
            for (uint32_t s = 0; s < op->slot_count; s++) {
                numbers[s] = op->slots[s].number;
            }
            return numbers;
        }
    }
    WEIR_ASSERT(!"every aggregate of the plan is recorded");
}

// What becomes of that stage's entries.
static uint32_t find_conversions(const struct weir_node_builder *builder, const char *stage,
                                 const struct weir_state_conversion **found)
{
    const struct weir_recovered *recovered = builder->recovered;
    struct weir_state_conversion *conversions =
        weir_arena_alloc(builder->arena, (recovered->conversion_count + 1) * sizeof *conversions);
    uint32_t count = 0;
    for (uint32_t i = 0; i < recovered->conversion_count; i++) {
        if (strcmp(recovered->conversions[i].stage, stage) == 0) {
            conversions[count++] = recovered->conversions[i].conversion;
        }
    }
    *found = conversions;
    return count;
}

// The parts of that stage in the checkpoint, whatever key groups each of them has.
static uint32_t find_states(const struct weir_node_builder *builder, const char *stage,
                            const struct weir_state_handle **found)
{
    const struct weir_recovered *recovered = builder->recovered;
    struct weir_state_handle *handles =
        weir_arena_alloc(builder->arena, recovered->state_count * sizeof *handles);
    uint32_t count = 0;
    for (uint32_t i = 0; i < recovered->state_count; i++) {
        if (strcmp(recovered->states[i].stage, stage) == 0) {
            handles[count++] = recovered->states[i];
        }
    }
    *found = handles;
    return count;
}

enum weir_status weir_node_create_state(const struct weir_node_builder *builder,
                                        const struct weir_plan_node *head,
                                        const struct weir_node_place *place,
                                        struct weir_state_store **state, struct weir_error *error)
{
    const struct weir_config *config = builder->context->config;
    const struct weir_state_handle *handles;
    uint32_t handle_count = find_states(builder, head->id, &handles);
    const struct weir_state_conversion *conversions;
    uint32_t conversion_count = find_conversions(builder, head->id, &conversions);
    return weir_rocksdb_store_create(
        &(struct weir_rocksdb_store_config){
            .work_folder = weir_arena_printf(builder->arena, "%s/work/%s-%u", config->state_dir,
                                             head->id, place->key_groups.first),
            .store_folder = weir_store_path(builder->context->store),
            .stage = head->id,
            .key_groups = place->key_groups,
            .attempt = builder->recovered->attempt.text,
            // Half of the budget is state, shared by all keyed tasks.
            .budget_bytes = weir_config_shared_bytes(config) / 2 / builder->keyed_task_count,
            .mailbox = place->mailbox,
            .clock = builder->context->clock,
            .number = builder->recovered->number,
            .handle_count = handle_count,
            .handles = handles,
            .conversion_count = conversion_count,
            .conversions = conversions,
        },
        state, error);
}
