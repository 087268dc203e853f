// SPDX-License-Identifier: Apache-2.0
// The checkpoint store of one job instance: a folder <dir>/<job>/<instance>/ with a manifest a
// checkpoint and the attempt of the owner. Every write is durable when it returns (temporary file,
// fsync, rename, fsync of the folder). Whoever is not the owner writes and deletes nothing.
// Thread: one at a time. Calls block on the disk.
#ifndef WEIR_RUNTIME_STORE_H
#define WEIR_RUNTIME_STORE_H

#include "runtime/manifest.h"

struct weir_store;

// Makes the folders. Error (domain STORE, REFUSE) names the path and the cause.
enum weir_status weir_store_open(const char *dir, const char *job_id, int32_t instance_id,
                                 struct weir_store **store, struct weir_error *error);
// The same for looking only: no folder is made, a missing one is an empty store.
enum weir_status weir_store_open_read_only(const char *dir, const char *job_id,
                                           int32_t instance_id, struct weir_store **store,
                                           struct weir_error *error);
void weir_store_close(struct weir_store *store);
const char *weir_store_path(const struct weir_store *store);

// One manifest file by its name; what is inside is known only after reading it.
struct weir_store_entry {
    int64_t number;
    struct weir_attempt attempt;
    int64_t modified_ms; // Unix epoch
};

// All manifests, by number, then time. Files that are none of ours are ignored.
enum weir_status weir_store_list(struct weir_store *store, struct weir_arena *arena,
                                 struct weir_store_entry **entries, uint32_t *entry_count,
                                 struct weir_error *error);

// Error: *is_missing tells an absent file from a damaged one.
enum weir_status weir_store_read_manifest(struct weir_store *store, int64_t number,
                                          const struct weir_attempt *attempt,
                                          struct weir_arena *arena, struct weir_manifest *manifest,
                                          bool *is_missing, struct weir_error *error);

// Failure (RECOVER) names path and cause: full, read-only, I/O error.
enum weir_status weir_store_write_manifest(struct weir_store *store,
                                           const struct weir_manifest *manifest,
                                           struct weir_error *error);

// The same as the store's owner. FENCED, and nothing is written, once another attempt has taken the
// store over.
enum weir_status weir_store_write_manifest_as(struct weir_store *store,
                                              const struct weir_attempt *owner,
                                              const struct weir_manifest *manifest,
                                              struct weir_error *error);

// A file that a manifest lists: is it there, as long and with the checksum that it says? Error
// (REFUSE) names the file, what was expected and what was found.
enum weir_status weir_store_verify_file(struct weir_store *store,
                                        const struct weir_state_file *file,
                                        struct weir_error *error);

// Takes the store over: from now on only this attempt writes and deletes. Comes before the claim,
// so that an owner that wakes after a claim finds the store taken.
enum weir_status weir_store_set_owner(struct weir_store *store, const struct weir_attempt *owner,
                                      struct weir_error *error);
// FENCED: another attempt has taken the store over.
enum weir_status weir_store_check_owner(struct weir_store *store,
                                        const struct weir_attempt *owner,
                                        struct weir_error *error);

// Who has the store; "" when nobody has, or it cannot be read.
struct weir_attempt weir_store_owner(struct weir_store *store);

// Failures are logged and otherwise left: what stays is removed another time.
void weir_store_delete_manifest(struct weir_store *store, const struct weir_store_entry *entry);

// Removes what crashed writes left behind. Only by an owner that has claimed the job.
void weir_store_delete_temporaries(struct weir_store *store);

// What may go after checkpoint `number` of `attempt` was committed. Pure: sets is_deleted[i].
// Kept are the newest `retained` numbers that there are up to `number`, whatever is younger than
// young_ms, and, unless at_start, whatever is newer than `number`. At start nothing newer can be
// committed any more (its owner is fenced): leftovers above `number`, and other attempts at
// `number`, go.
void weir_retention_select(const struct weir_store_entry *entries, uint32_t entry_count,
                           int64_t number, const struct weir_attempt *attempt, uint32_t retained,
                           int64_t now_ms, int64_t young_ms, bool at_start, bool *is_deleted);

#endif
