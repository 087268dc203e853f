// SPDX-License-Identifier: Apache-2.0
// Topics: see the header.
#include "tests/harness/topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/admin.h"
#include "tests/harness/base.h"
#include "tests/harness/client.h"

enum { VISIBLE_TIMEOUT_MS = 30000, SERVER_COUNT_MAX = 16 };

static void check(rd_kafka_resp_err_t code, const char *what, const char *topic)
{
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        WEIR_TEST_FAIL("cannot %s the topic %s: %s", what, topic, rd_kafka_err2name(code));
    }
}

// How many partitions with a leader one broker knows of; 0: it knows no such topic; -1: no answer.
static int32_t look(rd_kafka_t *handle, const char *topic)
{
    const struct rd_kafka_metadata *metadata = weir_test_client_metadata(handle, topic, 1000);
    if (metadata == NULL) {
        return -1;
    }
    const struct rd_kafka_metadata_topic *found = &metadata->topics[0];
    int32_t count = 0;
    for (int i = 0; found->err == RD_KAFKA_RESP_ERR_NO_ERROR && i < found->partition_cnt; i++) {
        count += found->partitions[i].leader >= 0;
    }
    rd_kafka_metadata_destroy(metadata);
    return count;
}

// Each broker learns of a change by itself. A dead one is not waited for.
static void wait_visible(const char *bootstrap, const char *topic, int32_t partition_count)
{
    char *servers = weir_test_format("%s", bootstrap);
    char *rest = servers;
    for (char *server; (server = strsep(&rest, ",")) != NULL;) {
        const char *colon = strrchr(server, ':');
        if (colon == NULL || !weir_test_port_answers(atoi(colon + 1))) {
            continue;
        }
        // Sparse connections keep a handle with one bootstrap server at that server until it learns
        // of others, and it is asked once at a time.
        int64_t deadline_ms = weir_test_now_ms() + VISIBLE_TIMEOUT_MS;
        int32_t count;
        do {
            rd_kafka_t *handle = weir_test_client_create_plain(server);
            count = look(handle, topic);
            rd_kafka_destroy(handle);
            if (count == -1) {
                break; // frozen, or gone meanwhile
            }
            if (weir_test_now_ms() >= deadline_ms) {
                WEIR_TEST_FAIL("%s sees %d of %d partitions of %s", server, count, partition_count,
                               topic);
            }
            if (count != partition_count) {
                weir_test_sleep_ms(20);
            }
        } while (count != partition_count);
    }
    free(servers);
}

static void ask_create(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                       rd_kafka_queue_t *queue, const void *request)
{
    rd_kafka_NewTopic_t *topics[] = {(rd_kafka_NewTopic_t *)(uintptr_t)request};
    rd_kafka_CreateTopics(admin, topics, 1, options, queue);
}

static rd_kafka_resp_err_t topic_error(const rd_kafka_topic_result_t **results, size_t count)
{
    return count == 1 ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR__FAIL;
}

static rd_kafka_resp_err_t read_created(rd_kafka_event_t *event, void *answer)
{
    (void)answer;
    size_t count;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    return topic_error(results, count);
}

void weir_test_topic_create(const char *bootstrap, const char *topic, int32_t partition_count,
                            const char *const *settings)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    char text[256];
    rd_kafka_NewTopic_t *request =
        rd_kafka_NewTopic_new(topic, partition_count, -1, text, sizeof(text));
    if (request == NULL) {
        WEIR_TEST_FAIL("%s", text);
    }
    for (size_t i = 0; settings != NULL && settings[i] != NULL; i += 2) {
        rd_kafka_NewTopic_set_config(request, settings[i], settings[i + 1]);
    }
    rd_kafka_resp_err_t code = weir_test_admin_call(admin, RD_KAFKA_ADMIN_OP_CREATETOPICS,
                                                    ask_create, request, read_created, NULL);
    rd_kafka_NewTopic_destroy(request);
    rd_kafka_destroy(admin);
    check(code, "create", topic);
    wait_visible(bootstrap, topic, partition_count);
}

static void ask_delete(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                       rd_kafka_queue_t *queue, const void *topic)
{
    rd_kafka_DeleteTopic_t *request = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_DeleteTopics(admin, &request, 1, options, queue);
    rd_kafka_DeleteTopic_destroy(request);
}

