// SPDX-License-Identifier: Apache-2.0
// See numeric.h: making, comparing, hashing and converting numerics. Small values are handled with
// 64 and 128 bits, the others with GMP, whose temporaries live on the heap for the length of a
// call.
#include "runtime/types/numeric.h"

#include "runtime/base/assert.h"
#include "runtime/types/hash.h"
#include "runtime/types/numeric_internal.h"
#include "runtime/types/text_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- GMP and back ----------------------------------------------------------------------------

_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t) && GMP_NAIL_BITS == 0,
               "limbs are stored and hashed as 64-bit words");

static const struct weir_numeric_big *new_big(const mp_limb_t *limbs, int32_t size,
                                              struct weir_arena *arena)
{
    size_t limbs_bytes = (size_t)abs(size) * sizeof(mp_limb_t);
    struct weir_numeric_big *big = weir_arena_alloc(arena, sizeof *big + limbs_bytes);
    big->size = size;
    memcpy(big->limbs, limbs, limbs_bytes);
    return big;
}

struct weir_numeric weir_numeric_store(const mpz_t unscaled, uint32_t scale,
                                       struct weir_arena *arena)
{
    WEIR_DASSERT(scale <= WEIR_NUMERIC_SCALE_MAX);
    size_t size = mpz_size(unscaled);
    uint64_t lowest = mpz_getlimbn(unscaled, 0);
    if (size <= 1 && lowest < (uint64_t)WEIR_NUMERIC_SMALL_LIMIT) {
        int64_t small = (int64_t)lowest;
        return weir_numeric_small(mpz_sgn(unscaled) < 0 ? -small : small, (uint16_t)scale);
    }
    int32_t signed_size = mpz_sgn(unscaled) < 0 ? -(int32_t)size : (int32_t)size;
    return (struct weir_numeric){
        .big = new_big(mpz_limbs_read(unscaled), signed_size, arena),
        .scale = (uint16_t)scale,
        .kind = WEIR_NUMERIC_BIG,
    };
}

size_t weir_numeric_digit_count(const mpz_t value)
{
    size_t count = mpz_sizeinbase(value, 10); // right or one too many
    if (count <= 1) {
        return 1;
    }
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, count - 1);
    bool is_smaller = mpz_cmpabs(value, power) < 0;
    mpz_clear(power);
    return count - is_smaller;
}

bool weir_numeric_store_checked(const mpz_t unscaled, int64_t scale, struct weir_arena *arena,
                                struct weir_numeric *out, struct weir_value_error *error)
{
    size_t digits_max = (size_t)(WEIR_NUMERIC_INTEGER_DIGITS_MAX + scale);
    bool is_too_long = mpz_sizeinbase(unscaled, 10) > digits_max &&
                       weir_numeric_digit_count(unscaled) > digits_max;
    if (scale > WEIR_NUMERIC_SCALE_MAX || is_too_long) {
        return weir_value_error_set(error, "value overflows numeric format");
    }
    *out = weir_numeric_store(unscaled, (uint32_t)scale, arena);
    return true;
}

void weir_numeric_scale_up(mpz_t product, const mpz_t value, uint64_t power)
{
    if (power < 20) {
        mpz_mul_ui(product, value, weir_powers_of_ten[power]);
        return;
    }
    mpz_t factor;
    mpz_init(factor);
    mpz_ui_pow_ui(factor, 10, power);
    mpz_mul(product, value, factor);
    mpz_clear(factor);
}

void weir_numeric_scale_down(mpz_t quotient, const mpz_t value, uint64_t power, bool is_rounded)
{
    if (power == 0) {
        mpz_set(quotient, value);
        return;
    }
    if (power > mpz_sizeinbase(value, 10)) { // below half of one
        mpz_set_ui(quotient, 0);
        return;
    }
    mpz_t divisor, half;
    mpz_init(divisor);
    mpz_ui_pow_ui(divisor, 10, power);
    if (is_rounded) {
        mpz_init(half);
        mpz_fdiv_q_2exp(half, divisor, 1);
        if (mpz_sgn(value) < 0) {
            mpz_neg(half, half);
        }
        mpz_add(half, half, value);
        mpz_tdiv_q(quotient, half, divisor);
        mpz_clear(half);
    } else {
        mpz_tdiv_q(quotient, value, divisor);
    }
    mpz_clear(divisor);
}

// --- making ----------------------------------------------------------------------------------

