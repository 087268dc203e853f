// SPDX-License-Identifier: Apache-2.0
// The struct weir_kafka on librdkafka: made from the configuration, gives out consumers and
// producers, owns the two handles for questions. Log lines and errors that librdkafka reports about
// brokers and connections end here: they are written and counted, nobody acts on them, because
// librdkafka itself goes on trying.
#include "kafka/rdkafka_handle.h"

#include "runtime/base/assert.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DESTROY_TIMEOUT_S = 10 };

enum {
    // A broker that is down makes every handle report it again and again.
    LOG_WINDOW_MS = 10000,
    LOG_LINES_PER_WINDOW_MAX = 30,
};

static _Atomic uint64_t broker_error_count;

// What a connection last failed of: the reason behind a question that only timed out.
static pthread_mutex_t last_error_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[480];
// Guarded by last_error_lock too: the rights that transactions were refused for want of.
static struct {
    uint64_t count;
    rd_kafka_resp_err_t code; // of the last one
    char topic[256];          // "": it was about none
} refusals;

struct weir_rdkafka *weir_rdkafka_of(struct weir_kafka *kafka)
{
    return (struct weir_rdkafka *)kafka; // base is the first member
}

// --- log -----------------------------------------------------------------------------------------

uint64_t weir_rdkafka_error_count(void)
{
    return atomic_load_explicit(&broker_error_count, memory_order_relaxed);
}

// Kafka 4.0 refuses what librdkafka before 2.6.1 answers to its SCRAM challenge, with the words for
// a wrong password.
static const char *scram_hint(const char *text)
{
    return rd_kafka_version() < 0x020601ff && strstr(text, "mechanism SCRAM") != NULL
               ? "; a right password too: this librdkafka (before 2.6.1) cannot log in by SCRAM at "
                 "Kafka 4.0 and later"
               : "";
}

void weir_rdkafka_last_error(char *text, size_t size_bytes)
{
    pthread_mutex_lock(&last_error_lock);
    snprintf(text, size_bytes, "%s%s", last_error, scram_hint(last_error));
    pthread_mutex_unlock(&last_error_lock);
}

// Only the log says in time what a transaction was refused: its rows are purged, and do not say.
// Of a topic: `… add partition "<topic>" [<n>] to transaction: <why>`; of the id: the code's name.
static void note_refusal(const char *facility, const char *text)
{
    static const char before[] = "add partition \"";
    const char *name = strcmp(facility, "ADDPARTS") == 0 ? strstr(text, before) : NULL;
    bool is_topic = name != NULL && strstr(text, "authorization failed") != NULL;
    bool is_id = strcmp(facility, "TXNERR") == 0 &&
                 strstr(text, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED") != NULL;
    if (!is_topic && !is_id) {
        return;
    }
    pthread_mutex_lock(&last_error_lock);
    refusals.count++;
    refusals.code = is_topic ? RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED
                             : RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    name = is_topic ? name + sizeof(before) - 1 : "";
    snprintf(refusals.topic, sizeof(refusals.topic), "%.*s", (int)strcspn(name, "\""), name);
    pthread_mutex_unlock(&last_error_lock);
}

uint64_t weir_rdkafka_refusal_count(void)
{
    pthread_mutex_lock(&last_error_lock);
    uint64_t count = refusals.count;
    pthread_mutex_unlock(&last_error_lock);
    return count;
}

rd_kafka_resp_err_t weir_rdkafka_refusal_since(uint64_t count, char *topic, size_t size_bytes)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    pthread_mutex_lock(&last_error_lock);
    if (refusals.count != count) {
        code = refusals.code;
        snprintf(topic, size_bytes, "%s", refusals.topic);
    }
    pthread_mutex_unlock(&last_error_lock);
    return code;
}

// Is there room for one more line? Tells about the lines held back when a new window begins.
static bool is_line_allowed(struct weir_rdkafka *kafka)
{
    int64_t now_ms = weir_now_ms(&weir_system_clock);
    int64_t window_ms = atomic_load_explicit(&kafka->log_window_ms, memory_order_relaxed);
    if (now_ms - window_ms >= LOG_WINDOW_MS &&
        atomic_compare_exchange_strong(&kafka->log_window_ms, &window_ms, now_ms)) {
        uint32_t count = atomic_exchange(&kafka->log_line_count, 0);
        if (count > LOG_LINES_PER_WINDOW_MAX) {
            weir_log(WEIR_LOG_WARN, "librdkafka: %u lines like these were held back",
                     count - LOG_LINES_PER_WINDOW_MAX);
        }
    }
    return atomic_fetch_add_explicit(&kafka->log_line_count, 1, memory_order_relaxed) <
           LOG_LINES_PER_WINDOW_MAX;
}

