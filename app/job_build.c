// SPDX-License-Identifier: Apache-2.0
// See job_build.h. In this order: the stages are found and their tasks counted; every task gets its
// mailbox and every exchange its channels; the tasks are built, heads first, in the plan's order.
// A task's chain is every node of its stage in the plan's order (inputs first), its outlets among
// them, and the row policies last. Thread: the main thread.
#include "app/job_build.h"

#include "runtime/exchange.h"
#include "runtime/gather.h"

#include <stdio.h>

enum { CHANNEL_ITEMS = 8 }; // batches between two tasks: enough to overlap, short to align over

struct stage {
    const struct weir_plan_node *head; // SOURCE or EXCHANGE
    const bool *is_member;             // by plan idx: nodes of the stage, and exchanges it feeds
    uint32_t task_count;
    struct weir_mailbox **mailboxes; // by task; owned by the task once it is built
    // EXCHANGE only: channels[upstream * task_count + task]; owned by the inlet once it is built.
    uint32_t upstream_count;
    struct weir_channel **channels;
    uint32_t built_count;           // tasks that have taken their mailbox and channels over
    struct weir_node_state *states; // EXCHANGE only: by task
};

struct builder {
    struct weir_node_builder nodes;
    const struct weir_plan *plan;
    struct weir_mailbox *coordinator;
    struct weir_job_tasks *tasks;
    uint32_t stage_count;
    struct stage *stages;
    struct weir_node_state *states; // of all keyed tasks; NULL: not restored yet
};

static bool is_head(const struct weir_plan_node *node)
{
    return node->kind == WEIR_PLAN_SOURCE || node->kind == WEIR_PLAN_EXCHANGE;
}

// Everything that the head feeds without crossing an exchange, and the exchanges that end it.
static const bool *members_of(const struct builder *builder, const struct weir_plan_node *head)
{
    const struct weir_plan *plan = builder->plan;
    bool *is_member = weir_arena_alloc_zero(builder->nodes.arena, plan->node_count);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        is_member[i] = node == head;
        for (uint32_t j = 0; j < node->input_count; j++) {
            const struct weir_plan_node *input = node->inputs[j];
            is_member[i] =
                is_member[i] || (is_member[input->idx] && (input == head || !is_head(input)));
        }
    }
    return is_member;
}

static uint32_t task_count_of(const struct builder *builder, const struct weir_plan_node *head)
{
    uint32_t parallelism = builder->nodes.context->config->parallelism;
    if (head->kind == WEIR_PLAN_EXCHANGE) {
        return parallelism < WEIR_KEY_GROUP_COUNT ? parallelism : WEIR_KEY_GROUP_COUNT;
    }
    const struct weir_topic *topic =
        weir_topics_find(&builder->nodes.recovered->topics, head->table->topic);
    return topic->partition_count < parallelism ? topic->partition_count : parallelism;
}

static uint32_t find_stages(struct builder *builder)
{
    const struct weir_plan *plan = builder->plan;
    uint32_t task_count = 0;
    builder->stages =
        weir_arena_alloc_zero(builder->nodes.arena, plan->node_count * sizeof *builder->stages);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (!is_head(plan->nodes[i])) {
            continue;
        }
        struct stage *stage = &builder->stages[builder->stage_count++];
        stage->head = plan->nodes[i];
        stage->is_member = members_of(builder, stage->head);
        stage->task_count = task_count_of(builder, stage->head);
        task_count += stage->task_count;
        builder->nodes.keyed_task_count +=
            stage->head->kind == WEIR_PLAN_EXCHANGE ? stage->task_count : 0;
        uint32_t writer_count = 3; // dead letters, those behind changes, late rows
        for (uint32_t j = 0; j < plan->node_count; j++) {
            writer_count += stage->is_member[j] && plan->nodes[j]->kind == WEIR_PLAN_SINK ? 1 : 0;
        }
        builder->nodes.writer_count += stage->task_count * writer_count;
    }
    return task_count;
}

// Does the stage send rows into that exchange?
static bool feeds(const struct stage *stage, const struct weir_plan_node *exchange)
{
    return stage->head != exchange && stage->is_member[exchange->idx];
}

