// SPDX-License-Identifier: Apache-2.0
// See job_nodes.h. Thread: the main thread.
#include "app/job_nodes.h"

#include "kafka/avro_decode.h"
#include "kafka/avro_encode.h"
#include "kafka/csv_format.h"
#include "kafka/json_debezium.h"
#include "kafka/json_decode.h"
#include "kafka/json_encode.h"
#include "kafka/keyed_decode.h"
#include "kafka/raw_format.h"
#include "kafka/sink.h"
#include "operators/aggregate.h"
#include "operators/aggregate_convert.h"
#include "operators/derive.h"
#include "operators/expire.h"
#include "operators/filter.h"
#include "operators/preaggregate.h"
#include "operators/project.h"
#include "operators/row_operator.h"
#include "operators/watermark.h"
#include "operators/window.h"

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

// Columns that are in messages, in declared order: the fields of a line.
static struct weir_decoder *create_csv_decoder(const struct weir_node_builder *builder,
                                               const struct weir_table *table,
                                               const struct weir_schema *schema)
{
    uint32_t *positions = weir_arena_alloc(builder->arena, schema->column_count * sizeof(uint32_t));
    uint32_t field_count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        for (uint32_t c = 0; c < schema->column_count; c++) {
            if (strcmp(schema->columns[c].name, table->columns[i].name) == 0) {
                positions[c] = field_count;
            }
        }
        field_count += !table->columns[i].is_generated;
    }
    return weir_csv_decoder_create(schema, positions, field_count);
}

static struct weir_decoder *create_avro_decoder(const struct weir_node_builder *builder,
                                                const struct weir_table *table, bool is_key,
                                                const struct weir_schema *schema,
                                                struct weir_mailbox *mailbox)
{
    const struct weir_table_schemas *schemas =
        weir_registries_of(builder->context->registries, table);
    uint32_t physical_count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        physical_count += table->columns[i].is_generated ? 0 : 1;
    }
    return weir_avro_decoder_create(
        schema,
        &(struct weir_avro_decode_options){
            .schemas = schemas->given != NULL ? &schemas->given->schemas
                                              : weir_registry_schemas(schemas->registry),
            .frame = schemas->given != NULL ? schemas->given->frame : (struct weir_avro_frame){0},
            .wake_descriptor = weir_mailbox_descriptor(mailbox),
            .reader = is_key ? schemas->key_reader : schemas->value_reader,
            .is_single_column = is_key ? table->key_column_count == 1 : physical_count == 1,
            .timestamp_digits = digits_of_unit(table->timestamp_unit)});
}

