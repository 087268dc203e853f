// SPDX-License-Identifier: Apache-2.0
// Failpoints: named places at which a test makes the process die, wait or fail. Always compiled
// in, so that what is tested is what is shipped; one load of a flag when none is set. Places lie on
// the way of an epoch, never of a record. The list of names: docs/testing.md.
//
// WEIR_FAILPOINTS="name=action[@hit][,…]": action kill (SIGKILL of the process), error (the place
// reports a failure), sleep:<ms>; @hit: at the n-th time that the place is reached (default: the
// first; 0: every time).
#ifndef WEIR_RUNTIME_BASE_FAILPOINT_H
#define WEIR_RUNTIME_BASE_FAILPOINT_H

#include "runtime/base/error.h"

#include <stdbool.h>

extern bool weir_failpoints_are_set;

// Once, before threads start. The list as in WEIR_FAILPOINTS.
enum weir_status weir_failpoints_init(const char *list, struct weir_error *error);

// Slow path of the below.
bool weir_failpoint_hit(const char *name);

// True: the place is to fail (action error). Thread: any.
static inline bool weir_failpoint(const char *name)
{
    return __builtin_expect(weir_failpoints_are_set, 0) && weir_failpoint_hit(name);
}

#endif
