// SPDX-License-Identifier: Apache-2.0
// Text input of intervals (interval.h). A text is cut into fields as a timestamp is and read from
// its end, since a unit stands behind its number; what cannot be read so may be ISO 8601.
#include "runtime/types/datetime_fields.h"
#include "runtime/types/datetime_reading.h"
#include "runtime/types/digits.h"
#include "runtime/types/interval.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { TEXT_BYTES_MAX = 255, MONTHS_PER_YEAR = 12 };

enum unit {
    UNIT_NONE,
    UNIT_MICROSECOND,
    UNIT_MILLISECOND,
    UNIT_SECOND,
    UNIT_MINUTE,
    UNIT_HOUR,
    UNIT_DAY,
    UNIT_WEEK,
    UNIT_MONTH,
    UNIT_YEAR,
    UNIT_DECADE,
    UNIT_CENTURY,
    UNIT_MILLENNIUM,
    UNIT_NOT_INPUT, // a unit that is known, but counts nothing: quarter
};

// What has been given so far: nothing may be given twice.
#define GIVEN(unit) (1u << (unit))
#define GIVEN_SECONDS (GIVEN(UNIT_SECOND) | GIVEN(UNIT_MILLISECOND) | GIVEN(UNIT_MICROSECOND))
#define GIVEN_CLOCK (GIVEN(UNIT_HOUR) | GIVEN(UNIT_MINUTE) | GIVEN_SECONDS)

struct sum {
    int32_t years;
    int32_t months;
    int32_t days;
    int64_t us;
};

// --- sums ------------------------------------------------------------------------------------

static bool add_broken_us(struct sum *sum, double part, int64_t unit_us)
{
    double us = part * (double)unit_us;
    int64_t whole = (int64_t)us;
    us -= (double)whole;
    whole += us > 0.5 ? 1 : us < -0.5 ? -1 : 0;
    return !__builtin_add_overflow(sum->us, whole, &sum->us);
}

static bool add_us(struct sum *sum, int64_t count, double part, int64_t unit_us)
{
    int64_t us;
    return !__builtin_mul_overflow(count, unit_us, &us) &&
           !__builtin_add_overflow(sum->us, us, &sum->us) && add_broken_us(sum, part, unit_us);
}

// Months and days are counted in 32 bits, each.
static bool add_count(int32_t *to, int64_t count, int32_t factor)
{
    int32_t product;
    return count >= INT32_MIN && count <= INT32_MAX &&
           !__builtin_mul_overflow((int32_t)count, factor, &product) &&
           !__builtin_add_overflow(*to, product, to);
}

static bool add_broken_days(struct sum *sum, double part, int32_t unit_days)
{
    double days = part * unit_days;
    int32_t whole = (int32_t)days;
    return !__builtin_add_overflow(sum->days, whole, &sum->days) &&
           add_broken_us(sum, days - whole, WEIR_DAY_US);
}

static bool add_years(struct sum *sum, int64_t count, double part, int32_t unit_years)
{
    int32_t months = (int32_t)rint(part * unit_years * MONTHS_PER_YEAR);
    return add_count(&sum->years, count, unit_years) &&
           !__builtin_add_overflow(sum->months, months, &sum->months);
}

static bool add_months(struct sum *sum, int64_t count, double part)
{
    return add_count(&sum->months, count, 1) && add_broken_days(sum, part, WEIR_DAYS_PER_MONTH);
}

static bool add_unit(struct sum *sum, enum unit unit, int64_t count, double part)
{
    switch (unit) {
    case UNIT_MICROSECOND:
        return add_us(sum, count, part, 1);
    case UNIT_MILLISECOND:
        return add_us(sum, count, part, 1000);
    case UNIT_SECOND:
        return add_us(sum, count, part, WEIR_SECOND_US);
    case UNIT_MINUTE:
        return add_us(sum, count, part, WEIR_MINUTE_US);
    case UNIT_HOUR:
        return add_us(sum, count, part, WEIR_HOUR_US);
    case UNIT_DAY:
        return add_count(&sum->days, count, 1) && add_broken_us(sum, part, WEIR_DAY_US);
    case UNIT_WEEK:
        return add_count(&sum->days, count, 7) && add_broken_days(sum, part, 7);
    case UNIT_MONTH:
        return add_months(sum, count, part);
    case UNIT_YEAR:
        return add_years(sum, count, part, 1);
    case UNIT_DECADE:
        return add_years(sum, count, part, 10);
    case UNIT_CENTURY:
        return add_years(sum, count, part, 100);
    case UNIT_MILLENNIUM:
        return add_years(sum, count, part, 1000);
    case UNIT_NONE:
    case UNIT_NOT_INPUT:
        break;
    }
    return false;
}

