// SPDX-License-Identifier: Apache-2.0
// The rules and counters of a proxy, with the one lock of the proxy. Between proxy.c and
// proxy_rule.c. Functions take the lock themselves unless they say that the caller holds it.
#ifndef WEIR_TESTS_HARNESS_PROXY_INTERNAL_H
#define WEIR_TESTS_HARNESS_PROXY_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/harness/proxy.h"

enum { WEIR_TEST_API_COUNT = 128 };

struct weir_test_proxy_rules {
    pthread_mutex_t lock;
    pthread_cond_t changed; // any count, any end of a rule, stopping
    bool is_stopping;
    struct weir_test_proxy_rule *first;
    int64_t request_counts[WEIR_TEST_API_COUNT];
};

void weir_test_rules_init(struct weir_test_proxy_rules *rules);

// No thread uses them any more.
void weir_test_rules_deinit(struct weir_test_proxy_rules *rules);

void weir_test_rules_lock(struct weir_test_proxy_rules *rules);
void weir_test_rules_unlock(struct weir_test_proxy_rules *rules);

// Whoever waits looks again.
void weir_test_rules_wake(struct weir_test_proxy_rules *rules);

// The caller holds the lock. False: the deadline is over, or the proxy is stopping.
bool weir_test_rules_wait(struct weir_test_proxy_rules *rules, int64_t deadline_ms);

// Everything that waits comes back, for good.
void weir_test_rules_stop(struct weir_test_proxy_rules *rules);

// The caller holds the lock.
bool weir_test_rules_are_stopping(const struct weir_test_proxy_rules *rules);

struct weir_test_proxy_rule *
weir_test_rules_add(struct weir_test_proxy_rules *rules,
                    const struct weir_test_proxy_rule_options *options);

void weir_test_rules_count_request(struct weir_test_proxy_rules *rules,
                                   const struct weir_test_proxy_request *request);

int64_t weir_test_rules_request_count(struct weir_test_proxy_rules *rules,
                                      enum weir_test_api api_key);

// The rule to apply, counted as hit; or NULL.
struct weir_test_proxy_rule *weir_test_rules_match(struct weir_test_proxy_rules *rules,
                                                   const struct weir_test_proxy_request *request);

enum weir_test_proxy_action weir_test_rule_action(const struct weir_test_proxy_rule *rule);

// Waits until the rule ends or its duration is over. False: the proxy is stopping.
bool weir_test_rule_wait_over(struct weir_test_proxy_rules *rules,
                              struct weir_test_proxy_rule *rule);

void weir_test_rule_count_delivered(struct weir_test_proxy_rules *rules,
                                    struct weir_test_proxy_rule *rule);

void weir_test_rule_count_answered(struct weir_test_proxy_rules *rules,
                                   struct weir_test_proxy_rule *rule, bool has_error, int error);

#endif
