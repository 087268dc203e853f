// SPDX-License-Identifier: Apache-2.0
// Arithmetic of numerics (numeric.h). Exact inside; results are rounded once, to the scale that
// PostgreSQL gives them. What fits 128 bits on the way is computed without GMP.
#include "runtime/base/assert.h"
#include "runtime/types/numeric.h"
#include "runtime/types/numeric_internal.h"

// NaN and the infinities as numbers -1, 0, 1 times infinity.
static int infinity_sign(struct weir_numeric value)
{
    return (value.kind == WEIR_NUMERIC_INFINITY) - (value.kind == WEIR_NUMERIC_MINUS_INFINITY);
}

static struct weir_numeric infinity_of(int sign)
{
    return weir_numeric_special(sign > 0   ? WEIR_NUMERIC_INFINITY
                                : sign < 0 ? WEIR_NUMERIC_MINUS_INFINITY
                                           : WEIR_NUMERIC_NAN);
}

static bool is_any_nan(struct weir_numeric a, struct weir_numeric b)
{
    return a.kind == WEIR_NUMERIC_NAN || b.kind == WEIR_NUMERIC_NAN;
}

static bool are_finite(struct weir_numeric a, struct weir_numeric b)
{
    return weir_numeric_is_finite(a) && weir_numeric_is_finite(b);
}

static bool are_small(struct weir_numeric a, struct weir_numeric b)
{
    return (a.kind | b.kind) == WEIR_NUMERIC_SMALL;
}

static bool is_zero(struct weir_numeric value)
{
    return value.kind == WEIR_NUMERIC_SMALL && value.small == 0;
}

static bool division_by_zero(struct weir_value_error *error)
{
    return weir_value_error_set(error, "division by zero");
}

// --- sums ------------------------------------------------------------------------------------

// The two numbers with the larger scale of both, which is returned.
static uint32_t align(struct weir_numeric a, struct weir_numeric b, mpz_t left, mpz_t right)
{
    struct weir_numeric_operand operand_a, operand_b;
    weir_numeric_load(&operand_a, a);
    weir_numeric_load(&operand_b, b);
    uint32_t scale = a.scale > b.scale ? a.scale : b.scale;
    weir_numeric_scale_up(left, operand_a.value, scale - a.scale);
    weir_numeric_scale_up(right, operand_b.value, scale - b.scale);
    return scale;
}

// Of small numbers whose scales differ by at most 18: both below 10^36.
static bool align_small(struct weir_numeric a, struct weir_numeric b, __int128 *left,
                        __int128 *right)
{
    int32_t shift = (int32_t)a.scale - (int32_t)b.scale;
    if (!are_small(a, b) || shift > 18 || shift < -18) {
        return false;
    }
    *left = (__int128)a.small * (int64_t)weir_powers_of_ten[shift < 0 ? -shift : 0];
    *right = (__int128)b.small * (int64_t)weir_powers_of_ten[shift > 0 ? shift : 0];
    return true;
}

static uint16_t larger_scale(struct weir_numeric a, struct weir_numeric b)
{
    return a.scale > b.scale ? a.scale : b.scale;
}

bool weir_numeric_add_slow(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                           struct weir_numeric *out, struct weir_value_error *error)
{
    __int128 left, right;
    if (align_small(a, b, &left, &right)) {
        *out = weir_numeric_from_int128(left + right, larger_scale(a, b), arena);
        return true;
    }
    if (!are_finite(a, b)) {
        int sign_a = infinity_sign(a);
        int sign_b = infinity_sign(b);
        bool is_nan = is_any_nan(a, b) || sign_a * sign_b < 0;
        *out = infinity_of(is_nan ? 0 : sign_a + sign_b);
        return true;
    }
    mpz_t number_a, number_b;
    mpz_inits(number_a, number_b, NULL);
    uint32_t scale = align(a, b, number_a, number_b);
    mpz_add(number_a, number_a, number_b);
    bool is_ok = weir_numeric_store_checked(number_a, scale, arena, out, error);
    mpz_clears(number_a, number_b, NULL);
    return is_ok;
}

