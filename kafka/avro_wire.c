// SPDX-License-Identifier: Apache-2.0
// See avro_wire.h.
#include "kafka/avro_wire.h"

const uint8_t *weir_avro_read_long_slow(const uint8_t *p, const uint8_t *end, int64_t *value)
{
    uint64_t zigzag = 0;
    for (int i = 0; i < WEIR_AVRO_LONG_BYTES_MAX && p < end; i++, p++) {
        zigzag |= (uint64_t)(*p & 0x7f) << (7 * i);
        if (*p < 0x80) {
            if (i == WEIR_AVRO_LONG_BYTES_MAX - 1 && *p > 1) {
                return NULL; // more than 64 bits
            }
            *value = (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
            return p + 1;
        }
    }
    return NULL;
}

const uint8_t *weir_avro_read_block(const uint8_t *p, const uint8_t *end, int64_t *count,
                                    int64_t *size_bytes)
{
    *size_bytes = -1;
    p = weir_avro_read_short(p, end, count);
    if (p == NULL || *count >= 0) {
        return p;
    }
    if (*count == INT64_MIN) {
        return NULL;
    }
    *count = -*count;
    p = weir_avro_read_short(p, end, size_bytes);
    return p == NULL || *size_bytes < 0 || *size_bytes > end - p ? NULL : p;
}

char *weir_avro_write_long_slow(char *to, uint64_t zigzag)
{
    for (; zigzag >= 0x80; zigzag >>= 7) {
        *to++ = (char)(zigzag | 0x80);
    }
    *to++ = (char)zigzag;
    return to;
}
