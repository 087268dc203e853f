// SPDX-License-Identifier: Apache-2.0
// The server with real sockets: what it answers, and that clients that are slow, many or rude keep
// nobody else from being served.
#include "app/http/server.h"

#include "app/board.h"
#include "app/control.h"
#include "runtime/coordinator.h"

#include "tests/unit/app/config_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 1 << 20, PATIENCE_MS = 10000 };

struct world {
    struct fixture fixture;
    struct weir_board *board;
    struct weir_control control;
    struct weir_http_server *server;
    struct sockaddr_in address;
};

static void make_world(struct world *world, const char *token)
{
    signal(SIGPIPE, SIG_IGN);
    fixture_init(&world->fixture);
    fixture_load_ok(&world->fixture, WITH_REQUIRED);
    weir_control_init(&world->control);
    world->board = weir_board_create(&world->fixture.config, NULL, &weir_system_clock);
    struct weir_error error;
    struct weir_http_config config = {.listen = "127.0.0.1:0",
                                      .token = token,
                                      .site = {.board = world->board, .control = &world->control}};
    assert_int_equal(weir_http_start(&config, &world->server, &error), WEIR_OK);
    const char *address = weir_http_address(world->server);
    world->address = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10)),
        .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void free_world(struct world *world)
{
    weir_http_stop(world->server);
    weir_board_destroy(world->board);
    weir_control_deinit(&world->control);
    fixture_deinit(&world->fixture);
}

static int dial(const struct world *world)
{
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(descriptor >= 0);
    assert_int_equal(
        connect(descriptor, (const struct sockaddr *)&world->address, sizeof world->address), 0);
    return descriptor;
}

static void say(int descriptor, const char *text)
{
    ssize_t sent = send(descriptor, text, strlen(text), MSG_NOSIGNAL);
    (void)sent; // the other side may have hung up, which is what some tests want
}

// Everything until the other side closes, for free(); NULL: it does not within the time.
static char *hear(int descriptor)
{
    char *text = weir_alloc_zero(ANSWER_BYTES_MAX);
    size_t size = 0;
    for (;;) {
        struct pollfd poll_for = {.fd = descriptor, .events = POLLIN};
        if (poll(&poll_for, 1, PATIENCE_MS) <= 0) {
            free(text);
            return NULL;
        }
        ssize_t got = recv(descriptor, text + size, ANSWER_BYTES_MAX - size - 1, 0);
        if (got <= 0) {
            return text;
        }
        size += (size_t)got;
    }
}

static char *exchange(const struct world *world, const char *request)
{
    int descriptor = dial(world);
    say(descriptor, request);
    char *answer = hear(descriptor);
    close(descriptor);
    assert_non_null(answer);
    return answer;
}

