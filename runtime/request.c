// SPDX-License-Identifier: Apache-2.0
// See request.h.
#include "runtime/request.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct weir_request {
    struct weir_request_wish wish;
    char *path;
    atomic_uint ref_count;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct weir_request_answer answer; // guarded by lock
};

struct weir_request *weir_request_create(const struct weir_request_wish *wish)
{
    WEIR_ASSERT((wish->kind == WEIR_REQUEST_SAVEPOINT) == (wish->path != NULL));
    struct weir_request *request = weir_alloc_zero(sizeof *request);
    request->wish = *wish;
    if (wish->path != NULL) {
        size_t size = strlen(wish->path) + 1;
        request->path = weir_alloc(size);
        memcpy(request->path, wish->path, size);
        request->wish.path = request->path;
    }
    request->wish.is_stop = wish->is_stop || wish->is_drain || wish->kind == WEIR_REQUEST_STOP;
    atomic_init(&request->ref_count, 1);
    pthread_mutex_init(&request->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&request->answered, &attributes);
    pthread_condattr_destroy(&attributes);
    request->answer.number = -1;
    return request;
}

struct weir_request *weir_request_ref(struct weir_request *request)
{
    atomic_fetch_add(&request->ref_count, 1);
    return request;
}

void weir_request_unref(struct weir_request *request)
{
    if (request != NULL && atomic_fetch_sub(&request->ref_count, 1) == 1) {
        pthread_cond_destroy(&request->answered);
        pthread_mutex_destroy(&request->lock);
        free(request->path);
        free(request);
    }
}

const struct weir_request_wish *weir_request_wish(const struct weir_request *request)
{
    return &request->wish;
}

bool weir_request_is_last(const struct weir_request *request)
{
    return request->wish.is_stop;
}

void weir_request_post(struct weir_request *request, struct weir_mailbox *coordinator)
{
    weir_mailbox_post(coordinator, &(struct weir_mail){.kind = WEIR_MAIL_REQUEST,
                                                       .payload = weir_request_ref(request)});
}

static void answer(struct weir_request *request, enum weir_request_state state, int64_t number,
                   const char *text)
{
    pthread_mutex_lock(&request->lock);
    if (request->answer.state == WEIR_REQUEST_WAITING) {
        request->answer.state = state;
        request->answer.number = number;
        snprintf(request->answer.text, sizeof request->answer.text, "%s", text);
        pthread_cond_broadcast(&request->answered);
    }
    pthread_mutex_unlock(&request->lock);
    weir_request_unref(request);
}

void weir_request_done(struct weir_request *request, int64_t number)
{
    answer(request, WEIR_REQUEST_DONE, number, "");
}

void weir_request_refuse(struct weir_request *request, const char *format, ...)
{
    char text[WEIR_ERROR_TEXT_BYTES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    answer(request, WEIR_REQUEST_REFUSED, -1, text);
}

void weir_request_fail(struct weir_request *request, const char *text)
{
    answer(request, WEIR_REQUEST_FAILED, -1, text);
}

bool weir_request_wait(struct weir_request *request, int64_t timeout_ms,
                       struct weir_request_answer *out)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int result = 0;
    pthread_mutex_lock(&request->lock);
    while (request->answer.state == WEIR_REQUEST_WAITING && result != ETIMEDOUT &&
           timeout_ms != 0) {
        result = timeout_ms < 0
                     ? pthread_cond_wait(&request->answered, &request->lock)
                     : pthread_cond_timedwait(&request->answered, &request->lock, &until);
    }
    *out = request->answer;
    pthread_mutex_unlock(&request->lock);
    return out->state != WEIR_REQUEST_WAITING;
}

void weir_request_list_add(struct weir_request_list *list, struct weir_request *request)
{
    list->requests =
        weir_realloc(list->requests, (list->count + 1) * sizeof(struct weir_request *));
    list->requests[list->count++] = request;
}

void weir_request_list_move(struct weir_request_list *list, struct weir_request_list *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        weir_request_list_add(list, from->requests[i]);
    }
    free(from->requests);
    *from = (struct weir_request_list){0};
}

static bool is_savepoint(const struct weir_request *request)
{
    return request->wish.kind == WEIR_REQUEST_SAVEPOINT;
}

bool weir_request_list_take(struct weir_request_list *list, bool is_last,
                            struct weir_request_list *taken)
{
    struct weir_request_list left = {0};
    bool has_savepoint = false;
    for (uint32_t i = 0; i < list->count; i++) {
        struct weir_request *request = list->requests[i];
        bool is_taken = is_last || (!weir_request_is_last(request) &&
                                    !(is_savepoint(request) && has_savepoint));
        has_savepoint = has_savepoint || (is_savepoint(request) && is_taken);
        weir_request_list_add(is_taken ? taken : &left, request);
    }
    free(list->requests);
    *list = left;
    return has_savepoint;
}

bool weir_request_list_has_soon(const struct weir_request_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!weir_request_is_last(list->requests[i])) {
            return true;
        }
    }
    return false;
}

bool weir_request_list_has_savepoint(const struct weir_request_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (is_savepoint(list->requests[i])) {
            return true;
        }
    }
    return false;
}

void weir_request_list_answer(struct weir_request_list *list, int64_t number, uint32_t barrier_type,
                              struct weir_mailbox *savepoints)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (is_savepoint(list->requests[i])) {
            weir_mailbox_post(savepoints, &(struct weir_mail){.kind = WEIR_MAIL_SAVEPOINT,
                                                              .number = number,
                                                              .barrier_type = barrier_type,
                                                              .payload = list->requests[i]});
        } else {
            weir_request_done(list->requests[i], number);
        }
    }
    free(list->requests);
    *list = (struct weir_request_list){0};
}

void weir_request_list_fail(struct weir_request_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++) {
        weir_request_fail(list->requests[i], text);
    }
    free(list->requests);
    *list = (struct weir_request_list){0};
}
