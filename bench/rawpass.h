// SPDX-License-Identifier: Apache-2.0
//
// What the files of rawpass share: options, producer handles, tasks, and the hand-over at a
// barrier.
//
// rawpass moves records from one topic to another in transactions, exactly as weir does it but
// without looking into them: the most that a Kafka-to-Kafka engine on librdkafka can reach. Epoch n
// belongs to producer handle n mod 4; the main thread commits epoch n while the tasks go on with
// epoch n+1.
//
// Invariants:
//  1. A task hands a row of epoch n+1 for partition p to the producer only when no row of epoch n
//  for
//     p is unacknowledged (two handles have two connections: a newer row could overtake an older
//     one).
//  2. The positions committed with epoch n are those at which each task crossed from n to n+1.
//  3. Epoch n is committed only when all its delivery reports are in and none is an error.
#ifndef WEIR_BENCH_RAWPASS_H
#define WEIR_BENCH_RAWPASS_H

#include "client.h"

#include <pthread.h>
#include <stdatomic.h>

enum { HANDLE_COUNT = 4, TASKS_MAX = 64, PARTITIONS_MAX = 512 };

// The calls by which rows reach the producer.
enum pass_form {
    PASS_BATCH,      // produce_batch, one call for each run of rows of one partition
    PASS_PARTITIONS, // produce_batch with F_PARTITION, one call for all rows
    PASS_V,          // producev, one call a row
    PASS_VA,         // produceva from a prepared array, one call a row
};

// Who serves delivery reports.
enum pass_reports {
    PASS_REPORTS_CALLBACK, // tasks between two batches, and flush: dr_msg_cb
    PASS_REPORTS_EVENTS,   // tasks between two batches, and the commit: events
    PASS_REPORTS_THREAD,   // a thread of their own: events
};

struct pass_options {
    const char *brokers;
    const char *input;
    const char *output;
    const char *id; // group and prefix of the transactional ids
    const char *form_name;
    enum pass_form form;
    bool timestamps; // rows keep the timestamp of their record
    const char *reports_name;
    enum pass_reports reports;
    int64_t interval_ms;
    int64_t cut_bytes; // payload is cut to so many; 0: not at all
    int64_t keep_per_mille; // rows that go out
    int64_t task_count;
    int64_t batch_rows;
    int64_t timeout_ms;
    struct weir_bench_settings consumer_settings;
    struct weir_bench_settings producer_settings;
};

// One of the four producers. Thread: counters are atomic; the rest is fixed after creation.
struct pass_handle {
    rd_kafka_t *producer;
    rd_kafka_topic_t *topic;
    rd_kafka_queue_t *reports;                      // its main queue
    _Atomic int64_t unacknowledged[PARTITIONS_MAX]; // rows handed over minus delivery reports
    _Atomic int64_t failed;
};

struct pass;

// One consumer handle and the thread that moves its rows.
struct pass_task {
    struct pass *pass;
    int index;
    pthread_t thread;
    rd_kafka_t *consumer;
    rd_kafka_queue_t *queue;
    int64_t epoch;
    int64_t share; // of the next row that goes out, in thousandths
    bool is_at_end[PARTITIONS_MAX];    // of this task's partitions
    int64_t positions[PARTITIONS_MAX]; // next offset; of this task's partitions
    int64_t unread;                    // partitions not yet at their end
    int64_t rows_in;
    int64_t rows_out;
    int64_t bytes_in;
    int64_t bytes_out;
    int64_t full_count; // times that the producer's queue was full
    int64_t cpu_us;
    int64_t longest_hold_us; // longest wait for acknowledgements after a barrier
};

struct pass {
    struct pass_options options;
    int32_t partition_count; // of the input; the output has at least as many
    int32_t output_partition_count;
    struct weir_bench_partition *partitions;
    struct pass_handle handles[HANDLE_COUNT];
    struct pass_task tasks[TASKS_MAX];
    _Atomic int64_t epoch;      // the epoch that tasks should be in
    _Atomic int64_t tasks_read; // tasks that have reached the end
    _Atomic bool is_over;
    pthread_mutex_t lock; // guards the two below
    pthread_cond_t arrived;
    int64_t arrived_count; // tasks that have crossed the barrier into `epoch`
    int64_t barrier_positions[PARTITIONS_MAX];
};

// Creates the four producers, side by side, and starts the report thread if that is wanted.
void pass_handles_open(struct pass *pass);
void pass_handles_close(struct pass *pass);

// Serves what delivery reports there are; waits up to `timeout_ms` for the first. Not with a
// thread.
void pass_serve_reports(struct pass *pass, struct pass_handle *handle, int timeout_ms);

// Commits epoch `epoch` with the positions of its barrier. Called by the main thread only.
void pass_commit(struct pass *pass, int64_t epoch);

// The thread of a task; its argument is a struct pass_task.
void *pass_task_run(void *opaque);

static inline struct pass_handle *pass_handle_of(struct pass *pass, int64_t epoch)
{
    return &pass->handles[epoch % HANDLE_COUNT];
}

#endif
