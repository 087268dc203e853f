// SPDX-License-Identifier: Apache-2.0
// See interval.h: text output, arithmetic and fields of intervals.
#include "runtime/types/interval.h"

#include "runtime/base/assert.h"
#include "runtime/types/digits.h"

#include <math.h>
#include <stdlib.h>

enum { MONTHS_PER_YEAR = 12 };

static bool out_of_range(struct weir_value_error *error)
{
    return weir_value_error_set(error, "interval out of range");
}

// --- text ------------------------------------------------------------------------------------

// A sign is written in front of what follows a negative part, so that it is not taken for it.
static void append_part(struct weir_buffer *buffer, int32_t value, const char *unit,
                        bool *is_behind_negative, bool *is_empty)
{
    if (value == 0) {
        return;
    }
    weir_buffer_printf(buffer, "%s%s%d %s%s", *is_empty ? "" : " ",
                       *is_behind_negative && value > 0 ? "+" : "", value, unit,
                       value != 1 ? "s" : "");
    *is_behind_negative = value < 0;
    *is_empty = false;
}

void weir_interval_append(struct weir_buffer *buffer, struct weir_interval value)
{
    bool is_behind_negative = false;
    bool is_empty = true;
    append_part(buffer, value.months / MONTHS_PER_YEAR, "year", &is_behind_negative, &is_empty);
    append_part(buffer, value.months % MONTHS_PER_YEAR, "mon", &is_behind_negative, &is_empty);
    append_part(buffer, value.days, "day", &is_behind_negative, &is_empty);
    if (!is_empty && value.us == 0) {
        return;
    }
    char text[48];
    char *out = text;
    uint64_t us = value.us < 0 ? -(uint64_t)value.us : (uint64_t)value.us;
    if (!is_empty) {
        *out++ = ' ';
    }
    if (value.us < 0) {
        *out++ = '-';
    } else if (is_behind_negative) {
        *out++ = '+';
    }
    uint64_t hours = us / (uint64_t)WEIR_HOUR_US;
    out =
        hours < 10 ? weir_digits_write_2(out, (uint32_t)hours) : weir_digits_write_u64(out, hours);
    *out++ = ':';
    out = weir_digits_write_2(out, (uint32_t)(us / (uint64_t)WEIR_MINUTE_US % 60));
    *out++ = ':';
    out = weir_digits_write_2(out, (uint32_t)(us / (uint64_t)WEIR_SECOND_US % 60));
    if (us % (uint64_t)WEIR_SECOND_US != 0) {
        *out++ = '.';
        out = weir_digits_write_padded(out, us % (uint64_t)WEIR_SECOND_US, 6);
        while (out[-1] == '0') {
            out--;
        }
    }
    weir_buffer_append(buffer, text, (size_t)(out - text));
}

// --- arithmetic ------------------------------------------------------------------------------

