// SPDX-License-Identifier: Apache-2.0
// See listen.h.
#include "app/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 256, HOST_BYTES_MAX = 256 };

static void split(const char *address, char host[HOST_BYTES_MAX], const char **port)
{
    const char *colon = strrchr(address, ':');
    size_t size = (size_t)(colon - address);
    bool is_bracketed = size >= 2 && address[0] == '[' && address[size - 1] == ']';
    snprintf(host, HOST_BYTES_MAX, "%.*s", (int)(is_bracketed ? size - 2 : size),
             address + (is_bracketed ? 1 : 0));
    *port = colon + 1;
}

static int try_listen(const struct addrinfo *info)
{
    int descriptor = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                            info->ai_protocol);
    if (descriptor < 0) {
        return -1;
    }
    int on = 1;
    int off = 0;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_INET6) {
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(descriptor, info->ai_addr, info->ai_addrlen) == 0 &&
        listen(descriptor, BACKLOG) == 0) {
        return descriptor;
    }
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

static void print_bound(int descriptor, char bound[WEIR_HTTP_ADDRESS_BYTES])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char host[INET6_ADDRSTRLEN] = "?";
    char port[8] = "?";
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) == 0) {
        getnameinfo((const struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    }
    snprintf(bound, WEIR_HTTP_ADDRESS_BYTES, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host,
             port);
}

enum weir_status weir_http_listen(const char *address, int *descriptor,
                                  char bound[WEIR_HTTP_ADDRESS_BYTES], struct weir_error *error)
{
    char host[HOST_BYTES_MAX];
    const char *port;
    split(address, host, &port);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int code = getaddrinfo(host, port, &hints, &found);
    if (code != 0) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "WEIR_HTTP_LISTEN: %s: %s", address, gai_strerror(code));
    }
    *descriptor = -1;
    for (const struct addrinfo *at = found; at != NULL && *descriptor < 0; at = at->ai_next) {
        *descriptor = try_listen(at);
    }
    int number = errno;
    freeaddrinfo(found);
    if (*descriptor < 0) {
        return weir_error_set(
            error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
            "WEIR_HTTP_LISTEN: cannot listen on %s: %s%s", address, strerror(number),
            number == EADDRINUSE ? "; choose another port, or leave it empty for no HTTP" : "");
    }
    print_bound(*descriptor, bound);
    return WEIR_OK;
}

const char *weir_http_local_url(const char *address, char *text, size_t text_bytes)
{
    char host[HOST_BYTES_MAX];
    const char *port;
    split(address, host, &port);
    if (strcmp(host, "0.0.0.0") == 0) {
        snprintf(text, text_bytes, "http://127.0.0.1:%s", port);
    } else if (strcmp(host, "::") == 0) {
        snprintf(text, text_bytes, "http://[::1]:%s", port);
    } else {
        snprintf(text, text_bytes, strchr(host, ':') != NULL ? "http://[%s]:%s" : "http://%s:%s",
                 host, port);
    }
    return text;
}
