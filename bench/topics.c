// SPDX-License-Identifier: Apache-2.0
//
// Topics for a measured run: make, delete, show. A program of its own because the broker's tools
// start a virtual machine for each call, which would burn more CPU than some runs.
//
//   topics --brokers B create NAME PARTITIONS    an existing one is an error
//   topics --brokers B delete NAME               a missing one is not
//   topics --brokers B show NAME                 partitions and records, one JSON line
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 30000 };

static rd_kafka_event_t *wait_for_result(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
    if (event == NULL || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("%s: %s", what,
                       event == NULL ? "no answer" : rd_kafka_event_error_string(event));
    }
    return event;
}

static void check_topic(const rd_kafka_topic_result_t *result, rd_kafka_resp_err_t tolerated)
{
    rd_kafka_resp_err_t code = rd_kafka_topic_result_error(result);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && code != tolerated) {
        weir_bench_die("%s: %s", rd_kafka_topic_result_name(result), rd_kafka_err2str(code));
    }
}

static void create_topic(rd_kafka_t *handle, rd_kafka_queue_t *queue, const char *name,
                         const char *partition_count)
{
    char text[256];
    int64_t partitions = weir_bench_parse_number(partition_count, "partitions");
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(name, (int)partitions, 1, text, sizeof(text));
    if (topic == NULL) {
        weir_bench_die("%s", text);
    }
    // Event times lie in the past: ordinary retention would delete the rows under the reader.
    rd_kafka_NewTopic_set_config(topic, "retention.ms", "-1");
    rd_kafka_CreateTopics(handle, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = wait_for_result(queue, name);
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    check_topic(results[0], RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
    weir_bench_partition_count(handle, name); // until it can be used
}

static void delete_topic(rd_kafka_t *handle, rd_kafka_queue_t *queue, const char *name)
{
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
    rd_kafka_DeleteTopics(handle, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = wait_for_result(queue, name);
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
    check_topic(results[0], RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteTopic_destroy(topic);
}

static void show_topic(rd_kafka_t *handle, const char *name)
{
    int32_t partition_count = weir_bench_partition_count(handle, name);
    struct weir_bench_partition *partitions = weir_bench_partitions(handle, name, partition_count);
    int64_t offsets = 0;
    for (int32_t i = 0; i < partition_count; i++) {
        offsets += partitions[i].end - partitions[i].first;
    }
    printf("{\"topic\":\"%s\",\"partitions\":%d,\"offsets\":%lld}\n", name, (int)partition_count,
           (long long)offsets);
    free(partitions);
}

int main(int argc, char **argv)
{
    const char *brokers = NULL;
    const struct weir_bench_option options[] = {
        {"--brokers", WEIR_BENCH_TEXT, &brokers, "bootstrap servers"},
    };
    const char *arguments[3];
    size_t count = weir_bench_parse(argc, argv, options, 1, arguments, 3);
    if (count < 2) {
        weir_bench_die("create NAME PARTITIONS, delete NAME or show NAME wanted");
    }
    rd_kafka_t *handle = weir_bench_consumer_create(brokers, "weir-bench-topics", NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    if (strcmp(arguments[0], "create") == 0 && count == 3) {
        create_topic(handle, queue, arguments[1], arguments[2]);
    } else if (strcmp(arguments[0], "delete") == 0) {
        delete_topic(handle, queue, arguments[1]);
    } else if (strcmp(arguments[0], "show") == 0) {
        show_topic(handle, arguments[1]);
    } else {
        weir_bench_die("unknown command %s", arguments[0]);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(handle);
    return 0;
}
