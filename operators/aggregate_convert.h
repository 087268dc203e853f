// SPDX-License-Identifier: Apache-2.0
// Groups of a job that has changed: the entries of an aggregate that kept other values, or the same
// in another order, become those that it keeps now (docs/state.md, "A changed job"). A pure
// function of each entry. Thread: any.
#ifndef WEIR_OPERATORS_AGGREGATE_CONVERT_H
#define WEIR_OPERATORS_AGGREGATE_CONVERT_H

#include "operators/aggregate.h"

// How the aggregate's values lie in a group: one word, for manifests. arg_type: NULL for count(*).
const char *weir_aggregate_form(const struct weir_aggregate *aggregate,
                                const struct weir_type *arg_type);
// Of a form, without its tail; 0: this weir does not know the form.
uint32_t weir_aggregate_form_bytes(const char *form);

// What an aggregate keeps comes from.
enum weir_slot_origin {
    WEIR_SLOT_KEPT,  // from slot `from` of the old group
    WEIR_SLOT_EMPTY, // nowhere: as if no row had come
    WEIR_SLOT_ROWS,  // the count of rows, which every group knows
};

struct weir_slot_source {
    enum weir_slot_origin origin;
    uint32_t from;
    const char *form; // of what it becomes
};

struct weir_aggregate_conversion;

// In the arena. Every form must be known. is_windowed: of the aggregate, as before.
const struct weir_aggregate_conversion *
weir_aggregate_conversion_create(struct weir_arena *arena, bool is_windowed, uint32_t from_count,
                                 const char *const *from_forms, uint32_t to_count,
                                 const struct weir_slot_source *to);

// Appends what the value of an entry of "groups" becomes. False: it is no group of that kind. As a
// weir_state_conversion wants it.
bool weir_aggregate_convert(const void *conversion, struct weir_view value,
                            struct weir_buffer *out);

// The states of single values that slot `number` may have had: entries of a slot that is gone are
// dropped.
const char *weir_aggregate_entries_name(struct weir_arena *arena, bool is_distinct,
                                        uint32_t number);

#endif
