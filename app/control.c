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
    pthread_mutex_destroy(&control->lock);
}

void weir_control_set(struct weir_control *control, struct weir_mailbox *coordinator)
{
    pthread_mutex_lock(&control->lock);
    control->coordinator = coordinator;
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
