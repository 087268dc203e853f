// SPDX-License-Identifier: Apache-2.0
// GROUP BY over a state in memory: each case restarts the operator after every barrier.
#include "aggregates.h"

#include "runtime/types/key.h"

static void test_aggregate_sends_what_changed_once_an_epoch(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text v:integer", "g", "count(*); sum(v)", NULL);
    AGGREGATES_CHECK(all, "+(a, 2, 3) +(b, 1, NULL)", "+ a|1", "+ b|NULL", "+ a|2");
    AGGREGATES_CHECK(all, "<(a, 2, 3) >(a, 3, 13)", "+ a|10");
    // What is as it was sent is not sent again.
    AGGREGATES_CHECK(all, "", "+ a|7", "- a|7", "< b|NULL", "> b|NULL");
    AGGREGATES_CHECK(all, "-(b, 1, NULL)", "- b|NULL");
    // Made and gone in one epoch.
    AGGREGATES_CHECK(all, "", "+ c|1", "- c|1");
    AGGREGATES_CHECK(all, "+(c, 1, 1) +(b, 1, 4)", "+ c|1", "+ b|4");
    aggregates_end(all);
}

// The sum and the count have changed, what comes of them has not.
static void test_aggregate_same_result_of_other_rows_is_not_sent(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text v:integer", "g", "avg(v); max(v)", NULL);
    AGGREGATES_CHECK(all, "+(a, 2.0000000000000000, 3)", "+ a|1", "+ a|3");
    AGGREGATES_CHECK(all, "", "+ a|2");
    AGGREGATES_CHECK(all, "", "- a|2", "+ a|1", "+ a|3");
    AGGREGATES_CHECK(all, "<(a, 2.0000000000000000, 3) >(a, 1.6666666666666667, 3)", "- a|3");
    aggregates_end(all);
}

// What is sent is as it was at the barrier, whatever has come since; time waits for it.
static void test_aggregate_sends_an_epoch_while_the_next_one_goes_on(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin("g:text v:numeric", "g", "count(*); max(v); sum(v)", NULL);
    AGGREGATES_CHECK(all, "+(a, 1, 1, 1) +(b, 1, 5, 5)", "+ a|1", "+ b|5");
    CHANGES_FEED(all->op, all->schema, "+ a|3", "- b|5", "+ c|7");
    changes_begin_barrier(all->op, all->store);
    CHANGES_FEED(all->op, all->schema, "- a|3", "+ a|2", "+ b|6", "- c|7", "+ d|1.50");
    changes_pass_time(all->op, 1000);
    changes_send(all->op);
    changes_expect(&all->changes, "-(b, 1, 5, 5) +(c, 1, 7, 7) <(a, 1, 1, 1) >(a, 2, 3, 4)");
    struct weir_error error;
    assert_int_equal(all->op->ops->resume(all->op, &error), WEIR_OK);
    changes_expect(&all->changes, "T1000");
    changes_pass_barrier(all->op, all->store);
    changes_expect(&all->changes, "-(c, 1, 7, 7) +(d, 1, 1.50, 1.50) <(a, 2, 3, 4) "
                                  ">(a, 2, 2, 3) +(b, 1, 6, 6)");
    aggregates_restart(all);
    AGGREGATES_CHECK(all, "-(d, 1, 1.50, 1.50) <(a, 2, 2, 3) >(a, 3, 9, 12)", "+ a|9", "- d|1.50");
    aggregates_end(all);
}

static void test_aggregate_result_has_the_largest_event_time_of_its_group(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text v:integer", "g", "count(v)", NULL);
    all->changes.has_event_times = true;
    AGGREGATES_CHECK(all, "+(a, 2)@3000", "+@3000 a|1", "+@2000 a|1");
    AGGREGATES_CHECK(all, "<(a, 2)@3000 >(a, 3)@3000", "+@1000 a|1");
    AGGREGATES_CHECK(all, "-(a, 3)@9000", "-@9000 a|1", "-@1000 a|1", "-@2000 a|1");
    aggregates_end(all);
}

