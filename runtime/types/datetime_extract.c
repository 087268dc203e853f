// SPDX-License-Identifier: Apache-2.0
// extract() and date_trunc() of dates and timestamps (datetime.h).
#include "runtime/base/assert.h"
#include "runtime/types/datetime.h"
#include "runtime/types/digits.h"
#include "runtime/types/type.h"

// --- names -----------------------------------------------------------------------------------

struct name {
    const char *text;
    enum weir_time_field field;
};

static const struct name names[] = {
    {"c", WEIR_FIELD_CENTURY},
    {"cent", WEIR_FIELD_CENTURY},
    {"centuries", WEIR_FIELD_CENTURY},
    {"century", WEIR_FIELD_CENTURY},
    {"d", WEIR_FIELD_DAY},
    {"day", WEIR_FIELD_DAY},
    {"days", WEIR_FIELD_DAY},
    {"dec", WEIR_FIELD_DECADE},
    {"decade", WEIR_FIELD_DECADE},
    {"decades", WEIR_FIELD_DECADE},
    {"decs", WEIR_FIELD_DECADE},
    {"dow", WEIR_FIELD_DOW},
    {"doy", WEIR_FIELD_DOY},
    {"epoch", WEIR_FIELD_EPOCH},
    {"h", WEIR_FIELD_HOUR},
    {"hour", WEIR_FIELD_HOUR},
    {"hours", WEIR_FIELD_HOUR},
    {"hr", WEIR_FIELD_HOUR},
    {"hrs", WEIR_FIELD_HOUR},
    {"isodow", WEIR_FIELD_ISODOW},
    {"isoyear", WEIR_FIELD_ISOYEAR},
    {"j", WEIR_FIELD_JULIAN},
    {"jd", WEIR_FIELD_JULIAN},
    {"julian", WEIR_FIELD_JULIAN},
    {"m", WEIR_FIELD_MINUTE},
    {"microsecon", WEIR_FIELD_MICROSECONDS},
    {"mil", WEIR_FIELD_MILLENNIUM},
    {"millennia", WEIR_FIELD_MILLENNIUM},
    {"millennium", WEIR_FIELD_MILLENNIUM},
    {"millisecon", WEIR_FIELD_MILLISECONDS},
    {"mils", WEIR_FIELD_MILLENNIUM},
    {"min", WEIR_FIELD_MINUTE},
    {"mins", WEIR_FIELD_MINUTE},
    {"minute", WEIR_FIELD_MINUTE},
    {"minutes", WEIR_FIELD_MINUTE},
    {"mm", WEIR_FIELD_MINUTE},
    {"mon", WEIR_FIELD_MONTH},
    {"mons", WEIR_FIELD_MONTH},
    {"month", WEIR_FIELD_MONTH},
    {"months", WEIR_FIELD_MONTH},
    {"ms", WEIR_FIELD_MILLISECONDS},
    {"msec", WEIR_FIELD_MILLISECONDS},
    {"msecond", WEIR_FIELD_MILLISECONDS},
    {"mseconds", WEIR_FIELD_MILLISECONDS},
    {"msecs", WEIR_FIELD_MILLISECONDS},
    {"qtr", WEIR_FIELD_QUARTER},
    {"quarter", WEIR_FIELD_QUARTER},
    {"s", WEIR_FIELD_SECOND},
    {"sec", WEIR_FIELD_SECOND},
    {"second", WEIR_FIELD_SECOND},
    {"seconds", WEIR_FIELD_SECOND},
    {"secs", WEIR_FIELD_SECOND},
    {"timezone", WEIR_FIELD_TIMEZONE},
    {"timezone_h", WEIR_FIELD_TIMEZONE_HOUR},
    {"timezone_m", WEIR_FIELD_TIMEZONE_MINUTE},
    {"us", WEIR_FIELD_MICROSECONDS},
    {"usec", WEIR_FIELD_MICROSECONDS},
    {"usecond", WEIR_FIELD_MICROSECONDS},
    {"useconds", WEIR_FIELD_MICROSECONDS},
    {"usecs", WEIR_FIELD_MICROSECONDS},
    {"w", WEIR_FIELD_WEEK},
    {"week", WEIR_FIELD_WEEK},
    {"weeks", WEIR_FIELD_WEEK},
    {"y", WEIR_FIELD_YEAR},
    {"year", WEIR_FIELD_YEAR},
    {"years", WEIR_FIELD_YEAR},
    {"yr", WEIR_FIELD_YEAR},
    {"yrs", WEIR_FIELD_YEAR},
};

// PostgreSQL looks at the first ten letters only.
enum { NAME_BYTES_COMPARED = 10 };

bool weir_time_field_parse(struct weir_view name, enum weir_time_field *out)
{
    char lower[NAME_BYTES_COMPARED + 1] = {0};
    for (size_t i = 0; i < name.size_bytes && i < NAME_BYTES_COMPARED; i++) {
        lower[i] = weir_to_lower(name.data[i]);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(lower, names[i].text) == 0) {
            *out = names[i].field;
            return true;
        }
    }
    return false;
}

// --- date_trunc ------------------------------------------------------------------------------