static int32_t clamp(__int128 value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

struct weir_interval weir_interval_of_span(__int128 span)
{
    struct weir_interval value = {0};
    __int128 days = span / WEIR_DAY_US;
    if (days > INT32_MAX || days < INT32_MIN) {
        value.months = clamp(days / WEIR_DAYS_PER_MONTH);
        days -= (__int128)value.months * WEIR_DAYS_PER_MONTH;
    }
    value.days = clamp(days); // what is left fits the hours, or there was no such interval
    value.us = (int64_t)(span - weir_interval_span(value));
    return value;
}

bool weir_interval_add(struct weir_interval a, struct weir_interval b, struct weir_interval *out,
                       struct weir_value_error *error)
{
    bool is_over = __builtin_add_overflow(a.months, b.months, &out->months);
    is_over |= __builtin_add_overflow(a.days, b.days, &out->days);
    is_over |= __builtin_add_overflow(a.us, b.us, &out->us);
    return !is_over || out_of_range(error);
}

bool weir_interval_subtract(struct weir_interval a, struct weir_interval b,
                            struct weir_interval *out, struct weir_value_error *error)
{
    bool is_over = __builtin_sub_overflow(a.months, b.months, &out->months);
    is_over |= __builtin_sub_overflow(a.days, b.days, &out->days);
    is_over |= __builtin_sub_overflow(a.us, b.us, &out->us);
    return !is_over || out_of_range(error);
}

bool weir_interval_negate(struct weir_interval value, struct weir_interval *out,
                          struct weir_value_error *error)
{
    bool is_over = __builtin_sub_overflow(0, value.months, &out->months);
    is_over |= __builtin_sub_overflow(0, value.days, &out->days);
    is_over |= __builtin_sub_overflow(0, value.us, &out->us);
    return !is_over || out_of_range(error);
}

// To six digits behind the point, so that what is left of a month by rounding does not show.
static double round_to_us(double value)
{
    return rint(value * 1e6) / 1e6;
}

static bool is_int32(double value)
{
    return !isnan(value) && value <= INT32_MAX && value >= INT32_MIN;
}

// What is broken of months and days goes down into days and seconds.
static bool cascade(double months, double days, double us, struct weir_interval *out,
                    struct weir_value_error *error)
{
    const double day_s = (double)(WEIR_DAY_US / WEIR_SECOND_US);
    if (!is_int32(months) || !is_int32(days)) {
        return out_of_range(error);
    }
    out->months = (int32_t)months;
    out->days = (int32_t)days;
    double month_rest_days =
        round_to_us((months - (double)out->months) * (double)WEIR_DAYS_PER_MONTH);
    double rest_s = (days - (double)out->days + month_rest_days - trunc(month_rest_days)) * day_s;
    rest_s = round_to_us(rest_s);
    int64_t more_days = (int64_t)month_rest_days;
    if (fabs(rest_s) >= day_s) {
        more_days += (int64_t)(rest_s / day_s);
        rest_s -= (double)((int64_t)(rest_s / day_s)) * day_s;
    }
    us = rint(us + rest_s * 1e6);
    if (__builtin_add_overflow(out->days, more_days, &out->days) || isnan(us) ||
        us < -9223372036854775808.0 || us >= 9223372036854775808.0) {
        return out_of_range(error);
    }
    out->us = (int64_t)us;
    return true;
}

bool weir_interval_multiply(struct weir_interval value, double factor, struct weir_interval *out,
                            struct weir_value_error *error)
{
    return cascade(value.months * factor, value.days * factor, (double)value.us * factor, out,
                   error);
}

bool weir_interval_divide(struct weir_interval value, double divisor, struct weir_interval *out,
                          struct weir_value_error *error)
{
    if (divisor == 0) {
        return weir_value_error_set(error, "division by zero");
    }
    return cascade(value.months / divisor, value.days / divisor, (double)value.us / divisor, out,
                   error);
}

bool weir_interval_justify_hours(struct weir_interval value, struct weir_interval *out,
                                 struct weir_value_error *error)
{
    int64_t whole_days = value.us / WEIR_DAY_US;
    *out = value;
    out->us = value.us % WEIR_DAY_US;
    if (__builtin_add_overflow(value.days, whole_days, &out->days)) {
        return out_of_range(error);
    }
    if (out->days > 0 && out->us < 0) {
        out->us += WEIR_DAY_US;
        out->days--;
    } else if (out->days < 0 && out->us > 0) {
        out->us -= WEIR_DAY_US;
        out->days++;
    }
    return true;
}

bool weir_interval_justify_days(struct weir_interval value, struct weir_interval *out,
                                struct weir_value_error *error)
{
    *out = value;
    out->days = value.days % WEIR_DAYS_PER_MONTH;
    if (__builtin_add_overflow(value.months, value.days / WEIR_DAYS_PER_MONTH, &out->months)) {
        return out_of_range(error);
    }
    if (out->months > 0 && out->days < 0) {
        out->days += WEIR_DAYS_PER_MONTH;
        out->months--;
    } else if (out->months < 0 && out->days > 0) {
        out->days -= WEIR_DAYS_PER_MONTH;
        out->months++;
    }
    return true;
}

static int sign_of(int64_t value)
{
    return (value > 0) - (value < 0);
}

bool weir_interval_justify(struct weir_interval value, struct weir_interval *out,
                           struct weir_value_error *error)
{
    // Months first where days and hours agree, lest their sum overflow.
    *out = value;
    if (sign_of(value.days) * sign_of(value.us) > 0 &&
        !weir_interval_justify_days(*out, out, error)) {
        return false;
    }
    int64_t days = (int64_t)out->days + out->us / WEIR_DAY_US;
    int64_t months = (int64_t)out->months + days / WEIR_DAYS_PER_MONTH;
    int64_t us = out->us % WEIR_DAY_US;
    days %= WEIR_DAYS_PER_MONTH;
    if (months > 0 && (days < 0 || (days == 0 && us < 0))) {
        days += WEIR_DAYS_PER_MONTH;
        months--;
    } else if (months < 0 && (days > 0 || (days == 0 && us > 0))) {
        days -= WEIR_DAYS_PER_MONTH;
        months++;
    }
    if (days > 0 && us < 0) {
        us += WEIR_DAY_US;
        days--;
    } else if (days < 0 && us > 0) {
        us -= WEIR_DAY_US;
        days++;
    }
    if (months > INT32_MAX || months < INT32_MIN) {
        return out_of_range(error);
    }
    *out = (struct weir_interval){.us = us, .days = (int32_t)days, .months = (int32_t)months};
    return true;
}

// --- timestamps ------------------------------------------------------------------------------

bool weir_timestamp_add_interval(int64_t us, struct weir_interval value, int64_t *out_us,
                                 struct weir_value_error *error)
{
    return weir_timestamp_add(us, value.months, value.days, value.us, out_us, error);
}

bool weir_timestamp_subtract_interval(int64_t us, struct weir_interval value, int64_t *out_us,
                                      struct weir_value_error *error)
{
    if (value.us == INT64_MIN) {
        if (weir_timestamp_is_finite(us)) {
            return weir_value_error_set(error, "timestamp out of range");
        }
        value.us = 0;
    }
    return weir_timestamp_add(us, -(int64_t)value.months, -(int64_t)value.days, -value.us, out_us,
                              error);
}

bool weir_timestamp_subtract(int64_t a, int64_t b, struct weir_interval *out,
                             struct weir_value_error *error)
{
    if (!weir_timestamp_is_finite(a) || !weir_timestamp_is_finite(b)) {
        return weir_value_error_set(error, "cannot subtract infinite timestamps");
    }
    struct weir_interval value = {0};
    if (__builtin_sub_overflow(a, b, &value.us)) {
        return out_of_range(error);
    }
    return weir_interval_justify_hours(value, out, error);
}

bool weir_timestamp_age(int64_t a, int64_t b, struct weir_interval *out,
                        struct weir_value_error *error)
{
    if (!weir_timestamp_is_finite(a) || !weir_timestamp_is_finite(b)) {
        return weir_value_error_set(error, "timestamp out of range");
    }
    // The earlier one's month says how long a borrowed month is.
    int sign = a < b ? -1 : 1;
    struct weir_civil late, early;
    weir_civil_from_timestamp(a < b ? b : a, &late);
    weir_civil_from_timestamp(a < b ? a : b, &early);
    int64_t late_us = late.hour * WEIR_HOUR_US + late.minute * WEIR_MINUTE_US +
                      late.second * WEIR_SECOND_US + late.microsecond;
    int64_t early_us = early.hour * WEIR_HOUR_US + early.minute * WEIR_MINUTE_US +
                       early.second * WEIR_SECOND_US + early.microsecond;
    int64_t us = late_us - early_us;
    int32_t days = late.day - early.day;
    int32_t months = (late.year - early.year) * MONTHS_PER_YEAR + late.month - early.month;
    if (us < 0) {
        us += WEIR_DAY_US;
        days--;
    }
    while (days < 0) {
        days += weir_days_in_month(early.year, early.month);
        months--;
    }
    *out = (struct weir_interval){.us = sign * us, .days = sign * days, .months = sign * months};
    return true;
}

// --- fields ----------------------------------------------------------------------------------

bool weir_time_has_field(enum weir_time_field field)
{
    return field <= WEIR_FIELD_HOUR || field == WEIR_FIELD_EPOCH;
}

bool weir_interval_has_field(enum weir_time_field field)
{
    return field != WEIR_FIELD_WEEK &&
           (field <= WEIR_FIELD_MILLENNIUM || field == WEIR_FIELD_EPOCH);
}

// The fields of a clock, of µs with their sign.
static struct weir_numeric extract_clock(enum weir_time_field field, int64_t us)
{
    if (field == WEIR_FIELD_MINUTE) {
        return weir_numeric_small(us / WEIR_MINUTE_US % 60, 0);
    }
    if (field == WEIR_FIELD_HOUR) {
        return weir_numeric_small(us / WEIR_HOUR_US, 0);
    }
    uint16_t scale = field == WEIR_FIELD_SECOND ? 6 : field == WEIR_FIELD_MILLISECONDS ? 3 : 0;
    return weir_numeric_small(us % WEIR_MINUTE_US, scale);
}

struct weir_numeric weir_time_extract(enum weir_time_field field, int64_t us)
{
    return field == WEIR_FIELD_EPOCH ? weir_numeric_small(us, 6) : extract_clock(field, us);
}

struct weir_numeric weir_interval_extract(enum weir_time_field field, struct weir_interval value,
                                          struct weir_arena *arena)
{
    int32_t years = value.months / MONTHS_PER_YEAR;
    int32_t months = value.months % MONTHS_PER_YEAR;
    switch (field) {
    case WEIR_FIELD_DAY:
        return weir_numeric_small(value.days, 0);
    case WEIR_FIELD_MONTH:
        return weir_numeric_small(months, 0);
    case WEIR_FIELD_QUARTER:
        return weir_numeric_small(months / 3 + 1, 0);
    case WEIR_FIELD_YEAR:
        return weir_numeric_small(years, 0);
    case WEIR_FIELD_DECADE:
        return weir_numeric_small(years / 10, 0);
    case WEIR_FIELD_CENTURY:
        return weir_numeric_small(years / 100, 0);
    case WEIR_FIELD_MILLENNIUM:
        return weir_numeric_small(years / 1000, 0);
    case WEIR_FIELD_EPOCH: {
        // A year counts 365.25 days here.
        __int128 quarter_days =
            (__int128)1461 * years + (__int128)120 * months + (__int128)4 * value.days;
        return weir_numeric_from_int128(quarter_days * (WEIR_DAY_US / 4) + value.us, 6, arena);
    }
    case WEIR_FIELD_MICROSECONDS:
    case WEIR_FIELD_MILLISECONDS:
    case WEIR_FIELD_SECOND:
    case WEIR_FIELD_MINUTE:
    case WEIR_FIELD_HOUR:
        return extract_clock(field, value.us);
    case WEIR_FIELD_WEEK:
    case WEIR_FIELD_DOW:
    case WEIR_FIELD_ISODOW:
    case WEIR_FIELD_DOY:
    case WEIR_FIELD_ISOYEAR:
    case WEIR_FIELD_JULIAN:
    case WEIR_FIELD_TIMEZONE:
    case WEIR_FIELD_TIMEZONE_HOUR:
    case WEIR_FIELD_TIMEZONE_MINUTE:
        break;
    }
    WEIR_ASSERT(false && "weir_interval_has_field was not asked");
    return weir_numeric_small(0, 0);
}

double weir_interval_part(enum weir_time_field field, struct weir_interval value)
{
    const double day_s = 86400;
    double seconds = (double)(value.us / WEIR_SECOND_US % 60);
    double rest_us = (double)(value.us % WEIR_SECOND_US);
    double number = 0;
    if (field == WEIR_FIELD_SECOND) {
        return seconds + rest_us / 1e6;
    }
    if (field == WEIR_FIELD_MILLISECONDS) {
        return seconds * 1e3 + rest_us / 1e3;
    }
    if (field == WEIR_FIELD_EPOCH) {
        number = (double)value.us / 1e6;
        number += 365.25 * day_s * (value.months / MONTHS_PER_YEAR);
        number += WEIR_DAYS_PER_MONTH * day_s * (value.months % MONTHS_PER_YEAR);
        return number + day_s * value.days;
    }
    weir_numeric_to_double(weir_interval_extract(field, value, NULL), &number, NULL);
    return number;
}

struct weir_interval weir_interval_truncate(enum weir_time_field field, struct weir_interval value)
{
    static const int64_t steps_us[] = {
        [WEIR_FIELD_MICROSECONDS] = 1,        [WEIR_FIELD_MILLISECONDS] = 1000,
        [WEIR_FIELD_SECOND] = WEIR_SECOND_US, [WEIR_FIELD_MINUTE] = WEIR_MINUTE_US,
        [WEIR_FIELD_HOUR] = WEIR_HOUR_US,
    };
    if (field <= WEIR_FIELD_HOUR) {
        value.us -= value.us % steps_us[field];
        return value;
    }
    value.us = 0;
    if (field == WEIR_FIELD_DAY) {
        return value;
    }
    value.days = 0;
    int32_t step = field == WEIR_FIELD_MONTH     ? 1
                   : field == WEIR_FIELD_QUARTER ? 3
                   : field == WEIR_FIELD_YEAR    ? MONTHS_PER_YEAR
                   : field == WEIR_FIELD_DECADE  ? 10 * MONTHS_PER_YEAR
                   : field == WEIR_FIELD_CENTURY ? 100 * MONTHS_PER_YEAR
                                                 : 1000 * MONTHS_PER_YEAR;
    value.months -= value.months % step;
    return value;
}