static void make_mailboxes_and_channels(struct builder *builder)
{
    struct weir_arena *arena = builder->nodes.arena;
    for (uint32_t i = 0; i < builder->stage_count; i++) {
        struct stage *stage = &builder->stages[i];
        stage->mailboxes = weir_arena_alloc(arena, stage->task_count * sizeof *stage->mailboxes);
        for (uint32_t t = 0; t < stage->task_count; t++) {
            stage->mailboxes[t] = weir_mailbox_create();
        }
        if (stage->head->kind != WEIR_PLAN_EXCHANGE) {
            continue;
        }
        for (uint32_t j = 0; j < i; j++) {
            stage->upstream_count +=
                feeds(&builder->stages[j], stage->head) ? builder->stages[j].task_count : 0;
        }
        stage->channels = weir_arena_alloc(arena, stage->upstream_count * stage->task_count *
                                                      sizeof *stage->channels);
        uint32_t upstream = 0;
        for (uint32_t j = 0; j < i; j++) {
            const struct stage *from = &builder->stages[j];
            for (uint32_t u = 0; feeds(from, stage->head) && u < from->task_count; u++) {
                for (uint32_t t = 0; t < stage->task_count; t++) {
                    stage->channels[upstream * stage->task_count + t] = weir_channel_create(
                        CHANNEL_ITEMS, from->mailboxes[u], stage->mailboxes[t], weir_batch_free);
                }
                upstream++;
            }
        }
    }
}

// Every share-th partition of the source's table, from `first` on.
static void choose_partitions(const struct builder *builder, const struct stage *stage,
                              uint32_t first, struct weir_node_place *place,
                              struct weir_job_task *task)
{
    const struct weir_recovered *recovered = builder->nodes.recovered;
    struct weir_arena *arena = builder->nodes.arena;
    struct weir_source_partition *partitions =
        weir_arena_alloc(arena, recovered->start_count * sizeof *partitions);
    int32_t *numbers = weir_arena_alloc(arena, recovered->start_count * sizeof *numbers);
    for (uint32_t i = 0; i < recovered->start_count; i++) {
        const struct weir_start *start = &recovered->starts[i];
        if (start->table == stage->head->table &&
            (uint32_t)start->partition.partition % stage->task_count == first) {
            numbers[place->partition_count] = start->partition.partition;
            partitions[place->partition_count++] = start->partition;
        }
    }
    place->partitions = partitions;
    task->partition_count = place->partition_count;
    task->partitions = numbers;
}

static struct weir_source *create_inlet(const struct builder *builder, const struct stage *stage,
                                        uint32_t task_idx)
{
    const struct weir_config *config = builder->nodes.context->config;
    struct weir_channel **channels =
        weir_arena_alloc(builder->nodes.arena, stage->upstream_count * sizeof *channels);
    for (uint32_t u = 0; u < stage->upstream_count; u++) {
        channels[u] = stage->channels[u * stage->task_count + task_idx];
    }
    return weir_inlet_create(
        &(struct weir_inlet_config){.id = stage->head->id,
                                    .name = stage->head->name,
                                    .channel_count = stage->upstream_count,
                                    .channels = channels,
                                    .is_at_least_once = config->is_at_least_once,
                                    .clock = builder->nodes.context->clock});
}

// The channels of one upstream task into the stage of that exchange.
static struct weir_operator *create_outlet(const struct builder *builder, const struct stage *stage,
                                           uint32_t task_idx, const struct weir_plan_node *exchange)
{
    uint32_t upstream = task_idx;
    for (uint32_t i = 0; i < builder->stage_count; i++) {
        const struct stage *to = &builder->stages[i];
        if (&builder->stages[i] < stage && feeds(to, exchange)) {
            upstream += to->task_count; // stages before this one come first in the channels' order
        }
        if (to->head == exchange) {
            return weir_outlet_create(
                &(struct weir_outlet_config){.id = exchange->id,
                                             .name = exchange->name,
                                             .key_count = exchange->key_column_count,
                                             .key_columns = exchange->key_columns,
                                             .channel_count = to->task_count,
                                             .channels = &to->channels[upstream * to->task_count]});
        }
    }
    WEIR_ASSERT(!"every exchange heads a stage");
}

// The nodes behind each node, among those of this task. doors: what stands in front of a node;
// NULL: nothing does.
static void connect(const struct builder *builder, struct weir_operator **by_plan_idx,
                    struct weir_operator **doors)
{
    const struct weir_plan *plan = builder->plan;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        for (uint32_t j = 0; by_plan_idx[i] != NULL && j < node->input_count; j++) {
            struct weir_operator *input = by_plan_idx[node->inputs[j]->idx];
            if (input == NULL || input == by_plan_idx[i]) {
                continue; // fed by another stage
            }
            if (input->next == NULL) {
                input->next = weir_arena_alloc_zero(builder->nodes.arena,
                                                    plan->node_count * sizeof *input->next);
            }
            input->next[input->next_count++] = doors[i] != NULL ? doors[i] : by_plan_idx[i];
        }
        if (doors[i] != NULL) {
            doors[i]->next = &by_plan_idx[i];
            doors[i]->next_count = 1;
        }
    }
}

