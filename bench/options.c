// SPDX-License-Identifier: Apache-2.0
//
// Command lines of the measuring programs (see options.h).
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weir_bench_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    // Not exit(): other threads may be in the middle of librdkafka's calls.
    fflush(stdout);
    _Exit(2);
}

int64_t weir_bench_parse_number(const char *text, const char *what)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 0) {
        weir_bench_die("%s: `%s` is not a number from 0 up", what, text);
    }
    return value;
}

static void print_help(const struct weir_bench_option *options, size_t option_count)
{
    for (size_t i = 0; i < option_count; i++) {
        const char *value = "";
        switch (options[i].kind) {
        case WEIR_BENCH_TEXT:
            value = " TEXT";
            break;
        case WEIR_BENCH_NUMBER:
            value = " N";
            break;
        case WEIR_BENCH_FLAG:
            break;
        case WEIR_BENCH_SETTINGS:
            value = " P=V";
            break;
        }
        fprintf(stderr, "  %s%-*s %s\n", options[i].name, (int)(24 - strlen(options[i].name)),
                value, options[i].help);
    }
}

static const struct weir_bench_option *find_option(const struct weir_bench_option *options,
                                                   size_t option_count, const char *name)
{
    for (size_t i = 0; i < option_count; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return &options[i];
        }
    }
    print_help(options, option_count);
    weir_bench_die("unknown option %s", name);
}

static void store(const struct weir_bench_option *option, const char *value)
{
    switch (option->kind) {
    case WEIR_BENCH_TEXT:
        *(const char **)option->target = value;
        break;
    case WEIR_BENCH_NUMBER:
        *(int64_t *)option->target = weir_bench_parse_number(value, option->name);
        break;
    case WEIR_BENCH_FLAG:
        *(bool *)option->target = true;
        break;
    case WEIR_BENCH_SETTINGS: {
        struct weir_bench_settings *settings = option->target;
        if (settings->count == WEIR_BENCH_SETTINGS_MAX || strchr(value, '=') == NULL) {
            weir_bench_die("%s %s: property=value wanted, at most %d", option->name, value,
                           WEIR_BENCH_SETTINGS_MAX);
        }
        settings->assignments[settings->count++] = value;
        break;
    }
    }
}

size_t weir_bench_parse(int argc, char **argv, const struct weir_bench_option *options,
                        size_t option_count, const char **arguments, size_t arguments_max)
{
    size_t argument_count = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            if (argument_count == arguments_max) {
                weir_bench_die("too many arguments: %s", argv[i]);
            }
            arguments[argument_count++] = argv[i];
            continue;
        }
        const struct weir_bench_option *option = find_option(options, option_count, argv[i]);
        if (option->kind == WEIR_BENCH_FLAG) {
            store(option, NULL);
        } else if (i + 1 == argc) {
            weir_bench_die("%s needs a value", argv[i]);
        } else {
            store(option, argv[++i]);
        }
    }
    return argument_count;
}
