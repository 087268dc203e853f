// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's numeric: exact decimals with a display scale, NaN and the infinities.
// A value that fits 18 decimal digits is held in place; a larger one points into an arena.
// Values, result scales, rounding (halves away from zero), limits and errors are PostgreSQL 15's.
//
// Thread: values are immutable; the arena is the caller's. Functions that take an arena put the
// digits of a large result there; whoever keeps a value longer than the arena calls
// weir_numeric_copy. Functions that can fail return false and fill *error (which may be NULL).
#ifndef WEIR_RUNTIME_TYPES_NUMERIC_H
#define WEIR_RUNTIME_TYPES_NUMERIC_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/types/value_error.h"

#include <stdbool.h>
#include <stdint.h>

enum weir_numeric_kind {
    WEIR_NUMERIC_SMALL = 0, // value = small / 10^scale, |small| < 10^18
    WEIR_NUMERIC_BIG = 1,   // value = *big / 10^scale, |*big| >= 10^18 (canonical: never smaller)
    WEIR_NUMERIC_NAN = 2,
    WEIR_NUMERIC_INFINITY = 3,
    WEIR_NUMERIC_MINUS_INFINITY = 4,
};

struct weir_numeric_big; // GMP limbs, private to numeric*.c

struct weir_numeric {
    union {
        int64_t small;
        const struct weir_numeric_big *big;
    };
    uint16_t scale; // digits behind the point that are shown (dscale)
    uint8_t kind;   // enum weir_numeric_kind
};

#define WEIR_NUMERIC_SMALL_LIMIT INT64_C(1000000000000000000) // 10^18, exclusive
enum {
    WEIR_NUMERIC_SCALE_MAX = 16383,          // of any value
    WEIR_NUMERIC_INTEGER_DIGITS_MAX = 131072 // in front of the point
};

// --- making ----------------------------------------------------------------------------------

// unscaled / 10^scale; |unscaled| < WEIR_NUMERIC_SMALL_LIMIT.
static inline struct weir_numeric weir_numeric_small(int64_t unscaled, uint16_t scale)
{
    return (struct weir_numeric){.small = unscaled, .scale = scale, .kind = WEIR_NUMERIC_SMALL};
}

static inline struct weir_numeric weir_numeric_special(enum weir_numeric_kind kind)
{
    return (struct weir_numeric){.small = 0, .scale = 0, .kind = (uint8_t)kind};
}

struct weir_numeric weir_numeric_from_int64(int64_t value, struct weir_arena *arena);
// unscaled / 10^scale for any 128-bit number, e.g. a sum of bigints.
struct weir_numeric weir_numeric_from_int128(__int128 unscaled, uint16_t scale,
                                             struct weir_arena *arena);
// 15 (6) significant digits, as PostgreSQL's casts from double precision (real).
struct weir_numeric weir_numeric_from_double(double value, struct weir_arena *arena);
struct weir_numeric weir_numeric_from_float(float value, struct weir_arena *arena);

// Avro's decimal: big-endian two's complement of the unscaled number. Zero bytes are refused.
bool weir_numeric_from_unscaled_bytes(struct weir_view bytes, uint16_t scale,
                                      struct weir_arena *arena, struct weir_numeric *out);
// The shortest such bytes of a finite value's unscaled number (at least one byte).
void weir_numeric_append_unscaled_bytes(struct weir_buffer *buffer, struct weir_numeric value);

struct weir_numeric weir_numeric_copy(struct weir_numeric value, struct weir_arena *arena);

// --- text ------------------------------------------------------------------------------------

// PostgreSQL's input: surrounding blanks, sign, digits, point, exponent, NaN, [+-]inf[inity] in any
// case. modifier: of the column type (weir_numeric_modifier), -1 for none.
bool weir_numeric_parse(struct weir_view text, int32_t modifier, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error);
void weir_numeric_append(struct weir_buffer *buffer, struct weir_numeric value);

// --- numeric(p,s) ----------------------------------------------------------------------------

// Rounds to the scale of the modifier and checks the precision: "numeric field overflow".
bool weir_numeric_apply_modifier(struct weir_numeric value, int32_t modifier,
                                 struct weir_arena *arena, struct weir_numeric *out,
                                 struct weir_value_error *error);

// --- to other types --------------------------------------------------------------------------

// Rounded; "smallint out of range", "cannot convert NaN to integer", ….
bool weir_numeric_to_int16(struct weir_numeric value, int16_t *out, struct weir_value_error *error);
bool weir_numeric_to_int32(struct weir_numeric value, int32_t *out, struct weir_value_error *error);
bool weir_numeric_to_int64(struct weir_numeric value, int64_t *out, struct weir_value_error *error);
bool weir_numeric_to_double(struct weir_numeric value, double *out, struct weir_value_error *error);
bool weir_numeric_to_float(struct weir_numeric value, float *out, struct weir_value_error *error);

