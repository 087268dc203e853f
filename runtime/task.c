// SPDX-License-Identifier: Apache-2.0
// See task.h. The way of a barrier through a task: the trigger arrives as mail between two batches
// (on_trigger); the source notes its positions; every node of the chain has its barrier call in
// order; the task's own hold on the snapshot is released. From then on rows belong to the next
// epoch. Thread: the task's own, but for what task.h says.
//
// Where a node has much to send at a barrier, it only freezes it there and sends it piece by piece
// between the batches of the next epoch, as far as the nodes behind it take it. These have their
// barrier after the last piece, and the task keeps its hold on the snapshot until then.
//
// Invariants
// 1. Mail is taken before input, so a trigger waits for at most one batch.
// 2. After a final barrier nothing is read any more.
// 3. The coordinator hears of a failure exactly once.
// 4. A node behind one that sends sees all rows of epoch n, then barrier n, then rows of n + 1.
#include "runtime/task.h"

#include "runtime/base/failpoint.h"
#include "runtime/base/log.h"

#include <pthread.h>
#include <stdio.h>

enum { NAME_BYTES_MAX = 64, WAITING_POLL_MS = 5 };

struct weir_task {
    uint32_t idx;
    char name[NAME_BYTES_MAX];
    struct weir_source *source;
    uint32_t node_count;
    struct weir_operator **nodes;
    struct weir_state_store *state;                    // NULL: none
    struct weir_operator_state_store *operator_states; // NULL: none
    struct weir_mailbox *mailbox;
    struct weir_mailbox *coordinator;
    struct weir_snapshot *passing; // its barrier has not reached all nodes yet; NULL: none
    pthread_t thread;
    bool has_thread;
    bool has_stepped;
    atomic_bool is_running;    // has stepped, and neither failed nor stopped
    bool is_draining;          // the source is not asked any more: its input ends here
    bool is_input_done;        // the source has said DONE
    bool is_final;             // the final barrier has passed
    bool is_stopped;           // told to end
    bool has_asked_checkpoint; // in this epoch
    bool is_waiting;           // a node holds something back: look again soon
    bool is_held_up;           // a node takes nothing
    bool is_blocked;           // takes no input: what is behind it, or its state, is full
    // Of the thread, read by others.
    _Atomic int64_t idle_us;
    _Atomic int64_t blocked_us;
    _Atomic int64_t parked_since_us; // 0: it is at work
    atomic_bool is_parked_blocked;
    int64_t wake_at_ms; // a node wants to be looked at then; 0: none does
};

// Nodes that nothing is pushed into or out of are not counted there.
static void count_rows(const struct weir_task *task)
{
    for (uint32_t i = 0; i < task->node_count; i++) {
        struct weir_operator *op = task->nodes[i];
        if (op->name == NULL) {
            continue;
        }
        if (op->ops->process != NULL) {
            op->rows_in =
                weir_metric_open(WEIR_METRIC_OPERATOR_RECORDS, WEIR_METRIC_LABELS(op->name, "in"));
        }
        if (op->next_count > 0) {
            op->rows_out =
                weir_metric_open(WEIR_METRIC_OPERATOR_RECORDS, WEIR_METRIC_LABELS(op->name, "out"));
        }
    }
}

struct weir_task *weir_task_create(uint32_t idx, const char *name, struct weir_source *source,
                                   uint32_t node_count, struct weir_operator **nodes,
                                   struct weir_mailbox *mailbox, struct weir_mailbox *coordinator)
{
    WEIR_ASSERT(node_count > 0 && nodes[0] == &source->op);
    struct weir_task *task = weir_alloc_zero(sizeof *task);
    task->idx = idx;
    snprintf(task->name, sizeof task->name, "%s", name);
    task->source = source;
    task->node_count = node_count;
    task->nodes = weir_alloc(node_count * sizeof *task->nodes);
    memcpy(task->nodes, nodes, node_count * sizeof *task->nodes);
    count_rows(task);
    task->mailbox = mailbox;
    task->coordinator = coordinator;
    return task;
}

