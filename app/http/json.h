// SPDX-License-Identifier: Apache-2.0
// The handlers that answer with JSON; their members are described in docs/openapi.json, which a
// test holds to the server. Thread: the server's; they take the board's lock for as long as they
// print.
#ifndef WEIR_APP_HTTP_JSON_H
#define WEIR_APP_HTTP_JSON_H

#include "app/http/http.h"

weir_http_handler_fn weir_http_get_job;
weir_http_handler_fn weir_http_get_graph;
weir_http_handler_fn weir_http_get_checkpoints;
weir_http_handler_fn weir_http_get_config;

#endif
