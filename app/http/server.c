// SPDX-License-Identifier: Apache-2.0
// See server.h. libmicrohttpd reads requests and writes answers on one thread of its own; here is
// what it calls. A request: begun (first call, headers are there: route and access are decided) →
// its body in pieces → dispatched → answered, or set aside until its wait is over.
//
// Bounds, so that nobody outside can make the process hold much or serve nobody else:
//  1. Of CONNECTIONS_MAX connections (fewer where the process may open few files) an eighth is kept
//     for who comes next: before the last ones are used the connection that was silent longest is
//     shut. A flood pushes out itself.
//     Where many are connected each answer ends its connection, so that whoever comes is served in
//     turn: the library accepts one connection for each round over all of them.
//  2. A request has HEADER_BYTES_MAX of headers and BODY_BYTES_MAX of body, a connection that is
//     silent for SILENCE_S seconds is closed.
//  3. Answers that are not sent yet hold ANSWER_BYTES_MAX together; beyond it 503.
//  4. WAITS_MAX requests are set aside at a time; beyond it 503.
//
// Threads: the server's own runs every callback; the waiting thread looks at what is set aside
// under `lock`, and sleeps while there is nothing.
#include "app/http/server.h"

#include "app/http/access.h"
#include "app/http/listen.h"
#include "app/http/routes.h"
#include "app/http/wait.h"
#include "runtime/base/assert.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"

#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 256,
    CONNECTIONS_MIN = 32,
    FILES_SHARE = 8, // so much of the files that may be open: the brokers and RocksDB need theirs
    SPARE_SHARE = 8,
    KEPT_MAX = 16,               // connections; with more of them none is kept behind its answer
    HEADER_BYTES_MAX = 16 << 10, // with it the answer's headers
    BODY_BYTES_MAX = 64 << 10,
    SILENCE_S = 20,
    ANSWER_BYTES_MAX = 16 << 20,
    WAITS_MAX = 16,
    WAIT_LOOK_MS = 20,
    STOP_MS_MAX = 1000,
};

// A connection, in the order of their last requests.
struct peer {
    struct peer *before;
    struct peer *behind;
    int descriptor;
    bool is_shut;
    bool is_waiting; // its request is set aside
};

// A request until its answer is sent.
struct exchange {
    struct weir_http_server *server;
    struct MHD_Connection *connection;
    const struct weir_http_route *route;
    struct weir_buffer body;
    struct weir_http_response response; // with `wait` once it is set aside
    bool is_answered;                   // response is filled by a wait
    size_t answer_bytes;
    struct exchange *next; // among those set aside
};

struct weir_http_server {
    struct weir_http_config config;
    char address[WEIR_HTTP_ADDRESS_BYTES];
    struct MHD_Daemon *daemon;
    // Of the server's thread.
    struct peer peers; // the ring's anchor: behind it who was silent longest
    uint32_t peer_count;
    uint32_t peer_count_max;
    size_t answer_bytes;
    _Atomic uint32_t exchange_count;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t change;
    struct exchange *waiting;
    uint32_t waiting_count;
    bool is_stopping;
    pthread_t waiter;
};

// --- connections ------------------------------------------------------------------------------

static void unlink_peer(struct peer *peer)
{
    peer->before->behind = peer->behind;
    peer->behind->before = peer->before;
}

static void link_last(struct weir_http_server *server, struct peer *peer)
{
    peer->before = server->peers.before;
    peer->behind = &server->peers;
    peer->before->behind = peer;
    server->peers.before = peer;
}

