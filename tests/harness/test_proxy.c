// SPDX-License-Identifier: Apache-2.0
// The harness's own tests: what the proxy does to requests. A client of bare sockets sends one
// CreateTopics request after the other, since a topic tells afterwards whether the broker saw its
// request; that a real client cannot go around the proxy is tested in test_proxy_client.c.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/proxy.h"
#include "tests/harness/topic.h"

static struct weir_test_cluster *cluster;
static struct weir_test_proxy *proxy;
static const char *direct;
static int proxy_port;

static int start_cluster(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){.is_proxied = true});
    proxy = weir_test_cluster_proxy(cluster);
    direct = weir_test_cluster_direct_bootstrap(cluster);
    proxy_port = atoi(strrchr(weir_test_cluster_bootstrap(cluster), ':') + 1);
    return 0;
}

static int stop_cluster(void **state)
{
    (void)state;
    weir_test_cluster_destroy(cluster);
    return 0;
}

// A client of bare sockets ------------------------------------------------------------------------

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)proxy_port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

struct bytes {
    uint8_t data[512];
    size_t count;
};

static void put(struct bytes *bytes, uint32_t value, size_t width)
{
    for (size_t i = width; i > 0; i--) {
        bytes->data[bytes->count++] = (uint8_t)(value >> (8 * (i - 1)));
    }
}

static void put_text(struct bytes *bytes, const char *text)
{
    put(bytes, (uint32_t)strlen(text), 2);
    memcpy(bytes->data + bytes->count, text, strlen(text));
    bytes->count += strlen(text);
}

// Asks to create a topic of one partition.
static void send_create(int fd, int32_t correlation_id, const char *client_id, const char *topic)
{
    struct bytes body = {.count = 0};
    put(&body, WEIR_TEST_API_CREATE_TOPICS, 2);
    put(&body, 2, 2); // version
    put(&body, (uint32_t)correlation_id, 4);
    put_text(&body, client_id);
    put(&body, 1, 4); // topics
    put_text(&body, topic);
    put(&body, 1, 4); // partitions
    put(&body, 1, 2); // replicas
    put(&body, 0, 4); // no assignment
    put(&body, 0, 4); // no settings
    put(&body, 10000, 4);
    put(&body, 0, 1); // not only validated
    struct bytes frame = {.count = 0};
    put(&frame, (uint32_t)body.count, 4);
    memcpy(frame.data + 4, body.data, body.count);
    frame.count += body.count;
    assert_int_equal(send(fd, frame.data, frame.count, MSG_NOSIGNAL), frame.count);
}

enum answer { NOTHING = -1, CLOSED = -2 };

// The correlation id of the next answer, or what came instead of it.
static int32_t receive(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (poll(&poll_fd, 1, timeout_ms) == 0) {
        return NOTHING;
    }
    uint8_t head[8];
    ssize_t got = recv(fd, head, sizeof(head), MSG_WAITALL);
    if (got != sizeof(head)) {
        return CLOSED;
    }
    uint32_t left = ((uint32_t)head[2] << 8 | head[3]) - 4;
    uint8_t rest[1024];
    assert_true(left <= sizeof(rest));
    assert_int_equal(recv(fd, rest, left, MSG_WAITALL), left);
    return (int32_t)((uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 |
                     head[7]);
}

static bool exists(const char *topic)
{
    return weir_test_topic_partition_count(direct, topic) == 1;
}

// A broker answers a little before its metadata shows the topic.
static void wait_exists(const char *topic)
{
    WEIR_TEST_WAIT_UNTIL(exists(topic), 10000);
}

static struct weir_test_proxy_rule *add_rule(enum weir_test_proxy_action action, int count)
{
    return weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){
                   .action = action, .api_key = WEIR_TEST_API_CREATE_TOPICS, .count = count});
}

// The actions -------------------------------------------------------------------------------------

