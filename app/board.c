// SPDX-License-Identifier: Apache-2.0
// See board.h.
#include "app/board.h"

#include "app/job_figures.h"
#include "app/registries.h"
#include "app/signals.h"
#include "runtime/base/assert.h"
#include "runtime/base/metrics.h"
#include "runtime/version.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const phase_names[] = {"trigger", "align", "snapshot", "flush", "commit"};

const char *weir_job_state_name(enum weir_job_state state)
{
    switch (state) {
    case WEIR_JOB_STARTING:
        return "starting";
    case WEIR_JOB_RECOVERING:
        return "recovering";
    case WEIR_JOB_RUNNING:
        return "running";
    case WEIR_JOB_STOPPING:
        return "stopping";
    case WEIR_JOB_WAITING:
        return "waiting";
    case WEIR_JOB_ENDED:
        return "ended";
    case WEIR_JOB_FAILED:
        return "failed";
    case WEIR_JOB_STATE_COUNT:
        break;
    }
    return "unknown";
}

static void set_text(const struct weir_board *board, char text[WEIR_BOARD_TEXT_BYTES],
                     const char *given)
{
    struct weir_buffer masked = {0};
    if (given != NULL) {
        weir_secrets_mask(&board->config->secrets, given, &masked);
    }
    snprintf(text, WEIR_BOARD_TEXT_BYTES, "%s", weir_buffer_text(&masked));
    weir_buffer_deinit(&masked);
}

static void show_state(struct weir_board *board)
{
    for (int i = 0; i < WEIR_JOB_STATE_COUNT; i++) {
        weir_metric_set(board->states[i], (int)board->state == i ? 1 : 0);
    }
}

static void on_committed(struct weir_board *board, const struct weir_checkpoint_event *event)
{
    const int64_t phases_us[] = {event->phases.trigger_us, event->phases.align_us,
                                 event->phases.snapshot_us, event->phases.flush_us,
                                 event->phases.commit_us};
    board->last_completed = event->number;
    weir_metric_add(board->completed, 1);
    weir_metric_set(board->last, (double)event->number);
    for (int i = 0; i < 5; i++) {
        weir_metric_set(board->phases[i], (double)phases_us[i] / 1e6);
    }
    weir_metric_set(board->log_bytes, (double)event->log_bytes);
    weir_metric_set(board->materialised_bytes, (double)event->materialised_bytes);
    weir_metric_observe(WEIR_METRIC_CHECKPOINT_DURATION, (double)event->phases.total_us / 1e6);
}

// Tasks have names while their life runs.
static void name_slowest(const struct weir_board *board, struct weir_board_checkpoint *entry)
{
    const struct weir_checkpoint_phases *phases = &entry->event.phases;
    const struct weir_checkpoint_slowest *slowest = &entry->event.slowest;
    const int64_t phases_us[] = {[WEIR_BOARD_TRIGGER] = phases->trigger_us,
                                 [WEIR_BOARD_ALIGN] = phases->align_us,
                                 [WEIR_BOARD_SNAPSHOT] = phases->snapshot_us,
                                 [WEIR_BOARD_FLUSH] = phases->flush_us};
    const uint32_t idxs[] = {[WEIR_BOARD_TRIGGER] = slowest->trigger_idx,
                             [WEIR_BOARD_ALIGN] = slowest->align_idx,
                             [WEIR_BOARD_SNAPSHOT] = slowest->snapshot_idx,
                             [WEIR_BOARD_FLUSH] = slowest->flush_idx};
    const struct weir_job_figures *figures = board->has_life ? board->life.figures : NULL;
    for (int i = 0; i < WEIR_BOARD_PHASE_COUNT; i++) {
        bool has_name = figures != NULL && phases_us[i] > 0 && idxs[i] < figures->tasks->count;
        snprintf(entry->slowest[i], sizeof entry->slowest[i], "%s",
                 has_name ? weir_task_name(figures->tasks->tasks[idxs[i]].task) : "");
    }
}

