// SPDX-License-Identifier: Apache-2.0
// See aggregate.h; aggregate_internal.h says how the state is laid out. Rows change their groups
// one after the other: in place where all that a group keeps is of fixed size, else in a copy that
// is put back when every aggregate has taken the row. A row that one of them cannot take is taken
// by none.
#include "operators/aggregate_convert.h"
#include "operators/aggregate_internal.h"

#include "runtime/types/json_out.h"
#include "runtime/types/key.h"
#include "runtime/types/row_codec.h"

#include <stdio.h>
#include <stdlib.h>

static const struct weir_view CLOSED_KEY = {.data = "w", .size_bytes = 1};

// --- rows ---------------------------------------------------------------------------------------

static enum weir_status report(struct weir_aggregator *aggregator, const struct weir_batch *batch,
                               uint32_t row, struct weir_row_error *row_error,
                               struct weir_error *error)
{
    row_error->operator_name = aggregator->op.name;
    if (batch->records != NULL) {
        row_error->record = &batch->records[row];
        return weir_row_error_report(aggregator->op.row_errors, row_error, error);
    }
    struct weir_buffer json = {0};
    weir_json_append_row(&json, batch->schema, batch->columns, row);
    row_error->row_json = weir_buffer_view(&json);
    enum weir_status status = weir_row_error_report(aggregator->op.row_errors, row_error, error);
    weir_buffer_deinit(&json);
    return status;
}

static int32_t sign_of(const struct weir_batch *batch, uint32_t row)
{
    return batch->change != NULL && (batch->change[row] == WEIR_CHANGE_DELETE ||
                                     batch->change[row] == WEIR_CHANGE_UPDATE_BEFORE)
               ? -1
               : 1;
}

// Lets a row change its group, whose value is in the room. False: every aggregate is as before.
static bool change_in_place(struct weir_aggregator *aggregator, const struct weir_batch *batch,
                            uint32_t row, const struct weir_state_key *key,
                            const struct weir_state_room *room,
                            struct weir_value_error *value_error)
{
    struct weir_group_header header;
    char *value = room->value;
    char *slots = value + sizeof header;
    int32_t sign = sign_of(batch, row);
    memcpy(&header, value, sizeof header);
    header.event_time_us = room->existed ? header.event_time_us : INT64_MIN;
    if (!aggregator->is_windowed && weir_group_begin_epoch(aggregator, &header, room->existed)) {
        memcpy(slots + aggregator->slots_bytes, slots, aggregator->slots_bytes);
    }
    if (aggregator->can_fail) {
        memcpy(aggregator->backup, slots, aggregator->slots_bytes);
    }
    for (uint32_t p = 0; p < aggregator->part_count; p++) {
        const struct weir_part *part = &aggregator->parts[p];
        if (weir_part_takes(part, batch, row) &&
            !weir_accumulator_apply(&part->accumulator, slots + part->slot_offset, NULL,
                                    part->arg_column >= 0 ? &batch->columns[part->arg_column]
                                                          : NULL,
                                    row, sign, aggregator->arena, value_error)) {
            memcpy(slots, aggregator->backup, aggregator->slots_bytes);
            memcpy(value, &header, sizeof header);
            return false;
        }
    }
    weir_group_count_rows(&header, sign, batch->event_time_us[row]);
    if (header.row_count <= 0) {
        weir_group_note_unsettled(aggregator, key, &header);
    }
    memcpy(value, &header, sizeof header);
    return true;
}

static bool take_in_place(struct weir_aggregator *aggregator, const struct weir_batch *batch,
                          uint32_t i, struct weir_value_error *value_error)
{
    const struct weir_state_key *key = &aggregator->keys.of_rows[i];
    struct weir_state *groups = aggregator->groups;
    struct weir_state_room room;
    room.value = groups->ops->update(groups, key, aggregator->fixed_bytes, &room.existed);
    if (change_in_place(aggregator, batch, weir_batch_row(batch, i), key, &room, value_error)) {
        return true;
    }
    if (!room.existed) {
        groups->ops->remove(groups, key);
    }
    return false;
}

