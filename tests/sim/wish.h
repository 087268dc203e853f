// SPDX-License-Identifier: Apache-2.0
// What is asked of a running job from outside, as HTTP does: checkpoints, savepoints, stops,
// drains; and what WEIR_RESTORE says to those that are started. Thread: there is one.
#ifndef WEIR_TESTS_SIM_WISH_H
#define WEIR_TESTS_SIM_WISH_H

#include "tests/sim/fiber.h"

// Asks the process for something, by chance what. Whatever becomes of it is checked.
void sim_wish(struct sim_process *process);

// Another value for WEIR_RESTORE: to begin anew, or with a savepoint. The caller has ended those
// who were told the one before. False: there is no further one.
bool sim_wish_order(void);
// The input was made anew: to begin anew, and no savepoint fits any more.
void sim_wish_discard(void);
const char *sim_wish_restore(void); // NULL: nothing was said yet

#endif