static void test_proxy_passes_what_no_rule_matches(void **state)
{
    (void)state;
    int64_t before = weir_test_proxy_request_count(proxy, WEIR_TEST_API_CREATE_TOPICS);
    int fd = dial();
    send_create(fd, 11, "c", "pass-1");
    send_create(fd, 12, "c", "pass-2");
    assert_int_equal(receive(fd, 10000), 11);
    assert_int_equal(receive(fd, 10000), 12);
    close(fd);
    wait_exists("pass-1");
    wait_exists("pass-2");
    assert_int_equal(weir_test_proxy_request_count(proxy, WEIR_TEST_API_CREATE_TOPICS), before + 2);
}

static void test_proxy_holds_until_the_rule_ends(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_HOLD, 1);
    int fd = dial();
    send_create(fd, 1, "c", "hold-1");
    send_create(fd, 2, "c", "hold-2"); // not matched any more, but it cannot overtake
    assert_true(weir_test_proxy_wait_hit(rule, 1, 10000));
    assert_int_equal(receive(fd, 200), NOTHING);
    assert_false(exists("hold-1"));
    assert_false(exists("hold-2"));
    // Another connection is not concerned.
    int other = dial();
    send_create(other, 3, "c", "hold-3");
    assert_int_equal(receive(other, 10000), 3);
    assert_false(weir_test_proxy_wait_delivered(rule, 1, 0));
    weir_test_proxy_end_rule(rule);
    assert_int_equal(receive(fd, 10000), 1);
    assert_int_equal(receive(fd, 10000), 2);
    wait_exists("hold-1");
    wait_exists("hold-2");
    assert_int_equal(weir_test_proxy_hit_count(rule), 1);
    assert_int_equal(weir_test_proxy_delivered_count(rule), 1);
    assert_int_equal(weir_test_proxy_answered_count(rule), 1);
    close(other);
    close(fd);
}

static void test_proxy_holds_for_a_time(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_HOLD,
                                                      .api_key = WEIR_TEST_API_CREATE_TOPICS,
                                                      .count = 1,
                                                      .duration_ms = 300});
    int64_t start_ms = weir_test_now_ms();
    int fd = dial();
    send_create(fd, 1, "c", "delay-1");
    assert_int_equal(receive(fd, 10000), 1);
    assert_true(weir_test_now_ms() - start_ms >= 300);
    assert_int_equal(weir_test_proxy_hit_count(rule), 1);
    close(fd);
}

static void test_proxy_delivers_after_the_client_has_gone(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_HOLD, 1);
    int fd = dial();
    send_create(fd, 1, "c", "gone-1");
    send_create(fd, 2, "c", "gone-2"); // written before the client went: also late, not lost
    assert_true(weir_test_proxy_wait_hit(rule, 1, 10000));
    close(fd);
    weir_test_sleep_ms(100);
    assert_false(exists("gone-1"));
    weir_test_proxy_end_rule(rule);
    assert_true(weir_test_proxy_wait_answered(rule, 1, 10000));
    wait_exists("gone-1");
    wait_exists("gone-2");
}

static void test_proxy_drops_a_request(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_DROP, 1);
    int fd = dial();
    send_create(fd, 1, "c", "drop-1");
    send_create(fd, 2, "c", "drop-2"); // lost too: nothing overtakes
    assert_int_equal(receive(fd, 100), NOTHING);
    close(fd);
    fd = dial();
    send_create(fd, 3, "c", "drop-3");
    assert_int_equal(receive(fd, 10000), 3);
    assert_false(exists("drop-1") || exists("drop-2"));
    assert_int_equal(weir_test_proxy_hit_count(rule), 1);
    assert_int_equal(weir_test_proxy_delivered_count(rule), 0);
    close(fd);
}

static void test_proxy_doubles_a_request(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_DOUBLE, 1);
    int fd = dial();
    send_create(fd, 1, "c", "double-1");
    assert_int_equal(receive(fd, 10000), 1);
    assert_true(weir_test_proxy_wait_answered(rule, 2, 10000)); // the broker has seen it twice
    assert_int_equal(receive(fd, 100), NOTHING);
    send_create(fd, 2, "c", "double-2");
    assert_int_equal(receive(fd, 10000), 2);
    assert_int_equal(weir_test_proxy_delivered_count(rule), 2);
    close(fd);
}

