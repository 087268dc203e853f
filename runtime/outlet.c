// SPDX-License-Identifier: Apache-2.0
// See exchange.h. Rows of a batch are sorted by the task that owns them and gathered into batches
// that own their memory. What a full channel does not take waits in a queue of its own; the task
// takes no input meanwhile, so that the queue holds no more than what one batch gives (what was
// folded before it comes at once, operators/preaggregate.c) and what the barrier adds.
//
// Invariant: items reach a channel in the order in which they were sent: nothing is pushed past a
// queue that is not empty.
#include "runtime/exchange.h"
#include "runtime/gather.h"
#include "runtime/row_key.h"
#include "runtime/types/key.h"

#include <stdlib.h>

struct waiting {
    struct weir_item item;
    struct waiting *next;
};

struct lane {
    struct weir_channel *channel;
    struct waiting *first;
    struct waiting *last;
    uint32_t row_count; // of the batch being sorted
    uint16_t rows[WEIR_BATCH_ROWS_MAX];
};

struct outlet {
    struct weir_operator op; // first: the interface
    struct weir_outlet_config config;
    struct lane *lanes;
    struct weir_row_key key;
};

static void send(struct outlet *outlet, struct lane *lane, const struct weir_item *item)
{
    if (lane->first == NULL && weir_channel_push(lane->channel, item)) {
        return;
    }
    struct waiting *waiting = weir_alloc(sizeof *waiting);
    *waiting = (struct waiting){.item = *item};
    if (lane->last != NULL) {
        lane->last->next = waiting;
    } else {
        lane->first = waiting;
    }
    lane->last = waiting;
    outlet->op.is_blocked = true;
}

static void send_to_all(struct outlet *outlet, const struct weir_item *item)
{
    for (uint32_t i = 0; i < outlet->config.channel_count; i++) {
        send(outlet, &outlet->lanes[i], item);
    }
}

static uint16_t key_group_of(struct outlet *outlet, const struct weir_batch *batch, uint32_t row)
{
    return batch->partials != NULL ? batch->partials->keys[row].key_group
                                   : weir_key_group(weir_row_key_encode(&outlet->key, row));
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    (void)error;
    struct outlet *outlet = (struct outlet *)op;
    uint32_t lane_count = outlet->config.channel_count;
    if (batch->partials == NULL) {
        weir_row_key_begin(&outlet->key, batch);
    }
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        uint16_t key_group = key_group_of(outlet, batch, row);
        struct lane *lane = &outlet->lanes[weir_key_group_owner(key_group, lane_count)];
        lane->rows[lane->row_count++] = (uint16_t)row;
    }
    for (uint32_t i = 0; i < lane_count; i++) {
        struct lane *lane = &outlet->lanes[i];
        if (lane->row_count > 0) {
            send(outlet, lane,
                 &(struct weir_item){.kind = WEIR_ITEM_BATCH,
                                     .batch =
                                         weir_batch_gather(batch, lane->rows, lane->row_count)});
            lane->row_count = 0;
        }
    }
    return WEIR_OK;
}

static enum weir_status time_passed(struct weir_operator *op, const struct weir_time *time,
                                    struct weir_error *error)
{
    (void)error;
    send_to_all((struct outlet *)op, &(struct weir_item){.kind = WEIR_ITEM_TIME, .time = *time});
    return WEIR_OK;
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)snapshot;
    (void)error;
    send_to_all((struct outlet *)op,
                &(struct weir_item){.kind = WEIR_ITEM_BARRIER, .barrier = *at});
    return WEIR_OK;
}

static void cancelled(struct weir_operator *op, int64_t number)
{
    send_to_all((struct outlet *)op,
                &(struct weir_item){.kind = WEIR_ITEM_CANCEL, .barrier = {.number = number}});
}

static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    (void)error;
    struct outlet *outlet = (struct outlet *)op;
    bool is_empty = true;
    for (uint32_t i = 0; i < outlet->config.channel_count; i++) {
        struct lane *lane = &outlet->lanes[i];
        while (lane->first != NULL && weir_channel_push(lane->channel, &lane->first->item)) {
            struct waiting *sent = lane->first;
            lane->first = sent->next;
            lane->last = lane->first == NULL ? NULL : lane->last;
            free(sent);
        }
        is_empty = is_empty && lane->first == NULL;
    }
    op->is_blocked = !is_empty;
    return WEIR_OK;
}

static void destroy(struct weir_operator *op)
{
    struct outlet *outlet = (struct outlet *)op;
    for (uint32_t i = 0; i < outlet->config.channel_count; i++) {
        while (outlet->lanes[i].first != NULL) {
            struct waiting *waiting = outlet->lanes[i].first;
            outlet->lanes[i].first = waiting->next;
            weir_batch_free(waiting->item.kind == WEIR_ITEM_BATCH ? waiting->item.batch : NULL);
            free(waiting);
        }
    }
    weir_row_key_deinit(&outlet->key);
    free(outlet->lanes);
    free(outlet);
}

static const struct weir_operator_ops outlet_ops = {
    .kind = "exchange",
    .process = process,
    .time_passed = time_passed,
    .barrier = barrier,
    .cancelled = cancelled,
    .resume = resume,
    .destroy = destroy,
};

struct weir_operator *weir_outlet_create(const struct weir_outlet_config *config)
{
    WEIR_ASSERT(config->channel_count > 0);
    struct outlet *outlet = weir_alloc_zero(sizeof *outlet);
    outlet->op.ops = &outlet_ops;
    outlet->op.id = config->id;
    outlet->op.name = config->name;
    outlet->config = *config;
    weir_row_key_init(&outlet->key, config->key_count, config->key_columns);
    outlet->lanes = weir_alloc_zero(config->channel_count * sizeof *outlet->lanes);
    for (uint32_t i = 0; i < config->channel_count; i++) {
        outlet->lanes[i].channel = config->channels[i];
    }
    return &outlet->op;
}
