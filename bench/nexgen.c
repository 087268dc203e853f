// SPDX-License-Identifier: Apache-2.0
//
// NEXMark events into a topic or to standard output.
//
//   nexgen print FROM TO                 events FROM to TO-1, one JSON line each
//   nexgen check FROM TO                 sizes and shares of a range, one JSON line
//   nexgen --brokers B --topic T preload N
//                                        events 0 to N-1 as fast as the broker takes them
//   nexgen --brokers B --topic T --per-second R paced N
//                                        open loop: event n is due R per second after the start, no
//                                        matter how the reader keeps up; event time = due time
//
// With --keys K the events are not NEXMark's but {"k":…,"v":…,"pad":"…"} of some 100 bytes, for
// keyed state of a known size: k is uniform in [0, K), or with --in-turn runs over all keys before
// one comes again.
//
// Event n goes to partition n mod P, without a key; the record's timestamp is the event time.
#include "client.h"
#include "measure.h"
#include "nexmark.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generator_options {
    struct weir_nexmark_config config;
    int64_t seed;
    bool has_base;
    const char *brokers;
    const char *topic;
    int64_t per_second;
    int64_t key_count; // 0: NEXMark
    bool is_in_turn;
    struct weir_bench_settings settings;
};

struct sending {
    rd_kafka_t *producer;
    rd_kafka_topic_t *topic;
    int32_t partition_count;
    int64_t bytes;
    int64_t failed;
};

