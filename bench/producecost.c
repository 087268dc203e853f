// SPDX-License-Identifier: Apache-2.0
//
// What handing one row to librdkafka costs, call by call: the choice of weir's sink rests on it.
// Sends rows of a fixed size, without reading anything, in transactions of --rows-per-transaction,
// and prints one JSON line: CPU of the process a row, and how much of it was the sending threads'.
//
// Thread: --tasks sending threads; they share one handle or have one each (--own-handles). Delivery
// reports are served by the senders between two batches (callback; events), by flush alone (flush:
// only if a transaction fits the producer's queue), or as events by a thread of their own (thread).
#include "client.h"
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MAX = 16, RING_ROWS = 4096, EVENT_TIME_MS = 1767225600 };

enum send_form { SEND_BATCH, SEND_PARTITIONS, SEND_PLAIN, SEND_V, SEND_VA };

static const char *const form_names[] = {"batch", "partitions", "plain", "v", "va"};

struct cost_options {
    const char *brokers;
    const char *topic;
    const char *form_name;
    const char *reports;
    const char *id;
    enum send_form form;
    bool free_flag;
    bool own_handles;
    bool timestamps;
    bool not_transactional;
    int64_t rows;
    int64_t rows_per_transaction;
    int64_t row_bytes;
    int64_t batch_rows;
    int64_t task_count;
    struct weir_bench_settings settings;
};

struct sender {
    pthread_t thread;
    const struct cost_options *options;
    rd_kafka_t *producer;
    rd_kafka_topic_t *topic;
    rd_kafka_queue_t *queue; // of delivery reports
    char *ring; // RING_ROWS rows, so that payloads are not all in the first-level cache
    int32_t partition_count;
    int index;
    int64_t rows;
    int64_t cpu_us;
    int64_t full_count;
};

static _Atomic int64_t delivered_count;
static _Atomic int64_t failed_count;
static _Atomic bool is_over;

static void count_report(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    atomic_fetch_add_explicit(&delivered_count, 1, memory_order_relaxed);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        atomic_fetch_add_explicit(&failed_count, 1, memory_order_relaxed);
    }
}

// Serves at most one report event; false if there was none.
static bool take_event(rd_kafka_queue_t *queue, int timeout_ms)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms);
    if (event == NULL) {
        return false;
    }
    int64_t count = 0;
    const rd_kafka_message_t *message = NULL;
    while ((message = rd_kafka_event_message_next(event)) != NULL) {
        count++;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            atomic_fetch_add_explicit(&failed_count, 1, memory_order_relaxed);
        }
    }
    atomic_fetch_add_explicit(&delivered_count, count, memory_order_relaxed);
    rd_kafka_event_destroy(event);
    return true;
}

static void *run_reports(void *opaque)
{
    while (!atomic_load_explicit(&is_over, memory_order_acquire)) {
        take_event(opaque, 50);
    }
    return NULL;
}

static bool is_served_by(const struct cost_options *options, const char *reports)
{
    return strcmp(options->reports, reports) == 0;
}

static void wait_for_room(struct sender *sender)
{
    sender->full_count++;
    if (is_served_by(sender->options, "callback")) {
        rd_kafka_poll(sender->producer, 5);
    } else if (is_served_by(sender->options, "events")) {
        take_event(sender->queue, 5);
    } else {
        weir_bench_nap_us(500);
    }
}

static void check_code(rd_kafka_resp_err_t code)
{
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        weir_bench_die("produce: %s", rd_kafka_err2str(code));
    }
}

static const char *payload_of(const struct sender *sender, int64_t number)
{
    return sender->ring + number % RING_ROWS * sender->options->row_bytes;
}

// The payload as the call gets it: of the ring, or memory that librdkafka frees.
static void *make_payload(const struct sender *sender, int64_t number)
{
    const char *payload = payload_of(sender, number);
    if (!sender->options->free_flag) {
        return (void *)(uintptr_t)payload;
    }
    void *copy = malloc((size_t)sender->options->row_bytes);
    memcpy(copy, payload, (size_t)sender->options->row_bytes);
    return copy;
}

