// SPDX-License-Identifier: Apache-2.0
// The one source of chance of a run (splitmix64): a seed is a run. Thread: there is one.
#ifndef WEIR_TESTS_SIM_RANDOM_H
#define WEIR_TESTS_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

void sim_random_seed(uint64_t seed);
uint64_t sim_random(void);

// 0 to bound - 1.
static inline uint32_t sim_below(uint32_t bound)
{
    return (uint32_t)(sim_random() % bound);
}

// True once in `times`.
static inline bool sim_one_in(uint32_t times)
{
    return sim_below(times) == 0;
}

// Between low and high, small ones as often as large ones: what takes 1 ms mostly and 1 s at times.
int64_t sim_spread(int64_t low, int64_t high);

#endif
