// SPDX-License-Identifier: Apache-2.0
// Rules of the protocol that can be broken on purpose, one at a time: a simulator that does not
// find them would not find anything. Thread: there is one.
#ifndef WEIR_TESTS_SIM_CANARY_H
#define WEIR_TESTS_SIM_CANARY_H

#include <stdbool.h>
#include <stdint.h>

enum sim_canary {
    SIM_CANARY_NONE,
    SIM_CANARY_OFFSETS_BEFORE_FENCING, // what the look saw is taken for the truth
    SIM_CANARY_OWN_PRODUCERS,          // the producer is a function of more than the epoch
    SIM_CANARY_KEPT_HANDLE,            // a used-up handle goes on
    SIM_CANARY_NO_CLAIM,               // reading begins without a claim
    SIM_CANARY_CLAIM_BY_NUMBER,        // a start over is claimed by the handle of its own number
    SIM_CANARY_HANDLE_TRUSTED,         // no look at the pointer behind a handle that was made anew
    SIM_CANARY_EARLY_ROW,              // a row of n + 1 before the acknowledgements of n
    SIM_CANARY_DIRTY_EVICTED,          // what is not durable leaves the cache
    SIM_CANARY_LIVE_TRUSTED,           // the folder of a dead process is used again
    SIM_CANARY_RETENTION_SHORT,        // one checkpoint too few is kept
    SIM_CANARY_NO_WATERMARK,           // the checkpoint forgets how far time had come
    SIM_CANARY_FOLDER_UNSYNCED,        // a new name counts as durable without its folder's sync
    SIM_CANARY_RESTORE_TWICE,          // WEIR_RESTORE is obeyed although it was
    SIM_CANARY_UNCONVERTED,            // a changed job reads what an earlier one kept as its own
    SIM_CANARY_SWEPT_EARLY,            // keys are forgotten ahead of the watermark
    SIM_CANARY_SWEPT_UNSENT,           // keys are forgotten before their change is sent
    SIM_CANARY_AGELESS,                // the checkpoint forgets how old keys are
    SIM_CANARY_ROWS_FORGOTTEN,         // the checkpoint forgets the last row of a changelog's keys
    SIM_CANARY_COUNT,
};

void sim_canary_set(enum sim_canary canary);
bool sim_canary_is(enum sim_canary canary);
const char *sim_canary_name(enum sim_canary canary);
enum sim_canary sim_canary_find(const char *name); // SIM_CANARY_COUNT: there is none

#endif
