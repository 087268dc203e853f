// SPDX-License-Identifier: Apache-2.0
// See coordinator.h. On the way of an epoch: trigger (to the source tasks) → acknowledgements (from
// all tasks) → complete (to the committer: manifest, offsets, commit) → committed (to all tasks).
//
// A pending checkpoint: COLLECTING → COMMITTING → gone; its number is next_number at the trigger.
//
// Invariants
// 1. The numbers of one run are consecutive: first_number, first_number + 1, …; a trigger that is
//    refused uses none.
// 2. Checkpoints are handed to the committer in the order of their numbers.
// 3. Once a barrier is out, a checkpoint that fails ends the run (its rows are in its transaction);
//    the job recovers from the last committed one.
// 4. There is one outcome, and after it nothing is triggered or handed on.
#include "runtime/coordinator.h"

#include "runtime/base/failpoint.h"
#include "runtime/base/limits.h"
#include "runtime/base/log.h"

#include <unistd.h>

enum {
    OVERDUE_GRACE_MS = 30000,
    REQUESTS_MAX = 64, // that wait for the same checkpoint
};

enum pending_state {
    PENDING_COLLECTING, // acknowledgements are coming in
    PENDING_COMMITTING, // with the committer
};

struct pending {
    struct weir_barrier barrier;
    enum pending_state state;
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

enum ending {
    ENDING_NOT,
    ENDING_BOUNDED,
    ENDING_STOP,
    ENDING_DRAIN, // as STOP, once every source task has advanced time to the end
    ENDING_REBUILD,
};

struct weir_coordinator {
    struct weir_coordinator_config config;
    struct pending pending[WEIR_CHECKPOINTS_CONCURRENT_MAX]; // oldest first
    uint32_t pending_count;
    int64_t next_number;
    int64_t handle_ready_number;
    int64_t last_trigger_ms;
    int64_t last_end_ms;
    uint64_t *activity;    // by task idx, at the last trigger
    bool *is_finished;     // by task idx
    uint32_t source_count; // tasks that read Kafka and get the triggers
    uint32_t finished_count;
    bool is_checkpoint_wanted;        // a task asked for one: the interval is not waited for
    struct weir_request_list waiting; // for the next checkpoint; those that end the job, the last
    enum ending ending;
    bool is_final_triggered;
    struct weir_outcome outcome;
};

struct weir_coordinator *weir_coordinator_create(const struct weir_coordinator_config *config)
{
    WEIR_ASSERT(config->concurrent_max >= 1 &&
                config->concurrent_max <= WEIR_CHECKPOINTS_CONCURRENT_MAX);
    WEIR_ASSERT(config->task_count >= 1 && config->task_count <= WEIR_TASKS_MAX);
    struct weir_coordinator *coordinator = weir_alloc_zero(sizeof *coordinator);
    coordinator->config = *config;
    coordinator->next_number = config->first_number;
    coordinator->handle_ready_number = INT64_MIN;
    coordinator->last_trigger_ms = weir_now_ms(config->clock);
    coordinator->last_end_ms = coordinator->last_trigger_ms; // the claim was a commit
    coordinator->activity = weir_alloc_zero(config->task_count * sizeof *coordinator->activity);
    coordinator->is_finished =
        weir_alloc_zero(config->task_count * sizeof *coordinator->is_finished);
    for (uint32_t i = 0; i < config->task_count; i++) {
        coordinator->source_count += weir_task_is_source(config->tasks[i]) ? 1 : 0;
    }
    return coordinator;
}

static void pending_deinit(struct pending *pending, uint32_t task_count)
{
    for (uint32_t i = 0; pending->snapshots != NULL && i < task_count; i++) {
        weir_snapshot_destroy(pending->snapshots[i]);
    }
    free(pending->snapshots);
    pending->snapshots = NULL;
    weir_request_list_fail(&pending->requests, WEIR_LIFE_IS_OVER);
}

void weir_coordinator_destroy(struct weir_coordinator *coordinator)
{
    if (coordinator == NULL) {
        return;
    }
    for (uint32_t i = 0; i < coordinator->pending_count; i++) {
        pending_deinit(&coordinator->pending[i], coordinator->config.task_count);
    }
    weir_request_list_fail(&coordinator->waiting, WEIR_LIFE_IS_OVER);
    free(coordinator->activity);
    free(coordinator->is_finished);
    free(coordinator);
}

const struct weir_outcome *weir_coordinator_outcome(const struct weir_coordinator *coordinator)
{
    return &coordinator->outcome;
}

static void observe(const struct weir_coordinator *coordinator,
                    const struct weir_checkpoint_event *event)
{
    if (coordinator->config.observer != NULL) {
        coordinator->config.observer->on_checkpoint(coordinator->config.observer, event);
    }
}

static void end_run(struct weir_coordinator *coordinator, enum weir_outcome_kind kind)
{
    WEIR_ASSERT(coordinator->outcome.kind == WEIR_OUTCOME_NONE);
    coordinator->outcome.kind = kind;
}

static void end_failed(struct weir_coordinator *coordinator, const struct weir_error *error)
{
    if (coordinator->outcome.kind == WEIR_OUTCOME_NONE) {
        coordinator->outcome.error = *error;
        end_run(coordinator, WEIR_OUTCOME_FAILED);
        weir_request_list_fail(&coordinator->waiting, error->text);
        for (uint32_t i = 0; i < coordinator->pending_count; i++) {
            struct weir_checkpoint_event event = coordinator->pending[i].event;
            event.kind = WEIR_CHECKPOINT_FAILED;
            event.text = error->text;
            observe(coordinator, &event);
            weir_request_list_fail(&coordinator->pending[i].requests, error->text);
        }
    }
}

static void end_as_asked(struct weir_coordinator *coordinator)
{
    switch (coordinator->ending) {
    case ENDING_BOUNDED:
        end_run(coordinator, WEIR_OUTCOME_DONE);
        return;
    case ENDING_STOP:
    case ENDING_DRAIN:
        end_run(coordinator, WEIR_OUTCOME_STOPPED);
        return;
    case ENDING_REBUILD:
        end_run(coordinator, WEIR_OUTCOME_REBUILD);
        return;
    case ENDING_NOT:
        WEIR_ASSERT(!"no end was asked for");
    }
}

static struct pending *find_pending(struct weir_coordinator *coordinator, int64_t number)
{
    for (uint32_t i = 0; i < coordinator->pending_count; i++) {
        if (coordinator->pending[i].barrier.number == number) {
            return &coordinator->pending[i];
        }
    }
    return NULL;
}

// Hands on every checkpoint that is complete, as long as all older ones have been handed on.
static void hand_on(struct weir_coordinator *coordinator)
{
    for (uint32_t i = 0; i < coordinator->pending_count; i++) {
        struct pending *pending = &coordinator->pending[i];
        if (pending->state == PENDING_COMMITTING) {
            continue;
        }
        if (pending->acknowledged_count < coordinator->config.task_count) {
            return;
        }
        struct weir_completed *completed = weir_alloc_zero(sizeof *completed);
        completed->barrier = pending->barrier;
        completed->triggered_ms = pending->triggered_ms;
        completed->snapshot_count = coordinator->config.task_count;
        completed->snapshots = pending->snapshots;
        pending->snapshots = NULL;
        pending->state = PENDING_COMMITTING;
        pending->handed_ms = weir_now_ms(coordinator->config.clock);
        pending->event.handed_us = weir_monotonic_us();
        weir_mailbox_post(coordinator->config.committer,
                          &(struct weir_mail){.kind = WEIR_MAIL_COMPLETE,
                                              .number = pending->barrier.number,
                                              .payload = completed});
    }
}

// Takes over snapshot. An acknowledgement is a success, a duplicate, unknown or late.
static void on_acknowledged(struct weir_coordinator *coordinator, struct weir_snapshot *snapshot)
{
    struct pending *pending = find_pending(coordinator, snapshot->barrier.number);
    if (pending == NULL || pending->state != PENDING_COLLECTING ||
        pending->snapshots[snapshot->task_idx] != NULL) {
        const char *why =
            pending == NULL
                ? (snapshot->barrier.number < coordinator->next_number ? "late" : "unknown")
                : "duplicate";
        weir_log(WEIR_LOG_WARN, "acknowledgement of checkpoint %lld by task %u is %s",
                 (long long)snapshot->barrier.number, snapshot->task_idx, why);
        weir_snapshot_destroy(snapshot);
        return;
    }
    pending->snapshots[snapshot->task_idx] = snapshot;
    pending->acknowledged_count++;
    weir_checkpoint_event_add(&pending->event, snapshot,
                              weir_task_is_source(coordinator->config.tasks[snapshot->task_idx]));
    hand_on(coordinator);
}

static void on_committed(struct weir_coordinator *coordinator, int64_t number)
{
    struct pending *oldest = &coordinator->pending[0];
    WEIR_ASSERT(coordinator->pending_count > 0 && oldest->barrier.number == number &&
                oldest->state == PENDING_COMMITTING);
    int64_t now_ms = weir_now_ms(coordinator->config.clock);
    weir_log(WEIR_LOG_DEBUG,
             "checkpoint %lld committed: %lld ms, of these %lld ms at the committer, before that "
             "%lld ms in the tasks, %lld ms for the manifest",
             (long long)number, (long long)(now_ms - oldest->triggered_ms),
             (long long)(now_ms - oldest->stored_ms),
             (long long)(oldest->handed_ms - oldest->triggered_ms),
             (long long)(oldest->stored_ms - oldest->handed_ms));
    weir_checkpoint_event_commit(&oldest->event);
    observe(coordinator, &oldest->event);
    bool is_final = oldest->barrier.type == WEIR_BARRIER_FINAL;
    weir_request_list_answer(&oldest->requests, oldest->barrier.number, oldest->barrier.type,
                             coordinator->config.savepoints);
    pending_deinit(oldest, coordinator->config.task_count);
    coordinator->pending_count--;
    memmove(&coordinator->pending[0], &coordinator->pending[1],
            coordinator->pending_count * sizeof coordinator->pending[0]);
    coordinator->last_end_ms = now_ms;
    coordinator->outcome.committed_count++;
    for (uint32_t i = 0; i < coordinator->config.task_count; i++) {
        weir_mailbox_post(weir_task_mailbox(coordinator->config.tasks[i]),
                          &(struct weir_mail){.kind = WEIR_MAIL_COMMITTED, .number = number});
    }
    if (is_final) {
        end_as_asked(coordinator);
    }
}

static void ask_end(struct weir_coordinator *coordinator, enum ending ending)
{
    // A stop wins over a rebuild that is under way, and a bounded end over both.
    if (coordinator->ending == ENDING_NOT || coordinator->ending == ENDING_REBUILD ||
        ending == ENDING_BOUNDED) {
        coordinator->ending = ending;
    }
}

static void ask_drain(struct weir_coordinator *coordinator)
{
    if (coordinator->ending == ENDING_BOUNDED || coordinator->ending == ENDING_DRAIN) {
        return; // time is at its end, or on its way
    }
    coordinator->ending = ENDING_DRAIN;
    for (uint32_t i = 0; i < coordinator->config.task_count; i++) {
        if (weir_task_is_source(coordinator->config.tasks[i])) {
            weir_mailbox_post(weir_task_mailbox(coordinator->config.tasks[i]),
                              &(struct weir_mail){.kind = WEIR_MAIL_DRAIN});
        }
    }
}

static void on_request(struct weir_coordinator *coordinator, struct weir_request *request)
{
    const struct weir_request_wish *wish = weir_request_wish(request);
    if (coordinator->is_final_triggered) {
        weir_request_refuse(request, "%s: the last checkpoint of this run is under way",
                            weir_trigger_refusal_name(WEIR_TRIGGER_SHUTTING_DOWN));
        return;
    }
    if (wish->kind == WEIR_REQUEST_SAVEPOINT && coordinator->config.savepoints == NULL) {
        weir_request_refuse(request, "this job cannot write savepoints");
        return;
    }
    if (coordinator->waiting.count == REQUESTS_MAX) {
        weir_request_refuse(request, "%s: %d requests wait for a checkpoint",
                            weir_trigger_refusal_name(WEIR_TRIGGER_TOO_MANY_PENDING), REQUESTS_MAX);
        return;
    }
    weir_request_list_add(&coordinator->waiting, request);
    if (wish->is_drain) {
        ask_drain(coordinator);
    } else if (wish->is_stop) {
        ask_end(coordinator, ENDING_STOP);
    } else {
        coordinator->is_checkpoint_wanted = true;
    }
}

static void on_finished(struct weir_coordinator *coordinator, uint32_t task_idx)
{
    WEIR_ASSERT(!coordinator->is_finished[task_idx]);
    coordinator->is_finished[task_idx] = true;
    coordinator->finished_count++;
    if (coordinator->finished_count == coordinator->source_count &&
        coordinator->ending != ENDING_DRAIN) {
        ask_end(coordinator, ENDING_BOUNDED);
    }
}

static void take_mail(struct weir_coordinator *coordinator)
{
    struct weir_mail mail;
    while (coordinator->outcome.kind == WEIR_OUTCOME_NONE &&
           weir_mailbox_take(coordinator->config.mailbox, &mail)) {
        switch (mail.kind) {
        case WEIR_MAIL_ACKNOWLEDGED:
            on_acknowledged(coordinator, mail.payload);
            break;
        case WEIR_MAIL_FINISHED:
            on_finished(coordinator, mail.task_idx);
            break;
        case WEIR_MAIL_FAILED:
            end_failed(coordinator, mail.payload);
            free(mail.payload);
            break;
        case WEIR_MAIL_HANDLE_READY:
            coordinator->handle_ready_number = mail.number;
            break;
        case WEIR_MAIL_MANIFEST_STORED: {
            struct pending *pending = find_pending(coordinator, mail.number);
            WEIR_ASSERT(pending != NULL);
            pending->is_stored = true;
            pending->stored_ms = weir_now_ms(coordinator->config.clock);
            break;
        }
        case WEIR_MAIL_COMMITTED:
            on_committed(coordinator, mail.number);
            break;
        case WEIR_MAIL_REQUEST_CHECKPOINT:
            coordinator->is_checkpoint_wanted = true;
            break;
        case WEIR_MAIL_REQUEST_STOP:
            ask_end(coordinator, ENDING_STOP);
            break;
        case WEIR_MAIL_REQUEST_REBUILD:
            ask_end(coordinator, ENDING_REBUILD);
            break;
        case WEIR_MAIL_REQUEST:
            on_request(coordinator, mail.payload);
            break;
        case WEIR_MAIL_DRAIN:
        case WEIR_MAIL_SAVEPOINT:
        case WEIR_MAIL_SAVEPOINT_OVER:
        case WEIR_MAIL_TRIGGER:
        case WEIR_MAIL_STOP:
        case WEIR_MAIL_COMPLETE:
            WEIR_ASSERT(!"mail that is not for the coordinator");
        }
    }
}

static bool is_quiet(const struct weir_coordinator *coordinator)
{
    for (uint32_t i = 0; i < coordinator->config.task_count; i++) {
        if (weir_task_activity(coordinator->config.tasks[i]) != coordinator->activity[i]) {
            return false;
        }
    }
    return true;
}

static void trigger(struct weir_coordinator *coordinator, enum weir_barrier_type type,
                    int64_t now_ms)
{
    const struct weir_coordinator_config *config = &coordinator->config;
    struct pending *pending = &coordinator->pending[coordinator->pending_count++];
    *pending = (struct pending){
        .barrier = {.number = coordinator->next_number,
                    .timestamp_ms = weir_wall_ms(config->clock),
                    .type = type},
        .triggered_ms = now_ms,
        .event = {.number = coordinator->next_number,
                  .type = type,
                  .timestamp_ms = weir_wall_ms(config->clock),
                  .triggered_us = weir_monotonic_us()},
        .snapshots = weir_alloc_zero(config->task_count * sizeof *pending->snapshots),
    };
    bool has_savepoint = weir_request_list_take(&coordinator->waiting, type == WEIR_BARRIER_FINAL,
                                                &pending->requests);
    if (has_savepoint && type != WEIR_BARRIER_FINAL) {
        pending->barrier.type = WEIR_BARRIER_SAVEPOINT;
        pending->event.type = WEIR_BARRIER_SAVEPOINT;
    }
    coordinator->next_number++;
    coordinator->is_checkpoint_wanted = weir_request_list_has_soon(&coordinator->waiting);
    coordinator->last_trigger_ms = now_ms;
    for (uint32_t i = 0; i < config->task_count; i++) {
        // Read before the trigger is posted: what moves later is in this epoch or in the next, and
        // an epoch too many costs less than one that is never made.
        coordinator->activity[i] = weir_task_activity(config->tasks[i]);
    }
    for (uint32_t i = 0; i < config->task_count; i++) {
        if (weir_task_is_source(config->tasks[i])) {
            weir_mailbox_post(weir_task_mailbox(config->tasks[i]),
                              &(struct weir_mail){.kind = WEIR_MAIL_TRIGGER,
                                                  .number = pending->barrier.number,
                                                  .timestamp_ms = pending->barrier.timestamp_ms,
                                                  .barrier_type = pending->barrier.type});
        }
    }
    observe(coordinator, &pending->event);
    weir_failpoint("coordinator.triggered");
}

static enum weir_trigger_refusal check(const struct weir_coordinator *coordinator,
                                       enum weir_trigger_kind kind, int64_t now_ms)
{
    // Finished tasks still take part, and a task that has failed has ended the run already.
    uint32_t task_count = coordinator->config.task_count;
    return weir_trigger_check(
        &(struct weir_trigger_state){.is_shutting_down = coordinator->ending != ENDING_NOT,
                                     .is_running = coordinator->outcome.kind == WEIR_OUTCOME_NONE,
                                     .source_count = coordinator->source_count,
                                     .source_running_count = coordinator->source_count,
                                     .task_count = task_count,
                                     .task_running_count = task_count,
                                     .pending_count = coordinator->pending_count,
                                     .concurrent_max = coordinator->config.concurrent_max,
                                     .number = coordinator->next_number,
                                     .handle_ready_number = coordinator->handle_ready_number,
                                     .now_ms = now_ms,
                                     .last_end_ms = coordinator->last_end_ms,
                                     .min_pause_ms = coordinator->config.min_pause_ms},
        kind);
}

// The final checkpoint, once everything before it is out of the way.
static void trigger_final(struct weir_coordinator *coordinator, int64_t now_ms)
{
    bool is_draining = coordinator->ending == ENDING_DRAIN &&
                       coordinator->finished_count < coordinator->source_count;
    if (coordinator->is_final_triggered || is_draining) {
        return;
    }
    if (coordinator->pending_count == 0 && is_quiet(coordinator) &&
        !weir_request_list_has_savepoint(&coordinator->waiting)) {
        coordinator->is_final_triggered = true;
        weir_request_list_answer(&coordinator->waiting, -1, WEIR_BARRIER_FINAL, NULL);
        end_as_asked(coordinator); // nothing has moved since the last commit
    } else if (check(coordinator, WEIR_TRIGGER_FINAL, now_ms) == WEIR_TRIGGER_ALLOWED) {
        coordinator->is_final_triggered = true;
        trigger(coordinator, WEIR_BARRIER_FINAL, now_ms);
    }
}

// Returns the milliseconds until the next periodic trigger can be due.
static int64_t trigger_periodic(struct weir_coordinator *coordinator, int64_t now_ms)
{
    const struct weir_coordinator_config *config = &coordinator->config;
    int64_t due_ms = coordinator->last_trigger_ms + config->interval_ms;
    if (now_ms < due_ms && !coordinator->is_checkpoint_wanted) {
        return due_ms - now_ms;
    }
    switch (check(coordinator,
                  coordinator->is_checkpoint_wanted ? WEIR_TRIGGER_MANUAL : WEIR_TRIGGER_PERIODIC,
                  now_ms)) {
    case WEIR_TRIGGER_ALLOWED:
        if (is_quiet(coordinator) && !weir_request_list_has_soon(&coordinator->waiting) &&
            now_ms - coordinator->last_end_ms < config->quiet_commit_ms) {
            coordinator->last_trigger_ms = now_ms; // skipped: it would say nothing new
            observe(coordinator,
                    &(struct weir_checkpoint_event){.kind = WEIR_CHECKPOINT_SKIPPED,
                                                    .number = coordinator->next_number,
                                                    .timestamp_ms = weir_wall_ms(config->clock)});
        } else {
            trigger(coordinator, WEIR_BARRIER_CHECKPOINT, now_ms);
        }
        return config->interval_ms;
    case WEIR_TRIGGER_MIN_PAUSE:
        return coordinator->last_end_ms + config->min_pause_ms - now_ms;
    case WEIR_TRIGGER_SHUTTING_DOWN:
    case WEIR_TRIGGER_SUSPENDED:
    case WEIR_TRIGGER_SOURCE_NOT_RUNNING:
    case WEIR_TRIGGER_TASK_NOT_RUNNING:
    case WEIR_TRIGGER_TOO_MANY_PENDING:
        break; // mail will change that
    }
    return config->interval_ms;
}

// Ends the process when the commit has not come back for too long. A process that was stopped for a
// while (SIGSTOP, a paused machine) finds its commit overdue when it wakes, and its client first
// has to hear from the brokers: mostly that a newer owner has fenced it.
static int64_t watch_commit(struct weir_coordinator *coordinator, struct pending *pending,
                            int64_t now_ms)
{
    int64_t left_ms = pending->stored_ms + coordinator->config.commit_hang_ms - now_ms;
    if (left_ms > 0) {
        return left_ms;
    }
    if (pending->overdue_ms == 0) {
        pending->overdue_ms = now_ms;
    }
    if (now_ms - pending->overdue_ms < OVERDUE_GRACE_MS) {
        return pending->overdue_ms + OVERDUE_GRACE_MS - now_ms;
    }
    weir_log(WEIR_LOG_ERROR,
             "the commit of checkpoint %lld has not come back for %lld s: the client hangs; "
             "ending the process, the next start goes on from the last commit",
             (long long)pending->barrier.number, (long long)((now_ms - pending->handed_ms) / 1000));
    _exit(1);
}

// The canceller of every pending checkpoint, and the watchdog of the commit. Returns the
// milliseconds until the next one is due, -1 when none is pending.
static int64_t check_deadlines(struct weir_coordinator *coordinator, int64_t now_ms)
{
    int64_t wait_ms = -1;
    for (uint32_t i = 0; i < coordinator->pending_count; i++) {
        struct pending *pending = &coordinator->pending[i];
        int64_t left_ms = pending->is_stored
                              ? watch_commit(coordinator, pending, now_ms)
                              : pending->triggered_ms + coordinator->config.timeout_ms - now_ms;
        if (left_ms <= 0) {
            struct weir_error error;
            weir_error_set(&error, WEIR_DOMAIN_RUNTIME, WEIR_ACTION_RECOVER,
                           "checkpoint %lld was not complete within %lld s "
                           "(WEIR_CHECKPOINT_TIMEOUT): %u of %u tasks had acknowledged",
                           (long long)pending->barrier.number,
                           (long long)(coordinator->config.timeout_ms / 1000),
                           pending->acknowledged_count, coordinator->config.task_count);
            end_failed(coordinator, &error);
            return 0;
        }
        wait_ms = wait_ms < 0 || left_ms < wait_ms ? left_ms : wait_ms;
    }
    return wait_ms;
}

int64_t weir_coordinator_step(struct weir_coordinator *coordinator)
{
    take_mail(coordinator);
    int64_t now_ms = weir_now_ms(coordinator->config.clock);
    int64_t wait_ms = check_deadlines(coordinator, now_ms);
    if (coordinator->outcome.kind != WEIR_OUTCOME_NONE) {
        return 0;
    }
    if (coordinator->ending != ENDING_NOT) {
        trigger_final(coordinator, now_ms);
        return wait_ms;
    }
    int64_t trigger_wait_ms = trigger_periodic(coordinator, now_ms);
    return wait_ms < 0 || trigger_wait_ms < wait_ms ? trigger_wait_ms : wait_ms;
}

void weir_coordinator_run(struct weir_coordinator *coordinator, const volatile int *stop_requests)
{
    bool is_stop_asked = false;
    for (;;) {
        if (*stop_requests > 1) {
            return;
        }
        if (*stop_requests == 1 && !is_stop_asked) {
            is_stop_asked = true;
            ask_end(coordinator, ENDING_STOP);
        }
        int64_t wait_ms = weir_coordinator_step(coordinator);
        if (coordinator->outcome.kind != WEIR_OUTCOME_NONE) {
            return;
        }
        weir_mailbox_wait(coordinator->config.mailbox, wait_ms);
    }
}
