// SPDX-License-Identifier: Apache-2.0
// A channel: the bounded way from one task to another. Carries batches, time, barriers and the end
// of input, in order. One producer, one consumer; a full channel is back-pressure, not an error.
// Threads: push by the producer's, pop by the consumer's; each is woken through its own mailbox.
#ifndef WEIR_RUNTIME_CHANNEL_H
#define WEIR_RUNTIME_CHANNEL_H

#include "runtime/batch.h"
#include "runtime/mailbox.h"
#include "runtime/operator.h"

enum weir_item_kind {
    WEIR_ITEM_BATCH,     // payload owned by the receiver after pop
    WEIR_ITEM_TIME,
    WEIR_ITEM_BARRIER,
    WEIR_ITEM_CANCEL, // the checkpoint of barrier.number will not be: align for it no longer
    WEIR_ITEM_END,    // nothing follows
};

struct weir_item {
    enum weir_item_kind kind;
    struct weir_barrier barrier;
    struct weir_time time;
    struct weir_batch *batch;
};

struct weir_channel;

// capacity: items, a power of two. drop_batch frees a batch that nobody pops.
struct weir_channel *weir_channel_create(uint32_t capacity, struct weir_mailbox *producer,
                                         struct weir_mailbox *consumer,
                                         void (*drop_batch)(struct weir_batch *batch));
void weir_channel_destroy(struct weir_channel *channel); // both sides have ended

// False: full; the producer is woken when there is room. On true *item belongs to the channel.
bool weir_channel_push(struct weir_channel *channel, const struct weir_item *item);

// False: empty; the consumer is woken when something comes.
bool weir_channel_pop(struct weir_channel *channel, struct weir_item *item);

#endif
