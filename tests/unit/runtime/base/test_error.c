// SPDX-License-Identifier: Apache-2.0
// Errors: filled once, context in front, cut and never overrun.
#include "runtime/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_error_set_fills_everything(void **state)
{
    (void)state;
    struct weir_error error = {.line_number = 7, .column_number = 8};
    enum weir_status status =
        weir_error_set(&error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "broker %d: %s", 3, "gone");
    assert_int_equal(status, WEIR_ERROR);
    assert_int_equal(error.domain, WEIR_DOMAIN_KAFKA);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_int_equal(error.line_number, 0);
    assert_int_equal(error.column_number, 0);
    assert_string_equal(error.text, "broker 3: gone");
}

static void test_error_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(weir_error_set(NULL, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "x"), WEIR_ERROR);
    assert_int_equal(weir_error_context(NULL, "reading %s", "x"), WEIR_ERROR);
}

static void test_error_context_goes_in_front(void **state)
{
    (void)state;
    struct weir_error error;
    weir_error_set(&error, WEIR_DOMAIN_STORE, WEIR_ACTION_RECOVER, "no such file");
    error.line_number = 4;
    assert_int_equal(weir_error_context(&error, "manifest %d", 12), WEIR_ERROR);
    weir_error_context(&error, "checkpoint");
    assert_string_equal(error.text, "checkpoint: manifest 12: no such file");
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_int_equal(error.line_number, 4);
}

static void test_error_texts_are_cut(void **state)
{
    (void)state;
    char long_text[3 * WEIR_ERROR_TEXT_BYTES_MAX];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    struct {
        struct weir_error error;
        char guard[16];
    } guarded;
    memset(guarded.guard, 'g', sizeof guarded.guard);
    weir_error_set(&guarded.error, WEIR_DOMAIN_SQL, WEIR_ACTION_REFUSE, "%s", long_text);
    assert_int_equal(strlen(guarded.error.text), WEIR_ERROR_TEXT_BYTES_MAX - 1);
    weir_error_context(&guarded.error, "in %s", "a view");
    assert_int_equal(strlen(guarded.error.text), WEIR_ERROR_TEXT_BYTES_MAX - 1);
    assert_memory_equal(guarded.error.text, "in a view: xxx", 14);
    weir_error_context(&guarded.error, "%s", long_text);
    assert_int_equal(strlen(guarded.error.text), WEIR_ERROR_TEXT_BYTES_MAX - 1);
    for (size_t i = 0; i < sizeof guarded.guard; i++) {
        assert_int_equal(guarded.guard[i], 'g');
    }
}

// Context that leaves room for just a few bytes of the inner text.
static void test_error_context_fits_at_the_edge(void **state)
{
    (void)state;
    char context[WEIR_ERROR_TEXT_BYTES_MAX];
    for (int left = 0; left < 8; left++) {
        int size = WEIR_ERROR_TEXT_BYTES_MAX - 1 - left;
        memset(context, 'c', sizeof context);
        context[size] = '\0';
        struct weir_error error;
        weir_error_set(&error, WEIR_DOMAIN_SQL, WEIR_ACTION_REFUSE, "inner");
        weir_error_context(&error, "%s", context);
        assert_true(strlen(error.text) < WEIR_ERROR_TEXT_BYTES_MAX);
        assert_memory_equal(error.text, context, (size_t)size);
    }
}

static void test_error_actions_have_names(void **state)
{
    (void)state;
    assert_string_equal(weir_error_action_name(WEIR_ACTION_REFUSE), "refuse");
    assert_string_equal(weir_error_action_name(WEIR_ACTION_RETRY), "retry");
    assert_string_equal(weir_error_action_name(WEIR_ACTION_RECOVER), "recover");
    assert_string_equal(weir_error_action_name(WEIR_ACTION_FENCED), "fenced");
    assert_string_equal(weir_error_action_name(WEIR_ACTION_FAIL), "fail");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_set_fills_everything),
        cmocka_unit_test(test_error_may_be_null),
        cmocka_unit_test(test_error_context_goes_in_front),
        cmocka_unit_test(test_error_texts_are_cut),
        cmocka_unit_test(test_error_context_fits_at_the_edge),
        cmocka_unit_test(test_error_actions_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
