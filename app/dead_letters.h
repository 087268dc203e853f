// SPDX-License-Identifier: Apache-2.0
// Writes dead letters back to where they came from, so that a job whose fault has been mended, or
// whose registry has learnt their schema, reads them once more. Thread: main. Blocks.
#ifndef WEIR_APP_DEAD_LETTERS_H
#define WEIR_APP_DEAD_LETTERS_H

#include "app/config.h"
#include "runtime/base/error.h"

#include <stdio.h>

struct weir_dead_letters_request {
    const char *topic; // the dead-letter or late topic
    bool is_anew;      // from its first record, also what was written back before
    bool is_dry;       // only counts
};

// Each dead letter of this job once: the rows and the position behind them are one transaction, so
// that a replay that was killed, or is run again, goes on where the last one has committed. Prints
// how many went where. Error: nothing of the running transaction was written.
enum weir_status weir_dead_letters_replay(const struct weir_config *config,
                                          const struct weir_dead_letters_request *request,
                                          FILE *out, struct weir_error *error);

#endif
