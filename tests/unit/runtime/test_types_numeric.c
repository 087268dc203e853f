// SPDX-License-Identifier: Apache-2.0
// Numerics beyond what the fixtures of test_types_oracle.c ask: the two representations side by
// side, limits, bytes, hashes.
#include "runtime/types/numeric.h"
#include "runtime/types/type.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct weir_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = weir_arena_create(4096);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_arena_destroy(arena);
    return 0;
}

static struct weir_numeric number(const char *text)
{
    struct weir_numeric value;
    assert_true(weir_numeric_parse(weir_view_of(text), -1, arena, &value, NULL));
    return value;
}

static const char *text_of(struct weir_numeric value)
{
    struct weir_buffer buffer = {0};
    weir_numeric_append(&buffer, value);
    char *text = weir_arena_strdup(arena, weir_buffer_text(&buffer));
    weir_buffer_deinit(&buffer);
    return text;
}

static void check_kind(const char *text, enum weir_numeric_kind kind)
{
    assert_int_equal(number(text).kind, kind);
    assert_string_equal(text_of(number(text)), text);
}

static void test_numeric_takes_the_small_form_up_to_18_digits(void **state)
{
    (void)state;
    check_kind("999999999999999999", WEIR_NUMERIC_SMALL);
    check_kind("-999999999999999999", WEIR_NUMERIC_SMALL);
    check_kind("1000000000000000000", WEIR_NUMERIC_BIG);
    check_kind("-1000000000000000000", WEIR_NUMERIC_BIG);
    check_kind("0.000000000000000000000000000001", WEIR_NUMERIC_SMALL);
    check_kind("1.000000000000000000", WEIR_NUMERIC_BIG);
    check_kind("18446744073709551616", WEIR_NUMERIC_BIG);
    check_kind("NaN", WEIR_NUMERIC_NAN);
    check_kind("-Infinity", WEIR_NUMERIC_MINUS_INFINITY);
    // Canonical again after a result has shrunk.
    struct weir_numeric out;
    assert_true(weir_numeric_subtract(number("1000000000000000001"), number("1000000000000000000"),
                                      arena, &out, NULL));
    assert_int_equal(out.kind, WEIR_NUMERIC_SMALL);
    assert_int_equal(out.small, 1);
    assert_true(weir_numeric_add(number("999999999999999999"), number("1"), arena, &out, NULL));
    assert_int_equal(out.kind, WEIR_NUMERIC_BIG);
    assert_string_equal(text_of(out), "1000000000000000000");
}

static void check_binary(bool (*function)(struct weir_numeric a, struct weir_numeric b,
                                          struct weir_arena *memory, struct weir_numeric *out,
                                          struct weir_value_error *error),
                         const char *a, const char *b, const char *expected)
{
    struct weir_numeric out;
    assert_true(function(number(a), number(b), arena, &out, NULL));
    assert_string_equal(text_of(out), expected);
}

static void test_numeric_contract_examples(void **state)
{
    (void)state;
    check_binary(weir_numeric_divide, "2", "3.0", "0.66666666666666666667");
    check_binary(weir_numeric_multiply, "3.5000000000000000000", "2.4000000000000000000",
                 "8.40000000000000000000000000000000000000");
    check_binary(weir_numeric_multiply, "0.375", "1000000003", "375000001.125");
    check_binary(weir_numeric_add, "9223372036854775806", "5", "9223372036854775811");
    struct weir_numeric out;
    assert_true(weir_numeric_round(number("2.345"), 2, arena, &out, NULL));
    assert_string_equal(text_of(out), "2.35");
    assert_true(weir_numeric_round(number("-2.5"), 0, arena, &out, NULL));
    assert_string_equal(text_of(out), "-3");
    int32_t integer;
    assert_true(weir_numeric_to_int32(number("4.5"), &integer, NULL));
    assert_int_equal(integer, 5);
    assert_true(weir_numeric_to_int32(number("-0.5"), &integer, NULL));
    assert_int_equal(integer, -1);
}

static void check_column(const char *text, int32_t precision, int32_t scale, const char *expected)
{
    struct weir_numeric value;
    int32_t modifier = weir_numeric_modifier(precision, scale);
    assert_true(weir_numeric_parse(weir_view_of(text), modifier, arena, &value, NULL));
    assert_string_equal(text_of(value), expected);
}

