// SPDX-License-Identifier: Apache-2.0
// Many changes on their way into a live RocksDB: gathered, put in order, of several changes of a
// key the last one kept, then written. In order a write costs three quarters of what it costs at
// random; from some size on the changes come in as a sorted file, which costs a third. Thread: that
// of the one who writes into the live RocksDB.
#ifndef WEIR_ROCKSDB_BACKEND_BULK_H
#define WEIR_ROCKSDB_BACKEND_BULK_H

#include "rocksdb_backend/live.h"
#include "runtime/state.h"

struct weir_bulk;

// From so many bytes on changes come in as a file: below, it costs more than it saves, as each file
// lies in RocksDB's uppermost level until it is compacted.
#define WEIR_BULK_LOAD_BYTES_MIN (UINT64_C(8) << 20)

// folder: for files on their way in; on the file system of the live RocksDB.
struct weir_bulk *weir_bulk_create(struct weir_live *live, const char *folder,
                                   uint64_t load_bytes_min);
void weir_bulk_destroy(struct weir_bulk *bulk); // what was not written is dropped

// Key and value (data NULL: removed) stay the caller's and must stay where they are until write.
void weir_bulk_add(struct weir_bulk *bulk, uint64_t state_id, const struct weir_state_key *key,
                   struct weir_view value);
uint64_t weir_bulk_bytes(const struct weir_bulk *bulk); // of what was added since the last write
enum weir_status weir_bulk_write(struct weir_bulk *bulk, struct weir_error *error);

#endif
