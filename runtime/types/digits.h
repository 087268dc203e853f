// SPDX-License-Identifier: Apache-2.0
// Decimal digits: small tables and loops that every text output shares. Internal to this folder.
// Writers fill memory that the caller has reserved and return the end. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_DIGITS_H
#define WEIR_RUNTIME_TYPES_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WEIR_DIGITS_U64_MAX = 20 };

extern const char weir_digit_pairs[201];      // "00" "01" … "99"
extern const uint64_t weir_powers_of_ten[20]; // 10^0 … 10^19

static inline bool weir_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

// isspace of the C locale.
static inline bool weir_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool weir_is_alpha(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static inline char weir_to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline char *weir_digits_write_2(char *out, uint32_t value)
{
    memcpy(out, weir_digit_pairs + 2 * value, 2);
    return out + 2;
}

static inline char *weir_digits_write_4(char *out, uint32_t value)
{
    weir_digits_write_2(out, value / 100);
    return weir_digits_write_2(out + 2, value % 100);
}

// 1 for 0.
static inline uint32_t weir_digits_count(uint64_t value)
{
    uint32_t guess = ((64 - (uint32_t)__builtin_clzll(value | 1)) * 1233) >> 12;
    return guess + ((value | 1) >= weir_powers_of_ten[guess]);
}

// `count` digits with zeros in front; value < 10^count.
static inline char *weir_digits_write_padded(char *out, uint64_t value, uint32_t count)
{
    char *end = out + count;
    while (count >= 2) {
        weir_digits_write_2(out + count - 2, (uint32_t)(value % 100));
        value /= 100;
        count -= 2;
    }
    if (count != 0) {
        *out = (char)('0' + value);
    }
    return end;
}

static inline char *weir_digits_write_u64(char *out, uint64_t value)
{
    return weir_digits_write_padded(out, value, weir_digits_count(value));
}

static inline char *weir_digits_write_i64(char *out, int64_t value)
{
    uint64_t magnitude = (uint64_t)value;
    if (value < 0) {
        *out++ = '-';
        magnitude = 0 - magnitude;
    }
    return weir_digits_write_u64(out, magnitude);
}

#endif
