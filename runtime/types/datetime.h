// SPDX-License-Identifier: Apache-2.0
// date, timestamp and timestamptz: calendar arithmetic, text input and output, the fields of
// extract() and date_trunc(). PostgreSQL 15 with TimeZone UTC and DateStyle "ISO, MDY".
//
// date: days since 2000-01-01; timestamp(tz): µs since 2000-01-01 00:00 (UTC). The ends of the
// integer types are the infinities. Years are astronomical: 0 is 1 BC, -1 is 2 BC.
// Thread: any; no allocation.
#ifndef WEIR_RUNTIME_TYPES_DATETIME_H
#define WEIR_RUNTIME_TYPES_DATETIME_H

#include "runtime/base/memory.h"
#include "runtime/types/numeric.h"
#include "runtime/types/type.h"
#include "runtime/types/value_error.h"

#include <stdbool.h>
#include <stdint.h>

#define WEIR_DATE_INFINITY INT32_MAX
#define WEIR_DATE_MINUS_INFINITY INT32_MIN
#define WEIR_DATE_MIN_DAYS INT32_C(-2451545)   // 4714-11-24 BC
#define WEIR_DATE_END_DAYS INT32_C(2145031949) // 5874898-01-01, exclusive
#define WEIR_TIMESTAMP_INFINITY INT64_MAX
#define WEIR_TIMESTAMP_MINUS_INFINITY INT64_MIN
#define WEIR_TIMESTAMP_MIN_US INT64_C(-211813488000000000) // 4714-11-24 00:00:00 BC
#define WEIR_TIMESTAMP_END_US INT64_C(9223371331200000000) // 294277-01-01, exclusive
#define WEIR_DAY_US INT64_C(86400000000)
#define WEIR_HOUR_US INT64_C(3600000000)
#define WEIR_MINUTE_US INT64_C(60000000)
#define WEIR_SECOND_US INT64_C(1000000)

static inline bool weir_date_is_finite(int32_t days)
{
    return days != WEIR_DATE_INFINITY && days != WEIR_DATE_MINUS_INFINITY;
}

static inline bool weir_timestamp_is_finite(int64_t us)
{
    return us != WEIR_TIMESTAMP_INFINITY && us != WEIR_TIMESTAMP_MINUS_INFINITY;
}

// Finite and between the limits above.
static inline bool weir_timestamp_is_valid(int64_t us)
{
    return us >= WEIR_TIMESTAMP_MIN_US && us < WEIR_TIMESTAMP_END_US;
}

// --- since 1970 ------------------------------------------------------------------------------

// A count of 10^-digits seconds (0 to 9) in µs; halves are rounded away from zero. False: out of
// range.
static inline bool weir_us_from_count(int64_t count, uint32_t digits, int64_t *out_us)
{
    static const int64_t powers[] = {1000000, 100000, 10000, 1000, 100, 10, 1, 10, 100, 1000};
    int64_t power = powers[digits];
    if (digits <= 6) {
        return !__builtin_mul_overflow(count, power, out_us);
    }
    int64_t half = count < 0 ? -power / 2 : power / 2;
    *out_us = count / power + (count % power + half) / power;
    return true;
}

// A count of 10^-digits seconds since 1970 as a timestamp. False: it is none.
static inline bool weir_timestamp_from_unix(int64_t count, uint32_t digits, int64_t *out_us)
{
    return weir_us_from_count(count, digits, out_us) &&
           !__builtin_sub_overflow(*out_us, WEIR_EPOCH_SHIFT_US, out_us) &&
           weir_timestamp_is_valid(*out_us);
}

// Days since 1970 as a date. False: they are none.
static inline bool weir_date_from_unix(int64_t days, int32_t *out_days)
{
    if (days < WEIR_DATE_MIN_DAYS + WEIR_EPOCH_SHIFT_DAYS ||
        days >= WEIR_DATE_END_DAYS + WEIR_EPOCH_SHIFT_DAYS) {
        return false;
    }
    *out_days = (int32_t)(days - WEIR_EPOCH_SHIFT_DAYS);
    return true;
}

// --- calendar --------------------------------------------------------------------------------

struct weir_civil {
    int32_t year;  // astronomical
    int32_t month; // 1..12
    int32_t day;   // 1..31
    int32_t hour;
    int32_t minute;
    int32_t second;
    int32_t microsecond;
};

// Days since 2000-01-01 of a date of the (proleptic) Gregorian calendar; month 1..12, any day.
int64_t weir_days_from_civil(int64_t year, int32_t month, int32_t day);
// The reverse; fills year, month, day only.
void weir_civil_from_days(int64_t days, struct weir_civil *civil);
int32_t weir_days_in_month(int64_t year, int32_t month);

