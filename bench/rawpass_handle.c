// SPDX-License-Identifier: Apache-2.0
//
// The producer side of rawpass: four transactional handles, their delivery reports, the commit.
// Place: a row ends here; epoch n's commit is made here, by the main thread, while tasks fill n+1.
//
// Delivery reports come back in one of three ways, which is one of the things to be measured:
//  - by callback, served by whichever task polls the handle between two batches, and by flush;
//  - as events, served by the tasks between two batches, and before the commit;
//  - as events, served by one thread that an eventfd wakes for all four handles.
#include "measure.h"
#include "rawpass.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { COMMIT_TIMEOUT_MS = 60000 };

struct opening {
    pthread_t thread;
    struct pass *pass;
    int index;
};

static pthread_t report_thread;
static int report_fd;

static void take_report(struct pass_handle *handle, const rd_kafka_message_t *message)
{
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        atomic_fetch_add_explicit(&handle->failed, 1, memory_order_relaxed);
    }
    atomic_fetch_sub_explicit(&handle->unacknowledged[message->partition], 1, memory_order_release);
}

static void on_delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    take_report(opaque, message);
}

// A report event holds the messages of one partition's request: counted together, not one by one.
static void take_event(rd_kafka_event_t *event)
{
    struct pass_handle *handle = NULL;
    int32_t partition = 0;
    int64_t count = 0;
    const rd_kafka_message_t *message = NULL;
    while ((message = rd_kafka_event_message_next(event)) != NULL) {
        if (handle == NULL || message->partition != partition) {
            if (handle != NULL) {
                atomic_fetch_sub_explicit(&handle->unacknowledged[partition], count,
                                          memory_order_release);
            }
            handle = message->_private;
            partition = message->partition;
            count = 0;
        }
        count++;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            atomic_fetch_add_explicit(&handle->failed, 1, memory_order_relaxed);
        }
    }
    if (handle != NULL) {
        atomic_fetch_sub_explicit(&handle->unacknowledged[partition], count, memory_order_release);
    }
}

static bool serve_event(struct pass_handle *handle, int timeout_ms)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(handle->reports, timeout_ms);
    if (event == NULL) {
        return false;
    }
    take_event(event);
    rd_kafka_event_destroy(event);
    return true;
}

void pass_serve_reports(struct pass *pass, struct pass_handle *handle, int timeout_ms)
{
    switch (pass->options.reports) {
    case PASS_REPORTS_CALLBACK:
        rd_kafka_poll(handle->producer, timeout_ms);
        break;
    case PASS_REPORTS_EVENTS:
        while (serve_event(handle, timeout_ms)) {
            timeout_ms = 0;
        }
        break;
    case PASS_REPORTS_THREAD:
        break;
    }
}

// Each handle's queue is polled by itself: a report that comes out of a queue of another handle is
// taken off that other handle's count of messages, which librdkafka's own assertion then ends.
static void *run_reports(void *opaque)
{
    struct pass *pass = opaque;
    struct pollfd wake = {.fd = report_fd, .events = POLLIN};
    while (!atomic_load_explicit(&pass->is_over, memory_order_acquire)) {
        uint64_t count = 0;
        if (poll(&wake, 1, 50) > 0 && read(report_fd, &count, sizeof(count)) < 0) {
            weir_bench_die("read of an eventfd: %s", strerror(errno));
        }
        for (int i = 0; i < HANDLE_COUNT; i++) {
            while (serve_event(&pass->handles[i], 0)) {
            }
        }
    }
    return NULL;
}

