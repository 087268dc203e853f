// SPDX-License-Identifier: Apache-2.0
// See recover.h. Each step is a function, in the order in which they run:
//   look      the pointer as a hint; who is newer, or whose checkpoint is not here, is left alone
//             (recover_look.c)
//   fence     init_transactions on all four ids
//   read      committed offsets with pointers, ends of the partitions, last records
//   decide    weir_recovery_decide, a pure function
//   start     without a checkpoint of its own to go on from: the start manifest is written first
//   claim     one transaction: the same pointer with this attempt as owner
// Thread: the main thread.
#include "app/recovering.h"

#include "app/start_manifest.h"
#include "app/state_files.h"
#include "app/state_keep.h"
#include "kafka/pointer.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/log.h"
#include "runtime/savepoint.h"

#include <inttypes.h>

static uint32_t partition_idx(const struct weir_recovering *recovery, const char *topic,
                              int32_t partition)
{
    for (uint32_t i = 0; i < recovery->out->partition_count; i++) {
        if (recovery->out->partitions[i].partition == partition &&
            strcmp(recovery->out->partitions[i].topic, topic) == 0) {
            return i;
        }
    }
    WEIR_ASSERT(!"every start has its partition");
}

// Does some table read it? The leader of one that is in quarantine may be gone.
static bool is_read(const struct weir_recovering *recovery, uint32_t idx)
{
    const struct weir_topic_partition *at = &recovery->topic_partitions[idx];
    for (uint32_t i = 0; i < recovery->out->start_count; i++) {
        const struct weir_start *start = &recovery->out->starts[i];
        if (!start->partition.is_quarantined && start->partition.partition == at->partition &&
            strcmp(start->table->topic, at->topic) == 0) {
            return true;
        }
    }
    return false;
}

// Offsets of the partitions that are read, into an array parallel to out->partitions.
static enum weir_status ask_offsets(struct weir_recovering *recovery, enum weir_offset_query query,
                                    int64_t **offsets, struct weir_error *error)
{
    uint32_t count = recovery->out->partition_count;
    uint32_t asked_count = 0;
    struct weir_topic_partition *asked =
        weir_arena_alloc_zero(recovery->arena, count * sizeof *asked);
    uint32_t *idxs = weir_arena_alloc_zero(recovery->arena, count * sizeof *idxs);
    int64_t *answers = weir_arena_alloc_zero(recovery->arena, count * sizeof *answers);
    *offsets = weir_arena_alloc_zero(recovery->arena, count * sizeof **offsets);
    for (uint32_t i = 0; i < count; i++) {
        if (is_read(recovery, i)) {
            idxs[asked_count] = i;
            asked[asked_count++] = recovery->topic_partitions[i];
        }
    }
    if (weir_ask_offsets(recovery->context->kafka, &recovery->retry, query, 0, asked_count, asked,
                         answers, error) != WEIR_OK) {
        return weir_error_context(error, "asking for the offsets of the source partitions");
    }
    for (uint32_t i = 0; i < asked_count; i++) {
        (*offsets)[idxs[i]] = answers[i];
    }
    return WEIR_OK;
}

