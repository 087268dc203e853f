// SPDX-License-Identifier: Apache-2.0
// The io side of a task's state: what becomes of frozen sets. Three workers, so that a checkpoint
// waits for nothing but its own log:
//
//   log         writes redo log n, moves written_through, wakes the task; syncs the log, adds the
//               handle of checkpoint n to its snapshot, lets go of it
//   live        applies the sets that the task hands over, several at a time, to the live RocksDB,
//               moves clean_through, wakes the task; where it was asked for, takes a native
//               checkpoint then
//   publish     brings a native checkpoint into the checkpoint store: a materialisation
//
// Thread: create, submit, apply, check, stop, destroy are the task's; the rest says its worker.
#ifndef WEIR_ROCKSDB_BACKEND_IO_H
#define WEIR_ROCKSDB_BACKEND_IO_H

#include "rocksdb_backend/live.h"
#include "rocksdb_backend/version.h"
#include "runtime/base/clock.h"

struct weir_io;

struct weir_io_config {
    const char *stage; // all strings are copied
    struct weir_key_group_range key_groups;
    const char *work_folder;
    const char *store_folder;
    const char *name_prefix;      // of this life's files (files.h)
    struct weir_live *live;       // not owned
    struct weir_mailbox *mailbox; // the task's, woken when a set is clean or something failed
    const struct weir_clock *clock;
    // A materialisation is due when the logs since the last one are so many, or have as many bytes
    // as weir_io_materialise_log_bytes says; and pause_ms have passed since it was begun.
    uint64_t materialise_log_bytes;
    uint64_t materialise_log_bytes_min;
    uint32_t materialise_log_count;
    int64_t materialise_pause_ms;
    uint64_t load_bytes_min; // of a set that comes in as a file (bulk.h)
    bool is_stepped;
};

// files: what the next checkpoint will list besides its own log: of the checkpoint restored from,
// materialisation first. Copied.
struct weir_io *weir_io_create(const struct weir_io_config *config, uint32_t file_count,
                               const struct weir_state_file *files);

// Hands a set over to be logged. Its snapshot is held and let go of, or abandoned; the set itself
// is read until its epoch is written.
void weir_io_submit(struct weir_io *io, struct weir_frozen_set *set);

// Hands sets over to be applied, which are read until the last one's epoch is clean.
void weir_io_apply(struct weir_io *io, struct weir_application *application);

// How many bytes of logs are reason enough where the last materialisation has so many (0: there is
// none): some times as many, so that what it costs to write it again stays a fraction of the logs,
// between the two bounds.
uint64_t weir_io_materialise_log_bytes(const struct weir_io_config *config,
                                       uint64_t materialised_bytes);

// Whether the logs since the last materialisation are reason enough for the next one.
bool weir_io_wants_materialisation(struct weir_io *io);

// How far the io side has come: epochs whose logs have been written (and may not be synced yet),
// and those that are in the live RocksDB.
struct weir_io_progress {
    uint32_t written_through;
    uint32_t clean_through;
};
struct weir_io_progress weir_io_progress(const struct weir_io *io);

// What failed, if anything did: from then on nothing becomes durable any more. Any thread.
enum weir_status weir_io_check(struct weir_io *io, struct weir_error *error);
void weir_io_fail(struct weir_io *io, const struct weir_error *error);

// Brings the native checkpoint at `folder`, of everything up to `number`, into the store. Handles
// of whole_epoch and later list it. Publish worker, or the task's before the first set.
enum weir_status weir_io_publish(struct weir_io *io, int64_t number, uint32_t whole_epoch,
                                 const char *folder, struct weir_error *error);

enum weir_io_step {
    WEIR_IO_STEP_LOG,
    WEIR_IO_STEP_LIVE,
    WEIR_IO_STEP_PUBLISH,
};
bool weir_io_step(struct weir_io *io, enum weir_io_step step); // stepped only

// Finishes what is in work and drops the rest; snapshots of dropped sets are abandoned.
void weir_io_stop(struct weir_io *io);
void weir_io_destroy(struct weir_io *io); // stopped; accepts NULL

#endif
