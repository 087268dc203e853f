// SPDX-License-Identifier: Apache-2.0
// Hashes of values, consistent with equality as compare.h has it: -0 and 0, all NaNs, 2.0 and 2.00
// fall together. They decide key groups and are part of stored state: the functions never change.
// XXH3 with 64 bits for bytes, a fixed mixer for numbers. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_HASH_H
#define WEIR_RUNTIME_TYPES_HASH_H

#include "runtime/base/view.h"
#include "runtime/batch.h"

#include <stdint.h>

uint64_t weir_hash_bytes(const void *data, size_t size_bytes);

// A bijection of 64 bits (the finaliser of SplitMix64).
static inline uint64_t weir_hash_mix(uint64_t bits)
{
    bits += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

// A number of any integer type; also dates and timestamps. 1::smallint and 1::bigint are alike.
static inline uint64_t weir_hash_i64(int64_t value)
{
    return weir_hash_mix((uint64_t)value);
}

// real goes through its exact value as a double: 0.5::real and 0.5::double precision are alike.
uint64_t weir_hash_double(double value);

// Of several values in order: start with WEIR_HASH_START, then weir_hash_combine(hash, next).
#define WEIR_HASH_START UINT64_C(0x2545f4914f6cdd1d)
static inline uint64_t weir_hash_combine(uint64_t hash, uint64_t next)
{
    return weir_hash_mix(hash ^ next) + (hash << 6);
}

// What stands for NULL in a combined hash.
#define WEIR_HASH_NULL UINT64_C(0x6e756c6c6e756c6c)

// column[row], which must be valid.
typedef uint64_t (*weir_hash_fn)(const struct weir_column *column, uint32_t row);
weir_hash_fn weir_hash_function(enum weir_type_kind kind);

// Any row.
static inline uint64_t weir_hash_value(const struct weir_column *column, uint32_t row)
{
    return weir_column_is_valid(column, row) ? weir_hash_function(column->type.kind)(column, row)
                                             : WEIR_HASH_NULL;
}

#endif
