// SPDX-License-Identifier: Apache-2.0
// Single values of groups: how often each is there, for DISTINCT and for min and max when values
// are taken back (aggregate_internal.h).
#include "operators/aggregate_internal.h"

#include "runtime/types/key.h"
#include "runtime/types/row_codec.h"

static bool is_spelling_kept(const struct weir_part *part)
{
    return part->accumulator.arg_type.kind == WEIR_TYPE_NUMERIC;
}

// min and max of DISTINCT values are those of all.
static bool is_extreme(const struct weir_part *part)
{
    return part->accumulator.kind == WEIR_ACCUMULATOR_EXTREME;
}

static void invert(char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++) {
        bytes[i] = (char)~bytes[i];
    }
}

// Keys of one part; bytes.data NULL where the row counts for nothing.
static void make_keys(struct weir_aggregator *aggregator, struct weir_part *part,
                      const struct weir_batch *batch)
{
    size_t offsets[WEIR_BATCH_ROWS_MAX + 1];
    struct weir_buffer *bytes = &aggregator->scratch;
    const struct weir_column *arg = &batch->columns[part->arg_column];
    bytes->size_bytes = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        offsets[i] = bytes->size_bytes;
        if (weir_part_takes(part, batch, row)) {
            struct weir_view group = aggregator->keys.of_rows[i].bytes;
            weir_buffer_append(bytes, group.data, group.size_bytes);
            size_t value_at = bytes->size_bytes;
            weir_key_encode(arg, 1, row, bytes);
            if (is_extreme(part) && part->accumulator.is_max) {
                invert(bytes->data + value_at, bytes->size_bytes - value_at);
            }
        }
    }
    offsets[batch->selected_count] = bytes->size_bytes;
    char *kept = weir_arena_alloc(aggregator->arena, bytes->size_bytes + 1);
    if (bytes->size_bytes != 0) {
        memcpy(kept, bytes->data, bytes->size_bytes);
    }
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        size_t size_bytes = offsets[i + 1] - offsets[i];
        part->keys[i] =
            (struct weir_state_key){.key_group = aggregator->keys.of_rows[i].key_group,
                                    .bytes = {.data = size_bytes != 0 ? kept + offsets[i] : NULL,
                                              .size_bytes = size_bytes}};
    }
}

void weir_entries_begin(struct weir_aggregator *aggregator, const struct weir_batch *batch)
{
    for (uint32_t p = 0; p < aggregator->part_count; p++) {
        struct weir_part *part = &aggregator->parts[p];
        if (part->entries == NULL) {
            continue;
        }
        make_keys(aggregator, part, batch);
        struct weir_state_key wanted[WEIR_BATCH_ROWS_MAX];
        uint32_t wanted_count = 0;
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            if (part->keys[i].bytes.data != NULL) {
                wanted[wanted_count++] = part->keys[i];
            }
        }
        part->entries->ops->prefetch(part->entries, wanted_count, wanted);
    }
}

bool weir_entry_take(struct weir_aggregator *aggregator, struct weir_part *part,
                     const struct weir_batch *batch, uint32_t i, int32_t sign,
                     const struct weir_column **arg, uint32_t *arg_row)
{
    const struct weir_state_key *key = &part->keys[i];
    part->is_pending = false;
    if (key->bytes.data == NULL) {
        return false;
    }
    struct weir_view value;
    struct weir_group_entry entry = {0};
    if (part->entries->ops->get(part->entries, key, &value)) {
        memcpy(&entry, value.data, sizeof entry);
    } else {
        value = (struct weir_view){0};
        if (sign < 0) {
            return false; // it was never counted
        }
    }
    part->pending_count = entry.count + sign;
    // Without take-backs it is enough to know that the value was there.
    part->is_pending = part->accumulator.is_changing || entry.count == 0;
    *arg = &batch->columns[part->arg_column];
    *arg_row = weir_batch_row(batch, i);
    if (sign > 0) {
        return is_extreme(part) || entry.count == 0;
    }
    if (part->pending_count > 0) {
        return false;
    }
    if (is_spelling_kept(part)) {
        // What is taken back is what was put in: 2.00 for 2.
        struct weir_view spelling = {.data = value.data + sizeof entry,
                                     .size_bytes = value.size_bytes - sizeof entry};
        bool is_good = weir_row_decode(spelling, &part->single, 1, 0, aggregator->arena);
        WEIR_ASSERT(is_good);
        *arg = &part->single;
        *arg_row = 0;
    }
    return true;
}

