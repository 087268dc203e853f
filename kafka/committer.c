// SPDX-License-Identifier: Apache-2.0
// See committer.h. The last part of the way of an epoch, each step only after the one before it:
//   1. write_manifest   the snapshot is durable and restorable, but not decided
//   2. weir_handles_commit: offsets and pointer join the transaction, then it is committed:
//                       outputs, input offsets and pointer become visible in one step
//   3. on_committed     coordinator told, old checkpoints deleted (janitor.c)
//   4. weir_handles_begin for epoch n + 4 on the same handle
// Thread: its own; it may block, nothing waits for it but commits.
//
// At least once the same steps are taken, but the transaction holds offsets only and is begun by 2.
// A manifest that the store does not take fails its checkpoint and not the run: numbers are passed
// over then. Whose handle it is follows from the pointer, not from the number: the successor of
// pointer n is committed by handle (n + 1) mod 4, whatever its number, so that the claim of n meets
// whoever would commit next.
//
// Invariants
// 1. Epochs are committed in the order of their numbers, one at a time.
// 2. The pointer of a commit names a manifest that was durable before.
// 3. After a failure nothing more is committed by this committer.
// 4. Behind its claim an owner makes the handle of the next commit anew only to read the pointer
//    again: made anew it is no longer fenced by somebody who may have claimed in between.
#include "kafka/committer.h"

#include "kafka/pointer.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/limits.h"
#include "runtime/base/log.h"
#include "runtime/version.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum { STORE_RETRY_PAUSE_MS = 500, LOOK_TIMEOUT_MS = 10000 };

struct weir_committer {
    struct weir_committer_config config;
    struct weir_commit_partition *partitions;
    struct weir_janitor *janitor;
    struct weir_mailbox *mailbox;
    pthread_t thread;
    int64_t next_number;    // at least once: or a greater one
    int64_t pointer_number; // of the last commit, or the claim
    int64_t full_commit_ms; // when all positions were last committed
    bool has_failed;
    atomic_bool is_stopped;
};

static struct weir_offset_commit *offsets_alloc(uint32_t count)
{
    return weir_alloc((count > 0 ? count : 1) * sizeof(struct weir_offset_commit));
}

static void pointer_text(const struct weir_committer_config *config, int64_t number,
                         const struct weir_attempt *manifest_attempt,
                         char text[WEIR_POINTER_BYTES_MAX])
{
    struct weir_pointer pointer = {
        .number = number, .manifest_attempt = *manifest_attempt, .owner_attempt = config->attempt};
    weir_pointer_format(&pointer, text);
}

enum weir_status weir_claim(struct weir_committer_config *config,
                            const struct weir_manifest *manifest, struct weir_error *error)
{
    char text[WEIR_POINTER_BYTES_MAX];
    pointer_text(config, manifest->number, &manifest->attempt, text);
    struct weir_offset_commit *offsets = offsets_alloc(config->partition_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->partition_count; i++) {
        const struct weir_commit_partition *partition = &config->partitions[i];
        int64_t offset =
            weir_manifest_committed_offset(manifest, partition->topic, partition->partition);
        if (offset >= 0) {
            offsets[count++] = (struct weir_offset_commit){.topic = partition->topic,
                                                           .partition = partition->partition,
                                                           .offset = offset,
                                                           .metadata = text};
        }
    }
    WEIR_ASSERT(count > 0);
    weir_failpoint("claim.before");
    // By the handle of the epoch after the pointer, also where the manifest has a greater number
    // (savepoint, discard, reset): an older owner that made this handle anew after it was fenced
    // can still commit that epoch, and then the claim has to fail instead of taking it back.
    int64_t epoch = config->claim_epoch;
    int64_t deadline_ms = weir_now_ms(config->clock) + config->commit_timeout_ms;
    enum weir_status status = weir_store_set_owner(config->store, &config->attempt, error);
    if (status == WEIR_OK && weir_handles_is_used_up(config->handles, epoch)) {
        // Made anew it would fence whoever has claimed since the pointer was read.
        status = weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                                "producer %s: a request was left without an answer",
                                weir_handles_id(config->handles, epoch));
    }
    if (status == WEIR_OK) {
        status = weir_handles_begin(config->handles, epoch, error);
    }
    if (status == WEIR_OK) {
        status = weir_handles_commit(config->handles, epoch, count, offsets, deadline_ms, error);
    }
    free(offsets);
    if (status != WEIR_OK) {
        return weir_error_context(error, "claiming checkpoint %" PRId64, manifest->number);
    }
    weir_failpoint("claim.after");
    struct weir_error ignored; // taken over already: the first commit will find out
    if (weir_store_check_owner(config->store, &config->attempt, &ignored) == WEIR_OK) {
        weir_store_delete_temporaries(config->store);
    }
    const struct weir_janitor_config janitor = {.store = config->store,
                                                .clock = config->clock,
                                                .owner = config->attempt,
                                                .retained = config->retained,
                                                .files = config->files};
    config->janitor = weir_janitor_create(&janitor, manifest->number, &manifest->attempt);
    return WEIR_OK;
}

