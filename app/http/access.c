// SPDX-License-Identifier: Apache-2.0
// See access.h.
#include "app/http/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

bool weir_http_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
    }
    return false;
}

// Every byte of what was given is looked at, against a byte of the expected text whatever the
// lengths: the time tells the length of what was given, which its sender knows.
bool weir_http_token_equal(const char *expected, const char *given)
{
    size_t expected_bytes = strlen(expected);
    size_t given_bytes = strlen(given);
    volatile unsigned char different = expected_bytes != given_bytes;
    for (size_t i = 0; i < given_bytes; i++) {
        different |= (unsigned char)(given[i] ^ expected[i % (expected_bytes + 1)]);
    }
    return !different;
}

// The name or address in front of the port.
static bool is_own_name(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size = strlen(names[i]);
        if (strncasecmp(host, names[i], size) == 0 && (host[size] == '\0' || host[size] == ':')) {
            return true;
        }
    }
    return false;
}

static bool is_from_machine(const struct weir_http_request *request)
{
    if (!request->is_loopback || request->is_forwarded) {
        return false;
    }
    if (request->origin == NULL) {
        return true;
    }
    static const char scheme[] = "http://";
    return request->host != NULL && is_own_name(request->host) &&
           strncasecmp(request->origin, scheme, strlen(scheme)) == 0 &&
           strcasecmp(request->origin + strlen(scheme), request->host) == 0;
}

enum weir_http_access weir_http_access(const char *token, const struct weir_http_request *request)
{
    static const char scheme[] = "Bearer ";
    if (token == NULL) {
        return is_from_machine(request) ? WEIR_HTTP_ACCESS_GRANTED : WEIR_HTTP_ACCESS_NOT_ALLOWED;
    }
    const char *given = request->authorization;
    if (given == NULL || strncasecmp(given, scheme, strlen(scheme)) != 0) {
        return WEIR_HTTP_ACCESS_NO_TOKEN;
    }
    given += strlen(scheme);
    given += strspn(given, " ");
    return weir_http_token_equal(token, given) ? WEIR_HTTP_ACCESS_GRANTED
                                               : WEIR_HTTP_ACCESS_NO_TOKEN;
}
