// SPDX-License-Identifier: Apache-2.0
// See accumulator.h. One slot struct a kind; slots are copied in and out, as they lie anywhere.
#include "operators/accumulator_kind.h"

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
    case WEIR_LAYOUT_INTERVAL:
    case WEIR_LAYOUT_UUID:
        break;
    }
    WEIR_ASSERT(!"weir_aggregate_resolve has refused it");
}

// In a slot's eight bytes.
static bool is_of_fixed_size(const struct weir_type *type)
{
    enum weir_layout layout = weir_type_layout(type->kind);
    return layout != WEIR_LAYOUT_NUMERIC && layout != WEIR_LAYOUT_VIEW &&
           weir_layout_bytes(layout) <= sizeof(uint64_t);
}

static uint32_t slot_bytes_of(enum weir_accumulator_kind kind)
{
    switch (kind) {
    case WEIR_ACCUMULATOR_COUNT:
        return sizeof(int64_t);
    case WEIR_ACCUMULATOR_INTEGER:
        return sizeof(struct integer_slot);
    case WEIR_ACCUMULATOR_WIDE:
        return sizeof(struct wide_slot);
    case WEIR_ACCUMULATOR_FLOAT:
        return sizeof(struct float_slot);
    case WEIR_ACCUMULATOR_NUMERIC:
        return weir_numeric_slot_bytes();
    case WEIR_ACCUMULATOR_EXTREME:
        return weir_extreme_slot_bytes();
    }
    WEIR_ASSERT(!"a kind of accumulator");
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
    accumulator->slot_bytes = slot_bytes_of(accumulator->kind);
    accumulator->can_fail = accumulator->kind == WEIR_ACCUMULATOR_INTEGER ||
                            accumulator->kind == WEIR_ACCUMULATOR_FLOAT ||
                            accumulator->kind == WEIR_ACCUMULATOR_NUMERIC;
    accumulator->has_tail =
        accumulator->kind == WEIR_ACCUMULATOR_NUMERIC ||
        (accumulator->kind == WEIR_ACCUMULATOR_EXTREME && !is_of_fixed_size(arg_type));
}

// --- forms --------------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum weir_accumulator_kind kind;
    bool has_tail;
} FORMS[] = {
    {"count", WEIR_ACCUMULATOR_COUNT, false},         {"integer", WEIR_ACCUMULATOR_INTEGER, false},
    {"wide", WEIR_ACCUMULATOR_WIDE, false},           {"float", WEIR_ACCUMULATOR_FLOAT, false},
    {"numeric", WEIR_ACCUMULATOR_NUMERIC, true},      {"extreme", WEIR_ACCUMULATOR_EXTREME, false},
    {"extreme tail", WEIR_ACCUMULATOR_EXTREME, true},
};

const char *weir_accumulator_form(const struct weir_accumulator *accumulator)
{
    size_t i = 0;
    while (FORMS[i].kind != accumulator->kind || FORMS[i].has_tail != accumulator->has_tail) {
        i++;
        WEIR_ASSERT(i < sizeof FORMS / sizeof FORMS[0]);
    }
    return FORMS[i].name;
}

bool weir_accumulator_of_form(const char *form, struct weir_accumulator *accumulator)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        if (strcmp(FORMS[i].name, form) == 0) {
            *accumulator = (struct weir_accumulator){.kind = FORMS[i].kind,
                                                     .has_tail = FORMS[i].has_tail,
                                                     .slot_bytes = slot_bytes_of(FORMS[i].kind)};
            return true;
        }
    }
    return false;
}

// --- integers -----------------------------------------------------------------------------------

static int64_t integer_at(const struct weir_column *arg, uint32_t row)
{
    enum weir_layout layout = weir_type_layout(arg->type.kind);
    return layout == WEIR_LAYOUT_I64   ? arg->i64[row]
           : layout == WEIR_LAYOUT_I32 ? arg->i32[row]
                                       : arg->i16[row];
}

// Each of the three adds what so many values come to: below zero for those that are taken back.

static void add_count(char *bytes, int64_t count)
{
    int64_t known;
    memcpy(&known, bytes, sizeof known);
    known += count;
    memcpy(bytes, &known, sizeof known);
}

static bool add_integers(char *bytes, int64_t sum, int64_t count, struct weir_value_error *error)
{
    struct integer_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    if (__builtin_add_overflow(slot.sum, sum, &slot.sum)) {
        return weir_value_error_set(error, "bigint out of range");
    }
    slot.count += count;
    memcpy(bytes, &slot, sizeof slot);
    return true;
}

