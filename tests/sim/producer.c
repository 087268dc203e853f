// SPDX-License-Identifier: Apache-2.0
// The producer of the simulated client, transactional or (id "") idempotent only. A fiber of its
// own sends what was produced, one batch at a time, and delivers the reports; the transaction's
// calls send their requests and ask again until their time is over.
//
// What librdkafka does and this does too: a request without answer is made again by itself; a
// commit that ran out of time is asked for again by the caller; an error that only an abort can
// mend stays until then; being fenced is for good; destroy tries to abort what is open.
#include "tests/sim/client.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/broker.h"
#include "tests/sim/fiber.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LANES_MAX = 32,
    BATCH_MAX = 24,
    RETRY_US = 20000,
    LINGER_US_MAX = 5000,
    ABORT_ON_DESTROY_US = 1000000,
    QUEUE_MAX_LEAST = 4,
    QUEUE_MAX_MOST = 600,
};

struct queued {
    struct sim_record record;
    struct weir_delivery *delivery;
};

// What goes to one partition.
struct lane {
    const char *topic;
    int32_t partition;
    bool is_added; // to the running transaction
    int32_t next_sequence;
    struct queued *queued;
    uint32_t count;
};

enum stage {
    STAGE_NEW,
    STAGE_READY,
    STAGE_OPEN,
    STAGE_COMMITTING,
};

struct producer {
    struct weir_producer base;
    char id[SIM_NAME_BYTES_MAX];
    int64_t producer_id;
    int32_t epoch;
    int64_t transaction_timeout_ms;
    enum stage stage;
    bool is_at_broker; // the transaction has begun there
    bool is_used_up;
    bool is_offset_commit_doubtful;
    enum sim_code failure; // SIM_FENCED: for good; others: until an abort
    bool is_sending;
    bool is_silent; // is being destroyed: no report any more
    uint32_t queue_max;
    uint32_t queued_count;
    uint32_t lane_count;
    struct lane lanes[LANES_MAX];
    struct sim_fiber *sender;
};

static enum weir_status fail(const struct producer *producer, const char *what,
                             struct weir_error *error)
{
    return weir_error_set(
        error, WEIR_DOMAIN_KAFKA,
        producer->failure == SIM_FENCED ? WEIR_ACTION_FENCED : WEIR_ACTION_RECOVER,
        "%s, transactional id '%s': %s", what, producer->id, sim_code_name(producer->failure));
}

static struct sim_request request_of(const struct producer *producer, enum sim_api api)
{
    struct sim_request request = {
        .api = api, .producer_id = producer->producer_id, .epoch = producer->epoch};
    snprintf(request.id, sizeof request.id, "%s", producer->id);
    return request;
}

static void note_no_answer(struct producer *producer, enum sim_api api)
{
    producer->is_used_up = producer->is_used_up || api != SIM_PRODUCE;
    producer->is_offset_commit_doubtful =
        producer->is_offset_commit_doubtful || api == SIM_TXN_OFFSET_COMMIT;
}

// Asks until there is an answer that is worth something. False: time is over first.
static bool ask(struct producer *producer, struct sim_request *request, int64_t deadline_us)
{
    for (;;) {
        struct sim_request sent = *request;
        bool is_answered = sim_network_ask(&sent, SIM_SOCKET_TIMEOUT_US);
        if (!is_answered) {
            sim_trace("%s of %s: no answer", sim_api_name(request->api), producer->id);
            note_no_answer(producer, request->api);
        } else if (sent.code != SIM_NOT_COORDINATOR && sent.code != SIM_CONCURRENT_TRANSACTIONS) {
            *request = sent;
            return true;
        }
        if (deadline_us >= 0 && sim_now_us() >= deadline_us) {
            return false;
        }
        sim_sleep_us(RETRY_US + sim_below(RETRY_US));
    }
}

static void set_failure(struct producer *producer, enum sim_code code)
{
    if (code != SIM_OK && producer->failure != SIM_FENCED) {
        sim_trace("%s failed: %s", producer->id, sim_code_name(code));
        producer->failure = code;
    }
}

// --- sending -----------------------------------------------------------------------------------

static void report(struct producer *producer, struct queued *queued, uint32_t count)
{
    for (uint32_t i = 0; i < count && !producer->is_silent;) {
        uint32_t run = 1;
        while (i + run < count && queued[i + run].delivery == queued[i].delivery) {
            run++;
        }
        if (producer->failure == SIM_OK) {
            queued[i].delivery->delivered(queued[i].delivery, run);
        } else {
            struct weir_error error;
            fail(producer, "writing", &error);
            queued[i].delivery->failed(queued[i].delivery, &error);
        }
        i += run;
    }
}

