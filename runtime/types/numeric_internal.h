// SPDX-License-Identifier: Apache-2.0
// What the numeric*.c files share: the layout of large values and the way into and out of GMP.
// The only header that shows GMP; it does not leave this folder. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_NUMERIC_INTERNAL_H
#define WEIR_RUNTIME_TYPES_NUMERIC_INTERNAL_H

#include "runtime/types/digits.h"
#include "runtime/types/numeric.h"

#include <gmp.h>

struct weir_numeric_big {
    int32_t size; // limbs; negative for a negative value, as in GMP
    mp_limb_t limbs[];
};

// The unscaled number of a finite value as a GMP integer that is only read and not cleared.
struct weir_numeric_operand {
    mpz_t value;
    mp_limb_t limb;
};

static inline void weir_numeric_load(struct weir_numeric_operand *operand,
                                     struct weir_numeric value)
{
    if (value.kind == WEIR_NUMERIC_SMALL) {
        operand->limb = (mp_limb_t)(value.small < 0 ? -value.small : value.small);
        mpz_roinit_n(operand->value, &operand->limb, (value.small > 0) - (value.small < 0));
    } else {
        mpz_roinit_n(operand->value, value.big->limbs, value.big->size);
    }
}

// unscaled / 10^scale in canonical form, without any check.
struct weir_numeric weir_numeric_store(const mpz_t unscaled, uint32_t scale,
                                       struct weir_arena *arena);

// The same with PostgreSQL's limits: "value overflows numeric format".
bool weir_numeric_store_checked(const mpz_t unscaled, int64_t scale, struct weir_arena *arena,
                                struct weir_numeric *out, struct weir_value_error *error);

static inline uint64_t weir_numeric_magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

// product = value * 10^power, quotient = value / 10^power (cut, or halves away from zero).
void weir_numeric_scale_up(mpz_t product, const mpz_t value, uint64_t power);
void weir_numeric_scale_down(mpz_t quotient, const mpz_t value, uint64_t power, bool is_rounded);

// Decimal digits of |value|; 1 for 0.
size_t weir_numeric_digit_count(const mpz_t value);

#endif
