// SPDX-License-Identifier: Apache-2.0
// Windows in FROM (their bounds: C103). Place, message and hint of every fault.
#include "tests/unit/sql/sql_testing.h"

static void test_window_refuses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select id, name from tumble(t, \"dateTime\", interval '1 minute')",
         {{1, 46, "the second argument of tumble() is not the event time of a table: dateTime of t",
           "set the option event_time of the table and pass the column on unchanged"}}},
        {"insert into s select id, name from tumble(t, \"dateTime\")",
         {{1, 36, "tumble() takes 3 or 4 arguments",
           "a table, view or WITH name; its event time; the size of the windows: tumble(t, ts, "
           "interval '1 minute' [, origin])"}}},
        {"insert into s select id, name from tumble(1, \"dateTime\", '1 minute')",
         {{1, 36, "the first argument of tumble() is the name of a table",
           "a table, view or WITH name; its event time; the size of the windows: tumble(t, ts, "
           "interval '1 minute' [, origin])"}}},
        {"insert into s select id, name from tumble(tt, \"dateTime\", '1 minute')",
         {{1, 43, "relation \"tt\" does not exist", NULL}}},
        {"create table x (a timestamp, b int) with (event_time = 'a'); insert into s select b, 'a' "
         "from tumble(x, a, '1 minute')",
         {{1, 105, "tumble() needs the option watermark_delay of table \"x\"",
           "add it to CREATE TABLE x … WITH (watermark_delay = '5 seconds'): how late rows may "
           "be"}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "insert into s select b, 'a' from tumble(x, a, interval '0 s'); insert into s select b, "
         "'a' from tumble(x, a, interval '-1 s'); insert into s select b, 'a' from tumble(x, a, "
         "interval '1 month'); insert into s select b, 'a' from tumble(x, a, interval '1' month); "
         "insert into s select b, 'a' from tumble(x, a, b); insert into s select b, 'a' from "
         "tumble(x, a, '1'); insert into s select b, 'a' from tumble(x, nope, '1 h')",
         {{1, 133, "the size of a window must be above 0, not \"0 s\"", NULL},
          {1, 196, "the size of a window must be above 0, not \"-1 s\"", NULL},
          {1, 260,
           "the size of a window cannot be \"1 month\": months and years have no fixed length",
           "for example interval '1 minute'"},
          {1, 327, "the size of a window cannot be \"1\": months and years have no fixed length",
           "for example interval '1 minute'"},
          {1, 394, "the size of a window is a constant: interval '…'",
           "tumble(table, event time, interval '1 minute' [, origin])"},
          {1, 444, "the size of a window cannot be \"1\": it has no unit",
           "for example interval '1 minute'"},
          {1, 493, "column \"nope\" does not exist", NULL}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "insert into s select b, 'a' from tumble(x, a, interval '1 s', 'yesterdy'); insert into s "
         "select b, 'a' from tumble(x, a, interval '1 s', 'infinity'); insert into s select b, 'a' "
         "from tumble(x, a, interval '1 s', a); insert into s select b, 'a' from tumble(x, "
         "coalesce(a, a), '1 s')",
         {{1, 149, "invalid input syntax for type timestamp with time zone: \"yesterdy\"", NULL},
          {1, 224, "the origin of a window cannot be infinite", NULL},
          {1, 299, "the origin of a window is a constant: timestamptz '…'",
           "tumble(table, event time, interval '1 minute' [, origin])"},
          {1, 346, "the second argument of tumble() is not the event time of a table",
           "set the option event_time of the table and pass the column on unchanged"}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "create table y (a timestamp, b int) with (event_time = 'a', watermark_delay = '1 s'); "
         "create view xy as select * from (select * from x union all select * from y) u where b > "
         "1; insert into s select b, 'a' from tumble(xy, a, '1 s')",
         {{1, 308, "not supported yet: tumble() over tables with different watermark_delay",
           "give them the same watermark_delay"}}},
        {"create table x (a timestamp, b int primary key) with (event_time = 'a', watermark_delay "
         "= '0 s'); insert into s select b, 'a' from tumble(x, a, interval '1 s')",
         {{1, 142, "not supported yet: tumble() over a keyed table", NULL}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "create view g as select b, window_end, count(*) n from tumble(x, a, '1 s') group by b, "
         "window_end; insert into s select n, 'a' from tumble(g, window_end, '1 min') group by n",
         {{1, 229,
           "the second argument of tumble() is not the event time of a table: window_end of g",
           "set the option event_time of the table and pass the column on unchanged"}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "create view g as select b, window_start, count(*) n from tumble(x, a, '1 s') group by b, "
         "window_start; insert into s select max(n), 'a' from g group by window_start",
         {{1, 239, "a GROUP BY with window_start needs the window_end of that window",
           "let the subquery in FROM pass window_end on, too"}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "insert into s select distinct b, 'a' from tumble(x, a, '1 s')",
         {{1, 108, "SELECT DISTINCT over a stream without end would keep every row for ever",
           "choose: window_start or window_end of a window (FROM tumble(…)) in the SELECT, a time "
           "range, SET weir.state_ttl = '1 day', or on purpose SET weir.state_ttl = 'infinity'"}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "insert into s select count(*), 'a' from tumble(x, a, '1 s') group by b",
         {{1, 99, "the result of the query changes by key (b), and table \"s\" is append-only",
           "pass (b) on unchanged, as the PRIMARY KEY of table \"s\""}}},
        {"create table x (a timestamp, window_end int) with (event_time = 'a', watermark_delay = "
         "'0 s'); insert into s select window_end, 'a' from tumble(x, a, '1 s')",
         {{1, 117, "column reference \"window_end\" is ambiguous",
           "give the columns different names: AS"}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "insert into s select b, x.a::text from tumble(x, a, '1 s')",
         {{1, 111, "missing FROM-clause entry for table \"x\"", NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
