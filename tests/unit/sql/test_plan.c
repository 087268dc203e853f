// SPDX-License-Identifier: Apache-2.0
// A whole job: how its faults are put together, ids that stay, texts at the edge of what is taken.
#include "tests/unit/sql/plan_testing.h"

#include <stdio.h>
#include <stdlib.h>

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

static const struct weir_plan *plan_of(const char *sql)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = {0};
    if (weir_sql_plan(sql, arena, &plan, &error) != WEIR_OK) {
        fail_msg("%s\n%s", sql, error.text);
    }
    plan_check(plan);
    return plan;
}

static struct weir_error error_of(const char *sql)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = {0};
    if (weir_sql_plan(sql, arena, &plan, &error) == WEIR_OK) {
        fail_msg("taken: %s", sql);
    }
    assert_int_equal(error.domain, WEIR_DOMAIN_SQL);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    return error;
}

// --- faults ----------------------------------------------------------------------------------

static void test_plan_error_holds_all_faults(void **state)
{
    (void)state;
    struct weir_error error = error_of("CREATE TABLE t (größe int) WITH (topc = 'x',\n"
                                       "    on_error = 'ignore');\n"
                                       "CREATE TABLE o (a int);\n"
                                       "INSERT INTO o SELECT 'é', b FROM o LIMIT 3;\n");
    assert_int_equal(error.line_number, 1);
    assert_int_equal(error.column_number, 34);
    assert_string_equal(
        error.text,
        "statement 1, line 1, column 34: unknown option \"topc\"\n"
        "  CREATE TABLE t (größe int) WITH (topc = 'x',\n"
        "                                   ^\n"
        "  did you mean \"topic\"?\n"
        "statement 1, line 2, column 16: option on_error: \"ignore\" is not one of its values\n"
        "      on_error = 'ignore');\n"
        "                 ^\n"
        "  allowed: fail, skip, dead_letter\n"
        "statement 3, line 4, column 36: not supported: LIMIT\n"
        "  INSERT INTO o SELECT 'é', b FROM o LIMIT 3;\n"
        "                                     ^\n"
        "  a stream has no end; to read a part of a topic: the table options start and end");
}

static void test_plan_error_says_what_it_left_out(void **state)
{
    (void)state;
    struct weir_buffer sql = {0};
    for (int i = 0; i < 100; i++) {
        weir_buffer_printf(&sql, "DROP TABLE t%d;\n", i);
    }
    const char *text = weir_buffer_text(&sql);
    struct weir_error error = error_of(text);
    const char *last = strrchr(error.text, '\n');
    int left_out_count = 0;
    assert_int_equal(sscanf(last, "\n… and %d more", &left_out_count), 1);
    int shown_count = 0;
    for (const char *at = error.text; (at = strstr(at, "not supported")) != NULL; at++) {
        shown_count++;
    }
    assert_int_equal(shown_count + left_out_count, 100);
    const struct weir_plan *plan;
    struct weir_sql_faults faults;
    assert_int_equal(weir_sql_plan_all(text, arena, &plan, &faults), WEIR_ERROR);
    assert_int_equal(faults.count, 100);
    assert_int_equal(faults.items[99].statement_number, 100);
    weir_buffer_deinit(&sql);
}

static void test_plan_fault_of_error_null_is_kept_quiet(void **state)
{
    (void)state;
    const struct weir_plan *plan;
    assert_int_equal(weir_sql_plan("DROP TABLE t", arena, &plan, NULL), WEIR_ERROR);
}

static void test_plan_refuses_texts_without_job(void **state)
{
    (void)state;
    assert_string_equal(error_of("").text, "the job has no statement\n"
                                           "  write INSERT INTO table SELECT … FROM table");
    assert_string_equal(error_of(" -- nothing\n;;").text,
                        "the job has no statement\n"
                        "  write INSERT INTO table SELECT … FROM table");
}

static void test_plan_refuses_what_is_not_utf8(void **state)
{
    (void)state;
    struct weir_error error = error_of("CREATE TABLE t (a int);\nSELECT '\xff';");
    assert_int_equal(error.line_number, 2);
    assert_non_null(strstr(error.text, "invalid byte sequence for encoding \"UTF8\": 0xff"));
}