static void expect(const struct world *world, const char *request, int status, const char *text)
{
    char *answer = exchange(world, request);
    char line[32];
    snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
    if (strncmp(answer, line, strlen(line)) != 0 || strstr(answer, text) == NULL) {
        fail_msg("to %s\nwas answered\n%s", request, answer);
    }
    free(answer);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#define ASK(method, path, headers)                                                                 \
    method " " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" headers "\r\n"

static void test_states_of_the_job_are_told(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    expect(&world, GET("/livez"), 200, "alive: starting\n");
    expect(&world, GET("/readyz"), 503, "\r\n\r\nthe job is starting\n");
    weir_board_set_state(world.board, WEIR_JOB_WAITING, "no\nbroker");
    expect(&world, GET("/readyz"), 503, "the job is waiting: no\\nbroker\n");
    struct weir_board_life life = {.attempt = "a"};
    weir_board_begin_life(world.board, &life, 12);
    expect(&world, GET("/readyz"), 200, "\r\n\r\nready\n");
    expect(&world, GET("/metrics"), 200, "\nweir_checkpoint_last_completed 12\n");
    expect(&world, GET("/metrics"), 200, "\nweir_ready 1\n");
    weir_board_end_life(world.board);
    weir_board_set_state(world.board, WEIR_JOB_RECOVERING, NULL);
    expect(&world, GET("/readyz"), 503, "the job is recovering\n");
    expect(&world, GET("/livez"), 200, "alive: recovering\n");
    expect(&world, ASK("HEAD", "/livez", ""), 200, "Content-Length: 18\r\n");
    // Running again is not enough: a checkpoint has to be completed.
    weir_board_note_restart(world.board, "store", "no room");
    weir_board_begin_life(world.board, &life, 12);
    expect(&world, GET("/readyz"), 503, "since the job went back to the last one: no room\n");
    struct weir_checkpoint_event event = {.kind = WEIR_CHECKPOINT_TRIGGERED, .number = 13};
    world.board->observer.on_checkpoint(&world.board->observer, &event);
    expect(&world, GET("/readyz"), 503, "no room\n");
    event.kind = WEIR_CHECKPOINT_COMMITTED;
    world.board->observer.on_checkpoint(&world.board->observer, &event);
    expect(&world, GET("/readyz"), 200, "\r\n\r\nready\n");
    weir_board_end_life(world.board);
    free_world(&world);
}

static void test_what_is_not_served_is_refused(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    expect(&world, GET("/nothing"), 404, "\"error\"");
    expect(&world, GET("/livez/"), 404, "\"error\"");
    expect(&world, GET("/../livez"), 404, "\"error\"");
    expect(&world, GET("/livez%00.html"), 404, "\"error\"");
    expect(&world, ASK("POST", "/api/v1/checkpoints?wait=false%00x", ""), 400, "wants true");
    expect(&world, ASK("POST", "/livez", "Content-Length: 2\r\n") "{}", 405,
           "Allow: GET, HEAD\r\n");
    expect(&world, ASK("PUT", "/metrics", ""), 405, "Allow: GET, HEAD\r\n");
    expect(&world, ASK("BREW", "/livez", ""), 405, "Allow: GET, HEAD\r\n");
    expect(&world, ASK("GET", "/livez", "Content-Length: 99999999999\r\n"), 413, "at most");
    free_world(&world);
}

static void test_rubbish_is_no_harm(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    static const char *const rubbish[] = {
        "\r\n\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /livez HTTP/1.1\r\n: \r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS is not spoken here\r\n\r\n",
        "GET /livez HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /livez HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
        "GET /%00%ff%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof rubbish / sizeof rubbish[0]; i++) {
        int descriptor = dial(&world);
        say(descriptor, rubbish[i]);
        shutdown(descriptor, SHUT_WR);
        char *answer = hear(descriptor);
        if (answer == NULL) {
            fail_msg("neither answered nor hung up: rubbish %zu", i);
        }
        free(answer);
        close(descriptor);
    }
    unsigned seed = 7;
    for (int i = 0; i < 200; i++) {
        char bytes[512];
        for (size_t j = 0; j < sizeof bytes; j++) {
            bytes[j] = (char)rand_r(&seed);
        }
        int descriptor = dial(&world);
        ssize_t sent = send(descriptor, bytes, sizeof bytes, MSG_NOSIGNAL);
        (void)sent;
        close(descriptor);
    }
    expect(&world, GET("/livez"), 200, "alive");
    free_world(&world);
}

static void test_headers_have_a_bound(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    int descriptor = dial(&world);
    say(descriptor, "GET /livez HTTP/1.1\r\n");
    char header[1100];
    memset(header, 'x', sizeof header);
    memcpy(header, "X-H: ", 5);
    memcpy(header + sizeof header - 3, "\r\n", 3);
    for (int i = 0; i < 40; i++) {
        say(descriptor, header);
    }
    char *answer = hear(descriptor);
    assert_non_null(answer); // told so or hung up on, but not waited for
    assert_null(strstr(answer, "alive"));
    free(answer);
    close(descriptor);
    expect(&world, GET("/livez"), 200, "alive");
    free_world(&world);
}

// A thousand clients that say half a line and then nothing: whoever comes behind them is served.
static void test_silent_connections_make_room(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct world world;
    make_world(&world, NULL);
    static int descriptors[COUNT];
    for (int i = 0; i < COUNT; i++) {
        descriptors[i] = dial(&world);
        say(descriptors[i], "GET /met");
        if (i % 100 == 99) {
            expect(&world, GET("/livez"), 200, "alive");
        }
    }
    expect(&world, GET("/metrics"), 200, "# TYPE weir_job_state gauge\n");
    for (int i = 0; i < COUNT; i++) {
        close(descriptors[i]);
    }
    expect(&world, GET("/livez"), 200, "alive");
    free_world(&world);
}

// With few connections they stay; with many whoever was answered makes room for who comes.
static void test_connections_are_not_kept_where_there_are_many(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    struct world world;
    make_world(&world, NULL);
    int descriptors[COUNT];
    char text[64];
    int kept = dial(&world);
    for (int i = 0; i < 2; i++) {
        say(kept, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_true(recv(kept, text, sizeof text, 0) > 0);
        while (recv(kept, text, sizeof text, MSG_DONTWAIT) > 0) {
        }
    }
    for (int i = 0; i < COUNT; i++) {
        descriptors[i] = dial(&world);
    }
    expect(&world, GET("/livez"), 200, "alive"); // by now all of them are accepted
    say(kept, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    char *answer = hear(kept); // until it is closed
    assert_non_null(answer);
    assert_non_null(strstr(answer, "alive"));
    free(answer);
    for (int i = 0; i < COUNT; i++) {
        close(descriptors[i]);
    }
    close(kept);
    free_world(&world);
}

static void post(const struct world *world, const char *path, const char *headers, const char *body,
                 int status, const char *text)
{
    char request[2048];
    snprintf(request, sizeof request,
             "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: "
             "%zu\r\n\r\n%s",
             path, headers, strlen(body), body);
    expect(world, request, status, text);
}

static void test_changes_need_a_right_body_and_a_running_job(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    post(&world, "/api/v1/checkpoints", "", "", 503, "the job is not running now");
    post(&world, "/api/v1/stop", "", "{\"drain\": true}", 503, "the job is not running now");
    post(&world, "/api/v1/checkpoints?wait=false", "", "{}", 503, "not running");
    post(&world, "/api/v1/checkpoints?wait=maybe", "", "{}", 400, "?wait= wants true or false");
    post(&world, "/api/v1/checkpoints", "", "[]", 400, "not a JSON object");
    post(&world, "/api/v1/checkpoints", "", "{", 400, "not a JSON object");
    post(&world, "/api/v1/checkpoints", "", "{} x", 400, "not a JSON object");
    post(&world, "/api/v1/checkpoints", "", "\xff\xfe", 400, "not a JSON object");
    post(&world, "/api/v1/checkpoints", "", "{\"drain\": true}", 400,
         "\\\"drain\\\" is not known here");
    post(&world, "/api/v1/stop", "", "{\"drain\": 1}", 400, "\\\"drain\\\" wants true or false");
    post(&world, "/api/v1/stop", "", "{\"drian\": true}", 400, "\\\"drian\\\" is not known");
    post(&world, "/api/v1/savepoints", "", "{}", 400, "\\\"path\\\" is missing");
    post(&world, "/api/v1/savepoints", "", "{\"path\": \"\"}", 400, "\\\"path\\\" is missing");
    post(&world, "/api/v1/savepoints", "", "{\"path\": \"/a\\u0000b\"}", 400, "without U+0000");
    // Were the name taken for absent, all tables would be paused.
    post(&world, "/api/v1/pause", "", "{\"table\": \"a\\u0000b\"}", 400, "without U+0000");
    post(&world, "/api/v1/savepoints", "", "{\"path\": true}", 400, "wants a string");
    expect(&world, ASK("DELETE", "/api/v1/savepoints", ""), 405, "Allow: POST\r\n");
    post(&world, "/api/v1/stop", "Origin: http://evil.example\r\n", "{}", 403, "only this machine");
    free_world(&world);
}

static void test_changes_need_the_token(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, "s3cret");
    post(&world, "/api/v1/stop", "", "{}", 401, "WWW-Authenticate: Bearer");
    post(&world, "/api/v1/stop", "Authorization: Bearer wrong\r\n", "{}", 401, "show the token");
    post(&world, "/api/v1/stop", "Authorization: Bearer s3cret\r\n", "{}", 503, "not running");
    expect(&world, GET("/readyz"), 503, "the job is starting");
    free_world(&world);
}

// The coordinator's side: takes the request out of the mailbox.
static struct weir_request *take_request(struct weir_mailbox *mailbox)
{
    struct weir_mail mail;
    while (!weir_mailbox_take(mailbox, &mail)) {
        weir_mailbox_wait(mailbox, PATIENCE_MS);
    }
    assert_int_equal(mail.kind, WEIR_MAIL_REQUEST);
    return mail.payload;
}

static void say_post(int descriptor, const char *path)
{
    char request[256];
    snprintf(request, sizeof request,
             "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", path);
    say(descriptor, request);
}

static void expect_heard(int descriptor, int status, const char *text)
{
    char *answer = hear(descriptor);
    char line[32];
    assert_non_null(answer);
    snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
    if (strncmp(answer, line, strlen(line)) != 0 || strstr(answer, text) == NULL) {
        fail_msg("answered\n%s", answer);
    }
    free(answer);
    close(descriptor);
}

// A client that waits for the job holds nobody else up, and hears what became of its request.
static void test_answers_come_when_the_job_has_answered(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    struct weir_mailbox *mailbox = weir_mailbox_create();
    weir_control_set(&world.control, mailbox);
    int first = dial(&world);
    say_post(first, "/api/v1/checkpoints");
    struct weir_request *asked = take_request(mailbox);
    assert_int_equal(weir_request_wish(asked)->kind, WEIR_REQUEST_CHECKPOINT);
    expect(&world, GET("/livez"), 200, "alive");
    weir_request_done(asked, 41);
    expect_heard(first, 200, "{\"state\": \"committed\", \"checkpoint\": 41}\n");

    int second = dial(&world);
    say_post(second, "/api/v1/stop");
    weir_request_refuse(take_request(mailbox), "no \"way\"");
    expect_heard(second, 409, "{\"error\": \"no \\\"way\\\"\"}\n");

    int third = dial(&world);
    say_post(third, "/api/v1/stop?wait=true");
    weir_request_fail(take_request(mailbox), "the disk is full");
    expect_heard(third, 503, "the disk is full");

    int fourth = dial(&world);
    say_post(fourth, "/api/v1/checkpoints?wait=false");
    expect_heard(fourth, 202, "{\"state\": \"accepted\"}\n");
    weir_request_done(take_request(mailbox), 42);

    // Answered while the process ends, and not answered any more.
    int fifth = dial(&world);
    say_post(fifth, "/api/v1/stop");
    struct weir_request *last = take_request(mailbox);
    int sixth = dial(&world);
    say_post(sixth, "/api/v1/checkpoints");
    asked = take_request(mailbox);
    weir_request_done(last, -1);
    weir_control_set(&world.control, NULL);
    free_world(&world);
    expect_heard(fifth, 200, "\"checkpoint\": null}\n");
    expect_heard(sixth, 503, "the process is ending");
    weir_request_fail(asked, "over");
    weir_mailbox_destroy(mailbox, weir_coordinator_drop_mail);
}

// Those that hang up while they wait are forgotten without harm; more than a few are not taken.
static void test_requests_that_wait_are_bounded(void **state)
{
    (void)state;
    enum { COUNT = 17 };
    struct world world;
    make_world(&world, NULL);
    struct weir_mailbox *mailbox = weir_mailbox_create();
    struct weir_request *asked[COUNT];
    int descriptors[COUNT];
    weir_control_set(&world.control, mailbox);
    for (int i = 0; i < COUNT; i++) {
        descriptors[i] = dial(&world);
        say_post(descriptors[i], "/api/v1/checkpoints");
        asked[i] = take_request(mailbox);
    }
    expect_heard(descriptors[COUNT - 1], 503, "16 requests wait for the job already");
    close(descriptors[0]);
    for (int i = 0; i < COUNT; i++) {
        weir_request_done(asked[i], i);
    }
    for (int i = 1; i < COUNT - 1; i++) {
        expect_heard(descriptors[i], 200, "committed");
    }
    expect(&world, GET("/livez"), 200, "alive");
    weir_control_set(&world.control, NULL);
    free_world(&world);
    weir_mailbox_destroy(mailbox, weir_coordinator_drop_mail);
}

static void test_endless_body_is_hung_up_on(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    post(&world, "/api/v1/stop", "", "{}", 503, "not running");
    int descriptor = dial(&world);
    say(descriptor, ASK("POST", "/api/v1/stop", "Transfer-Encoding: chunked\r\n"));
    char chunk[4096 + 10];
    memcpy(chunk, "1000\r\n", 6);
    memset(chunk + 6, ' ', 4096);
    memcpy(chunk + 6 + 4096, "\r\n", 3);
    for (int i = 0; i < 100; i++) {
        say(descriptor, chunk);
    }
    char *answer = hear(descriptor);
    assert_non_null(answer);
    assert_null(strstr(answer, "200 OK"));
    free(answer);
    close(descriptor);
    expect(&world, GET("/livez"), 200, "alive");
    free_world(&world);
}

static void test_taken_port_is_a_clear_fault(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    struct weir_http_server *second;
    struct weir_error error;
    struct weir_http_config config = {.listen = weir_http_address(world.server),
                                      .site = {.board = world.board}};
    assert_int_equal(weir_http_start(&config, &second, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    assert_non_null(strstr(error.text, "WEIR_HTTP_LISTEN: cannot listen on 127.0.0.1:"));
    assert_non_null(strstr(error.text, "Address already in use; choose another port"));
    config.listen = "192.0.2.1:80"; // of no machine
    assert_int_equal(weir_http_start(&config, &second, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    free_world(&world);
}

static void test_ipv6_address_takes_ipv4_too(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, NULL);
    struct weir_http_server *both;
    struct weir_error error;
    struct weir_http_config config = {.listen = "[::]:0", .site = {.board = world.board}};
    if (weir_http_start(&config, &both, &error) != WEIR_OK) {
        free_world(&world);
        skip(); // a machine without IPv6
    }
    const char *address = weir_http_address(both);
    assert_int_equal(strncmp(address, "[::]:", 5), 0);
    world.address.sin_port = htons((uint16_t)strtol(address + 5, NULL, 10));
    expect(&world, GET("/livez"), 200, "alive");
    weir_http_stop(both);
    free_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_of_the_job_are_told),
        cmocka_unit_test(test_what_is_not_served_is_refused),
        cmocka_unit_test(test_rubbish_is_no_harm),
        cmocka_unit_test(test_headers_have_a_bound),
        cmocka_unit_test(test_silent_connections_make_room),
        cmocka_unit_test(test_connections_are_not_kept_where_there_are_many),
        cmocka_unit_test(test_changes_need_a_right_body_and_a_running_job),
        cmocka_unit_test(test_changes_need_the_token),
        cmocka_unit_test(test_answers_come_when_the_job_has_answered),
        cmocka_unit_test(test_requests_that_wait_are_bounded),
        cmocka_unit_test(test_endless_body_is_hung_up_on),
        cmocka_unit_test(test_taken_port_is_a_clear_fault),
        cmocka_unit_test(test_ipv6_address_takes_ipv4_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
