// SPDX-License-Identifier: Apache-2.0
// A writer: the rows of one task for one topic, on their way into the transaction of their epoch.
// Sinks, dead letters and late rows all go through one of these. Rows are handed to the client at
// once where that is allowed, else held in bounded memory (back-pressure beyond it).
// Thread: the task's, but for the delivery counters.
#ifndef WEIR_KAFKA_WRITER_H
#define WEIR_KAFKA_WRITER_H

#include "kafka/client.h"
#include "kafka/handles.h"
#include "runtime/mailbox.h"
#include "runtime/operator.h"
#include "runtime/snapshot.h"

struct weir_writer;

struct weir_writer_config {
    struct weir_handles *handles;
    const char *topic; // as long as the writer
    uint32_t partition_count;
    int64_t first_epoch;   // of the first row
    bool is_at_least_once; // one producer for all epochs, which keeps the order by itself
    // Of the task: woken when held rows may go or an epoch is complete.
    struct weir_mailbox *mailbox;
    size_t held_bytes_max;
    uint64_t client_bytes_max; // of one message, as the client counts
    uint64_t topic_bytes_max;  // of one message, as the brokers count; 0: not known
};

struct weir_writer *weir_writer_create(const struct weir_writer_config *config);
void weir_writer_destroy(struct weir_writer *writer); // after the handles are closed

uint32_t weir_writer_partition_count(const struct weir_writer *writer);
const char *weir_writer_topic(const struct weir_writer *writer);

// Is the message larger than the client or the topic's brokers take? Then the text says which key,
// how large, and whose limit it is.
bool weir_writer_is_too_large(const struct weir_writer *writer, const struct weir_message *message,
                              char *text, size_t text_bytes);

// Takes a copy of the message (its topic is ignored). Error: the epoch is lost; too large: FAIL.
enum weir_status weir_writer_write(struct weir_writer *writer, const struct weir_message *message,
                                   struct weir_error *error);

// No more rows should be written until resume says otherwise.
bool weir_writer_is_full(const struct weir_writer *writer);
// Rows are held back: call resume again soon, even if nobody wakes the task (a producer queue that
// other tasks filled has room again without a report to this one).
bool weir_writer_is_waiting(const struct weir_writer *writer);

// Rows written from now on belong to the next epoch. Holds the snapshot until every row of this one
// has its good delivery report.
void weir_writer_barrier(struct weir_writer *writer, const struct weir_barrier *barrier,
                         struct weir_snapshot *snapshot);

// At least once: the checkpoint will not be; its snapshot is let go of.
void weir_writer_cancel(struct weir_writer *writer, int64_t number);

// Hands over what was held as far as allowed, lets go of the snapshots of complete epochs, and
// reports a failed delivery. Cheap when there is nothing to do.
enum weir_status weir_writer_resume(struct weir_writer *writer, struct weir_error *error);

#endif
