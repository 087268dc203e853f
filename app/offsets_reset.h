// SPDX-License-Identifier: Apache-2.0
// Moves the positions of one table of a stopped job: its last checkpoint is gone on from under a
// new number, with all its state and with other positions for that table. Thread: main. Blocks.
#ifndef WEIR_APP_OFFSETS_RESET_H
#define WEIR_APP_OFFSETS_RESET_H

#include "app/config.h"
#include "runtime/base/error.h"

#include <stdio.h>

// Fences whoever runs the job elsewhere. Prints each partition's old and new offset. Error: nothing
// was changed (REFUSE: the operator's turn), or it is not known whether it was (RECOVER).
enum weir_status weir_offsets_reset(const struct weir_config *config, const char *table_name,
                                    struct weir_position to, FILE *out, struct weir_error *error);

#endif