struct weir_numeric weir_numeric_from_int128(__int128 unscaled, uint16_t scale,
                                             struct weir_arena *arena)
{
    if (unscaled < WEIR_NUMERIC_SMALL_LIMIT && unscaled > -WEIR_NUMERIC_SMALL_LIMIT) {
        return weir_numeric_small((int64_t)unscaled, scale);
    }
    unsigned __int128 magnitude =
        unscaled < 0 ? 0 - (unsigned __int128)unscaled : (unsigned __int128)unscaled;
    mp_limb_t limbs[2] = {(mp_limb_t)magnitude, (mp_limb_t)(magnitude >> 64)};
    int32_t size = limbs[1] != 0 ? 2 : 1;
    return (struct weir_numeric){
        .big = new_big(limbs, unscaled < 0 ? -size : size, arena),
        .scale = scale,
        .kind = WEIR_NUMERIC_BIG,
    };
}

struct weir_numeric weir_numeric_from_int64(int64_t value, struct weir_arena *arena)
{
    return weir_numeric_from_int128(value, 0, arena);
}

static struct weir_numeric from_floating(double value, int digit_count, struct weir_arena *arena)
{
    if (isnan(value)) {
        return weir_numeric_special(WEIR_NUMERIC_NAN);
    }
    if (isinf(value)) {
        return weir_numeric_special(value < 0 ? WEIR_NUMERIC_MINUS_INFINITY
                                              : WEIR_NUMERIC_INFINITY);
    }
    char text[32];
    int size = snprintf(text, sizeof text, "%.*g", digit_count, value);
    struct weir_numeric result;
    bool is_read =
        weir_numeric_parse((struct weir_view){text, (size_t)size}, -1, arena, &result, NULL);
    WEIR_ASSERT(is_read);
    return result;
}

struct weir_numeric weir_numeric_from_double(double value, struct weir_arena *arena)
{
    if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value) {
        return weir_numeric_small((int64_t)value, 0); // at most 15 digits: none is lost
    }
    return from_floating(value, 15, arena);
}

struct weir_numeric weir_numeric_from_float(float value, struct weir_arena *arena)
{
    return from_floating((double)value, 6, arena);
}

struct weir_numeric weir_numeric_copy(struct weir_numeric value, struct weir_arena *arena)
{
    if (value.kind == WEIR_NUMERIC_BIG) {
        value.big = new_big(value.big->limbs, value.big->size, arena);
    }
    return value;
}

bool weir_numeric_from_unscaled_bytes(struct weir_view bytes, uint16_t scale,
                                      struct weir_arena *arena, struct weir_numeric *out)
{
    if (bytes.size_bytes == 0) {
        return false;
    }
    const uint8_t *data = (const uint8_t *)bytes.data;
    if (bytes.size_bytes <= 16) {
        unsigned __int128 bits = (data[0] & 0x80) != 0 ? ~(unsigned __int128)0 : 0;
        for (size_t i = 0; i < bytes.size_bytes; i++) {
            bits = bits << 8 | data[i];
        }
        *out = weir_numeric_from_int128((__int128)bits, scale, arena);
        return true;
    }
    mpz_t number;
    mpz_init(number);
    mpz_import(number, bytes.size_bytes, 1, 1, 1, 0, data);
    if ((data[0] & 0x80) != 0) {
        mpz_t modulus;
        mpz_init_set_ui(modulus, 1);
        mpz_mul_2exp(modulus, modulus, 8 * bytes.size_bytes);
        mpz_sub(number, number, modulus);
        mpz_clear(modulus);
    }
    bool is_stored = weir_numeric_store_checked(number, scale, arena, out, NULL);
    mpz_clear(number);
    return is_stored;
}

void weir_numeric_append_unscaled_bytes(struct weir_buffer *buffer, struct weir_numeric value)
{
    WEIR_ASSERT(weir_numeric_is_finite(value));
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    // -2^(8n-1) fits n bytes although its magnitude needs a bit more: ~x has as many bits as -x-1.
    mpz_t number;
    mpz_init_set(number, operand.value);
    bool is_negative = mpz_sgn(number) < 0;
    if (is_negative) {
        mpz_com(number, number);
    }
    size_t size_bytes = mpz_sgn(number) == 0 ? 1 : mpz_sizeinbase(number, 2) / 8 + 1;
    char *out = weir_buffer_reserve(buffer, size_bytes);
    memset(out, 0, size_bytes);
    size_t used_bytes = mpz_sgn(number) == 0 ? 0 : (mpz_sizeinbase(number, 2) + 7) / 8;
    mpz_export(out + size_bytes - used_bytes, NULL, 1, 1, 1, 0, number);
    for (size_t i = 0; is_negative && i < size_bytes; i++) {
        out[i] = (char)~out[i];
    }
    buffer->size_bytes += size_bytes;
    mpz_clear(number);
}