static enum weir_log_level level_of(int level, const char *facility, const char *text)
{
    // Properties of both sides go to every handle: that one side does not know them is expected.
    if (strcmp(facility, "CONFWARN") == 0 && (strstr(text, "is a consumer property") != NULL ||
                                              strstr(text, "is a producer property") != NULL)) {
        return WEIR_LOG_DEBUG;
    }
    // These come as errors too (weir_rdkafka_note_error), or explain one that does.
    static const char *const doubled[] = {"FAIL", "FATAL", "ERROR", "REQTMOUT"};
    for (size_t i = 0; i < sizeof(doubled) / sizeof(doubled[0]); i++) {
        if (strcmp(facility, doubled[i]) == 0) {
            return WEIR_LOG_DEBUG;
        }
    }
    // Even what is fatal to a handle is not to weir, which makes a new one or says itself why not.
    if (level <= 4) {
        return WEIR_LOG_WARN;
    }
    return level <= 6 ? WEIR_LOG_INFO : WEIR_LOG_DEBUG;
}

void weir_rdkafka_log_callback(const rd_kafka_t *handle, int level, const char *facility,
                               const char *text)
{
    enum weir_log_level weir_level = level_of(level, facility, text);
    note_refusal(facility, text);
    if (!weir_log_is_on(weir_level)) {
        return;
    }
    struct weir_rdkafka *kafka = handle != NULL ? rd_kafka_opaque(handle) : NULL;
    if (weir_level != WEIR_LOG_DEBUG && kafka != NULL && !is_line_allowed(kafka)) {
        return;
    }
    weir_log(weir_level, "librdkafka: %s: %s: %s", facility,
             handle != NULL ? rd_kafka_name(handle) : "", text);
}

void weir_rdkafka_note_error(struct weir_rdkafka *kafka, rd_kafka_resp_err_t code,
                             const char *reason)
{
    atomic_fetch_add_explicit(&broker_error_count, 1, memory_order_relaxed);
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        pthread_mutex_lock(&last_error_lock);
        snprintf(last_error, sizeof(last_error), "%s",
                 reason != NULL ? reason : rd_kafka_err2str(code));
        pthread_mutex_unlock(&last_error_lock);
    }
    if (is_line_allowed(kafka)) {
        weir_log(WEIR_LOG_WARN, "kafka: %s (%s)", reason != NULL ? reason : rd_kafka_err2str(code),
                 rd_kafka_err2name(code));
    }
}

void weir_rdkafka_on_error(rd_kafka_t *handle, int code, const char *reason, void *opaque)
{
    (void)handle;
    weir_rdkafka_note_error(opaque, (rd_kafka_resp_err_t)code, reason);
}

// --- questions -----------------------------------------------------------------------------------

rd_kafka_t *weir_rdkafka_question(struct weir_rdkafka *kafka, enum weir_isolation isolation,
                                  struct weir_error *error)
{
    pthread_mutex_lock(&kafka->questions_lock);
    rd_kafka_t *handle = kafka->questions[isolation];
    if (handle == NULL) {
        enum weir_rdkafka_role role = isolation == WEIR_READ_COMMITTED
                                          ? WEIR_RDKAFKA_QUESTION_COMMITTED
                                          : WEIR_RDKAFKA_QUESTION_UNCOMMITTED;
        rd_kafka_conf_t *conf = weir_rdkafka_conf_create(kafka, role, NULL, error);
        if (conf != NULL) {
            rd_kafka_conf_set_error_cb(conf, weir_rdkafka_on_error);
            handle = weir_rdkafka_handle_create(RD_KAFKA_CONSUMER, conf, error);
        }
        kafka->questions[isolation] = handle;
    }
    pthread_mutex_unlock(&kafka->questions_lock);
    if (handle != NULL) {
        rd_kafka_poll(handle, 0); // errors of connections would gather without end
    }
    return handle;
}

// --- create, destroy -----------------------------------------------------------------------------

static struct weir_rdkafka_property_list copy_properties(uint32_t count,
                                                         const struct weir_property *properties)
{
    struct weir_rdkafka_property_list list = {.count = count};
    list.properties = weir_alloc_zero((count + 1) * sizeof(list.properties[0]));
    for (uint32_t i = 0; i < count; i++) {
        list.properties[i].name = weir_strdup(properties[i].name);
        list.properties[i].value = weir_strdup(properties[i].value);
    }
    return list;
}

static void free_properties(struct weir_rdkafka_property_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free((char *)list->properties[i].name);
        free((char *)list->properties[i].value);
    }
    free(list->properties);
}

static void *destroy_handle(void *handle)
{
    rd_kafka_destroy(handle);
    return NULL;
}

void weir_rdkafka_handle_destroy(struct weir_rdkafka *kafka, rd_kafka_t *handle)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, destroy_handle, handle);
    WEIR_ASSERT(failed == 0);
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += DESTROY_TIMEOUT_S;
    if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &deadline) == 0) {
        return;
    }
    pthread_detach(thread);
    atomic_store(&kafka->has_left_handle, true);
    weir_log(WEIR_LOG_WARN,
             "librdkafka does not end a handle (was a topic deleted?): left behind after %d s",
             DESTROY_TIMEOUT_S);
}

