// SPDX-License-Identifier: Apache-2.0
// A time to live of ten seconds in front of count(*) by key: what is forgotten, when, and that it
// does not depend on batches, barriers or restarts.
#include "aggregates.h"

#include "operators/expire.h"

enum { TTL_MS = 10000 };

struct chain {
    struct aggregates *all;
    struct weir_operator *expire;
    struct weir_operator *behind[1];
    uint32_t detail_count;
};

static void restart(struct chain *chain)
{
    static const uint32_t KEYS[] = {0};
    static const char *const DETAILS[] = {"distinct0"};
    aggregates_restart(chain->all);
    if (chain->expire != NULL) {
        chain->expire->ops->destroy(chain->expire);
    }
    chain->expire = weir_expire_create(
        "id", "ttl",
        &(struct weir_expire_config){.key_count = 1,
                                     .key_columns = KEYS,
                                     .ttl_us = TTL_MS * 1000,
                                     .store = chain->all->store,
                                     .key_groups = {0, WEIR_KEY_GROUP_COUNT},
                                     .forgotten = "groups",
                                     .detail_count = chain->detail_count,
                                     .details = DETAILS,
                                     .first_epoch = chain->all->config.first_epoch});
    chain->behind[0] = chain->all->op;
    chain->expire->next = chain->behind;
    chain->expire->next_count = 1;
}

static void begin(struct chain *chain)
{
    *chain = (struct chain){.all = aggregates_begin("g:text", "g", "count(*)", NULL)};
    chain->all->config.is_input_changing = false;
    restart(chain);
}

static void end(struct chain *chain)
{
    chain->expire->ops->destroy(chain->expire);
    aggregates_end(chain->all);
}

static void pass_barrier(struct chain *chain)
{
    struct memory_state_store *memory = (struct memory_state_store *)chain->all->store;
    struct weir_barrier barrier = {.number = memory->barrier_number + 1};
    struct weir_error error;
    assert_int_equal(chain->expire->ops->barrier(chain->expire, &barrier, NULL, &error), WEIR_OK);
    changes_pass_barrier(chain->all->op, chain->all->store);
}

// What the task does between two batches.
static void resume(struct chain *chain)
{
    struct weir_error error;
    for (uint32_t i = 0; i < 3; i++) { // it goes on where it has stopped
        assert_int_equal(chain->expire->ops->resume(chain->expire, &error), WEIR_OK);
    }
}

// How many entries all states have.
static uint32_t entry_count(const struct chain *chain)
{
    const struct memory_state_store *memory = (const struct memory_state_store *)chain->all->store;
    uint32_t count = 0;
    for (uint32_t i = 0; i < memory->state_count; i++) {
        for (uint32_t j = 0; j < memory->states[i]->entry_count; j++) {
            count += memory->states[i]->entries[j].is_present;
        }
    }
    return count;
}

#define FEED(chain, ...) CHANGES_FEED((chain)->expire, (chain)->all->schema, __VA_ARGS__)

static const char *const rows[] = {"@1000 a",  "@1500 b",  "@9000 a", "@500 a",  "@18999 a",
                                   "@11499 b", "@21499 b", "@0 c",    "@28999 a"};

// The counts of a: 1, 2, 3 (late, but within), 4 (ten seconds but one ms after the last), then ten
// seconds: 1. Of b: 1, 2, then 1.
static void test_expire_forgets_by_the_rows_own_times(void **state)
{
    (void)state;
    struct chain chain;
    begin(&chain);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        changes_feed(chain.expire, chain.all->schema, 1, &rows[i]);
        pass_barrier(&chain);
        restart(&chain);
    }
    changes_expect(&chain.all->changes,
                   "+(a, 1) +(b, 1) <(a, 1) >(a, 2) <(a, 2) >(a, 3) <(a, 3) >(a, 4) <(b, 1) "
                   ">(b, 2) +(b, 1) +(c, 1) +(a, 1)");
    end(&chain);
}

static void test_expire_gives_the_same_in_one_batch(void **state)
{
    (void)state;
    struct chain chain;
    begin(&chain);
    changes_feed(chain.expire, chain.all->schema, sizeof rows / sizeof rows[0], rows);
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "+(c, 1) +(a, 1) +(b, 1)");
    FEED(&chain, "@29000 a", "@22000 b", "@1 c");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "<(c, 1) >(c, 2) <(a, 1) >(a, 2) <(b, 1) >(b, 2)");
    end(&chain);
}

