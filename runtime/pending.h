// SPDX-License-Identifier: Apache-2.0
// The pending checkpoints of a coordinator, oldest first: triggered and not yet committed. It keeps
// them and says what an acknowledgement is; what follows from it is the coordinator's.
// Thread: the coordinator's.
#ifndef WEIR_RUNTIME_PENDING_H
#define WEIR_RUNTIME_PENDING_H

#include "runtime/base/limits.h"
#include "runtime/checkpoint_event.h"
#include "runtime/request.h"
#include "runtime/snapshot.h"

struct weir_completed;

enum weir_pending_state {
    WEIR_PENDING_COLLECTING, // acknowledgements are coming in
    WEIR_PENDING_COMMITTING, // with the committer
};

struct weir_pending {
    struct weir_barrier barrier;
    enum weir_pending_state state;
    bool is_stored; // its manifest is durable: the time-out is over
    int64_t triggered_ms;
    int64_t handed_ms;  // to the committer: all tasks have acknowledged
    int64_t stored_ms;  // the manifest
    int64_t overdue_ms; // when the commit was first seen to be; 0: not yet
    uint32_t acknowledged_count;
    struct weir_checkpoint_event event; // what is known of it so far
    struct weir_snapshot **snapshots;   // by task idx; NULL: not yet
    struct weir_request_list requests;  // answered when it is committed
};

struct weir_pending_list {
    uint32_t task_count;
    uint32_t count;
    struct weir_pending items[WEIR_CHECKPOINTS_CONCURRENT_MAX];
};

// What an acknowledgement is (closed set).
enum weir_acknowledgement {
    WEIR_ACKNOWLEDGEMENT_SUCCESS,
    WEIR_ACKNOWLEDGEMENT_DUPLICATE, // that task has acknowledged it already
    WEIR_ACKNOWLEDGEMENT_UNKNOWN,   // of a checkpoint that was never triggered
    WEIR_ACKNOWLEDGEMENT_LATE,      // it is over: committed, failed or given up
    WEIR_ACKNOWLEDGEMENT_COUNT,
};
const char *weir_acknowledgement_name(enum weir_acknowledgement acknowledgement);

void weir_pending_list_deinit(struct weir_pending_list *list); // requests fail

// A new one, behind the others; there is room.
struct weir_pending *weir_pending_list_add(struct weir_pending_list *list,
                                           const struct weir_barrier *barrier, int64_t now_ms);
struct weir_pending *weir_pending_list_find(struct weir_pending_list *list, int64_t number);
// Takes one out; snapshots are destroyed, requests that are left fail with `text`.
void weir_pending_list_remove(struct weir_pending_list *list, struct weir_pending *pending,
                              const char *text);

// Takes over the snapshot. next_number: of the next trigger.
enum weir_acknowledgement weir_pending_list_acknowledge(struct weir_pending_list *list,
                                                        struct weir_snapshot *snapshot,
                                                        int64_t next_number);

bool weir_pending_is_complete(const struct weir_pending_list *list,
                              const struct weir_pending *pending);
// Its snapshots on their way to the committer; it is COMMITTING from now on.
struct weir_completed *weir_pending_hand_on(struct weir_pending_list *list,
                                            struct weir_pending *pending, int64_t now_ms);

#endif
