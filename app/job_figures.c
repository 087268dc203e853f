// SPDX-License-Identifier: Apache-2.0
// See job_figures.h.
#include "app/job_figures.h"

#include "rocksdb_backend/store.h"
#include "runtime/base/metrics.h"

#include <stdlib.h>

enum { SHARE_US_MIN = 1000000 }; // shorter spans than this say little

// What people call the operator that has the state.
static const char *operator_name(const struct weir_plan *plan, const char *id)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (strcmp(plan->nodes[i]->id, id) == 0) {
            return plan->nodes[i]->name;
        }
    }
    return id;
}

static void open_state(struct weir_state_gauges *gauges, const struct weir_state_store *state,
                       const struct weir_plan *plan)
{
    struct weir_rocksdb_store_look look;
    weir_rocksdb_store_look(state, &look);
    const char *const *labels = WEIR_METRIC_LABELS(operator_name(plan, look.operator_id));
    gauges->entries = weir_metric_open(WEIR_METRIC_STATE_ENTRIES, labels);
    gauges->bytes = weir_metric_open(WEIR_METRIC_STATE_BYTES, labels);
    gauges->cache = weir_metric_open(WEIR_METRIC_MEMORY, WEIR_METRIC_LABELS("state_cache"));
    gauges->unclean = weir_metric_open(WEIR_METRIC_MEMORY, WEIR_METRIC_LABELS("state_unclean"));
}

struct weir_job_figures *weir_job_figures_create(const struct weir_job_tasks *tasks,
                                                 struct weir_watch *watch,
                                                 const struct weir_plan *plan)
{
    struct weir_job_figures *figures = weir_alloc_zero(sizeof *figures);
    uint32_t count = tasks->count + 1; // no allocation of nothing
    figures->tasks = tasks;
    figures->watch = watch;
    figures->lags = weir_alloc_zero(count * sizeof *figures->lags);
    figures->open_transactions = weir_alloc_zero(count * sizeof *figures->open_transactions);
    figures->times = weir_alloc_zero(count * sizeof *figures->times);
    figures->shares = weir_alloc_zero(count * sizeof *figures->shares);
    figures->paused = weir_alloc_zero(count * sizeof *figures->paused);
    figures->quarantined = weir_alloc_zero(count * sizeof *figures->quarantined);
    figures->busy = weir_alloc_zero(count * sizeof *figures->busy);
    figures->backpressure = weir_alloc_zero(count * sizeof *figures->backpressure);
    figures->states = weir_alloc_zero(count * sizeof *figures->states);
    for (uint32_t i = 0; i < tasks->count; i++) {
        const struct weir_job_task *task = &tasks->tasks[i];
        const char *const *labels = WEIR_METRIC_LABELS(weir_task_name(task->task));
        figures->busy[i] = weir_metric_open(WEIR_METRIC_TASK_BUSY, labels);
        figures->backpressure[i] = weir_metric_open(WEIR_METRIC_TASK_BACKPRESSURE, labels);
        figures->shares[i] = (struct weir_task_shares){.busy = -1, .backpressure = -1};
        figures->times[i] = weir_task_times(task->task);
        if (task->state != NULL) {
            open_state(&figures->states[i], task->state, plan);
        }
        if (task->table == NULL) {
            continue;
        }
        figures->paused[i] =
            weir_metric_open(WEIR_METRIC_SOURCE_PAUSED, WEIR_METRIC_LABELS(task->table->name));
        figures->quarantined[i] =
            weir_metric_open(WEIR_METRIC_SOURCE_QUARANTINED, WEIR_METRIC_LABELS(task->table->name));
        figures->lags[i] = weir_alloc_zero((task->partition_count + 1) * sizeof *figures->lags[i]);
        figures->open_transactions[i] =
            weir_alloc_zero((task->partition_count + 1) * sizeof *figures->open_transactions[i]);
        for (uint32_t p = 0; p < task->partition_count; p++) {
            figures->lags[i][p] = weir_metric_open_partition(
                WEIR_METRIC_SOURCE_LAG, task->table->name, task->table->topic, task->partitions[p]);
            figures->open_transactions[i][p] =
                weir_metric_open_partition(WEIR_METRIC_SOURCE_OPEN_TRANSACTION, task->table->name,
                                           task->table->topic, task->partitions[p]);
        }
    }
    return figures;
}

