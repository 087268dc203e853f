// SPDX-License-Identifier: Apache-2.0
// Steps over the characters of UTF-8 text. Never past the end, whatever the bytes are.
// Private to operators/. Thread: any.
#ifndef WEIR_OPERATORS_UTF8_H
#define WEIR_OPERATORS_UTF8_H

#include "runtime/base/view.h"

#include <stdint.h>

// Bytes of the character that begins with this one; 1 for what cannot begin one.
static inline size_t weir_utf8_bytes(char lead)
{
    unsigned char byte = (unsigned char)lead;
    if (byte < 0xc0) {
        return 1;
    }
    return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf8 ? 4 : 1;
}

static inline const char *weir_utf8_next(const char *at, const char *end)
{
    size_t size_bytes = weir_utf8_bytes(*at);
    return size_bytes < (size_t)(end - at) ? at + size_bytes : end;
}

// Behind so many characters, or the end.
static inline const char *weir_utf8_skip(const char *at, const char *end, uint64_t char_count)
{
    while (char_count > 0 && at < end) {
        at = weir_utf8_next(at, end);
        char_count--;
    }
    return at;
}

static inline bool weir_is_ascii(struct weir_view text)
{
    const char *at = text.data;
    const char *end = at + text.size_bytes;
    uint64_t high = 0;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        high |= word;
    }
    for (; at < end; at++) {
        high |= (unsigned char)*at;
    }
    return (high & UINT64_C(0x8080808080808080)) == 0;
}

#endif
