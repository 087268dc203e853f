// SPDX-License-Identifier: Apache-2.0
// A producer handle of librdkafka as struct weir_producer: the last step of a row's way and the
// place of the transaction's calls. produce() may be called by several threads at once; the
// transactional calls come from one thread; delivery reports are served by a thread of the handle's
// own (a callback served by flush or a shared poll would add up to 10 ms to every commit).
//
// Invariants:
//   1. Topic handles are made once per name pointer and live as long as the handle; the table of
//      them is read without a lock and written under topics_lock.
//   2. After destroy has set is_silent no callback of a weir_delivery begins, and destroy joins the
//      delivery thread before it returns: none is under way then.
//   3. A handle with messages in it is aborted (or purged) before rd_kafka_destroy:
//   librdkafka 2.0.2
//      can end the process when destroy comes within milliseconds of a produce.
#include "kafka/rdkafka_error.h"
#include "kafka/rdkafka_handle.h"
#include "kafka/rdkafka_intercept.h"

#include "runtime/base/assert.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/memory.h"

#include <string.h>
#include <time.h>

enum {
    // Name pointers of topics: sink tasks times sinks, dead-letter and late topics.
    TOPIC_SLOTS = 4096,
    TOPICS_MAX = TOPIC_SLOTS * 3 / 4,

    DELIVERY_CHUNK = 512,

    // Destroy waits this long for the abort or the purge. A broker that does not answer is no
    // reason to wait: init_transactions of the next handle aborts what was left open.
    ABORT_ON_DESTROY_MS = 1000,

    // Between an error that ends the transaction and the delivery report that says which one.
    CAUSE_WAIT_MS = 200,

    // Time for the broker threads to see that nothing is to linger. Reports wait as long.
    SEND_NOW_MS = 1,
};

struct topic_slot {
    const char *_Atomic name; // NULL: empty; written after topic
    rd_kafka_topic_t *topic;
};

struct producer {
    struct weir_producer base;
    struct weir_rdkafka *kafka;
    rd_kafka_t *handle;
    char *transactional_id; // NULL: not transactional
    rd_kafka_consumer_group_metadata_t *group;
    struct weir_rdkafka_watch watch;

    pthread_t delivery_thread;
    rd_kafka_queue_t *events;
    _Atomic int
        failed_code; // of the first row that was not delivered for a reason of its own; 0: none
    _Atomic uint64_t refusal_count; // of the process, when the transaction began
    _Atomic bool is_sent_now;       // the delivery thread is asked to have everything sent
    _Atomic bool is_silent;
    _Atomic bool is_stopping;

    pthread_mutex_t topics_lock;
    uint32_t topic_count; // guarded by topics_lock
    struct topic_slot topics[TOPIC_SLOTS];
};

static struct producer *producer_of(struct weir_producer *base)
{
    return (struct producer *)base; // base is the first member
}

// --- delivery thread -----------------------------------------------------------------------------

// One row's error ends the transaction, and all the others are purged: what counts is the first
// one.
static rd_kafka_resp_err_t note_cause(struct producer *producer, rd_kafka_resp_err_t code)
{
    int none = 0;
    rd_kafka_resp_err_t cause = code;
    if (code == RD_KAFKA_RESP_ERR__PURGE_QUEUE || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
        int known = atomic_load(&producer->failed_code);
        if (known != 0) {
            return (rd_kafka_resp_err_t)known;
        }
        char topic[256];
        cause = weir_rdkafka_refusal_since(producer->refusal_count, topic, sizeof(topic));
        if (cause == RD_KAFKA_RESP_ERR_NO_ERROR) {
            return code;
        }
    }
    atomic_compare_exchange_strong(&producer->failed_code, &none, (int)cause);
    return cause;
}

// The row that is reported may be one of another topic than the one that was refused.
static void name_missing_right(const struct producer *producer, struct weir_error *error,
                               rd_kafka_resp_err_t code, const char *topic)
{
    char refused[256] = "";
    weir_rdkafka_refusal_since(producer->refusal_count, refused, sizeof(refused));
    weir_rdkafka_error_name_right(error, code, "Write", refused[0] != '\0' ? refused : topic);
}

