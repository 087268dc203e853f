// SPDX-License-Identifier: Apache-2.0
// Numbered records for a job that is killed, and what must come out of them. Record n is
// {"n":n,"k":n mod keys,"g":n mod 7,"ts":n} in partition n mod 4 of topic "in": its event time is n
// milliseconds. The checks compute the truth from the number of records alone, count what is lost
// and what is double instead of ending at the first fault, and know two promises: exactly once, and
// at least once, where more than the truth is no fault. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_NUMBERED_UTIL_H
#define WEIR_TESTS_INTEGRATION_NUMBERED_UTIL_H

#include "tests/integration/sql_job_util.h"

enum { NUMBERED_PARTITIONS = 4, NUMBERED_GROUPS = 7, NUMBERED_WINDOW_MS = 1000 };

#define NUMBERED_INPUT                                                                             \
    "CREATE TABLE input (n bigint, k int, g int, ts timestamptz)\n"                                \
    "  WITH (topic = '$-in', event_time = 'ts', watermark_delay = '0 seconds');\n"
#define NUMBERED_COPIES                                                                            \
    "CREATE TABLE copies (n bigint) WITH (topic = '$-copies');\n"                                  \
    "INSERT INTO copies SELECT n FROM input;\n"
#define NUMBERED_COUNTS                                                                            \
    "CREATE TABLE counts (k int, c bigint, s numeric, d bigint, PRIMARY KEY (k))\n"                \
    "  WITH (topic = '$-counts');\n"                                                               \
    "INSERT INTO counts SELECT k, count(*), sum(n), count(DISTINCT g) FROM input GROUP BY k;\n"
#define NUMBERED_WINDOWS                                                                           \
    "CREATE TABLE windows (w timestamptz, g int, c bigint, s numeric)\n"                           \
    "  WITH (topic = '$-windows');\n"                                                              \
    "INSERT INTO windows SELECT window_start, g, count(*), sum(n)\n"                               \
    "  FROM tumble(input, ts, interval '1 second') GROUP BY window_start, g;\n"

struct numbered {
    struct sql_job *job;
    int64_t count; // records so far
    int key_count;
};

void numbered_feed(struct numbered *numbered, int64_t count);

// What checks found, added up; begins zeroed but for the promise.
struct numbered_found {
    bool is_at_least_once;
    int64_t row_count;    // that a read_committed reader saw
    int64_t lost_count;   // input records whose effect is missing
    int64_t double_count; // input records or rows whose effect is there once more
    char *fault;          // the first one; NULL: none
};

// Topic "copies": each number once, and in order among those of its source partition.
void numbered_check_copies(const struct numbered *numbered, struct numbered_found *found);
// Topic "counts": each key's count strictly increases, with the right number of different groups,
// and ends at the truth, sum included.
void numbered_check_counts(const struct numbered *numbered, struct numbered_found *found);
// Topic "windows", all of which are closed: each once, with the right count and sum.
void numbered_check_windows(const struct numbered *numbered, struct numbered_found *found);

#endif
