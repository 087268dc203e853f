// SPDX-License-Identifier: Apache-2.0
// The janitor: removes what only older checkpoints needed, manifests and the files that they list.
// It reads the store once, when its owner begins, and knows from then on what is there: nobody else
// writes or deletes. Only an owner that has claimed the job has one. Thread: the committer's.
#ifndef WEIR_KAFKA_JANITOR_H
#define WEIR_KAFKA_JANITOR_H

#include "runtime/store.h"

// What knows the files of keyed state (the backend's; layers keep it out of here).
struct weir_state_files {
    // Deletes those of the candidates that no handle of `kept` lists.
    void (*remove)(const struct weir_state_files *files, const char *store_folder,
                   uint32_t candidate_count, const char *const *candidates, uint32_t kept_count,
                   const struct weir_state_handle *kept);
    // The names of all state files of the folder, those of crashes among them. They go to the
    // arena.
    enum weir_status (*list)(const struct weir_state_files *files, const char *store_folder,
                             struct weir_arena *arena, const char ***names, uint32_t *name_count,
                             struct weir_error *error);
};

struct weir_janitor_config {
    struct weir_store *store;
    const struct weir_clock *clock;
    struct weir_attempt owner;
    uint32_t retained;
    const struct weir_state_files *files; // NULL: the job keeps no keyed state
};

struct weir_janitor;

// Right after the claim of checkpoint `number` of `attempt`: leftovers of dead attempts go.
struct weir_janitor *weir_janitor_create(const struct weir_janitor_config *config, int64_t number,
                                         const struct weir_attempt *attempt);
void weir_janitor_destroy(struct weir_janitor *janitor); // accepts NULL; deletes nothing

// A manifest of this owner has become durable.
void weir_janitor_add(struct weir_janitor *janitor, const struct weir_manifest *manifest);

// Checkpoint `number` of this owner is being copied: neither its manifest nor its files go before
// it is unpinned as often as it was pinned.
void weir_janitor_pin(struct weir_janitor *janitor, int64_t number);
void weir_janitor_unpin(struct weir_janitor *janitor, int64_t number);

// Checkpoint `number` of this owner is committed. Failures are logged: what stays goes another
// time.
void weir_janitor_clean(struct weir_janitor *janitor, int64_t number);

#endif
