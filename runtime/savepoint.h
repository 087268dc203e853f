// SPDX-License-Identifier: Apache-2.0
// A savepoint: a committed checkpoint, copied to a folder of its own that needs nothing else and
// can be moved: `savepoint.json`, a manifest as in the checkpoint store, and beside it every file
// of state that the manifest lists, with size and checksum. savepoint.json is written last, so a
// folder without it is no savepoint.
// Thread: any; one at a time on a folder. Calls block on the disk.
#ifndef WEIR_RUNTIME_SAVEPOINT_H
#define WEIR_RUNTIME_SAVEPOINT_H

#include "runtime/manifest.h"

#include <stdatomic.h>

// Can a savepoint be written there? The path is absolute (file:// in front is allowed), the folder
// empty or absent; it is made, with its parents. Error (REFUSE) says what is in the way.
enum weir_status weir_savepoint_prepare(const char *path, struct weir_error *error);

// Copies the checkpoint's files out of the store's folder; each is checked while it is copied.
// Durable when it returns. On failure, and once *is_cancelled, what was copied is removed again.
enum weir_status weir_savepoint_write(const char *path, const char *store_folder,
                                      const struct weir_manifest *manifest,
                                      const atomic_bool *is_cancelled, struct weir_error *error);

// Error (REFUSE): not there, not finished, damaged, of a newer format.
enum weir_status weir_savepoint_read(const char *path, struct weir_arena *arena,
                                     struct weir_manifest *manifest, struct weir_error *error);

// Is every file there, as long and with the checksum that the manifest says? Error (REFUSE).
enum weir_status weir_savepoint_verify(const char *path, const struct weir_manifest *manifest,
                                       struct weir_error *error);

// Copies the savepoint's state files into a checkpoint store that is the caller's to write, durably
// and under their own names. A manifest that lists them may be written afterwards.
enum weir_status weir_savepoint_import(const char *path, const struct weir_manifest *manifest,
                                       const char *store_folder, struct weir_error *error);

#endif