static const char *topic_id_of(const struct weir_committer *committer, const char *topic)
{
    for (uint32_t i = 0; i < committer->config.partition_count; i++) {
        if (strcmp(committer->partitions[i].topic, topic) == 0) {
            return committer->partitions[i].topic_id;
        }
    }
    return "";
}

static void fill_manifest(const struct weir_committer *committer,
                          const struct weir_completed *completed, struct weir_arena *arena,
                          struct weir_manifest *manifest)
{
    const struct weir_committer_config *config = &committer->config;
    uint32_t count = 0;
    for (uint32_t i = 0; i < completed->snapshot_count; i++) {
        count += completed->snapshots[i]->position_count;
    }
    struct weir_manifest_position *positions =
        weir_arena_alloc_zero(arena, count * sizeof *positions);
    count = 0;
    for (uint32_t i = 0; i < completed->snapshot_count; i++) {
        for (uint32_t j = 0; j < completed->snapshots[i]->position_count; j++) {
            positions[count].entry = completed->snapshots[i]->positions[j];
            positions[count].topic_id = topic_id_of(committer, positions[count].entry.topic);
            count++;
        }
    }
    *manifest = (struct weir_manifest){
        .number = completed->barrier.number,
        .attempt = config->attempt,
        .job_id = config->job_id,
        .instance_id = config->instance_id,
        .cluster_id = config->cluster_id,
        .kind = weir_barrier_type_name(completed->barrier.type),
        .restore = config->restore,
        .weir_version = WEIR_VERSION,
        .created_ms = completed->barrier.timestamp_ms, // now() goes on from it after a restore
        .parallelism = config->parallelism,
        .position_count = count,
        .positions = positions,
        .operator_count = config->operator_count,
        .operators = config->operators,
    };
    weir_manifest_collect_states(manifest, completed, arena);
}

// Tries again until the checkpoint's time-out: a full disk may have room again by then.
static enum weir_status write_manifest(struct weir_committer *committer,
                                       const struct weir_completed *completed,
                                       const struct weir_manifest *manifest,
                                       struct weir_error *error)
{
    const struct weir_committer_config *config = &committer->config;
    int64_t deadline_ms = completed->triggered_ms + config->checkpoint_timeout_ms;
    bool is_logged = false;
    for (;;) {
        if (weir_store_write_manifest_as(config->store, &config->attempt, manifest, error) ==
            WEIR_OK) {
            return WEIR_OK;
        }
        if (error->action == WEIR_ACTION_FENCED || atomic_load(&committer->is_stopped) ||
            weir_now_ms(config->clock) >= deadline_ms) {
            return weir_error_context(error, "checkpoint %" PRId64, manifest->number);
        }
        if (!is_logged) {
            weir_log(WEIR_LOG_WARN, "checkpoint %" PRId64 ": %s; trying again", manifest->number,
                     error->text);
            is_logged = true;
        }
        weir_mailbox_wait(committer->mailbox, STORE_RETRY_PAUSE_MS);
    }
}

// The positions that go into this commit: those that changed, those that never had a pointer, at
// least one (it carries the pointer), and all of them now and then. Returns how many.
static uint32_t choose_offsets(struct weir_committer *committer,
                               const struct weir_manifest *manifest, bool is_full,
                               const char *metadata, struct weir_offset_commit *offsets)
{
    uint32_t count = 0;
    uint32_t partition_count = committer->config.partition_count;
    for (uint32_t i = 0; i < partition_count; i++) {
        struct weir_commit_partition *partition = &committer->partitions[i];
        int64_t offset =
            weir_manifest_committed_offset(manifest, partition->topic, partition->partition);
        WEIR_ASSERT(offset >= 0);
        bool is_last_chance = count == 0 && i + 1 == partition_count;
        if (is_full || is_last_chance || !partition->has_pointer || partition->offset != offset) {
            partition->has_pointer = true;
            partition->offset = offset;
            offsets[count++] = (struct weir_offset_commit){.topic = partition->topic,
                                                           .partition = partition->partition,
                                                           .offset = offset,
                                                           .metadata = metadata};
        }
    }
    return count;
}

