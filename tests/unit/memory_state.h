// SPDX-License-Identifier: Apache-2.0
// Keyed state (runtime/state.h) in memory, for the tests of what uses it: sorted arrays, nothing is
// durable, barriers only begin a new epoch. It is strict where a real store is only sometimes: what
// it handed out is moved at the next call, so that the address sanitizer finds a pointer that was
// kept too long; removed keys are reported as changed whether or not they had been there.
#ifndef WEIR_TESTS_UNIT_MEMORY_STATE_H
#define WEIR_TESTS_UNIT_MEMORY_STATE_H

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "runtime/state.h"

#include <stdlib.h>
#include <string.h>

struct memory_entry {
    uint16_t key_group;
    bool is_present; // false: removed in this epoch
    bool is_changed;
    struct weir_view key; // owned
    char *value;          // malloc
    uint32_t value_bytes;
};

struct memory_state {
    struct weir_state state;
    struct memory_state_store *store;
    char *operator_id;
    char *name;
    uint32_t entry_count;
    struct memory_entry *entries; // sorted by key group, then key
    bool is_reading;
    uint32_t change_count;
    uint32_t read_count;
    struct memory_entry *changes; // copies
};

struct memory_state_store {
    struct weir_state_store store;
    uint32_t state_count;
    struct memory_state *states[64];
    struct memory_state *handed_state; // whose value was handed out last
    struct weir_view handed_key;       // owned
    uint16_t handed_key_group;
    bool is_handed;
    int64_t barrier_number; // the last one, and the last that was said to be committed
    int64_t committed_number;
};

