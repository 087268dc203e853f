// SPDX-License-Identifier: Apache-2.0
// See handles.h.
//
// A handle: CREATED → init_transactions → READY → begin → OPEN → commit → READY …
//
// Invariants
// 1. Used up means replaced: a handle on which a transactional request ended in an error of
//    transport or time is destroyed and made anew before its next begin, also when the call finally
//    returned success. The request that got lost may still arrive; a raised producer epoch is what
//    makes the broker refuse it. (A late EndTxn of n would commit the first half of n + 4.)
// 2. If that request was the running transaction's TxnOffsetCommit, the epoch is not committed: the
//    late one could move the pointer back inside a later, successful commit.
// 3. A commit is never followed by an abort on a guess. Its outcome is either answered or left to
//    recovery, which fences and then reads the pointer.
// 4. Behind open no handle is used up. Else the claim would make one anew: fence an owner that came
//    after the pointer was read, and take back what it has committed.
#include "kafka/handles.h"

#include "runtime/base/failpoint.h"
#include "runtime/base/limits.h"
#include "runtime/base/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum {
    CALL_TIMEOUT_MS = 10000, // of one try; the caller's deadline bounds all of them
    ABORT_TIMEOUT_MS = 3000, // one short try: what it misses, the next init aborts
    RETRY_PAUSE_MS = 100,
};

struct handle {
    char id[WEIR_JOB_ID_BYTES_MAX + 32];
    struct weir_producer *producer;
    bool is_open;
    bool is_outcome_open; // a commit was asked for and not answered: not to be aborted any more
};

struct weir_handles {
    struct weir_kafka *kafka;
    const struct weir_clock *clock;
    struct handle handles[WEIR_HANDLE_COUNT];
    struct weir_producer *rows; // at least once: all rows go here; else NULL
};

static struct handle *handle_of(struct weir_handles *handles, int64_t epoch)
{
    WEIR_ASSERT(epoch >= 0);
    return &handles->handles[epoch % WEIR_HANDLE_COUNT];
}

bool weir_handles_may_retry(const struct weir_handles *handles, const struct weir_error *error,
                            int64_t deadline_ms)
{
    if (error->action != WEIR_ACTION_RETRY || weir_now_ms(handles->clock) >= deadline_ms) {
        return false;
    }
    struct timespec pause = {.tv_nsec = RETRY_PAUSE_MS * 1000000};
    nanosleep(&pause, NULL);
    return true;
}

// A call that could have been tried again has run out of time: nobody knows its outcome.
static enum weir_status out_of_time(struct weir_error *error, const char *what, const char *id)
{
    if (error->action == WEIR_ACTION_RETRY) {
        error->action = WEIR_ACTION_RECOVER;
        weir_error_context(error, "%s of %s: no answer within its deadline", what, id);
    }
    return WEIR_ERROR;
}

static bool is_used_up(const struct handle *handle)
{
    return handle->producer->ops->is_used_up(handle->producer) &&
           !weir_failpoint("handles.keep_used_up");
}

static void drop_producer(struct handle *handle)
{
    handle->producer->ops->destroy(handle->producer);
    handle->producer = NULL;
}

// Tries until every init of a client has had its answer (invariant 4). A client whose first broker
// dies under it may ask that one for ever (librdkafka 2.0.2): after the time of a call a new one
// takes its place, which knows all brokers again.
static enum weir_status init_handle(struct weir_handles *handles, struct handle *handle,
                                    int64_t deadline_ms, struct weir_error *error)
{
    int64_t replaced_ms = 0;
    for (;;) {
        if (handle->producer == NULL) {
            if (handles->kafka->ops->producer_create(handles->kafka, handle->id, &handle->producer,
                                                     error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            replaced_ms = weir_now_ms(handles->clock) + CALL_TIMEOUT_MS;
        }
        bool is_done = handle->producer->ops->init_transactions(handle->producer, CALL_TIMEOUT_MS,
                                                                error) == WEIR_OK;
        if (is_done && !is_used_up(handle)) {
            return WEIR_OK;
        }
        if (is_done) {
            weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "an init had no answer");
        }
        if (!weir_handles_may_retry(handles, error, deadline_ms)) {
            return out_of_time(error, "init_transactions", handle->id);
        }
        if (is_done || weir_now_ms(handles->clock) >= replaced_ms) {
            weir_log(WEIR_LOG_WARN, "producer %s: %s; trying with a new client", handle->id,
                     error->text);
            drop_producer(handle);
        }
    }
}

struct init_job {
    struct weir_handles *handles;
    struct handle *handle;
    int64_t deadline_ms;
    enum weir_status status;
    struct weir_error error;
};

static void *run_init(void *argument)
{
    struct init_job *job = argument;
    job->status = init_handle(job->handles, job->handle, job->deadline_ms, &job->error);
    return NULL;
}

enum weir_status weir_handles_open(struct weir_kafka *kafka, const char *job_id,
                                   int32_t instance_id, bool is_at_least_once,
                                   const struct weir_clock *clock, int64_t deadline_ms,
                                   struct weir_handles **out, struct weir_error *error)
{
    struct weir_handles *handles = weir_alloc_zero(sizeof *handles);
    handles->kafka = kafka;
    handles->clock = clock;
    struct init_job jobs[WEIR_HANDLE_COUNT];
    pthread_t threads[WEIR_HANDLE_COUNT];
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        snprintf(handles->handles[i].id, sizeof handles->handles[i].id, "%s-%" PRId32 "-%d", job_id,
                 instance_id, i);
        jobs[i] = (struct init_job){
            .handles = handles, .handle = &handles->handles[i], .deadline_ms = deadline_ms};
        // One after another would take as many round trips, and an open transaction 500 ms each.
        int failed = pthread_create(&threads[i], NULL, run_init, &jobs[i]);
        WEIR_ASSERT(failed == 0);
    }
    enum weir_status status = WEIR_OK;
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        pthread_join(threads[i], NULL);
        if (jobs[i].status != WEIR_OK && status == WEIR_OK) {
            status = WEIR_ERROR;
            *error = jobs[i].error;
        }
    }
    if (status == WEIR_OK && is_at_least_once) {
        status = kafka->ops->producer_create(kafka, NULL, &handles->rows, error);
    }
    if (status != WEIR_OK) {
        weir_handles_close(handles);
        return WEIR_ERROR;
    }
    *out = handles;
    return WEIR_OK;
}

