// SPDX-License-Identifier: Apache-2.0
// What intervals, times and differences of timestamps give, for test_types_oracle.c.
#ifndef WEIR_TESTS_UNIT_RUNTIME_ORACLE_INTERVALS_H
#define WEIR_TESTS_UNIT_RUNTIME_ORACLE_INTERVALS_H

#include "runtime/base/memory.h"
#include "runtime/types/interval.h"
#include "runtime/types/text_io.h"

#include "tests/unit/cmocka_all.h"

static struct weir_arena *arena;

struct answer {
    bool is_ok;
    struct weir_buffer text;
    struct weir_buffer json;
    struct weir_value_error error;
};

static inline enum weir_time_field field_of(const char *name, size_t size_bytes)
{
    enum weir_time_field field;
    assert_true(weir_time_field_parse((struct weir_view){name, size_bytes}, &field));
    return field;
}

static inline bool answer_two_timestamps(const char *expression, const char *text_a,
                                         const char *text_b, struct answer *answer)
{
    struct weir_value_error *error = &answer->error;
    struct weir_interval out;
    int64_t a, b;
    bool is_ok = weir_timestamp_parse(weir_view_of(text_a), &a, error) &&
                 weir_timestamp_parse(weir_view_of(text_b), &b, error) &&
                 (strncmp(expression, "age(", 4) == 0 ? weir_timestamp_age(a, b, &out, error)
                                                      : weir_timestamp_subtract(a, b, &out, error));
    if (is_ok) {
        weir_interval_append(&answer->text, out);
    }
    return is_ok;
}

static inline bool answer_time(const char *expression, const char *text_a, const char *text_b,
                               struct answer *answer)
{
    struct weir_interval value;
    int64_t us;
    if (!weir_time_parse(weir_view_of(text_a), &us, &answer->error)) {
        return false;
    }
    if (strncmp(expression, "extract(", 8) == 0) {
        const char *name = expression + strlen("extract(");
        enum weir_time_field field = field_of(name, strcspn(name, " "));
        weir_numeric_append(&answer->text, weir_time_extract(field, us));
        return true;
    }
    if (!weir_interval_parse(weir_view_of(text_b), &value, &answer->error)) {
        return false;
    }
    bool is_sum = strchr(expression, '+') != NULL;
    weir_time_append(&answer->text,
                     weir_time_add(us, is_sum ? value.us : -(value.us % WEIR_DAY_US)));
    return true;
}

static inline bool answer_interval_field(const char *expression, struct weir_interval value,
                                         struct answer *answer)
{
    const char *name = expression + strcspn(expression, "(") + 1;
    name += *name == '\'';
    enum weir_time_field field = field_of(name, strcspn(name, "' "));
    if (strncmp(expression, "date_trunc", 10) == 0) {
        weir_interval_append(&answer->text, weir_interval_truncate(field, value));
        return true;
    }
    struct weir_numeric exact = weir_interval_extract(field, value, arena);
    if (strncmp(expression, "extract", 7) == 0) {
        weir_numeric_append(&answer->text, exact);
        return true;
    }
    weir_double_append(&answer->text, weir_interval_part(field, value));
    return true;
}

static inline bool answer_interval(const char *expression, const char *text_a, const char *text_b,
                                   struct answer *answer)
{
    struct weir_value_error *error = &answer->error;
    struct weir_interval a, b, out;
    double factor;
    bool is_ok = weir_interval_parse(weir_view_of(text_a), &a, error);
    if (!is_ok || expression[0] == 'd' || expression[0] == 'e') {
        return is_ok && answer_interval_field(expression, a, answer);
    }
    if (strchr(expression, '*') != NULL || strchr(expression, '/') != NULL) {
        is_ok = weir_double_parse(weir_view_of(text_b), &factor, error) &&
                (strchr(expression, '*') != NULL ? weir_interval_multiply(a, factor, &out, error)
                                                 : weir_interval_divide(a, factor, &out, error));
    } else if (strcmp(expression, "-($a::interval)") == 0) {
        is_ok = weir_interval_negate(a, &out, error);
    } else if (strcmp(expression, "justify_hours($a::interval)") == 0) {
        is_ok = weir_interval_justify_hours(a, &out, error);
    } else if (strcmp(expression, "justify_days($a::interval)") == 0) {
        is_ok = weir_interval_justify_days(a, &out, error);
    } else if (strcmp(expression, "justify_interval($a::interval)") == 0) {
        is_ok = weir_interval_justify(a, &out, error);
    } else if (strcmp(expression, "$a::interval + $b::interval") == 0) {
        is_ok = weir_interval_parse(weir_view_of(text_b), &b, error) &&
                weir_interval_add(a, b, &out, error);
    } else {
        is_ok = weir_interval_parse(weir_view_of(text_b), &b, error) &&
                weir_interval_subtract(a, b, &out, error);
    }
    if (is_ok) {
        weir_interval_append(&answer->text, out);
    }
    return is_ok;
}

#endif