bool weir_numeric_subtract_slow(struct weir_numeric a, struct weir_numeric b,
                                struct weir_arena *arena, struct weir_numeric *out,
                                struct weir_value_error *error)
{
    __int128 left, right;
    if (align_small(a, b, &left, &right)) {
        *out = weir_numeric_from_int128(left - right, larger_scale(a, b), arena);
        return true;
    }
    if (!are_finite(a, b)) {
        int sign_a = infinity_sign(a);
        int sign_b = infinity_sign(b);
        bool is_nan = is_any_nan(a, b) || sign_a * sign_b > 0;
        *out = infinity_of(is_nan ? 0 : sign_a - sign_b);
        return true;
    }
    mpz_t number_a, number_b;
    mpz_inits(number_a, number_b, NULL);
    uint32_t scale = align(a, b, number_a, number_b);
    mpz_sub(number_a, number_a, number_b);
    bool is_ok = weir_numeric_store_checked(number_a, scale, arena, out, error);
    mpz_clears(number_a, number_b, NULL);
    return is_ok;
}

// --- products --------------------------------------------------------------------------------

bool weir_numeric_multiply(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                           struct weir_numeric *out, struct weir_value_error *error)
{
    uint32_t scale = (uint32_t)a.scale + b.scale;
    if (are_small(a, b) && scale <= WEIR_NUMERIC_SCALE_MAX) {
        *out = weir_numeric_from_int128((__int128)a.small * b.small, (uint16_t)scale, arena);
        return true;
    }
    if (!are_finite(a, b)) {
        // Infinity times 0 is NaN, as the product of the signs says.
        *out = is_any_nan(a, b) ? weir_numeric_special(WEIR_NUMERIC_NAN)
                                : infinity_of(weir_numeric_sign(a) * weir_numeric_sign(b));
        return true;
    }
    struct weir_numeric_operand operand_a, operand_b;
    weir_numeric_load(&operand_a, a);
    weir_numeric_load(&operand_b, b);
    mpz_t product;
    mpz_init(product);
    mpz_mul(product, operand_a.value, operand_b.value);
    if (scale > WEIR_NUMERIC_SCALE_MAX) {
        weir_numeric_scale_down(product, product, scale - WEIR_NUMERIC_SCALE_MAX, true);
        scale = WEIR_NUMERIC_SCALE_MAX;
    }
    bool is_ok = weir_numeric_store_checked(product, scale, arena, out, error);
    mpz_clear(product);
    return is_ok;
}

// --- quotients -------------------------------------------------------------------------------

// PostgreSQL counts in digits of base 10,000, aligned at the point. The place of the first digit
// that is not 0, and that digit.
struct leading_digit {
    int32_t weight;
    int32_t digit;
};

static struct leading_digit leading_digit_of(struct weir_numeric value)
{
    if (is_zero(value)) {
        return (struct leading_digit){0, 0};
    }
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    bool is_small = value.kind == WEIR_NUMERIC_SMALL;
    uint64_t magnitude = is_small ? weir_numeric_magnitude(value.small) : 0;
    int32_t count = (int32_t)(is_small ? weir_digits_count(magnitude)
                                       : weir_numeric_digit_count(operand.value));
    int32_t place = count - 1 - value.scale; // of the first decimal digit: 10^place
    int32_t weight = (place >= 0 ? place : place - 3) / 4;
    int32_t shift = 4 * weight + value.scale; // digit = unscaled / 10^shift
    int32_t digit;
    if (shift < 0) {
        // Only when the whole number is shorter than one digit of base 10,000.
        digit = (int32_t)(magnitude * weir_powers_of_ten[-shift]);
    } else if (is_small) {
        digit = (int32_t)(magnitude / weir_powers_of_ten[shift]);
    } else {
        mpz_t top;
        mpz_init(top);
        weir_numeric_scale_down(top, operand.value, (uint64_t)shift, false);
        digit = (int32_t)mpz_get_ui(top);
        mpz_clear(top);
    }
    return (struct leading_digit){weight, digit};
}

static int32_t max_i32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

// At least 16 significant digits, and no fewer behind the point than either operand shows.
static int32_t quotient_scale(struct weir_numeric a, struct weir_numeric b)
{
    struct leading_digit first = leading_digit_of(a);
    struct leading_digit second = leading_digit_of(b);
    int32_t weight = first.weight - second.weight - (first.digit <= second.digit);
    int32_t scale = max_i32(16 - weight * 4, max_i32(a.scale, b.scale));
    scale = max_i32(scale, 0);
    return scale < 1000 ? scale : 1000;
}

