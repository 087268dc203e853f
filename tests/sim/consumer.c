// SPDX-License-Identifier: Apache-2.0
// The consumer of the simulated client, read_committed. A fiber of its own fetches ahead, as
// librdkafka's threads do: what is committed, a part of it at a time; and says once at each end
// that it is one.
#include "tests/sim/client.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/broker.h"
#include "tests/sim/fiber.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"
#include "tests/sim/system.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUEUE_MAX = 256, FETCH_US_MAX = 20000, SLOW_ONE_IN = 100, SLOW_US_MAX = 1000000 };

struct assigned {
    const char *topic;
    int32_t partition;
    int64_t position; // next to be fetched
    int64_t end_told; // the end was last told of here; -1: never
    int64_t high;     // as the last fetch said; -1: none was
};

struct consumer {
    struct weir_consumer base;
    struct assigned *assigned;
    uint32_t assigned_count;
    struct weir_fetched queue[QUEUE_MAX];
    uint32_t first;
    uint32_t count;
    int descriptor; // -1: nobody is to be woken
    struct sim_fiber *fetcher;
    struct weir_error error;
};

static bool header_last(const struct weir_record *record, const char *name, struct weir_view *value)
{
    (void)record;
    (void)name;
    (void)value;
    return false;
}

static bool header_at(const struct weir_record *record, uint32_t idx, struct weir_header *header)
{
    (void)record;
    (void)idx;
    (void)header;
    return false;
}

static const struct weir_record_ops record_ops = {.header_last = header_last,
                                                  .header_at = header_at};

static const struct sim_partition *partition_of(const struct assigned *assigned)
{
    const struct sim_topic *topic = sim_topic_find(assigned->topic);
    return topic != NULL && assigned->partition < (int32_t)topic->partition_count
               ? &topic->partitions[assigned->partition]
               : NULL;
}

static void put(struct consumer *consumer, const struct weir_fetched *fetched)
{
    bool was_empty = consumer->count == 0;
    consumer->queue[(consumer->first + consumer->count++) % QUEUE_MAX] = *fetched;
    if (was_empty && consumer->descriptor >= 0) {
        sim_event_add(consumer->descriptor);
    }
}

static bool has_news(const struct assigned *assigned)
{
    const struct sim_partition *partition = partition_of(assigned);
    if (partition == NULL) {
        return false;
    }
    int64_t stable = sim_partition_stable(partition);
    return assigned->position != stable || assigned->end_told != assigned->position ||
           assigned->high != partition->count;
}

static void fetch_one(struct consumer *consumer, uint32_t idx)
{
    struct assigned *assigned = &consumer->assigned[idx];
    const struct sim_partition *partition = partition_of(assigned);
    int64_t stable = sim_partition_stable(partition);
    struct weir_fetched fetched = {
        .kind = WEIR_FETCH_END,
        .partition_idx = idx,
        .record = {.topic = assigned->topic,
                   .partition = assigned->partition,
                   .timestamp_ms = -1,
                   .ops = &record_ops},
    };
    assigned->high = partition->count;
    if (assigned->position > stable && assigned->position > partition->count) {
        weir_error_set(&consumer->error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                       "offset out of range");
        fetched.kind = WEIR_FETCH_ERROR;
        fetched.error = &consumer->error;
        assigned->position = stable;
        assigned->end_told = stable;
        put(consumer, &fetched);
        return;
    }
    uint32_t max = 1 + sim_below(64);
    for (; assigned->position < stable && max > 0 && consumer->count + 1 < QUEUE_MAX; max--) {
        const struct sim_record *record = &partition->records[assigned->position];
        if (record->state == SIM_RECORD_COMMITTED) {
            struct weir_fetched data = fetched;
            data.kind = WEIR_FETCH_RECORD;
            data.record.offset = assigned->position;
            data.record.timestamp_ms = record->timestamp_ms;
            data.record.key = record->key;
            data.record.value = record->value;
            put(consumer, &data);
        }
        assigned->position++;
    }
    if (assigned->position == stable && assigned->end_told != stable &&
        consumer->count < QUEUE_MAX) {
        assigned->end_told = stable;
        fetched.record.offset = stable;
        put(consumer, &fetched);
    }
}

