// SPDX-License-Identifier: Apache-2.0
// The proxy: see the header. This file owns threads, connections and routes; what a rule matches
// and counts is in proxy_rule.c, what frames mean in proxy_frame.c.
//
// A connection has two threads. Forward: reads the client's requests, applies a rule, writes to the
// broker; when the client has gone it waits for the answers that are still due (invariant 1), then
// closes the broker's side. Backward: reads the broker's answers, pairs them with the requests (a
// broker answers in order), writes to the client; when the broker has gone it closes the client's
// side. Sockets are only shut down while threads run; the acceptor closes them after joining both.
//
// The proxy's lock guards everything that is not said to belong to one thread. It is never held
// across a read or a write.
#include "tests/harness/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/base.h"
#include "tests/harness/proxy_frame.h"
#include "tests/harness/proxy_internal.h"
#include "tests/harness/proxy_socket.h"

enum { ROUTE_COUNT_MAX = 8, DRAIN_TIMEOUT_MS = 60000 };

struct route {
    int listen_fd;
    int broker_port;
};

// A request that the broker has not answered yet.
struct pending {
    struct pending *next;
    int32_t correlation_id;
    int api_key;
    int api_version;
    enum weir_test_proxy_action answer_action; // PASS, or one of the …_ANSWER actions
    struct weir_test_proxy_rule *rule;         // may be NULL
};

struct connection {
    struct connection *next;
    struct weir_test_proxy *proxy;
    int broker_port;
    int client_fd;
    int broker_fd; // -1 until connected
    pthread_t forward;
    pthread_t backward;
    bool has_backward;
    bool is_broker_gone;
    bool are_requests_lost; // since one was: forward thread
    bool are_answers_lost;  // since one was: backward thread
    bool is_over;           // both threads are at their end
    struct pending *first_pending;
    struct pending **last_link;
};

// A request that is sent once more, later, on a connection of its own.
struct repeat {
    struct repeat *next;
    struct weir_test_proxy *proxy;
    struct weir_test_proxy_rule *rule;
    pthread_t thread;
    int broker_port;
    int broker_fd;
    int api_key;
    int api_version;
    uint8_t *frame; // with its length
    size_t frame_bytes;
};

struct weir_test_proxy {
    struct weir_test_proxy_rules rules; // with the lock
    struct route routes[ROUTE_COUNT_MAX];
    int route_count;
    int wake_fd;
    pthread_t acceptor;
    bool is_refusing;
    weir_test_proxy_request_fn *observe;
    void *observe_context;
    struct connection *connections;
    struct repeat *repeats;
};

// From the client to the broker -----------------------------------------------------------------

static void push_pending(struct connection *connection,
                         const struct weir_test_proxy_request *request,
                         enum weir_test_proxy_action answer_action,
                         struct weir_test_proxy_rule *rule)
{
    struct pending *pending = weir_test_alloc(sizeof(*pending));
    pending->correlation_id = request->correlation_id;
    pending->api_key = request->api_key;
    pending->api_version = request->api_version;
    pending->answer_action = answer_action;
    pending->rule = rule;
    weir_test_rules_lock(&connection->proxy->rules);
    *connection->last_link = pending;
    connection->last_link = &pending->next;
    weir_test_rules_unlock(&connection->proxy->rules);
}

// Its answer may come before this returns: hence noted first.
static bool deliver(struct connection *connection, const struct weir_test_frame *frame,
                    const struct weir_test_proxy_request *request,
                    enum weir_test_proxy_action answer_action, struct weir_test_proxy_rule *rule)
{
    push_pending(connection, request, answer_action, rule);
    if (!weir_test_frame_send_bytes(connection->broker_fd, frame->bytes, frame->count)) {
        return false;
    }
    if (rule != NULL) {
        weir_test_rule_count_delivered(&connection->proxy->rules, rule);
    }
    return true;
}

static void start_repeat(struct connection *connection, const struct weir_test_frame *frame,
                         const struct weir_test_proxy_request *request,
                         struct weir_test_proxy_rule *rule);

