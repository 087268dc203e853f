// SPDX-License-Identifier: Apache-2.0
// Jobs that change between two starts: which edits keep their state, which are refused, and what is
// said. The "checkpoint" is what the job before would have recorded, with a file for each stage.
#include "app/state_change.h"

#include "tests/unit/cmocka_all.h"

#define TABLES                                                                                     \
    "CREATE TABLE t (k int, v int, w int) WITH (topic = 't');"                                     \
    "CREATE TABLE a (k int PRIMARY KEY, s bigint) WITH (topic = 'a');"                             \
    "CREATE TABLE b (k int PRIMARY KEY, s bigint, c bigint) WITH (topic = 'b');"                   \
    "CREATE TABLE c (v int) WITH (topic = 'c');"
#define SUM "INSERT INTO a SELECT k, sum(v) FROM t GROUP BY k;"

static struct weir_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = weir_arena_create(65536);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_arena_destroy(arena);
    return 0;
}

static const struct weir_plan *plan_of(const char *sql)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error;
    if (weir_sql_plan(sql, arena, &plan, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    return plan;
}

// Checkpoint 7 of that job.
static struct weir_manifest manifest_of(const char *sql, bool has_operators)
{
    static const struct weir_state_file file = {.name = "f", .size_bytes = 1234};
    struct weir_manifest manifest = {.number = 7};
    uint32_t count;
    const struct weir_manifest_operator *operators;
    weir_state_operators(plan_of(sql), arena, &operators, &count);
    struct weir_state_handle *states = weir_arena_alloc_zero(arena, count * sizeof *states);
    for (uint32_t i = 0; i < count; i++) {
        states[i] = (struct weir_state_handle){
            .stage = operators[i].stage, .file_count = 1, .files = &file};
    }
    manifest.state_count = count;
    manifest.states = states;
    manifest.operator_count = has_operators ? count : 0;
    manifest.operators = operators;
    return manifest;
}

// Says NULL: all state is kept.
static void change(const struct weir_manifest *before, const char *after, bool is_allowed,
                   uint32_t kept_count, const char *says)
{
    const struct weir_manifest_operator *operators;
    uint32_t operator_count;
    const struct weir_state_handle *states;
    uint32_t state_count;
    const char *warning = NULL;
    struct weir_error error = {.text = ""};
    weir_state_operators(plan_of(after), arena, &operators, &operator_count);
    enum weir_status status =
        weir_state_change_check(before, operators, operator_count, is_allowed, arena, &states,
                                &state_count, &warning, &error);
    const char *said = warning != NULL ? warning : error.text;
    if (status != (says == NULL || is_allowed ? WEIR_OK : WEIR_ERROR) ||
        state_count != kept_count || strstr(said, says != NULL ? says : "") == NULL) {
        fail_msg("%s: status %d, %u kept: %s", after, status, state_count, said);
    }
    assert_int_equal(warning != NULL, says != NULL && is_allowed);
}

static void test_edits_that_keep_all_state(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(TABLES SUM, true);
    assert_int_equal(before.operator_count, 1);
    change(&before, TABLES SUM, false, 1, NULL);
    // A new sink, with and without state of its own.
    change(&before, TABLES SUM "INSERT INTO c SELECT v FROM t;", false, 1, NULL);
    change(&before, TABLES SUM "INSERT INTO b SELECT w, sum(v), count(*) FROM t GROUP BY w;", false,
           1, NULL);
    // A condition above the aggregate.
    change(&before, TABLES "INSERT INTO a SELECT k, sum(v) FROM t GROUP BY k HAVING sum(v) > 3;",
           false, 1, NULL);
    change(&before,
           TABLES "INSERT INTO a SELECT k, s FROM (SELECT k, sum(v) AS s FROM t GROUP BY k) x "
                  "WHERE s > 3;",
           false, 1, NULL);
}

static void test_edits_that_lose_state_are_refused_and_say_what(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(TABLES SUM, true);
    static const char *const others[] = {
        TABLES "INSERT INTO c SELECT v FROM t;",                                // gone
        TABLES "INSERT INTO a SELECT k, sum(v) FROM t WHERE w > 1 GROUP BY k;", // other rows
        TABLES "INSERT INTO a SELECT w, sum(v) FROM t GROUP BY w;",             // other keys
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        change(&before, others[i], false, 0, "is no longer there: 1234 bytes of state");
        change(&before, others[i], true, 0, "is no longer there: 1234 bytes of state");
    }
    change(&before, others[0], false, 0, "WEIR_ALLOW=state_loss");
    // The same groups that keep something else: their state would be read for what it is not.
    change(&before, TABLES "INSERT INTO a SELECT k, sum(w) FROM t GROUP BY k;", false, 0,
           "and would keep");
    change(&before, TABLES "INSERT INTO a SELECT k, count(v) FROM t GROUP BY k;", false, 0,
           "and would keep");
    // One more: what it would count from now on has no room in what was kept.
    change(&before,
           "CREATE TABLE t (k int, v int, w int) WITH (topic = 't');"
           "CREATE TABLE a (k int PRIMARY KEY, s bigint, c bigint) WITH (topic = 'a');"
           "INSERT INTO a SELECT k, sum(v), count(*) FROM t GROUP BY k;",
           false, 0, "and would keep");
    change(&before, TABLES "INSERT INTO a SELECT k, sum(v) FILTER (WHERE w > 1) FROM t GROUP BY k;",
           false, 0, "and would keep");
}

static void test_what_an_early_manifest_does_not_say_is_not_held_against_the_job(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(TABLES SUM, false);
    change(&before, TABLES SUM, false, 1, NULL);
    change(&before, TABLES "INSERT INTO c SELECT v FROM t;", false, 0, "is no longer there");
    // Nothing was in it: nothing is lost.
    struct weir_manifest empty = manifest_of(TABLES SUM, true);
    for (uint32_t i = 0; i < empty.state_count; i++) {
        ((struct weir_state_handle *)(uintptr_t)empty.states)[i].file_count = 0;
    }
    change(&empty, TABLES "INSERT INTO c SELECT v FROM t;", false, 1, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_edits_that_keep_all_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edits_that_lose_state_are_refused_and_say_what, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_what_an_early_manifest_does_not_say_is_not_held_against_the_job, set_up,
            tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
