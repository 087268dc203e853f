// SPDX-License-Identifier: Apache-2.0
// Text as such: UTF-8, characters of varchar(n), and text input and output of bytea (text_io.h).
#include "runtime/base/text.h"
#include "runtime/types/digits.h"
#include "runtime/types/text_io.h"

// --- UTF-8 -----------------------------------------------------------------------------------

// Bytes of the character at `at`; 0: none that is valid.
static size_t valid_character_bytes(const uint8_t *at, const uint8_t *end)
{
    uint8_t lead = at[0];
    size_t size_bytes = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (size_bytes == 0 || lead > 0xf4 || (size_t)(end - at) < size_bytes || lead == 0) {
        return 0;
    }
    for (size_t i = 1; i < size_bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((lead == 0xe0 && at[1] < 0xa0) || // overlong
        (lead == 0xed && at[1] > 0x9f) || // surrogate
        (lead == 0xf0 && at[1] < 0x90) || // overlong
        (lead == 0xf4 && at[1] > 0x8f)) { // beyond U+10FFFF
        return 0;
    }
    return size_bytes;
}

static bool invalid_sequence(struct weir_value_error *error, const uint8_t *at, const uint8_t *end)
{
    // The bytes that the lead announces, as far as they are there.
    uint8_t lead = at[0];
    size_t size_bytes = (lead & 0xe0) == 0xc0   ? 2
                        : (lead & 0xf0) == 0xe0 ? 3
                        : (lead & 0xf8) == 0xf0 ? 4
                                                : 1;
    char hex[4 * 5 + 1];
    size_t used = 0;
    for (size_t i = 0; i < size_bytes && at + i < end; i++) {
        static const char digits[] = "0123456789abcdef";
        const char byte_text[] = {' ', '0', 'x', digits[at[i] >> 4], digits[at[i] & 15]};
        size_t skipped = i == 0;
        memcpy(hex + used, byte_text + skipped, sizeof byte_text - skipped);
        used += sizeof byte_text - skipped;
    }
    hex[used] = '\0';
    return weir_value_error_set(error, "invalid byte sequence for encoding \"UTF8\": %s", hex);
}

// Eight bytes without NUL and without a high bit.
static bool is_plain_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t high_bits = UINT64_C(0x8080808080808080);
    uint64_t zero_bytes = word - UINT64_C(0x0101010101010101);
    return ((word | zero_bytes) & high_bits) == 0;
}

bool weir_text_validate(struct weir_view text, struct weir_value_error *error)
{
    const uint8_t *at = (const uint8_t *)text.data;
    const uint8_t *end = at + text.size_bytes;
    while (at < end) {
        if (end - at >= 8 && is_plain_word(at)) {
            at += 8;
            continue;
        }
        size_t size_bytes = valid_character_bytes(at, end);
        if (size_bytes == 0) {
            return invalid_sequence(error, at, end);
        }
        at += size_bytes;
    }
    return true;
}

static bool is_character_start(char c)
{
    return ((uint8_t)c & 0xc0) != 0x80;
}

uint32_t weir_text_char_count(struct weir_view text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < text.size_bytes; i++) {
        count += is_character_start(text.data[i]);
    }
    return count;
}

struct weir_view weir_text_prefix(struct weir_view text, uint32_t char_count)
{
    if (text.size_bytes <= char_count) {
        return text;
    }
    uint32_t count = 0;
    for (size_t i = 0; i < text.size_bytes; i++) {
        count += is_character_start(text.data[i]);
        if (count > char_count) {
            return (struct weir_view){text.data, i};
        }
    }
    return text;
}

bool weir_varchar_fit(struct weir_view text, int32_t char_count_max, struct weir_view *out,
                      struct weir_value_error *error)
{
    *out = weir_text_prefix(text, (uint32_t)char_count_max);
    for (size_t i = out->size_bytes; i < text.size_bytes; i++) {
        if (text.data[i] != ' ') {
            return weir_value_error_set(error, "value too long for type character varying(%d)",
                                        char_count_max);
        }
    }
    return true;
}

struct weir_view weir_char_trim(struct weir_view text)
{
    while (text.size_bytes > 0 && text.data[text.size_bytes - 1] == ' ') {
        text.size_bytes--;
    }
    return text;
}

static struct weir_view pad(struct weir_view text, int32_t char_count, struct weir_arena *arena)
{
    uint32_t count = weir_text_char_count(text);
    if (count >= (uint32_t)char_count) {
        return text;
    }
    size_t size_bytes = text.size_bytes + (uint32_t)char_count - count;
    char *padded = weir_arena_alloc(arena, size_bytes);
    if (text.size_bytes != 0) {
        memcpy(padded, text.data, text.size_bytes);
    }
    memset(padded + text.size_bytes, ' ', size_bytes - text.size_bytes);
    return (struct weir_view){.data = padded, .size_bytes = size_bytes};
}

