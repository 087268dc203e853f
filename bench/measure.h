// SPDX-License-Identifier: Apache-2.0
//
// What a run cost: wall clock, CPU of the process and of single threads, peak memory.
// Thread: any, unless said.
#ifndef WEIR_BENCH_MEASURE_H
#define WEIR_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

struct weir_bench_usage {
    int64_t user_us;
    int64_t system_us;
    int64_t peak_rss_kib;
};

// Of this process from its start, all threads.
struct weir_bench_usage weir_bench_usage_now(void);

int64_t weir_bench_monotonic_us(void);
int64_t weir_bench_realtime_ms(void);

// CPU used by the calling thread so far.
int64_t weir_bench_thread_cpu_us(void);

// Sleeps. For waits inside a program that stands still; never part of what is measured.
void weir_bench_nap_us(int64_t duration_us);

// The q-th quantile (0 to 1) of `values`, which get sorted; 0 if there are none.
int64_t weir_bench_quantile(int64_t *values, size_t count, double q);

#endif
