// SPDX-License-Identifier: Apache-2.0
// How long a start took, phase by phase, for the log line that says so. Thread: one at a time.
#ifndef WEIR_APP_PHASES_H
#define WEIR_APP_PHASES_H

#include "runtime/base/clock.h"
#include "runtime/base/memory.h"

enum { WEIR_PHASES_MAX = 12 };

struct weir_phases {
    const struct weir_clock *clock;
    int64_t began_ms; // monotonic
    int64_t last_ms;
    uint32_t count;
    struct {
        const char *name; // lives as long as the process
        int64_t ms;
    } items[WEIR_PHASES_MAX];
};

// The first phase begins now; what was noted before is forgotten.
void weir_phases_begin(struct weir_phases *phases, const struct weir_clock *clock);

// What went on since the last call, or since the beginning, was this.
void weir_phases_note(struct weir_phases *phases, const char *name);

// "412 ms: brokers 120, fencing 80, …", of what was noted.
void weir_phases_describe(const struct weir_phases *phases, struct weir_buffer *text);

#endif