// The newest entry of that number is brought up to date; a trigger makes a new one.
static void remember(struct weir_board *board, const struct weir_checkpoint_event *event)
{
    uint32_t idx = board->checkpoint_count;
    if (event->kind == WEIR_CHECKPOINT_TRIGGERED) {
        board->checkpoint_count++;
    } else {
        uint32_t left = idx < WEIR_BOARD_CHECKPOINTS ? idx : WEIR_BOARD_CHECKPOINTS;
        do {
            if (left == 0) {
                return;
            }
            left--;
            idx--;
        } while (board->checkpoints[idx % WEIR_BOARD_CHECKPOINTS].event.number != event->number);
    }
    struct weir_board_checkpoint *entry = &board->checkpoints[idx % WEIR_BOARD_CHECKPOINTS];
    entry->event = *event;
    entry->event.text = NULL;
    set_text(board, entry->text, event->text);
    name_slowest(board, entry);
}

static void on_checkpoint(struct weir_checkpoint_observer *observer,
                          const struct weir_checkpoint_event *event)
{
    struct weir_board *board = (struct weir_board *)observer;
    pthread_mutex_lock(&board->lock);
    switch (event->kind) {
    case WEIR_CHECKPOINT_TRIGGERED:
        break;
    case WEIR_CHECKPOINT_COMMITTED:
        board->fresh_ms = weir_now_ms(board->clock);
        board->is_doubtful = false;
        on_committed(board, event);
        break;
    case WEIR_CHECKPOINT_FAILED:
        weir_metric_add(board->failed, 1);
        weir_metric_add(board->failures[event->failure], 1);
        break;
    case WEIR_CHECKPOINT_SKIPPED:
        board->fresh_ms = weir_now_ms(board->clock);
        board->is_doubtful = false;
        weir_metric_add(board->skipped, 1);
        break;
    }
    if (event->kind != WEIR_CHECKPOINT_SKIPPED) {
        remember(board, event);
    }
    pthread_mutex_unlock(&board->lock);
}

static void open_metrics(struct weir_board *board)
{
    for (int i = 0; i < WEIR_JOB_STATE_COUNT; i++) {
        board->states[i] = weir_metric_open(
            WEIR_METRIC_JOB_STATE, WEIR_METRIC_LABELS(weir_job_state_name((enum weir_job_state)i)));
    }
    board->ready = weir_metric_open(WEIR_METRIC_READY, NULL);
    board->completed = weir_metric_open(WEIR_METRIC_CHECKPOINTS, WEIR_METRIC_LABELS("completed"));
    board->failed = weir_metric_open(WEIR_METRIC_CHECKPOINTS, WEIR_METRIC_LABELS("failed"));
    for (int i = WEIR_FAILURE_NONE + 1; i < WEIR_FAILURE_COUNT; i++) {
        board->failures[i] = weir_metric_open(
            WEIR_METRIC_CHECKPOINT_FAILURES,
            WEIR_METRIC_LABELS(weir_checkpoint_failure_name((enum weir_checkpoint_failure)i)));
    }
    board->skipped = weir_metric_open(WEIR_METRIC_CHECKPOINTS, WEIR_METRIC_LABELS("skipped"));
    board->last = weir_metric_open(WEIR_METRIC_CHECKPOINT_LAST_COMPLETED, NULL);
    board->age = weir_metric_open(WEIR_METRIC_CHECKPOINT_AGE, NULL);
    for (int i = 0; i < 5; i++) {
        board->phases[i] =
            weir_metric_open(WEIR_METRIC_CHECKPOINT_PHASE, WEIR_METRIC_LABELS(phase_names[i]));
        weir_metric_set(board->phases[i], 0);
    }
    board->log_bytes = weir_metric_open(WEIR_METRIC_CHECKPOINT_BYTES, WEIR_METRIC_LABELS("log"));
    board->materialised_bytes =
        weir_metric_open(WEIR_METRIC_CHECKPOINT_BYTES, WEIR_METRIC_LABELS("materialised"));
    weir_metric_set(board->log_bytes, 0);
    weir_metric_set(board->materialised_bytes, 0);
    board->build = weir_metric_open(WEIR_METRIC_BUILD_INFO,
                                    WEIR_METRIC_LABELS(WEIR_VERSION, weir_rdkafka_version()));
    weir_metric_set(board->build, 1);
    static const char *const reasons[] = {"fenced", "kafka", "runtime", "store"};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        weir_metric_close(weir_metric_open(WEIR_METRIC_RESTARTS, WEIR_METRIC_LABELS(reasons[i])));
    }
    board->budget = weir_metric_open(WEIR_METRIC_MEMORY, WEIR_METRIC_LABELS("budget"));
    weir_metric_set(board->budget, (double)board->config->memory_bytes);
    board->resident = weir_metric_open(WEIR_METRIC_MEMORY, WEIR_METRIC_LABELS("resident"));
    board->open_files = weir_metric_open(WEIR_METRIC_OPEN_FILES, NULL);
    board->threads = weir_metric_open(WEIR_METRIC_THREADS, NULL);
}

