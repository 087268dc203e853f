// SPDX-License-Identifier: Apache-2.0
//
// What aggregates have written: rows, and the sum of a field over all of them or, for rows that
// replace each other, over the last row of each key. A sum that is the number of input events says
// that none was lost and none counted twice.
//
//   tally --brokers B --topic T --field n                    append-only rows
//   tally --brokers B --topic T --field n --key k --keys K   keys are the numbers 0 to K-1
//
// Reads up to the end seen at start; one JSON line. Thread: the main thread.
#include "client.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1024, NAME_BYTES_MAX = 64, VALUE_BYTES_MAX = 512 };

struct tally {
    const char *field;
    const char *key;
    int64_t key_count;
    int64_t *last; // by key; NULL: append-only
    int64_t rows;
    int64_t sum;
};

// The number behind "name": in a flat JSON object.
static int64_t number_of(const rd_kafka_message_t *message, const char *name)
{
    char text[VALUE_BYTES_MAX];
    char pattern[NAME_BYTES_MAX + 4];
    size_t length = message->len < sizeof text ? message->len : sizeof text - 1;
    memcpy(text, message->payload, length);
    text[length] = '\0';
    snprintf(pattern, sizeof pattern, "\"%s\":", name);
    const char *at = strstr(text, pattern);
    if (at == NULL) {
        weir_bench_die("no %s in %s", name, text);
    }
    return strtoll(at + strlen(pattern), NULL, 10);
}

static void take(struct tally *tally, const rd_kafka_message_t *message)
{
    int64_t value = number_of(message, tally->field);
    tally->rows++;
    tally->sum += value;
    if (tally->last != NULL) {
        int64_t key = number_of(message, tally->key);
        if (key < 0 || key >= tally->key_count) {
            weir_bench_die("key %lld", (long long)key);
        }
        tally->sum -= tally->last[key];
        tally->last[key] = value;
    }
}

static void read_all(struct tally *tally, const char *brokers, const char *topic)
{
    rd_kafka_t *consumer =
        weir_bench_consumer_create(brokers, "weir-bench-tally", &(struct weir_bench_settings){0});
    int32_t partition_count = weir_bench_partition_count(consumer, topic);
    struct weir_bench_partition *partitions =
        weir_bench_partitions(consumer, topic, partition_count);
    rd_kafka_queue_t *queue =
        weir_bench_assign(consumer, topic, partitions, partition_count, 0, 1);
    bool *is_read = calloc((size_t)partition_count, sizeof(*is_read));
    rd_kafka_message_t *messages[ROWS_MAX];
    for (int32_t unread = partition_count; unread > 0;) {
        ssize_t count = rd_kafka_consume_batch_queue(queue, 5, messages, ROWS_MAX);
        for (ssize_t i = 0; i < count; i++) {
            const rd_kafka_message_t *message = messages[i];
            if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
                if (message->offset >= partitions[message->partition].end &&
                    !is_read[message->partition]) {
                    is_read[message->partition] = true;
                    unread--;
                }
            } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                weir_bench_die("consume: %s", rd_kafka_message_errstr(message));
            } else {
                take(tally, message);
            }
            rd_kafka_message_destroy(messages[i]);
        }
    }
    free(is_read);
    free(partitions);
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
}

int main(int argc, char **argv)
{
    struct tally tally = {0};
    const char *brokers = NULL;
    const char *topic = NULL;
    const struct weir_bench_option table[] = {
        {"--brokers", WEIR_BENCH_TEXT, &brokers, "bootstrap servers"},
        {"--topic", WEIR_BENCH_TEXT, &topic, "topic to read"},
        {"--field", WEIR_BENCH_TEXT, &tally.field, "number to add up"},
        {"--key", WEIR_BENCH_TEXT, &tally.key, "only the last row of each of these"},
        {"--keys", WEIR_BENCH_NUMBER, &tally.key_count, "how many keys there are"},
    };
    weir_bench_parse(argc, argv, table, sizeof(table) / sizeof(*table), NULL, 0);
    if (topic == NULL || tally.field == NULL || (tally.key != NULL) != (tally.key_count > 0)) {
        weir_bench_die("--topic or --field missing, or --key without --keys");
    }
    if (tally.key != NULL) {
        tally.last = calloc((size_t)tally.key_count, sizeof(*tally.last));
    }
    read_all(&tally, brokers, topic);
    printf("{\"program\":\"tally\",\"rows\":%lld,\"sum\":%lld}\n", (long long)tally.rows,
           (long long)tally.sum);
    free(tally.last);
    return 0;
}
