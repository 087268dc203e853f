// SPDX-License-Identifier: Apache-2.0
// Order, equality and hashes of values that arithmetic knows as odd: NaN, -0, NULL, composites.
#include "runtime/types/compare.h"
#include "runtime/types/hash.h"
#include "runtime/types/text_io.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct weir_field pair_fields[] = {
    {"x", {WEIR_TYPE_INTEGER, -1, NULL}},
    {"y", {WEIR_TYPE_TEXT, -1, NULL}},
};
static const struct weir_composite pair = {"pair", 2, pair_fields};

enum { ROWS_MAX = 16 };

// Rows in ascending order; equal neighbours are marked. NULL text: no value.
static void check_ascending(struct weir_type type, const char *const *texts, const bool *is_equal,
                            uint32_t count)
{
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_column column;
    assert_true(count <= ROWS_MAX);
    weir_column_init(&column, &type, ROWS_MAX, true, arena);
    for (uint32_t i = 0; i < count; i++) {
        if (texts[i] != NULL) {
            assert_true(weir_text_parse(&column, i, weir_view_of(texts[i]), arena, NULL));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(weir_compare_values(&column, i, &column, i), 0);
        bool are_equal = true;
        for (uint32_t k = i + 1; k < count; k++) {
            are_equal = are_equal && is_equal[k - 1];
            assert_int_equal(weir_compare_values(&column, i, &column, k), are_equal ? 0 : -1);
            assert_int_equal(weir_compare_values(&column, k, &column, i), are_equal ? 0 : 1);
            assert_true((weir_hash_value(&column, i) == weir_hash_value(&column, k)) == are_equal);
        }
    }
    weir_arena_destroy(arena);
}

static void test_compare_floats(void **state)
{
    (void)state;
    static const char *const texts[] = {"-Infinity", "-1",       "-0",  "0",   "5e-40",
                                        "1",         "Infinity", "NaN", "NaN", NULL};
    static const bool is_equal[] = {false, false, true, false, false, false, false, true, false};
    check_ascending(weir_type_plain(WEIR_TYPE_DOUBLE), texts, is_equal, 10);
    check_ascending(weir_type_plain(WEIR_TYPE_REAL), texts, is_equal, 10);
    assert_int_equal(weir_compare_double(NAN, 1), 1);
    assert_true(weir_hash_double(NAN) == weir_hash_double(-NAN));
    assert_true(weir_hash_double(0.0) == weir_hash_double(-0.0));
}

static void test_compare_numerics(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "-Infinity", "-1e30",    "-2.5", "-2.500000000000000000000000", "0", "0.00", "1e-30", "2",
        "2.00",      "Infinity", "NaN"};
    static const bool is_equal[] = {false, false, true, false, true,
                                    false, false, true, false, false};
    check_ascending(weir_type_plain(WEIR_TYPE_NUMERIC), texts, is_equal, 11);
}

static void test_compare_text_by_bytes(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "A", "B", "a", "aa", "ab", "z", "\u00e9", NULL};
    static const bool is_equal[8] = {false};
    check_ascending(weir_type_plain(WEIR_TYPE_TEXT), texts, is_equal, 9);
    static const char *const bytes[] = {"\\x", "\\x00", "\\x0000", "\\x01", "\\x7f", "\\xff"};
    check_ascending(weir_type_plain(WEIR_TYPE_BYTEA), bytes, is_equal, 6);
}

static void test_compare_the_rest(void **state)
{
    (void)state;
    static const bool is_equal[8] = {false};
    static const char *const booleans[] = {"f", "t", NULL};
    check_ascending(weir_type_plain(WEIR_TYPE_BOOLEAN), booleans, is_equal, 3);
    static const char *const integers[] = {"-32768", "-1", "0", "32767", NULL};
    check_ascending(weir_type_plain(WEIR_TYPE_SMALLINT), integers, is_equal, 5);
    check_ascending(weir_type_plain(WEIR_TYPE_INTEGER), integers, is_equal, 5);
    check_ascending(weir_type_plain(WEIR_TYPE_BIGINT), integers, is_equal, 5);
    static const char *const dates[] = {"-infinity", "0044-03-15 BC", "2025-01-01", "infinity"};
    check_ascending(weir_type_plain(WEIR_TYPE_DATE), dates, is_equal, 4);
    check_ascending(weir_type_plain(WEIR_TYPE_TIMESTAMP), dates, is_equal, 4);
    check_ascending(weir_type_plain(WEIR_TYPE_TIMESTAMPTZ), dates, is_equal, 4);
}

static void test_compare_composites_field_by_field(void **state)
{
    (void)state;
    static const char *const texts[] = {"(1,a)", "(1,b)", "(1,)", "(2,a)", "(,a)", "(,)", NULL};
    static const bool is_equal[6] = {false};
    struct weir_type type = {WEIR_TYPE_COMPOSITE, -1, &pair};
    check_ascending(type, texts, is_equal, 7);
}

// These are in stored state: a change of any of them loses it.
static void test_hash_never_changes(void **state)
{
    (void)state;
    assert_true(weir_hash_i64(0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(weir_hash_i64(1) == UINT64_C(0x910a2dec89025cc1));
    assert_true(weir_hash_bytes("", 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(weir_hash_bytes("weir", 4) == UINT64_C(0x09831dc741817118));
    assert_true(weir_hash_double(1.5) == UINT64_C(0xd6dab18e1392608a));
    assert_true(weir_hash_combine(WEIR_HASH_START, weir_hash_i64(1)) ==
                UINT64_C(0x59848a9b1489d876));
    assert_true(weir_numeric_hash(weir_numeric_small(250, 2)) == UINT64_C(0x62f9ad75aea9957b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare_floats),
        cmocka_unit_test(test_compare_numerics),
        cmocka_unit_test(test_compare_text_by_bytes),
        cmocka_unit_test(test_compare_the_rest),
        cmocka_unit_test(test_compare_composites_field_by_field),
        cmocka_unit_test(test_hash_never_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
