// SPDX-License-Identifier: Apache-2.0
//
// Checks an output topic row by row: what a read_committed reader sees must be each expected row
// exactly once, byte for byte, and in the order of its source partition. The expected rows are made
// anew from the generator's seed; nothing is sampled, summed up or hashed.
//
//   verify --brokers B --topic T --events N --partitions P --rows q0
//
// P: partitions of the input (event n is in partition n mod P). Rows of source partition p are in
// output partition p mod the output's partitions. Prints one JSON line; ends with 0 if all is well,
// with 1 if not (the first faults on standard error), with 2 if it could not check.
//
// Each source partition has a cursor: the next event that must appear. A row must be the one of a
// cursor of its output partition. If it is none, events around the cursors are searched, so that
// the fault can be named: a gap (a later event), a duplicate or an overtaken row (an earlier one),
// or a row that no event gives.
//
// With --latency the wall clock of receipt minus the record's timestamp is kept as well, for runs
// of `nexgen paced`; it then waits for the rows of N events instead of reading up to the end.
#include "client.h"
#include "measure.h"
#include "verify_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOURCES_MAX = 512,
    FAULTS_SHOWN = 10,
    FAULTS_MAX = 100,       // rows that do not fit, each searched for; then no more is read
    SEARCH_EVENTS = 200000, // how far around a cursor a row is looked for
    BATCH_ROWS = 10000,
    STALLED_US = 60000000,
    LATENCIES_MAX = 1 << 22,
};

struct cursor {
    int64_t number; // next event to appear; beyond the last: none
    int64_t time_ms;
    size_t length;
    char row[WEIR_NEXMARK_JSON_BYTES_MAX];
};

struct checker {
    struct weir_nexmark *generator;
    struct verify_rows rows;
    int64_t event_count;
    int32_t source_count;
    int32_t output_count;
    bool checks_timestamps;
    struct cursor cursors[SOURCES_MAX];
    int64_t good;
    int64_t missing;
    int64_t repeated; // duplicates, or rows behind a later one
    int64_t unknown;
    int64_t wrong_timestamps;
    int64_t bytes;
};

struct verify_options {
    const char *brokers;
    const char *topic;
    const char *rows_name;
    const char *filter;
    struct weir_nexmark_config config;
    int64_t seed;
    int64_t event_count;
    int64_t source_count;
    int64_t cut_bytes;
    bool timestamps;
    bool latency;
    struct weir_bench_settings settings;
};

// Moves the cursor to the first event from `number` on that has a row.
static void seek(const struct checker *checker, struct cursor *cursor, int64_t number)
{
    struct weir_nexmark_event event;
    for (; number < checker->event_count; number += checker->source_count) {
        bool is_bid = weir_nexmark_kind_of(checker->generator, number) == WEIR_NEXMARK_BID;
        if (is_bid || checker->rows.shape == VERIFY_EVENTS) {
            weir_nexmark_make(checker->generator, number, &event);
            if (verify_rows_has(&checker->rows, &event)) {
                cursor->time_ms = event.time_ms;
                cursor->length = verify_rows_write(&checker->rows, &event, cursor->row);
                break;
            }
        }
    }
    cursor->number = number;
}

static bool is_row(const struct checker *checker, const struct cursor *cursor,
                   const rd_kafka_message_t *message)
{
    return cursor->number < checker->event_count && cursor->length == message->len &&
           memcmp(cursor->row, message->payload, message->len) == 0;
}

static void show_fault(const struct checker *checker, const rd_kafka_message_t *message,
                       const char *what, int64_t number)
{
    if (checker->missing + checker->repeated + checker->unknown + checker->wrong_timestamps <
        FAULTS_SHOWN) {
        fprintf(stderr, "verify: partition %d offset %lld: %s (event %lld): %.*s\n",
                (int)message->partition, (long long)message->offset, what, (long long)number,
                (int)message->len, (const char *)message->payload);
    }
}

// Looks for the row after the cursor; if it is there, what lies between is missing.
static bool find_later(struct checker *checker, struct cursor *cursor,
                       const rd_kafka_message_t *message)
{
    struct cursor probe = *cursor;
    int64_t skipped = 0;
    while (probe.number < checker->event_count && probe.number - cursor->number < SEARCH_EVENTS) {
        if (is_row(checker, &probe, message)) {
            show_fault(checker, message, "rows are missing before this one", probe.number);
            checker->missing += skipped;
            checker->good++;
            seek(checker, cursor, probe.number + checker->source_count);
            return true;
        }
        skipped++;
        seek(checker, &probe, probe.number + checker->source_count);
    }
    return false;
}

static bool find_earlier(struct checker *checker, int32_t source, const struct cursor *cursor,
                         const rd_kafka_message_t *message)
{
    struct cursor probe = {0};
    int64_t from = cursor->number - SEARCH_EVENTS;
    from = from < 0 ? source : from - from % checker->source_count + source;
    seek(checker, &probe, from);
    while (probe.number < cursor->number) {
        if (is_row(checker, &probe, message)) {
            show_fault(checker, message, "a row that was there before, or comes too late",
                       probe.number);
            checker->repeated++;
            return true;
        }
        seek(checker, &probe, probe.number + checker->source_count);
    }
    return false;
}