static void report_run(struct producer *producer, struct weir_delivery *delivery,
                       const rd_kafka_message_t *first, uint32_t count)
{
    if (delivery == NULL || atomic_load_explicit(&producer->is_silent, memory_order_acquire)) {
        return;
    }
    if (first->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        delivery->delivered(delivery, count);
        return;
    }
    struct weir_error error;
    char what[400];
    rd_kafka_resp_err_t code = note_cause(producer, first->err);
    int length = snprintf(what, sizeof(what), "writing to topic '%s', partition %d",
                          rd_kafka_topic_name(first->rkt), (int)first->partition);
    if (first->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
        snprintf(what + length, sizeof(what) - (size_t)length, ", a row of %zu bytes, key \"%.*s\"",
                 first->key_len + first->len, first->key_len < 100 ? (int)first->key_len : 100,
                 first->key != NULL ? (const char *)first->key : "");
    }
    if (rd_kafka_fatal_error(producer->handle, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_rdkafka_error_set_fatal(&error, WEIR_RDKAFKA_PRODUCE, producer->handle, what,
                                     producer->transactional_id);
    } else {
        // Not rd_kafka_message_errstr: it takes the payload of a row for the text.
        weir_rdkafka_error_set(&error, WEIR_RDKAFKA_PRODUCE, code, NULL, "%s", what);
        name_missing_right(producer, &error, code, rd_kafka_topic_name(first->rkt));
    }
    delivery->failed(delivery, &error);
}

// Reports come in the order of a partition, so one event is mostly one run of one opaque.
static void serve_deliveries(struct producer *producer, rd_kafka_event_t *event)
{
    const rd_kafka_message_t *messages[DELIVERY_CHUNK];
    const rd_kafka_message_t *first = NULL;
    uint32_t count = 0;
    size_t chunk;
    while ((chunk = rd_kafka_event_message_array(event, messages, DELIVERY_CHUNK)) != 0) {
        for (size_t i = 0; i < chunk; i++) {
            if (first != NULL && messages[i]->_private == first->_private &&
                messages[i]->err == first->err) {
                count++;
                continue;
            }
            if (first != NULL) {
                report_run(producer, first->_private, first, count);
            }
            first = messages[i];
            count = 1;
        }
    }
    if (first != NULL) {
        report_run(producer, first->_private, first, count);
    }
}

static void *run_deliveries(void *opaque)
{
    struct producer *producer = opaque;
    while (!atomic_load_explicit(&producer->is_stopping, memory_order_acquire)) {
        if (atomic_exchange(&producer->is_sent_now, false)) {
            // Wakes the broker threads, which take no notice of linger.ms meanwhile. Whatever is
            // not sent then lingers.
            rd_kafka_flush(producer->handle, SEND_NOW_MS);
        }
        rd_kafka_event_t *event = rd_kafka_queue_poll(producer->events, -1);
        switch (rd_kafka_event_type(event)) {
        case RD_KAFKA_EVENT_DR:
            serve_deliveries(producer, event);
            break;
        case RD_KAFKA_EVENT_ERROR:
            // The next call on the handle meets a fatal one.
            weir_rdkafka_note_error(producer->kafka, rd_kafka_event_error(event),
                                    rd_kafka_event_error_string(event));
            break;
        case RD_KAFKA_EVENT_STATS: {
            const char *json = rd_kafka_event_stats(event);
            weir_rdkafka_stats_note(producer->handle, json, strlen(json));
            break;
        }
        default: // none: woken to stop, or to have everything sent
            break;
        }
        rd_kafka_event_destroy(event);
    }
    return NULL;
}

// --- produce -------------------------------------------------------------------------------------

static uint32_t topic_hash(const char *name)
{
    return (uint32_t)(((uint64_t)(uintptr_t)name * UINT64_C(0x9E3779B97F4A7C15)) >> 40) &
           (TOPIC_SLOTS - 1);
}

static rd_kafka_topic_t *add_topic(struct producer *producer, const char *name)
{
    pthread_mutex_lock(&producer->topics_lock);
    uint32_t at = topic_hash(name);
    const char *found;
    while ((found = atomic_load_explicit(&producer->topics[at].name, memory_order_acquire)) !=
               NULL &&
           found != name) {
        at = (at + 1) & (TOPIC_SLOTS - 1);
    }
    struct topic_slot *slot = &producer->topics[at];
    if (found == NULL) {
        WEIR_ASSERT(producer->topic_count < TOPICS_MAX);
        slot->topic = rd_kafka_topic_new(producer->handle, name, NULL);
        if (slot->topic != NULL) {
            producer->topic_count++;
            atomic_store_explicit(&slot->name, name, memory_order_release);
        }
    }
    rd_kafka_topic_t *topic = slot->topic;
    pthread_mutex_unlock(&producer->topics_lock);
    return topic;
}

static rd_kafka_topic_t *find_topic(struct producer *producer, const char *name)
{
    uint32_t at = topic_hash(name);
    const char *found;
    while ((found = atomic_load_explicit(&producer->topics[at].name, memory_order_acquire)) !=
           NULL) {
        if (found == name) {
            return producer->topics[at].topic;
        }
        at = (at + 1) & (TOPIC_SLOTS - 1);
    }
    return add_topic(producer, name);
}

// produce() says no more than that the transaction has failed: the delivery report of the row that
// made it fail says why, and what to do. It is on its way to the delivery thread.
static rd_kafka_resp_err_t wait_for_cause(struct producer *producer)
{
    int64_t deadline_ms = weir_now_ms(&weir_system_clock) + CAUSE_WAIT_MS;
    int cause;
    while ((cause = atomic_load(&producer->failed_code)) == 0 &&
           weir_now_ms(&weir_system_clock) < deadline_ms) {
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    if (rd_kafka_fatal_error(producer->handle, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return RD_KAFKA_RESP_ERR__FATAL;
    }
    return cause != 0 ? (rd_kafka_resp_err_t)cause : RD_KAFKA_RESP_ERR__STATE;
}

static enum weir_produce_result refuse(struct producer *producer,
                                       const struct weir_message *message, rd_kafka_resp_err_t code,
                                       struct weir_error *error)
{
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        return WEIR_PRODUCE_FULL;
    }
    char what[400];
    snprintf(what, sizeof(what), "writing to topic '%s', partition %d", message->topic,
             (int)message->partition);
    if (code == RD_KAFKA_RESP_ERR__STATE) {
        code = wait_for_cause(producer);
    }
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        weir_rdkafka_error_set_fatal(error, WEIR_RDKAFKA_PRODUCE, producer->handle, what,
                                     producer->transactional_id);
    } else {
        // _STATE is no misuse here: an error found in the background has ended the transaction, and
        // the next transactional call says which.
        weir_rdkafka_error_set(
            error, WEIR_RDKAFKA_PRODUCE, code,
            code == RD_KAFKA_RESP_ERR__STATE ? "the transaction has failed" : NULL, "%s", what);
        name_missing_right(producer, error, code, message->topic);
    }
    return WEIR_PRODUCE_FAILED;
}

static rd_kafka_headers_t *copy_headers(const struct weir_message *message)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(message->header_count);
    for (uint32_t i = 0; i < message->header_count; i++) {
        const struct weir_header *header = &message->headers[i];
        rd_kafka_resp_err_t code = rd_kafka_header_add(
            headers, header->name, -1, header->value.data, (ssize_t)header->value.size_bytes);
        WEIR_ASSERT(code == RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    return headers;
}

static enum weir_produce_result producer_produce(struct weir_producer *base,
                                                 const struct weir_message *message,
                                                 struct weir_delivery *delivery,
                                                 struct weir_error *error)
{
    struct producer *producer = producer_of(base);
    rd_kafka_topic_t *topic = find_topic(producer, message->topic);
    if (topic == NULL) {
        return refuse(producer, message, rd_kafka_last_error(), error);
    }
    // librdkafka takes the casts below back: it copies.
    void *value = (void *)message->value.data;
    rd_kafka_resp_err_t code;
    if (message->header_count == 0) {
        code = rd_kafka_producev(producer->handle, RD_KAFKA_V_RKT(topic),
                                 RD_KAFKA_V_PARTITION(message->partition),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                 RD_KAFKA_V_VALUE(value, message->value.size_bytes),
                                 RD_KAFKA_V_KEY(message->key.data, message->key.size_bytes),
                                 RD_KAFKA_V_TIMESTAMP(message->timestamp_ms),
                                 RD_KAFKA_V_OPAQUE(delivery), RD_KAFKA_V_END);
    } else {
        rd_kafka_headers_t *headers = copy_headers(message);
        code = rd_kafka_producev(
            producer->handle, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(message->partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_VALUE(value, message->value.size_bytes),
            RD_KAFKA_V_KEY(message->key.data, message->key.size_bytes),
            RD_KAFKA_V_TIMESTAMP(message->timestamp_ms), RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_OPAQUE(delivery), RD_KAFKA_V_END);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            rd_kafka_headers_destroy(headers);
        }
    }
    if (__builtin_expect(code != RD_KAFKA_RESP_ERR_NO_ERROR, 0)) {
        return refuse(producer, message, code, error);
    }
    return WEIR_PRODUCE_TAKEN;
}

static void producer_send_now(struct weir_producer *base)
{
    struct producer *producer = producer_of(base);
    if (!atomic_exchange(&producer->is_sent_now, true)) {
        rd_kafka_queue_yield(producer->events); // also if it comes before the poll
    }
}

// --- transaction ---------------------------------------------------------------------------------

static enum weir_status take(struct producer *producer, rd_kafka_error_t *cause, const char *what,
                             struct weir_error *error)
{
    return weir_rdkafka_error_take(error, producer->handle, cause, what,
                                   producer->transactional_id);
}

static enum weir_status producer_init_transactions(struct weir_producer *base, int32_t timeout_ms,
                                                   struct weir_error *error)
{
    struct producer *producer = producer_of(base);
    return take(producer, rd_kafka_init_transactions(producer->handle, timeout_ms),
                "init_transactions", error);
}

static enum weir_status producer_begin(struct weir_producer *base, struct weir_error *error)
{
    struct producer *producer = producer_of(base);
    atomic_store_explicit(&producer->watch.is_offset_commit_doubtful, false, memory_order_release);
    atomic_store(&producer->failed_code, 0);
    atomic_store(&producer->refusal_count, weir_rdkafka_refusal_count());
    return take(producer, rd_kafka_begin_transaction(producer->handle), "begin_transaction", error);
}

static enum weir_status producer_send_offsets(struct weir_producer *base, uint32_t count,
                                              const struct weir_offset_commit *offsets,
                                              int32_t timeout_ms, struct weir_error *error)
{
    struct producer *producer = producer_of(base);
    WEIR_ASSERT(count > 0); // librdkafka takes an empty list for success and sends nothing
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (uint32_t i = 0; i < count; i++) {
        WEIR_ASSERT(offsets[i].offset >= 0); // the same for each partition
        rd_kafka_topic_partition_t *partition =
            rd_kafka_topic_partition_list_add(list, offsets[i].topic, offsets[i].partition);
        partition->offset = offsets[i].offset;
        partition->metadata = weir_strdup(offsets[i].metadata); // freed with the list
        partition->metadata_size = strlen(offsets[i].metadata);
    }
    rd_kafka_error_t *cause =
        rd_kafka_send_offsets_to_transaction(producer->handle, list, producer->group, timeout_ms);
    rd_kafka_topic_partition_list_destroy(list);
    return take(producer, cause, "send_offsets_to_transaction", error);
}

static enum weir_status producer_commit(struct weir_producer *base, int32_t timeout_ms,
                                        struct weir_error *error)
{
    struct producer *producer = producer_of(base);
    return take(producer, rd_kafka_commit_transaction(producer->handle, timeout_ms),
                "commit_transaction", error);
}

static enum weir_status producer_abort(struct weir_producer *base, int32_t timeout_ms,
                                       struct weir_error *error)
{
    struct producer *producer = producer_of(base);
    return take(producer, rd_kafka_abort_transaction(producer->handle, timeout_ms),
                "abort_transaction", error);
}

static bool producer_is_used_up(struct weir_producer *base)
{
    return atomic_load_explicit(&producer_of(base)->watch.is_used_up, memory_order_acquire);
}

static bool producer_is_offset_commit_doubtful(struct weir_producer *base)
{
    return atomic_load_explicit(&producer_of(base)->watch.is_offset_commit_doubtful,
                                memory_order_acquire);
}

// --- create, destroy -----------------------------------------------------------------------------

// What is still in the handle must not be there when rd_kafka_destroy begins.
static void empty(struct producer *producer)
{
    if (rd_kafka_fatal_error(producer->handle, NULL, 0) == 0 &&
        producer->transactional_id != NULL) {
        // Outside a transaction, or with a commit under way, this answers at once and does nothing;
        // right after a produce it can itself fail for good. Neither matters any more.
        rd_kafka_error_destroy(rd_kafka_abort_transaction(producer->handle, ABORT_ON_DESTROY_MS));
    }
    if (rd_kafka_outq_len(producer->handle) > 0) {
        rd_kafka_purge(producer->handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(producer->handle, ABORT_ON_DESTROY_MS);
    }
}

static void producer_destroy(struct weir_producer *base)
{
    struct producer *producer = producer_of(base);
    if (producer == NULL) {
        return;
    }
    atomic_store_explicit(&producer->is_silent, true, memory_order_release);
    empty(producer);
    atomic_store_explicit(&producer->is_stopping, true, memory_order_release);
    rd_kafka_queue_yield(producer->events);
    pthread_join(producer->delivery_thread, NULL);
    rd_kafka_queue_destroy(producer->events);
    for (uint32_t i = 0; i < TOPIC_SLOTS; i++) {
        if (producer->topics[i].topic != NULL) {
            rd_kafka_topic_destroy(producer->topics[i].topic);
        }
    }
    if (producer->group != NULL) {
        rd_kafka_consumer_group_metadata_destroy(producer->group);
    }
    weir_rdkafka_stats_close(producer->handle);
    rd_kafka_destroy(producer->handle);
    pthread_mutex_destroy(&producer->topics_lock);
    free(producer->transactional_id);
    free(producer);
}

static const struct weir_producer_ops producer_ops = {
    .init_transactions = producer_init_transactions,
    .begin = producer_begin,
    .produce = producer_produce,
    .send_now = producer_send_now,
    .send_offsets = producer_send_offsets,
    .commit = producer_commit,
    .abort = producer_abort,
    .is_used_up = producer_is_used_up,
    .is_offset_commit_doubtful = producer_is_offset_commit_doubtful,
    .destroy = producer_destroy,
};

enum weir_status weir_rdkafka_producer_create(struct weir_kafka *kafka,
                                              const char *transactional_id,
                                              struct weir_producer **producer_out,
                                              struct weir_error *error)
{
    struct weir_rdkafka *owner = weir_rdkafka_of(kafka);
    rd_kafka_conf_t *conf =
        weir_rdkafka_conf_create(owner, WEIR_RDKAFKA_PRODUCER, transactional_id, error);
    if (conf == NULL) {
        return WEIR_ERROR;
    }
    struct producer *producer = weir_alloc_zero(sizeof(*producer));
    weir_rdkafka_watch_install(conf, &producer->watch);
    rd_kafka_t *handle = weir_rdkafka_handle_create(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        free(producer);
        return WEIR_ERROR;
    }
    producer->base.ops = &producer_ops;
    producer->kafka = owner;
    producer->handle = handle;
    producer->transactional_id = transactional_id != NULL ? weir_strdup(transactional_id) : NULL;
    producer->group = rd_kafka_consumer_group_metadata_new(owner->group_id);
    producer->events = rd_kafka_queue_get_main(handle);
    pthread_mutex_init(&producer->topics_lock, NULL);
    atomic_init(&producer->refusal_count, weir_rdkafka_refusal_count());
    weir_rdkafka_stats_open(handle, "send_queue");
    int result = pthread_create(&producer->delivery_thread, NULL, run_deliveries, producer);
    WEIR_ASSERT(result == 0);
    pthread_setname_np(producer->delivery_thread, "weir-delivery");
    *producer_out = &producer->base;
    return WEIR_OK;
}
