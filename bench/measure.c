// SPDX-License-Identifier: Apache-2.0
//
// Clocks and counters (see measure.h).
#include "measure.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct weir_bench_usage weir_bench_usage_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct weir_bench_usage){
        .user_us = (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec,
        .system_us = (int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec,
        .peak_rss_kib = usage.ru_maxrss,
    };
}

int64_t weir_bench_monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int64_t weir_bench_realtime_ms(void)
{
    return clock_us(CLOCK_REALTIME) / 1000;
}

int64_t weir_bench_thread_cpu_us(void)
{
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

void weir_bench_nap_us(int64_t duration_us)
{
    struct timespec duration = {.tv_sec = duration_us / 1000000,
                                .tv_nsec = duration_us % 1000000 * 1000};
    nanosleep(&duration, NULL);
}

static int compare_values(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int64_t weir_bench_quantile(int64_t *values, size_t count, double q)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof(*values), compare_values);
    return values[(size_t)((double)(count - 1) * q + 0.5)];
}
