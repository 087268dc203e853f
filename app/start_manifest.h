// SPDX-License-Identifier: Apache-2.0
// What a run begins with that goes on from no checkpoint of its own: a manifest like any other, so
// that a crash in its first epoch begins at the same place. Thread: the main thread.
#ifndef WEIR_APP_START_MANIFEST_H
#define WEIR_APP_START_MANIFEST_H

#include "app/recover.h"

// Takes the store over and makes the manifest durable: number, attempt and positions are those of
// `recovered`; with a savepoint (NULL: none) its state is brought into the store first. Arrays of
// the manifest go to the arena. Blocks on the disk.
enum weir_status weir_start_manifest_write(const struct weir_job_context *context,
                                           const struct weir_recovered *recovered,
                                           const struct weir_manifest *savepoint,
                                           struct weir_arena *arena, struct weir_manifest *manifest,
                                           struct weir_error *error);

#endif
