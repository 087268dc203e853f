// SPDX-License-Identifier: Apache-2.0
//
// Transactional pass-through without parsing: the denominator of every published ratio (rawpass.h
// says how it works). Reads the input up to the end seen at start, commits, prints one JSON line.
// This file: options, the epochs (main thread), the report.
#include "rawpass.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EPOCHS_MAX = 100000 };

struct epochs {
    int64_t count;
    int64_t commit_us[EPOCHS_MAX]; // flush, send_offsets and commit of each
};

static struct pass pass; // large, one for the process
static struct epochs epochs;

static void begin(int64_t epoch)
{
    weir_bench_check(rd_kafka_begin_transaction(pass_handle_of(&pass, epoch)->producer), "begin");
}

// Opens the next epoch and waits until all tasks have crossed into it: the old one is then
// complete.
static void raise_barrier(int64_t next_epoch)
{
    pthread_mutex_lock(&pass.lock);
    pass.arrived_count = 0;
    atomic_store_explicit(&pass.epoch, next_epoch, memory_order_release);
    while (pass.arrived_count < pass.options.task_count) {
        pthread_cond_wait(&pass.arrived, &pass.lock);
    }
    pthread_mutex_unlock(&pass.lock);
}

static bool is_all_read(void)
{
    return atomic_load_explicit(&pass.tasks_read, memory_order_acquire) == pass.options.task_count;
}

static void run_epochs(void)
{
    for (int64_t epoch = 1;; epoch++) {
        int64_t due_us = weir_bench_monotonic_us() + pass.options.interval_ms * 1000;
        while (weir_bench_monotonic_us() < due_us && !is_all_read()) {
            weir_bench_nap_us(2000);
        }
        // Asked before the barrier: what a task reads afterwards belongs to the next epoch.
        bool is_last = is_all_read();
        begin(epoch + 1);
        raise_barrier(epoch + 1);
        int64_t start_us = weir_bench_monotonic_us();
        pass_commit(&pass, epoch);
        if (epochs.count < EPOCHS_MAX) {
            epochs.commit_us[epochs.count++] = weir_bench_monotonic_us() - start_us;
        }
        if (is_last) {
            weir_bench_check(
                rd_kafka_abort_transaction(pass_handle_of(&pass, epoch + 1)->producer, 30000),
                "abort");
            return;
        }
    }
}

static void open_tasks(void)
{
    struct pass_options *options = &pass.options;
    for (int i = 0; i < (int)options->task_count; i++) {
        struct pass_task *task = &pass.tasks[i];
        task->pass = &pass;
        task->index = i;
        task->epoch = 1;
        task->consumer =
            weir_bench_consumer_create(options->brokers, options->id, &options->consumer_settings);
        if (i == 0) {
            pass.partition_count = weir_bench_partition_count(task->consumer, options->input);
            if (pass.partition_count > PARTITIONS_MAX ||
                pass.output_partition_count > PARTITIONS_MAX) {
                weir_bench_die("more than %d partitions", PARTITIONS_MAX);
            }
            pass.partitions =
                weir_bench_partitions(task->consumer, options->input, pass.partition_count);
        }
        for (int32_t p = i; p < pass.partition_count; p += (int32_t)options->task_count) {
            task->unread++;
            task->positions[p] = pass.partitions[p].first;
        }
        if (task->unread == 0) {
            weir_bench_die("more tasks than partitions");
        }
        task->queue = weir_bench_assign(task->consumer, options->input, pass.partitions,
                                        pass.partition_count, i, (int)options->task_count);
    }
}

static void close_tasks(void)
{
    for (int i = 0; i < (int)pass.options.task_count; i++) {
        rd_kafka_queue_destroy(pass.tasks[i].queue);
        rd_kafka_consumer_close(pass.tasks[i].consumer);
        rd_kafka_destroy(pass.tasks[i].consumer);
    }
    free(pass.partitions);
}

static void report(double wall_s)
{
    const struct pass_options *options = &pass.options;
    struct pass_task sum = {0};
    for (int i = 0; i < (int)options->task_count; i++) {
        const struct pass_task *task = &pass.tasks[i];
        sum.rows_in += task->rows_in;
        sum.rows_out += task->rows_out;
        sum.bytes_in += task->bytes_in;
        sum.bytes_out += task->bytes_out;
        sum.full_count += task->full_count;
        sum.cpu_us += task->cpu_us;
        sum.longest_hold_us = task->longest_hold_us > sum.longest_hold_us ? task->longest_hold_us
                                                                          : sum.longest_hold_us;
    }
    struct weir_bench_usage usage = weir_bench_usage_now();
    double cpu_s = (double)(usage.user_us + usage.system_us) / 1e6;
    double rows_in = (double)(sum.rows_in > 0 ? sum.rows_in : 1);
    double rows_out = (double)(sum.rows_out > 0 ? sum.rows_out : 1);
    size_t epoch_count = (size_t)epochs.count;
    printf("{\"program\":\"rawpass\",\"form\":\"%s\",\"timestamps\":%s,\"reports\":\"%s\","
           "\"tasks\":%lld,\"interval_ms\":%lld,\"keep_per_mille\":%lld,\"events\":%lld,"
           "\"rows_out\":%lld,\"bytes_per_event\":%.1f,\"bytes_per_row\":%.1f,",
           options->form_name, options->timestamps ? "true" : "false", options->reports_name,
           (long long)options->task_count, (long long)options->interval_ms,
           (long long)options->keep_per_mille, (long long)sum.rows_in, (long long)sum.rows_out,
           (double)sum.bytes_in / rows_in, (double)sum.bytes_out / rows_out);
    printf("\"wall_s\":%.3f,\"user_s\":%.3f,\"system_s\":%.3f,\"cpu_s\":%.3f,"
           "\"events_per_cpu_s\":%.0f,\"ns_per_event\":%.0f,\"task_ns_per_event\":%.0f,",
           wall_s, (double)usage.user_us / 1e6, (double)usage.system_us / 1e6, cpu_s,
           (double)sum.rows_in / cpu_s, cpu_s * 1e9 / rows_in, (double)sum.cpu_us * 1000 / rows_in);
    printf("\"commits\":%lld,\"commit_p50_ms\":%.1f,\"commit_max_ms\":%.1f,"
           "\"longest_hold_ms\":%.1f,\"queue_full\":%lld,\"peak_rss_kib\":%lld,"
           "\"librdkafka\":\"%s\"}\n",
           (long long)epochs.count,
           (double)weir_bench_quantile(epochs.commit_us, epoch_count, 0.5) / 1000,
           (double)weir_bench_quantile(epochs.commit_us, epoch_count, 1.0) / 1000,
           (double)sum.longest_hold_us / 1000, (long long)sum.full_count,
           (long long)usage.peak_rss_kib, rd_kafka_version_str());
}