// The library notices by itself that the socket is shut, and closes it.
static void shut_silent(struct weir_http_server *server)
{
    for (struct peer *peer = server->peers.behind; peer != &server->peers; peer = peer->behind) {
        if (!peer->is_shut && !peer->is_waiting) {
            peer->is_shut = true;
            shutdown(peer->descriptor, SHUT_RDWR);
            return;
        }
    }
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct weir_http_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct peer *peer = *socket_context;
        unlink_peer(peer);
        free(peer);
        server->peer_count--;
        return;
    }
    struct peer *peer = weir_alloc_zero(sizeof *peer);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    peer->descriptor = info->connect_fd;
    if (server->peer_count >= server->peer_count_max - server->peer_count_max / SPARE_SHARE) {
        shut_silent(server);
    }
    link_last(server, peer);
    server->peer_count++;
    *socket_context = peer;
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void touch(struct weir_http_server *server, struct MHD_Connection *connection)
{
    struct peer *peer = peer_of(connection);
    unlink_peer(peer);
    link_last(server, peer);
}

// --- answers ----------------------------------------------------------------------------------

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void describe_peer(struct MHD_Connection *connection, char *text, size_t text_bytes)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info->client_addr;
    socklen_t size =
        address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (getnameinfo(address, size, text, (socklen_t)text_bytes, NULL, 0, NI_NUMERICHOST) != 0) {
        snprintf(text, text_bytes, "?");
    }
}

static void add_headers(struct MHD_Response *answer, const struct weir_http_response *response)
{
    MHD_add_response_header(answer, "Content-Type", response->content_type);
    MHD_add_response_header(answer, "Cache-Control", "no-store");
    MHD_add_response_header(answer, "X-Content-Type-Options", "nosniff");
    // For the dashboard; nothing else is a page. Its script and style stand inside it.
    MHD_add_response_header(answer, "Content-Security-Policy",
                            "default-src 'none'; style-src 'unsafe-inline'; script-src "
                            "'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
                            "form-action 'none'; frame-ancestors 'none'");
    if (response->status == WEIR_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(answer, "Allow", response->allow);
    }
    if (response->status == WEIR_HTTP_UNAUTHORIZED) {
        MHD_add_response_header(answer, "WWW-Authenticate", "Bearer realm=\"weir\"");
    }
}

static enum MHD_Result answer(struct exchange *exchange, struct MHD_Connection *connection)
{
    struct weir_http_server *server = exchange->server;
    struct weir_http_response *response = &exchange->response;
    if (server->answer_bytes + response->body.size_bytes > ANSWER_BYTES_MAX) {
        weir_http_refuse(response, WEIR_HTTP_UNAVAILABLE,
                         "too many answers are being read slowly: try again");
    }
    size_t size = response->body.size_bytes;
    struct MHD_Response *queued =
        MHD_create_response_from_buffer(size, response->body.data, MHD_RESPMEM_MUST_FREE);
    if (queued == NULL) {
        return MHD_NO;
    }
    response->body = (struct weir_buffer){0};
    exchange->answer_bytes += size;
    server->answer_bytes += size;
    add_headers(queued, response);
    if (server->peer_count > KEPT_MAX) {
        MHD_add_response_header(queued, MHD_HTTP_HEADER_CONNECTION, "close");
    }
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)response->status, queued);
    MHD_destroy_response(queued);
    if (exchange->route != NULL && exchange->route->is_changing) {
        char peer[64];
        describe_peer(connection, peer, sizeof peer);
        weir_log(WEIR_LOG_INFO, "HTTP: %s %s from %s: %d", exchange->route->method,
                 exchange->route->path, peer, response->status);
    }
    return result;
}

// --- requests that wait -----------------------------------------------------------------------

// Takes what is over out of the list and lets the server's thread answer it.
static void look(struct weir_http_server *server)
{
    struct exchange **at = &server->waiting;
    while (*at != NULL) {
        struct exchange *exchange = *at;
        struct weir_http_wait *wait = exchange->response.wait;
        if (!wait->is_over(wait, server->is_stopping, &exchange->response)) {
            at = &exchange->next;
            continue;
        }
        *at = exchange->next;
        server->waiting_count--;
        exchange->is_answered = true;
        exchange->response.wait = NULL;
        wait->destroy(wait);
        MHD_resume_connection(exchange->connection);
    }
}