static struct weir_decoder *create_value_decoder(const struct weir_node_builder *builder,
                                                 const struct weir_table *table,
                                                 const struct weir_schema *schema,
                                                 struct weir_mailbox *mailbox)
{
    struct weir_json_decode_options options = {.timestamp_digits =
                                                   digits_of_unit(table->timestamp_unit)};
    switch (table->format) {
    case WEIR_FORMAT_JSON:
        return weir_json_decoder_create(schema, &options);
    case WEIR_FORMAT_RAW:
        return weir_raw_decoder_create(schema);
    case WEIR_FORMAT_DEBEZIUM_JSON:
        return weir_debezium_decoder_create(schema, &options);
    case WEIR_FORMAT_CSV:
        return create_csv_decoder(builder, table, schema);
    case WEIR_FORMAT_AVRO:
        return create_avro_decoder(builder, table, false, schema, mailbox);
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_decoder *create_key_decoder(const struct weir_node_builder *builder,
                                               const struct weir_table *table,
                                               const struct weir_schema *keys,
                                               struct weir_mailbox *mailbox)
{
    struct weir_json_decode_options options = {.timestamp_digits =
                                                   digits_of_unit(table->timestamp_unit)};
    if (table->key_format == WEIR_FORMAT_RAW) {
        return weir_raw_decoder_create(keys);
    }
    if (table->key_format == WEIR_FORMAT_AVRO) {
        return create_avro_decoder(builder, table, true, keys, mailbox);
    }
    return table->format == WEIR_FORMAT_DEBEZIUM_JSON
               ? weir_debezium_key_decoder_create(keys, &options)
               : weir_json_decoder_create(keys, &options);
}

// Where a column of the table stands in the schema that the source decodes.
static uint32_t decoded_idx(const struct weir_plan_node *node, uint32_t table_column)
{
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        if (strcmp(node->schema.columns[i].name, node->table->columns[table_column].name) == 0) {
            return i;
        }
    }
    WEIR_ASSERT(!"key columns are always decoded");
}

static struct weir_decoder *create_decoder(const struct weir_node_builder *builder,
                                           const struct weir_plan_node *node,
                                           struct weir_mailbox *mailbox)
{
    const struct weir_table *table = node->table;
    struct weir_decoder *values = create_value_decoder(builder, table, &node->schema, mailbox);
    if (!table->is_keyed) {
        return values;
    }
    uint32_t count = table->key_column_count;
    uint32_t *key_columns = weir_arena_alloc(builder->arena, count * sizeof *key_columns);
    struct weir_field *fields = weir_arena_alloc(builder->arena, count * sizeof *fields);
    for (uint32_t i = 0; i < count; i++) {
        key_columns[i] = decoded_idx(node, table->key_columns[i]);
        fields[i] = node->schema.columns[key_columns[i]];
    }
    struct weir_schema *keys = weir_arena_alloc(builder->arena, sizeof *keys);
    *keys = (struct weir_schema){.column_count = count, .columns = fields};
    return weir_keyed_decoder_create(&(struct weir_keyed_decoder_config){
        .schema = &node->schema,
        .key_count = count,
        .key_columns = key_columns,
        .value_decoder = values,
        .key_decoder = create_key_decoder(builder, table, keys, mailbox),
    });
}

// That the columns fit the schema was found when the registry was asked.
static struct weir_encoder *create_avro_encoder(const struct weir_node_builder *builder,
                                                const struct weir_plan_node *node, bool is_key)
{
    const struct weir_table *table = node->table;
    const struct weir_table_schemas *schemas =
        weir_registries_of(builder->context->registries, table);
    const struct weir_registry_schema *writer =
        is_key ? &schemas->key_writer : &schemas->value_writer;
    uint32_t count_max = is_key ? table->key_column_count : node->schema.column_count;
    uint32_t *idxs = weir_arena_alloc(builder->arena, count_max * sizeof *idxs);
    uint32_t count = 0;
    for (uint32_t i = 0; i < count_max; i++) {
        if (is_key || (int32_t)i != table->headers_column) {
            idxs[count++] = is_key ? table->key_columns[i] : i;
        }
    }
    struct weir_encoder *encoder = NULL;
    struct weir_error error;
    struct weir_avro_frame frame = {0};
    if (schemas->given != NULL) {
        frame = schemas->given->frame;
    }
    enum weir_status status =
        weir_avro_encoder_create(&(struct weir_avro_encode_config){.schema = &node->schema,
                                                                   .column_count = count,
                                                                   .column_idxs = idxs,
                                                                   .type = writer->type,
                                                                   .id = writer->id,
                                                                   .frame = frame},
                                 &encoder, &error);
    WEIR_ASSERT(status == WEIR_OK);
    return encoder;
}

// Of all columns but that of the headers.
static struct weir_encoder *create_value_encoder(const struct weir_node_builder *builder,
                                                 const struct weir_plan_node *node)
{
    uint32_t count = 0;
    uint32_t *columns =
        weir_arena_alloc(builder->arena, node->schema.column_count * sizeof *columns);
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        if ((int32_t)i != node->table->headers_column) {
            columns[count++] = i;
        }
    }
    switch (node->table->format) {
    case WEIR_FORMAT_JSON:
        return weir_json_encoder_create_for(&node->schema, count, columns);
    case WEIR_FORMAT_RAW:
        return weir_raw_encoder_create(&node->schema, columns[0]);
    case WEIR_FORMAT_DEBEZIUM_JSON:
    case WEIR_FORMAT_CSV:
        break; // refused when the job was planned
    case WEIR_FORMAT_AVRO:
        return create_avro_encoder(builder, node, false);
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_encoder *create_key_encoder(const struct weir_node_builder *builder,
                                               const struct weir_plan_node *node)
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
    case WEIR_FORMAT_DEBEZIUM_JSON:
    case WEIR_FORMAT_CSV:
        break;
    case WEIR_FORMAT_AVRO:
        return create_avro_encoder(builder, node, true);
    }
    WEIR_ASSERT(!"unreachable");
}

