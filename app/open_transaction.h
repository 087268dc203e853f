// SPDX-License-Identifier: Apache-2.0
// What brokers tell of a transaction, of whomever, that is open in a partition: for people.
#ifndef WEIR_APP_OPEN_TRANSACTION_H
#define WEIR_APP_OPEN_TRANSACTION_H

#include "kafka/client.h"

struct weir_open_transaction {
    int64_t offset;    // where it begins; -1: there is none
    int64_t age_ms;    // since this life first saw it: it is at least as old
    int64_t record_ms; // timestamp of its first record, by whoever wrote it; -1: not known
    struct weir_transaction_owner owner;
};

// With that offset (-1: none), and nothing known of it.
struct weir_open_transaction weir_open_transaction_at(int64_t offset);

// Asks for what is not known yet: the timestamp and the owner. What brokers do not tell stays
// unknown. Blocks, for WEIR_CALL_TIMEOUT_MS (retry.h) a question at most.
void weir_open_transaction_ask(struct weir_open_transaction *open, struct weir_kafka *kafka,
                               const struct weir_topic_partition *at);

// Appends ", by producer 8 with transactional id x", as far as that is known.
void weir_open_transaction_describe_owner(const struct weir_open_transaction *open,
                                          struct weir_buffer *line);

#endif
