// SPDX-License-Identifier: Apache-2.0
// Time, injected: the engine asks a struct weir_clock, so that tests and the simulator own time.
#ifndef WEIR_RUNTIME_BASE_CLOCK_H
#define WEIR_RUNTIME_BASE_CLOCK_H

#include <stdint.h>

struct weir_clock {
    int64_t (*monotonic_ms)(const struct weir_clock *clock); // never goes back
    int64_t (*wall_ms)(const struct weir_clock *clock);      // since 1970-01-01 UTC
};

extern const struct weir_clock weir_system_clock;

static inline int64_t weir_now_ms(const struct weir_clock *clock)
{
    return clock->monotonic_ms(clock);
}

// For measuring how long things take, where nothing is decided by it: the system's clock.
int64_t weir_monotonic_us(void);
int64_t weir_thread_cpu_us(void); // that the calling thread has used

static inline int64_t weir_wall_ms(const struct weir_clock *clock)
{
    return clock->wall_ms(clock);
}

#endif
