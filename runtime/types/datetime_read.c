// SPDX-License-Identifier: Apache-2.0
// A date or timestamp in any of PostgreSQL's spellings (datetime_reading.h): the fields are given
// their meaning from left to right, then the whole is checked.
//
// Invariant: a part (year, hour, zone, …) is set once; a field that would set it again is an error.
#include "runtime/types/datetime_reading.h"
#include "runtime/types/digits.h"

#include <stdlib.h>

static enum weir_datetime_outcome refuse_zone(struct weir_datetime_reading *reading,
                                              const char *name)
{
    reading->zone_name = name;
    return WEIR_OUTCOME_ZONE_NAME;
}

// --- fields ----------------------------------------------------------------------------------

static enum weir_datetime_outcome set_julian_day(struct weir_datetime_reading *reading,
                                                 int32_t julian_day)
{
    if (julian_day < 0) {
        return WEIR_OUTCOME_RANGE;
    }
    weir_civil_from_days((int64_t)julian_day - 2451545, &reading->civil);
    reading->is_julian = true;
    reading->new_parts = WEIR_PART_DATE;
    return WEIR_OUTCOME_OK;
}

// A number behind a letter that says what it is: y2025, j2451187.5, t0405.
static enum weir_datetime_outcome read_labelled(struct weir_datetime_reading *reading, char *text)
{
    int32_t value;
    const char *end;
    enum weir_datetime_unit unit = reading->unit;
    struct weir_civil *civil = &reading->civil;
    reading->unit = WEIR_UNIT_NONE;
    reading->special = WEIR_SPECIAL_NONE;
    if (!weir_datetime_read_int(text, &value, &end)) {
        return WEIR_OUTCOME_RANGE;
    }
    bool may_have_fraction =
        unit == WEIR_UNIT_JULIAN || unit == WEIR_UNIT_TIME || unit == WEIR_UNIT_SECOND;
    if (*end != '\0' && (*end != '.' || !may_have_fraction)) {
        return WEIR_OUTCOME_SYNTAX;
    }
    enum weir_datetime_outcome outcome = WEIR_OUTCOME_OK;
    switch (unit) {
    case WEIR_UNIT_YEAR:
        civil->year = value;
        reading->new_parts = WEIR_PART_YEAR;
        return WEIR_OUTCOME_OK;
    case WEIR_UNIT_MONTH:
        if ((reading->parts & WEIR_PART_MONTH) != 0 && (reading->parts & WEIR_PART_HOUR) != 0) {
            civil->minute = value;
            reading->new_parts = WEIR_PART_MINUTE;
        } else {
            civil->month = value;
            reading->new_parts = WEIR_PART_MONTH;
        }
        return WEIR_OUTCOME_OK;
    case WEIR_UNIT_DAY:
        civil->day = value;
        reading->new_parts = WEIR_PART_DAY;
        return WEIR_OUTCOME_OK;
    case WEIR_UNIT_HOUR:
        civil->hour = value;
        reading->new_parts = WEIR_PART_HOUR;
        return WEIR_OUTCOME_OK;
    case WEIR_UNIT_MINUTE:
        civil->minute = value;
        reading->new_parts = WEIR_PART_MINUTE;
        return WEIR_OUTCOME_OK;
    case WEIR_UNIT_SECOND:
        civil->second = value;
        reading->new_parts = WEIR_PART_SECOND;
        if (*end == '.') {
            outcome = weir_datetime_read_fraction(reading, end);
            reading->new_parts |= WEIR_PART_FRACTION;
        }
        return outcome;
    case WEIR_UNIT_JULIAN:
        outcome = set_julian_day(reading, value);
        if (outcome == WEIR_OUTCOME_OK && *end == '.') {
            char *rest;
            double days = strtod(end, &rest);
            if (*rest != '\0') {
                return WEIR_OUTCOME_SYNTAX;
            }
            int64_t us = (int64_t)(days * (double)WEIR_DAY_US);
            civil->hour = (int32_t)(us / WEIR_HOUR_US);
            civil->minute = (int32_t)(us / WEIR_MINUTE_US % 60);
            civil->second = (int32_t)(us / WEIR_SECOND_US % 60);
            civil->microsecond = (int32_t)(us % WEIR_SECOND_US);
            reading->new_parts |= WEIR_PART_TIME;
        }
        return outcome;
    case WEIR_UNIT_TIME:
        outcome = weir_datetime_read_run_together(reading, text, reading->parts | WEIR_PART_DATE);
        return outcome == WEIR_OUTCOME_OK && reading->new_parts != WEIR_PART_TIME
                   ? WEIR_OUTCOME_SYNTAX
                   : outcome;
    case WEIR_UNIT_NONE:
    case WEIR_UNIT_NOT_INPUT:
        break;
    }
    return WEIR_OUTCOME_SYNTAX;
}

