// SPDX-License-Identifier: Apache-2.0
// Results of groups as batches: what has changed since the last barrier, or the windows that time
// has closed. A batch goes on as soon as it is full; nothing of the state is held while it does, as
// the nodes behind may have states of the same store.
#include "operators/aggregate_internal.h"

#include "runtime/types/compare.h"
#include "runtime/types/key.h"
#include "runtime/types/row_codec.h"

enum {
    GROUPS_AT_ONCE = 512,           // of a scan
    CHANGES_AT_ONCE = 256,          // whose groups come into the processor's cache together
    CHANGES_PER_CALL = 2048,        // then input has its turn: a millisecond of work
    ARENA_BYTES_MAX = 64 << 10,     // used before it is emptied between groups
    UNSETTLED_BYTES_KEPT = 1 << 20, // of their list, from barrier to barrier
    MILLISECOND_US = 1000,
};

// --- batches ------------------------------------------------------------------------------------

static void begin(struct weir_aggregator *aggregator)
{
    struct weir_output *output = &aggregator->output;
    const struct weir_aggregate_config *config = &aggregator->config;
    weir_arena_reset(output->arena);
    output->row_count = 0;
    output->columns =
        weir_arena_alloc(output->arena, config->output->column_count * sizeof *output->columns);
    for (uint32_t c = 0; c < config->output->column_count; c++) {
        weir_column_init(&output->columns[c], &config->output->columns[c].type, WEIR_BATCH_ROWS_MAX,
                         true, output->arena);
    }
    output->keys =
        weir_arena_alloc(output->arena, (aggregator->keys.key.count + 1) * sizeof *output->keys);
    for (uint32_t i = 0; i < aggregator->keys.key.count; i++) {
        int32_t idx = aggregator->keys.outputs[i];
        if (idx >= 0) {
            output->keys[i] = output->columns[idx];
        } else {
            uint32_t column = aggregator->keys.key.columns[i];
            weir_column_init(&output->keys[i], &config->input->columns[column].type,
                             WEIR_BATCH_ROWS_MAX, true, output->arena);
        }
    }
    output->change = weir_arena_alloc(output->arena, WEIR_BATCH_ROWS_MAX);
    output->event_time_us =
        weir_arena_alloc(output->arena, WEIR_BATCH_ROWS_MAX * sizeof *output->event_time_us);
}

static enum weir_status flush(struct weir_aggregator *aggregator, struct weir_error *error)
{
    struct weir_output *output = &aggregator->output;
    if (output->columns == NULL || output->row_count == 0) {
        return WEIR_OK;
    }
    struct weir_batch batch = {
        .schema = aggregator->config.output,
        .row_count = output->row_count,
        .selected_count = output->row_count,
        .columns = output->columns,
        .event_time_us = output->event_time_us,
        .change = aggregator->is_windowed ? NULL : output->change,
        .arena = output->arena,
    };
    output->columns = NULL;
    return weir_operator_push(&aggregator->op, &batch, error);
}

static enum weir_status reserve(struct weir_aggregator *aggregator, uint32_t row_count,
                                struct weir_error *error)
{
    struct weir_output *output = &aggregator->output;
    if (output->columns != NULL && output->row_count + row_count > WEIR_BATCH_ROWS_MAX &&
        flush(aggregator, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (output->columns == NULL) {
        begin(aggregator);
    }
    if (weir_arena_used_bytes(aggregator->arena) > ARENA_BYTES_MAX) {
        weir_arena_reset(aggregator->arena);
    }
    return WEIR_OK;
}

// A key does not know the scale of numeric(p,s): 2.00 comes back as 2.
static void restore_scale(struct weir_column *column, uint32_t row, struct weir_arena *arena)
{
    if (!weir_column_is_valid(column, row)) {
        return;
    }
    if (column->type.kind == WEIR_TYPE_NUMERIC && column->type.modifier >= 0) {
        weir_numeric_apply_modifier(column->numeric[row], column->type.modifier, arena,
                                    &column->numeric[row], NULL);
    } else if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            restore_scale(&column->children[i], row, arena);
        }
    }
}

