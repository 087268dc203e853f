// SPDX-License-Identifier: Apache-2.0
// Distance of names (nearest.h): Damerau's, in the form that never edits a swapped pair again.
#include "sql/nearest.h"

#include <ctype.h>
#include <string.h>

enum { NAME_BYTES_MAX = 64 }; // longer names are compared by their beginnings

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t weir_nearest_distance(const char *a, const char *b)
{
    uint32_t rows[3][NAME_BYTES_MAX + 1];
    size_t a_bytes = strnlen(a, NAME_BYTES_MAX);
    size_t b_bytes = strnlen(b, NAME_BYTES_MAX);
    for (uint32_t j = 0; j <= b_bytes; j++) {
        rows[0][j] = j;
    }
    for (uint32_t i = 1; i <= a_bytes; i++) {
        uint32_t *now = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3];
        const uint32_t *above_that = rows[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= b_bytes; j++) {
            int here_a = tolower((unsigned char)a[i - 1]);
            int here_b = tolower((unsigned char)b[j - 1]);
            now[j] = least(least(above[j] + 1, now[j - 1] + 1), above[j - 1] + (here_a != here_b));
            if (i > 1 && j > 1 && here_a == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == here_b) {
                now[j] = least(now[j], above_that[j - 2] + 1);
            }
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

void weir_nearest_offer(struct weir_nearest *nearest, const char *known)
{
    size_t wanted_bytes = strlen(nearest->wanted);
    uint32_t distance = weir_nearest_distance(nearest->wanted, known);
    // A third of the name may be wrong; of the shortest names nothing but the case.
    uint32_t distance_max = wanted_bytes == 4 ? 1 : (uint32_t)(wanted_bytes / 3);
    if (distance <= distance_max && distance < nearest->best_distance) {
        nearest->best = known;
        nearest->best_distance = distance;
    }
}