static enum sim_code add_lane(struct producer *producer, struct lane *lane)
{
    if (lane->is_added) {
        return SIM_OK;
    }
    struct sim_request request = request_of(producer, SIM_ADD_PARTITIONS);
    snprintf(request.topic, sizeof request.topic, "%s", lane->topic);
    request.partition = lane->partition;
    producer->is_at_broker = true; // it may be, from now on
    ask(producer, &request, -1);
    lane->is_added = request.code == SIM_OK;
    return request.code;
}

// What the client does by itself before the first batch of a producer without transactions.
static enum sim_code init_idempotent(struct producer *producer)
{
    struct sim_request request = request_of(producer, SIM_INIT_PRODUCER_ID);
    ask(producer, &request, -1);
    producer->producer_id = request.given_producer_id;
    producer->epoch = request.given_epoch;
    return request.code;
}

static enum sim_code send_batch(struct producer *producer, struct lane *lane,
                                struct sim_record *records, uint32_t count)
{
    struct sim_request request = request_of(producer, SIM_PRODUCE);
    snprintf(request.topic, sizeof request.topic, "%s", lane->topic);
    request.partition = lane->partition;
    request.sequence = lane->next_sequence;
    request.record_count = count;
    request.records = records;
    ask(producer, &request, -1);
    lane->next_sequence += (int32_t)count;
    return request.code;
}

static void send_lane(struct producer *producer, struct lane *lane)
{
    uint32_t count = 1 + sim_below(BATCH_MAX);
    count = count < lane->count ? count : lane->count;
    struct queued *taken = weir_alloc(count * sizeof *taken);
    struct sim_record *records = weir_alloc(count * sizeof *records); // the network keeps it
    memcpy(taken, lane->queued, count * sizeof *taken);
    for (uint32_t i = 0; i < count; i++) {
        records[i] = taken[i].record;
    }
    lane->count -= count;
    memmove(lane->queued, lane->queued + count, lane->count * sizeof *lane->queued);
    enum sim_code code = producer->failure;
    if (code == SIM_OK && producer->producer_id < 0) {
        code = init_idempotent(producer);
    }
    if (code == SIM_OK) {
        code = add_lane(producer, lane);
    }
    if (code == SIM_OK) {
        code = send_batch(producer, lane, records, count);
    }
    set_failure(producer, code);
    producer->queued_count -= count;
    report(producer, taken, count);
    free(taken);
}

static void *run_sender(void *argument)
{
    struct producer *producer = argument;
    for (;;) {
        uint32_t begin = producer->lane_count > 0 ? sim_below(producer->lane_count) : 0;
        struct lane *chosen = NULL;
        for (uint32_t i = 0; i < producer->lane_count && chosen == NULL; i++) {
            struct lane *lane = &producer->lanes[(begin + i) % producer->lane_count];
            chosen = lane->count > 0 ? lane : NULL;
        }
        if (chosen == NULL) {
            producer->is_sending = false;
            sim_signal(producer);
            sim_wait(&producer->lanes, -1);
            continue;
        }
        producer->is_sending = true;
        sim_sleep_us(sim_below(LINGER_US_MAX));
        send_lane(producer, chosen);
    }
    return argument;
}

static bool is_transactional(const struct producer *producer)
{
    return producer->id[0] != '\0';
}

static struct lane *lane_of(struct producer *producer, const char *topic, int32_t partition)
{
    for (uint32_t i = 0; i < producer->lane_count; i++) {
        if (producer->lanes[i].partition == partition &&
            strcmp(producer->lanes[i].topic, topic) == 0) {
            return &producer->lanes[i];
        }
    }
    WEIR_ASSERT(producer->lane_count < LANES_MAX);
    struct lane *lane = &producer->lanes[producer->lane_count++];
    *lane = (struct lane){.topic = weir_strdup(topic),
                          .partition = partition,
                          .is_added = !is_transactional(producer)};
    return lane;
}

static struct weir_view copy(struct weir_view view)
{
    if (view.data == NULL) {
        return view;
    }
    char *data = weir_alloc(view.size_bytes + 1);
    memcpy(data, view.data, view.size_bytes);
    return (struct weir_view){.data = data, .size_bytes = view.size_bytes};
}