static void *run_waiter(void *argument)
{
    struct weir_http_server *server = argument;
    pthread_mutex_lock(&server->lock);
    for (;;) {
        look(server);
        if (server->is_stopping && server->waiting == NULL) {
            break;
        }
        if (server->waiting == NULL) {
            pthread_cond_wait(&server->change, &server->lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&server->change, &server->lock, &until);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

// False: too many are, or the server ends; the response says so.
static bool set_aside(struct exchange *exchange, struct MHD_Connection *connection)
{
    struct weir_http_server *server = exchange->server;
    struct weir_http_wait *wait = exchange->response.wait;
    pthread_mutex_lock(&server->lock);
    bool is_stopping = server->is_stopping;
    bool is_taken = !is_stopping && server->waiting_count < WAITS_MAX;
    if (is_taken) {
        peer_of(connection)->is_waiting = true;
        exchange->connection = connection;
        exchange->next = server->waiting;
        server->waiting = exchange;
        server->waiting_count++;
        MHD_suspend_connection(connection);
        pthread_cond_signal(&server->change);
    }
    pthread_mutex_unlock(&server->lock);
    if (!is_taken) {
        exchange->response.wait = NULL;
        if (is_stopping) { // as one that waits is answered then
            (void)wait->is_over(wait, true, &exchange->response);
            wait->destroy(wait);
            return false;
        }
        wait->destroy(wait);
        weir_http_refuse(&exchange->response, WEIR_HTTP_UNAVAILABLE,
                         "%d requests wait for the job already; what was asked for goes on",
                         WAITS_MAX);
    }
    return is_taken;
}

// --- requests ---------------------------------------------------------------------------------

// %00 would end a path or a value early, and make another one of it: it becomes what is in none.
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    size_t size_bytes = MHD_http_unescape(text);
    for (char *nul; (nul = memchr(text, '\0', size_bytes)) != NULL;) {
        *nul = '\x01';
    }
    return size_bytes;
}

static struct weir_http_request request_of(struct MHD_Connection *connection, const char *method,
                                           const char *path)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return (struct weir_http_request){
        .method = strcmp(method, "HEAD") == 0 ? "GET" : method,
        .path = path,
        .authorization = header_of(connection, "Authorization"),
        .host = header_of(connection, "Host"),
        .origin = header_of(connection, "Origin"),
        .wait = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "wait"),
        .is_loopback = weir_http_is_loopback(info->client_addr),
        .is_forwarded = header_of(connection, "X-Forwarded-For") != NULL ||
                        header_of(connection, "Forwarded") != NULL,
    };
}

