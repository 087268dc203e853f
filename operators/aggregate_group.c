// SPDX-License-Identifier: Apache-2.0
// Groups taken out of keyed state and put back (aggregate_internal.h has the layout), and lists of
// entries that a scan has found, since a visit may not call into the state.
#include "operators/aggregate_internal.h"

static const char *load_tails(const struct weir_aggregator *aggregator, const char *slots,
                              const char *at, struct weir_view *tails)
{
    for (uint32_t i = 0; i < aggregator->part_count; i++) {
        const struct weir_part *part = &aggregator->parts[i];
        uint32_t size_bytes =
            weir_accumulator_tail_bytes(&part->accumulator, slots + part->slot_offset);
        tails[i] = (struct weir_view){.data = at, .size_bytes = size_bytes};
        at += size_bytes;
    }
    return at;
}

static void take_apart(struct weir_aggregator *aggregator, char *data, size_t size_bytes)
{
    struct weir_group *group = &aggregator->group;
    WEIR_ASSERT(size_bytes >= aggregator->fixed_bytes);
    memcpy(&group->header, data, sizeof group->header);
    group->slots = data + sizeof group->header;
    group->sent_slots = aggregator->is_windowed ? NULL : group->slots + aggregator->slots_bytes;
    const char *at = data + aggregator->fixed_bytes;
    if (aggregator->has_tails) {
        at = load_tails(aggregator, group->slots, at, group->tails);
        if (group->sent_slots != NULL) {
            at = load_tails(aggregator, group->sent_slots, at, group->sent_tails);
        }
    }
    group->spelling = (struct weir_view){.data = at, .size_bytes = group->header.spelling_bytes};
    WEIR_ASSERT(at + group->header.spelling_bytes == data + size_bytes);
}

void weir_group_view(struct weir_aggregator *aggregator, struct weir_view value)
{
    take_apart(aggregator, (char *)value.data, value.size_bytes);
}

void weir_group_load(struct weir_aggregator *aggregator, struct weir_view value)
{
    struct weir_buffer *bytes = &aggregator->value;
    bytes->size_bytes = 0;
    if (value.data != NULL) {
        weir_buffer_append(bytes, value.data, value.size_bytes);
    } else {
        memset(weir_buffer_reserve(bytes, aggregator->fixed_bytes), 0, aggregator->fixed_bytes);
        bytes->size_bytes = aggregator->fixed_bytes;
    }
    take_apart(aggregator, bytes->data, bytes->size_bytes);
    if (value.data == NULL) {
        aggregator->group.header.event_time_us = INT64_MIN;
    }
}

static void put_tails(struct weir_aggregator *aggregator, const struct weir_view *tails)
{
    for (uint32_t i = 0; aggregator->has_tails && i < aggregator->part_count; i++) {
        weir_buffer_append(&aggregator->scratch, tails[i].data, tails[i].size_bytes);
    }
}

void weir_group_store(struct weir_aggregator *aggregator, const struct weir_state_key *key)
{
    struct weir_group *group = &aggregator->group;
    struct weir_buffer *bytes = &aggregator->scratch;
    bytes->size_bytes = 0;
    put_tails(aggregator, group->tails);
    if (group->sent_slots != NULL) {
        put_tails(aggregator, group->sent_tails);
    }
    weir_buffer_append(bytes, group->spelling.data, group->spelling.size_bytes);
    group->header.spelling_bytes = (uint32_t)group->spelling.size_bytes;
    bool existed;
    char *to = aggregator->groups->ops->update(
        aggregator->groups, key, aggregator->fixed_bytes + (uint32_t)bytes->size_bytes, &existed);
    memcpy(to, &group->header, sizeof group->header);
    to += sizeof group->header;
    memcpy(to, group->slots, aggregator->slots_bytes);
    to += aggregator->slots_bytes;
    if (group->sent_slots != NULL) {
        memcpy(to, group->sent_slots, aggregator->slots_bytes);
        to += aggregator->slots_bytes;
    }
    if (bytes->size_bytes != 0) {
        memcpy(to, bytes->data, bytes->size_bytes);
    }
}

// Keys lie one behind the other: key group, size, bytes.
void weir_group_note_unsettled(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                               struct weir_group_header *header)
{
    if (header->is_unsettled) {
        return;
    }
    header->is_unsettled = 1;
    struct weir_buffer *unsettled = &aggregator->unsettled;
    uint32_t size = (uint32_t)key->bytes.size_bytes;
    weir_buffer_append(unsettled, &key->key_group, sizeof key->key_group);
    weir_buffer_append(unsettled, &size, sizeof size);
    weir_buffer_append(unsettled, key->bytes.data, size);
}
