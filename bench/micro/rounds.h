// SPDX-License-Identifier: Apache-2.0
// Lines that are measured in turns, round by round, so that what disturbs the machine for a while
// disturbs all of them; of each the median counts. Thread: there is one.
#ifndef WEIR_BENCH_MICRO_ROUNDS_H
#define WEIR_BENCH_MICRO_ROUNDS_H

#include <stdint.h>

struct bench; // each program's own

struct rounds_line {
    const char *name;
    // One of the two: what is done with the batch that begins there, all of it measured; or what
    // measures by itself, some of it off the clock, and returns nanoseconds of all records.
    void (*run)(struct bench *bench, uint32_t first);
    double (*time)(struct bench *bench);
};

// CPU time of the process.
double rounds_cpu_ns(void);

// The number of rounds in the program's only argument; a default without it.
long rounds_of(int argc, char **argv);

// Nanoseconds per record of each line, of batches that are full.
void rounds_measure(struct bench *bench, const struct rounds_line *lines, int line_count,
                    uint32_t record_count, long rounds, double *medians);

// To stderr, with the program's name before it; exit code 1.
_Noreturn void rounds_end_with(const char *text);

#endif
