// SPDX-License-Identifier: Apache-2.0
// The HTTP server: one thread that serves everybody, with bounds on what anybody can make it hold.
// What is served is in routes.h.
#ifndef WEIR_APP_HTTP_SERVER_H
#define WEIR_APP_HTTP_SERVER_H

#include "app/http/http.h"
#include "runtime/base/error.h"

struct weir_http_server;

struct weir_http_config {
    const char *listen; // listen.h
    const char *token;  // NULL: none
    struct weir_http_site site;
};

// Listens and starts the thread; says where in the log. Error (REFUSE): cannot listen.
enum weir_status weir_http_start(const struct weir_http_config *config,
                                 struct weir_http_server **server, struct weir_error *error);

// Where it listens, as listen.h writes it.
const char *weir_http_address(const struct weir_http_server *server);

// Answers that wait are given; what was answered is sent, for a second at most. Accepts NULL.
void weir_http_stop(struct weir_http_server *server);

#endif
