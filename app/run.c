// SPDX-License-Identifier: Apache-2.0
// `weir run`. Once: plan, lock, client, store. Then lives, one after another: recover (claim),
// build, run, take down; the outcome of each says whether there is a next one. Thread: the main
// thread.
//
//   outcome of a life            next
//   done, stopped                exit 0
//   rebuild                      next life at once
//   failed, action fail          exit 1
//   failed, action refuse        exit 2 before the first life ran, 1 afterwards
//   failed, action fenced        wait, look at the pointer: newer owner → exit 3, else next life
//   failed, action recover       next life after a pause, while attempts are left; else exit 1
//   failed, a right is missing   exit 2 before the first life ran; as recover once something was
//                                committed, since then it was taken away and may come back; else
//                                exit 1
#include "app/run.h"

#include "app/config.h"
#include "app/exit_code.h"
#include "app/http/server.h"
#include "app/job.h"
#include "app/restart.h"
#include "app/signals.h"
#include "app/state_lock.h"
#include "runtime/base/log.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
    LOCK_TIMEOUT_MS = 30000,
    FENCED_WAIT_MS = 2000, // a fenced owner that comes back faster could fence the newer one's init
    FENCED_WAIT_SPREAD_MS = 1000,
    CONTEST_BACKOFF_MS = 100, // two that start at once fence each other: doubling, jittered
    CONTEST_BACKOFF_MAX_MS = 3200,
    CONSUMER_QUEUE_BYTES_MAX = 16 << 20, // of a handle
    // The client makes some 350 bytes of each record of an answer, however short: of what was
    // compressed to fifteen, that many times as much.
    FETCHED_PER_BYTE = 24,
    PRODUCER_QUEUE_BYTES_MAX = 32 << 20,
    LARGE_BLOCK_BYTES = 5 << 20,         // more than an answer to a fetch: they come all the time
    TRIM_BYTES = 16 << 20,               // of a heap: a few answers that come and go
    PRODUCER_QUEUE_MESSAGES_MAX = 20000, // more makes commits longer and nothing faster
    // Nobody sees a row before its commit, and a barrier ends the wait: a task that keeps one row
    // in a hundred would otherwise send hundreds of requests a second.
    LINGER_MS = 20,
    VISIBLE_LINGER_MS = 5, // at least once: rows are seen at once
};

struct run {
    struct weir_job_context context;
    struct weir_arena *arena;      // the process's
    struct weir_http_server *http; // NULL: off
    struct weir_restart restart;
    bool has_run;       // a life got as far as running
    bool has_committed; // a checkpoint: every right was there
    int64_t contest_backoff_ms;
};

