// SPDX-License-Identifier: Apache-2.0
// Settings of topics and brokers, read and changed while they run (declared in topic.h). The
// request that old librdkafka knows replaces all settings at once, so the ones that were set are
// read first and sent again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/admin.h"
#include "tests/harness/base.h"
#include "tests/harness/client.h"
#include "tests/harness/topic.h"

enum { VISIBLE_TIMEOUT_MS = 10000 };

struct question {
    rd_kafka_ResourceType_t kind;
    const char *resource;
    const char *name;                // the setting to read
    rd_kafka_ConfigResource_t *next; // gets what was set dynamically; may be NULL
    char *value;                     // the answer
};

static void ask_describe(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                         rd_kafka_queue_t *queue, const void *request)
{
    const struct question *question = request;
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(question->kind, question->resource);
    rd_kafka_DescribeConfigs(admin, &resource, 1, options, queue);
    rd_kafka_ConfigResource_destroy(resource);
}

static void read_entry(struct question *question, const rd_kafka_ConfigEntry_t *entry)
{
    const char *name = rd_kafka_ConfigEntry_name(entry);
    const char *value = rd_kafka_ConfigEntry_value(entry);
    if (value == NULL) {
        return;
    }
    if (strcmp(name, question->name) == 0) {
        free(question->value);
        question->value = weir_test_format("%s", value);
        return;
    }
    rd_kafka_ConfigSource_t set = question->kind == RD_KAFKA_RESOURCE_TOPIC
                                      ? RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG
                                      : RD_KAFKA_CONFIG_SOURCE_DYNAMIC_BROKER_CONFIG;
    if (question->next != NULL && rd_kafka_ConfigEntry_source(entry) == set) {
        rd_kafka_ConfigResource_set_config(question->next, name, value);
    }
}

static rd_kafka_resp_err_t read_described(rd_kafka_event_t *event, void *answer)
{
    size_t count;
    const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    if (count != 1) {
        return RD_KAFKA_RESP_ERR__FAIL;
    }
    rd_kafka_resp_err_t code = rd_kafka_ConfigResource_error(resources[0]);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        size_t entry_count;
        const rd_kafka_ConfigEntry_t **entries =
            rd_kafka_ConfigResource_configs(resources[0], &entry_count);
        for (size_t i = 0; i < entry_count; i++) {
            read_entry(answer, entries[i]);
        }
    }
    return code;
}

static void describe(rd_kafka_t *admin, struct question *question)
{
    rd_kafka_resp_err_t code = weir_test_admin_call(
        admin, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, ask_describe, question, read_described, question);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        WEIR_TEST_FAIL("cannot read the settings of %s: %s", question->resource,
                       rd_kafka_err2name(code));
    }
}

static char *get(const char *bootstrap, rd_kafka_ResourceType_t kind, const char *resource,
                 const char *name)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    struct question question = {.kind = kind, .resource = resource, .name = name};
    describe(admin, &question);
    rd_kafka_destroy(admin);
    return question.value;
}

static void ask_alter(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                      rd_kafka_queue_t *queue, const void *request)
{
    rd_kafka_ConfigResource_t *resources[] = {(rd_kafka_ConfigResource_t *)(uintptr_t)request};
    rd_kafka_AlterConfigs(admin, resources, 1, options, queue);
}

static rd_kafka_resp_err_t read_altered(rd_kafka_event_t *event, void *answer)
{
    (void)answer;
    size_t count;
    const rd_kafka_ConfigResource_t **resources =
        rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count);
    return count == 1 ? rd_kafka_ConfigResource_error(resources[0]) : RD_KAFKA_RESP_ERR__FAIL;
}

static void set(const char *bootstrap, rd_kafka_ResourceType_t kind, const char *resource,
                const char *name, const char *value)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    rd_kafka_ConfigResource_t *request = rd_kafka_ConfigResource_new(kind, resource);
    struct question question = {.kind = kind, .resource = resource, .name = name, .next = request};
    describe(admin, &question);
    free(question.value);
    if (value != NULL) {
        rd_kafka_ConfigResource_set_config(request, name, value);
    }
    rd_kafka_resp_err_t code = weir_test_admin_call(admin, RD_KAFKA_ADMIN_OP_ALTERCONFIGS,
                                                    ask_alter, request, read_altered, NULL);
    rd_kafka_ConfigResource_destroy(request);
    rd_kafka_destroy(admin);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        WEIR_TEST_FAIL("cannot set %s of %s: %s", name, resource, rd_kafka_err2name(code));
    }
    int64_t deadline_ms = weir_test_now_ms() + VISIBLE_TIMEOUT_MS;
    for (bool is_seen = value == NULL; !is_seen; weir_test_sleep_ms(10)) {
        char *now = get(bootstrap, kind, resource, name);
        is_seen = now != NULL && strcmp(now, value) == 0;
        free(now);
        if (!is_seen && weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("%s of %s does not become %s", name, resource, value);
        }
    }
}

void weir_test_topic_set(const char *bootstrap, const char *topic, const char *name,
                         const char *value)
{
    set(bootstrap, RD_KAFKA_RESOURCE_TOPIC, topic, name, value);
}

void weir_test_broker_set(const char *bootstrap, int node_id, const char *name, const char *value)
{
    char resource[16];
    snprintf(resource, sizeof(resource), "%d", node_id);
    set(bootstrap, RD_KAFKA_RESOURCE_BROKER, resource, name, value);
}

char *weir_test_topic_get(const char *bootstrap, const char *topic, const char *name)
{
    return get(bootstrap, RD_KAFKA_RESOURCE_TOPIC, topic, name);
}

char *weir_test_broker_get(const char *bootstrap, int node_id, const char *name)
{
    char resource[16];
    snprintf(resource, sizeof(resource), "%d", node_id);
    return get(bootstrap, RD_KAFKA_RESOURCE_BROKER, resource, name);
}
