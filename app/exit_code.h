// SPDX-License-Identifier: Apache-2.0
// How the process ends, for whoever started it.
#ifndef WEIR_APP_EXIT_CODE_H
#define WEIR_APP_EXIT_CODE_H

enum weir_exit_code {
    WEIR_EXIT_OK = 0,      // ended as asked
    WEIR_EXIT_FAILED = 1,  // the job failed while running, or brokers could not be reached
    WEIR_EXIT_REFUSED = 2, // found before the first record, for the operator to change
    WEIR_EXIT_FENCED = 3,  // another instance with this identity took over
};

#endif