// a / b with so many digits behind the point, rounded or cut; b is not 0.
static bool divide_finite(struct weir_numeric a, struct weir_numeric b, int32_t scale,
                          bool is_rounded, struct weir_arena *arena, struct weir_numeric *out,
                          struct weir_value_error *error)
{
    // quotient * 10^scale = unscaled_a * 10^shift / unscaled_b
    int32_t shift = scale + b.scale - a.scale;
    if (are_small(a, b) && shift >= 0 && shift <= 20) {
        unsigned __int128 dividend = weir_numeric_magnitude(a.small);
        uint64_t divisor = weir_numeric_magnitude(b.small);
        uint32_t digits = shift + (a.small == 0 ? 0 : weir_digits_count((uint64_t)dividend));
        if (digits <= 37) {
            dividend *= weir_powers_of_ten[shift / 2];
            dividend *= weir_powers_of_ten[shift - shift / 2];
            dividend += is_rounded ? divisor / 2 : 0;
            // (n + d/2) / d rounds halves up for even d; for odd d there are no halves.
            __int128 quotient = (__int128)(dividend / divisor);
            bool is_negative = (a.small < 0) != (b.small < 0);
            *out = weir_numeric_from_int128(is_negative ? -quotient : quotient, (uint16_t)scale,
                                            arena);
            return true;
        }
    }
    struct weir_numeric_operand operand_a, operand_b;
    weir_numeric_load(&operand_a, a);
    weir_numeric_load(&operand_b, b);
    mpz_t dividend, divisor;
    mpz_inits(dividend, divisor, NULL);
    weir_numeric_scale_up(dividend, operand_a.value, shift > 0 ? (uint64_t)shift : 0);
    weir_numeric_scale_up(divisor, operand_b.value, shift < 0 ? (uint64_t)-shift : 0);
    if (is_rounded) {
        mpz_t half;
        mpz_init(half);
        mpz_abs(half, divisor);
        mpz_fdiv_q_2exp(half, half, 1);
        if (mpz_sgn(dividend) < 0) {
            mpz_neg(half, half);
        }
        mpz_add(dividend, dividend, half);
        mpz_clear(half);
    }
    mpz_tdiv_q(dividend, dividend, divisor);
    bool is_ok = weir_numeric_store_checked(dividend, scale, arena, out, error);
    mpz_clears(dividend, divisor, NULL);
    return is_ok;
}

// A quotient with NaN or infinities in it.
static bool divide_special(struct weir_numeric a, struct weir_numeric b, struct weir_numeric *out,
                           struct weir_value_error *error)
{
    if (is_any_nan(a, b)) {
        *out = weir_numeric_special(WEIR_NUMERIC_NAN);
        return true;
    }
    int sign_a = infinity_sign(a);
    if (sign_a == 0) { // finite / infinite
        *out = weir_numeric_small(0, 0);
        return true;
    }
    if (is_zero(b)) {
        return division_by_zero(error);
    }
    *out = infinity_of(weir_numeric_is_finite(b) ? sign_a * weir_numeric_sign(b) : 0);
    return true;
}

bool weir_numeric_divide(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                         struct weir_numeric *out, struct weir_value_error *error)
{
    if (!are_finite(a, b)) {
        return divide_special(a, b, out, error);
    }
    if (is_zero(b)) {
        return division_by_zero(error);
    }
    return divide_finite(a, b, quotient_scale(a, b), true, arena, out, error);
}

bool weir_numeric_divide_integer(struct weir_numeric a, struct weir_numeric b,
                                 struct weir_arena *arena, struct weir_numeric *out,
                                 struct weir_value_error *error)
{
    if (!are_finite(a, b)) {
        return divide_special(a, b, out, error);
    }
    if (is_zero(b)) {
        return division_by_zero(error);
    }
    return divide_finite(a, b, 0, false, arena, out, error);
}

bool weir_numeric_modulo(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                         struct weir_numeric *out, struct weir_value_error *error)
{
    if (is_any_nan(a, b)) {
        *out = weir_numeric_special(WEIR_NUMERIC_NAN);
        return true;
    }
    if (is_zero(b)) {
        return division_by_zero(error);
    }
    if (!weir_numeric_is_finite(a)) {
        *out = weir_numeric_special(WEIR_NUMERIC_NAN);
        return true;
    }
    if (!weir_numeric_is_finite(b)) {
        *out = a;
        return true;
    }
    __int128 left, right;
    if (align_small(a, b, &left, &right)) {
        *out = weir_numeric_from_int128(left % right, larger_scale(a, b), arena);
        return true;
    }
    mpz_t number_a, number_b;
    mpz_inits(number_a, number_b, NULL);
    uint32_t scale = align(a, b, number_a, number_b);
    mpz_tdiv_r(number_a, number_a, number_b);
    bool is_ok = weir_numeric_store_checked(number_a, scale, arena, out, error);
    mpz_clears(number_a, number_b, NULL);
    return is_ok;
}

