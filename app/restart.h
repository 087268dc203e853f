// SPDX-License-Identifier: Apache-2.0
// The restart strategy: how often and after what pause a job that failed is recovered in the same
// process. Pure, but for the random number handed in.
#ifndef WEIR_APP_RESTART_H
#define WEIR_APP_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct weir_restart {
    uint32_t attempts_max;
    int64_t backoff_ms;     // before the first restart; doubles
    int64_t backoff_max_ms;
    uint32_t attempt_count; // since the last healthy period
};

// A life that ended in failure: was it healthy (then the count begins anew)?
void weir_restart_note_life(struct weir_restart *restart, int64_t life_ms,
                            int64_t committed_count);

// False: no attempt is left. Else *pause_ms, jittered by ±50 % with `random` (any value).
bool weir_restart_next(struct weir_restart *restart, uint32_t random, int64_t *pause_ms);

#endif
