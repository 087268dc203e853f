// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps: + -, extract, date_part, date_trunc, to_timestamp, make_date, casts among
// them. The time zone is UTC. Intervals and times: kernel_interval.c. Thread: the task's.
#include "operators/node.h"
#include "operators/time_field.h"

#include "runtime/types/datetime.h"

#include <math.h>

// --- dates -----------------------------------------------------------------------------------

static inline int32_t add_days(struct weir_kernel *kernel, uint32_t row, int32_t date, int64_t days)
{
    if (!weir_date_is_finite(date)) {
        return date;
    }
    int64_t sum = date + days;
    if (sum < WEIR_DATE_MIN_DAYS || sum >= WEIR_DATE_END_DAYS) {
        weir_kernel_fail(kernel, row, "date out of range");
        return 0;
    }
    return (int32_t)sum;
}

static inline int32_t date_plus(struct weir_kernel *kernel, uint32_t row, int32_t date,
                                int32_t days)
{
    return add_days(kernel, row, date, days);
}

static inline int32_t plus_date(struct weir_kernel *kernel, uint32_t row, int32_t days,
                                int32_t date)
{
    return add_days(kernel, row, date, days);
}

static inline int32_t date_minus(struct weir_kernel *kernel, uint32_t row, int32_t date,
                                 int32_t days)
{
    return add_days(kernel, row, date, -(int64_t)days);
}

static inline int32_t days_between(struct weir_kernel *kernel, uint32_t row, int32_t a, int32_t b)
{
    if (!weir_date_is_finite(a) || !weir_date_is_finite(b)) {
        weir_kernel_fail(kernel, row, "cannot subtract infinite dates");
        return 0;
    }
    return (int32_t)((int64_t)a - b);
}

static int32_t make_date(struct weir_kernel *kernel, uint32_t row, int32_t year, int32_t month,
                         int32_t day)
{
    // Years before Christ are negative; there is no year 0. Messages count them from 0, as
    // PostgreSQL's do.
    int32_t astronomical = year < 0 && year != INT32_MIN ? year + 1 : year;
    bool is_valid = year != 0 && year != INT32_MIN && month >= 1 && month <= 12 && day >= 1 &&
                    day <= weir_days_in_month(astronomical, month);
    if (!is_valid) {
        weir_kernel_fail_format(kernel, row, "date field value out of range: %d-%02d-%02d",
                                astronomical, month, day);
        return 0;
    }
    int64_t days = weir_days_from_civil(astronomical, month, day);
    if (days < WEIR_DATE_MIN_DAYS || days >= WEIR_DATE_END_DAYS) {
        weir_kernel_fail_format(kernel, row, "date out of range: %d-%02d-%02d", astronomical, month,
                                day);
        return 0;
    }
    return (int32_t)days;
}

static inline uint8_t is_finite_date(struct weir_kernel *kernel, uint32_t row, int32_t date)
{
    (void)kernel;
    (void)row;
    return weir_date_is_finite(date);
}

static inline uint8_t is_finite_time(struct weir_kernel *kernel, uint32_t row, int64_t us)
{
    (void)kernel;
    (void)row;
    return weir_timestamp_is_finite(us);
}

WEIR_KERNEL_2(kernel_date_plus, int32_t, int32_t, int32_t, date_plus)
WEIR_KERNEL_2(kernel_plus_date, int32_t, int32_t, int32_t, plus_date)
WEIR_KERNEL_2(kernel_date_minus, int32_t, int32_t, int32_t, date_minus)
WEIR_KERNEL_2(kernel_days_between, int32_t, int32_t, int32_t, days_between)
WEIR_KERNEL_3(kernel_make_date, int32_t, int32_t, int32_t, int32_t, make_date)
WEIR_KERNEL_1(kernel_is_finite_date, uint8_t, int32_t, is_finite_date)
WEIR_KERNEL_1(kernel_is_finite_time, uint8_t, int64_t, is_finite_time)

// --- to_timestamp ----------------------------------------------------------------------------

