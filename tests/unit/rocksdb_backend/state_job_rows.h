// SPDX-License-Identifier: Apache-2.0
// The rows of test_state_job.c, a pure function of partition and number, and the lines that must
// come out for them, computed without any state of weir's.
#ifndef WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_JOB_ROWS_H
#define WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_JOB_ROWS_H

#include "tests/unit/rocksdb_backend/state_job.h"

enum { PARTITIONS = 4, ROWS = 1000 };

// --- rows ----------------------------------------------------------------------------------------

// Each key in one partition, so that its rows come in one order. Some keys are rare, and twice time
// makes a jump: their state is over then.
static inline int64_t key_of_row(uint32_t partition, int64_t row)
{
    uint64_t hash = weir_hash_mix((uint64_t)row * PARTITIONS + partition);
    uint64_t idx = hash % 3 == 0 ? hash / 3 % 12 : hash / 3 % 3;
    return (int64_t)(idx * PARTITIONS + partition);
}

static inline int64_t time_of_row(uint32_t partition, int64_t row)
{
    return (int64_t)partition * 1000 + row * 500000 + row / 100 * 30000000;
}

static inline int64_t seq_of_row(uint32_t partition, int64_t row)
{
    return row * PARTITIONS + partition;
}

// --- lines --------------------------------------------------------------------------------------

struct line {
    int64_t epoch;
    char *text;
};

struct lines {
    uint32_t count;
    struct line *items;
};

static inline void lines_add(struct lines *lines, int64_t epoch, const char *text)
{
    lines->items = weir_realloc(lines->items, (lines->count + 1) * sizeof *lines->items);
    lines->items[lines->count++] = (struct line){.epoch = epoch, .text = weir_strdup(text)};
}

static inline void lines_clear(struct lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        free(lines->items[i].text);
    }
    free(lines->items);
    *lines = (struct lines){0};
}

// --- what must come out --------------------------------------------------------------------------

struct expected_key {
    int64_t last_us; // INT64_MIN: none yet
    int64_t count;
    int64_t first_seq;
    int64_t elements[JOB_ELEMENTS];
};

static inline void expect_row(struct lines *lines, struct expected_key *key, int64_t k, int64_t seq,
                              int64_t time_us)
{
    char line[512];
    if (key->last_us == INT64_MIN || time_us >= key->last_us + JOB_TTL_US) {
        *key = (struct expected_key){.first_seq = seq};
    }
    key->last_us = time_us;
    key->count++;
    key->elements[seq % JOB_ELEMENTS]++;
    snprintf(line, sizeof line, "row %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, k, seq,
             key->count, key->first_seq);
    for (int i = 0; i < JOB_ELEMENTS; i++) {
        if (key->elements[i] != 0) {
            snprintf(line + strlen(line), 64, " %c:%" PRId64, 'a' + i, key->elements[i]);
        }
    }
    lines_add(lines, 0, line);
    if (seq % JOB_TIMER_ROWS == 0) {
        snprintf(line, sizeof line, "timer %" PRId64 " %" PRId64, k, time_us + JOB_TIMER_US);
        lines_add(lines, 0, line);
    }
}

static inline int compare_lines(const void *left, const void *right)
{
    return strcmp(((const struct line *)left)->text, ((const struct line *)right)->text);
}

// Into lines, in no order that matters.
static inline void job_expect(struct lines *lines)
{
    struct expected_key keys[12 * PARTITIONS];
    for (uint32_t i = 0; i < 12 * PARTITIONS; i++) {
        keys[i].last_us = INT64_MIN;
    }
    for (uint32_t partition = 0; partition < PARTITIONS; partition++) {
        for (int64_t row = 0; row < ROWS; row++) {
            int64_t k = key_of_row(partition, row);
            expect_row(lines, &keys[k], k, seq_of_row(partition, row), time_of_row(partition, row));
        }
    }
}

#endif