// Is the node behind one that sends its changes after the barrier? (operator.h)
static bool is_behind_changes(const struct stage *stage, const struct weir_plan_node *node)
{
    for (uint32_t j = 0; j < node->input_count; j++) {
        const struct weir_plan_node *input = node->inputs[j];
        if (input != stage->head && stage->is_member[input->idx] && !is_head(input) &&
            ((input->kind == WEIR_PLAN_AGGREGATE && input->window_end_column < 0) ||
             is_behind_changes(stage, input))) {
            return true;
        }
    }
    return false;
}

static void add_nodes(const struct builder *builder, const struct stage *stage, uint32_t task_idx,
                      const struct weir_node_place *place, struct weir_job_task *task)
{
    const struct weir_plan *plan = builder->plan;
    struct weir_arena *arena = builder->nodes.arena;
    struct weir_operator **by_plan_idx =
        weir_arena_alloc_zero(arena, plan->node_count * sizeof *by_plan_idx);
    struct weir_operator **doors =
        weir_arena_alloc_zero(arena, plan->node_count * sizeof *by_plan_idx);
    struct weir_operator **nodes =
        weir_arena_alloc_zero(arena, (2 * plan->node_count + 3) * sizeof *nodes);
    task->sinks = weir_arena_alloc_zero(arena, plan->node_count * sizeof *task->sinks);
    task->sink_tables = weir_arena_alloc_zero(arena, plan->node_count * sizeof *task->sink_tables);
    uint32_t node_count = 0;
    nodes[node_count++] = &task->source->op;
    by_plan_idx[stage->head->idx] = &task->source->op;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        if (!stage->is_member[i] || node == stage->head) {
            continue;
        }
        if (node->state_ttl_us != 0) {
            doors[i] = weir_node_create_expire(&builder->nodes, node, place);
        } else if (node->folded_for != NULL) {
            doors[i] = weir_node_create_preaggregate(node);
        }
        if (doors[i] != NULL) {
            nodes[node_count++] = doors[i];
        }
        by_plan_idx[i] = node->kind == WEIR_PLAN_EXCHANGE
                             ? create_outlet(builder, stage, task_idx, node)
                             : weir_node_create(&builder->nodes, node, place);
        by_plan_idx[i]->is_behind_changes = is_behind_changes(stage, node);
        by_plan_idx[i]->row_errors = by_plan_idx[i]->is_behind_changes
                                         ? &task->changes_policy->policy
                                         : &task->policy->policy;
        nodes[node_count++] = by_plan_idx[i];
        if (node->kind == WEIR_PLAN_SINK) {
            task->sink_tables[task->sink_count] = node->table;
            task->sinks[task->sink_count++] = by_plan_idx[i];
        }
    }
    nodes[node_count++] = &task->policy->op;
    if (task->changes_policy != NULL) {
        nodes[node_count++] = &task->changes_policy->op;
    }
    connect(builder, by_plan_idx, doors);
    char name[64];
    snprintf(name, sizeof name, "%s/%u",
             stage->head->table != NULL ? stage->head->table->name : stage->head->name, task_idx);
    task->task = weir_task_create(builder->tasks->count, name, task->source, node_count, nodes,
                                  place->mailbox, builder->coordinator);
    weir_task_set_operator_states(task->task, place->operator_states);
    task->state = place->state;
    if (place->state != NULL) {
        weir_task_set_state(task->task, place->state);
    }
}

// The late topic of the table whose windows the node works on; NULL: none.
static const char *late_topic_of(const struct weir_plan_node *node)
{
    const char *topic = node->kind == WEIR_PLAN_TUMBLE ? node->table->late_topic : NULL;
    for (uint32_t i = 0; topic == NULL && i < node->input_count; i++) {
        topic = late_topic_of(node->inputs[i]);
    }
    return topic;
}

// Where the stage's late rows go; NULL: they are counted only. Behind an exchange only windows have
// late rows: those whose result was out when they came. Of tables with different late topics it is
// the first one's, since such a row does not know its table.
static const char *late_topic_of_stage(const struct builder *builder, const struct stage *stage)
{
    if (stage->head->kind == WEIR_PLAN_SOURCE) {
        return stage->head->table->late_topic;
    }
    const struct weir_plan *plan = builder->plan;
    const char *topic = NULL;
    for (uint32_t i = 0; topic == NULL && i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        if (stage->is_member[i] && node->kind == WEIR_PLAN_AGGREGATE &&
            node->window_end_column >= 0) {
            topic = late_topic_of(node);
        }
    }
    return topic;
}