// The headers are there. What is refused now is refused before its body is read.
static enum MHD_Result begin(struct weir_http_server *server, struct MHD_Connection *connection,
                             const char *path, const char *method, void **context)
{
    struct exchange *exchange = weir_alloc_zero(sizeof *exchange);
    exchange->server = server;
    *context = exchange;
    atomic_fetch_add(&server->exchange_count, 1);
    touch(server, connection);
    struct weir_http_request request = request_of(connection, method, path);
    exchange->route = weir_http_find_route(server->config.token, &request, &exchange->response);
    if (exchange->route == NULL) {
        return answer(exchange, connection);
    }
    const char *length = header_of(connection, "Content-Length");
    if (length != NULL && strtoull(length, NULL, 10) > BODY_BYTES_MAX) {
        weir_http_refuse(&exchange->response, WEIR_HTTP_TOO_LARGE, "a body has at most %d bytes",
                         BODY_BYTES_MAX);
        return answer(exchange, connection);
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_bytes, void **request_context)
{
    (void)version;
    struct weir_http_server *server = context;
    struct exchange *exchange = *request_context;
    if (exchange == NULL) {
        return begin(server, connection, path, method, request_context);
    }
    if (*data_bytes > 0) {
        if (exchange->body.size_bytes + *data_bytes > BODY_BYTES_MAX) {
            return MHD_NO; // chunked, without end: nothing can be answered in the middle
        }
        weir_buffer_append(&exchange->body, data, *data_bytes);
        *data_bytes = 0;
        return MHD_YES;
    }
    peer_of(connection)->is_waiting = false;
    if (!exchange->is_answered) {
        struct weir_http_request request = request_of(connection, method, path);
        request.body = (struct weir_view){.data = exchange->body.data,
                                          .size_bytes = exchange->body.size_bytes};
        exchange->route->handler(&server->config.site, &request, &exchange->response);
        if (exchange->response.wait != NULL && set_aside(exchange, connection)) {
            return MHD_YES;
        }
    }
    return answer(exchange, connection);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    struct weir_http_server *server = context;
    struct exchange *exchange = *request_context;
    if (exchange == NULL) {
        return;
    }
    server->answer_bytes -= exchange->answer_bytes;
    weir_buffer_deinit(&exchange->body);
    weir_buffer_deinit(&exchange->response.body);
    free(exchange);
    *request_context = NULL;
    atomic_fetch_sub(&server->exchange_count, 1);
}

// What clients do wrong is not worth a line at the usual level: anybody could fill a disk.
__attribute__((format(printf, 2, 0))) static void on_library_log(void *context, const char *format,
                                                                 va_list args)
{
    (void)context;
    if (weir_log_is_on(WEIR_LOG_DEBUG)) {
        char text[512];
        vsnprintf(text, sizeof text, format, args);
        text[strcspn(text, "\n")] = '\0';
        weir_log(WEIR_LOG_DEBUG, "HTTP: %s", text);
    }
}

// --- life -------------------------------------------------------------------------------------

static void destroy(struct weir_http_server *server)
{
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->change);
    free(server);
}

static uint32_t connections_max(void)
{
    struct rlimit limit;
    rlim_t share = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / FILES_SHARE : 0;
    return share > CONNECTIONS_MAX   ? CONNECTIONS_MAX
           : share > CONNECTIONS_MIN ? (uint32_t)share
                                     : CONNECTIONS_MIN;
}

enum weir_status weir_http_start(const struct weir_http_config *config,
                                 struct weir_http_server **out, struct weir_error *error)
{
    struct weir_http_server *server = weir_alloc_zero(sizeof *server);
    int descriptor;
    server->config = *config;
    server->peer_count_max = connections_max();
    server->peers.before = &server->peers;
    server->peers.behind = &server->peers;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->change, NULL);
    if (weir_http_listen(config->listen, &descriptor, server->address, error) != WEIR_OK) {
        destroy(server);
        return WEIR_ERROR;
    }
    // poll, not epoll: the library takes its edges, and then misses the end of a client that sent
    // half a request and hung up at once.
    server->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_library_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT, server->peer_count_max,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES_MAX,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_END);
    if (server->daemon == NULL) {
        close(descriptor);
        destroy(server);
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "WEIR_HTTP_LISTEN: HTTP cannot be started on %s: no memory, threads "
                              "or descriptors left",
                              config->listen);
    }
    int failed = pthread_create(&server->waiter, NULL, run_waiter, server);
    WEIR_ASSERT(failed == 0);
    pthread_setname_np(server->waiter, "http waits");
    weir_log(WEIR_LOG_INFO, "HTTP listens on %s", server->address);
    *out = server;
    return WEIR_OK;
}

const char *weir_http_address(const struct weir_http_server *server)
{
    return server->address;
}

void weir_http_stop(struct weir_http_server *server)
{
    if (server == NULL) {
        return;
    }
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    pthread_cond_signal(&server->change);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->waiter, NULL);
    int descriptor = MHD_quiesce_daemon(server->daemon);
    int64_t deadline_ms = weir_now_ms(&weir_system_clock) + STOP_MS_MAX;
    while (atomic_load(&server->exchange_count) > 0 &&
           weir_now_ms(&weir_system_clock) < deadline_ms) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    MHD_stop_daemon(server->daemon);
    if (descriptor >= 0) {
        close(descriptor);
    }
    destroy(server);
}
