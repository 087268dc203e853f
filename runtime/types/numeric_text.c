// SPDX-License-Identifier: Apache-2.0
// Text of numerics, and the precision and scale of a column (numeric.h). Numbers of up to 18 digits
// without exponent, nearly all of them, are read and written without GMP.
#include "runtime/base/assert.h"
#include "runtime/types/numeric.h"
#include "runtime/types/numeric_internal.h"
#include "runtime/types/type.h"

#include <stdlib.h>

// --- numeric(p,s) ----------------------------------------------------------------------------

static bool field_overflow(int32_t modifier, struct weir_value_error *error)
{
    int32_t integer_digits = weir_numeric_precision(modifier) - weir_numeric_scale(modifier);
    weir_value_error_set(error, "numeric field overflow");
    return weir_value_error_detail(error,
                                   "A field with precision %d, scale %d must round to an absolute "
                                   "value less than %s%d.",
                                   weir_numeric_precision(modifier), weir_numeric_scale(modifier),
                                   integer_digits != 0 ? "10^" : "",
                                   integer_digits != 0 ? integer_digits : 1);
}

static bool apply_to_special(struct weir_numeric value, int32_t modifier, struct weir_numeric *out,
                             struct weir_value_error *error)
{
    if (value.kind != WEIR_NUMERIC_NAN && modifier >= 0) {
        weir_value_error_set(error, "numeric field overflow");
        return weir_value_error_detail(
            error, "A field with precision %d, scale %d cannot hold an infinite value.",
            weir_numeric_precision(modifier), weir_numeric_scale(modifier));
    }
    *out = value;
    return true;
}

// unscaled / 10^scale (scale of any size and sign) as a value of the column.
static bool apply_to_unscaled(const mpz_t unscaled, int64_t scale, int32_t modifier,
                              struct weir_arena *arena, struct weir_numeric *out,
                              struct weir_value_error *error)
{
    int64_t target_scale = weir_numeric_scale(modifier);
    int64_t integer_digits = weir_numeric_precision(modifier) - target_scale;
    int64_t shown_scale = target_scale > 0 ? target_scale : 0;
    if (mpz_sgn(unscaled) == 0) {
        *out = weir_numeric_small(0, (uint16_t)shown_scale);
        return true;
    }
    // Before anything is multiplied: what is far too large may have an exponent of a milliard.
    if ((int64_t)mpz_sizeinbase(unscaled, 10) - 1 - scale > integer_digits) {
        return field_overflow(modifier, error);
    }
    mpz_t number;
    mpz_init(number);
    if (scale > target_scale) {
        weir_numeric_scale_down(number, unscaled, (uint64_t)(scale - target_scale), true);
    } else {
        weir_numeric_scale_up(number, unscaled, (uint64_t)(target_scale - scale));
    }
    bool fits = mpz_sgn(number) == 0 ||
                (int64_t)weir_numeric_digit_count(number) - target_scale <= integer_digits;
    if (fits) {
        if (target_scale < 0) {
            weir_numeric_scale_up(number, number, (uint64_t)-target_scale);
        }
        *out = weir_numeric_store(number, (uint32_t)shown_scale, arena);
    }
    mpz_clear(number);
    return fits || field_overflow(modifier, error);
}

// The result stays below 10^18 and the scales are near each other; false: take the long way.
static bool apply_to_small(int64_t unscaled, int32_t scale, int32_t modifier,
                           struct weir_numeric *out, bool *fits)
{
    int32_t target_scale = weir_numeric_scale(modifier);
    int32_t precision = weir_numeric_precision(modifier);
    int32_t shift = target_scale - scale;
    if (target_scale < 0 || shift > 18 || shift < -18) {
        return false;
    }
    uint64_t magnitude = weir_numeric_magnitude(unscaled);
    if (shift < 0) {
        uint64_t power = weir_powers_of_ten[-shift];
        magnitude = (magnitude + power / 2) / power;
    } else if (__builtin_mul_overflow(magnitude, weir_powers_of_ten[shift], &magnitude)) {
        return false;
    }
    if (magnitude >= (uint64_t)WEIR_NUMERIC_SMALL_LIMIT) {
        return false;
    }
    *fits = precision > 18 || magnitude < weir_powers_of_ten[precision];
    *out = weir_numeric_small(unscaled < 0 ? -(int64_t)magnitude : (int64_t)magnitude,
                              (uint16_t)target_scale);
    return true;
}