static void *run_close(void *argument)
{
    struct handle *handle = argument;
    struct weir_error ignored;
    if (handle->producer == NULL) {
        return NULL;
    }
    if (handle->is_open && !handle->is_outcome_open) {
        handle->producer->ops->abort(handle->producer, ABORT_TIMEOUT_MS, &ignored);
    }
    handle->producer->ops->destroy(handle->producer);
    return NULL;
}

void weir_handles_close(struct weir_handles *handles)
{
    if (handles == NULL) {
        return;
    }
    pthread_t threads[WEIR_HANDLE_COUNT];
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        int failed = pthread_create(&threads[i], NULL, run_close, &handles->handles[i]);
        WEIR_ASSERT(failed == 0);
    }
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        pthread_join(threads[i], NULL);
    }
    if (handles->rows != NULL) {
        handles->rows->ops->destroy(handles->rows);
    }
    free(handles);
}

struct weir_producer *weir_handles_producer(struct weir_handles *handles, int64_t epoch)
{
    return handles->rows != NULL ? handles->rows : handle_of(handles, epoch)->producer;
}

const char *weir_handles_id(const struct weir_handles *handles, int64_t epoch)
{
    return handles->handles[epoch % WEIR_HANDLE_COUNT].id;
}

bool weir_handles_is_used_up(struct weir_handles *handles, int64_t epoch)
{
    return is_used_up(handle_of(handles, epoch));
}

enum weir_status weir_handles_begin(struct weir_handles *handles, int64_t epoch,
                                    struct weir_error *error)
{
    struct handle *handle = handle_of(handles, epoch);
    WEIR_ASSERT(!handle->is_open);
    if (is_used_up(handle)) {
        weir_log(WEIR_LOG_INFO,
                 "producer %s: a transactional request was left without an answer; making the "
                 "handle anew before epoch %" PRId64,
                 handle->id, epoch);
        drop_producer(handle);
        int64_t deadline_ms = weir_now_ms(handles->clock) + 6 * CALL_TIMEOUT_MS;
        if (init_handle(handles, handle, deadline_ms, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (handle->producer->ops->begin(handle->producer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    handle->is_open = true;
    return WEIR_OK;
}

enum weir_status weir_handles_commit(struct weir_handles *handles, int64_t epoch,
                                     uint32_t offset_count,
                                     const struct weir_offset_commit *offsets, int64_t deadline_ms,
                                     struct weir_error *error)
{
    struct handle *handle = handle_of(handles, epoch);
    WEIR_ASSERT(handle->is_open && offset_count > 0);
    const struct weir_producer_ops *ops = handle->producer->ops;
    weir_failpoint("commit.before_offsets");
    while (ops->send_offsets(handle->producer, offset_count, offsets, CALL_TIMEOUT_MS, error) !=
           WEIR_OK) {
        if (!weir_handles_may_retry(handles, error, deadline_ms)) {
            return out_of_time(error, "send_offsets", handle->id);
        }
    }
    if (ops->is_offset_commit_doubtful(handle->producer) &&
        !weir_failpoint("handles.keep_used_up")) {
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                              "producer %s: an offset commit of epoch %" PRId64
                              " was left without an answer and could arrive late; the epoch is "
                              "given up and replayed",
                              handle->id, epoch);
    }
    weir_failpoint("commit.before_end");
    handle->is_outcome_open = true;
    while (ops->commit(handle->producer, CALL_TIMEOUT_MS, error) != WEIR_OK) {
        if (!weir_handles_may_retry(handles, error, deadline_ms)) {
            return out_of_time(error, "commit", handle->id);
        }
    }
    weir_failpoint("commit.after_end");
    handle->is_outcome_open = false;
    handle->is_open = false;
    return WEIR_OK;
}