// --- comparing -------------------------------------------------------------------------------

int weir_numeric_sign(struct weir_numeric value)
{
    switch ((enum weir_numeric_kind)value.kind) {
    case WEIR_NUMERIC_SMALL:
        return (value.small > 0) - (value.small < 0);
    case WEIR_NUMERIC_BIG:
        return value.big->size < 0 ? -1 : 1;
    case WEIR_NUMERIC_NAN:
    case WEIR_NUMERIC_INFINITY:
        return 1;
    case WEIR_NUMERIC_MINUS_INFINITY:
        return -1;
    }
    return 0;
}

// Order among the classes: -Infinity, finite, Infinity, NaN.
static int class_rank(struct weir_numeric value)
{
    switch ((enum weir_numeric_kind)value.kind) {
    case WEIR_NUMERIC_MINUS_INFINITY:
        return 0;
    case WEIR_NUMERIC_SMALL:
    case WEIR_NUMERIC_BIG:
        return 1;
    case WEIR_NUMERIC_INFINITY:
        return 2;
    case WEIR_NUMERIC_NAN:
        return 3;
    }
    return 0;
}

// a has the smaller scale, by `shift` digits.
static int compare_small(int64_t a, int64_t b, uint32_t shift)
{
    if (shift > 18) { // a * 10^shift is beyond every small number
        return a != 0 ? (a > 0) - (a < 0) : (b < 0) - (b > 0);
    }
    __int128 aligned = (__int128)a * (int64_t)weir_powers_of_ten[shift];
    return (aligned > b) - (aligned < b);
}

static int compare_big(struct weir_numeric a, struct weir_numeric b)
{
    struct weir_numeric_operand left, right;
    weir_numeric_load(&left, a);
    weir_numeric_load(&right, b);
    if (a.scale == b.scale) {
        int order = mpz_cmp(left.value, right.value);
        return (order > 0) - (order < 0);
    }
    mpz_t aligned;
    mpz_init(aligned);
    int order;
    if (a.scale < b.scale) {
        weir_numeric_scale_up(aligned, left.value, b.scale - a.scale);
        order = mpz_cmp(aligned, right.value);
    } else {
        weir_numeric_scale_up(aligned, right.value, a.scale - b.scale);
        order = mpz_cmp(left.value, aligned);
    }
    mpz_clear(aligned);
    return (order > 0) - (order < 0);
}

int weir_numeric_compare_slow(struct weir_numeric a, struct weir_numeric b)
{
    if (!weir_numeric_is_finite(a) || !weir_numeric_is_finite(b)) {
        return (class_rank(a) > class_rank(b)) - (class_rank(a) < class_rank(b));
    }
    int sign_a = weir_numeric_sign(a);
    int sign_b = weir_numeric_sign(b);
    if (sign_a != sign_b) {
        return sign_a < sign_b ? -1 : 1;
    }
    if (a.kind == WEIR_NUMERIC_SMALL && b.kind == WEIR_NUMERIC_SMALL) {
        return a.scale <= b.scale ? compare_small(a.small, b.small, b.scale - a.scale)
                                  : -compare_small(b.small, a.small, a.scale - b.scale);
    }
    return compare_big(a, b);
}

struct weir_numeric weir_numeric_trim_scale(struct weir_numeric value, struct weir_arena *arena)
{
    if (value.kind == WEIR_NUMERIC_SMALL) {
        while (value.scale > 0 && value.small % 10 == 0) {
            value.small /= 10;
            value.scale--;
        }
        return value;
    }
    if (value.kind != WEIR_NUMERIC_BIG || value.scale == 0) {
        return value;
    }
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    if (!mpz_divisible_ui_p(operand.value, 10)) {
        return value;
    }
    mpz_t number;
    mpz_init_set(number, operand.value);
    uint16_t scale = value.scale;
    while (scale > 0 && mpz_divisible_ui_p(number, 10)) {
        mpz_divexact_ui(number, number, 10);
        scale--;
    }
    struct weir_numeric result = weir_numeric_store(number, scale, arena);
    mpz_clear(number);
    return result;
}

static uint64_t hash_limbs(const mp_limb_t *limbs, size_t count, bool is_negative, uint32_t scale)
{
    uint64_t hash = weir_hash_bytes(limbs, count * sizeof *limbs);
    return weir_hash_combine(hash, (uint64_t)scale << 1 | is_negative);
}

