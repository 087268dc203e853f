// SPDX-License-Identifier: Apache-2.0
// See job_build.h. A task's chain is every plan node that its source feeds, in the plan's order
// (inputs first), then the row policy of the table. Thread: the main thread.
#include "app/job_build.h"

#include "kafka/json_decode.h"
#include "kafka/json_encode.h"
#include "kafka/raw_format.h"
#include "operators/derive.h"
#include "operators/filter.h"
#include "operators/project.h"

#include <stdio.h>

struct builder {
    const struct weir_job_context *context;
    const struct weir_recovered *recovered;
    struct weir_mailbox *coordinator;
    struct weir_arena *arena;
    struct weir_job_tasks *tasks;
    uint32_t writer_count; // of the whole job: they share the memory for held rows
};

static uint32_t digits_of_unit(enum weir_timestamp_unit unit)
{
    switch (unit) {
    case WEIR_UNIT_S:
        return 0;
    case WEIR_UNIT_MS:
        return 3;
    case WEIR_UNIT_US:
        return 6;
    case WEIR_UNIT_NS:
        return 9;
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_decoder *create_decoder(const struct weir_plan_node *node)
{
    switch (node->table->format) {
    case WEIR_FORMAT_JSON:
        return weir_json_decoder_create(
            &node->schema, &(struct weir_json_decode_options){
                               .timestamp_digits = digits_of_unit(node->table->timestamp_unit)});
    case WEIR_FORMAT_RAW:
        return weir_raw_decoder_create(&node->schema);
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_encoder *create_value_encoder(const struct weir_plan_node *node)
{
    switch (node->table->format) {
    case WEIR_FORMAT_JSON:
        return weir_json_encoder_create(&node->schema);
    case WEIR_FORMAT_RAW:
        return weir_raw_encoder_create(&node->schema, 0);
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_encoder *create_key_encoder(const struct weir_plan_node *node)
{
    const struct weir_table *table = node->table;
    if (table->key_column_count == 0) {
        return NULL;
    }
    switch (table->key_format) {
    case WEIR_FORMAT_JSON:
        return weir_json_encoder_create_for(&node->schema, table->key_column_count,
                                            table->key_columns);
    case WEIR_FORMAT_RAW:
        return weir_raw_encoder_create(&node->schema, table->key_columns[0]);
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_writer *create_writer(const struct builder *builder, const char *topic_name,
                                         struct weir_mailbox *mailbox)
{
    const struct weir_topic *topic = weir_topics_find(&builder->recovered->topics, topic_name);
    // An eighth of the budget may be held back on the way out, at least 256 KiB a writer.
    size_t held_bytes = builder->context->config->memory_bytes / 8 / builder->writer_count;
    return weir_writer_create(&(struct weir_writer_config){
        .handles = builder->recovered->handles,
        .topic = topic->name,
        .partition_count = topic->partition_count,
        .first_epoch = builder->recovered->number + 1,
        .mailbox = mailbox,
        .held_bytes_max = held_bytes > (256u << 10) ? held_bytes : (256u << 10),
    });
}

static struct weir_row_policy *create_policy(const struct builder *builder,
                                             const struct weir_table *table,
                                             struct weir_mailbox *mailbox)
{
    const struct weir_config *config = builder->context->config;
    struct weir_row_policy_config policy = {.table = table->name, .job_id = config->job_id};
    switch (weir_table_on_error(table, config)) {
    case WEIR_ON_ERROR_DEFAULT:
    case WEIR_ON_ERROR_FAIL:
        policy.kind = WEIR_ROW_POLICY_FAIL;
        break;
    case WEIR_ON_ERROR_SKIP:
        policy.kind = WEIR_ROW_POLICY_SKIP;
        break;
    case WEIR_ON_ERROR_DEAD_LETTER:
        policy.kind = WEIR_ROW_POLICY_DEAD_LETTER;
        policy.writer =
            create_writer(builder, weir_table_dead_letter_topic(table, config), mailbox);
        break;
    }
    return weir_row_policy_create(&policy);
}

static struct weir_operator *create_sink(const struct builder *builder,
                                         const struct weir_plan_node *node,
                                         struct weir_mailbox *mailbox)
{
    return weir_sink_create(&(struct weir_sink_config){
        .id = node->id,
        .name = node->name,
        .table = node->table->name,
        .writer = create_writer(builder, node->table->topic, mailbox),
        .value_encoder = create_value_encoder(node),
        .key_encoder = create_key_encoder(node),
        .is_timestamp_now = node->table->is_timestamp_now,
        .clock = builder->context->clock,
    });
}

static struct weir_operator *create_derive(const struct builder *builder,
                                           const struct weir_plan_node *node)
{
    struct weir_derive_check *checks =
        weir_arena_alloc(builder->arena, node->check_count * sizeof *checks);
    for (uint32_t i = 0; i < node->check_count; i++) {
        checks[i] = (struct weir_derive_check){.condition = node->checks[i].condition,
                                               .not_null_column = node->checks[i].not_null_column,
                                               .message = node->checks[i].message};
    }
    return weir_derive_create(node->id, node->name,
                              &(struct weir_derive_config){
                                  .schema = &node->schema,
                                  .expr_count = node->expr_count,
                                  .exprs = node->exprs,
                                  .check_count = node->check_count,
                                  .checks = checks,
                                  .event_time_column = node->event_time_column,
                              });
}

static struct weir_operator *create_node(const struct builder *builder,
                                         const struct weir_plan_node *node,
                                         struct weir_mailbox *mailbox)
{
    switch (node->kind) {
    case WEIR_PLAN_FILTER:
        return weir_filter_create(node->id, node->name, node->exprs[0]);
    case WEIR_PLAN_PROJECT:
        return weir_project_create(node->id, node->name, &node->schema, node->exprs);
    case WEIR_PLAN_DERIVE:
        return create_derive(builder, node);
    case WEIR_PLAN_SINK:
        return create_sink(builder, node, mailbox);
    case WEIR_PLAN_SOURCE:
    case WEIR_PLAN_WATERMARK:
    case WEIR_PLAN_TUMBLE:
    case WEIR_PLAN_EXCHANGE:
    case WEIR_PLAN_NORMALIZE:
    case WEIR_PLAN_AGGREGATE:
        break;
    }
    WEIR_ASSERT(!"no plan holds such a node behind a source yet");
}

// Does the source feed the node?
static void mark_fed(const struct weir_plan *plan, const struct weir_plan_node *source,
                     bool *is_fed)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        is_fed[i] = node == source;
        for (uint32_t j = 0; j < node->input_count; j++) {
            is_fed[i] = is_fed[i] || is_fed[node->inputs[j]->idx];
        }
    }
}

// Every share-th partition of the source's table, from `first` on.
static enum weir_status create_source(const struct builder *builder,
                                      const struct weir_plan_node *node, uint32_t first,
                                      uint32_t share, struct weir_mailbox *mailbox,
                                      struct weir_job_task *task, struct weir_error *error)
{
    const struct weir_recovered *recovered = builder->recovered;
    struct weir_source_partition *partitions =
        weir_arena_alloc(builder->arena, recovered->start_count * sizeof *partitions);
    int32_t *numbers = weir_arena_alloc(builder->arena, recovered->start_count * sizeof *numbers);
    uint32_t count = 0;
    for (uint32_t i = 0; i < recovered->start_count; i++) {
        const struct weir_start *start = &recovered->starts[i];
        if (start->table == node->table &&
            (uint32_t)start->partition.partition % share == first) {
            numbers[count] = start->partition.partition;
            partitions[count++] = start->partition;
        }
    }
    task->partition_count = count;
    task->partitions = numbers;
    struct weir_kafka *kafka = builder->context->kafka;
    struct weir_consumer *consumer;
    if (kafka->ops->consumer_create(kafka, &consumer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return weir_source_create(&(struct weir_source_config){.id = node->id,
                                                           .name = node->name,
                                                           .table = node->table->name,
                                                           .topic = node->table->topic,
                                                           .schema = &node->schema,
                                                           .decoder = create_decoder(node),
                                                           .consumer = consumer,
                                                           .mailbox = mailbox,
                                                           .row_errors = &task->policy->policy,
                                                           .partition_count = count,
                                                           .partitions = partitions},
                              &task->source, error);
}

// The nodes behind each node, among those of this task.
static void connect(const struct builder *builder, struct weir_operator **by_plan_idx)
{
    const struct weir_plan *plan = builder->context->plan;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        for (uint32_t j = 0; by_plan_idx[i] != NULL && j < node->input_count; j++) {
            struct weir_operator *input = by_plan_idx[node->inputs[j]->idx];
            if (input == NULL) {
                continue; // fed by another source's tasks
            }
            if (input->next == NULL) {
                input->next =
                    weir_arena_alloc_zero(builder->arena, plan->node_count * sizeof *input->next);
            }
            input->next[input->next_count++] = by_plan_idx[i];
        }
    }
}

static enum weir_status build_task(struct builder *builder, const struct weir_plan_node *source,
                                   const bool *is_fed, uint32_t first, uint32_t share,
                                   struct weir_error *error)
{
    const struct weir_plan *plan = builder->context->plan;
    struct weir_job_task *task = &builder->tasks->tasks[builder->tasks->count];
    struct weir_mailbox *mailbox = weir_mailbox_create();
    *task = (struct weir_job_task){.table = source->table,
                                   .policy = create_policy(builder, source->table, mailbox)};
    if (create_source(builder, source, first, share, mailbox, task, error) != WEIR_OK) {
        task->policy->op.ops->destroy(&task->policy->op);
        weir_mailbox_destroy(mailbox, NULL);
        return WEIR_ERROR;
    }
    struct weir_operator **by_plan_idx =
        weir_arena_alloc_zero(builder->arena, plan->node_count * sizeof *by_plan_idx);
    struct weir_operator **nodes =
        weir_arena_alloc_zero(builder->arena, (plan->node_count + 2) * sizeof *nodes);
    task->sinks = weir_arena_alloc_zero(builder->arena, plan->node_count * sizeof *task->sinks);
    task->sink_tables =
        weir_arena_alloc_zero(builder->arena, plan->node_count * sizeof *task->sink_tables);
    uint32_t node_count = 0;
    nodes[node_count++] = &task->source->op;
    by_plan_idx[source->idx] = &task->source->op;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (!is_fed[i] || plan->nodes[i] == source) {
            continue;
        }
        by_plan_idx[i] = create_node(builder, plan->nodes[i], mailbox);
        by_plan_idx[i]->row_errors = &task->policy->policy;
        nodes[node_count++] = by_plan_idx[i];
        if (plan->nodes[i]->kind == WEIR_PLAN_SINK) {
            task->sink_tables[task->sink_count] = plan->nodes[i]->table;
            task->sinks[task->sink_count++] = by_plan_idx[i];
        }
    }
    nodes[node_count++] = &task->policy->op;
    connect(builder, by_plan_idx);
    char name[64];
    snprintf(name, sizeof name, "%s/%u", source->table->name, first);
    task->task = weir_task_create(builder->tasks->count, name, task->source, node_count, nodes,
                                  mailbox, builder->coordinator);
    builder->tasks->count++;
    return WEIR_OK;
}

// Tasks of a source: as many as the parallelism, but none without a partition.
static uint32_t share_of(const struct builder *builder, const struct weir_plan_node *source)
{
    const struct weir_topic *topic =
        weir_topics_find(&builder->recovered->topics, source->table->topic);
    uint32_t parallelism = builder->context->config->parallelism;
    return topic->partition_count < parallelism ? topic->partition_count : parallelism;
}

static uint32_t count_tasks(struct builder *builder, bool *is_fed)
{
    const struct weir_plan *plan = builder->context->plan;
    uint32_t task_count = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i]->kind != WEIR_PLAN_SOURCE) {
            continue;
        }
        uint32_t share = share_of(builder, plan->nodes[i]);
        uint32_t writer_count = 1; // dead letters
        mark_fed(plan, plan->nodes[i], is_fed);
        for (uint32_t j = 0; j < plan->node_count; j++) {
            writer_count += is_fed[j] && plan->nodes[j]->kind == WEIR_PLAN_SINK ? 1 : 0;
        }
        task_count += share;
        builder->writer_count += share * writer_count;
    }
    return task_count;
}

enum weir_status weir_job_build(const struct weir_job_context *context,
                                const struct weir_recovered *recovered,
                                struct weir_mailbox *coordinator, struct weir_arena *arena,
                                struct weir_job_tasks *tasks, struct weir_error *error)
{
    const struct weir_plan *plan = context->plan;
    struct builder builder = {.context = context,
                              .recovered = recovered,
                              .coordinator = coordinator,
                              .arena = arena,
                              .tasks = tasks};
    bool *is_fed = weir_arena_alloc_zero(arena, plan->node_count * sizeof *is_fed);
    uint32_t task_count = count_tasks(&builder, is_fed);
    *tasks = (struct weir_job_tasks){
        .tasks = weir_arena_alloc_zero(arena, task_count * sizeof *tasks->tasks)};
    if (task_count > WEIR_TASKS_MAX) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "the job needs %u tasks, at most %d can be had: lower "
                              "WEIR_PARALLELISM",
                              task_count, WEIR_TASKS_MAX);
    }
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *source = plan->nodes[i];
        if (source->kind != WEIR_PLAN_SOURCE) {
            continue;
        }
        mark_fed(plan, source, is_fed);
        uint32_t share = share_of(&builder, source);
        for (uint32_t first = 0; first < share; first++) {
            if (build_task(&builder, source, is_fed, first, share, error) != WEIR_OK) {
                for (uint32_t j = 0; j < tasks->count; j++) {
                    weir_task_destroy(tasks->tasks[j].task);
                }
                tasks->count = 0;
                return WEIR_ERROR;
            }
        }
    }
    return WEIR_OK;
}