// --- signs and rounding ----------------------------------------------------------------------

struct weir_numeric weir_numeric_negate(struct weir_numeric value, struct weir_arena *arena)
{
    if (value.kind == WEIR_NUMERIC_SMALL) {
        value.small = -value.small;
        return value;
    }
    if (value.kind != WEIR_NUMERIC_BIG) {
        return value.kind == WEIR_NUMERIC_NAN ? value : infinity_of(-infinity_sign(value));
    }
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    mpz_t number;
    mpz_init(number);
    mpz_neg(number, operand.value);
    struct weir_numeric result = weir_numeric_store(number, value.scale, arena);
    mpz_clear(number);
    return result;
}

struct weir_numeric weir_numeric_absolute(struct weir_numeric value, struct weir_arena *arena)
{
    return weir_numeric_sign(value) < 0 ? weir_numeric_negate(value, arena) : value;
}

enum { ROUND_DIGITS_MAX = 2000 };

static bool round_small(struct weir_numeric value, int32_t digits, bool is_rounded,
                        struct weir_numeric *out)
{
    int32_t drop = value.scale - digits;
    if (value.kind != WEIR_NUMERIC_SMALL || digits < 0 || drop < 0 || drop > 18) {
        return false;
    }
    int64_t power = (int64_t)weir_powers_of_ten[drop];
    int64_t half = is_rounded ? power / 2 : 0;
    *out = weir_numeric_small((value.small + (value.small < 0 ? -half : half)) / power,
                              (uint16_t)digits);
    return true;
}

static bool round_or_cut(struct weir_numeric value, int32_t digits, bool is_rounded,
                         struct weir_arena *arena, struct weir_numeric *out,
                         struct weir_value_error *error)
{
    digits = max_i32(digits, -ROUND_DIGITS_MAX);
    digits = digits < ROUND_DIGITS_MAX ? digits : ROUND_DIGITS_MAX;
    if (!weir_numeric_is_finite(value)) {
        *out = value;
        return true;
    }
    if (round_small(value, digits, is_rounded, out)) {
        return true;
    }
    struct weir_numeric_operand operand;
    weir_numeric_load(&operand, value);
    mpz_t number;
    mpz_init(number);
    if (digits >= value.scale) {
        weir_numeric_scale_up(number, operand.value, (uint64_t)(digits - value.scale));
    } else {
        weir_numeric_scale_down(number, operand.value, (uint64_t)(value.scale - digits),
                                is_rounded);
        if (digits < 0) {
            weir_numeric_scale_up(number, number, (uint64_t)-digits);
        }
    }
    bool is_ok = weir_numeric_store_checked(number, max_i32(digits, 0), arena, out, error);
    mpz_clear(number);
    return is_ok;
}

bool weir_numeric_round(struct weir_numeric value, int32_t digits, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error)
{
    return round_or_cut(value, digits, true, arena, out, error);
}

struct weir_numeric weir_numeric_truncate(struct weir_numeric value, int32_t digits,
                                          struct weir_arena *arena)
{
    struct weir_numeric result;
    bool is_ok = round_or_cut(value, digits, false, arena, &result, NULL);
    WEIR_ASSERT(is_ok); // it does not grow
    return result;
}

// Towards the sign: +1 up, -1 down.
static bool round_towards(struct weir_numeric value, int sign, struct weir_arena *arena,
                          struct weir_numeric *out, struct weir_value_error *error)
{
    struct weir_numeric cut = weir_numeric_truncate(value, 0, arena);
    if (weir_numeric_compare(value, cut) * sign <= 0) {
        *out = cut;
        return true;
    }
    return weir_numeric_add(cut, weir_numeric_small(sign, 0), arena, out, error);
}

bool weir_numeric_ceil(struct weir_numeric value, struct weir_arena *arena,
                       struct weir_numeric *out, struct weir_value_error *error)
{
    return round_towards(value, 1, arena, out, error);
}

bool weir_numeric_floor(struct weir_numeric value, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error)
{
    return round_towards(value, -1, arena, out, error);
}
