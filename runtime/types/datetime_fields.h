// SPDX-License-Identifier: Apache-2.0
// The first half of reading a date or timestamp: the text cut into fields, and the words that may
// stand in it. Internal to this folder; datetime_parse.c gives the fields their meaning.
// Thread: any; everything lies in the caller's struct.
#ifndef WEIR_RUNTIME_TYPES_DATETIME_FIELDS_H
#define WEIR_RUNTIME_TYPES_DATETIME_FIELDS_H

#include "runtime/base/view.h"

#include <stdbool.h>
#include <stdint.h>

enum { WEIR_DATETIME_FIELDS_MAX = 25, WEIR_DATETIME_TEXT_BYTES_MAX = 128 };

enum weir_datetime_class {
    WEIR_DATETIME_NUMBER, // 2025, 20250304, 3.5, .25
    WEIR_DATETIME_DATE,   // 2025-03-04, 4-mar-2025, 3.4.2025, america/new_york, 101500-08
    WEIR_DATETIME_TIME,   // 10:15:00.5
    WEIR_DATETIME_ZONE,   // +01:30
    WEIR_DATETIME_WORD,   // letters, a sign in front is part of it: t, z, -infinity
};

struct weir_datetime_field {
    enum weir_datetime_class class;
    char *text; // lower case, with NUL, to be changed by the reader
};

struct weir_datetime_fields {
    uint32_t count;
    struct weir_datetime_field fields[WEIR_DATETIME_FIELDS_MAX];
    char memory[WEIR_DATETIME_TEXT_BYTES_MAX + WEIR_DATETIME_FIELDS_MAX];
};

// false: no date in any spelling.
bool weir_datetime_split(struct weir_view text, struct weir_datetime_fields *out);

enum weir_datetime_word {
    WEIR_WORD_UNKNOWN,
    WEIR_WORD_IGNORED,  // at, on
    WEIR_WORD_MONTH,    // value 1..12
    WEIR_WORD_WEEKDAY,  // names of days say nothing
    WEIR_WORD_UNIT,     // value: enum weir_datetime_unit, of the number that follows
    WEIR_WORD_TIME,     // t: a time follows
    WEIR_WORD_MERIDIEM, // value 0 AM, 1 PM
    WEIR_WORD_ERA,      // value 0 AD, 1 BC
    WEIR_WORD_UTC,
    WEIR_WORD_MIDNIGHT, // allballs: 00:00:00 UTC
    WEIR_WORD_EPOCH,
    WEIR_WORD_INFINITY,
    WEIR_WORD_MINUS_INFINITY,
    WEIR_WORD_CLOCK, // now, today, …: depend on the day of reading
    WEIR_WORD_DAYLIGHT_SAVING,
};

enum weir_datetime_unit {
    WEIR_UNIT_NONE,
    WEIR_UNIT_YEAR,
    WEIR_UNIT_MONTH,
    WEIR_UNIT_DAY,
    WEIR_UNIT_HOUR,
    WEIR_UNIT_MINUTE,
    WEIR_UNIT_SECOND,
    WEIR_UNIT_JULIAN,
    WEIR_UNIT_TIME,
    WEIR_UNIT_NOT_INPUT, // dow, doy, isoyear, …: known, but no input
};

enum weir_datetime_word weir_datetime_word_find(const char *text, int32_t *value);

#endif
