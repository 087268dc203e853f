// SPDX-License-Identifier: Apache-2.0
// The shortest digits: every text reads back, none is longer than it has to be.
#include "runtime/types/shortest.h"
#include "runtime/types/text_io.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(88172645463325252);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint32_t digit_count(uint64_t digits)
{
    uint32_t count = 1;
    for (; digits >= 10; digits /= 10) {
        count++;
    }
    return count;
}

static double read_decimal(uint64_t digits, int32_t exponent)
{
    char text[48];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    return strtod(text, NULL);
}

static void check_double(double value)
{
    struct weir_decimal decimal = weir_shortest_of_double(value);
    assert_true(read_decimal(decimal.digits, decimal.exponent) == value);
    assert_true(decimal.digits % 10 != 0);
    uint32_t count = digit_count(decimal.digits);
    assert_in_range(count, 1, 17);
    // No closer number with as many digits (ties apart), and none with one digit less, unless it
    // lies exactly between two doubles.
    if (count > 1) {
        uint64_t shorter = decimal.digits / 10;
        bool reads_back = read_decimal(shorter, decimal.exponent + 1) == value ||
                          read_decimal(shorter + 1, decimal.exponent + 1) == value;
        if (reads_back) {
            double below = nextafter(value, 0);
            double above = nextafter(value, INFINITY);
            // Then the reader's tie rule decided: the significand is even.
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            assert_int_equal(bits & 1, 0);
            assert_true(below < value && value < above);
        }
    }
}

static void check_float(float value)
{
    struct weir_decimal decimal = weir_shortest_of_float(value);
    char text[48];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)decimal.digits, decimal.exponent);
    assert_true(strtof(text, NULL) == value);
    assert_in_range(digit_count(decimal.digits), 1, 9);
}

static void test_float_random_doubles_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_bits() & ~(UINT64_C(1) << 63);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            check_double(value);
        }
    }
}

static void test_float_powers_of_two_and_neighbours_read_back(void **state)
{
    (void)state;
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        double value = ldexp(1, exponent);
        check_double(value);
        check_double(nextafter(value, INFINITY));
        if (exponent > -1074) {
            check_double(nextafter(value, 0));
        }
    }
    for (int exponent = -149; exponent <= 127; exponent++) {
        float value = ldexpf(1, exponent);
        check_float(value);
        check_float(nextafterf(value, INFINITY));
        if (exponent > -149) {
            check_float(nextafterf(value, 0));
        }
    }
}

static void test_float_random_floats_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)random_bits() & 0x7fffffff;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            check_float(value);
        }
    }
}

static void check_text(double value, const char *expected)
{
    struct weir_buffer buffer = {0};
    weir_double_append(&buffer, value);
    assert_string_equal(weir_buffer_text(&buffer), expected);
    weir_buffer_deinit(&buffer);
}

static void test_float_is_laid_out_as_postgresql_does(void **state)
{
    (void)state;
    check_text(0.1, "0.1");
    check_text(-0.0, "-0");
    check_text(1e14, "100000000000000");
    check_text(1e15, "1e+15");
    check_text(123456789012345.6, "123456789012345.6");
    check_text(0.0001, "0.0001");
    check_text(0.00001, "1e-05");
    check_text(1e20, "1e+20");
    check_text(5e-324, "5e-324");
    check_text(1.7976931348623157e308, "1.7976931348623157e+308");
    check_text(0x1p-44, "5.684341886080802e-14");
    check_text(1e23, "9.999999999999999e+22");
    check_text(9007199254740992, "9.007199254740992e+15");
    check_text(INFINITY, "Infinity");
    check_text(-INFINITY, "-Infinity");
    check_text(NAN, "NaN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_random_doubles_read_back),
        cmocka_unit_test(test_float_powers_of_two_and_neighbours_read_back),
        cmocka_unit_test(test_float_random_floats_read_back),
        cmocka_unit_test(test_float_is_laid_out_as_postgresql_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