static void diagnose(struct checker *checker, const rd_kafka_message_t *message)
{
    for (int32_t s = message->partition; s < checker->source_count; s += checker->output_count) {
        if (find_later(checker, &checker->cursors[s], message) ||
            find_earlier(checker, s, &checker->cursors[s], message)) {
            return;
        }
    }
    show_fault(checker, message, "no event gives this row",
               checker->cursors[message->partition % checker->source_count].number);
    checker->unknown++;
}

static void check_row(struct checker *checker, const rd_kafka_message_t *message)
{
    checker->bytes += (int64_t)message->len;
    for (int32_t s = message->partition; s < checker->source_count; s += checker->output_count) {
        struct cursor *cursor = &checker->cursors[s];
        if (!is_row(checker, cursor, message)) {
            continue;
        }
        if (checker->checks_timestamps &&
            rd_kafka_message_timestamp(message, NULL) != cursor->time_ms) {
            show_fault(checker, message, "the timestamp is not the event time", cursor->number);
            checker->wrong_timestamps++;
        }
        checker->good++;
        seek(checker, cursor, cursor->number + checker->source_count);
        return;
    }
    diagnose(checker, message);
}

// What the cursors have not reached never came.
static void count_rest(struct checker *checker)
{
    for (int32_t s = 0; s < checker->source_count; s++) {
        struct cursor *cursor = &checker->cursors[s];
        while (cursor->number < checker->event_count) {
            if (checker->missing < FAULTS_SHOWN) {
                fprintf(stderr, "verify: source partition %d: event %lld never came\n", (int)s,
                        (long long)cursor->number);
            }
            checker->missing++;
            seek(checker, cursor, cursor->number + checker->source_count);
        }
    }
}

static bool is_complete(const struct checker *checker)
{
    for (int32_t s = 0; s < checker->source_count; s++) {
        if (checker->cursors[s].number < checker->event_count) {
            return false;
        }
    }
    return true;
}

struct latencies {
    size_t count;
    int64_t *values_ms;
};

// The ends with everything that is not yet visible. commit_transaction() returns before the broker
// has written the markers; a reader that asked for the visible end then would miss committed rows.
static struct weir_bench_partition *find_ends(const struct verify_options *options,
                                              int32_t partition_count)
{
    static const struct weir_bench_settings uncommitted = {
        .count = 1, .assignments = {"isolation.level=read_uncommitted"}};
    rd_kafka_t *consumer =
        weir_bench_consumer_create(options->brokers, "weir-bench-verify", &uncommitted);
    struct weir_bench_partition *partitions =
        weir_bench_partitions(consumer, options->topic, partition_count);
    rd_kafka_destroy(consumer);
    return partitions;
}

static void read_topic(struct checker *checker, const struct verify_options *options,
                       struct latencies *latencies)
{
    rd_kafka_t *consumer =
        weir_bench_consumer_create(options->brokers, "weir-bench-verify", &options->settings);
    checker->output_count = weir_bench_partition_count(consumer, options->topic);
    struct weir_bench_partition *partitions = find_ends(options, checker->output_count);
    rd_kafka_queue_t *queue =
        weir_bench_assign(consumer, options->topic, partitions, checker->output_count, 0, 1);
    rd_kafka_message_t **messages = calloc(BATCH_ROWS, sizeof(*messages));
    int32_t unread = checker->output_count;
    bool *is_read = calloc((size_t)checker->output_count, sizeof(*is_read));
    int64_t progress_us = weir_bench_monotonic_us();
    while (checker->repeated + checker->unknown < FAULTS_MAX &&
           (options->latency ? !is_complete(checker) : unread > 0)) {
        ssize_t count =
            rd_kafka_consume_batch_queue(queue, options->latency ? 1 : 100, messages, BATCH_ROWS);
        int64_t now_ms = weir_bench_realtime_ms();
        int64_t now_us = weir_bench_monotonic_us();
        progress_us = count > 0 ? now_us : progress_us;
        if (!options->latency && now_us - progress_us > STALLED_US) {
            weir_bench_die("nothing comes, but not all is read: an open transaction?");
        }
        for (ssize_t i = 0; i < count; i++) {
            rd_kafka_message_t *message = messages[i];
            if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
                if (message->offset >= partitions[message->partition].end &&
                    !is_read[message->partition]) {
                    is_read[message->partition] = true;
                    unread--;
                }
            } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                weir_bench_die("consume: %s", rd_kafka_message_errstr(message));
            } else if (checker->repeated + checker->unknown < FAULTS_MAX) {
                check_row(checker, message);
                if (options->latency && latencies->count < LATENCIES_MAX) {
                    latencies->values_ms[latencies->count++] =
                        now_ms - rd_kafka_message_timestamp(message, NULL);
                }
            }
            rd_kafka_message_destroy(message);
        }
    }
    free(is_read);
    free(messages);
    free(partitions);
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
}

