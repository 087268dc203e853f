// SPDX-License-Identifier: Apache-2.0
// See writer.h. On the way of a row: sink → weir_writer_write → client (the epoch's producer) →
// delivery report (delivered(), on the client's thread) → resume() releases the epoch's snapshot.
//
// Invariants
// 1. A row of epoch n + 1 for partition p is handed over only when no row of epoch n for p is
//    unacknowledged or held: otherwise a retry could put an older row behind a newer one. So
//    committing n stops nobody, and rows of one partition arrive in order across two producers.
// 2. Held rows of a partition are handed over in the order in which they were written.
// 3. The snapshot of epoch n is let go when rows written, handed over and acknowledged in n are as
//    many. A held row counts as written.
//    At least once all epochs share a counter a partition: reports of an idempotent producer come
//    in order, so that epoch n is complete when as many have come as rows had been written by then.
// 4. acknowledged_count has one writer, the handle's delivery thread; the rest is the task's. The
//    task asks to be woken (wants_wake) before it looks once more and sleeps: no report is missed.
#include "kafka/writer.h"

#include "runtime/base/clock.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/limits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    // What librdkafka adds at most when it compares a message with message.max.bytes: lengths,
    // deltas and attributes of a record.
    CLIENT_OVERHEAD_BYTES = 36,
    BATCH_HEAD_BYTES = 61,    // of a record batch, format 2
    OVERHEAD_BYTES_MAX = 128, // more than both together add to a message without headers
    CACHE_LINE_BYTES = 64,
    SHOWN_KEY_BYTES_MAX = 100,
};

// Rows of one epoch for one partition. Registered with the client as the rows' delivery.
struct slot {
    struct weir_delivery delivery; // first: the client's callbacks get this
    struct weir_writer *writer;
    uint64_t written_count; // the task's
    uint64_t handed_count;  // the task's: written, less the held ones
    // Apart: two threads count at the same time.
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t acknowledged_count;
};

struct held_row {
    struct held_row *next; // of the same partition
    int64_t epoch;
    struct weir_message message; // views and headers in the held arena
};

struct partition {
    struct held_row *held_first;
    struct held_row *held_last;
    int64_t open_epoch; // rows up to this epoch may be handed over
};

struct epoch_end {
    int64_t epoch;
    struct weir_snapshot *snapshot; // NULL: let go
    uint64_t *written_counts;       // at least once, by partition: at the barrier
};

struct weir_writer {
    struct weir_writer_config config;
    uint64_t surely_bytes_max; // a message of so many bytes, without headers, is not too large
    int64_t epoch;             // of the rows being written
    struct slot *slots;        // [WEIR_HANDLE_COUNT][partition_count]
    struct partition *partitions;
    struct epoch_end ends[WEIR_HANDLE_COUNT]; // by epoch mod 4
    uint32_t unfinished_count;                // epochs whose snapshot is held
    uint64_t held_count;
    struct weir_arena *held;
    bool is_blocked; // held too much; until everything is gone
    atomic_bool wants_wake;
    atomic_bool has_failed;
    pthread_mutex_t failure_lock;
    struct weir_error failure; // the first one; guarded by failure_lock
};

static struct slot *slot_of(struct weir_writer *writer, int64_t epoch, int32_t partition)
{
    size_t row = writer->config.is_at_least_once ? 0 : (size_t)(epoch % WEIR_HANDLE_COUNT);
    return &writer->slots[row * writer->config.partition_count + (size_t)partition];
}

static void wake_if_wanted(struct weir_writer *writer)
{
    if (atomic_load(&writer->wants_wake) && atomic_exchange(&writer->wants_wake, false)) {
        weir_mailbox_wake(writer->config.mailbox);
    }
}

// Thread: the client's delivery thread of the slot's handle.
static void delivered(struct weir_delivery *delivery, uint32_t count)
{
    struct slot *slot = (struct slot *)delivery;
    atomic_fetch_add(&slot->acknowledged_count, count);
    wake_if_wanted(slot->writer);
}

