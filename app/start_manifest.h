// SPDX-License-Identifier: Apache-2.0
// What a run begins with that goes on from no checkpoint of its own: a manifest like any other, so
// that a crash in its first epoch begins at the same place. Thread: the main thread.
#ifndef WEIR_APP_START_MANIFEST_H
#define WEIR_APP_START_MANIFEST_H

#include "app/recover.h"

struct weir_start_manifest_wish {
    const char *kind;                  // "start", "reset"
    const char *restore;               // what was obeyed of WEIR_RESTORE
    const struct weir_manifest *state; // whose state is brought in; NULL: none
    const char *import_path;           // the savepoint that holds its files; NULL: the store does
};

// Takes the store over and makes the manifest durable: number, attempt, positions and state are
// those of `recovered`. State of a savepoint is brought into the store first. Arrays of the
// manifest go to the arena. Blocks on the disk.
enum weir_status weir_start_manifest_write(const struct weir_job_context *context,
                                           const struct weir_recovered *recovered,
                                           const struct weir_start_manifest_wish *wish,
                                           struct weir_arena *arena, struct weir_manifest *manifest,
                                           struct weir_error *error);

#endif
