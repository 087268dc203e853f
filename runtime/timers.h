// SPDX-License-Identifier: Apache-2.0
// Timers of event time, by key: an ordered state of its own, so that they are in every snapshot and
// move with their key groups. A timer is a time and a key; adding the same twice is one.
//
// Thread: the task's. Calls may block on the disk, as those of state.h.
#ifndef WEIR_RUNTIME_TIMERS_H
#define WEIR_RUNTIME_TIMERS_H

#include "runtime/state.h"

struct weir_timers;

// Opens the state `name` of the operator; before the first batch.
struct weir_timers *weir_timers_create(struct weir_state_store *store, const char *operator_id,
                                       const char *name, struct weir_key_group_range key_groups);
void weir_timers_destroy(struct weir_timers *timers); // accepts NULL

void weir_timers_add(struct weir_timers *timers, const struct weir_state_key *key, int64_t time_us);
void weir_timers_remove(struct weir_timers *timers, const struct weir_state_key *key,
                        int64_t time_us);

// A timer that is due. It may call into the store, and add timers, of which those of the same group
// that are due are visited too; key is valid until it returns. True: the timer is done and gone;
// false: it stays as it is.
typedef bool weir_timer_fn(void *context, const struct weir_state_key *key, int64_t time_us);

// Visits what is due at up_to_us: by key group, in a group by time, then by key. Call it when event
// time has passed. Where there is nothing, nothing is read.
void weir_timers_fire(struct weir_timers *timers, int64_t up_to_us, weir_timer_fn *visit,
                      void *context);
// Those of one group behind after_us. Returns how many were visited.
uint32_t weir_timers_fire_group(struct weir_timers *timers, uint16_t key_group, int64_t after_us,
                                int64_t up_to_us, weir_timer_fn *visit, void *context);

#endif
