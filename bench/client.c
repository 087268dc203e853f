// SPDX-License-Identifier: Apache-2.0
//
// Handles of librdkafka with weir's settings (see client.h). A setting given on the command line
// wins over the ones below.
#include "client.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_TIMEOUT_MS = 30000, TOPIC_ATTEMPTS = 50 };

struct default_setting {
    const char *property;
    const char *value;
};

// The cheapest ones found: see the tables in README.md.
static const struct default_setting consumer_settings[] = {
    {"enable.auto.commit", "false"},         {"enable.auto.offset.store", "false"},
    {"isolation.level", "read_committed"},   {"auto.offset.reset", "error"},
    {"enable.partition.eof", "true"},        {"fetch.wait.max.ms", "100"},
    {"fetch.message.max.bytes", "262144"},   {"queued.min.messages", "20000"},
    {"queued.max.messages.kbytes", "16384"},
};

static const struct default_setting producer_settings[] = {
    {"enable.idempotence", "true"},
    {"linger.ms", "5"},
    {"batch.num.messages", "10000"},
    {"batch.size", "1000000"},
    {"queue.buffering.max.messages", "20000"},
    {"retry.backoff.ms", "10"},
    {"partitioner", "murmur2_random"},
};

static void set(rd_kafka_conf_t *conf, const char *property, const char *value)
{
    char text[512];
    if (rd_kafka_conf_set(conf, property, value, text, sizeof(text)) != RD_KAFKA_CONF_OK) {
        weir_bench_die("%s", text);
    }
}

static rd_kafka_conf_t *create_conf(const char *brokers, const struct default_setting *defaults,
                                    size_t default_count)
{
    if (brokers == NULL) {
        weir_bench_die("--brokers is missing");
    }
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers);
    for (size_t i = 0; i < default_count; i++) {
        set(conf, defaults[i].property, defaults[i].value);
    }
    return conf;
}

static void apply_settings(rd_kafka_conf_t *conf, const struct weir_bench_settings *settings)
{
    for (size_t i = 0; settings != NULL && i < settings->count; i++) {
        const char *assignment = settings->assignments[i];
        size_t name_bytes = strcspn(assignment, "=");
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)name_bytes, assignment);
        set(conf, name, assignment + name_bytes + 1);
    }
}

// A partition whose queue was full is fetched again only after a pause: up to a second before
// librdkafka 2.2.0, where a broker thread has to wake up by chance. 2.2.0 brought a property for
// it; earlier releases are helped by metadata refreshes, which wake the broker threads.
static void avoid_fetch_stalls(rd_kafka_conf_t *conf)
{
    char text[512];
    if (rd_kafka_conf_set(conf, "fetch.queue.backoff.ms", "10", text, sizeof(text)) !=
        RD_KAFKA_CONF_OK) {
        set(conf, "topic.metadata.refresh.interval.ms", "50");
    }
}

static rd_kafka_t *create_handle(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
    char text[512];
    rd_kafka_t *handle = rd_kafka_new(type, conf, text, sizeof(text));
    if (handle == NULL) {
        weir_bench_die("%s", text);
    }
    return handle;
}

rd_kafka_t *weir_bench_consumer_create(const char *brokers, const char *group,
                                       const struct weir_bench_settings *settings)
{
    rd_kafka_conf_t *conf = create_conf(brokers, consumer_settings,
                                        sizeof(consumer_settings) / sizeof(*consumer_settings));
    set(conf, "group.id", group);
    avoid_fetch_stalls(conf);
    apply_settings(conf, settings);
    rd_kafka_t *consumer = create_handle(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(consumer);
    return consumer;
}

rd_kafka_t *weir_bench_producer_create(const char *brokers, const char *transactional_id,
                                       enum weir_bench_reports reports,
                                       weir_bench_delivered_fn delivered, void *opaque,
                                       const struct weir_bench_settings *settings)
{
    rd_kafka_conf_t *conf = create_conf(brokers, producer_settings,
                                        sizeof(producer_settings) / sizeof(*producer_settings));
    if (transactional_id != NULL) {
        set(conf, "transactional.id", transactional_id);
        set(conf, "transaction.timeout.ms", "120000");
    }
    apply_settings(conf, settings);
    switch (reports) {
    case WEIR_BENCH_REPORTS_CALLBACK:
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
        break;
    case WEIR_BENCH_REPORTS_EVENT:
        rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR);
        break;
    }
    rd_kafka_conf_set_opaque(conf, opaque);
    rd_kafka_t *producer = create_handle(RD_KAFKA_PRODUCER, conf);
    if (transactional_id != NULL) {
        weir_bench_check(rd_kafka_init_transactions(producer, REQUEST_TIMEOUT_MS),
                         "init_transactions");
    }
    return producer;
}

// Number of partitions, or 0 if the topic is not there or a partition has no leader (yet).
static int32_t ask_partition_count(rd_kafka_t *handle, const char *topic)
{
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(handle, topic, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, rkt, &metadata, REQUEST_TIMEOUT_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("topic %s: %s", topic, rd_kafka_err2str(code));
    }
    int32_t count = 0;
    if (metadata->topic_cnt == 1 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        count = metadata->topics[0].partition_cnt;
        for (int i = 0; i < metadata->topics[0].partition_cnt; i++) {
            count = metadata->topics[0].partitions[i].leader < 0 ? 0 : count;
        }
    }
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(rkt);
    return count;
}

int32_t weir_bench_partition_count(rd_kafka_t *handle, const char *topic)
{
    // A topic that was made a moment ago is not known to the broker at once.
    for (int i = 0; i < TOPIC_ATTEMPTS; i++) {
        int32_t count = ask_partition_count(handle, topic);
        if (count > 0) {
            return count;
        }
        weir_bench_nap_us(100000);
    }
    weir_bench_die("topic %s: not there", topic);
}

struct weir_bench_partition *weir_bench_partitions(rd_kafka_t *consumer, const char *topic,
                                                   int32_t partition_count)
{
    struct weir_bench_partition *partitions = calloc((size_t)partition_count, sizeof(*partitions));
    for (int32_t i = 0; i < partition_count; i++) {
        rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
            consumer, topic, i, &partitions[i].first, &partitions[i].end, REQUEST_TIMEOUT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            weir_bench_die("end of %s[%d]: %s", topic, (int)i, rd_kafka_err2str(code));
        }
    }
    return partitions;
}

rd_kafka_queue_t *weir_bench_assign(rd_kafka_t *consumer, const char *topic,
                                    const struct weir_bench_partition *partitions,
                                    int32_t partition_count, int task, int task_count)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partition_count);
    for (int32_t i = 0; i < partition_count; i++) {
        if (i % task_count == task) {
            rd_kafka_topic_partition_list_add(list, topic, i)->offset = partitions[i].first;
        }
    }
    rd_kafka_resp_err_t code = rd_kafka_assign(consumer, list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_bench_die("assign: %s", rd_kafka_err2str(code));
    }
    rd_kafka_topic_partition_list_destroy(list);
    return rd_kafka_queue_get_consumer(consumer);
}

void weir_bench_check(rd_kafka_error_t *error, const char *what)
{
    if (error != NULL) {
        weir_bench_die("%s: %s", what, rd_kafka_error_string(error));
    }
}
