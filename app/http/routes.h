// SPDX-License-Identifier: Apache-2.0
// What is served: the table of routes, and the way from a request to its handler.
#ifndef WEIR_APP_HTTP_ROUTES_H
#define WEIR_APP_HTTP_ROUTES_H

#include "app/http/http.h"

struct weir_http_route {
    const char *method;
    const char *path;
    bool is_changing; // needs a token, or the machine itself
    weir_http_handler_fn *handler;
};

extern const struct weir_http_route weir_http_routes[];
extern const uint32_t weir_http_route_count;

// The route of a request; NULL: *response says why not (404, 405, 401, 403). HEAD is GET.
const struct weir_http_route *weir_http_find_route(const char *token,
                                                   const struct weir_http_request *request,
                                                   struct weir_http_response *response);

#endif
