// SPDX-License-Identifier: Apache-2.0
// See preview.h. It takes the steps of a recovery that change nothing (recovering.h), but goes on
// where a start would be refused, so that all that is wrong is found.
#include "app/preview.h"

#include "app/quarantine.h"
#include "app/run.h"
#include "app/signals.h"

#include <inttypes.h>

// Whoever runs the job commits while it is looked at.
enum { TRIES_MAX = 5 };

struct looking {
    struct weir_job_context context;
    struct weir_recovering recovery;
    struct weir_recovered recovered;
    struct weir_arena *arena;
    struct weir_preview *preview;
};

static void add_fault(struct looking *looking, const struct weir_error *error)
{
    weir_fault_list_add(&looking->preview->faults, "%s", error->text);
    looking->preview->is_failed |= error->action != WEIR_ACTION_REFUSE;
}

// Fills the topics of `recovered` with those that are there; a missing one has no partitions.
static enum weir_status look_at_topics(struct looking *looking, struct weir_error *error)
{
    struct weir_preview *preview = looking->preview;
    struct weir_topic_wish *wishes;
    uint32_t count;
    if (weir_topics_wanted(looking->context.plan, preview->config, looking->arena, &wishes, &count,
                           error) != WEIR_OK) {
        add_fault(looking, error);
    }
    struct weir_topics *topics = &looking->recovered.topics;
    topics->topics = weir_arena_alloc_zero(looking->arena, (count + 1) * sizeof *topics->topics);
    preview->topics = weir_arena_alloc_zero(looking->arena, (count + 1) * sizeof *preview->topics);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_topic_info info;
        if (weir_ask_topic(looking->context.kafka, &looking->recovery.retry, wishes[i].name, &info,
                           error) != WEIR_OK) {
            return weir_error_context(error, "topic %s", wishes[i].name);
        }
        uint32_t made_count = (uint32_t)weir_topic_made_partitions(&wishes[i]);
        topics->topics[topics->count++] =
            (struct weir_topic){.name = wishes[i].name,
                                .partition_count = info.exists ? info.partition_count : 0,
                                .topic_id = weir_arena_strdup(looking->arena, info.topic_id)};
        preview->topics[preview->topic_count++] = (struct weir_preview_topic){
            .wish = wishes[i],
            .exists = info.exists,
            .partition_count = info.exists ? info.partition_count : made_count};
        if (!info.exists && made_count == 0) {
            weir_topic_refuse_missing(&wishes[i], error);
            add_fault(looking, error);
        }
    }
    return WEIR_OK;
}

// REFUSE: a start would be. RECOVER, FENCED: somebody has committed or taken over meanwhile.
static enum weir_status decide(struct looking *looking, struct weir_error *error)
{
    struct weir_preview *preview = looking->preview;
    struct weir_recovering *recovery = &looking->recovery;
    const struct weir_pointer *pointer;
    weir_recover_list_partitions(recovery);
    if (looking->recovered.partition_count == 0) {
        return WEIR_OK; // no source topic is there, which was said
    }
    struct weir_partition_decision *decisions = weir_arena_alloc_zero(
        looking->arena, (looking->recovered.start_count + 1) * sizeof *decisions);
    if (weir_recover_look_at(recovery, &pointer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    enum weir_status status = weir_recover_read(recovery, error);
    const struct weir_manifest *manifest = recovery->found.savepoint;
    if (status == WEIR_OK) {
        status = weir_recovery_decide(&recovery->found, &recovery->decision, decisions, error);
        manifest = recovery->decision.manifest;
    }
    if (status != WEIR_OK && manifest == NULL) {
        return weir_recover_doubt(recovery, error);
    }
    // A savepoint that a changed job cannot go on from is shown all the same.
    weir_job_change_find(looking->context.plan, manifest, looking->arena, &preview->change);
    preview->is_decided = status == WEIR_OK;
    preview->is_savepoint = recovery->found.savepoint != NULL;
    preview->decision = recovery->decision;
    preview->decision.manifest = manifest;
    preview->position_count = looking->recovered.start_count;
    preview->partitions = recovery->found_partitions;
    preview->positions = decisions;
    return status == WEIR_OK ? weir_job_change_check(&preview->change,
                                                     preview->config->is_state_loss_allowed, error)
                             : WEIR_ERROR;
}

static enum weir_status look(struct looking *looking, struct weir_error *error)
{
    struct weir_preview *preview = looking->preview;
    if (weir_recover_meet_brokers(&looking->recovery, &looking->context, looking->arena,
                                  &looking->recovered, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    memcpy(preview->cluster_id, looking->recovered.cluster_id, sizeof preview->cluster_id);
    if (look_at_topics(looking, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (weir_quarantine_check(preview->config, looking->context.plan, &looking->recovered.topics,
                              error) != WEIR_OK) {
        add_fault(looking, error);
    }
    if (weir_brokers_check(looking->context.kafka, looking->context.plan,
                           &looking->recovered.topics, preview->config, &looking->recovery.retry,
                           error) != WEIR_OK) {
        add_fault(looking, error);
    }
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        looking->recovered.start_count = 0;
        looking->recovered.partition_count = 0;
        weir_owner_deinit(&looking->context.owner); // whoever took over meanwhile is met anew
        if (decide(looking, error) == WEIR_OK) {
            return WEIR_OK;
        }
        if (error->action != WEIR_ACTION_RECOVER && error->action != WEIR_ACTION_FENCED) {
            break;
        }
    }
    return WEIR_ERROR;
}

void weir_preview(const struct weir_config *config, struct weir_arena *arena,
                  struct weir_preview *preview)
{
    *preview = (struct weir_preview){.config = config};
    weir_fault_list_init(&preview->faults, arena);
    struct looking *looking = weir_arena_alloc_zero(arena, sizeof *looking);
    looking->arena = arena;
    looking->preview = preview;
    struct weir_error error;
    if (weir_job_connect(config, arena, &looking->context, &error) != WEIR_OK ||
        weir_store_open_read_only(config->checkpoint_dir, config->job_id,
                                  (int32_t)config->instance_id, &looking->context.store,
                                  &error) != WEIR_OK) {
        add_fault(looking, &error);
    } else {
        preview->store_path = weir_arena_strdup(arena, weir_store_path(looking->context.store));
        if (look(looking, &error) != WEIR_OK) {
            add_fault(looking, &error);
        }
    }
    weir_job_release(&looking->context);
}