static void test_numeric_columns_round_and_refuse(void **state)
{
    (void)state;
    check_column("123456.789012345678901234", 38, 18, "123456.789012345678901234");
    check_column("31", 10, 2, "31.00");
    check_column("-0", 10, 2, "0.00");
    check_column("12345", 5, -2, "12300");
    check_column("1e-2000000", 5, 2, "0.00");
    struct weir_numeric value;
    struct weir_value_error error;
    assert_false(weir_numeric_parse(weir_view_of("1000"), weir_numeric_modifier(5, 2), arena,
                                    &value, &error));
    assert_string_equal(error.text, "numeric field overflow");
    assert_string_equal(error.detail, "A field with precision 5, scale 2 must round to an absolute "
                                      "value less than 10^3.");
    assert_false(weir_numeric_parse(weir_view_of("1e1000000000"), weir_numeric_modifier(5, 2),
                                    arena, &value, &error));
    assert_false(weir_numeric_apply_modifier(weir_numeric_special(WEIR_NUMERIC_INFINITY),
                                             weir_numeric_modifier(5, 2), arena, &value, &error));
    assert_string_equal(error.detail,
                        "A field with precision 5, scale 2 cannot hold an infinite value.");
    assert_true(weir_numeric_apply_modifier(weir_numeric_special(WEIR_NUMERIC_NAN),
                                            weir_numeric_modifier(5, 2), arena, &value, NULL));
}

static void test_numeric_stays_within_postgresql_s_limits(void **state)
{
    (void)state;
    struct weir_numeric largest = number("1e131071");
    struct weir_numeric out;
    struct weir_value_error error;
    assert_true(weir_numeric_multiply(largest, number("9"), arena, &out, NULL));
    assert_false(weir_numeric_multiply(largest, number("10"), arena, &out, &error));
    assert_string_equal(error.text, "value overflows numeric format");
    assert_false(weir_numeric_add(number("9e131071"), number("1e131071"), arena, &out, NULL));
    struct weir_numeric tiny = number("1e-16383");
    assert_int_equal(tiny.scale, WEIR_NUMERIC_SCALE_MAX);
    assert_true(weir_numeric_multiply(tiny, number("0.1"), arena, &out, NULL));
    assert_int_equal(out.scale, WEIR_NUMERIC_SCALE_MAX);
    assert_int_equal(weir_numeric_sign(out), 0);
    assert_false(weir_numeric_divide(number("1"), number("0.00"), arena, &out, &error));
    assert_string_equal(error.text, "division by zero");
}

static void test_numeric_equal_values_have_equal_hashes(void **state)
{
    (void)state;
    static const char *const equals[][3] = {
        {"2", "2.00", "2.00000000000000000000000000000"},
        {"0", "0.00", "-0.000000000000000000000000000"},
        {"-1.5", "-1.50", "-1.5000000000000000000000000"},
        {"100", "1e2", "100.000000000000000000000000"},
        {"1e30", "1000000000000000000000000000000.0", "1e30"},
        {"0.1234567890123456789", "0.12345678901234567890", "0.123456789012345678900000"},
    };
    for (size_t i = 0; i < sizeof equals / sizeof equals[0]; i++) {
        uint64_t hash = weir_numeric_hash(number(equals[i][0]));
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(weir_numeric_compare(number(equals[i][0]), number(equals[i][k])), 0);
            assert_true(weir_numeric_hash(number(equals[i][k])) == hash);
            struct weir_numeric trimmed = weir_numeric_trim_scale(number(equals[i][k]), arena);
            assert_string_equal(text_of(trimmed),
                                text_of(weir_numeric_trim_scale(number(equals[i][0]), arena)));
        }
        for (size_t k = 0; k < i; k++) {
            assert_true(weir_numeric_hash(number(equals[k][0])) != hash);
        }
    }
    // In stored state: never to change.
    assert_true(weir_numeric_hash(number("2.00")) ==
                weir_numeric_hash(weir_numeric_from_int64(2, arena)));
    assert_true(weir_numeric_hash(number("NaN")) != weir_numeric_hash(number("Infinity")));
}

// Sums and products of random numbers, once in the small form, once forced through the large one by
// a large number that is taken away again.
static void test_numeric_small_and_large_arithmetic_agree(void **state)
{
    (void)state;
    srand(11);
    struct weir_numeric offset = number("1000000000000000000000000000000.000000");
    for (int i = 0; i < 20000; i++) {
        struct weir_numeric a =
            weir_numeric_small(((int64_t)rand() << 20 ^ rand()) % 1000000000000 - 500000000000,
                               (uint16_t)(rand() % 7));
        struct weir_numeric b =
            weir_numeric_small((int64_t)rand() - RAND_MAX / 2, (uint16_t)(rand() % 7));
        struct weir_numeric near, far;
        assert_true(weir_numeric_add(a, b, arena, &near, NULL));
        assert_true(weir_numeric_add(a, offset, arena, &far, NULL));
        assert_true(weir_numeric_add(far, b, arena, &far, NULL));
        assert_true(weir_numeric_subtract(far, offset, arena, &far, NULL));
        assert_int_equal(weir_numeric_compare(near, far), 0);
        assert_int_equal(far.kind, WEIR_NUMERIC_SMALL);

        struct weir_numeric product, wide;
        assert_true(weir_numeric_multiply(a, b, arena, &product, NULL));
        assert_true(weir_numeric_add(a, offset, arena, &wide, NULL));
        assert_true(weir_numeric_multiply(wide, b, arena, &wide, NULL));
        struct weir_numeric extra;
        assert_true(weir_numeric_multiply(offset, b, arena, &extra, NULL));
        assert_true(weir_numeric_subtract(wide, extra, arena, &wide, NULL));
        assert_int_equal(weir_numeric_compare(product, wide), 0);
        weir_arena_reset(arena);
        offset = number("1000000000000000000000000000000.000000");
    }
}