// C080.
static void test_aggregate_sums_do_not_wrap(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin("g:text b:bigint i:integer", "g", "sum(b); avg(b); sum(i)", NULL);
    AGGREGATES_CHECK(all, "+(a, 9223372036854775811, 4611686018427387906, 2147483700)",
                     "+ a|9223372036854775806|2147483600", "+ a|5|100");
    AGGREGATES_CHECK(all,
                     "<(a, 9223372036854775811, 4611686018427387906, 2147483700) "
                     ">(a, 9223372036854775806, 9223372036854775806, 2147483600)",
                     "- a|5|100");
    AGGREGATES_CHECK(all,
                     "<(a, 9223372036854775806, 9223372036854775806, 2147483600) "
                     ">(a, 18446744073709551612, 9223372036854775806, 2147483600)",
                     "+ a|9223372036854775806|NULL");
    aggregates_end(all);
}

// C083.
static void test_aggregate_averages_of_integers_are_numeric(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text i:integer", "g", "avg(i)", NULL);
    AGGREGATES_CHECK(all,
                     "+(c, -2.5000000000000000) +(d, NULL) "
                     "+(a, 2.5000000000000000) +(b, 2.3333333333333333)",
                     "+ a|2", "+ a|3", "+ b|2", "+ b|2", "+ b|3", "+ c|-2", "+ c|-3", "+ d|NULL");
    aggregates_end(all);
}

// C084: without keys there is always a result.
static void test_aggregate_without_keys_outlives_its_rows(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin(
        "v:integer", "", "count(*); count(v); sum(v); avg(v); min(v); count(distinct v)", NULL);
    AGGREGATES_CHECK(all, "+(2, 2, 10, 5.0000000000000000, 5, 1)", "+ 5", "+ 5");
    AGGREGATES_CHECK(all, "<(2, 2, 10, 5.0000000000000000, 5, 1) >(0, 0, NULL, NULL, NULL, 0)",
                     "- 5", "- 5");
    AGGREGATES_CHECK(all, "<(0, 0, NULL, NULL, NULL, 0) >(1, 0, NULL, NULL, NULL, 0)", "+ NULL");
    aggregates_end(all);
}

// C085.
static void test_aggregate_distinct_and_filters_are_apart(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin(
        "g:text v:integer big:boolean none:boolean", "g",
        "count(*); count(v); count(distinct v); count(distinct v) filter big; sum(v) filter none",
        NULL);
    AGGREGATES_CHECK(all, "+(r, 1, 0, 0, 0, NULL) +(p, 3, 3, 2, 1, NULL) +(q, 1, 1, 1, 0, NULL)",
                     "+ p|10|f|f", "+ p|20|t|f", "+ p|20|t|f", "+ q|10|f|f", "+ r|NULL|NULL|f");
    AGGREGATES_CHECK(all, "<(p, 3, 3, 2, 1, NULL) >(p, 2, 2, 2, 1, NULL)", "- p|20|t|f");
    AGGREGATES_CHECK(all, "<(p, 2, 2, 2, 1, NULL) >(p, 1, 1, 1, 0, NULL)", "- p|20|t|f");
    aggregates_end(all);
}

static void test_aggregate_distinct_goes_by_value(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin("g:numeric d:double_precision n:numeric", "g",
                         "count(distinct d); count(distinct n); sum(distinct n); count(*)", NULL);
    AGGREGATES_CHECK(all, "+(2.0, 2, 2, 3.0, 4)", "+ 2.0|0.0|1", "+ 2.00|-0.0|1.00", "+ 2|NaN|2.0",
                     "+ 2.000|NaN|2.00");
    // What DISTINCT has taken in is what it gives back, however the last one was spelt.
    AGGREGATES_CHECK(all, "<(2.0, 2, 2, 3.0, 4) >(2.0, 1, 1, 1, 2)", "- 2|NaN|2.0", "- 2|NaN|2.00");
    aggregates_end(all);
}