static enum weir_produce_result produce(struct weir_producer *base,
                                        const struct weir_message *message,
                                        struct weir_delivery *delivery, struct weir_error *error)
{
    struct producer *producer = (struct producer *)base;
    sim_point("produce");
    WEIR_ASSERT(producer->stage == STAGE_OPEN || producer->failure != SIM_OK);
    if (producer->failure != SIM_OK) {
        fail(producer, "writing", error);
        return WEIR_PRODUCE_FAILED;
    }
    if (producer->queued_count >= producer->queue_max) {
        return WEIR_PRODUCE_FULL;
    }
    struct lane *lane = lane_of(producer, message->topic, message->partition);
    lane->queued = weir_realloc(lane->queued, (lane->count + 1) * sizeof *lane->queued);
    lane->queued[lane->count++] = (struct queued){
        .record = {.producer_id = producer->producer_id,
                   .timestamp_ms = message->timestamp_ms,
                   .key = copy(message->key),
                   .value = copy(message->value)},
        .delivery = delivery,
    };
    producer->queued_count++;
    sim_signal(&producer->lanes);
    return WEIR_PRODUCE_TAKEN;
}

// --- transaction -------------------------------------------------------------------------------

static int64_t deadline_of(int32_t timeout_ms)
{
    return sim_now_us() + (int64_t)timeout_ms * 1000;
}

static enum weir_status out_of_time(const char *what, const char *id, enum weir_error_action action,
                                    struct weir_error *error)
{
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, action, "%s, transactional id '%s': timed out",
                          what, id);
}

static enum weir_status init_transactions(struct weir_producer *base, int32_t timeout_ms,
                                          struct weir_error *error)
{
    struct producer *producer = (struct producer *)base;
    struct sim_request request = request_of(producer, SIM_INIT_PRODUCER_ID);
    request.timeout_ms = producer->transaction_timeout_ms;
    if (!ask(producer, &request, deadline_of(timeout_ms))) {
        return out_of_time("init_transactions", producer->id, WEIR_ACTION_RETRY, error);
    }
    producer->producer_id = request.given_producer_id;
    producer->epoch = request.given_epoch;
    producer->stage = STAGE_READY;
    return WEIR_OK;
}

static enum weir_status begin(struct weir_producer *base, struct weir_error *error)
{
    struct producer *producer = (struct producer *)base;
    WEIR_ASSERT(producer->stage == STAGE_READY);
    producer->is_offset_commit_doubtful = false;
    if (producer->failure != SIM_OK) {
        return fail(producer, "begin_transaction", error);
    }
    producer->stage = STAGE_OPEN;
    producer->is_at_broker = false;
    for (uint32_t i = 0; i < producer->lane_count; i++) {
        producer->lanes[i].is_added = false;
    }
    return WEIR_OK;
}

static struct sim_offset *copy_offsets(uint32_t count, const struct weir_offset_commit *offsets)
{
    struct sim_offset *copies = weir_alloc_zero(count * sizeof *copies); // the network keeps it
    for (uint32_t i = 0; i < count; i++) {
        copies[i].partition = offsets[i].partition;
        copies[i].offset = offsets[i].offset;
        snprintf(copies[i].topic, sizeof copies[i].topic, "%s", offsets[i].topic);
        snprintf(copies[i].metadata, sizeof copies[i].metadata, "%s", offsets[i].metadata);
    }
    return copies;
}

static enum weir_status send_offsets(struct weir_producer *base, uint32_t count,
                                     const struct weir_offset_commit *offsets, int32_t timeout_ms,
                                     struct weir_error *error)
{
    struct producer *producer = (struct producer *)base;
    WEIR_ASSERT(producer->stage == STAGE_OPEN && count > 0);
    int64_t deadline_us = deadline_of(timeout_ms);
    struct sim_request add = request_of(producer, SIM_ADD_OFFSETS);
    struct sim_request commit = request_of(producer, SIM_TXN_OFFSET_COMMIT);
    commit.offset_count = count;
    commit.offsets = copy_offsets(count, offsets);
    if (producer->failure == SIM_OK) {
        producer->is_at_broker = true;
        if (!ask(producer, &add, deadline_us) ||
            (add.code == SIM_OK && !ask(producer, &commit, deadline_us))) {
            set_failure(producer, SIM_INVALID_TXN_STATE);
            return out_of_time("send_offsets", producer->id, WEIR_ACTION_RECOVER, error);
        }
        set_failure(producer, add.code != SIM_OK ? add.code : commit.code);
    }
    return producer->failure == SIM_OK ? WEIR_OK : fail(producer, "send_offsets", error);
}