static void check_bytes(const char *text, const char *bytes, size_t size_bytes)
{
    struct weir_numeric value = number(text);
    struct weir_buffer buffer = {0};
    weir_numeric_append_unscaled_bytes(&buffer, value);
    assert_int_equal(buffer.size_bytes, size_bytes);
    assert_memory_equal(buffer.data, bytes, size_bytes);
    struct weir_numeric back;
    assert_true(weir_numeric_from_unscaled_bytes((struct weir_view){buffer.data, buffer.size_bytes},
                                                 value.scale, arena, &back));
    assert_string_equal(text_of(back), text);
    weir_buffer_deinit(&buffer);
}

static void test_numeric_unscaled_bytes_are_avro_s(void **state)
{
    (void)state;
    check_bytes("0", "\x00", 1);
    check_bytes("1.27", "\x7f", 1);
    check_bytes("1.28", "\x00\x80", 2);
    check_bytes("-1.28", "\x80", 1);
    check_bytes("-1.29", "\xff\x7f", 2);
    check_bytes("12.345", "\x30\x39", 2);
    check_bytes("-0.01", "\xff", 1);
    check_bytes("18446744073709551616", "\x01\x00\x00\x00\x00\x00\x00\x00\x00", 9);
    check_bytes("-18446744073709551616", "\xff\x00\x00\x00\x00\x00\x00\x00\x00", 9);
    check_bytes("-170141183460469231731687303715884105728",
                "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16);
    check_bytes("170141183460469231731687303715884105728",
                "\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 17);
    check_bytes("-170141183460469231731687303715884105729",
                "\xff\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 17);
    struct weir_numeric value;
    // Longer than they have to be, and none at all.
    assert_true(
        weir_numeric_from_unscaled_bytes((struct weir_view){"\0\0\0\0\xc8", 5}, 2, arena, &value));
    assert_string_equal(text_of(value), "2.00");
    assert_true(weir_numeric_from_unscaled_bytes(
        (struct weir_view){
            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x38", 18},
        2, arena, &value));
    assert_string_equal(text_of(value), "-2.00");
    assert_false(weir_numeric_from_unscaled_bytes((struct weir_view){"", 0}, 2, arena, &value));
}

static void test_numeric_copy_outlives_the_arena(void **state)
{
    (void)state;
    struct weir_arena *other = weir_arena_create(4096);
    struct weir_numeric value;
    assert_true(weir_numeric_parse(weir_view_of("123456789012345678901234567890.5"), -1, other,
                                   &value, NULL));
    struct weir_numeric copy = weir_numeric_copy(value, arena);
    weir_arena_destroy(other);
    assert_string_equal(text_of(copy), "123456789012345678901234567890.5");
}

static void test_numeric_from_wide_integers(void **state)
{
    (void)state;
    assert_string_equal(text_of(weir_numeric_from_int64(INT64_MIN, arena)), "-9223372036854775808");
    assert_string_equal(text_of(weir_numeric_from_int64(INT64_MAX, arena)), "9223372036854775807");
    __int128 most = (__int128)(~(unsigned __int128)0 >> 1);
    assert_string_equal(text_of(weir_numeric_from_int128(most, 0, arena)),
                        "170141183460469231731687303715884105727");
    assert_string_equal(text_of(weir_numeric_from_int128(-most - 1, 2, arena)),
                        "-1701411834604692317316873037158841057.28");
    assert_string_equal(text_of(weir_numeric_from_double(1e15, arena)), "1000000000000000");
    assert_string_equal(text_of(weir_numeric_from_double(-0.0, arena)), "0");
    assert_string_equal(text_of(weir_numeric_from_double(INFINITY, arena)), "Infinity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numeric_takes_the_small_form_up_to_18_digits),
        cmocka_unit_test(test_numeric_contract_examples),
        cmocka_unit_test(test_numeric_columns_round_and_refuse),
        cmocka_unit_test(test_numeric_stays_within_postgresql_s_limits),
        cmocka_unit_test(test_numeric_equal_values_have_equal_hashes),
        cmocka_unit_test(test_numeric_small_and_large_arithmetic_agree),
        cmocka_unit_test(test_numeric_unscaled_bytes_are_avro_s),
        cmocka_unit_test(test_numeric_copy_outlives_the_arena),
        cmocka_unit_test(test_numeric_from_wide_integers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
