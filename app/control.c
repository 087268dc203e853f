// SPDX-License-Identifier: Apache-2.0
// See control.h.
#include "app/control.h"

#include "runtime/savepoint.h"

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
        weir_request_refuse(weir_request_ref(request), WEIR_CONTROL_ABSENT);
    }
    return is_running;
}

int64_t weir_control_pause(struct weir_control *control, const char *table, int32_t partition,
                           bool is_paused)
{
    int64_t count = -1;
    pthread_mutex_lock(&control->lock);
    if (control->tasks != NULL) {
        count = weir_pauses_count(control->tasks, table, partition);
    }
    if (count > 0) {
        weir_pauses_add(&control->pauses, table, partition, is_paused);
        weir_pauses_apply(&control->pauses, control->tasks);
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}