static bool wait_until_sent(struct producer *producer, int64_t deadline_us)
{
    while (producer->queued_count > 0 || producer->is_sending) {
        int64_t left_us = deadline_us - sim_now_us();
        if (left_us <= 0) {
            return false;
        }
        sim_wait(producer, left_us);
    }
    return true;
}

static enum weir_status commit_transaction(struct weir_producer *base, int32_t timeout_ms,
                                           struct weir_error *error)
{
    struct producer *producer = (struct producer *)base;
    WEIR_ASSERT(producer->stage == STAGE_OPEN || producer->stage == STAGE_COMMITTING);
    int64_t deadline_us = deadline_of(timeout_ms);
    struct sim_request request = request_of(producer, SIM_END_TXN);
    request.is_commit = true;
    if (!wait_until_sent(producer, deadline_us)) {
        return out_of_time("commit", producer->id, WEIR_ACTION_RETRY, error);
    }
    producer->stage = STAGE_COMMITTING;
    if (producer->failure == SIM_OK && producer->is_at_broker) {
        if (!ask(producer, &request, deadline_us)) {
            return out_of_time("commit", producer->id, WEIR_ACTION_RETRY, error);
        }
        set_failure(producer, request.code);
    }
    if (producer->failure != SIM_OK) {
        return fail(producer, "commit", error);
    }
    producer->stage = STAGE_READY;
    return WEIR_OK;
}

static enum weir_status abort_within(struct producer *producer, int64_t deadline_us,
                                     struct weir_error *error)
{
    if (producer->failure == SIM_FENCED) {
        return fail(producer, "abort", error);
    }
    if (producer->stage != STAGE_OPEN) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < producer->lane_count; i++) {
        producer->queued_count -= producer->lanes[i].count;
        producer->lanes[i].count = 0;
    }
    if (!wait_until_sent(producer, deadline_us)) {
        return out_of_time("abort", producer->id, WEIR_ACTION_RETRY, error);
    }
    if (producer->is_at_broker) {
        struct sim_request request = request_of(producer, SIM_END_TXN);
        if (!ask(producer, &request, deadline_us)) {
            return out_of_time("abort", producer->id, WEIR_ACTION_RETRY, error);
        }
    }
    producer->stage = STAGE_READY;
    producer->failure = SIM_OK;
    return WEIR_OK;
}

static enum weir_status abort_transaction(struct weir_producer *base, int32_t timeout_ms,
                                          struct weir_error *error)
{
    return abort_within((struct producer *)base, deadline_of(timeout_ms), error);
}

static bool is_used_up(struct weir_producer *base)
{
    return ((struct producer *)base)->is_used_up;
}

static bool is_offset_commit_doubtful(struct weir_producer *base)
{
    return ((struct producer *)base)->is_offset_commit_doubtful;
}

static void destroy(struct weir_producer *base)
{
    struct producer *producer = (struct producer *)base;
    if (producer == NULL) {
        return;
    }
    struct weir_error ignored;
    producer->is_silent = true;
    abort_within(producer, sim_now_us() + ABORT_ON_DESTROY_US, &ignored);
    sim_fiber_kill(producer->sender);
    free(producer);
}

static void send_now(struct weir_producer *base)
{
    (void)base; // the sender sends what there is as soon as it has its turn
}

static const struct weir_producer_ops producer_ops = {
    .init_transactions = init_transactions,
    .begin = begin,
    .produce = produce,
    .send_now = send_now,
    .send_offsets = send_offsets,
    .commit = commit_transaction,
    .abort = abort_transaction,
    .is_used_up = is_used_up,
    .is_offset_commit_doubtful = is_offset_commit_doubtful,
    .destroy = destroy,
};

struct weir_producer *sim_producer_create(const char *transactional_id,
                                          int64_t transaction_timeout_ms)
{
    struct producer *producer = weir_alloc_zero(sizeof *producer);
    producer->base.ops = &producer_ops;
    snprintf(producer->id, sizeof producer->id, "%s", transactional_id);
    producer->producer_id = -1;
    producer->stage = is_transactional(producer) ? STAGE_NEW : STAGE_OPEN;
    producer->transaction_timeout_ms = transaction_timeout_ms;
    producer->queue_max = (uint32_t)sim_spread(QUEUE_MAX_LEAST, QUEUE_MAX_MOST);
    producer->sender = sim_fiber_create(sim_process_current(), "sender", 0, run_sender, producer);
    return &producer->base;
}
