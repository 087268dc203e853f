// SPDX-License-Identifier: Apache-2.0
// See shortest.h. The method is Raffaello Giulietti's ("The Schubfach way to render doubles"): the
// ends of the interval that rounds to the value are scaled by a power of ten, kept with 128 bits,
// so that the candidates become neighbouring integers. A sticky lowest bit ("round to odd") keeps
// comparisons exact although fractions are cut.
//
// Invariant: powers[] is filled before main() and never written again, so readers need no lock.
#include "runtime/types/shortest.h"

#include "runtime/base/assert.h"

#include <gmp.h>
#include <stdbool.h>
#include <string.h>

enum { POWER_MIN = -292, POWER_MAX = 324 };

// 10^k as high * 2^64 + low, scaled to 2^127 <= power < 2^128, rounded up where it is not exact.
struct power {
    uint64_t high;
    uint64_t low;
};

static struct power powers[POWER_MAX - POWER_MIN + 1];

// floor(log2(10^k)), floor(log10(2^q)), floor(log10(3/4 * 2^q)): exact far beyond the range of
// doubles.
static int32_t log2_of_power_of_10(int32_t k)
{
    return (k * 1741647) >> 19;
}

static int32_t log10_of_power_of_2(int32_t q)
{
    return (q * 1262611) >> 22;
}

static int32_t log10_of_three_quarters(int32_t q)
{
    return (q * 1262611 - 524031) >> 22;
}

__attribute__((constructor)) static void fill_powers(void)
{
    mpz_t ten_power, scaled, low;
    mpz_inits(ten_power, scaled, low, NULL);
    for (int32_t k = POWER_MIN; k <= POWER_MAX; k++) {
        int32_t shift = 127 - log2_of_power_of_10(k);
        mpz_ui_pow_ui(ten_power, 10, (unsigned long)(k < 0 ? -k : k));
        if (k < 0) {
            mpz_set_ui(scaled, 1);
            mpz_mul_2exp(scaled, scaled, (mp_bitcnt_t)shift);
            mpz_cdiv_q(scaled, scaled, ten_power);
        } else if (shift >= 0) {
            mpz_mul_2exp(scaled, ten_power, (mp_bitcnt_t)shift);
        } else {
            mpz_cdiv_q_2exp(scaled, ten_power, (mp_bitcnt_t)-shift);
        }
        WEIR_ASSERT(mpz_sizeinbase(scaled, 2) == 128);
        mpz_fdiv_r_2exp(low, scaled, 64);
        mpz_fdiv_q_2exp(scaled, scaled, 64);
        powers[k - POWER_MIN] = (struct power){.high = mpz_get_ui(scaled), .low = mpz_get_ui(low)};
    }
    mpz_clears(ten_power, scaled, low, NULL);
}

// floor(power * factor / 2^128), the lowest bit set if something was cut. A remainder of at most
// one unit comes from powers[] being rounded up and counts as none.
static uint64_t scale_to_odd(struct power power, uint64_t factor)
{
    unsigned __int128 upper = (unsigned __int128)power.high * factor;
    unsigned __int128 lower = (unsigned __int128)power.low * factor;
    upper += (uint64_t)(lower >> 64);
    return (uint64_t)(upper >> 64) | ((uint64_t)upper > 1);
}

static struct weir_decimal strip_zeros(uint64_t digits, int32_t exponent)
{
    // Short numbers carry a dozen zeros: the long steps come first.
    if (digits % 100000000 == 0) {
        digits /= 100000000;
        exponent += 8;
    }
    if (digits % 10000 == 0) {
        digits /= 10000;
        exponent += 4;
    }
    if (digits % 100 == 0) {
        digits /= 100;
        exponent += 2;
    }
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (struct weir_decimal){.digits = digits, .exponent = exponent};
}

// significand * 2^exponent; is_narrow: the float below is half as far away as the one above.
static struct weir_decimal shortest(uint64_t significand, int32_t exponent, bool is_narrow)
{
    int32_t k = is_narrow ? log10_of_three_quarters(exponent) : log10_of_power_of_2(exponent);
    int32_t shift = exponent + log2_of_power_of_10(-k) + 1;
    struct power power = powers[-k - POWER_MIN];

    // All in quarters of 10^k: the value and the ends of its interval (which do not belong to it).
    uint64_t value = scale_to_odd(power, (4 * significand) << shift);
    uint64_t lower = scale_to_odd(power, (4 * significand - 2 + is_narrow) << shift) + 1;
    uint64_t upper = scale_to_odd(power, (4 * significand + 2) << shift) - 1;

    uint64_t whole = value / 4;
    if (whole >= 10) {
        // One digit less: at most one multiple of ten lies in the interval.
        uint64_t tens = whole / 10;
        bool is_below_inside = lower <= 40 * tens;
        bool is_above_inside = 40 * tens + 40 <= upper;
        if (is_below_inside != is_above_inside) {
            return strip_zeros(tens + is_above_inside, k + 1);
        }
    }
    bool is_below_inside = lower <= 4 * whole;
    bool is_above_inside = 4 * whole + 4 <= upper;
    if (is_below_inside != is_above_inside) {
        return strip_zeros(whole + is_above_inside, k);
    }
    uint64_t middle = 4 * whole + 2;
    bool is_up = value > middle || (value == middle && (whole & 1) != 0);
    return strip_zeros(whole + is_up, k);
}

struct weir_decimal weir_shortest_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int32_t biased = (int32_t)(bits >> 52 & 0x7ff);
    WEIR_DASSERT(biased != 0x7ff && bits >> 63 == 0 && bits != 0);
    if (biased == 0) {
        return shortest(fraction, -1074, false);
    }
    return shortest(fraction | UINT64_C(1) << 52, biased - 1075, fraction == 0 && biased > 1);
}

struct weir_decimal weir_shortest_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
    int32_t biased = (int32_t)(bits >> 23 & 0xff);
    WEIR_DASSERT(biased != 0xff && bits >> 31 == 0 && bits != 0);
    if (biased == 0) {
        return shortest(fraction, -149, false);
    }
    return shortest(fraction | UINT32_C(1) << 23, biased - 150, fraction == 0 && biased > 1);
}
