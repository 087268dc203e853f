// SPDX-License-Identifier: Apache-2.0
// See rounds.h.
#include "bench/micro/rounds.h"

#include "runtime/base/memory.h"
#include "runtime/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS_DEFAULT = 21, ROUNDS_MAX = 1000 };

void rounds_end_with(const char *text)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    exit(1);
}

double rounds_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

long rounds_of(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS_DEFAULT;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        rounds_end_with("rounds: 1 to 1000");
    }
    return rounds;
}

static double time_line(struct bench *bench, const struct rounds_line *line, uint32_t record_count)
{
    if (line->time != NULL) {
        return line->time(bench);
    }
    double start_ns = rounds_cpu_ns();
    for (uint32_t i = 0; i < record_count; i += WEIR_BATCH_ROWS_MAX) {
        line->run(bench, i);
    }
    return rounds_cpu_ns() - start_ns;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

void rounds_measure(struct bench *bench, const struct rounds_line *lines, int line_count,
                    uint32_t record_count, long rounds, double *medians)
{
    double *times = weir_alloc((size_t)line_count * (size_t)rounds * sizeof *times);
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < line_count; i++) {
            times[i * rounds + round] = time_line(bench, &lines[i], record_count) / record_count;
        }
    }
    for (int i = 0; i < line_count; i++) {
        qsort(&times[i * rounds], (size_t)rounds, sizeof *times, compare_doubles);
        medians[i] = times[i * rounds + rounds / 2];
    }
    free(times);
}
