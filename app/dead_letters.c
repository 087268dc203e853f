// SPDX-License-Identifier: Apache-2.0
// See dead_letters.h.
//
// Invariants
// 1. What is committed at the group "<job>-dead-letters" is the position behind the last dead
//    letter that was written back: both are in one transaction, of the transactional id of the same
//    name. Two replays at once fence each other.
// 2. A record goes back as it was: key, value, timestamp, and the headers in front of weir's own.
// 3. What descends from no single record, and what another job has set aside, is passed over.
#include "app/dead_letters.h"

#include "app/retry.h"
#include "app/signals.h"
#include "runtime/base/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FETCH_MAX = 500,
    TRANSACTION_ROWS = 5000,
    HEADERS_MAX = 1024,
    QUEUE_BYTES_MAX = 16 << 20,
    QUEUE_MESSAGES_MAX = 20000,
    PAUSE_MS = 10, // until a full queue is tried again
};

struct origin {
    const char *topic;
    uint32_t partition_count;
    uint64_t count;
    struct origin *next;
};

struct replay {
    struct weir_delivery delivery; // first: its callbacks find the rest
    atomic_flag is_failing;        // whoever sets it writes `failure`
    atomic_bool is_failed;         // `failure` is there
    struct weir_error failure;
    const struct weir_config *config;
    const struct weir_dead_letters_request *request;
    struct weir_retry retry;
    struct weir_arena *arena;
    struct weir_kafka *kafka;
    struct weir_consumer *consumer;
    struct weir_producer *producer;
    const char *name; // of the group and the transactional id
    uint32_t partition_count;
    struct weir_partition_start *starts;
    int64_t *ends;      // of what is read
    int64_t *positions; // behind what was looked at
    struct origin *origins;
    uint64_t passed_count;
    uint32_t row_count; // of the open transaction
    bool is_open;
};

static void set_deadline(struct replay *replay)
{
    replay->retry.deadline_ms =
        weir_now_ms(replay->retry.clock) + replay->config->connect_timeout_ms;
}

static void delivered(struct weir_delivery *delivery, uint32_t count)
{
    (void)delivery;
    (void)count;
}

static void failed(struct weir_delivery *delivery, const struct weir_error *error)
{
    struct replay *replay = (struct replay *)delivery;
    if (!atomic_flag_test_and_set(&replay->is_failing)) {
        replay->failure = *error;
        atomic_store(&replay->is_failed, true);
    }
}

// Error: a row was not written, or the process is asked to stop.
static enum weir_status check(const struct replay *replay, struct weir_error *error)
{
    if (atomic_load(&replay->is_failed)) {
        *error = replay->failure;
        return WEIR_ERROR;
    }
    return weir_stop_requests == 0
               ? WEIR_OK
               : weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FAIL, "stopped");
}

// --- where it goes ---------------------------------------------------------------------------

static enum weir_status topic_info(struct replay *replay, const char *topic,
                                   struct weir_topic_info *info, struct weir_error *error)
{
    enum weir_status status = weir_ask_topic(replay->kafka, &replay->retry, topic, info, error);
    if (status == WEIR_OK && !info->exists) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "topic \"%s\" does not exist", topic);
    }
    return status;
}

static enum weir_status origin_of(struct replay *replay, struct weir_view topic,
                                  struct origin **origin, struct weir_error *error)
{
    struct origin *known = replay->origins;
    while (known != NULL && !weir_view_equal(weir_view_of(known->topic), topic)) {
        known = known->next;
    }
    if (known == NULL) {
        struct weir_topic_info info;
        known = weir_arena_alloc_zero(replay->arena, sizeof *known);
        known->topic = weir_arena_printf(replay->arena, "%.*s", (int)topic.size_bytes, topic.data);
        if (topic_info(replay, known->topic, &info, error) != WEIR_OK) {
            return weir_error_context(error, "where dead letters came from");
        }
        known->partition_count = info.partition_count;
        known->next = replay->origins;
        replay->origins = known;
    }
    *origin = known;
    return WEIR_OK;
}

