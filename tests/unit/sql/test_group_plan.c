// SPDX-License-Identifier: Apache-2.0
// Plans with state: ids under which groups find it again, and what tasks are told about time, keys
// and changes.
#include "tests/unit/sql/plan_testing.h"

static struct weir_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = weir_arena_create(1 << 16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_arena_destroy(arena);
    return 0;
}

static const char tables[] =
    "CREATE TABLE t (k int, v bigint, name text, ts timestamp)"
    "    WITH (event_time = 'ts', watermark_delay = '2 seconds', late_topic = 'late');"
    "CREATE TABLE c (id int, v bigint, PRIMARY KEY (id));"
    "CREATE TABLE o (k bigint PRIMARY KEY, a numeric, b numeric);"
    "CREATE TABLE p (k bigint PRIMARY KEY, a numeric, b numeric);"
    "CREATE TABLE w (k int, at timestamptz, n bigint);";

static const struct weir_plan *plan_of(const char *sql)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = {0};
    if (weir_sql_plan(weir_arena_printf(arena, "%s%s", tables, sql), arena, &plan, &error) !=
        WEIR_OK) {
        fail_msg("%s\n%s", sql, error.text);
    }
    plan_check(plan);
    return plan;
}

static const struct weir_plan_node *node_named(const struct weir_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (strcmp(plan->nodes[i]->name, name) == 0) {
            return plan->nodes[i];
        }
    }
    fail_msg("no node %s", name);
    return NULL;
}

// --- ids -------------------------------------------------------------------------------------

static void assert_ids(const char *one, const char *other, bool is_same)
{
    static const char *const names[] = {"exchange → o", "aggregate → o"};
    const struct weir_plan *a = plan_of(one);
    const struct weir_plan *b = plan_of(other);
    for (uint32_t i = 0; i < 2; i++) {
        const char *id = node_named(a, names[i])->id;
        if ((strcmp(id, node_named(b, names[i])->id) == 0) != is_same) {
            fail_msg("%s of\n%s\nand\n%s", names[i], one, other);
        }
    }
}

static void test_group_id_does_not_know_aggregates(void **state)
{
    (void)state;
    static const char one[] = "INSERT INTO o SELECT k, sum(v), 0 FROM t GROUP BY k";
    assert_ids(one, "INSERT INTO o SELECT k, sum(v), count(*) FROM t GROUP BY k", true);
    assert_ids(one, "INSERT INTO o SELECT k, min(v * 2) + 1, 0 FROM t GROUP BY 1", true);
    assert_ids(one, "INSERT INTO o SELECT k, 0, 0 FROM t GROUP BY k HAVING max(name) > 'a'", true);
    assert_ids(one, "INSERT INTO o SELECT k + 1 AS key, sum(v), 0 FROM t GROUP BY key", false);
    assert_ids(one, "INSERT INTO o SELECT k, sum(v), 0 FROM t WHERE v > 0 GROUP BY k", false);
}

// A view that computes: whether it becomes one with what the group needs hangs on the aggregates.
static void test_group_id_does_not_know_other_columns_of_views(void **state)
{
    (void)state;
    static const char one[] = "CREATE VIEW u AS SELECT k + 1 AS k, v * 2 AS v FROM t;"
                              "INSERT INTO o SELECT k, sum(v), 0 FROM u GROUP BY k";
    static const char other[] = "CREATE VIEW u AS SELECT k + 1 AS k, v * 2 AS v, upper(name) AS n "
                                "FROM t;"
                                "INSERT INTO o SELECT k, sum(v), avg(v) FROM u GROUP BY k";
    assert_ids(one, other, true);
    static const char windowed[] =
        "CREATE VIEW u AS SELECT k + 1 AS k, v * 2 AS v, ts FROM t;"
        "INSERT INTO o SELECT key, sum(n), 0 FROM (SELECT k AS key, window_end, count(*) AS n "
        "FROM tumble(u, ts, '1 min') GROUP BY k, window_end) AS x GROUP BY key";
    static const char windowed_more[] =
        "CREATE VIEW u AS SELECT k + 1 AS k, v * 2 AS v, upper(name) AS n, ts FROM t;"
        "INSERT INTO o SELECT key, sum(n), 0 FROM (SELECT k AS key, window_end, count(*) AS n, "
        "max(n) AS more, sum(v) + sum(v * v) AS most "
        "FROM tumble(u, ts, '1 min') GROUP BY k, window_end) AS x GROUP BY key";
    assert_ids(windowed, windowed_more, true);
}

