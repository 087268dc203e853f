// SPDX-License-Identifier: Apache-2.0
// Does the wall clock go back? librdkafka's threads wait until a time by the wall clock; set back
// by an hour, what they wait for comes an hour late, and a job that reads nothing looks healthy.
#ifndef WEIR_APP_WALL_CLOCK_H
#define WEIR_APP_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct weir_wall_clock {
    bool has_last;
    int64_t ahead_ms; // of the monotonic clock, at the last look
};

// How far it went back since the last look, as the monotonic clock tells; 0: less than what
// matters, or this is the first look.
int64_t weir_wall_clock_went_back_ms(struct weir_wall_clock *clock, int64_t monotonic_ms,
                                     int64_t wall_ms);

#endif