// C087, for max and min of several types.
static void test_aggregate_extremes_come_back(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("id:integer g:text v:integer n:numeric t:text", "g",
                                              "max(v); min(n); max(t)", NULL);
    AGGREGATES_CHECK(all, "+(g, 40, -4.0, d)", "+ 1|g|40|-4.0|d");
    AGGREGATES_CHECK(all, "", "+ 2|g|15|-1.50|ab");
    AGGREGATES_CHECK(all, "", "+ 3|g|30|-3|abc");
    AGGREGATES_CHECK(all, "<(g, 40, -4.0, d) >(g, 30, -3, abc)", "- 1|g|40|-4.0|d");
    AGGREGATES_CHECK(all, "<(g, 30, -3, abc) >(g, 15, -1.50, ab)", "- 3|g|30|-3|abc");
    AGGREGATES_CHECK(all, "-(g, 15, -1.50, ab)", "- 2|g|15|-1.50|ab");
    AGGREGATES_CHECK(all, "+(g, 7, 12345678901234567890.50, )", "+ 4|g|7|12345678901234567890.50|");
    // The largest one leaves and another one comes, in one epoch.
    AGGREGATES_CHECK(all, "<(g, 7, 12345678901234567890.50, ) >(g, 3, 99999999999999999999, NULL)",
                     "- 4|g|7|12345678901234567890.50|", "+ 5|g|3|99999999999999999999|NULL");
    aggregates_end(all);
}

static void test_aggregate_of_rows_that_only_come(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin("g:integer v:integer t:text n:numeric", "g",
                         "min(v); max(t); count(distinct t); sum(n); min(n)", NULL);
    all->config.is_input_changing = false;
    aggregates_restart(all);
    AGGREGATES_CHECK(all, "+(1, 4, b, 2, 1.50, 0.00)", "1|5|b|1.5", "1|4|a|NULL", "1|9|b|0.00");
    aggregates_end(all);
}

static void test_aggregate_floats_forget_what_is_taken_back(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text r:real d:double_precision", "g",
                                              "sum(r); avg(r); sum(d); avg(d)", NULL);
    AGGREGATES_CHECK(all, "+(a, 0.5, 0.25, 1e+16, 5e+15)", "+ a|0.25|1", "+ a|0.25|1e16");
    AGGREGATES_CHECK(all, "<(a, 0.5, 0.25, 1e+16, 5e+15) >(a, 0.25, 0.25, 1, 1)", "- a|0.25|1e16");
    AGGREGATES_CHECK(all, "<(a, 0.25, 0.25, 1, 1) >(a, Infinity, Infinity, NaN, NaN)",
                     "+ a|Infinity|NaN");
    AGGREGATES_CHECK(all, "<(a, Infinity, Infinity, NaN, NaN) >(a, NaN, NaN, -Infinity, -Infinity)",
                     "- a|NULL|NaN", "+ a|-Infinity|-Infinity");
    AGGREGATES_CHECK(all, "<(a, NaN, NaN, -Infinity, -Infinity) >(a, 0.25, 0.25, 1, 1)",
                     "- a|-Infinity|-Infinity", "- a|Infinity|NULL", "+ a|NULL|NULL");
    aggregates_end(all);
}

static void test_aggregate_numeric_has_the_scale_of_what_is_left(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text n:numeric", "g", "sum(n); avg(n)", NULL);
    AGGREGATES_CHECK(all, "+(a, 3.500, 1.7500000000000000)", "+ a|1.5", "+ a|2.000");
    AGGREGATES_CHECK(all, "<(a, 3.500, 1.7500000000000000) >(a, 1.5, 1.50000000000000000000)",
                     "- a|2.000");
    AGGREGATES_CHECK(all,
                     "<(a, 1.5, 1.50000000000000000000) "
                     ">(a, 100000000000000000000000001.5, 50000000000000000000000000.8)",
                     "+ a|100000000000000000000000000");
    AGGREGATES_CHECK(
        all, "<(a, 100000000000000000000000001.5, 50000000000000000000000000.8) >(a, NaN, NaN)",
        "+ a|NaN");
    AGGREGATES_CHECK(all, "<(a, NaN, NaN) >(a, 1.5, 1.50000000000000000000)", "- a|NaN",
                     "- a|100000000000000000000000000");
    aggregates_end(all);
}

static void test_aggregate_keys_have_their_scale_and_null_is_one(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin("a:numeric(6,2) b:text c:jsonb", "b a c", "count(*)", NULL);
    AGGREGATES_CHECK(all, "+(NULL, NULL, NULL, 2) +(x, 2.00, {\"a\": 1}, 2)", "+ 2.00|x|{\"a\":1}",
                     "+ NULL|NULL|NULL", "+ 2|x|{\"a\": 1}", "+ NULL|NULL|NULL");
    aggregates_end(all);
}

