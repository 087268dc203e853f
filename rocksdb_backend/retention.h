// SPDX-License-Identifier: Apache-2.0
// Which files of the checkpoint store nobody needs any more. Whoever owns the store decides, when
// it removes manifests: after a commit, and once at its start.
//
// Why it is enough to look at manifests: a file that a handle lists no more is listed by no later
// one (io.c, invariant 5), and what a later one will list anew is no candidate, as no manifest that
// goes lists it. This holds for files of earlier lives and other key groups as well, whose use only
// ends too.
#ifndef WEIR_ROCKSDB_BACKEND_RETENTION_H
#define WEIR_ROCKSDB_BACKEND_RETENTION_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/state.h"

// Pure. is_deleted[i]: no handle of `kept` lists candidates[i]. `kept` are the handles of all
// manifests that stay (those too that are newer than the last commit). Candidates after a commit:
// what the manifests that go list. At a start, before this life has written anything: all files.
void weir_state_files_select(const char *const *candidates, uint32_t candidate_count,
                             const struct weir_state_handle *kept, uint32_t kept_count,
                             bool *is_deleted);

// For a start: the names of all state files in the folder, whole or cut short by a crash.
enum weir_status weir_state_files_list(const char *store_folder, struct weir_arena *arena,
                                       const char ***names, uint32_t *name_count,
                                       struct weir_error *error);

// Failures are logged: what stays is removed another time.
void weir_state_file_delete(const char *store_folder, const char *name);

#endif
