// SPDX-License-Identifier: Apache-2.0
// See accumulator.h. One slot struct a kind; slots are copied in and out, as they lie anywhere.
#include "operators/accumulator.h"

#include "runtime/types/compare.h"

#include <math.h>

struct integer_slot {
    int64_t count; // of values that are not NULL
    int64_t sum;
};

struct wide_slot {
    __int128 sum;
    int64_t count;
    int64_t unused;
};

struct float_slot {
    int64_t count; // of finite values
    int64_t nan_count;
    int64_t infinity_count;
    int64_t minus_infinity_count;
    double high; // the sum is high + low (Neumaier)
    double low;
};

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

// Tail: a text's bytes, or a large numeric's.
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
    };
};

// --- what there is ------------------------------------------------------------------------------

static enum weir_accumulator_kind kind_of(const struct weir_aggregate *aggregate,
                                          const struct weir_type *arg_type)
{
    switch (aggregate->kind) {
    case WEIR_AGGREGATE_COUNT_ALL:
    case WEIR_AGGREGATE_COUNT:
        return WEIR_ACCUMULATOR_COUNT;
    case WEIR_AGGREGATE_MIN:
    case WEIR_AGGREGATE_MAX:
        return WEIR_ACCUMULATOR_EXTREME;
    case WEIR_AGGREGATE_SUM:
    case WEIR_AGGREGATE_AVG:
        break;
    }
    switch (weir_type_layout(arg_type->kind)) {
    case WEIR_LAYOUT_I16:
    case WEIR_LAYOUT_I32:
        return aggregate->kind == WEIR_AGGREGATE_SUM ? WEIR_ACCUMULATOR_INTEGER
                                                     : WEIR_ACCUMULATOR_WIDE;
    case WEIR_LAYOUT_I64:
        return WEIR_ACCUMULATOR_WIDE;
    case WEIR_LAYOUT_F32:
    case WEIR_LAYOUT_F64:
        return WEIR_ACCUMULATOR_FLOAT;
    case WEIR_LAYOUT_NUMERIC:
        return WEIR_ACCUMULATOR_NUMERIC;
    case WEIR_LAYOUT_U8:
    case WEIR_LAYOUT_VIEW:
    case WEIR_LAYOUT_COMPOSITE:
        break;
    }
    WEIR_ASSERT(!"weir_aggregate_resolve has refused it");
}

static bool is_of_fixed_size(const struct weir_type *type)
{
    enum weir_layout layout = weir_type_layout(type->kind);
    return layout != WEIR_LAYOUT_NUMERIC && layout != WEIR_LAYOUT_VIEW;
}

void weir_accumulator_init(struct weir_accumulator *accumulator,
                           const struct weir_aggregate *aggregate, const struct weir_type *arg_type,
                           bool is_changing)
{
    *accumulator = (struct weir_accumulator){
        .kind = kind_of(aggregate, arg_type),
        .is_average = aggregate->kind == WEIR_AGGREGATE_AVG,
        .is_max = aggregate->kind == WEIR_AGGREGATE_MAX,
        .is_changing = is_changing,
        .arg_type = arg_type != NULL ? *arg_type : weir_type_plain(WEIR_TYPE_BIGINT),
    };
    switch (accumulator->kind) {
    case WEIR_ACCUMULATOR_COUNT:
        accumulator->slot_bytes = sizeof(int64_t);
        break;
    case WEIR_ACCUMULATOR_INTEGER:
        accumulator->slot_bytes = sizeof(struct integer_slot);
        accumulator->can_fail = true;
        break;
    case WEIR_ACCUMULATOR_WIDE:
        accumulator->slot_bytes = sizeof(struct wide_slot);
        break;
    case WEIR_ACCUMULATOR_FLOAT:
        accumulator->slot_bytes = sizeof(struct float_slot);
        accumulator->can_fail = true;
        break;
    case WEIR_ACCUMULATOR_NUMERIC:
        accumulator->slot_bytes = sizeof(struct numeric_slot);
        accumulator->can_fail = true;
        accumulator->has_tail = true;
        break;
    case WEIR_ACCUMULATOR_EXTREME:
        accumulator->slot_bytes = sizeof(struct extreme_slot);
        accumulator->has_tail = !is_of_fixed_size(arg_type);
        break;
    }
}