// As PostgreSQL, which shows the first of the equal ones.
static void test_aggregate_keys_are_spelt_as_first_seen(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("n:numeric j:jsonb", "n j", "count(*)", NULL);
    AGGREGATES_CHECK(all, "+(2.50, {\"a\": 1.0}, 2)", "+ 2.50|{\"a\": 1.0}", "+ 2.5|{\"a\":1}");
    AGGREGATES_CHECK(all, "<(2.50, {\"a\": 1.0}, 2) >(2.50, {\"a\": 1.0}, 1)",
                     "- 2.50|{\"a\": 1.0}");
    AGGREGATES_CHECK(all, "-(2.50, {\"a\": 1.0}, 1)", "- 2.5|{\"a\": 1}");
    AGGREGATES_CHECK(all, "+(2.5, {\"a\": 1}, 1)", "+ 2.5|{\"a\": 1}");
    aggregates_end(all);
    all = aggregates_begin("n:numeric window_end:timestamptz", "n", "count(*)", "window_end");
    CHANGES_FEED(all->op, all->schema, "1.50|2000-01-01 00:01:00Z", "1.5|2000-01-01 00:01:00Z");
    changes_pass_time(all->op, 60000);
    changes_expect(&all->changes, "(1.50, 2) T60000");
    aggregates_end(all);
}

// C087: a max of maxima, with a restart of both between any two steps.
static void test_aggregate_of_an_aggregate(void **state)
{
    (void)state;
    struct aggregates *inner =
        aggregates_begin("id:integer g:text v:integer", "id g", "max(v)", NULL);
    struct aggregates *outer =
        aggregates_begin("id:integer g:text v:integer", "g", "max(v); min(v); count(*)", NULL);
    static const struct {
        const char *line;
        const char *expected;
    } STEPS[] = {
        {"+ 1|g|40", "+(g, 40, 40, 1)"},
        {"+ 2|g|15", "<(g, 40, 40, 1) >(g, 40, 15, 2)"},
        {"+ 3|g|30", "<(g, 40, 15, 2) >(g, 40, 15, 3)"},
        {"+ 1|g|50", "<(g, 40, 15, 3) >(g, 50, 15, 3)"},
        {"- 1|g|50", "<(g, 50, 15, 3) >(g, 40, 15, 3)"},
        {"- 1|g|40", "<(g, 40, 15, 3) >(g, 30, 15, 2)"},
        {"- 3|g|30", "<(g, 30, 15, 2) >(g, 15, 15, 1)"},
        {"- 2|g|15", "-(g, 15, 15, 1)"},
        {"+ 4|g|7", "+(g, 7, 7, 1)"},
    };
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        struct weir_operator *next[] = {outer->op};
        inner->op->next = next;
        CHANGES_FEED(inner->op, inner->schema, STEPS[i].line);
        changes_pass_barrier(inner->op, inner->store);
        changes_pass_barrier(outer->op, outer->store);
        changes_expect(&outer->changes, STEPS[i].expected);
        aggregates_restart(inner);
        aggregates_restart(outer);
    }
    aggregates_end(inner);
    aggregates_end(outer);
}

static void test_aggregate_leaves_out_a_row_that_is_too_much(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("g:text d:double_precision", "g",
                                              "count(*); sum(d); count(distinct d)", NULL);
    AGGREGATES_CHECK(all, "+(a, 1, 1e+308, 1) +(b, 1, 1, 1)", "+ a|1e308", "+ a|1.7e308", "+ b|1");
    changes_expect_reported(&all->changes, "expression: value out of range: overflow "
                                           "{\"g\":\"a\",\"d\":1.7e+308}");
    aggregates_end(all);
    // In place, too.
    all =
        aggregates_begin("g:text d:double_precision r:real", "g", "count(*); sum(d); sum(r)", NULL);
    AGGREGATES_CHECK(all, "+(a, 1, 1e+308, 1) +(b, 1, 1, 3e+38)", "+ a|1e308|1", "+ a|1.7e308|1",
                     "+ b|1|3e38", "+ b|1|3e38");
    changes_expect_reported(&all->changes, "expression: value out of range: overflow "
                                           "{\"g\":\"a\",\"d\":1.7e+308,\"r\":1}; "
                                           "expression: value out of range: overflow "
                                           "{\"g\":\"b\",\"d\":1,\"r\":3e+38}");
    aggregates_end(all);
}