// A finite timestamp's parts, and back. false: "timestamp out of range".
void weir_civil_from_timestamp(int64_t us, struct weir_civil *civil);
bool weir_timestamp_from_civil(const struct weir_civil *civil, int64_t *out_us,
                               struct weir_value_error *error);

int32_t weir_day_of_week(int64_t days);                         // 0 Sunday … 6 Saturday
int32_t weir_day_of_year(int64_t days);                         // 1..366
void weir_iso_week(int64_t days, int32_t *year, int32_t *week); // ISO 8601: 1..53

// Casts; infinities stay. "date out of range for timestamp".
bool weir_timestamp_from_date(int32_t days, int64_t *out_us, struct weir_value_error *error);
int32_t weir_date_from_timestamp(int64_t us);

// us + months + days + µs as timestamp + interval does it: the day is cut to the month's last.
// "timestamp out of range". Infinities stay.
bool weir_timestamp_add(int64_t us, int64_t months, int64_t days, int64_t more_us, int64_t *out_us,
                        struct weir_value_error *error);

// --- text ------------------------------------------------------------------------------------

// ISO 8601 and PostgreSQL's spellings, 'infinity', '-infinity', 'epoch'. Fractions are rounded to
// µs. A zone in the text is ignored by date and timestamp, as PostgreSQL does; timestamptz takes
// numeric offsets, Z, UTC and GMT, and refuses other zones by name. 'now', 'today', 'tomorrow' and
// 'yesterday' are refused: they would change with the day of a replay.
bool weir_date_parse(struct weir_view text, int32_t *out_days, struct weir_value_error *error);
bool weir_timestamp_parse(struct weir_view text, int64_t *out_us, struct weir_value_error *error);
bool weir_timestamptz_parse(struct weir_view text, int64_t *out_us, struct weir_value_error *error);

// 2013-01-01, 2013-01-01 05:00:00.25, 2013-01-01 05:00:00.25+00, 0044-03-15 BC, infinity
void weir_date_append(struct weir_buffer *buffer, int32_t days);
void weir_timestamp_append(struct weir_buffer *buffer, int64_t us);
void weir_timestamptz_append(struct weir_buffer *buffer, int64_t us);
// For JSON, quotes included: "2013-01-01T05:00:00.25", "2013-01-01T05:00:00.25+00:00".
void weir_timestamp_append_json(struct weir_buffer *buffer, int64_t us);
void weir_timestamptz_append_json(struct weir_buffer *buffer, int64_t us);

// --- fields ----------------------------------------------------------------------------------

enum weir_time_field {
    WEIR_FIELD_MICROSECONDS,
    WEIR_FIELD_MILLISECONDS,
    WEIR_FIELD_SECOND,
    WEIR_FIELD_MINUTE,
    WEIR_FIELD_HOUR,
    WEIR_FIELD_DAY,
    WEIR_FIELD_WEEK,
    WEIR_FIELD_MONTH,
    WEIR_FIELD_QUARTER,
    WEIR_FIELD_YEAR,
    WEIR_FIELD_DECADE,
    WEIR_FIELD_CENTURY,
    WEIR_FIELD_MILLENNIUM,
    WEIR_FIELD_DOW,
    WEIR_FIELD_ISODOW,
    WEIR_FIELD_DOY,
    WEIR_FIELD_ISOYEAR,
    WEIR_FIELD_EPOCH,
    WEIR_FIELD_JULIAN,
    WEIR_FIELD_TIMEZONE,
    WEIR_FIELD_TIMEZONE_HOUR,
    WEIR_FIELD_TIMEZONE_MINUTE,
};

// By PostgreSQL's names in any case (year, years, y, dow, …); false: no such field.
bool weir_time_field_parse(struct weir_view name, enum weir_time_field *out);

// date_trunc(field, timestamp). false: the field cannot be cut to (see
// weir_time_field_truncates), or "timestamp out of range". Infinities stay.
bool weir_time_field_truncates(enum weir_time_field field);
bool weir_timestamp_truncate(enum weir_time_field field, int64_t us, int64_t *out_us,
                             struct weir_value_error *error);

// extract(field from timestamp): a numeric with PostgreSQL's scale. Infinities give ±Infinity for
// fields that grow with time; for the others *is_null is set. The timezone fields are 0 and exist
// for timestamptz only: the caller knows the type.
struct weir_numeric weir_timestamp_extract(enum weir_time_field field, int64_t us, bool *is_null,
                                           struct weir_arena *arena);
// Of a date: only the fields from day up, dow … julian; the caller refuses the others at plan time.
struct weir_numeric weir_date_extract(enum weir_time_field field, int32_t days, bool *is_null,
                                      struct weir_arena *arena);

#endif