static void test_group_id_knows_its_window(void **state)
{
    (void)state;
    static const char job[] = "CREATE TABLE z (k int, at timestamptz, n bigint);"
                              "INSERT INTO z SELECT k, window_end, count(*)%s FROM tumble(t, ts, "
                              "interval '%s'%s) GROUP BY k, window_end";
    const char *id = NULL;
    static const struct {
        const char *more;
        const char *size;
        const char *origin;
        bool is_same;
    } rows[] = {
        {"", "1 minute", "", true},          {"", "60 s", "", true},
        {" + max(v)", "1 minute", "", true}, {"", "1 minute", ", '1970-01-01 00:00:00+00'", true},
        {"", "2 minutes", "", false},        {"", "1 minute", ", '2024-01-01 00:00:30+00'", false},
    };
    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct weir_plan *plan =
            plan_of(weir_arena_printf(arena, job, rows[i].more, rows[i].size, rows[i].origin));
        const char *other = node_named(plan, "aggregate → z")->id;
        id = id == NULL ? other : id;
        if ((strcmp(id, other) == 0) != rows[i].is_same) {
            fail_msg("row %u", i);
        }
    }
}

// Groups that differ only in aggregates are two, each with its own state.
static void test_group_ids_do_not_depend_on_other_queries(void **state)
{
    (void)state;
    static const char one[] = "INSERT INTO o SELECT k, sum(v), 0 FROM t GROUP BY k;";
    static const char other[] = "INSERT INTO p SELECT k, max(v), count(*) FROM t GROUP BY k;";
    assert_ids(one, weir_arena_printf(arena, "%s%s", one, other), true);
    assert_ids(one, weir_arena_printf(arena, "%s%s", other, one), true);
    const struct weir_plan *plan = plan_of(weir_arena_printf(arena, "%s%s", one, other));
    assert_int_equal(node_named(plan, "aggregate → o")->aggregate_count, 1);
    assert_int_equal(node_named(plan, "aggregate → p")->aggregate_count, 2);
    // A window elsewhere does not move a query that knows no time.
    assert_ids(one,
               weir_arena_printf(arena,
                                 "%s INSERT INTO w SELECT k, window_end, count(*) FROM tumble(t, "
                                 "ts, '1 h') GROUP BY k, window_end;",
                                 one),
               true);
}

// Two of one query that differ only in aggregates: the later one gets another id.
static void test_group_ids_of_one_query_differ(void **state)
{
    (void)state;
    const struct weir_plan *plan = plan_of(
        "INSERT INTO w SELECT k, window_end, count(*) FROM tumble(t, ts, '1 h') GROUP BY k, "
        "window_end UNION ALL SELECT k, window_end, max(v) FROM tumble(t, ts, '1 h') GROUP "
        "BY k, window_end UNION ALL SELECT k, window_end, max(v) + 1 FROM tumble(t, ts, "
        "'1 h') GROUP BY k, window_end");
    uint32_t group_count = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        group_count += plan->nodes[i]->kind == WEIR_PLAN_AGGREGATE;
    }
    assert_int_equal(group_count, 2);
}

// --- what nodes are told ---------------------------------------------------------------------

static void test_group_without_keys(void **state)
{
    (void)state;
    const struct weir_plan *plan =
        plan_of("INSERT INTO o SELECT 7, count(*), sum(v) FILTER (WHERE k > 1) FROM t");
    const struct weir_plan_node *exchange = node_named(plan, "exchange → o");
    const struct weir_plan_node *aggregate = node_named(plan, "aggregate → o");
    assert_int_equal(exchange->key_column_count, 0);
    assert_int_equal(aggregate->key_column_count, 0);
    assert_int_equal(aggregate->schema.column_count, 2);
    assert_int_equal(aggregate->aggregates[0].kind, WEIR_AGGREGATE_COUNT_ALL);
    assert_int_equal(aggregate->aggregates[0].arg_column, -1);
    assert_int_equal(aggregate->aggregates[0].filter_column, -1);
    assert_int_equal(aggregate->aggregates[1].kind, WEIR_AGGREGATE_SUM);
    assert_string_equal(exchange->schema.columns[aggregate->aggregates[1].arg_column].name, "v");
    assert_string_equal(exchange->schema.columns[aggregate->aggregates[1].filter_column].name,
                        "k > 1");
    assert_int_equal(aggregate->window_end_column, -1);
    assert_true(aggregate->is_changing);
    assert_true(node_named(plan, "sink o")->is_changing);
    // Nothing here needs time.
    assert_false(node_named(plan, "derive t")->is_event_time_needed);
}

