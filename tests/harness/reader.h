// SPDX-License-Identifier: Apache-2.0
// Reads a topic as its consumers see it, whole, into memory. Independent of weir's own source.
#ifndef WEIR_TESTS_HARNESS_READER_H
#define WEIR_TESTS_HARNESS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/harness/record.h"

struct weir_test_read_options {
    bool is_uncommitted;     // also rows of open and aborted transactions
    bool has_minimum;        // go on past the end until record_count_min records are there, or the
    size_t record_count_min; // time is over: then what there is comes back, and the test judges it
    int timeout_ms;          // 0: 60 s
};

struct weir_test_log_partition {
    struct weir_test_record *records; // in offset order
    size_t record_count;
    int64_t first_offset; // of the partition when the read began
    int64_t end_offset;   // where the reader stands: behind transaction markers too
};

struct weir_test_log {
    struct weir_test_log_partition *partitions;
    int32_t partition_count;
    size_t record_count; // of all partitions
};

// All records from each partition's first one up to the end offsets at the time of the call: the
// last stable offsets, or the high watermarks if uncommitted. Fails the test if there is no such
// topic or (without a minimum) if the ends are not reached in time. options may be NULL. Blocks.
struct weir_test_log *weir_test_read(const char *bootstrap, const char *topic,
                                     const struct weir_test_read_options *options);

// read_committed, until so many records are there or the time is over.
struct weir_test_log *weir_test_read_count(const char *bootstrap, const char *topic,
                                           size_t record_count, int timeout_ms);

// The first header of this name, or NULL.
const struct weir_test_header *weir_test_record_header(const struct weir_test_record *record,
                                                       const char *name);

// NULL is fine.
void weir_test_log_destroy(struct weir_test_log *log);

#endif