static bool number_header(const struct weir_record *record, const char *name, int64_t *number)
{
    struct weir_view text;
    char digits[32];
    char *end;
    if (!record->ops->header_last(record, name, &text) || text.size_bytes == 0 ||
        text.size_bytes >= sizeof digits) {
        return false;
    }
    memcpy(digits, text.data, text.size_bytes);
    digits[text.size_bytes] = '\0';
    *number = strtoll(digits, &end, 10);
    return *end == '\0';
}

// The headers that the record had: those in front of the last weir.error, with which weir's begin.
static uint32_t own_headers(const struct weir_record *record, struct weir_header *headers)
{
    uint32_t count = 0;
    struct weir_header header;
    for (uint32_t i = 0; i < HEADERS_MAX && record->ops->header_at(record, i, &header); i++) {
        count = strcmp(header.name, "weir.error") == 0 ? i : count;
        headers[i] = header;
    }
    return count;
}

// --- one transaction -------------------------------------------------------------------------

static enum weir_status begin(struct replay *replay, struct weir_error *error)
{
    if (replay->is_open || replay->request->is_dry) {
        return WEIR_OK;
    }
    enum weir_status status = replay->producer->ops->begin(replay->producer, error);
    replay->is_open = status == WEIR_OK;
    return status;
}

static enum weir_status commit(struct replay *replay, struct weir_error *error)
{
    if (!replay->is_open) {
        return WEIR_OK;
    }
    struct weir_offset_commit *offsets = weir_alloc(replay->partition_count * sizeof *offsets);
    for (uint32_t i = 0; i < replay->partition_count; i++) {
        offsets[i] = (struct weir_offset_commit){.topic = replay->request->topic,
                                                 .partition = (int32_t)i,
                                                 .offset = replay->positions[i],
                                                 .metadata = ""};
    }
    struct weir_producer *producer = replay->producer;
    enum weir_status status;
    set_deadline(replay);
    do {
        status = producer->ops->send_offsets(producer, replay->partition_count, offsets,
                                             WEIR_CALL_TIMEOUT_MS, error);
    } while (status != WEIR_OK && weir_retry_again(&replay->retry, error));
    if (status == WEIR_OK) {
        do {
            status = producer->ops->commit(producer, WEIR_CALL_TIMEOUT_MS, error);
        } while (status != WEIR_OK && weir_retry_again(&replay->retry, error));
    }
    free(offsets);
    if (atomic_load(&replay->is_failed)) {
        *error = replay->failure;
        return WEIR_ERROR;
    }
    replay->is_open = status != WEIR_OK;
    replay->row_count = 0;
    return status;
}

