// SPDX-License-Identifier: Apache-2.0
// See job.h. Threads of a running job: one a task, the committer, the savepoint writer, discovery,
// and the coordinator on the main thread. Order of taking down: no more requests → stop tasks →
// stop discovery, savepoint writer and committer → close the handles (no delivery report comes
// after that) → destroy tasks → destroy the coordinator.
#include "app/job.h"

#include "app/discovery.h"
#include "app/job_figures.h"
#include "app/savepoints.h"
#include "app/signals.h"
#include "kafka/sink.h"
#include "runtime/base/log.h"
#include "runtime/coordinator.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    QUIET_COMMIT_MS = 30 * 60 * 1000, // well under the expiry of offsets and transactional ids
    RECOVERED_INTERVAL_MS = 100,      // long enough for what the sources have waiting for them
    COMMIT_HANG_MS = 120000, // beyond every deadline of the commit itself; 30 s of grace follow
};

struct weir_job {
    struct weir_job_context *context;
    struct weir_recovered recovered; // its arena outlives the job
    struct weir_arena *arena;
    struct weir_mailbox *mailbox; // of the coordinator
    struct weir_job_tasks tasks;
    struct weir_committer *committer;
    struct weir_savepoints *savepoints;
    struct weir_coordinator *coordinator;
    struct weir_discovery *discovery;
    struct weir_watch *watch;
    struct weir_progress *progress;
    struct weir_job_figures *figures;
};

