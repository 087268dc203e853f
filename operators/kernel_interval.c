// SPDX-License-Identifier: Apache-2.0
// Intervals and times of day: arithmetic among them and with dates and timestamps, extract,
// date_part, date_trunc, age, justify_*, casts. The time zone is UTC: a day has 24 hours.
// Thread: the task's.
#include "operators/node.h"
#include "operators/time_field.h"

#include "runtime/types/interval.h"

#include <math.h>

// --- arithmetic ------------------------------------------------------------------------------

// `out function(a, b, &out, &error)` of runtime/types as a kernel.
#define CHECKED_2(name, out_type, a_type, b_type, expression)                                      \
    static inline out_type name(struct weir_kernel *kernel, uint32_t row, a_type a, b_type b)      \
    {                                                                                              \
        struct weir_value_error error;                                                             \
        out_type out = {0};                                                                        \
        if (__builtin_expect(!(expression), 0)) {                                                  \
            weir_kernel_fail_value(kernel, row, &error);                                           \
        }                                                                                          \
        return out;                                                                                \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_##name, out_type, a_type, b_type, name)

#define CHECKED_1(name, out_type, a_type, expression)                                              \
    static inline out_type name(struct weir_kernel *kernel, uint32_t row, a_type a)                \
    {                                                                                              \
        struct weir_value_error error;                                                             \
        out_type out = {0};                                                                        \
        if (__builtin_expect(!(expression), 0)) {                                                  \
            weir_kernel_fail_value(kernel, row, &error);                                           \
        }                                                                                          \
        return out;                                                                                \
    }                                                                                              \
    WEIR_KERNEL_1(kernel_##name, out_type, a_type, name)

static bool date_plus_interval(int32_t date, struct weir_interval value, int64_t *out,
                               struct weir_value_error *error)
{
    return weir_timestamp_from_date(date, out, error) &&
           weir_timestamp_add_interval(*out, value, out, error);
}

static bool date_minus_interval(int32_t date, struct weir_interval value, int64_t *out,
                                struct weir_value_error *error)
{
    return weir_timestamp_from_date(date, out, error) &&
           weir_timestamp_subtract_interval(*out, value, out, error);
}

static bool date_plus_time(int32_t date, int64_t time_us, int64_t *out,
                           struct weir_value_error *error)
{
    if (!weir_timestamp_from_date(date, out, error) || !weir_timestamp_is_finite(*out)) {
        return weir_date_is_finite(date) ? false : true;
    }
    *out += time_us;
    return weir_timestamp_is_valid(*out) || weir_value_error_set(error, "timestamp out of range");
}

CHECKED_2(time_add, int64_t, int64_t, struct weir_interval,
          weir_timestamp_add_interval(a, b, &out, &error))
CHECKED_2(add_time, int64_t, struct weir_interval, int64_t,
          weir_timestamp_add_interval(b, a, &out, &error))
CHECKED_2(time_subtract, int64_t, int64_t, struct weir_interval,
          weir_timestamp_subtract_interval(a, b, &out, &error))
CHECKED_2(date_add, int64_t, int32_t, struct weir_interval, date_plus_interval(a, b, &out, &error))
CHECKED_2(add_date, int64_t, struct weir_interval, int32_t, date_plus_interval(b, a, &out, &error))
CHECKED_2(date_subtract, int64_t, int32_t, struct weir_interval,
          date_minus_interval(a, b, &out, &error))
CHECKED_2(date_and_time, int64_t, int32_t, int64_t, date_plus_time(a, b, &out, &error))
CHECKED_2(time_and_date, int64_t, int64_t, int32_t, date_plus_time(b, a, &out, &error))
CHECKED_2(between, struct weir_interval, int64_t, int64_t,
          weir_timestamp_subtract(a, b, &out, &error))
CHECKED_2(age, struct weir_interval, int64_t, int64_t, weir_timestamp_age(a, b, &out, &error))
CHECKED_2(interval_add, struct weir_interval, struct weir_interval, struct weir_interval,
          weir_interval_add(a, b, &out, &error))
CHECKED_2(interval_subtract, struct weir_interval, struct weir_interval, struct weir_interval,
          weir_interval_subtract(a, b, &out, &error))
CHECKED_2(interval_multiply, struct weir_interval, struct weir_interval, double,
          weir_interval_multiply(a, b, &out, &error))
CHECKED_2(multiply_interval, struct weir_interval, double, struct weir_interval,
          weir_interval_multiply(b, a, &out, &error))
CHECKED_2(interval_divide, struct weir_interval, struct weir_interval, double,
          weir_interval_divide(a, b, &out, &error))
CHECKED_1(interval_negate, struct weir_interval, struct weir_interval,
          weir_interval_negate(a, &out, &error))
CHECKED_1(justify_hours, struct weir_interval, struct weir_interval,
          weir_interval_justify_hours(a, &out, &error))
CHECKED_1(justify_days, struct weir_interval, struct weir_interval,
          weir_interval_justify_days(a, &out, &error))
CHECKED_1(justify_interval, struct weir_interval, struct weir_interval,
          weir_interval_justify(a, &out, &error))

// --- time of day -----------------------------------------------------------------------------

static inline int64_t clock_add(struct weir_kernel *kernel, uint32_t row, int64_t us,
                                struct weir_interval value)
{
    (void)kernel;
    (void)row;
    return weir_time_add(us, value.us);
}

static inline int64_t add_clock(struct weir_kernel *kernel, uint32_t row,
                                struct weir_interval value, int64_t us)
{
    return clock_add(kernel, row, us, value);
}

static inline int64_t clock_subtract(struct weir_kernel *kernel, uint32_t row, int64_t us,
                                     struct weir_interval value)
{
    (void)kernel;
    (void)row;
    return weir_time_add(us, -(value.us % WEIR_DAY_US));
}

static inline struct weir_interval clock_between(struct weir_kernel *kernel, uint32_t row,
                                                 int64_t a, int64_t b)
{
    (void)kernel;
    (void)row;
    return (struct weir_interval){.us = a - b};
}

static inline struct weir_interval clock_to_interval(struct weir_kernel *kernel, uint32_t row,
                                                     int64_t us)
{
    (void)kernel;
    (void)row;
    return (struct weir_interval){.us = us};
}

static inline int64_t interval_to_clock(struct weir_kernel *kernel, uint32_t row,
                                        struct weir_interval value)
{
    (void)kernel;
    (void)row;
    return weir_time_add(0, value.us);
}

static inline int64_t time_to_clock(struct weir_kernel *kernel, uint32_t row, int64_t us)
{
    if (!weir_timestamp_is_finite(us)) {
        weir_kernel_set_null(kernel, row);
        return 0;
    }
    return weir_time_add(0, us);
}

WEIR_KERNEL_2(kernel_clock_add, int64_t, int64_t, struct weir_interval, clock_add)
WEIR_KERNEL_2(kernel_add_clock, int64_t, struct weir_interval, int64_t, add_clock)
WEIR_KERNEL_2(kernel_clock_subtract, int64_t, int64_t, struct weir_interval, clock_subtract)
WEIR_KERNEL_2(kernel_clock_between, struct weir_interval, int64_t, int64_t, clock_between)
WEIR_KERNEL_1(kernel_clock_to_interval, struct weir_interval, int64_t, clock_to_interval)
WEIR_KERNEL_1(kernel_interval_to_clock, int64_t, struct weir_interval, interval_to_clock)
WEIR_KERNEL_1(kernel_time_to_clock, int64_t, int64_t, time_to_clock)

// --- fields ----------------------------------------------------------------------------------

static bool read_field(struct weir_view name, enum weir_arg arg, enum weir_time_field *field,
                       struct weir_value_error *error)
{
    if (!weir_time_field_parse(name, field)) {
        return weir_time_field_refuse(error, name, "recognized", arg);
    }
    bool is_there =
        arg == WEIR_ARG_TIME ? weir_time_has_field(*field) : weir_interval_has_field(*field);
    return is_there || weir_time_field_refuse(error, name, "supported", arg);
}

static bool read_unit(struct weir_view name, enum weir_arg arg, enum weir_time_field *field,
                      struct weir_value_error *error)
{
    if (!weir_time_field_parse(name, field)) {
        return weir_time_field_refuse(error, name, "recognized", arg);
    }
    bool is_zone = *field == WEIR_FIELD_TIMEZONE || *field == WEIR_FIELD_TIMEZONE_HOUR ||
                   *field == WEIR_FIELD_TIMEZONE_MINUTE;
    bool is_there = weir_time_field_truncates(*field) && *field != WEIR_FIELD_WEEK;
    const char *why = is_zone || *field == WEIR_FIELD_WEEK ? "supported" : "recognized";
    return is_there || weir_time_field_refuse(error, name, why, arg);
}

static struct weir_interval interval_at(const struct weir_kernel *kernel, uint32_t row)
{
    const struct weir_vector *values = &kernel->args[1];
    return values->column.interval[row & values->row_mask];
}

static int64_t clock_at(const struct weir_kernel *kernel, uint32_t row)
{
    const struct weir_vector *values = &kernel->args[1];
    return values->column.i64[row & values->row_mask];
}

static void extract_interval_row(struct weir_kernel *kernel, uint32_t row,
                                 struct weir_field_reader *reader)
{
    if (weir_field_of(reader, kernel, row)) {
        kernel->out->numeric[row] =
            weir_interval_extract(reader->field, interval_at(kernel, row), kernel->arena);
    }
}

static void extract_clock_row(struct weir_kernel *kernel, uint32_t row,
                              struct weir_field_reader *reader)
{
    if (weir_field_of(reader, kernel, row)) {
        kernel->out->numeric[row] = weir_time_extract(reader->field, clock_at(kernel, row));
    }
}

static void part_interval_row(struct weir_kernel *kernel, uint32_t row,
                              struct weir_field_reader *reader)
{
    if (weir_field_of(reader, kernel, row)) {
        kernel->out->f64[row] = weir_interval_part(reader->field, interval_at(kernel, row));
    }
}

static void part_clock_row(struct weir_kernel *kernel, uint32_t row,
                           struct weir_field_reader *reader)
{
    if (weir_field_of(reader, kernel, row)) {
        struct weir_interval since_midnight = {.us = clock_at(kernel, row)};
        kernel->out->f64[row] = weir_interval_part(reader->field, since_midnight);
    }
}

static void truncate_row(struct weir_kernel *kernel, uint32_t row, struct weir_field_reader *reader)
{
    if (weir_field_of(reader, kernel, row)) {
        kernel->out->interval[row] =
            weir_interval_truncate(reader->field, interval_at(kernel, row));
    }
}

WEIR_FIELD_KERNEL(kernel_extract_interval, extract_interval_row, read_field, INTERVAL)
WEIR_FIELD_KERNEL(kernel_extract_clock, extract_clock_row, read_field, TIME)
WEIR_FIELD_KERNEL(kernel_part_interval, part_interval_row, read_field, INTERVAL)
WEIR_FIELD_KERNEL(kernel_part_clock, part_clock_row, read_field, TIME)
WEIR_FIELD_KERNEL(kernel_truncate_interval, truncate_row, read_unit, INTERVAL)

static bool check_field(const struct weir_function *function, struct weir_expr *const *args,
                        struct weir_value_error *error)
{
    return weir_field_check(read_field, args[0], (enum weir_arg)function->args[1], error);
}

static bool check_unit(const struct weir_function *function, struct weir_expr *const *args,
                       struct weir_value_error *error)
{
    return weir_field_check(read_unit, args[0], (enum weir_arg)function->args[1], error);
}

static inline uint8_t is_finite(struct weir_kernel *kernel, uint32_t row, struct weir_interval a)
{
    (void)kernel;
    (void)row;
    (void)a;
    return 1;
}

WEIR_KERNEL_1(kernel_is_finite, uint8_t, struct weir_interval, is_finite)

// --- tables ----------------------------------------------------------------------------------

#define CAST(from, to, the_context, the_kernel)                                                    \
    WEIR_CAST_ROW(WEIR_ARG_##from, WEIR_ARG_##to, WEIR_CAST_##the_context, the_kernel, 0)

static const struct weir_cast CASTS[] = {
    CAST(TIME, INTERVAL, IMPLICIT, kernel_clock_to_interval),
    CAST(INTERVAL, TIME, ASSIGNMENT, kernel_interval_to_clock),
    CAST(TIMESTAMP, TIME, ASSIGNMENT, kernel_time_to_clock),
    CAST(TIMESTAMPTZ, TIME, ASSIGNMENT, kernel_time_to_clock),
};

const struct weir_cast_table weir_casts_interval = {.casts = CASTS,
                                                    .count = sizeof CASTS / sizeof CASTS[0]};

#define FUNCTION(the_name, type, the_kernel, the_check, ...)                                       \
    WEIR_FUNCTION_ROW(the_name, WEIR_ARG_##type, the_kernel, the_check, 0, __VA_ARGS__)
#define TEXT WEIR_ARG_TEXT
#define DATE WEIR_ARG_DATE
#define TS WEIR_ARG_TIMESTAMP
#define TSTZ WEIR_ARG_TIMESTAMPTZ
#define INTERVAL WEIR_ARG_INTERVAL
#define TIME WEIR_ARG_TIME
#define DOUBLE WEIR_ARG_DOUBLE

static const struct weir_function FUNCTIONS[] = {
    FUNCTION("+", TIMESTAMP, kernel_date_add, NULL, DATE, INTERVAL),
    FUNCTION("+", TIMESTAMP, kernel_date_and_time, NULL, DATE, TIME),
    FUNCTION("+", TIMESTAMP, kernel_time_add, NULL, TS, INTERVAL),
    FUNCTION("+", TIMESTAMPTZ, kernel_time_add, NULL, TSTZ, INTERVAL),
    FUNCTION("+", TIMESTAMP, kernel_add_date, NULL, INTERVAL, DATE),
    FUNCTION("+", TIMESTAMP, kernel_time_and_date, NULL, TIME, DATE),
    FUNCTION("+", TIMESTAMP, kernel_add_time, NULL, INTERVAL, TS),
    FUNCTION("+", TIMESTAMPTZ, kernel_add_time, NULL, INTERVAL, TSTZ),
    FUNCTION("+", INTERVAL, kernel_interval_add, NULL, INTERVAL, INTERVAL),
    FUNCTION("+", TIME, kernel_clock_add, NULL, TIME, INTERVAL),
    FUNCTION("+", TIME, kernel_add_clock, NULL, INTERVAL, TIME),
    FUNCTION("-", TIMESTAMP, kernel_date_subtract, NULL, DATE, INTERVAL),
    FUNCTION("-", TIMESTAMP, kernel_time_subtract, NULL, TS, INTERVAL),
    FUNCTION("-", TIMESTAMPTZ, kernel_time_subtract, NULL, TSTZ, INTERVAL),
    FUNCTION("-", INTERVAL, kernel_between, NULL, TS, TS),
    FUNCTION("-", INTERVAL, kernel_between, NULL, TSTZ, TSTZ),
    FUNCTION("-", INTERVAL, kernel_interval_subtract, NULL, INTERVAL, INTERVAL),
    FUNCTION("-", TIME, kernel_clock_subtract, NULL, TIME, INTERVAL),
    FUNCTION("-", INTERVAL, kernel_clock_between, NULL, TIME, TIME),
    FUNCTION("-", INTERVAL, kernel_interval_negate, NULL, INTERVAL),
    FUNCTION("*", INTERVAL, kernel_interval_multiply, NULL, INTERVAL, DOUBLE),
    FUNCTION("*", INTERVAL, kernel_multiply_interval, NULL, DOUBLE, INTERVAL),
    FUNCTION("/", INTERVAL, kernel_interval_divide, NULL, INTERVAL, DOUBLE),
    FUNCTION("age", INTERVAL, kernel_age, NULL, TS, TS),
    FUNCTION("age", INTERVAL, kernel_age, NULL, TSTZ, TSTZ),
    FUNCTION("age", INTERVAL, NULL, NULL, TS),
    FUNCTION("age", INTERVAL, NULL, NULL, TSTZ),
    FUNCTION("justify_hours", INTERVAL, kernel_justify_hours, NULL, INTERVAL),
    FUNCTION("justify_days", INTERVAL, kernel_justify_days, NULL, INTERVAL),
    FUNCTION("justify_interval", INTERVAL, kernel_justify_interval, NULL, INTERVAL),
    FUNCTION("extract", NUMERIC, kernel_extract_interval, check_field, TEXT, INTERVAL),
    FUNCTION("extract", NUMERIC, kernel_extract_clock, check_field, TEXT, TIME),
    FUNCTION("date_part", DOUBLE, kernel_part_interval, check_field, TEXT, INTERVAL),
    FUNCTION("date_part", DOUBLE, kernel_part_clock, check_field, TEXT, TIME),
    FUNCTION("date_trunc", INTERVAL, kernel_truncate_interval, check_unit, TEXT, INTERVAL),
    FUNCTION("timezone", TIMESTAMPTZ, NULL, NULL, INTERVAL, TS),
    FUNCTION("timezone", TIMESTAMP, NULL, NULL, INTERVAL, TSTZ),
    FUNCTION("isfinite", BOOLEAN, kernel_is_finite, NULL, INTERVAL),
};

const struct weir_function_table weir_functions_interval = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
