// SPDX-License-Identifier: Apache-2.0
// What tasks are given of the state that the job goes on from (job_nodes.h): which files of the
// checkpoint, what becomes of their entries, how the values in them are told apart.
#include "app/job_nodes.h"
#include "rocksdb_backend/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const uint32_t *weir_node_slot_numbers(const struct weir_node_builder *builder,
                                       const struct weir_plan_node *aggregate)
{
    const struct weir_job_change *change = &builder->recovered->change;
    uint32_t *numbers =
        weir_arena_alloc(builder->arena, (aggregate->aggregate_count + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < change->operator_count; i++) {
        const struct weir_manifest_operator *op = &change->operators[i];
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
    const struct weir_job_change *change = &builder->recovered->change;
    struct weir_state_conversion *conversions =
        weir_arena_alloc(builder->arena, (change->conversion_count + 1) * sizeof *conversions);
    uint32_t count = 0;
    for (uint32_t i = 0; i < change->conversion_count; i++) {
        if (strcmp(change->conversions[i].stage, stage) == 0) {
            conversions[count++] = change->conversions[i].conversion;
        }
    }
    *found = conversions;
    return count;
}

// The parts of that stage in the checkpoint, whatever key groups each of them has.
static uint32_t find_states(const struct weir_node_builder *builder, const char *stage,
                            const struct weir_state_handle **found)
{
    const struct weir_job_change *change = &builder->recovered->change;
    struct weir_state_handle *handles =
        weir_arena_alloc(builder->arena, change->state_count * sizeof *handles);
    uint32_t count = 0;
    for (uint32_t i = 0; i < change->state_count; i++) {
        if (strcmp(change->states[i].stage, stage) == 0) {
            handles[count++] = change->states[i];
        }
    }
    *found = handles;
    return count;
}

struct restoring {
    struct weir_rocksdb_store_config config;
    struct weir_state_store *state;
    enum weir_status status;
    struct weir_error error;
};

struct restore_pool {
    struct restoring *items;
    uint32_t count;
    _Atomic uint32_t next;
};

static void *run_restores(void *argument)
{
    struct restore_pool *pool = argument;
    uint32_t idx;
    while ((idx = atomic_fetch_add(&pool->next, 1)) < pool->count) {
        struct restoring *item = &pool->items[idx];
        item->status = weir_rocksdb_store_create(&item->config, &item->state, &item->error);
    }
    return NULL;
}

static void describe(const struct weir_node_builder *builder, const struct weir_node_state *wish,
                     struct weir_rocksdb_store_config *config)
{
    const struct weir_config *settings = builder->context->config;
    const struct weir_state_handle *handles;
    uint32_t handle_count = find_states(builder, wish->head->id, &handles);
    const struct weir_state_conversion *conversions;
    uint32_t conversion_count = find_conversions(builder, wish->head->id, &conversions);
    *config = (struct weir_rocksdb_store_config){
        .work_folder = weir_arena_printf(builder->arena, "%s/work/%s-%u", settings->state_dir,
                                         wish->head->id, wish->key_groups.first),
        .store_folder = weir_store_path(builder->context->store),
        .stage = wish->head->id,
        .key_groups = wish->key_groups,
        .attempt = builder->recovered->attempt.text,
        // Half of the budget is state, shared by all keyed tasks.
        .budget_bytes = weir_config_shared_bytes(settings) / 2 / builder->keyed_task_count,
        .mailbox = wish->mailbox,
        .clock = builder->context->clock,
        .number = builder->recovered->number,
        .handle_count = handle_count,
        .handles = handles,
        .conversion_count = conversion_count,
        .conversions = conversions,
    };
}

// Returns when all are done. The arena is not touched by the threads.
static void restore_side_by_side(struct restore_pool *pool, uint32_t thread_count)
{
    thread_count = thread_count < pool->count ? thread_count : pool->count;
    pthread_t *threads = weir_alloc((thread_count + 1) * sizeof *threads);
    for (uint32_t i = 1; i < thread_count; i++) {
        int failed = pthread_create(&threads[i], NULL, run_restores, pool);
        WEIR_ASSERT(failed == 0);
    }
    run_restores(pool);
    for (uint32_t i = 1; i < thread_count; i++) {
        pthread_join(threads[i], NULL);
    }
    free(threads);
}

enum weir_status weir_node_create_states(const struct weir_node_builder *builder, uint32_t count,
                                         struct weir_node_state *states, struct weir_error *error)
{
    struct restore_pool pool = {
        .items = weir_arena_alloc_zero(builder->arena, (count + 1) * sizeof *pool.items),
        .count = count};
    for (uint32_t i = 0; i < count; i++) {
        describe(builder, &states[i], &pool.items[i].config);
    }
    restore_side_by_side(&pool, builder->context->config->parallelism);
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < count; i++) {
        states[i].state = pool.items[i].status == WEIR_OK ? pool.items[i].state : NULL;
        if (states[i].state == NULL && status == WEIR_OK) {
            status = WEIR_ERROR;
            *error = pool.items[i].error;
        }
    }
    if (status != WEIR_OK) {
        weir_node_destroy_states(count, states);
    }
    return status;
}

void weir_node_destroy_states(uint32_t count, struct weir_node_state *states)
{
    for (uint32_t i = 0; i < count; i++) {
        if (states[i].state != NULL) {
            states[i].state->ops->destroy(states[i].state);
            states[i].state = NULL;
        }
    }
}
