// SPDX-License-Identifier: Apache-2.0
// See state_change.h. An operator's id says what it groups by and where its rows come from; its
// layout what it keeps of them, in order. Both equal: the state means the same.
#include "app/state_change.h"

#include "runtime/base/log.h"

#include <inttypes.h>
#include <string.h>

static void put_layout(const struct weir_plan_node *node, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        char type[256];
        weir_buffer_printf(out, "%s%s %s", i == 0 ? "" : ", ", node->schema.columns[i].name,
                           weir_type_name(&node->schema.columns[i].type, type, sizeof type));
    }
    // Names can be equal where arguments are not.
    const struct weir_schema *input = &node->inputs[0]->schema;
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        const struct weir_aggregate *aggregate = &node->aggregates[i];
        weir_buffer_printf(out, "; %s%s%s", aggregate->is_distinct ? "distinct " : "",
                           aggregate->arg_column >= 0 ? input->columns[aggregate->arg_column].name
                                                      : "*",
                           aggregate->filter_column >= 0 ? " filtered by " : "");
        if (aggregate->filter_column >= 0) {
            weir_buffer_printf(out, "%s", input->columns[aggregate->filter_column].name);
        }
    }
}

void weir_state_operators(const struct weir_plan *plan, struct weir_arena *arena,
                          const struct weir_manifest_operator **operators, uint32_t *count)
{
    struct weir_manifest_operator *found =
        weir_arena_alloc_zero(arena, plan->node_count * sizeof *found);
    *operators = found;
    *count = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        if (node->kind != WEIR_PLAN_AGGREGATE && node->kind != WEIR_PLAN_NORMALIZE) {
            continue;
        }
        const struct weir_plan_node *head = node;
        while (head->kind != WEIR_PLAN_EXCHANGE) {
            head = head->inputs[0];
        }
        struct weir_buffer layout = {0};
        put_layout(node, &layout);
        found[(*count)++] = (struct weir_manifest_operator){
            .stage = head->id,
            .id = node->id,
            .name = node->name,
            .layout = weir_arena_strdup(arena, weir_buffer_text(&layout))};
        weir_buffer_deinit(&layout);
    }
}

struct change {
    const struct weir_manifest *manifest;
    const struct weir_manifest_operator *operators;
    uint32_t operator_count;
    struct weir_buffer text; // what is lost, a line each
};

static bool has_stage(const struct change *change, const char *stage)
{
    for (uint32_t i = 0; i < change->operator_count; i++) {
        if (strcmp(change->operators[i].stage, stage) == 0) {
            return true;
        }
    }
    return false;
}

static const struct weir_manifest_operator *find(const struct change *change, const char *stage,
                                                 const char *id)
{
    for (uint32_t i = 0; i < change->operator_count; i++) {
        if (strcmp(change->operators[i].stage, stage) == 0 &&
            strcmp(change->operators[i].id, id) == 0) {
            return &change->operators[i];
        }
    }
    return NULL;
}

// What the checkpoint knows of a stage; 0: nothing that could be lost.
static uint64_t bytes_of(const struct weir_manifest *manifest, const char *stage)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        const struct weir_state_handle *state = &manifest->states[i];
        for (uint32_t j = 0; strcmp(state->stage, stage) == 0 && j < state->file_count; j++) {
            bytes += state->files[j].size_bytes;
        }
    }
    return bytes;
}

// True: the stage loses its state; says which operators are the reason.
static bool is_lost(struct change *change, const char *stage, uint64_t bytes)
{
    bool is_gone = !has_stage(change, stage);
    bool is_lost = is_gone;
    uint32_t named_count = 0;
    for (uint32_t i = 0; i < change->manifest->operator_count; i++) {
        const struct weir_manifest_operator *before = &change->manifest->operators[i];
        if (strcmp(before->stage, stage) != 0) {
            continue;
        }
        const struct weir_manifest_operator *now = find(change, stage, before->id);
        if (now != NULL && strcmp(now->layout, before->layout) == 0) {
            continue;
        }
        is_lost = true;
        named_count++;
        if (now == NULL) {
            weir_buffer_printf(&change->text, "\n  %s is no longer there", before->name);
        } else {
            weir_buffer_printf(&change->text, "\n  %s kept (%s), and would keep (%s)", before->name,
                               before->layout, now->layout);
        }
    }
    if (is_lost && named_count == 0) {
        weir_buffer_printf(&change->text, "\n  stage %s is no longer there", stage);
    }
    if (is_lost) {
        weir_buffer_printf(&change->text, ": %" PRIu64 " bytes of state", bytes);
    }
    return is_lost;
}

enum weir_status weir_state_change_check(const struct weir_manifest *manifest,
                                         const struct weir_manifest_operator *operators,
                                         uint32_t operator_count, bool is_loss_allowed,
                                         struct weir_arena *arena,
                                         const struct weir_state_handle **states,
                                         uint32_t *state_count, const char **warning,
                                         struct weir_error *error)
{
    struct change change = {
        .manifest = manifest, .operators = operators, .operator_count = operator_count};
    struct weir_state_handle *kept = weir_arena_alloc(arena, manifest->state_count * sizeof *kept);
    const char **lost = weir_arena_alloc(arena, manifest->state_count * sizeof *lost);
    uint32_t lost_count = 0;
    *state_count = 0;
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        const char *stage = manifest->states[i].stage;
        bool is_known = false; // a part of it came before
        bool is_kept = true;
        for (uint32_t j = 0; j < i && !is_known; j++) {
            is_known = strcmp(manifest->states[j].stage, stage) == 0;
        }
        uint64_t bytes = bytes_of(manifest, stage);
        if (!is_known && bytes > 0 && is_lost(&change, stage, bytes)) {
            lost[lost_count++] = stage;
        }
        for (uint32_t j = 0; j < lost_count; j++) {
            is_kept = is_kept && strcmp(lost[j], stage) != 0;
        }
        if (is_kept) {
            kept[(*state_count)++] = manifest->states[i];
        }
    }
    *states = kept;
    *warning = NULL;
    enum weir_status status = WEIR_OK;
    if (lost_count > 0 && is_loss_allowed) {
        *warning = weir_arena_strdup(arena, weir_buffer_text(&change.text));
    } else if (lost_count > 0) {
        status = weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                "the job has changed, and would lose state of checkpoint %" PRId64
                                ":%s\nundo the change, give the job another WEIR_JOB_ID, or allow "
                                "the loss on purpose with WEIR_ALLOW=state_loss",
                                manifest->number, weir_buffer_text(&change.text));
    }
    weir_buffer_deinit(&change.text);
    return status;
}

enum weir_status weir_state_keep(const struct weir_job_context *context,
                                 struct weir_recovered *recovered,
                                 const struct weir_manifest *manifest, bool is_deciding,
                                 struct weir_arena *arena, struct weir_error *error)
{
    static const struct weir_manifest nothing = {0};
    const char *warning = NULL;
    if (manifest != NULL) { // that of an operator which is gone is what nobody opens
        recovered->operator_state_count = manifest->operator_state_count;
        recovered->operator_states = manifest->operator_states;
    }
    weir_state_operators(context->plan, arena, &recovered->operators, &recovered->operator_count);
    enum weir_status status = weir_state_change_check(
        manifest != NULL ? manifest : &nothing, recovered->operators, recovered->operator_count,
        context->config->is_state_loss_allowed, arena, &recovered->states, &recovered->state_count,
        &warning, error);
    if (warning != NULL && is_deciding) {
        weir_log(WEIR_LOG_WARN, "WEIR_ALLOW=state_loss: state was dropped:%s", warning);
    }
    return status;
}
