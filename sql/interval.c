// SPDX-License-Identifier: Apache-2.0
// Lengths of time from text (interval.h): a walk over pairs of number and unit.
#include "sql/interval.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const no_interval = "it is no length of time";
static const char *const too_large = "it is out of range";

static const struct {
    const char *name;
    int64_t us; // 0: of no fixed length
} units[] = {
    {"us", 1},
    {"µs", 1},
    {"usec", 1},
    {"usecs", 1},
    {"microsecond", 1},
    {"microseconds", 1},
    {"ms", 1000},
    {"msec", 1000},
    {"msecs", 1000},
    {"millisecond", 1000},
    {"milliseconds", 1000},
    {"s", 1000000},
    {"sec", 1000000},
    {"secs", 1000000},
    {"second", 1000000},
    {"seconds", 1000000},
    {"m", 60000000},
    {"min", 60000000},
    {"mins", 60000000},
    {"minute", 60000000},
    {"minutes", 60000000},
    {"h", 3600000000},
    {"hr", 3600000000},
    {"hrs", 3600000000},
    {"hour", 3600000000},
    {"hours", 3600000000},
    {"d", 86400000000},
    {"day", 86400000000},
    {"days", 86400000000},
    {"w", 604800000000},
    {"week", 604800000000},
    {"weeks", 604800000000},
    {"mon", 0},
    {"mons", 0},
    {"month", 0},
    {"months", 0},
    {"y", 0},
    {"yr", 0},
    {"yrs", 0},
    {"year", 0},
    {"years", 0},
    {"decade", 0},
    {"decades", 0},
    {"century", 0},
    {"centuries", 0},
    {"millennium", 0},
    {"millennia", 0},
};

struct number {
    int64_t whole;
    int64_t millionths; // what is behind the point, cut to six digits
    bool is_negative;
};

static bool parse_number(const char **at, struct number *number, const char **why)
{
    const char *c = *at;
    *number = (struct number){.is_negative = *c == '-'};
    c += *c == '-' || *c == '+';
    if (!isdigit((unsigned char)*c) && *c != '.') {
        *why = no_interval;
        return false;
    }
    for (; isdigit((unsigned char)*c); c++) {
        if (__builtin_mul_overflow(number->whole, 10, &number->whole) ||
            __builtin_add_overflow(number->whole, *c - '0', &number->whole)) {
            *why = too_large;
            return false;
        }
    }
    if (*c == '.') {
        c++;
        for (int64_t weight = 100000; isdigit((unsigned char)*c); c++, weight /= 10) {
            number->millionths += weight * (*c - '0');
        }
    }
    *at = c;
    return true;
}

static bool add(const struct number *number, int64_t unit_us, int64_t *sum_us, const char **why)
{
    int64_t us;
    // No unit is longer than 604,800 seconds: the second product cannot overflow.
    if (__builtin_mul_overflow(number->whole, unit_us, &us) ||
        __builtin_add_overflow(us, number->millionths * unit_us / 1000000, &us) ||
        __builtin_add_overflow(*sum_us, number->is_negative ? -us : us, sum_us)) {
        *why = too_large;
        return false;
    }
    return true;
}

// hh:mm[:ss[.ffffff]], of which `number` is the hours.
static bool parse_clock(const char **at, struct number hours, int64_t *sum_us, const char **why)
{
    int64_t unit_us = 3600000000;
    struct number part = hours;
    while (add(&part, unit_us, sum_us, why)) {
        if (**at != ':') {
            return true;
        }
        if (unit_us == 1000000 || part.millionths != 0 || !isdigit((unsigned char)(*at)[1])) {
            *why = no_interval;
            return false;
        }
        *at += 1;
        unit_us /= 60;
        if (!parse_number(at, &part, why)) {
            return false;
        }
        if (part.whole > 59) {
            *why = too_large;
            return false;
        }
        part.is_negative = hours.is_negative;
    }
    return false;
}

static bool find_unit(const char **at, int64_t *unit_us, const char **why)
{
    const char *c = *at;
    c += strspn(c, " \t");
    size_t bytes = 0;
    while (isalpha((unsigned char)c[bytes]) || (c[bytes] & 0x80) != 0) {
        bytes++;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == bytes && strncasecmp(c, units[i].name, bytes) == 0) {
            *unit_us = units[i].us;
            *at = c + bytes;
            *why = "months and years have no fixed length";
            return units[i].us != 0;
        }
    }
    *why = bytes == 0 ? "it has no unit" : "it has an unknown unit";
    return false;
}

// P1DT2H3M4S: M is a month before the T.
static bool parse_iso(const char *at, int64_t *sum_us, const char **why)
{
    bool is_time = false;
    bool is_empty = true;
    for (at++; *at != '\0';) {
        if ((*at == 'T' || *at == 't') && !is_time) {
            is_time = true;
            at++;
            continue;
        }
        struct number number;
        int64_t unit_us;
        if (!parse_number(&at, &number, why)) {
            return false;
        }
        bool is_month = (*at == 'M' || *at == 'm') && !is_time;
        char unit[2] = {*at, '\0'};
        const char *unit_at = is_month ? "mon" : unit;
        if (!find_unit(&unit_at, &unit_us, why) || !add(&number, unit_us, sum_us, why)) {
            return false;
        }
        at++;
        is_empty = false;
    }
    *why = no_interval;
    return !is_empty;
}

bool weir_sql_length_parse(const char *text, int64_t *us, const char **why)
{
    *us = 0;
    const char *at = text + strspn(text, " \t");
    if (*at == 'P' || *at == 'p') {
        return parse_iso(at, us, why);
    }
    at += *at == '@';
    at += strspn(at, " \t");
    if (*at == '\0') {
        *why = no_interval;
        return false;
    }
    while (*at != '\0') {
        struct number number;
        int64_t unit_us;
        if (!parse_number(&at, &number, why)) {
            return false;
        }
        if (*at == ':') {
            if (!parse_clock(&at, number, us, why)) {
                return false;
            }
        } else if (!find_unit(&at, &unit_us, why) || !add(&number, unit_us, us, why)) {
            return false;
        }
        at += strspn(at, " \t");
    }
    return true;
}

const char *weir_sql_length_with_unit(struct weir_arena *arena, int64_t modifier, const char *text)
{
    static const struct {
        int64_t modifier;
        const char *unit;
    } fields[] = {{1 << 1, "month"}, {1 << 2, "year"},    {1 << 3, "day"},
                  {1 << 10, "hour"}, {1 << 11, "minute"}, {1 << 12, "second"}};
    bool is_number = text[strspn(text, "+-.0123456789 ")] == '\0';
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (is_number && modifier == fields[i].modifier) {
            return weir_arena_printf(arena, "%s %s", text, fields[i].unit);
        }
    }
    return text;
}