static void test_proxy_repeats_late(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_REPEAT_LATE, 1);
    int fd = dial();
    send_create(fd, 1, "c", "repeat-1");
    assert_int_equal(receive(fd, 10000), 1);
    close(fd);
    weir_test_topic_delete(direct, "repeat-1");
    assert_int_equal(weir_test_proxy_answered_count(rule), 1);
    weir_test_proxy_end_rule(rule);
    assert_true(weir_test_proxy_wait_answered(rule, 2, 10000));
    wait_exists("repeat-1");
}

static void test_proxy_cuts_before(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_CUT_BEFORE, 1);
    int fd = dial();
    send_create(fd, 1, "c", "before-1");
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    assert_false(exists("before-1"));
    assert_int_equal(weir_test_proxy_hit_count(rule), 1);
}

static void test_proxy_cuts_after(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_CUT_AFTER, 1);
    int fd = dial();
    send_create(fd, 1, "c", "after-1");
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    assert_true(weir_test_proxy_wait_answered(rule, 1, 10000));
    wait_exists("after-1");
}

static void test_proxy_cuts_instead_of_an_answer(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_CUT_ANSWER, 1);
    int fd = dial();
    send_create(fd, 1, "c", "answer-1");
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    assert_int_equal(weir_test_proxy_answered_count(rule), 1); // so it came before the cut
    wait_exists("answer-1");
}

static void test_proxy_drops_an_answer(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_DROP_ANSWER, 1);
    int fd = dial();
    send_create(fd, 1, "c", "lost-1");
    send_create(fd, 2, "c", "lost-2");
    wait_exists("lost-1");
    wait_exists("lost-2");
    assert_int_equal(receive(fd, 100), NOTHING); // nothing overtakes
    assert_int_equal(weir_test_proxy_answered_count(rule), 1);
    close(fd);
}

static void test_proxy_holds_an_answer(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_HOLD_ANSWER, 1);
    int fd = dial();
    send_create(fd, 1, "c", "slow-1");
    assert_true(weir_test_proxy_wait_answered(rule, 1, 10000));
    wait_exists("slow-1");
    assert_int_equal(receive(fd, 100), NOTHING);
    weir_test_proxy_end_rule(rule);
    assert_int_equal(receive(fd, 10000), 1);
    close(fd);
}

// What rules match --------------------------------------------------------------------------------

static void test_rule_skips_and_counts(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *rule = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_DROP,
                                                      .api_key = WEIR_TEST_API_CREATE_TOPICS,
                                                      .skip_count = 1,
                                                      .count = 2});
    int fd = dial();
    for (int i = 1; i <= 3; i++) {
        char topic[32];
        snprintf(topic, sizeof(topic), "skip-%d", i);
        send_create(fd, i, "c", topic);
    }
    assert_int_equal(receive(fd, 10000), 1);
    assert_true(weir_test_proxy_wait_hit(rule, 2, 10000));
    close(fd); // what comes after a lost request on its connection is lost anyway
    fd = dial();
    send_create(fd, 4, "c", "skip-4");
    assert_int_equal(receive(fd, 10000), 4);
    assert_int_equal(weir_test_proxy_hit_count(rule), 2);
    assert_false(exists("skip-2") || exists("skip-3"));
    close(fd);
}

