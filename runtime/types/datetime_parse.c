// SPDX-License-Identifier: Apache-2.0
// Text input of date, timestamp and timestamptz (datetime.h). ISO 8601 as it is usually written is
// read straight from the text; everything else goes through datetime_read.c.
#include "runtime/types/datetime.h"
#include "runtime/types/datetime_reading.h"
#include "runtime/types/digits.h"
#include "runtime/types/type.h"

enum { DAYS_TO_2000 = 730426 }; // from the last of February of year 0

// From which to which date PostgreSQL counts days at all.
static bool is_countable_date(const struct weir_civil *civil)
{
    bool is_after_start = civil->year > -4713 || (civil->year == -4713 && civil->month >= 11);
    bool is_before_end = civil->year < 5874898 || (civil->year == 5874898 && civil->month < 6);
    return is_after_start && is_before_end;
}

// --- the usual spelling ----------------------------------------------------------------------

// Two digits at text, or a number above 99.
static uint32_t two_digits(const char *text)
{
    uint32_t tens = (uint8_t)(text[0] - '0');
    uint32_t units = (uint8_t)(text[1] - '0');
    return tens <= 9 && units <= 9 ? tens * 10 + units : 1000;
}

// As weir_days_from_civil does it, but for years of four digits only and without 64-bit divisions.
static int64_t days_of_date(uint32_t year, uint32_t month, uint32_t day)
{
    static const uint16_t days_before[] = {306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275};
    year -= month <= 2; // begins in March
    uint32_t century = year / 100;
    uint32_t days = year * 365 + year / 4 - century + century / 4 + days_before[month - 1] + day;
    return (int64_t)days - DAYS_TO_2000;
}

// yyyy-mm-dd at text; false: look closer.
static bool read_iso_date(const char *text, int64_t *days)
{
    uint32_t century = two_digits(text);
    uint32_t year_of_century = two_digits(text + 2);
    uint32_t month = two_digits(text + 5);
    uint32_t day = two_digits(text + 8);
    uint32_t year = century * 100 + year_of_century;
    if (century > 99 || year_of_century > 99 || year == 0 || text[4] != '-' || month - 1 > 11 ||
        text[7] != '-' || day - 1 > 30 ||
        (day > 28 && (int32_t)day > weir_days_in_month(year, (int32_t)month))) {
        return false;
    }
    *days = days_of_date(year, month, day);
    return true;
}

// .f to .ffffff; more digits would have to be rounded.
static bool read_iso_fraction(const char **at, const char *end, int64_t *us)
{
    const char *start = ++*at;
    int64_t value = 0;
    while (*at < end && weir_is_digit(**at) && *at - start < 6) {
        value = value * 10 + (*(*at)++ - '0');
    }
    int64_t digit_count = *at - start;
    *us = value * (int64_t)weir_powers_of_ten[6 - digit_count];
    return digit_count > 0 && (*at == end || !weir_is_digit(**at));
}

// Z, +hh, +hh:mm, +hhmm up to the end.
static bool read_iso_zone(const char *at, const char *end, int64_t *zone_us)
{
    if (end - at == 1 && (*at | 0x20) == 'z') {
        return true;
    }
    int64_t length = end - at;
    if ((length != 3 && length != 5 && length != 6) || (*at != '+' && *at != '-') ||
        (length == 6 && at[3] != ':')) {
        return false;
    }
    uint32_t hours = two_digits(at + 1);
    uint32_t minutes = length == 3 ? 0 : two_digits(end - 2);
    if (hours > 15 || minutes > 59) {
        return false;
    }
    *zone_us = hours * WEIR_HOUR_US + minutes * WEIR_MINUTE_US;
    if (*at == '-') {
        *zone_us = -*zone_us;
    }
    return true;
}

// yyyy-mm-dd[T ]hh:mm:ss[.ffffff][zone] and nothing else; false: look closer. *us is local.
static bool read_iso_timestamp(struct weir_view text, int64_t *us, int64_t *zone_us)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    int64_t days;
    if (text.size_bytes < 19 || !read_iso_date(at, &days) || (at[10] != ' ' && at[10] != 'T') ||
        at[13] != ':' || at[16] != ':') {
        return false;
    }
    uint32_t hour = two_digits(at + 11);
    uint32_t minute = two_digits(at + 14);
    uint32_t second = two_digits(at + 17);
    if (hour > 23 || minute > 59 || second > 59) {
        return false;
    }
    at += 19;
    int64_t fraction_us = 0;
    if (at < end && *at == '.' && !read_iso_fraction(&at, end, &fraction_us)) {
        return false;
    }
    *zone_us = 0;
    if (at < end && !read_iso_zone(at, end, zone_us)) {
        return false;
    }
    *us = days * WEIR_DAY_US + (hour * INT64_C(3600) + minute * 60 + second) * WEIR_SECOND_US +
          fraction_us;
    return true;
}

