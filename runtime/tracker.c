// SPDX-License-Identifier: Apache-2.0
// See tracker.h.
#include "runtime/tracker.h"

#include <stdlib.h>

struct tracked {
    struct weir_barrier barrier;
    int64_t began_ms;
};

struct weir_tracker {
    uint32_t channel_count;
    int64_t *delivered; // by channel: the number of its last barrier; INT64_MAX: it has ended
    uint32_t count;
    struct tracked tracked[WEIR_TRACKED_MAX]; // by number
    int64_t done_number;                      // what is not newer does not pass any more
    struct weir_barrier passed;
    int64_t duration_ms;
};

struct weir_tracker *weir_tracker_create(uint32_t channel_count)
{
    WEIR_ASSERT(channel_count > 0);
    struct weir_tracker *tracker = weir_alloc_zero(sizeof *tracker);
    tracker->channel_count = channel_count;
    tracker->delivered = weir_alloc(channel_count * sizeof *tracker->delivered);
    for (uint32_t i = 0; i < channel_count; i++) {
        tracker->delivered[i] = INT64_MIN;
    }
    tracker->done_number = INT64_MIN;
    return tracker;
}

void weir_tracker_destroy(struct weir_tracker *tracker)
{
    if (tracker != NULL) {
        free(tracker->delivered);
        free(tracker);
    }
}

static void forget(struct weir_tracker *tracker, uint32_t idx)
{
    tracker->count--;
    memmove(&tracker->tracked[idx], &tracker->tracked[idx + 1],
            (tracker->count - idx) * sizeof tracker->tracked[0]);
}

static bool is_complete(const struct weir_tracker *tracker, int64_t number)
{
    for (uint32_t i = 0; i < tracker->channel_count; i++) {
        if (tracker->delivered[i] < number) {
            return false;
        }
    }
    return true;
}

// The newest one that is complete passes.
static bool pass(struct weir_tracker *tracker, int64_t now_ms)
{
    for (uint32_t i = tracker->count; i > 0; i--) {
        const struct tracked *tracked = &tracker->tracked[i - 1];
        if (is_complete(tracker, tracked->barrier.number)) {
            tracker->passed = tracked->barrier;
            tracker->duration_ms = now_ms - tracked->began_ms;
            tracker->done_number = tracked->barrier.number;
            tracker->count -= i;
            memmove(&tracker->tracked[0], &tracker->tracked[i],
                    tracker->count * sizeof tracker->tracked[0]);
            return true;
        }
    }
    return false;
}

static void remember(struct weir_tracker *tracker, const struct weir_barrier *barrier,
                     int64_t now_ms)
{
    uint32_t at = tracker->count;
    while (at > 0 && tracker->tracked[at - 1].barrier.number >= barrier->number) {
        at--;
    }
    if (at < tracker->count && tracker->tracked[at].barrier.number == barrier->number) {
        return;
    }
    if (tracker->count == WEIR_TRACKED_MAX) {
        if (at == 0) {
            return; // older than all that are remembered
        }
        forget(tracker, 0);
        at--;
    }
    memmove(&tracker->tracked[at + 1], &tracker->tracked[at],
            (tracker->count - at) * sizeof tracker->tracked[0]);
    tracker->tracked[at] = (struct tracked){.barrier = *barrier, .began_ms = now_ms};
    tracker->count++;
}

bool weir_tracker_on_barrier(struct weir_tracker *tracker, uint32_t channel_idx,
                             const struct weir_barrier *barrier, int64_t now_ms)
{
    WEIR_ASSERT(barrier->number > tracker->delivered[channel_idx] &&
                tracker->delivered[channel_idx] != INT64_MAX);
    tracker->delivered[channel_idx] = barrier->number;
    if (barrier->number <= tracker->done_number) {
        return false;
    }
    remember(tracker, barrier, now_ms);
    return pass(tracker, now_ms);
}

bool weir_tracker_on_end(struct weir_tracker *tracker, uint32_t channel_idx, int64_t now_ms)
{
    WEIR_ASSERT(tracker->delivered[channel_idx] != INT64_MAX);
    tracker->delivered[channel_idx] = INT64_MAX;
    return pass(tracker, now_ms);
}

void weir_tracker_on_cancel(struct weir_tracker *tracker, int64_t number)
{
    if (number > tracker->done_number) {
        tracker->done_number = number;
    }
    while (tracker->count > 0 && tracker->tracked[0].barrier.number <= number) {
        forget(tracker, 0);
    }
}

uint32_t weir_tracker_count(const struct weir_tracker *tracker)
{
    return tracker->count;
}

const struct weir_barrier *weir_tracker_barrier(const struct weir_tracker *tracker)
{
    return &tracker->passed;
}

int64_t weir_tracker_duration_ms(const struct weir_tracker *tracker)
{
    return tracker->duration_ms;
}
