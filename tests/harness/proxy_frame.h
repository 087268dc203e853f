// SPDX-License-Identifier: Apache-2.0
// The little of Kafka's wire format that the proxy has to understand: who asks for what, and how
// the broker judged it. Pure functions over the bytes of one frame (without its length), which may
// be cut short or nonsense: then they say so.
#ifndef WEIR_TESTS_HARNESS_PROXY_FRAME_H
#define WEIR_TESTS_HARNESS_PROXY_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/harness/proxy.h"

// Reads the head of a request. The transactional id is read for the API keys that carry one; else
// it is "". False: too short for a request.
bool weir_test_frame_read_request(const uint8_t *frame, size_t bytes,
                                  struct weir_test_proxy_request *request);

// 0 if there is none.
int32_t weir_test_frame_correlation_id(const uint8_t *frame, size_t bytes);

// The error code of an answer to Produce, InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn,
// EndTxn or TxnOffsetCommit (of its first partition, where it has partitions). False: another key,
// or a version that this file does not know.
bool weir_test_frame_read_error(int api_key, int api_version, const uint8_t *frame, size_t bytes,
                                int *error);

#endif