// Behind the building of the first sources, which begin to fetch meanwhile.
static enum weir_status restore_states(struct builder *builder, struct weir_error *error)
{
    uint32_t count = 0;
    builder->states = weir_arena_alloc_zero(builder->nodes.arena, builder->nodes.keyed_task_count *
                                                                      sizeof *builder->states);
    for (uint32_t i = 0; i < builder->stage_count; i++) {
        struct stage *stage = &builder->stages[i];
        if (stage->head->kind != WEIR_PLAN_EXCHANGE) {
            continue;
        }
        stage->states = &builder->states[count];
        for (uint32_t t = 0; t < stage->task_count; t++) {
            builder->states[count++] =
                (struct weir_node_state){.head = stage->head,
                                         .key_groups = weir_key_groups_of(t, stage->task_count),
                                         .mailbox = stage->mailboxes[t]};
        }
    }
    WEIR_ASSERT(count == builder->nodes.keyed_task_count);
    return weir_node_create_states(&builder->nodes, count, builder->states, error);
}

static enum weir_status build_task(struct builder *builder, struct stage *stage, uint32_t task_idx,
                                   struct weir_error *error)
{
    struct weir_job_task *task = &builder->tasks->tasks[builder->tasks->count];
    const struct weir_recovered *recovered = builder->nodes.recovered;
    struct weir_node_place place = {.mailbox = stage->mailboxes[task_idx]};
    bool is_keyed = stage->head->kind == WEIR_PLAN_EXCHANGE;
    *task = (struct weir_job_task){.table = is_keyed ? NULL : stage->head->table};
    task->policy = weir_node_create_policy(&builder->nodes, task->table,
                                           late_topic_of_stage(builder, stage), place.mailbox);
    if (is_keyed) {
        task->changes_policy = weir_node_create_policy(&builder->nodes, NULL, NULL, place.mailbox);
        task->changes_policy->op.is_behind_changes = true;
    }
    enum weir_status status;
    if (is_keyed) {
        place.key_groups = weir_key_groups_of(task_idx, stage->task_count);
        status = builder->states != NULL ? WEIR_OK : restore_states(builder, error);
        if (status == WEIR_OK) {
            place.state = stage->states[task_idx].state;
            stage->states[task_idx].state = NULL;
            task->source = create_inlet(builder, stage, task_idx);
        }
    } else {
        choose_partitions(builder, stage, task_idx, &place, task);
        status = weir_node_create_source(&builder->nodes, stage->head, &place,
                                         &task->policy->policy, &task->source, error);
    }
    if (status != WEIR_OK) {
        task->policy->op.ops->destroy(&task->policy->op);
        if (task->changes_policy != NULL) {
            task->changes_policy->op.ops->destroy(&task->changes_policy->op);
        }
        return WEIR_ERROR;
    }
    place.source = task->source;
    place.operator_states = weir_operator_state_store_create(
        &(struct weir_operator_state_config){.task_idx = task_idx,
                                             .task_count = stage->task_count,
                                             .part_count = recovered->operator_state_count,
                                             .parts = recovered->operator_states});
    add_nodes(builder, stage, task_idx, &place, task);
    builder->tasks->count++;
    stage->built_count++;
    return WEIR_OK;
}

// Tasks that were built own their mailboxes and channels; the others' are freed here.
static void take_down(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->tasks->count; i++) {
        weir_task_destroy(builder->tasks->tasks[i].task);
    }
    builder->tasks->count = 0;
    if (builder->states != NULL) { // of tasks that were not built
        weir_node_destroy_states(builder->nodes.keyed_task_count, builder->states);
    }
    for (uint32_t i = 0; i < builder->stage_count; i++) {
        struct stage *stage = &builder->stages[i];
        for (uint32_t t = stage->built_count; t < stage->task_count; t++) {
            for (uint32_t u = 0; u < stage->upstream_count; u++) {
                weir_channel_destroy(stage->channels[u * stage->task_count + t]);
            }
            weir_mailbox_destroy(stage->mailboxes[t], NULL);
        }
    }
}

enum weir_status weir_job_build(const struct weir_job_context *context,
                                const struct weir_recovered *recovered,
                                struct weir_mailbox *coordinator, struct weir_arena *arena,
                                struct weir_job_tasks *tasks, struct weir_error *error)
{
    struct builder builder = {
        .nodes = {.context = context, .recovered = recovered, .arena = arena},
        .plan = context->plan,
        .coordinator = coordinator,
        .tasks = tasks,
    };
    uint32_t task_count = find_stages(&builder);
    *tasks = (struct weir_job_tasks){
        .tasks = weir_arena_alloc_zero(arena, task_count * sizeof *tasks->tasks)};
    if (task_count > WEIR_TASKS_MAX) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "the job needs %u tasks, at most %d can be had: lower "
                              "WEIR_PARALLELISM",
                              task_count, WEIR_TASKS_MAX);
    }
    make_mailboxes_and_channels(&builder);
    for (uint32_t i = 0; i < builder.stage_count; i++) {
        for (uint32_t t = 0; t < builder.stages[i].task_count; t++) {
            if (build_task(&builder, &builder.stages[i], t, error) != WEIR_OK) {
                take_down(&builder);
                return WEIR_ERROR;
            }
        }
    }
    return WEIR_OK;
}