static int report(struct checker *checker, const struct verify_options *options,
                  struct latencies *latencies)
{
    bool is_good = checker->missing == 0 && checker->repeated == 0 && checker->unknown == 0 &&
                   checker->wrong_timestamps == 0;
    int64_t rows = checker->good + checker->repeated + checker->unknown;
    printf("{\"program\":\"verify\",\"result\":\"%s\",\"rows\":%lld,\"good\":%lld,\"missing\":%lld,"
           "\"repeated\":%lld,\"unknown\":%lld,\"wrong_timestamps\":%lld,\"bytes_per_row\":%.1f",
           is_good ? "good" : "bad", (long long)rows, (long long)checker->good,
           (long long)checker->missing, (long long)checker->repeated, (long long)checker->unknown,
           (long long)checker->wrong_timestamps,
           (double)checker->bytes / (double)(rows > 0 ? rows : 1));
    if (options->latency) {
        static const double quantiles[] = {0.5, 0.9, 0.99, 0.999, 1.0};
        for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
            printf(",\"latency_ms_%g\":%lld", quantiles[i] * 100,
                   (long long)weir_bench_quantile(latencies->values_ms, latencies->count,
                                                  quantiles[i]));
        }
    }
    printf("}\n");
    return is_good ? 0 : 1;
}

static void parse(int argc, char **argv, struct verify_options *options, struct checker *checker)
{
    *options = (struct verify_options){.config = weir_nexmark_config_default(), .rows_name = "q0"};
    options->seed = (int64_t)options->config.seed;
    const struct weir_bench_option table[] = {
        {"--brokers", WEIR_BENCH_TEXT, &options->brokers, "bootstrap servers"},
        {"--topic", WEIR_BENCH_TEXT, &options->topic, "output to check"},
        {"--events", WEIR_BENCH_NUMBER, &options->event_count, "of the input"},
        {"--partitions", WEIR_BENCH_NUMBER, &options->source_count, "of the input"},
        {"--rows", WEIR_BENCH_TEXT, &options->rows_name, "q0, q2 or events (default q0)"},
        {"--filter", WEIR_BENCH_TEXT, &options->filter, "auction%N, bidder%N or price%N is 0"},
        {"--cut", WEIR_BENCH_NUMBER, &options->cut_bytes, "rows of `events` are cut to so much"},
        {"--timestamps", WEIR_BENCH_FLAG, &options->timestamps, "must be the event times"},
        {"--latency", WEIR_BENCH_FLAG, &options->latency, "receipt minus timestamp, live"},
        {"--seed", WEIR_BENCH_NUMBER, &options->seed, "as in nexgen"},
        {"--tps", WEIR_BENCH_NUMBER, &options->config.events_per_s, "as in nexgen"},
        {"--base-ms", WEIR_BENCH_NUMBER, &options->config.base_ms, "as in nexgen"},
        {"--group", WEIR_BENCH_NUMBER, &options->config.group_events, "as in nexgen"},
        {"-X", WEIR_BENCH_SETTINGS, &options->settings, "property of the consumer"},
    };
    weir_bench_parse(argc, argv, table, sizeof(table) / sizeof(*table), NULL, 0);
    options->config.seed = (uint64_t)options->seed;
    static const char *const shapes[] = {"events", "q0", "q2"};
    size_t shape = 0;
    while (shape < 3 && strcmp(options->rows_name, shapes[shape]) != 0) {
        shape++;
    }
    if (shape == 3 || options->topic == NULL || options->event_count < 1 ||
        options->source_count < 1 || options->source_count > SOURCES_MAX) {
        weir_bench_die("--topic, --events or --partitions missing, or --rows unknown");
    }
    checker->rows.shape = (enum verify_shape)shape;
    checker->rows.cut_bytes = (size_t)options->cut_bytes;
    if (options->filter != NULL) {
        checker->rows.filter = verify_filter_parse(options->filter);
    } else if (checker->rows.shape == VERIFY_Q2) {
        checker->rows.filter = verify_filter_parse("auction%123");
    }
    checker->event_count = options->event_count;
    checker->source_count = (int32_t)options->source_count;
    checker->checks_timestamps = options->timestamps;
    checker->generator = weir_nexmark_create(&options->config);
}

int main(int argc, char **argv)
{
    static struct checker checker;
    struct verify_options options;
    struct latencies latencies = {0};
    parse(argc, argv, &options, &checker);
    if (options.latency) {
        latencies.values_ms = calloc(LATENCIES_MAX, sizeof(*latencies.values_ms));
    }
    for (int32_t s = 0; s < checker.source_count; s++) {
        seek(&checker, &checker.cursors[s], s);
    }
    read_topic(&checker, &options, &latencies);
    if (checker.repeated + checker.unknown < FAULTS_MAX) {
        count_rest(&checker);
    } else {
        fprintf(stderr, "verify: %d rows do not fit; the rest was not read\n", FAULTS_MAX);
    }
    int code = report(&checker, &options, &latencies);
    free(latencies.values_ms);
    weir_nexmark_destroy(checker.generator);
    return code;
}