static void count_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    struct sending *sending = opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        sending->failed++;
    }
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// The keyed event `number`; returns its length.
static size_t write_keyed(const struct generator_options *options, int64_t number, char *out)
{
    static const char pad[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh";
    uint64_t random = mix((uint64_t)number * 0x9e3779b97f4a7c15u + (uint64_t)options->seed);
    uint64_t count = (uint64_t)options->key_count;
    uint64_t key = options->is_in_turn ? (uint64_t)number % count : random % count;
    char *end = weir_text_put(out, "{\"k\":");
    end = weir_text_put_int(end, (int64_t)key);
    end = weir_text_put(end, ",\"v\":");
    end = weir_text_put_int(end, (int64_t)(random >> 44));
    end = weir_text_put(end, ",\"pad\":\"");
    end = weir_text_put_bytes(end, pad, sizeof pad - 1);
    return (size_t)(weir_text_put(end, "\"}") - out);
}

// Makes event `number` of either kind; returns the length of its JSON.
static size_t make_event(const struct generator_options *options,
                         const struct weir_nexmark *generator, int64_t number,
                         struct weir_nexmark_event *event, char *json)
{
    if (options->key_count == 0) {
        weir_nexmark_make(generator, number, event);
        return weir_nexmark_write_json(event, json);
    }
    event->time_ms = options->config.base_ms + number * 1000 / options->config.events_per_s;
    return write_keyed(options, number, json);
}

static void send_event(struct sending *sending, int64_t number, int64_t time_ms, const char *json,
                       size_t length)
{
    int32_t partition = (int32_t)(number % sending->partition_count);
    sending->bytes += (int64_t)length;
    for (;;) {
        rd_kafka_resp_err_t code = rd_kafka_producev(
            sending->producer, RD_KAFKA_V_RKT(sending->topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE((void *)json, length),
            RD_KAFKA_V_TIMESTAMP(time_ms), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            return;
        }
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            weir_bench_die("event %lld: %s", (long long)number, rd_kafka_err2str(code));
        }
        rd_kafka_poll(sending->producer, 10);
    }
}

static void send_all(struct sending *sending, const struct generator_options *options,
                     const struct weir_nexmark *generator, int64_t event_count,
                     int64_t per_second)
{
    char json[WEIR_NEXMARK_JSON_BYTES_MAX];
    struct weir_nexmark_event event;
    int64_t start_us = weir_bench_monotonic_us();
    for (int64_t number = 0; number < event_count; number++) {
        if (per_second > 0) {
            int64_t due_us = start_us + number * 1000000 / per_second;
            int64_t now_us = weir_bench_monotonic_us();
            // Below half a millisecond a sleep is longer than what is waited for.
            while (due_us - now_us > 500) {
                rd_kafka_poll(sending->producer, 0);
                weir_bench_nap_us(due_us - now_us);
                now_us = weir_bench_monotonic_us();
            }
        }
        size_t length = make_event(options, generator, number, &event, json);
        send_event(sending, number, event.time_ms, json, length);
        if (number % 1000 == 0) {
            rd_kafka_poll(sending->producer, 0);
        }
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(sending->producer, 120000);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || sending->failed > 0) {
        weir_bench_die("%lld events were not delivered (%s)", (long long)sending->failed,
                       rd_kafka_err2str(code));
    }
}

static int run_send(struct generator_options *options, int64_t event_count, bool is_paced)
{
    if (options->topic == NULL || (is_paced && options->per_second == 0)) {
        weir_bench_die("--topic is missing, or --per-second for `paced`");
    }
    struct sending sending = {0};
    sending.producer =
        weir_bench_producer_create(options->brokers, NULL, WEIR_BENCH_REPORTS_CALLBACK,
                                   count_delivery, &sending, &options->settings);
    sending.partition_count = weir_bench_partition_count(sending.producer, options->topic);
    sending.topic = rd_kafka_topic_new(sending.producer, options->topic, NULL);
    if (is_paced) {
        // Event time is due time: by default from now, else from the base time that was given.
        int64_t now_ms = weir_bench_realtime_ms();
        if (!options->has_base) {
            options->config.base_ms = now_ms;
        }
        options->config.events_per_s = options->per_second;
        if (options->config.base_ms > now_ms) {
            weir_bench_nap_us((options->config.base_ms - now_ms) * 1000);
        }
    }
    struct weir_nexmark *generator = weir_nexmark_create(&options->config);
    int64_t start_us = weir_bench_monotonic_us();
    send_all(&sending, options, generator, event_count, is_paced ? options->per_second : 0);
    double wall_s = (double)(weir_bench_monotonic_us() - start_us) / 1e6;
    struct weir_bench_usage usage = weir_bench_usage_now();
    printf("{\"program\":\"nexgen\",\"events\":%lld,\"bytes_per_event\":%.1f,\"partitions\":%d,"
           "\"seed\":%llu,\"events_per_s_of_event_time\":%lld,\"base_ms\":%lld,"
           "\"group_events\":%lld,\"wall_s\":%.2f,\"cpu_s\":%.2f}\n",
           (long long)event_count, (double)sending.bytes / (double)event_count,
           (int)sending.partition_count, (unsigned long long)options->config.seed,
           (long long)options->config.events_per_s, (long long)options->config.base_ms,
           (long long)options->config.group_events, wall_s,
           (double)(usage.user_us + usage.system_us) / 1e6);
    weir_nexmark_destroy(generator);
    rd_kafka_topic_destroy(sending.topic);
    rd_kafka_destroy(sending.producer);
    return 0;
}

static int run_print(const struct generator_options *options, int64_t from, int64_t to)
{
    struct weir_nexmark *generator = weir_nexmark_create(&options->config);
    struct weir_nexmark_event event;
    char json[WEIR_NEXMARK_JSON_BYTES_MAX];
    for (int64_t number = from; number < to; number++) {
        size_t length = make_event(options, generator, number, &event, json);
        json[length] = '\n';
        fwrite(json, 1, length + 1, stdout);
    }
    weir_nexmark_destroy(generator);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int run_check(const struct generator_options *options, int64_t from, int64_t to)
{
    struct weir_nexmark *generator = weir_nexmark_create(&options->config);
    struct weir_nexmark_event event;
    char json[WEIR_NEXMARK_JSON_BYTES_MAX];
    int64_t kinds[3] = {0};
    size_t bytes = 0;
    size_t longest = 0;
    int64_t start_us = weir_bench_thread_cpu_us();
    for (int64_t number = from; number < to; number++) {
        weir_nexmark_make(generator, number, &event);
        size_t length = weir_nexmark_write_json(&event, json);
        kinds[event.kind]++;
        bytes += length;
        longest = length > longest ? length : longest;
    }
    double count = (double)(to > from ? to - from : 1);
    printf("{\"events\":%.0f,\"persons\":%lld,\"auctions\":%lld,\"bids\":%lld,"
           "\"bytes_per_event\":%.1f,\"longest_bytes\":%zu,\"ns_per_event\":%.0f}\n",
           count, (long long)kinds[0], (long long)kinds[1], (long long)kinds[2],
           (double)bytes / count, longest,
           (double)(weir_bench_thread_cpu_us() - start_us) * 1000 / count);
    weir_nexmark_destroy(generator);
    return 0;
}

int main(int argc, char **argv)
{
    struct generator_options options = {.config = weir_nexmark_config_default()};
    options.seed = (int64_t)options.config.seed;
    const struct weir_bench_option table[] = {
        {"--seed", WEIR_BENCH_NUMBER, &options.seed, "of all random choices (42)"},
        {"--tps", WEIR_BENCH_NUMBER, &options.config.events_per_s,
         "events per second of event time (100000)"},
        {"--base-ms", WEIR_BENCH_NUMBER, &options.config.base_ms, "event time of event 0"},
        {"--group", WEIR_BENCH_NUMBER, &options.config.group_events,
         "event times out of order in groups of so many (1)"},
        {"--keys", WEIR_BENCH_NUMBER, &options.key_count, "keyed events over so many keys"},
        {"--in-turn", WEIR_BENCH_FLAG, &options.is_in_turn, "one key after the other"},
        {"--brokers", WEIR_BENCH_TEXT, &options.brokers, "bootstrap servers"},
        {"--topic", WEIR_BENCH_TEXT, &options.topic, "topic to fill"},
        {"--per-second", WEIR_BENCH_NUMBER, &options.per_second, "speed of `paced`"},
        {"-X", WEIR_BENCH_SETTINGS, &options.settings, "property of the producer"},
    };
    const char *arguments[3] = {0};
    size_t count =
        weir_bench_parse(argc, argv, table, sizeof(table) / sizeof(*table), arguments, 3);
    options.config.seed = (uint64_t)options.seed;
    options.has_base = options.config.base_ms != weir_nexmark_config_default().base_ms;
    if (count == 3 && strcmp(arguments[0], "print") == 0) {
        return run_print(&options, weir_bench_parse_number(arguments[1], "FROM"),
                         weir_bench_parse_number(arguments[2], "TO"));
    }
    if (count == 3 && strcmp(arguments[0], "check") == 0) {
        return run_check(&options, weir_bench_parse_number(arguments[1], "FROM"),
                         weir_bench_parse_number(arguments[2], "TO"));
    }
    if (count == 2 && strcmp(arguments[0], "preload") == 0) {
        return run_send(&options, weir_bench_parse_number(arguments[1], "N"), false);
    }
    if (count == 2 && strcmp(arguments[0], "paced") == 0) {
        return run_send(&options, weir_bench_parse_number(arguments[1], "N"), true);
    }
    weir_bench_die("print FROM TO, check FROM TO, preload N or paced N wanted");
}