static void test_group_by_window(void **state)
{
    (void)state;
    const struct weir_plan *plan =
        plan_of("INSERT INTO w SELECT k, window_start, count(DISTINCT v) FROM tumble(t, ts, "
                "interval '00:20', "
                "'2000-01-01 00:10') WHERE v > 0 GROUP BY window_start, k HAVING count(*) > 1");
    const struct weir_plan_node *tumble = node_named(plan, "tumble → w");
    const struct weir_plan_node *aggregate = node_named(plan, "aggregate → w");
    assert_true(node_named(plan, "derive t")->is_event_time_needed);
    assert_int_equal(tumble->window.size_us, INT64_C(1200000000));
    assert_int_equal(tumble->window.origin_us, INT64_C(600000000));
    assert_string_equal(tumble->table->name, "t");
    assert_string_equal(tumble->table->late_topic, "late");
    assert_int_equal(tumble->inputs[0]->kind, WEIR_PLAN_FILTER);
    assert_int_equal(tumble->inputs[0]->inputs[0]->kind, WEIR_PLAN_WATERMARK);
    assert_string_equal(aggregate->inputs[0]->schema.columns[aggregate->window_end_column].name,
                        "window_end");
    assert_int_equal(aggregate->key_column_count, 2);
    assert_true(aggregate->aggregates[0].is_distinct);
    assert_false(aggregate->is_changing);
    assert_false(node_named(plan, "sink w")->is_changing);
}

static void check_route(const char *name, const char *group, const char *const *expected)
{
    const struct weir_plan *plan = plan_of(weir_arena_printf(arena, "INSERT INTO w %s", group));
    const struct weir_plan_node *exchange = node_named(plan, name);
    uint32_t count = 0;
    for (; expected[count] != NULL; count++) {
        assert_true(count < exchange->key_column_count);
        assert_string_equal(exchange->schema.columns[exchange->key_columns[count]].name,
                            expected[count]);
    }
    assert_int_equal(exchange->key_column_count, count);
}

#define CHECK_ROUTE(name, group, ...)                                                              \
    check_route(name, group, (const char *const[]){__VA_ARGS__, NULL})

// All windows of a key are one task's.
static void test_group_by_window_is_exchanged_without_it(void **state)
{
    (void)state;
#define TUMBLE " FROM tumble(t, ts, interval '1 minute') "
    CHECK_ROUTE("exchange → w",
                "SELECT k, window_start, count(*)" TUMBLE "GROUP BY window_start, k, window_end",
                "k");
    CHECK_ROUTE("exchange → w",
                "SELECT k, window_end, count(*)" TUMBLE "GROUP BY name, window_end, k", "name",
                "k");
    CHECK_ROUTE("exchange → w", "SELECT DISTINCT k, window_end, 1" TUMBLE, "k", "1");
    CHECK_ROUTE("exchange → w", "SELECT 1, window_start, count(*)" TUMBLE "GROUP BY window_start",
                "window_start");
    CHECK_ROUTE("exchange → w",
                "SELECT 1, window_start, count(*)" TUMBLE "GROUP BY window_end, window_start",
                "window_end", "window_start");
    // Windows of windows.
    static const char nested[] =
        "SELECT n, window_end, count(*) FROM (SELECT k, window_end, count(*) AS n" TUMBLE
        "GROUP BY k, window_end) AS counts GROUP BY window_end, n";
    CHECK_ROUTE("exchange → w", nested, "k");
    CHECK_ROUTE("exchange → w 2", nested, "count(*)");
#undef TUMBLE
}

// The least of different values is the least of all: no need to keep them.
static void test_group_keeps_no_distinct_values_for_extremes(void **state)
{
    (void)state;
    const struct weir_plan *plan =
        plan_of("INSERT INTO o SELECT k, min(DISTINCT v), min(v) FROM t GROUP BY k");
    const struct weir_plan_node *aggregate = node_named(plan, "aggregate → o");
    assert_int_equal(aggregate->aggregate_count, 1);
    assert_false(aggregate->aggregates[0].is_distinct);
}

static void test_group_over_keyed_table(void **state)
{
    (void)state;
    const struct weir_plan *plan = plan_of("INSERT INTO o SELECT v, count(*), 0 FROM c GROUP BY v");
    const struct weir_plan_node *normalize = node_named(plan, "normalize c");
    assert_true(node_named(plan, "source c")->is_changing);
    assert_true(node_named(plan, "source c")->table->is_keyed);
    assert_int_equal(normalize->inputs[0]->kind, WEIR_PLAN_EXCHANGE);
    assert_int_equal(normalize->key_column_count, 1);
    assert_string_equal(normalize->schema.columns[normalize->key_columns[0]].name, "id");
    assert_true(normalize->is_changing);
    assert_true(node_named(plan, "exchange → o")->is_changing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_id_does_not_know_aggregates),
        cmocka_unit_test(test_group_id_does_not_know_other_columns_of_views),
        cmocka_unit_test(test_group_id_knows_its_window),
        cmocka_unit_test(test_group_ids_do_not_depend_on_other_queries),
        cmocka_unit_test(test_group_ids_of_one_query_differ),
        cmocka_unit_test(test_group_without_keys),
        cmocka_unit_test(test_group_by_window),
        cmocka_unit_test(test_group_by_window_is_exchanged_without_it),
        cmocka_unit_test(test_group_keeps_no_distinct_values_for_extremes),
        cmocka_unit_test(test_group_over_keyed_table),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
