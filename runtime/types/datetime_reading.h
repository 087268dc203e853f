// SPDX-License-Identifier: Apache-2.0
// The second half of reading a date or timestamp: what is known of it so far, and the readers of
// single fields that add to it. Internal to this folder. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_DATETIME_READING_H
#define WEIR_RUNTIME_TYPES_DATETIME_READING_H

#include "runtime/types/datetime.h"
#include "runtime/types/datetime_fields.h"

enum weir_datetime_part {
    WEIR_PART_YEAR = 1 << 0,
    WEIR_PART_MONTH = 1 << 1,
    WEIR_PART_DAY = 1 << 2,
    WEIR_PART_DAY_OF_YEAR = 1 << 3,
    WEIR_PART_HOUR = 1 << 4,
    WEIR_PART_MINUTE = 1 << 5,
    WEIR_PART_SECOND = 1 << 6,
    WEIR_PART_FRACTION = 1 << 7,
    WEIR_PART_ZONE = 1 << 8,
    WEIR_PART_MERIDIEM = 1 << 9,
    WEIR_PART_ERA = 1 << 10,
    WEIR_PART_WEEKDAY = 1 << 11,
    WEIR_PART_SPECIAL = 1 << 12,
    WEIR_PART_DATE = WEIR_PART_YEAR | WEIR_PART_MONTH | WEIR_PART_DAY,
    WEIR_PART_TIME = WEIR_PART_HOUR | WEIR_PART_MINUTE | WEIR_PART_SECOND | WEIR_PART_FRACTION,
};

enum weir_datetime_outcome {
    WEIR_OUTCOME_OK,
    WEIR_OUTCOME_SYNTAX,
    WEIR_OUTCOME_RANGE,       // a field is out of range
    WEIR_OUTCOME_MONTH_RANGE, // the same, perhaps because month and day are swapped
    WEIR_OUTCOME_ZONE_RANGE,
    WEIR_OUTCOME_ZONE_NAME, // a zone that weir does not know
    WEIR_OUTCOME_CLOCK,     // now, today, …
};

enum weir_datetime_special {
    WEIR_SPECIAL_NONE,
    WEIR_SPECIAL_EPOCH,
    WEIR_SPECIAL_INFINITY,
    WEIR_SPECIAL_MINUS_INFINITY
};

struct weir_datetime_reading {
    struct weir_civil civil; // .year as written until it is checked
    uint32_t parts;          // known so far
    uint32_t new_parts;      // by the field being read
    int32_t day_of_year;
    int64_t zone_s; // east of Greenwich
    enum weir_datetime_special special;
    enum weir_datetime_unit unit; // of the next number
    bool is_year_short;           // one or two digits
    bool has_month_name;
    bool is_julian;
    bool is_bc;
    bool has_meridiem;
    bool is_pm;
    const char *zone_name; // that was refused
    bool is_time_of_day;   // a date is no more than tolerated
    bool may_begin_with_date;
};

// The whole text. Error: PostgreSQL's message for the type; a zone by its name.
bool weir_datetime_read(struct weir_view text, const char *type_name,
                        struct weir_datetime_reading *reading, struct weir_value_error *error);

// The same for a time of day: whatever date stands there is left out.
bool weir_datetime_read_time_of_day(struct weir_view text, struct weir_datetime_reading *reading,
                                    struct weir_value_error *error);

// Like strtol, but for the range of int: false when beyond it. No digits: 0, and *end == text.
bool weir_datetime_read_int(const char *text, int32_t *value, const char **end);

// Each adds what it finds to the reading and says in new_parts what that is. `parts`: what is to be
// taken as known. Texts may be cut with NULs.

// ".25". Rounded as double arithmetic does it, so that the last digit is PostgreSQL's.
enum weir_datetime_outcome weir_datetime_read_fraction(struct weir_datetime_reading *reading,
                                                       const char *text);
// +hh, +hhmm, +hh:mm, +hh:mm:ss
enum weir_datetime_outcome weir_datetime_read_zone(const char *text, int64_t *zone_s);
// yyyymmdd, yymmdd, hhmmss[.fff], hhmm
enum weir_datetime_outcome weir_datetime_read_run_together(struct weir_datetime_reading *reading,
                                                           char *text, uint32_t parts);
// A number whose place decides: year-month-day if it begins with a long year, else month-day-year.
enum weir_datetime_outcome weir_datetime_read_number(struct weir_datetime_reading *reading,
                                                     char *text, uint32_t parts);
// 2025-03-04, 4-mar-2025, 3/4/2025, 1999.008: the whole date in one field.
enum weir_datetime_outcome weir_datetime_read_date(struct weir_datetime_reading *reading,
                                                   char *text);
// hh:mm, hh:mm:ss[.fff], mm:ss.fff
enum weir_datetime_outcome weir_datetime_read_time(struct weir_datetime_reading *reading,
                                                   const char *text);

#endif
