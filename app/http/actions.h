// SPDX-License-Identifier: Apache-2.0
// The handlers of what changes something: each makes a request of the job (app/control.h) and waits
// for its answer, unless the client does not want to (?wait=false). Thread: the server's.
#ifndef WEIR_APP_HTTP_ACTIONS_H
#define WEIR_APP_HTTP_ACTIONS_H

#include "app/http/http.h"

// Takes a checkpoint now; {} or nothing.
weir_http_handler_fn weir_http_post_checkpoints;
// {"path": "…", "stop": false, "drain": false}: a checkpoint that is then copied there.
weir_http_handler_fn weir_http_post_savepoints;
// {"drain": false}: a final checkpoint, and the process ends.
weir_http_handler_fn weir_http_post_stop;
// {"table": "…", "partition": 3}, both may be left out: partitions are not read for now. At once.
weir_http_handler_fn weir_http_post_pause;
weir_http_handler_fn weir_http_post_resume;

#endif
