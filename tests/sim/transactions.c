// SPDX-License-Identifier: Apache-2.0
// The transaction coordinator of the simulated cluster: epochs, states, time-outs, markers.
//
// Invariants
// 1. A request with another epoch than the transactional id's is refused, whatever it asks.
// 2. While markers are being written, nothing new begins: CONCURRENT_TRANSACTIONS.
// 3. init_transactions on an open transaction raises the epoch, aborts it, and answers once that is
//    complete, with an epoch raised again.
#include "tests/sim/broker_model.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"

#include <stdlib.h>

enum {
    TXNS_MAX = 64,
    LOOK_US = 20000, // at time-outs
    MARKER_US_MAX = 20000,
    SLOW_ONE_IN = 100,
    SLOW_US_MAX = 1000000,
};

static struct sim_txn txns[TXNS_MAX];
static uint32_t txn_count;
static int64_t next_producer_id = 1000;
static void (*decided)(const char *id, int64_t producer_id);

void sim_txn_set_watch(void (*on_decided)(const char *id, int64_t producer_id))
{
    decided = on_decided;
}

static struct sim_txn *find(const char *id)
{
    for (uint32_t i = 0; i < txn_count; i++) {
        if (strcmp(txns[i].id, id) == 0) {
            return &txns[i];
        }
    }
    return NULL;
}

static struct sim_txn *find_producer(int64_t producer_id)
{
    for (uint32_t i = 0; i < txn_count; i++) {
        if (txns[i].producer_id == producer_id) {
            return &txns[i];
        }
    }
    return NULL;
}

static bool is_preparing(const struct sim_txn *txn)
{
    return txn->state == SIM_TXN_PREPARE_COMMIT || txn->state == SIM_TXN_PREPARE_ABORT;
}

static struct sim_part *find_part(const struct sim_txn *txn, const char *topic, int32_t partition)
{
    for (uint32_t i = 0; i < txn->part_count; i++) {
        if (txn->parts[i].partition == partition && strcmp(txn->parts[i].topic, topic) == 0) {
            return &txn->parts[i];
        }
    }
    return NULL;
}

enum sim_code sim_txn_verify(int64_t producer_id, int32_t epoch, const char *topic,
                             int32_t partition)
{
    const struct sim_txn *txn = find_producer(producer_id);
    if (txn == NULL || epoch != txn->epoch) {
        return SIM_FENCED;
    }
    return txn->state == SIM_TXN_ONGOING && find_part(txn, topic, partition) != NULL
               ? SIM_OK
               : SIM_INVALID_TXN_STATE;
}

enum sim_code sim_txn_verify_group(int64_t producer_id, int32_t epoch)
{
    const struct sim_txn *txn = find_producer(producer_id);
    if (txn == NULL || epoch != txn->epoch) {
        return SIM_FENCED;
    }
    return txn->state == SIM_TXN_ONGOING && txn->has_group ? SIM_OK : SIM_INVALID_TXN_STATE;
}

static void decide(struct sim_txn *txn)
{
    if (decided != NULL) {
        decided(txn->id, txn->producer_id);
    }
    for (uint32_t i = 0; i < txn->part_count; i++) {
        struct sim_topic *topic = sim_topic_find(txn->parts[i].topic);
        sim_partition_decide(&topic->partitions[txn->parts[i].partition], txn->producer_id);
    }
}

static void prepare(struct sim_txn *txn, bool is_commit)
{
    sim_trace("broker: %s epoch %d prepares to %s", txn->id, txn->epoch,
              is_commit ? "commit" : "abort");
    txn->state = is_commit ? SIM_TXN_PREPARE_COMMIT : SIM_TXN_PREPARE_ABORT;
    if (is_commit) {
        decide(txn);
    }
    sim_signal(&txns);
}

static void init_producer_id(struct sim_request *request)
{
    if (request->id[0] == '\0') {
        request->given_producer_id = next_producer_id++;
        request->given_epoch = 0;
        request->code = SIM_OK;
        return;
    }
    struct sim_txn *txn = find(request->id);
    if (txn == NULL) {
        WEIR_ASSERT(txn_count < TXNS_MAX);
        txn = &txns[txn_count++];
        *txn = (struct sim_txn){.producer_id = next_producer_id++, .epoch = -1};
        snprintf(txn->id, sizeof txn->id, "%s", request->id);
    }
    if (txn->state == SIM_TXN_ONGOING) {
        txn->epoch++;
        prepare(txn, false);
    }
    if (is_preparing(txn)) {
        request->code = SIM_CONCURRENT_TRANSACTIONS;
        return;
    }
    txn->epoch++;
    txn->state = SIM_TXN_EMPTY;
    txn->timeout_us = request->timeout_ms * 1000;
    txn->part_count = 0;
    txn->has_group = false;
    request->given_producer_id = txn->producer_id;
    request->given_epoch = txn->epoch;
    request->code = SIM_OK;
}