static inline int memory_compare(uint16_t group_a, struct weir_view a, uint16_t group_b,
                                 struct weir_view b)
{
    if (group_a != group_b) {
        return group_a < group_b ? -1 : 1;
    }
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common != 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

// The place of the first entry that is not below the key.
static inline uint32_t memory_place(const struct memory_state *state, uint16_t key_group,
                                    struct weir_view key)
{
    uint32_t low = 0;
    uint32_t high = state->entry_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct memory_entry *entry = &state->entries[middle];
        if (memory_compare(entry->key_group, entry->key, key_group, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static inline struct memory_entry *memory_find(const struct memory_state *state, uint16_t key_group,
                                               struct weir_view key)
{
    uint32_t place = memory_place(state, key_group, key);
    if (place == state->entry_count) {
        return NULL;
    }
    struct memory_entry *entry = &state->entries[place];
    return memory_compare(entry->key_group, entry->key, key_group, key) == 0 ? entry : NULL;
}

// A copy at an address of its own; never NULL, so that an empty value is one.
static inline char *memory_copy(const char *data, size_t size_bytes, size_t room_bytes)
{
    char *copy = weir_alloc_zero(room_bytes + 1);
    if (size_bytes != 0) {
        memcpy(copy, data, size_bytes);
    }
    return copy;
}

// Every call on the store begins here: what the last one handed out moves away.
static inline void memory_begin(struct memory_state_store *store)
{
    if (!store->is_handed) {
        return;
    }
    struct memory_entry *entry =
        memory_find(store->handed_state, store->handed_key_group, store->handed_key);
    if (entry != NULL && entry->value != NULL) {
        char *moved = memory_copy(entry->value, entry->value_bytes, entry->value_bytes);
        free(entry->value);
        entry->value = moved;
    }
    free((char *)store->handed_key.data);
    store->is_handed = false;
}

static inline void memory_hand_out(struct memory_state *state, const struct memory_entry *entry)
{
    struct memory_state_store *store = state->store;
    store->is_handed = true;
    store->handed_state = state;
    store->handed_key_group = entry->key_group;
    store->handed_key = (struct weir_view){
        .data = memory_copy(entry->key.data, entry->key.size_bytes, entry->key.size_bytes),
        .size_bytes = entry->key.size_bytes};
}

static inline bool memory_get(struct weir_state *base, const struct weir_state_key *key,
                              struct weir_view *value)
{
    struct memory_state *state = (struct memory_state *)base;
    memory_begin(state->store);
    struct memory_entry *entry = memory_find(state, key->key_group, key->bytes);
    if (entry == NULL || !entry->is_present) {
        return false;
    }
    memory_hand_out(state, entry);
    *value = (struct weir_view){.data = entry->value, .size_bytes = entry->value_bytes};
    return true;
}

// The entry of the key, made (as not present) where there is none.
static inline struct memory_entry *memory_ensure(struct memory_state *state,
                                                 const struct weir_state_key *key)
{
    WEIR_ASSERT(key->key_group < WEIR_KEY_GROUP_COUNT);
    struct memory_entry *found = memory_find(state, key->key_group, key->bytes);
    if (found != NULL) {
        return found;
    }
    uint32_t place = memory_place(state, key->key_group, key->bytes);
    state->entries =
        weir_realloc(state->entries, (state->entry_count + 1) * sizeof *state->entries);
    memmove(&state->entries[place + 1], &state->entries[place],
            (state->entry_count - place) * sizeof *state->entries);
    state->entry_count++;
    char *copy = memory_copy(key->bytes.data, key->bytes.size_bytes, key->bytes.size_bytes);
    state->entries[place] = (struct memory_entry){
        .key_group = key->key_group,
        .key = {.data = copy, .size_bytes = key->bytes.size_bytes},
    };
    return &state->entries[place];
}

static inline void *memory_update(struct weir_state *base, const struct weir_state_key *key,
                                  uint32_t size_bytes, bool *existed)
{
    struct memory_state *state = (struct memory_state *)base;
    memory_begin(state->store);
    struct memory_entry *entry = memory_ensure(state, key);
    *existed = entry->is_present;
    size_t kept = !entry->is_present                ? 0
                  : entry->value_bytes < size_bytes ? entry->value_bytes
                                                    : size_bytes;
    char *value = memory_copy(entry->value, kept, size_bytes);
    free(entry->value);
    entry->value = value;
    entry->value_bytes = size_bytes;
    entry->is_present = true;
    entry->is_changed = true;
    memory_hand_out(state, entry);
    return value;
}

// One after the other, but the rooms stay where they are until the next call.
static inline void memory_update_many(struct weir_state *base, uint32_t count,
                                      const struct weir_state_key *keys, uint32_t size_bytes,
                                      struct weir_state_room *rooms)
{
    struct memory_state *state = (struct memory_state *)base;
    for (uint32_t i = 0; i < count; i++) {
        memory_update(base, &keys[i], size_bytes, &rooms[i].existed);
    }
    for (uint32_t i = 0; i < count; i++) {
        memory_begin(state->store);
        rooms[i].value = memory_find(state, keys[i].key_group, keys[i].bytes)->value;
    }
}

static inline void memory_remove(struct weir_state *base, const struct weir_state_key *key)
{
    struct memory_state *state = (struct memory_state *)base;
    memory_begin(state->store);
    struct memory_entry *entry = memory_ensure(state, key);
    free(entry->value);
    entry->value = NULL;
    entry->value_bytes = 0;
    entry->is_present = false;
    entry->is_changed = true;
}

static inline void memory_prefetch(struct weir_state *base, uint32_t count,
                                   const struct weir_state_key *keys)
{
    (void)count;
    (void)keys;
    struct memory_state *state = (struct memory_state *)base;
    memory_begin(state->store);
}

static inline void
memory_scan(struct weir_state *base, uint16_t key_group, struct weir_view from, struct weir_view to,
            bool (*visit)(void *context, const struct weir_state_key *key, struct weir_view value),
            void *context)
{
    struct memory_state *state = (struct memory_state *)base;
    memory_begin(state->store);
    uint32_t entry_count = state->entry_count;
    bool goes_on = true;
    for (uint32_t i = memory_place(state, key_group, from); goes_on && i < state->entry_count;
         i++) {
        struct memory_entry *entry = &state->entries[i];
        if (entry->key_group != key_group ||
            (to.data != NULL && memory_compare(0, entry->key, 0, to) >= 0)) {
            break;
        }
        if (entry->is_present) {
            // Copies, gone after the visit.
            char *key = memory_copy(entry->key.data, entry->key.size_bytes, entry->key.size_bytes);
            char *value = memory_copy(entry->value, entry->value_bytes, entry->value_bytes);
            goes_on = visit(context,
                            &(struct weir_state_key){.key_group = key_group,
                                                     .bytes = {key, entry->key.size_bytes}},
                            (struct weir_view){value, entry->value_bytes});
            free(key);
            free(value);
            WEIR_ASSERT(state->entry_count == entry_count); // visit must not call into the state
        }
    }
}

static inline void memory_free_changes(struct memory_state *state)
{
    for (uint32_t i = 0; i < state->change_count; i++) {
        free((char *)state->changes[i].key.data);
        free(state->changes[i].value);
    }
    free(state->changes);
    state->changes = NULL;
    state->change_count = 0;
    state->read_count = 0;
    state->is_reading = false;
}

static inline void memory_begin_changes(struct weir_state *base)
{
    struct memory_state *state = (struct memory_state *)base;
    WEIR_ASSERT(!state->is_reading);
    memory_begin(state->store);
    state->is_reading = true;
    state->changes = weir_alloc_zero((state->entry_count + 1) * sizeof *state->changes);
    for (uint32_t i = 0; i < state->entry_count; i++) {
        const struct memory_entry *entry = &state->entries[i];
        if (entry->is_changed) {
            struct memory_entry *copy = &state->changes[state->change_count++];
            *copy = *entry;
            copy->key.data =
                memory_copy(entry->key.data, entry->key.size_bytes, entry->key.size_bytes);
            copy->value = entry->is_present
                              ? memory_copy(entry->value, entry->value_bytes, entry->value_bytes)
                              : NULL;
        }
    }
}

static inline uint32_t memory_read_changes(struct weir_state *base, uint32_t count_max,
                                           struct weir_state_change *changes)
{
    struct memory_state *state = (struct memory_state *)base;
    WEIR_ASSERT(state->is_reading);
    uint32_t count = 0;
    for (; count < count_max && state->read_count < state->change_count; count++) {
        const struct memory_entry *entry = &state->changes[state->read_count++];
        changes[count] = (struct weir_state_change){
            .key = {.key_group = entry->key_group, .bytes = entry->key},
            .value = {.data = entry->value, .size_bytes = entry->value_bytes}};
    }
    if (count == 0) {
        memory_free_changes(state);
    }
    return count;
}

static const struct weir_state_ops memory_state_ops = {
    .get = memory_get,
    .update = memory_update,
    .update_many = memory_update_many,
    .remove = memory_remove,
    .prefetch = memory_prefetch,
    .scan = memory_scan,
    .begin_changes = memory_begin_changes,
    .read_changes = memory_read_changes,
};

static inline struct weir_state *memory_open_state(struct weir_state_store *base,
                                                   const char *operator_id, const char *name)
{
    struct memory_state_store *store = (struct memory_state_store *)base;
    for (uint32_t i = 0; i < store->state_count; i++) {
        struct memory_state *known = store->states[i];
        if (strcmp(known->operator_id, operator_id) == 0 && strcmp(known->name, name) == 0) {
            return &known->state; // opened again: a test restarts its operators over one store
        }
    }
    WEIR_ASSERT(store->state_count < sizeof store->states / sizeof *store->states);
    struct memory_state *state = weir_alloc_zero(sizeof *state);
    *state = (struct memory_state){.state = {.ops = &memory_state_ops},
                                   .store = store,
                                   .operator_id = weir_strdup(operator_id),
                                   .name = weir_strdup(name)};
    store->states[store->state_count++] = state;
    return &state->state;
}

static inline void memory_end_epoch(struct memory_state *state)
{
    uint32_t kept = 0;
    WEIR_ASSERT(!state->is_reading || state->read_count == 0); // nothing may be read so long
    for (uint32_t i = 0; i < state->entry_count; i++) {
        struct memory_entry *entry = &state->entries[i];
        entry->is_changed = false;
        if (entry->is_present) {
            state->entries[kept++] = *entry;
        } else {
            free((char *)entry->key.data);
        }
    }
    state->entry_count = kept;
}

// snapshot may be NULL: nothing is added to it.
static inline void memory_barrier(struct weir_state_store *base, const struct weir_barrier *barrier,
                                  struct weir_snapshot *snapshot)
{
    (void)snapshot;
    struct memory_state_store *store = (struct memory_state_store *)base;
    memory_begin(store);
    WEIR_ASSERT(barrier->number > store->barrier_number);
    store->barrier_number = barrier->number;
    for (uint32_t i = 0; i < store->state_count; i++) {
        memory_end_epoch(store->states[i]);
    }
}

static inline void memory_committed(struct weir_state_store *base, int64_t number)
{
    struct memory_state_store *store = (struct memory_state_store *)base;
    WEIR_ASSERT(number > store->committed_number && number <= store->barrier_number);
    store->committed_number = number;
}

static inline bool memory_is_full(struct weir_state_store *base)
{
    (void)base;
    return false;
}

static inline enum weir_status memory_check(struct weir_state_store *base, struct weir_error *error)
{
    (void)base;
    (void)error;
    return WEIR_OK;
}

static inline void memory_destroy(struct weir_state_store *base)
{
    struct memory_state_store *store = (struct memory_state_store *)base;
    memory_begin(store);
    for (uint32_t i = 0; i < store->state_count; i++) {
        struct memory_state *state = store->states[i];
        for (uint32_t j = 0; j < state->entry_count; j++) {
            free((char *)state->entries[j].key.data);
            free(state->entries[j].value);
        }
        memory_free_changes(state);
        free(state->entries);
        free(state->operator_id);
        free(state->name);
        free(state);
    }
    free(store);
}

static const struct weir_state_store_ops memory_state_store_ops = {
    .open_state = memory_open_state,
    .barrier = memory_barrier,
    .committed = memory_committed,
    .is_full = memory_is_full,
    .check = memory_check,
    .destroy = memory_destroy,
    .wants_checkpoint = memory_is_full,
};

static inline struct weir_state_store *memory_state_store_create(void)
{
    struct memory_state_store *store = weir_alloc_zero(sizeof *store);
    store->store.ops = &memory_state_store_ops;
    return &store->store;
}

#endif
