// SPDX-License-Identifier: Apache-2.0
// Sums of numerics: exact, with the largest scale of the values that are in them; NaNs and
// infinities are counted apart.
#include "operators/accumulator_kind.h"

// Tail: scale_count of struct scale, packed, if values are taken back; then a large sum's bytes.
struct numeric_slot {
    int64_t count; // of finite values
    int64_t nan_count;
    int64_t infinity_count;
    int64_t minus_infinity_count;
    int64_t small; // the sum, unless it is large
    uint32_t big_bytes;
    uint32_t scale_count;
    uint16_t scale;
    uint8_t kind;
    uint8_t unused[5];
};

// How many of the values have that scale: the sum has the largest one of those that are left.
struct scale {
    int64_t count;
    uint16_t scale;
};

enum { SCALE_BYTES = sizeof(int64_t) + sizeof(uint16_t) };

struct weir_numeric weir_numeric_slot_value(int64_t small, uint16_t scale, uint8_t kind,
                                            struct weir_view big, struct weir_arena *arena)
{
    struct weir_numeric value = {.small = small, .scale = scale, .kind = kind};
    if (kind == WEIR_NUMERIC_BIG) {
        bool is_good = weir_numeric_from_unscaled_bytes(big, scale, arena, &value);
        WEIR_ASSERT(is_good);
    }
    return value;
}

struct weir_view weir_numeric_slot_big_bytes(struct weir_numeric value, struct weir_arena *arena)
{
    if (value.kind != WEIR_NUMERIC_BIG) {
        return (struct weir_view){.data = "", .size_bytes = 0};
    }
    struct weir_buffer bytes = {0};
    weir_numeric_append_unscaled_bytes(&bytes, value);
    struct weir_view view = weir_arena_copy(
        arena, (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes});
    weir_buffer_deinit(&bytes);
    return view;
}

uint32_t weir_numeric_slot_bytes(void)
{
    return sizeof(struct numeric_slot);
}

uint32_t weir_numeric_slot_tail_bytes(const char *bytes)
{
    struct numeric_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    return slot.scale_count * SCALE_BYTES + slot.big_bytes;
}

static struct weir_numeric numeric_sum(const struct numeric_slot *slot, struct weir_view tail,
                                       struct weir_arena *arena)
{
    struct weir_view big = {.data = tail.data + slot->scale_count * SCALE_BYTES,
                            .size_bytes = slot->big_bytes};
    return weir_numeric_slot_value(slot->small, slot->scale, slot->kind, big, arena);
}

static struct scale scale_at(const char *scales, uint32_t idx)
{
    struct scale scale;
    memcpy(&scale.count, scales + idx * SCALE_BYTES, sizeof scale.count);
    memcpy(&scale.scale, scales + idx * SCALE_BYTES + sizeof scale.count, sizeof scale.scale);
    return scale;
}

static void put_scale(char *scales, uint32_t idx, struct scale scale)
{
    memcpy(scales + idx * SCALE_BYTES, &scale.count, sizeof scale.count);
    memcpy(scales + idx * SCALE_BYTES + sizeof scale.count, &scale.scale, sizeof scale.scale);
}

// Writes the scales of the tail to `to`, one value more or less of the given one counted.
static uint32_t count_scale(const char *scales, uint32_t scale_count, uint16_t scale, int32_t sign,
                            char *to)
{
    uint32_t count = 0;
    bool is_known = false;
    for (uint32_t i = 0; i < scale_count; i++) {
        struct scale known = scale_at(scales, i);
        if (known.scale == scale) {
            known.count += sign;
            is_known = true;
        }
        if (known.count > 0) {
            put_scale(to, count++, known);
        }
    }
    if (!is_known && sign > 0) {
        put_scale(to, count++, (struct scale){.count = 1, .scale = scale});
    }
    return count;
}

