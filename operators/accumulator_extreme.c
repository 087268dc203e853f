// SPDX-License-Identifier: Apache-2.0
// Min and max: the value itself. When it is taken back the slot is stale until the next one has
// been looked up among the values that are left.
#include "operators/accumulator_kind.h"

#include "runtime/types/compare.h"

#include <stddef.h>

// Tail: a text's bytes, those of a value of fixed size with more than 8, or a large numeric's.
struct extreme_slot {
    uint64_t bits; // of a value of fixed size; a small numeric
    uint32_t tail_bytes;
    uint16_t scale;
    uint8_t kind;
    bool has_value;
    bool is_stale;
    uint8_t unused[7];
};

// One value of any type that has an order, as a column of one row.
struct single {
    struct weir_column column;
    union {
        uint64_t bits;
        struct weir_numeric numeric;
        struct weir_view view;
        struct weir_interval interval;
        struct weir_uuid uuid;
    };
};

uint32_t weir_extreme_slot_bytes(void)
{
    return sizeof(struct extreme_slot);
}

uint32_t weir_extreme_slot_tail_bytes(const char *bytes)
{
    struct extreme_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    return slot.tail_bytes;
}

static void load_single(const struct weir_accumulator *accumulator, const struct extreme_slot *slot,
                        struct weir_view tail, struct single *single, struct weir_arena *arena)
{
    single->column = (struct weir_column){.type = accumulator->arg_type, .data = &single->bits};
    enum weir_layout layout = weir_type_layout(accumulator->arg_type.kind);
    switch (layout) {
    case WEIR_LAYOUT_NUMERIC:
        single->numeric =
            weir_numeric_slot_value((int64_t)slot->bits, slot->scale, slot->kind, tail, arena);
        break;
    case WEIR_LAYOUT_VIEW:
        single->view = tail;
        break;
    case WEIR_LAYOUT_U8:
    case WEIR_LAYOUT_I16:
    case WEIR_LAYOUT_I32:
    case WEIR_LAYOUT_I64:
    case WEIR_LAYOUT_F32:
    case WEIR_LAYOUT_F64:
        single->bits = slot->bits; // the value's bytes come first
        break;
    case WEIR_LAYOUT_INTERVAL:
    case WEIR_LAYOUT_UUID:
        WEIR_ASSERT(tail.size_bytes == weir_layout_bytes(layout));
        memcpy(&single->bits, tail.data, tail.size_bytes);
        break;
    case WEIR_LAYOUT_COMPOSITE:
        WEIR_ASSERT(!"composites have no min");
    }
}

void weir_accumulator_set_extreme(const struct weir_accumulator *accumulator, char *bytes,
                                  struct weir_view *tail, const struct weir_column *arg,
                                  uint32_t row, struct weir_arena *arena)
{
    struct extreme_slot slot = {.has_value = arg != NULL};
    struct weir_view kept = {.data = "", .size_bytes = 0};
    enum weir_layout layout = weir_type_layout(accumulator->arg_type.kind);
    if (arg != NULL && layout == WEIR_LAYOUT_NUMERIC) {
        struct weir_numeric value = arg->numeric[row];
        slot.bits = value.kind == WEIR_NUMERIC_SMALL ? (uint64_t)value.small : 0;
        slot.scale = value.scale;
        slot.kind = value.kind;
        kept = weir_numeric_slot_big_bytes(value, arena);
    } else if (arg != NULL && layout == WEIR_LAYOUT_VIEW) {
        kept = arg->view[row];
    } else if (arg != NULL && weir_layout_bytes(layout) > sizeof slot.bits) {
        kept.size_bytes = weir_layout_bytes(layout);
        kept.data = (const char *)arg->data + row * kept.size_bytes;
    } else if (arg != NULL) {
        size_t value_bytes = weir_layout_bytes(layout);
        memcpy(&slot.bits, (const char *)arg->data + row * value_bytes, value_bytes);
    }
    slot.tail_bytes = (uint32_t)kept.size_bytes;
    if (accumulator->has_tail) {
        *tail = kept;
    }
    memcpy(bytes, &slot, sizeof slot);
}

