// SPDX-License-Identifier: Apache-2.0
// See coordinator.h; deadlines are coordinator_watch.c's, counts coordinator_counts.c's. On the way
// of an epoch: trigger (to the source tasks) → acknowledgements (from all tasks) → complete (to the
// committer: manifest, offsets, commit) → committed (to all tasks).
//
// A pending checkpoint: COLLECTING → COMMITTING → gone; its number is next_number at the trigger.
//
// Invariants
// 1. The numbers of one run are consecutive: first_number, first_number + 1, …; a trigger that is
//    refused uses none.
// 2. Checkpoints are handed to the committer in the order of their numbers.
// 3. Exactly once: once a barrier is out, a checkpoint that fails ends the run (its rows are in its
//    transaction); the job recovers from the last committed one. At least once: it is given up, or
//    subsumed by a newer one that is complete first, and its number is passed over.
// 4. There is one outcome, and after it nothing is triggered or handed on.
#include "runtime/coordinator_internal.h"

#include "runtime/base/failpoint.h"
#include "runtime/base/limits.h"
#include "runtime/base/log.h"
#include "runtime/base/metrics.h"

#include <stdlib.h>

enum { REQUESTS_MAX = 64 }; // that wait for the same checkpoint

struct weir_coordinator *weir_coordinator_create(const struct weir_coordinator_config *config)
{
    WEIR_ASSERT(config->concurrent_max >= 1 &&
                config->concurrent_max <= WEIR_CHECKPOINTS_CONCURRENT_MAX);
    WEIR_ASSERT(config->task_count >= 1 && config->task_count <= WEIR_TASKS_MAX);
    struct weir_coordinator *coordinator = weir_alloc_zero(sizeof *coordinator);
    coordinator->config = *config;
    coordinator->pending.task_count = config->task_count;
    coordinator->next_number = config->first_number;
    coordinator->handle_ready_number = INT64_MIN;
    coordinator->created_ms = weir_now_ms(config->clock);
    coordinator->last_trigger_ms = coordinator->created_ms;
    coordinator->last_end_ms = coordinator->created_ms; // the claim was a commit
    coordinator->activity = weir_alloc_zero(config->task_count * sizeof *coordinator->activity);
    coordinator->is_finished =
        weir_alloc_zero(config->task_count * sizeof *coordinator->is_finished);
    weir_coordinator_open_counts(coordinator);
    for (uint32_t i = 0; i < config->task_count; i++) {
        coordinator->source_count += weir_task_is_source(config->tasks[i]) ? 1 : 0;
    }
    return coordinator;
}

