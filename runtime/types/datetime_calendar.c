// SPDX-License-Identifier: Apache-2.0
// Calendar arithmetic of datetime.h: the proleptic Gregorian calendar, counted in days and µs from
// 2000-01-01. Years begin in March inside, so that a leap day is the last day of its year.
#include "runtime/base/assert.h"
#include "runtime/types/datetime.h"

enum {
    DAYS_PER_ERA = 146097,         // of 400 years
    DAYS_BEFORE_EPOCH = 730425,    // from 0000-03-01 to 2000-01-01
    JULIAN_DAY_OF_EPOCH = 2451545, // 2000-01-01
};

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t weir_days_from_civil(int64_t year, int32_t month, int32_t day)
{
    WEIR_DASSERT(month >= 1 && month <= 12);
    year -= month <= 2;
    int64_t era = floor_divide(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t month_from_march = month + (month > 2 ? -3 : 9);
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_BEFORE_EPOCH;
}

void weir_civil_from_days(int64_t days, struct weir_civil *civil)
{
    days += DAYS_BEFORE_EPOCH;
    int64_t era = floor_divide(days, DAYS_PER_ERA);
    uint32_t day_of_era = (uint32_t)(days - era * DAYS_PER_ERA);
    uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t month_from_march = (5 * day_of_year + 2) / 153;
    civil->day = (int32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    civil->month = (int32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    civil->year = (int32_t)(era * 400 + year_of_era + (civil->month <= 2));
}

static bool is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t weir_days_in_month(int64_t year, int32_t month)
{
    static const int8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    WEIR_DASSERT(month >= 1 && month <= 12);
    return days[month - 1] + (month == 2 && is_leap_year(year));
}

void weir_civil_from_timestamp(int64_t us, struct weir_civil *civil)
{
    int64_t days = floor_divide(us, WEIR_DAY_US);
    int64_t time_us = us - days * WEIR_DAY_US;
    weir_civil_from_days(days, civil);
    uint32_t seconds = (uint32_t)(time_us / WEIR_SECOND_US);
    civil->microsecond = (int32_t)(time_us - (int64_t)seconds * WEIR_SECOND_US);
    civil->hour = (int32_t)(seconds / 3600);
    civil->minute = (int32_t)(seconds / 60 % 60);
    civil->second = (int32_t)(seconds % 60);
}

bool weir_timestamp_from_civil(const struct weir_civil *civil, int64_t *out_us,
                               struct weir_value_error *error)
{
    int64_t days = weir_days_from_civil(civil->year, civil->month, civil->day);
    int64_t time_us = civil->hour * WEIR_HOUR_US + civil->minute * WEIR_MINUTE_US +
                      civil->second * WEIR_SECOND_US + civil->microsecond;
    int64_t us;
    if (__builtin_mul_overflow(days, WEIR_DAY_US, &us) ||
        __builtin_add_overflow(us, time_us, &us) || !weir_timestamp_is_valid(us)) {
        return weir_value_error_set(error, "timestamp out of range");
    }
    *out_us = us;
    return true;
}

int32_t weir_day_of_week(int64_t days)
{
    int64_t from_saturday = days % 7; // 2000-01-01 was a Saturday
    return (int32_t)((from_saturday + 7 + 6) % 7);
}

int32_t weir_day_of_year(int64_t days)
{
    struct weir_civil civil;
    weir_civil_from_days(days, &civil);
    return (int32_t)(days - weir_days_from_civil(civil.year, 1, 1)) + 1;
}

// The Monday of week 1: the week that holds January 4th.
static int64_t first_monday(int64_t year)
{
    int64_t january_4 = weir_days_from_civil(year, 1, 4);
    return january_4 - (weir_day_of_week(january_4) + 6) % 7;
}

void weir_iso_week(int64_t days, int32_t *year, int32_t *week)
{
    struct weir_civil civil;
    weir_civil_from_days(days, &civil);
    int32_t iso_year = civil.year;
    if (days < first_monday(iso_year)) {
        iso_year--;
    } else if (days >= first_monday((int64_t)iso_year + 1)) {
        iso_year++;
    }
    *year = iso_year;
    *week = (int32_t)((days - first_monday(iso_year)) / 7) + 1;
}

bool weir_timestamp_from_date(int32_t days, int64_t *out_us, struct weir_value_error *error)
{
    if (!weir_date_is_finite(days)) {
        *out_us =
            days == WEIR_DATE_INFINITY ? WEIR_TIMESTAMP_INFINITY : WEIR_TIMESTAMP_MINUS_INFINITY;
        return true;
    }
    int64_t us;
    if (__builtin_mul_overflow((int64_t)days, WEIR_DAY_US, &us) || us >= WEIR_TIMESTAMP_END_US) {
        return weir_value_error_set(error, "date out of range for timestamp");
    }
    *out_us = us;
    return true;
}

int32_t weir_date_from_timestamp(int64_t us)
{
    if (us == WEIR_TIMESTAMP_INFINITY) {
        return WEIR_DATE_INFINITY;
    }
    if (us == WEIR_TIMESTAMP_MINUS_INFINITY) {
        return WEIR_DATE_MINUS_INFINITY;
    }
    return (int32_t)floor_divide(us, WEIR_DAY_US);
}

bool weir_timestamp_add(int64_t us, int64_t months, int64_t days, int64_t more_us, int64_t *out_us,
                        struct weir_value_error *error)
{
    if (!weir_timestamp_is_finite(us)) {
        *out_us = us;
        return true;
    }
    if (months != 0) {
        struct weir_civil civil;
        weir_civil_from_timestamp(us, &civil);
        int64_t month_idx = civil.year * INT64_C(12) + civil.month - 1 + months;
        int64_t year = floor_divide(month_idx, 12);
        if (year < -4713 || year > 294276) {
            return weir_value_error_set(error, "timestamp out of range");
        }
        civil.year = (int32_t)year;
        civil.month = (int32_t)(month_idx - year * 12) + 1;
        int32_t last_day = weir_days_in_month(year, civil.month);
        civil.day = civil.day < last_day ? civil.day : last_day;
        if (!weir_timestamp_from_civil(&civil, &us, error)) {
            return false;
        }
    }
    int64_t days_us;
    if (__builtin_mul_overflow(days, WEIR_DAY_US, &days_us) ||
        __builtin_add_overflow(us, days_us, &us) || (days != 0 && !weir_timestamp_is_valid(us)) ||
        __builtin_add_overflow(us, more_us, &us) || !weir_timestamp_is_valid(us)) {
        return weir_value_error_set(error, "timestamp out of range");
    }
    *out_us = us;
    return true;
}