// A number where only a time is wanted: hhmmss, hhmm, or what would stand behind a date.
static enum weir_datetime_outcome read_time_number(struct weir_datetime_reading *reading,
                                                   char *text)
{
    const char *point = strchr(text, '.');
    uint32_t parts = reading->parts | WEIR_PART_DATE;
    if (point != NULL && reading->may_begin_with_date) {
        return weir_datetime_read_date(reading, text);
    }
    if (point != NULL) {
        return point - text > 2 ? weir_datetime_read_run_together(reading, text, parts)
                                : WEIR_OUTCOME_SYNTAX;
    }
    return strlen(text) > 4 ? weir_datetime_read_run_together(reading, text, parts)
                            : weir_datetime_read_number(reading, text, parts);
}

static enum weir_datetime_outcome read_number_field(struct weir_datetime_reading *reading,
                                                    char *text)
{
    if (reading->unit != WEIR_UNIT_NONE) {
        return read_labelled(reading, text);
    }
    if (reading->is_time_of_day) {
        return read_time_number(reading, text);
    }
    size_t length = strlen(text);
    const char *point = strchr(text, '.');
    if (point != NULL && (reading->parts & WEIR_PART_DATE) == 0) {
        return weir_datetime_read_date(reading, text);
    }
    if (point != NULL && point - text > 2) {
        return weir_datetime_read_run_together(reading, text, reading->parts);
    }
    // Six digits and more are a date or a time, unless there is one of each.
    if (length >= 6 &&
        ((reading->parts & WEIR_PART_DATE) == 0 || (reading->parts & WEIR_PART_TIME) == 0)) {
        return weir_datetime_read_run_together(reading, text, reading->parts);
    }
    return weir_datetime_read_number(reading, text, reading->parts);
}

static enum weir_datetime_outcome read_date_field(struct weir_datetime_reading *reading, char *text)
{
    if (reading->unit == WEIR_UNIT_JULIAN) { // j2451187-08
        int32_t julian_day;
        const char *end;
        reading->unit = WEIR_UNIT_NONE;
        if (!weir_datetime_read_int(text, &julian_day, &end)) {
            return WEIR_OUTCOME_RANGE;
        }
        enum weir_datetime_outcome outcome = set_julian_day(reading, julian_day);
        if (outcome == WEIR_OUTCOME_OK) {
            outcome = weir_datetime_read_zone(end, &reading->zone_s);
        }
        reading->new_parts = WEIR_PART_DATE | WEIR_PART_TIME | WEIR_PART_ZONE;
        return outcome;
    }
    uint32_t month_and_day = WEIR_PART_MONTH | WEIR_PART_DAY;
    bool wants_date = reading->is_time_of_day ? reading->may_begin_with_date
                                              : (reading->parts & month_and_day) != month_and_day;
    if (reading->unit == WEIR_UNIT_NONE && wants_date) {
        return weir_datetime_read_date(reading, text);
    }
    if (!weir_is_digit(text[0]) && reading->unit == WEIR_UNIT_NONE) {
        return refuse_zone(reading, text);
    }
    // hhmmss-zz
    char *zone = strchr(text, '-');
    if ((reading->unit != WEIR_UNIT_NONE && reading->unit != WEIR_UNIT_TIME) ||
        (reading->parts & WEIR_PART_TIME) == WEIR_PART_TIME || zone == NULL) {
        return WEIR_OUTCOME_SYNTAX;
    }
    reading->unit = WEIR_UNIT_NONE;
    enum weir_datetime_outcome outcome = weir_datetime_read_zone(zone, &reading->zone_s);
    if (outcome == WEIR_OUTCOME_OK) {
        *zone = '\0';
        uint32_t date = reading->is_time_of_day ? WEIR_PART_DATE : 0;
        outcome = weir_datetime_read_run_together(reading, text, reading->parts | date);
        reading->new_parts |= WEIR_PART_ZONE;
    }
    return outcome;
}

