// SPDX-License-Identifier: Apache-2.0
// The inside of JSON strings: where one ends, whether its bytes are UTF-8 and its escapes what the
// standard allows, and what characters it stands for. Ordinary characters are passed sixteen at a
// time; that part is here to be inlined, everything rarer is in json_string.c. Private to the JSON
// format. Thread: any.
#ifndef WEIR_KAFKA_JSON_STRING_H
#define WEIR_KAFKA_JSON_STRING_H

#include "runtime/base/view.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// A string that is being read.
struct weir_json_string {
    const char *begin; // of the text
    const char *p;     // behind the opening quote; then at the closing one, or at what is wrong
    const char *end;   // of the text: not looked at
    bool is_plain;     // no escape so far
    const char *error;
};

static inline uint64_t weir_json_load_u64(const char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

#ifdef __SSE2__
// Of the sixteen bytes at p: bit i set where byte i is no ordinary character.
static inline uint32_t weir_json_special_mask(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    // As signed numbers, bytes from 0x80 on are negative.
    __m128i others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), others));
}
#endif

// The next byte from `p` on that is not an ordinary character of a string: quote, backslash,
// control character or part of a multi-byte sequence. `end` if there is none. Nothing before
// `begin` or from `end` on is looked at.
static inline const char *weir_json_find_special(const char *begin, const char *p, const char *end)
{
#ifdef __SSE2__
    while (end - p >= 16) {
        uint32_t mask = weir_json_special_mask(p);
        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }
        p += 16;
    }
    // Fewer than sixteen are left: the last sixteen of the text, without those already passed.
    if (__builtin_expect(end - begin >= 16, 1)) {
        uint32_t mask = weir_json_special_mask(end - 16) >> (16 - (end - p));
        return mask != 0 ? p + __builtin_ctz(mask) : end;
    }
#else
    (void)begin;
    const uint64_t ones = UINT64_C(0x0101010101010101);
    while (end - p >= 8) {
        uint64_t bytes = weir_json_load_u64(p);
        uint64_t quote = bytes ^ (ones * '"');
        uint64_t backslash = bytes ^ (ones * '\\');
        // Borrows may mark too much, never too little; the loop below looks again.
        uint64_t mask =
            ((quote - ones) | (backslash - ones) | (bytes - ones * ' ') | bytes) & (ones * 0x80);
        if (mask != 0) {
            break;
        }
        p += 8;
    }
#endif
    while (p < end && (uint8_t)*p >= ' ' && (uint8_t)*p < 0x80 && *p != '"' && *p != '\\') {
        p++;
    }
    return p;
}

// From string->p, which is at a special byte, to the closing quote. False: there is none, or
// something in between is wrong.
bool weir_json_string_scan_rest(struct weir_json_string *string);

static inline bool weir_json_string_scan(struct weir_json_string *string)
{
    string->p = weir_json_find_special(string->begin, string->p, string->end);
    if (__builtin_expect(string->p < string->end && *string->p == '"', 1)) {
        return true;
    }
    return weir_json_string_scan_rest(string);
}

// Writes the characters of a string that a scan has accepted (without its quotes) to `out`, which
// has room for text.size_bytes. Returns their size. *has_nul: one of them is U+0000.
size_t weir_json_unescape(struct weir_view text, char *out, bool *has_nul);

// Whether a string of these characters is written in JSON just so: valid, nothing to escape.
bool weir_json_is_literal(struct weir_view text);

#endif
