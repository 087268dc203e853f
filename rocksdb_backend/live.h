// SPDX-License-Identifier: Apache-2.0
// The live RocksDB of one task, and the only file that knows RocksDB. Its folder belongs to one
// life of the process: nothing in it is synced, all of it is made anew from the checkpoint store.
//
// A stored key is the key group (2 bytes), the state's id (8 bytes), both with the highest byte
// first, then the key: a range of key groups is a range of keys, and so is a state of a group.
//
// Thread: reads are the task's, writes and native checkpoints one io thread's; RocksDB lets the two
// run side by side. Errors (domain STORE) are RECOVER, those of open REFUSE.
#ifndef WEIR_ROCKSDB_BACKEND_LIVE_H
#define WEIR_ROCKSDB_BACKEND_LIVE_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

struct weir_live;

enum { WEIR_LIVE_KEY_PREFIX_BYTES = 10 };

// Writes the stored key to `out`, whose old content goes.
void weir_live_key_make(struct weir_buffer *out, uint16_t key_group, uint64_t state_id,
                        struct weir_view key);

// Opens or makes the database in the folder. memory_bytes is divided between blocks and memtables.
enum weir_status weir_live_open(const char *path, size_t memory_bytes, struct weir_live **live,
                                struct weir_error *error);
// For import: changes nothing in the folder.
enum weir_status weir_live_open_read_only(const char *path, struct weir_live **live,
                                          struct weir_error *error);
void weir_live_close(struct weir_live *live); // accepts NULL

// Estimates of RocksDB's own; 0 where it has none. Thread: any.
enum weir_live_figure {
    WEIR_LIVE_ENTRIES,
    WEIR_LIVE_BYTES,
};
uint64_t weir_live_figure(const struct weir_live *live, enum weir_live_figure figure);

// value->data NULL: there is none. Valid until the next call of get or get_many.
enum weir_status weir_live_get(struct weir_live *live, struct weir_view key,
                               struct weir_view *value, struct weir_error *error);
// The same for many keys at once.
enum weir_status weir_live_get_many(struct weir_live *live, uint32_t count,
                                    const struct weir_view *keys, struct weir_view *values,
                                    struct weir_error *error);

// From `from` on, up to but without `to`, in order. What is written meanwhile is not seen.
struct weir_live_iterator;
struct weir_live_iterator *weir_live_iterate(struct weir_live *live, struct weir_view from,
                                             struct weir_view to);
// False: the end, or an error, which close reports. Valid until the next call.
bool weir_live_iterator_at(const struct weir_live_iterator *iterator, struct weir_view *key,
                           struct weir_view *value);
void weir_live_iterator_next(struct weir_live_iterator *iterator);
enum weir_status weir_live_iterator_close(struct weir_live_iterator *iterator,
                                          struct weir_error *error);

// Changes, gathered and written now and then as they come: atomic they are not.
struct weir_live_batch;
struct weir_live_batch *weir_live_batch_create(struct weir_live *live);
enum weir_status weir_live_batch_put(struct weir_live_batch *batch, struct weir_view key,
                                     struct weir_view value, struct weir_error *error);
enum weir_status weir_live_batch_remove(struct weir_live_batch *batch, struct weir_view key,
                                        struct weir_error *error);
enum weir_status weir_live_batch_flush(struct weir_live_batch *batch, struct weir_error *error);
void weir_live_batch_destroy(struct weir_live_batch *batch); // what was not flushed is dropped

// A native checkpoint of all that was written, in a folder that does not exist yet: hard links.
enum weir_status weir_live_checkpoint(struct weir_live *live, const char *path,
                                      struct weir_error *error);

// Brings changes in as sorted files (value.data NULL: removed), atomically at finish. Keys ascend
// strictly over the whole life of a loader.
struct weir_live_loader;
struct weir_live_loader *weir_live_loader_create(struct weir_live *live, const char *folder);
enum weir_status weir_live_loader_add(struct weir_live_loader *loader, struct weir_view key,
                                      struct weir_view value, struct weir_error *error);
// Without it nothing is brought in.
enum weir_status weir_live_loader_finish(struct weir_live_loader *loader, struct weir_error *error);
void weir_live_loader_destroy(struct weir_live_loader *loader);

#endif
