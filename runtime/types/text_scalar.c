// SPDX-License-Identifier: Apache-2.0
// Text input and output of booleans and integers (text_io.h).
#include "runtime/types/digits.h"
#include "runtime/types/text_io.h"

static struct weir_view trim_spaces(struct weir_view text)
{
    while (text.size_bytes > 0 && weir_is_space(text.data[0])) {
        text.data++;
        text.size_bytes--;
    }
    while (text.size_bytes > 0 && weir_is_space(text.data[text.size_bytes - 1])) {
        text.size_bytes--;
    }
    return text;
}

// The first letters of a word are enough, as long as they tell the words apart.
static bool is_prefix_of(struct weir_view text, const char *word, size_t bytes_min)
{
    if (text.size_bytes < bytes_min || text.size_bytes > strlen(word)) {
        return false;
    }
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (weir_to_lower(text.data[i]) != word[i]) {
            return false;
        }
    }
    return true;
}

bool weir_boolean_parse(struct weir_view text, bool *out, struct weir_value_error *error)
{
    struct weir_view word = trim_spaces(text);
    if (is_prefix_of(word, "true", 1) || is_prefix_of(word, "yes", 1) ||
        is_prefix_of(word, "on", 2) || is_prefix_of(word, "1", 1)) {
        *out = true;
        return true;
    }
    if (is_prefix_of(word, "false", 1) || is_prefix_of(word, "no", 1) ||
        is_prefix_of(word, "off", 2) || is_prefix_of(word, "0", 1)) {
        *out = false;
        return true;
    }
    return weir_value_error_syntax(error, "boolean", text);
}

// A number as read; what is beyond 64 bits is only known to be so.
struct integer {
    uint64_t magnitude;
    bool is_negative;
    bool is_overflow;
    bool has_digits;
    bool is_whole; // nothing but blanks around it
};

static struct integer scan_integer(struct weir_view text)
{
    struct integer integer = {0};
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    integer.is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    const char *digits = at;
    uint64_t magnitude = 0;
    while (at < end && weir_is_digit(*at) && at - digits < 18) {
        magnitude = magnitude * 10 + (uint64_t)(*at - '0');
        at++;
    }
    for (; at < end && weir_is_digit(*at); at++) {
        integer.is_overflow |= __builtin_mul_overflow(magnitude, 10, &magnitude) ||
                               __builtin_add_overflow(magnitude, (uint64_t)(*at - '0'), &magnitude);
    }
    integer.magnitude = magnitude;
    integer.has_digits = at != digits;
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    integer.is_whole = at == end;
    return integer;
}

// max: of the type. Digits that are out of range by far are reported before what follows them.
static bool parse_in_range(struct weir_view text, uint64_t max, const char *type_name, int64_t *out,
                           struct weir_value_error *error)
{
    struct integer integer = scan_integer(text);
    if (integer.is_overflow || integer.magnitude > max + 1) {
        return weir_value_error_range(error, type_name, text);
    }
    if (!integer.has_digits || !integer.is_whole) {
        return weir_value_error_syntax(error, type_name, text);
    }
    if (integer.magnitude > max && !integer.is_negative) {
        return weir_value_error_range(error, type_name, text);
    }
    *out = (int64_t)(integer.is_negative ? 0 - integer.magnitude : integer.magnitude);
    return true;
}

bool weir_smallint_parse(struct weir_view text, int16_t *out, struct weir_value_error *error)
{
    int64_t value = 0;
    if (!parse_in_range(text, INT16_MAX, "smallint", &value, error)) {
        return false;
    }
    *out = (int16_t)value;
    return true;
}

bool weir_integer_parse(struct weir_view text, int32_t *out, struct weir_value_error *error)
{
    int64_t value = 0;
    if (!parse_in_range(text, INT32_MAX, "integer", &value, error)) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

bool weir_bigint_parse(struct weir_view text, int64_t *out, struct weir_value_error *error)
{
    return parse_in_range(text, INT64_MAX, "bigint", out, error);
}

// Digits and an exponent: 1e3. A fraction is refused, also one of zeros.
static bool parse_with_exponent(struct weir_view text, size_t mark_idx, int64_t *out,
                                struct weir_value_error *error)
{
    struct weir_view power = {text.data + mark_idx + 1, text.size_bytes - mark_idx - 1};
    struct integer mantissa = scan_integer((struct weir_view){text.data, mark_idx});
    struct integer exponent = scan_integer(power);
    if (!mantissa.has_digits || !mantissa.is_whole || !exponent.has_digits || !exponent.is_whole) {
        return weir_value_error_syntax(error, "bigint", text);
    }
    uint64_t magnitude = mantissa.magnitude;
    bool is_overflow = mantissa.is_overflow;
    for (uint64_t i = 0; i < exponent.magnitude && magnitude != 0 && !is_overflow; i++) {
        if (!exponent.is_negative) {
            is_overflow = __builtin_mul_overflow(magnitude, 10, &magnitude);
        } else if (magnitude % 10 == 0) {
            magnitude /= 10;
        } else {
            return weir_value_error_syntax(error, "bigint", text);
        }
    }
    if (is_overflow || magnitude > (uint64_t)INT64_MAX + mantissa.is_negative) {
        return weir_value_error_range(error, "bigint", text);
    }
    *out = (int64_t)(mantissa.is_negative ? 0 - magnitude : magnitude);
    return true;
}

bool weir_bigint_parse_json_number(struct weir_view text, int64_t *out,
                                   struct weir_value_error *error)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == 'e' || text.data[i] == 'E') {
            return parse_with_exponent(text, i, out, error);
        }
    }
    return weir_bigint_parse(text, out, error);
}

void weir_boolean_append(struct weir_buffer *buffer, bool value)
{
    weir_buffer_append_char(buffer, value ? 't' : 'f');
}

void weir_integer_append(struct weir_buffer *buffer, int64_t value)
{
    char *start = weir_buffer_reserve(buffer, WEIR_DIGITS_U64_MAX + 1);
    buffer->size_bytes += (size_t)(weir_digits_write_i64(start, value) - start);
}