bool weir_time_field_truncates(enum weir_time_field field)
{
    return field <= WEIR_FIELD_MILLENNIUM;
}

static int64_t floor_to(int64_t value, int64_t step)
{
    int64_t rest = value % step;
    return value - rest - (rest < 0 ? step : 0);
}

// The first year of the century or millennium that a year is in: 2001 for 2013.
static int32_t first_of_span(int32_t year, int32_t span)
{
    return year > 0 ? (year - 1) / span * span + 1 : (year - span) / span * span + 1;
}

static int32_t decade_begin(int32_t year)
{
    return year >= 0 ? year / 10 * 10 : (year - 9) / 10 * 10;
}

// The first day of the week, month, …, that a day is in.
static int64_t truncate_days(enum weir_time_field field, int64_t days)
{
    struct weir_civil civil;
    weir_civil_from_days(days, &civil);
    if (field == WEIR_FIELD_WEEK) {
        return days - (weir_day_of_week(days) + 6) % 7;
    }
    if (field == WEIR_FIELD_MONTH) {
        return weir_days_from_civil(civil.year, civil.month, 1);
    }
    if (field == WEIR_FIELD_QUARTER) {
        return weir_days_from_civil(civil.year, (civil.month - 1) / 3 * 3 + 1, 1);
    }
    int32_t year = civil.year;
    if (field == WEIR_FIELD_DECADE) {
        year = decade_begin(year);
    } else if (field == WEIR_FIELD_CENTURY) {
        year = first_of_span(year, 100);
    } else if (field == WEIR_FIELD_MILLENNIUM) {
        year = first_of_span(year, 1000);
    }
    return weir_days_from_civil(year, 1, 1);
}

bool weir_timestamp_truncate(enum weir_time_field field, int64_t us, int64_t *out_us,
                             struct weir_value_error *error)
{
    WEIR_DASSERT(weir_time_field_truncates(field));
    static const int64_t steps_us[] = {
        [WEIR_FIELD_MICROSECONDS] = 1,        [WEIR_FIELD_MILLISECONDS] = 1000,
        [WEIR_FIELD_SECOND] = WEIR_SECOND_US, [WEIR_FIELD_MINUTE] = WEIR_MINUTE_US,
        [WEIR_FIELD_HOUR] = WEIR_HOUR_US,     [WEIR_FIELD_DAY] = WEIR_DAY_US,
    };
    if (!weir_timestamp_is_finite(us)) {
        *out_us = us;
        return true;
    }
    if (field <= WEIR_FIELD_DAY) {
        *out_us = floor_to(us, steps_us[field]);
    } else {
        *out_us = truncate_days(field, weir_date_from_timestamp(us)) * WEIR_DAY_US;
    }
    if (!weir_timestamp_is_valid(*out_us)) {
        return weir_value_error_set(error, "timestamp out of range");
    }
    return true;
}

// --- extract ---------------------------------------------------------------------------------

// Fields that grow with time have infinities, the others come back and have none.
static bool grows_with_time(enum weir_time_field field)
{
    return field == WEIR_FIELD_YEAR || field == WEIR_FIELD_DECADE || field == WEIR_FIELD_CENTURY ||
           field == WEIR_FIELD_MILLENNIUM || field == WEIR_FIELD_JULIAN ||
           field == WEIR_FIELD_ISOYEAR || field == WEIR_FIELD_EPOCH;
}

static struct weir_numeric extract_from_infinity(enum weir_time_field field, bool is_positive,
                                                 bool *is_null)
{
    *is_null = !grows_with_time(field);
    return weir_numeric_special(is_positive ? WEIR_NUMERIC_INFINITY : WEIR_NUMERIC_MINUS_INFINITY);
}

// There is no year 0 for people.
static int32_t shown_year(int32_t year)
{
    return year > 0 ? year : year - 1;
}

static int32_t span_number(int32_t year, int32_t span)
{
    return year > 0 ? (year + span - 1) / span : -((span - year) / span);
}

static int32_t week_or_year(enum weir_time_field field, int64_t days)
{
    int32_t year, week;
    weir_iso_week(days, &year, &week);
    return field == WEIR_FIELD_WEEK ? week : shown_year(year);
}