struct weir_board *weir_board_create(const struct weir_config *config, const struct weir_plan *plan,
                                     const struct weir_clock *clock)
{
    struct weir_board *board = weir_alloc_zero(sizeof *board);
    board->observer.on_checkpoint = on_checkpoint;
    pthread_mutex_init(&board->lock, NULL);
    board->config = config;
    board->plan = plan;
    board->clock = clock;
    board->started_ms = weir_wall_ms(clock);
    board->state_since_ms = board->started_ms;
    board->last_completed = -1;
    board->fresh_ms = weir_now_ms(clock);
    open_metrics(board);
    show_state(board);
    return board;
}

void weir_board_destroy(struct weir_board *board)
{
    if (board == NULL) {
        return;
    }
    WEIR_ASSERT(!board->has_life);
    struct weir_metric *const metrics[] = {board->ready,     board->completed,
                                           board->failed,    board->skipped,
                                           board->last,      board->age,
                                           board->build,     board->budget,
                                           board->log_bytes, board->materialised_bytes,
                                           board->resident,  board->open_files,
                                           board->threads};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        weir_metric_close(metrics[i]);
    }
    for (int i = 0; i < WEIR_JOB_STATE_COUNT; i++) {
        weir_metric_close(board->states[i]);
    }
    for (int i = 0; i < 5; i++) {
        weir_metric_close(board->phases[i]);
    }
    for (int i = 0; i < WEIR_FAILURE_COUNT; i++) {
        weir_metric_close(board->failures[i]);
    }
    pthread_mutex_destroy(&board->lock);
    free(board);
}

void weir_board_set_state(struct weir_board *board, enum weir_job_state state, const char *text)
{
    if (board == NULL) {
        return;
    }
    pthread_mutex_lock(&board->lock);
    if (board->state != state) {
        board->state = state;
        board->state_since_ms = weir_wall_ms(board->clock);
    }
    set_text(board, board->text, text);
    show_state(board);
    pthread_mutex_unlock(&board->lock);
}

void weir_board_note_restart(struct weir_board *board, const char *reason, const char *text)
{
    if (board == NULL) {
        return;
    }
    struct weir_metric *metric = weir_metric_open(WEIR_METRIC_RESTARTS, WEIR_METRIC_LABELS(reason));
    weir_metric_add(metric, 1);
    weir_metric_close(metric);
    pthread_mutex_lock(&board->lock);
    struct weir_board_restart *restart =
        &board->restarts[board->restart_count++ % WEIR_BOARD_RESTARTS];
    restart->at_ms = weir_wall_ms(board->clock);
    restart->reason = reason;
    set_text(board, restart->text, text);
    board->is_doubtful = true;
    pthread_mutex_unlock(&board->lock);
}

