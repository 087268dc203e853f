// SPDX-License-Identifier: Apache-2.0
// See pending.h.
#include "runtime/pending.h"

#include "runtime/base/clock.h"
#include "runtime/coordinator.h"

#include <stdlib.h>

const char *weir_acknowledgement_name(enum weir_acknowledgement acknowledgement)
{
    switch (acknowledgement) {
    case WEIR_ACKNOWLEDGEMENT_SUCCESS:
        return "success";
    case WEIR_ACKNOWLEDGEMENT_DUPLICATE:
        return "duplicate";
    case WEIR_ACKNOWLEDGEMENT_UNKNOWN:
        return "unknown";
    case WEIR_ACKNOWLEDGEMENT_LATE:
        return "late";
    case WEIR_ACKNOWLEDGEMENT_COUNT:
        break;
    }
    WEIR_ASSERT(!"unreachable");
}

static void pending_deinit(struct weir_pending *pending, uint32_t task_count, const char *text)
{
    for (uint32_t i = 0; pending->snapshots != NULL && i < task_count; i++) {
        weir_snapshot_destroy(pending->snapshots[i]);
    }
    free(pending->snapshots);
    weir_request_list_fail(&pending->requests, text);
}

void weir_pending_list_deinit(struct weir_pending_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        pending_deinit(&list->items[i], list->task_count, WEIR_LIFE_IS_OVER);
    }
    list->count = 0;
}

struct weir_pending *weir_pending_list_add(struct weir_pending_list *list,
                                           const struct weir_barrier *barrier, int64_t now_ms)
{
    WEIR_ASSERT(list->count < WEIR_CHECKPOINTS_CONCURRENT_MAX);
    struct weir_pending *pending = &list->items[list->count++];
    *pending = (struct weir_pending){
        .barrier = *barrier,
        .triggered_ms = now_ms,
        .event = {.number = barrier->number,
                  .type = barrier->type,
                  .timestamp_ms = barrier->timestamp_ms,
                  .triggered_us = weir_monotonic_us()},
        .snapshots = weir_alloc_zero(list->task_count * sizeof *pending->snapshots),
    };
    return pending;
}

struct weir_pending *weir_pending_list_find(struct weir_pending_list *list, int64_t number)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].barrier.number == number) {
            return &list->items[i];
        }
    }
    return NULL;
}

void weir_pending_list_remove(struct weir_pending_list *list, struct weir_pending *pending,
                              const char *text)
{
    size_t idx = (size_t)(pending - list->items);
    WEIR_ASSERT(idx < list->count);
    pending_deinit(pending, list->task_count, text);
    list->count--;
    memmove(pending, pending + 1, (list->count - idx) * sizeof *pending);
}

enum weir_acknowledgement weir_pending_list_acknowledge(struct weir_pending_list *list,
                                                        struct weir_snapshot *snapshot,
                                                        int64_t next_number)
{
    struct weir_pending *pending = weir_pending_list_find(list, snapshot->barrier.number);
    WEIR_ASSERT(snapshot->task_idx < list->task_count);
    enum weir_acknowledgement found = WEIR_ACKNOWLEDGEMENT_SUCCESS;
    if (pending == NULL) {
        found = snapshot->barrier.number < next_number ? WEIR_ACKNOWLEDGEMENT_LATE
                                                       : WEIR_ACKNOWLEDGEMENT_UNKNOWN;
    } else if (pending->state != WEIR_PENDING_COLLECTING ||
               pending->snapshots[snapshot->task_idx] != NULL) {
        found = WEIR_ACKNOWLEDGEMENT_DUPLICATE;
    }
    if (found != WEIR_ACKNOWLEDGEMENT_SUCCESS) {
        weir_snapshot_destroy(snapshot);
        return found;
    }
    pending->snapshots[snapshot->task_idx] = snapshot;
    pending->acknowledged_count++;
    return WEIR_ACKNOWLEDGEMENT_SUCCESS;
}

bool weir_pending_is_complete(const struct weir_pending_list *list,
                              const struct weir_pending *pending)
{
    return pending->acknowledged_count == list->task_count;
}

struct weir_completed *weir_pending_hand_on(struct weir_pending_list *list,
                                            struct weir_pending *pending, int64_t now_ms)
{
    WEIR_ASSERT(pending->state == WEIR_PENDING_COLLECTING &&
                weir_pending_is_complete(list, pending));
    struct weir_completed *completed = weir_alloc_zero(sizeof *completed);
    completed->barrier = pending->barrier;
    completed->triggered_ms = pending->triggered_ms;
    completed->snapshot_count = list->task_count;
    completed->snapshots = pending->snapshots;
    pending->snapshots = NULL;
    pending->state = WEIR_PENDING_COMMITTING;
    pending->handed_ms = now_ms;
    pending->event.handed_us = weir_monotonic_us();
    return completed;
}
