// SPDX-License-Identifier: Apache-2.0
// Settings of librdkafka handles, in three layers: weir's defaults, which the user may change; the
// user's own; and what weir owns because its promises hang on it. Also the check of all names and
// values at start. Values never reach a log or an error text if the name says that they are secret.
#include "kafka/rdkafka_handle.h"
#include "kafka/rdkafka_property.h"

#include "runtime/base/assert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { FETCH_BYTES_MAX = 4 << 20 }; // of one answer, as compressed: 16 partitions of 256 KiB

struct setting {
    const char *name;
    const char *value;
};

// Lists end with a NULL name.
static const struct setting common_defaults[] = {
    {"client.id", "weir"},
    // Transactional requests are small and wait for each other.
    {"socket.nagle.disable", "true"},
    {"socket.keepalive.enable", "true"},
    // send_offsets ignores its own time-out and takes this one.
    {"socket.timeout.ms", "10000"},
    // A broker that restarts is found again within a second.
    {"reconnect.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "1000"},
    {NULL, NULL},
};

static const struct setting consumer_defaults[] = {
    {"statistics.interval.ms", "15000"}, // rdkafka_stats.c
    {"fetch.wait.max.ms", "100"},
    {"fetch.error.backoff.ms", "100"},
    // As fast as the larger defaults, in half the memory (bench/README.md).
    {"queued.min.messages", "20000"},
    {"fetch.message.max.bytes", "262144"},
    {NULL, NULL},
};

// Known to releases from 2.2.0 on; older ones are woken instead (rdkafka_consumer.c).
static const struct setting fetch_backoff_default = {"fetch.queue.backoff.ms", "10"};

// Known to releases from 2.5.0 on, which otherwise wait up to a second for their telemetry's end
// where a client is destroyed: at every start, and for each client of a job that is built anew.
static const struct setting telemetry_default = {"enable.metrics.push", "false"};

static const struct setting producer_defaults[] = {
    {"statistics.interval.ms", "15000"}, // rdkafka_stats.c
    {"batch.num.messages", "10000"},
    // A transaction without rows waits for this long before it can end.
    {"retry.backoff.ms", "10"},
    {NULL, NULL},
};

static const struct setting question_defaults[] = {
    {"fetch.wait.max.ms", "10"},
    // Questions look at single records.
    {"fetch.message.max.bytes", "65536"},
    {NULL, NULL},
};

static const struct setting reader_owned[] = {
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "error"},
    {"enable.partition.eof", "true"},
    {NULL, NULL},
};

static const struct setting producer_owned[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
    {"delivery.report.only.error", "false"},
    {NULL, NULL},
};

static bool is_secret(const char *name)
{
    static const char *const parts[] = {"password",           "secret",    ".pem",
                                        "oauthbearer.config", "assertion", "token"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static const char *reason_of_owned(const char *name)
{
    for (uint32_t i = 0; i < weir_rdkafka_owned_count; i++) {
        if (strcmp(weir_rdkafka_owned[i].name, name) == 0) {
            return weir_rdkafka_owned[i].reason;
        }
    }
    return NULL;
}

bool weir_rdkafka_property_exists(const char *name)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[256];
    // An unknown name is told from a value that does not fit; "" fits nothing but text.
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name, "", text, sizeof(text));
    rd_kafka_conf_destroy(conf);
    return result != RD_KAFKA_CONF_UNKNOWN;
}

const char *weir_rdkafka_reader_property(const struct weir_rdkafka *kafka, const char *name)
{
    const struct weir_rdkafka_property_list *lists[] = {&kafka->properties,
                                                        &kafka->consumer_properties};
    const char *value = NULL;
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        for (uint32_t i = 0; i < lists[l]->count; i++) {
            const struct weir_property *property = &lists[l]->properties[i];
            value = strcmp(property->name, name) == 0 ? property->value : value;
        }
    }
    return value;
}

// --- building ------------------------------------------------------------------------------------

static enum weir_status set_one(rd_kafka_conf_t *conf, const char *name, const char *value,
                                struct weir_error *error)
{
    char text[512];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof(text)) == RD_KAFKA_CONF_OK) {
        return WEIR_OK;
    }
    return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE, "Kafka property %s: %s",
                          name, is_secret(name) ? "the value is not accepted" : text);
}

