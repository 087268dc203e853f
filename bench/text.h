// SPDX-License-Identifier: Apache-2.0
//
// Writing numbers, times and strings into a buffer, for the generator and the checker.
// Each function writes at `out`, which must have room, and returns the end of what it wrote;
// nothing is terminated. Thread: any.
#ifndef WEIR_BENCH_TEXT_H
#define WEIR_BENCH_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline char *weir_text_put_bytes(char *out, const char *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

static inline char *weir_text_put(char *out, const char *text)
{
    return weir_text_put_bytes(out, text, strlen(text));
}

char *weir_text_put_int(char *out, int64_t value);

// `yyyy-MM-dd HH:mm:ss.SSS`, UTC: the input topic's spelling. From 1970 on.
char *weir_text_put_time(char *out, int64_t time_ms);

// The spelling of PostgreSQL's row_to_json for a timestamp: `yyyy-MM-ddTHH:mm:ss`, and a fraction
// without trailing zeros if there is one.
char *weir_text_put_json_time(char *out, int64_t time_ms);

#endif
