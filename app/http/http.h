// SPDX-License-Identifier: Apache-2.0
// A request and its answer, as handlers see them: nothing of the library or of sockets. Private to
// app/http/. Thread: that of the server.
#ifndef WEIR_APP_HTTP_HTTP_H
#define WEIR_APP_HTTP_HTTP_H

#include "runtime/base/memory.h"

#include <stdbool.h>

enum {
    WEIR_HTTP_OK = 200,
    WEIR_HTTP_ACCEPTED = 202,
    WEIR_HTTP_BAD_REQUEST = 400,
    WEIR_HTTP_UNAUTHORIZED = 401,
    WEIR_HTTP_FORBIDDEN = 403,
    WEIR_HTTP_NOT_FOUND = 404,
    WEIR_HTTP_METHOD_NOT_ALLOWED = 405,
    WEIR_HTTP_CONFLICT = 409,
    WEIR_HTTP_TOO_LARGE = 413,
    WEIR_HTTP_ERROR = 500,
    WEIR_HTTP_NOT_IMPLEMENTED = 501,
    WEIR_HTTP_UNAVAILABLE = 503,
};

#define WEIR_HTTP_JSON "application/json; charset=utf-8"
#define WEIR_HTTP_TEXT "text/plain; charset=utf-8"

struct weir_http_request {
    const char *method;
    const char *path;
    const char *authorization; // NULL: none, as the ones below
    const char *host;
    const char *origin;
    const char *wait;  // ?wait=…
    bool is_loopback;  // the peer's address
    bool is_forwarded; // a proxy says that it speaks for somebody else
    struct weir_view body;
};

struct weir_http_wait;

struct weir_http_response {
    int status;
    const char *content_type;
    const char *allow;       // 405: the methods
    struct weir_buffer body; // taken over by the server
    // Set instead of a status: the answer comes later (wait.h). Taken over.
    struct weir_http_wait *wait;
};

struct weir_board;
struct weir_control;

// What is served.
struct weir_http_site {
    struct weir_board *board;
    struct weir_control *control; // NULL: nothing can be asked of the job
};

typedef void weir_http_handler_fn(const struct weir_http_site *site,
                                  const struct weir_http_request *request,
                                  struct weir_http_response *response);

// {"error": "…"} with that status. Returns nothing: the last call of a handler.
void weir_http_refuse(struct weir_http_response *response, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Appends text as a JSON string, quotes included.
void weir_http_append_json_text(struct weir_buffer *out, const char *text);

#endif
