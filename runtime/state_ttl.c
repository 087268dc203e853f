// SPDX-License-Identifier: Apache-2.0
// See state_ttl.h. Each key that is there has one entry in "ttl" and one timer. The timer is not
// moved when the key is touched: it looks at the entry when it is due, and goes on to the time that
// stands there. So a key costs one timer a ttl, not one a row.
//
// Invariants
// 1. A key has an entry if and only if it has a timer, not later than its entry's time + ttl_us,
//    saturated.
// 2. In one epoch each timer is looked at once: those of keys that were touched in it stay, and
//    checked_us says behind them.
#include "runtime/state_ttl.h"

#include "runtime/base/assert.h"
#include "runtime/timers.h"

#include <stdlib.h>

enum { TOUCH_MAX = 1024 };

struct entry {
    int64_t last_us; // the latest time of its rows
    int64_t epoch;   // in which it was last touched
};

struct weir_state_ttl {
    struct weir_state_ttl_config config;
    struct weir_state *entries;
    struct weir_timers *timers;
    int64_t epoch;
    int64_t checked_us[WEIR_KEY_GROUP_COUNT]; // timers up to here were looked at in this epoch
    uint32_t next_group_idx;                  // where the next sweep begins
    struct weir_state_room rooms[TOUCH_MAX];
    bool is_new[TOUCH_MAX];
    // Of the sweep under way.
    int64_t watermark_us;
    void (*forget)(void *context, const struct weir_state_key *key);
    void *context;
};

struct weir_state_ttl *weir_state_ttl_create(const struct weir_state_ttl_config *config)
{
    WEIR_ASSERT(config->ttl_us > 0);
    struct weir_state_ttl *ttl = weir_alloc_zero(sizeof *ttl);
    ttl->config = *config;
    ttl->entries = config->store->ops->open_state(config->store, config->operator_id, "ttl");
    ttl->timers =
        weir_timers_create(config->store, config->operator_id, "ttl timers", config->key_groups);
    ttl->epoch = config->first_epoch;
    for (uint32_t i = 0; i < WEIR_KEY_GROUP_COUNT; i++) {
        ttl->checked_us[i] = INT64_MIN;
    }
    return ttl;
}

void weir_state_ttl_destroy(struct weir_state_ttl *ttl)
{
    if (ttl != NULL) {
        weir_timers_destroy(ttl->timers);
        free(ttl);
    }
}

// From when on what was last touched at last_us is forgotten.
static int64_t end_of(const struct weir_state_ttl *ttl, int64_t last_us)
{
    return last_us > INT64_MAX - 1 - ttl->config.ttl_us ? INT64_MAX - 1
                                                        : last_us + ttl->config.ttl_us;
}

static void touch_some(struct weir_state_ttl *ttl, uint32_t count,
                       const struct weir_state_key *keys, const int64_t *times_us, bool *is_expired)
{
    ttl->entries->ops->update_many(ttl->entries, count, keys, sizeof(struct entry), ttl->rooms);
    for (uint32_t i = 0; i < count; i++) {
        struct entry *entry = ttl->rooms[i].value;
        bool existed = ttl->rooms[i].existed;
        ttl->is_new[i] = !existed;
        is_expired[i] = existed && times_us[i] >= end_of(ttl, entry->last_us);
        entry->last_us = existed && entry->last_us > times_us[i] ? entry->last_us : times_us[i];
        entry->epoch = ttl->epoch;
    }
    for (uint32_t i = 0; i < count; i++) { // the rooms are gone from here on
        if (ttl->is_new[i]) {
            weir_timers_add(ttl->timers, &keys[i], end_of(ttl, times_us[i]));
        }
    }
}

void weir_state_ttl_touch(struct weir_state_ttl *ttl, uint32_t count,
                          const struct weir_state_key *keys, const int64_t *times_us,
                          bool *is_expired)
{
    for (uint32_t done = 0; done < count;) {
        uint32_t some = count - done < TOUCH_MAX ? count - done : TOUCH_MAX;
        touch_some(ttl, some, keys + done, times_us + done, is_expired + done);
        done += some;
    }
}

static bool get_entry(struct weir_state_ttl *ttl, const struct weir_state_key *key,
                      struct entry *entry)
{
    struct weir_view value;
    if (!ttl->entries->ops->get(ttl->entries, key, &value)) {
        return false;
    }
    WEIR_ASSERT(value.size_bytes == sizeof *entry);
    memcpy(entry, value.data, sizeof *entry);
    return true;
}

bool weir_state_ttl_is_alive(struct weir_state_ttl *ttl, const struct weir_state_key *key,
                             int64_t time_us)
{
    struct entry entry;
    return get_entry(ttl, key, &entry) && time_us < end_of(ttl, entry.last_us);
}

static bool on_timer(void *context, const struct weir_state_key *key, int64_t time_us)
{
    struct weir_state_ttl *ttl = context;
    struct entry entry;
    if (!get_entry(ttl, key, &entry)) {
        return true; // a read that failed: the store has failed with it
    }
    int64_t end_us = end_of(ttl, entry.last_us);
    WEIR_DASSERT(time_us <= end_us);
    if (end_us > ttl->watermark_us) {
        weir_timers_add(ttl->timers, key, end_us);
        return true;
    }
    if (entry.epoch == ttl->epoch) {
        return false;
    }
    ttl->entries->ops->remove(ttl->entries, key);
    ttl->forget(ttl->context, key);
    return true;
}

void weir_state_ttl_sweep(struct weir_state_ttl *ttl, int64_t watermark_us, uint32_t count_max,
                          void (*forget)(void *context, const struct weir_state_key *key),
                          void *context)
{
    if (watermark_us == INT64_MAX || watermark_us == INT64_MIN) {
        return;
    }
    ttl->watermark_us = watermark_us;
    ttl->forget = forget;
    ttl->context = context;
    uint32_t group_count = ttl->config.key_groups.count;
    uint32_t seen_count = 0;
    for (uint32_t i = 0; i < group_count && seen_count < count_max; i++) {
        uint16_t group = (uint16_t)(ttl->config.key_groups.first + ttl->next_group_idx);
        int64_t *checked_us = &ttl->checked_us[group];
        if (*checked_us < watermark_us) {
            seen_count += weir_timers_fire_group(ttl->timers, group, *checked_us, watermark_us,
                                                 on_timer, ttl);
            *checked_us = watermark_us;
        }
        ttl->next_group_idx = (ttl->next_group_idx + 1) % group_count;
    }
}

void weir_state_ttl_barrier(struct weir_state_ttl *ttl, int64_t number)
{
    ttl->epoch = number + 1;
    for (uint32_t i = 0; i < WEIR_KEY_GROUP_COUNT; i++) {
        ttl->checked_us[i] = INT64_MIN;
    }
}
