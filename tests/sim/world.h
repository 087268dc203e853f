// SPDX-License-Identifier: Apache-2.0
// A run: a seed makes a job, its input, settings, and what goes wrong. Thread: there is one.
#ifndef WEIR_TESTS_SIM_WORLD_H
#define WEIR_TESTS_SIM_WORLD_H

#include "tests/sim/job.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_world_options {
    uint64_t seed;
    int job; // enum sim_job_kind; -1: by the seed
    // What a seed has with some chance, for certain:
    bool is_calm; // processes live long
    bool is_duel; // owners come and go, and that is all
    bool is_late; // many requests to coordinators are late
    bool is_at_least_once;
    bool is_takeover; // owners live for a while, then another one comes, mostly with a new order
    bool is_sleepy;   // threads lose their processor often, and for seconds
    bool is_verbose;
};

// Once in a process. Returns when the run is over and nothing is wrong (else sim_violation).
void sim_world_run(const struct sim_world_options *options);
// What was run, for a line of the log: valid after the run.
const char *sim_world_summary(void);

#endif
