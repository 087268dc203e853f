// SPDX-License-Identifier: Apache-2.0
// Who may change something: with a token whoever shows it, without one the machine itself. Pure.
#ifndef WEIR_APP_HTTP_ACCESS_H
#define WEIR_APP_HTTP_ACCESS_H

#include "app/http/http.h"

#include <sys/socket.h>

enum weir_http_access {
    WEIR_HTTP_ACCESS_GRANTED,
    WEIR_HTTP_ACCESS_NO_TOKEN,    // 401: none was shown, or a wrong one
    WEIR_HTTP_ACCESS_NOT_ALLOWED, // 403: no token is configured and it is not from the machine
};

// token: WEIR_HTTP_TOKEN, NULL: none. A request "from the machine itself" comes from a loopback
// address, is not passed on by a proxy, and was not made by a web page of somebody else: browsers
// name its origin, and the Host that it believes to talk to.
enum weir_http_access weir_http_access(const char *token, const struct weir_http_request *request);

// Takes as long whatever the texts have in common.
bool weir_http_token_equal(const char *expected, const char *given);

// 127.0.0.0/8, ::1, and the former written as IPv6.
bool weir_http_is_loopback(const struct sockaddr *address);

#endif
