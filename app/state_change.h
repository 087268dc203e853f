// SPDX-License-Identifier: Apache-2.0
// What a changed job makes of the state in the checkpoint that it would go on from: operators that
// are no longer there, or that keep something else than they did, would lose what they know. Pure.
// Thread: any.
#ifndef WEIR_APP_STATE_CHANGE_H
#define WEIR_APP_STATE_CHANGE_H

#include "app/recover.h"

// The plan's operators with keyed state, as a manifest records them. Into the arena.
void weir_state_operators(const struct weir_plan *plan, struct weir_arena *arena,
                          const struct weir_manifest_operator **operators, uint32_t *count);

// Compares the manifest's state with what the operators keep. Nothing is lost: *states are the
// manifest's. Else: refused (REFUSE; the text lists operators and bytes, and says how it is
// allowed), or, allowed, *states are those that stay, and *warning says what was dropped (NULL:
// nothing). A stage keeps its state as a whole or not at all.
enum weir_status weir_state_change_check(const struct weir_manifest *manifest,
                                         const struct weir_manifest_operator *operators,
                                         uint32_t operator_count, bool is_loss_allowed,
                                         struct weir_arena *arena,
                                         const struct weir_state_handle **states,
                                         uint32_t *state_count, const char **warning,
                                         struct weir_error *error);

// For a recovery: fills operators and states of `recovered` from the plan and the manifest that is
// gone on from (NULL: none). is_deciding: what WEIR_ALLOW=state_loss drops is logged.
enum weir_status weir_state_keep(const struct weir_job_context *context,
                                 struct weir_recovered *recovered,
                                 const struct weir_manifest *manifest, bool is_deciding,
                                 struct weir_arena *arena, struct weir_error *error);

#endif