static bool take_in_copy(struct weir_aggregator *aggregator, const struct weir_batch *batch,
                         uint32_t i, struct weir_value_error *value_error)
{
    const struct weir_state_key *key = &aggregator->keys.of_rows[i];
    int32_t sign = sign_of(batch, weir_batch_row(batch, i));
    struct weir_group *group = &aggregator->group;
    struct weir_view value;
    bool is_known = aggregator->groups->ops->get(aggregator->groups, key, &value);
    weir_group_load(aggregator, is_known ? value : (struct weir_view){0});
    if (!is_known && aggregator->keys.has_spelling) {
        aggregator->spelling.size_bytes = 0;
        weir_row_encode(aggregator->keys.key.input, aggregator->keys.key.count,
                        weir_batch_row(batch, i), &aggregator->spelling);
        group->spelling = weir_buffer_view(&aggregator->spelling);
    }
    if (!aggregator->is_windowed && weir_group_begin_epoch(aggregator, &group->header, is_known)) {
        memcpy(group->sent_slots, group->slots, aggregator->slots_bytes);
        memcpy(group->sent_tails, group->tails, aggregator->part_count * sizeof *group->tails);
    }
    for (uint32_t p = 0; p < aggregator->part_count; p++) {
        struct weir_part *part = &aggregator->parts[p];
        uint32_t arg_row = weir_batch_row(batch, i);
        const struct weir_column *arg =
            part->arg_column >= 0 ? &batch->columns[part->arg_column] : NULL;
        bool is_taken = part->entries != NULL
                            ? weir_entry_take(aggregator, part, batch, i, sign, &arg, &arg_row)
                            : weir_part_takes(part, batch, arg_row);
        if (is_taken && !weir_accumulator_apply(
                            &part->accumulator, group->slots + part->slot_offset, &group->tails[p],
                            arg, arg_row, sign, aggregator->arena, value_error)) {
            return false;
        }
    }
    weir_group_count_rows(&group->header, sign, batch->event_time_us[weir_batch_row(batch, i)]);
    if (aggregator->has_entries) {
        weir_entries_write(aggregator, batch, i);
    }
    if (!aggregator->is_windowed &&
        (group->header.row_count <= 0 || weir_entries_are_stale(aggregator))) {
        weir_group_note_unsettled(aggregator, key, &group->header);
    }
    weir_group_store(aggregator, key);
    return true;
}

bool weir_group_is_late(struct weir_aggregator *aggregator, uint16_t key_group, int64_t end_us,
                        int64_t *late_by_ms)
{
    if (end_us <= aggregator->closed_us[key_group]) {
        *late_by_ms = (aggregator->closed_us[key_group] - end_us) / 1000;
        return true;
    }
    if (end_us < aggregator->next_end_us[key_group]) {
        aggregator->next_end_us[key_group] = end_us;
    }
    return false;
}

// Reports the row if it is late.
static enum weir_status sort_out_late(struct weir_aggregator *aggregator,
                                      const struct weir_batch *batch, uint32_t i, bool *was_late,
                                      struct weir_error *error)
{
    uint32_t row = weir_batch_row(batch, i);
    struct weir_row_error row_error = {.reason = WEIR_ROW_ERROR_LATE,
                                       .message = WEIR_GROUP_LATE_MESSAGE};
    *was_late = aggregator->is_windowed &&
                weir_group_is_late(aggregator, aggregator->keys.of_rows[i].key_group,
                                   batch->columns[aggregator->config.window_end_column].i64[row],
                                   &row_error.late_by_ms);
    return *was_late ? report(aggregator, batch, row, &row_error, error) : WEIR_OK;
}

