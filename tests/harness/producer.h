// SPDX-License-Identifier: Apache-2.0
// Writes records, also within transactions that are committed, aborted or left open.
// Every call returns only when the broker has acknowledged the records (acks=all); else it fails
// the test after 60 s. Each call makes its own client, so that no state survives a killed broker.
#ifndef WEIR_TESTS_HARNESS_PRODUCER_H
#define WEIR_TESTS_HARNESS_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/harness/record.h"

struct weir_test_transaction;

// Writes the records in their order (per partition), without a transaction. Borrows everything.
void weir_test_produce(const char *bootstrap, const char *topic,
                       const struct weir_test_record *records, size_t record_count);

// The same in one transaction, which is then committed or aborted.
void weir_test_produce_transaction(const char *bootstrap, const char *transactional_id,
                                   const char *topic, const struct weir_test_record *records,
                                   size_t record_count, bool is_committed);

// Fences whoever used the id before, then begins. timeout_ms: after that the broker aborts it.
struct weir_test_transaction *
weir_test_transaction_begin(const char *bootstrap, const char *transactional_id, int timeout_ms);

// The records lie in the topic when this returns: invisible to read_committed readers, and the last
// stable offset stays before them.
void weir_test_transaction_add(struct weir_test_transaction *transaction, const char *topic,
                               const struct weir_test_record *records, size_t record_count);

// Adds a committed offset of a group, with metadata (may be NULL).
void weir_test_transaction_add_offset(struct weir_test_transaction *transaction, const char *group,
                                      const char *topic, int32_t partition, int64_t offset,
                                      const char *metadata);

// Commits or aborts, and frees it. Returns when the markers are written (a broker answers before
// that), so that a reader sees the outcome at once, unless another open transaction is in the way.
void weir_test_transaction_end(struct weir_test_transaction *transaction, bool is_committed);

// Goes away without a word, like a process that dies: the transaction stays open at the broker
// until its time-out, or until the id is used again. Frees it.
void weir_test_transaction_leave(struct weir_test_transaction *transaction);

#endif
