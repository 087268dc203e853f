// SPDX-License-Identifier: Apache-2.0
// See wish.h. Who asks is a fiber of the process, as a thread of the HTTP server is.
#include "tests/sim/wish.h"

#include "app/control.h"
#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/check.h"
#include "tests/sim/random.h"
#include "tests/sim/wrap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SAVEPOINTS_MAX = 64, ORDERS_MAX = 4, PATH_BYTES = 48, LOOK_US = 5000 };

struct asker {
    struct weir_request_wish wish;
    char path[PATH_BYTES];
    uint32_t remake_count; // when it was asked for
};

static struct {
    char path[PATH_BYTES];
    const struct sim_checkpoint *checkpoint;
} savepoints[SAVEPOINTS_MAX]; // that are complete
static uint32_t savepoint_count;
static uint32_t path_count;
static uint32_t order_count;
static uint32_t remake_count;
static char restore[PATH_BYTES + 16];

void __wrap_weir_control_init(struct weir_control *control)
{
    __real_weir_control_init(control);
    if (sim_process_current() != NULL) {
        sim_process_current()->control = control;
    }
}

// HTTP has ended before: nobody asks any more, and every request is answered.
void __wrap_weir_control_deinit(struct weir_control *control)
{
    struct sim_process *process = sim_process_current();
    if (process != NULL) {
        process->control = NULL;
        while (process->asker_count > 0) {
            sim_sleep_us(LOOK_US);
        }
    }
    __real_weir_control_deinit(control);
}

static void on_savepoint(const struct asker *asker, const struct weir_request_answer *answer,
                         bool has_other_owner)
{
    sim_trace("savepoint %s: %s", asker->path,
              answer->state == WEIR_REQUEST_DONE ? "done" : answer->text);
    if (answer->state == WEIR_REQUEST_DONE) {
        const struct sim_checkpoint *checkpoint = sim_check_savepoint(asker->path, answer->number);
        if (savepoint_count < SAVEPOINTS_MAX && asker->remake_count == remake_count) {
            snprintf(savepoints[savepoint_count].path, PATH_BYTES, "%s", asker->path);
            savepoints[savepoint_count++].checkpoint = checkpoint;
        }
    } else if (!has_other_owner && (strstr(answer->text, "cannot read") != NULL ||
                                    strstr(answer->text, "is damaged") != NULL)) {
        sim_violation("nobody else owns the store, but %s", answer->text);
    }
}

static void *run_asker(void *argument)
{
    struct asker *asker = argument;
    struct sim_process *process = sim_process_current();
    struct weir_request *request = weir_request_create(&asker->wish);
    uint32_t owner_count = sim_check_owner_count();
    struct weir_request_answer answer;
    weir_control_ask(process->control, request);
    while (!weir_request_wait(request, 0, &answer)) {
        sim_sleep_us(LOOK_US);
    }
    if (asker->wish.kind == WEIR_REQUEST_SAVEPOINT) {
        on_savepoint(asker, &answer, sim_check_owner_count() != owner_count);
    }
    weir_request_unref(request);
    process->asker_count--;
    return NULL;
}

void sim_wish(struct sim_process *process)
{
    if (process->control == NULL) {
        return;
    }
    struct asker *asker = weir_alloc_zero(sizeof *asker);
    asker->remake_count = remake_count;
    asker->wish.kind = sim_one_in(4) ? WEIR_REQUEST_CHECKPOINT : WEIR_REQUEST_SAVEPOINT;
    if (asker->wish.kind == WEIR_REQUEST_SAVEPOINT) {
        snprintf(asker->path, sizeof asker->path, "/sim/savepoints/%u", ++path_count);
        asker->wish.path = asker->path;
        asker->wish.is_stop = sim_one_in(4);
        asker->wish.is_drain = sim_one_in(6);
    } else if (sim_one_in(4)) {
        asker->wish.kind = WEIR_REQUEST_STOP;
        asker->wish.is_drain = sim_one_in(3);
    }
    asker->wish.is_drain = asker->wish.is_drain && sim_job_can_drain();
    if (asker->wish.is_drain) {
        sim_check_allow_drain();
    }
    sim_trace("process %u is asked: kind %d%s%s%s", process->id, (int)asker->wish.kind,
              asker->path[0] != '\0' ? ", " : "", asker->path,
              asker->wish.is_drain  ? ", drain"
              : asker->wish.is_stop ? ", stop"
                                    : "");
    process->asker_count++;
    sim_fiber_create(process, "asker", 0, run_asker, asker);
}

bool sim_wish_order(void)
{
    if (order_count >= ORDERS_MAX) {
        return false;
    }
    order_count++;
    const struct sim_checkpoint *savepoint = NULL;
    if (savepoint_count > 0 && !sim_one_in(4)) {
        uint32_t chosen = sim_below(savepoint_count);
        savepoint = savepoints[chosen].checkpoint;
        snprintf(restore, sizeof restore, "savepoint:%s", savepoints[chosen].path);
        savepoints[chosen] = savepoints[--savepoint_count]; // once each: the text is new
    } else {
        snprintf(restore, sizeof restore, "discard:%u", order_count);
    }
    sim_trace("from now on WEIR_RESTORE=%s", restore);
    sim_check_allow_order(restore, savepoint);
    return true;
}

void sim_wish_discard(void)
{
    remake_count++;
    savepoint_count = 0;
    snprintf(restore, sizeof restore, "discard:%u", ++order_count);
    sim_trace("from now on WEIR_RESTORE=%s", restore);
    sim_check_allow_order(restore, NULL);
}

const char *sim_wish_restore(void)
{
    return order_count > 0 ? restore : NULL;
}