// --- fields ----------------------------------------------------------------------------------

static enum unit unit_of(const char *text)
{
    enum weir_time_field field;
    if (!weir_time_field_parse(weir_view_of(text), &field)) {
        return UNIT_NONE;
    }
    switch (field) {
    case WEIR_FIELD_MICROSECONDS:
        return UNIT_MICROSECOND;
    case WEIR_FIELD_MILLISECONDS:
        return UNIT_MILLISECOND;
    case WEIR_FIELD_SECOND:
        return UNIT_SECOND;
    case WEIR_FIELD_MINUTE:
        return UNIT_MINUTE;
    case WEIR_FIELD_HOUR:
        return UNIT_HOUR;
    case WEIR_FIELD_DAY:
        return UNIT_DAY;
    case WEIR_FIELD_WEEK:
        return UNIT_WEEK;
    case WEIR_FIELD_MONTH:
        return UNIT_MONTH;
    case WEIR_FIELD_YEAR:
        return UNIT_YEAR;
    case WEIR_FIELD_DECADE:
        return UNIT_DECADE;
    case WEIR_FIELD_CENTURY:
        return UNIT_CENTURY;
    case WEIR_FIELD_MILLENNIUM:
        return UNIT_MILLENNIUM;
    case WEIR_FIELD_QUARTER:
    case WEIR_FIELD_TIMEZONE:
    case WEIR_FIELD_TIMEZONE_HOUR:
    case WEIR_FIELD_TIMEZONE_MINUTE:
        return UNIT_NOT_INPUT;
    case WEIR_FIELD_DOW:
    case WEIR_FIELD_ISODOW:
    case WEIR_FIELD_DOY:
    case WEIR_FIELD_ISOYEAR:
    case WEIR_FIELD_EPOCH:
    case WEIR_FIELD_JULIAN:
        break;
    }
    return UNIT_NONE;
}

static bool read_i64(const char *text, int64_t *value, const char **end)
{
    char *stop;
    errno = 0;
    *value = strtoll(text, &stop, 10);
    *end = stop;
    return errno != ERANGE;
}

// ".5", "." alone is nothing.
static bool read_fraction(const char *text, double *part)
{
    char *end;
    errno = 0;
    *part = text[1] == '\0' ? 0 : strtod(text, &end);
    return text[1] == '\0' || (*end == '\0' && errno == 0);
}