static rd_kafka_resp_err_t send_single(const struct sender *sender, int32_t partition,
                                       void *payload)
{
    const struct cost_options *options = sender->options;
    int flags = options->free_flag ? RD_KAFKA_MSG_F_FREE : RD_KAFKA_MSG_F_COPY;
    size_t length = (size_t)options->row_bytes;
    int64_t time_ms = options->timestamps ? (int64_t)EVENT_TIME_MS * 1000 : 0;
    if (options->form == SEND_PLAIN) {
        int failed =
            rd_kafka_produce(sender->topic, partition, flags, payload, length, NULL, 0, NULL);
        return failed ? rd_kafka_last_error() : RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    if (options->form == SEND_V) {
        return rd_kafka_producev(sender->producer, RD_KAFKA_V_RKT(sender->topic),
                                 RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(flags),
                                 RD_KAFKA_V_VALUE(payload, length), RD_KAFKA_V_TIMESTAMP(time_ms),
                                 RD_KAFKA_V_END);
    }
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = sender->topic},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = flags},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem.ptr = payload, .u.mem.size = length},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = time_ms},
    };
    rd_kafka_error_t *error =
        rd_kafka_produceva(sender->producer, arguments, sizeof(arguments) / sizeof(*arguments));
    if (error == NULL) {
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    return code;
}

