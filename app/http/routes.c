// SPDX-License-Identifier: Apache-2.0
// See routes.h. A new endpoint is a handler and a row here.
#include "app/http/routes.h"

#include "app/http/access.h"
#include "app/http/actions.h"
#include "app/http/json.h"
#include "app/http/pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct weir_http_route weir_http_routes[] = {
    {"GET", "/", false, weir_http_get_dashboard},
    {"GET", "/livez", false, weir_http_get_livez},
    {"GET", "/readyz", false, weir_http_get_readyz},
    {"GET", "/metrics", false, weir_http_get_metrics},
    {"GET", "/api/v1/job", false, weir_http_get_job},
    {"GET", "/api/v1/graph", false, weir_http_get_graph},
    {"GET", "/api/v1/checkpoints", false, weir_http_get_checkpoints},
    {"GET", "/api/v1/config", false, weir_http_get_config},
    {"POST", "/api/v1/checkpoints", true, weir_http_post_checkpoints},
    {"POST", "/api/v1/savepoints", true, weir_http_post_savepoints},
    {"POST", "/api/v1/stop", true, weir_http_post_stop},
    {"POST", "/api/v1/pause", true, weir_http_post_pause},
    {"POST", "/api/v1/resume", true, weir_http_post_resume},
};

const uint32_t weir_http_route_count = sizeof weir_http_routes / sizeof weir_http_routes[0];

void weir_http_append_json_text(struct weir_buffer *out, const char *text)
{
    weir_buffer_append_char(out, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            weir_buffer_printf(out, "\\u%04x", c);
        } else {
            if (c == '"' || c == '\\') {
                weir_buffer_append_char(out, '\\');
            }
            weir_buffer_append_char(out, (char)c);
        }
    }
    weir_buffer_append_char(out, '"');
}

void weir_http_refuse(struct weir_http_response *response, int status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    response->status = status;
    response->content_type = WEIR_HTTP_JSON;
    response->body.size_bytes = 0;
    weir_buffer_append(&response->body, "{\"error\": ", 10);
    weir_http_append_json_text(&response->body, text);
    weir_buffer_append(&response->body, "}\n", 2);
}

// The methods of a path; "": there is no such path.
static const char *methods_of(const char *path)
{
    bool has_get = false;
    bool has_post = false;
    for (uint32_t i = 0; i < weir_http_route_count; i++) {
        if (strcmp(weir_http_routes[i].path, path) == 0) {
            has_get = has_get || strcmp(weir_http_routes[i].method, "GET") == 0;
            has_post = has_post || strcmp(weir_http_routes[i].method, "POST") == 0;
        }
    }
    return has_get && has_post ? "GET, HEAD, POST" : has_get ? "GET, HEAD" : has_post ? "POST" : "";
}

static const struct weir_http_route *find(const struct weir_http_request *request)
{
    for (uint32_t i = 0; i < weir_http_route_count; i++) {
        if (strcmp(weir_http_routes[i].path, request->path) == 0 &&
            strcmp(weir_http_routes[i].method, request->method) == 0) {
            return &weir_http_routes[i];
        }
    }
    return NULL;
}

const struct weir_http_route *weir_http_find_route(const char *token,
                                                   const struct weir_http_request *request,
                                                   struct weir_http_response *response)
{
    const struct weir_http_route *route = find(request);
    if (route == NULL) {
        response->allow = methods_of(request->path);
        if (response->allow[0] == '\0') {
            weir_http_refuse(response, WEIR_HTTP_NOT_FOUND, "there is nothing at this path");
        } else {
            weir_http_refuse(response, WEIR_HTTP_METHOD_NOT_ALLOWED, "this path answers %s",
                             response->allow);
        }
        return NULL;
    }
    if (!route->is_changing) {
        return route;
    }
    switch (weir_http_access(token, request)) {
    case WEIR_HTTP_ACCESS_GRANTED:
        return route;
    case WEIR_HTTP_ACCESS_NO_TOKEN:
        weir_http_refuse(response, WEIR_HTTP_UNAUTHORIZED,
                         "show the token of WEIR_HTTP_TOKEN: Authorization: Bearer …");
        return NULL;
    case WEIR_HTTP_ACCESS_NOT_ALLOWED:
        weir_http_refuse(response, WEIR_HTTP_FORBIDDEN,
                         "without WEIR_HTTP_TOKEN only this machine itself may change something");
        return NULL;
    }
    return NULL;
}
