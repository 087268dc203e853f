// SPDX-License-Identifier: Apache-2.0
// Plans of jobs that are taken, as weir explain shows them: every tests/sql/plan/<name>.sql has its
// text in <name>.plan beside it. WEIR_UPDATE_GOLDEN=1 writes them anew: look at the difference.
#include "tests/unit/sql/sql_testing.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>

static char *read_file(struct weir_arena *arena, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    struct weir_buffer text = {0};
    size_t got_bytes;
    do {
        got_bytes = fread(weir_buffer_reserve(&text, 4096), 1, 4096, file);
        text.size_bytes += got_bytes;
    } while (got_bytes != 0);
    fclose(file);
    char *copy = weir_arena_strdup(arena, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return copy;
}

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

static char *explain(struct weir_arena *arena, const char *sql, enum weir_explain_form form)
{
    const struct weir_plan *plan;
    struct weir_error error = {0};
    struct weir_buffer out = {0};
    if (weir_sql_plan(sql, arena, &plan, &error) != WEIR_OK) {
        return weir_arena_printf(arena, "%s\n", error.text);
    }
    weir_plan_explain(plan, form, &out);
    char *text = weir_arena_strdup(arena, weir_buffer_text(&out));
    weir_buffer_deinit(&out);
    return text;
}

static int is_sql(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".sql") == 0;
}

