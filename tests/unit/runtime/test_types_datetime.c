// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps: the calendar day by day, ISO spellings, what weir refuses on purpose.
#include "runtime/types/datetime.h"
#include "runtime/types/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void check_timestamptz(const char *text, const char *expected)
{
    int64_t us;
    struct weir_value_error error = {.text = ""};
    if (!weir_timestamptz_parse(weir_view_of(text), &us, &error)) {
        fail_msg("%s: %s", text, error.text);
    }
    struct weir_buffer buffer = {0};
    weir_timestamptz_append(&buffer, us);
    assert_string_equal(weir_buffer_text(&buffer), expected);
    weir_buffer_deinit(&buffer);
}

static void check_refused(const char *text, const char *message)
{
    int64_t us;
    struct weir_value_error error;
    assert_false(weir_timestamptz_parse(weir_view_of(text), &us, &error));
    assert_string_equal(error.text, message);
}

static void test_datetime_iso_spellings(void **state)
{
    (void)state;
    check_timestamptz("2025-03-04T05:06:07.123456789+02:00", "2025-03-04 03:06:07.123457+00");
    check_timestamptz("2025-03-04T05:06:07.9999999Z", "2025-03-04 05:06:08+00");
    check_timestamptz("2025-03-04T05:06:07+0530", "2025-03-03 23:36:07+00");
    check_timestamptz("20250102T000000Z", "2025-01-02 00:00:00+00");
    check_timestamptz("2024-12-31 23:59:60", "2025-01-01 00:00:00+00");
    check_timestamptz("2025-01-02 24:00:00", "2025-01-03 00:00:00+00");
    check_timestamptz("2024-05-06 07:08:09.5", "2024-05-06 07:08:09.5+00");
    check_timestamptz("1970-01-01T00:00:00Z", "1970-01-01 00:00:00+00");
    check_timestamptz("0044-03-15 10:00:00 BC", "0044-03-15 10:00:00+00 BC");
    check_timestamptz("epoch", "1970-01-01 00:00:00+00");
    check_timestamptz("-infinity", "-infinity");
    check_timestamptz(" Infinity ", "infinity");
    check_timestamptz("epoch 10:00", "1970-01-01 00:00:00+00");
    check_refused("epoch 13:00 pm", "date/time field value out of range: \"epoch 13:00 pm\"");
    check_refused("epoch 2025-01-01", "invalid input syntax for type timestamp with time zone: "
                                      "\"epoch 2025-01-01\"");
    check_refused("2025-01-02T00:00:00,5Z",
                  "invalid input syntax for type timestamp with time zone: "
                  "\"2025-01-02T00:00:00,5Z\"");
    check_refused("2025-02-29", "date/time field value out of range: \"2025-02-29\"");
    check_refused("", "invalid input syntax for type timestamp with time zone: \"\"");
}

static void test_datetime_refuses_zones_by_name(void **state)
{
    (void)state;
    static const char advice[] = " is not supported: write a numeric offset (+01:00), Z or UTC";
    static const char *const zones[][2] = {
        {"2025-01-02 10:00 Europe/Berlin", "europe/berlin"},
        {"2025-01-02 10:00 CEST", "cest"},
        {"2025-01-02 10:00:00PST", "pst"},
        {"2025-01-02 10:00 GMT+3", "gmt+3"},
    };
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        char message[200];
        snprintf(message, sizeof message, "time zone \"%s\"%s", zones[i][1], advice);
        check_refused(zones[i][0], message);
    }
    check_timestamptz("2025-01-02 10:00 UTC", "2025-01-02 10:00:00+00");
    check_timestamptz("2025-01-02 10:00z", "2025-01-02 10:00:00+00");
}

static void test_datetime_refuses_words_that_depend_on_the_clock(void **state)
{
    (void)state;
    static const char *const words[] = {"now", "today", "tomorrow", "yesterday", "today 10:00"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int64_t us;
        int32_t days;
        struct weir_value_error error;
        assert_false(weir_timestamp_parse(weir_view_of(words[i]), &us, &error));
        assert_non_null(strstr(error.text, "replay"));
        assert_false(weir_date_parse(weir_view_of(words[i]), &days, &error));
    }
}

