// SPDX-License-Identifier: Apache-2.0
// See random.h.
#include "tests/sim/random.h"

static uint64_t state;

void sim_random_seed(uint64_t seed)
{
    state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    sim_random();
}

uint64_t sim_random(void)
{
    uint64_t mixed = state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

int64_t sim_spread(int64_t low, int64_t high)
{
    int doublings = 0;
    for (int64_t reach = low > 0 ? low : 1; reach < high; reach *= 2) {
        doublings++;
    }
    int64_t top = (low > 0 ? low : 1) << (doublings > 0 ? sim_below((uint32_t)doublings + 1) : 0);
    top = top > high ? high : top;
    return top <= low ? low : low + (int64_t)(sim_random() % (uint64_t)(top - low + 1));
}
