// SPDX-License-Identifier: Apache-2.0
// Text input and output of real and double precision (text_io.h). Input is the C library's strtod
// and strtof, as in PostgreSQL, with a shortcut for the plain numbers of every day; output is the
// shortest text that reads back, laid out like %g with 15 (6) digits. The process never sets a
// locale, so the point is a point.
#include "runtime/types/digits.h"
#include "runtime/types/shortest.h"
#include "runtime/types/text_io.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

// --- input -----------------------------------------------------------------------------------

struct plain_number {
    uint64_t significand; // < 2^53
    int32_t exponent;     // of ten
    bool is_negative;
};

// Reads [+-]digits[.digits][e[+-]digits] that fills the whole text and has at most 15 digits.
static bool parse_plain(struct weir_view text, struct plain_number *number)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    number->is_negative = at < end && *at == '-';
    at += number->is_negative;
    const char *start = at;
    uint64_t significand = 0;
    while (at < end && weir_is_digit(*at)) {
        significand = significand * 10 + (uint64_t)(*at++ - '0');
    }
    int64_t digit_count = at - start;
    if (digit_count == 0) {
        return false;
    }
    int64_t fraction_count = 0;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        while (at < end && weir_is_digit(*at)) {
            significand = significand * 10 + (uint64_t)(*at++ - '0');
        }
        fraction_count = at - fraction;
    }
    int32_t exponent = 0;
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        bool is_negative = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        const char *power = at;
        while (at < end && weir_is_digit(*at) && at - power < 4) {
            exponent = exponent * 10 + (*at++ - '0');
        }
        if (at == power) {
            return false;
        }
        exponent = is_negative ? -exponent : exponent;
    }
    // More digits may have wrapped around, which does not matter as they are refused here.
    if (at != end || digit_count + fraction_count > 15) {
        return false;
    }
    number->significand = significand;
    number->exponent = exponent - (int32_t)fraction_count;
    return true;
}

static const double exact_powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Both operands are exact, so the one rounding of the operation is the right one.
static bool parse_fast(struct weir_view text, double *out)
{
    struct plain_number number;
    if (!parse_plain(text, &number) || number.exponent < -22 || number.exponent > 22) {
        return false;
    }
    double value = (double)number.significand;
    value = number.exponent < 0 ? value / exact_powers_of_ten[-number.exponent]
                                : value * exact_powers_of_ten[number.exponent];
    *out = number.is_negative ? -value : value;
    return true;
}

enum { NUMBER_BYTES_INLINE = 256 };

// strtod wants a NUL. Texts that do not fit the inline array are copied to the heap: rare.
static char *terminated_copy(struct weir_view text, char inline_text[static NUMBER_BYTES_INLINE])
{
    char *copy =
        text.size_bytes < NUMBER_BYTES_INLINE ? inline_text : weir_alloc(text.size_bytes + 1);
    if (text.size_bytes != 0) {
        memcpy(copy, text.data, text.size_bytes);
    }
    copy[text.size_bytes] = '\0';
    return copy;
}

enum float_width { FLOAT_4, FLOAT_8 };

static const char *type_name_of(enum float_width width)
{
    return width == FLOAT_4 ? "real" : "double precision";
}

// An overflow or underflow that the caller does not want: ±HUGE_VAL or something near zero.
static bool is_range_error(double value, enum float_width width, bool is_zero_allowed)
{
    if (isinf(value)) {
        return true;
    }
    // strtod reports denormal results too, which are fine.
    bool is_zero = width == FLOAT_4 ? (float)value == 0.0F : value == 0.0;
    return is_zero && !is_zero_allowed;
}

static bool parse_with_strtod(struct weir_view text, enum float_width width, bool is_zero_allowed,
                              double *out, struct weir_value_error *error)
{
    char inline_text[NUMBER_BYTES_INLINE];
    char *copy = terminated_copy(text, inline_text);
    const char *start = copy;
    while (weir_is_space(*start)) {
        start++;
    }
    char *end;
    errno = 0;
    *out = width == FLOAT_4 ? (double)strtof(start, &end) : strtod(start, &end);
    bool is_number = end != start;
    bool is_in_range = errno != ERANGE || !is_range_error(*out, width, is_zero_allowed);
    size_t number_bytes = (size_t)(end - start);
    const char *rest = end;
    while (weir_is_space(*rest)) {
        rest++;
    }
    // A NUL inside the text ends it for strtod, not for us.
    bool is_whole = rest == copy + text.size_bytes;
    bool is_ok = is_number && is_in_range && is_whole;
    if (is_number && !is_in_range) {
        // PostgreSQL shows the number for one type and the whole text for the other.
        struct weir_view shown = width == FLOAT_4 ? text : (struct weir_view){start, number_bytes};
        weir_value_error_set(error, "\"%.*s\" is out of range for type %s",
                             (int)(shown.size_bytes < 128 ? shown.size_bytes : 128), shown.data,
                             type_name_of(width));
    } else if (!is_ok) {
        weir_value_error_syntax(error, type_name_of(width), text);
    }
    if (copy != inline_text) {
        free(copy);
    }
    return is_ok;
}

