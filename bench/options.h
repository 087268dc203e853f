// SPDX-License-Identifier: Apache-2.0
//
// Command lines of the measuring programs: a table of options, read once at start.
// A fault is reported with the list of options and ends the process with 2: these are tools for the
// shell, not parts of weir. Thread: the main thread, before any other is started.
#ifndef WEIR_BENCH_OPTIONS_H
#define WEIR_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weir_bench_option_kind {
    WEIR_BENCH_TEXT,     // const char *
    WEIR_BENCH_NUMBER,   // int64_t, not negative
    WEIR_BENCH_FLAG,     // bool, without a value
    WEIR_BENCH_SETTINGS, // struct weir_bench_settings, property=value, may be repeated
};

enum { WEIR_BENCH_SETTINGS_MAX = 32 };

struct weir_bench_settings {
    size_t count;
    const char *assignments[WEIR_BENCH_SETTINGS_MAX]; // property=value, from the command line
};

struct weir_bench_option {
    const char *name; // with its dashes
    enum weir_bench_option_kind kind;
    void *target;
    const char *help;
};

// Reads options; what is not an option is left in `arguments` (room for `arguments_max`).
// Returns the number of arguments.
size_t weir_bench_parse(int argc, char **argv, const struct weir_bench_option *options,
                        size_t option_count, const char **arguments, size_t arguments_max);

int64_t weir_bench_parse_number(const char *text, const char *what);

// Prints "<program>: message" and ends the process with 2.
_Noreturn void weir_bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
