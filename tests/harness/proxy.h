// SPDX-License-Identifier: Apache-2.0
// A proxy in front of brokers that understands Kafka's requests and does to them what a bad network
// can do: holds, loses, doubles, delays them, cuts connections before or after them. What it is
// for: requests that reach the broker late, after their retry has succeeded (docs/commit.md,
// "Late requests"); and exact points of the commit protocol at which to kill something.
//
// A proxy has routes (a port that it listens on, and the broker behind it); rules and counters are
// one set for all routes, since a test does not know which broker a coordinator lives on. To keep
// clients behind it, brokers must advertise the proxy's ports: see is_proxied in broker.h.
//
// Invariants:
//  1. The connection to the broker outlives the client's: a request that was held, or taken from
//     the client before it went away, still reaches the broker, and its answer is waited for.
//  2. Requests of one connection never overtake one another, and nor do answers: what follows a
//     held one waits, what follows a lost one is lost. Anything else no network does, and
//     librdkafka ends the process when it sees it.
//  3. At most one rule is applied to a request: the first in the order of adding that matches and
//     has not used up its count.
//
// Thread: an acceptor and two threads per connection of its own; the functions here may be called
// from any thread. Does not speak TLS, and not acks=0, whose requests have no answer.
#ifndef WEIR_TESTS_HARNESS_PROXY_H
#define WEIR_TESTS_HARNESS_PROXY_H

#include <stdbool.h>
#include <stdint.h>

enum weir_test_api {
    WEIR_TEST_API_ANY = -1,
    WEIR_TEST_API_PRODUCE = 0,
    WEIR_TEST_API_FETCH = 1,
    WEIR_TEST_API_LIST_OFFSETS = 2,
    WEIR_TEST_API_METADATA = 3,
    WEIR_TEST_API_OFFSET_COMMIT = 8,
    WEIR_TEST_API_OFFSET_FETCH = 9,
    WEIR_TEST_API_FIND_COORDINATOR = 10,
    WEIR_TEST_API_API_VERSIONS = 18,
    WEIR_TEST_API_CREATE_TOPICS = 19,
    WEIR_TEST_API_INIT_PRODUCER_ID = 22,
    WEIR_TEST_API_ADD_PARTITIONS_TO_TXN = 24,
    WEIR_TEST_API_ADD_OFFSETS_TO_TXN = 25,
    WEIR_TEST_API_END_TXN = 26,
    WEIR_TEST_API_TXN_OFFSET_COMMIT = 28,
    WEIR_TEST_API_DESCRIBE_CONFIGS = 32,
};

enum weir_test_proxy_action {
    WEIR_TEST_PROXY_PASS,        // nothing: for counting
    WEIR_TEST_PROXY_HOLD,        // kept until the rule ends, or for duration_ms; then passed on
    WEIR_TEST_PROXY_DROP,        // lost with all after it: the broker never sees it, the client is
                                 // left waiting
    WEIR_TEST_PROXY_DOUBLE,      // sent twice in a row; the second answer is kept from the client
    WEIR_TEST_PROXY_REPEAT_LATE, // passed on, and sent again on a connection of its own when the
                                 // rule ends or duration_ms are over
    WEIR_TEST_PROXY_CUT_BEFORE,  // the client's connection is closed, the request is lost
    WEIR_TEST_PROXY_CUT_AFTER,   // passed on, then the client's connection is closed at once
    WEIR_TEST_PROXY_CUT_ANSWER,  // passed on; the connection is closed when the answer comes
    WEIR_TEST_PROXY_DROP_ANSWER, // passed on; the answer is lost with all after it
    WEIR_TEST_PROXY_HOLD_ANSWER, // passed on; the answer is kept like HOLD keeps a request
};

struct weir_test_proxy;
struct weir_test_proxy_rule;

struct weir_test_proxy_rule_options {
    enum weir_test_proxy_action action;
    enum weir_test_api api_key;
    const char *client_id;        // only requests whose client id contains this; NULL: all
    const char *transactional_id; // the same for the transactional id
    int skip_count;               // so many matching requests pass first
    int count;                    // applied to so many requests; 0: to every one
    int duration_ms;              // for actions that keep something; 0: until the rule ends
};

struct weir_test_proxy_request {
    int api_key;
    int api_version;
    int32_t correlation_id;
    char client_id[128];        // cut off if longer
    char transactional_id[256]; // "" if the request carries none
};

// Sees every request before any rule does; called from a thread of the proxy, so it may only set
// atomics, post semaphores and the like.
typedef void weir_test_proxy_request_fn(void *context,
                                        const struct weir_test_proxy_request *request);

struct weir_test_proxy *weir_test_proxy_create(void);

// Closes all connections, joins all threads. What is still held is lost. NULL is fine.
void weir_test_proxy_destroy(struct weir_test_proxy *proxy);

// Listens on a free port of 127.0.0.1, which it returns, and passes on to broker_port there. As
// long as nobody listens there, clients' connections are closed at once.
int weir_test_proxy_add_route(struct weir_test_proxy *proxy, int broker_port);

void weir_test_proxy_set_observer(struct weir_test_proxy *proxy,
                                  weir_test_proxy_request_fn *observe, void *context);

// The rule is the proxy's and lives as long as that. The options' texts are copied.
struct weir_test_proxy_rule *
weir_test_proxy_add_rule(struct weir_test_proxy *proxy,
                         const struct weir_test_proxy_rule_options *options);

// From now on the rule matches nothing, and what it keeps goes on its way.
void weir_test_proxy_end_rule(struct weir_test_proxy_rule *rule);

// How many requests the rule was applied to; how many of them were written to the broker (a doubled
// one counts twice); how many answers to them came from the broker.
int weir_test_proxy_hit_count(struct weir_test_proxy_rule *rule);
int weir_test_proxy_delivered_count(struct weir_test_proxy_rule *rule);
int weir_test_proxy_answered_count(struct weir_test_proxy_rule *rule);

// Wait until the count is reached; false after the time.
bool weir_test_proxy_wait_hit(struct weir_test_proxy_rule *rule, int count, int timeout_ms);
bool weir_test_proxy_wait_delivered(struct weir_test_proxy_rule *rule, int count, int timeout_ms);
bool weir_test_proxy_wait_answered(struct weir_test_proxy_rule *rule, int count, int timeout_ms);

// Kafka's error code in the latest of these answers (proxy_frame.h says of which requests): 0 is
// success. Fails the test if there is none.
int weir_test_proxy_answer_error(struct weir_test_proxy_rule *rule);

// Requests of this key that clients have sent so far, whatever became of them.
int64_t weir_test_proxy_request_count(struct weir_test_proxy *proxy, enum weir_test_api api_key);

// Closes every client's connection; with is_refusing also every new one until called with false.
void weir_test_proxy_cut_all(struct weir_test_proxy *proxy, bool is_refusing);

#endif
