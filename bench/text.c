// SPDX-License-Identifier: Apache-2.0
//
// Numbers and times as text (see text.h). Times are formatted millions of times a second by
// generator and checker, so the calendar date is worked out by arithmetic, not by the C library.
#include "text.h"

#include <assert.h>

char *weir_text_put_int(char *out, int64_t value)
{
    char digits[24];
    size_t count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) {
        *out++ = '-';
    }
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    while (count > 0) {
        *out++ = digits[--count];
    }
    return out;
}

static char *put_padded(char *out, int64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + width;
}

// Date and time to the second. The date comes from the day number by counting 400-year eras that
// begin on the first of March, so that the leap day is the last of its year.
static char *put_date_time(char *out, int64_t time_ms, char separator)
{
    assert(time_ms >= 0);
    int64_t seconds = time_ms / 1000;
    int64_t days = seconds / 86400 + 719468;
    int64_t era = days / 146097;
    int64_t day_of_era = days % 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    int64_t year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
    out = put_padded(out, year, 4);
    *out++ = '-';
    out = put_padded(out, month, 2);
    *out++ = '-';
    out = put_padded(out, day, 2);
    *out++ = separator;
    int64_t second_of_day = seconds % 86400;
    out = put_padded(out, second_of_day / 3600, 2);
    *out++ = ':';
    out = put_padded(out, second_of_day / 60 % 60, 2);
    *out++ = ':';
    return put_padded(out, second_of_day % 60, 2);
}

char *weir_text_put_time(char *out, int64_t time_ms)
{
    out = put_date_time(out, time_ms, ' ');
    *out++ = '.';
    return put_padded(out, time_ms % 1000, 3);
}

char *weir_text_put_json_time(char *out, int64_t time_ms)
{
    out = put_date_time(out, time_ms, 'T');
    int64_t fraction = time_ms % 1000;
    if (fraction == 0) {
        return out;
    }
    *out++ = '.';
    out = put_padded(out, fraction, 3);
    while (out[-1] == '0') {
        out--;
    }
    return out;
}