bool weir_numeric_apply_modifier(struct weir_numeric value, int32_t modifier,
                                 struct weir_arena *arena, struct weir_numeric *out,
                                 struct weir_value_error *error)
{
    if (!weir_numeric_is_finite(value)) {
        return apply_to_special(value, modifier, out, error);
    }
    if (modifier < 0) {
        *out = value;
        return true;
    }
    bool fits;
    if (value.kind == WEIR_NUMERIC_SMALL &&
        apply_to_small(value.small, value.scale, modifier, out, &fits)) {
        return fits || field_overflow(modifier, error);
    }
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    return apply_to_unscaled(operand.value, value.scale, modifier, arena, out, error);
}

// --- input -----------------------------------------------------------------------------------

static bool starts_with(const char *at, const char *end, const char *word, const char **rest)
{
    for (; *word != '\0'; word++, at++) {
        if (at == end || weir_to_lower(*at) != *word) {
            return false;
        }
    }
    *rest = at;
    return true;
}

// NaN, inf, +inf, -inf, infinity, …
static bool parse_special(const char *at, const char *end, enum weir_numeric_kind *kind,
                          const char **rest)
{
    if (starts_with(at, end, "nan", rest)) {
        *kind = WEIR_NUMERIC_NAN;
        return true;
    }
    *kind = at < end && *at == '-' ? WEIR_NUMERIC_MINUS_INFINITY : WEIR_NUMERIC_INFINITY;
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    return starts_with(at, end, "infinity", rest) || starts_with(at, end, "inf", rest);
}

struct digits {
    const char *start; // of digits with perhaps one point among them
    const char *end;
    uint32_t digit_count;
    int64_t scale; // behind the point, less the exponent
    bool is_negative;
};

// The exponent as strtol reads it: blanks and a sign in front. false: no digit.
static bool scan_exponent(const char **at, const char *end, int64_t *exponent)
{
    const char *p = *at;
    while (p < end && weir_is_space(*p)) {
        p++;
    }
    bool is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) {
        p++;
    }
    const char *start = p;
    int64_t value = 0;
    for (; p < end && weir_is_digit(*p); p++) {
        if (value < INT32_MAX) {
            value = value * 10 + (*p - '0');
        }
    }
    *at = p;
    *exponent = is_negative ? -value : value;
    return p != start;
}

// false: no number. *rest: behind it.
static bool scan_digits(const char *at, const char *end, struct digits *digits, int64_t *exponent,
                        const char **rest)
{
    *digits = (struct digits){.is_negative = at < end && *at == '-'};
    *exponent = 0;
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    digits->start = at;
    const char *point = NULL;
    for (; at < end && (weir_is_digit(*at) || (*at == '.' && point == NULL)); at++) {
        if (*at == '.') {
            point = at;
        } else {
            digits->digit_count++;
        }
    }
    if (digits->digit_count == 0) {
        return false;
    }
    digits->end = at;
    digits->scale = point != NULL ? at - point - 1 : 0;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (!scan_exponent(&at, end, exponent)) {
            return false;
        }
        digits->scale -= *exponent;
    }
    *rest = at;
    return true;
}

static void digits_to_mpz(const struct digits *digits, mpz_t number)
{
    size_t size_bytes = (size_t)(digits->end - digits->start);
    char *text = weir_alloc(size_bytes + 1);
    size_t used = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        if (digits->start[i] != '.') {
            text[used++] = digits->start[i];
        }
    }
    text[used] = '\0';
    mpz_init_set_str(number, text, 10);
    free(text);
    if (digits->is_negative) {
        mpz_neg(number, number);
    }
}

static bool parse_large(const struct digits *digits, int32_t modifier, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error)
{
    mpz_t number;
    digits_to_mpz(digits, number);
    bool is_ok;
    if (modifier >= 0) {
        is_ok = apply_to_unscaled(number, digits->scale, modifier, arena, out, error);
    } else if (digits->scale >= 0) {
        is_ok = weir_numeric_store_checked(number, digits->scale, arena, out, error);
    } else if (mpz_sgn(number) == 0) {
        *out = weir_numeric_small(0, 0);
        is_ok = true;
    } else if ((int64_t)mpz_sizeinbase(number, 10) - 1 - digits->scale >
               WEIR_NUMERIC_INTEGER_DIGITS_MAX) {
        is_ok = weir_value_error_set(error, "value overflows numeric format");
    } else {
        weir_numeric_scale_up(number, number, (uint64_t)-digits->scale);
        is_ok = weir_numeric_store_checked(number, 0, arena, out, error);
    }
    mpz_clear(number);
    return is_ok;
}

