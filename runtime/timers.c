// SPDX-License-Identifier: Apache-2.0
// See timers.h. A timer is stored under its time, in bytes that keep the order, and its key.
#include "runtime/timers.h"

#include "runtime/base/assert.h"
#include "runtime/state_scan.h"

#include <stdlib.h>

enum { TIME_BYTES = 8, AT_ONCE = 512 }; // timers that are looked at together

struct weir_timers {
    struct weir_state *state;
    struct weir_key_group_range key_groups;
    struct weir_buffer key;  // scratch
    struct weir_buffer from; // of the scan under way
    struct weir_buffer to;
    struct weir_state_scan found;
    int64_t earliest_us[WEIR_KEY_GROUP_COUNT]; // of the group there is none before
    // While they are visited: up to when; the earliest one of these that was added meanwhile, or
    // left by its visit.
    int64_t firing_us;
    int64_t added_us;
    int64_t left_us;
};

struct weir_timers *weir_timers_create(struct weir_state_store *store, const char *operator_id,
                                       const char *name, struct weir_key_group_range key_groups)
{
    struct weir_timers *timers = weir_alloc_zero(sizeof *timers);
    timers->state = store->ops->open_state(store, operator_id, name);
    timers->key_groups = key_groups;
    timers->firing_us = INT64_MIN;
    for (uint32_t i = 0; i < WEIR_KEY_GROUP_COUNT; i++) {
        timers->earliest_us[i] = INT64_MIN; // not known
    }
    return timers;
}

void weir_timers_destroy(struct weir_timers *timers)
{
    if (timers != NULL) {
        weir_buffer_deinit(&timers->key);
        weir_buffer_deinit(&timers->from);
        weir_buffer_deinit(&timers->to);
        weir_state_scan_deinit(&timers->found);
        free(timers);
    }
}

// With the sign turned, highest byte first.
static void put_time(struct weir_buffer *out, int64_t time_us)
{
    out->size_bytes = 0;
    weir_buffer_append_big_endian(out, (uint64_t)time_us ^ (UINT64_C(1) << 63), TIME_BYTES);
}

static int64_t get_time(const char *bytes)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < TIME_BYTES; i++) {
        bits = bits << 8 | (uint8_t)bytes[i];
    }
    return (int64_t)(bits ^ (UINT64_C(1) << 63));
}

static struct weir_state_key compose(struct weir_timers *timers, const struct weir_state_key *key,
                                     int64_t time_us)
{
    put_time(&timers->key, time_us);
    weir_buffer_append(&timers->key, key->bytes.data, key->bytes.size_bytes);
    return (struct weir_state_key){.key_group = key->key_group,
                                   .bytes = weir_buffer_view(&timers->key)};
}

void weir_timers_add(struct weir_timers *timers, const struct weir_state_key *key, int64_t time_us)
{
    struct weir_state_key stored = compose(timers, key, time_us);
    bool existed;
    timers->state->ops->update(timers->state, &stored, 0, &existed);
    int64_t *earliest_us = &timers->earliest_us[key->key_group];
    *earliest_us = time_us < *earliest_us ? time_us : *earliest_us;
    if (time_us <= timers->firing_us && time_us < timers->added_us) {
        timers->added_us = time_us;
    }
}

void weir_timers_remove(struct weir_timers *timers, const struct weir_state_key *key,
                        int64_t time_us)
{
    struct weir_state_key stored = compose(timers, key, time_us);
    timers->state->ops->remove(timers->state, &stored);
}

// From timers->from on.
static void scan(struct weir_timers *timers, uint16_t key_group, struct weir_view to,
                 uint32_t count_max)
{
    weir_state_scan_run(&timers->found, timers->state, key_group, weir_buffer_view(&timers->from),
                        to, count_max);
}

// Visits what was found, and lets the next scan begin behind it.
static void visit_found(struct weir_timers *timers, weir_timer_fn *visit, void *context)
{
    uint32_t count = weir_state_scan_count(&timers->found);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_state_key stored = weir_state_scan_key(&timers->found, i);
        int64_t time_us = get_time(stored.bytes.data);
        struct weir_state_key key = {.key_group = stored.key_group,
                                     .bytes = {.data = stored.bytes.data + TIME_BYTES,
                                               .size_bytes = stored.bytes.size_bytes - TIME_BYTES}};
        if (visit(context, &key, time_us)) {
            timers->state->ops->remove(timers->state, &stored);
        } else if (time_us < timers->left_us) {
            timers->left_us = time_us;
        }
    }
    if (count != 0) {
        struct weir_view last = weir_state_scan_key(&timers->found, count - 1).bytes;
        timers->from.size_bytes = 0;
        weir_buffer_append(&timers->from, last.data, last.size_bytes);
        weir_buffer_append_char(&timers->from, '\0');
    }
}

// The time of the first timer at from_us or later; INT64_MAX: there is none.
static int64_t first_from(struct weir_timers *timers, uint16_t key_group, int64_t from_us)
{
    put_time(&timers->from, from_us);
    scan(timers, key_group, (struct weir_view){0}, 1);
    return weir_state_scan_count(&timers->found) != 0
               ? get_time(weir_state_scan_key(&timers->found, 0).bytes.data)
               : INT64_MAX;
}

uint32_t weir_timers_fire_group(struct weir_timers *timers, uint16_t key_group, int64_t after_us,
                                int64_t up_to_us, weir_timer_fn *visit, void *context)
{
    WEIR_ASSERT(up_to_us < INT64_MAX);
    int64_t *earliest_us = &timers->earliest_us[key_group];
    uint32_t count = 0;
    if (*earliest_us > up_to_us || after_us >= up_to_us) {
        return 0;
    }
    bool is_from_the_first = after_us < *earliest_us || after_us == INT64_MIN;
    timers->firing_us = up_to_us;
    timers->left_us = INT64_MAX;
    timers->added_us = after_us == INT64_MIN ? INT64_MIN : after_us + 1; // all that there are
    while (timers->added_us != INT64_MAX) {
        put_time(&timers->from, timers->added_us);
        timers->added_us = INT64_MAX;
        do {
            put_time(&timers->to, up_to_us + 1);
            scan(timers, key_group, weir_buffer_view(&timers->to), AT_ONCE);
            count += weir_state_scan_count(&timers->found);
            visit_found(timers, visit, context);
        } while (weir_state_scan_count(&timers->found) == AT_ONCE);
    }
    timers->firing_us = INT64_MIN;
    if (is_from_the_first) {
        int64_t next_us = first_from(timers, key_group, up_to_us + 1);
        *earliest_us = timers->left_us < next_us ? timers->left_us : next_us;
    }
    return count;
}

void weir_timers_fire(struct weir_timers *timers, int64_t up_to_us, weir_timer_fn *visit,
                      void *context)
{
    for (uint32_t i = 0; i < timers->key_groups.count; i++) {
        weir_timers_fire_group(timers, (uint16_t)(timers->key_groups.first + i), INT64_MIN,
                               up_to_us, visit, context);
    }
}