static struct weir_writer *create_writer(const struct weir_node_builder *builder,
                                         const char *topic_name, struct weir_mailbox *mailbox)
{
    const struct weir_topic *topic = weir_topics_find(&builder->recovered->topics, topic_name);
    // An eighth of the budget may be held back on the way out, at least 256 KiB a writer.
    size_t held_bytes =
        weir_config_shared_bytes(builder->context->config) / 8 / builder->writer_count;
    return weir_writer_create(&(struct weir_writer_config){
        .handles = builder->recovered->handles,
        .topic = topic->name,
        .partition_count = topic->partition_count,
        .first_epoch = builder->recovered->number + 1,
        .is_at_least_once = builder->context->config->is_at_least_once,
        .mailbox = mailbox,
        .held_bytes_max = held_bytes > (256u << 10) ? held_bytes : (256u << 10),
        .client_bytes_max = builder->recovered->topics.client.message_bytes_max,
        // What is compressed may fit all the same: then the brokers decide.
        .topic_bytes_max =
            builder->recovered->topics.client.is_compressing ? 0 : topic->message_bytes_max,
    });
}

struct weir_row_policy *weir_node_create_policy(const struct weir_node_builder *builder,
                                                const struct weir_table *table,
                                                const char *late_topic,
                                                struct weir_mailbox *mailbox)
{
    const struct weir_config *config = builder->context->config;
    struct weir_row_policy_config policy = {
        .table = table != NULL ? table->name : "(several)",
        .job_id = config->job_id,
        .max_ratio = table != NULL ? table->on_error_max_ratio : 0,
        .late_writer = late_topic != NULL ? create_writer(builder, late_topic, mailbox) : NULL,
    };
    switch (table != NULL ? weir_table_on_error(table, config) : config->on_bad_record) {
    case WEIR_ON_ERROR_DEFAULT:
    case WEIR_ON_ERROR_FAIL:
        policy.kind = WEIR_ROW_POLICY_FAIL;
        break;
    case WEIR_ON_ERROR_SKIP:
        policy.kind = WEIR_ROW_POLICY_SKIP;
        break;
    case WEIR_ON_ERROR_DEAD_LETTER:
        policy.kind = WEIR_ROW_POLICY_DEAD_LETTER;
        policy.writer = create_writer(builder,
                                      table != NULL ? weir_table_dead_letter_topic(table, config)
                                                    : config->dead_letter_topic,
                                      mailbox);
        break;
    }
    return weir_row_policy_create(&policy);
}

static struct weir_operator *create_sink(const struct weir_node_builder *builder,
                                         const struct weir_plan_node *node,
                                         struct weir_mailbox *mailbox)
{
    return weir_sink_create(&(struct weir_sink_config){
        .id = node->id,
        .name = node->name,
        .table = node->table->name,
        .writer = create_writer(builder, node->table->topic, mailbox),
        .value_encoder = create_value_encoder(builder, node),
        .key_encoder = create_key_encoder(builder, node),
        .has_headers = node->table->headers_column >= 0,
        .headers_column = (uint32_t)node->table->headers_column,
        .is_keyed = node->table->is_keyed,
        .is_timestamp_now = node->table->is_timestamp_now,
        .clock = builder->context->clock,
    });
}

static struct weir_operator *create_derive(const struct weir_node_builder *builder,
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
                                  .has_tombstones = node->inputs[0]->kind == WEIR_PLAN_SOURCE &&
                                                    node->inputs[0]->table->is_keyed,
                                  .is_event_time_needed = node->is_event_time_needed,
                              });
}

static struct weir_operator *create_watermark(const struct weir_node_builder *builder,
                                              const struct weir_plan_node *node,
                                              const struct weir_node_place *place)
{
    struct weir_partition_time *times =
        weir_arena_alloc(builder->arena, place->partition_count * sizeof *times);
    for (uint32_t i = 0; i < place->partition_count; i++) {
        times[i] =
            (struct weir_partition_time){.partition = place->partitions[i].partition,
                                         .event_time_us = place->partitions[i].event_time_us,
                                         .is_quarantined = place->partitions[i].is_quarantined};
    }
    return weir_watermark_create(
        node->id, node->name,
        &(struct weir_watermark_config){.delay_us = weir_table_delay_us(node->table),
                                        .idle_timeout_ms = node->table->idle_timeout_ms,
                                        .max_ahead_us = node->table->event_time_max_ahead_us,
                                        .source = place->source,
                                        .table = node->table->name,
                                        .partition_count = place->partition_count,
                                        .partitions = times,
                                        .operator_states = place->operator_states,
                                        .clock = builder->context->clock});
}