// False: nothing more is to be read from this client.
static bool pass_on(struct connection *connection, const struct weir_test_frame *frame,
                    const struct weir_test_proxy_request *request)
{
    struct weir_test_proxy *proxy = connection->proxy;
    struct weir_test_proxy_rule *rule = weir_test_rules_match(&proxy->rules, request);
    if (connection->are_requests_lost) {
        return true;
    }
    switch (rule != NULL ? weir_test_rule_action(rule) : WEIR_TEST_PROXY_PASS) {
    case WEIR_TEST_PROXY_PASS:
        return deliver(connection, frame, request, WEIR_TEST_PROXY_PASS, rule);
    case WEIR_TEST_PROXY_HOLD:
        return weir_test_rule_wait_over(&proxy->rules, rule) &&
               deliver(connection, frame, request, WEIR_TEST_PROXY_PASS, rule);
    case WEIR_TEST_PROXY_DROP:
        connection->are_requests_lost = true;
        return true;
    case WEIR_TEST_PROXY_DOUBLE:
        return deliver(connection, frame, request, WEIR_TEST_PROXY_PASS, rule) &&
               deliver(connection, frame, request, WEIR_TEST_PROXY_DROP_ANSWER, rule);
    case WEIR_TEST_PROXY_REPEAT_LATE:
        start_repeat(connection, frame, request, rule);
        return deliver(connection, frame, request, WEIR_TEST_PROXY_PASS, rule);
    case WEIR_TEST_PROXY_CUT_BEFORE:
        shutdown(connection->client_fd, SHUT_RDWR);
        return false;
    case WEIR_TEST_PROXY_CUT_AFTER:
        // The answer is not to slip through before the cut.
        deliver(connection, frame, request, WEIR_TEST_PROXY_DROP_ANSWER, rule);
        shutdown(connection->client_fd, SHUT_RDWR);
        return false;
    case WEIR_TEST_PROXY_CUT_ANSWER:
    case WEIR_TEST_PROXY_DROP_ANSWER:
    case WEIR_TEST_PROXY_HOLD_ANSWER:
        return deliver(connection, frame, request, weir_test_rule_action(rule), rule);
    }
    return false;
}

static void observe(struct weir_test_proxy *proxy, const struct weir_test_proxy_request *request)
{
    weir_test_rules_lock(&proxy->rules);
    weir_test_proxy_request_fn *call = proxy->observe;
    void *context = proxy->observe_context;
    weir_test_rules_unlock(&proxy->rules);
    if (call != NULL) {
        call(context, request);
    }
}

static void *run_backward(void *argument);

static bool open_broker_side(struct connection *connection)
{
    int fd = weir_test_frame_dial(connection->broker_port);
    if (fd < 0) {
        return false;
    }
    weir_test_rules_lock(&connection->proxy->rules);
    connection->broker_fd = fd;
    bool is_stopping = weir_test_rules_are_stopping(&connection->proxy->rules);
    weir_test_rules_unlock(&connection->proxy->rules);
    connection->has_backward =
        !is_stopping && pthread_create(&connection->backward, NULL, run_backward, connection) == 0;
    return connection->has_backward;
}

// Waits for answers that are still due, so that the broker reads every request before it is told
// that the connection ends.
static void drain(struct connection *connection)
{
    struct weir_test_proxy_rules *rules = &connection->proxy->rules;
    int64_t deadline_ms = weir_test_now_ms() + DRAIN_TIMEOUT_MS;
    weir_test_rules_lock(rules);
    while (connection->first_pending != NULL && !connection->is_broker_gone &&
           weir_test_rules_wait(rules, deadline_ms)) {
    }
    weir_test_rules_unlock(rules);
}