static enum weir_status find_manifests(struct weir_recovering *recovery, struct weir_error *error)
{
    struct weir_store_entry *entries;
    uint32_t count;
    struct weir_store *store = recovery->context->store;
    if (weir_store_list(store, recovery->arena, &entries, &count, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_found_manifest *manifests =
        weir_arena_alloc_zero(recovery->arena, count * sizeof *manifests);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_manifest *manifest = weir_arena_alloc_zero(recovery->arena, sizeof *manifest);
        struct weir_error broken;
        bool is_missing;
        manifests[i] = (struct weir_found_manifest){
            .number = entries[i].number, .attempt = entries[i].attempt, .manifest = manifest};
        if (weir_store_read_manifest(store, entries[i].number, &entries[i].attempt, recovery->arena,
                                     manifest, &is_missing, &broken) != WEIR_OK) {
            manifests[i].state = WEIR_MANIFEST_BROKEN;
            manifests[i].error_text = weir_arena_strdup(recovery->arena, broken.text);
            manifests[i].manifest = NULL;
        }
    }
    recovery->found.manifest_count = count;
    recovery->found.manifests = manifests;
    return WEIR_OK;
}

// Is the record before the position still the one that was read?
static enum weir_status compare_last_record(struct weir_recovering *recovery,
                                            struct weir_found_partition *partition,
                                            const struct weir_manifest *manifest,
                                            struct weir_error *error)
{
    const struct weir_manifest_position *position = weir_manifest_find_position(
        manifest, partition->table, partition->topic, partition->partition);
    partition->last_record = WEIR_LAST_RECORD_UNKNOWN;
    if (position == NULL || position->entry.last_offset < partition->low_offset ||
        position->entry.last_offset >= partition->high_offset) {
        return WEIR_OK;
    }
    struct weir_kafka *kafka = recovery->context->kafka;
    struct weir_topic_partition at = {.topic = partition->topic, .partition = partition->partition};
    bool is_found = false;
    int64_t timestamp_ms = 0;
    uint32_t crc32 = 0;
    while (kafka->ops->record_at(kafka, &at, position->entry.last_offset, &is_found, &timestamp_ms,
                                 &crc32, weir_retry_call_timeout_ms(&recovery->retry),
                                 error) != WEIR_OK) {
        if (!weir_retry_again(&recovery->retry, error)) {
            return weir_error_context(error, "reading topic %s partition %" PRId32 " again",
                                      partition->topic, partition->partition);
        }
    }
    if (is_found) {
        partition->last_record =
            timestamp_ms == position->entry.last_timestamp_ms && crc32 == position->entry.last_crc32
                ? WEIR_LAST_RECORD_SAME
                : WEIR_LAST_RECORD_DIFFERENT;
    }
    return WEIR_OK;
}

// The manifest that the pointer names; NULL: it is not there, or damaged.
static const struct weir_manifest *pointed_manifest(const struct weir_recovering *recovery,
                                                    const struct weir_pointer *pointer)
{
    for (uint32_t i = 0; i < recovery->found.manifest_count; i++) {
        const struct weir_found_manifest *found = &recovery->found.manifests[i];
        if (found->number == pointer->number &&
            weir_attempt_equal(&found->attempt, &pointer->manifest_attempt)) {
            return found->manifest;
        }
    }
    return NULL;
}

// Whose last records are compared: the savepoint's, the manifest's that the pointer names; without
// a pointer the newest's.
static const struct weir_manifest *manifest_to_compare(const struct weir_recovering *recovery,
                                                       const struct weir_pointer *pointer)
{
    if (recovery->found.savepoint != NULL) {
        return recovery->found.savepoint;
    }
    if (pointer != NULL) {
        return pointed_manifest(recovery, pointer);
    }
    const struct weir_manifest *newest = NULL;
    for (uint32_t i = 0; i < recovery->found.manifest_count; i++) {
        const struct weir_manifest *manifest = recovery->found.manifests[i].manifest;
        newest = manifest != NULL ? manifest : newest;
    }
    return newest;
}

// The look was a hint; now the pointer is known for sure.
static enum weir_status settle_savepoint(struct weir_recovering *recovery,
                                         const struct weir_pointer *pointer,
                                         struct weir_error *error)
{
    const struct weir_manifest *pointed =
        pointer != NULL ? pointed_manifest(recovery, pointer) : NULL;
    if (weir_restore_is_due(recovery->context->config->restore_text, pointed)) {
        return weir_recover_load_savepoint(recovery, error);
    }
    recovery->found.savepoint = NULL;
    recovery->found.store_path = weir_store_path(recovery->context->store);
    return WEIR_OK;
}

enum weir_status weir_recover_read(struct weir_recovering *recovery, struct weir_error *error)
{
    int64_t *low;
    int64_t *high;
    if (weir_recover_ask_committed(recovery, WEIR_READ_COMMITTED, &recovery->committed, error) !=
            WEIR_OK ||
        ask_offsets(recovery, WEIR_OFFSET_EARLIEST, &low, error) != WEIR_OK ||
        ask_offsets(recovery, WEIR_OFFSET_LATEST, &high, error) != WEIR_OK ||
        find_manifests(recovery, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    const struct weir_recovered *out = recovery->out;
    for (uint32_t i = 0; i < out->start_count; i++) {
        struct weir_found_partition *partition = &recovery->found_partitions[i];
        uint32_t idx = partition_idx(recovery, partition->topic, partition->partition);
        partition->committed_offset = recovery->committed[idx].offset;
        // Nothing is said against what stays as it is: whoever reads it again will be told.
        bool is_quarantined = out->starts[i].partition.is_quarantined;
        partition->low_offset = is_quarantined ? 0 : low[idx];
        partition->high_offset = is_quarantined ? INT64_MAX : high[idx];
        partition->pointer_state =
            weir_pointer_parse(&recovery->committed[idx], &partition->pointer);
    }
    const struct weir_pointer *pointer = weir_pointer_greatest(&recovery->found);
    if (weir_recover_check_owner(recovery, pointer, error) != WEIR_OK ||
        settle_savepoint(recovery, pointer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    const struct weir_manifest *manifest = manifest_to_compare(recovery, pointer);
    for (uint32_t i = 0; manifest != NULL && i < out->start_count; i++) {
        if (!out->starts[i].partition.is_quarantined &&
            compare_last_record(recovery, &recovery->found_partitions[i], manifest, error) !=
                WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static enum weir_status decide(struct weir_recovering *recovery, struct weir_error *error)
{
    struct weir_recovered *out = recovery->out;
    struct weir_partition_decision *decisions =
        weir_arena_alloc_zero(recovery->arena, out->start_count * sizeof *decisions);
    if (weir_recovery_decide(&recovery->found, &recovery->decision, decisions, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    const struct weir_reset *reset = recovery->context->reset;
    if (reset != NULL && recovery->decision.kind != WEIR_RECOVERY_REWIND) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "job %s has never committed anything: there is no position to reset",
                              recovery->context->config->job_id);
    }
    const struct weir_manifest *manifest = recovery->decision.manifest;
    if (weir_state_keep(recovery->context, out, manifest, true, recovery->arena, error) !=
        WEIR_OK) {
        return WEIR_ERROR;
    }
    out->number = recovery->decision.number;
    out->from_number = manifest != NULL ? manifest->number : -1;
    struct weir_position position = reset != NULL ? reset->to : (struct weir_position){0};
    return weir_starts_resolve(&(struct weir_starts_question){.kafka = recovery->context->kafka,
                                                              .config = recovery->context->config,
                                                              .retry = &recovery->retry,
                                                              .decision = &recovery->decision,
                                                              .partition_decisions = decisions,
                                                              .reset = position},
                               out->start_count, out->starts, error);
}

// What the next manifests say was obeyed: a word that is taken back later was obeyed all the same.
static const char *restore_obeyed(const struct weir_recovering *recovery)
{
    const struct weir_config *config = recovery->context->config;
    return recovery->decision.manifest != NULL && recovery->found.savepoint == NULL &&
                   config->restore_kind == WEIR_RESTORE_AUTO
               ? recovery->decision.manifest->restore
               : config->restore_text;
}

static enum weir_status claim(struct weir_recovering *recovery, struct weir_error *error)
{
    weir_phases_note(&recovery->context->phases, "positions");
    const struct weir_config *config = recovery->context->config;
    struct weir_recovered *out = recovery->out;
    const struct weir_manifest *manifest = recovery->decision.manifest;
    if (recovery->decision.kind != WEIR_RECOVERY_RESTORE) {
        struct weir_start_manifest_wish wish = {
            .kind = recovery->context->reset != NULL ? "reset" : "start",
            .restore = restore_obeyed(recovery),
            .state = manifest,
            .import_path = recovery->found.savepoint != NULL ? config->restore_value : NULL};
        if (weir_start_manifest_write(recovery->context, out, &wish, recovery->arena,
                                      &recovery->start_manifest, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        manifest = &recovery->start_manifest;
    }
    out->barrier_ms = manifest->created_ms;
    for (uint32_t i = 0; i < out->partition_count; i++) {
        struct weir_commit_partition *partition = &out->partitions[i];
        partition->offset =
            weir_manifest_committed_offset(manifest, partition->topic, partition->partition);
        partition->has_pointer = partition->offset >= 0;
    }
    const struct weir_pointer *pointer = weir_pointer_greatest(&recovery->found);
    out->committer = (struct weir_committer_config){
        .claim_epoch = (pointer != NULL ? pointer->number : 0) + 1,
        .kafka = recovery->context->kafka,
        .handles = out->handles,
        .store = recovery->context->store,
        .clock = recovery->context->clock,
        .attempt = out->attempt,
        .job_id = config->job_id,
        .instance_id = (int32_t)config->instance_id,
        .cluster_id = out->cluster_id,
        .restore = restore_obeyed(recovery),
        .parallelism = config->parallelism,
        .retained = config->checkpoints_retained,
        .operator_count = out->change.operator_count,
        .operators = out->change.operators,
        .is_at_least_once = config->is_at_least_once,
        .files = &weir_rocksdb_files,
        .checkpoint_timeout_ms = config->checkpoint_timeout_ms,
        .commit_timeout_ms = 60000,
        .full_commit_ms = 30 * 60 * 1000,
        .partition_count = out->partition_count,
        .partitions = out->partitions,
    };
    return weir_claim(&out->committer, manifest, error);
}

static void log_result(const struct weir_recovering *recovery)
{
    const struct weir_recovered *out = recovery->out;
    if (recovery->decision.kind == WEIR_RECOVERY_FRESH) {
        weir_log(WEIR_LOG_INFO, "job %s begins with empty state at checkpoint %" PRId64 "%s",
                 recovery->context->config->job_id, out->number,
                 recovery->decision.is_discarded ? " (WEIR_RESTORE=discard)" : "");
        return;
    }
    if (recovery->found.savepoint != NULL) {
        weir_log(WEIR_LOG_INFO,
                 "job %s goes on from the savepoint in %s (checkpoint %" PRId64
                 " of job %s), as checkpoint %" PRId64,
                 recovery->context->config->job_id, recovery->context->config->restore_value,
                 recovery->savepoint.number, recovery->savepoint.job_id, out->number);
        return;
    }
    uint32_t discarded_count = 0;
    for (uint32_t i = 0; i < recovery->found.manifest_count; i++) {
        discarded_count += recovery->found.manifests[i].number > out->number ? 1 : 0;
    }
    weir_log(WEIR_LOG_INFO,
             "job %s goes on from checkpoint %" PRId64 " of attempt %s; %" PRIu32
             " later checkpoints were not committed: discarded and replayed",
             recovery->context->config->job_id, out->number, recovery->decision.attempt.text,
             discarded_count);
}

enum weir_status weir_recover(struct weir_job_context *context, struct weir_arena *arena,
                              struct weir_recovered *recovered, struct weir_error *error)
{
    struct weir_recovering recovery;
    const struct weir_pointer *pointer = NULL;
    if (weir_recover_begin(&recovery, context, arena, recovered, error) != WEIR_OK ||
        weir_recover_look_at(&recovery, &pointer, error) != WEIR_OK ||
        weir_recover_check_is_ours(&recovery, pointer, error) != WEIR_OK ||
        weir_registries_ask(context->registries, !pointer, &recovery.retry, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_phases_note(&context->phases, "pointer");
    recovered->attempt = weir_owner_begin(&context->owner);
    weir_failpoint("recover.before_fence");
    if (weir_handles_open(context->kafka, context->config->job_id,
                          (int32_t)context->config->instance_id, context->config->is_at_least_once,
                          context->clock, recovery.retry.deadline_ms, &recovered->handles,
                          error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_failpoint("recover.fenced");
    weir_phases_note(&context->phases, "fencing");
    if (weir_recover_read(&recovery, error) != WEIR_OK || decide(&recovery, error) != WEIR_OK ||
        claim(&recovery, error) != WEIR_OK) {
        weir_handles_close(recovered->handles);
        recovered->handles = NULL;
        return weir_recover_doubt(&recovery, error);
    }
    weir_phases_note(&context->phases, "claim");
    if (context->reset == NULL) { // whoever resets says it
        log_result(&recovery);
    }
    return WEIR_OK;
}