void weir_coordinator_destroy(struct weir_coordinator *coordinator)
{
    if (coordinator == NULL) {
        return;
    }
    weir_pending_list_deinit(&coordinator->pending);
    weir_request_list_fail(&coordinator->waiting, WEIR_LIFE_IS_OVER);
    free(coordinator->activity);
    free(coordinator->is_finished);
    weir_coordinator_close_counts(coordinator);
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

static void observe_failure(const struct weir_coordinator *coordinator,
                            const struct weir_pending *pending,
                            enum weir_checkpoint_failure failure, const char *text)
{
    struct weir_checkpoint_event event = pending->event;
    event.kind = WEIR_CHECKPOINT_FAILED;
    event.failure = failure;
    event.text = text;
    observe(coordinator, &event);
}

void weir_coordinator_end_failed(struct weir_coordinator *coordinator,
                                 enum weir_checkpoint_failure failure,
                                 const struct weir_error *error)
{
    if (coordinator->outcome.kind == WEIR_OUTCOME_NONE) {
        coordinator->outcome.error = *error;
        end_run(coordinator, WEIR_OUTCOME_FAILED);
        weir_request_list_fail(&coordinator->waiting, error->text);
        for (uint32_t i = 0; i < coordinator->pending.count; i++) {
            struct weir_pending *pending = &coordinator->pending.items[i];
            observe_failure(coordinator, pending, failure, error->text);
            weir_request_list_fail(&pending->requests, error->text);
        }
    }
}

static void post_to_sources(const struct weir_coordinator *coordinator,
                            const struct weir_mail *mail)
{
    for (uint32_t i = 0; i < coordinator->config.task_count; i++) {
        if (weir_task_is_source(coordinator->config.tasks[i])) {
            weir_mailbox_post(weir_task_mailbox(coordinator->config.tasks[i]), mail);
        }
    }
}

void weir_coordinator_fail_pending(struct weir_coordinator *coordinator,
                                   struct weir_pending *pending,
                                   enum weir_checkpoint_failure failure,
                                   const struct weir_error *error)
{
    const struct weir_coordinator_config *config = &coordinator->config;
    coordinator->failures_in_row++;
    if (!config->is_at_least_once || pending->barrier.type == WEIR_BARRIER_FINAL ||
        coordinator->failures_in_row > config->tolerable_failures) {
        weir_coordinator_end_failed(coordinator, failure, error);
        return;
    }
    weir_log(WEIR_LOG_WARN, "%s; the job goes on, %u of %u such failures in a row", error->text,
             coordinator->failures_in_row, config->tolerable_failures);
    observe_failure(coordinator, pending, failure, error->text);
    post_to_sources(coordinator, &(struct weir_mail){.kind = WEIR_MAIL_CANCEL,
                                                     .number = pending->barrier.number});
    weir_pending_list_remove(&coordinator->pending, pending, error->text);
    coordinator->last_end_ms = weir_now_ms(config->clock);
    coordinator->is_behind = true; // what it would have committed still has to be
}

static void end_as_asked(struct weir_coordinator *coordinator)
{
    switch (coordinator->ending) {
    case WEIR_ENDING_BOUNDED:
        end_run(coordinator, WEIR_OUTCOME_DONE);
        return;
    case WEIR_ENDING_STOP:
    case WEIR_ENDING_DRAIN:
        end_run(coordinator, WEIR_OUTCOME_STOPPED);
        return;
    case WEIR_ENDING_REBUILD:
        end_run(coordinator, WEIR_OUTCOME_REBUILD);
        return;
    case WEIR_ENDING_NOT:
        WEIR_ASSERT(!"no end was asked for");
    }
}

// At least once: what is complete makes older ones needless, as it says all that they would have
// said. A savepoint is somebody's, and is waited for.
static void subsume(struct weir_coordinator *coordinator)
{
    struct weir_pending_list *list = &coordinator->pending;
    uint32_t newest = list->count;
    while (newest > 0 && !weir_pending_is_complete(list, &list->items[newest - 1])) {
        newest--;
    }
    for (uint32_t i = newest; i > 1; i--) { // items[newest - 1] is complete
        struct weir_pending *older = &list->items[i - 2];
        if (older->barrier.type == WEIR_BARRIER_SAVEPOINT) {
            return;
        }
        if (older->state == WEIR_PENDING_COLLECTING && !weir_pending_is_complete(list, older)) {
            observe_failure(coordinator, older, WEIR_FAILURE_SUBSUMED,
                            "a newer checkpoint was complete first");
            weir_request_list_move(&list->items[i - 1].requests, &older->requests);
            weir_pending_list_remove(list, older, WEIR_LIFE_IS_OVER);
        }
    }
}

// Hands on every checkpoint that is complete, as long as all older ones have been handed on.
static void hand_on(struct weir_coordinator *coordinator)
{
    struct weir_pending_list *list = &coordinator->pending;
    if (coordinator->config.is_at_least_once) {
        subsume(coordinator);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        struct weir_pending *pending = &list->items[i];
        if (pending->state == WEIR_PENDING_COMMITTING) {
            continue;
        }
        if (!weir_pending_is_complete(list, pending)) {
            return;
        }
        int64_t now_ms = weir_now_ms(coordinator->config.clock);
        weir_mailbox_post(
            coordinator->config.committer,
            &(struct weir_mail){.kind = WEIR_MAIL_COMPLETE,
                                .number = pending->barrier.number,
                                .payload = weir_pending_hand_on(list, pending, now_ms)});
    }
}

// Takes over the snapshot.
static void on_acknowledged(struct weir_coordinator *coordinator, struct weir_snapshot *snapshot)
{
    int64_t number = snapshot->barrier.number;
    uint32_t task_idx = snapshot->task_idx;
    enum weir_acknowledgement found =
        weir_pending_list_acknowledge(&coordinator->pending, snapshot, coordinator->next_number);
    weir_metric_add(coordinator->acknowledgements[found], 1);
    if (found != WEIR_ACKNOWLEDGEMENT_SUCCESS) {
        // In at-least-once mode a checkpoint that was given up is acknowledged late as a rule.
        weir_log(coordinator->config.is_at_least_once ? WEIR_LOG_DEBUG : WEIR_LOG_WARN,
                 "acknowledgement of checkpoint %lld by task %u is %s", (long long)number, task_idx,
                 weir_acknowledgement_name(found));
        return;
    }
    weir_checkpoint_event_add(&weir_pending_list_find(&coordinator->pending, number)->event,
                              snapshot, weir_task_is_source(coordinator->config.tasks[task_idx]));
    hand_on(coordinator);
}

static void on_committed(struct weir_coordinator *coordinator, int64_t number)
{
    struct weir_pending *oldest = &coordinator->pending.items[0];
    WEIR_ASSERT(coordinator->pending.count > 0 && oldest->barrier.number == number &&
                oldest->state == WEIR_PENDING_COMMITTING);
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
    weir_pending_list_remove(&coordinator->pending, oldest, WEIR_LIFE_IS_OVER);
    coordinator->failures_in_row = 0;
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

static void ask_end(struct weir_coordinator *coordinator, enum weir_ending ending)
{
    // A stop wins over a rebuild that is under way, and a bounded end over both.
    if (coordinator->ending == WEIR_ENDING_NOT || coordinator->ending == WEIR_ENDING_REBUILD ||
        ending == WEIR_ENDING_BOUNDED) {
        coordinator->ending = ending;
    }
}

static void ask_drain(struct weir_coordinator *coordinator)
{
    if (coordinator->ending == WEIR_ENDING_BOUNDED || coordinator->ending == WEIR_ENDING_DRAIN) {
        return; // time is at its end, or on its way
    }
    coordinator->ending = WEIR_ENDING_DRAIN;
    post_to_sources(coordinator, &(struct weir_mail){.kind = WEIR_MAIL_DRAIN});
}

static void on_request(struct weir_coordinator *coordinator, struct weir_request *request)
{
    const struct weir_request_wish *wish = weir_request_wish(request);
    if (coordinator->is_final_triggered) {
        weir_metric_add(coordinator->refusals[WEIR_TRIGGER_SHUTTING_DOWN], 1);
        weir_request_refuse(request, "%s: the last checkpoint of this run is under way",
                            weir_trigger_refusal_name(WEIR_TRIGGER_SHUTTING_DOWN));
        return;
    }
    if (wish->kind == WEIR_REQUEST_SAVEPOINT && coordinator->config.savepoints == NULL) {
        weir_request_refuse(request, "this job cannot write savepoints");
        return;
    }
    if (coordinator->waiting.count == REQUESTS_MAX) {
        weir_metric_add(coordinator->refusals[WEIR_TRIGGER_TOO_MANY_PENDING], 1);
        weir_request_refuse(request, "%s: %d requests wait for a checkpoint",
                            weir_trigger_refusal_name(WEIR_TRIGGER_TOO_MANY_PENDING), REQUESTS_MAX);
        return;
    }
    weir_request_list_add(&coordinator->waiting, request);
    if (wish->is_drain) {
        ask_drain(coordinator);
    } else if (wish->is_stop) {
        ask_end(coordinator, WEIR_ENDING_STOP);
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
        coordinator->ending != WEIR_ENDING_DRAIN) {
        ask_end(coordinator, WEIR_ENDING_BOUNDED);
    }
}

// The store's refusal can be made up for by a later checkpoint; what became of a transaction is for
// the recovery to find out.
static void on_commit_failed(struct weir_coordinator *coordinator, int64_t number,
                             const struct weir_error *error)
{
    struct weir_pending *pending = weir_pending_list_find(&coordinator->pending, number);
    bool is_store = error->domain == WEIR_DOMAIN_STORE && error->action == WEIR_ACTION_RECOVER;
    if (is_store && pending != NULL && !pending->is_stored) {
        weir_coordinator_fail_pending(coordinator, pending, WEIR_FAILURE_STORE, error);
    } else {
        weir_coordinator_end_failed(
            coordinator,
            error->action == WEIR_ACTION_FENCED ? WEIR_FAILURE_FENCED : WEIR_FAILURE_COMMIT, error);
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
            weir_coordinator_end_failed(coordinator, WEIR_FAILURE_TASK, mail.payload);
            free(mail.payload);
            break;
        case WEIR_MAIL_COMMIT_FAILED:
            on_commit_failed(coordinator, mail.number, mail.payload);
            free(mail.payload);
            break;
        case WEIR_MAIL_HANDLE_READY:
            coordinator->handle_ready_number = mail.number;
            break;
        case WEIR_MAIL_MANIFEST_STORED: {
            struct weir_pending *pending =
                weir_pending_list_find(&coordinator->pending, mail.number);
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
            ask_end(coordinator, WEIR_ENDING_STOP);
            break;
        case WEIR_MAIL_REQUEST_REBUILD:
            ask_end(coordinator, WEIR_ENDING_REBUILD);
            break;
        case WEIR_MAIL_REQUEST:
            on_request(coordinator, mail.payload);
            break;
        case WEIR_MAIL_CANCEL:
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
    if (coordinator->is_behind) {
        return false;
    }
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
    struct weir_barrier barrier = {.number = coordinator->next_number,
                                   .timestamp_ms = weir_wall_ms(config->clock),
                                   .type = type};
    struct weir_pending *pending = weir_pending_list_add(&coordinator->pending, &barrier, now_ms);
    bool has_savepoint = weir_request_list_take(&coordinator->waiting, type == WEIR_BARRIER_FINAL,
                                                &pending->requests);
    if (has_savepoint && type != WEIR_BARRIER_FINAL) {
        pending->barrier.type = WEIR_BARRIER_SAVEPOINT;
        pending->event.type = WEIR_BARRIER_SAVEPOINT;
    }
    coordinator->next_number++;
    coordinator->is_checkpoint_wanted = weir_request_list_has_soon(&coordinator->waiting);
    coordinator->last_trigger_ms = now_ms;
    coordinator->is_behind = false;
    for (uint32_t i = 0; i < config->task_count; i++) {
        // Read before the trigger is posted: what moves later is in this epoch or in the next, and
        // an epoch too many costs less than one that is never made.
        coordinator->activity[i] = weir_task_activity(config->tasks[i]);
    }
    post_to_sources(coordinator, &(struct weir_mail){.kind = WEIR_MAIL_TRIGGER,
                                                     .number = pending->barrier.number,
                                                     .timestamp_ms = pending->barrier.timestamp_ms,
                                                     .barrier_type = pending->barrier.type});
    observe(coordinator, &pending->event);
    weir_failpoint("coordinator.triggered");
}

static enum weir_trigger_refusal check(struct weir_coordinator *coordinator,
                                       enum weir_trigger_kind kind, int64_t now_ms)
{
    uint32_t task_count = coordinator->config.task_count;
    uint32_t source_running_count = 0;
    uint32_t task_running_count = 0;
    for (uint32_t i = 0; i < task_count; i++) {
        const struct weir_task *task = coordinator->config.tasks[i];
        bool is_running = weir_task_is_running(task); // also one that has finished its input
        task_running_count += is_running ? 1 : 0;
        source_running_count += is_running && weir_task_is_source(task) ? 1 : 0;
    }
    enum weir_trigger_refusal refusal = weir_trigger_check(
        &(struct weir_trigger_state){.is_shutting_down = coordinator->ending != WEIR_ENDING_NOT,
                                     .is_running = coordinator->outcome.kind == WEIR_OUTCOME_NONE,
                                     .source_count = coordinator->source_count,
                                     .source_running_count = source_running_count,
                                     .task_count = task_count,
                                     .task_running_count = task_running_count,
                                     .pending_count = coordinator->pending.count,
                                     .concurrent_max = coordinator->config.concurrent_max,
                                     .number = coordinator->next_number,
                                     .handle_ready_number = coordinator->handle_ready_number,
                                     .now_ms = now_ms,
                                     .last_end_ms = coordinator->last_end_ms,
                                     .min_pause_ms = coordinator->config.min_pause_ms},
        kind);
    weir_coordinator_count_refusal(coordinator, refusal);
    return refusal;
}

// The final checkpoint, once everything before it is out of the way.
static void trigger_final(struct weir_coordinator *coordinator, int64_t now_ms)
{
    bool is_draining = coordinator->ending == WEIR_ENDING_DRAIN &&
                       coordinator->finished_count < coordinator->source_count;
    if (coordinator->is_final_triggered || is_draining) {
        return;
    }
    if (coordinator->pending.count == 0 && is_quiet(coordinator) &&
        !weir_request_list_has_savepoint(&coordinator->waiting)) {
        coordinator->is_final_triggered = true;
        weir_request_list_answer(&coordinator->waiting, -1, WEIR_BARRIER_FINAL, NULL);
        end_as_asked(coordinator); // nothing has moved since the last commit
    } else if (check(coordinator, WEIR_TRIGGER_FINAL, now_ms) == WEIR_TRIGGER_ALLOWED) {
        coordinator->is_final_triggered = true;
        trigger(coordinator, WEIR_BARRIER_FINAL, now_ms);
    }
}

static int64_t current_interval_ms(const struct weir_coordinator *coordinator, int64_t now_ms)
{
    const struct weir_coordinator_config *config = &coordinator->config;
    bool is_first = coordinator->next_number == config->first_number &&
                    now_ms - coordinator->created_ms < config->interval_ms;
    return is_first && config->first_interval_ms != 0 ? config->first_interval_ms
                                                      : config->interval_ms;
}

// Returns the milliseconds until the next periodic trigger can be due.
static int64_t trigger_periodic(struct weir_coordinator *coordinator, int64_t now_ms)
{
    const struct weir_coordinator_config *config = &coordinator->config;
    int64_t interval_ms = current_interval_ms(coordinator, now_ms);
    int64_t due_ms = coordinator->last_trigger_ms + interval_ms;
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
        return interval_ms;
    case WEIR_TRIGGER_MIN_PAUSE:
        return coordinator->last_end_ms + config->min_pause_ms - now_ms;
    case WEIR_TRIGGER_SHUTTING_DOWN:
    case WEIR_TRIGGER_SUSPENDED:
    case WEIR_TRIGGER_SOURCE_NOT_RUNNING:
    case WEIR_TRIGGER_TASK_NOT_RUNNING:
    case WEIR_TRIGGER_TOO_MANY_PENDING:
    case WEIR_TRIGGER_REFUSAL_COUNT:
        break; // mail will change that
    }
    return config->interval_ms;
}

int64_t weir_coordinator_step(struct weir_coordinator *coordinator)
{
    take_mail(coordinator);
    int64_t now_ms = weir_now_ms(coordinator->config.clock);
    int64_t wait_ms = weir_coordinator_check_deadlines(coordinator, now_ms);
    if (coordinator->outcome.kind != WEIR_OUTCOME_NONE) {
        return 0;
    }
    if (coordinator->ending != WEIR_ENDING_NOT) {
        trigger_final(coordinator, now_ms);
        return wait_ms;
    }
    int64_t trigger_wait_ms = trigger_periodic(coordinator, now_ms);
    return wait_ms < 0 || trigger_wait_ms < wait_ms ? trigger_wait_ms : wait_ms;
}

void weir_coordinator_run(struct weir_coordinator *coordinator, const atomic_int *stop_requests)
{
    bool is_stop_asked = false;
    for (;;) {
        if (*stop_requests > 1) {
            return;
        }
        if (*stop_requests == 1 && !is_stop_asked) {
            is_stop_asked = true;
            ask_end(coordinator, WEIR_ENDING_STOP);
        }
        int64_t wait_ms = weir_coordinator_step(coordinator);
        if (coordinator->outcome.kind != WEIR_OUTCOME_NONE) {
            return;
        }
        weir_mailbox_wait(coordinator->config.mailbox, wait_ms);
    }
}
