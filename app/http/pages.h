// SPDX-License-Identifier: Apache-2.0
// The handlers of what is looked at. Thread: the server's; they take the board's lock for as long
// as they print.
#ifndef WEIR_APP_HTTP_PAGES_H
#define WEIR_APP_HTTP_PAGES_H

#include "app/http/http.h"

// The process lives, which it shows by answering.
weir_http_handler_fn weir_http_get_livez;
// 200, or 503 with a line for each thing that is missing.
weir_http_handler_fn weir_http_get_readyz;
weir_http_handler_fn weir_http_get_metrics;
weir_http_handler_fn weir_http_get_dashboard;

#endif