// The sum of all rows that a state can count fits 128 bits.
static void add_wide(char *bytes, __int128 sum, int64_t count)
{
    struct wide_slot slot;
    memcpy(&slot, bytes, sizeof slot);
    slot.sum += sum;
    slot.count += count;
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
    slot->low +=
        fabs(slot->high) >= fabs(term) ? (slot->high - sum) + term : (term - sum) + slot->high;
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

// --- all ----------------------------------------------------------------------------------------

bool weir_accumulator_apply(const struct weir_accumulator *accumulator, char *slot,
                            struct weir_view *tail, const struct weir_column *arg, uint32_t row,
                            int32_t sign, struct weir_arena *arena, struct weir_value_error *error)
{
    switch (accumulator->kind) {
    case WEIR_ACCUMULATOR_COUNT:
        add_count(slot, sign);
        return true;
    case WEIR_ACCUMULATOR_INTEGER:
        return add_integers(slot, sign * integer_at(arg, row), sign, error);
    case WEIR_ACCUMULATOR_WIDE:
        add_wide(slot, (__int128)sign * integer_at(arg, row), sign);
        return true;
    case WEIR_ACCUMULATOR_FLOAT:
        return apply_float(accumulator, slot,
                           arg->type.kind == WEIR_TYPE_REAL ? (double)arg->f32[row] : arg->f64[row],
                           sign, error);
    case WEIR_ACCUMULATOR_NUMERIC:
        return weir_numeric_slot_apply(accumulator, slot, tail, arg->numeric[row], sign, arena,
                                       error);
    case WEIR_ACCUMULATOR_EXTREME:
        weir_extreme_slot_apply(accumulator, slot, tail, arg, row, sign, arena);
        break;
    }
    return true;
}

// --- apart from the group -----------------------------------------------------------------------

bool weir_accumulator_can_merge(const struct weir_accumulator *accumulator)
{
    return !accumulator->has_tail && !accumulator->is_changing &&
           accumulator->kind != WEIR_ACCUMULATOR_FLOAT;
}

bool weir_accumulator_merge(const struct weir_accumulator *accumulator, char *slot,
                            const char *other, struct weir_value_error *error)
{
    int64_t count;
    struct integer_slot integers;
    struct wide_slot wide;
    switch (accumulator->kind) {
    case WEIR_ACCUMULATOR_COUNT:
        memcpy(&count, other, sizeof count);
        add_count(slot, count);
        return true;
    case WEIR_ACCUMULATOR_INTEGER:
        memcpy(&integers, other, sizeof integers);
        return add_integers(slot, integers.sum, integers.count, error);
    case WEIR_ACCUMULATOR_WIDE:
        memcpy(&wide, other, sizeof wide);
        add_wide(slot, wide.sum, wide.count);
        return true;
    case WEIR_ACCUMULATOR_EXTREME:
        weir_extreme_slot_merge(accumulator, slot, other);
        return true;
    case WEIR_ACCUMULATOR_FLOAT:
    case WEIR_ACCUMULATOR_NUMERIC:
        break;
    }
    WEIR_ASSERT(!"weir_accumulator_can_merge has said so");
}

void weir_accumulator_apply_rows(const struct weir_accumulator *accumulator,
                                 const struct weir_column *arg, uint32_t count,
                                 const uint16_t *rows, char *const *slots, uint32_t offset)
{
    switch (accumulator->kind) {
    case WEIR_ACCUMULATOR_COUNT:
        for (uint32_t i = 0; i < count; i++) {
            add_count(slots[i] + offset, 1);
        }
        return;
    case WEIR_ACCUMULATOR_INTEGER:
        for (uint32_t i = 0; i < count; i++) {
            bool is_added = add_integers(slots[i] + offset, integer_at(arg, rows[i]), 1, NULL);
            WEIR_ASSERT(is_added);
        }
        return;
    case WEIR_ACCUMULATOR_WIDE:
        for (uint32_t i = 0; i < count; i++) {
            add_wide(slots[i] + offset, integer_at(arg, rows[i]), 1);
        }
        return;
    case WEIR_ACCUMULATOR_EXTREME:
        weir_extreme_slot_apply_rows(accumulator, arg, count, rows, slots, offset);
        return;
    case WEIR_ACCUMULATOR_FLOAT:
    case WEIR_ACCUMULATOR_NUMERIC:
        break;
    }
    WEIR_ASSERT(!"weir_accumulator_can_merge has said so");
}

uint32_t weir_accumulator_tail_bytes(const struct weir_accumulator *accumulator, const char *bytes)
{
    if (!accumulator->has_tail) {
        return 0;
    }
    return accumulator->kind == WEIR_ACCUMULATOR_NUMERIC ? weir_numeric_slot_tail_bytes(bytes)
                                                         : weir_extreme_slot_tail_bytes(bytes);
}

// --- results ------------------------------------------------------------------------------------

struct weir_numeric weir_accumulator_divide(struct weir_numeric sum, int64_t count,
                                            struct weir_arena *arena)
{
    struct weir_numeric average;
    bool is_good =
        weir_numeric_divide(sum, weir_numeric_from_int64(count, arena), arena, &average, NULL);
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
        *out = weir_accumulator_divide(*out, slot.count, arena);
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
        is_valid = weir_numeric_slot_result(accumulator, slot, tail, &out->numeric[row], arena);
        break;
    case WEIR_ACCUMULATOR_EXTREME:
        is_valid = weir_extreme_slot_result(accumulator, slot, tail, out, row, arena);
        break;
    }
    if (is_valid) {
        weir_bitmap_set(out->validity, row);
    } else {
        weir_bitmap_clear(out->validity, row);
    }
}
