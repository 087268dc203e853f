// SPDX-License-Identifier: Apache-2.0
// Avro's binary form. Read without trusting it: every function gets the end of what there is and
// returns NULL where the bytes end too early or say what cannot be. Written into room that is there
// (weir_avro_write_*), or behind what a buffer has (weir_avro_append_*). Private to the Avro
// format. Thread: any.
#ifndef WEIR_KAFKA_AVRO_WIRE_H
#define WEIR_KAFKA_AVRO_WIRE_H

#include "runtime/base/memory.h"

static inline uint32_t weir_avro_load_u16(const uint8_t *data)
{
    uint16_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

static inline uint64_t weir_avro_load_u64(const uint8_t *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word; // little-endian, as every platform that weir is built for
}

// Byte by byte: near the end, or longer than eight bytes.
const uint8_t *weir_avro_read_long_slow(const uint8_t *p, const uint8_t *end, int64_t *value);

// A varint's bytes up to and with its last one, the others zero; *stops has the top bits of all
// bytes that may be the last one. 0: none of the eight is.
__attribute__((always_inline)) static inline uint64_t weir_avro_load_groups(const uint8_t *p,
                                                                            uint64_t *stops)
{
    uint64_t word = weir_avro_load_u64(p);
    *stops = ~word & UINT64_C(0x8080808080808080);
    return word & (*stops ^ (*stops - 1));
}

static inline uint32_t weir_avro_groups_bytes(uint64_t stops)
{
    return ((uint32_t)__builtin_ctzll(stops) >> 3) + 1;
}

// What these bytes say: groups of seven bits are pushed together in three steps, with no branch
// that depends on the length; then zigzag is undone.
__attribute__((always_inline)) static inline int64_t weir_avro_groups_value(uint64_t word)
{
    word = (word & UINT64_C(0x7f007f007f007f00)) >> 1 | (word & UINT64_C(0x007f007f007f007f));
    word = (word & UINT64_C(0x3fff00003fff0000)) >> 2 | (word & UINT64_C(0x00003fff00003fff));
    word = (word & UINT64_C(0x0fffffff00000000)) >> 4 | (word & UINT64_C(0x000000000fffffff));
    return (int64_t)(word >> 1) ^ -(int64_t)(word & 1);
}

// A zigzag varint of at most ten bytes. Up to eight bytes are taken at once.
__attribute__((always_inline)) static inline const uint8_t *
weir_avro_read_long(const uint8_t *p, const uint8_t *end, int64_t *value)
{
    if (__builtin_expect(end - p < 8, 0)) {
        return weir_avro_read_long_slow(p, end, value);
    }
    uint64_t stops;
    uint64_t groups = weir_avro_load_groups(p, &stops);
    if (__builtin_expect(stops == 0, 0)) {
        return weir_avro_read_long_slow(p, end, value);
    }
    *value = weir_avro_groups_value(groups);
    return p + weir_avro_groups_bytes(stops);
}

// Lengths, branches and symbols: mostly one byte.
static inline const uint8_t *weir_avro_read_short(const uint8_t *p, const uint8_t *end,
                                                  int64_t *value)
{
    if (__builtin_expect(p < end && *p < 0x80, 1)) {
        *value = (int64_t)(*p >> 1) ^ -(int64_t)(*p & 1);
        return p + 1;
    }
    return weir_avro_read_long(p, end, value);
}

// A length and as many bytes. *out points into them, never NULL.
static inline const uint8_t *weir_avro_read_bytes(const uint8_t *p, const uint8_t *end,
                                                  struct weir_view *out)
{
    int64_t size_bytes;
    p = weir_avro_read_short(p, end, &size_bytes);
    if (__builtin_expect(p == NULL || size_bytes < 0 || size_bytes > end - p, 0)) {
        return NULL;
    }
    *out = (struct weir_view){.data = (const char *)p, .size_bytes = (size_t)size_bytes};
    return p + size_bytes;
}

// The head of a block of items: *count 0 ends the array or map; *size_bytes of the whole block, -1:
// not told.
const uint8_t *weir_avro_read_block(const uint8_t *p, const uint8_t *end, int64_t *count,
                                    int64_t *size_bytes);

// --- texts that are plain: ASCII without NUL, which need no further look -----------------------

enum {
#ifdef __AVX2__
    WEIR_AVRO_PLAIN_BYTES = 32, // of a vector
#else
    WEIR_AVRO_PLAIN_BYTES = 16,
#endif
    WEIR_AVRO_STRAIGHT_BYTES = 64, // of a text: looked at without a loop, and one vector more
};

typedef signed char weir_avro_plain __attribute__((vector_size(WEIR_AVRO_PLAIN_BYTES)));

// Of each byte whether it is above zero: neither NUL nor, taken as signed, beyond ASCII.
__attribute__((always_inline)) static inline weir_avro_plain weir_avro_plain_at(const uint8_t *p)
{
    weir_avro_plain bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes > 0;
}

// All of the text's bytes; WEIR_AVRO_PLAIN_BYTES may be read even if it is shorter. Few branches
// depend on the length, as that cannot be foreseen: the loads overlap, or are the last one again.
__attribute__((always_inline)) static inline weir_avro_plain
weir_avro_plain_text(struct weir_view text)
{
    // From WEIR_AVRO_PLAIN_BYTES - n on: n zeros, for the bytes of a text, and ones for those
    // behind it.
    static const signed char behind_text[64] = {
#define ONES_16 -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
        [WEIR_AVRO_PLAIN_BYTES] = ONES_16, ONES_16
#undef ONES_16
    };
    const uint8_t *p = (const uint8_t *)text.data;
    if (text.size_bytes <= WEIR_AVRO_PLAIN_BYTES) {
        weir_avro_plain behind;
        memcpy(&behind, behind_text + WEIR_AVRO_PLAIN_BYTES - text.size_bytes, sizeof behind);
        return weir_avro_plain_at(p) | behind;
    }
    size_t last = text.size_bytes - WEIR_AVRO_PLAIN_BYTES;
    weir_avro_plain is_plain = weir_avro_plain_at(p) & weir_avro_plain_at(p + last);
    for (size_t i = WEIR_AVRO_PLAIN_BYTES; i < WEIR_AVRO_STRAIGHT_BYTES;
         i += WEIR_AVRO_PLAIN_BYTES) {
        is_plain &= weir_avro_plain_at(p + (i < last ? i : last));
    }
    for (size_t i = WEIR_AVRO_STRAIGHT_BYTES; __builtin_expect(i < last, 0);
         i += WEIR_AVRO_PLAIN_BYTES) {
        is_plain &= weir_avro_plain_at(p + i);
    }
    return is_plain;
}

static inline bool weir_avro_is_all_plain(weir_avro_plain is_plain)
{
    uint64_t words[WEIR_AVRO_PLAIN_BYTES / 8];
    memcpy(words, &is_plain, sizeof words);
    uint64_t all = UINT64_MAX;
    for (size_t i = 0; i < WEIR_AVRO_PLAIN_BYTES / 8; i++) {
        all &= words[i];
    }
    return all == UINT64_MAX;
}

// Bytes behind the text may be read, up to `end`.
__attribute__((always_inline)) static inline bool weir_avro_is_plain(struct weir_view text,
                                                                     const uint8_t *end)
{
    const uint8_t *p = (const uint8_t *)text.data;
    size_t size = text.size_bytes;
    if (size >= WEIR_AVRO_PLAIN_BYTES || end - p >= WEIR_AVRO_PLAIN_BYTES) {
        return weir_avro_is_all_plain(weir_avro_plain_text(text));
    }
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t odd = 0;
    if (size < 8) {
        // A zero byte borrows from its own top bit, ordinary ones never reach it.
        for (size_t i = 0; i < size; i++) {
            odd |= (uint64_t)p[i] | ((uint64_t)p[i] - 1);
        }
        return (odd & 0x80) == 0;
    }
    for (size_t i = 0; i + 8 < size; i += 8) {
        uint64_t word = weir_avro_load_u64(p + i);
        odd |= word | (word - ones);
    }
    uint64_t word = weir_avro_load_u64(p + size - 8);
    odd |= word | (word - ones);
    return (odd & (ones << 7)) == 0;
}

// --- written ---------------------------------------------------------------------------------

enum { WEIR_AVRO_LONG_BYTES_MAX = 10 };

// Byte by byte: of more than eight bytes.
char *weir_avro_write_long_slow(char *to, uint64_t zigzag);

static inline uint64_t weir_avro_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

// Up to 56 bits spread over eight bytes, seven in each, with no branch that depends on the length.
__attribute__((always_inline)) static inline uint64_t weir_avro_spread(uint64_t zigzag)
{
    uint64_t word = (zigzag & UINT64_C(0x0fffffff)) | (zigzag & UINT64_C(0xfffffff0000000)) << 4;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x0fffc0000fffc000)) << 2;
    return (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x3f803f803f803f80)) << 1;
}

