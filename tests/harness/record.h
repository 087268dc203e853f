// SPDX-License-Identifier: Apache-2.0
// A Kafka record as tests write and read it. Binary safe: key and value may hold any bytes; NULL
// (no key, a tombstone) and empty (not NULL, 0 bytes) are two things.
#ifndef WEIR_TESTS_HARNESS_RECORD_H
#define WEIR_TESTS_HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct weir_test_header {
    const char *name;
    const void *value; // NULL: a header without value
    size_t value_bytes;
};

struct weir_test_record {
    int32_t
        partition;  // producing: -1 leaves the choice to the hash of the key (murmur2, as in Java)
    int64_t offset; // reading only
    int64_t timestamp_ms; // producing: 0 is now
    const void *key;
    size_t key_bytes;
    const void *value;
    size_t value_bytes;
    const struct weir_test_header *headers; // in their order
    size_t header_count;
};

// A record to produce, of texts; either may be NULL. It borrows them.
static inline struct weir_test_record weir_test_record_of(int32_t partition, const char *key,
                                                          const char *value)
{
    return (struct weir_test_record){.partition = partition,
                                     .key = key,
                                     .key_bytes = key != NULL ? strlen(key) : 0,
                                     .value = value,
                                     .value_bytes = value != NULL ? strlen(value) : 0};
}

// Are these bytes this text? Two NULLs are equal.
static inline bool weir_test_bytes_are(const void *bytes, size_t count, const char *text)
{
    if (bytes == NULL || text == NULL) {
        return bytes == NULL && text == NULL;
    }
    return count == strlen(text) && memcmp(bytes, text, count) == 0;
}

static inline bool weir_test_key_is(const struct weir_test_record *record, const char *text)
{
    return weir_test_bytes_are(record->key, record->key_bytes, text);
}

static inline bool weir_test_value_is(const struct weir_test_record *record, const char *text)
{
    return weir_test_bytes_are(record->value, record->value_bytes, text);
}

#endif