static void *run_forward(void *argument)
{
    struct connection *connection = argument;
    struct weir_test_frame frame = {0};
    if (open_broker_side(connection)) {
        struct weir_test_proxy_request request;
        while (weir_test_frame_receive(connection->client_fd, &frame) &&
               weir_test_frame_read_request(frame.bytes + 4, frame.count - 4, &request)) {
            weir_test_rules_count_request(&connection->proxy->rules, &request);
            observe(connection->proxy, &request);
            if (!pass_on(connection, &frame, &request)) {
                break;
            }
        }
        drain(connection);
        shutdown(connection->broker_fd, SHUT_RDWR);
        pthread_join(connection->backward, NULL);
    }
    shutdown(connection->client_fd, SHUT_RDWR);
    free(frame.bytes);
    weir_test_rules_lock(&connection->proxy->rules);
    connection->is_over = true;
    weir_test_rules_unlock(&connection->proxy->rules);
    eventfd_write(connection->proxy->wake_fd, 1);
    return NULL;
}

// From the broker to the client -----------------------------------------------------------------

// What the answer belongs to. Requests before it in the list were never answered.
static struct pending pop_pending(struct connection *connection, int32_t correlation_id)
{
    struct pending found = {.answer_action = WEIR_TEST_PROXY_PASS};
    bool is_found = false;
    weir_test_rules_lock(&connection->proxy->rules);
    while (connection->first_pending != NULL && !is_found) {
        struct pending *first = connection->first_pending;
        connection->first_pending = first->next;
        if (connection->first_pending == NULL) {
            connection->last_link = &connection->first_pending;
        }
        is_found = first->correlation_id == correlation_id;
        if (is_found) {
            found = *first;
        }
        free(first);
    }
    weir_test_rules_unlock(&connection->proxy->rules);
    return found;
}

static void handle_answer(struct connection *connection, const struct weir_test_frame *frame)
{
    struct weir_test_proxy_rules *rules = &connection->proxy->rules;
    struct pending request =
        pop_pending(connection, weir_test_frame_correlation_id(frame->bytes + 4, frame->count - 4));
    if (request.rule != NULL) {
        int error = 0;
        bool has_error = weir_test_frame_read_error(request.api_key, request.api_version,
                                                    frame->bytes + 4, frame->count - 4, &error);
        weir_test_rule_count_answered(rules, request.rule, has_error, error);
    }
    if (request.answer_action == WEIR_TEST_PROXY_CUT_ANSWER) {
        shutdown(connection->client_fd, SHUT_RDWR);
    } else if (request.answer_action == WEIR_TEST_PROXY_DROP_ANSWER) {
        // What was doubled has been answered once.
        connection->are_answers_lost |=
            weir_test_rule_action(request.rule) == WEIR_TEST_PROXY_DROP_ANSWER;
    } else if (!connection->are_answers_lost &&
               (request.answer_action != WEIR_TEST_PROXY_HOLD_ANSWER ||
                weir_test_rule_wait_over(rules, request.rule))) {
        weir_test_frame_send_bytes(connection->client_fd, frame->bytes,
                                   frame->count); // may have gone: no matter
    }
    weir_test_rules_wake(rules); // for drain
}

static void *run_backward(void *argument)
{
    struct connection *connection = argument;
    struct weir_test_frame frame = {0};
    while (weir_test_frame_receive(connection->broker_fd, &frame)) {
        handle_answer(connection, &frame);
    }
    free(frame.bytes);
    weir_test_rules_lock(&connection->proxy->rules);
    connection->is_broker_gone = true;
    weir_test_rules_unlock(&connection->proxy->rules);
    weir_test_rules_wake(&connection->proxy->rules);
    shutdown(connection->client_fd, SHUT_RDWR);
    return NULL;
}

// Late repeats ----------------------------------------------------------------------------------

static void *run_repeat(void *argument)
{
    struct repeat *repeat = argument;
    struct weir_test_proxy_rules *rules = &repeat->proxy->rules;
    if (!weir_test_rule_wait_over(rules, repeat->rule)) {
        return NULL;
    }
    int fd = weir_test_frame_dial(repeat->broker_port);
    weir_test_rules_lock(rules);
    repeat->broker_fd = fd;
    bool is_stopping = weir_test_rules_are_stopping(rules);
    weir_test_rules_unlock(rules);
    if (fd < 0 || is_stopping ||
        !weir_test_frame_send_bytes(fd, repeat->frame, repeat->frame_bytes)) {
        return NULL;
    }
    weir_test_rule_count_delivered(rules, repeat->rule);
    struct weir_test_frame answer = {0};
    if (weir_test_frame_receive(fd, &answer)) {
        int error = 0;
        bool has_error = weir_test_frame_read_error(repeat->api_key, repeat->api_version,
                                                    answer.bytes + 4, answer.count - 4, &error);
        weir_test_rule_count_answered(rules, repeat->rule, has_error, error);
    }
    free(answer.bytes);
    return NULL;
}

