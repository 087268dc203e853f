// SPDX-License-Identifier: Apache-2.0
// See start_manifest.h. The store is taken over first: what is brought into it before the manifest
// lists it would be a leftover to its former owner.
#include "app/start_manifest.h"

#include "runtime/base/failpoint.h"
#include "runtime/savepoint.h"
#include "runtime/version.h"

static const struct weir_manifest_position *list_positions(const struct weir_recovered *recovered,
                                                           struct weir_arena *arena)
{
    struct weir_manifest_position *positions =
        weir_arena_alloc_zero(arena, recovered->start_count * sizeof *positions);
    for (uint32_t i = 0; i < recovered->start_count; i++) {
        const struct weir_start *start = &recovered->starts[i];
        const struct weir_source_partition *at = &start->partition;
        positions[i] = (struct weir_manifest_position){
            .entry = {.table = start->table->name,
                      .topic = start->table->topic,
                      .partition = at->partition,
                      .offset = at->offset,
                      .end_offset = at->end_offset,
                      .last_offset = at->last_offset,
                      .last_timestamp_ms = at->last_timestamp_ms,
                      .last_crc32 = at->last_crc32,
                      .event_time_us = at->event_time_us},
            .topic_id = weir_topics_find(&recovered->topics, start->table->topic)->topic_id,
        };
    }
    return positions;
}

enum weir_status weir_start_manifest_write(const struct weir_job_context *context,
                                           const struct weir_recovered *recovered,
                                           const struct weir_start_manifest_wish *wish,
                                           struct weir_arena *arena, struct weir_manifest *manifest,
                                           struct weir_error *error)
{
    const struct weir_config *config = context->config;
    *manifest = (struct weir_manifest){
        .number = recovered->number,
        .attempt = recovered->attempt,
        .job_id = config->job_id,
        .instance_id = (int32_t)config->instance_id,
        .cluster_id = recovered->cluster_id,
        .kind = wish->kind,
        .restore = wish->restore,
        .weir_version = WEIR_VERSION,
        .created_ms = weir_wall_ms(context->clock),
        .parallelism = config->parallelism,
        .position_count = recovered->start_count,
        .positions = list_positions(recovered, arena),
    };
    if (weir_store_set_owner(context->store, &recovered->attempt, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    manifest->state_count = recovered->change.state_count;
    manifest->states = recovered->change.states;
    manifest->operator_state_count = recovered->operator_state_count;
    manifest->operator_states = recovered->operator_states;
    manifest->operator_count = recovered->change.restored_count;
    manifest->operators = recovered->change.restored;
    if (wish->import_path != NULL) {
        if (weir_savepoint_import(wish->import_path, wish->state, weir_store_path(context->store),
                                  error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        weir_failpoint("recover.imported");
    }
    return weir_store_write_manifest(context->store, manifest, error);
}