static void *run_fetcher(void *argument)
{
    struct consumer *consumer = argument;
    for (;;) {
        uint32_t begin = consumer->assigned_count > 0 ? sim_below(consumer->assigned_count) : 0;
        bool is_any = false;
        for (uint32_t i = 0; i < consumer->assigned_count && consumer->count + 2 < QUEUE_MAX; i++) {
            uint32_t idx = (begin + i) % consumer->assigned_count;
            if (has_news(&consumer->assigned[idx])) {
                bool is_slow = sim_network_faults() != 0 && sim_one_in(SLOW_ONE_IN);
                sim_sleep_us(sim_spread(100, is_slow ? SLOW_US_MAX : FETCH_US_MAX));
                fetch_one(consumer, idx);
                is_any = true;
                break;
            }
        }
        if (!is_any && consumer->count + 2 < QUEUE_MAX) {
            sim_wait(sim_broker_event(), -1);
        } else if (!is_any) {
            sim_wait(consumer, -1); // room
        }
    }
    return argument;
}

static enum weir_status assign(struct weir_consumer *base, uint32_t count,
                               const struct weir_partition_start *starts, struct weir_error *error)
{
    (void)error;
    struct consumer *consumer = (struct consumer *)base;
    consumer->assigned = weir_alloc_zero((count + 1) * sizeof *consumer->assigned);
    consumer->assigned_count = count;
    for (uint32_t i = 0; i < count; i++) {
        consumer->assigned[i] = (struct assigned){.topic = starts[i].topic,
                                                  .partition = starts[i].partition,
                                                  .position = starts[i].offset,
                                                  .end_told = -1,
                                                  .high = -1};
    }
    consumer->fetcher =
        sim_fiber_create(sim_process_current(), "fetcher", 0, run_fetcher, consumer);
    return WEIR_OK;
}

static enum weir_status fetch(struct weir_consumer *base, uint32_t max, int32_t timeout_ms,
                              struct weir_fetched *fetched, uint32_t *count,
                              struct weir_error *error)
{
    (void)error;
    (void)timeout_ms;
    struct consumer *consumer = (struct consumer *)base;
    sim_point("fetch");
    uint32_t taken = consumer->count < max ? consumer->count : max;
    if (taken > 1 && sim_one_in(3)) {
        taken = 1 + sim_below(taken);
    }
    for (uint32_t i = 0; i < taken; i++) {
        fetched[i] = consumer->queue[(consumer->first + i) % QUEUE_MAX];
    }
    consumer->first = (consumer->first + taken) % QUEUE_MAX;
    consumer->count -= taken;
    *count = taken;
    sim_signal(consumer);
    return WEIR_OK;
}

static void release(struct weir_consumer *base)
{
    (void)base; // records live as long as the run
}

static void wake_on_data(struct weir_consumer *base, int descriptor)
{
    ((struct consumer *)base)->descriptor = descriptor;
}

static int64_t high_watermark(struct weir_consumer *base, uint32_t partition_idx)
{
    return ((struct consumer *)base)->assigned[partition_idx].high;
}

static void destroy(struct weir_consumer *base)
{
    struct consumer *consumer = (struct consumer *)base;
    sim_point("close");
    if (consumer->fetcher != NULL) {
        sim_fiber_kill(consumer->fetcher);
    }
    free(consumer->assigned);
    free(consumer);
}

static const struct weir_consumer_ops consumer_ops = {
    .assign = assign,
    .fetch = fetch,
    .release = release,
    .wake_on_data = wake_on_data,
    .high_watermark = high_watermark,
    .destroy = destroy,
};

struct weir_consumer *sim_consumer_create(void)
{
    struct consumer *consumer = weir_alloc_zero(sizeof *consumer);
    consumer->base.ops = &consumer_ops;
    consumer->descriptor = -1;
    return &consumer->base;
}
