// SPDX-License-Identifier: Apache-2.0
// Lengths of time in options.
#include "sql/interval.h"

#include "tests/unit/cmocka_all.h"

#include <string.h>

static void test_interval_takes_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"5 seconds", 5000000},
        {"5s", 5000000},
        {"  5   SEC ", 5000000},
        {"250ms", 250000},
        {"7 us", 7},
        {"7 µs", 7},
        {"1.5 s", 1500000},
        {"0.000001 s", 1},
        {"0 s", 0},
        {".5 min", 30000000},
        {"1 minute 30 seconds", 90000000},
        {"1 day 2 hours", 93600000000},
        {"2 weeks", 1209600000000},
        {"@ 3 min", 180000000},
        {"1h30m", 5400000000},
        {"00:00:05", 5000000},
        {"01:02", 3720000000},
        {"1 day 00:00:01.25", 86401250000},
        {"-00:00:05", -5000000},
        {"-5 s", -5000000},
        {"+5 s", 5000000},
        {"PT5S", 5000000},
        {"P1DT2H3M4.5S", 93784500000},
        {"P1W", 604800000000},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t us = -1;
        const char *why = "";
        if (!weir_sql_length_parse(rows[i].text, &us, &why) || us != rows[i].us) {
            fail_msg("\"%s\": %lld, %s", rows[i].text, (long long)us, why);
        }
    }
}

static void test_interval_refuses_with_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"5", "it has no unit"},
        {"5 s 3", "it has no unit"},
        {"5 parsecs", "it has an unknown unit"},
        {"1 month", "months and years have no fixed length"},
        {"2 years", "months and years have no fixed length"},
        {"P1M", "months and years have no fixed length"},
        {"P1Y", "months and years have no fixed length"},
        {"", "it is no length of time"},
        {"  ", "it is no length of time"},
        {"@", "it is no length of time"},
        {"P", "it is no length of time"},
        {"PT", "it is no length of time"},
        {"s", "it is no length of time"},
        {"five seconds", "it is no length of time"},
        {"00:00:", "it is no length of time"},
        {"00:00:00:00", "it is no length of time"},
        {"1.5:00", "it is no length of time"},
        {"00:60", "it is out of range"},
        {"99999999999999999999 s", "it is out of range"},
        {"9223372036854775807 s", "it is out of range"},
        {"200000000 days 200000000 days", "it is out of range"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t us;
        const char *why = "nothing";
        bool is_taken = weir_sql_length_parse(rows[i].text, &us, &why);
        if (is_taken || strcmp(why, rows[i].why) != 0) {
            fail_msg("\"%s\": %s, %s", rows[i].text, is_taken ? "taken" : "refused", why);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval_takes_spellings),
        cmocka_unit_test(test_interval_refuses_with_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
