// SPDX-License-Identifier: Apache-2.0
// Two questions to a broker that librdkafka has no call for, as bytes: which producers have
// something open in a partition (DescribeProducers), and which transactional id a producer has
// (ListTransactions). Requests and answers as a connection carries them, without their length in
// front. Thread: any.
#ifndef WEIR_KAFKA_TRANSACTION_WIRE_H
#define WEIR_KAFKA_TRANSACTION_WIRE_H

#include "kafka/client.h"
#include "runtime/base/memory.h"

void weir_wire_ask_producers(struct weir_buffer *out, const struct weir_topic_partition *at);
// The producer whose transaction begins at that offset. False: there is none, the broker did not
// say, or the answer is cut.
bool weir_wire_read_producers(struct weir_view answer, int64_t offset, int64_t *producer_id);

void weir_wire_ask_transactions(struct weir_buffer *out, int64_t producer_id);
// False: this broker does not coordinate it, or as above. The id is cut to fit, NUL-terminated.
bool weir_wire_read_transactions(struct weir_view answer, int64_t producer_id,
                                 char *transactional_id, size_t size_bytes);

#endif