static enum weir_status write_back(struct replay *replay, const struct weir_record *record,
                                   struct weir_error *error)
{
    struct weir_view topic;
    struct weir_view job;
    int64_t partition;
    int64_t timestamp_ms = 0;
    struct origin *origin;
    struct weir_header headers[HEADERS_MAX];
    if (!record->ops->header_last(record, "weir.topic", &topic) ||
        !record->ops->header_last(record, "weir.job", &job) ||
        !weir_view_equal(job, weir_view_of(replay->config->job_id)) ||
        !number_header(record, "weir.partition", &partition) || partition < 0) {
        replay->passed_count++;
        return WEIR_OK;
    }
    number_header(record, "weir.timestamp", &timestamp_ms);
    if (origin_of(replay, topic, &origin, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    origin->count++;
    replay->row_count++;
    if (replay->request->is_dry) {
        return WEIR_OK;
    }
    struct weir_message message = {.topic = origin->topic,
                                   .partition = (int32_t)(partition % origin->partition_count),
                                   .timestamp_ms = timestamp_ms > 0 ? timestamp_ms : 0,
                                   .key = record->key,
                                   .value = record->value,
                                   .header_count = own_headers(record, headers),
                                   .headers = headers};
    enum weir_produce_result result;
    while ((result = replay->producer->ops->produce(replay->producer, &message, &replay->delivery,
                                                    error)) == WEIR_PRODUCE_FULL) {
        if (check(replay, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        weir_pause_ms(PAUSE_MS);
    }
    return result == WEIR_PRODUCE_TAKEN ? WEIR_OK : WEIR_ERROR;
}

// --- the whole -------------------------------------------------------------------------------

static bool is_at_end(const struct replay *replay)
{
    for (uint32_t i = 0; i < replay->partition_count; i++) {
        if (replay->positions[i] < replay->ends[i]) {
            return false;
        }
    }
    return true;
}

static enum weir_status take(struct replay *replay, const struct weir_fetched *fetched,
                             struct weir_error *error)
{
    int64_t *position = &replay->positions[fetched->partition_idx];
    switch (fetched->kind) {
    case WEIR_FETCH_ERROR:
        *error = *fetched->error;
        return WEIR_ERROR;
    case WEIR_FETCH_END:
        *position = fetched->record.offset > *position ? fetched->record.offset : *position;
        return WEIR_OK;
    case WEIR_FETCH_RECORD:
        break;
    }
    if (fetched->record.offset >= replay->ends[fetched->partition_idx]) {
        return WEIR_OK; // came while this runs: the next one's
    }
    *position = fetched->record.offset + 1;
    return write_back(replay, &fetched->record, error);
}

static enum weir_status copy_all(struct replay *replay, struct weir_error *error)
{
    struct weir_fetched *fetched = weir_alloc(FETCH_MAX * sizeof *fetched);
    enum weir_status status = WEIR_OK;
    while (status == WEIR_OK && !is_at_end(replay)) {
        uint32_t count = 0;
        status = check(replay, error);
        if (status != WEIR_OK) {
            break;
        }
        status =
            replay->consumer->ops->fetch(replay->consumer, FETCH_MAX, 500, fetched, &count, error);
        if (status == WEIR_OK && count > 0) {
            status = begin(replay, error);
        }
        for (uint32_t i = 0; status == WEIR_OK && i < count; i++) {
            status = take(replay, &fetched[i], error);
        }
        replay->consumer->ops->release(replay->consumer);
        if (status == WEIR_OK && replay->row_count >= TRANSACTION_ROWS) {
            status = commit(replay, error);
        }
    }
    free(fetched);
    if (status == WEIR_OK) {
        status = commit(replay, error);
    }
    if (status != WEIR_OK && replay->is_open) {
        struct weir_error ignored;
        replay->producer->ops->abort(replay->producer, WEIR_CALL_TIMEOUT_MS, &ignored);
    }
    return status;
}

// From the committed positions to what is there now.
static enum weir_status choose_range(struct replay *replay, struct weir_error *error)
{
    struct weir_topic_info info;
    const char *topic = replay->request->topic;
    if (topic_info(replay, topic, &info, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    uint32_t count = replay->partition_count = info.partition_count;
    struct weir_arena *arena = replay->arena;
    struct weir_topic_partition *at = weir_arena_alloc(arena, count * sizeof *at);
    struct weir_committed *committed = weir_arena_alloc_zero(arena, count * sizeof *committed);
    replay->starts = weir_arena_alloc(arena, count * sizeof *replay->starts);
    replay->ends = weir_arena_alloc(arena, count * sizeof *replay->ends);
    replay->positions = weir_arena_alloc(arena, count * sizeof *replay->positions);
    for (uint32_t i = 0; i < count; i++) {
        at[i] = (struct weir_topic_partition){.topic = topic, .partition = (int32_t)i};
    }
    if (weir_ask_offsets(replay->kafka, &replay->retry, WEIR_OFFSET_EARLIEST, 0, count, at,
                         replay->positions, error) != WEIR_OK ||
        weir_ask_offsets(replay->kafka, &replay->retry, WEIR_OFFSET_STABLE, 0, count, at,
                         replay->ends, error) != WEIR_OK ||
        weir_ask_committed(replay->kafka, &replay->retry, WEIR_READ_COMMITTED, count, at, committed,
                           error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool is_on = committed[i].has_offset && !replay->request->is_anew &&
                     committed[i].offset > replay->positions[i];
        replay->positions[i] = is_on ? committed[i].offset : replay->positions[i];
        replay->starts[i] = (struct weir_partition_start){
            .topic = topic, .partition = (int32_t)i, .offset = replay->positions[i]};
    }
    return WEIR_OK;
}

static enum weir_status open_client(struct replay *replay, struct weir_error *error)
{
    struct weir_kafka_config client = weir_config_client(replay->config, replay->name);
    client.consumer_queue_bytes_max = QUEUE_BYTES_MAX;
    client.producer_queue_messages_max = QUEUE_MESSAGES_MAX;
    client.producer_queue_bytes_max = QUEUE_BYTES_MAX;
    return weir_rdkafka_create(&client, &replay->kafka, error);
}

static enum weir_status open_producer(struct replay *replay, struct weir_error *error)
{
    if (replay->request->is_dry) {
        return WEIR_OK;
    }
    enum weir_status status =
        replay->kafka->ops->producer_create(replay->kafka, replay->name, &replay->producer, error);
    while (status == WEIR_OK &&
           replay->producer->ops->init_transactions(
               replay->producer, weir_retry_call_timeout_ms(&replay->retry), error) != WEIR_OK) {
        status = weir_retry_again(&replay->retry, error) ? WEIR_OK : WEIR_ERROR;
    }
    return status;
}

static void print_counts(const struct replay *replay, FILE *out)
{
    const char *what = replay->request->is_dry ? "would be written" : "written";
    uint64_t total = 0;
    for (const struct origin *origin = replay->origins; origin != NULL; origin = origin->next) {
        fprintf(out, "%" PRIu64 " dead letters %s back to topic %s\n", origin->count, what,
                origin->topic);
        total += origin->count;
    }
    if (total == 0) {
        fprintf(out, "no dead letters to write back in topic %s\n", replay->request->topic);
    }
    if (replay->passed_count > 0) {
        fprintf(out, "%" PRIu64 " passed over: of other jobs, or of no single record\n",
                replay->passed_count);
    }
}

enum weir_status weir_dead_letters_replay(const struct weir_config *config,
                                          const struct weir_dead_letters_request *request,
                                          FILE *out, struct weir_error *error)
{
    struct weir_arena *arena = weir_arena_create(64 << 10);
    struct replay replay = {
        .delivery = {.delivered = delivered, .failed = failed},
        .is_failing = ATOMIC_FLAG_INIT,
        .config = config,
        .request = request,
        .retry = {.clock = &weir_system_clock, .stop_requests = &weir_stop_requests},
        .arena = arena,
        .name = weir_arena_printf(arena, "%s-dead-letters", config->job_id),
    };
    set_deadline(&replay);
    // The producer first: a replay that is still at it is fenced before positions are read.
    enum weir_status status = open_client(&replay, error);
    if (status == WEIR_OK &&
        (open_producer(&replay, error) != WEIR_OK || choose_range(&replay, error) != WEIR_OK ||
         replay.kafka->ops->consumer_create(replay.kafka, &replay.consumer, error) != WEIR_OK ||
         replay.consumer->ops->assign(replay.consumer, replay.partition_count, replay.starts,
                                      error) != WEIR_OK)) {
        status = WEIR_ERROR;
    }
    if (status == WEIR_OK) {
        status = copy_all(&replay, error);
    }
    if (status == WEIR_OK) {
        print_counts(&replay, out);
    }
    if (replay.consumer != NULL) {
        replay.consumer->ops->destroy(replay.consumer);
    }
    if (replay.producer != NULL) {
        replay.producer->ops->destroy(replay.producer);
    }
    if (replay.kafka != NULL) {
        replay.kafka->ops->destroy(replay.kafka);
    }
    weir_arena_destroy(arena);
    return status;
}