bool weir_char_fit(struct weir_view text, int32_t char_count, struct weir_arena *arena,
                   struct weir_view *out, struct weir_value_error *error)
{
    if (char_count < 0) {
        *out = text;
        return true;
    }
    *out = weir_text_prefix(text, (uint32_t)char_count);
    for (size_t i = out->size_bytes; i < text.size_bytes; i++) {
        if (text.data[i] != ' ') {
            return weir_value_error_set(error, "value too long for type character(%d)", char_count);
        }
    }
    *out = pad(*out, char_count, arena);
    return true;
}

struct weir_view weir_char_cut(struct weir_view text, int32_t char_count, struct weir_arena *arena)
{
    return pad(weir_text_prefix(text, (uint32_t)char_count), char_count, arena);
}

// --- bytea -----------------------------------------------------------------------------------

static bool invalid_hex_digit(struct weir_value_error *error, struct weir_view text, size_t idx)
{
    struct weir_view character = {text.data + idx, text.size_bytes - idx};
    character = weir_text_prefix(character, 1);
    return weir_value_error_set(error, "invalid hexadecimal digit: \"%.*s\"",
                                WEIR_VIEW_ARGS(character));
}

static bool parse_hex(struct weir_view text, struct weir_arena *arena, struct weir_view *out,
                      struct weir_value_error *error)
{
    char *data = weir_arena_alloc(arena, text.size_bytes / 2 + 1);
    size_t used = 0;
    size_t i = 0;
    while (i < text.size_bytes) {
        char c = text.data[i];
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            i++;
            continue;
        }
        int high = weir_hex_digit(c);
        if (high < 0) {
            return invalid_hex_digit(error, text, i);
        }
        if (++i == text.size_bytes) {
            return weir_value_error_set(error, "invalid hexadecimal data: odd number of digits");
        }
        int low = weir_hex_digit(text.data[i]);
        if (low < 0) {
            return invalid_hex_digit(error, text, i);
        }
        data[used++] = (char)(high << 4 | low);
        i++;
    }
    *out = (struct weir_view){data, used};
    return true;
}

static bool is_octal_escape(struct weir_view text, size_t idx)
{
    return idx + 3 < text.size_bytes && text.data[idx + 1] >= '0' && text.data[idx + 1] <= '3' &&
           text.data[idx + 2] >= '0' && text.data[idx + 2] <= '7' && text.data[idx + 3] >= '0' &&
           text.data[idx + 3] <= '7';
}

static bool parse_escaped(struct weir_view text, struct weir_arena *arena, struct weir_view *out,
                          struct weir_value_error *error)
{
    char *data = weir_arena_alloc(arena, text.size_bytes + 1);
    size_t used = 0;
    for (size_t i = 0; i < text.size_bytes;) {
        if (text.data[i] != '\\') {
            data[used++] = text.data[i++];
        } else if (is_octal_escape(text, i)) {
            data[used++] = (char)((text.data[i + 1] - '0') << 6 | (text.data[i + 2] - '0') << 3 |
                                  (text.data[i + 3] - '0'));
            i += 4;
        } else if (i + 1 < text.size_bytes && text.data[i + 1] == '\\') {
            data[used++] = '\\';
            i += 2;
        } else {
            return weir_value_error_set(error, "invalid input syntax for type bytea");
        }
    }
    *out = (struct weir_view){data, used};
    return true;
}

bool weir_bytea_parse(struct weir_view text, struct weir_arena *arena, struct weir_view *out,
                      struct weir_value_error *error)
{
    if (text.size_bytes >= 2 && text.data[0] == '\\' && text.data[1] == 'x') {
        struct weir_view digits = {text.data + 2, text.size_bytes - 2};
        return parse_hex(digits, arena, out, error);
    }
    return parse_escaped(text, arena, out, error);
}

void weir_bytea_append(struct weir_buffer *buffer, struct weir_view value)
{
    static const char digits[] = "0123456789abcdef";
    char *out = weir_buffer_reserve(buffer, 2 + 2 * value.size_bytes);
    *out++ = '\\';
    *out++ = 'x';
    for (size_t i = 0; i < value.size_bytes; i++) {
        uint8_t byte = (uint8_t)value.data[i];
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    buffer->size_bytes += 2 + 2 * value.size_bytes;
}