static void test_plan_refuses_large_texts(void **state)
{
    (void)state;
    size_t size_bytes = (1 << 20) + 1;
    char *sql = weir_alloc(size_bytes + 1);
    memset(sql, ' ', size_bytes);
    sql[size_bytes] = '\0';
    assert_non_null(strstr(error_of(sql).text, "at most 1048576 are taken"));
    free(sql);
}

static void assert_nested(const char *before, const char *unit, int count, const char *after,
                          bool is_taken)
{
    struct weir_buffer sql = {0};
    weir_buffer_printf(&sql, "CREATE TABLE t (a int); CREATE TABLE o (a int); INSERT INTO o %s",
                       before);
    for (int i = 0; i < count; i++) {
        weir_buffer_printf(&sql, "%s", unit);
    }
    weir_buffer_printf(&sql, "%s", after);
    if (is_taken) {
        plan_of(weir_buffer_text(&sql));
    } else {
        struct weir_error error = error_of(weir_buffer_text(&sql));
        if (strstr(error.text, "nested too deeply") == NULL) {
            fail_msg("%d times \"%s\": %s", count, unit, error.text);
        }
    }
    weir_buffer_deinit(&sql);
}

static void test_plan_bounds_nesting(void **state)
{
    (void)state;
    assert_nested("SELECT ", "a + ", 900, "a FROM t", true);
    assert_nested("SELECT ", "a + ", 2000, "a FROM t", false);
    assert_nested("SELECT ", "a + ", 200000, "a FROM t", false);
    assert_nested("SELECT ", "(", 20000, "a FROM t", false);
    assert_nested("SELECT ", "- ", 3000, "a FROM t", false);
    assert_nested("SELECT a FROM t WHERE a = 1", " OR a = 2", 20000, "", true);
    assert_nested("SELECT a FROM t", " UNION ALL SELECT a FROM t", 100, "", true);
    assert_nested("SELECT a FROM t", " UNION ALL SELECT a FROM t", 5000, "", false);
}

static void test_plan_bounds_growth_of_with(void **state)
{
    (void)state;
    struct weir_buffer sql = {0};
    weir_buffer_printf(&sql, "CREATE TABLE t (a int); CREATE TABLE o (a int); WITH c0 AS (SELECT "
                             "a FROM t)");
    for (int i = 1; i < 40; i++) {
        weir_buffer_printf(&sql, ", c%d AS (SELECT * FROM c%d UNION ALL SELECT * FROM c%d)", i,
                           i - 1, i - 1);
    }
    weir_buffer_printf(&sql, " INSERT INTO o SELECT a FROM c39");
    assert_non_null(strstr(error_of(weir_buffer_text(&sql)).text, "the job is too large"));
    weir_buffer_deinit(&sql);
}

static void test_plan_takes_byte_order_mark(void **state)
{
    (void)state;
    plan_of("\xef\xbb\xbf"
            "CREATE TABLE t (a int); CREATE TABLE o (a int); INSERT INTO o SELECT a FROM t");
}

// --- numbers ---------------------------------------------------------------------------------

// libpg_query 15 drops integers below zero: they are read from the text.
static void test_plan_keeps_integers_below_zero(void **state)
{
    (void)state;
    const struct weir_plan *plan =
        plan_of("CREATE TABLE t (a int); CREATE TABLE o (a int, b int, c int, d int, e numeric);"
                "INSERT INTO o SELECT -5, - /* ; */ (7), - - 3, -0, 1250::numeric(5, -2) FROM t");
    static const char *const expected[] = {"-5", "-7", "3", "0", "1300"};
    for (uint32_t i = 0; i < 5; i++) {
        struct weir_buffer text = {0};
        weir_expr_print(plan->nodes[1]->exprs[i], &text);
        assert_string_equal(weir_buffer_text(&text), expected[i]);
        weir_buffer_deinit(&text);
    }
}

// --- tables ----------------------------------------------------------------------------------

static const struct weir_table *table_named(const struct weir_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (strcmp(plan->tables[i]->name, name) == 0) {
            return plan->tables[i];
        }
    }
    fail_msg("no table %s", name);
    return NULL;
}

