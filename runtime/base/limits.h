// SPDX-License-Identifier: Apache-2.0
// Bounds that more than one file leans on, each with its reason.
#ifndef WEIR_RUNTIME_BASE_LIMITS_H
#define WEIR_RUNTIME_BASE_LIMITS_H

#include <assert.h>

enum {
    // Producer handles of an instance. Epoch n uses handle n mod 4, whatever is configured, so that
    // two owners with different settings meet on the same transactional ids.
    WEIR_HANDLE_COUNT = 4,

    // Epochs between their barrier and their commit. One handle must be free for the epoch that is
    // being filled: concurrent + 1 <= handles.
    WEIR_CHECKPOINTS_CONCURRENT_MAX = 3,

    WEIR_JOB_ID_BYTES_MAX = 100,

    // Source tasks and every other task of one job in one process.
    WEIR_TASKS_MAX = 256,

    // Random, in hex, new at each recovery; part of file names and of the pointer.
    WEIR_ATTEMPT_BYTES = 8,
};

static_assert(WEIR_CHECKPOINTS_CONCURRENT_MAX + 1 <= WEIR_HANDLE_COUNT,
              "the epoch being filled needs a handle that no pending commit uses");

#endif
