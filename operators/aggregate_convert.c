// SPDX-License-Identifier: Apache-2.0
// See aggregate_convert.h; aggregate_internal.h says how a group lies in its entry. Slots are
// copied as they are, with their tails: what an accumulator means does not change.
#include "operators/aggregate_convert.h"

#include "operators/aggregate_internal.h"

struct source {
    enum weir_slot_origin origin;
    uint32_t from;
    uint32_t slot_bytes;
};

struct part {
    struct weir_accumulator accumulator;
    uint32_t slot_offset;
};

struct weir_aggregate_conversion {
    uint32_t copies; // of the slots: as they are, and, without window, as they were sent
    uint32_t from_count;
    struct part *from;
    uint32_t from_bytes; // of all slots
    uint32_t to_count;
    struct source *to;
};

const char *weir_aggregate_form(const struct weir_aggregate *aggregate,
                                const struct weir_type *arg_type)
{
    struct weir_accumulator accumulator;
    weir_accumulator_init(&accumulator, aggregate, arg_type, false);
    return weir_accumulator_form(&accumulator);
}

uint32_t weir_aggregate_form_bytes(const char *form)
{
    struct weir_accumulator accumulator;
    return weir_accumulator_of_form(form, &accumulator) ? accumulator.slot_bytes : 0;
}

const char *weir_aggregate_entries_name(struct weir_arena *arena, bool is_distinct, uint32_t number)
{
    return weir_arena_printf(arena, "%s%u", is_distinct ? "distinct" : "values", number);
}

const struct weir_aggregate_conversion *
weir_aggregate_conversion_create(struct weir_arena *arena, bool is_windowed, uint32_t from_count,
                                 const char *const *from_forms, uint32_t to_count,
                                 const struct weir_slot_source *to)
{
    struct weir_aggregate_conversion *made = weir_arena_alloc_zero(arena, sizeof *made);
    made->copies = is_windowed ? 1 : 2;
    made->from_count = from_count;
    made->from = weir_arena_alloc_zero(arena, (from_count + 1) * sizeof *made->from);
    for (uint32_t i = 0; i < from_count; i++) {
        bool is_known = weir_accumulator_of_form(from_forms[i], &made->from[i].accumulator);
        WEIR_ASSERT(is_known);
        made->from[i].slot_offset = made->from_bytes;
        made->from_bytes += made->from[i].accumulator.slot_bytes;
    }
    made->to_count = to_count;
    made->to = weir_arena_alloc_zero(arena, (to_count + 1) * sizeof *made->to);
    for (uint32_t i = 0; i < to_count; i++) {
        made->to[i] = (struct source){.origin = to[i].origin,
                                      .from = to[i].from,
                                      .slot_bytes = weir_aggregate_form_bytes(to[i].form)};
        WEIR_ASSERT(made->to[i].slot_bytes > 0);
        WEIR_ASSERT(to[i].origin != WEIR_SLOT_KEPT ||
                    (to[i].from < from_count &&
                     made->to[i].slot_bytes == made->from[to[i].from].accumulator.slot_bytes));
        WEIR_ASSERT(to[i].origin != WEIR_SLOT_ROWS || made->to[i].slot_bytes == sizeof(int64_t));
    }
    return made;
}

// Finds the tails of one copy of the slots. NULL: they end behind the value.
static const char *find_tails(const struct weir_aggregate_conversion *conversion, const char *slots,
                              const char *at, const char *end, struct weir_view *tails)
{
    for (uint32_t i = 0; i < conversion->from_count; i++) {
        const struct part *part = &conversion->from[i];
        uint32_t size_bytes =
            weir_accumulator_tail_bytes(&part->accumulator, slots + part->slot_offset);
        if (size_bytes > (size_t)(end - at)) {
            return NULL;
        }
        tails[i] = (struct weir_view){.data = at, .size_bytes = size_bytes};
        at += size_bytes;
    }
    return at;
}

static void put_slots(const struct weir_aggregate_conversion *conversion, const char *slots,
                      int64_t row_count, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < conversion->to_count; i++) {
        const struct source *to = &conversion->to[i];
        char *place = weir_buffer_reserve(out, to->slot_bytes);
        switch (to->origin) {
        case WEIR_SLOT_KEPT:
            memcpy(place, slots + conversion->from[to->from].slot_offset, to->slot_bytes);
            break;
        case WEIR_SLOT_EMPTY:
            memset(place, 0, to->slot_bytes);
            break;
        case WEIR_SLOT_ROWS:
            memcpy(place, &row_count, sizeof row_count);
            break;
        }
        out->size_bytes += to->slot_bytes;
    }
}

static void put_tails(const struct weir_aggregate_conversion *conversion,
                      const struct weir_view *tails, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < conversion->to_count; i++) {
        if (conversion->to[i].origin == WEIR_SLOT_KEPT) {
            struct weir_view tail = tails[conversion->to[i].from];
            weir_buffer_append(out, tail.data, tail.size_bytes);
        }
    }
}

bool weir_aggregate_convert(const void *context, struct weir_view value, struct weir_buffer *out)
{
    const struct weir_aggregate_conversion *conversion = context;
    struct weir_group_header header;
    size_t fixed_bytes = sizeof header + (size_t)conversion->copies * conversion->from_bytes;
    const char *end = value.data + value.size_bytes;
    if (value.size_bytes < fixed_bytes) {
        return false;
    }
    memcpy(&header, value.data, sizeof header);
    const char *slots[2] = {value.data + sizeof header,
                            value.data + sizeof header + conversion->from_bytes};
    struct weir_view *tails =
        weir_alloc(((size_t)conversion->from_count * 2 + 1) * sizeof(struct weir_view));
    const char *at = value.data + fixed_bytes;
    for (uint32_t c = 0; c < conversion->copies && at != NULL; c++) {
        at = find_tails(conversion, slots[c], at, end, tails + c * conversion->from_count);
    }
    bool is_good = at != NULL && (size_t)(end - at) == header.spelling_bytes;
    if (is_good) {
        weir_buffer_append(out, &header, sizeof header);
        for (uint32_t c = 0; c < conversion->copies; c++) {
            put_slots(conversion, slots[c], header.row_count, out);
        }
        for (uint32_t c = 0; c < conversion->copies; c++) {
            put_tails(conversion, tails + c * conversion->from_count, out);
        }
        weir_buffer_append(out, at, header.spelling_bytes);
    }
    free(tails);
    return is_good;
}
