// SPDX-License-Identifier: Apache-2.0
//
// When the next committed row of a topic can be read: what a reader waits for while a job recovers.
//
//   firstrow --brokers B --topic T [--timeout-s S]
//
// Prints "ready" once it stands at the end that read_committed readers see, and, when the first row
// behind it has come, one JSON line with the wall clock. Thread: the main thread.
#include "client.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { POLL_MS = 100 };

// From the end of each partition on.
static void assign_ends(rd_kafka_t *consumer, const char *topic)
{
    int32_t count = weir_bench_partition_count(consumer, topic);
    struct weir_bench_partition *partitions = weir_bench_partitions(consumer, topic, count);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int32_t i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = partitions[i].end;
    }
    rd_kafka_resp_err_t code = rd_kafka_assign(consumer, list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("assign: %s", rd_kafka_err2str(code));
    }
    rd_kafka_topic_partition_list_destroy(list);
    free(partitions);
}

int main(int argc, char **argv)
{
    const char *brokers = NULL;
    const char *topic = NULL;
    int64_t timeout_s = 120;
    const struct weir_bench_option options[] = {
        {"--brokers", WEIR_BENCH_TEXT, &brokers, "bootstrap servers"},
        {"--topic", WEIR_BENCH_TEXT, &topic, "to be read"},
        {"--timeout-s", WEIR_BENCH_NUMBER, &timeout_s, "give up after so long (120)"},
    };
    weir_bench_parse(argc, argv, options, 3, NULL, 0);
    if (topic == NULL) {
        weir_bench_die("--topic is missing");
    }
    // A broker holds a fetch back until there is something; a commit does not always wake it.
    const struct weir_bench_settings settings = {.count = 1,
                                                 .assignments = {"fetch.wait.max.ms=5"}};
    rd_kafka_t *consumer = weir_bench_consumer_create(brokers, "weir-bench-firstrow", &settings);
    assign_ends(consumer, topic);
    printf("ready\n");
    fflush(stdout);
    int64_t deadline_us = weir_bench_monotonic_us() + timeout_s * 1000000;
    bool is_there = false;
    while (!is_there && weir_bench_monotonic_us() < deadline_us) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, POLL_MS);
        if (message != NULL && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            is_there = true;
            printf("{\"first_row_ms\":%lld,\"partition\":%d,\"offset\":%lld}\n",
                   (long long)weir_bench_realtime_ms(), (int)message->partition,
                   (long long)message->offset);
        }
        if (message != NULL) {
            rd_kafka_message_destroy(message);
        }
    }
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return is_there ? 0 : 1;
}
