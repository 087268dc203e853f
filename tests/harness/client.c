// SPDX-License-Identifier: Apache-2.0
// librdkafka handles: see the header. Questions are asked again while brokers come up or move, as
// tests of faults ask them at the worst moments.
#include "tests/harness/client.h"

#include <string.h>

#include "tests/harness/base.h"

enum { QUESTION_TIMEOUT_MS = 30000 };

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[512];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof(text)) != RD_KAFKA_CONF_OK) {
        WEIR_TEST_FAIL("%s", text);
    }
}

rd_kafka_t *weir_test_client_create(
    rd_kafka_type_t type, const char *bootstrap, const char *const *settings,
    void (*delivered)(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque),
    void *opaque)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "client.id", "weir-test-harness");
    set(conf, "reconnect.backoff.ms", "20");
    set(conf, "reconnect.backoff.max.ms", "200");
    set(conf, "retry.backoff.ms", "20");
    set(conf, "socket.nagle.disable", "true");
    set(conf, "log_level", "2"); // brokers go away on purpose here
    for (size_t i = 0; settings != NULL && settings[i] != NULL; i += 2) {
        set(conf, settings[i], settings[i + 1]);
    }
    if (delivered != NULL) {
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    }
    rd_kafka_conf_set_opaque(conf, opaque);
    char text[512];
    rd_kafka_t *handle = rd_kafka_new(type, conf, text, sizeof(text));
    if (handle == NULL) {
        WEIR_TEST_FAIL("%s", text);
    }
    return handle;
}

rd_kafka_t *weir_test_client_create_plain(const char *bootstrap)
{
    return weir_test_client_create(RD_KAFKA_PRODUCER, bootstrap, NULL, NULL, NULL);
}

const struct rd_kafka_metadata *weir_test_client_metadata(rd_kafka_t *handle, const char *topic,
                                                          int timeout_ms)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *local = topic != NULL ? rd_kafka_topic_new(handle, topic, NULL) : NULL;
    rd_kafka_resp_err_t code =
        rd_kafka_metadata(handle, topic == NULL, local, &metadata, timeout_ms);
    if (local != NULL) {
        rd_kafka_topic_destroy(local);
    }
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? metadata : NULL;
}

int32_t weir_test_client_partition_count(rd_kafka_t *handle, const char *topic)
{
    int64_t deadline_ms = weir_test_now_ms() + QUESTION_TIMEOUT_MS;
    for (;;) {
        const struct rd_kafka_metadata *metadata = weir_test_client_metadata(handle, topic, 5000);
        if (metadata != NULL) {
            const struct rd_kafka_metadata_topic *found = &metadata->topics[0];
            rd_kafka_resp_err_t code = found->err;
            int32_t count = found->partition_cnt;
            rd_kafka_metadata_destroy(metadata);
            if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
                return count;
            }
            if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
                return 0;
            }
        }
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("no metadata of topic %s", topic);
        }
        weir_test_sleep_ms(20);
    }
}

void weir_test_client_offsets(rd_kafka_t *handle, const char *topic, int32_t partition,
                              int64_t *first, int64_t *end)
{
    int64_t deadline_ms = weir_test_now_ms() + QUESTION_TIMEOUT_MS;
    for (;;) {
        rd_kafka_resp_err_t code =
            rd_kafka_query_watermark_offsets(handle, topic, partition, first, end, 5000);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            return;
        }
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("no offsets of %s [%d]: %s", topic, partition, rd_kafka_err2str(code));
        }
        weir_test_sleep_ms(20);
    }
}