static void append_key(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                       uint32_t row)
{
    struct weir_output *output = &aggregator->output;
    uint32_t count = aggregator->keys.key.count;
    struct weir_view spelling = aggregator->group.spelling;
    bool is_good;
    if (spelling.size_bytes != 0) {
        is_good = weir_row_decode(weir_arena_copy(output->arena, spelling), output->keys, count,
                                  row, output->arena);
    } else {
        is_good = weir_key_decode(key->bytes, output->keys, count, row, output->arena);
        for (uint32_t i = 0; is_good && i < count; i++) {
            restore_scale(&output->keys[i], row, output->arena);
        }
    }
    WEIR_ASSERT(is_good);
}

// The aggregates of a row whose keys and other things are there already, or do not matter.
static void append_results(struct weir_aggregator *aggregator, const char *slots,
                           const struct weir_view *tails)
{
    struct weir_output *output = &aggregator->output;
    uint32_t row = output->row_count++;
    for (uint32_t p = 0; p < aggregator->part_count; p++) {
        const struct weir_part *part = &aggregator->parts[p];
        struct weir_column *column = &output->columns[aggregator->config.key_count + p];
        weir_accumulator_result(&part->accumulator, slots + part->slot_offset, tails[p], column,
                                row, output->arena);
        if (weir_type_layout(column->type.kind) == WEIR_LAYOUT_VIEW &&
            weir_column_is_valid(column, row)) {
            column->view[row] = weir_arena_copy(output->arena, column->view[row]);
        }
    }
}

// Adds a row of the group that is loaded; there is room.
static void append(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                   const char *slots, const struct weir_view *tails, int64_t event_time_us,
                   enum weir_change change)
{
    struct weir_output *output = &aggregator->output;
    uint32_t row = output->row_count;
    append_key(aggregator, key, row);
    append_results(aggregator, slots, tails);
    output->change[row] = (uint8_t)change;
    output->event_time_us[row] = event_time_us;
}

// --- changes ------------------------------------------------------------------------------------

static bool is_same_value(const struct weir_column *column, uint32_t a, uint32_t b)
{
    return weir_compare_values(column, a, column, b) == 0 &&
           (column->type.kind != WEIR_TYPE_NUMERIC || !weir_column_is_valid(column, a) ||
            column->numeric[a].scale == column->numeric[b].scale);
}

// The newest two rows, of one key.
static bool are_newest_same(const struct weir_aggregator *aggregator)
{
    const struct weir_output *output = &aggregator->output;
    for (uint32_t p = 0; p < aggregator->part_count; p++) {
        if (!is_same_value(&output->columns[aggregator->config.key_count + p],
                           output->row_count - 2, output->row_count - 1)) {
            return false;
        }
    }
    return true;
}

static bool is_as_sent(const struct weir_aggregator *aggregator)
{
    const struct weir_group *group = &aggregator->group;
    if (memcmp(group->slots, group->sent_slots, aggregator->slots_bytes) != 0) {
        return false;
    }
    for (uint32_t p = 0; aggregator->has_tails && p < aggregator->part_count; p++) {
        if (!weir_view_equal(group->tails[p], group->sent_tails[p])) {
            return false;
        }
    }
    return true;
}

// Appends what is to be sent of the group.
static void append_difference(struct weir_aggregator *aggregator, const struct weir_state_key *key)
{
    const struct weir_group *group = &aggregator->group;
    int64_t time_us = group->header.event_time_us;
    if (group->header.is_sent == 0) {
        append(aggregator, key, group->slots, group->tails, time_us, WEIR_CHANGE_INSERT);
        return;
    }
    if (is_as_sent(aggregator)) {
        return;
    }
    if (aggregator->config.is_newest_enough) {
        append(aggregator, key, group->slots, group->tails, time_us, WEIR_CHANGE_UPDATE_AFTER);
        append_results(aggregator, group->sent_slots, group->sent_tails); // only to compare
        aggregator->output.row_count -= are_newest_same(aggregator) ? 2 : 1;
        return;
    }
    append(aggregator, key, group->sent_slots, group->sent_tails, time_us,
           WEIR_CHANGE_UPDATE_BEFORE);
    append(aggregator, key, group->slots, group->tails, time_us, WEIR_CHANGE_UPDATE_AFTER);
    if (are_newest_same(aggregator)) {
        aggregator->output.row_count -= 2;
    }
}

