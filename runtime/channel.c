// SPDX-License-Identifier: Apache-2.0
// See channel.h. A ring with a head and a tail counter, each written by one side only. Whoever
// finds the ring full or empty says so (wants_room, wants_items), looks once more and then sleeps;
// the other side wakes only who has said so. Both flags and counters are sequentially consistent:
// with anything weaker each side could miss the other's last store, and both would sleep.
#include "runtime/channel.h"

#include <stdatomic.h>
#include <stdlib.h>

struct weir_channel {
    _Atomic uint64_t head; // next to pop; written by the consumer
    _Atomic uint64_t tail; // next to push; written by the producer
    atomic_bool wants_room;
    atomic_bool wants_items;
    uint32_t capacity;
    struct weir_mailbox *producer;
    struct weir_mailbox *consumer;
    void (*drop_batch)(struct weir_batch *batch);
    struct weir_item items[];
};

struct weir_channel *weir_channel_create(uint32_t capacity, struct weir_mailbox *producer,
                                         struct weir_mailbox *consumer,
                                         void (*drop_batch)(struct weir_batch *batch))
{
    WEIR_ASSERT(capacity > 0 && (capacity & (capacity - 1)) == 0);
    struct weir_channel *channel =
        weir_alloc_zero(sizeof *channel + capacity * sizeof channel->items[0]);
    channel->capacity = capacity;
    channel->producer = producer;
    channel->consumer = consumer;
    channel->drop_batch = drop_batch;
    return channel;
}

void weir_channel_destroy(struct weir_channel *channel)
{
    if (channel == NULL) {
        return;
    }
    // Nobody is woken: the producer's mailbox may be gone.
    uint64_t tail = atomic_load(&channel->tail);
    for (uint64_t head = atomic_load(&channel->head); head != tail; head++) {
        struct weir_item *item = &channel->items[head & (channel->capacity - 1)];
        if (item->kind == WEIR_ITEM_BATCH) {
            channel->drop_batch(item->batch);
        }
    }
    free(channel);
}

static bool has_room(struct weir_channel *channel, uint64_t tail)
{
    return tail - atomic_load(&channel->head) < channel->capacity;
}

bool weir_channel_push(struct weir_channel *channel, const struct weir_item *item)
{
    uint64_t tail = atomic_load_explicit(&channel->tail, memory_order_relaxed);
    if (!has_room(channel, tail)) {
        atomic_store(&channel->wants_room, true);
        if (!has_room(channel, tail)) {
            return false;
        }
    }
    channel->items[tail & (channel->capacity - 1)] = *item;
    atomic_store(&channel->tail, tail + 1);
    if (atomic_load(&channel->wants_items) && atomic_exchange(&channel->wants_items, false)) {
        weir_mailbox_wake(channel->consumer);
    }
    return true;
}

bool weir_channel_pop(struct weir_channel *channel, struct weir_item *item)
{
    uint64_t head = atomic_load_explicit(&channel->head, memory_order_relaxed);
    if (atomic_load(&channel->tail) == head) {
        atomic_store(&channel->wants_items, true);
        if (atomic_load(&channel->tail) == head) {
            return false;
        }
    }
    *item = channel->items[head & (channel->capacity - 1)];
    atomic_store(&channel->head, head + 1);
    if (atomic_load(&channel->wants_room) && atomic_exchange(&channel->wants_room, false)) {
        weir_mailbox_wake(channel->producer);
    }
    return true;
}
