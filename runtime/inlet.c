// SPDX-License-Identifier: Apache-2.0
// See exchange.h. One poll takes one item of one channel, in turn, never of a blocked one. The
// task's time is the least over the channels that are not idle.
#include "runtime/exchange.h"
#include "runtime/gather.h"
#include "runtime/tracker.h"

#include <stdlib.h>

struct inlet {
    struct weir_source base; // first: the interface
    struct weir_inlet_config config;
    struct weir_aligner *aligner; // exactly once, else NULL
    struct weir_tracker *tracker; // at least once, else NULL
    int64_t cancelled_number;     // the newest one
    struct weir_time *times;      // by channel
    struct weir_time time;        // as last passed on
    uint32_t next_idx;            // where the next poll begins
    uint32_t ended_count;
};

static enum weir_status merge_time(struct inlet *inlet, struct weir_error *error)
{
    struct weir_time merged = {.watermark_us = INT64_MAX, .is_idle = true};
    for (uint32_t i = 0; i < inlet->config.channel_count; i++) {
        if (!inlet->times[i].is_idle) {
            merged.is_idle = false;
            merged.has_ended |=
                inlet->times[i].has_ended || inlet->times[i].watermark_us == INT64_MAX;
            merged.watermark_us = inlet->times[i].watermark_us < merged.watermark_us
                                      ? inlet->times[i].watermark_us
                                      : merged.watermark_us;
        }
    }
    // Time never goes back, and stands while everything is idle.
    if (merged.is_idle || merged.watermark_us < inlet->time.watermark_us) {
        merged.watermark_us = inlet->time.watermark_us;
    }
    if (merged.is_idle == inlet->time.is_idle && merged.has_ended == inlet->time.has_ended &&
        merged.watermark_us == inlet->time.watermark_us) {
        return WEIR_OK;
    }
    inlet->time = merged;
    return weir_operator_push_time(&inlet->base.op, &merged, error);
}

// The three below: whether a barrier passes now.

static bool on_barrier(struct inlet *inlet, uint32_t channel_idx,
                       const struct weir_barrier *barrier)
{
    int64_t now_ms = weir_now_ms(inlet->config.clock);
    return inlet->tracker != NULL
               ? weir_tracker_on_barrier(inlet->tracker, channel_idx, barrier, now_ms)
               : weir_aligner_on_barrier(inlet->aligner, channel_idx, barrier, now_ms) ==
                     WEIR_ALIGNMENT_PASS;
}

static bool on_end(struct inlet *inlet, uint32_t channel_idx)
{
    int64_t now_ms = weir_now_ms(inlet->config.clock);
    return inlet->tracker != NULL
               ? weir_tracker_on_end(inlet->tracker, channel_idx, now_ms)
               : weir_aligner_on_end(inlet->aligner, channel_idx, now_ms) == WEIR_ALIGNMENT_PASS;
}

static enum weir_step on_cancel(struct inlet *inlet, int64_t number)
{
    if (inlet->tracker != NULL) {
        weir_tracker_on_cancel(inlet->tracker, number);
    } else {
        weir_aligner_on_cancel(inlet->aligner, number);
    }
    if (number <= inlet->cancelled_number) {
        return WEIR_STEP_MORE; // another channel has said it
    }
    inlet->cancelled_number = number;
    inlet->base.cancelled_number = number;
    return WEIR_STEP_CANCEL;
}

