// SPDX-License-Identifier: Apache-2.0
//
// The thread of a task of rawpass: a batch from the consumer, the same rows to the producer of the
// current epoch, again and again; between two batches it looks whether a barrier is due.
// Place: the whole way of a record. Invariants 1 and 2 of rawpass.h are kept here.
#include "measure.h"
#include "rawpass.h"

#include <stdlib.h>
#include <string.h>

// Rows of one call to the consumer that are to go out, and room for what the calls need.
struct outgoing {
    rd_kafka_message_t *rows; // as produce_batch takes them
    int64_t *timestamps_ms;
    size_t count;
};

static size_t payload_bytes(const struct pass_options *options, size_t length)
{
    size_t cut = (size_t)options->cut_bytes;
    return cut != 0 && length > cut ? cut : length;
}

static void mark_end(struct pass_task *task, int32_t partition)
{
    if (!task->is_at_end[partition]) {
        task->is_at_end[partition] = true;
        task->unread--;
        if (task->unread == 0) {
            atomic_fetch_add_explicit(&task->pass->tasks_read, 1, memory_order_release);
        }
    }
}

// Notes the message's position and puts it among the outgoing rows unless it is none of them.
static void take(struct pass_task *task, rd_kafka_message_t *message, struct outgoing *outgoing)
{
    struct pass *pass = task->pass;
    const struct pass_options *options = &pass->options;
    int32_t partition = message->partition;
    int64_t end = pass->partitions[partition].end;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        task->positions[partition] = message->offset < end ? message->offset : end;
    } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("consume: %s", rd_kafka_message_errstr(message));
    } else if (message->offset < end) {
        task->positions[partition] = message->offset + 1;
        task->rows_in++;
        task->bytes_in += (int64_t)message->len;
        task->share += options->keep_per_mille;
        if (task->share >= 1000) {
            task->share -= 1000;
            rd_kafka_message_t *row = &outgoing->rows[outgoing->count];
            row->partition = partition % pass->output_partition_count;
            row->payload = message->payload;
            row->len = payload_bytes(options, message->len);
            row->key = NULL;
            row->key_len = 0;
            if (options->timestamps) {
                outgoing->timestamps_ms[outgoing->count] =
                    rd_kafka_message_timestamp(message, NULL);
            }
            outgoing->count++;
        }
    }
    if (task->positions[partition] >= end) {
        mark_end(task, partition);
    }
}

// The producer's queue is full: let delivery reports in.
static void wait_for_room(struct pass_task *task, struct pass_handle *handle)
{
    task->full_count++;
    if (task->pass->options.reports == PASS_REPORTS_THREAD) {
        weir_bench_nap_us(500);
    } else {
        pass_serve_reports(task->pass, handle, 5);
    }
}

// Hands rows[0..count) to produce_batch until all are taken. Rows that were refused because the
// queue was full carry that error; librdkafka refuses all that follow, so order is kept.
static void send_rows(struct pass_task *task, struct pass_handle *handle, int32_t partition,
                      int flags, rd_kafka_message_t *rows, size_t count)
{
    while (count > 0) {
        int taken = rd_kafka_produce_batch(handle->topic, partition, flags | RD_KAFKA_MSG_F_COPY,
                                           rows, (int)count);
        if ((size_t)taken < count && rows[taken].err != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            weir_bench_die("produce_batch: %s", rd_kafka_err2str(rows[taken].err));
        }
        rows += taken;
        count -= (size_t)taken;
        if (count > 0) {
            wait_for_room(task, handle);
        }
    }
}

static void send_runs(struct pass_task *task, struct pass_handle *handle, struct outgoing *outgoing)
{
    size_t start = 0;
    for (size_t i = 1; i <= outgoing->count; i++) {
        int32_t partition = outgoing->rows[start].partition;
        if (i == outgoing->count || outgoing->rows[i].partition != partition) {
            send_rows(task, handle, partition, 0, outgoing->rows + start, i - start);
            start = i;
        }
    }
}

static void send_by_producev(struct pass_task *task, struct pass_handle *handle,
                             struct outgoing *outgoing)
{
    for (size_t i = 0; i < outgoing->count;) {
        const rd_kafka_message_t *row = &outgoing->rows[i];
        rd_kafka_resp_err_t code = rd_kafka_producev(
            handle->producer, RD_KAFKA_V_RKT(handle->topic), RD_KAFKA_V_PARTITION(row->partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(row->payload, row->len),
            RD_KAFKA_V_TIMESTAMP(outgoing->timestamps_ms[i]), RD_KAFKA_V_OPAQUE(handle),
            RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            i++;
        } else if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            wait_for_room(task, handle);
        } else {
            weir_bench_die("producev: %s", rd_kafka_err2str(code));
        }
    }
}