static void test_aggregate_of_nothing_is_distinct(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin("a:integer b:text", "a b", "", NULL);
    AGGREGATES_CHECK(all, "+(1, x) +(1, y)", "+ 1|x", "+ 1|y", "+ 1|x");
    AGGREGATES_CHECK(all, "-(1, y)", "- 1|x", "- 1|y");
    aggregates_end(all);
}

// --- windows ------------------------------------------------------------------------------------

static const char WINDOW_COLUMNS[] = "k:text v:integer window_start:timestamptz "
                                     "window_end:timestamptz";

static void test_aggregate_window_is_sent_once_when_its_end_is_reached(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin(WINDOW_COLUMNS, "k window_start",
                         "count(*); sum(v); count(distinct v); max(k)", "window_end");
    all->changes.has_event_times = true;
    CHANGES_FEED(all->op, all->schema, "a|1|2000-01-01 00:00:00Z|2000-01-01 00:01:00Z",
                 "a|1|2000-01-01 00:00:00Z|2000-01-01 00:01:00Z",
                 "b|5|2000-01-01 00:01:00Z|2000-01-01 00:02:00Z",
                 "a|3|2000-01-01 00:01:00Z|2000-01-01 00:02:00Z");
    changes_pass_time(all->op, 59999);
    changes_expect(&all->changes, "T59999");
    changes_pass_barrier(all->op, all->store);
    aggregates_restart(all);
    changes_expect(&all->changes, "");
    changes_pass_time(all->op, 60000);
    changes_expect(&all->changes, "(a, 2000-01-01 00:00:00+00, 2, 2, 1, a)@59999 T60000");
    changes_pass_time(all->op, 60000);
    changes_expect(&all->changes, "T60000");
    // Its result is out: late, even after a restart.
    changes_pass_barrier(all->op, all->store);
    aggregates_restart(all);
    CHANGES_FEED(all->op, all->schema, "a|7|2000-01-01 00:00:00Z|2000-01-01 00:01:00Z",
                 "c|7|2000-01-01 00:01:00Z|2000-01-01 00:02:00Z");
    changes_expect_reported(&all->changes,
                            "late: the result of its window is out {\"k\":\"a\",\"v\":7,"
                            "\"window_start\":\"2000-01-01T00:00:00+00:00\",\"window_end\":"
                            "\"2000-01-01T00:01:00+00:00\"}");
    changes_pass_time(all->op, INT64_MAX);
    all->changes.has_event_times = false;
    assert_int_equal(all->changes.row_count, 1 + 3);
    all->changes.out.size_bytes = 0;
    // Nothing is left behind but the time.
    changes_pass_barrier(all->op, all->store);
    struct memory_state_store *memory = (struct memory_state_store *)all->store;
    for (uint32_t i = 0; i < memory->state_count; i++) {
        if (strcmp(memory->states[i]->name, "closed") != 0) {
            assert_int_equal(memory->states[i]->entry_count, 0);
        }
    }
    // After the end of all input time stands at the last window.
    aggregates_restart(all);
    CHANGES_FEED(all->op, all->schema, "a|7|2000-01-01 00:01:00Z|2000-01-01 00:02:00Z",
                 "a|8|2000-01-01 00:02:00Z|2000-01-01 00:03:00Z");
    changes_pass_time(all->op, 180000);
    changes_expect(&all->changes, "(a, 2000-01-01 00:02:00+00, 1, 8, 1, a) T180000");
    aggregates_end(all);
}

static void test_aggregate_windows_come_in_their_order_for_a_key(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin(WINDOW_COLUMNS, "window_end k", "count(*)", "window_end");
    CHANGES_FEED(all->op, all->schema, "a|1|2000-01-01 00:02:00Z|2000-01-01 00:03:00Z",
                 "a|1|1999-12-31 23:59:00Z|2000-01-01 00:00:00Z",
                 "a|1|2000-01-01 00:00:00Z|2000-01-01 00:01:00Z");
    // Group by window_end in front of k: every window has its own key group; all are due.
    changes_pass_time(all->op, 60000);
    assert_int_equal(all->changes.row_count, 2);
    all->changes.out.size_bytes = 0;
    changes_pass_time(all->op, 180000);
    changes_expect(&all->changes, "(2000-01-01 00:03:00+00, a, 1) T180000");
    aggregates_end(all);
}

