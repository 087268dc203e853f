// SPDX-License-Identifier: Apache-2.0
// What a recovery does about a changed job: refuses what would lose state, or goes on with what is
// kept and says what is not. Thread: the main thread.
#ifndef WEIR_APP_STATE_KEEP_H
#define WEIR_APP_STATE_KEEP_H

#include "app/recover.h"

// Fills what `recovered` knows of state from the plan and the manifest that is gone on from (NULL:
// none). is_deciding: what is dropped because of WEIR_ALLOW=state_loss, and what starts from now,
// is logged.
enum weir_status weir_state_keep(const struct weir_job_context *context,
                                 struct weir_recovered *recovered,
                                 const struct weir_manifest *manifest, bool is_deciding,
                                 struct weir_arena *arena, struct weir_error *error);

#endif
