// SPDX-License-Identifier: Apache-2.0
// What the operators of a plan keep in keyed state, as a manifest records it, so that a later start
// finds their state again although the job has changed. Pure. Thread: any.
#ifndef WEIR_APP_STATE_OPERATORS_H
#define WEIR_APP_STATE_OPERATORS_H

#include "runtime/manifest.h"
#include "sql/plan.h"

struct weir_state_operator {
    struct weir_manifest_operator record; // for the next manifests
    const struct weir_plan_node *node;
    bool is_input_changing; // rows that came before can be taken back
    // As the checkpoint knows it, with slots also where an early version did not record them, if it
    // can be told which they were. NULL: it does not know it.
    const struct weir_manifest_operator *before;
};

struct weir_state_operators {
    uint32_t count;
    const struct weir_state_operator *items;
};

// Of the plan. before: the manifest that is gone on from (NULL: none); a slot that it knows keeps
// its number. Into the arena.
struct weir_state_operators weir_state_operators_of(const struct weir_plan *plan,
                                                    const struct weir_manifest *before,
                                                    struct weir_arena *arena);

// Where among the slots of `op` the slot stands that computes the same; -1: there is none.
int32_t weir_state_slot_find(const struct weir_manifest_operator *op,
                             const struct weir_manifest_slot *slot);

#endif
