// SPDX-License-Identifier: Apache-2.0
// Jobs that change between two starts: which edits keep their state, which are refused, and what is
// said. The "checkpoint" is what the job before would have recorded, with a file for each stage.
#include "app/state_change.h"

#include "tests/unit/cmocka_all.h"

#define TABLES                                                                                     \
    "CREATE TABLE t (k int, v int, w int) WITH (topic = 't');"                                     \
    "CREATE TABLE a (k int PRIMARY KEY, s bigint) WITH (topic = 'a');"                             \
    "CREATE TABLE b (k int PRIMARY KEY, s bigint, c bigint) WITH (topic = 'b');"                   \
    "CREATE TABLE c (v int) WITH (topic = 'c');"                                                   \
    "CREATE TABLE d (k int PRIMARY KEY, s bigint, c bigint, m bigint) WITH (topic = 'd');"         \
    "CREATE TABLE e (id int PRIMARY KEY, k int, v int) WITH (topic = 'e');"
#define TWO TABLES "INSERT INTO d (k, s, c) SELECT k, sum(v), count(*) FROM t GROUP BY k;"
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

// Checkpoint 7 of that job: 1234 bytes in each stage, 5 rows of each operator.
static struct weir_manifest manifest_after(const char *sql, const struct weir_manifest *earlier)
{
    static const struct weir_state_file file = {.name = "f", .size_bytes = 1234};
    struct weir_job_change change;
    weir_job_change_find(plan_of(sql), earlier, arena, &change);
    struct weir_state_handle *states =
        weir_arena_alloc_zero(arena, change.operator_count * sizeof *states);
    for (uint32_t i = 0; i < change.operator_count; i++) {
        struct weir_state_rows *rows = weir_arena_alloc(arena, sizeof *rows);
        *rows = (struct weir_state_rows){.operator_id = change.operators[i].id, .count = 5};
        states[i] = (struct weir_state_handle){.stage = change.operators[i].stage,
                                               .file_count = 1,
                                               .files = &file,
                                               .rows_count = 1,
                                               .rows = rows};
    }
    return (struct weir_manifest){.number = 7,
                                  .state_count = change.operator_count,
                                  .states = states,
                                  .operator_count = change.operator_count,
                                  .operators = change.operators};
}

static struct weir_manifest manifest_of(const char *sql)
{
    return manifest_after(sql, NULL);
}

// As an early version wrote it: it knew no slots, and counted no rows; a still earlier one knew no
// operators.
static struct weir_manifest early_manifest_of(const char *sql, bool has_operators)
{
    struct weir_manifest manifest = manifest_of(sql);
    struct weir_manifest_operator *operators =
        weir_arena_alloc(arena, (manifest.operator_count + 1) * sizeof *operators);
    for (uint32_t i = 0; i < manifest.operator_count; i++) {
        operators[i] = manifest.operators[i];
        operators[i].has_slots = false;
        operators[i].slot_count = 0;
        ((struct weir_state_handle *)(uintptr_t)manifest.states)[i].rows_count = 0;
    }
    manifest.operators = operators;
    manifest.operator_count = has_operators ? manifest.operator_count : 0;
    return manifest;
}

