// SPDX-License-Identifier: Apache-2.0
// The shortest decimal that reads back as the same float, and of those the closest one. As in
// PostgreSQL, a decimal that lies exactly between two floats does not count as reading back.
// Internal to this folder. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_SHORTEST_H
#define WEIR_RUNTIME_TYPES_SHORTEST_H

#include <stdint.h>

struct weir_decimal {
    uint64_t digits;  // without zeros at the end; at most 17 digits
    int32_t exponent; // value = digits * 10^exponent
};

// Finite and greater than zero.
struct weir_decimal weir_shortest_of_double(double value);
struct weir_decimal weir_shortest_of_float(float value);

#endif
