// SPDX-License-Identifier: Apache-2.0
// See wall_clock.h.
#include "app/wall_clock.h"

enum { BACK_MS_MIN = 2000 }; // less is a delay like others

int64_t weir_wall_clock_went_back_ms(struct weir_wall_clock *clock, int64_t monotonic_ms,
                                     int64_t wall_ms)
{
    int64_t ahead_ms = wall_ms - monotonic_ms;
    int64_t back_ms = clock->has_last ? clock->ahead_ms - ahead_ms : 0;
    clock->has_last = true;
    clock->ahead_ms = ahead_ms;
    return back_ms >= BACK_MS_MIN ? back_ms : 0;
}
