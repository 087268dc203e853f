// SPDX-License-Identifier: Apache-2.0
// The first half of a recovery (recovering.h): what is asked before anybody is fenced. It changes
// nothing, in Kafka or in the store, and refuses what could not be gone on from.
#include "app/recovering.h"

#include "app/doubt.h"
#include "app/quarantine.h"
#include "app/state_keep.h"
#include "kafka/pointer.h"
#include "runtime/savepoint.h"

#include <inttypes.h>

static void list_partitions(struct weir_recovering *recovery)
{
    const struct weir_plan *plan = recovery->context->plan;
    struct weir_recovered *out = recovery->out;
    uint32_t max = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (plan->tables[i]->is_source) {
            max += weir_topics_find(&out->topics, plan->tables[i]->topic)->partition_count;
        }
    }
    out->starts = weir_arena_alloc_zero(recovery->arena, max * sizeof *out->starts);
    out->partitions = weir_arena_alloc_zero(recovery->arena, max * sizeof *out->partitions);
    recovery->topic_partitions =
        weir_arena_alloc_zero(recovery->arena, max * sizeof *recovery->topic_partitions);
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        if (!table->is_source) {
            continue;
        }
        const struct weir_topic *topic = weir_topics_find(&out->topics, table->topic);
        bool is_known = false; // another table reads the same topic
        for (uint32_t j = 0; j < out->partition_count; j++) {
            is_known = is_known || out->partitions[j].topic == topic->name;
        }
        for (uint32_t p = 0; p < topic->partition_count; p++) {
            out->starts[out->start_count++] =
                (struct weir_start){.table = table,
                                    .partition.partition = (int32_t)p,
                                    .partition.is_quarantined = weir_quarantine_has(
                                        recovery->context->config, table->name, (int32_t)p)};
            if (!is_known) {
                recovery->topic_partitions[out->partition_count] =
                    (struct weir_topic_partition){.topic = topic->name, .partition = (int32_t)p};
                out->partitions[out->partition_count++] = (struct weir_commit_partition){
                    .topic = topic->name, .partition = (int32_t)p, .topic_id = topic->topic_id};
            }
        }
    }
}

// What is known before anything is asked: whose checkpoints may be gone on from.
static void begin_found(struct weir_recovering *recovery)
{
    const struct weir_config *config = recovery->context->config;
    const struct weir_recovered *out = recovery->out;
    const struct weir_reset *reset = recovery->context->reset;
    recovery->found_partitions = weir_arena_alloc_zero(
        recovery->arena, out->start_count * sizeof *recovery->found_partitions);
    for (uint32_t i = 0; i < out->start_count; i++) {
        const struct weir_table *table = out->starts[i].table;
        const struct weir_topic *topic = weir_topics_find(&out->topics, table->topic);
        recovery->found_partitions[i] = (struct weir_found_partition){
            .table = table->name,
            .topic = topic->name,
            .partition = out->starts[i].partition.partition,
            .can_skip_missing = table->on_missing == WEIR_ON_MISSING_CONTINUE,
            .is_reset = reset != NULL && table == reset->table,
            .topic_id = topic->topic_id,
        };
    }
    recovery->found = (struct weir_found){
        .job_id = config->job_id,
        .instance_id = (int32_t)config->instance_id,
        .cluster_id = out->cluster_id,
        .store_path = weir_store_path(recovery->context->store),
        .restore = config->restore_text,
        .is_reset = reset != NULL,
        .partition_count = out->start_count,
        .partitions = recovery->found_partitions,
    };
}

enum weir_status weir_recover_ask_committed(struct weir_recovering *recovery,
                                            enum weir_isolation isolation,
                                            struct weir_committed **committed,
                                            struct weir_error *error)
{
    uint32_t count = recovery->out->partition_count;
    *committed = weir_arena_alloc_zero(recovery->arena, count * sizeof **committed);
    return weir_ask_committed(recovery->context->kafka, &recovery->retry, isolation, count,
                              recovery->topic_partitions, *committed, error) == WEIR_OK
               ? WEIR_OK
               : weir_error_context(error, "reading the committed offsets of group %s",
                                    recovery->context->config->job_id);
}