static int64_t to_timestamp(struct weir_kernel *kernel, uint32_t row, double seconds)
{
    if (isnan(seconds)) {
        weir_kernel_fail(kernel, row, "timestamp cannot be NaN");
        return 0;
    }
    if (isinf(seconds)) {
        return seconds < 0 ? WEIR_TIMESTAMP_MINUS_INFINITY : WEIR_TIMESTAMP_INFINITY;
    }
    const double shift = (double)(WEIR_EPOCH_SHIFT_US / WEIR_SECOND_US);
    const double end = (double)(WEIR_TIMESTAMP_END_US / WEIR_SECOND_US) + shift;
    const double minimum = (double)(WEIR_TIMESTAMP_MIN_US / WEIR_SECOND_US) + shift;
    double us = rint((seconds - shift) * 1e6);
    if (seconds < minimum || seconds >= end || !weir_timestamp_is_valid((int64_t)us)) {
        weir_kernel_fail_format(kernel, row, "timestamp out of range: \"%g\"", seconds);
        return 0;
    }
    return (int64_t)us;
}

WEIR_KERNEL_1(kernel_to_timestamp, int64_t, double, to_timestamp)

// --- extract, date_part, date_trunc ----------------------------------------------------------

static bool is_zone_field(enum weir_time_field field)
{
    return field == WEIR_FIELD_TIMEZONE || field == WEIR_FIELD_TIMEZONE_HOUR ||
           field == WEIR_FIELD_TIMEZONE_MINUTE;
}

static bool is_clock_field(enum weir_time_field field)
{
    return field == WEIR_FIELD_MICROSECONDS || field == WEIR_FIELD_MILLISECONDS ||
           field == WEIR_FIELD_SECOND || field == WEIR_FIELD_MINUTE || field == WEIR_FIELD_HOUR;
}

// The field to extract from a value of that type.
static bool read_field(struct weir_view name, enum weir_arg arg, enum weir_time_field *field,
                       struct weir_value_error *error)
{
    if (!weir_time_field_parse(name, field)) {
        return weir_time_field_refuse(error, name, "recognized", arg);
    }
    bool is_refused = is_zone_field(*field) && arg != WEIR_ARG_TIMESTAMPTZ;
    if (arg == WEIR_ARG_DATE) {
        is_refused = is_refused || is_clock_field(*field);
    }
    return !is_refused || weir_time_field_refuse(error, name, "supported", arg);
}

static bool read_unit(struct weir_view name, enum weir_arg arg, enum weir_time_field *field,
                      struct weir_value_error *error)
{
    if (!weir_time_field_parse(name, field)) {
        return weir_time_field_refuse(error, name, "recognized", arg);
    }
    const char *why = is_zone_field(*field) ? "supported" : "recognized";
    return weir_time_field_truncates(*field) || weir_time_field_refuse(error, name, why, arg);
}

static void extract_date_row(struct weir_kernel *kernel, uint32_t row,
                             struct weir_field_reader *reader)
{
    const struct weir_vector *dates = &kernel->args[1];
    bool is_null = false;
    if (weir_field_of(reader, kernel, row)) {
        kernel->out->numeric[row] = weir_date_extract(
            reader->field, dates->column.i32[row & dates->row_mask], &is_null, kernel->arena);
    }
    if (is_null) {
        weir_kernel_set_null(kernel, row);
    }
}

static void extract_time_row(struct weir_kernel *kernel, uint32_t row,
                             struct weir_field_reader *reader)
{
    const struct weir_vector *times = &kernel->args[1];
    bool is_null = false;
    if (weir_field_of(reader, kernel, row)) {
        kernel->out->numeric[row] = weir_timestamp_extract(
            reader->field, times->column.i64[row & times->row_mask], &is_null, kernel->arena);
    }
    if (is_null) {
        weir_kernel_set_null(kernel, row);
    }
}

// date_part gives doubles; of a date it knows the clock's fields too, by way of a timestamp.
static void part_row(struct weir_kernel *kernel, uint32_t row, int64_t us,
                     struct weir_field_reader *reader)
{
    bool is_null = false;
    double value = 0;
    if (!weir_field_of(reader, kernel, row)) {
        return;
    }
    if (reader->field == WEIR_FIELD_EPOCH && weir_timestamp_is_finite(us)) {
        __int128 unix_us = (__int128)us + WEIR_EPOCH_SHIFT_US;
        value = (double)unix_us / 1e6;
    } else {
        struct weir_numeric exact =
            weir_timestamp_extract(reader->field, us, &is_null, kernel->arena);
        if (!is_null) {
            weir_numeric_to_double(exact, &value, NULL);
        }
    }
    kernel->out->f64[row] = value;
    if (is_null) {
        weir_kernel_set_null(kernel, row);
    }
}

static void part_time_row(struct weir_kernel *kernel, uint32_t row,
                          struct weir_field_reader *reader)
{
    const struct weir_vector *times = &kernel->args[1];
    part_row(kernel, row, times->column.i64[row & times->row_mask], reader);
}

