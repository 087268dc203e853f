// SPDX-License-Identifier: Apache-2.0
// See state_change.h. Step by step: each stage of the checkpoint is compared with the plan's, then
// loss spreads along rows that are taken back, then what came of it is listed.
#include "app/state_change.h"

#include "operators/aggregate_convert.h"

#include <inttypes.h>
#include <string.h>

// A stage of the checkpoint, or of the plan, or of both.
struct stage {
    const char *id;
    const struct weir_plan_node *head; // NULL: the plan has none
    bool is_found;                     // in the checkpoint
    uint64_t bytes;
    const char *lost; // why all of it is; NULL: it is not
};

struct comparison {
    const struct weir_plan *plan;
    const struct weir_manifest *manifest;
    struct weir_state_operators now;
    struct weir_arena *arena;
    uint32_t stage_count;
    struct stage *stages;
    struct weir_state_item *items;
    uint32_t item_count;
    struct weir_stage_conversion *conversions;
    uint32_t conversion_count;
};

// --- stages -------------------------------------------------------------------------------------

static struct stage *find_stage(struct comparison *comparison, const char *id)
{
    for (uint32_t i = 0; i < comparison->stage_count; i++) {
        if (strcmp(comparison->stages[i].id, id) == 0) {
            return &comparison->stages[i];
        }
    }
    struct stage *stage = &comparison->stages[comparison->stage_count++];
    *stage = (struct stage){.id = id};
    return stage;
}

static void list_stages(struct comparison *comparison)
{
    const struct weir_manifest *manifest = comparison->manifest;
    const struct weir_plan *plan = comparison->plan;
    comparison->stages =
        weir_arena_alloc_zero(comparison->arena, (manifest->state_count + plan->node_count + 1) *
                                                     sizeof *comparison->stages);
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        const struct weir_state_handle *state = &manifest->states[i];
        struct stage *stage = find_stage(comparison, state->stage);
        stage->is_found = true;
        for (uint32_t j = 0; j < state->file_count; j++) {
            stage->bytes += state->files[j].size_bytes;
        }
    }
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i]->kind == WEIR_PLAN_EXCHANGE) {
            find_stage(comparison, plan->nodes[i]->id)->head = plan->nodes[i];
        }
    }
}

// Rows of an operator; -1: some part of its stage has not counted them.
static int64_t rows_of(const struct comparison *comparison, const char *stage, const char *id)
{
    int64_t rows = 0;
    for (uint32_t i = 0; i < comparison->manifest->state_count; i++) {
        const struct weir_state_handle *state = &comparison->manifest->states[i];
        bool is_counted = state->file_count == 0;
        for (uint32_t j = 0; strcmp(state->stage, stage) == 0 && j < state->rows_count; j++) {
            if (strcmp(state->rows[j].operator_id, id) == 0) {
                rows += state->rows[j].count;
                is_counted = true;
            }
        }
        if (strcmp(state->stage, stage) == 0 && !is_counted) {
            return -1;
        }
    }
    return rows;
}

static const struct weir_state_operator *find_now(const struct comparison *comparison,
                                                  const char *stage, const char *id)
{
    for (uint32_t i = 0; i < comparison->now.count; i++) {
        const struct weir_manifest_operator *record = &comparison->now.items[i].record;
        if (strcmp(record->stage, stage) == 0 && strcmp(record->id, id) == 0) {
            return &comparison->now.items[i];
        }
    }
    return NULL;
}

// --- what becomes of an operator ----------------------------------------------------------------

// The count of all rows of a group is known whenever it is asked for.
static bool is_row_count(const struct weir_state_operator *now, uint32_t idx)
{
    const struct weir_aggregate *aggregate = &now->node->aggregates[idx];
    return aggregate->kind == WEIR_AGGREGATE_COUNT_ALL && aggregate->filter_column < 0;
}

// Why its entries cannot be read by what it is now, at all; NULL: they can. before: the manifest's.
static const char *why_unreadable(const struct comparison *comparison,
                                  const struct weir_manifest_operator *before)
{
    struct weir_arena *arena = comparison->arena;
    const struct weir_state_operator *now = find_now(comparison, before->stage, before->id);
    if (now == NULL) {
        return "is no longer there";
    }
    before = now->before;
    if (!before->has_slots || !now->record.has_slots) {
        return strcmp(before->layout, now->record.layout) == 0
                   ? NULL
                   : weir_arena_printf(arena, "kept (%s), and would keep (%s)", before->layout,
                                       now->record.layout);
    }
    for (uint32_t i = 0; i < before->slot_count; i++) {
        if (weir_aggregate_form_bytes(before->slots[i].form) == 0) {
            return weir_arena_printf(arena, "keeps %s in a form (%s) that this weir does not know",
                                     before->slots[i].what, before->slots[i].form);
        }
    }
    for (uint32_t i = 0; i < now->record.slot_count; i++) {
        if (now->is_input_changing && !is_row_count(now, i) &&
            weir_state_slot_find(before, &now->record.slots[i]) < 0) {
            return weir_arena_printf(arena,
                                     "cannot keep %s from now on: rows that came before are taken "
                                     "back from it",
                                     now->record.slots[i].what);
        }
    }
    return NULL;
}