static void test_plan_says_how_tables_are_used(void **state)
{
    (void)state;
    const struct weir_plan *plan =
        plan_of("CREATE TABLE t (a int); CREATE TABLE u (a int); CREATE TABLE unused (a int);"
                "CREATE VIEW not_read AS SELECT a FROM unused;"
                "INSERT INTO u SELECT a FROM t;");
    assert_true(table_named(plan, "t")->is_source);
    assert_false(table_named(plan, "t")->is_sink);
    assert_false(table_named(plan, "u")->is_source);
    assert_true(table_named(plan, "u")->is_sink);
    assert_false(table_named(plan, "unused")->is_source);
    assert_false(table_named(plan, "unused")->is_sink);
}

static void test_plan_table_defaults(void **state)
{
    (void)state;
    const struct weir_plan *plan =
        plan_of("CREATE TABLE t (a int); CREATE TABLE u (a int); INSERT INTO u SELECT a FROM t;");
    const struct weir_table *table = table_named(plan, "t");
    assert_string_equal(table->topic, "t");
    assert_int_equal(table->format, WEIR_FORMAT_JSON);
    assert_int_equal(table->key_column_count, 0);
    assert_int_equal(table->event_time_column, -1);
    assert_int_equal(table->watermark_delay_us, -1);
    assert_int_equal(table->idle_timeout_ms, 10000);
    assert_int_equal(table->event_time_max_ahead_us, -1);
    assert_int_equal(table->close_after_ms, -1);
    assert_int_equal(table->start.kind, WEIR_POSITION_DEFAULT);
    assert_int_equal(table->end.kind, WEIR_POSITION_DEFAULT);
    assert_int_equal(table->timestamp_unit, WEIR_UNIT_MS);
    assert_int_equal(table->on_error, WEIR_ON_ERROR_DEFAULT);
    assert_int_equal(table->on_missing, WEIR_ON_MISSING_FAIL);
    assert_true(table->on_error_max_ratio == 0);
    assert_null(table->dead_letter_topic);
    assert_false(table->is_timestamp_now);
    assert_int_equal(table->partition_count, 0);
    assert_int_equal(table->replica_count, 0);
}

static void test_plan_table_options(void **state)
{
    (void)state;
    const struct weir_plan *plan = plan_of(
        "CREATE TABLE t (k int, \"At\" timestamptz NOT NULL, o bigint GENERATED ALWAYS AS "
        "(kafka_offset()) STORED) WITH (topic = 'In', format = json, event_time = 'At',"
        "watermark_delay = '1.5 s', idle_timeout = '250 ms', event_time_max_ahead = '1 hour',"
        "close_after = '2 min', start = 'earliest', end = '2024-05-01T00:00:00.0001Z',"
        "timestamp_unit = ns, on_error = 'dead_letter', dead_letter_topic = 'dead',"
        "on_error_max_ratio = 0.5, on_missing = 'continue');"
        "CREATE TABLE u (a int, b text) WITH (format = 'json', key = ' b , A', key_format = 'json',"
        "timestamp = 'now', partitions = 12, replicas = 3);"
        "INSERT INTO u SELECT k FROM t;");
    const struct weir_table *in = table_named(plan, "t");
    assert_string_equal(in->topic, "In");
    assert_int_equal(in->event_time_column, 1);
    assert_true(in->columns[1].is_event_time && in->columns[1].is_not_null);
    assert_true(in->columns[2].is_generated && !in->columns[2].is_event_time);
    assert_int_equal(in->watermark_delay_us, 1500000);
    assert_int_equal(in->idle_timeout_ms, 250);
    assert_int_equal(in->event_time_max_ahead_us, 3600000000);
    assert_int_equal(in->close_after_ms, 120000);
    assert_int_equal(in->start.kind, WEIR_POSITION_EARLIEST);
    assert_int_equal(in->end.kind, WEIR_POSITION_TIMESTAMP);
    assert_int_equal(in->end.timestamp_ms, 1714521600001); // the later of the two around it
    assert_int_equal(in->timestamp_unit, WEIR_UNIT_NS);
    assert_int_equal(in->on_error, WEIR_ON_ERROR_DEAD_LETTER);
    assert_string_equal(in->dead_letter_topic, "dead");
    assert_true(in->on_error_max_ratio == 0.5);
    assert_int_equal(in->on_missing, WEIR_ON_MISSING_CONTINUE);
    const struct weir_table *out = table_named(plan, "u");
    assert_int_equal(out->key_column_count, 2);
    assert_int_equal(out->key_columns[0], 1);
    assert_int_equal(out->key_columns[1], 0);
    assert_int_equal(out->key_format, WEIR_FORMAT_JSON);
    assert_true(out->is_timestamp_now);
    assert_int_equal(out->partition_count, 12);
    assert_int_equal(out->replica_count, 3);
}

