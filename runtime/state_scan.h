// SPDX-License-Identifier: Apache-2.0
// What a scan of a state has found, copied, so that it can be worked on with calls into the store,
// which a visit may not make. Thread: the task's. Scanning and removing may block on the disk, as
// the calls of state.h.
#ifndef WEIR_RUNTIME_STATE_SCAN_H
#define WEIR_RUNTIME_STATE_SCAN_H

#include "runtime/state.h"

// Zero-initialised is empty and valid.
struct weir_state_scan {
    uint16_t key_group;
    uint32_t count_max;
    struct weir_buffer bytes; // keys and values one behind the other
    struct weir_buffer items; // where each entry begins, and its sizes
};

void weir_state_scan_deinit(struct weir_state_scan *scan);

// Finds the first count_max (0: all) entries of the group with from <= key < to (to.data NULL: to
// the end), in order, in place of what was found before.
void weir_state_scan_run(struct weir_state_scan *scan, struct weir_state *state, uint16_t key_group,
                         struct weir_view from, struct weir_view to, uint32_t count_max);
uint32_t weir_state_scan_count(const struct weir_state_scan *scan);
// Of entry idx < count, in the scan's own memory: valid until it runs again. Never without data.
struct weir_state_key weir_state_scan_key(const struct weir_state_scan *scan, uint32_t idx);
struct weir_view weir_state_scan_value(const struct weir_state_scan *scan, uint32_t idx);
// Removes all that was found from the state that it was found in.
void weir_state_scan_remove(const struct weir_state_scan *scan, struct weir_state *state);

// Makes `bytes`, the beginning of keys, the first key behind all that begin with them: where a scan
// of these ends. data NULL: no key is behind.
struct weir_view weir_state_step_behind(struct weir_buffer *bytes);

#endif
