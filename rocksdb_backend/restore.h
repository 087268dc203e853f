// SPDX-License-Identifier: Apache-2.0
// Restore: from the files of a checkpoint to a live RocksDB that holds exactly the entries of this
// task's key groups at that checkpoint. Every file is verified before it is used. Nothing of the
// checkpoint store is changed, and nothing of an older working folder is used.
// Thread: the caller's, before the task runs. Blocks on the disk.
#ifndef WEIR_ROCKSDB_BACKEND_RESTORE_H
#define WEIR_ROCKSDB_BACKEND_RESTORE_H

#include "rocksdb_backend/live.h"
#include "runtime/state.h"

struct weir_restore {
    // What is asked.
    const char *stage;
    struct weir_key_group_range key_groups;
    const char *work_folder; // exists and is empty
    const char *store_folder;
    size_t memory_bytes;     // RocksDB's
    uint64_t load_bytes_min; // of changes that come in as a file (bulk.h)
    int64_t number;          // of the checkpoint
    uint32_t handle_count;   // 0: an empty state
    const struct weir_state_handle *handles;
    // Of states whose entries become others. Any: nothing of the checkpoint can be listed again.
    uint32_t conversion_count;
    const struct weir_state_conversion *conversions;
    // What is found.
    struct weir_live *live;
    bool is_empty; // there is no entry
    // The handle that is ours as it is: the next checkpoint can list its files. NULL: the state was
    // put together from those of other key groups, so that it needs a materialisation of its own.
    const struct weir_state_handle *same;
};

// Error (REFUSE): a file is missing or damaged, a key group is nobody's or two handles' own.
enum weir_status weir_restore_run(struct weir_restore *restore, struct weir_error *error);

#endif
