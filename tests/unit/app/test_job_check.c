// SPDX-License-Identifier: Apache-2.0
// What a plan and a configuration must agree on. Plans are made by hand.
#include "config_fixture.h"

#include "app/job_check.h"

static void expect(const struct weir_config *config, const struct weir_plan *plan,
                   const char *const *texts)
{
    struct fixture fixture;
    fixture_init(&fixture);
    weir_plan_check(plan, config, &fixture.faults);
    fixture_expect_all(&fixture, texts);
    fixture_deinit(&fixture);
}

#define EXPECT(config, plan, ...) expect((config), (plan), (const char *const[]){__VA_ARGS__, NULL})

static void test_dead_letters_need_a_topic(void **state)
{
    (void)state;
    struct weir_table orders = {.name = "orders", .topic = "orders", .is_source = true};
    struct weir_table unused = {
        .name = "unused", .topic = "unused", .on_error = WEIR_ON_ERROR_DEAD_LETTER};
    struct weir_table *tables[] = {&orders, &unused};
    struct weir_plan plan = {.table_count = 2, .tables = tables};
    struct weir_config config = {.on_bad_record = WEIR_ON_ERROR_FAIL};
    expect(&config, &plan, (const char *const[]){NULL});

    static const char fault[] =
        "table \"orders\": bad records are dead letters, but neither the table's dead_letter_topic "
        "nor WEIR_DEAD_LETTER_TOPIC names a topic";
    orders.on_error = WEIR_ON_ERROR_DEAD_LETTER;
    EXPECT(&config, &plan, fault);
    orders.on_error = WEIR_ON_ERROR_DEFAULT;
    config.on_bad_record = WEIR_ON_ERROR_DEAD_LETTER;
    EXPECT(&config, &plan, fault);

    orders.dead_letter_topic = "bad";
    expect(&config, &plan, (const char *const[]){NULL});
    orders.dead_letter_topic = NULL;
    config.dead_letter_topic = "bad";
    expect(&config, &plan, (const char *const[]){NULL});

    // The table's own policy wins.
    config.dead_letter_topic = NULL;
    orders.on_error = WEIR_ON_ERROR_SKIP;
    expect(&config, &plan, (const char *const[]){NULL});
}

static void test_dead_letters_are_not_read_again(void **state)
{
    (void)state;
    struct weir_table orders = {.name = "orders",
                                .topic = "orders",
                                .is_source = true,
                                .on_error = WEIR_ON_ERROR_DEAD_LETTER,
                                .dead_letter_topic = "again"};
    struct weir_table again = {.name = "again", .topic = "again", .is_source = true};
    struct weir_table *tables[] = {&orders, &again};
    struct weir_plan plan = {.table_count = 2, .tables = tables};
    struct weir_config config = {.on_bad_record = WEIR_ON_ERROR_FAIL};
    EXPECT(
        &config, &plan,
        "table \"orders\": the dead-letter topic \"again\" is read by the same job; name another "
        "topic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dead_letters_need_a_topic),
        cmocka_unit_test(test_dead_letters_are_not_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
