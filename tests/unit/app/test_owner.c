// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cmocka_all.h"

#include "app/owner.h"

static const struct weir_attempt nobody = {.text = ""};
static const struct weir_attempt first = {.text = "aaaaaaaaaaaaaaaa"};
static const struct weir_attempt second = {.text = "bbbbbbbbbbbbbbbb"};

static struct weir_pointer pointer_of(const struct weir_attempt *owner)
{
    return (struct weir_pointer){.number = 7, .manifest_attempt = first, .owner_attempt = *owner};
}

static void test_owner_knows_whom_it_came_after(void **state)
{
    (void)state;
    struct weir_owner owner = {0};
    struct weir_pointer before = pointer_of(&first);
    struct weir_pointer other = pointer_of(&second);
    weir_owner_meet(&owner, &before, &nobody);
    assert_true(weir_owner_look(&owner, &before));
    assert_false(weir_owner_look(&owner, &other));
    weir_owner_meet(&owner, &other, &second); // only the first time counts
    assert_false(weir_owner_look(&owner, &other));
    assert_true(weir_owner_look(&owner, NULL));
    struct weir_attempt own = weir_owner_begin(&owner);
    struct weir_pointer ours = pointer_of(&own);
    assert_true(weir_owner_look(&owner, &ours));
    weir_owner_deinit(&owner);
}

// Its claim is committed, but not visible yet to one that looks without waiting.
static void test_owner_has_come_after_the_holder_of_the_store(void **state)
{
    (void)state;
    struct weir_owner owner = {0};
    struct weir_pointer before = pointer_of(&first);
    struct weir_pointer holders = pointer_of(&second);
    weir_owner_meet(&owner, &before, &second);
    assert_true(weir_owner_look(&owner, &holders));
    assert_true(weir_owner_look(&owner, &before));
    weir_owner_deinit(&owner);
}

static void test_owner_that_found_nothing_meets_a_newer_one(void **state)
{
    (void)state;
    struct weir_owner owner = {0};
    struct weir_pointer other = pointer_of(&second);
    weir_owner_meet(&owner, NULL, &nobody);
    assert_false(weir_owner_look(&owner, &other));
    weir_owner_deinit(&owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owner_knows_whom_it_came_after),
        cmocka_unit_test(test_owner_has_come_after_the_holder_of_the_store),
        cmocka_unit_test(test_owner_that_found_nothing_meets_a_newer_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
