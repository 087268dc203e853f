// SPDX-License-Identifier: Apache-2.0
// Keyed state, as the author of an operator sees it. A state is a map from key bytes to value bytes
// that belongs to one operator in one task; it survives crashes with the checkpoint that the task
// takes part in, and moves with its key groups when the parallelism changes. Keys are made by
// weir_key_encode (runtime/types/key.h); the first two bytes of what is stored are the key group.
//
// This map is a value by key (get, update) and ordered state (scan). The other kinds of state:
//   keyed_shapes.h     list, map, raw bytes of a key group   } layers over this map: they move with
//   timers.h           timers by key                         } their key groups, too
//   state_ttl.h        time to live of a key                 }
//   operator_state.h   of no key: lists that are split or united, broadcast, raw bytes of a task
// Which one to take, and what becomes of each with other numbers of tasks: docs/state.md.
//
// Thread: the task's. Calls may block on the disk when a key is not in memory: prefetch the keys of
// a batch first. Pointers into values are valid until the next call on the same state store; values
// begin at addresses that are multiples of 8.
#ifndef WEIR_RUNTIME_STATE_H
#define WEIR_RUNTIME_STATE_H

#include "runtime/snapshot.h"

struct weir_state;       // one state
struct weir_state_store; // all states of one task

struct weir_state_key {
    uint16_t key_group;
    struct weir_view bytes;
};

struct weir_state_change {
    struct weir_state_key key;
    struct weir_view value; // data NULL: removed (it may not have been there before)
};

struct weir_state_room {
    void *value;
    bool existed;
};

struct weir_state_ops {
    // The value of a key; false: there is none.
    bool (*get)(struct weir_state *state, const struct weir_state_key *key,
                struct weir_view *value);
    // Room for a value of size_bytes under the key, to be written before the next call. What was
    // there stays in its first bytes; new bytes are zero. *existed says whether there was one.
    void *(*update)(struct weir_state *state, const struct weir_state_key *key, uint32_t size_bytes,
                    bool *existed);
    // The same for the keys of a batch, all with one size, and with as few reads as possible: all
    // rooms are valid until the next call. A key that comes twice has one room, and existed then.
    void (*update_many)(struct weir_state *state, uint32_t count, const struct weir_state_key *keys,
                        uint32_t size_bytes, struct weir_state_room *rooms);
    void (*remove)(struct weir_state *state, const struct weir_state_key *key);
    // Brings the keys into memory with as few reads as possible.
    void (*prefetch)(struct weir_state *state, uint32_t count, const struct weir_state_key *keys);
    // Entries of one key group with from <= key < to (to.data NULL: to the end), in the order of
    // the key bytes, until visit returns false. visit must not call into the state.
    void (*scan)(struct weir_state *state, uint16_t key_group, struct weir_view from,
                 struct weir_view to,
                 bool (*visit)(void *context, const struct weir_state_key *key,
                               struct weir_view value),
                 void *context);
    // Reading what has changed in this epoch: begun before its barrier and after its last change;
    // what is read is as it was then, also after the barrier, while the next epoch goes on. It must
    // come to its end before anything of the next epoch is read: what is not read yet takes room.
    void (*begin_changes)(struct weir_state *state);
    // The next ones, count_max at most, in no order, each key that was updated or removed once. 0:
    // that was all. They stay valid until the next call.
    uint32_t (*read_changes)(struct weir_state *state, uint32_t count_max,
                             struct weir_state_change *changes);
};

struct weir_state {
    const struct weir_state_ops *ops;
};

struct weir_key_group_range {
    uint16_t first;
    uint16_t count;
};

enum { WEIR_KEY_GROUP_COUNT = 128 };

// The groups of task task_idx of task_count.
static inline struct weir_key_group_range weir_key_groups_of(uint32_t task_idx, uint32_t task_count)
{
    uint32_t first = (task_idx * WEIR_KEY_GROUP_COUNT + task_count - 1) / task_count;
    uint32_t next = ((task_idx + 1) * WEIR_KEY_GROUP_COUNT + task_count - 1) / task_count;
    return (struct weir_key_group_range){.first = (uint16_t)first,
                                         .count = (uint16_t)(next - first)};
}

// The task that owns a group.
static inline uint32_t weir_key_group_owner(uint16_t key_group, uint32_t task_count)
{
    return key_group * task_count / WEIR_KEY_GROUP_COUNT;
}

// A file of a checkpoint, as the manifest lists it. name is relative to the store's folder.
struct weir_state_file {
    const char *name;
    uint64_t size_bytes;
    uint64_t xxh3;
    bool is_materialised; // part of a native checkpoint; else a redo log
    int64_t number;       // the checkpoint whose changes it holds, or up to which it is complete
};

// How many rows an operator knows (groups, rows of a table): the entries of its first state.
struct weir_state_rows {
    const char *operator_id;
    int64_t count;
};

// What one task's state consists of in checkpoint n.
struct weir_state_handle {
    const char *stage; // stable id of the keyed stage
    struct weir_key_group_range key_groups;
    uint32_t file_count;
    const struct weir_state_file *files; // materialisation first, then logs by number
    uint32_t rows_count;                 // 0 also where an early version did not count them
    const struct weir_state_rows *rows;
};

// What becomes of the entries of one state of a checkpoint when the job that goes on from it keeps
// something else (docs/state.md). Keys stay. Asked for every entry before the
// task runs, by several threads at once.
struct weir_state_conversion {
    const char *operator_id;
    const char *state; // its name
    // Appends to `out` what the value becomes; false: it is not what it should be. NULL: the
    // state's entries are dropped.
    bool (*convert)(const void *context, struct weir_view value, struct weir_buffer *out);
    const void *context;
};

// A deep copy, to be freed with free().
struct weir_state_handle *weir_state_handle_copy(const struct weir_state_handle *handle);

struct weir_state_store_ops {
    // The state `name` of an operator (both stable across restarts). Before the first batch.
    struct weir_state *(*open_state)(struct weir_state_store *store, const char *operator_id,
                                     const char *name);
    // Barrier n, after every operator has had its call: freezes what changed, holds the snapshot
    // until it is durable and adds the handle (weir_snapshot_set_state). Constant time.
    void (*barrier)(struct weir_state_store *store, const struct weir_barrier *barrier,
                    struct weir_snapshot *snapshot);
    // Checkpoint n is committed.
    void (*committed)(struct weir_state_store *store, int64_t number);
    // True: too much is not durable yet; the task takes no input until it is woken. Only while io
    // is at work that will end it: never for changes that wait for a barrier, which comes as input.
    bool (*is_full)(struct weir_state_store *store);
    // A failure of the io side (disk full, I/O error): the epoch cannot become durable.
    enum weir_status (*check)(struct weir_state_store *store, struct weir_error *error);
    // Ends its io; what is not durable yet is dropped and its snapshots abandoned. Folders stay.
    void (*destroy)(struct weir_state_store *store);
    // True: changes since the last barrier near their bound; a checkpoint is asked for at once.
    bool (*wants_checkpoint)(struct weir_state_store *store);
};

struct weir_state_store {
    const struct weir_state_store_ops *ops;
};

#endif