// What has been spread becomes a varint: all bytes but the last one that is needed get their top
// bit. The place behind it; eight bytes are touched.
__attribute__((always_inline)) static inline char *weir_avro_write_groups(char *to, uint64_t word)
{
    uint32_t more_bits = (63u - (uint32_t)__builtin_clzll(word | 1)) & 56;
    word |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << more_bits) - 1);
    memcpy(to, &word, sizeof word);
    return to + (more_bits >> 3) + 1;
}

// A zigzag varint; the place behind it. There is room for the longest, all of which may be touched.
__attribute__((always_inline)) static inline char *weir_avro_write_long(char *to, int64_t value)
{
    uint64_t zigzag = weir_avro_zigzag(value);
    return __builtin_expect(zigzag >> 56 != 0, 0)
               ? weir_avro_write_long_slow(to, zigzag)
               : weir_avro_write_groups(to, weir_avro_spread(zigzag));
}

// A length and as many bytes; the place behind them. There is room for them behind the longest
// length. Parts of 16 bytes that overlap, or are the last one again: few branches depend on the
// length, as that cannot be foreseen.
__attribute__((always_inline)) static inline char *weir_avro_write_bytes(char *to,
                                                                         struct weir_view bytes)
{
    const char *from = bytes.data;
    size_t size = bytes.size_bytes;
    if (__builtin_expect(size > 80, 0)) {
        to = weir_avro_write_long(to, (int64_t)size);
        memcpy(to, from, size);
        return to + size;
    }
    uint32_t has_two = size >= 64;
    to[0] = (char)(size << 1 | has_two << 7);
    to[1] = (char)(size >> 6);
    to += 1 + has_two;
    if (size >= 16) {
        size_t last = size - 16;
        size_t second = last < 16 ? last : 16;
        size_t third = last < 32 ? last : 32;
        size_t fourth = last < 48 ? last : 48;
        memcpy(to, from, 16);
        memcpy(to + second, from + second, 16);
        memcpy(to + third, from + third, 16);
        memcpy(to + fourth, from + fourth, 16);
        memcpy(to + last, from + last, 16);
    } else if (size >= 4) { // four bytes from each end and next to them, as wyhash reads its input
        size_t second = size >> 3 << 2;
        memcpy(to, from, 4);
        memcpy(to + second, from + second, 4);
        memcpy(to + size - 4 - second, from + size - 4 - second, 4);
        memcpy(to + size - 4, from + size - 4, 4);
    } else if (size != 0) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
    return to + size;
}

// The same behind what `out` has.
static inline void weir_avro_append_long(struct weir_buffer *out, int64_t value)
{
    char *to = weir_buffer_reserve(out, WEIR_AVRO_LONG_BYTES_MAX);
    out->size_bytes += (size_t)(weir_avro_write_long(to, value) - to);
}

static inline void weir_avro_append_bytes(struct weir_buffer *out, struct weir_view bytes)
{
    char *to = weir_buffer_reserve(out, WEIR_AVRO_LONG_BYTES_MAX + bytes.size_bytes);
    out->size_bytes += (size_t)(weir_avro_write_bytes(to, bytes) - to);
}

#endif