static void kafka_destroy(struct weir_kafka *base)
{
    struct weir_rdkafka *kafka = weir_rdkafka_of(base);
    if (kafka == NULL) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (kafka->questions[i] != NULL) {
            weir_rdkafka_handle_destroy(kafka, kafka->questions[i]);
        }
    }
    if (atomic_load(&kafka->has_left_handle)) {
        return;
    }
    pthread_mutex_destroy(&kafka->questions_lock);
    pthread_mutex_destroy(&kafka->record_lock);
    free_properties(&kafka->properties);
    free_properties(&kafka->consumer_properties);
    free_properties(&kafka->producer_properties);
    free(kafka->group_id);
    free(kafka);
}

static void limit_batches(struct weir_kafka *base, uint64_t size_bytes_max)
{
    weir_rdkafka_of(base)->batch_bytes_max = size_bytes_max;
}

static const struct weir_kafka_ops kafka_ops = {
    .cluster_id = weir_rdkafka_cluster_id,
    .topic_info = weir_rdkafka_topic_info,
    .committed = weir_rdkafka_committed,
    .offsets = weir_rdkafka_offsets,
    .record_at = weir_rdkafka_record_at,
    .transaction_owner = weir_rdkafka_transaction_owner,
    .broker_config = weir_rdkafka_broker_config,
    .topic_config = weir_rdkafka_topic_config,
    .create_topic = weir_rdkafka_create_topic,
    .limits = weir_rdkafka_limits,
    .limit_batches = limit_batches,
    .consumer_create = weir_rdkafka_consumer_create,
    .producer_create = weir_rdkafka_producer_create,
    .destroy = kafka_destroy,
};

// Settings that are right one by one can be wrong together (a certificate that cannot be read, a
// mechanism that this build lacks): only making a handle tells.
static enum weir_status check_by_creating(struct weir_rdkafka *kafka, struct weir_error *error)
{
    if (weir_rdkafka_question(kafka, WEIR_READ_COMMITTED, error) == NULL) {
        return WEIR_ERROR;
    }
    static const struct {
        enum weir_rdkafka_role role;
        rd_kafka_type_t type;
        const char *transactional_id;
    } trials[] = {
        {WEIR_RDKAFKA_CONSUMER, RD_KAFKA_CONSUMER, NULL},
        {WEIR_RDKAFKA_PRODUCER, RD_KAFKA_PRODUCER, "weir-check"}, // is never registered
    };
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        rd_kafka_conf_t *conf =
            weir_rdkafka_conf_create(kafka, trials[i].role, trials[i].transactional_id, error);
        rd_kafka_t *handle =
            conf != NULL ? weir_rdkafka_handle_create(trials[i].type, conf, error) : NULL;
        if (handle == NULL) {
            return WEIR_ERROR;
        }
        rd_kafka_destroy(handle);
    }
    return WEIR_OK;
}

enum weir_status weir_rdkafka_create(const struct weir_kafka_config *config,
                                     struct weir_kafka **kafka_out, struct weir_error *error)
{
    WEIR_ASSERT(config->group_id != NULL);
    struct weir_rdkafka *kafka = weir_alloc_zero(sizeof(*kafka));
    kafka->base.ops = &kafka_ops;
    kafka->group_id = weir_strdup(config->group_id);
    kafka->properties = copy_properties(config->property_count, config->properties);
    kafka->consumer_properties =
        copy_properties(config->consumer_property_count, config->consumer_properties);
    kafka->producer_properties =
        copy_properties(config->producer_property_count, config->producer_properties);
    kafka->transaction_timeout_ms = config->transaction_timeout_ms;
    kafka->linger_ms = config->linger_ms;
    kafka->consumer_queue_bytes_max = config->consumer_queue_bytes_max;
    kafka->fetch_bytes_max = config->fetch_bytes_max;
    kafka->producer_queue_messages_max = config->producer_queue_messages_max;
    kafka->producer_queue_bytes_max = config->producer_queue_bytes_max;
    pthread_mutex_init(&kafka->questions_lock, NULL);
    pthread_mutex_init(&kafka->record_lock, NULL);

    if (weir_rdkafka_conf_check(kafka, error) != WEIR_OK ||
        check_by_creating(kafka, error) != WEIR_OK) {
        kafka_destroy(&kafka->base);
        return WEIR_ERROR;
    }
    *kafka_out = &kafka->base;
    return WEIR_OK;
}

const char *weir_rdkafka_version(void)
{
    return rd_kafka_version_str();
}

bool weir_rdkafka_version_is_suspect(void)
{
    // 2.16 hung in send_offsets after the group coordinator's broker was killed; 2.0.2 and 2.8.0
    // went on. Which release between brought it is not known.
    return rd_kafka_version() >= 0x020900ff;
}