// Appends what is to be sent of a group that has changed.
static enum weir_status send_change(struct weir_aggregator *aggregator,
                                    const struct weir_state_change *change,
                                    struct weir_error *error)
{
    if (change->value.data == NULL) {
        return WEIR_OK; // settled
    }
    if (reserve(aggregator, 2, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_group_view(aggregator, change->value);
    append_difference(aggregator, &change->key);
    return WEIR_OK;
}

enum weir_status weir_aggregate_send_changes(struct weir_operator *op, struct weir_error *error)
{
    struct weir_aggregator *aggregator = (struct weir_aggregator *)op;
    struct weir_state *groups = aggregator->groups;
    struct weir_state_change changes[CHANGES_AT_ONCE];
    for (uint32_t sent_count = 0; op->is_sending && sent_count < CHANGES_PER_CALL;) {
        uint32_t count = groups->ops->read_changes(groups, CHANGES_AT_ONCE, changes);
        for (uint32_t i = 0; i < count; i++) {
            if (send_change(aggregator, &changes[i], error) != WEIR_OK) {
                return WEIR_ERROR;
            }
        }
        op->is_sending = count != 0;
        sent_count += count;
    }
    return flush(aggregator, error);
}

// An empty group is sent as a deletion and forgotten; an extreme that was taken back is looked up.
static enum weir_status settle(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                               struct weir_error *error)
{
    struct weir_state *groups = aggregator->groups;
    struct weir_view value;
    if (reserve(aggregator, 1, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (!groups->ops->get(groups, key, &value)) {
        return WEIR_OK;
    }
    weir_group_load(aggregator, value);
    const struct weir_group *group = &aggregator->group;
    if (group->header.row_count <= 0 && aggregator->config.key_count > 0) {
        if (group->header.is_sent) {
            append(aggregator, key, group->sent_slots, group->sent_tails,
                   group->header.event_time_us, WEIR_CHANGE_DELETE);
        }
        weir_entries_remove(aggregator, key);
        groups->ops->remove(groups, key);
    } else if (weir_entries_refresh(aggregator, key)) {
        weir_group_store(aggregator, key);
    }
    return WEIR_OK;
}

static struct weir_state_key next_unsettled(const struct weir_buffer *unsettled, size_t *offset)
{
    struct weir_state_key key;
    uint32_t size;
    memcpy(&key.key_group, unsettled->data + *offset, sizeof key.key_group);
    *offset += sizeof key.key_group;
    memcpy(&size, unsettled->data + *offset, sizeof size);
    *offset += sizeof size;
    key.bytes = (struct weir_view){.data = unsettled->data + *offset, .size_bytes = size};
    *offset += size;
    return key;
}

enum weir_status weir_aggregate_begin_changes(struct weir_aggregator *aggregator,
                                              struct weir_error *error)
{
    struct weir_buffer *unsettled = &aggregator->unsettled;
    struct weir_state_key keys[CHANGES_AT_ONCE];
    for (size_t offset = 0; offset < unsettled->size_bytes;) {
        uint32_t count = 0;
        while (count < CHANGES_AT_ONCE && offset < unsettled->size_bytes) {
            keys[count++] = next_unsettled(unsettled, &offset);
        }
        // They lie all over the memory: fetched one by one, this would be most of a task's pause.
        aggregator->groups->ops->prefetch(aggregator->groups, count, keys);
        for (uint32_t i = 0; i < count; i++) {
            if (settle(aggregator, &keys[i], error) != WEIR_OK) {
                return WEIR_ERROR;
            }
        }
    }
    unsettled->size_bytes = 0;
    if (unsettled->capacity_bytes > UNSETTLED_BYTES_KEPT) {
        weir_buffer_deinit(unsettled);
        *unsettled = (struct weir_buffer){0};
    }
    aggregator->groups->ops->begin_changes(aggregator->groups);
    aggregator->op.is_sending = true;
    return flush(aggregator, error);
}

// --- windows ------------------------------------------------------------------------------------

// The first key of windows that end later; data NULL: there can be none.
static struct weir_view bound_of(struct weir_aggregator *aggregator, int64_t watermark_us)
{
    if (watermark_us == INT64_MAX) {
        return (struct weir_view){0};
    }
    int64_t end_us = watermark_us + 1;
    struct weir_column column = {.type = weir_type_plain(WEIR_TYPE_TIMESTAMPTZ), .data = &end_us};
    aggregator->bound.size_bytes = 0;
    weir_key_encode(&column, 1, 0, &aggregator->bound);
    return (struct weir_view){.data = aggregator->bound.data,
                              .size_bytes = aggregator->bound.size_bytes};
}

int64_t weir_group_window_end_us(const struct weir_aggregator *aggregator,
                                 const struct weir_state_key *key)
{
    int64_t end_us = 0;
    uint64_t validity = 0;
    struct weir_column column = {
        .type = weir_type_plain(WEIR_TYPE_TIMESTAMPTZ), .validity = &validity, .data = &end_us};
    struct weir_view first = {.data = key->bytes.data, .size_bytes = 1 + sizeof end_us};
    bool is_good = key->bytes.size_bytes >= first.size_bytes &&
                   weir_key_decode(first, &column, 1, 0, aggregator->arena);
    WEIR_ASSERT(is_good);
    return end_us;
}

static enum weir_status send_found(struct weir_aggregator *aggregator, struct weir_error *error)
{
    uint32_t count = weir_state_scan_count(&aggregator->found);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_state_key key = weir_state_scan_key(&aggregator->found, i);
        if (reserve(aggregator, 1, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        int64_t end_us = weir_group_window_end_us(aggregator, &key);
        aggregator->last_end_us =
            end_us > aggregator->last_end_us ? end_us : aggregator->last_end_us;
        weir_group_load(aggregator, weir_state_scan_value(&aggregator->found, i));
        if (aggregator->group.header.row_count > 0) {
            weir_entries_refresh(aggregator, &key);
            append(aggregator, &key, aggregator->group.slots, aggregator->group.tails,
                   end_us - MILLISECOND_US, WEIR_CHANGE_INSERT);
        }
        weir_entries_remove(aggregator, &key);
        aggregator->groups->ops->remove(aggregator->groups, &key);
    }
    return WEIR_OK;
}

static enum weir_status send_key_group(struct weir_aggregator *aggregator, uint16_t key_group,
                                       int64_t watermark_us, struct weir_error *error)
{
    const struct weir_view first = {.data = "", .size_bytes = 0};
    struct weir_view bound = bound_of(aggregator, watermark_us);
    do {
        weir_state_scan_run(&aggregator->found, aggregator->groups, key_group, first, bound,
                            GROUPS_AT_ONCE);
        if (send_found(aggregator, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    } while (weir_state_scan_count(&aggregator->found) == GROUPS_AT_ONCE);
    aggregator->next_end_us[key_group] = INT64_MAX;
    if (bound.data != NULL) {
        weir_state_scan_run(&aggregator->found, aggregator->groups, key_group, bound,
                            (struct weir_view){0}, 1);
        if (weir_state_scan_count(&aggregator->found) != 0) {
            struct weir_state_key key = weir_state_scan_key(&aggregator->found, 0);
            aggregator->next_end_us[key_group] = weir_group_window_end_us(aggregator, &key);
        }
    }
    return WEIR_OK;
}

enum weir_status weir_aggregate_send_windows(struct weir_aggregator *aggregator,
                                             int64_t watermark_us, struct weir_error *error)
{
    struct weir_key_group_range range = aggregator->config.key_groups;
    for (uint32_t i = 0; i < range.count; i++) {
        uint16_t key_group = (uint16_t)(range.first + i);
        if (aggregator->next_end_us[key_group] <= watermark_us &&
            send_key_group(aggregator, key_group, watermark_us, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    // At the end of all input time stands at the last window that it has closed, for a later run.
    int64_t closed_us = watermark_us == INT64_MAX ? aggregator->last_end_us : watermark_us;
    for (uint32_t i = 0; i < range.count; i++) {
        int64_t *known_us = &aggregator->closed_us[range.first + i];
        if (closed_us > *known_us) {
            *known_us = closed_us;
            aggregator->is_closed_changed = true;
        }
    }
    return flush(aggregator, error);
}
