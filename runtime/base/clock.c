// SPDX-License-Identifier: Apache-2.0
// The system's clocks.
#include "runtime/base/clock.h"

#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t monotonic_ms(const struct weir_clock *clock)
{
    (void)clock;
    return read_ms(CLOCK_MONOTONIC);
}

int64_t weir_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t weir_thread_cpu_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

static int64_t wall_ms(const struct weir_clock *clock)
{
    (void)clock;
    return read_ms(CLOCK_REALTIME);
}

const struct weir_clock weir_system_clock = {.monotonic_ms = monotonic_ms, .wall_ms = wall_ms};
