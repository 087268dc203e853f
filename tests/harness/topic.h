// SPDX-License-Identifier: Apache-2.0
// Topics: made, deleted, enlarged, cut off at the front, configured, measured. All through the
// admin calls of librdkafka; every call waits until its effect can be seen on every broker that
// answers.
#ifndef WEIR_TESTS_HARNESS_TOPIC_H
#define WEIR_TESTS_HARNESS_TOPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// settings: name, value, …, NULL; or NULL. As many replicas as the cluster makes by default.
// Returns when every partition has a leader.
void weir_test_topic_create(const char *bootstrap, const char *topic, int32_t partition_count,
                            const char *const *settings);

// Returns when the topic is gone, so that it can be made anew at once.
void weir_test_topic_delete(const char *bootstrap, const char *topic);

// 0: there is no such topic.
int32_t weir_test_topic_partition_count(const char *bootstrap, const char *topic);

// Enlarges the topic to so many partitions.
void weir_test_topic_grow(const char *bootstrap, const char *topic, int32_t partition_count);

// Deletes the partition's records before this offset.
void weir_test_topic_delete_records(const char *bootstrap, const char *topic, int32_t partition,
                                    int64_t before_offset);

// The offset of the partition's first record that is left.
int64_t weir_test_topic_first_offset(const char *bootstrap, const char *topic, int32_t partition);

// The high watermark: counts records of open transactions and the markers of closed ones.
int64_t weir_test_topic_end_offset(const char *bootstrap, const char *topic, int32_t partition);

// The last stable offset: where a read_committed reader stops.
int64_t weir_test_topic_stable_offset(const char *bootstrap, const char *topic, int32_t partition);

// Sets one setting of a topic, or with value NULL takes it back to the default; all others stay.
void weir_test_topic_set(const char *bootstrap, const char *topic, const char *name,
                         const char *value);

// The same for a dynamic setting of a broker; node_id counts from 1.
void weir_test_broker_set(const char *bootstrap, int node_id, const char *name, const char *value);

// The setting as the broker tells it, for free(); NULL: it has no such setting.
char *weir_test_topic_get(const char *bootstrap, const char *topic, const char *name);
char *weir_test_broker_get(const char *bootstrap, int node_id, const char *name);

#endif