static enum weir_datetime_outcome read_special(struct weir_datetime_reading *reading,
                                               enum weir_datetime_special special)
{
    reading->special = special;
    reading->new_parts = WEIR_PART_SPECIAL;
    return WEIR_OUTCOME_OK;
}

static enum weir_datetime_outcome read_month_name(struct weir_datetime_reading *reading,
                                                  int32_t month)
{
    struct weir_civil *civil = &reading->civil;
    reading->new_parts = WEIR_PART_MONTH;
    if ((reading->parts & WEIR_PART_MONTH) != 0 && !reading->has_month_name &&
        (reading->parts & WEIR_PART_DAY) == 0 && civil->month >= 1 && civil->month <= 31) {
        civil->day = civil->month; // "4 march": the number was the day
        reading->new_parts = WEIR_PART_DAY;
    }
    reading->has_month_name = true;
    civil->month = month;
    return WEIR_OUTCOME_OK;
}

static enum weir_datetime_outcome read_unknown_word(struct weir_datetime_reading *reading,
                                                    const char *text)
{
    uint32_t before = reading->is_time_of_day ? WEIR_PART_TIME : WEIR_PART_DATE;
    bool may_be_zone = (reading->parts & before) == before && strlen(text) >= 3;
    return may_be_zone ? refuse_zone(reading, text) : WEIR_OUTCOME_SYNTAX;
}

static enum weir_datetime_outcome read_word(struct weir_datetime_reading *reading, const char *text,
                                            const struct weir_datetime_field *next)
{
    int32_t value;
    enum weir_datetime_word word = weir_datetime_word_find(text, &value);
    bool is_of_dates = word == WEIR_WORD_MONTH || word == WEIR_WORD_WEEKDAY ||
                       word == WEIR_WORD_EPOCH || word == WEIR_WORD_INFINITY ||
                       word == WEIR_WORD_MINUS_INFINITY ||
                       (word == WEIR_WORD_CLOCK && strcmp(text, "now") != 0);
    if (reading->is_time_of_day && is_of_dates) {
        return WEIR_OUTCOME_SYNTAX;
    }
    switch (word) {
    case WEIR_WORD_IGNORED:
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_MONTH:
        return read_month_name(reading, value);
    case WEIR_WORD_WEEKDAY:
        reading->new_parts = WEIR_PART_WEEKDAY;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_UNIT:
        reading->unit = (enum weir_datetime_unit)value;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_TIME:
        if ((!reading->is_time_of_day && (reading->parts & WEIR_PART_DATE) != WEIR_PART_DATE) ||
            next == NULL ||
            (next->class != WEIR_DATETIME_NUMBER && next->class != WEIR_DATETIME_TIME &&
             next->class != WEIR_DATETIME_DATE)) {
            return WEIR_OUTCOME_SYNTAX;
        }
        reading->unit = WEIR_UNIT_TIME;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_MERIDIEM:
        reading->has_meridiem = true;
        reading->is_pm = value != 0;
        reading->new_parts = WEIR_PART_MERIDIEM;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_ERA:
        reading->is_bc = value != 0;
        reading->new_parts = WEIR_PART_ERA;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_UTC:
        reading->zone_s = 0;
        reading->new_parts = WEIR_PART_ZONE;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_MIDNIGHT:
        reading->special = WEIR_SPECIAL_NONE;
        reading->zone_s = 0;
        reading->civil.hour = reading->civil.minute = reading->civil.second = 0;
        reading->new_parts = WEIR_PART_TIME | WEIR_PART_ZONE;
        return WEIR_OUTCOME_OK;
    case WEIR_WORD_EPOCH:
        return read_special(reading, WEIR_SPECIAL_EPOCH);
    case WEIR_WORD_INFINITY:
        return read_special(reading, WEIR_SPECIAL_INFINITY);
    case WEIR_WORD_MINUS_INFINITY:
        return read_special(reading, WEIR_SPECIAL_MINUS_INFINITY);
    case WEIR_WORD_CLOCK:
        return WEIR_OUTCOME_CLOCK;
    case WEIR_WORD_DAYLIGHT_SAVING:
        return refuse_zone(reading, text);
    case WEIR_WORD_UNKNOWN:
        break;
    }
    return read_unknown_word(reading, text);
}