static void send_by_single(struct sender *sender, int64_t first, int64_t count, int32_t partition)
{
    for (int64_t i = 0; i < count; i++) {
        void *payload = make_payload(sender, first + i);
        rd_kafka_resp_err_t code;
        while ((code = send_single(sender, partition, payload)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            check_code(code);
            wait_for_room(sender);
        }
    }
}

static void send_by_batch(struct sender *sender, int64_t first, int64_t count, int32_t partition,
                          rd_kafka_message_t *rows)
{
    const struct cost_options *options = sender->options;
    int flags = options->free_flag ? RD_KAFKA_MSG_F_FREE : RD_KAFKA_MSG_F_COPY;
    int32_t target = partition;
    if (options->form == SEND_PARTITIONS) {
        flags |= RD_KAFKA_MSG_F_PARTITION;
        target = RD_KAFKA_PARTITION_UA;
    }
    for (int64_t i = 0; i < count; i++) {
        rows[i] = (rd_kafka_message_t){.partition = partition,
                                       .payload = make_payload(sender, first + i),
                                       .len = (size_t)options->row_bytes};
    }
    while (count > 0) {
        int taken = rd_kafka_produce_batch(sender->topic, target, flags, rows, (int)count);
        if (taken < count) {
            check_code(rows[taken].err);
            wait_for_room(sender);
        }
        rows += taken;
        count -= taken;
    }
}

static void *run_sender(void *opaque)
{
    struct sender *sender = opaque;
    const struct cost_options *options = sender->options;
    int64_t start_us = weir_bench_thread_cpu_us();
    rd_kafka_message_t *rows = calloc((size_t)options->batch_rows, sizeof(*rows));
    int64_t batch = sender->index;
    for (int64_t sent = 0; sent < sender->rows; batch++) {
        int64_t left = sender->rows - sent;
        int64_t count = left < options->batch_rows ? left : options->batch_rows;
        int32_t partition = (int32_t)(batch % sender->partition_count);
        if (options->form == SEND_BATCH || options->form == SEND_PARTITIONS) {
            send_by_batch(sender, sent, count, partition, rows);
        } else {
            send_by_single(sender, sent, count, partition);
        }
        if (is_served_by(options, "callback")) {
            rd_kafka_poll(sender->producer, 0);
        }
        while (is_served_by(options, "events") && take_event(sender->queue, 0)) {
        }
        sent += count;
    }
    free(rows);
    sender->cpu_us += weir_bench_thread_cpu_us() - start_us;
    return NULL;
}

static void open_sender(struct sender *senders, int index, const struct cost_options *options)
{
    struct sender *sender = &senders[index];
    sender->options = options;
    sender->index = index;
    if (index > 0 && !options->own_handles) {
        sender->producer = senders[0].producer;
        sender->topic = senders[0].topic;
        sender->queue = senders[0].queue;
        sender->partition_count = senders[0].partition_count;
    } else {
        char id[128];
        snprintf(id, sizeof(id), "%s-%d", options->id, index);
        sender->producer = weir_bench_producer_create(
            options->brokers, options->not_transactional ? NULL : id,
            is_served_by(options, "thread") || is_served_by(options, "events")
                ? WEIR_BENCH_REPORTS_EVENT
                : WEIR_BENCH_REPORTS_CALLBACK,
            count_report, NULL, &options->settings);
        sender->partition_count = weir_bench_partition_count(sender->producer, options->topic);
        sender->topic = rd_kafka_topic_new(sender->producer, options->topic, NULL);
        sender->queue = rd_kafka_queue_get_main(sender->producer);
    }
    size_t ring_bytes = RING_ROWS * (size_t)options->row_bytes;
    sender->ring = malloc(ring_bytes);
    for (size_t i = 0; i < ring_bytes; i++) {
        sender->ring[i] = (char)('a' + (i * 7 + i / 977) % 26);
    }
}

// One transaction: all senders, then flush and commit on each handle.
static void run_transaction(struct sender *senders, int task_count, int handle_count,
                            const struct cost_options *options)
{
    for (int i = 0; i < handle_count && !options->not_transactional; i++) {
        weir_bench_check(rd_kafka_begin_transaction(senders[i].producer), "begin");
    }
    for (int i = 0; i < task_count; i++) {
        senders[i].rows = options->rows_per_transaction / task_count;
        pthread_create(&senders[i].thread, NULL, run_sender, &senders[i]);
    }
    for (int i = 0; i < task_count; i++) {
        pthread_join(senders[i].thread, NULL);
    }
    for (int i = 0; i < handle_count; i++) {
        while (is_served_by(options, "events") && rd_kafka_outq_len(senders[i].producer) > 0) {
            take_event(senders[i].queue, 10);
        }
        rd_kafka_flush(senders[i].producer, 60000);
        if (!options->not_transactional) {
            weir_bench_check(rd_kafka_commit_transaction(senders[i].producer, 60000), "commit");
        }
    }
}

static void report(const struct cost_options *options, const struct sender *senders, int64_t rows,
                   double wall_s)
{
    struct weir_bench_usage usage = weir_bench_usage_now();
    double cpu_us = (double)(usage.user_us + usage.system_us);
    int64_t sender_us = 0;
    int64_t full_count = 0;
    for (int i = 0; i < (int)options->task_count; i++) {
        sender_us += senders[i].cpu_us;
        full_count += senders[i].full_count;
    }
    printf("{\"program\":\"producecost\",\"form\":\"%s\",\"flag\":\"%s\",\"timestamps\":%s,"
           "\"reports\":\"%s\",\"tasks\":%lld,\"handles\":\"%s\",\"row_bytes\":%lld,\"rows\":%lld,"
           "\"wall_s\":%.2f,\"ns_per_row\":%.0f,\"user_ns\":%.0f,\"system_ns\":%.0f,"
           "\"sender_ns\":%.0f,\"queue_full\":%lld,\"peak_rss_kib\":%lld}\n",
           options->form_name, options->free_flag ? "free" : "copy",
           options->timestamps ? "true" : "false", options->reports, (long long)options->task_count,
           options->own_handles ? "own" : "shared", (long long)options->row_bytes, (long long)rows,
           wall_s, cpu_us * 1000 / (double)rows, (double)usage.user_us * 1000 / (double)rows,
           (double)usage.system_us * 1000 / (double)rows, (double)sender_us * 1000 / (double)rows,
           (long long)full_count, (long long)usage.peak_rss_kib);
}

static void parse(int argc, char **argv, struct cost_options *options)
{
    *options = (struct cost_options){.form_name = "batch",
                                     .reports = "callback",
                                     .id = "weir-bench-producecost",
                                     .rows = 1000000,
                                     .rows_per_transaction = 200000,
                                     .row_bytes = 180,
                                     .batch_rows = 1024,
                                     .task_count = 1};
    const struct weir_bench_option table[] = {
        {"--brokers", WEIR_BENCH_TEXT, &options->brokers, "bootstrap servers"},
        {"--topic", WEIR_BENCH_TEXT, &options->topic, "topic to write"},
        {"--id", WEIR_BENCH_TEXT, &options->id, "prefix of the transactional ids"},
        {"--form", WEIR_BENCH_TEXT, &options->form_name,
         "batch, partitions, plain, v, va (default batch)"},
        {"--free", WEIR_BENCH_FLAG, &options->free_flag, "F_FREE instead of F_COPY"},
        {"--timestamps", WEIR_BENCH_FLAG, &options->timestamps, "v and va pass one"},
        {"--reports", WEIR_BENCH_TEXT, &options->reports, "callback, flush, events or thread"},
        {"--own-handles", WEIR_BENCH_FLAG, &options->own_handles, "one a task, else one for all"},
        {"--not-transactional", WEIR_BENCH_FLAG, &options->not_transactional, "idempotent only"},
        {"--rows", WEIR_BENCH_NUMBER, &options->rows, "in all (1000000)"},
        {"--rows-per-transaction", WEIR_BENCH_NUMBER, &options->rows_per_transaction, "(200000)"},
        {"--row-bytes", WEIR_BENCH_NUMBER, &options->row_bytes, "(180)"},
        {"--batch", WEIR_BENCH_NUMBER, &options->batch_rows,
         "rows of one partition at once (1024)"},
        {"--tasks", WEIR_BENCH_NUMBER, &options->task_count, "sending threads (1)"},
        {"-X", WEIR_BENCH_SETTINGS, &options->settings, "property of the producer"},
    };
    weir_bench_parse(argc, argv, table, sizeof(table) / sizeof(*table), NULL, 0);
    size_t form = 0;
    while (form < 5 && strcmp(options->form_name, form_names[form]) != 0) {
        form++;
    }
    bool knows_reports = is_served_by(options, "callback") || is_served_by(options, "flush") ||
                         is_served_by(options, "events") || is_served_by(options, "thread");
    if (form == 5 || !knows_reports || options->topic == NULL || options->task_count < 1 ||
        options->task_count > TASKS_MAX || options->row_bytes < 1 || options->batch_rows < 1) {
        weir_bench_die("--topic missing, --form or --reports unknown, or a number out of range");
    }
    options->form = (enum send_form)form;
}

int main(int argc, char **argv)
{
    static struct sender senders[TASKS_MAX];
    struct cost_options options;
    parse(argc, argv, &options);
    int task_count = (int)options.task_count;
    int handle_count = options.own_handles ? task_count : 1;
    for (int i = 0; i < task_count; i++) {
        open_sender(senders, i, &options);
    }
    pthread_t report_threads[TASKS_MAX];
    bool has_threads = is_served_by(&options, "thread");
    for (int i = 0; i < handle_count && has_threads; i++) {
        pthread_create(&report_threads[i], NULL, run_reports, senders[i].queue);
    }
    int64_t start_us = weir_bench_monotonic_us();
    int64_t sent = 0;
    while (sent < options.rows) {
        run_transaction(senders, task_count, handle_count, &options);
        sent += options.rows_per_transaction / task_count * task_count;
    }
    double wall_s = (double)(weir_bench_monotonic_us() - start_us) / 1e6;
    atomic_store_explicit(&is_over, true, memory_order_release);
    for (int i = 0; i < handle_count && has_threads; i++) {
        pthread_join(report_threads[i], NULL);
    }
    if (atomic_load(&delivered_count) != sent || atomic_load(&failed_count) != 0) {
        weir_bench_die("%lld rows sent, %lld reports, %lld failed", (long long)sent,
                       (long long)atomic_load(&delivered_count),
                       (long long)atomic_load(&failed_count));
    }
    report(&options, senders, sent, wall_s);
    for (int i = 0; i < task_count; i++) {
        free(senders[i].ring);
        if (i < handle_count) {
            rd_kafka_queue_destroy(senders[i].queue);
            rd_kafka_topic_destroy(senders[i].topic);
            rd_kafka_destroy(senders[i].producer);
        }
    }
    return 0;
}