void weir_job_figures_destroy(struct weir_job_figures *figures)
{
    if (figures == NULL) {
        return;
    }
    for (uint32_t i = 0; i < figures->tasks->count; i++) {
        weir_metric_close(figures->paused[i]);
        weir_metric_close(figures->quarantined[i]);
        weir_metric_close(figures->busy[i]);
        weir_metric_close(figures->backpressure[i]);
        weir_metric_close(figures->states[i].entries);
        weir_metric_close(figures->states[i].bytes);
        weir_metric_close(figures->states[i].cache);
        weir_metric_close(figures->states[i].unclean);
        for (uint32_t p = 0;
             figures->lags[i] != NULL && p < figures->tasks->tasks[i].partition_count; p++) {
            weir_metric_close(figures->lags[i][p]);
            weir_metric_close(figures->open_transactions[i][p]);
        }
        free(figures->lags[i]);
        free(figures->open_transactions[i]);
    }
    free(figures->lags);
    free(figures->open_transactions);
    free(figures->times);
    free(figures->shares);
    free(figures->paused);
    free(figures->quarantined);
    free(figures->busy);
    free(figures->backpressure);
    free(figures->states);
    free(figures);
}

static double share(int64_t part_us, int64_t whole_us)
{
    double ratio = (double)part_us / (double)whole_us;
    return ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
}

// Since the last look, if that was long enough ago: who looks often sees what another one saw.
static void refresh_shares(struct weir_job_figures *figures, uint32_t idx)
{
    struct weir_task_times now = weir_task_times(figures->tasks->tasks[idx].task);
    const struct weir_task_times *before = &figures->times[idx];
    int64_t whole_us = now.now_us - before->now_us;
    if (whole_us < SHARE_US_MIN && figures->shares[idx].busy >= 0) {
        return;
    }
    if (whole_us <= 0) {
        return;
    }
    int64_t idle_us = now.idle_us - before->idle_us;
    int64_t blocked_us = now.blocked_us - before->blocked_us;
    figures->shares[idx] =
        (struct weir_task_shares){.busy = share(whole_us - idle_us - blocked_us, whole_us),
                                  .backpressure = share(blocked_us, whole_us)};
    figures->times[idx] = now;
    weir_metric_set(figures->busy[idx], figures->shares[idx].busy);
    weir_metric_set(figures->backpressure[idx], figures->shares[idx].backpressure);
}

static void refresh_state(const struct weir_state_gauges *gauges,
                          const struct weir_state_store *state)
{
    struct weir_rocksdb_store_look look;
    weir_rocksdb_store_look(state, &look);
    weir_metric_set(gauges->entries, (double)look.entry_count);
    weir_metric_set(gauges->bytes, (double)look.disk_bytes);
    weir_metric_set(gauges->cache, (double)look.cache_bytes);
    weir_metric_set(gauges->unclean, (double)look.unclean_bytes);
}

// Of the task; the series of a table adds up those of its tasks.
static void refresh_not_read(struct weir_job_figures *figures, uint32_t idx)
{
    const struct weir_job_task *task = &figures->tasks->tasks[idx];
    uint32_t paused_count = 0;
    uint32_t quarantined_count = 0;
    for (uint32_t p = 0; p < task->partition_count; p++) {
        paused_count += weir_source_is_paused(task->source, p) ? 1 : 0;
        quarantined_count += weir_source_is_quarantined(task->source, p) ? 1 : 0;
    }
    weir_metric_set(figures->paused[idx], paused_count);
    weir_metric_set(figures->quarantined[idx], quarantined_count);
}

void weir_job_figures_refresh(struct weir_job_figures *figures)
{
    for (uint32_t i = 0; i < figures->tasks->count; i++) {
        refresh_shares(figures, i);
        if (figures->tasks->tasks[i].state != NULL) {
            refresh_state(&figures->states[i], figures->tasks->tasks[i].state);
        }
        if (figures->paused[i] != NULL) {
            refresh_not_read(figures, i);
        }
        for (uint32_t p = 0;
             figures->lags[i] != NULL && p < figures->tasks->tasks[i].partition_count; p++) {
            int64_t lag = weir_watch_lag(figures->watch, i, p);
            if (lag >= 0) {
                weir_metric_set(figures->lags[i][p], (double)lag);
            }
            weir_metric_set(figures->open_transactions[i][p],
                            (double)weir_watch_open_transaction(figures->watch, i, p).age_ms / 1e3);
        }
    }
}