static enum weir_datetime_outcome read_field(struct weir_datetime_reading *reading,
                                             const struct weir_datetime_field *field,
                                             const struct weir_datetime_field *next)
{
    switch (field->class) {
    case WEIR_DATETIME_NUMBER:
        return read_number_field(reading, field->text);
    case WEIR_DATETIME_DATE:
        return read_date_field(reading, field->text);
    case WEIR_DATETIME_TIME:
        if (!reading->is_time_of_day && reading->unit != WEIR_UNIT_NONE &&
            reading->unit != WEIR_UNIT_TIME) {
            return WEIR_OUTCOME_SYNTAX;
        }
        reading->unit = WEIR_UNIT_NONE;
        return weir_datetime_read_time(reading, field->text);
    case WEIR_DATETIME_ZONE:
        reading->new_parts = WEIR_PART_ZONE;
        return weir_datetime_read_zone(field->text, &reading->zone_s);
    case WEIR_DATETIME_WORD:
        return read_word(reading, field->text, next);
    }
    return WEIR_OUTCOME_SYNTAX;
}

// --- checks ----------------------------------------------------------------------------------

static enum weir_datetime_outcome check_year(struct weir_datetime_reading *reading)
{
    int32_t *year = &reading->civil.year;
    if (reading->is_julian) {
        return WEIR_OUTCOME_OK;
    }
    if (reading->is_bc) {
        if (*year <= 0) {
            return WEIR_OUTCOME_RANGE;
        }
        *year = 1 - *year;
        return WEIR_OUTCOME_OK;
    }
    if (reading->is_year_short) {
        if (*year < 0) {
            return WEIR_OUTCOME_RANGE;
        }
        *year += *year < 70 ? 2000 : *year < 100 ? 1900 : 0;
        return WEIR_OUTCOME_OK;
    }
    return *year > 0 ? WEIR_OUTCOME_OK : WEIR_OUTCOME_RANGE;
}

static enum weir_datetime_outcome check_date(struct weir_datetime_reading *reading)
{
    struct weir_civil *civil = &reading->civil;
    uint32_t parts = reading->parts;
    if ((parts & WEIR_PART_YEAR) != 0) {
        enum weir_datetime_outcome outcome = check_year(reading);
        if (outcome != WEIR_OUTCOME_OK) {
            return outcome;
        }
    }
    if ((parts & WEIR_PART_DAY_OF_YEAR) != 0) {
        weir_civil_from_days(weir_days_from_civil(civil->year, 1, 1) + reading->day_of_year - 1,
                             civil);
    }
    if ((parts & WEIR_PART_MONTH) != 0 && (civil->month < 1 || civil->month > 12)) {
        return WEIR_OUTCOME_MONTH_RANGE;
    }
    if ((parts & WEIR_PART_DAY) != 0 && (civil->day < 1 || civil->day > 31)) {
        return WEIR_OUTCOME_MONTH_RANGE;
    }
    if ((parts & WEIR_PART_DATE) == WEIR_PART_DATE &&
        civil->day > weir_days_in_month(civil->year, civil->month)) {
        return WEIR_OUTCOME_RANGE;
    }
    return WEIR_OUTCOME_OK;
}