void weir_task_destroy(struct weir_task *task)
{
    if (task == NULL) {
        return;
    }
    WEIR_ASSERT(!task->has_thread);
    if (task->passing != NULL) {
        weir_snapshot_abandon(task->passing);
    }
    for (uint32_t i = task->node_count; i > 0; i--) {
        weir_metric_close(task->nodes[i - 1]->rows_in);
        weir_metric_close(task->nodes[i - 1]->rows_out);
        task->nodes[i - 1]->ops->destroy(task->nodes[i - 1]);
    }
    if (task->state != NULL) {
        task->state->ops->destroy(task->state);
    }
    weir_operator_state_store_destroy(task->operator_states);
    weir_mailbox_destroy(task->mailbox, NULL);
    free(task->nodes);
    free(task);
}

const char *weir_task_name(const struct weir_task *task)
{
    return task->name;
}

struct weir_mailbox *weir_task_mailbox(struct weir_task *task)
{
    return task->mailbox;
}

void weir_task_set_state(struct weir_task *task, struct weir_state_store *state)
{
    WEIR_ASSERT(task->state == NULL);
    task->state = state;
}

void weir_task_set_operator_states(struct weir_task *task, struct weir_operator_state_store *store)
{
    WEIR_ASSERT(task->operator_states == NULL);
    task->operator_states = store;
}

bool weir_task_is_source(const struct weir_task *task)
{
    return !task->source->is_inlet;
}

uint64_t weir_task_activity(const struct weir_task *task)
{
    return atomic_load_explicit(&task->source->activity, memory_order_acquire);
}

bool weir_task_is_running(const struct weir_task *task)
{
    return atomic_load_explicit(&task->is_running, memory_order_acquire);
}

// How long the task has taken no input. The CPU time beside it is what does not depend on the load
// of the machine.
static void log_pause(const struct weir_task *task, const struct weir_barrier *barrier,
                      int64_t start_us, int64_t passed_us, int64_t start_cpu_us)
{
    int64_t end_us = weir_monotonic_us();
    weir_log(WEIR_LOG_DEBUG,
             "task %s: barrier %lld took %lld us, of these %lld us in the state; %lld us of CPU",
             task->name, (long long)barrier->number, (long long)(end_us - start_us),
             (long long)(end_us - passed_us), (long long)(weir_thread_cpu_us() - start_cpu_us));
}

// Gives up the snapshot that is passing: its epoch has failed.
static enum weir_status abandon(struct weir_task *task)
{
    weir_snapshot_abandon(task->passing);
    task->passing = NULL;
    return WEIR_ERROR;
}

static enum weir_status pass_barrier(struct weir_task *task, bool is_behind_changes,
                                     struct weir_error *error)
{
    for (uint32_t i = 0; i < task->node_count; i++) {
        struct weir_operator *op = task->nodes[i];
        if (op->is_behind_changes != is_behind_changes) {
            continue;
        }
        if (op->ops->barrier != NULL &&
            op->ops->barrier(op, &task->passing->barrier, task->passing, error) != WEIR_OK) {
            return abandon(task);
        }
        if (task->operator_states != NULL && op->id != NULL &&
            weir_operator_state_snapshot(task->operator_states, op->id, task->passing, error) !=
                WEIR_OK) {
            return abandon(task);
        }
    }
    return WEIR_OK;
}

static bool is_sending(const struct weir_task *task)
{
    for (uint32_t i = 0; i < task->node_count; i++) {
        if (task->nodes[i]->is_sending) {
            return true;
        }
    }
    return false;
}