static enum weir_step take(struct inlet *inlet, uint32_t channel_idx, struct weir_item *item,
                           struct weir_error *error)
{
    bool is_passing = false;
    enum weir_status status = WEIR_OK;
    switch (item->kind) {
    case WEIR_ITEM_BATCH:
        status = weir_operator_push(&inlet->base.op, item->batch, error);
        weir_batch_free(item->batch);
        break;
    case WEIR_ITEM_TIME:
        inlet->times[channel_idx] = item->time;
        status = merge_time(inlet, error);
        break;
    case WEIR_ITEM_BARRIER:
        is_passing = on_barrier(inlet, channel_idx, &item->barrier);
        break;
    case WEIR_ITEM_CANCEL:
        return on_cancel(inlet, item->barrier.number);
    case WEIR_ITEM_END:
        // Nothing comes any more: it holds nobody back, and does not drive time either.
        inlet->times[channel_idx].is_idle = true;
        status = merge_time(inlet, error);
        inlet->ended_count++;
        is_passing = on_end(inlet, channel_idx);
        break;
    }
    if (status != WEIR_OK) {
        return WEIR_STEP_FAILED;
    }
    if (is_passing && inlet->tracker != NULL) {
        inlet->base.barrier = *weir_tracker_barrier(inlet->tracker);
        inlet->base.align_us = weir_tracker_duration_ms(inlet->tracker) * 1000;
    } else if (is_passing) {
        inlet->base.barrier = *weir_aligner_barrier(inlet->aligner);
        inlet->base.align_us = weir_aligner_duration_ms(inlet->aligner) * 1000;
    }
    if (is_passing) {
        return WEIR_STEP_BARRIER;
    }
    return WEIR_STEP_MORE;
}

static enum weir_step poll_once(struct weir_source *base, struct weir_error *error)
{
    struct inlet *inlet = (struct inlet *)base;
    uint32_t count = inlet->config.channel_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t idx = (inlet->next_idx + i) % count;
        struct weir_item item;
        bool is_blocked = inlet->aligner != NULL && weir_aligner_is_blocked(inlet->aligner, idx);
        if (is_blocked || !weir_channel_pop(inlet->config.channels[idx], &item)) {
            continue;
        }
        inlet->next_idx = (idx + 1) % count;
        atomic_fetch_add_explicit(&base->activity, item.kind != WEIR_ITEM_BARRIER ? 1 : 0,
                                  memory_order_release);
        return take(inlet, idx, &item, error);
    }
    return inlet->ended_count == count ? WEIR_STEP_DONE : WEIR_STEP_IDLE;
}

static void snapshot(struct weir_source *base, struct weir_snapshot *to)
{
    (void)base;
    (void)to; // what is in the channels belongs to the next epoch: they were empty of this one
}

static void destroy(struct weir_operator *op)
{
    struct inlet *inlet = (struct inlet *)op;
    for (uint32_t i = 0; i < inlet->config.channel_count; i++) {
        weir_channel_destroy(inlet->config.channels[i]);
    }
    weir_aligner_destroy(inlet->aligner);
    weir_tracker_destroy(inlet->tracker);
    free(inlet->times);
    free(inlet);
}

static const struct weir_operator_ops operator_ops = {.kind = "inlet", .destroy = destroy};
static const struct weir_source_ops source_ops = {.poll = poll_once, .snapshot = snapshot};

struct weir_source *weir_inlet_create(const struct weir_inlet_config *config)
{
    struct inlet *inlet = weir_alloc_zero(sizeof *inlet);
    inlet->base.op.ops = &operator_ops;
    inlet->base.op.id = config->id;
    inlet->base.op.name = config->name;
    inlet->base.ops = &source_ops;
    inlet->base.is_inlet = true;
    inlet->config = *config;
    if (config->is_at_least_once) {
        inlet->tracker = weir_tracker_create(config->channel_count);
    } else {
        inlet->aligner = weir_aligner_create(config->channel_count);
    }
    inlet->cancelled_number = INT64_MIN;
    inlet->times = weir_alloc(config->channel_count * sizeof *inlet->times);
    for (uint32_t i = 0; i < config->channel_count; i++) {
        inlet->times[i] = (struct weir_time){.watermark_us = INT64_MIN};
    }
    inlet->time = (struct weir_time){.watermark_us = INT64_MIN};
    return &inlet->base;
}