static enum weir_status take_one_by_one(struct weir_aggregator *aggregator,
                                        const struct weir_batch *batch, struct weir_error *error)
{
    aggregator->groups->ops->prefetch(aggregator->groups, batch->selected_count,
                                      aggregator->keys.of_rows);
    if (aggregator->has_entries) {
        weir_entries_begin(aggregator, batch);
    }
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        struct weir_value_error value_error;
        struct weir_row_error row_error = {.reason = WEIR_ROW_ERROR_EXPRESSION,
                                           .message = value_error.text};
        bool is_done;
        if (sort_out_late(aggregator, batch, i, &is_done, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        is_done =
            is_done || (aggregator->is_in_place ? take_in_place(aggregator, batch, i, &value_error)
                                                : take_in_copy(aggregator, batch, i, &value_error));
        if (!is_done &&
            report(aggregator, batch, weir_batch_row(batch, i), &row_error, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

// Where no row can fail, all groups are found at once.
static enum weir_status take_together(struct weir_aggregator *aggregator,
                                      const struct weir_batch *batch, struct weir_error *error)
{
    uint16_t rows[WEIR_BATCH_ROWS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        bool was_late;
        if (sort_out_late(aggregator, batch, i, &was_late, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (!was_late) {
            aggregator->keys.of_rows[count] = aggregator->keys.of_rows[i];
            rows[count++] = (uint16_t)weir_batch_row(batch, i);
        }
    }
    aggregator->groups->ops->update_many(aggregator->groups, count, aggregator->keys.of_rows,
                                         aggregator->fixed_bytes, aggregator->rooms);
    for (uint32_t i = 0; i < count; i++) {
        bool is_taken = change_in_place(aggregator, batch, rows[i], &aggregator->keys.of_rows[i],
                                        &aggregator->rooms[i], NULL);
        WEIR_ASSERT(is_taken);
    }
    return WEIR_OK;
}

// What an earlier run has sent; before the first row and the first time of this one.
static void restore(struct weir_aggregator *aggregator)
{
    if (!aggregator->is_windowed || aggregator->is_restored) {
        return;
    }
    aggregator->is_restored = true;
    struct weir_key_group_range range = aggregator->config.key_groups;
    for (uint32_t i = 0; i < range.count; i++) {
        struct weir_state_key key = {.key_group = (uint16_t)(range.first + i), .bytes = CLOSED_KEY};
        struct weir_view value;
        if (aggregator->closed->ops->get(aggregator->closed, &key, &value)) {
            WEIR_ASSERT(value.size_bytes == sizeof(int64_t));
            memcpy(&aggregator->closed_us[key.key_group], value.data, sizeof(int64_t));
        }
    }
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct weir_aggregator *aggregator = (struct weir_aggregator *)op;
    restore(aggregator);
    weir_arena_reset(aggregator->arena);
    if (batch->partials != NULL) {
        return weir_aggregate_merge(aggregator, batch->partials, batch->row_count, error);
    }
    weir_group_keys_make(&aggregator->keys, batch);
    return aggregator->is_in_place && !aggregator->can_fail
               ? take_together(aggregator, batch, error)
               : take_one_by_one(aggregator, batch, error);
}

// --- time and barriers --------------------------------------------------------------------------

static enum weir_status time_passed(struct weir_operator *op, const struct weir_time *time,
                                    struct weir_error *error)
{
    struct weir_aggregator *aggregator = (struct weir_aggregator *)op;
    if (aggregator->is_windowed && time->watermark_us > aggregator->watermark_us) {
        restore(aggregator);
        aggregator->watermark_us = time->watermark_us;
        if (weir_aggregate_send_windows(aggregator, time->watermark_us, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (op->is_sending) { // what is being sent comes before it
        aggregator->held_time = *time;
        aggregator->is_time_held = true;
        return WEIR_OK;
    }
    return weir_operator_push_time(op, time, error);
}

static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    struct weir_aggregator *aggregator = (struct weir_aggregator *)op;
    if (!aggregator->is_time_held || op->is_sending) {
        return WEIR_OK;
    }
    aggregator->is_time_held = false;
    return weir_operator_push_time(op, &aggregator->held_time, error);
}

static void save_closed(struct weir_aggregator *aggregator)
{
    struct weir_key_group_range range = aggregator->config.key_groups;
    for (uint32_t i = 0; aggregator->is_closed_changed && i < range.count; i++) {
        struct weir_state_key key = {.key_group = (uint16_t)(range.first + i), .bytes = CLOSED_KEY};
        bool existed;
        void *value =
            aggregator->closed->ops->update(aggregator->closed, &key, sizeof(int64_t), &existed);
        memcpy(value, &aggregator->closed_us[key.key_group], sizeof(int64_t));
    }
    aggregator->is_closed_changed = false;
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)snapshot;
    struct weir_aggregator *aggregator = (struct weir_aggregator *)op;
    if (aggregator->is_windowed) {
        save_closed(aggregator);
        return WEIR_OK;
    }
    aggregator->epoch = (uint32_t)(at->number + 1) & WEIR_GROUP_EPOCH_MASK;
    return weir_aggregate_begin_changes(aggregator, error);
}

// --- life ---------------------------------------------------------------------------------------

static void destroy(struct weir_operator *op)
{
    struct weir_aggregator *aggregator = (struct weir_aggregator *)op;
    weir_group_keys_deinit(&aggregator->keys);
    weir_buffer_deinit(&aggregator->value);
    weir_buffer_deinit(&aggregator->scratch);
    weir_buffer_deinit(&aggregator->spelling);
    weir_buffer_deinit(&aggregator->bound);
    weir_buffer_deinit(&aggregator->unsettled);
    weir_state_scan_deinit(&aggregator->found);
    weir_state_scan_deinit(&aggregator->found_entries);
    weir_arena_destroy(aggregator->output.arena);
    weir_arena_destroy(aggregator->arena);
    weir_arena_destroy(aggregator->parts_arena);
    free(aggregator);
}

static void init_part(struct weir_aggregator *aggregator, uint32_t idx)
{
    const struct weir_aggregate_config *config = &aggregator->config;
    struct weir_arena *arena = aggregator->parts_arena;
    struct weir_part *part = &aggregator->parts[idx];
    weir_part_init(part, config, idx);
    part->slot_offset = aggregator->slots_bytes;
    aggregator->slots_bytes += part->accumulator.slot_bytes;
    aggregator->has_tails = aggregator->has_tails || part->accumulator.has_tail;
    aggregator->can_fail = aggregator->can_fail || part->accumulator.can_fail;
    if (weir_part_needs_entries(part)) {
        aggregator->has_entries = true;
        uint32_t number = config->slot_numbers != NULL ? config->slot_numbers[idx] : idx;
        const char *name = weir_aggregate_entries_name(arena, part->is_distinct, number);
        part->entries = config->store->ops->open_state(config->store, aggregator->op.id, name);
        part->keys = weir_arena_alloc(arena, WEIR_BATCH_ROWS_MAX * sizeof *part->keys);
        weir_column_init(&part->single, &part->accumulator.arg_type, 1, true, arena);
    }
}

static void init_windows(struct weir_aggregator *aggregator)
{
    const struct weir_aggregate_config *config = &aggregator->config;
    size_t size_bytes = WEIR_KEY_GROUP_COUNT * sizeof(int64_t);
    aggregator->closed = config->store->ops->open_state(config->store, aggregator->op.id, "closed");
    aggregator->closed_us = weir_arena_alloc(aggregator->parts_arena, size_bytes);
    aggregator->next_end_us = weir_arena_alloc(aggregator->parts_arena, size_bytes);
    for (uint32_t i = 0; i < WEIR_KEY_GROUP_COUNT; i++) {
        aggregator->closed_us[i] = INT64_MIN;
        aggregator->next_end_us[i] = INT64_MIN;
    }
}

struct weir_operator *weir_aggregate_create(const char *id, const char *name,
                                            const struct weir_aggregate_config *config)
{
    static const struct weir_operator_ops OPS = {.kind = "aggregate",
                                                 .process = process,
                                                 .time_passed = time_passed,
                                                 .barrier = barrier,
                                                 .send = weir_aggregate_send_changes,
                                                 .resume = resume,
                                                 .destroy = destroy};
    WEIR_ASSERT(config->output->column_count == config->key_count + config->aggregate_count);
    WEIR_ASSERT(config->key_groups.count > 0);
    struct weir_aggregator *aggregator = weir_alloc_zero(sizeof *aggregator);
    aggregator->op.ops = &OPS;
    aggregator->op.id = id;
    aggregator->op.name = name;
    aggregator->config = *config;
    aggregator->is_windowed = config->window_end_column >= 0;
    aggregator->watermark_us = INT64_MIN;
    aggregator->last_end_us = INT64_MIN;
    aggregator->epoch = (uint32_t)config->first_epoch & WEIR_GROUP_EPOCH_MASK;
    aggregator->arena = weir_arena_create(16 << 10);
    aggregator->output.arena = weir_arena_create(64 << 10);
    struct weir_arena *arena = aggregator->parts_arena = weir_arena_create(4 << 10);
    aggregator->groups = config->store->ops->open_state(config->store, id, "groups");
    weir_group_keys_init(&aggregator->keys, config, arena);
    aggregator->rooms = weir_arena_alloc(arena, WEIR_BATCH_ROWS_MAX * sizeof *aggregator->rooms);
    aggregator->part_count = config->aggregate_count;
    aggregator->parts =
        weir_arena_alloc_zero(arena, (aggregator->part_count + 1) * sizeof *aggregator->parts);
    for (uint32_t i = 0; i < aggregator->part_count; i++) {
        init_part(aggregator, i);
    }
    aggregator->is_in_place =
        !aggregator->has_tails && !aggregator->has_entries && !aggregator->keys.has_spelling;
    aggregator->fixed_bytes = (uint32_t)sizeof(struct weir_group_header) +
                              aggregator->slots_bytes * (aggregator->is_windowed ? 1 : 2);
    aggregator->backup = weir_arena_alloc(arena, aggregator->slots_bytes + 1);
    size_t tails_bytes = (aggregator->part_count + 1) * sizeof(struct weir_view);
    aggregator->group.tails = weir_arena_alloc_zero(arena, tails_bytes);
    aggregator->group.sent_tails = weir_arena_alloc_zero(arena, tails_bytes);
    if (aggregator->is_windowed) {
        init_windows(aggregator);
    }
    return &aggregator->op;
}
