// SPDX-License-Identifier: Apache-2.0
// See phases.h.
#include "app/phases.h"

#include "runtime/base/assert.h"

#include <inttypes.h>

void weir_phases_begin(struct weir_phases *phases, const struct weir_clock *clock)
{
    int64_t now_ms = weir_now_ms(clock);
    *phases = (struct weir_phases){.clock = clock, .began_ms = now_ms, .last_ms = now_ms};
}

void weir_phases_note(struct weir_phases *phases, const char *name)
{
    WEIR_ASSERT(phases->count < WEIR_PHASES_MAX);
    int64_t now_ms = weir_now_ms(phases->clock);
    phases->items[phases->count].name = name;
    phases->items[phases->count++].ms = now_ms - phases->last_ms;
    phases->last_ms = now_ms;
}

void weir_phases_describe(const struct weir_phases *phases, struct weir_buffer *text)
{
    weir_buffer_printf(text, "%" PRId64 " ms", phases->last_ms - phases->began_ms);
    for (uint32_t i = 0; i < phases->count; i++) {
        weir_buffer_printf(text, "%s %s %" PRId64, i == 0 ? ":" : ",", phases->items[i].name,
                           phases->items[i].ms);
    }
}
