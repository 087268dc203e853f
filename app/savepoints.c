// SPDX-License-Identifier: Apache-2.0
// See savepoints.h.
#include "app/savepoints.h"

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/coordinator.h"
#include "runtime/request.h"
#include "runtime/savepoint.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

struct weir_savepoints {
    struct weir_savepoints_config config;
    struct weir_mailbox *mailbox;
    pthread_t thread;
    atomic_bool is_ending;    // once the mailbox is empty
    atomic_bool is_cancelled; // at once
};

static enum weir_status copy(struct weir_savepoints *savepoints, int64_t number, const char *path,
                             struct weir_arena *arena, struct weir_error *error)
{
    struct weir_store *store = savepoints->config.store;
    struct weir_manifest manifest;
    bool is_missing;
    int64_t began_ms = weir_now_ms(&weir_system_clock);
    if (weir_store_read_manifest(store, number, &savepoints->config.attempt, arena, &manifest,
                                 &is_missing, error) != WEIR_OK ||
        weir_savepoint_prepare(path, error) != WEIR_OK ||
        weir_savepoint_write(path, weir_store_path(store), &manifest, &savepoints->is_cancelled,
                             error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    uint64_t size_bytes = 0;
    for (uint32_t i = 0; i < manifest.state_count; i++) {
        for (uint32_t j = 0; j < manifest.states[i].file_count; j++) {
            size_bytes += manifest.states[i].files[j].size_bytes;
        }
    }
    weir_log(WEIR_LOG_INFO,
             "savepoint of checkpoint %" PRId64 " is in %s: %" PRIu64
             " bytes of state, copied in %" PRId64 " ms",
             number, path, size_bytes, weir_now_ms(&weir_system_clock) - began_ms);
    return WEIR_OK;
}

static void on_savepoint(struct weir_savepoints *savepoints, const struct weir_mail *mail)
{
    struct weir_request *request = mail->payload;
    struct weir_arena *arena = weir_arena_create(64 << 10);
    struct weir_error error;
    if (copy(savepoints, mail->number, weir_request_wish(request)->path, arena, &error) ==
        WEIR_OK) {
        weir_request_done(request, mail->number);
    } else {
        weir_error_context(&error, "checkpoint %" PRId64 " is committed, but was not copied",
                           mail->number);
        weir_log(WEIR_LOG_WARN, "%s", error.text);
        weir_request_fail(request, error.text);
    }
    weir_arena_destroy(arena);
    if (mail->barrier_type == WEIR_BARRIER_SAVEPOINT) {
        weir_mailbox_post(
            savepoints->config.committer,
            &(struct weir_mail){.kind = WEIR_MAIL_SAVEPOINT_OVER, .number = mail->number});
    }
}

static void *run(void *argument)
{
    struct weir_savepoints *savepoints = argument;
    for (;;) {
        // Read before looking: what was posted before the end was asked for is still taken.
        bool is_ending = atomic_load(&savepoints->is_ending);
        struct weir_mail mail;
        if (weir_mailbox_take(savepoints->mailbox, &mail)) {
            on_savepoint(savepoints, &mail);
        } else if (is_ending) {
            return NULL;
        } else {
            weir_mailbox_wait(savepoints->mailbox, -1);
        }
    }
}

struct weir_savepoints *weir_savepoints_start(const struct weir_savepoints_config *config)
{
    struct weir_savepoints *savepoints = weir_alloc_zero(sizeof *savepoints);
    savepoints->config = *config;
    savepoints->mailbox = weir_mailbox_create();
    int failed = pthread_create(&savepoints->thread, NULL, run, savepoints);
    WEIR_ASSERT(failed == 0);
    pthread_setname_np(savepoints->thread, "savepoints");
    return savepoints;
}

struct weir_mailbox *weir_savepoints_mailbox(struct weir_savepoints *savepoints)
{
    return savepoints->mailbox;
}

void weir_savepoints_stop(struct weir_savepoints *savepoints, bool is_finishing)
{
    if (savepoints == NULL) {
        return;
    }
    atomic_store(&savepoints->is_cancelled, !is_finishing);
    atomic_store(&savepoints->is_ending, true);
    weir_mailbox_wake(savepoints->mailbox);
    pthread_join(savepoints->thread, NULL);
    weir_mailbox_destroy(savepoints->mailbox, weir_coordinator_drop_mail);
    free(savepoints);
}
