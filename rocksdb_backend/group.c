// SPDX-License-Identifier: Apache-2.0
// See group.h. Linear probing by the top bits of the hash (its low ones are the key group and thus
// all alike), removal by shifting back, so that there are no marks of what was removed.
#include "rocksdb_backend/group.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

enum { CAPACITY_MIN = 16 };

size_t weir_group_bytes(const struct weir_group *group)
{
    size_t bytes = group->capacity * sizeof *group->slots;
    return group->ordered != NULL ? bytes + weir_ordered_bytes(group->ordered) : bytes;
}

void weir_group_deinit(struct weir_group *group)
{
    free(group->slots);
    weir_buffer_deinit(&group->complete_below);
    weir_ordered_destroy(group->ordered);
    *group = (struct weir_group){0};
}

static struct weir_slot *empty_slot(struct weir_group *group, uint32_t hash)
{
    uint32_t i = weir_group_home(group, hash);
    while (group->slots[i].version != NULL) {
        i = (i + 1) & (group->capacity - 1);
    }
    return &group->slots[i];
}

static void grow(struct weir_group *group)
{
    struct weir_slot *old = group->slots;
    uint32_t old_capacity = group->capacity;
    WEIR_ASSERT(old_capacity < UINT32_C(1) << 31);
    group->capacity = old_capacity == 0 ? CAPACITY_MIN : 2 * old_capacity;
    group->shift = 32 - (uint32_t)__builtin_ctz(group->capacity);
    group->slots = weir_alloc_zero(group->capacity * sizeof *group->slots);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].version != NULL) {
            *empty_slot(group, old[i].hash) = old[i];
        }
    }
    free(old);
}

struct weir_slot *weir_group_insert(struct weir_group *group, uint32_t hash,
                                    struct weir_version *version)
{
    if (4 * (group->count + 1) > 3 * (uint64_t)group->capacity) {
        grow(group);
    }
    struct weir_slot *slot = empty_slot(group, hash);
    *slot = (struct weir_slot){.version = version, .hash = hash};
    group->count++;
    return slot;
}

void weir_group_replace(struct weir_group *group, struct weir_slot *slot,
                        struct weir_version *version)
{
    if (slot->version->is_ordered) {
        weir_ordered_replace(group->ordered, slot->version, version);
        version->is_ordered = true;
    }
    slot->version = version;
}

void weir_group_erase(struct weir_group *group, struct weir_slot *slot)
{
    if (slot->version->is_ordered) {
        weir_ordered_erase(group->ordered, slot->version);
        slot->version->is_ordered = false;
    }
    uint32_t mask = group->capacity - 1;
    uint32_t hole = (uint32_t)(slot - group->slots);
    for (uint32_t i = (hole + 1) & mask; group->slots[i].version != NULL; i = (i + 1) & mask) {
        // An entry may move to the hole unless its home lies behind the hole.
        uint32_t home = weir_group_home(group, group->slots[i].hash);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            group->slots[hole] = group->slots[i];
            hole = i;
        }
    }
    group->slots[hole] = (struct weir_slot){.version = NULL};
    group->count--;
}

void weir_group_order(struct weir_group *group, struct weir_version *version)
{
    if (group->ordered != NULL && !version->is_ordered) {
        weir_ordered_insert(group->ordered, version);
        version->is_ordered = true;
    }
}

static int compare_versions(const void *left, const void *right)
{
    const struct weir_version *const *a = left;
    const struct weir_version *const *b = right;
    return weir_key_compare(weir_version_key(*a), weir_version_key(*b));
}

void weir_group_make_ordered(struct weir_group *group)
{
    WEIR_ASSERT(group->ordered == NULL);
    group->ordered = weir_ordered_create();
    struct weir_version **versions = weir_alloc((group->count + 1) * sizeof(void *));
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->capacity; i++) {
        const struct weir_slot *slot = &group->slots[i];
        if (slot->version != NULL && (slot->epoch != 0 || !slot->version->is_absent)) {
            versions[count++] = slot->version;
        }
    }
    qsort(versions, count, sizeof(void *), compare_versions);
    for (uint32_t i = 0; i < count; i++) {
        weir_group_order(group, versions[i]);
    }
    free(versions);
}

bool weir_group_is_known_absent(const struct weir_group *group, struct weir_view key)
{
    struct weir_view bound = {.data = group->complete_below.data,
                              .size_bytes = group->complete_below.size_bytes};
    return group->is_complete || weir_key_compare(key, bound) < 0;
}

static void set_bound(struct weir_group *group, struct weir_view key)
{
    group->is_complete = false;
    group->complete_below.size_bytes = 0;
    weir_buffer_append(&group->complete_below, key.data, key.size_bytes);
}

void weir_group_lower_bound(struct weir_group *group, struct weir_view key)
{
    if (weir_group_is_known_absent(group, key)) {
        set_bound(group, key);
    }
}

void weir_group_raise_bound(struct weir_group *group, struct weir_view key)
{
    if (key.data == NULL) {
        group->is_complete = true;
    } else if (!group->is_complete && !weir_group_is_known_absent(group, key)) {
        set_bound(group, key);
    }
}