// The straight reader and the general one: a blank in front takes the way round.
static void test_datetime_both_readers_agree(void **state)
{
    (void)state;
    static const char *const zones[] = {"",       "Z",   "z",   "+00", "-08",    "+05:30", "+0530",
                                        "-15:59", "+15", "+16", "+1",  "-00:60", "+05:3",  "+053"};
    static const char *const times[] = {
        "00:00:00",         "23:59:59",  "23:59:60", "24:00:00", "12:34:56.7", "12:34:56.123456",
        "12:34:56.1234567", "12:34:56.", "12:60:00", "12:34",    "1:02:03",    "12:34:5"};
    static const char *const dates[] = {"2025-01-02", "2024-02-29", "2023-02-29", "2000-02-29",
                                        "1900-02-29", "0000-01-01", "0001-01-01", "9999-12-31",
                                        "2025-13-01", "2025-00-10", "2025-04-31", "2025-1-02",
                                        "1969-12-31", "1582-10-10"};
    for (size_t d = 0; d < sizeof dates / sizeof dates[0]; d++) {
        for (size_t t = 0; t < sizeof times / sizeof times[0]; t++) {
            for (size_t z = 0; z < sizeof zones / sizeof zones[0]; z++) {
                char text[80];
                snprintf(text, sizeof text, " %s%c%s%s", dates[d], "T "[t % 2], times[t], zones[z]);
                int64_t us, us_general;
                bool is_ok = weir_timestamptz_parse(weir_view_of(text + 1), &us, NULL);
                assert_int_equal(is_ok,
                                 weir_timestamptz_parse(weir_view_of(text), &us_general, NULL));
                assert_true(!is_ok || us == us_general);
                is_ok = weir_timestamp_parse(weir_view_of(text + 1), &us, NULL);
                assert_int_equal(is_ok,
                                 weir_timestamp_parse(weir_view_of(text), &us_general, NULL));
                assert_true(!is_ok || us == us_general);
            }
        }
    }
}