static void *run_opening(void *opaque)
{
    struct opening *opening = opaque;
    struct pass *pass = opening->pass;
    struct pass_handle *handle = &pass->handles[opening->index];
    char id[128];
    snprintf(id, sizeof(id), "%s-0-%d", pass->options.id, opening->index);
    handle->producer = weir_bench_producer_create(
        pass->options.brokers, id,
        pass->options.reports == PASS_REPORTS_CALLBACK ? WEIR_BENCH_REPORTS_CALLBACK
                                                       : WEIR_BENCH_REPORTS_EVENT,
        on_delivered, handle, &pass->options.producer_settings);
    handle->topic = rd_kafka_topic_new(handle->producer, pass->options.output, NULL);
    handle->reports = rd_kafka_queue_get_main(handle->producer);
    return NULL;
}

void pass_handles_open(struct pass *pass)
{
    struct opening openings[HANDLE_COUNT];
    for (int i = 0; i < HANDLE_COUNT; i++) {
        openings[i] = (struct opening){.pass = pass, .index = i};
        pthread_create(&openings[i].thread, NULL, run_opening, &openings[i]);
    }
    for (int i = 0; i < HANDLE_COUNT; i++) {
        pthread_join(openings[i].thread, NULL);
    }
    pass->output_partition_count =
        weir_bench_partition_count(pass->handles[0].producer, pass->options.output);
    if (pass->options.reports == PASS_REPORTS_THREAD) {
        static const uint64_t one = 1;
        report_fd = eventfd(0, EFD_CLOEXEC);
        for (int i = 0; i < HANDLE_COUNT; i++) {
            rd_kafka_queue_io_event_enable(pass->handles[i].reports, report_fd, &one, sizeof(one));
        }
        pthread_create(&report_thread, NULL, run_reports, pass);
    }
}

void pass_handles_close(struct pass *pass)
{
    if (pass->options.reports == PASS_REPORTS_THREAD) {
        pthread_join(report_thread, NULL);
        for (int i = 0; i < HANDLE_COUNT; i++) {
            rd_kafka_queue_io_event_enable(pass->handles[i].reports, -1, NULL, 0);
        }
        close(report_fd);
    }
    for (int i = 0; i < HANDLE_COUNT; i++) {
        rd_kafka_queue_destroy(pass->handles[i].reports);
        rd_kafka_topic_destroy(pass->handles[i].topic);
        rd_kafka_destroy(pass->handles[i].producer);
    }
}

void pass_commit(struct pass *pass, int64_t epoch)
{
    struct pass_handle *handle = pass_handle_of(pass, epoch);
    while (pass->options.reports == PASS_REPORTS_EVENTS &&
           rd_kafka_outq_len(handle->producer) > 0) {
        pass_serve_reports(pass, handle, 10);
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(handle->producer, COMMIT_TIMEOUT_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("flush: %s", rd_kafka_err2str(code));
    }
    if (atomic_load(&handle->failed) > 0) {
        weir_bench_die("%lld rows were not delivered", (long long)atomic_load(&handle->failed));
    }
    // As long as weir's pointer: it is part of what a commit costs.
    char metadata[64];
    snprintf(metadata, sizeof(metadata), "w1:%lld:0123456789abcdef:0123456789abcdef",
             (long long)epoch);
    rd_kafka_topic_partition_list_t *offsets =
        rd_kafka_topic_partition_list_new(pass->partition_count);
    for (int32_t p = 0; p < pass->partition_count; p++) {
        rd_kafka_topic_partition_t *offset =
            rd_kafka_topic_partition_list_add(offsets, pass->options.input, p);
        offset->offset = pass->barrier_positions[p];
        offset->metadata = strdup(metadata);
        offset->metadata_size = strlen(metadata);
    }
    rd_kafka_consumer_group_metadata_t *group =
        rd_kafka_consumer_group_metadata(pass->tasks[0].consumer);
    weir_bench_check(
        rd_kafka_send_offsets_to_transaction(handle->producer, offsets, group, COMMIT_TIMEOUT_MS),
        "send_offsets");
    rd_kafka_consumer_group_metadata_destroy(group);
    rd_kafka_topic_partition_list_destroy(offsets);
    weir_bench_check(rd_kafka_commit_transaction(handle->producer, COMMIT_TIMEOUT_MS), "commit");
}
