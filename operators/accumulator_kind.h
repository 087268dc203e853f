// SPDX-License-Identifier: Apache-2.0
// What the files of the accumulators share: accumulator.c has counts, integers and floats,
// accumulator_numeric.c sums of numerics, accumulator_extreme.c min and max. Each keeps the layout
// of its slots to itself. Private to operators/. Thread: the task's.
#ifndef WEIR_OPERATORS_ACCUMULATOR_KIND_H
#define WEIR_OPERATORS_ACCUMULATOR_KIND_H

#include "operators/accumulator.h"

// --- accumulator.c ------------------------------------------------------------------------------

// sum / count; count is not 0.
struct weir_numeric weir_accumulator_divide(struct weir_numeric sum, int64_t count,
                                            struct weir_arena *arena);

// --- accumulator_numeric.c ----------------------------------------------------------------------

uint32_t weir_numeric_slot_bytes(void);
uint32_t weir_numeric_slot_tail_bytes(const char *bytes);
bool weir_numeric_slot_apply(const struct weir_accumulator *accumulator, char *bytes,
                             struct weir_view *tail, struct weir_numeric value, int32_t sign,
                             struct weir_arena *arena, struct weir_value_error *error);
// False: NULL.
bool weir_numeric_slot_result(const struct weir_accumulator *accumulator, const char *bytes,
                              struct weir_view tail, struct weir_numeric *out,
                              struct weir_arena *arena);

// A numeric of these parts; big: the unscaled number of a large one.
struct weir_numeric weir_numeric_slot_value(int64_t small, uint16_t scale, uint8_t kind,
                                            struct weir_view big, struct weir_arena *arena);
// The bytes of a large one; none of others.
struct weir_view weir_numeric_slot_big_bytes(struct weir_numeric value, struct weir_arena *arena);

// --- accumulator_extreme.c ----------------------------------------------------------------------

uint32_t weir_extreme_slot_bytes(void);
uint32_t weir_extreme_slot_tail_bytes(const char *bytes);
void weir_extreme_slot_apply(const struct weir_accumulator *accumulator, char *bytes,
                             struct weir_view *tail, const struct weir_column *arg, uint32_t row,
                             int32_t sign, struct weir_arena *arena);
// Of fixed size, never taken back.
void weir_extreme_slot_merge(const struct weir_accumulator *accumulator, char *bytes,
                             const char *other);
void weir_extreme_slot_apply_rows(const struct weir_accumulator *accumulator,
                                  const struct weir_column *arg, uint32_t count,
                                  const uint16_t *rows, char *const *slots, uint32_t offset);
bool weir_extreme_slot_result(const struct weir_accumulator *accumulator, const char *bytes,
                              struct weir_view tail, struct weir_column *out, uint32_t row,
                              struct weir_arena *arena);

#endif
