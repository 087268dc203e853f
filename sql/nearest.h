// SPDX-License-Identifier: Apache-2.0
// The known name that is nearest to one that nobody knows ("did you mean"). Thread: any.
#ifndef WEIR_SQL_NEAREST_H
#define WEIR_SQL_NEAREST_H

#include <stdint.h>

struct weir_nearest {
    const char *wanted;
    const char *best;
    uint32_t best_distance;
};

static inline struct weir_nearest weir_nearest_start(const char *wanted)
{
    return (struct weir_nearest){.wanted = wanted, .best = (void *)0, .best_distance = UINT32_MAX};
}

// One of the known names; it is kept by pointer. The first of several equally near ones stays.
void weir_nearest_offer(struct weir_nearest *nearest, const char *known);

// Insertions, deletions, changes and swaps of neighbours that make b of a; case does not count.
uint32_t weir_nearest_distance(const char *a, const char *b);

#endif
