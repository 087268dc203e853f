// SPDX-License-Identifier: Apache-2.0
// From one plan node to one operator of one task: codecs, writers, policies, sources. How nodes
// become stages and tasks is job_build.h's business.
#ifndef WEIR_APP_JOB_NODES_H
#define WEIR_APP_JOB_NODES_H

#include "app/recover.h"
#include "kafka/row_policy.h"
#include "runtime/state.h"

struct weir_node_builder {
    const struct weir_job_context *context;
    const struct weir_recovered *recovered;
    struct weir_arena *arena;
    uint32_t writer_count;     // of the whole job: they share the memory for held rows
    uint32_t keyed_task_count; // of the whole job: they share the memory for state
};

// What nodes of one task are built into.
struct weir_node_place {
    struct weir_mailbox *mailbox;
    struct weir_source *source;     // what feeds the task
    struct weir_state_store *state; // NULL: the task keeps none
    struct weir_operator_state_store *operator_states;
    struct weir_key_group_range key_groups;
    uint32_t partition_count; // of a task that reads Kafka
    const struct weir_source_partition *partitions;
};

// Every kind but SOURCE and EXCHANGE.
struct weir_operator *weir_node_create(const struct weir_node_builder *builder,
                                       const struct weir_plan_node *node,
                                       const struct weir_node_place *place);

// For an EXCHANGE with folded_for: the node in front of it.
struct weir_operator *weir_node_create_preaggregate(const struct weir_plan_node *exchange);

// For an AGGREGATE with a time to live: the node in front of it.
struct weir_operator *weir_node_create_expire(const struct weir_node_builder *builder,
                                              const struct weir_plan_node *aggregate,
                                              const struct weir_node_place *place);

// table: the one whose records the task reads; NULL: a keyed task, whose rows descend from many.
// late_topic: where late rows go; NULL: nowhere, they are counted.
struct weir_row_policy *weir_node_create_policy(const struct weir_node_builder *builder,
                                                const struct weir_table *table,
                                                const char *late_topic,
                                                struct weir_mailbox *mailbox);

// Reads the partitions of place.
enum weir_status weir_node_create_source(const struct weir_node_builder *builder,
                                         const struct weir_plan_node *node,
                                         const struct weir_node_place *place,
                                         struct weir_row_error_policy *row_errors,
                                         struct weir_source **source, struct weir_error *error);

// --- job_state.c --------------------------------------------------------------------------------

// Of each aggregate of the node the number that its states are named by.
const uint32_t *weir_node_slot_numbers(const struct weir_node_builder *builder,
                                       const struct weir_plan_node *aggregate);

// The keyed state of a task of the stage that `head` (an exchange) begins.
struct weir_node_state {
    const struct weir_plan_node *head;
    struct weir_key_group_range key_groups;
    struct weir_mailbox *mailbox;   // of the task
    struct weir_state_store *state; // restored; NULL once the task has taken it over
};

// Restores the states of all keyed tasks, side by side: it is what a recovery takes longest for.
// All of them are there or, after a failure, none. Blocks.
enum weir_status weir_node_create_states(const struct weir_node_builder *builder, uint32_t count,
                                         struct weir_node_state *states, struct weir_error *error);
void weir_node_destroy_states(uint32_t count, struct weir_node_state *states); // that are left

#endif
