// SPDX-License-Identifier: Apache-2.0
// Committed offsets of a consumer group and their metadata: what weir's pointer is made of.
#ifndef WEIR_TESTS_HARNESS_GROUP_H
#define WEIR_TESTS_HARNESS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_test_committed {
    int64_t offset;        // -1: nothing committed for this partition
    char *metadata;        // NUL added; "" if there is none
    size_t metadata_bytes; // without that NUL
};

// What the group has committed for each partition of the topic: an array of *partition_count, for
// weir_test_committed_destroy. Waits up to 60 s for offsets of transactions that are still open, or
// with is_uncommitted returns what was committed before them at once.
struct weir_test_committed *weir_test_group_committed(const char *bootstrap, const char *group,
                                                      const char *topic, bool is_uncommitted,
                                                      int32_t *partition_count);

void weir_test_committed_destroy(struct weir_test_committed *committed, int32_t partition_count);

// Commits an offset outside of any transaction, as an operator resetting a group would. metadata
// may be NULL.
void weir_test_group_commit(const char *bootstrap, const char *group, const char *topic,
                            int32_t partition, int64_t offset, const char *metadata);

// Deletes the group with all its committed offsets, as if they had expired.
void weir_test_group_delete(const char *bootstrap, const char *group);

#endif
