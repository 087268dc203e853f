// SPDX-License-Identifier: Apache-2.0
// Readers of single fields of a date or timestamp (datetime_reading.h): numbers, dates, times,
// offsets. Which part a bare number is depends on the parts that are known already.
#include "runtime/types/datetime_reading.h"
#include "runtime/types/digits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// --- numbers ---------------------------------------------------------------------------------

bool weir_datetime_read_int(const char *text, int32_t *value, const char **end)
{
    char *rest;
    errno = 0;
    long number = strtol(text, &rest, 10);
    *end = rest;
    *value = (int32_t)number;
    return errno != ERANGE && number >= INT32_MIN && number <= INT32_MAX;
}

// Digits that are cut off anywhere: no check.
static int32_t read_cut(const char *text)
{
    return (int32_t)strtol(text, NULL, 10);
}

enum weir_datetime_outcome weir_datetime_read_fraction(struct weir_datetime_reading *reading,
                                                       const char *text)
{
    if (text[1] == '\0') {
        reading->civil.microsecond = 0;
        return WEIR_OUTCOME_OK;
    }
    char *end;
    errno = 0;
    double fraction = strtod(text, &end);
    if (*end != '\0' || errno != 0) {
        return WEIR_OUTCOME_SYNTAX;
    }
    reading->civil.microsecond = (int32_t)rint(fraction * 1000000);
    return WEIR_OUTCOME_OK;
}

// --- zones -----------------------------------------------------------------------------------

enum weir_datetime_outcome weir_datetime_read_zone(const char *text, int64_t *zone_s)
{
    int32_t hours;
    int32_t minutes = 0;
    int32_t seconds = 0;
    const char *at;
    if (text[0] != '+' && text[0] != '-') {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (!weir_datetime_read_int(text + 1, &hours, &at)) {
        return WEIR_OUTCOME_ZONE_RANGE;
    }
    if (*at == ':') {
        if (!weir_datetime_read_int(at + 1, &minutes, &at) ||
            (*at == ':' && !weir_datetime_read_int(at + 1, &seconds, &at))) {
            return WEIR_OUTCOME_ZONE_RANGE;
        }
    } else if (*at == '\0' && strlen(text) > 3) {
        minutes = hours % 100;
        hours /= 100;
    }
    if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) {
        return WEIR_OUTCOME_ZONE_RANGE;
    }
    if (*at != '\0') {
        return WEIR_OUTCOME_SYNTAX;
    }
    *zone_s = (hours * 60 + minutes) * 60 + seconds;
    if (text[0] == '-') {
        *zone_s = -*zone_s;
    }
    return WEIR_OUTCOME_OK;
}

// --- dates and times -------------------------------------------------------------------------

enum weir_datetime_outcome weir_datetime_read_run_together(struct weir_datetime_reading *reading,
                                                           char *text, uint32_t parts)
{
    size_t length = strlen(text);
    char *point = strchr(text, '.');
    if (point != NULL) {
        errno = 0;
        double fraction = strtod(point, NULL);
        if (errno != 0) {
            return WEIR_OUTCOME_SYNTAX;
        }
        reading->civil.microsecond = (int32_t)rint(fraction * 1000000);
        *point = '\0';
        length = (size_t)(point - text);
    } else if ((parts & WEIR_PART_DATE) != WEIR_PART_DATE && length >= 6) {
        reading->new_parts = WEIR_PART_DATE;
        reading->civil.day = read_cut(text + length - 2);
        text[length - 2] = '\0';
        reading->civil.month = read_cut(text + length - 4);
        text[length - 4] = '\0';
        reading->civil.year = read_cut(text);
        reading->is_year_short |= length - 4 == 2;
        return WEIR_OUTCOME_OK;
    }
    if ((parts & WEIR_PART_TIME) == WEIR_PART_TIME || (length != 6 && length != 4)) {
        return WEIR_OUTCOME_SYNTAX;
    }
    reading->new_parts = WEIR_PART_TIME;
    reading->civil.second = 0;
    if (length == 6) {
        reading->civil.second = read_cut(text + 4);
        text[4] = '\0';
    }
    reading->civil.minute = read_cut(text + 2);
    text[2] = '\0';
    reading->civil.hour = read_cut(text);
    return WEIR_OUTCOME_OK;
}

