// SPDX-License-Identifier: Apache-2.0
// Windows of event time: the watermark node that keeps each partition's time, and the node that
// puts rows into windows and sets late ones aside. Both belong before the exchange, where a row
// still knows its record.
#ifndef WEIR_OPERATORS_WINDOW_H
#define WEIR_OPERATORS_WINDOW_H

#include "runtime/operator.h"

struct weir_tumble {
    int64_t size_us;   // above 0
    int64_t origin_us; // any point of the grid, µs since 2000-01-01 UTC
};

// The start of the window that holds the time: at or before it, also before the origin.
int64_t weir_tumble_start_us(const struct weir_tumble *window, int64_t time_us);

// Late for a window: one rule for every operator. partition_time_us: the largest event time before
// the row in its partition (INT64_MIN: none); end_us: of the row's last window.
static inline bool weir_is_late(int64_t end_us, int64_t partition_time_us, int64_t delay_us)
{
    return partition_time_us != INT64_MIN && end_us <= partition_time_us - delay_us;
}

struct weir_tumble_config {
    const struct weir_schema *output; // the input's columns, then window_start and window_end
    struct weir_tumble window;
    int64_t delay_us;
};

// Sends late rows to the row policy with reason late.
struct weir_operator *weir_tumble_create(const char *id, const char *name,
                                         const struct weir_tumble_config *config);

#endif
