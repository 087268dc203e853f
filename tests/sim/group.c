// SPDX-License-Identifier: Apache-2.0
// The group coordinator of the simulated cluster: committed offsets, and those of transactions that
// are not marked yet. There is one group.
#include "tests/sim/broker_model.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/fiber.h"

#include <stdlib.h>

struct pending {
    int64_t producer_id;
    uint64_t order;
    struct sim_offset offset;
};

// Which of two offsets is newer is said by when they came, not by when their markers did.
static struct pending *committed;
static uint32_t committed_count;
static struct pending *pendings;
static uint32_t pending_count;
static uint64_t arrived_count;
static struct {
    int64_t producer_id;
    int32_t epoch;
} * epochs; // as markers and commits told
static uint32_t epoch_count;

static bool is_same(const struct sim_offset *a, const char *topic, int32_t partition)
{
    return a->partition == partition && strcmp(a->topic, topic) == 0;
}

static int32_t *epoch_of(int64_t producer_id)
{
    for (uint32_t i = 0; i < epoch_count; i++) {
        if (epochs[i].producer_id == producer_id) {
            return &epochs[i].epoch;
        }
    }
    epochs = weir_realloc(epochs, (epoch_count + 1) * sizeof *epochs);
    epochs[epoch_count].producer_id = producer_id;
    epochs[epoch_count].epoch = -1;
    return &epochs[epoch_count++].epoch;
}

static void set_pending(int64_t producer_id, const struct sim_offset *offset)
{
    for (uint32_t i = 0; i < pending_count; i++) {
        if (pendings[i].producer_id == producer_id &&
            is_same(&pendings[i].offset, offset->topic, offset->partition)) {
            pendings[i].offset = *offset;
            pendings[i].order = arrived_count++;
            return;
        }
    }
    pendings = weir_realloc(pendings, (pending_count + 1) * sizeof *pendings);
    pendings[pending_count++] =
        (struct pending){.producer_id = producer_id, .order = arrived_count++, .offset = *offset};
}

void sim_group_handle(struct sim_request *request)
{
    int32_t *epoch = epoch_of(request->producer_id);
    request->code = request->epoch < *epoch
                        ? SIM_FENCED
                        : sim_txn_verify_group(request->producer_id, request->epoch);
    if (request->code != SIM_OK) {
        return;
    }
    *epoch = request->epoch;
    for (uint32_t i = 0; i < request->offset_count; i++) {
        set_pending(request->producer_id, &request->offsets[i]);
    }
}

static void set_committed(const struct pending *pending)
{
    const struct sim_offset *offset = &pending->offset;
    for (uint32_t i = 0; i < committed_count; i++) {
        if (is_same(&committed[i].offset, offset->topic, offset->partition)) {
            if (pending->order > committed[i].order) {
                committed[i] = *pending;
            }
            return;
        }
    }
    committed = weir_realloc(committed, (committed_count + 1) * sizeof *committed);
    committed[committed_count++] = *pending;
}

void sim_group_mark(int64_t producer_id, int32_t epoch, bool is_commit)
{
    int32_t *known = epoch_of(producer_id);
    *known = epoch > *known ? epoch : *known;
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < pending_count; i++) {
        if (pendings[i].producer_id != producer_id) {
            pendings[kept_count++] = pendings[i];
        } else if (is_commit) {
            set_committed(&pendings[i]);
        }
    }
    pending_count = kept_count;
}

bool sim_group_offset(const char *topic, int32_t partition, struct sim_offset *offset,
                      bool *is_pending)
{
    *is_pending = false;
    for (uint32_t i = 0; i < pending_count; i++) {
        *is_pending = *is_pending || is_same(&pendings[i].offset, topic, partition);
    }
    for (uint32_t i = 0; i < committed_count; i++) {
        if (is_same(&committed[i].offset, topic, partition)) {
            *offset = committed[i].offset;
            return true;
        }
    }
    return false;
}

static void forget(struct pending *list, uint32_t *count, const char *topic)
{
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(list[i].offset.topic, topic) != 0) {
            list[kept_count++] = list[i];
        }
    }
    *count = kept_count;
}

void sim_group_forget(const char *topic)
{
    forget(committed, &committed_count, topic);
    forget(pendings, &pending_count, topic);
}

void sim_group_each_pending(int64_t producer_id,
                            void (*visit)(void *context, const struct sim_offset *offset),
                            void *context)
{
    for (uint32_t i = 0; i < pending_count; i++) {
        if (pendings[i].producer_id == producer_id) {
            visit(context, &pendings[i].offset);
        }
    }
}
