// SPDX-License-Identifier: Apache-2.0
//
// Bare consuming: what reading the input alone costs, with the settings and the calls that weir
// uses. Reads every partition up to the end seen at start and ends; one JSON line.
//
// Thread: one a task, each with its own consumer handle and the partitions p with p mod tasks =
// task.
#include "client.h"
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MAX = 64 };

struct reader {
    pthread_t thread;
    int index;
    rd_kafka_t *consumer;
    rd_kafka_queue_t *queue;
    const struct read_options *options;
    const struct weir_bench_partition *partitions;
    bool *is_read;  // by partition
    int64_t unread; // partitions of this task that have not reached their end
    int64_t events;
    int64_t bytes;
    int64_t cpu_us;
    int64_t longest_wait_us;
};

struct read_options {
    const char *brokers;
    const char *topic;
    const char *form;
    int64_t task_count;
    int64_t batch_rows;
    int64_t timeout_ms;
    struct weir_bench_settings settings;
};

// Counts the message and gives it back.
static void take(struct reader *reader, rd_kafka_message_t *message)
{
    const struct weir_bench_partition *partition = &reader->partitions[message->partition];
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        // Not the last message's offset: the last offsets may be transaction markers.
        if (message->offset >= partition->end && !reader->is_read[message->partition]) {
            reader->is_read[message->partition] = true;
            reader->unread--;
        }
    } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("consume: %s", rd_kafka_message_errstr(message));
    } else {
        reader->events++;
        reader->bytes += (int64_t)message->len;
    }
    rd_kafka_message_destroy(message);
}

static void read_batches(struct reader *reader)
{
    size_t rows = (size_t)reader->options->batch_rows;
    rd_kafka_message_t **messages = calloc(rows, sizeof(*messages));
    while (reader->unread > 0) {
        int64_t start_us = weir_bench_monotonic_us();
        ssize_t count = rd_kafka_consume_batch_queue(
            reader->queue, (int)reader->options->timeout_ms, messages, rows);
        int64_t wait_us = weir_bench_monotonic_us() - start_us;
        if (wait_us > reader->longest_wait_us) {
            reader->longest_wait_us = wait_us;
        }
        for (ssize_t i = 0; i < count; i++) {
            take(reader, messages[i]);
        }
    }
    free(messages);
}

static void read_single(struct reader *reader)
{
    while (reader->unread > 0) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(reader->consumer, 100);
        if (message != NULL) {
            take(reader, message);
        }
    }
}

static void *run_reader(void *opaque)
{
    struct reader *reader = opaque;
    if (strcmp(reader->options->form, "poll") == 0) {
        read_single(reader);
    } else {
        read_batches(reader);
    }
    reader->cpu_us = weir_bench_thread_cpu_us();
    return NULL;
}

static void report(const struct read_options *options, const struct reader *readers, double wall_s)
{
    int64_t events = 0;
    int64_t bytes = 0;
    int64_t task_us = 0;
    int64_t longest_us = 0;
    for (int64_t i = 0; i < options->task_count; i++) {
        events += readers[i].events;
        bytes += readers[i].bytes;
        task_us += readers[i].cpu_us;
        longest_us =
            readers[i].longest_wait_us > longest_us ? readers[i].longest_wait_us : longest_us;
    }
    struct weir_bench_usage usage = weir_bench_usage_now();
    double cpu_s = (double)(usage.user_us + usage.system_us) / 1e6;
    double count = (double)(events > 0 ? events : 1);
    printf("{\"program\":\"rawread\",\"form\":\"%s\",\"tasks\":%lld,\"events\":%lld,"
           "\"bytes_per_event\":%.1f,\"wall_s\":%.3f,\"user_s\":%.3f,\"system_s\":%.3f,"
           "\"cpu_s\":%.3f,\"events_per_cpu_s\":%.0f,\"ns_per_event\":%.0f,"
           "\"task_ns_per_event\":%.0f,\"longest_wait_ms\":%.1f,\"peak_rss_kib\":%lld,"
           "\"librdkafka\":\"%s\"}\n",
           options->form, (long long)options->task_count, (long long)events, (double)bytes / count,
           wall_s, (double)usage.user_us / 1e6, (double)usage.system_us / 1e6, cpu_s,
           (double)events / cpu_s, cpu_s * 1e9 / count, (double)task_us * 1000 / count,
           (double)longest_us / 1000, (long long)usage.peak_rss_kib, rd_kafka_version_str());
}

int main(int argc, char **argv)
{
    struct read_options options = {
        .form = "batch", .task_count = 2, .batch_rows = 1024, .timeout_ms = 5};
    const struct weir_bench_option table[] = {
        {"--brokers", WEIR_BENCH_TEXT, &options.brokers, "bootstrap servers"},
        {"--topic", WEIR_BENCH_TEXT, &options.topic, "topic to read"},
        {"--form", WEIR_BENCH_TEXT, &options.form, "batch (consume_batch_queue) or poll"},
        {"--tasks", WEIR_BENCH_NUMBER, &options.task_count, "consumer handles, a thread each (2)"},
        {"--batch", WEIR_BENCH_NUMBER, &options.batch_rows, "rows wanted by one call (1024)"},
        {"--timeout-ms", WEIR_BENCH_NUMBER, &options.timeout_ms, "of one call (5)"},
        {"-X", WEIR_BENCH_SETTINGS, &options.settings, "property of the consumers"},
    };
    weir_bench_parse(argc, argv, table, sizeof(table) / sizeof(*table), NULL, 0);
    bool is_known = strcmp(options.form, "batch") == 0 || strcmp(options.form, "poll") == 0;
    if (options.topic == NULL || !is_known || options.task_count < 1 ||
        options.task_count > TASKS_MAX || options.batch_rows < 1) {
        weir_bench_die("--topic missing, or --form, --tasks or --batch out of range");
    }
    static struct reader readers[TASKS_MAX];
    int64_t start_us = weir_bench_monotonic_us();
    int32_t partition_count = 0;
    struct weir_bench_partition *partitions = NULL;
    for (int i = 0; i < (int)options.task_count; i++) {
        struct reader *reader = &readers[i];
        reader->index = i;
        reader->options = &options;
        reader->consumer =
            weir_bench_consumer_create(options.brokers, "weir-bench-rawread", &options.settings);
        if (i == 0) {
            partition_count = weir_bench_partition_count(reader->consumer, options.topic);
            partitions = weir_bench_partitions(reader->consumer, options.topic, partition_count);
        }
        reader->partitions = partitions;
        reader->is_read = calloc((size_t)partition_count, sizeof(*reader->is_read));
        for (int32_t p = i; p < partition_count; p += (int32_t)options.task_count) {
            reader->unread++;
        }
        reader->queue = weir_bench_assign(reader->consumer, options.topic, partitions,
                                          partition_count, i, (int)options.task_count);
    }
    for (int i = 0; i < (int)options.task_count; i++) {
        pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]);
    }
    for (int i = 0; i < (int)options.task_count; i++) {
        pthread_join(readers[i].thread, NULL);
    }
    report(&options, readers, (double)(weir_bench_monotonic_us() - start_us) / 1e6);
    for (int i = 0; i < (int)options.task_count; i++) {
        free(readers[i].is_read);
        rd_kafka_queue_destroy(readers[i].queue);
        rd_kafka_consumer_close(readers[i].consumer);
        rd_kafka_destroy(readers[i].consumer);
    }
    free(partitions);
    return 0;
}
