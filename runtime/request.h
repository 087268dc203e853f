// SPDX-License-Identifier: Apache-2.0
// What somebody outside the job (HTTP, a command) wants of the coordinator, and its answer: a
// checkpoint now, a savepoint, a stop. Who asks creates a request, posts it and waits; it is
// answered exactly once, whatever becomes of the job. Counted by reference: the asker has one, the
// mail and whoever works on it another.
// Thread: any; only answered by the coordinator, the savepoint writer, or whoever drops its mail.
#ifndef WEIR_RUNTIME_REQUEST_H
#define WEIR_RUNTIME_REQUEST_H

#include "runtime/base/error.h"
#include "runtime/mailbox.h"

enum weir_request_kind {
    WEIR_REQUEST_CHECKPOINT, // trigger now
    WEIR_REQUEST_SAVEPOINT,  // the same, then copied to `path`
    WEIR_REQUEST_STOP,       // final checkpoint, then the job ends
};

enum weir_request_state {
    WEIR_REQUEST_WAITING,
    WEIR_REQUEST_DONE,    // committed (and copied)
    WEIR_REQUEST_REFUSED, // not possible now; nothing was done
    WEIR_REQUEST_FAILED,  // begun and not brought to its end
};

struct weir_request_wish {
    enum weir_request_kind kind;
    const char *path; // SAVEPOINT: the folder
    bool is_stop;     // SAVEPOINT: its checkpoint is the last one. STOP always is.
    bool is_drain;    // time is advanced to the end first: windows and timers fire. Implies is_stop
};

struct weir_request_answer {
    enum weir_request_state state;
    int64_t number;                       // DONE: of the checkpoint; -1: none was needed
    char text[WEIR_ERROR_TEXT_BYTES_MAX]; // REFUSED, FAILED: why
};

// For requests whose job cannot answer them any more.
#define WEIR_LIFE_IS_OVER "the job is ending or going back to its last checkpoint: ask again"

struct weir_request;

// One reference, the caller's. The path is copied.
struct weir_request *weir_request_create(const struct weir_request_wish *wish);
struct weir_request *weir_request_ref(struct weir_request *request);
void weir_request_unref(struct weir_request *request); // accepts NULL

const struct weir_request_wish *weir_request_wish(const struct weir_request *request);
bool weir_request_is_last(const struct weir_request *request); // stop or drain

// Posts WEIR_MAIL_REQUEST with a reference of its own.
void weir_request_post(struct weir_request *request, struct weir_mailbox *coordinator);

// Answers and lets go of the reference. Later answers are not heard.
void weir_request_done(struct weir_request *request, int64_t number);
void weir_request_refuse(struct weir_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void weir_request_fail(struct weir_request *request, const char *text);

// Waits for the answer, at most timeout_ms (-1: for ever; 0: only looks). False: not yet.
bool weir_request_wait(struct weir_request *request, int64_t timeout_ms,
                       struct weir_request_answer *answer);

// A handful of requests that wait for the same thing; each one's reference is held. {0} is empty.
struct weir_request_list {
    uint32_t count;
    struct weir_request **requests;
};
void weir_request_list_add(struct weir_request_list *list, struct weir_request *request);
// Appends all of `from`, which is empty afterwards.
void weir_request_list_move(struct weir_request_list *list, struct weir_request_list *from);
// Moves those that the next checkpoint answers to `taken`: all of them if it is the last one, else
// those that do not end the job, and one savepoint at a time (its files are kept until it is
// copied). Returns whether there is a savepoint among them.
bool weir_request_list_take(struct weir_request_list *list, bool is_last,
                            struct weir_request_list *taken);
bool weir_request_list_has_soon(const struct weir_request_list *list); // that waits for no end
bool weir_request_list_has_savepoint(const struct weir_request_list *list);
// What was asked for is committed as checkpoint `number` (-1: there was nothing to commit):
// savepoints go on to their writer, the others are done. Empty afterwards.
void weir_request_list_answer(struct weir_request_list *list, int64_t number, uint32_t barrier_type,
                              struct weir_mailbox *savepoints);
void weir_request_list_fail(struct weir_request_list *list, const char *text); // empty afterwards

#endif