void weir_board_begin_life(struct weir_board *board, const struct weir_board_life *life,
                           int64_t number)
{
    if (board == NULL) {
        return;
    }
    pthread_mutex_lock(&board->lock);
    board->life = *life;
    board->has_life = true;
    board->last_completed = number;
    board->fresh_ms = weir_now_ms(board->clock); // the claim was a commit
    weir_metric_set(board->last, (double)number);
    pthread_mutex_unlock(&board->lock);
    weir_board_set_state(board, WEIR_JOB_RUNNING, NULL);
}

void weir_board_end_life(struct weir_board *board)
{
    if (board == NULL) {
        return;
    }
    pthread_mutex_lock(&board->lock);
    board->has_life = false;
    board->life = (struct weir_board_life){0};
    pthread_mutex_unlock(&board->lock);
}

// What a state other than running says about readiness.
static void describe_state(const struct weir_board *board, struct weir_buffer *reasons)
{
    weir_buffer_printf(reasons, "the job is %s", weir_job_state_name(board->state));
    if (board->text[0] != '\0') {
        weir_buffer_append(reasons, ": ", 2);
        weir_append_escaped(reasons, board->text);
    }
    weir_buffer_append_char(reasons, '\n');
}

bool weir_board_is_ready(struct weir_board *board, struct weir_buffer *reasons)
{
    const struct weir_config *config = board->config;
    bool is_stopping = weir_stop_requests > 0;
    if (board->state != WEIR_JOB_RUNNING || !board->has_life) {
        describe_state(board, reasons);
        return false;
    }
    bool is_ready = !is_stopping;
    if (is_stopping) {
        weir_buffer_printf(reasons, "the job is stopping\n");
    }
    if (board->is_doubtful) {
        is_ready = false;
        weir_buffer_printf(reasons, "no checkpoint has been completed since the job went back to "
                                    "the last one: ");
        weir_append_escaped(reasons,
                            board->restarts[(board->restart_count - 1) % WEIR_BOARD_RESTARTS].text);
        weir_buffer_append_char(reasons, '\n');
    }
    int64_t age_ms = weir_now_ms(board->clock) - board->fresh_ms;
    int64_t age_ms_max = 3 * config->checkpoint_interval_ms + config->checkpoint_timeout_ms;
    if (age_ms > age_ms_max) {
        is_ready = false;
        weir_buffer_printf(reasons,
                           "the last checkpoint, %" PRId64 ", was completed %" PRId64
                           " s ago; it should not be older than %" PRId64
                           " s (three intervals and the time-out)\n",
                           board->last_completed, age_ms / 1000, age_ms_max / 1000);
    }
    if (board->life.watch != NULL && weir_watch_describe(board->life.watch, reasons)) {
        is_ready = false;
    }
    if (weir_registries_are_waited_for(board->life.registries, reasons)) {
        is_ready = false;
    }
    return is_ready;
}

// Pages of the process that are in memory.
static double resident_bytes(void)
{
    unsigned long long size = 0;
    unsigned long long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL) {
        if (fscanf(file, "%llu %llu", &size, &resident) != 2) {
            resident = 0;
        }
        fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

// Entries of a folder of /proc/self.
static double count_entries(const char *path)
{
    double count = 0;
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL) {
        count++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count > 2 ? count - 2 : 0; // "." and ".."
}

void weir_board_refresh(struct weir_board *board)
{
    struct weir_buffer reasons = {0};
    double resident = resident_bytes();
    double files = count_entries("/proc/self/fd");
    double threads = count_entries("/proc/self/task");
    pthread_mutex_lock(&board->lock);
    weir_metric_set(board->ready, weir_board_is_ready(board, &reasons) ? 1 : 0);
    weir_metric_set(board->age, (double)(weir_now_ms(board->clock) - board->fresh_ms) / 1e3);
    weir_metric_set(board->resident, resident);
    weir_metric_set(board->open_files, files > 0 ? files - 1 : 0); // but for the folder itself
    weir_metric_set(board->threads, threads);
    if (board->has_life && board->life.figures != NULL) {
        weir_job_figures_refresh(board->life.figures);
    }
    pthread_mutex_unlock(&board->lock);
    weir_buffer_deinit(&reasons);
}
