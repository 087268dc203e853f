// SPDX-License-Identifier: Apache-2.0
// What an aggregate keeps of the values it has seen. An accumulator is bytes in keyed state: a slot
// of fixed size, all zero at first, and for some a tail of varying size (texts, large numerics)
// that lies behind all slots. Adding a value and taking it back leaves what was there before, but
// for the last bits of floats. Slots have no alignment. Private to operators/. Thread: the task's.
#ifndef WEIR_OPERATORS_ACCUMULATOR_H
#define WEIR_OPERATORS_ACCUMULATOR_H

#include "operators/aggregate.h"

enum weir_accumulator_kind {
    WEIR_ACCUMULATOR_COUNT,
    WEIR_ACCUMULATOR_INTEGER, // sum of smallint, integer: a bigint
    WEIR_ACCUMULATOR_WIDE,    // sum of bigint, avg of all integers: 128 bits
    WEIR_ACCUMULATOR_FLOAT,   // compensated sum; NaNs and infinities are counted
    WEIR_ACCUMULATOR_NUMERIC, // exact sum; NaNs and infinities are counted, scales too
    WEIR_ACCUMULATOR_EXTREME, // min, max
};

struct weir_accumulator {
    enum weir_accumulator_kind kind;
    bool is_average;
    bool is_max;
    bool is_changing; // values are taken back
    bool has_tail;
    bool can_fail; // a value can be too much for it
    uint32_t slot_bytes;
    struct weir_type arg_type; // not of count
};

// arg_type: NULL for count(*).
void weir_accumulator_init(struct weir_accumulator *accumulator,
                           const struct weir_aggregate *aggregate, const struct weir_type *arg_type,
                           bool is_changing);

// How it lies in the state, as one word that stays for ever: another layout gets another word.
const char *weir_accumulator_form(const struct weir_accumulator *accumulator);
// Sets what is needed to find slot and tail of such a form. False: there is none of that name.
bool weir_accumulator_of_form(const char *form, struct weir_accumulator *accumulator);

// Adds (sign 1) or takes back (sign -1) arg[row], which must be valid (arg NULL: count). *tail is
// what the slot says it is, and may point into the arena or the arg afterwards. False: *error says
// what PostgreSQL says; slot and tail are as before.
// An extreme whose value is taken back is stale until weir_accumulator_set_extreme.
bool weir_accumulator_apply(const struct weir_accumulator *accumulator, char *slot,
                            struct weir_view *tail, const struct weir_column *arg, uint32_t row,
                            int32_t sign, struct weir_arena *arena, struct weir_value_error *error);

// Can values be taken apart from the group and merged into it with the same outcome? Not where
// there is a tail, where values are taken back, or where the order of additions shows (floats).
bool weir_accumulator_can_merge(const struct weir_accumulator *accumulator);
// Adds what another slot has taken. False: as with apply.
bool weir_accumulator_merge(const struct weir_accumulator *accumulator, char *slot,
                            const char *other, struct weir_value_error *error);
// Adds arg[rows[i]], which must be valid, to the slot at slots[i] + offset. Only where slots can be
// merged and so few values come into one that no sum of integers overflows: fewer than 2^31.
void weir_accumulator_apply_rows(const struct weir_accumulator *accumulator,
                                 const struct weir_column *arg, uint32_t count,
                                 const uint16_t *rows, char *const *slots, uint32_t offset);

uint32_t weir_accumulator_tail_bytes(const struct weir_accumulator *accumulator, const char *slot);

// Of min and max: is the value to be looked up anew among those that are left? arg NULL: none is.
bool weir_accumulator_is_stale(const struct weir_accumulator *accumulator, const char *slot);
void weir_accumulator_set_extreme(const struct weir_accumulator *accumulator, char *slot,
                                  struct weir_view *tail, const struct weir_column *arg,
                                  uint32_t row, struct weir_arena *arena);

// The aggregate's value as row `row` of a column of its result type (with validity). Texts point
// into the tail.
void weir_accumulator_result(const struct weir_accumulator *accumulator, const char *slot,
                             struct weir_view tail, struct weir_column *out, uint32_t row,
                             struct weir_arena *arena);

#endif
