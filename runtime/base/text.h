// SPDX-License-Identifier: Apache-2.0
// Small work on text that people write: the nearest known name to a misspelt one, digits, and
// durations and sizes as configuration spells them. No locale, no allocation. Thread: any.
#ifndef WEIR_RUNTIME_BASE_TEXT_H
#define WEIR_RUNTIME_BASE_TEXT_H

#include "runtime/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WEIR_DURATION_TEXT_BYTES = 32, // enough for what weir_duration_format writes
    WEIR_SIZE_TEXT_BYTES = 32,     // and weir_size_format
};

// Least number of letters put in, left out, replaced or swapped with their neighbour. Upper and
// lower case are one. Bytes behind the 128th are not looked at.
uint32_t weir_text_distance(const char *a, const char *b);

// The name nearest to `name`, the first of several equally near ones; NULL when none is within
// distance_max. UINT32_MAX: the nearest, however far.
const char *weir_text_nearest(const char *name, uint32_t name_count, const char *const *names,
                              uint32_t distance_max);

// The value of a hexadecimal digit, a capital one or not; -1: it is none.
static inline int weir_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// A whole number in decimal, with '-' in front where negative; nothing before or behind, no '+'.
bool weir_text_integer_parse(const char *text, int64_t *value);

// "250ms", "10s", "5min", "1h", "2d": a whole number that is not negative and a unit. The error
// quotes the text and says what to write; the caller puts the name of the setting in front.
enum weir_status weir_duration_parse(const char *text, int64_t *duration_ms,
                                     struct weir_error *error);

// Plain bytes or a whole number of KiB, MiB, GiB, TiB. Errors as above.
enum weir_status weir_size_parse(const char *text, uint64_t *size_bytes, struct weir_error *error);

// The spelling with the largest unit that leaves a whole number: 90000 is "90s", 60000 is "1min",
// 0 is "0s". Writes to `text`, of at least WEIR_DURATION_TEXT_BYTES, and returns it.
const char *weir_duration_format(int64_t duration_ms, char *text, size_t text_bytes);

// 1073741824 is "1GiB", 1000 is "1000".
const char *weir_size_format(uint64_t size_bytes, char *text, size_t text_bytes);

#endif