static rd_kafka_resp_err_t read_deleted(rd_kafka_event_t *event, void *answer)
{
    (void)answer;
    size_t count;
    const rd_kafka_topic_result_t **results =
        rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
    return topic_error(results, count);
}

void weir_test_topic_delete(const char *bootstrap, const char *topic)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    rd_kafka_resp_err_t code = weir_test_admin_call(admin, RD_KAFKA_ADMIN_OP_DELETETOPICS,
                                                    ask_delete, topic, read_deleted, NULL);
    rd_kafka_destroy(admin);
    check(code, "delete", topic);
    wait_visible(bootstrap, topic, 0);
}

int32_t weir_test_topic_partition_count(const char *bootstrap, const char *topic)
{
    rd_kafka_t *handle = weir_test_client_create_plain(bootstrap);
    int32_t count = weir_test_client_partition_count(handle, topic);
    rd_kafka_destroy(handle);
    return count;
}

static void ask_grow(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                     rd_kafka_queue_t *queue, const void *request)
{
    rd_kafka_NewPartitions_t *topics[] = {(rd_kafka_NewPartitions_t *)(uintptr_t)request};
    rd_kafka_CreatePartitions(admin, topics, 1, options, queue);
}

static rd_kafka_resp_err_t read_grown(rd_kafka_event_t *event, void *answer)
{
    (void)answer;
    size_t count;
    const rd_kafka_topic_result_t **results = rd_kafka_CreatePartitions_result_topics(
        rd_kafka_event_CreatePartitions_result(event), &count);
    return topic_error(results, count);
}

void weir_test_topic_grow(const char *bootstrap, const char *topic, int32_t partition_count)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    char text[256];
    rd_kafka_NewPartitions_t *request =
        rd_kafka_NewPartitions_new(topic, (size_t)partition_count, text, sizeof(text));
    if (request == NULL) {
        WEIR_TEST_FAIL("%s", text);
    }
    rd_kafka_resp_err_t code = weir_test_admin_call(admin, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS,
                                                    ask_grow, request, read_grown, NULL);
    rd_kafka_NewPartitions_destroy(request);
    rd_kafka_destroy(admin);
    check(code, "enlarge", topic);
    wait_visible(bootstrap, topic, partition_count);
}

static void ask_cut(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                    rd_kafka_queue_t *queue, const void *list)
{
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(admin, &request, 1, options, queue);
    rd_kafka_DeleteRecords_destroy(request);
}

static rd_kafka_resp_err_t read_cut(rd_kafka_event_t *event, void *answer)
{
    (void)answer;
    const rd_kafka_topic_partition_list_t *list =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
    return list->cnt == 1 ? list->elems[0].err : RD_KAFKA_RESP_ERR__FAIL;
}

void weir_test_topic_delete_records(const char *bootstrap, const char *topic, int32_t partition,
                                    int64_t before_offset)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = before_offset;
    rd_kafka_resp_err_t code =
        weir_test_admin_call(admin, RD_KAFKA_ADMIN_OP_DELETERECORDS, ask_cut, list, read_cut, NULL);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(admin);
    check(code, "delete records of", topic);
}

static void query_offsets(const char *bootstrap, const char *topic, int32_t partition,
                          const char *isolation, int64_t *first, int64_t *end)
{
    const char *settings[] = {"group.id", "weir-test-harness", "isolation.level", isolation, NULL};
    rd_kafka_t *handle =
        weir_test_client_create(RD_KAFKA_CONSUMER, bootstrap, settings, NULL, NULL);
    weir_test_client_offsets(handle, topic, partition, first, end);
    rd_kafka_destroy(handle);
}

int64_t weir_test_topic_first_offset(const char *bootstrap, const char *topic, int32_t partition)
{
    int64_t first;
    int64_t end;
    query_offsets(bootstrap, topic, partition, "read_uncommitted", &first, &end);
    return first;
}

int64_t weir_test_topic_end_offset(const char *bootstrap, const char *topic, int32_t partition)
{
    int64_t first;
    int64_t end;
    query_offsets(bootstrap, topic, partition, "read_uncommitted", &first, &end);
    return end;
}

int64_t weir_test_topic_stable_offset(const char *bootstrap, const char *topic, int32_t partition)
{
    int64_t first;
    int64_t end;
    query_offsets(bootstrap, topic, partition, "read_committed", &first, &end);
    return end;
}
