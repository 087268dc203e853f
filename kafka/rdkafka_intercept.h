// SPDX-License-Identifier: Apache-2.0
// Watches the transactional requests of a producer handle: has one of them ended in an error of
// transport or time? Then it may still reach the coordinator late (docs/commit.md, "Late
// requests"). Also the failpoints kafka.sent.<Request> and kafka.answered.<Request>, at which tests
// kill the process: <Request> is InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn or
// TxnOffsetCommit.
#ifndef WEIR_KAFKA_RDKAFKA_INTERCEPT_H
#define WEIR_KAFKA_RDKAFKA_INTERCEPT_H

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdbool.h>

// Written by broker threads of the handle, read by any thread; outlives the handle.
struct weir_rdkafka_watch {
    _Atomic bool is_used_up;                // since the handle was made
    _Atomic bool is_offset_commit_doubtful; // since the last begin
};

// Before rd_kafka_new with this conf (interceptors do not survive rd_kafka_conf_dup).
void weir_rdkafka_watch_install(rd_kafka_conf_t *conf, struct weir_rdkafka_watch *watch);

// What the interceptors do, for the unit test. err as librdkafka gives it for a response.
void weir_rdkafka_watch_response(struct weir_rdkafka_watch *watch, int16_t api_key,
                                 rd_kafka_resp_err_t err);

#endif