static void test_datetime_calendar_goes_day_by_day(void **state)
{
    (void)state;
    // 4714-11-24 BC, then every day up to 2500, weekday and day of the year along with it.
    struct weir_civil expected = {.year = -4713, .month = 11, .day = 24};
    int32_t weekday = weir_day_of_week(WEIR_DATE_MIN_DAYS);
    assert_int_equal(weekday, 1); // Julian day 0 was a Monday
    int64_t end = weir_days_from_civil(2500, 1, 1);
    for (int64_t days = WEIR_DATE_MIN_DAYS; days < end; days++) {
        struct weir_civil civil = {0};
        weir_civil_from_days(days, &civil);
        assert_true(civil.year == expected.year && civil.month == expected.month &&
                    civil.day == expected.day);
        assert_true(weir_days_from_civil(civil.year, civil.month, civil.day) == days);
        if (civil.year > 0) {
            char text[32];
            int32_t parsed_days;
            snprintf(text, sizeof text, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
            assert_true(weir_date_parse(weir_view_of(text), &parsed_days, NULL));
            assert_true(parsed_days == days);
        }
        assert_true(weir_day_of_week(days) == weekday);
        weekday = (weekday + 1) % 7;
        expected.day++;
        if (expected.day > weir_days_in_month(expected.year, expected.month)) {
            expected.day = 1;
            expected.month++;
        }
        if (expected.month > 12) {
            expected.month = 1;
            expected.year++;
        }
    }
    assert_int_equal(weir_days_from_civil(2000, 1, 1), 0);
    assert_int_equal(weir_days_from_civil(1970, 1, 1), -10957);
    assert_int_equal(weir_days_from_civil(5874898, 1, 1), WEIR_DATE_END_DAYS);
    struct weir_civil last = {0};
    weir_civil_from_days(WEIR_DATE_END_DAYS - 1, &last);
    assert_int_equal(last.year, 5874897);
}

static void test_datetime_iso_weeks(void **state)
{
    (void)state;
    static const struct {
        int32_t year, month, day, iso_year, week;
    } cases[] = {
        {2021, 1, 3, 2020, 53}, {2021, 1, 4, 2021, 1},    {2018, 12, 31, 2019, 1},
        {2016, 1, 1, 2015, 53}, {2024, 12, 29, 2024, 52}, {2024, 12, 30, 2025, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t year, week;
        weir_iso_week(weir_days_from_civil(cases[i].year, cases[i].month, cases[i].day), &year,
                      &week);
        assert_int_equal(year, cases[i].iso_year);
        assert_int_equal(week, cases[i].week);
    }
    assert_int_equal(weir_day_of_year(weir_days_from_civil(2024, 12, 31)), 366);
    assert_int_equal(weir_day_of_year(weir_days_from_civil(2025, 1, 1)), 1);
}

static void test_datetime_parts_join_again(void **state)
{
    (void)state;
    static const int64_t stamps[] = {
        0,
        -1,
        WEIR_TIMESTAMP_MIN_US,
        WEIR_TIMESTAMP_END_US - 1,
        -WEIR_EPOCH_SHIFT_US,
        INT64_C(794286367123457),
    };
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        struct weir_civil civil;
        int64_t us;
        weir_civil_from_timestamp(stamps[i], &civil);
        assert_true(weir_timestamp_from_civil(&civil, &us, NULL));
        assert_true(us == stamps[i]);
    }
    struct weir_civil beyond = {.year = 294277, .month = 1, .day = 1};
    int64_t us;
    struct weir_value_error error;
    assert_false(weir_timestamp_from_civil(&beyond, &us, &error));
    assert_string_equal(error.text, "timestamp out of range");
}

static void test_datetime_adds_like_intervals(void **state)
{
    (void)state;
    int64_t us;
    struct weir_civil civil = {.year = 2023, .month = 1, .day = 31};
    assert_true(weir_timestamp_from_civil(&civil, &us, NULL));
    assert_true(weir_timestamp_add(us, 1, 0, 0, &us, NULL));
    weir_civil_from_timestamp(us, &civil);
    assert_int_equal(civil.month, 2);
    assert_int_equal(civil.day, 28);
    struct weir_value_error error;
    assert_false(weir_timestamp_add(us, 0, INT64_C(2147483648), 0, &us, &error));
    assert_string_equal(error.text, "timestamp out of range");
    assert_false(weir_timestamp_add(us, INT32_MAX, 0, 0, &us, NULL));
    assert_false(weir_timestamp_add(us, 0, INT64_MAX, 0, &us, NULL));
    assert_false(weir_timestamp_add(us, 0, 0, INT64_MAX, &us, NULL));
    assert_true(weir_timestamp_add(WEIR_TIMESTAMP_INFINITY, 5, 5, 5, &us, NULL));
    assert_true(us == WEIR_TIMESTAMP_INFINITY);
}

static void test_datetime_fields_have_postgresql_s_names(void **state)
{
    (void)state;
    enum weir_time_field field;
    assert_true(weir_time_field_parse(weir_view_of("Milliseconds"), &field));
    assert_int_equal(field, WEIR_FIELD_MILLISECONDS);
    assert_true(weir_time_field_parse(weir_view_of("timezone_hour"), &field));
    assert_int_equal(field, WEIR_FIELD_TIMEZONE_HOUR);
    assert_false(weir_time_field_parse(weir_view_of("fortnight"), &field));
    assert_false(weir_time_field_parse(weir_view_of(""), &field));
    assert_false(weir_time_field_truncates(WEIR_FIELD_DOW));
    bool is_null;
    struct weir_numeric value =
        weir_timestamp_extract(WEIR_FIELD_HOUR, WEIR_TIMESTAMP_INFINITY, &is_null, NULL);
    assert_true(is_null);
    value = weir_timestamp_extract(WEIR_FIELD_YEAR, WEIR_TIMESTAMP_MINUS_INFINITY, &is_null, NULL);
    assert_false(is_null);
    assert_int_equal(value.kind, WEIR_NUMERIC_MINUS_INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datetime_iso_spellings),
        cmocka_unit_test(test_datetime_refuses_zones_by_name),
        cmocka_unit_test(test_datetime_refuses_words_that_depend_on_the_clock),
        cmocka_unit_test(test_datetime_both_readers_agree),
        cmocka_unit_test(test_datetime_calendar_goes_day_by_day),
        cmocka_unit_test(test_datetime_iso_weeks),
        cmocka_unit_test(test_datetime_parts_join_again),
        cmocka_unit_test(test_datetime_adds_like_intervals),
        cmocka_unit_test(test_datetime_fields_have_postgresql_s_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
