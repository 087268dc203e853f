// SPDX-License-Identifier: Apache-2.0
// interval and time: text input and output, order, arithmetic, the fields of extract() and
// date_trunc(). PostgreSQL 15 with IntervalStyle postgres. An interval is months, days and µs
// (type.h), kept apart; a time is µs since midnight, 24:00:00 included. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_INTERVAL_H
#define WEIR_RUNTIME_TYPES_INTERVAL_H

#include "runtime/types/datetime.h"
#include "runtime/types/type.h"

enum { WEIR_DAYS_PER_MONTH = 30 }; // where months have to be compared with days

// --- interval: text --------------------------------------------------------------------------

// PostgreSQL's, SQL's and ISO 8601's spellings: '1 day 02:03', '@ 3 mons ago', '1-2', 'P1Y2M3DT4H'.
bool weir_interval_parse(struct weir_view text, struct weir_interval *out,
                         struct weir_value_error *error);
// 1 year 2 mons 3 days 04:05:06.789
void weir_interval_append(struct weir_buffer *buffer, struct weir_interval value);

// --- interval: order and arithmetic ----------------------------------------------------------

// The length by which intervals are compared, in µs: a month is 30 days, a day 24 hours.
static inline __int128 weir_interval_span(struct weir_interval value)
{
    return ((__int128)value.months * WEIR_DAYS_PER_MONTH + value.days) * WEIR_DAY_US + value.us;
}

static inline int weir_interval_compare(struct weir_interval a, struct weir_interval b)
{
    __int128 span_a = weir_interval_span(a);
    __int128 span_b = weir_interval_span(b);
    return (span_a > span_b) - (span_a < span_b);
}

// An interval of that span, days as far as they can be counted: the one spelling that stands for
// all that are equal.
struct weir_interval weir_interval_of_span(__int128 span);

// "interval out of range", "division by zero".
bool weir_interval_add(struct weir_interval a, struct weir_interval b, struct weir_interval *out,
                       struct weir_value_error *error);
bool weir_interval_subtract(struct weir_interval a, struct weir_interval b,
                            struct weir_interval *out, struct weir_value_error *error);
bool weir_interval_negate(struct weir_interval value, struct weir_interval *out,
                          struct weir_value_error *error);
bool weir_interval_multiply(struct weir_interval value, double factor, struct weir_interval *out,
                            struct weir_value_error *error);
bool weir_interval_divide(struct weir_interval value, double divisor, struct weir_interval *out,
                          struct weir_value_error *error);
// 24 hours become a day, 30 days a month; both, all of one sign.
bool weir_interval_justify_hours(struct weir_interval value, struct weir_interval *out,
                                 struct weir_value_error *error);
bool weir_interval_justify_days(struct weir_interval value, struct weir_interval *out,
                                struct weir_value_error *error);
bool weir_interval_justify(struct weir_interval value, struct weir_interval *out,
                           struct weir_value_error *error);

// timestamp ± interval. "timestamp out of range".
bool weir_timestamp_add_interval(int64_t us, struct weir_interval value, int64_t *out_us,
                                 struct weir_value_error *error);
bool weir_timestamp_subtract_interval(int64_t us, struct weir_interval value, int64_t *out_us,
                                      struct weir_value_error *error);
// a - b, in days and hours. "cannot subtract infinite timestamps".
bool weir_timestamp_subtract(int64_t a, int64_t b, struct weir_interval *out,
                             struct weir_value_error *error);
// age(a, b): in years, months and days of the calendar.
bool weir_timestamp_age(int64_t a, int64_t b, struct weir_interval *out,
                        struct weir_value_error *error);

// --- interval: fields ------------------------------------------------------------------------

// Whether extract() knows the field of an interval, of a time.
bool weir_interval_has_field(enum weir_time_field field);
bool weir_time_has_field(enum weir_time_field field);

struct weir_numeric weir_interval_extract(enum weir_time_field field, struct weir_interval value,
                                          struct weir_arena *arena);
// What date_part gives: computed in doubles.
double weir_interval_part(enum weir_time_field field, struct weir_interval value);
// date_trunc; any field that weir_time_field_truncates but weeks.
struct weir_interval weir_interval_truncate(enum weir_time_field field, struct weir_interval value);

// --- time ------------------------------------------------------------------------------------

// 04:05:06.789, 040506, 04:05 PM; a zone, and a date before it, are read and left out.
bool weir_time_parse(struct weir_view text, int64_t *out_us, struct weir_value_error *error);
void weir_time_append(struct weir_buffer *buffer, int64_t us);
struct weir_numeric weir_time_extract(enum weir_time_field field, int64_t us);
// us + more, round the clock.
int64_t weir_time_add(int64_t us, int64_t more_us);

#endif
