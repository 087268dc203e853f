// SPDX-License-Identifier: Apache-2.0
// What of a plan and its topics WEIR_QUARANTINE may name. Plans are made by hand.
#include "config_fixture.h"

#include "app/quarantine.h"
#include "app/topics.h"

static struct weir_table orders = {.name = "orders", .topic = "in", .is_source = true};
static struct weir_table odd = {.name = "odd: name", .topic = "odd", .is_source = true};
static struct weir_table written = {.name = "written", .topic = "out", .is_sink = true};
static struct weir_table *tables[] = {&orders, &odd, &written};
static const struct weir_plan plan = {.table_count = 3, .tables = tables};

static void load(struct fixture *fixture, const char *variable)
{
    assert_int_equal(fixture_load(fixture, WITH_REQUIRED, variable), WEIR_OK);
}

static void test_quarantine_is_of_a_table_and_a_partition(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    load(&fixture, "WEIR_QUARANTINE=orders:3,odd: name:0");
    assert_true(weir_quarantine_has(&fixture.config, "orders", 3));
    assert_true(weir_quarantine_has(&fixture.config, "odd: name", 0));
    assert_false(weir_quarantine_has(&fixture.config, "orders", 0));
    assert_false(weir_quarantine_has(&fixture.config, "odd", 0));
    weir_quarantine_check_tables(&fixture.config, &plan, &fixture.faults);
    fixture_expect_all(&fixture, (const char *const[]){NULL});
    struct weir_buffer lines = {0};
    weir_quarantine_describe(&fixture.config, &lines);
    assert_string_equal(weir_buffer_text(&lines),
                        "in quarantine, not read: table orders partition 3 (WEIR_QUARANTINE)\n"
                        "in quarantine, not read: table odd: name partition 0 (WEIR_QUARANTINE)\n");
    weir_buffer_deinit(&lines);
    fixture_deinit(&fixture);
}

static void test_quarantine_of_what_is_not_read_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    load(&fixture, "WEIR_QUARANTINE=order:3,written:0");
    weir_quarantine_check_tables(&fixture.config, &plan, &fixture.faults);
    fixture_expect(
        &fixture, "WEIR_QUARANTINE: the job reads no table \"order\"; the nearest is \"orders\"",
        "WEIR_QUARANTINE: the job reads no table \"written\"; the nearest is \"orders\"");
    fixture_deinit(&fixture);
}

static void test_quarantine_of_a_partition_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct weir_topic list[] = {{.name = "in", .partition_count = 3}, {.name = "odd"}};
    const struct weir_topics topics = {.count = 2, .topics = list};
    struct weir_error error;
    struct fixture fixture;
    fixture_init(&fixture);
    load(&fixture, "WEIR_QUARANTINE=orders:2,odd: name:7"); // a missing topic is others' to tell
    assert_int_equal(weir_quarantine_check(&fixture.config, &plan, &topics, &error), WEIR_OK);
    load(&fixture, "WEIR_QUARANTINE=orders:3");
    assert_int_equal(weir_quarantine_check(&fixture.config, &plan, &topics, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    assert_string_equal(error.text, "WEIR_QUARANTINE: table orders has no partition 3: its topic "
                                    "in has 3, 0 to 2");
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quarantine_is_of_a_table_and_a_partition),
        cmocka_unit_test(test_quarantine_of_what_is_not_read_is_refused),
        cmocka_unit_test(test_quarantine_of_a_partition_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
