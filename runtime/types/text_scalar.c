// SPDX-License-Identifier: Apache-2.0
// Text input and output of booleans and integers (text_io.h).
#include "runtime/types/digits.h"
#include "runtime/types/text_io.h"

#include <limits.h>

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

enum integer_result { INTEGER_OK, INTEGER_SYNTAX, INTEGER_RANGE };

// Digits that overflow are read on, as in "99999999999999999999x": that is a syntax error.
static enum integer_result parse_i64(struct weir_view text, int64_t *out)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    const char *digits = at;
    uint64_t magnitude = 0;
    while (at < end && weir_is_digit(*at) && at - digits < 18) {
        magnitude = magnitude * 10 + (uint64_t)(*at - '0');
        at++;
    }
    bool is_too_large = false;
    for (; at < end && weir_is_digit(*at); at++) {
        is_too_large |= __builtin_mul_overflow(magnitude, 10, &magnitude) ||
                        __builtin_add_overflow(magnitude, (uint64_t)(*at - '0'), &magnitude);
    }
    if (at == digits) {
        return INTEGER_SYNTAX;
    }
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    if (at != end) {
        return INTEGER_SYNTAX;
    }
    if (is_too_large || magnitude > (uint64_t)INT64_MAX + is_negative) {
        return INTEGER_RANGE;
    }
    *out = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    return INTEGER_OK;
}

static bool parse_in_range(struct weir_view text, int64_t min, int64_t max, const char *type_name,
                           int64_t *out, struct weir_value_error *error)
{
    enum integer_result result = parse_i64(text, out);
    if (result == INTEGER_SYNTAX) {
        return weir_value_error_syntax(error, type_name, text);
    }
    if (result == INTEGER_RANGE || *out < min || *out > max) {
        return weir_value_error_range(error, type_name, text);
    }
    return true;
}

bool weir_smallint_parse(struct weir_view text, int16_t *out, struct weir_value_error *error)
{
    int64_t value;
    if (!parse_in_range(text, INT16_MIN, INT16_MAX, "smallint", &value, error)) {
        return false;
    }
    *out = (int16_t)value;
    return true;
}

bool weir_integer_parse(struct weir_view text, int32_t *out, struct weir_value_error *error)
{
    int64_t value;
    if (!parse_in_range(text, INT32_MIN, INT32_MAX, "integer", &value, error)) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

bool weir_bigint_parse(struct weir_view text, int64_t *out, struct weir_value_error *error)
{
    return parse_in_range(text, INT64_MIN, INT64_MAX, "bigint", out, error);
}

bool weir_bigint_parse_json_number(struct weir_view text, int64_t *out,
                                   struct weir_value_error *error)
{
    enum integer_result result = parse_i64(text, out);
    if (result == INTEGER_OK) {
        return true;
    }
    if (result == INTEGER_RANGE) {
        return weir_value_error_range(error, "bigint", text);
    }
    // Digits and an exponent: 1e3. A fraction is refused, also one of zeros.
    const char *exponent_mark = NULL;
    for (size_t i = 0; i < text.size_bytes && exponent_mark == NULL; i++) {
        if (text.data[i] == 'e' || text.data[i] == 'E') {
            exponent_mark = text.data + i;
        }
    }
    if (exponent_mark == NULL) {
        return weir_value_error_syntax(error, "bigint", text);
    }
    struct weir_view mantissa = {text.data, (size_t)(exponent_mark - text.data)};
    struct weir_view power = {exponent_mark + 1, text.size_bytes - mantissa.size_bytes - 1};
    int64_t exponent;
    result = parse_i64(mantissa, out);
    enum integer_result power_result = parse_i64(power, &exponent);
    if (result == INTEGER_SYNTAX || power_result == INTEGER_SYNTAX) {
        return weir_value_error_syntax(error, "bigint", text);
    }
    if (result == INTEGER_RANGE || power_result == INTEGER_RANGE) {
        return weir_value_error_range(error, "bigint", text);
    }
    for (; exponent < 0 && *out != 0; exponent++) {
        if (*out % 10 != 0) {
            return weir_value_error_syntax(error, "bigint", text);
        }
        *out /= 10;
    }
    for (; exponent > 0 && *out != 0; exponent--) {
        if (__builtin_mul_overflow(*out, INT64_C(10), out)) {
            return weir_value_error_range(error, "bigint", text);
        }
    }
    return true;
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
