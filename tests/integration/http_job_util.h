// SPDX-License-Identifier: Apache-2.0
// A running weir asked over HTTP. Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_HTTP_JOB_UTIL_H
#define WEIR_TESTS_INTEGRATION_HTTP_JOB_UTIL_H

#include "tests/harness/process.h"

#include <stdint.h>

// Setting of a start that is asked: any free port of loopback.
#define HTTP_LISTEN "WEIR_HTTP_LISTEN=127.0.0.1:0"

// The port that the process's log names; waits for it.
uint16_t http_port(struct weir_test_process *process);

struct http_answer {
    int status;
    char *body; // for free()
};

// body NULL: none; token NULL: none is shown.
struct http_answer http_ask(uint16_t port, const char *method, const char *path, const char *body,
                            const char *token);
char *http_get(uint16_t port, const char *path); // 200 is expected; for free()

// Until /readyz answers so (with the text in its body; NULL: any).
void http_wait_ready(uint16_t port, int status, const char *text, int timeout_ms);

int http_dial(uint16_t port); // a connected socket

#endif