// --- integers -----------------------------------------------------------------------------------

static int64_t integer_at(const struct weir_column *arg, uint32_t row)
{
    enum weir_layout layout = weir_type_layout(arg->type.kind);
    return layout == WEIR_LAYOUT_I64   ? arg->i64[row]
           : layout == WEIR_LAYOUT_I32 ? arg->i32[row]
                                       : arg->i16[row];
}

static bool apply_integer(char *bytes, int64_t value, int32_t sign, struct weir_value_error *error)
{
    struct integer_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (sign > 0 ? __builtin_add_overflow(slot.sum, value, &slot.sum)
                 : __builtin_sub_overflow(slot.sum, value, &slot.sum)) {
        return weir_value_error_set(error, "bigint out of range");
    }
    slot.count += sign;
    memcpy(bytes, &slot, sizeof slot);
    return true;
}

// The sum of all rows that a state can count fits 128 bits.
static void apply_wide(char *bytes, int64_t value, int32_t sign)
{
    struct wide_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    slot.sum += sign > 0 ? (__int128)value : -(__int128)value;
    slot.count += sign;
    memcpy(bytes, &slot, sizeof slot);
}

// --- floats -------------------------------------------------------------------------------------

static double float_sum(const struct float_slot *slot)
{
    return slot->low == 0 ? slot->high : slot->high + slot->low; // -0 stays -0
}

static void add_finite(struct float_slot *slot, double value, int32_t sign)
{
    slot->count += sign;
    if (slot->count == 0) {
        slot->high = 0; // nothing is left: nor are errors of rounding
        slot->low = 0;
        return;
    }
    if (slot->count == 1 && sign > 0) {
        slot->high = value;
        slot->low = 0;
        return;
    }
    double term = sign > 0 ? value : -value;
    double sum = slot->high + term;
    slot->low += fabs(slot->high) >= fabs(term) ? (slot->high - sum) + term
                                                : (term - sum) + slot->high;
    slot->high = sum;
}

static bool apply_float(const struct weir_accumulator *accumulator, char *bytes, double value,
                        int32_t sign, struct weir_value_error *error)
{
    struct float_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (isnan(value)) {
        slot.nan_count += sign;
    } else if (isinf(value)) {
        *(value > 0 ? &slot.infinity_count : &slot.minus_infinity_count) += sign;
    } else {
        add_finite(&slot, value, sign);
        double sum = float_sum(&slot);
        bool is_real = accumulator->arg_type.kind == WEIR_TYPE_REAL && !accumulator->is_average;
        if (!isfinite(sum) || (is_real && isinf((float)sum))) {
            return weir_value_error_set(error, "value out of range: overflow");
        }
    }
    memcpy(bytes, &slot, sizeof slot);
    return true;
}

// --- numeric ------------------------------------------------------------------------------------

static struct weir_numeric numeric_of(int64_t small, uint16_t scale, uint8_t kind,
                                      struct weir_view big, struct weir_arena *arena)
{
    struct weir_numeric value = {.small = small, .scale = scale, .kind = kind};
    if (kind == WEIR_NUMERIC_BIG) {
        bool is_good = weir_numeric_from_unscaled_bytes(big, scale, arena, &value);
        WEIR_ASSERT(is_good);
    }
    return value;
}

// The bytes of a large one; none of others.
static struct weir_view big_bytes_of(struct weir_numeric value, struct weir_arena *arena)
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