static enum weir_status create_parts(struct weir_job *job, struct weir_error *error)
{
    const struct weir_config *config = job->context->config;
    if (weir_job_build(job->context, &job->recovered, job->mailbox, job->arena, &job->tasks,
                       error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_phases_note(&job->context->phases, "tasks and state");
    job->recovered.committer.coordinator = job->mailbox;
    if (weir_committer_start(&job->recovered.committer, job->recovered.number + 1, &job->committer,
                             error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    job->savepoints = weir_savepoints_start(
        &(struct weir_savepoints_config){.store = job->context->store,
                                         .attempt = job->recovered.attempt,
                                         .committer = weir_committer_mailbox(job->committer)});
    struct weir_task **tasks = weir_arena_alloc(job->arena, job->tasks.count * sizeof *tasks);
    for (uint32_t i = 0; i < job->tasks.count; i++) {
        tasks[i] = job->tasks.tasks[i].task;
    }
    job->coordinator = weir_coordinator_create(&(struct weir_coordinator_config){
        .interval_ms = config->checkpoint_interval_ms,
        // Readers have waited since the last life ended.
        .first_interval_ms = job->recovered.from_number < 0 ? 0
                             : config->checkpoint_interval_ms < RECOVERED_INTERVAL_MS
                                 ? config->checkpoint_interval_ms
                                 : RECOVERED_INTERVAL_MS,
        .timeout_ms = config->checkpoint_timeout_ms,
        .min_pause_ms = config->checkpoint_min_pause_ms,
        .quiet_commit_ms = QUIET_COMMIT_MS,
        .commit_hang_ms = COMMIT_HANG_MS,
        .concurrent_max = config->checkpoint_concurrent_max,
        .is_at_least_once = config->is_at_least_once,
        .tolerable_failures = config->checkpoint_tolerable_failures,
        .first_number = job->recovered.number + 1,
        .task_count = job->tasks.count,
        .tasks = tasks,
        .mailbox = job->mailbox,
        .committer = weir_committer_mailbox(job->committer),
        .savepoints = weir_savepoints_mailbox(job->savepoints),
        .clock = job->context->clock,
        .observer = job->context->board != NULL ? &job->context->board->observer : NULL,
    });
    job->watch = weir_watch_create(&job->tasks, job->context->clock, config->checkpoint_timeout_ms);
    job->progress = weir_progress_create(&job->tasks, job->watch, job->context->clock);
    job->figures = weir_job_figures_create(&job->tasks, job->watch, job->context->plan);
    return WEIR_OK;
}

enum weir_status weir_job_create(struct weir_job_context *context,
                                 const struct weir_recovered *recovered, struct weir_job **out,
                                 struct weir_error *error)
{
    struct weir_job *job = weir_alloc_zero(sizeof *job);
    job->context = context;
    job->recovered = *recovered;
    job->arena = weir_arena_create(64 << 10);
    job->mailbox = weir_mailbox_create();
    if (create_parts(job, error) != WEIR_OK) {
        weir_job_destroy(job);
        return WEIR_ERROR;
    }
    *out = job;
    return WEIR_OK;
}

static void log_running(struct weir_job *job)
{
    struct weir_buffer phases = {0};
    weir_phases_note(&job->context->phases, "transactions");
    weir_phases_describe(&job->context->phases, &phases);
    weir_log(WEIR_LOG_INFO,
             "job %s is running: %u tasks, checkpoint every %" PRId64 " ms; recovered within %s",
             job->context->config->job_id, job->tasks.count,
             job->context->config->checkpoint_interval_ms, weir_buffer_text(&phases));
    weir_buffer_deinit(&phases);
}

// What is not read is said at the beginning of each life.
static void log_quarantined(const struct weir_job *job)
{
    for (uint32_t i = 0; i < job->recovered.start_count; i++) {
        const struct weir_start *start = &job->recovered.starts[i];
        if (start->partition.is_quarantined) {
            weir_log(WEIR_LOG_WARN,
                     "table %s: topic %s partition %" PRId32
                     " is in quarantine (WEIR_QUARANTINE): not read, its position stays at %" PRId64
                     "%s",
                     start->table->name, start->table->topic, start->partition.partition,
                     start->partition.offset,
                     start->partition.is_left_out ? "; this run ends without what lies behind it"
                                                  : "");
        }
    }
}

void weir_job_run(struct weir_job *job, struct weir_outcome *outcome)
{
    weir_control_begin(job->context->control, &job->tasks);
    for (uint32_t i = 0; i < job->tasks.count; i++) {
        weir_task_start(job->tasks.tasks[i].task);
    }
    job->discovery =
        weir_discovery_start(&(struct weir_discovery_config){.kafka = job->context->kafka,
                                                             .store = job->context->store,
                                                             .attempt = job->recovered.attempt,
                                                             .topics = &job->recovered.topics,
                                                             .tasks = &job->tasks,
                                                             .watch = job->watch,
                                                             .progress = job->progress,
                                                             .clock = job->context->clock,
                                                             .coordinator = job->mailbox});
    log_running(job);
    log_quarantined(job);
    weir_board_begin_life(job->context->board,
                          &(struct weir_board_life){.attempt = job->recovered.attempt.text,
                                                    .figures = job->figures,
                                                    .watch = job->watch,
                                                    .registries = job->context->registries},
                          job->recovered.number);
    weir_signals_wake(weir_mailbox_descriptor(job->mailbox));
    weir_control_set(job->context->control, job->mailbox);
    weir_coordinator_run(job->coordinator, job->context->stop_requests);
    weir_control_set(job->context->control, NULL);
    *outcome = *weir_coordinator_outcome(job->coordinator);
    weir_board_end_life(job->context->board);
    if (outcome->kind == WEIR_OUTCOME_DONE || outcome->kind == WEIR_OUTCOME_STOPPED) {
        // A run that ended as asked ends with its savepoint, however long the copying takes.
        weir_savepoints_stop(job->savepoints, true);
        job->savepoints = NULL;
    }
}

static void log_read(const struct weir_job_task *task)
{
    struct weir_source_stats read = weir_source_stats(task->source);
    weir_log(WEIR_LOG_INFO, "task %s read %" PRIu64 " records, of these %" PRIu64 " null values",
             weir_task_name(task->task), read.record_count, read.null_value_count);
}

static void log_written(const struct weir_job_task *task)
{
    for (uint32_t i = 0; i < task->sink_count; i++) {
        struct weir_sink_stats written = weir_sink_stats(task->sinks[i]);
        weir_log(WEIR_LOG_INFO, "task %s wrote %" PRIu64 " rows to %s", weir_task_name(task->task),
                 written.row_count, task->sink_tables[i]->name);
    }
}

static void log_set_aside(const struct weir_job_task *task)
{
    for (int i = 0; i < WEIR_ROW_ERROR_REASON_COUNT; i++) {
        enum weir_row_error_reason reason = (enum weir_row_error_reason)i;
        uint64_t count = weir_row_policy_count(task->policy, reason);
        count +=
            task->changes_policy != NULL ? weir_row_policy_count(task->changes_policy, reason) : 0;
        if (count > 0) {
            weir_log(WEIR_LOG_WARN, "task %s set %" PRIu64 " records aside: %s",
                     weir_task_name(task->task), count, weir_row_error_reason_name(reason));
        }
    }
}

void weir_job_log_totals(const struct weir_job *job)
{
    for (uint32_t i = 0; i < job->tasks.count; i++) {
        const struct weir_job_task *task = &job->tasks.tasks[i];
        if (task->table != NULL) {
            log_read(task);
        }
        log_written(task);
        log_set_aside(task);
    }
}

void weir_job_destroy(struct weir_job *job)
{
    if (job == NULL) {
        return;
    }
    for (uint32_t i = 0; i < job->tasks.count; i++) {
        weir_mailbox_post(weir_task_mailbox(job->tasks.tasks[i].task),
                          &(struct weir_mail){.kind = WEIR_MAIL_STOP});
    }
    for (uint32_t i = 0; i < job->tasks.count; i++) {
        weir_task_join(job->tasks.tasks[i].task);
    }
    weir_discovery_stop(job->discovery);
    weir_savepoints_stop(job->savepoints, false);
    if (job->committer == NULL) {
        weir_janitor_destroy(job->recovered.committer.janitor);
    }
    weir_job_figures_destroy(job->figures);
    weir_progress_destroy(job->progress);
    weir_watch_destroy(job->watch);
    weir_committer_stop(job->committer);
    weir_handles_close(job->recovered.handles);
    for (uint32_t i = 0; i < job->tasks.count; i++) {
        weir_task_destroy(job->tasks.tasks[i].task);
    }
    weir_coordinator_destroy(job->coordinator);
    weir_signals_wake(-1); // before the descriptor goes
    weir_mailbox_destroy(job->mailbox, weir_coordinator_drop_mail);
    weir_arena_destroy(job->arena);
    free(job);
}
