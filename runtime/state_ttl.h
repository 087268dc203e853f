// SPDX-License-Identifier: Apache-2.0
// Time to live of keyed state: says of which keys an operator is to forget everything, because no
// row has come for them for so long. It keeps no state of the operator, only when each key was last
// touched, so that all that is known of a key goes together, whatever its shapes.
//
// The clock is event time. A row's own time decides whether what came before it is forgotten: a
// function of the rows of the key alone, the same live and replayed, whatever the batches. What no
// row asks for any more is swept when the watermark has passed, in the background, so that it
// takes no room; a key that was touched since the last barrier is never swept, as what changed of
// it is still to be sent. The end of all input forgets nothing.
//
// Thread: the task's. Calls may block on the disk, as those of state.h.
#ifndef WEIR_RUNTIME_STATE_TTL_H
#define WEIR_RUNTIME_STATE_TTL_H

#include "runtime/state.h"

struct weir_state_ttl;

struct weir_state_ttl_config {
    struct weir_state_store *store;
    const char *operator_id; // whose states "ttl" and "ttl timers" are opened
    struct weir_key_group_range key_groups;
    int64_t ttl_us;
    int64_t first_epoch; // the number of the checkpoint that is gone on from + 1
};

struct weir_state_ttl *weir_state_ttl_create(const struct weir_state_ttl_config *config);
void weir_state_ttl_destroy(struct weir_state_ttl *ttl); // accepts NULL

// Rows of these keys have come, in this order, with these times: their keys live on from there.
// Called where a key is created or written, and where reading is to count, too, also there.
// is_expired[i]: the key was there, and row i comes ttl_us or more after all before it: forget what
// is known of the key before the row is taken.
void weir_state_ttl_touch(struct weir_state_ttl *ttl, uint32_t count,
                          const struct weir_state_key *keys, const int64_t *times_us,
                          bool *is_expired);

// Does a reader of that time see the key? Changes nothing.
bool weir_state_ttl_is_alive(struct weir_state_ttl *ttl, const struct weir_state_key *key,
                             int64_t time_us);

// forget is called for keys whose time is over at watermark_us (INT64_MAX: for none), until so many
// have been looked at, one key group more or less; the next call goes on from there. It may call
// into the store.
void weir_state_ttl_sweep(struct weir_state_ttl *ttl, int64_t watermark_us, uint32_t count_max,
                          void (*forget)(void *context, const struct weir_state_key *key),
                          void *context);

// The operator's barrier call.
void weir_state_ttl_barrier(struct weir_state_ttl *ttl, int64_t number);

#endif