static struct weir_numeric numeric_sum(const struct numeric_slot *slot, struct weir_view tail,
                                       struct weir_arena *arena)
{
    struct weir_view big = {.data = tail.data + slot->scale_count * SCALE_BYTES,
                            .size_bytes = slot->big_bytes};
    return numeric_of(slot->small, slot->scale, slot->kind, big, arena);
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
    struct weir_view big = big_bytes_of(sum, arena);
    char *bytes =
        weir_arena_alloc(arena, (slot->scale_count + 1) * SCALE_BYTES + big.size_bytes);
    if (accumulator->is_changing) {
        slot->scale_count =
            count_scale(tail->data, slot->scale_count, value.scale, sign, bytes);
    }
    memcpy(bytes + slot->scale_count * SCALE_BYTES, big.data, big.size_bytes);
    slot->small = sum.kind == WEIR_NUMERIC_SMALL ? sum.small : 0;
    slot->scale = sum.scale;
    slot->kind = sum.kind;
    slot->big_bytes = (uint32_t)big.size_bytes;
    *tail = (struct weir_view){.data = bytes,
                               .size_bytes =
                                   slot->scale_count * SCALE_BYTES + slot->big_bytes};
    return true;
}

static bool apply_numeric(const struct weir_accumulator *accumulator, char *bytes,
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

// --- min and max --------------------------------------------------------------------------------

static void load_single(const struct weir_accumulator *accumulator, const struct extreme_slot *slot,
                        struct weir_view tail, struct single *single, struct weir_arena *arena)
{
    single->column = (struct weir_column){.type = accumulator->arg_type, .data = &single->bits};
    switch (weir_type_layout(accumulator->arg_type.kind)) {
    case WEIR_LAYOUT_NUMERIC:
        single->numeric =
            numeric_of((int64_t)slot->bits, slot->scale, slot->kind, tail, arena);
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
        kept = big_bytes_of(value, arena);
    } else if (arg != NULL && layout == WEIR_LAYOUT_VIEW) {
        kept = arg->view[row];
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

static void apply_extreme(const struct weir_accumulator *accumulator, char *bytes,
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
    load_single(accumulator, &slot, accumulator->has_tail ? *tail : (struct weir_view){0},
                &current, arena);
    int order =
        weir_compare_function(accumulator->arg_type.kind)(arg, row, &current.column, 0);
    if (sign > 0 && (accumulator->is_max ? order >= 0 : order <= 0)) {
        weir_accumulator_set_extreme(accumulator, bytes, tail, arg, row, arena);
    } else if (sign < 0 && order == 0) {
        slot.is_stale = true;
        memcpy(bytes, &slot, sizeof slot);
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

// --- all ----------------------------------------------------------------------------------------

bool weir_accumulator_apply(const struct weir_accumulator *accumulator, char *slot,
                            struct weir_view *tail, const struct weir_column *arg, uint32_t row,
                            int32_t sign, struct weir_arena *arena, struct weir_value_error *error)
{
    int64_t count;
    switch (accumulator->kind) {
    case WEIR_ACCUMULATOR_COUNT:
        memcpy(&count, slot, sizeof count);
        count += sign;
        memcpy(slot, &count, sizeof count);
        return true;
    case WEIR_ACCUMULATOR_INTEGER:
        return apply_integer(slot, integer_at(arg, row), sign, error);
    case WEIR_ACCUMULATOR_WIDE:
        apply_wide(slot, integer_at(arg, row), sign);
        return true;
    case WEIR_ACCUMULATOR_FLOAT:
        return apply_float(accumulator, slot,
                           arg->type.kind == WEIR_TYPE_REAL ? (double)arg->f32[row]
                                                            : arg->f64[row],
                           sign, error);
    case WEIR_ACCUMULATOR_NUMERIC:
        return apply_numeric(accumulator, slot, tail, arg->numeric[row], sign, arena, error);
    case WEIR_ACCUMULATOR_EXTREME:
        apply_extreme(accumulator, slot, tail, arg, row, sign, arena);
        break;
    }
    return true;
}

uint32_t weir_accumulator_tail_bytes(const struct weir_accumulator *accumulator, const char *bytes)
{
    if (!accumulator->has_tail) {
        return 0;
    }
    if (accumulator->kind == WEIR_ACCUMULATOR_NUMERIC) {
        struct numeric_slot slot;
        memcpy(&slot, bytes, sizeof slot);
        return slot.scale_count * SCALE_BYTES + slot.big_bytes;
    }
    struct extreme_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    return slot.tail_bytes;
}

// --- results ------------------------------------------------------------------------------------

static struct weir_numeric divide(struct weir_numeric sum, int64_t count, struct weir_arena *arena)
{
    struct weir_numeric average;
    bool is_good = weir_numeric_divide(sum, weir_numeric_from_int64(count, arena), arena, &average,
                                       NULL);
    WEIR_ASSERT(is_good); // count is not 0, and the quotient is no larger than the sum
    return average;
}

static bool wide_result(const struct weir_accumulator *accumulator, const char *bytes,
                        struct weir_numeric *out, struct weir_arena *arena)
{
    struct wide_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (slot.count == 0) {
        return false;
    }
    *out = weir_numeric_from_int128(slot.sum, 0, arena);
    if (accumulator->is_average) {
        *out = divide(*out, slot.count, arena);
    }
    return true;
}

static bool float_result(const struct weir_accumulator *accumulator, const char *bytes, double *out)
{
    struct float_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (slot.nan_count > 0 || (slot.infinity_count > 0 && slot.minus_infinity_count > 0)) {
        *out = (double)NAN;
    } else if (slot.infinity_count > 0 || slot.minus_infinity_count > 0) {
        *out = slot.infinity_count > 0 ? (double)INFINITY : -(double)INFINITY;
    } else if (slot.count != 0) {
        *out = accumulator->is_average ? float_sum(&slot) / (double)slot.count : float_sum(&slot);
    } else {
        return false;
    }
    return true;
}

static bool numeric_result(const struct weir_accumulator *accumulator, const char *bytes,
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
            *out = divide(*out, slot.count, arena);
        }
    } else {
        return false;
    }
    return true;
}

static bool extreme_result(const struct weir_accumulator *accumulator, const char *bytes,
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

void weir_accumulator_result(const struct weir_accumulator *accumulator, const char *slot,
                             struct weir_view tail, struct weir_column *out, uint32_t row,
                             struct weir_arena *arena)
{
    struct integer_slot integer;
    double number = 0;
    bool is_valid = true;
    switch (accumulator->kind) {
    case WEIR_ACCUMULATOR_COUNT:
        memcpy(&out->i64[row], slot, sizeof(int64_t));
        break;
    case WEIR_ACCUMULATOR_INTEGER:
        memcpy(&integer, slot, sizeof integer);
        out->i64[row] = integer.sum;
        is_valid = integer.count != 0;
        break;
    case WEIR_ACCUMULATOR_WIDE:
        is_valid = wide_result(accumulator, slot, &out->numeric[row], arena);
        break;
    case WEIR_ACCUMULATOR_FLOAT:
        is_valid = float_result(accumulator, slot, &number);
        if (out->type.kind == WEIR_TYPE_REAL) {
            out->f32[row] = (float)number;
        } else {
            out->f64[row] = number;
        }
        break;
    case WEIR_ACCUMULATOR_NUMERIC:
        is_valid = numeric_result(accumulator, slot, tail, &out->numeric[row], arena);
        break;
    case WEIR_ACCUMULATOR_EXTREME:
        is_valid = extreme_result(accumulator, slot, tail, out, row, arena);
        break;
    }
    if (is_valid) {
        weir_bitmap_set(out->validity, row);
    } else {
        weir_bitmap_clear(out->validity, row);
    }
}