static void set_year(struct weir_datetime_reading *reading, int32_t year, size_t length)
{
    reading->civil.year = year;
    reading->new_parts = WEIR_PART_YEAR;
    reading->is_year_short = length <= 2;
}

static void set_month(struct weir_datetime_reading *reading, int32_t month)
{
    reading->civil.month = month;
    reading->new_parts = WEIR_PART_MONTH;
}

static void set_day(struct weir_datetime_reading *reading, int32_t day)
{
    reading->civil.day = day;
    reading->new_parts = WEIR_PART_DAY;
}

enum weir_datetime_outcome weir_datetime_read_number(struct weir_datetime_reading *reading,
                                                     char *text, uint32_t parts)
{
    size_t length = strlen(text);
    int32_t value;
    const char *end;
    if (!weir_datetime_read_int(text, &value, &end)) {
        return WEIR_OUTCOME_RANGE;
    }
    if (end == text) {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (*end == '.') {
        if (end - text > 2) {
            return weir_datetime_read_run_together(reading, text, parts | WEIR_PART_DATE);
        }
        enum weir_datetime_outcome outcome = weir_datetime_read_fraction(reading, end);
        if (outcome != WEIR_OUTCOME_OK) {
            return outcome;
        }
    } else if (*end != '\0') {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (length == 3 && (parts & WEIR_PART_DATE) == WEIR_PART_YEAR && value >= 1 && value <= 366) {
        reading->day_of_year = value;
        reading->new_parts = WEIR_PART_DAY_OF_YEAR | WEIR_PART_MONTH | WEIR_PART_DAY;
        return WEIR_OUTCOME_OK;
    }
    switch (parts & WEIR_PART_DATE) {
    case 0:
        if (length >= 3) {
            set_year(reading, value, length);
        } else {
            set_month(reading, value);
        }
        return WEIR_OUTCOME_OK;
    case WEIR_PART_YEAR:
    case WEIR_PART_DAY:
        set_month(reading, value);
        return WEIR_OUTCOME_OK;
    case WEIR_PART_MONTH:
        if (reading->has_month_name && length >= 3) {
            set_year(reading, value, length);
        } else {
            set_day(reading, value);
        }
        return WEIR_OUTCOME_OK;
    case WEIR_PART_YEAR | WEIR_PART_MONTH:
        if (reading->has_month_name && length >= 3 && reading->is_year_short) {
            // What was taken for a year in dd-mon-yyyy is the day.
            set_day(reading, reading->civil.year);
            reading->civil.year = value;
            reading->is_year_short = false;
        } else {
            set_day(reading, value);
        }
        return WEIR_OUTCOME_OK;
    case WEIR_PART_MONTH | WEIR_PART_DAY:
        set_year(reading, value, length);
        return WEIR_OUTCOME_OK;
    case WEIR_PART_DATE:
        return weir_datetime_read_run_together(reading, text, parts);
    default:
        return WEIR_OUTCOME_SYNTAX;
    }
}

enum { DATE_PARTS_MAX = 25 };

// Cuts a date at everything that is neither digit nor letter, and between digits and letters (there
// the first character behind is lost, as in PostgreSQL).
static bool split_date(char *text, char *parts[static DATE_PARTS_MAX], uint32_t *count)
{
    *count = 0;
    while (*text != '\0' && *count < DATE_PARTS_MAX) {
        while (*text != '\0' && !weir_is_digit(*text) && !weir_is_alpha(*text)) {
            text++;
        }
        if (*text == '\0') {
            return false;
        }
        parts[(*count)++] = text;
        bool is_number = weir_is_digit(*text);
        while (is_number ? weir_is_digit(*text) : weir_is_alpha(*text)) {
            text++;
        }
        if (*text != '\0') {
            *text++ = '\0';
        }
    }
    return true;
}

enum weir_datetime_outcome weir_datetime_read_date(struct weir_datetime_reading *reading,
                                                   char *text)
{
    char *parts[DATE_PARTS_MAX];
    uint32_t count;
    if (!split_date(text, parts, &count)) {
        return WEIR_OUTCOME_SYNTAX;
    }
    uint32_t known = reading->parts;
    uint32_t found = 0;
    // Month names first: they decide what the numbers are.
    bool had_month_name = reading->has_month_name;
    reading->has_month_name = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!weir_is_alpha(parts[i][0])) {
            continue;
        }
        int32_t value;
        enum weir_datetime_word word = weir_datetime_word_find(parts[i], &value);
        if (word == WEIR_WORD_IGNORED) {
            continue;
        }
        if (word != WEIR_WORD_MONTH || (known & WEIR_PART_MONTH) != 0) {
            return WEIR_OUTCOME_SYNTAX;
        }
        reading->civil.month = value;
        reading->has_month_name = true;
        known |= WEIR_PART_MONTH;
        found |= WEIR_PART_MONTH;
        parts[i] = NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i] == NULL) {
            continue;
        }
        enum weir_datetime_outcome outcome = weir_datetime_read_number(reading, parts[i], known);
        if (outcome != WEIR_OUTCOME_OK) {
            return outcome;
        }
        if ((known & reading->new_parts) != 0) {
            return WEIR_OUTCOME_SYNTAX;
        }
        known |= reading->new_parts;
        found |= reading->new_parts;
    }
    reading->has_month_name = had_month_name;
    reading->new_parts = found;
    bool is_whole = (known & ~(uint32_t)(WEIR_PART_DAY_OF_YEAR | WEIR_PART_ZONE)) == WEIR_PART_DATE;
    return is_whole ? WEIR_OUTCOME_OK : WEIR_OUTCOME_SYNTAX;
}