static void test_rule_matches_client_and_key(void **state)
{
    (void)state;
    struct weir_test_proxy_rule *client = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_DROP,
                                                      .api_key = WEIR_TEST_API_ANY,
                                                      .client_id = "victim"});
    struct weir_test_proxy_rule *key = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_DROP,
                                                      .api_key = WEIR_TEST_API_END_TXN});
    struct weir_test_proxy_rule *transaction = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_DROP,
                                                      .api_key = WEIR_TEST_API_ANY,
                                                      .transactional_id = "victim"});
    int fd = dial();
    send_create(fd, 1, "a-victim-1", "match-1");
    assert_true(weir_test_proxy_wait_hit(client, 1, 10000));
    close(fd);
    fd = dial();
    send_create(fd, 2, "bystander", "match-2");
    assert_int_equal(receive(fd, 10000), 2);
    assert_int_equal(weir_test_proxy_hit_count(client), 1);
    assert_int_equal(weir_test_proxy_hit_count(key), 0);
    assert_int_equal(weir_test_proxy_hit_count(transaction), 0);
    weir_test_proxy_end_rule(client); // it has no count: else it would go on
    send_create(fd, 3, "a-victim-1", "match-3");
    assert_int_equal(receive(fd, 10000), 3);
    weir_test_proxy_end_rule(key);
    weir_test_proxy_end_rule(transaction);
    close(fd);
}

static void count_request(void *context, const struct weir_test_proxy_request *request)
{
    atomic_int *seen = context;
    if (request->api_key == WEIR_TEST_API_CREATE_TOPICS && request->api_version == 2 &&
        request->correlation_id == 77 && strcmp(request->client_id, "watched") == 0) {
        atomic_fetch_add(seen, 1);
    }
}

static void test_observer_sees_every_request(void **state)
{
    (void)state;
    atomic_int seen = 0;
    weir_test_proxy_set_observer(proxy, count_request, &seen);
    struct weir_test_proxy_rule *rule = add_rule(WEIR_TEST_PROXY_CUT_BEFORE, 1);
    int fd = dial();
    send_create(fd, 77, "watched", "watched-1");
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    assert_int_equal(atomic_load(&seen), 1);
    assert_int_equal(weir_test_proxy_hit_count(rule), 1);
    weir_test_proxy_set_observer(proxy, NULL, NULL);
}

static void test_proxy_refuses(void **state)
{
    (void)state;
    int old = dial();
    send_create(old, 1, "c", "refuse-1");
    assert_int_equal(receive(old, 10000), 1);
    weir_test_proxy_cut_all(proxy, true);
    assert_int_equal(receive(old, 10000), CLOSED);
    close(old);
    int fd = dial();
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    weir_test_proxy_cut_all(proxy, false);
    fd = dial();
    send_create(fd, 2, "c", "refuse-2");
    assert_int_equal(receive(fd, 10000), 2);
    close(fd);
}

static void test_proxy_closes_when_the_broker_is_down(void **state)
{
    (void)state;
    int fd = dial();
    send_create(fd, 1, "c", "down-1");
    assert_int_equal(receive(fd, 10000), 1);
    weir_test_node_kill(cluster, 0);
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    fd = dial();
    assert_int_equal(receive(fd, 10000), CLOSED);
    close(fd);
    weir_test_node_start(cluster, 0);
    fd = dial();
    send_create(fd, 2, "c", "down-2");
    assert_int_equal(receive(fd, 10000), 2);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proxy_passes_what_no_rule_matches),
        cmocka_unit_test(test_proxy_holds_until_the_rule_ends),
        cmocka_unit_test(test_proxy_holds_for_a_time),
        cmocka_unit_test(test_proxy_delivers_after_the_client_has_gone),
        cmocka_unit_test(test_proxy_drops_a_request),
        cmocka_unit_test(test_proxy_doubles_a_request),
        cmocka_unit_test(test_proxy_repeats_late),
        cmocka_unit_test(test_proxy_cuts_before),
        cmocka_unit_test(test_proxy_cuts_after),
        cmocka_unit_test(test_proxy_cuts_instead_of_an_answer),
        cmocka_unit_test(test_proxy_drops_an_answer),
        cmocka_unit_test(test_proxy_holds_an_answer),
        cmocka_unit_test(test_rule_skips_and_counts),
        cmocka_unit_test(test_rule_matches_client_and_key),
        cmocka_unit_test(test_observer_sees_every_request),
        cmocka_unit_test(test_proxy_refuses),
        cmocka_unit_test(test_proxy_closes_when_the_broker_is_down),
    };
    return cmocka_run_group_tests(tests, start_cluster, stop_cluster);
}