// --- comparing -------------------------------------------------------------------------------

int weir_numeric_compare_slow(struct weir_numeric a, struct weir_numeric b);

// -1, 0, 1. NaN equals NaN and is greater than everything; scales do not count: 2.0 = 2.00.
static inline int weir_numeric_compare(struct weir_numeric a, struct weir_numeric b)
{
    if ((a.kind | b.kind) == WEIR_NUMERIC_SMALL && a.scale == b.scale) {
        return (a.small > b.small) - (a.small < b.small);
    }
    return weir_numeric_compare_slow(a, b);
}

// Equal numbers have equal hashes, whatever their scales. Stable for ever: it is in stored state.
uint64_t weir_numeric_hash(struct weir_numeric value);

// The same number with no zeros at the end of the fraction: equal numbers become identical.
struct weir_numeric weir_numeric_trim_scale(struct weir_numeric value, struct weir_arena *arena);

static inline bool weir_numeric_is_finite(struct weir_numeric value)
{
    return value.kind <= WEIR_NUMERIC_BIG;
}

// -1, 0, 1; NaN counts as 1.
int weir_numeric_sign(struct weir_numeric value);

// --- arithmetic ------------------------------------------------------------------------------

bool weir_numeric_add_slow(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                           struct weir_numeric *out, struct weir_value_error *error);
bool weir_numeric_subtract_slow(struct weir_numeric a, struct weir_numeric b,
                                struct weir_arena *arena, struct weir_numeric *out,
                                struct weir_value_error *error);

// The larger scale of the two. "value overflows numeric format".
static inline bool weir_numeric_add(struct weir_numeric a, struct weir_numeric b,
                                    struct weir_arena *arena, struct weir_numeric *out,
                                    struct weir_value_error *error)
{
    if ((a.kind | b.kind) == WEIR_NUMERIC_SMALL && a.scale == b.scale) {
        int64_t sum = a.small + b.small; // below 2 * 10^18: fits
        if (sum < WEIR_NUMERIC_SMALL_LIMIT && sum > -WEIR_NUMERIC_SMALL_LIMIT) {
            *out = weir_numeric_small(sum, a.scale);
            return true;
        }
    }
    return weir_numeric_add_slow(a, b, arena, out, error);
}

static inline bool weir_numeric_subtract(struct weir_numeric a, struct weir_numeric b,
                                         struct weir_arena *arena, struct weir_numeric *out,
                                         struct weir_value_error *error)
{
    if ((a.kind | b.kind) == WEIR_NUMERIC_SMALL && a.scale == b.scale) {
        int64_t difference = a.small - b.small;
        if (difference < WEIR_NUMERIC_SMALL_LIMIT && difference > -WEIR_NUMERIC_SMALL_LIMIT) {
            *out = weir_numeric_small(difference, a.scale);
            return true;
        }
    }
    return weir_numeric_subtract_slow(a, b, arena, out, error);
}

// Scale: the sum of the two.
bool weir_numeric_multiply(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                           struct weir_numeric *out, struct weir_value_error *error);
// At least 16 significant digits, as PostgreSQL chooses them: 2/3.0 = 0.66666666666666666667.
// "division by zero".
bool weir_numeric_divide(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                         struct weir_numeric *out, struct weir_value_error *error);
// PostgreSQL's div(): the quotient cut to an integer.
bool weir_numeric_divide_integer(struct weir_numeric a, struct weir_numeric b,
                                 struct weir_arena *arena, struct weir_numeric *out,
                                 struct weir_value_error *error);
// The remainder has the sign of a. "division by zero".
bool weir_numeric_modulo(struct weir_numeric a, struct weir_numeric b, struct weir_arena *arena,
                         struct weir_numeric *out, struct weir_value_error *error);

struct weir_numeric weir_numeric_negate(struct weir_numeric value, struct weir_arena *arena);
struct weir_numeric weir_numeric_absolute(struct weir_numeric value, struct weir_arena *arena);

// round(n, digits) and trunc(n, digits): digits may be negative; the result shows max(digits, 0).
bool weir_numeric_round(struct weir_numeric value, int32_t digits, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error);
struct weir_numeric weir_numeric_truncate(struct weir_numeric value, int32_t digits,
                                          struct weir_arena *arena);
bool weir_numeric_ceil(struct weir_numeric value, struct weir_arena *arena,
                       struct weir_numeric *out, struct weir_value_error *error);
bool weir_numeric_floor(struct weir_numeric value, struct weir_arena *arena,
                        struct weir_numeric *out, struct weir_value_error *error);

#endif