static bool apply_finite_numeric(const struct weir_accumulator *accumulator,
                                 struct numeric_slot *slot, struct weir_view *tail,
                                 struct weir_numeric value, int32_t sign, struct weir_arena *arena,
                                 struct weir_value_error *error)
{
    struct weir_numeric sum = numeric_sum(slot, *tail, arena);
    if (sign > 0 ? !weir_numeric_add(sum, value, arena, &sum, error)
                 : !weir_numeric_subtract(sum, value, arena, &sum, error)) {
        return false;
    }
    slot->count += sign;
    if (slot->count == 0) {
        sum = weir_numeric_small(0, 0);
    }
    struct weir_view big = weir_numeric_slot_big_bytes(sum, arena);
    char *bytes = weir_arena_alloc(arena, (slot->scale_count + 1) * SCALE_BYTES + big.size_bytes);
    if (accumulator->is_changing) {
        slot->scale_count = count_scale(tail->data, slot->scale_count, value.scale, sign, bytes);
    }
    memcpy(bytes + slot->scale_count * SCALE_BYTES, big.data, big.size_bytes);
    slot->small = sum.kind == WEIR_NUMERIC_SMALL ? sum.small : 0;
    slot->scale = sum.scale;
    slot->kind = sum.kind;
    slot->big_bytes = (uint32_t)big.size_bytes;
    *tail = (struct weir_view){.data = bytes,
                               .size_bytes = slot->scale_count * SCALE_BYTES + slot->big_bytes};
    return true;
}

bool weir_numeric_slot_apply(const struct weir_accumulator *accumulator, char *bytes,
                             struct weir_view *tail, struct weir_numeric value, int32_t sign,
                             struct weir_arena *arena, struct weir_value_error *error)
{
    struct numeric_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    switch ((enum weir_numeric_kind)value.kind) {
    case WEIR_NUMERIC_SMALL:
    case WEIR_NUMERIC_BIG:
        if (!apply_finite_numeric(accumulator, &slot, tail, value, sign, arena, error)) {
            return false;
        }
        break;
    case WEIR_NUMERIC_NAN:
        slot.nan_count += sign;
        break;
    case WEIR_NUMERIC_INFINITY:
        slot.infinity_count += sign;
        break;
    case WEIR_NUMERIC_MINUS_INFINITY:
        slot.minus_infinity_count += sign;
        break;
    }
    memcpy(bytes, &slot, sizeof slot);
    return true;
}

// The sum as PostgreSQL shows it: with the largest scale of the values that are in it.
static struct weir_numeric shown_sum(const struct weir_accumulator *accumulator,
                                     const struct numeric_slot *slot, struct weir_view tail,
                                     struct weir_arena *arena)
{
    struct weir_numeric sum = numeric_sum(slot, tail, arena);
    if (!accumulator->is_changing) {
        return sum;
    }
    uint16_t scale_max = 0;
    for (uint32_t i = 0; i < slot->scale_count; i++) {
        uint16_t scale = scale_at(tail.data, i).scale;
        scale_max = scale > scale_max ? scale : scale_max;
    }
    // What is cut are zeros.
    return sum.scale > scale_max ? weir_numeric_truncate(sum, scale_max, arena) : sum;
}

bool weir_numeric_slot_result(const struct weir_accumulator *accumulator, const char *bytes,
                              struct weir_view tail, struct weir_numeric *out,
                              struct weir_arena *arena)
{
    struct numeric_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (slot.nan_count > 0 || (slot.infinity_count > 0 && slot.minus_infinity_count > 0)) {
        *out = weir_numeric_special(WEIR_NUMERIC_NAN);
    } else if (slot.infinity_count > 0 || slot.minus_infinity_count > 0) {
        *out = weir_numeric_special(slot.infinity_count > 0 ? WEIR_NUMERIC_INFINITY
                                                            : WEIR_NUMERIC_MINUS_INFINITY);
    } else if (slot.count != 0) {
        *out = shown_sum(accumulator, &slot, tail, arena);
        if (accumulator->is_average) {
            *out = weir_accumulator_divide(*out, slot.count, arena);
        }
    } else {
        return false;
    }
    return true;
}