// Does each slot lie where it lay?
static bool is_unmoved(const struct weir_manifest_operator *before,
                       const struct weir_manifest_operator *now)
{
    bool is_same = before->slot_count == now->slot_count;
    for (uint32_t i = 0; is_same && i < now->slot_count; i++) {
        is_same = weir_state_slot_find(before, &now->slots[i]) == (int32_t)i;
    }
    return is_same;
}

static void add_conversion(struct comparison *comparison, const struct weir_manifest_operator *op,
                           const char *state, const void *conversion)
{
    comparison->conversions[comparison->conversion_count++] = (struct weir_stage_conversion){
        .stage = op->stage,
        .conversion = {.operator_id = op->id,
                       .state = state,
                       .convert = conversion != NULL ? weir_aggregate_convert : NULL,
                       .context = conversion}};
}

static void convert(struct comparison *comparison, const struct weir_manifest_operator *before,
                    const struct weir_state_operator *now)
{
    struct weir_arena *arena = comparison->arena;
    const struct weir_manifest_operator *record = &now->record;
    const char **forms = weir_arena_alloc(arena, (before->slot_count + 1) * sizeof *forms);
    struct weir_slot_source *sources =
        weir_arena_alloc_zero(arena, (record->slot_count + 1) * sizeof *sources);
    for (uint32_t i = 0; i < before->slot_count; i++) {
        forms[i] = before->slots[i].form;
        if (weir_state_slot_find(record, &before->slots[i]) < 0) {
            for (int is_distinct = 0; is_distinct < 2; is_distinct++) {
                add_conversion(
                    comparison, before,
                    weir_aggregate_entries_name(arena, is_distinct != 0, before->slots[i].number),
                    NULL);
            }
        }
    }
    for (uint32_t i = 0; i < record->slot_count; i++) {
        int32_t from = weir_state_slot_find(before, &record->slots[i]);
        bool is_rows = now->is_input_changing && is_row_count(now, i);
        sources[i] = (struct weir_slot_source){.origin = from >= 0 ? WEIR_SLOT_KEPT
                                                         : is_rows ? WEIR_SLOT_ROWS
                                                                   : WEIR_SLOT_EMPTY,
                                               .from = from >= 0 ? (uint32_t)from : 0,
                                               .form = record->slots[i].form};
    }
    add_conversion(comparison, before, "groups",
                   weir_aggregate_conversion_create(arena, now->node->window_end_column >= 0,
                                                    before->slot_count, forms, record->slot_count,
                                                    sources));
}

// The first operator that keeps something in it; NULL: none does, it is in front of a sink.
static const struct weir_state_operator *operator_in(const struct comparison *comparison,
                                                     const struct stage *stage)
{
    for (uint32_t i = 0; i < comparison->now.count; i++) {
        if (strcmp(comparison->now.items[i].record.stage, stage->id) == 0) {
            return &comparison->now.items[i];
        }
    }
    return NULL;
}

// What people call a stage by.
static const char *name_of(const struct comparison *comparison, const struct stage *stage)
{
    const struct weir_state_operator *first = operator_in(comparison, stage);
    return first != NULL ? first->record.name : stage->head->name;
}

// --- loss spreads -------------------------------------------------------------------------------

// Between two stages rows are taken back that were given out before: both go on, or both begin.
static bool spread_over(struct comparison *comparison, const struct weir_plan_node *node,
                        struct stage *below)
{
    bool is_new = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct weir_plan_node *input = node->inputs[i];
        if (input->kind != WEIR_PLAN_EXCHANGE) {
            is_new |= spread_over(comparison, input, below);
            continue;
        }
        struct stage *above = find_stage(comparison, input->id);
        bool is_kept = above->is_found && above->bytes > 0 && above->lost == NULL;
        bool begins = !below->is_found && operator_in(comparison, below) != NULL;
        if (is_kept && (below->lost != NULL || begins)) {
            above->lost = weir_arena_printf(
                comparison->arena,
                "would begin anew with %s: what it gave out before would be taken back there",
                name_of(comparison, below));
            is_new = true;
        } else if (above->lost != NULL && below->lost == NULL && below->bytes > 0) {
            below->lost = weir_arena_printf(comparison->arena,
                                            "would begin anew with %s, whose rows it keeps",
                                            name_of(comparison, above));
            is_new = true;
        }
    }
    return is_new;
}