bool weir_double_parse(struct weir_view text, double *out, struct weir_value_error *error)
{
    return parse_fast(text, out) || parse_with_strtod(text, FLOAT_8, false, out, error);
}

bool weir_double_parse_json_number(struct weir_view text, double *out,
                                   struct weir_value_error *error)
{
    return parse_fast(text, out) || parse_with_strtod(text, FLOAT_8, true, out, error);
}

// Reading a double and rounding it once more would be wrong now and then, so there is no shortcut
// but for numbers that a float holds exactly.
static bool parse_fast_float(struct weir_view text, float *out)
{
    struct plain_number number;
    if (!parse_plain(text, &number) || number.exponent < -10 || number.exponent > 10 ||
        number.significand > UINT64_C(1) << 24) {
        return false;
    }
    float value = (float)number.significand;
    float power = (float)exact_powers_of_ten[abs(number.exponent)];
    value = number.exponent < 0 ? value / power : value * power;
    *out = number.is_negative ? -value : value;
    return true;
}

static bool parse_real(struct weir_view text, bool is_zero_allowed, float *out,
                       struct weir_value_error *error)
{
    if (parse_fast_float(text, out)) {
        return true;
    }
    double value;
    if (!parse_with_strtod(text, FLOAT_4, is_zero_allowed, &value, error)) {
        return false;
    }
    *out = (float)value; // it came from strtof
    return true;
}

bool weir_real_parse(struct weir_view text, float *out, struct weir_value_error *error)
{
    return parse_real(text, false, out, error);
}

bool weir_real_parse_json_number(struct weir_view text, float *out, struct weir_value_error *error)
{
    return parse_real(text, true, out, error);
}

// --- output ----------------------------------------------------------------------------------

enum { FLOAT_TEXT_BYTES_MAX = 32 };

// d.ddde+XX: at least two digits of exponent.
static char *write_scientific(char *out, const char *digits, uint32_t count, int32_t exponent)
{
    *out++ = digits[0];
    if (count > 1) {
        *out++ = '.';
        memcpy(out, digits + 1, count - 1);
        out += count - 1;
    }
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    uint32_t magnitude = (uint32_t)abs(exponent);
    if (magnitude >= 100) {
        *out++ = (char)('0' + magnitude / 100);
        magnitude %= 100;
    }
    return weir_digits_write_2(out, magnitude);
}

static char *write_fixed(char *out, const char *digits, uint32_t count, int32_t exponent)
{
    if (exponent < 0) { // 0.00ddd
        memcpy(out, "0.000", 5);
        out += 1 - exponent;
        memcpy(out, digits, count);
        return out + count;
    }
    uint32_t integer_count = (uint32_t)exponent + 1;
    if (count <= integer_count) { // ddd00
        memcpy(out, digits, count);
        memset(out + count, '0', integer_count - count);
        return out + integer_count;
    }
    memcpy(out, digits, integer_count);
    out[integer_count] = '.';
    memcpy(out + integer_count + 1, digits + integer_count, count - integer_count);
    return out + count + 1;
}

// scientific_from: the decimal exponent from which on the text has an exponent.
static void append_decimal(struct weir_buffer *buffer, struct weir_decimal decimal,
                           bool is_negative, int32_t scientific_from)
{
    char digits[WEIR_DIGITS_U64_MAX];
    uint32_t count = (uint32_t)(weir_digits_write_u64(digits, decimal.digits) - digits);
    int32_t exponent = decimal.exponent + (int32_t)count - 1;
    char *start = weir_buffer_reserve(buffer, FLOAT_TEXT_BYTES_MAX);
    char *out = start;
    if (is_negative) {
        *out++ = '-';
    }
    out = exponent < -4 || exponent >= scientific_from
              ? write_scientific(out, digits, count, exponent)
              : write_fixed(out, digits, count, exponent);
    buffer->size_bytes += (size_t)(out - start);
}

// NaN, the infinities and the zeros. false: an ordinary number.
static bool append_special(struct weir_buffer *buffer, double value)
{
    const char *text;
    if (isnan(value)) {
        text = "NaN";
    } else if (isinf(value)) {
        text = value < 0 ? "-Infinity" : "Infinity";
    } else if (value == 0) {
        text = signbit(value) ? "-0" : "0";
    } else {
        return false;
    }
    weir_buffer_append(buffer, text, strlen(text));
    return true;
}

void weir_double_append(struct weir_buffer *buffer, double value)
{
    if (!append_special(buffer, value)) {
        append_decimal(buffer, weir_shortest_of_double(fabs(value)), value < 0, 15);
    }
}

void weir_real_append(struct weir_buffer *buffer, float value)
{
    if (!append_special(buffer, value)) {
        append_decimal(buffer, weir_shortest_of_float(fabsf(value)), value < 0, 6);
    }
}