// Every item, a line each.
static const char *print(const struct weir_job_change *change)
{
    struct weir_buffer text = {0};
    for (uint32_t i = 0; i < change->item_count; i++) {
        weir_state_item_print(&change->items[i], &text);
        weir_buffer_append_char(&text, '\n');
    }
    const char *copy = weir_arena_strdup(arena, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return copy;
}

static void change(const struct weir_manifest *before, const char *after, uint32_t kept_count,
                   bool is_lossy, const char *says)
{
    struct weir_job_change change;
    struct weir_error error = {.text = ""};
    weir_job_change_find(plan_of(after), before, arena, &change);
    const char *said = print(&change);
    if (change.state_count != kept_count || change.is_lossy != is_lossy ||
        strstr(said, says) == NULL) {
        fail_msg("%s: %u kept: %s", after, change.state_count, said);
    }
    assert_int_equal(weir_job_change_check(&change, true, &error), WEIR_OK);
    assert_int_equal(weir_job_change_check(&change, false, &error),
                     is_lossy ? WEIR_ERROR : WEIR_OK);
    if (is_lossy) {
        assert_int_equal(error.action, WEIR_ACTION_REFUSE);
        assert_non_null(strstr(error.text, "would lose state of checkpoint 7:"));
        assert_non_null(strstr(error.text, "WEIR_ALLOW=state_loss"));
        assert_non_null(strstr(error.text, says));
    }
}

static void keeps(const struct weir_manifest *before, const char *after, uint32_t kept_count,
                  const char *says)
{
    change(before, after, kept_count, false, says);
}

static void loses(const struct weir_manifest *before, const char *after, uint32_t kept_count,
                  const char *says)
{
    change(before, after, kept_count, true, says);
}

static void test_edits_that_keep_all_state(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(TABLES SUM);
    assert_int_equal(before.operator_count, 1);
    keeps(&before, TABLES SUM, 1, "aggregate → a keeps its state: 1234 bytes of state, 5 rows\n");
    // A new sink, with and without state of its own.
    keeps(&before, TABLES SUM "INSERT INTO c SELECT v FROM t;", 1, "keeps its state");
    keeps(&before, TABLES SUM "INSERT INTO b SELECT w, sum(v), count(*) FROM t GROUP BY w;", 1,
          "aggregate → b begins empty\n");
    // A condition above the aggregate.
    keeps(&before, TABLES "INSERT INTO a SELECT k, sum(v) FROM t GROUP BY k HAVING sum(v) > 3;", 1,
          "keeps its state");
    keeps(&before,
          TABLES "INSERT INTO a SELECT k, s FROM (SELECT k, sum(v) AS s FROM t GROUP BY k) x "
                 "WHERE s > 3;",
          1, "keeps its state");
    struct weir_job_change fresh;
    weir_job_change_find(plan_of(TABLES SUM), NULL, arena, &fresh);
    assert_int_equal(fresh.number, -1);
    assert_string_equal(print(&fresh), "aggregate → a begins empty\n");
}

static void test_one_more_column_starts_from_now(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(TABLES SUM);
    const char *more = TABLES "INSERT INTO b SELECT k, sum(v), count(*) FROM t GROUP BY k;";
    // To another table it is another operator.
    loses(&before, more, 0, "aggregate → a is no longer there");
    before = manifest_of(TWO);
    keeps(&before, TABLES "INSERT INTO d SELECT k, sum(v), count(*), max(w) FROM t GROUP BY k;", 1,
          "aggregate → d keeps its state: 1234 bytes of state, 5 rows\n"
          "aggregate → d: max(w) is new and starts from now: NULL in rows that are there (5 rows) "
          "until more come\n");
    keeps(&before,
          TABLES "INSERT INTO d SELECT k, sum(v), count(*), count(DISTINCT w) FROM t GROUP BY k;",
          1, "count(DISTINCT w) is new and starts from now: 0 in rows");
    // What only a condition reads is one more, too.
    keeps(&before,
          TABLES "INSERT INTO d (k, s, c) SELECT k, sum(v), count(*) FROM t GROUP BY k "
                 "HAVING min(w * 2) > 1;",
          1, "min(w * 2) is new");
    // In another order nothing is new, and nothing is lost.
    struct weir_job_change change;
    weir_job_change_find(
        plan_of(TABLES "INSERT INTO d (k, c, s) SELECT k, count(*), sum(v) FROM t GROUP BY k;"),
        &before, arena, &change);
    assert_string_equal(print(&change),
                        "aggregate → d keeps its state: 1234 bytes of state, 5 rows\n");
    assert_int_equal(change.conversion_count, 1);
    assert_string_equal(change.conversions[0].conversion.state, "groups");
}

static void test_slots_keep_their_numbers(void **state)
{
    (void)state;
    struct weir_manifest first =
        manifest_of(TABLES "INSERT INTO d (k, s, c) SELECT k, count(DISTINCT v), count(DISTINCT w) "
                           "FROM t GROUP BY k;");
    assert_int_equal(first.operators[0].slots[1].number, 1);
    assert_null(strstr(first.operators[0].layout, "slots"));
    struct weir_manifest second = manifest_after(
        TABLES
        "INSERT INTO d (k, s, c) SELECT k, count(DISTINCT w), sum(DISTINCT v) FROM t GROUP BY k;",
        &first);
    assert_int_equal(second.operators[0].slots[0].number, 1);
    assert_int_equal(second.operators[0].slots[1].number, 2);
    assert_non_null(strstr(second.operators[0].layout, "; slots 1 2")); // no early version's
    struct weir_job_change change;
    weir_job_change_find(
        plan_of(TABLES
                "INSERT INTO d (k, s, c) SELECT k, count(DISTINCT w), sum(v) FROM t GROUP BY k;"),
        &second, arena, &change);
    assert_int_equal(change.operators[0].slots[0].number, 1);
    assert_int_equal(change.operators[0].slots[1].number, 3);
    // Single values of what is gone go, and no others.
    assert_int_equal(change.conversion_count, 3);
    assert_string_equal(change.conversions[0].conversion.state, "values2");
    assert_string_equal(change.conversions[1].conversion.state, "distinct2");
    assert_null(change.conversions[1].conversion.convert);
    assert_string_equal(change.conversions[2].conversion.state, "groups");
}

static void test_edits_that_lose_state_are_refused_and_say_what(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(TABLES SUM);
    static const char *const others[] = {
        TABLES "INSERT INTO c SELECT v FROM t;",                                // gone
        TABLES "INSERT INTO a SELECT k, sum(v) FROM t WHERE w > 1 GROUP BY k;", // other rows
        TABLES "INSERT INTO a SELECT w, sum(v) FROM t GROUP BY w;",             // other keys
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        loses(&before, others[i], 0,
              "aggregate → a is no longer there: 1234 bytes of state, 5 rows");
    }
    // The same groups that keep something else: what they kept is named, the groups stay.
    static const char *const values[] = {
        TABLES "INSERT INTO a SELECT k, sum(w) FROM t GROUP BY k;",
        TABLES "INSERT INTO a SELECT k, count(v) FROM t GROUP BY k;",
        TABLES "INSERT INTO a SELECT k, sum(v) FILTER (WHERE w > 1) FROM t GROUP BY k;",
        "CREATE TABLE t (k int, v bigint, w int) WITH (topic = 't');"
        "CREATE TABLE a (k int PRIMARY KEY, s numeric) WITH (topic = 'a');" SUM,
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        loses(&before, values[i], 1,
              "aggregate → a would no longer keep sum(v): 80 bytes of state, 5 rows");
    }
    before = manifest_of(TWO);
    loses(&before, TABLES "INSERT INTO d (k, s) SELECT k, sum(v) FROM t GROUP BY k;", 1,
          "aggregate → d would no longer keep count(*): 40 bytes of state, 5 rows");
}

#define KEYED TABLES "CREATE TABLE p (id int PRIMARY KEY, k int, v int) WITH (topic = 'p');"
#define KEYED_SUM "INSERT INTO d (k, s) SELECT k, sum(v) FROM p GROUP BY k;"

static void test_rows_that_are_taken_back_cannot_be_counted_from_now(void **state)
{
    (void)state;
    struct weir_manifest before = manifest_of(KEYED KEYED_SUM);
    assert_int_equal(before.operator_count, 2);
    // A group knows how many rows it has.
    keeps(&before, KEYED "INSERT INTO d (k, s, c) SELECT k, sum(v), count(*) FROM p GROUP BY k;", 2,
          "aggregate → d keeps its state: 1234 bytes of state, 5 rows\n");
    // Where the loss is allowed, the table below begins anew, too.
    const char *more = KEYED "INSERT INTO d (k, s, m) SELECT k, sum(v), max(v) FROM p GROUP BY k;";
    loses(&before, more, 0,
          "aggregate → d cannot keep max(v) from now on: rows that came before are taken back");
    loses(&before, more, 0,
          "would begin anew with aggregate → d: what it gave out before would be taken back there: "
          "1234 bytes of state, 5 rows");
    // So it is with a new operator; a sink without state takes what comes.
    loses(&before, KEYED KEYED_SUM "INSERT INTO b (k, s) SELECT v, count(*) FROM p GROUP BY v;", 0,
          "would begin anew with aggregate → b");
    keeps(&before, KEYED KEYED_SUM "INSERT INTO e SELECT id, k, v FROM p;", 2, "keeps its state");
}

static void test_early_manifests(void **state)
{
    (void)state;
    struct weir_manifest before = early_manifest_of(TABLES SUM, true);
    keeps(&before, TABLES SUM, 1, "keeps its state: 1234 bytes of state, rows not counted");
    loses(&before, TABLES "INSERT INTO a SELECT k, sum(w) FROM t GROUP BY k;", 0, "and would keep");
    struct weir_job_change change;
    weir_job_change_find(plan_of(TABLES SUM), &before, arena, &change);
    assert_int_equal(change.conversion_count, 0);
    assert_true(change.operators[0].has_slots); // from its next checkpoint on
    assert_false(change.restored[0].has_slots);
    // What it kept is told from its layout where all of it is still there.
    before = early_manifest_of(
        TABLES "INSERT INTO d (k, s, c) SELECT k, count(DISTINCT v), sum(v) FILTER (WHERE w > 1) "
               "FROM t GROUP BY k;",
        true);
    const char *more =
        TABLES "INSERT INTO d (k, m, c, s) SELECT k, max(v), sum(v) FILTER (WHERE w > 1), "
               "count(DISTINCT v) FROM t GROUP BY k;";
    keeps(&before, more, 1,
          "aggregate → d: max(v) is new and starts from now: NULL in rows that are there (rows not "
          "counted) until more come\n");
    weir_job_change_find(plan_of(more), &before, arena, &change);
    assert_int_equal(change.operators[0].slots[0].number, 2);
    assert_int_equal(change.operators[0].slots[1].number, 1);
    assert_int_equal(change.operators[0].slots[2].number, 0);
    assert_int_equal(change.conversion_count, 1);
    loses(&before, TABLES "INSERT INTO d (k, s) SELECT k, count(DISTINCT v) FROM t GROUP BY k;", 0,
          "and would keep");
    before = early_manifest_of(TABLES SUM, false);
    keeps(&before, TABLES SUM, 1, "keeps its state");
    loses(&before, TABLES "INSERT INTO c SELECT v FROM t;", 0, "is no longer there");
    // Nothing was in it: nothing is lost.
    struct weir_manifest empty = manifest_of(TABLES SUM);
    for (uint32_t i = 0; i < empty.state_count; i++) {
        ((struct weir_state_handle *)(uintptr_t)empty.states)[i].file_count = 0;
    }
    keeps(&empty, TABLES "INSERT INTO c SELECT v FROM t;", 1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_edits_that_keep_all_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_more_column_starts_from_now, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slots_keep_their_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edits_that_lose_state_are_refused_and_say_what, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_rows_that_are_taken_back_cannot_be_counted_from_now,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_early_manifests, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
