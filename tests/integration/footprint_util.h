// SPDX-License-Identifier: Apache-2.0
// What a process holds of the machine, as /proc tells it. Failures end the running test. Thread:
// the tests'.
#ifndef WEIR_TESTS_INTEGRATION_FOOTPRINT_UTIL_H
#define WEIR_TESTS_INTEGRATION_FOOTPRINT_UTIL_H

#include "tests/harness/process.h"

struct footprint {
    int threads;
    int files;
    int resident_mib;
};

// Prints it, too.
struct footprint footprint_look(struct weir_test_process *process);

#endif
