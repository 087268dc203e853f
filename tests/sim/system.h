// SPDX-License-Identifier: Apache-2.0
// Descriptors of the simulated machine: events here, files and folders in disk.h. They are numbers
// that the real one never gives out. Thread: there is one.
#ifndef WEIR_TESTS_SIM_SYSTEM_H
#define WEIR_TESTS_SIM_SYSTEM_H

#include "tests/sim/fiber.h"

enum { SIM_EVENT_BASE = 1 << 20, SIM_FILE_BASE = 1 << 24 };

static inline bool sim_is_event(int descriptor)
{
    return descriptor >= SIM_EVENT_BASE && descriptor < SIM_FILE_BASE;
}

static inline bool sim_is_file(int descriptor)
{
    return descriptor >= SIM_FILE_BASE;
}

// Makes the eventfd readable, as a signal handler or a client's thread would.
void sim_event_add(int descriptor);

#endif