// --- ids -------------------------------------------------------------------------------------

static const char *id_named(const struct weir_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (strcmp(plan->nodes[i]->name, name) == 0) {
            return plan->nodes[i]->id;
        }
    }
    fail_msg("no node %s", name);
    return NULL;
}

static const char tables[] =
    "CREATE TYPE c AS (x int, y int);"
    "CREATE TABLE t (a int NOT NULL, b text, c c, d text GENERATED ALWAYS AS (b || '!') STORED);"
    "CREATE TABLE o (a int, b text); CREATE TABLE p (a text, b text);"
    "CREATE VIEW v AS SELECT a * 2 AS twice, upper(b) AS b FROM t WHERE (c).x > 0;";

static bool has_id(const struct weir_plan *plan, const char *id)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (strcmp(plan->nodes[i]->id, id) == 0) {
            return true;
        }
    }
    return false;
}

// Every operator of the one job is in the other, perhaps under another name.
static void assert_same_ids(const char *one, const char *other)
{
    const struct weir_plan *a = plan_of(weir_arena_printf(arena, "%s%s", tables, one));
    const struct weir_plan *b = plan_of(weir_arena_printf(arena, "%s%s", tables, other));
    assert_int_equal(a->node_count, 5);
    for (uint32_t i = 0; i < a->node_count; i++) {
        if (!has_id(b, a->nodes[i]->id)) {
            fail_msg("%s is not in: %s", a->nodes[i]->name, other);
        }
    }
}

static void test_plan_ids_do_not_depend_on_other_queries(void **state)
{
    (void)state;
    static const char job[] = "INSERT INTO o SELECT twice + 1, b FROM v;";
    assert_same_ids(
        job, weir_arena_printf(arena, "%s INSERT INTO p SELECT d, (c).y::text FROM t;", job));
    assert_same_ids(
        job, weir_arena_printf(arena, "INSERT INTO p SELECT twice::text, b FROM v; %s", job));
}

static void test_plan_ids_do_not_depend_on_spelling(void **state)
{
    (void)state;
    assert_same_ids("INSERT INTO o SELECT twice + 1, b FROM v;",
                    "insert  into O (b, a)\nselect V.b, v.Twice+1 as whatever from V -- same\n;");
}

static void test_plan_ids_change_with_what_is_computed(void **state)
{
    (void)state;
    const struct weir_plan *a = plan_of(
        weir_arena_printf(arena, "%s%s", tables, "INSERT INTO o SELECT a, b FROM t WHERE a > 1"));
    const struct weir_plan *b = plan_of(
        weir_arena_printf(arena, "%s%s", tables, "INSERT INTO o SELECT a, b FROM t WHERE a > 2"));
    assert_string_equal(id_named(a, "source t"), id_named(b, "source t"));
    assert_string_not_equal(id_named(a, "filter → o"), id_named(b, "filter → o"));
    assert_string_not_equal(id_named(a, "project → o"), id_named(b, "project → o"));
    assert_string_not_equal(id_named(a, "sink o"), id_named(b, "sink o"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_error_holds_all_faults),
        cmocka_unit_test(test_plan_error_says_what_it_left_out),
        cmocka_unit_test(test_plan_fault_of_error_null_is_kept_quiet),
        cmocka_unit_test(test_plan_refuses_texts_without_job),
        cmocka_unit_test(test_plan_refuses_what_is_not_utf8),
        cmocka_unit_test(test_plan_refuses_large_texts),
        cmocka_unit_test(test_plan_bounds_nesting),
        cmocka_unit_test(test_plan_bounds_growth_of_with),
        cmocka_unit_test(test_plan_takes_byte_order_mark),
        cmocka_unit_test(test_plan_keeps_integers_below_zero),
        cmocka_unit_test(test_plan_says_how_tables_are_used),
        cmocka_unit_test(test_plan_table_defaults),
        cmocka_unit_test(test_plan_table_options),
        cmocka_unit_test(test_plan_ids_do_not_depend_on_other_queries),
        cmocka_unit_test(test_plan_ids_do_not_depend_on_spelling),
        cmocka_unit_test(test_plan_ids_change_with_what_is_computed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