static void spread_loss(struct comparison *comparison)
{
    bool is_new = true;
    while (is_new) {
        is_new = false;
        for (uint32_t i = 0; i < comparison->stage_count; i++) {
            struct stage *stage = &comparison->stages[i];
            if (stage->head != NULL && stage->head->is_changing) {
                is_new |= spread_over(comparison, stage->head, stage);
            }
        }
    }
}

static void compare_stage(struct comparison *comparison, struct stage *stage)
{
    const struct weir_manifest *manifest = comparison->manifest;
    if (stage->bytes == 0) {
        return; // nothing is in it
    }
    stage->lost = stage->head == NULL ? "is no longer there" : NULL;
    for (uint32_t i = 0; i < manifest->operator_count && stage->lost == NULL; i++) {
        const struct weir_manifest_operator *before = &manifest->operators[i];
        if (strcmp(before->stage, stage->id) == 0) {
            stage->lost = why_unreadable(comparison, before);
        }
    }
}

// --- the list -----------------------------------------------------------------------------------

static struct weir_state_item *add_item(struct comparison *comparison, enum weir_state_fate fate,
                                        const char *name)
{
    struct weir_state_item *item = &comparison->items[comparison->item_count++];
    *item = (struct weir_state_item){.fate = fate, .name = name};
    return item;
}

static void list_lost_stage(struct comparison *comparison, const struct stage *stage)
{
    const struct weir_manifest *manifest = comparison->manifest;
    bool is_named = false;
    for (uint32_t i = 0; i < manifest->operator_count; i++) {
        const struct weir_manifest_operator *before = &manifest->operators[i];
        if (strcmp(before->stage, stage->id) != 0) {
            continue;
        }
        const char *why = why_unreadable(comparison, before);
        struct weir_state_item *item = add_item(comparison, WEIR_STATE_LOST, before->name);
        item->reason = why != NULL ? why : stage->lost;
        item->rows = rows_of(comparison, stage->id, before->id);
        item->bytes = stage->bytes;
        is_named = true;
    }
    if (!is_named) {
        struct weir_state_item *item =
            add_item(comparison, WEIR_STATE_LOST,
                     weir_arena_printf(comparison->arena, "stage %s", stage->id));
        item->reason = stage->lost;
        item->rows = -1;
        item->bytes = stage->bytes;
    }
}

static void list_slots(struct comparison *comparison, const struct weir_manifest_operator *before,
                       const struct weir_state_operator *now, int64_t rows)
{
    const struct weir_manifest_operator *record = &now->record;
    for (uint32_t i = 0; i < before->slot_count; i++) {
        if (weir_state_slot_find(record, &before->slots[i]) < 0) {
            struct weir_state_item *item = add_item(comparison, WEIR_STATE_LOST, record->name);
            item->slot = before->slots[i].what;
            item->rows = rows;
            item->bytes =
                rows > 0 ? (uint64_t)rows * weir_aggregate_form_bytes(before->slots[i].form) : 0;
        }
    }
    for (uint32_t i = 0; i < record->slot_count; i++) {
        bool is_whole = now->is_input_changing && is_row_count(now, i);
        if (!is_whole && weir_state_slot_find(before, &record->slots[i]) < 0) {
            struct weir_state_item *item = add_item(comparison, WEIR_STATE_FROM_NOW, record->name);
            item->slot = record->slots[i].what;
            item->reason = strcmp(record->slots[i].form, "count") == 0 ? "0" : "NULL";
            item->rows = rows;
        }
    }
}

static void list_stage(struct comparison *comparison, const struct stage *stage)
{
    if (stage->lost != NULL) {
        list_lost_stage(comparison, stage);
        return;
    }
    for (uint32_t i = 0; i < comparison->now.count; i++) {
        const struct weir_state_operator *now = &comparison->now.items[i];
        const struct weir_manifest_operator *record = &now->record;
        if (strcmp(record->stage, stage->id) != 0) {
            continue;
        }
        const struct weir_manifest_operator *before = now->before;
        bool is_known =
            stage->is_found && (before != NULL || comparison->manifest->operator_count == 0);
        struct weir_state_item *item =
            add_item(comparison, is_known ? WEIR_STATE_KEPT : WEIR_STATE_BEGINS, record->name);
        item->rows = is_known ? rows_of(comparison, stage->id, record->id) : 0;
        item->bytes = is_known ? stage->bytes : 0;
        if (before != NULL && stage->bytes > 0 && before->has_slots && record->has_slots &&
            !is_unmoved(before, record)) {
            convert(comparison, before, now);
            list_slots(comparison, before, now, item->rows);
        }
    }
}

// --- results ------------------------------------------------------------------------------------