enum weir_status weir_recover_check_owner(struct weir_recovering *recovery,
                                          const struct weir_pointer *pointer,
                                          struct weir_error *error)
{
    struct weir_job_context *context = recovery->context;
    if (weir_owner_look(&context->owner, pointer)) {
        return WEIR_OK;
    }
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FENCED,
                          "a newer instance owns the job: attempt %s has claimed checkpoint "
                          "%" PRId64 " (transactional ids %s-%" PRIu32 "-0 to -3)",
                          pointer->owner_attempt.text, pointer->number, context->config->job_id,
                          context->config->instance_id);
}

enum weir_status weir_recover_look_at(struct weir_recovering *recovery,
                                      const struct weir_pointer **pointer, struct weir_error *error)
{
    struct weir_committed *committed;
    if (weir_recover_ask_committed(recovery, WEIR_READ_UNCOMMITTED, &committed, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_pointer *greatest = weir_arena_alloc(recovery->arena, sizeof *greatest);
    uint32_t count = recovery->out->partition_count;
    *pointer = weir_pointer_greatest_committed(committed, count, greatest) ? greatest : NULL;
    struct weir_attempt holder = weir_store_owner(recovery->context->store);
    weir_owner_meet(&recovery->context->owner, *pointer, &holder);
    return weir_recover_check_owner(recovery, *pointer, error);
}

// The manifest that the pointer names; without a pointer the newest of the store that can be read.
static bool read_newest(struct weir_recovering *recovery, const struct weir_pointer *pointer,
                        struct weir_manifest *manifest, bool *is_missing)
{
    struct weir_store *store = recovery->context->store;
    struct weir_error error; // what is damaged is for the decision to say
    *is_missing = false;
    if (pointer != NULL) {
        return weir_store_read_manifest(store, pointer->number, &pointer->manifest_attempt,
                                        recovery->arena, manifest, is_missing, &error) == WEIR_OK;
    }
    struct weir_store_entry *entries;
    uint32_t count = 0;
    if (weir_store_list(store, recovery->arena, &entries, &count, &error) != WEIR_OK) {
        return false;
    }
    for (uint32_t i = count; i > 0; i--) {
        bool is_gone;
        if (weir_store_read_manifest(store, entries[i - 1].number, &entries[i - 1].attempt,
                                     recovery->arena, manifest, &is_gone, &error) == WEIR_OK) {
            return true;
        }
    }
    return false;
}

// Is it of this job and cluster, and can the job as it is now go on from it?
static enum weir_status check_manifest(struct weir_recovering *recovery,
                                       const struct weir_manifest *manifest,
                                       struct weir_error *error)
{
    return weir_recovery_check_identity(&recovery->found, manifest, &recovery->decision, error) ==
                   WEIR_OK
               ? weir_state_keep(recovery->context, recovery->out, manifest, false, recovery->arena,
                                 error)
               : WEIR_ERROR;
}

enum weir_status weir_recover_load_savepoint(struct weir_recovering *recovery,
                                             struct weir_error *error)
{
    const struct weir_config *config = recovery->context->config;
    if (config->restore_kind != WEIR_RESTORE_SAVEPOINT || recovery->found.savepoint != NULL) {
        return WEIR_OK;
    }
    if (weir_savepoint_read(config->restore_value, recovery->arena, &recovery->savepoint, error) !=
            WEIR_OK ||
        weir_savepoint_verify(config->restore_value, &recovery->savepoint, error) != WEIR_OK) {
        return weir_error_context(error, "WEIR_RESTORE=%s", config->restore_text);
    }
    recovery->found.savepoint = &recovery->savepoint;
    recovery->found.store_path = config->restore_value; // what is said about it names it
    return check_manifest(recovery, &recovery->savepoint, error);
}

// The pointer names a checkpoint that this store does not have, the store's checkpoints are of
// another job or cluster, or the savepoint that is to be restored cannot be.
enum weir_status weir_recover_check_is_ours(struct weir_recovering *recovery,
                                            const struct weir_pointer *pointer,
                                            struct weir_error *error)
{
    struct weir_manifest manifest;
    bool is_missing;
    bool is_read = read_newest(recovery, pointer, &manifest, &is_missing);
    if (weir_restore_is_due(recovery->context->config->restore_text,
                            pointer != NULL && is_read ? &manifest : NULL)) {
        return weir_recover_load_savepoint(recovery, error);
    }
    if (is_read) {
        return check_manifest(recovery, &manifest, error);
    }
    if (!is_missing) {
        return WEIR_OK;
    }
    // A checkpoint that was pending when we looked may have been replaced by its successor.
    return weir_error_set(
        error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
        "group \"%s\" points at checkpoint %" PRId64
        " of attempt %s, which is not in %s; whoever runs "
        "the job was left alone. Mount the volume (WEIR_CHECKPOINT_DIR) that the job ran with; to "
        "start anew on purpose, with empty state and from WEIR_START, set "
        "WEIR_RESTORE=discard:<word>",
        recovery->context->config->job_id, pointer->number, pointer->manifest_attempt.text,
        weir_store_path(recovery->context->store));
}

enum weir_status weir_recover_doubt(const struct weir_recovering *recovery,
                                    struct weir_error *error)
{
    const struct weir_recovered *out = recovery->out;
    return weir_doubt_refusal(&(struct weir_doubt){.kafka = recovery->context->kafka,
                                                   .topics = &out->topics,
                                                   .partition_count = out->partition_count,
                                                   .partitions = recovery->topic_partitions,
                                                   .committed = recovery->committed},
                              error);
}

enum weir_status weir_recover_meet_brokers(struct weir_recovering *recovery,
                                           struct weir_job_context *context,
                                           struct weir_arena *arena,
                                           struct weir_recovered *recovered,
                                           struct weir_error *error)
{
    *recovered = (struct weir_recovered){0};
    *recovery = (struct weir_recovering){
        .context = context,
        .arena = arena,
        .out = recovered,
        .retry = {.clock = context->clock,
                  .deadline_ms = weir_now_ms(context->clock) + context->config->connect_timeout_ms,
                  .stop_requests = context->stop_requests,
                  .board = context->board},
    };
    struct weir_kafka *kafka = context->kafka;
    while (kafka->ops->cluster_id(kafka, recovered->cluster_id, sizeof recovered->cluster_id,
                                  weir_retry_call_timeout_ms(&recovery->retry), error) != WEIR_OK) {
        if (!weir_retry_again(&recovery->retry, error)) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

void weir_recover_list_partitions(struct weir_recovering *recovery)
{
    list_partitions(recovery);
    begin_found(recovery);
}

enum weir_status weir_recover_begin(struct weir_recovering *recovery,
                                    struct weir_job_context *context, struct weir_arena *arena,
                                    struct weir_recovered *recovered, struct weir_error *error)
{
    weir_phases_begin(&context->phases, context->clock);
    if (weir_recover_meet_brokers(recovery, context, arena, recovered, error) != WEIR_OK ||
        weir_topics_resolve(context->kafka, context->plan, context->config, &recovery->retry, arena,
                            &recovered->topics, error) != WEIR_OK ||
        weir_quarantine_check(context->config, context->plan, &recovered->topics, error) !=
            WEIR_OK ||
        weir_brokers_check(context->kafka, context->plan, &recovered->topics, context->config,
                           &recovery->retry, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_recover_list_partitions(recovery);
    weir_phases_note(&context->phases, "brokers and topics");
    return WEIR_OK;
}

enum weir_status weir_recover_look(struct weir_job_context *context, struct weir_error *error)
{
    struct weir_arena *arena = weir_arena_create(64 << 10);
    struct weir_recovered recovered;
    struct weir_recovering recovery;
    const struct weir_pointer *pointer;
    enum weir_status status = weir_recover_begin(&recovery, context, arena, &recovered, error);
    if (status == WEIR_OK) {
        status = weir_recover_look_at(&recovery, &pointer, error);
    }
    weir_arena_destroy(arena);
    return status;
}
