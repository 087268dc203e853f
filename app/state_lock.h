// SPDX-License-Identifier: Apache-2.0
// The lock on the state directory: one process at a time works there. flock: it ends with the
// process, and does not reach across machines that share a network file system (the transactional
// ids do).
#ifndef WEIR_APP_STATE_LOCK_H
#define WEIR_APP_STATE_LOCK_H

#include "runtime/base/error.h"

#include <stdatomic.h>

// Makes the directory where it is missing and waits up to timeout_ms for its lock. *descriptor
// stays open for the life of the process. Errors: REFUSE (cannot be written), FAIL (another process
// holds it). A stop request ends the wait.
enum weir_status weir_state_lock(const char *state_dir, int64_t timeout_ms,
                                 const atomic_int *stop_requests, int *descriptor,
                                 struct weir_error *error);

#endif