static void keep_states(struct comparison *comparison, struct weir_job_change *change)
{
    const struct weir_manifest *manifest = comparison->manifest;
    struct weir_state_handle *kept =
        weir_arena_alloc(comparison->arena, (manifest->state_count + 1) * sizeof *kept);
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        if (find_stage(comparison, manifest->states[i].stage)->lost == NULL) {
            kept[change->state_count++] = manifest->states[i];
        }
    }
    change->states = kept;
}

void weir_job_change_find(const struct weir_plan *plan, const struct weir_manifest *manifest,
                          struct weir_arena *arena, struct weir_job_change *change)
{
    static const struct weir_manifest nothing = {.number = -1};
    struct comparison comparison = {.plan = plan,
                                    .manifest = manifest != NULL ? manifest : &nothing,
                                    .now = weir_state_operators_of(plan, manifest, arena),
                                    .arena = arena};
    uint32_t slot_count = 1;
    uint32_t operator_count = comparison.now.count + comparison.manifest->operator_count +
                              comparison.manifest->state_count + 1;
    struct weir_manifest_operator *operators =
        weir_arena_alloc(arena, (comparison.now.count + 1) * sizeof *operators);
    for (uint32_t i = 0; i < comparison.now.count; i++) {
        operators[i] = comparison.now.items[i].record;
        slot_count += operators[i].slot_count;
    }
    for (uint32_t i = 0; i < comparison.manifest->operator_count; i++) {
        slot_count += comparison.manifest->operators[i].slot_count;
    }
    comparison.items =
        weir_arena_alloc(arena, (operator_count + slot_count) * sizeof *comparison.items);
    comparison.conversions =
        weir_arena_alloc(arena, (operator_count + 2 * slot_count) * sizeof *comparison.conversions);
    *change = (struct weir_job_change){.number = comparison.manifest->number,
                                       .operator_count = comparison.now.count,
                                       .operators = operators};
    list_stages(&comparison);
    for (uint32_t i = 0; i < comparison.stage_count; i++) {
        compare_stage(&comparison, &comparison.stages[i]);
    }
    spread_loss(&comparison);
    for (uint32_t i = 0; i < comparison.stage_count; i++) {
        list_stage(&comparison, &comparison.stages[i]);
    }
    keep_states(&comparison, change);
    for (uint32_t i = 0; i < comparison.item_count; i++) {
        change->is_lossy |= comparison.items[i].fate == WEIR_STATE_LOST;
    }
    change->item_count = comparison.item_count;
    change->items = comparison.items;
    change->conversion_count = comparison.conversion_count;
    change->conversions = comparison.conversions;
    bool is_recorded = comparison.manifest->operator_count > 0;
    change->restored_count =
        is_recorded ? comparison.manifest->operator_count : change->operator_count;
    change->restored = is_recorded ? comparison.manifest->operators : operators;
}

static void print_rows(const char *rows_word, int64_t rows, struct weir_buffer *out)
{
    if (rows < 0) {
        weir_buffer_printf(out, "%ss not counted", rows_word);
    } else {
        weir_buffer_printf(out, "%" PRId64 " %s%s", rows, rows_word, rows == 1 ? "" : "s");
    }
}

void weir_state_item_print(const struct weir_state_item *item, struct weir_buffer *out)
{
    weir_buffer_printf(out, "%s", item->name);
    switch (item->fate) {
    case WEIR_STATE_BEGINS:
        weir_buffer_printf(out, " begins empty");
        return;
    case WEIR_STATE_FROM_NOW:
        weir_buffer_printf(out, ": %s is new and starts from now: %s in rows that are there (",
                           item->slot, item->reason);
        print_rows("row", item->rows, out);
        weir_buffer_printf(out, ") until more come");
        return;
    case WEIR_STATE_KEPT:
        weir_buffer_printf(out, " keeps its state: ");
        break;
    case WEIR_STATE_LOST:
        if (item->slot != NULL) {
            weir_buffer_printf(out, " would no longer keep %s: ", item->slot);
        } else {
            weir_buffer_printf(out, " %s: ", item->reason);
        }
        break;
    }
    weir_buffer_printf(out, "%" PRIu64 " bytes of state, ", item->bytes);
    print_rows("row", item->rows, out);
}

enum weir_status weir_job_change_check(const struct weir_job_change *change, bool is_loss_allowed,
                                       struct weir_error *error)
{
    if (!change->is_lossy || is_loss_allowed) {
        return WEIR_OK;
    }
    struct weir_buffer text = {0};
    for (uint32_t i = 0; i < change->item_count; i++) {
        if (change->items[i].fate == WEIR_STATE_LOST) {
            weir_buffer_printf(&text, "\n  ");
            weir_state_item_print(&change->items[i], &text);
        }
    }
    weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                   "the job has changed, and would lose state of checkpoint %" PRId64
                   ":%s\nundo the change, give the job another WEIR_JOB_ID, or allow the loss on "
                   "purpose with WEIR_ALLOW=state_loss",
                   change->number, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return WEIR_ERROR;
}
