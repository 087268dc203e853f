// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's numeric: exact decimals with a display scale, NaN and the infinities.
// A value that fits 18 decimal digits is held in place; a larger one points into an arena.
// Thread: values are immutable; the arena is the caller's.
#ifndef WEIR_RUNTIME_TYPES_NUMERIC_H
#define WEIR_RUNTIME_TYPES_NUMERIC_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

enum weir_numeric_kind {
    WEIR_NUMERIC_SMALL = 0, // value = small / 10^scale, |small| < 10^18
    WEIR_NUMERIC_BIG = 1,   // value = *big / 10^scale, |*big| >= 10^18 (canonical: never smaller)
    WEIR_NUMERIC_NAN = 2,
    WEIR_NUMERIC_INFINITY = 3,
    WEIR_NUMERIC_MINUS_INFINITY = 4,
};

struct weir_numeric_big; // GMP limbs, private to numeric.c

struct weir_numeric {
    union {
        int64_t small;
        const struct weir_numeric_big *big;
    };
    uint16_t scale; // digits behind the point that are shown (dscale)
    uint8_t kind;   // enum weir_numeric_kind
};

#endif