// Thread: as above.
static void failed(struct weir_delivery *delivery, const struct weir_error *error)
{
    struct weir_writer *writer = ((struct slot *)delivery)->writer;
    pthread_mutex_lock(&writer->failure_lock);
    if (!atomic_load(&writer->has_failed)) {
        writer->failure = *error;
        atomic_store(&writer->has_failed, true);
    }
    pthread_mutex_unlock(&writer->failure_lock);
    weir_mailbox_wake(writer->config.mailbox);
}

struct weir_writer *weir_writer_create(const struct weir_writer_config *config)
{
    WEIR_ASSERT(config->partition_count > 0);
    struct weir_writer *writer = weir_alloc_zero(sizeof *writer);
    writer->config = *config;
    uint64_t least_bytes = config->client_bytes_max;
    if (config->topic_bytes_max != 0 && config->topic_bytes_max < least_bytes) {
        least_bytes = config->topic_bytes_max;
    }
    writer->surely_bytes_max =
        least_bytes > OVERHEAD_BYTES_MAX ? least_bytes - OVERHEAD_BYTES_MAX : 0;
    writer->epoch = config->first_epoch;
    uint32_t slot_count = WEIR_HANDLE_COUNT * config->partition_count;
    writer->slots = aligned_alloc(CACHE_LINE_BYTES, slot_count * sizeof *writer->slots);
    WEIR_ASSERT(writer->slots != NULL);
    memset(writer->slots, 0, slot_count * sizeof *writer->slots);
    for (uint32_t i = 0; i < slot_count; i++) {
        writer->slots[i].delivery =
            (struct weir_delivery){.delivered = delivered, .failed = failed};
        writer->slots[i].writer = writer;
    }
    writer->partitions = weir_alloc_zero(config->partition_count * sizeof *writer->partitions);
    for (uint32_t i = 0; i < config->partition_count; i++) {
        writer->partitions[i].open_epoch = config->first_epoch;
    }
    for (int i = 0; config->is_at_least_once && i < WEIR_HANDLE_COUNT; i++) {
        writer->ends[i].written_counts =
            weir_alloc_zero(config->partition_count * sizeof *writer->ends[i].written_counts);
    }
    writer->held = weir_arena_create(256 << 10);
    pthread_mutex_init(&writer->failure_lock, NULL);
    return writer;
}

void weir_writer_destroy(struct weir_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        if (writer->ends[i].snapshot != NULL) {
            weir_snapshot_abandon(writer->ends[i].snapshot);
        }
        free(writer->ends[i].written_counts);
    }
    pthread_mutex_destroy(&writer->failure_lock);
    weir_arena_destroy(writer->held);
    free(writer->partitions);
    free(writer->slots);
    free(writer);
}

uint32_t weir_writer_partition_count(const struct weir_writer *writer)
{
    return writer->config.partition_count;
}

const char *weir_writer_topic(const struct weir_writer *writer)
{
    return writer->config.topic;
}

bool weir_writer_is_full(const struct weir_writer *writer)
{
    return writer->is_blocked;
}

bool weir_writer_is_waiting(const struct weir_writer *writer)
{
    return writer->held_count > 0;
}

static uint64_t varint_bytes(int64_t number)
{
    uint64_t zigzag = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    uint64_t count = 1;
    for (; zigzag >= 0x80; zigzag >>= 7) {
        count++;
    }
    return count;
}

// A nullable length and what follows it.
static uint64_t field_bytes(struct weir_view view)
{
    return view.data == NULL ? varint_bytes(-1)
                             : varint_bytes((int64_t)view.size_bytes) + view.size_bytes;
}

static uint64_t headers_bytes(const struct weir_message *message)
{
    uint64_t size_bytes = 0;
    for (uint32_t i = 0; i < message->header_count; i++) {
        size_bytes += field_bytes(weir_view_of(message->headers[i].name)) +
                      field_bytes(message->headers[i].value);
    }
    return size_bytes;
}