static enum weir_datetime_outcome check_whole(struct weir_datetime_reading *reading)
{
    enum weir_datetime_outcome outcome = check_date(reading);
    if (outcome != WEIR_OUTCOME_OK) {
        return outcome;
    }
    if (reading->has_meridiem) {
        int32_t *hour = &reading->civil.hour;
        if (*hour > 12) {
            return WEIR_OUTCOME_RANGE;
        }
        *hour = *hour % 12 + (reading->is_pm ? 12 : 0);
    }
    // Infinity and epoch need no date; what stands beside them was checked all the same.
    bool is_special = reading->special != WEIR_SPECIAL_NONE;
    uint32_t needed = reading->is_time_of_day ? WEIR_PART_TIME : is_special ? 0 : WEIR_PART_DATE;
    return (reading->parts & needed) == needed ? WEIR_OUTCOME_OK : WEIR_OUTCOME_SYNTAX;
}

static enum weir_datetime_outcome read_all(struct weir_datetime_fields *fields,
                                           struct weir_datetime_reading *reading)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct weir_datetime_field *next =
            i + 1 < fields->count ? &fields->fields[i + 1] : NULL;
        reading->new_parts = 0;
        reading->may_begin_with_date =
            i == 0 && next != NULL &&
            (fields->fields[fields->count - 1].class == WEIR_DATETIME_DATE ||
             (next->class == WEIR_DATETIME_TIME && fields->fields[0].class == WEIR_DATETIME_DATE));
        enum weir_datetime_outcome outcome = read_field(reading, &fields->fields[i], next);
        if (outcome != WEIR_OUTCOME_OK) {
            return outcome;
        }
        if ((reading->new_parts & reading->parts) != 0) {
            return WEIR_OUTCOME_SYNTAX;
        }
        reading->parts |= reading->new_parts;
    }
    return check_whole(reading);
}

static bool refuse(enum weir_datetime_outcome outcome, const struct weir_datetime_reading *reading,
                   const char *type_name, struct weir_view text, struct weir_value_error *error)
{
    int shown = text.size_bytes < 128 ? (int)text.size_bytes : 128;
    switch (outcome) {
    case WEIR_OUTCOME_RANGE:
    case WEIR_OUTCOME_MONTH_RANGE:
        weir_value_error_set(error, "date/time field value out of range: \"%.*s\"", shown,
                             text.data);
        if (outcome == WEIR_OUTCOME_MONTH_RANGE) {
            weir_value_error_detail(error, "dates are read as year-month-day or month/day/year");
        }
        return false;
    case WEIR_OUTCOME_ZONE_RANGE:
        return weir_value_error_set(error, "time zone displacement out of range: \"%.*s\"", shown,
                                    text.data);
    case WEIR_OUTCOME_ZONE_NAME:
        return weir_value_error_set(error,
                                    "time zone \"%.64s\" is not supported: write a numeric offset "
                                    "(+01:00), Z or UTC",
                                    reading->zone_name);
    case WEIR_OUTCOME_CLOCK:
        return weir_value_error_set(error,
                                    "\"%.*s\" is not taken as a %s: it would change with the day "
                                    "of a replay",
                                    shown, text.data, type_name);
    case WEIR_OUTCOME_OK:
    case WEIR_OUTCOME_SYNTAX:
        break;
    }
    return weir_value_error_syntax(error, type_name, text);
}

static bool read_text(struct weir_view text, const char *type_name,
                      struct weir_datetime_reading *reading, struct weir_value_error *error)
{
    struct weir_datetime_fields fields;
    enum weir_datetime_outcome outcome = WEIR_OUTCOME_SYNTAX;
    if (weir_datetime_split(text, &fields)) {
        outcome = read_all(&fields, reading);
    }
    return outcome == WEIR_OUTCOME_OK || refuse(outcome, reading, type_name, text, error);
}

bool weir_datetime_read(struct weir_view text, const char *type_name,
                        struct weir_datetime_reading *reading, struct weir_value_error *error)
{
    *reading = (struct weir_datetime_reading){.special = WEIR_SPECIAL_NONE};
    return read_text(text, type_name, reading, error);
}

bool weir_datetime_read_time_of_day(struct weir_view text, struct weir_datetime_reading *reading,
                                    struct weir_value_error *error)
{
    *reading = (struct weir_datetime_reading){.is_time_of_day = true};
    return read_text(text, "time", reading, error);
}