static void start_repeat(struct connection *connection, const struct weir_test_frame *frame,
                         const struct weir_test_proxy_request *request,
                         struct weir_test_proxy_rule *rule)
{
    struct repeat *repeat = weir_test_alloc(sizeof(*repeat));
    repeat->proxy = connection->proxy;
    repeat->rule = rule;
    repeat->broker_port = connection->broker_port;
    repeat->broker_fd = -1;
    repeat->api_key = request->api_key;
    repeat->api_version = request->api_version;
    repeat->frame = weir_test_alloc(frame->count);
    repeat->frame_bytes = frame->count;
    memcpy(repeat->frame, frame->bytes, frame->count);
    weir_test_rules_lock(&repeat->proxy->rules);
    if (pthread_create(&repeat->thread, NULL, run_repeat, repeat) != 0) {
        WEIR_TEST_FAIL("no thread");
    }
    repeat->next = repeat->proxy->repeats;
    repeat->proxy->repeats = repeat;
    weir_test_rules_unlock(&repeat->proxy->rules);
}

// Accepting -------------------------------------------------------------------------------------

static void free_connection(struct connection *connection)
{
    pthread_join(connection->forward, NULL);
    close(connection->client_fd);
    if (connection->broker_fd >= 0) {
        close(connection->broker_fd);
    }
    while (connection->first_pending != NULL) {
        struct pending *first = connection->first_pending;
        connection->first_pending = first->next;
        free(first);
    }
    free(connection);
}

static void reap_connections(struct weir_test_proxy *proxy, bool is_all)
{
    struct connection *over = NULL;
    weir_test_rules_lock(&proxy->rules);
    for (struct connection **link = &proxy->connections; *link != NULL;) {
        struct connection *connection = *link;
        if (is_all || connection->is_over) {
            *link = connection->next;
            connection->next = over;
            over = connection;
        } else {
            link = &connection->next;
        }
    }
    weir_test_rules_unlock(&proxy->rules);
    while (over != NULL) {
        struct connection *connection = over;
        over = connection->next;
        free_connection(connection);
    }
}

static void accept_client(struct weir_test_proxy *proxy, const struct route *route)
{
    int fd = accept4(route->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct connection *connection = weir_test_alloc(sizeof(*connection));
    connection->proxy = proxy;
    connection->broker_port = route->broker_port;
    connection->client_fd = fd;
    connection->broker_fd = -1;
    connection->last_link = &connection->first_pending;
    weir_test_rules_lock(&proxy->rules);
    bool is_started = !proxy->is_refusing &&
                      pthread_create(&connection->forward, NULL, run_forward, connection) == 0;
    if (is_started) {
        connection->next = proxy->connections;
        proxy->connections = connection;
    }
    weir_test_rules_unlock(&proxy->rules);
    if (!is_started) {
        close(fd);
        free(connection);
    }
}

static void *run_acceptor(void *argument)
{
    struct weir_test_proxy *proxy = argument;
    for (;;) {
        struct pollfd polls[ROUTE_COUNT_MAX + 1] = {{.fd = proxy->wake_fd, .events = POLLIN}};
        weir_test_rules_lock(&proxy->rules);
        bool is_stopping = weir_test_rules_are_stopping(&proxy->rules);
        int route_count = proxy->route_count;
        for (int i = 0; i < route_count; i++) {
            polls[i + 1] = (struct pollfd){.fd = proxy->routes[i].listen_fd, .events = POLLIN};
        }
        weir_test_rules_unlock(&proxy->rules);
        if (is_stopping) {
            return NULL;
        }
        poll(polls, (nfds_t)route_count + 1, -1);
        if (polls[0].revents != 0) {
            eventfd_t count;
            eventfd_read(proxy->wake_fd, &count);
        }
        for (int i = 0; i < route_count; i++) {
            if (polls[i + 1].revents != 0) {
                accept_client(proxy, &proxy->routes[i]);
            }
        }
        reap_connections(proxy, false);
    }
}

// The outside -----------------------------------------------------------------------------------

struct weir_test_proxy *weir_test_proxy_create(void)
{
    struct weir_test_proxy *proxy = weir_test_alloc(sizeof(*proxy));
    weir_test_rules_init(&proxy->rules);
    proxy->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (proxy->wake_fd < 0 || pthread_create(&proxy->acceptor, NULL, run_acceptor, proxy) != 0) {
        WEIR_TEST_FAIL("cannot start the proxy");
    }
    return proxy;
}

int weir_test_proxy_add_route(struct weir_test_proxy *proxy, int broker_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t address_bytes = sizeof(address);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, 64) != 0 || getsockname(fd, (struct sockaddr *)&address, &address_bytes) != 0 ||
        proxy->route_count == ROUTE_COUNT_MAX) {
        WEIR_TEST_FAIL("the proxy cannot listen: %s", strerror(errno));
    }
    weir_test_rules_lock(&proxy->rules);
    proxy->routes[proxy->route_count++] =
        (struct route){.listen_fd = fd, .broker_port = broker_port};
    weir_test_rules_unlock(&proxy->rules);
    eventfd_write(proxy->wake_fd, 1);
    return ntohs(address.sin_port);
}