static void parse(int argc, char **argv)
{
    struct pass_options *options = &pass.options;
    *options = (struct pass_options){.id = "weir-bench-rawpass",
                                     .reports_name = "callback",
                                     .interval_ms = 1000,
                                     .keep_per_mille = 1000,
                                     .task_count = 2,
                                     .batch_rows = 1024,
                                     .timeout_ms = 5};
    const struct weir_bench_option table[] = {
        {"--brokers", WEIR_BENCH_TEXT, &options->brokers, "bootstrap servers"},
        {"--input", WEIR_BENCH_TEXT, &options->input, "topic to read"},
        {"--output", WEIR_BENCH_TEXT, &options->output, "topic to write"},
        {"--id", WEIR_BENCH_TEXT, &options->id, "group, and prefix of the transactional ids"},
        {"--timestamps", WEIR_BENCH_FLAG, &options->timestamps, "rows keep their timestamp"},
        {"--form", WEIR_BENCH_TEXT, &options->form_name,
         "batch, partitions (without timestamps), v, va; default batch, or v with timestamps"},
        {"--reports", WEIR_BENCH_TEXT, &options->reports_name,
         "who serves delivery reports: callback, events (tasks), thread (default callback)"},
        {"--interval-ms", WEIR_BENCH_NUMBER, &options->interval_ms, "between two commits (1000)"},
        {"--cut", WEIR_BENCH_NUMBER, &options->cut_bytes, "payload cut to so many bytes"},
        {"--keep-per-mille", WEIR_BENCH_NUMBER, &options->keep_per_mille,
         "rows that go out (1000)"},
        {"--tasks", WEIR_BENCH_NUMBER, &options->task_count, "consumer handles, a thread each (2)"},
        {"--batch", WEIR_BENCH_NUMBER, &options->batch_rows, "rows wanted by one call (1024)"},
        {"--timeout-ms", WEIR_BENCH_NUMBER, &options->timeout_ms, "of one call (5)"},
        {"-C", WEIR_BENCH_SETTINGS, &options->consumer_settings, "property of the consumers"},
        {"-P", WEIR_BENCH_SETTINGS, &options->producer_settings, "property of the producers"},
    };
    weir_bench_parse(argc, argv, table, sizeof(table) / sizeof(*table), NULL, 0);
    if (options->form_name == NULL) {
        options->form_name = options->timestamps ? "v" : "batch";
    }
    static const char *const forms[] = {"batch", "partitions", "v", "va"};
    size_t form = 0;
    while (form < 4 && strcmp(options->form_name, forms[form]) != 0) {
        form++;
    }
    options->form = (enum pass_form)form;
    static const char *const reports[] = {"callback", "events", "thread"};
    size_t reports_index = 0;
    while (reports_index < 3 && strcmp(options->reports_name, reports[reports_index]) != 0) {
        reports_index++;
    }
    options->reports = (enum pass_reports)reports_index;
    bool is_batch = options->form == PASS_BATCH || options->form == PASS_PARTITIONS;
    if (form == 4 || reports_index == 3 || (options->timestamps && is_batch)) {
        weir_bench_die("--form %s or --reports %s: unknown, or form without timestamps",
                       options->form_name, options->reports_name);
    }
    if (options->input == NULL || options->output == NULL || options->task_count < 1 ||
        options->task_count > TASKS_MAX || options->batch_rows < 1 ||
        options->keep_per_mille > 1000) {
        weir_bench_die("--input or --output missing, or a number out of range");
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    int64_t start_us = weir_bench_monotonic_us();
    pthread_mutex_init(&pass.lock, NULL);
    pthread_cond_init(&pass.arrived, NULL);
    atomic_store(&pass.epoch, 1);
    pass_handles_open(&pass);
    open_tasks();
    begin(1);
    for (int i = 0; i < (int)pass.options.task_count; i++) {
        pthread_create(&pass.tasks[i].thread, NULL, pass_task_run, &pass.tasks[i]);
    }
    run_epochs();
    atomic_store_explicit(&pass.is_over, true, memory_order_release);
    for (int i = 0; i < (int)pass.options.task_count; i++) {
        pthread_join(pass.tasks[i].thread, NULL);
    }
    report((double)(weir_bench_monotonic_us() - start_us) / 1e6);
    close_tasks();
    pass_handles_close(&pass);
    return 0;
}