static void test_explain_golden(void **state)
{
    (void)state;
    char here[] = __FILE__;
    char folder[1024];
    snprintf(folder, sizeof(folder), "%s/../../sql/plan", dirname(here));
    struct dirent **entries;
    int count = scandir(folder, &entries, is_sql, alphasort);
    assert_true(count > 15);
    int failed_count = 0;
    for (int i = 0; i < count; i++) {
        struct weir_arena *arena = weir_arena_create(1 << 16);
        char *sql_path = weir_arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
        char *plan_path = weir_arena_printf(arena, "%.*splan", (int)strlen(sql_path) - 3, sql_path);
        char *text = explain(arena, read_file(arena, sql_path), WEIR_EXPLAIN_TEXT);
        if (getenv("WEIR_UPDATE_GOLDEN") != NULL) {
            assert_true(write_file(plan_path, text));
        }
        char *expected = read_file(arena, plan_path);
        if (expected == NULL || strcmp(text, expected) != 0) {
            print_error("%s: expected\n%s\ngot\n%s\n", entries[i]->d_name,
                        expected == NULL ? "(no file)" : expected, text);
            failed_count++;
        }
        weir_arena_destroy(arena);
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(failed_count, 0);
}

static void test_explain_dot_escapes(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(1 << 16);
    char *text = explain(arena,
                         "CREATE TABLE t (a int, \"b\"\"c\" text NOT NULL);"
                         "CREATE TABLE o (x text);"
                         "INSERT INTO o SELECT \"b\"\"c\" || '\n\"' FROM t WHERE a > 1;",
                         WEIR_EXPLAIN_DOT);
    assert_string_equal(
        text, "digraph job {\n  rankdir = LR;\n  node [shape = box];\n"
              "  n1 [label = \"source t\\ntopic t, format json\\l"
              "columns a integer, \\\"b\\\"\\\"c\\\" text\\l\"];\n"
              "  n2 [label = \"derive t\\ncheck \\\"b\\\"\\\"c\\\" NOT NULL\\l\"];\n"
              "  n1 -> n2;\n"
              "  n3 [label = \"filter → o\\nwhere a > 1\\l\"];\n"
              "  n2 -> n3;\n"
              "  n4 [label = \"project → o\\nx = \\\"b\\\"\\\"c\\\" || '\\\\n\\\"'\\l\"];\n"
              "  n3 -> n4;\n"
              "  n5 [label = \"sink o\\ntopic o, format json\\lcolumns x text\\l\"];\n"
              "  n4 -> n5;\n}\n");
    weir_arena_destroy(arena);
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

// Boxes from left to right, an arrow for each input, nothing that XML does not take.
static void test_explain_svg_draws_nodes_and_edges(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(1 << 16);
    char *text =
        explain(arena,
                "CREATE TABLE \"a<b&\" (a int) WITH (topic = 't');"
                "CREATE TABLE o (x int);"
                "CREATE TABLE a_name_that_is_much_longer_than_a_box (x int);"
                "INSERT INTO o SELECT a FROM \"a<b&\";"
                "INSERT INTO a_name_that_is_much_longer_than_a_box SELECT a FROM \"a<b&\";",
                WEIR_EXPLAIN_SVG);
    static const char begin[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
    assert_memory_equal(text, begin, strlen(begin));
    assert_string_equal(text + strlen(text) - strlen("</g>\n</svg>\n"), "</g>\n</svg>\n");
    assert_non_null(strstr(text, "<title>source a&lt;b&amp;</title><rect x=\"8\" y=\"8\" "));
    assert_non_null(strstr(text, ">topic t</text>"));
    assert_non_null(strstr(text, ">sink a_name_that_is_much_longe…</text>"));
    uint32_t node_count = count_of(text, "<title>");
    assert_int_equal(count_of(text, "</title>"), node_count);
    assert_int_equal(count_of(text, "<path "), node_count - 1); // a tree
    assert_int_equal(count_of(text, "stroke-width"), 3);        // one source, two sinks
    weir_arena_destroy(arena);
}

// Ids are looked at by other tests.
static void hide_ids(char *text)
{
    for (char *id = text; (id = strstr(id, "\"id\": \"")) != NULL;) {
        id += strlen("\"id\": \"");
        assert_int_equal(strspn(id, "0123456789abcdef"), 16);
        memset(id, '#', 16);
    }
}

static void test_explain_json(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(1 << 16);
    char *text =
        explain(arena,
                "CREATE TYPE p AS (x int, y int);"
                "CREATE TABLE t (a timestamp, p p, \"q\"\"\" text) WITH (event_time = 'a');"
                "CREATE TABLE o (x int, q text NOT NULL) WITH (topic = 'out');"
                "INSERT INTO o SELECT (p).x, \"q\"\"\" FROM t WHERE \"q\"\"\" <> '\n';",
                WEIR_EXPLAIN_JSON);
    hide_ids(text);
    assert_string_equal(
        text,
        "{\"nodes\": [\n"
        "  {\"number\": 1, \"kind\": \"source\", \"id\": \"################\", \"name\": \"source "
        "t\", \"inputs\": [], \"table\": \"t\", \"topic\": \"t\", \"columns\": [{\"name\": \"a\", "
        "\"type\": \"timestamp without time zone\"}, {\"name\": \"p\", \"type\": \"p (x "
        "integer)\"}, "
        "{\"name\": \"q\\\"\", \"type\": \"text\"}], \"expressions\": [], \"checks\": []},\n"
        "  {\"number\": 2, \"kind\": \"derive\", \"id\": \"################\", \"name\": \"derive "
        "t\", \"inputs\": [1], \"table\": \"t\", \"topic\": \"t\", \"columns\": [{\"name\": \"a\", "
        "\"type\": \"timestamp without time zone\"}, {\"name\": \"p\", \"type\": \"p (x "
        "integer)\"}, "
        "{\"name\": \"q\\\"\", \"type\": \"text\"}], \"expressions\": [], \"checks\": [], "
        "\"event_time\": \"a\"},\n"
        "  {\"number\": 3, \"kind\": \"filter\", \"id\": \"################\", \"name\": \"filter "
        "→ "
        "o\", \"inputs\": [2], \"columns\": [{\"name\": \"a\", \"type\": \"timestamp without time "
        "zone\"}, {\"name\": \"p\", \"type\": \"p (x integer)\"}, {\"name\": \"q\\\"\", \"type\": "
        "\"text\"}], \"expressions\": [\"\\\"q\\\"\\\"\\\" <> '\\u000a'\"], \"checks\": []},\n"
        "  {\"number\": 4, \"kind\": \"project\", \"id\": \"################\", \"name\": "
        "\"project "
        "→ o\", \"inputs\": [3], \"columns\": [{\"name\": \"x\", \"type\": \"integer\"}, "
        "{\"name\": "
        "\"q\", \"type\": \"text\"}], \"expressions\": [\"p.x\", \"\\\"q\\\"\\\"\\\"\"], "
        "\"checks\": "
        "[]},\n"
        "  {\"number\": 5, \"kind\": \"derive\", \"id\": \"################\", \"name\": \"check "
        "o\", \"inputs\": [4], \"table\": \"o\", \"topic\": \"out\", \"columns\": [{\"name\": "
        "\"x\", "
        "\"type\": \"integer\"}, {\"name\": \"q\", \"type\": \"text\"}], \"expressions\": [], "
        "\"checks\": [\"q NOT NULL\"]},\n"
        "  {\"number\": 6, \"kind\": \"sink\", \"id\": \"################\", \"name\": \"sink o\", "
        "\"inputs\": [5], \"table\": \"o\", \"topic\": \"out\", \"columns\": [{\"name\": \"x\", "
        "\"type\": \"integer\"}, {\"name\": \"q\", \"type\": \"text\"}], \"expressions\": [], "
        "\"checks\": []}\n]}\n");
    weir_arena_destroy(arena);
}

// The kinds of node that have a key, a window, a time.
static void test_explain_json_of_groups(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(1 << 16);
    char *text = explain(
        arena,
        "CREATE TABLE t (k int, ts timestamp) WITH (event_time = 'ts', watermark_delay = '250 ms');"
        "CREATE TABLE o (k int, n bigint, d bigint);"
        "INSERT INTO o SELECT k, count(*), count(DISTINCT k) FILTER (WHERE k > 1) FROM tumble(t, "
        "ts, interval '1 hour', '2024-01-01 00:30:00+00') GROUP BY window_end, k;",
        WEIR_EXPLAIN_JSON);
    hide_ids(text);
    assert_string_equal(
        text,
        "{\"nodes\": [\n"
        "  {\"number\": 1, \"kind\": \"source\", \"id\": \"################\", \"name\": \"source "
        "t\", \"inputs\": [], \"table\": \"t\", \"topic\": \"t\", \"columns\": [{\"name\": \"k\", "
        "\"type\": \"integer\"}, {\"name\": \"ts\", \"type\": \"timestamp without time zone\"}], "
        "\"expressions\": [], \"checks\": []},\n"
        "  {\"number\": 2, \"kind\": \"derive\", \"id\": \"################\", \"name\": \"derive "
        "t\", \"inputs\": [1], \"table\": \"t\", \"topic\": \"t\", \"columns\": [{\"name\": \"k\", "
        "\"type\": \"integer\"}, {\"name\": \"ts\", \"type\": \"timestamp without time zone\"}], "
        "\"expressions\": [], \"checks\": [], \"event_time\": \"ts\"},\n"
        "  {\"number\": 3, \"kind\": \"watermark\", \"id\": \"################\", \"name\": "
        "\"watermark t\", \"inputs\": [2], \"table\": \"t\", \"topic\": \"t\", \"columns\": "
        "[{\"name\": \"k\", \"type\": \"integer\"}, {\"name\": \"ts\", \"type\": \"timestamp "
        "without time zone\"}], \"expressions\": [], \"checks\": [], \"delay_us\": 250000},\n"
        "  {\"number\": 4, \"kind\": \"tumble\", \"id\": \"################\", \"name\": \"tumble "
        "→ o\", \"inputs\": [3], \"table\": \"t\", \"topic\": \"t\", \"columns\": [{\"name\": "
        "\"k\", \"type\": \"integer\"}, {\"name\": \"ts\", \"type\": \"timestamp without time "
        "zone\"}, {\"name\": \"window_start\", \"type\": \"timestamp with time zone\"}, {\"name\": "
        "\"window_end\", \"type\": \"timestamp with time zone\"}], \"expressions\": [], "
        "\"checks\": [], \"size_us\": 3600000000, \"origin_us\": 757384200000000},\n"
        "  {\"number\": 5, \"kind\": \"project\", \"id\": \"################\", \"name\": "
        "\"project → o\", \"inputs\": [4], \"columns\": [{\"name\": \"window_end\", \"type\": "
        "\"timestamp with time zone\"}, {\"name\": \"k\", \"type\": \"integer\"}, {\"name\": \"k > "
        "1\", \"type\": \"boolean\"}], \"expressions\": [\"window_end\", \"k\", \"k > 1\"], "
        "\"checks\": []},\n"
        "  {\"number\": 6, \"kind\": \"exchange\", \"id\": \"################\", \"name\": "
        "\"exchange → o\", \"inputs\": [5], \"columns\": [{\"name\": \"window_end\", \"type\": "
        "\"timestamp with time zone\"}, {\"name\": \"k\", \"type\": \"integer\"}, {\"name\": \"k > "
        "1\", \"type\": \"boolean\"}], \"expressions\": [], \"checks\": [], \"key\": "
        "[\"k\"]},\n"
        "  {\"number\": 7, \"kind\": \"aggregate\", \"id\": \"################\", \"name\": "
        "\"aggregate → o\", \"inputs\": [6], \"columns\": [{\"name\": \"window_end\", \"type\": "
        "\"timestamp with time zone\"}, {\"name\": \"k\", \"type\": \"integer\"}, {\"name\": "
        "\"count(*)\", \"type\": \"bigint\"}, {\"name\": \"count(DISTINCT k) filter k > 1\", "
        "\"type\": \"bigint\"}], \"expressions\": [], \"checks\": [], \"key\": [\"window_end\", "
        "\"k\"], \"aggregates\": [\"count(*)\", \"count(DISTINCT k) FILTER (WHERE \\\"k > "
        "1\\\")\"], \"window_end\": \"window_end\"},\n"
        "  {\"number\": 8, \"kind\": \"project\", \"id\": \"################\", \"name\": "
        "\"project → o 2\", \"inputs\": [7], \"columns\": [{\"name\": \"k\", \"type\": "
        "\"integer\"}, {\"name\": \"n\", \"type\": \"bigint\"}, {\"name\": \"d\", \"type\": "
        "\"bigint\"}], \"expressions\": [\"k\", \"\\\"count(*)\\\"\", \"\\\"count(DISTINCT k) "
        "filter k > 1\\\"\"], \"checks\": []},\n"
        "  {\"number\": 9, \"kind\": \"sink\", \"id\": \"################\", \"name\": \"sink o\", "
        "\"inputs\": [8], \"table\": \"o\", \"topic\": \"o\", \"columns\": [{\"name\": \"k\", "
        "\"type\": \"integer\"}, {\"name\": \"n\", \"type\": \"bigint\"}, {\"name\": \"d\", "
        "\"type\": \"bigint\"}], \"expressions\": [], \"checks\": []}\n"
        "]}\n");
    weir_arena_destroy(arena);
}

static void expect_folded(const char *query, bool is_folded)
{
    struct weir_arena *arena = weir_arena_create(1 << 16);
    char sql[2048];
    snprintf(sql, sizeof sql,
             "CREATE TABLE t (k int, v int, s text, ts timestamp) WITH (event_time = 'ts', "
             "watermark_delay = '1 s');"
             "CREATE TABLE l (k int, v int, ts timestamp) WITH (event_time = 'ts', "
             "watermark_delay = '1 s', late_topic = 'late');"
             "CREATE TABLE keyed (k int PRIMARY KEY, v int);"
             "CREATE TABLE o (k int PRIMARY KEY, n bigint);"
             "CREATE TABLE o2 (k int PRIMARY KEY, n bigint);"
             "CREATE TABLE w (k int, n bigint); %s",
             query);
    char *text = explain(arena, sql, WEIR_EXPLAIN_TEXT);
    bool is_found =
        strstr(text, "     rows of one group are folded before it, where that pays\n") != NULL;
    if (is_found != is_folded) {
        fail_msg("%s\n%s", query, text);
    }
    weir_arena_destroy(arena);
}

static void test_explain_says_where_rows_are_folded(void **state)
{
    (void)state;
    expect_folded("INSERT INTO o SELECT k, count(*) FROM t GROUP BY k;", true);
    expect_folded("INSERT INTO o SELECT k, sum(v) FROM t GROUP BY k HAVING max(v) > 3;", true);
    expect_folded("INSERT INTO o SELECT k, count(DISTINCT v) FROM t GROUP BY k;", false);
    expect_folded("INSERT INTO o SELECT v, count(*) FROM keyed GROUP BY v;", false); // they change
    expect_folded("SET weir.state_ttl = '1 day'; INSERT INTO o SELECT k, count(*) FROM t "
                  "GROUP BY k;",
                  false);
    expect_folded("INSERT INTO w SELECT k, count(*) FROM tumble(t, ts, interval '1 s') "
                  "GROUP BY k, window_end;",
                  true);
    // A row for a window whose result is out is written to the late topic one by one.
    expect_folded("INSERT INTO w SELECT k, count(*) FROM tumble(l, ts, interval '1 s') "
                  "GROUP BY k, window_end;",
                  false);
    expect_folded("INSERT INTO o SELECT k, count(*) FROM l GROUP BY k;", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain_golden),
        cmocka_unit_test(test_explain_dot_escapes),
        cmocka_unit_test(test_explain_svg_draws_nodes_and_edges),
        cmocka_unit_test(test_explain_json),
        cmocka_unit_test(test_explain_json_of_groups),
        cmocka_unit_test(test_explain_says_where_rows_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