// --- the three types -------------------------------------------------------------------------

bool weir_date_parse(struct weir_view text, int32_t *out_days, struct weir_value_error *error)
{
    int64_t days;
    if (text.size_bytes == 10 && read_iso_date(text.data, &days)) {
        *out_days = (int32_t)days;
        return true;
    }
    struct weir_datetime_reading reading;
    if (!weir_datetime_read(text, "date", &reading, error)) {
        return false;
    }
    switch (reading.special) {
    case WEIR_SPECIAL_EPOCH:
        *out_days = -WEIR_EPOCH_SHIFT_DAYS;
        return true;
    case WEIR_SPECIAL_INFINITY:
        *out_days = WEIR_DATE_INFINITY;
        return true;
    case WEIR_SPECIAL_MINUS_INFINITY:
        *out_days = WEIR_DATE_MINUS_INFINITY;
        return true;
    case WEIR_SPECIAL_NONE:
        break;
    }
    days = weir_days_from_civil(reading.civil.year, reading.civil.month, reading.civil.day);
    if (!is_countable_date(&reading.civil) || days < WEIR_DATE_MIN_DAYS ||
        days >= WEIR_DATE_END_DAYS) {
        return weir_value_error_set(error, "date out of range: \"%.*s\"", WEIR_VIEW_ARGS(text));
    }
    *out_days = (int32_t)days;
    return true;
}

static bool parse_timestamp(struct weir_view text, const char *type_name, bool with_zone,
                            int64_t *out_us, struct weir_value_error *error)
{
    struct weir_datetime_reading reading;
    if (!weir_datetime_read(text, type_name, &reading, error)) {
        return false;
    }
    switch (reading.special) {
    case WEIR_SPECIAL_EPOCH:
        *out_us = -WEIR_EPOCH_SHIFT_US;
        return true;
    case WEIR_SPECIAL_INFINITY:
        *out_us = WEIR_TIMESTAMP_INFINITY;
        return true;
    case WEIR_SPECIAL_MINUS_INFINITY:
        *out_us = WEIR_TIMESTAMP_MINUS_INFINITY;
        return true;
    case WEIR_SPECIAL_NONE:
        break;
    }
    const struct weir_civil *civil = &reading.civil;
    int64_t days = weir_days_from_civil(civil->year, civil->month, civil->day);
    int64_t time_us = civil->hour * WEIR_HOUR_US + civil->minute * WEIR_MINUTE_US +
                      civil->second * WEIR_SECOND_US + civil->microsecond;
    int64_t us;
    bool is_in_range = is_countable_date(civil) &&
                       !__builtin_mul_overflow(days, WEIR_DAY_US, &us) &&
                       !__builtin_add_overflow(us, time_us, &us);
    if (is_in_range && with_zone) {
        is_in_range = !__builtin_sub_overflow(us, reading.zone_s * WEIR_SECOND_US, &us);
    }
    if (!is_in_range || !weir_timestamp_is_valid(us)) {
        return weir_value_error_set(error, "timestamp out of range: \"%.*s\"",
                                    WEIR_VIEW_ARGS(text));
    }
    *out_us = us;
    return true;
}

bool weir_timestamp_parse(struct weir_view text, int64_t *out_us, struct weir_value_error *error)
{
    int64_t zone_us;
    return read_iso_timestamp(text, out_us, &zone_us) ||
           parse_timestamp(text, "timestamp", false, out_us, error);
}

bool weir_timestamptz_parse(struct weir_view text, int64_t *out_us, struct weir_value_error *error)
{
    int64_t zone_us;
    if (read_iso_timestamp(text, out_us, &zone_us)) {
        *out_us -= zone_us;
        return true;
    }
    return parse_timestamp(text, "timestamp with time zone", true, out_us, error);
}
