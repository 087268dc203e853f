// SPDX-License-Identifier: Apache-2.0
// See control.h.
#include "app/control.h"

#include "app/job_build.h"
#include "runtime/savepoint.h"

#include <string.h>

void weir_control_init(struct weir_control *control)
{
    *control = (struct weir_control){0};
    pthread_mutex_init(&control->lock, NULL);
}

void weir_control_deinit(struct weir_control *control)
{
    weir_pauses_deinit(&control->pauses);
    pthread_mutex_destroy(&control->lock);
}

void weir_control_begin(struct weir_control *control, const struct weir_job_tasks *tasks)
{
    pthread_mutex_lock(&control->lock);
    control->tasks = tasks;
    weir_pauses_apply(&control->pauses, tasks);
    pthread_mutex_unlock(&control->lock);
}

void weir_control_set(struct weir_control *control, struct weir_mailbox *coordinator)
{
    pthread_mutex_lock(&control->lock);
    control->coordinator = coordinator;
    if (coordinator == NULL) {
        control->tasks = NULL;
    }
    pthread_mutex_unlock(&control->lock);
}

bool weir_control_ask(struct weir_control *control, struct weir_request *request)
{
    const struct weir_request_wish *wish = weir_request_wish(request);
    struct weir_error error;
    // Before anything is triggered: a path that cannot be used costs no checkpoint.
    if (wish->path != NULL && weir_savepoint_prepare(wish->path, &error) != WEIR_OK) {
        weir_request_refuse(weir_request_ref(request), "%s", error.text);
        return true;
    }
    pthread_mutex_lock(&control->lock);
    bool is_running = control->coordinator != NULL;
    if (is_running) {
        weir_request_post(request, control->coordinator);
    }
    pthread_mutex_unlock(&control->lock);
    if (!is_running) {
        weir_request_refuse(weir_request_ref(request),
                            "the job is not running now: it is starting, ending or going back to "
                            "its last checkpoint");
    }
    return is_running;
}

static int64_t count_partitions(const struct weir_job_tasks *tasks, const char *table,
                                int32_t partition)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        const struct weir_job_task *task = &tasks->tasks[i];
        if (task->table == NULL || (table != NULL && strcmp(task->table->name, table) != 0)) {
            continue;
        }
        for (uint32_t p = 0; p < task->partition_count; p++) {
            count += partition == -1 || task->partitions[p] == partition ? 1 : 0;
        }
    }
    return count;
}

int64_t weir_control_pause(struct weir_control *control, const char *table, int32_t partition,
                           bool is_paused)
{
    int64_t count = -1;
    pthread_mutex_lock(&control->lock);
    if (control->tasks != NULL) {
        count = count_partitions(control->tasks, table, partition);
    }
    if (count > 0) {
        weir_pauses_add(&control->pauses, table, partition, is_paused);
        weir_pauses_apply(&control->pauses, control->tasks);
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}
