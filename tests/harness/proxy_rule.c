// SPDX-License-Identifier: Apache-2.0
// What a proxy's rule matches, keeps and counts: see proxy_internal.h, and proxy.h for the public
// part.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/base.h"
#include "tests/harness/proxy_internal.h"

struct weir_test_proxy_rule {
    struct weir_test_proxy_rule *next;
    struct weir_test_proxy_rules *rules;
    enum weir_test_proxy_action action;
    enum weir_test_api api_key;
    char *client_id;
    char *transactional_id;
    int skip_count; // left to skip
    int count;      // 0: no limit
    int duration_ms;
    bool is_ended;
    int hit_count;
    int delivered_count;
    int answered_count;
    bool has_error;
    int error;
};

void weir_test_rules_init(struct weir_test_proxy_rules *rules)
{
    pthread_mutex_init(&rules->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&rules->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void weir_test_rules_deinit(struct weir_test_proxy_rules *rules)
{
    while (rules->first != NULL) {
        struct weir_test_proxy_rule *rule = rules->first;
        rules->first = rule->next;
        free(rule->client_id);
        free(rule->transactional_id);
        free(rule);
    }
    pthread_cond_destroy(&rules->changed);
    pthread_mutex_destroy(&rules->lock);
}

void weir_test_rules_lock(struct weir_test_proxy_rules *rules)
{
    pthread_mutex_lock(&rules->lock);
}

void weir_test_rules_unlock(struct weir_test_proxy_rules *rules)
{
    pthread_mutex_unlock(&rules->lock);
}

void weir_test_rules_wake(struct weir_test_proxy_rules *rules)
{
    pthread_mutex_lock(&rules->lock);
    pthread_cond_broadcast(&rules->changed);
    pthread_mutex_unlock(&rules->lock);
}

bool weir_test_rules_wait(struct weir_test_proxy_rules *rules, int64_t deadline_ms)
{
    if (!rules->is_stopping && weir_test_now_ms() < deadline_ms) {
        struct timespec until = {.tv_sec = deadline_ms / 1000,
                                 .tv_nsec = (long)(deadline_ms % 1000) * 1000000};
        pthread_cond_timedwait(&rules->changed, &rules->lock, &until);
        return !rules->is_stopping;
    }
    return false;
}

void weir_test_rules_stop(struct weir_test_proxy_rules *rules)
{
    pthread_mutex_lock(&rules->lock);
    rules->is_stopping = true;
    pthread_cond_broadcast(&rules->changed);
    pthread_mutex_unlock(&rules->lock);
}

bool weir_test_rules_are_stopping(const struct weir_test_proxy_rules *rules)
{
    return rules->is_stopping;
}

struct weir_test_proxy_rule *weir_test_rules_add(struct weir_test_proxy_rules *rules,
                                                 const struct weir_test_proxy_rule_options *options)
{
    struct weir_test_proxy_rule *rule = weir_test_alloc(sizeof(*rule));
    rule->rules = rules;
    rule->action = options->action;
    rule->api_key = options->api_key;
    rule->client_id =
        options->client_id != NULL ? weir_test_format("%s", options->client_id) : NULL;
    rule->transactional_id = options->transactional_id != NULL
                                 ? weir_test_format("%s", options->transactional_id)
                                 : NULL;
    rule->skip_count = options->skip_count;
    rule->count = options->count;
    rule->duration_ms = options->duration_ms;
    pthread_mutex_lock(&rules->lock);
    struct weir_test_proxy_rule **link = &rules->first;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = rule;
    pthread_mutex_unlock(&rules->lock);
    return rule;
}

void weir_test_rules_count_request(struct weir_test_proxy_rules *rules,
                                   const struct weir_test_proxy_request *request)
{
    if (request->api_key >= 0 && request->api_key < WEIR_TEST_API_COUNT) {
        pthread_mutex_lock(&rules->lock);
        rules->request_counts[request->api_key]++;
        pthread_cond_broadcast(&rules->changed);
        pthread_mutex_unlock(&rules->lock);
    }
}

int64_t weir_test_rules_request_count(struct weir_test_proxy_rules *rules,
                                      enum weir_test_api api_key)
{
    int64_t count = 0;
    pthread_mutex_lock(&rules->lock);
    for (int key = 0; key < WEIR_TEST_API_COUNT; key++) {
        if (api_key == WEIR_TEST_API_ANY || key == (int)api_key) {
            count += rules->request_counts[key];
        }
    }
    pthread_mutex_unlock(&rules->lock);
    return count;
}

static bool is_match(const struct weir_test_proxy_rule *rule,
                     const struct weir_test_proxy_request *request)
{
    return !rule->is_ended && (rule->count == 0 || rule->hit_count < rule->count) &&
           (rule->api_key == WEIR_TEST_API_ANY || (int)rule->api_key == request->api_key) &&
           (rule->client_id == NULL || strstr(request->client_id, rule->client_id) != NULL) &&
           (rule->transactional_id == NULL ||
            strstr(request->transactional_id, rule->transactional_id) != NULL);
}

struct weir_test_proxy_rule *weir_test_rules_match(struct weir_test_proxy_rules *rules,
                                                   const struct weir_test_proxy_request *request)
{
    pthread_mutex_lock(&rules->lock);
    struct weir_test_proxy_rule *rule = rules->first;
    for (; rule != NULL; rule = rule->next) {
        if (!is_match(rule, request)) {
            continue;
        }
        if (rule->skip_count > 0) {
            rule->skip_count--;
            continue;
        }
        rule->hit_count++;
        pthread_cond_broadcast(&rules->changed);
        break;
    }
    pthread_mutex_unlock(&rules->lock);
    return rule;
}

enum weir_test_proxy_action weir_test_rule_action(const struct weir_test_proxy_rule *rule)
{
    return rule->action;
}

bool weir_test_rule_wait_over(struct weir_test_proxy_rules *rules,
                              struct weir_test_proxy_rule *rule)
{
    int64_t deadline_ms = rule->duration_ms > 0 ? weir_test_now_ms() + rule->duration_ms
                                                : weir_test_now_ms() + 1000000000;
    pthread_mutex_lock(&rules->lock);
    while (!rule->is_ended && weir_test_rules_wait(rules, deadline_ms)) {
    }
    bool is_over = !rules->is_stopping;
    pthread_mutex_unlock(&rules->lock);
    return is_over;
}

static void count(struct weir_test_proxy_rules *rules, int *counter)
{
    pthread_mutex_lock(&rules->lock);
    (*counter)++;
    pthread_cond_broadcast(&rules->changed);
    pthread_mutex_unlock(&rules->lock);
}

void weir_test_rule_count_delivered(struct weir_test_proxy_rules *rules,
                                    struct weir_test_proxy_rule *rule)
{
    count(rules, &rule->delivered_count);
}

void weir_test_rule_count_answered(struct weir_test_proxy_rules *rules,
                                   struct weir_test_proxy_rule *rule, bool has_error, int error)
{
    pthread_mutex_lock(&rules->lock);
    rule->has_error = has_error;
    rule->error = error;
    pthread_mutex_unlock(&rules->lock);
    count(rules, &rule->answered_count);
}

void weir_test_proxy_end_rule(struct weir_test_proxy_rule *rule)
{
    pthread_mutex_lock(&rule->rules->lock);
    rule->is_ended = true;
    pthread_cond_broadcast(&rule->rules->changed);
    pthread_mutex_unlock(&rule->rules->lock);
}

static int read_count(struct weir_test_proxy_rule *rule, const int *counter)
{
    pthread_mutex_lock(&rule->rules->lock);
    int value = *counter;
    pthread_mutex_unlock(&rule->rules->lock);
    return value;
}

int weir_test_proxy_hit_count(struct weir_test_proxy_rule *rule)
{
    return read_count(rule, &rule->hit_count);
}

int weir_test_proxy_delivered_count(struct weir_test_proxy_rule *rule)
{
    return read_count(rule, &rule->delivered_count);
}

int weir_test_proxy_answered_count(struct weir_test_proxy_rule *rule)
{
    return read_count(rule, &rule->answered_count);
}

static bool wait_count(struct weir_test_proxy_rule *rule, const int *counter, int goal,
                       int timeout_ms)
{
    int64_t deadline_ms = weir_test_now_ms() + timeout_ms;
    pthread_mutex_lock(&rule->rules->lock);
    while (*counter < goal && weir_test_rules_wait(rule->rules, deadline_ms)) {
    }
    bool is_reached = *counter >= goal;
    pthread_mutex_unlock(&rule->rules->lock);
    return is_reached;
}

bool weir_test_proxy_wait_hit(struct weir_test_proxy_rule *rule, int goal, int timeout_ms)
{
    return wait_count(rule, &rule->hit_count, goal, timeout_ms);
}

bool weir_test_proxy_wait_delivered(struct weir_test_proxy_rule *rule, int goal, int timeout_ms)
{
    return wait_count(rule, &rule->delivered_count, goal, timeout_ms);
}

bool weir_test_proxy_wait_answered(struct weir_test_proxy_rule *rule, int goal, int timeout_ms)
{
    return wait_count(rule, &rule->answered_count, goal, timeout_ms);
}

int weir_test_proxy_answer_error(struct weir_test_proxy_rule *rule)
{
    pthread_mutex_lock(&rule->rules->lock);
    bool has_error = rule->has_error;
    int error = rule->error;
    pthread_mutex_unlock(&rule->rules->lock);
    if (!has_error) {
        WEIR_TEST_FAIL("no answer whose error could be read");
    }
    return error;
}