// The record batch that holds this message alone, uncompressed: what a broker compares.
static uint64_t alone_bytes(const struct weir_message *message, uint64_t headers)
{
    // Attributes and the deltas of time and offset, which are 0.
    uint64_t body = 3 + field_bytes(message->key) + field_bytes(message->value) +
                    varint_bytes(message->header_count) + headers;
    return BATCH_HEAD_BYTES + varint_bytes((int64_t)body) + body;
}

bool weir_writer_is_too_large(const struct weir_writer *writer, const struct weir_message *message,
                              char *text, size_t text_bytes)
{
    const struct weir_writer_config *config = &writer->config;
    uint64_t size_bytes = message->key.size_bytes + message->value.size_bytes;
    if (message->header_count == 0 && size_bytes <= writer->surely_bytes_max) {
        return false;
    }
    uint64_t headers = headers_bytes(message);
    size_bytes += headers;
    bool is_client = size_bytes + CLIENT_OVERHEAD_BYTES > config->client_bytes_max;
    bool is_topic =
        config->topic_bytes_max != 0 && alone_bytes(message, headers) > config->topic_bytes_max;
    if (!is_client && !is_topic) {
        return false;
    }
    size_t key_bytes = message->key.size_bytes;
    bool is_cut = key_bytes > SHOWN_KEY_BYTES_MAX;
    snprintf(text, text_bytes, "%s%.*s%s%s of %" PRIu64 " bytes: %s%s takes %" PRIu64 " (%s)",
             message->key.data != NULL ? "key \"" : "a row without key",
             is_cut ? SHOWN_KEY_BYTES_MAX : (int)key_bytes,
             message->key.data != NULL ? message->key.data : "", is_cut ? "…" : "",
             message->key.data != NULL ? "\", a row" : "", size_bytes,
             is_client ? "the client" : "topic ", is_client ? "" : config->topic,
             is_client ? config->client_bytes_max : config->topic_bytes_max,
             is_client ? "message.max.bytes" : "max.message.bytes");
    return true;
}

// The epoch's rows wait for no others to be sent with: somebody waits for their acknowledgements.
static void send_now(struct weir_writer *writer, int64_t epoch)
{
    struct weir_producer *producer = weir_handles_producer(writer->config.handles, epoch);
    producer->ops->send_now(producer);
}

// Gives the row to the client. *is_taken false: its queue is full, the row stays with the caller.
static enum weir_status hand_over(struct weir_writer *writer, struct slot *slot, int64_t epoch,
                                  const struct weir_message *message, bool *is_taken,
                                  struct weir_error *error)
{
    struct weir_producer *producer = weir_handles_producer(writer->config.handles, epoch);
    *is_taken = false;
    switch (producer->ops->produce(producer, message, &slot->delivery, error)) {
    case WEIR_PRODUCE_TAKEN:
        slot->handed_count++;
        *is_taken = true;
        return WEIR_OK;
    case WEIR_PRODUCE_FULL:
        send_now(writer, epoch); // a queue of small batches would linger, full as it is
        return WEIR_OK;
    case WEIR_PRODUCE_FAILED:
        return WEIR_ERROR;
    }
    WEIR_ASSERT(!"unreachable");
}

static void hold(struct weir_writer *writer, struct partition *partition,
                 const struct weir_message *message)
{
    struct held_row *row = weir_arena_alloc(writer->held, sizeof *row);
    *row = (struct held_row){.epoch = writer->epoch, .message = *message};
    row->message.key = weir_arena_copy(writer->held, message->key);
    row->message.value = weir_arena_copy(writer->held, message->value);
    struct weir_header *headers =
        weir_arena_alloc(writer->held, message->header_count * sizeof *headers);
    for (uint32_t i = 0; i < message->header_count; i++) {
        headers[i].name = weir_arena_strdup(writer->held, message->headers[i].name);
        headers[i].value = weir_arena_copy(writer->held, message->headers[i].value);
    }
    row->message.headers = headers;
    if (partition->held_last != NULL) {
        partition->held_last->next = row;
    } else {
        partition->held_first = row;
    }
    partition->held_last = row;
    writer->held_count++;
    writer->is_blocked = weir_arena_used_bytes(writer->held) >= writer->config.held_bytes_max;
}