void weir_extreme_slot_apply(const struct weir_accumulator *accumulator, char *bytes,
                             struct weir_view *tail, const struct weir_column *arg, uint32_t row,
                             int32_t sign, struct weir_arena *arena)
{
    struct extreme_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (slot.is_stale) {
        return; // will be looked up among all that are there then
    }
    if (!slot.has_value) {
        if (sign > 0) {
            weir_accumulator_set_extreme(accumulator, bytes, tail, arg, row, arena);
        }
        return;
    }
    struct single current;
    load_single(accumulator, &slot, accumulator->has_tail ? *tail : (struct weir_view){0}, &current,
                arena);
    int order = weir_compare_function(accumulator->arg_type.kind)(arg, row, &current.column, 0);
    if (sign > 0 && (accumulator->is_max ? order >= 0 : order <= 0)) {
        weir_accumulator_set_extreme(accumulator, bytes, tail, arg, row, arena);
    } else if (sign < 0 && order == 0) {
        slot.is_stale = true;
        memcpy(bytes, &slot, sizeof slot);
    }
}

void weir_extreme_slot_merge(const struct weir_accumulator *accumulator, char *bytes,
                             const char *other)
{
    struct extreme_slot slot;
    memcpy(&slot, other, sizeof slot);
    WEIR_DASSERT(slot.tail_bytes == 0 && !slot.is_stale);
    if (slot.has_value) {
        struct single value;
        load_single(accumulator, &slot, (struct weir_view){0}, &value, NULL);
        weir_extreme_slot_apply(accumulator, bytes, NULL, &value.column, 0, 1, NULL);
    }
}

// The slots of integers hold the value in their first bytes, and zeros.
#define APPLY_INTEGERS(field, type)                                                                \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        char *slot = slots[i] + offset;                                                            \
        type value = arg->field[rows[i]];                                                          \
        type known;                                                                                \
        memcpy(&known, slot, sizeof known);                                                        \
        char *has_value = slot + offsetof(struct extreme_slot, has_value);                         \
        if (*has_value == 0 || (accumulator->is_max ? value > known : value < known)) {            \
            memcpy(slot, &value, sizeof value);                                                    \
            *has_value = true;                                                                     \
        }                                                                                          \
    }

void weir_extreme_slot_apply_rows(const struct weir_accumulator *accumulator,
                                  const struct weir_column *arg, uint32_t count,
                                  const uint16_t *rows, char *const *slots, uint32_t offset)
{
    switch (weir_type_layout(accumulator->arg_type.kind)) {
    case WEIR_LAYOUT_I16:
        APPLY_INTEGERS(i16, int16_t)
        return;
    case WEIR_LAYOUT_I32:
        APPLY_INTEGERS(i32, int32_t)
        return;
    case WEIR_LAYOUT_I64:
        APPLY_INTEGERS(i64, int64_t)
        return;
    case WEIR_LAYOUT_U8:
    case WEIR_LAYOUT_F32:
    case WEIR_LAYOUT_F64:
    case WEIR_LAYOUT_NUMERIC:
    case WEIR_LAYOUT_VIEW:
    case WEIR_LAYOUT_INTERVAL:
    case WEIR_LAYOUT_UUID:
    case WEIR_LAYOUT_COMPOSITE:
        break;
    }
    for (uint32_t i = 0; i < count; i++) {
        weir_extreme_slot_apply(accumulator, slots[i] + offset, NULL, arg, rows[i], 1, NULL);
    }
}

bool weir_accumulator_is_stale(const struct weir_accumulator *accumulator, const char *bytes)
{
    if (accumulator->kind != WEIR_ACCUMULATOR_EXTREME) {
        return false;
    }
    struct extreme_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    return slot.is_stale;
}

bool weir_extreme_slot_result(const struct weir_accumulator *accumulator, const char *bytes,
                              struct weir_view tail, struct weir_column *out, uint32_t row,
                              struct weir_arena *arena)
{
    struct extreme_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    WEIR_DASSERT(!slot.is_stale);
    if (!slot.has_value) {
        return false;
    }
    struct single value;
    load_single(accumulator, &slot, tail, &value, arena);
    size_t value_bytes = weir_layout_bytes(weir_type_layout(accumulator->arg_type.kind));
    memcpy((char *)out->data + row * value_bytes, value.column.data, value_bytes);
    return true;
}