static uint32_t random_number(void)
{
    uint32_t number = 0;
    ssize_t got = getrandom(&number, sizeof number, 0);
    (void)got;
    return number;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum weir_status create_client(const struct weir_config *config,
                                      const struct weir_plan *plan, struct weir_kafka **kafka,
                                      struct weir_error *error)
{
    uint32_t consumer_count = 0; // handles: one a source task
    for (uint32_t i = 0; i < plan->table_count; i++) {
        consumer_count += plan->tables[i]->is_source ? config->parallelism : 0;
    }
    // Shares of the budget: a quarter for what is fetched ahead, a quarter for what is being sent,
    // and no more than what keeps both busy.
    uint64_t share_bytes = weir_config_shared_bytes(config) / 4;
    struct weir_kafka_config client = weir_config_client(config, config->job_id);
    client.linger_ms = config->is_at_least_once ? VISIBLE_LINGER_MS : LINGER_MS;
    client.consumer_queue_bytes_max = least(share_bytes / consumer_count, CONSUMER_QUEUE_BYTES_MAX);
    client.fetch_bytes_max = share_bytes / consumer_count / FETCHED_PER_BYTE;
    client.producer_queue_messages_max = PRODUCER_QUEUE_MESSAGES_MAX;
    client.producer_queue_bytes_max =
        least(share_bytes / WEIR_HANDLE_COUNT, PRODUCER_QUEUE_BYTES_MAX);
    return weir_rdkafka_create(&client, kafka, error);
}

static enum weir_status begin(const struct weir_config *config, struct weir_arena *arena,
                              struct weir_job_context *context, struct weir_error *error)
{
    context->config = config;
    context->clock = &weir_system_clock;
    context->stop_requests = &weir_stop_requests;
    return weir_sql_plan_asking(config->sql_text, config->columns, arena, &context->plan, error);
}

enum weir_status weir_job_prepare(const struct weir_config *config, int64_t lock_timeout_ms,
                                  struct weir_arena *arena, struct weir_job_context *context,
                                  struct weir_error *error)
{
    int lock;
    if (begin(config, arena, context, error) != WEIR_OK ||
        weir_state_lock(config->state_dir, lock_timeout_ms, &weir_stop_requests, &lock, error) !=
            WEIR_OK ||
        weir_store_open(config->checkpoint_dir, config->job_id, (int32_t)config->instance_id,
                        &context->store, error) != WEIR_OK ||
        weir_registries_create(context->plan, config, &context->registries, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return create_client(config, context->plan, &context->kafka, error);
}

enum weir_status weir_job_connect(const struct weir_config *config, struct weir_arena *arena,
                                  struct weir_job_context *context, struct weir_error *error)
{
    return begin(config, arena, context, error) == WEIR_OK
               ? create_client(config, context->plan, &context->kafka, error)
               : WEIR_ERROR;
}

void weir_job_release(struct weir_job_context *context)
{
    if (context->kafka != NULL) {
        context->kafka->ops->destroy(context->kafka);
    }
    weir_registries_destroy(context->registries);
    weir_store_close(context->store);
    weir_owner_deinit(&context->owner);
}

// Everything between two recoveries. The outcome is filled in any case.
static void live(struct run *run, struct weir_outcome *outcome)
{
    struct weir_arena *arena = weir_arena_create(64 << 10);
    struct weir_recovered recovered;
    struct weir_job *job = NULL;
    *outcome = (struct weir_outcome){.kind = WEIR_OUTCOME_FAILED};
    weir_board_set_state(run->context.board, WEIR_JOB_RECOVERING, NULL);
    if (weir_recover(&run->context, arena, &recovered, &outcome->error) == WEIR_OK &&
        weir_job_create(&run->context, &recovered, &job, &outcome->error) == WEIR_OK) {
        run->has_run = true;
        run->contest_backoff_ms = CONTEST_BACKOFF_MS;
        weir_job_run(job, outcome);
        if (outcome->kind == WEIR_OUTCOME_DONE || outcome->kind == WEIR_OUTCOME_STOPPED) {
            weir_signals_set_ended();
        }
        weir_board_set_state(run->context.board, WEIR_JOB_STOPPING, NULL);
        weir_job_log_totals(job);
    }
    weir_job_destroy(job);
    weir_arena_destroy(arena);
}

// Was that a newer owner, or our own transaction timed out? The pointer tells. -1: go on.
static int on_fenced(struct run *run, const struct weir_error *error)
{
    weir_log(WEIR_LOG_WARN, "%s; looking who owns the job", error->text);
    weir_board_note_restart(run->context.board, "fenced", error->text);
    weir_board_set_state(run->context.board, WEIR_JOB_WAITING, error->text);
    int64_t wait_ms = FENCED_WAIT_MS + random_number() % FENCED_WAIT_SPREAD_MS;
    if (!run->has_run) {
        int64_t backoff_ms = run->contest_backoff_ms;
        wait_ms = backoff_ms / 2 + random_number() % (uint32_t)backoff_ms;
        run->contest_backoff_ms =
            backoff_ms * 2 > CONTEST_BACKOFF_MAX_MS ? CONTEST_BACKOFF_MAX_MS : backoff_ms * 2;
    }
    weir_pause_ms(wait_ms);
    struct weir_error look_error;
    if (weir_recover_look(&run->context, &look_error) == WEIR_OK) {
        return -1;
    }
    if (look_error.action == WEIR_ACTION_FENCED) {
        weir_log(WEIR_LOG_ERROR, "%s; ending", look_error.text);
        return WEIR_EXIT_FENCED;
    }
    return -1; // cannot be asked now: the recovery asks again, before it fences anybody
}

static int on_recover(struct run *run, const struct weir_error *error)
{
    int64_t wait_ms;
    if (!weir_restart_next(&run->restart, random_number(), &wait_ms)) {
        weir_log(WEIR_LOG_ERROR, "%s; no restart is left (WEIR_RESTART_ATTEMPTS=%" PRIu32 ")",
                 error->text, run->restart.attempts_max);
        return WEIR_EXIT_FAILED;
    }
    weir_log(WEIR_LOG_WARN,
             "%s; going back to the last committed checkpoint in %" PRId64 " ms (restart %" PRIu32
             " of %" PRIu32 ")",
             error->text, wait_ms, run->restart.attempt_count, run->restart.attempts_max);
    weir_board_note_restart(run->context.board, weir_error_domain_name(error->domain), error->text);
    weir_board_set_state(run->context.board, WEIR_JOB_WAITING, error->text);
    weir_pause_ms(wait_ms);
    return -1;
}

static int on_access_refused(struct run *run, const struct weir_error *error)
{
    if (run->has_committed) {
        return on_recover(run, error);
    }
    weir_log(WEIR_LOG_ERROR, "%s", error->text);
    return run->has_run ? WEIR_EXIT_FAILED : WEIR_EXIT_REFUSED;
}

// The exit code, or -1: another life.
static int on_failed(struct run *run, const struct weir_error *error)
{
    if (weir_stop_requests > 0) {
        weir_log(WEIR_LOG_ERROR, "%s; stopping without a final checkpoint", error->text);
        return WEIR_EXIT_FAILED;
    }
    if (error->domain == WEIR_DOMAIN_ACCESS) {
        return on_access_refused(run, error);
    }
    switch (error->action) {
    case WEIR_ACTION_REFUSE:
        weir_log(WEIR_LOG_ERROR, "%s", error->text);
        return run->has_run ? WEIR_EXIT_FAILED : WEIR_EXIT_REFUSED;
    case WEIR_ACTION_FAIL:
        weir_log(WEIR_LOG_ERROR, "%s", error->text);
        return WEIR_EXIT_FAILED;
    case WEIR_ACTION_FENCED:
        return on_fenced(run, error);
    case WEIR_ACTION_RETRY:
    case WEIR_ACTION_RECOVER:
        return on_recover(run, error);
    }
    WEIR_ASSERT(!"unreachable");
}

static int live_until_over(struct run *run)
{
    for (;;) {
        struct weir_outcome outcome;
        int64_t began_ms = weir_now_ms(run->context.clock);
        live(run, &outcome);
        int64_t life_ms = weir_now_ms(run->context.clock) - began_ms;
        weir_restart_note_life(&run->restart, life_ms, outcome.committed_count);
        run->has_committed = run->has_committed || outcome.committed_count > 0;
        int exit_code = -1;
        switch (outcome.kind) {
        case WEIR_OUTCOME_NONE: // a second stop request
            return WEIR_EXIT_FAILED;
        case WEIR_OUTCOME_DONE:
            weir_log(WEIR_LOG_INFO, "all input is read and committed: done");
            return WEIR_EXIT_OK;
        case WEIR_OUTCOME_STOPPED:
            weir_log(WEIR_LOG_INFO, "stopped after a final checkpoint");
            return WEIR_EXIT_OK;
        case WEIR_OUTCOME_REBUILD:
            break;
        case WEIR_OUTCOME_FAILED:
            exit_code = on_failed(run, &outcome.error);
            break;
        }
        if (exit_code >= 0) {
            return exit_code;
        }
    }
}

static int exit_code_of(const struct weir_error *error)
{
    return error->action == WEIR_ACTION_REFUSE ? WEIR_EXIT_REFUSED : WEIR_EXIT_FAILED;
}

// From before the first broker is asked: whoever looks after the process sees that it lives.
static enum weir_status serve(struct run *run, struct weir_error *error)
{
    const struct weir_config *config = run->context.config;
    run->context.board = weir_board_create(config, run->context.plan, run->context.clock);
    return config->http_listen[0] == '\0'
               ? WEIR_OK
               : weir_http_start(
                     &(struct weir_http_config){.listen = config->http_listen,
                                                .token = config->http_token,
                                                .site = {run->context.board, run->context.control}},
                     &run->http, error);
}

// glibc otherwise takes ever larger blocks from its heaps once such a block was freed, and what
// lies above a hole there is never given back: a third of the resident size with a full cache of
// state.
static void settle_allocator(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
}

int weir_command_run(const struct weir_config *config)
{
    struct run run = {0};
    struct weir_control control;
    struct weir_error error;
    settle_allocator();
    weir_control_init(&control);
    run.context.control = &control;
    weir_signals_init();
    run.arena = weir_arena_create(64 << 10);
    run.contest_backoff_ms = CONTEST_BACKOFF_MS;
    run.restart = (struct weir_restart){.attempts_max = config->restart_attempts_max,
                                        .backoff_ms = config->restart_backoff_ms,
                                        .backoff_max_ms = config->restart_backoff_max_ms};
    int exit_code;
    if (weir_job_prepare(config, LOCK_TIMEOUT_MS, run.arena, &run.context, &error) == WEIR_OK &&
        serve(&run, &error) == WEIR_OK) {
        exit_code = live_until_over(&run);
    } else {
        weir_log(WEIR_LOG_ERROR, "%s", error.text);
        exit_code = exit_code_of(&error);
    }
    weir_board_set_state(run.context.board,
                         exit_code == WEIR_EXIT_OK ? WEIR_JOB_ENDED : WEIR_JOB_FAILED, NULL);
    weir_http_stop(run.http);
    weir_board_destroy(run.context.board);
    weir_job_release(&run.context);
    weir_arena_destroy(run.arena);
    weir_control_deinit(&control);
    return exit_code;
}
