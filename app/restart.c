// SPDX-License-Identifier: Apache-2.0
// See restart.h. Jitter, because two instances that fence each other in step would never stop.
#include "app/restart.h"

enum {
    HEALTHY_MS = 10000,
    HEALTHY_COMMIT_COUNT = 3,
};

void weir_restart_note_life(struct weir_restart *restart, int64_t life_ms, int64_t committed_count)
{
    if (life_ms >= HEALTHY_MS && committed_count >= HEALTHY_COMMIT_COUNT) {
        restart->attempt_count = 0;
    }
}

bool weir_restart_next(struct weir_restart *restart, uint32_t random, int64_t *pause_ms)
{
    if (restart->attempt_count >= restart->attempts_max) {
        return false;
    }
    int64_t pause = restart->backoff_ms;
    for (uint32_t i = 0; i < restart->attempt_count && pause < restart->backoff_max_ms; i++) {
        pause *= 2;
    }
    pause = pause > restart->backoff_max_ms ? restart->backoff_max_ms : pause;
    restart->attempt_count++;
    *pause_ms = pause / 2 + (pause > 0 ? (int64_t)(random % (uint32_t)(pause + 1)) : 0);
    return true;
}