// The fields that a date alone decides.
static int64_t date_field(enum weir_time_field field, int64_t days)
{
    struct weir_civil civil;
    weir_civil_from_days(days, &civil);
    switch (field) {
    case WEIR_FIELD_DAY:
        return civil.day;
    case WEIR_FIELD_WEEK:
    case WEIR_FIELD_ISOYEAR:
        return week_or_year(field, days);
    case WEIR_FIELD_MONTH:
        return civil.month;
    case WEIR_FIELD_QUARTER:
        return (civil.month - 1) / 3 + 1;
    case WEIR_FIELD_YEAR:
        return shown_year(civil.year);
    case WEIR_FIELD_DECADE:
        return decade_begin(civil.year) / 10;
    case WEIR_FIELD_CENTURY:
        return span_number(civil.year, 100);
    case WEIR_FIELD_MILLENNIUM:
        return span_number(civil.year, 1000);
    case WEIR_FIELD_DOW:
        return weir_day_of_week(days);
    case WEIR_FIELD_ISODOW:
        return (weir_day_of_week(days) + 6) % 7 + 1;
    case WEIR_FIELD_DOY:
        return weir_day_of_year(days);
    case WEIR_FIELD_EPOCH:
        return days * (WEIR_DAY_US / WEIR_SECOND_US) + WEIR_EPOCH_SHIFT_US / WEIR_SECOND_US;
    case WEIR_FIELD_JULIAN:
        return days - WEIR_DATE_MIN_DAYS;
    case WEIR_FIELD_MICROSECONDS:
    case WEIR_FIELD_MILLISECONDS:
    case WEIR_FIELD_SECOND:
    case WEIR_FIELD_MINUTE:
    case WEIR_FIELD_HOUR:
    case WEIR_FIELD_TIMEZONE:
    case WEIR_FIELD_TIMEZONE_HOUR:
    case WEIR_FIELD_TIMEZONE_MINUTE:
        break;
    }
    WEIR_ASSERT(false && "a field that dates do not have");
    return 0;
}

// The day of the Julian calendar's count with its fraction.
static struct weir_numeric julian_day(int64_t days, int64_t time_us, struct weir_arena *arena)
{
    struct weir_numeric day = weir_numeric_small(days - WEIR_DATE_MIN_DAYS, 0);
    struct weir_numeric fraction, sum;
    bool is_ok = weir_numeric_divide(weir_numeric_small(time_us, 0),
                                     weir_numeric_small(WEIR_DAY_US, 0), arena, &fraction, NULL) &&
                 weir_numeric_add(day, fraction, arena, &sum, NULL);
    WEIR_ASSERT(is_ok);
    return sum;
}

// Seconds since 1970. In the last 30,000 days of the range PostgreSQL divides numerics instead of
// shifting the point, which leaves 16 digits.
static struct weir_numeric epoch_seconds(int64_t us, struct weir_arena *arena)
{
    __int128 unix_us = (__int128)us + WEIR_EPOCH_SHIFT_US;
    if (unix_us < INT64_MAX) {
        return weir_numeric_from_int128(unix_us, 6, arena);
    }
    struct weir_numeric seconds;
    bool is_ok = weir_numeric_divide(weir_numeric_from_int128(unix_us, 0, arena),
                                     weir_numeric_small(WEIR_SECOND_US, 0), arena, &seconds,
                                     NULL) &&
                 weir_numeric_round(seconds, 6, arena, &seconds, NULL);
    WEIR_ASSERT(is_ok);
    return seconds;
}

struct weir_numeric weir_timestamp_extract(enum weir_time_field field, int64_t us, bool *is_null,
                                           struct weir_arena *arena)
{
    if (!weir_timestamp_is_finite(us)) {
        return extract_from_infinity(field, us == WEIR_TIMESTAMP_INFINITY, is_null);
    }
    *is_null = false;
    int64_t days = weir_date_from_timestamp(us);
    int64_t time_us = us - days * WEIR_DAY_US;
    switch (field) {
    case WEIR_FIELD_MICROSECONDS:
        return weir_numeric_small(time_us % WEIR_MINUTE_US, 0);
    case WEIR_FIELD_MILLISECONDS:
        return weir_numeric_small(time_us % WEIR_MINUTE_US, 3);
    case WEIR_FIELD_SECOND:
        return weir_numeric_small(time_us % WEIR_MINUTE_US, 6);
    case WEIR_FIELD_MINUTE:
        return weir_numeric_small(time_us / WEIR_MINUTE_US % 60, 0);
    case WEIR_FIELD_HOUR:
        return weir_numeric_small(time_us / WEIR_HOUR_US, 0);
    case WEIR_FIELD_EPOCH:
        return epoch_seconds(us, arena);
    case WEIR_FIELD_JULIAN:
        return julian_day(days, time_us, arena);
    case WEIR_FIELD_TIMEZONE:
    case WEIR_FIELD_TIMEZONE_HOUR:
    case WEIR_FIELD_TIMEZONE_MINUTE:
        return weir_numeric_small(0, 0);
    case WEIR_FIELD_DAY:
    case WEIR_FIELD_WEEK:
    case WEIR_FIELD_MONTH:
    case WEIR_FIELD_QUARTER:
    case WEIR_FIELD_YEAR:
    case WEIR_FIELD_DECADE:
    case WEIR_FIELD_CENTURY:
    case WEIR_FIELD_MILLENNIUM:
    case WEIR_FIELD_DOW:
    case WEIR_FIELD_ISODOW:
    case WEIR_FIELD_DOY:
    case WEIR_FIELD_ISOYEAR:
        break;
    }
    return weir_numeric_small(date_field(field, days), 0);
}

struct weir_numeric weir_date_extract(enum weir_time_field field, int32_t days, bool *is_null,
                                      struct weir_arena *arena)
{
    (void)arena;
    if (!weir_date_is_finite(days)) {
        return extract_from_infinity(field, days == WEIR_DATE_INFINITY, is_null);
    }
    *is_null = false;
    return weir_numeric_small(date_field(field, days), 0);
}
