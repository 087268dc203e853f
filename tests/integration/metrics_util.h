// SPDX-License-Identifier: Apache-2.0
// A strict reader of Prometheus' text format 0.0.4: what it takes, Prometheus and its linter take.
// Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_METRICS_UTIL_H
#define WEIR_TESTS_INTEGRATION_METRICS_UTIL_H

#include <stdbool.h>
#include <stddef.h>

struct metrics_sample {
    char *name;
    char *labels; // between the braces, as written; "" where there are none
    double value;
};

struct metrics_page {
    size_t count;
    struct metrics_sample *samples;
    size_t family_count;
    char **families; // names
    char **types;
};

// Checks every rule of the format and the rules of names: a family has its HELP and TYPE in front
// of its samples, once, and all samples together; counters end in _total and are whole numbers that
// are not negative; histograms have ascending buckets up to +Inf that agree with their count; no
// series is there twice; label values are escaped and UTF-8.
struct metrics_page *metrics_read(const char *text);
void metrics_free(struct metrics_page *page);

// NULL: there is no such family.
const char *metrics_type(const struct metrics_page *page, const char *family);

// The sum of all samples of that name whose labels hold each of the texts (separated by ';'),
// e.g. "table=\"a\";partition=\"0\"". count (may be NULL): how many there are.
double metrics_sum(const struct metrics_page *page, const char *name, const char *labels,
                   size_t *count);

#endif