static void write_entry(struct weir_aggregator *aggregator, struct weir_part *part,
                        const struct weir_batch *batch, uint32_t i)
{
    const struct weir_state_key *key = &part->keys[i];
    struct weir_group_entry entry = {.count = part->pending_count};
    if (entry.count == 0) {
        part->entries->ops->remove(part->entries, key);
        return;
    }
    struct weir_buffer *bytes = &aggregator->scratch;
    bytes->size_bytes = 0;
    // The first spelling stays, as DISTINCT has counted that one.
    struct weir_view known;
    if (is_spelling_kept(part)) {
        if (part->entries->ops->get(part->entries, key, &known)) {
            weir_buffer_append(bytes, known.data + sizeof entry, known.size_bytes - sizeof entry);
        } else {
            weir_row_encode(&batch->columns[part->arg_column], 1, weir_batch_row(batch, i), bytes);
        }
    }
    bool existed;
    char *to = part->entries->ops->update(part->entries, key,
                                          (uint32_t)(sizeof entry + bytes->size_bytes), &existed);
    memcpy(to, &entry, sizeof entry);
    if (bytes->size_bytes != 0) {
        memcpy(to + sizeof entry, bytes->data, bytes->size_bytes);
    }
}

void weir_entries_write(struct weir_aggregator *aggregator, const struct weir_batch *batch,
                        uint32_t i)
{
    for (uint32_t p = 0; p < aggregator->part_count; p++) {
        struct weir_part *part = &aggregator->parts[p];
        if (part->entries != NULL && part->is_pending) {
            write_entry(aggregator, part, batch, i);
        }
    }
}

// --- scans --------------------------------------------------------------------------------------

// Finds the first count_max (0: all) values of a group.
static void find(struct weir_aggregator *aggregator, struct weir_part *part,
                 const struct weir_state_key *key, uint32_t count_max)
{
    // No key begins with another group's, and no value with ff.
    struct weir_buffer *bytes = &aggregator->scratch;
    bytes->size_bytes = 0;
    weir_buffer_append(bytes, key->bytes.data, key->bytes.size_bytes);
    weir_buffer_append_char(bytes, (char)0xff);
    weir_state_scan_run(&aggregator->found_entries, part->entries, key->key_group, key->bytes,
                        (struct weir_view){.data = bytes->data, .size_bytes = bytes->size_bytes},
                        count_max);
}

static void refresh(struct weir_aggregator *aggregator, struct weir_part *part,
                    struct weir_view *tail, const struct weir_state_key *key)
{
    char *slot = aggregator->group.slots + part->slot_offset;
    find(aggregator, part, key, 1);
    if (weir_state_scan_count(&aggregator->found_entries) == 0) {
        weir_accumulator_set_extreme(&part->accumulator, slot, tail, NULL, 0, aggregator->arena);
        return;
    }
    bool is_good;
    if (is_spelling_kept(part)) {
        struct weir_view value = weir_state_scan_value(&aggregator->found_entries, 0);
        value.data += sizeof(struct weir_group_entry);
        value.size_bytes -= sizeof(struct weir_group_entry);
        is_good = weir_row_decode(value, &part->single, 1, 0, aggregator->arena);
    } else {
        struct weir_view whole = weir_state_scan_key(&aggregator->found_entries, 0).bytes;
        struct weir_view value = weir_arena_copy(
            aggregator->arena,
            (struct weir_view){.data = whole.data + key->bytes.size_bytes,
                               .size_bytes = whole.size_bytes - key->bytes.size_bytes});
        if (part->accumulator.is_max) {
            invert((char *)value.data, value.size_bytes);
        }
        is_good = weir_key_decode(value, &part->single, 1, 0, aggregator->arena);
    }
    WEIR_ASSERT(is_good);
    weir_accumulator_set_extreme(&part->accumulator, slot, tail, &part->single, 0,
                                 aggregator->arena);
}

bool weir_entries_are_stale(const struct weir_aggregator *aggregator)
{
    for (uint32_t p = 0; aggregator->has_entries && p < aggregator->part_count; p++) {
        const struct weir_part *part = &aggregator->parts[p];
        if (weir_accumulator_is_stale(&part->accumulator,
                                      aggregator->group.slots + part->slot_offset)) {
            return true;
        }
    }
    return false;
}

bool weir_entries_refresh(struct weir_aggregator *aggregator, const struct weir_state_key *key)
{
    bool was_stale = false;
    for (uint32_t p = 0; aggregator->has_entries && p < aggregator->part_count; p++) {
        struct weir_part *part = &aggregator->parts[p];
        if (weir_accumulator_is_stale(&part->accumulator,
                                      aggregator->group.slots + part->slot_offset)) {
            refresh(aggregator, part, &aggregator->group.tails[p], key);
            was_stale = true;
        }
    }
    return was_stale;
}

void weir_entries_remove(struct weir_aggregator *aggregator, const struct weir_state_key *key)
{
    for (uint32_t p = 0; aggregator->has_entries && p < aggregator->part_count; p++) {
        struct weir_part *part = &aggregator->parts[p];
        if (part->entries != NULL) {
            find(aggregator, part, key, 0);
            weir_state_scan_remove(&aggregator->found_entries, part->entries);
        }
    }
}