// When all rows of the epoch have been sent the barrier goes on to the nodes behind.
static enum weir_status pass_on_if_sent(struct weir_task *task, struct weir_error *error)
{
    if (is_sending(task)) {
        return WEIR_OK;
    }
    if (pass_barrier(task, true, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_snapshot_release(task->passing);
    task->passing = NULL;
    return WEIR_OK;
}

static enum weir_status send_some(struct weir_task *task, struct weir_error *error)
{
    weir_failpoint("task.sending");
    for (uint32_t i = 0; i < task->node_count; i++) {
        struct weir_operator *op = task->nodes[i];
        if (op->is_sending && op->ops->send(op, error) != WEIR_OK) {
            return abandon(task);
        }
    }
    return pass_on_if_sent(task, error);
}

static enum weir_status on_trigger(struct weir_task *task, const struct weir_barrier *barrier,
                                   struct weir_error *error)
{
    WEIR_ASSERT(!task->is_final);
    while (task->passing != NULL) { // whatever the nodes behind have room for
        if (send_some(task, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    int64_t start_us = weir_monotonic_us();
    int64_t start_cpu_us = weir_thread_cpu_us();
    if (weir_failpoint("task.barrier")) {
        return weir_error_set(error, WEIR_DOMAIN_RUNTIME, WEIR_ACTION_RECOVER,
                              "failpoint task.barrier");
    }
    struct weir_snapshot *snapshot = weir_snapshot_create(barrier, task->idx, task->coordinator);
    task->passing = snapshot;
    task->source->ops->snapshot(task->source, snapshot);
    if (pass_barrier(task, false, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    int64_t passed_us = weir_monotonic_us();
    snapshot->passed_us = passed_us;
    snapshot->align_us = task->source->align_us;
    if (task->state != NULL) {
        task->state->ops->barrier(task->state, barrier, snapshot);
        task->has_asked_checkpoint = false;
    }
    task->is_final = barrier->type == WEIR_BARRIER_FINAL;
    log_pause(task, barrier, start_us, passed_us, start_cpu_us);
    return pass_on_if_sent(task, error);
}

static void on_cancel(struct weir_task *task, int64_t number)
{
    for (uint32_t i = 0; i < task->node_count; i++) {
        if (task->nodes[i]->ops->cancelled != NULL) {
            task->nodes[i]->ops->cancelled(task->nodes[i], number);
        }
    }
}

static enum weir_status take_mail(struct weir_task *task, struct weir_error *error)
{
    struct weir_mail mail;
    while (!task->is_stopped && weir_mailbox_take(task->mailbox, &mail)) {
        switch (mail.kind) {
        case WEIR_MAIL_TRIGGER: {
            struct weir_barrier barrier = {.number = mail.number,
                                           .timestamp_ms = mail.timestamp_ms,
                                           .type = (enum weir_barrier_type)mail.barrier_type};
            if (on_trigger(task, &barrier, error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            break;
        }
        case WEIR_MAIL_COMMITTED:
            if (task->state != NULL) {
                task->state->ops->committed(task->state, mail.number);
            }
            for (uint32_t i = 0; i < task->node_count; i++) {
                if (task->nodes[i]->ops->committed != NULL) {
                    task->nodes[i]->ops->committed(task->nodes[i], mail.number);
                }
            }
            break;
        case WEIR_MAIL_STOP:
            task->is_stopped = true;
            break;
        case WEIR_MAIL_DRAIN:
            task->is_draining = true;
            break;
        case WEIR_MAIL_CANCEL:
            on_cancel(task, mail.number);
            break;
        case WEIR_MAIL_ACKNOWLEDGED:
        case WEIR_MAIL_FINISHED:
        case WEIR_MAIL_FAILED:
        case WEIR_MAIL_COMMIT_FAILED:
        case WEIR_MAIL_HANDLE_READY:
        case WEIR_MAIL_MANIFEST_STORED:
        case WEIR_MAIL_COMPLETE:
        case WEIR_MAIL_REQUEST_CHECKPOINT:
        case WEIR_MAIL_REQUEST_STOP:
        case WEIR_MAIL_REQUEST_REBUILD:
        case WEIR_MAIL_REQUEST:
        case WEIR_MAIL_SAVEPOINT:
        case WEIR_MAIL_SAVEPOINT_OVER:
            WEIR_ASSERT(!"mail that is not for a task");
        }
    }
    return WEIR_OK;
}

// Lets every node try what it held back; false while one of them takes no input.
static enum weir_status resume(struct weir_task *task, bool *is_open, struct weir_error *error)
{
    *is_open = true;
    task->is_waiting = false;
    task->wake_at_ms = 0;
    for (uint32_t i = 0; i < task->node_count; i++) {
        struct weir_operator *op = task->nodes[i];
        if (op->ops->resume != NULL && op->ops->resume(op, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        *is_open = *is_open && !op->is_blocked;
        task->is_waiting = task->is_waiting || op->is_waiting;
        if (op->wake_at_ms != 0 && (task->wake_at_ms == 0 || op->wake_at_ms < task->wake_at_ms)) {
            task->wake_at_ms = op->wake_at_ms;
        }
    }
    task->is_held_up = !*is_open;
    if (task->state == NULL) {
        return WEIR_OK;
    }
    if (!task->has_asked_checkpoint && task->state->ops->wants_checkpoint(task->state)) {
        task->has_asked_checkpoint = true;
        weir_mailbox_post(
            task->coordinator,
            &(struct weir_mail){.kind = WEIR_MAIL_REQUEST_CHECKPOINT, .task_idx = task->idx});
    }
    *is_open = *is_open && !task->state->ops->is_full(task->state);
    return task->state->ops->check(task->state, error);
}

static const struct weir_time end_of_time = {.watermark_us = INT64_MAX};

static enum weir_step fail(struct weir_task *task, const struct weir_error *error)
{
    atomic_store_explicit(&task->is_running, false, memory_order_release);
    struct weir_error *copy = weir_alloc(sizeof *copy);
    *copy = *error;
    weir_error_context(copy, "task %s", task->name);
    weir_mailbox_post(
        task->coordinator,
        &(struct weir_mail){.kind = WEIR_MAIL_FAILED, .task_idx = task->idx, .payload = copy});
    return WEIR_STEP_FAILED;
}

enum weir_step weir_task_step(struct weir_task *task, struct weir_error *error)
{
    bool is_open = false;
    if (!task->has_stepped) {
        task->has_stepped = true;
        atomic_store_explicit(&task->is_running, true, memory_order_release);
        weir_mailbox_wake(task->coordinator); // it may wait for that with its last trigger
    }
    if (take_mail(task, error) != WEIR_OK || resume(task, &is_open, error) != WEIR_OK) {
        return fail(task, error);
    }
    // While the client has no room no input is taken: each row would make a copy of what has not
    // been sent yet.
    is_open = is_open && (task->passing == NULL || !task->is_waiting);
    task->is_blocked = !is_open;
    if (task->is_stopped) {
        atomic_store_explicit(&task->is_running, false, memory_order_release);
        return WEIR_STEP_DONE;
    }
    // A full state waits for what is sent: only the nodes count here. What the client's queue does
    // not take would be held in memory: it is better off where it is.
    bool sends = task->passing != NULL && !task->is_held_up && !task->is_waiting;
    if (sends && send_some(task, error) != WEIR_OK) {
        return fail(task, error);
    }
    if (task->is_final || task->is_input_done || !is_open) {
        return sends ? WEIR_STEP_MORE : WEIR_STEP_IDLE;
    }
    enum weir_step step =
        task->is_draining ? WEIR_STEP_DONE : task->source->ops->poll(task->source, error);
    switch (step) {
    case WEIR_STEP_MORE:
        return step;
    case WEIR_STEP_IDLE:
        return sends ? WEIR_STEP_MORE : WEIR_STEP_IDLE;
    case WEIR_STEP_DONE:
        task->is_input_done = true;
        // The end of time is a change of the epoch, also where no position moved.
        atomic_fetch_add_explicit(&task->source->activity, 1, memory_order_release);
        if (weir_operator_push_time(&task->source->op, &end_of_time, error) != WEIR_OK) {
            return fail(task, error);
        }
        weir_mailbox_post(task->coordinator,
                          &(struct weir_mail){.kind = WEIR_MAIL_FINISHED, .task_idx = task->idx});
        return WEIR_STEP_MORE;
    case WEIR_STEP_BARRIER:
        return on_trigger(task, &task->source->barrier, error) == WEIR_OK ? WEIR_STEP_MORE
                                                                          : fail(task, error);
    case WEIR_STEP_CANCEL:
        on_cancel(task, task->source->cancelled_number);
        return WEIR_STEP_MORE;
    case WEIR_STEP_FAILED:
        return fail(task, error);
    }
    WEIR_ASSERT(!"unreachable");
}

// How long the thread may sleep without being woken; -1: for ever.
static int64_t park_ms(const struct weir_task *task)
{
    if (task->is_waiting) {
        return WAITING_POLL_MS;
    }
    if (task->wake_at_ms == 0) {
        return -1;
    }
    int64_t left_ms = task->wake_at_ms - weir_now_ms(&weir_system_clock);
    return left_ms > 0 ? left_ms : 0;
}

// Two reads of the clock, only when there is nothing to do.
static void park(struct weir_task *task)
{
    _Atomic int64_t *waited_us = task->is_blocked ? &task->blocked_us : &task->idle_us;
    int64_t since_us = weir_monotonic_us();
    atomic_store_explicit(&task->is_parked_blocked, task->is_blocked, memory_order_relaxed);
    atomic_store_explicit(&task->parked_since_us, since_us, memory_order_release);
    weir_mailbox_wait(task->mailbox, park_ms(task));
    atomic_fetch_add_explicit(waited_us, weir_monotonic_us() - since_us, memory_order_relaxed);
    atomic_store_explicit(&task->parked_since_us, 0, memory_order_release);
}

struct weir_task_times weir_task_times(const struct weir_task *task)
{
    struct weir_task_times times = {
        .now_us = weir_monotonic_us(),
        .idle_us = atomic_load_explicit(&task->idle_us, memory_order_relaxed),
        .blocked_us = atomic_load_explicit(&task->blocked_us, memory_order_relaxed),
    };
    int64_t since_us = atomic_load_explicit(&task->parked_since_us, memory_order_acquire);
    if (since_us != 0 && since_us < times.now_us) {
        bool is_blocked = atomic_load_explicit(&task->is_parked_blocked, memory_order_relaxed);
        *(is_blocked ? &times.blocked_us : &times.idle_us) += times.now_us - since_us;
    }
    return times;
}

static void *run(void *argument)
{
    struct weir_task *task = argument;
    struct weir_error error;
    for (;;) {
        switch (weir_task_step(task, &error)) {
        case WEIR_STEP_MORE:
        case WEIR_STEP_BARRIER:
        case WEIR_STEP_CANCEL:
            break;
        case WEIR_STEP_IDLE:
            park(task);
            break;
        case WEIR_STEP_DONE:
        case WEIR_STEP_FAILED:
            return NULL;
        }
    }
}

void weir_task_start(struct weir_task *task)
{
    task->has_thread = true; // before there is one: gcc reads the flags beside it together with it
    int failed = pthread_create(&task->thread, NULL, run, task);
    WEIR_ASSERT(failed == 0);
    char thread_name[16];
    snprintf(thread_name, sizeof thread_name, "task %u", task->idx);
    pthread_setname_np(task->thread, thread_name);
}

void weir_task_join(struct weir_task *task)
{
    if (task->has_thread) {
        pthread_join(task->thread, NULL);
        task->has_thread = false;
    }
}