static uint64_t hash_big(struct weir_numeric value)
{
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    mpz_t number;
    mpz_init_set(number, operand.value);
    uint32_t scale = value.scale;
    while (scale > 0 && mpz_divisible_ui_p(number, 10)) {
        mpz_divexact_ui(number, number, 10);
        scale--;
    }
    uint64_t hash;
    if (mpz_cmpabs_ui(number, (unsigned long)WEIR_NUMERIC_SMALL_LIMIT) < 0) {
        hash = weir_hash_combine(weir_hash_i64(mpz_get_si(number)), scale);
    } else {
        hash = hash_limbs(mpz_limbs_read(number), mpz_size(number), mpz_sgn(number) < 0, scale);
    }
    mpz_clear(number);
    return hash;
}

uint64_t weir_numeric_hash(struct weir_numeric value)
{
    switch ((enum weir_numeric_kind)value.kind) {
    case WEIR_NUMERIC_SMALL: {
        struct weir_numeric trimmed = weir_numeric_trim_scale(value, NULL);
        return weir_hash_combine(weir_hash_i64(trimmed.small), trimmed.scale);
    }
    case WEIR_NUMERIC_BIG:
        return hash_big(value);
    case WEIR_NUMERIC_NAN:
    case WEIR_NUMERIC_INFINITY:
    case WEIR_NUMERIC_MINUS_INFINITY:
        break;
    }
    return weir_hash_combine(WEIR_HASH_START, value.kind);
}

// --- to other types --------------------------------------------------------------------------

static bool to_integer(struct weir_numeric value, int64_t min, int64_t max, const char *type_name,
                       int64_t *out, struct weir_value_error *error)
{
    if (!weir_numeric_is_finite(value)) {
        return weir_value_error_set(error, "cannot convert %s to %s",
                                    value.kind == WEIR_NUMERIC_NAN ? "NaN" : "infinity", type_name);
    }
    bool fits = true;
    if (value.kind == WEIR_NUMERIC_SMALL) {
        if (value.scale > 18) {
            *out = 0;
        } else if (value.scale > 0) {
            int64_t power = (int64_t)weir_powers_of_ten[value.scale];
            int64_t half = value.small < 0 ? -(power / 2) : power / 2;
            *out = (value.small + half) / power;
        } else {
            *out = value.small;
        }
    } else {
        struct weir_numeric_operand operand;
        weir_numeric_load(&operand, value);
        mpz_t number;
        mpz_init(number);
        weir_numeric_scale_down(number, operand.value, value.scale, true);
        fits = mpz_fits_slong_p(number) != 0;
        *out = fits ? mpz_get_si(number) : 0;
        mpz_clear(number);
    }
    if (!fits || *out < min || *out > max) {
        return weir_value_error_set(error, "%s out of range", type_name);
    }
    return true;
}

bool weir_numeric_to_int16(struct weir_numeric value, int16_t *out, struct weir_value_error *error)
{
    int64_t wide = 0;
    if (!to_integer(value, INT16_MIN, INT16_MAX, "smallint", &wide, error)) {
        return false;
    }
    *out = (int16_t)wide;
    return true;
}

bool weir_numeric_to_int32(struct weir_numeric value, int32_t *out, struct weir_value_error *error)
{
    int64_t wide = 0;
    if (!to_integer(value, INT32_MIN, INT32_MAX, "integer", &wide, error)) {
        return false;
    }
    *out = (int32_t)wide;
    return true;
}

bool weir_numeric_to_int64(struct weir_numeric value, int64_t *out, struct weir_value_error *error)
{
    return to_integer(value, INT64_MIN, INT64_MAX, "bigint", out, error);
}

bool weir_numeric_to_double(struct weir_numeric value, double *out, struct weir_value_error *error)
{
    if (value.kind == WEIR_NUMERIC_SMALL && value.scale <= 18 &&
        weir_numeric_magnitude(value.small) <= UINT64_C(1) << 53) {
        *out = (double)value.small / (double)weir_powers_of_ten[value.scale];
        return true;
    }
    struct weir_buffer text = {0};
    weir_numeric_append(&text, value);
    bool is_read = weir_double_parse((struct weir_view){text.data, text.size_bytes}, out, error);
    weir_buffer_deinit(&text);
    return is_read;
}

bool weir_numeric_to_float(struct weir_numeric value, float *out, struct weir_value_error *error)
{
    struct weir_buffer text = {0};
    weir_numeric_append(&text, value);
    bool is_read = weir_real_parse((struct weir_view){text.data, text.size_bytes}, out, error);
    weir_buffer_deinit(&text);
    return is_read;
}