static struct weir_operator *create_tumble(const struct weir_plan_node *node)
{
    return weir_tumble_create(
        node->id, node->name,
        &(struct weir_tumble_config){.output = &node->schema,
                                     .window = node->window,
                                     .delay_us = node->table->watermark_delay_us});
}

static bool reads(const struct weir_plan_node *reader, const struct weir_plan_node *node)
{
    for (uint32_t j = 0; j < reader->input_count; j++) {
        if (reader->inputs[j] == node) {
            return true;
        }
    }
    return false;
}

// Does the reader treat the row that was and the row that is of a key alike? It does if it looks at
// nothing but keys. is_key: which columns of its input are keys; is_key_there: of its own.
static bool is_alike(const struct weir_plan_node *reader, const bool *is_key, bool *is_key_there)
{
    bool is_good = reader->event_time_column < 0;
    for (uint32_t i = 0; i < reader->check_count; i++) {
        int32_t idx = reader->checks[i].not_null_column;
        is_good = is_good && idx >= 0 && is_key[idx];
    }
    for (uint32_t i = 0; i < reader->schema.column_count; i++) {
        int32_t idx = (int32_t)i;
        if (reader->kind == WEIR_PLAN_PROJECT) {
            idx = weir_expr_column_idx(reader->exprs[i]);
        }
        is_good = is_good && idx >= 0;
        is_key_there[i] = is_good && is_key[idx];
    }
    return is_good && (reader->kind == WEIR_PLAN_PROJECT ||
                       (reader->kind == WEIR_PLAN_DERIVE && reader->expr_count == 0));
}

// Do all that read the node only want the newest row of each key? So do keyed sinks whose key is
// made of keys.
static bool reads_newest(const struct weir_node_builder *builder, const struct weir_plan_node *node,
                         const bool *is_key)
{
    const struct weir_plan *plan = builder->context->plan;
    for (uint32_t i = node->idx + 1; i < plan->node_count; i++) {
        const struct weir_plan_node *reader = plan->nodes[i];
        if (!reads(reader, node)) {
            continue;
        }
        if (reader->kind == WEIR_PLAN_SINK) {
            for (uint32_t j = 0; j < reader->table->key_column_count; j++) {
                if (!is_key[reader->table->key_columns[j]]) {
                    return false;
                }
            }
            if (!reader->table->is_keyed) {
                return false;
            }
            continue;
        }
        uint32_t count = reader->schema.column_count;
        bool *is_key_there = weir_arena_alloc_zero(builder->arena, count + 1);
        if (!is_alike(reader, is_key, is_key_there) ||
            !reads_newest(builder, reader, is_key_there)) {
            return false;
        }
    }
    return true;
}

static bool is_newest_enough(const struct weir_node_builder *builder,
                             const struct weir_plan_node *aggregate)
{
    bool *is_key = weir_arena_alloc_zero(builder->arena, aggregate->schema.column_count + 1);
    memset(is_key, 1, aggregate->key_column_count);
    return reads_newest(builder, aggregate, is_key);
}

static struct weir_operator *create_aggregate(const struct weir_node_builder *builder,
                                              const struct weir_plan_node *node,
                                              const struct weir_node_place *place)
{
    const struct weir_plan_node *exchange = node->inputs[0];
    WEIR_ASSERT(exchange->kind == WEIR_PLAN_EXCHANGE);
    return weir_aggregate_create(
        node->id, node->name,
        &(struct weir_aggregate_config){.input = &exchange->schema,
                                        .key_count = node->key_column_count,
                                        .key_columns = node->key_columns,
                                        .route_count = exchange->key_column_count,
                                        .route_columns = exchange->key_columns,
                                        .window_end_column = node->window_end_column,
                                        .is_input_changing = exchange->is_changing,
                                        .aggregate_count = node->aggregate_count,
                                        .aggregates = node->aggregates,
                                        .slot_numbers = weir_node_slot_numbers(builder, node),
                                        .output = &node->schema,
                                        .store = place->state,
                                        .key_groups = place->key_groups,
                                        .first_epoch = builder->recovered->number + 1,
                                        .is_newest_enough = is_newest_enough(builder, node)});
}