static bool is_time_in_day(const struct weir_civil *civil)
{
    int64_t us = civil->hour * WEIR_HOUR_US + civil->minute * WEIR_MINUTE_US +
                 civil->second * WEIR_SECOND_US + civil->microsecond;
    return civil->hour <= 24 && us <= WEIR_DAY_US;
}

enum weir_datetime_outcome weir_datetime_read_time(struct weir_datetime_reading *reading,
                                                   const char *text)
{
    struct weir_civil *civil = &reading->civil;
    const char *at;
    char *hour_end;
    reading->new_parts = WEIR_PART_TIME;
    errno = 0;
    int64_t hour = strtoll(text, &hour_end, 10); // checked last, as are its fellows
    at = hour_end;
    if (errno == ERANGE) {
        return WEIR_OUTCOME_RANGE;
    }
    if (*at != ':') {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (!weir_datetime_read_int(at + 1, &civil->minute, &at)) {
        return WEIR_OUTCOME_RANGE;
    }
    civil->second = 0;
    civil->microsecond = 0;
    enum weir_datetime_outcome outcome = WEIR_OUTCOME_OK;
    if (*at == '.') {
        outcome = weir_datetime_read_fraction(reading, at);
        civil->second = civil->minute;
        civil->minute = (int32_t)(hour < 60 ? hour : 60);
        hour = 0;
    } else if (*at == ':') {
        if (!weir_datetime_read_int(at + 1, &civil->second, &at)) {
            return WEIR_OUTCOME_RANGE;
        }
        if (*at == '.') {
            outcome = weir_datetime_read_fraction(reading, at);
        } else if (*at != '\0') {
            return WEIR_OUTCOME_SYNTAX;
        }
    } else if (*at != '\0') {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (outcome != WEIR_OUTCOME_OK) {
        return outcome;
    }
    civil->hour = (int32_t)(hour < 25 ? hour : 25);
    bool is_valid = hour >= 0 && civil->minute >= 0 && civil->minute <= 59 && civil->second >= 0 &&
                    civil->second <= 60 && (reading->is_time_of_day || is_time_in_day(civil));
    return is_valid ? WEIR_OUTCOME_OK : WEIR_OUTCOME_RANGE;
}