// The watermark takes away what no row asks for; nothing is sent for it.
static void test_expire_sweeps_behind_the_watermark(void **state)
{
    (void)state;
    struct chain chain;
    begin(&chain);
    FEED(&chain, "@1000 a", "@5000 b", "@2000 a");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "+(a, 2) +(b, 1)");
    uint32_t before = entry_count(&chain);
    changes_pass_time(chain.expire, 11999);
    resume(&chain);
    assert_int_equal(entry_count(&chain), before);
    changes_pass_time(chain.expire, 12000);
    resume(&chain);
    assert_int_equal(entry_count(&chain), before / 2); // those of b
    restart(&chain);
    changes_pass_time(chain.expire, 14999);
    FEED(&chain, "@14999 b", "@14999 a");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "T11999 T12000 T14999 +(a, 1) <(b, 1) >(b, 2)");
    changes_pass_time(chain.expire, 100000);
    resume(&chain);
    assert_int_equal(entry_count(&chain), 0);
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "T100000");
    end(&chain);
}

// Its result would be lost.
static void test_expire_keeps_what_is_still_to_be_sent(void **state)
{
    (void)state;
    struct chain chain;
    begin(&chain);
    FEED(&chain, "@1000 a", "@2000 b");
    changes_pass_time(chain.expire, 50000);
    resume(&chain);
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "T50000 +(a, 1) +(b, 1)");
    FEED(&chain, "@3000 b"); // late, and before anything was swept
    resume(&chain);
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "<(b, 1) >(b, 2)");
    resume(&chain);
    assert_int_equal(entry_count(&chain), 0);
    end(&chain);
}

// Single values that are kept of a group go with it, and only they: one key begins the other.
static void test_expire_forgets_single_values_with_their_group(void **state)
{
    (void)state;
    struct chain chain = {.all = aggregates_begin("g:text v:text", "g", "count(distinct v)", NULL),
                          .detail_count = 1};
    chain.all->config.is_input_changing = false;
    restart(&chain);
    FEED(&chain, "@0 a|x", "@0 a|y", "@0 ab|x", "@0 |x", "@9000 a|x", "@9000 ab|x");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "+(ab, 1) +(a, 2) +(, 1)");
    FEED(&chain, "@10000 |x", "@12000 ab|z", "@19000 a|x", "@21000 ab|x");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "<(ab, 1) >(ab, 2) +(a, 1) +(, 1)");
    changes_pass_time(chain.expire, 100000);
    resume(&chain);
    assert_int_equal(entry_count(&chain), 0);
    end(&chain);
}

// The end of all input makes nothing older: a later run goes on.
static void test_expire_end_of_input_forgets_nothing(void **state)
{
    (void)state;
    struct chain chain;
    begin(&chain);
    FEED(&chain, "@1000 a");
    pass_barrier(&chain);
    changes_pass_time(chain.expire, INT64_MAX);
    resume(&chain);
    pass_barrier(&chain);
    restart(&chain);
    FEED(&chain, "@2000 a");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "+(a, 1) T9223372036854775 <(a, 1) >(a, 2)");
    end(&chain);
}

// Nor does the end of a part of it: the time that is left is that of others' rows.
static void test_expire_end_of_a_part_forgets_nothing(void **state)
{
    (void)state;
    struct chain chain;
    begin(&chain);
    FEED(&chain, "@1000 a");
    pass_barrier(&chain);
    struct weir_time time = {.watermark_us = INT64_C(50000000), .has_ended = true};
    struct weir_error error;
    assert_int_equal(chain.expire->ops->time_passed(chain.expire, &time, &error), WEIR_OK);
    resume(&chain);
    pass_barrier(&chain);
    FEED(&chain, "@2000 a");
    pass_barrier(&chain);
    changes_expect(&chain.all->changes, "+(a, 1) T50000 <(a, 1) >(a, 2)");
    end(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expire_forgets_by_the_rows_own_times),
        cmocka_unit_test(test_expire_gives_the_same_in_one_batch),
        cmocka_unit_test(test_expire_sweeps_behind_the_watermark),
        cmocka_unit_test(test_expire_keeps_what_is_still_to_be_sent),
        cmocka_unit_test(test_expire_forgets_single_values_with_their_group),
        cmocka_unit_test(test_expire_end_of_input_forgets_nothing),
        cmocka_unit_test(test_expire_end_of_a_part_forgets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
