// SPDX-License-Identifier: Apache-2.0
// One HTTP request, for commands that ask a running weir. Thread: any, one at a time. Blocks.
#ifndef WEIR_APP_HTTP_CLIENT_H
#define WEIR_APP_HTTP_CLIENT_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

struct weir_http_call {
    const char *method;
    const char *url;    // "http://127.0.0.1:8080/api/v1/job"
    const char *token;  // NULL: none is shown
    const char *body;   // NULL: none
    int64_t timeout_ms; // of the whole call; 0: none, only for connecting
};

struct weir_http_answer {
    int status;
    struct weir_buffer body; // the caller's, to be deinitialised after success
};

// Error: nobody answered there (the text names the URL and why). An answer of any status is none.
enum weir_status weir_http_call(const struct weir_http_call *call, struct weir_http_answer *answer,
                                struct weir_error *error);

#endif
