// SPDX-License-Identifier: Apache-2.0
// What a changed job makes of the state in the checkpoint that it would go on from: what is kept,
// what begins, from now on or empty, and what would be lost (docs/state.md, "A changed job"). Pure.
// Thread: any.
#ifndef WEIR_APP_STATE_CHANGE_H
#define WEIR_APP_STATE_CHANGE_H

#include "app/state_operators.h"

enum weir_state_fate {
    WEIR_STATE_KEPT,
    WEIR_STATE_BEGINS,   // an operator that the checkpoint does not know: it begins empty
    WEIR_STATE_FROM_NOW, // one more value in rows that are kept
    WEIR_STATE_LOST,
};

struct weir_state_item {
    enum weir_state_fate fate;
    const char *name;   // of the operator
    const char *slot;   // what one of its values computes; NULL: all of them
    const char *reason; // LOST: what has become of it, a part of a sentence
    uint64_t bytes;     // in files that it may share with operators of its stage
    int64_t rows;       // -1: nobody has counted them
};

struct weir_job_change {
    int64_t number; // of the checkpoint; -1: there is none
    uint32_t item_count;
    const struct weir_state_item *items;
    bool is_lossy; // one of them is LOST
    // What the job restores if the loss is allowed: the states of stages that stay, and what their
    // entries become.
    uint32_t state_count;
    const struct weir_state_handle *states;
    uint32_t conversion_count;
    const struct weir_stage_conversion *conversions;
    // What its manifests record, and what describes `states` as they are until then.
    uint32_t operator_count;
    const struct weir_manifest_operator *operators;
    uint32_t restored_count;
    const struct weir_manifest_operator *restored;
};

struct weir_stage_conversion {
    const char *stage;
    struct weir_state_conversion conversion;
};

// manifest: NULL: the job begins with nothing. Everything goes to the arena; texts of the manifest
// are pointed at.
void weir_job_change_find(const struct weir_plan *plan, const struct weir_manifest *manifest,
                          struct weir_arena *arena, struct weir_job_change *change);

// One line about an item, without its end.
void weir_state_item_print(const struct weir_state_item *item, struct weir_buffer *out);

// Error (REFUSE) if something is lost and that is not allowed: lists operators, bytes and rows, and
// says how it is allowed.
enum weir_status weir_job_change_check(const struct weir_job_change *change, bool is_loss_allowed,
                                       struct weir_error *error);

#endif