static enum weir_status set_number(rd_kafka_conf_t *conf, const char *name, uint64_t value,
                                   struct weir_error *error)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return set_one(conf, name, text, error);
}

static void set_list(rd_kafka_conf_t *conf, const struct setting *list)
{
    for (; list->name != NULL; list++) {
        struct weir_error error;
        enum weir_status status = set_one(conf, list->name, list->value, &error);
        WEIR_ASSERT(status == WEIR_OK);
    }
}

static void set_if_known(rd_kafka_conf_t *conf, const struct setting *setting)
{
    if (weir_rdkafka_property_exists(setting->name)) {
        set_list(conf, (struct setting[]){*setting, {NULL, NULL}});
    }
}

static enum weir_status set_properties(rd_kafka_conf_t *conf,
                                       const struct weir_rdkafka_property_list *list,
                                       struct weir_error *error)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (set_one(conf, list->properties[i].name, list->properties[i].value, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static uint64_t kilobytes(uint64_t size_bytes, uint64_t kilobytes_max)
{
    uint64_t size = size_bytes / 1024;
    if (size == 0) {
        return 1;
    }
    return size < kilobytes_max ? size : kilobytes_max;
}

static enum weir_status set_consumer_defaults(const struct weir_rdkafka *kafka,
                                              rd_kafka_conf_t *conf, struct weir_error *error)
{
    set_list(conf, consumer_defaults);
    set_if_known(conf, &fetch_backoff_default);
    if (kafka->consumer_queue_bytes_max != 0) {
        return set_number(conf, "queued.max.messages.kbytes",
                          kilobytes(kafka->consumer_queue_bytes_max, 2097151), error);
    }
    return WEIR_OK;
}

static enum weir_status set_producer_defaults(const struct weir_rdkafka *kafka,
                                              rd_kafka_conf_t *conf, struct weir_error *error)
{
    set_list(conf, producer_defaults);
    if (set_number(conf, "linger.ms", kafka->linger_ms, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    uint32_t messages_max = kafka->producer_queue_messages_max;
    if (set_number(conf, "queue.buffering.max.messages", messages_max != 0 ? messages_max : 50000,
                   error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (kafka->producer_queue_bytes_max != 0) {
        return set_number(conf, "queue.buffering.max.kbytes",
                          kilobytes(kafka->producer_queue_bytes_max, INT32_MAX), error);
    }
    return WEIR_OK;
}

static enum weir_status set_producer_owned(const struct weir_rdkafka *kafka, rd_kafka_conf_t *conf,
                                           const char *transactional_id, struct weir_error *error)
{
    set_list(conf, producer_owned);
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS);
    if (transactional_id == NULL) {
        return WEIR_OK;
    }
    if (set_one(conf, "transactional.id", transactional_id, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (kafka->transaction_timeout_ms == 0) {
        return WEIR_OK;
    }
    if (set_number(conf, "transaction.timeout.ms", (uint64_t)kafka->transaction_timeout_ms,
                   error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    // librdkafka refuses a socket time-out that is not below the transaction's.
    char text[24] = "0";
    size_t text_bytes = sizeof(text);
    rd_kafka_conf_get(conf, "socket.timeout.ms", text, &text_bytes);
    if (strtoll(text, NULL, 10) + 100 > kafka->transaction_timeout_ms &&
        kafka->transaction_timeout_ms > 1100) {
        return set_number(conf, "socket.timeout.ms",
                          (uint64_t)(kafka->transaction_timeout_ms - 100), error);
    }
    return WEIR_OK;
}

static enum weir_status set_reader_owned(const struct weir_rdkafka *kafka, rd_kafka_conf_t *conf,
                                         const char *isolation, struct weir_error *error)
{
    set_list(conf, reader_owned);
    if (set_one(conf, "isolation.level", isolation, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return set_one(conf, "group.id", kafka->group_id, error);
}

static int64_t number_of(rd_kafka_conf_t *conf, const char *name)
{
    char text[64] = "";
    size_t text_bytes = sizeof(text);
    rd_kafka_conf_get(conf, name, text, &text_bytes);
    return strtoll(text, NULL, 10);
}

// An answer to a fetch is unpacked as a whole, whatever the queue may hold: of 50 partitions with
// small, well compressed records it would be hundreds of megabytes. One that sets larger records
// gets librdkafka's own limit, which goes with them.
static enum weir_status limit_fetch(const struct weir_rdkafka *kafka, rd_kafka_conf_t *conf,
                                    struct weir_error *error)
{
    static const char name[] = "fetch.max.bytes";
    int64_t message_bytes_max = number_of(conf, "message.max.bytes");
    if (weir_rdkafka_reader_property(kafka, name) != NULL || message_bytes_max > FETCH_BYTES_MAX) {
        return WEIR_OK;
    }
    uint64_t bytes =
        kafka->fetch_bytes_max != 0 ? kafka->fetch_bytes_max : (uint64_t)FETCH_BYTES_MAX;
    bytes = bytes < (uint64_t)FETCH_BYTES_MAX ? bytes : (uint64_t)FETCH_BYTES_MAX;
    // The client refuses less than one message.
    bytes = bytes > (uint64_t)message_bytes_max ? bytes : (uint64_t)message_bytes_max;
    return set_number(conf, name, bytes, error);
}

static enum weir_status limit_batch(const struct weir_rdkafka *kafka, rd_kafka_conf_t *conf,
                                    struct weir_error *error)
{
    if (kafka->batch_bytes_max == 0 ||
        number_of(conf, "batch.size") <= (int64_t)kafka->batch_bytes_max) {
        return WEIR_OK;
    }
    return set_number(conf, "batch.size", kafka->batch_bytes_max, error);
}

static enum weir_status fill(struct weir_rdkafka *kafka, rd_kafka_conf_t *conf,
                             enum weir_rdkafka_role role, const char *transactional_id,
                             struct weir_error *error)
{
    set_list(conf, common_defaults);
    set_if_known(conf, &telemetry_default);
    rd_kafka_conf_set_opaque(conf, kafka);
    rd_kafka_conf_set_log_cb(conf, weir_rdkafka_log_callback);
    rd_kafka_conf_enable_sasl_queue(conf, 1);
    switch (role) {
    case WEIR_RDKAFKA_CONSUMER:
        if (set_consumer_defaults(kafka, conf, error) != WEIR_OK ||
            set_properties(conf, &kafka->properties, error) != WEIR_OK ||
            set_properties(conf, &kafka->consumer_properties, error) != WEIR_OK ||
            limit_fetch(kafka, conf, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        return set_reader_owned(kafka, conf, "read_committed", error);
    case WEIR_RDKAFKA_PRODUCER:
        if (set_producer_defaults(kafka, conf, error) != WEIR_OK ||
            set_properties(conf, &kafka->properties, error) != WEIR_OK ||
            set_properties(conf, &kafka->producer_properties, error) != WEIR_OK ||
            limit_batch(kafka, conf, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        return set_producer_owned(kafka, conf, transactional_id, error);
    case WEIR_RDKAFKA_QUESTION_UNCOMMITTED:
    case WEIR_RDKAFKA_QUESTION_COMMITTED:
        if (set_properties(conf, &kafka->properties, error) != WEIR_OK ||
            set_properties(conf, &kafka->consumer_properties, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        // Behind the user's: a big fetch would only make questions slow.
        set_list(conf, question_defaults);
        return set_reader_owned(
            kafka, conf,
            role == WEIR_RDKAFKA_QUESTION_COMMITTED ? "read_committed" : "read_uncommitted", error);
    }
    return WEIR_OK;
}

rd_kafka_conf_t *weir_rdkafka_conf_create(struct weir_rdkafka *kafka, enum weir_rdkafka_role role,
                                          const char *transactional_id, struct weir_error *error)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (fill(kafka, conf, role, transactional_id, error) != WEIR_OK) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    return conf;
}

enum weir_status weir_rdkafka_limits(struct weir_kafka *kafka, struct weir_client_limits *limits,
                                     struct weir_error *error)
{
    rd_kafka_conf_t *conf =
        weir_rdkafka_conf_create(weir_rdkafka_of(kafka), WEIR_RDKAFKA_PRODUCER, NULL, error);
    if (conf == NULL) {
        return WEIR_ERROR;
    }
    char codec[32] = "none";
    size_t codec_bytes = sizeof(codec);
    rd_kafka_conf_get(conf, "compression.codec", codec, &codec_bytes);
    limits->message_bytes_max = (uint64_t)number_of(conf, "message.max.bytes");
    limits->is_compressing = strcmp(codec, "none") != 0;
    rd_kafka_conf_destroy(conf);
    return WEIR_OK;
}

// The files of TLS: the library that reads them tells which one it was in lines of the log alone.
static bool set_unreadable_file(rd_kafka_conf_t *conf, struct weir_error *error)
{
    static const char *const names[] = {"ssl.ca.location", "ssl.certificate.location",
                                        "ssl.key.location", "ssl.keystore.location",
                                        "ssl.crl.location"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512] = "";
        size_t path_bytes = sizeof(path);
        if (rd_kafka_conf_get(conf, names[i], path, &path_bytes) == RD_KAFKA_CONF_OK &&
            path[0] != '\0' && strcmp(path, "probe") != 0 && access(path, R_OK) != 0) {
            weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                           "Kafka property %s: cannot read \"%s\": %s", names[i], path,
                           strerror(errno));
            return true;
        }
    }
    return false;
}

rd_kafka_t *weir_rdkafka_handle_create(rd_kafka_type_t type, rd_kafka_conf_t *conf,
                                       struct weir_error *error)
{
    char mechanism[64] = "";
    size_t mechanism_bytes = sizeof(mechanism);
    rd_kafka_conf_get(conf, "sasl.mechanisms", mechanism, &mechanism_bytes);
    bool needs_tokens = strcasecmp(mechanism, "OAUTHBEARER") == 0;

    char text[512];
    rd_kafka_t *handle = rd_kafka_new(type, conf, text, sizeof(text));
    if (handle == NULL) {
        if (!set_unreadable_file(conf, error)) {
            weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE, "Kafka properties: %s",
                           text);
        }
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    if (needs_tokens) {
        // Handles that nobody polls need fresh tokens too.
        rd_kafka_error_destroy(rd_kafka_sasl_background_callbacks_enable(handle));
    }
    return handle;
}

int64_t weir_rdkafka_handle_setting(rd_kafka_t *handle, const char *name)
{
    char text[64] = "";
    size_t text_bytes = sizeof(text);
    if (rd_kafka_conf_get(rd_kafka_conf(handle), name, text, &text_bytes) != RD_KAFKA_CONF_OK) {
        return 0;
    }
    return strtoll(text, NULL, 10);
}

// --- checking ------------------------------------------------------------------------------------

static void add_fault(struct weir_buffer *faults, const char *name, const char *side,
                      const char *reason)
{
    weir_buffer_printf(faults, "%sKafka property %s%s: %s", faults->size_bytes != 0 ? "\n" : "",
                       name, side, reason);
}

static void check_list(const struct weir_rdkafka_property_list *list, const char *side,
                       struct weir_buffer *faults)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (uint32_t i = 0; i < list->count; i++) {
        const struct weir_property *property = &list->properties[i];
        const char *reason = reason_of_owned(property->name);
        if (reason != NULL) {
            char text[256];
            snprintf(text, sizeof(text), "weir sets it itself: %s", reason);
            add_fault(faults, property->name, side, text);
            continue;
        }
        char text[512];
        rd_kafka_conf_res_t result =
            rd_kafka_conf_set(conf, property->name, property->value, text, sizeof(text));
        if (result == RD_KAFKA_CONF_UNKNOWN) {
            add_fault(faults, property->name, side, "there is no such property");
        } else if (result == RD_KAFKA_CONF_INVALID) {
            add_fault(faults, property->name, side,
                      is_secret(property->name) ? "the value is not accepted" : text);
        }
    }
    rd_kafka_conf_destroy(conf);
}

enum weir_status weir_rdkafka_conf_check(const struct weir_rdkafka *kafka, struct weir_error *error)
{
    struct weir_buffer faults = {0};
    check_list(&kafka->properties, "", &faults);
    check_list(&kafka->consumer_properties, " (consumer)", &faults);
    check_list(&kafka->producer_properties, " (producer)", &faults);
    enum weir_status status = WEIR_OK;
    if (faults.size_bytes != 0) {
        status = weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE, "%s",
                                weir_buffer_text(&faults));
    }
    weir_buffer_deinit(&faults);
    return status;
}
