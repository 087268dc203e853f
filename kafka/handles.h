// SPDX-License-Identifier: Apache-2.0
// The producers of an instance. Four are transactional. Epoch n belongs to handle n mod 4, a pure
// function, so that two owners of one job always meet on the same transactional ids and fence each
// other (docs/commit.md).
//
// Threads: weir_handles_producer by any task between the moment its epoch was announced as ready
// and its commit; everything else by one thread (recovery first, then the committer).
#ifndef WEIR_KAFKA_HANDLES_H
#define WEIR_KAFKA_HANDLES_H

#include "kafka/client.h"
#include "runtime/base/clock.h"

struct weir_handles;

// Creates all four and runs init_transactions on them side by side: older owners are fenced, what
// they left open is aborted. Tries again until the deadline; a client that gets no answer, or whose
// init was left without one, is replaced. is_at_least_once: rows go through an idempotent producer
// of their own, and transactions hold offsets only. Blocks.
enum weir_status weir_handles_open(struct weir_kafka *kafka, const char *job_id,
                                   int32_t instance_id, bool is_at_least_once,
                                   const struct weir_clock *clock, int64_t deadline_ms,
                                   struct weir_handles **handles, struct weir_error *error);

// One short try to abort what is open, then all are destroyed. Accepts NULL.
void weir_handles_close(struct weir_handles *handles);

// Of the rows of that epoch.
struct weir_producer *weir_handles_producer(struct weir_handles *handles, int64_t epoch);
const char *weir_handles_id(const struct weir_handles *handles, int64_t epoch);

// The handle of that epoch is made anew at its next begin.
bool weir_handles_is_used_up(struct weir_handles *handles, int64_t epoch);

// May a call to the brokers that failed be made again? True, after a short pause: its error is
// RETRY, and the deadline (monotonic) is not over.
bool weir_handles_may_retry(const struct weir_handles *handles, const struct weir_error *error,
                            int64_t deadline_ms);

// Opens the transaction of that epoch; the handle's former epoch is committed. A used-up handle is
// destroyed and made anew first (its late requests would hit the new transaction), for up to a
// minute. RECOVER: there was no answer. FENCED. May block.
enum weir_status weir_handles_begin(struct weir_handles *handles, int64_t epoch,
                                    struct weir_error *error);

// send_offsets and commit of that epoch, repeated while the client says so, until deadline_ms
// (monotonic). RECOVER: the epoch is lost or its outcome unknown, the pointer will tell. FENCED.
// Blocks.
enum weir_status weir_handles_commit(struct weir_handles *handles, int64_t epoch,
                                     uint32_t offset_count,
                                     const struct weir_offset_commit *offsets, int64_t deadline_ms,
                                     struct weir_error *error);

#endif
