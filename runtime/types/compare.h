// SPDX-License-Identifier: Apache-2.0
// Order and equality of two values of one type, as PostgreSQL's default btree order has them: NaN
// is equal to itself and greater than every number, -0 = 0, text by bytes (collation C), false
// before true, composites field by field with NULL last. Thread: any; no allocation.
#ifndef WEIR_RUNTIME_TYPES_COMPARE_H
#define WEIR_RUNTIME_TYPES_COMPARE_H

#include "runtime/base/view.h"
#include "runtime/batch.h"

#include <stdbool.h>
#include <stdint.h>

// -1, 0, 1 for a[row_a] against b[row_b]: both valid, both of one kind (modifiers do not count).
typedef int (*weir_compare_fn)(const struct weir_column *a, uint32_t row_a,
                               const struct weir_column *b, uint32_t row_b);
weir_compare_fn weir_compare_function(enum weir_type_kind kind);

// The same for any rows: NULL is greater than every value and equal to NULL (ORDER BY, GROUP BY,
// IS NOT DISTINCT FROM; the operators = and < have to look at NULLs themselves).
int weir_compare_values(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                        uint32_t row_b);

static inline int weir_compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static inline int weir_compare_double(double a, double b)
{
    if (__builtin_expect(a != a || b != b, 0)) {
        return (a != a) - (b != b);
    }
    return (a > b) - (a < b);
}

// By unsigned bytes, the shorter first where one is the beginning of the other.
static inline int weir_compare_view(struct weir_view a, struct weir_view b)
{
    size_t common_bytes = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common_bytes != 0 ? memcmp(a.data, b.data, common_bytes) : 0;
    if (order != 0) {
        return order < 0 ? -1 : 1;
    }
    return (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

#endif
