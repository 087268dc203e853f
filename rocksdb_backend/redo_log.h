// SPDX-License-Identifier: Apache-2.0
// Redo logs: what one task changed in one epoch, as one file. Written once, whole, synced before it
// has its name, read at a restore. Little-endian:
//
//   "weirlog\0", format (4), first key group (2), count of them (2), number of the checkpoint (8),
//   entries (8), states (4), bytes of the stage's id (4), the id
//   a state:  its id (8), entries (8), then each entry: key group (1), bytes of the key (varint),
//             0 (removed) or two times (the bytes of the value + 1), + 1 if it is packed
//             (varint), key, value as it is or packed (redo_log.c)
//   bytes of all keys and values, not packed (8), XXH3 of everything before (8)
//
// Format 1, still read: key group and both sizes have 4 bytes each, the size 2^32-1 says removed,
// nothing is packed, and there is no sum in front of the XXH3.
//
// Thread: any; calls block on the disk.
#ifndef WEIR_ROCKSDB_BACKEND_REDO_LOG_H
#define WEIR_ROCKSDB_BACKEND_REDO_LOG_H

#include "rocksdb_backend/version.h"
#include "runtime/base/error.h"
#include "runtime/base/memory.h"

enum { WEIR_REDO_LOG_FORMAT = 2 };

// Writes folder/name durably. written (NULL: nothing) is called before it is synced, when the set
// is not read any more. Failure (RECOVER) names path and cause; nothing is left behind.
enum weir_status weir_redo_log_write(const struct weir_frozen_set *set, const char *stage,
                                     struct weir_key_group_range key_groups, const char *folder,
                                     const char *name, void (*written)(void *context),
                                     void *context, uint64_t *size_bytes, uint64_t *xxh3,
                                     struct weir_error *error);

// Reads the file into `bytes` and calls visit for each entry (value.data NULL: removed), whose keys
// and values lie there. Failure (REFUSE): damaged, of another stage, other key groups or another
// checkpoint, of a newer format. Entries may have been visited before it was found.
enum weir_status
weir_redo_log_read(const char *folder, const struct weir_state_file *file, const char *stage,
                   struct weir_key_group_range key_groups, struct weir_buffer *bytes,
                   void (*visit)(void *context, uint64_t state_id, const struct weir_state_key *key,
                                 struct weir_view value),
                   void *context, struct weir_error *error);

#endif