static enum weir_status read_pointer(const struct weir_committer_config *config,
                                     struct weir_committed *committed,
                                     const struct weir_topic_partition *partitions,
                                     struct weir_error *error)
{
    int64_t deadline_ms = weir_now_ms(config->clock) + config->commit_timeout_ms;
    while (config->kafka->ops->committed(config->kafka, WEIR_READ_COMMITTED,
                                         config->partition_count, partitions, committed,
                                         LOOK_TIMEOUT_MS, error) != WEIR_OK) {
        if (!weir_handles_may_retry(config->handles, error, deadline_ms)) {
            error->action = WEIR_ACTION_RECOVER;
            return weir_error_context(error, "reading the pointer behind a new handle");
        }
    }
    return WEIR_OK;
}

// Is the job still ours? FENCED: no.
static enum weir_status check_pointer(const struct weir_committer_config *config,
                                      struct weir_error *error)
{
    uint32_t count = config->partition_count;
    struct weir_topic_partition *partitions = weir_alloc(count * sizeof *partitions);
    struct weir_committed *committed = weir_alloc_zero(count * sizeof *committed);
    for (uint32_t i = 0; i < count; i++) {
        partitions[i] = (struct weir_topic_partition){.topic = config->partitions[i].topic,
                                                      .partition = config->partitions[i].partition};
    }
    struct weir_pointer pointer;
    enum weir_status status = read_pointer(config, committed, partitions, error);
    if (status == WEIR_OK && (!weir_pointer_greatest_committed(committed, count, &pointer) ||
                              !weir_attempt_equal(&pointer.owner_attempt, &config->attempt))) {
        status = weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FENCED,
                                "somebody else has claimed the job");
    }
    free(committed);
    free(partitions);
    return status;
}