static bool is_acknowledged(struct slot *slot)
{
    return slot->written_count == slot->handed_count &&
           slot->handed_count == atomic_load(&slot->acknowledged_count);
}

// Moves the partition's gate as far as acknowledgements allow (invariant 1).
static void open_gate(struct weir_writer *writer, struct partition *partition, int32_t idx)
{
    while (partition->open_epoch < writer->epoch &&
           (is_acknowledged(slot_of(writer, partition->open_epoch, idx)) ||
            weir_failpoint("writer.open_early"))) {
        partition->open_epoch++;
    }
}

enum weir_status weir_writer_write(struct weir_writer *writer, const struct weir_message *message,
                                   struct weir_error *error)
{
    WEIR_DASSERT(message->partition >= 0 &&
                 (uint32_t)message->partition < writer->config.partition_count);
    struct partition *partition = &writer->partitions[message->partition];
    struct slot *slot = slot_of(writer, writer->epoch, message->partition);
    struct weir_message copy = *message;
    copy.topic = writer->config.topic;
    bool is_taken = false;
    char too_large[512];
    if (weir_writer_is_too_large(writer, &copy, too_large, sizeof too_large)) {
        return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "%s", too_large);
    }
    if (partition->held_first == NULL) {
        open_gate(writer, partition, message->partition);
    }
    slot->written_count++;
    if (partition->held_first == NULL && partition->open_epoch == writer->epoch) {
        if (hand_over(writer, slot, writer->epoch, &copy, &is_taken, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (!is_taken) {
        hold(writer, partition, &copy);
        // From now on a delivery report is news. resume() looks again after this.
        atomic_store(&writer->wants_wake, true);
    }
    return WEIR_OK;
}

static void give_up(struct weir_writer *writer, struct epoch_end *end)
{
    if (end->snapshot != NULL) {
        weir_snapshot_abandon(end->snapshot);
        end->snapshot = NULL;
        writer->unfinished_count--;
    }
}

void weir_writer_cancel(struct weir_writer *writer, int64_t number)
{
    struct epoch_end *end = &writer->ends[number % WEIR_HANDLE_COUNT];
    if (writer->config.is_at_least_once && end->epoch == number) {
        give_up(writer, end);
    }
}

// Numbers may be passed over. A snapshot that still waits after four more barriers is of a
// checkpoint that was given up: no more than three are pending.
static void barrier_at_least_once(struct weir_writer *writer, const struct weir_barrier *barrier,
                                  struct weir_snapshot *snapshot)
{
    WEIR_ASSERT(barrier->number >= writer->epoch);
    struct epoch_end *end = &writer->ends[barrier->number % WEIR_HANDLE_COUNT];
    give_up(writer, end);
    weir_snapshot_hold(snapshot);
    end->epoch = barrier->number;
    end->snapshot = snapshot;
    writer->unfinished_count++;
    writer->epoch = barrier->number + 1;
    for (uint32_t i = 0; i < writer->config.partition_count; i++) {
        end->written_counts[i] = slot_of(writer, writer->epoch, (int32_t)i)->written_count;
        writer->partitions[i].open_epoch = writer->epoch;
    }
    send_now(writer, barrier->number);
}

void weir_writer_barrier(struct weir_writer *writer, const struct weir_barrier *barrier,
                         struct weir_snapshot *snapshot)
{
    if (writer->config.is_at_least_once) {
        barrier_at_least_once(writer, barrier, snapshot);
        return;
    }
    WEIR_ASSERT(barrier->number == writer->epoch);
    struct epoch_end *end = &writer->ends[writer->epoch % WEIR_HANDLE_COUNT];
    WEIR_ASSERT(end->snapshot == NULL);
    weir_snapshot_hold(snapshot);
    *end = (struct epoch_end){.epoch = writer->epoch, .snapshot = snapshot};
    writer->unfinished_count++;
    writer->epoch++;
    for (uint32_t i = 0; i < writer->config.partition_count; i++) {
        // The handle's former epoch is committed, or this barrier would not have been triggered.
        struct slot *slot = slot_of(writer, writer->epoch, (int32_t)i);
        WEIR_ASSERT(is_acknowledged(slot));
        open_gate(writer, &writer->partitions[i], (int32_t)i);
    }
    send_now(writer, barrier->number);
}

// Hands over the partition's held rows, oldest first, until the gate or a full queue stops it.
static enum weir_status drain(struct weir_writer *writer, int32_t idx, bool *is_queue_full,
                              struct weir_error *error)
{
    struct partition *partition = &writer->partitions[idx];
    while (partition->held_first != NULL) {
        struct held_row *row = partition->held_first;
        if (row->epoch > partition->open_epoch) {
            open_gate(writer, partition, idx);
            if (row->epoch > partition->open_epoch) {
                return WEIR_OK;
            }
        }
        bool is_taken = false;
        if (hand_over(writer, slot_of(writer, row->epoch, idx), row->epoch, &row->message,
                      &is_taken, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (!is_taken) {
            *is_queue_full = true;
            return WEIR_OK;
        }
        partition->held_first = row->next;
        if (row->next == NULL) {
            partition->held_last = NULL;
        }
        writer->held_count--;
    }
    open_gate(writer, partition, idx);
    return WEIR_OK;
}

static enum weir_status drain_all(struct weir_writer *writer, struct weir_error *error)
{
    bool is_queue_full = false;
    for (uint32_t i = 0; i < writer->config.partition_count && !is_queue_full; i++) {
        if (drain(writer, (int32_t)i, &is_queue_full, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (writer->held_count == 0) {
        weir_arena_reset(writer->held);
        writer->is_blocked = false;
    }
    return WEIR_OK;
}

static bool is_epoch_acknowledged(struct weir_writer *writer, const struct epoch_end *end)
{
    for (uint32_t i = 0; i < writer->config.partition_count; i++) {
        struct slot *slot = slot_of(writer, end->epoch, (int32_t)i);
        bool is_complete = writer->config.is_at_least_once
                               ? atomic_load(&slot->acknowledged_count) >= end->written_counts[i]
                               : is_acknowledged(slot);
        if (!is_complete) {
            return false;
        }
    }
    return true;
}

static void release_complete(struct weir_writer *writer)
{
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        struct epoch_end *end = &writer->ends[i];
        if (end->snapshot != NULL && is_epoch_acknowledged(writer, end)) {
            end->snapshot->flushed_us = weir_monotonic_us();
            weir_snapshot_release(end->snapshot);
            end->snapshot = NULL;
            writer->unfinished_count--;
        }
    }
}

enum weir_status weir_writer_resume(struct weir_writer *writer, struct weir_error *error)
{
    if (atomic_load(&writer->has_failed)) {
        pthread_mutex_lock(&writer->failure_lock);
        *error = writer->failure;
        pthread_mutex_unlock(&writer->failure_lock);
        return WEIR_ERROR;
    }
    if (writer->held_count == 0 && writer->unfinished_count == 0) {
        return WEIR_OK;
    }
    atomic_store(&writer->wants_wake, true); // before looking: invariant 4
    if (writer->held_count > 0 && drain_all(writer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    release_complete(writer);
    if (writer->held_count == 0 && writer->unfinished_count == 0) {
        atomic_store(&writer->wants_wake, false);
    }
    return WEIR_OK;
}
