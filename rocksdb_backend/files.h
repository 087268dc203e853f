// SPDX-License-Identifier: Apache-2.0
// Files of the checkpoint store: their names, how they get there durably, how they are verified.
// Names carry stage, key groups, attempt and number, so that no two lives of any task write the
// same one:
//   state.<stage>.<first>-<count>.<attempt>.<number>.log             a redo log
//   state.<stage>.<first>-<count>.<attempt>.<number>.db.<RocksDB's>  of the materialisation
//   <number>
//
// Thread: any. Calls block on the disk. Errors (domain STORE) name the path and the cause.
#ifndef WEIR_ROCKSDB_BACKEND_FILES_H
#define WEIR_ROCKSDB_BACKEND_FILES_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/state.h"

enum { WEIR_STATE_PATH_BYTES_MAX = 4096 };

// What can be done about a file of a checkpoint that is damaged or gone.
#define WEIR_STATE_REPAIR_HINT                                                                     \
    "; put the file back from a copy, or go on from a savepoint (WEIR_RESTORE=savepoint:<path>), " \
    "or start anew on purpose, with empty state (WEIR_RESTORE=discard:<word>)"

// What the names of one life of one task begin with, to be freed.
char *weir_state_name_prefix(const char *stage, struct weir_key_group_range key_groups,
                             const char *attempt);
char *weir_state_name_of_log(const char *prefix, int64_t number);
char *weir_state_name_of_db(const char *prefix, int64_t number, const char *local_name);
// RocksDB's own name of a file of a materialisation; NULL: a log.
const char *weir_state_name_local(const char *name);
bool weir_state_name_is_ours(const char *name);  // one of the two, or what a crash cut short
bool weir_state_name_is_table(const char *name); // an SST: never changed once it is there

// errno is set; a full disk is tried again, whatever the action. `folder` and `name` are joined
// with '/'.
enum weir_status weir_file_error(struct weir_error *error, enum weir_error_action action,
                                 const char *what, const char *folder, const char *name);

enum weir_status weir_file_digest(const char *folder, const char *name, uint64_t *size_bytes,
                                  uint64_t *xxh3, struct weir_error *error);
// REFUSE: missing, of another size, with another checksum; says which, expected and found.
enum weir_status weir_file_verify(const char *folder, const struct weir_state_file *file,
                                  struct weir_error *error);

// A second name for from_folder/from_name, or a copy where that cannot be (another file system) or
// must not be (is_copied: the file will be written to). Not synced; an old `to` is replaced.
enum weir_status weir_file_link(const char *from_folder, const char *from_name,
                                const char *to_folder, const char *to_name, bool is_copied,
                                struct weir_error *error);
// The same, durable but for the folder: once all are there, weir_folder_sync.
enum weir_status weir_file_publish(const char *from_folder, const char *from_name,
                                   const char *to_folder, const char *to_name,
                                   struct weir_error *error);
enum weir_status weir_folder_sync(const char *path, struct weir_error *error);

// Failures are logged: what stays is removed another time.
void weir_file_remove(const char *folder, const char *name);

// Makes the folder; what was there under the name is removed.
enum weir_status weir_folder_remake(const char *path, struct weir_error *error);
enum weir_status weir_folder_make_all(const char *path,
                                      struct weir_error *error); // and its parents
void weir_folder_remove(const char *path); // with everything in it; failures are logged

// Calls visit for each ordinary file.
enum weir_status weir_folder_each(const char *path,
                                  enum weir_status (*visit)(void *context, const char *name,
                                                            struct weir_error *error),
                                  void *context, struct weir_error *error);

#endif