struct weir_operator *weir_node_create_preaggregate(const struct weir_plan_node *exchange)
{
    const struct weir_plan_node *aggregate = exchange->folded_for;
    return weir_preaggregate_create(
        exchange->id, exchange->name,
        &(struct weir_aggregate_config){.input = &exchange->schema,
                                        .key_count = aggregate->key_column_count,
                                        .key_columns = aggregate->key_columns,
                                        .route_count = exchange->key_column_count,
                                        .route_columns = exchange->key_columns,
                                        .window_end_column = aggregate->window_end_column,
                                        .aggregate_count = aggregate->aggregate_count,
                                        .aggregates = aggregate->aggregates});
}

// The groups of an aggregate are its state "groups"; single values are under the group's key.
struct weir_operator *weir_node_create_expire(const struct weir_node_builder *builder,
                                              const struct weir_plan_node *aggregate,
                                              const struct weir_node_place *place)
{
    const uint32_t *numbers = weir_node_slot_numbers(builder, aggregate);
    const char **details =
        weir_arena_alloc(builder->arena, aggregate->aggregate_count * sizeof *details);
    uint32_t detail_count = 0;
    for (uint32_t i = 0; i < aggregate->aggregate_count; i++) {
        if (aggregate->aggregates[i].is_distinct) {
            details[detail_count++] = weir_aggregate_entries_name(builder->arena, true, numbers[i]);
        }
    }
    return weir_expire_create(
        aggregate->id, weir_arena_printf(builder->arena, "ttl of %s", aggregate->name),
        &(struct weir_expire_config){.key_count = aggregate->key_column_count,
                                     .key_columns = aggregate->key_columns,
                                     .ttl_us = aggregate->state_ttl_us,
                                     .store = place->state,
                                     .key_groups = place->key_groups,
                                     .forgotten = "groups",
                                     .detail_count = detail_count,
                                     .details = details,
                                     .first_epoch = builder->recovered->number + 1});
}

static struct weir_operator *create_normalize(const struct weir_plan_node *node,
                                              const struct weir_node_place *place)
{
    return weir_normalize_create(
        node->id, node->name,
        &(struct weir_normalize_config){.schema = &node->schema,
                                        .key_count = node->key_column_count,
                                        .key_columns = node->key_columns,
                                        .store = place->state});
}

// now() is the time of the last barrier, which a restored job has seen already.
static struct weir_operator *with_now(const struct weir_node_builder *builder,
                                      struct weir_operator *op)
{
    weir_row_operator_set_now(op, (builder->recovered->barrier_ms - WEIR_EPOCH_SHIFT_MS) * 1000);
    return op;
}

struct weir_operator *weir_node_create(const struct weir_node_builder *builder,
                                       const struct weir_plan_node *node,
                                       const struct weir_node_place *place)
{
    switch (node->kind) {
    case WEIR_PLAN_FILTER:
        return with_now(builder, weir_filter_create(node->id, node->name, node->exprs[0]));
    case WEIR_PLAN_PROJECT:
        return with_now(builder,
                        weir_project_create(node->id, node->name, &node->schema, node->exprs));
    case WEIR_PLAN_DERIVE:
        return with_now(builder, create_derive(builder, node));
    case WEIR_PLAN_WATERMARK:
        return create_watermark(builder, node, place);
    case WEIR_PLAN_TUMBLE:
        return create_tumble(node);
    case WEIR_PLAN_SINK:
        return create_sink(builder, node, place->mailbox);
    case WEIR_PLAN_NORMALIZE:
        return create_normalize(node, place);
    case WEIR_PLAN_AGGREGATE:
        return create_aggregate(builder, node, place);
    case WEIR_PLAN_SOURCE:
    case WEIR_PLAN_EXCHANGE:
        break;
    }
    WEIR_ASSERT(!"sources and exchanges are made elsewhere");
}

enum weir_status weir_node_create_source(const struct weir_node_builder *builder,
                                         const struct weir_plan_node *node,
                                         const struct weir_node_place *place,
                                         struct weir_row_error_policy *row_errors,
                                         struct weir_source **source, struct weir_error *error)
{
    struct weir_kafka *kafka = builder->context->kafka;
    struct weir_consumer *consumer;
    if (kafka->ops->consumer_create(kafka, &consumer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return weir_source_create(
        &(struct weir_source_config){.id = node->id,
                                     .name = node->name,
                                     .table = node->table->name,
                                     .topic = node->table->topic,
                                     .schema = &node->schema,
                                     .decoder = create_decoder(builder, node, place->mailbox),
                                     .consumer = consumer,
                                     .mailbox = place->mailbox,
                                     .row_errors = row_errors,
                                     .partition_count = place->partition_count,
                                     .partitions = place->partitions},
        source, error);
}