// hh:mm, hh:mm:ss[.fff], mm:ss.fff; hours are not bounded.
static enum weir_datetime_outcome read_clock(const char *text, int64_t *us)
{
    int64_t hours;
    int32_t minutes;
    int32_t seconds = 0;
    double part = 0;
    const char *at;
    if (!read_i64(text, &hours, &at)) {
        return WEIR_OUTCOME_RANGE;
    }
    if (*at != ':') {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (!weir_datetime_read_int(at + 1, &minutes, &at)) {
        return WEIR_OUTCOME_RANGE;
    }
    bool is_minutes_first = *at == '.';
    if (*at == ':' && !weir_datetime_read_int(at + 1, &seconds, &at)) {
        return WEIR_OUTCOME_RANGE;
    }
    if ((*at != '\0' && *at != '.') || (*at == '.' && !read_fraction(at, &part))) {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (is_minutes_first) {
        if (hours > INT32_MAX) {
            return WEIR_OUTCOME_RANGE;
        }
        seconds = minutes;
        minutes = (int32_t)hours;
        hours = 0;
    }
    int64_t fraction_us = (int64_t)rint(part * 1e6);
    if (hours < 0 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60 ||
        fraction_us < 0 || fraction_us > WEIR_SECOND_US) {
        return WEIR_OUTCOME_RANGE;
    }
    int64_t rest_us = minutes * WEIR_MINUTE_US + seconds * WEIR_SECOND_US + fraction_us;
    bool is_good = !__builtin_mul_overflow(hours, WEIR_HOUR_US, us) &&
                   !__builtin_add_overflow(*us, rest_us, us);
    return is_good ? WEIR_OUTCOME_OK : WEIR_OUTCOME_RANGE;
}

struct reading {
    struct sum sum;
    enum unit unit; // of the number before
    uint32_t given;
    uint32_t new_given;
    bool is_ago;
};

static enum weir_datetime_outcome read_clock_field(struct reading *reading, const char *text)
{
    int64_t us;
    bool is_signed = text[0] == '+' || text[0] == '-';
    enum weir_datetime_outcome outcome = read_clock(text + is_signed, &us);
    if (outcome != WEIR_OUTCOME_OK) {
        return outcome;
    }
    reading->sum.us = text[0] == '-' ? -us : us;
    reading->new_given = GIVEN_CLOCK;
    reading->unit = UNIT_DAY; // 1 02:03: what stands before has no other unit
    return WEIR_OUTCOME_OK;
}

// count.part of the unit that stood behind it; years-months.
static enum weir_datetime_outcome read_number_field(struct reading *reading, const char *text)
{
    int64_t count;
    int32_t months;
    double part = 0;
    const char *at;
    enum unit unit = reading->unit == UNIT_NONE ? UNIT_SECOND : reading->unit;
    if (!read_i64(text, &count, &at)) {
        return WEIR_OUTCOME_RANGE;
    }
    if (*at == '-') {
        if (!weir_datetime_read_int(at + 1, &months, &at) || months < 0 ||
            months >= MONTHS_PER_YEAR) {
            return WEIR_OUTCOME_RANGE;
        }
        if (*at != '\0') {
            return WEIR_OUTCOME_SYNTAX;
        }
        unit = UNIT_MONTH;
        if (__builtin_mul_overflow(count, MONTHS_PER_YEAR, &count) ||
            __builtin_add_overflow(count, text[0] == '-' ? -months : months, &count)) {
            return WEIR_OUTCOME_RANGE;
        }
    } else if (*at == '.') {
        if (!read_fraction(at, &part)) {
            return WEIR_OUTCOME_SYNTAX;
        }
        part = text[0] == '-' ? -part : part;
    } else if (*at != '\0') {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (unit == UNIT_NOT_INPUT) {
        return WEIR_OUTCOME_SYNTAX;
    }
    reading->new_given = unit == UNIT_SECOND && part != 0 ? GIVEN_SECONDS : GIVEN(unit);
    reading->unit = unit == UNIT_HOUR ? UNIT_DAY : unit;
    return add_unit(&reading->sum, unit, count, part) ? WEIR_OUTCOME_OK : WEIR_OUTCOME_RANGE;
}

static enum weir_datetime_outcome read_word(struct reading *reading, const char *text)
{
    if (strcmp(text, "ago") == 0) {
        reading->is_ago = true;
        reading->unit = UNIT_NOT_INPUT; // a unit has to stand before it
        return WEIR_OUTCOME_OK;
    }
    reading->unit = unit_of(text);
    return reading->unit == UNIT_NONE ? WEIR_OUTCOME_SYNTAX : WEIR_OUTCOME_OK;
}

static enum weir_datetime_outcome read_field(struct reading *reading,
                                             const struct weir_datetime_field *field)
{
    switch (field->class) {
    case WEIR_DATETIME_TIME:
        return read_clock_field(reading, field->text);
    case WEIR_DATETIME_ZONE:
        if (strchr(field->text + 1, ':') != NULL &&
            read_clock_field(reading, field->text) == WEIR_OUTCOME_OK) {
            return WEIR_OUTCOME_OK;
        }
        return read_number_field(reading, field->text);
    case WEIR_DATETIME_DATE:
    case WEIR_DATETIME_NUMBER:
        return read_number_field(reading, field->text);
    case WEIR_DATETIME_WORD:
        return read_word(reading, field->text);
    }
    return WEIR_OUTCOME_SYNTAX;
}

static bool negate(struct sum *sum)
{
    return !__builtin_sub_overflow(0, sum->years, &sum->years) &&
           !__builtin_sub_overflow(0, sum->months, &sum->months) &&
           !__builtin_sub_overflow(0, sum->days, &sum->days) &&
           !__builtin_sub_overflow(0, sum->us, &sum->us);
}

static enum weir_datetime_outcome read_fields(struct weir_view text, struct sum *sum)
{
    struct weir_datetime_fields fields;
    struct reading reading = {0};
    if (!weir_datetime_split(text, &fields)) {
        return WEIR_OUTCOME_SYNTAX;
    }
    for (uint32_t i = fields.count; i-- > 0;) {
        reading.new_given = 0;
        enum weir_datetime_outcome outcome = read_field(&reading, &fields.fields[i]);
        if (outcome != WEIR_OUTCOME_OK) {
            return outcome;
        }
        if ((reading.new_given & reading.given) != 0) {
            return WEIR_OUTCOME_SYNTAX;
        }
        reading.given |= reading.new_given;
    }
    if (reading.given == 0) {
        return WEIR_OUTCOME_SYNTAX;
    }
    *sum = reading.sum;
    return !reading.is_ago || negate(sum) ? WEIR_OUTCOME_OK : WEIR_OUTCOME_RANGE;
}

// --- ISO 8601 --------------------------------------------------------------------------------

struct iso {
    const char *at;
    struct sum *sum;
    bool is_time;   // behind the T
    bool has_field; // in this half
    bool is_ended;
};

static enum weir_datetime_outcome read_iso_number(struct iso *iso, int64_t *count, double *part)
{
    if (!weir_is_digit(*iso->at) && *iso->at != '-' && *iso->at != '.') {
        return WEIR_OUTCOME_SYNTAX;
    }
    char *end;
    errno = 0;
    double value = strtod(iso->at, &end);
    if (end == iso->at || errno != 0) {
        return WEIR_OUTCOME_SYNTAX;
    }
    if (isnan(value) || value < -1.0e15 || value > 1.0e15) {
        return WEIR_OUTCOME_RANGE;
    }
    *count = (int64_t)value;
    *part = value - (double)*count;
    iso->at = end;
    return WEIR_OUTCOME_OK;
}

static enum weir_datetime_outcome added(bool is_good)
{
    return is_good ? WEIR_OUTCOME_OK : WEIR_OUTCOME_RANGE;
}

static size_t digits_at(const char *text)
{
    return strspn(text + (*text == '-'), "0123456789");
}

// P[yyyy-mm-dd] and P[yyyymmdd], with the years read already; ends at the end or at the T.
static enum weir_datetime_outcome read_iso_date(struct iso *iso, int64_t years, double part)
{
    int64_t count;
    enum weir_datetime_outcome outcome = added(add_years(iso->sum, years, part, 1));
    for (uint32_t i = 0; outcome == WEIR_OUTCOME_OK && i < 2 && *iso->at == '-'; i++) {
        iso->at++;
        outcome = read_iso_number(iso, &count, &part);
        if (outcome == WEIR_OUTCOME_OK) {
            outcome = i == 0 ? added(add_months(iso->sum, count, part))
                             : added(add_unit(iso->sum, UNIT_DAY, count, part));
        }
    }
    if (outcome == WEIR_OUTCOME_OK && *iso->at != '\0' && *iso->at != 'T') {
        outcome = WEIR_OUTCOME_SYNTAX;
    }
    return outcome;
}

static enum weir_datetime_outcome read_iso_clock(struct iso *iso, int64_t hours, double part)
{
    int64_t count;
    enum weir_datetime_outcome outcome = added(add_us(iso->sum, hours, part, WEIR_HOUR_US));
    for (uint32_t i = 0; outcome == WEIR_OUTCOME_OK && i < 2 && *iso->at == ':'; i++) {
        iso->at++;
        outcome = read_iso_number(iso, &count, &part);
        if (outcome == WEIR_OUTCOME_OK) {
            int64_t unit_us = i == 0 ? WEIR_MINUTE_US : WEIR_SECOND_US;
            outcome = added(add_us(iso->sum, count, part, unit_us));
        }
    }
    return outcome == WEIR_OUTCOME_OK && *iso->at != '\0' ? WEIR_OUTCOME_SYNTAX : outcome;
}

// A number without letter: the whole date or clock in one.
static enum weir_datetime_outcome read_iso_whole(struct iso *iso, const char *start, int64_t count,
                                                 double part)
{
    bool is_run_together = digits_at(start) == (iso->is_time ? 6 : 8) && *iso->at != '-' &&
                           *iso->at != ':' && !iso->has_field;
    if (is_run_together && iso->is_time) {
        return added(add_us(iso->sum, count / 10000, 0, WEIR_HOUR_US) &&
                     add_us(iso->sum, count / 100 % 100, 0, WEIR_MINUTE_US) &&
                     add_us(iso->sum, count % 100, 0, WEIR_SECOND_US) &&
                     add_broken_us(iso->sum, part, 1));
    }
    if (is_run_together) {
        return added(add_years(iso->sum, count / 10000, 0, 1) &&
                     add_months(iso->sum, count / 100 % 100, 0) &&
                     add_unit(iso->sum, UNIT_DAY, count % 100, part));
    }
    if (iso->has_field) {
        return WEIR_OUTCOME_SYNTAX;
    }
    return iso->is_time ? read_iso_clock(iso, count, part) : read_iso_date(iso, count, part);
}

static enum weir_datetime_outcome read_iso_field(struct iso *iso)
{
    static const enum unit date_units[] = {UNIT_YEAR, UNIT_MONTH, UNIT_WEEK, UNIT_DAY};
    static const enum unit clock_units[] = {UNIT_HOUR, UNIT_MINUTE, UNIT_SECOND};
    const char *start = iso->at;
    int64_t count;
    double part;
    enum weir_datetime_outcome outcome = read_iso_number(iso, &count, &part);
    if (outcome != WEIR_OUTCOME_OK) {
        return outcome;
    }
    const char *letters = iso->is_time ? "HMS" : "YMWD";
    const char *letter = *iso->at != '\0' ? strchr(letters, *iso->at) : NULL;
    if (letter != NULL) {
        enum unit unit =
            iso->is_time ? clock_units[letter - letters] : date_units[letter - letters];
        iso->at++;
        iso->has_field = true;
        return added(add_unit(iso->sum, unit, count, part));
    }
    bool is_known =
        *iso->at == '\0' || (iso->is_time ? *iso->at == ':' : *iso->at == '-' || *iso->at == 'T');
    return is_known ? read_iso_whole(iso, start, count, part) : WEIR_OUTCOME_SYNTAX;
}

static enum weir_datetime_outcome read_iso(const char *text, struct sum *sum)
{
    *sum = (struct sum){0};
    if (text[0] != 'P' || text[1] == '\0') {
        return WEIR_OUTCOME_SYNTAX;
    }
    struct iso iso = {.at = text + 1, .sum = sum};
    enum weir_datetime_outcome outcome = WEIR_OUTCOME_OK;
    while (outcome == WEIR_OUTCOME_OK && *iso.at != '\0') {
        if (*iso.at == 'T') {
            iso.is_time = true;
            iso.has_field = false;
            iso.at++;
        } else {
            outcome = read_iso_field(&iso);
        }
    }
    return outcome;
}

// --- whole -----------------------------------------------------------------------------------

bool weir_interval_parse(struct weir_view text, struct weir_interval *out,
                         struct weir_value_error *error)
{
    struct sum sum;
    char copy[TEXT_BYTES_MAX + 1];
    enum weir_datetime_outcome outcome = read_fields(text, &sum);
    if (outcome == WEIR_OUTCOME_SYNTAX && text.size_bytes <= TEXT_BYTES_MAX &&
        memchr(text.data, '\0', text.size_bytes) == NULL) {
        memcpy(copy, text.data, text.size_bytes);
        copy[text.size_bytes] = '\0';
        outcome = read_iso(copy, &sum);
    }
    if (outcome == WEIR_OUTCOME_SYNTAX) {
        return weir_value_error_syntax(error, "interval", text);
    }
    if (outcome != WEIR_OUTCOME_OK) {
        int shown = text.size_bytes < 128 ? (int)text.size_bytes : 128;
        return weir_value_error_set(error, "interval field value out of range: \"%.*s\"", shown,
                                    text.data);
    }
    int64_t months = (int64_t)sum.years * MONTHS_PER_YEAR + sum.months;
    if (months > INT32_MAX || months < INT32_MIN) {
        return weir_value_error_set(error, "interval out of range");
    }
    *out = (struct weir_interval){.us = sum.us, .days = sum.days, .months = (int32_t)months};
    return true;
}
