// SPDX-License-Identifier: Apache-2.0
// Partials, as preaggregate.c has made them, merged into their groups. All rows of a partial are of
// one window, so that it is late as a whole: then each of its rows is counted. Rows that are to be
// written aside one by one are never folded (sql/finish.c).
#include "operators/aggregate_internal.h"
#include "operators/preaggregate.h"

#include "runtime/types/json_out.h"
#include "runtime/types/key.h"

static const char *value_at(const struct weir_partials *partials, uint32_t idx)
{
    return partials->values + (size_t)idx * partials->value_bytes;
}

// The key columns, all that is known of the rows.
static void append_json(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                        struct weir_buffer *json)
{
    const struct weir_row_key *keys = &aggregator->keys.key;
    struct weir_arena *arena = aggregator->arena;
    struct weir_column *columns = weir_arena_alloc(arena, (keys->count + 1) * sizeof *columns);
    struct weir_field *fields = weir_arena_alloc(arena, (keys->count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < keys->count; i++) {
        fields[i] = aggregator->config.input->columns[keys->columns[i]];
        weir_column_init(&columns[i], &fields[i].type, 1, true, arena);
    }
    bool is_good = weir_key_decode(key->bytes, columns, keys->count, 0, arena);
    WEIR_ASSERT(is_good);
    struct weir_schema schema = {.column_count = keys->count, .columns = fields};
    weir_json_append_row(json, &schema, columns, 0);
}

// Reports as many rows as the partial is made of.
static enum weir_status report(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                               const char *value, struct weir_row_error *row_error,
                               struct weir_error *error)
{
    struct weir_partial_header header;
    struct weir_buffer json = {0};
    memcpy(&header, value, sizeof header);
    append_json(aggregator, key, &json);
    row_error->operator_name = aggregator->op.name;
    row_error->row_json = weir_buffer_view(&json);
    enum weir_status status = WEIR_OK;
    for (int64_t i = 0; i < header.row_count && status == WEIR_OK; i++) {
        status = weir_row_error_report(aggregator->op.row_errors, row_error, error);
    }
    weir_buffer_deinit(&json);
    return status;
}

// Notes those that are not late as keys of the batch, their places in `places`.
static enum weir_status sort_out_late(struct weir_aggregator *aggregator,
                                      const struct weir_partials *partials, uint32_t count,
                                      uint16_t *places, uint32_t *kept_count,
                                      struct weir_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_state_key *key = &partials->keys[i];
        struct weir_row_error row_error = {.reason = WEIR_ROW_ERROR_LATE,
                                           .message = WEIR_GROUP_LATE_MESSAGE};
        WEIR_DASSERT((uint32_t)key->key_group - aggregator->config.key_groups.first <
                     aggregator->config.key_groups.count);
        if (aggregator->is_windowed &&
            weir_group_is_late(aggregator, key->key_group,
                               weir_group_window_end_us(aggregator, key), &row_error.late_by_ms)) {
            if (report(aggregator, key, value_at(partials, i), &row_error, error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            continue;
        }
        aggregator->keys.of_rows[*kept_count] = *key;
        places[(*kept_count)++] = (uint16_t)i;
    }
    return WEIR_OK;
}

// False: a sum is too large, and every aggregate is as before. A new group takes everything.
static bool merge(struct weir_aggregator *aggregator, const struct weir_state_room *room,
                  const char *partial, struct weir_value_error *value_error)
{
    struct weir_group_header header;
    struct weir_partial_header more;
    char *slots = (char *)room->value + sizeof header;
    const char *other = partial + sizeof more;
    memcpy(&header, room->value, sizeof header);
    memcpy(&more, partial, sizeof more);
    header.event_time_us = room->existed ? header.event_time_us : INT64_MIN;
    if (!aggregator->is_windowed && weir_group_begin_epoch(aggregator, &header, room->existed)) {
        memcpy(slots + aggregator->slots_bytes, slots, aggregator->slots_bytes);
    }
    if (!room->existed) {
        memcpy(slots, other, aggregator->slots_bytes);
    } else {
        memcpy(aggregator->backup, slots, aggregator->can_fail ? aggregator->slots_bytes : 0);
        for (uint32_t p = 0; p < aggregator->part_count; p++) {
            const struct weir_part *part = &aggregator->parts[p];
            if (!weir_accumulator_merge(&part->accumulator, slots + part->slot_offset,
                                        other + part->slot_offset, value_error)) {
                memcpy(slots, aggregator->backup, aggregator->slots_bytes);
                memcpy(room->value, &header, sizeof header);
                return false;
            }
        }
    }
    weir_group_count_rows(&header, more.row_count, more.event_time_us);
    WEIR_DASSERT(header.row_count > 0);
    memcpy(room->value, &header, sizeof header);
    return true;
}

enum weir_status weir_aggregate_merge(struct weir_aggregator *aggregator,
                                      const struct weir_partials *partials, uint32_t count,
                                      struct weir_error *error)
{
    uint16_t places[WEIR_BATCH_ROWS_MAX];
    bool is_failed[WEIR_BATCH_ROWS_MAX];
    struct weir_value_error value_error;
    uint32_t kept_count = 0;
    WEIR_ASSERT(aggregator->is_in_place && count <= WEIR_BATCH_ROWS_MAX);
    if (sort_out_late(aggregator, partials, count, places, &kept_count, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    aggregator->groups->ops->update_many(aggregator->groups, kept_count, aggregator->keys.of_rows,
                                         aggregator->fixed_bytes, aggregator->rooms);
    for (uint32_t i = 0; i < kept_count; i++) {
        is_failed[i] =
            !merge(aggregator, &aggregator->rooms[i], value_at(partials, places[i]), &value_error);
    }
    for (uint32_t i = 0; i < kept_count; i++) {
        struct weir_row_error row_error = {.reason = WEIR_ROW_ERROR_EXPRESSION,
                                           .message = value_error.text};
        if (is_failed[i] && report(aggregator, &aggregator->keys.of_rows[i],
                                   value_at(partials, places[i]), &row_error, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}
