// SPDX-License-Identifier: Apache-2.0
// Shapes of keyed state: list, map, and raw bytes of a key group, as thin layers over the ordered
// map of state.h. A value by key is that map itself. All of them are keyed state: they move with
// their key groups, and are in every snapshot because the map is. Which one to take: docs/state.md.
//
// A shape has a state of its own. What it stores lies under the length of the key (4 bytes), the
// key, and what tells the elements of one key apart, in order: no two keys' elements mix.
//
// Thread: the task's, as for state.h, whose rules hold here too: calls may block on the disk, views
// into values are valid until the next call on the same store.
#ifndef WEIR_RUNTIME_KEYED_SHAPES_H
#define WEIR_RUNTIME_KEYED_SHAPES_H

#include "runtime/state_scan.h"

// --- list ----------------------------------------------------------------------------------------

// Items of a key in the order in which they were added.
struct weir_keyed_list {
    struct weir_state *state;
    struct weir_buffer key; // scratch
};

// Opens the state `name` of the operator; before the first batch.
void weir_keyed_list_open(struct weir_keyed_list *list, struct weir_state_store *store,
                          const char *operator_id, const char *name);
void weir_keyed_list_close(struct weir_keyed_list *list);

uint64_t weir_keyed_list_count(struct weir_keyed_list *list, const struct weir_state_key *key);
void weir_keyed_list_add(struct weir_keyed_list *list, const struct weir_state_key *key,
                         struct weir_view item);
// idx from 0 to count - 1.
struct weir_view weir_keyed_list_at(struct weir_keyed_list *list, const struct weir_state_key *key,
                                    uint64_t idx);
void weir_keyed_list_clear(struct weir_keyed_list *list, const struct weir_state_key *key);

// --- map -----------------------------------------------------------------------------------------

// Elements of a key, each with a key of its own, by which they are ordered.
struct weir_keyed_map {
    struct weir_state *state;
    struct weir_buffer key; // scratch
    struct weir_buffer to;
    struct weir_state_scan found;
};

void weir_keyed_map_open(struct weir_keyed_map *map, struct weir_state_store *store,
                         const char *operator_id, const char *name);
void weir_keyed_map_close(struct weir_keyed_map *map);

// As get, update and remove in state.h.
bool weir_keyed_map_get(struct weir_keyed_map *map, const struct weir_state_key *key,
                        struct weir_view element, struct weir_view *value);
void *weir_keyed_map_update(struct weir_keyed_map *map, const struct weir_state_key *key,
                            struct weir_view element, uint32_t size_bytes, bool *existed);
void weir_keyed_map_remove(struct weir_keyed_map *map, const struct weir_state_key *key,
                           struct weir_view element);
// The key's elements with from <= element < to (to.data NULL: to the end) in order, until visit
// returns false. visit must not call into the store.
void weir_keyed_map_scan(struct weir_keyed_map *map, const struct weir_state_key *key,
                         struct weir_view from, struct weir_view to,
                         bool (*visit)(void *context, struct weir_view element,
                                       struct weir_view value),
                         void *context);
void weir_keyed_map_clear(struct weir_keyed_map *map, const struct weir_state_key *key);

// --- raw keyed state -----------------------------------------------------------------------------

// An operator's own bytes for each key group: what it knows of all keys of the group together. It
// writes what has changed in its barrier call.
struct weir_raw_keyed {
    struct weir_state *state;
};

void weir_raw_keyed_open(struct weir_raw_keyed *raw, struct weir_state_store *store,
                         const char *operator_id, const char *name);
// False: nothing was written for the group.
bool weir_raw_keyed_read(struct weir_raw_keyed *raw, uint16_t key_group, struct weir_view *bytes);
void weir_raw_keyed_write(struct weir_raw_keyed *raw, uint16_t key_group, struct weir_view bytes);

#endif