// Opens the transaction of what may be the next commit. Whoever has claimed the job since we did
// has fenced this handle; made anew it would be valid again, and take back what it has committed.
static enum weir_status begin_next(const struct weir_committer_config *config, int64_t epoch,
                                   struct weir_error *error)
{
    bool is_anew = weir_handles_is_used_up(config->handles, epoch);
    if (weir_handles_begin(config->handles, epoch, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return is_anew && !weir_failpoint("committer.trust_handle") ? check_pointer(config, error)
                                                                : WEIR_OK;
}

static enum weir_status commit(struct weir_committer *committer,
                               const struct weir_manifest *manifest, struct weir_error *error)
{
    const struct weir_committer_config *config = &committer->config;
    char text[WEIR_POINTER_BYTES_MAX];
    pointer_text(config, manifest->number, &config->attempt, text);
    struct weir_offset_commit *offsets = offsets_alloc(config->partition_count);
    int64_t now_ms = weir_now_ms(config->clock);
    bool is_full = now_ms - committer->full_commit_ms >= config->full_commit_ms;
    uint32_t count = choose_offsets(committer, manifest, is_full, text, offsets);
    int64_t epoch = config->is_at_least_once ? committer->pointer_number + 1 : manifest->number;
    enum weir_status status = WEIR_OK;
    if (config->is_at_least_once) {
        status = begin_next(config, epoch, error);
    }
    if (status == WEIR_OK) {
        status = weir_handles_commit(config->handles, epoch, count, offsets,
                                     now_ms + config->commit_timeout_ms, error);
    }
    free(offsets);
    if (status != WEIR_OK) {
        return weir_error_context(error, "checkpoint %" PRId64, manifest->number);
    }
    committer->full_commit_ms = is_full ? now_ms : committer->full_commit_ms;
    return WEIR_OK;
}

static void post(struct weir_committer *committer, enum weir_mail_kind kind, int64_t number)
{
    weir_mailbox_post(committer->config.coordinator,
                      &(struct weir_mail){.kind = kind, .number = number});
}

static enum weir_status complete(struct weir_committer *committer,
                                 const struct weir_completed *completed, struct weir_arena *arena,
                                 struct weir_error *error)
{
    int64_t number = completed->barrier.number;
    bool is_at_least_once = committer->config.is_at_least_once;
    WEIR_ASSERT(is_at_least_once ? number >= committer->next_number
                                 : number == committer->next_number);
    struct weir_manifest manifest;
    fill_manifest(committer, completed, arena, &manifest);
    if (write_manifest(committer, completed, &manifest, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_janitor_add(committer->janitor, &manifest);
    if (completed->barrier.type == WEIR_BARRIER_SAVEPOINT) {
        weir_janitor_pin(committer->janitor, number); // until it is copied
    }
    post(committer, WEIR_MAIL_MANIFEST_STORED, number);
    if (commit(committer, &manifest, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    committer->next_number = number + 1;
    committer->pointer_number = number;
    post(committer, WEIR_MAIL_COMMITTED, number);
    weir_janitor_clean(committer->janitor, number);
    if (completed->barrier.type == WEIR_BARRIER_FINAL || is_at_least_once) {
        return WEIR_OK;
    }
    if (weir_handles_begin(committer->config.handles, number + WEIR_HANDLE_COUNT, error) !=
        WEIR_OK) {
        return WEIR_ERROR;
    }
    post(committer, WEIR_MAIL_HANDLE_READY, number + WEIR_HANDLE_COUNT);
    return WEIR_OK;
}

static void on_complete(struct weir_committer *committer, struct weir_completed *completed)
{
    struct weir_error error;
    struct weir_arena *arena = weir_arena_create(4096);
    if (!committer->has_failed && complete(committer, completed, arena, &error) != WEIR_OK) {
        // What the store did not take, the next checkpoint can make up for.
        committer->has_failed = !committer->config.is_at_least_once ||
                                error.domain != WEIR_DOMAIN_STORE ||
                                error.action != WEIR_ACTION_RECOVER;
        struct weir_error *copy = weir_alloc(sizeof *copy);
        *copy = error;
        weir_mailbox_post(committer->config.coordinator,
                          &(struct weir_mail){.kind = WEIR_MAIL_COMMIT_FAILED,
                                              .number = completed->barrier.number,
                                              .payload = copy});
    }
    weir_arena_destroy(arena);
    weir_completed_destroy(completed);
}

static void *run(void *argument)
{
    struct weir_committer *committer = argument;
    while (!atomic_load(&committer->is_stopped)) {
        struct weir_mail mail;
        if (!weir_mailbox_take(committer->mailbox, &mail)) {
            weir_mailbox_wait(committer->mailbox, -1);
        } else if (mail.kind == WEIR_MAIL_SAVEPOINT_OVER) {
            weir_janitor_unpin(committer->janitor, mail.number);
        } else {
            WEIR_ASSERT(mail.kind == WEIR_MAIL_COMPLETE);
            on_complete(committer, mail.payload);
        }
    }
    return NULL;
}

enum weir_status weir_committer_start(const struct weir_committer_config *config,
                                      int64_t first_number, struct weir_committer **out,
                                      struct weir_error *error)
{
    int64_t end_number = config->is_at_least_once ? first_number : first_number + WEIR_HANDLE_COUNT;
    for (int64_t epoch = first_number; epoch < end_number; epoch++) {
        if (begin_next(config, epoch, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    struct weir_committer *committer = weir_alloc_zero(sizeof *committer);
    committer->config = *config;
    committer->partitions = weir_alloc(config->partition_count * sizeof *committer->partitions);
    memcpy(committer->partitions, config->partitions,
           config->partition_count * sizeof *committer->partitions);
    committer->janitor = config->janitor;
    committer->mailbox = weir_mailbox_create();
    committer->next_number = first_number;
    committer->pointer_number = first_number - 1;
    committer->full_commit_ms = weir_now_ms(config->clock);
    post(committer, WEIR_MAIL_HANDLE_READY,
         config->is_at_least_once ? INT64_MAX : first_number + WEIR_HANDLE_COUNT - 1);
    int failed = pthread_create(&committer->thread, NULL, run, committer);
    WEIR_ASSERT(failed == 0);
    pthread_setname_np(committer->thread, "committer");
    *out = committer;
    return WEIR_OK;
}

struct weir_mailbox *weir_committer_mailbox(struct weir_committer *committer)
{
    return committer->mailbox;
}

void weir_committer_stop(struct weir_committer *committer)
{
    if (committer == NULL) {
        return;
    }
    atomic_store(&committer->is_stopped, true);
    weir_mailbox_wake(committer->mailbox);
    pthread_join(committer->thread, NULL);
    weir_mailbox_destroy(committer->mailbox, weir_coordinator_drop_mail);
    weir_janitor_destroy(committer->janitor);
    free(committer->partitions);
    free(committer);
}
