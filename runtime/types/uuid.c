// SPDX-License-Identifier: Apache-2.0
// Text input and output of uuid (text_io.h).
#include "runtime/base/text.h"
#include "runtime/types/digits.h"
#include "runtime/types/text_io.h"

// 32 hex digits, a hyphen behind any four of them, braces around.
bool weir_uuid_parse(struct weir_view text, struct weir_uuid *out, struct weir_value_error *error)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    bool has_braces = at < end && *at == '{';
    at += has_braces;
    for (size_t i = 0; i < sizeof out->bytes; i++) {
        int high = end - at >= 2 ? weir_hex_digit(at[0]) : -1;
        int low = end - at >= 2 ? weir_hex_digit(at[1]) : -1;
        if (high < 0 || low < 0) {
            return weir_value_error_syntax(error, "uuid", text);
        }
        out->bytes[i] = (uint8_t)(high << 4 | low);
        at += 2;
        at += i % 2 == 1 && i < sizeof out->bytes - 1 && at < end && *at == '-';
    }
    if (has_braces) {
        if (at == end || *at != '}') {
            return weir_value_error_syntax(error, "uuid", text);
        }
        at++;
    }
    return at == end || weir_value_error_syntax(error, "uuid", text);
}

void weir_uuid_append(struct weir_buffer *buffer, const struct weir_uuid *value)
{
    static const char digits[] = "0123456789abcdef";
    char *out = weir_buffer_reserve(buffer, 36);
    for (size_t i = 0; i < sizeof value->bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *out++ = '-';
        }
        *out++ = digits[value->bytes[i] >> 4];
        *out++ = digits[value->bytes[i] & 15];
    }
    buffer->size_bytes += 36;
}