static enum sim_code begin_if_needed(struct sim_txn *txn)
{
    if (is_preparing(txn)) {
        return SIM_CONCURRENT_TRANSACTIONS;
    }
    if (txn->state != SIM_TXN_ONGOING) {
        txn->state = SIM_TXN_ONGOING;
        txn->begun_us = sim_now_us();
        txn->part_count = 0;
        txn->has_group = false;
        txn->is_group_marked = false;
    }
    return SIM_OK;
}

static enum sim_code add_partition(struct sim_txn *txn, const struct sim_request *request)
{
    enum sim_code code = begin_if_needed(txn);
    if (code == SIM_OK && find_part(txn, request->topic, request->partition) == NULL) {
        txn->parts = weir_realloc(txn->parts, (txn->part_count + 1) * sizeof *txn->parts);
        struct sim_part *part = &txn->parts[txn->part_count++];
        *part = (struct sim_part){.partition = request->partition};
        snprintf(part->topic, sizeof part->topic, "%s", request->topic);
    }
    return code;
}

static enum sim_code end(struct sim_txn *txn, bool is_commit)
{
    switch (txn->state) {
    case SIM_TXN_ONGOING:
        prepare(txn, is_commit);
        return SIM_OK;
    case SIM_TXN_PREPARE_COMMIT:
        return is_commit ? SIM_CONCURRENT_TRANSACTIONS : SIM_INVALID_TXN_STATE;
    case SIM_TXN_PREPARE_ABORT:
        return is_commit ? SIM_INVALID_TXN_STATE : SIM_CONCURRENT_TRANSACTIONS;
    case SIM_TXN_COMPLETE_COMMIT:
        return is_commit ? SIM_OK : SIM_INVALID_TXN_STATE;
    case SIM_TXN_COMPLETE_ABORT:
        return is_commit ? SIM_INVALID_TXN_STATE : SIM_OK;
    case SIM_TXN_EMPTY:
        return SIM_INVALID_TXN_STATE;
    }
    return SIM_INVALID_TXN_STATE;
}

void sim_txn_handle(struct sim_request *request)
{
    if (request->api == SIM_INIT_PRODUCER_ID) {
        init_producer_id(request);
        return;
    }
    struct sim_txn *txn = find(request->id);
    if (txn == NULL || txn->producer_id != request->producer_id || txn->epoch != request->epoch) {
        request->code = SIM_FENCED;
    } else if (request->api == SIM_ADD_PARTITIONS) {
        request->code = add_partition(txn, request);
    } else if (request->api == SIM_ADD_OFFSETS) {
        request->code = begin_if_needed(txn);
        txn->has_group = txn->has_group || request->code == SIM_OK;
    } else {
        request->code = end(txn, request->is_commit);
    }
}

// Markers go out one by one, in any order.
static void write_markers(struct sim_txn *txn)
{
    bool is_commit = txn->state == SIM_TXN_PREPARE_COMMIT;
    uint32_t left_count = 0;
    for (uint32_t i = 0; i < txn->part_count; i++) {
        left_count += !txn->parts[i].is_marked;
    }
    left_count += txn->has_group && !txn->is_group_marked;
    if (left_count == 0) {
        txn->state = is_commit ? SIM_TXN_COMPLETE_COMMIT : SIM_TXN_COMPLETE_ABORT;
        sim_signal(&txns);
        return;
    }
    uint32_t chosen = sim_below(left_count);
    for (uint32_t i = 0; i < txn->part_count; i++) {
        struct sim_part *part = &txn->parts[i];
        if (!part->is_marked && chosen-- == 0) {
            part->is_marked = true;
            sim_partition_mark(&sim_topic_find(part->topic)->partitions[part->partition],
                               txn->producer_id, txn->epoch, is_commit);
            return;
        }
    }
    txn->is_group_marked = true;
    sim_group_mark(txn->producer_id, txn->epoch, is_commit);
}

static void time_out(struct sim_txn *txn)
{
    if (txn->state == SIM_TXN_ONGOING && sim_now_us() - txn->begun_us > txn->timeout_us) {
        sim_trace("broker: %s epoch %d timed out", txn->id, txn->epoch);
        txn->epoch++;
        prepare(txn, false);
    }
}

void *sim_txn_run(void *unused)
{
    for (;;) {
        bool has_work = false;
        for (uint32_t i = 0; i < txn_count && !sim_broker_is_coordinator_away(); i++) {
            time_out(&txns[i]);
            if (is_preparing(&txns[i]) && sim_one_in(2)) {
                write_markers(&txns[i]);
            }
            has_work = has_work || is_preparing(&txns[i]);
        }
        if (has_work) {
            sim_sleep_us(sim_one_in(SLOW_ONE_IN) ? sim_spread(MARKER_US_MAX, SLOW_US_MAX)
                                                 : sim_spread(50, MARKER_US_MAX));
        } else {
            sim_wait(&txns, LOOK_US);
        }
    }
    return unused;
}

bool sim_broker_has_open(void)
{
    for (uint32_t i = 0; i < txn_count; i++) {
        if (txns[i].state == SIM_TXN_ONGOING || is_preparing(&txns[i])) {
            return true;
        }
    }
    return false;
}