// The key group is that of the key without its window: a task owns all of a key's windows.
static void test_aggregate_windows_of_a_key_are_in_one_key_group(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin(WINDOW_COLUMNS, "window_end k window_start", "count(*)", "window_end");
    struct weir_buffer key = {0};
    struct weir_column column;
    weir_column_init(&column, &all->schema->columns[0].type, 1, true, all->arena);
    assert_true(weir_text_parse(&column, 0, weir_view_of("a"), all->arena, NULL));
    weir_key_encode(&column, 1, 0, &key);
    uint16_t owned =
        weir_key_group((struct weir_view){.data = key.data, .size_bytes = key.size_bytes});
    weir_buffer_deinit(&key);
    all->config.key_groups = (struct weir_key_group_range){.first = owned, .count = 1};
    aggregates_route(all, "k");
    CHANGES_FEED(all->op, all->schema, "a|1|2000-01-01 00:02:00Z|2000-01-01 00:03:00Z",
                 "a|1|1999-12-31 23:59:00Z|2000-01-01 00:00:00Z",
                 "a|1|2000-01-01 00:00:00Z|2000-01-01 00:01:00Z");
    changes_pass_barrier(all->op, all->store);
    aggregates_restart(all);
    changes_expect(&all->changes, "");
    CHANGES_FEED(all->op, all->schema, "a|1|2000-01-01 00:01:00Z|2000-01-01 00:02:00Z");
    changes_pass_time(all->op, 180000);
    changes_expect(&all->changes, "(2000-01-01 00:00:00+00, a, 1999-12-31 23:59:00+00, 1) "
                                  "(2000-01-01 00:01:00+00, a, 2000-01-01 00:00:00+00, 1) "
                                  "(2000-01-01 00:02:00+00, a, 2000-01-01 00:01:00+00, 1) "
                                  "(2000-01-01 00:03:00+00, a, 2000-01-01 00:02:00+00, 1) "
                                  "T180000");
    aggregates_end(all);
}

static void test_aggregate_many_windows_at_once(void **state)
{
    (void)state;
    struct aggregates *all =
        aggregates_begin(WINDOW_COLUMNS, "k window_end", "count(*)", "window_end");
    for (uint32_t round = 0; round < 5; round++) {
        char lines[WEIR_BATCH_ROWS_MAX][80];
        const char *pointers[WEIR_BATCH_ROWS_MAX];
        for (uint32_t i = 0; i < WEIR_BATCH_ROWS_MAX; i++) {
            snprintf(lines[i], sizeof lines[i], "%u|1|2000-01-01 00:00:00Z|2000-01-01 00:0%u:00Z",
                     i, 1 + round);
            pointers[i] = lines[i];
        }
        changes_feed(all->op, all->schema, WEIR_BATCH_ROWS_MAX, pointers);
    }
    changes_pass_time(all->op, 4 * 60000);
    assert_int_equal(all->changes.row_count, 4 * WEIR_BATCH_ROWS_MAX);
    changes_pass_time(all->op, INT64_MAX);
    assert_int_equal(all->changes.row_count, 5 * WEIR_BATCH_ROWS_MAX);
    aggregates_end(all);
}

// Each task has its share of the key groups, and sends the windows of those alone.
static void test_aggregate_windows_are_those_of_the_key_groups_owned(void **state)
{
    (void)state;
    enum { KEY_COUNT = 200, TASK_COUNT = 3 };
    struct aggregates *all =
        aggregates_begin(WINDOW_COLUMNS, "k window_end", "count(*)", "window_end");
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        char line[80];
        snprintf(line, sizeof line, "%u|1|2000-01-01 00:00:00Z|2000-01-01 00:01:00Z", i);
        CHANGES_FEED(all->op, all->schema, line);
    }
    changes_pass_barrier(all->op, all->store);
    uint32_t before = 0;
    for (uint32_t task = 0; task < TASK_COUNT; task++) {
        all->config.key_groups = weir_key_groups_of(task, TASK_COUNT);
        aggregates_restart(all);
        changes_pass_time(all->op, 60000);
        assert_true(all->changes.row_count > before);
        before = all->changes.row_count;
        changes_pass_time(all->op, INT64_MAX);
        assert_int_equal(all->changes.row_count, before);
        changes_pass_barrier(all->op, all->store);
    }
    assert_int_equal(before, KEY_COUNT);
    aggregates_end(all);
}

