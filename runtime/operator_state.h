// SPDX-License-Identifier: Apache-2.0
// Operator state: what an operator keeps in its task's memory, of no key in particular, and finds
// again after a restart. It is small, so it is written whole into the manifest of each checkpoint.
// The kinds, and how each is spread over another number of tasks: enum weir_operator_state_kind.
//
// An operator opens its states when it is created (the task's store is handed to it) and changes
// them as it likes; the task copies them into the snapshot right behind the operator's barrier
// call, so that whatever was changed before or in that call belongs to checkpoint n, and nothing
// that is changed later does. The page for authors: docs/state.md.
//
// Thread: the task's, but for create, which runs before it. Nothing blocks.
#ifndef WEIR_RUNTIME_OPERATOR_STATE_H
#define WEIR_RUNTIME_OPERATOR_STATE_H

#include "runtime/snapshot.h"

enum weir_operator_state_kind {
    // A list. As many tasks as before: each has its own items again. Else all items, in the order
    // of their tasks, are cut into runs of equal length (one more or less), one a task.
    WEIR_OPERATOR_STATE_SPLIT,
    // A list. Every task gets the items of all tasks, in the order of these.
    WEIR_OPERATOR_STATE_UNION,
    // A map, the same in every task. Every task gets one task's copy whole.
    WEIR_OPERATOR_STATE_BROADCAST,
    // A list whose items are opaque: what one task wrote. As many tasks as before: each has its own
    // again. Else each task's items go together to one task; some tasks have those of several, or
    // none.
    WEIR_OPERATOR_STATE_RAW,
    WEIR_OPERATOR_STATE_KIND_COUNT,
};

const char *weir_operator_state_kind_name(enum weir_operator_state_kind kind); // in manifests
bool weir_operator_state_kind_parse(const char *name, enum weir_operator_state_kind *kind);

// Of all operator states of one task: they are in every manifest, and every commit waits for it.
enum { WEIR_OPERATOR_STATE_BYTES_MAX = 1 << 20 };

// What one task has put into a checkpoint under one name, as a manifest has it.
struct weir_operator_state_part {
    const char *operator_id;
    const char *name;
    enum weir_operator_state_kind kind;
    uint32_t task_idx; // within the operator's stage
    uint32_t task_count;
    uint32_t item_count; // of a broadcast state: keys and values in turn
    const struct weir_view *items;
};

// A deep copy, to be freed with free().
struct weir_operator_state_part *
weir_operator_state_part_copy(const struct weir_operator_state_part *part);

struct weir_operator_state_store; // of one task

struct weir_operator_state_config {
    uint32_t task_idx; // within the stage
    uint32_t task_count;
    uint32_t part_count; // of the checkpoint that is gone on from, of all operators and tasks
    const struct weir_operator_state_part *parts; // outlive the opening of states
};

struct weir_operator_state_store *
weir_operator_state_store_create(const struct weir_operator_state_config *config);
void weir_operator_state_store_destroy(struct weir_operator_state_store *store); // accepts NULL

// --- lists ---------------------------------------------------------------------------------------

struct weir_operator_list;

// The state `name` of an operator (both stable across restarts), filled with what is this task's of
// the checkpoint. kind: SPLIT, UNION or RAW; the same for ever. Once a name. Owned by the store.
struct weir_operator_list *weir_operator_state_list(struct weir_operator_state_store *store,
                                                    const char *operator_id, const char *name,
                                                    enum weir_operator_state_kind kind);
uint32_t weir_operator_list_count(const struct weir_operator_list *list);
// Valid until the list is changed.
struct weir_view weir_operator_list_at(const struct weir_operator_list *list, uint32_t idx);
void weir_operator_list_add(struct weir_operator_list *list, struct weir_view item);
void weir_operator_list_clear(struct weir_operator_list *list);

// --- broadcast state -----------------------------------------------------------------------------

// A map that is the same in every task of the operator, because every task is given the same
// changes in the same order. What differs between tasks does not belong here.
struct weir_broadcast_state;

struct weir_broadcast_state *weir_operator_state_broadcast(struct weir_operator_state_store *store,
                                                           const char *operator_id,
                                                           const char *name);
// value->data stays valid until the state is changed. False: there is none.
bool weir_broadcast_state_get(const struct weir_broadcast_state *state, struct weir_view key,
                              struct weir_view *value);
void weir_broadcast_state_put(struct weir_broadcast_state *state, struct weir_view key,
                              struct weir_view value);
void weir_broadcast_state_remove(struct weir_broadcast_state *state, struct weir_view key);
uint32_t weir_broadcast_state_count(const struct weir_broadcast_state *state);

// --- the task's side -----------------------------------------------------------------------------

// Copies the states of one operator into the snapshot. Error (FAIL): they are too large.
enum weir_status weir_operator_state_snapshot(const struct weir_operator_state_store *store,
                                              const char *operator_id,
                                              struct weir_snapshot *snapshot,
                                              struct weir_error *error);

#endif