static void part_date_row(struct weir_kernel *kernel, uint32_t row,
                          struct weir_field_reader *reader)
{
    const struct weir_vector *dates = &kernel->args[1];
    struct weir_value_error error;
    int64_t us;
    if (!weir_timestamp_from_date(dates->column.i32[row & dates->row_mask], &us, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
        return;
    }
    part_row(kernel, row, us, reader);
}

static void truncate_row(struct weir_kernel *kernel, uint32_t row, struct weir_field_reader *reader)
{
    const struct weir_vector *times = &kernel->args[1];
    struct weir_value_error error;
    if (weir_field_of(reader, kernel, row) &&
        !weir_timestamp_truncate(reader->field, times->column.i64[row & times->row_mask],
                                 &kernel->out->i64[row], &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
}

WEIR_FIELD_KERNEL(kernel_extract_date, extract_date_row, read_field, DATE)
WEIR_FIELD_KERNEL(kernel_extract_timestamp, extract_time_row, read_field, TIMESTAMP)
WEIR_FIELD_KERNEL(kernel_extract_timestamptz, extract_time_row, read_field, TIMESTAMPTZ)
WEIR_FIELD_KERNEL(kernel_part_date, part_date_row, read_field, TIMESTAMP)
WEIR_FIELD_KERNEL(kernel_part_timestamp, part_time_row, read_field, TIMESTAMP)
WEIR_FIELD_KERNEL(kernel_part_timestamptz, part_time_row, read_field, TIMESTAMPTZ)
WEIR_FIELD_KERNEL(kernel_truncate_timestamp, truncate_row, read_unit, TIMESTAMP)
WEIR_FIELD_KERNEL(kernel_truncate_timestamptz, truncate_row, read_unit, TIMESTAMPTZ)

static bool check_field(const struct weir_function *function, struct weir_expr *const *args,
                        struct weir_value_error *error)
{
    enum weir_arg arg = (enum weir_arg)function->args[1];
    if (arg == WEIR_ARG_DATE && function->result == WEIR_ARG_DOUBLE) {
        arg = WEIR_ARG_TIMESTAMP;
    }
    return weir_field_check(read_field, args[0], arg, error);
}

static bool check_unit(const struct weir_function *function, struct weir_expr *const *args,
                       struct weir_value_error *error)
{
    return weir_field_check(read_unit, args[0], (enum weir_arg)function->args[1], error);
}

// --- AT TIME ZONE ----------------------------------------------------------------------------

static bool read_zone(struct weir_view name, struct weir_value_error *error)
{
    static const char *const NAMES[] = {"utc",     "gmt",  "z",        "etc/utc",
                                        "etc/gmt", "zulu", "universal"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strlen(NAMES[i]) == name.size_bytes &&
            strncasecmp(NAMES[i], name.data, name.size_bytes) == 0) {
            return true;
        }
    }
    return weir_value_error_set(error, "time zone \"%.*s\" is not supported yet: only UTC is",
                                WEIR_VIEW_ARGS(name));
}

static bool check_zone(const struct weir_function *function, struct weir_expr *const *args,
                       struct weir_value_error *error)
{
    (void)function;
    return args[0]->kind != WEIR_EXPR_CONSTANT || weir_expr_is_null_constant(args[0]) ||
           read_zone(args[0]->constant.view[0], error);
}

// Local time in UTC is UTC: the bits stay.
static int64_t at_zone(struct weir_kernel *kernel, uint32_t row, struct weir_view zone, int64_t us)
{
    struct weir_value_error error;
    if (!read_zone(zone, &error)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return us;
}

WEIR_KERNEL_2(kernel_at_zone, int64_t, struct weir_view, int64_t, at_zone)

// --- casts -----------------------------------------------------------------------------------

static inline int64_t date_to_time(struct weir_kernel *kernel, uint32_t row, int32_t date)
{
    int64_t us = 0;
    struct weir_value_error error;
    if (__builtin_expect(!weir_timestamp_from_date(date, &us, &error), 0)) {
        weir_kernel_fail_value(kernel, row, &error);
    }
    return us;
}

static inline int32_t time_to_date(struct weir_kernel *kernel, uint32_t row, int64_t us)
{
    (void)kernel;
    (void)row;
    return weir_date_from_timestamp(us);
}

WEIR_KERNEL_1(kernel_date_to_time, int64_t, int32_t, date_to_time)
WEIR_KERNEL_1(kernel_time_to_date, int32_t, int64_t, time_to_date)

#define CAST(from, to, the_context, the_kernel)                                                    \
    WEIR_CAST_ROW(WEIR_ARG_##from, WEIR_ARG_##to, WEIR_CAST_##the_context, the_kernel, 0)

static const struct weir_cast CASTS[] = {
    CAST(DATE, TIMESTAMP, IMPLICIT, kernel_date_to_time),
    CAST(DATE, TIMESTAMPTZ, IMPLICIT, kernel_date_to_time),
    CAST(TIMESTAMP, DATE, ASSIGNMENT, kernel_time_to_date),
    CAST(TIMESTAMP, TIMESTAMPTZ, IMPLICIT, NULL),
    CAST(TIMESTAMPTZ, DATE, ASSIGNMENT, kernel_time_to_date),
    CAST(TIMESTAMPTZ, TIMESTAMP, ASSIGNMENT, NULL),
};

const struct weir_cast_table weir_casts_time = {.casts = CASTS,
                                                .count = sizeof CASTS / sizeof CASTS[0]};

// --- table -----------------------------------------------------------------------------------

#define FUNCTION(the_name, type, the_kernel, the_check, ...)                                       \
    WEIR_FUNCTION_ROW(the_name, WEIR_ARG_##type, the_kernel, the_check, 0, __VA_ARGS__)
#define TEXT WEIR_ARG_TEXT
#define INT WEIR_ARG_INTEGER
#define DATE WEIR_ARG_DATE
#define TS WEIR_ARG_TIMESTAMP
#define TSTZ WEIR_ARG_TIMESTAMPTZ
#define TIMETZ WEIR_ARG_TIMETZ

static const struct weir_function FUNCTIONS[] = {
    FUNCTION("+", DATE, kernel_date_plus, NULL, DATE, INT),
    FUNCTION("+", DATE, kernel_plus_date, NULL, INT, DATE),
    FUNCTION("-", DATE, kernel_date_minus, NULL, DATE, INT),
    FUNCTION("-", INTEGER, kernel_days_between, NULL, DATE, DATE),
    FUNCTION("+", TIMESTAMPTZ, NULL, NULL, DATE, TIMETZ),
    FUNCTION("+", TIMESTAMPTZ, NULL, NULL, TIMETZ, DATE),
    FUNCTION("extract", NUMERIC, kernel_extract_date, check_field, TEXT, DATE),
    FUNCTION("extract", NUMERIC, kernel_extract_timestamp, check_field, TEXT, TS),
    FUNCTION("extract", NUMERIC, kernel_extract_timestamptz, check_field, TEXT, TSTZ),
    FUNCTION("extract", NUMERIC, NULL, NULL, TEXT, TIMETZ),
    FUNCTION("date_part", DOUBLE, kernel_part_date, check_field, TEXT, DATE),
    FUNCTION("date_part", DOUBLE, kernel_part_timestamp, check_field, TEXT, TS),
    FUNCTION("date_part", DOUBLE, kernel_part_timestamptz, check_field, TEXT, TSTZ),
    FUNCTION("date_part", DOUBLE, NULL, NULL, TEXT, TIMETZ),
    FUNCTION("date_trunc", TIMESTAMP, kernel_truncate_timestamp, check_unit, TEXT, TS),
    FUNCTION("date_trunc", TIMESTAMPTZ, kernel_truncate_timestamptz, check_unit, TEXT, TSTZ),
    FUNCTION("date_trunc", TIMESTAMPTZ, NULL, NULL, TEXT, TSTZ, TEXT),
    FUNCTION("timezone", TIMESTAMPTZ, kernel_at_zone, check_zone, TEXT, TS),
    FUNCTION("timezone", TIMESTAMP, kernel_at_zone, check_zone, TEXT, TSTZ),
    FUNCTION("timezone", TIMETZ, NULL, NULL, TEXT, TIMETZ),
    FUNCTION("to_timestamp", TIMESTAMPTZ, kernel_to_timestamp, NULL, WEIR_ARG_DOUBLE),
    FUNCTION("to_timestamp", TIMESTAMPTZ, NULL, NULL, TEXT, TEXT),
    FUNCTION("make_date", DATE, kernel_make_date, NULL, INT, INT, INT),
    FUNCTION("isfinite", BOOLEAN, kernel_is_finite_date, NULL, DATE),
    FUNCTION("isfinite", BOOLEAN, kernel_is_finite_time, NULL, TS),
    FUNCTION("isfinite", BOOLEAN, kernel_is_finite_time, NULL, TSTZ),
};

const struct weir_function_table weir_functions_time = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
