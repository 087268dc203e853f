// SPDX-License-Identifier: Apache-2.0
// Interceptors of a producer handle. They run on librdkafka's broker threads, which must not be
// held up: one switch and at most two atomic stores. The store of a late error can fall behind the
// next begin: then it marks the new transaction as doubtful, which costs a replay and no more.
#include "kafka/rdkafka_intercept.h"

#include "runtime/base/failpoint.h"

#include <stdint.h>

enum {
    API_INIT_PRODUCER_ID = 22,
    API_ADD_PARTITIONS_TO_TXN = 24,
    API_ADD_OFFSETS_TO_TXN = 25,
    API_END_TXN = 26,
    API_TXN_OFFSET_COMMIT = 28,
};

static const char interceptor_name[] = "weir";

void weir_rdkafka_watch_response(struct weir_rdkafka_watch *watch, int16_t api_key,
                                 rd_kafka_resp_err_t err)
{
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    switch (api_key) {
    case API_TXN_OFFSET_COMMIT:
        atomic_store_explicit(&watch->is_offset_commit_doubtful, true, memory_order_release);
        atomic_store_explicit(&watch->is_used_up, true, memory_order_release);
        break;
    case API_INIT_PRODUCER_ID:
    case API_ADD_PARTITIONS_TO_TXN:
    case API_ADD_OFFSETS_TO_TXN:
    case API_END_TXN:
        atomic_store_explicit(&watch->is_used_up, true, memory_order_release);
        break;
    default: // every other request is harmless when it comes late
        break;
    }
}

static rd_kafka_resp_err_t on_request_sent(rd_kafka_t *handle, int descriptor, const char *broker,
                                           int32_t broker_id, int16_t api_key, int16_t api_version,
                                           int32_t correlation_id, size_t size, void *opaque)
{
    (void)handle, (void)descriptor, (void)broker, (void)broker_id, (void)api_version;
    (void)correlation_id, (void)size, (void)opaque;
    switch (api_key) {
    case API_INIT_PRODUCER_ID:
        weir_failpoint("kafka.sent.InitProducerId");
        break;
    case API_ADD_PARTITIONS_TO_TXN:
        weir_failpoint("kafka.sent.AddPartitionsToTxn");
        break;
    case API_ADD_OFFSETS_TO_TXN:
        weir_failpoint("kafka.sent.AddOffsetsToTxn");
        break;
    case API_END_TXN:
        weir_failpoint("kafka.sent.EndTxn");
        break;
    case API_TXN_OFFSET_COMMIT:
        weir_failpoint("kafka.sent.TxnOffsetCommit");
        break;
    default:
        break;
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void pass_answered_failpoint(int16_t api_key)
{
    switch (api_key) {
    case API_INIT_PRODUCER_ID:
        weir_failpoint("kafka.answered.InitProducerId");
        break;
    case API_ADD_PARTITIONS_TO_TXN:
        weir_failpoint("kafka.answered.AddPartitionsToTxn");
        break;
    case API_ADD_OFFSETS_TO_TXN:
        weir_failpoint("kafka.answered.AddOffsetsToTxn");
        break;
    case API_END_TXN:
        weir_failpoint("kafka.answered.EndTxn");
        break;
    case API_TXN_OFFSET_COMMIT:
        weir_failpoint("kafka.answered.TxnOffsetCommit");
        break;
    default:
        break;
    }
}

static rd_kafka_resp_err_t on_response_received(rd_kafka_t *handle, int descriptor,
                                                const char *broker, int32_t broker_id,
                                                int16_t api_key, int16_t api_version,
                                                int32_t correlation_id, size_t size, int64_t rtt_us,
                                                rd_kafka_resp_err_t err, void *opaque)
{
    (void)handle, (void)descriptor, (void)broker, (void)broker_id, (void)api_version;
    (void)correlation_id, (void)size, (void)rtt_us;
    weir_rdkafka_watch_response(opaque, api_key, err);
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        pass_answered_failpoint(api_key);
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *handle, const rd_kafka_conf_t *conf, void *opaque,
                                  char *text, size_t text_bytes)
{
    (void)conf, (void)text, (void)text_bytes;
    rd_kafka_resp_err_t err =
        rd_kafka_interceptor_add_on_request_sent(handle, interceptor_name, on_request_sent, opaque);
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        err = rd_kafka_interceptor_add_on_response_received(handle, interceptor_name,
                                                            on_response_received, opaque);
    }
    return err;
}

void weir_rdkafka_watch_install(rd_kafka_conf_t *conf, struct weir_rdkafka_watch *watch)
{
    atomic_init(&watch->is_used_up, false);
    atomic_init(&watch->is_offset_commit_doubtful, false);
    rd_kafka_conf_interceptor_add_on_new(conf, interceptor_name, on_new, watch);
}
