// SPDX-License-Identifier: Apache-2.0
// A mailbox: control messages to one thread (a task, the coordinator, the committer), first in,
// first out, from any thread. Its descriptor becomes readable with mail, so that whoever else must
// wake the thread (a fetch queue, a signal handler) writes to the same descriptor.
#ifndef WEIR_RUNTIME_MAILBOX_H
#define WEIR_RUNTIME_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

enum weir_mail_kind {
    WEIR_MAIL_TRIGGER,         // → source task: payload struct weir_barrier (by value in `barrier`)
    WEIR_MAIL_COMMITTED,       // → task, coordinator: checkpoint `number` is committed
    WEIR_MAIL_STOP,            // → task: end without further ado
    WEIR_MAIL_ACKNOWLEDGED,    // → coordinator: payload struct weir_snapshot, handed over
    WEIR_MAIL_FINISHED,        // → coordinator: task `task_idx` has reached the end of its input
    WEIR_MAIL_FAILED,          // → coordinator: payload struct weir_error, handed over (malloc)
    WEIR_MAIL_HANDLE_READY,    // → coordinator: rows of epoch `number` have an open transaction
    WEIR_MAIL_MANIFEST_STORED, // → coordinator: the checkpoint's time-out ends, the commit's begins
    WEIR_MAIL_COMPLETE,        // → committer: payload struct weir_completed, handed over
    WEIR_MAIL_REQUEST_CHECKPOINT, // → coordinator: at once; a task's state nears its bound
    WEIR_MAIL_REQUEST_STOP,    // → coordinator: final checkpoint, then end (SIGTERM)
    WEIR_MAIL_REQUEST_REBUILD, // → coordinator: final checkpoint, then build the job anew
    WEIR_MAIL_REQUEST,         // → coordinator: payload struct weir_request, a reference of it
    WEIR_MAIL_COMMIT_FAILED,   // → coordinator: as FAILED, by the committer, of checkpoint `number`
    WEIR_MAIL_CANCEL,          // → source task: checkpoint `number` will not be
    WEIR_MAIL_DRAIN,           // → source task: read no more, advance time to the end
    WEIR_MAIL_SAVEPOINT,       // → savepoint writer: payload as REQUEST; `number` is committed
    WEIR_MAIL_SAVEPOINT_OVER,  // → committer: nobody copies checkpoint `number` any more
};

struct weir_mail {
    enum weir_mail_kind kind;
    uint32_t task_idx;
    int64_t number;
    int64_t timestamp_ms;
    uint32_t barrier_type; // enum weir_barrier_type, for TRIGGER
    void *payload;
};

struct weir_mailbox;

struct weir_mailbox *weir_mailbox_create(void);
// What is still inside is dropped with `drop` (may be NULL).
void weir_mailbox_destroy(struct weir_mailbox *mailbox, void (*drop)(struct weir_mail *mail));

void weir_mailbox_post(struct weir_mailbox *mailbox, const struct weir_mail *mail); // any thread
void weir_mailbox_wake(struct weir_mailbox *mailbox); // any thread, signal handlers too
int weir_mailbox_descriptor(const struct weir_mailbox *mailbox);

// The owner's side. take: false when there is none. wait: until mail, a wake or the time-out (-1:
// none); spurious returns are allowed.
bool weir_mailbox_take(struct weir_mailbox *mailbox, struct weir_mail *mail);
void weir_mailbox_wait(struct weir_mailbox *mailbox, int64_t timeout_ms);

#endif