static int64_t digits_to_i64(const struct digits *digits)
{
    int64_t value = 0;
    for (const char *p = digits->start; p < digits->end; p++) {
        if (*p != '.') {
            value = value * 10 + (*p - '0');
        }
    }
    return digits->is_negative ? -value : value;
}

bool weir_numeric_parse(struct weir_view text, int32_t modifier, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    struct digits digits;
    int64_t exponent;
    const char *rest;
    enum weir_numeric_kind kind;
    bool is_number = scan_digits(at, end, &digits, &exponent, &rest);
    if (!is_number && !parse_special(at, end, &kind, &rest)) {
        return weir_value_error_syntax(error, "numeric", text);
    }
    if (is_number && (exponent >= INT32_MAX / 2 || exponent <= -(INT32_MAX / 2))) {
        return weir_value_error_set(error, "value overflows numeric format");
    }
    while (rest < end && weir_is_space(*rest)) {
        rest++;
    }
    if (rest != end) {
        return weir_value_error_syntax(error, "numeric", text);
    }
    if (!is_number) {
        return apply_to_special(weir_numeric_special(kind), modifier, out, error);
    }
    if (digits.digit_count <= 18 && digits.scale >= 0 && digits.scale <= WEIR_NUMERIC_SCALE_MAX) {
        struct weir_numeric value =
            weir_numeric_small(digits_to_i64(&digits), (uint16_t)digits.scale);
        return weir_numeric_apply_modifier(value, modifier, arena, out, error);
    }
    return parse_large(&digits, modifier, arena, out, error);
}

// --- output ----------------------------------------------------------------------------------

// digits: count of them, without sign; puts the point before the last `scale`.
static void append_digits(struct weir_buffer *buffer, const char *digits, size_t count,
                          size_t scale, bool is_negative)
{
    size_t zeros = count <= scale ? scale + 1 - count : 0; // in front: 0.05
    char *start = weir_buffer_reserve(buffer, count + zeros + 2);
    char *out = start;
    if (is_negative) {
        *out++ = '-';
    }
    if (scale == 0) {
        memcpy(out, digits, count);
        out += count;
    } else if (zeros != 0) {
        memset(out, '0', zeros + 1);
        out[1] = '.';
        memcpy(out + zeros + 1, digits, count);
        out += zeros + 1 + count;
    } else {
        memcpy(out, digits, count - scale);
        out[count - scale] = '.';
        memcpy(out + count - scale + 1, digits + count - scale, scale);
        out += count + 1;
    }
    buffer->size_bytes += (size_t)(out - start);
}

static void append_big(struct weir_buffer *buffer, struct weir_numeric value)
{
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    char *text = weir_alloc(mpz_sizeinbase(operand.value, 10) + 2);
    mpz_get_str(text, 10, operand.value);
    bool is_negative = text[0] == '-';
    const char *digits = text + is_negative;
    append_digits(buffer, digits, strlen(digits), value.scale, is_negative);
    free(text);
}

static void append_small(struct weir_buffer *buffer, int64_t unscaled, uint32_t scale)
{
    uint64_t magnitude = weir_numeric_magnitude(unscaled);
    if (scale == 0 || scale > 18) {
        char digits[WEIR_DIGITS_U64_MAX];
        size_t count = (size_t)(weir_digits_write_u64(digits, magnitude) - digits);
        append_digits(buffer, digits, count, scale, unscaled < 0);
        return;
    }
    char *start = weir_buffer_reserve(buffer, WEIR_DIGITS_U64_MAX + 3);
    char *out = start;
    if (unscaled < 0) {
        *out++ = '-';
    }
    uint64_t power = weir_powers_of_ten[scale];
    uint64_t whole = magnitude / power;
    out = weir_digits_write_u64(out, whole);
    *out++ = '.';
    out = weir_digits_write_padded(out, magnitude - whole * power, scale);
    buffer->size_bytes += (size_t)(out - start);
}

void weir_numeric_append(struct weir_buffer *buffer, struct weir_numeric value)
{
    switch ((enum weir_numeric_kind)value.kind) {
    case WEIR_NUMERIC_SMALL:
        append_small(buffer, value.small, value.scale);
        return;
    case WEIR_NUMERIC_BIG:
        append_big(buffer, value);
        return;
    case WEIR_NUMERIC_NAN:
        weir_buffer_append(buffer, "NaN", 3);
        return;
    case WEIR_NUMERIC_INFINITY:
        weir_buffer_append(buffer, "Infinity", 8);
        return;
    case WEIR_NUMERIC_MINUS_INFINITY:
        weir_buffer_append(buffer, "-Infinity", 9);
        return;
    }
}