// --- which there are ----------------------------------------------------------------------------

static void check_type(const char *name, const char *arg, const char *expected)
{
    struct weir_aggregate aggregate = {0};
    struct weir_error error;
    struct weir_type type = arg != NULL ? expr_text_type(arg) : weir_type_plain(WEIR_TYPE_TEXT);
    char text[128];
    if (weir_aggregate_resolve(name, arg != NULL ? &type : NULL, &aggregate, &error) != WEIR_OK) {
        assert_int_equal(error.domain, WEIR_DOMAIN_SQL);
        assert_string_equal(error.text, expected);
        return;
    }
    assert_string_equal(weir_type_name(&aggregate.result_type, text, sizeof text), expected);
}

static void test_aggregate_types_are_those_of_postgresql(void **state)
{
    (void)state;
    check_type("count", NULL, "bigint");
    check_type("count", "jsonb", "bigint");
    check_type("sum", "smallint", "bigint");
    check_type("sum", "integer", "bigint");
    check_type("sum", "bigint", "numeric");
    check_type("sum", "numeric(10,2)", "numeric");
    check_type("sum", "real", "real");
    check_type("sum", "double precision", "double precision");
    check_type("avg", "smallint", "numeric");
    check_type("avg", "numeric", "numeric");
    check_type("avg", "real", "double precision");
    check_type("min", "varchar(3)", "text");
    check_type("max", "date", "date");
    check_type("max", "timestamptz", "timestamp with time zone");
    check_type("min", "boolean", "function min(boolean) does not exist");
    check_type("max", "bytea", "function max(bytea) does not exist");
    check_type("sum", "text", "function sum(text) does not exist");
    check_type("avg", "varchar(3)", "function avg(character varying) does not exist");
    check_type("sum", NULL, "function sum() does not exist");
    check_type("stddev", "integer",
               "aggregate function stddev(integer) is not supported; there are count, sum, min, "
               "max and avg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregate_sends_what_changed_once_an_epoch),
        cmocka_unit_test(test_aggregate_same_result_of_other_rows_is_not_sent),
        cmocka_unit_test(test_aggregate_sends_an_epoch_while_the_next_one_goes_on),
        cmocka_unit_test(test_aggregate_result_has_the_largest_event_time_of_its_group),
        cmocka_unit_test(test_aggregate_sums_do_not_wrap),
        cmocka_unit_test(test_aggregate_averages_of_integers_are_numeric),
        cmocka_unit_test(test_aggregate_without_keys_outlives_its_rows),
        cmocka_unit_test(test_aggregate_distinct_and_filters_are_apart),
        cmocka_unit_test(test_aggregate_distinct_goes_by_value),
        cmocka_unit_test(test_aggregate_extremes_come_back),
        cmocka_unit_test(test_aggregate_of_rows_that_only_come),
        cmocka_unit_test(test_aggregate_floats_forget_what_is_taken_back),
        cmocka_unit_test(test_aggregate_numeric_has_the_scale_of_what_is_left),
        cmocka_unit_test(test_aggregate_keys_have_their_scale_and_null_is_one),
        cmocka_unit_test(test_aggregate_keys_are_spelt_as_first_seen),
        cmocka_unit_test(test_aggregate_of_an_aggregate),
        cmocka_unit_test(test_aggregate_leaves_out_a_row_that_is_too_much),
        cmocka_unit_test(test_aggregate_of_nothing_is_distinct),
        cmocka_unit_test(test_aggregate_window_is_sent_once_when_its_end_is_reached),
        cmocka_unit_test(test_aggregate_windows_come_in_their_order_for_a_key),
        cmocka_unit_test(test_aggregate_windows_of_a_key_are_in_one_key_group),
        cmocka_unit_test(test_aggregate_many_windows_at_once),
        cmocka_unit_test(test_aggregate_windows_are_those_of_the_key_groups_owned),
        cmocka_unit_test(test_aggregate_types_are_those_of_postgresql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
