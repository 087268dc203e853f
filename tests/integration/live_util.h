// SPDX-License-Identifier: Apache-2.0
// What a running weir answers over HTTP: readiness and its reasons, metrics. The process must have
// been started with HTTP_LISTEN (http_job_util.h, which asks by port and through weir's own client;
// this here does not). Failures end the running test. Thread: the tests'; blocks.
#ifndef WEIR_TESTS_INTEGRATION_LIVE_UTIL_H
#define WEIR_TESTS_INTEGRATION_LIVE_UTIL_H

#include "tests/harness/process.h"

// GET of the path. Returns the body, for free(), and the status in *status (NULL: it must be 200).
char *live_util_get(struct weir_test_process *process, const char *path, int *status);

// POST of a body in JSON, as above.
char *live_util_post(struct weir_test_process *process, const char *path, const char *json,
                     int *status);

// The sum over all samples of that metric whose labels contain the text (NULL: all of them); 0 if
// there is none.
double live_util_metric(struct weir_test_process *process, const char *name, const char *labels);

#endif
