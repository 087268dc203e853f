// SPDX-License-Identifier: Apache-2.0
// Nearest names.
#include "sql/nearest.h"

#include "tests/unit/cmocka_all.h"

static void test_distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(weir_nearest_distance("", ""), 0);
    assert_int_equal(weir_nearest_distance("abc", ""), 3);
    assert_int_equal(weir_nearest_distance("abc", "abc"), 0);
    assert_int_equal(weir_nearest_distance("watermark_dely", "watermark_delay"), 1);
    assert_int_equal(weir_nearest_distance("tpoic", "topic"), 1); // a swap
    assert_int_equal(weir_nearest_distance("ca", "abc"), 3);      // not edited again
    assert_int_equal(weir_nearest_distance("dateTime", "datetime"), 0);
    assert_int_equal(weir_nearest_distance("kitten", "sitting"), 3);
}

static void test_distance_bounds_long_names(void **state)
{
    (void)state;
    char a[200];
    char b[200];
    for (int i = 0; i < 199; i++) {
        a[i] = 'a';
        b[i] = 'b';
    }
    a[199] = b[199] = '\0';
    assert_int_equal(weir_nearest_distance(a, b), 64);
}

static const char *nearest_of(const char *wanted)
{
    struct weir_nearest nearest = weir_nearest_start(wanted);
    weir_nearest_offer(&nearest, "topic");
    weir_nearest_offer(&nearest, "format");
    weir_nearest_offer(&nearest, "start");
    weir_nearest_offer(&nearest, "id");
    weir_nearest_offer(&nearest, "name");
    return nearest.best;
}

static void test_offer_takes_near_names_only(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("topics"), "topic");
    assert_string_equal(nearest_of("fromat"), "format");
    assert_string_equal(nearest_of("nam"), "name");
    assert_string_equal(nearest_of("ID"), "id");
    assert_null(nearest_of("xd")); // of two letters none may be wrong
    assert_null(nearest_of("connector"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_counts_edits),
        cmocka_unit_test(test_distance_bounds_long_names),
        cmocka_unit_test(test_offer_takes_near_names_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