void weir_test_proxy_set_observer(struct weir_test_proxy *proxy, weir_test_proxy_request_fn *call,
                                  void *context)
{
    weir_test_rules_lock(&proxy->rules);
    proxy->observe = call;
    proxy->observe_context = context;
    weir_test_rules_unlock(&proxy->rules);
}

struct weir_test_proxy_rule *
weir_test_proxy_add_rule(struct weir_test_proxy *proxy,
                         const struct weir_test_proxy_rule_options *options)
{
    return weir_test_rules_add(&proxy->rules, options);
}

int64_t weir_test_proxy_request_count(struct weir_test_proxy *proxy, enum weir_test_api api_key)
{
    return weir_test_rules_request_count(&proxy->rules, api_key);
}

void weir_test_proxy_cut_all(struct weir_test_proxy *proxy, bool is_refusing)
{
    weir_test_rules_lock(&proxy->rules);
    proxy->is_refusing = is_refusing;
    for (struct connection *c = proxy->connections; c != NULL; c = c->next) {
        shutdown(c->client_fd, SHUT_RDWR);
    }
    weir_test_rules_unlock(&proxy->rules);
}

void weir_test_proxy_destroy(struct weir_test_proxy *proxy)
{
    if (proxy == NULL) {
        return;
    }
    weir_test_rules_stop(&proxy->rules);
    eventfd_write(proxy->wake_fd, 1);
    pthread_join(proxy->acceptor, NULL);
    weir_test_rules_lock(&proxy->rules);
    for (struct connection *c = proxy->connections; c != NULL; c = c->next) {
        shutdown(c->client_fd, SHUT_RDWR);
        if (c->broker_fd >= 0) {
            shutdown(c->broker_fd, SHUT_RDWR);
        }
    }
    for (struct repeat *r = proxy->repeats; r != NULL; r = r->next) {
        if (r->broker_fd >= 0) {
            shutdown(r->broker_fd, SHUT_RDWR);
        }
    }
    weir_test_rules_unlock(&proxy->rules);
    reap_connections(proxy, true);
    while (proxy->repeats != NULL) {
        struct repeat *repeat = proxy->repeats;
        proxy->repeats = repeat->next;
        pthread_join(repeat->thread, NULL);
        if (repeat->broker_fd >= 0) {
            close(repeat->broker_fd);
        }
        free(repeat->frame);
        free(repeat);
    }
    for (int i = 0; i < proxy->route_count; i++) {
        close(proxy->routes[i].listen_fd);
    }
    close(proxy->wake_fd);
    weir_test_rules_deinit(&proxy->rules);
    free(proxy);
}
