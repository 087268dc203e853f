// SPDX-License-Identifier: Apache-2.0
// Writes savepoints while the job goes on: takes committed checkpoints (WEIR_MAIL_SAVEPOINT, from
// the coordinator), copies each to the folder that its request names, and answers. The committer
// keeps the checkpoint's files until it hears WEIR_MAIL_SAVEPOINT_OVER. Thread: its own.
#ifndef WEIR_APP_SAVEPOINTS_H
#define WEIR_APP_SAVEPOINTS_H

#include "runtime/mailbox.h"
#include "runtime/store.h"

struct weir_savepoints;

struct weir_savepoints_config {
    struct weir_store *store;       // only read, by its path
    struct weir_attempt attempt;    // whose checkpoints they are
    struct weir_mailbox *committer; // outlives the writer
};

struct weir_savepoints *weir_savepoints_start(const struct weir_savepoints_config *config);
struct weir_mailbox *weir_savepoints_mailbox(struct weir_savepoints *savepoints);

// Ends the thread. is_finishing: after everything that was handed to it is copied (blocks as long
// as that takes); else what is under way is given up and its requests fail. Accepts NULL.
void weir_savepoints_stop(struct weir_savepoints *savepoints, bool is_finishing);

#endif