static void send_by_produceva(struct pass_task *task, struct pass_handle *handle,
                              struct outgoing *outgoing)
{
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = handle->topic},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_PARTITION},
        {.vtype = RD_KAFKA_VTYPE_VALUE},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = handle},
    };
    for (size_t i = 0; i < outgoing->count;) {
        const rd_kafka_message_t *row = &outgoing->rows[i];
        arguments[2].u.i32 = row->partition;
        arguments[3].u.mem.ptr = row->payload;
        arguments[3].u.mem.size = row->len;
        arguments[4].u.i64 = outgoing->timestamps_ms[i];
        rd_kafka_error_t *error =
            rd_kafka_produceva(handle->producer, arguments, sizeof(arguments) / sizeof(*arguments));
        if (error == NULL) {
            i++;
        } else if (rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_error_destroy(error);
            wait_for_room(task, handle);
        } else {
            weir_bench_check(error, "produceva");
        }
    }
}

static void send_outgoing(struct pass_task *task, struct outgoing *outgoing)
{
    struct pass_handle *handle = pass_handle_of(task->pass, task->epoch);
    for (size_t i = 0; i < outgoing->count;) {
        size_t first = i;
        int32_t partition = outgoing->rows[i].partition;
        while (i < outgoing->count && outgoing->rows[i].partition == partition) {
            task->bytes_out += (int64_t)outgoing->rows[i].len;
            outgoing->rows[i]._private = handle; // comes back with the delivery report
            i++;
        }
        atomic_fetch_add_explicit(&handle->unacknowledged[partition], (int64_t)(i - first),
                                  memory_order_relaxed);
    }
    task->rows_out += (int64_t)outgoing->count;
    switch (task->pass->options.form) {
    case PASS_BATCH:
        send_runs(task, handle, outgoing);
        break;
    case PASS_PARTITIONS:
        send_rows(task, handle, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_PARTITION, outgoing->rows,
                  outgoing->count);
        break;
    case PASS_V:
        send_by_producev(task, handle, outgoing);
        break;
    case PASS_VA:
        send_by_produceva(task, handle, outgoing);
        break;
    }
    pass_serve_reports(task->pass, handle, 0);
}

// Crosses into the next epoch: leaves the positions, then waits until the rows of the old epoch are
// acknowledged (invariant 1). The main thread's flush serves their reports meanwhile.
static void cross_barrier(struct pass_task *task)
{
    struct pass *pass = task->pass;
    struct pass_handle *old = pass_handle_of(pass, task->epoch);
    pthread_mutex_lock(&pass->lock);
    for (int32_t p = task->index; p < pass->partition_count; p += (int)pass->options.task_count) {
        pass->barrier_positions[p] = task->positions[p];
    }
    pass->arrived_count++;
    pthread_cond_signal(&pass->arrived);
    pthread_mutex_unlock(&pass->lock);
    task->epoch++;
    int64_t start_us = weir_bench_monotonic_us();
    for (int32_t p = task->index; p < pass->partition_count; p += (int)pass->options.task_count) {
        int32_t out = p % pass->output_partition_count;
        while (atomic_load_explicit(&old->unacknowledged[out], memory_order_acquire) > 0) {
            weir_bench_nap_us(200);
        }
    }
    int64_t hold_us = weir_bench_monotonic_us() - start_us;
    task->longest_hold_us = hold_us > task->longest_hold_us ? hold_us : task->longest_hold_us;
}

void *pass_task_run(void *opaque)
{
    struct pass_task *task = opaque;
    struct pass *pass = task->pass;
    size_t rows_max = (size_t)pass->options.batch_rows;
    rd_kafka_message_t **messages = calloc(rows_max, sizeof(*messages));
    struct outgoing outgoing = {
        .rows = calloc(rows_max, sizeof(*outgoing.rows)),
        .timestamps_ms = calloc(rows_max, sizeof(*outgoing.timestamps_ms)),
    };
    while (!atomic_load_explicit(&pass->is_over, memory_order_acquire)) {
        if (atomic_load_explicit(&pass->epoch, memory_order_acquire) > task->epoch) {
            cross_barrier(task);
        }
        ssize_t count = rd_kafka_consume_batch_queue(task->queue, (int)pass->options.timeout_ms,
                                                     messages, rows_max);
        outgoing.count = 0;
        for (ssize_t i = 0; i < count; i++) {
            take(task, messages[i], &outgoing);
        }
        if (outgoing.count > 0) {
            send_outgoing(task, &outgoing);
        }
        for (ssize_t i = 0; i < count; i++) {
            rd_kafka_message_destroy(messages[i]);
        }
    }
    task->cpu_us = weir_bench_thread_cpu_us();
    free(messages);
    free(outgoing.rows);
    free(outgoing.timestamps_ms);
    return NULL;
}
