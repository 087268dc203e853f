// SPDX-License-Identifier: Apache-2.0
// GROUP BY, aggregates, HAVING and DISTINCT. Place, message and hint of every fault.
#include "tests/unit/sql/sql_testing.h"

static void test_group_refuses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select id, name from t group by id",
         {{1, 26,
           "column \"t.name\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select id, count(*) from t where count(*) > 1 group by id",
         {{1, 48, "aggregate functions are not allowed in WHERE",
           "conditions over groups are HAVING"}}},
        {"insert into s select count(*), name from t",
         {{1, 32,
           "column \"t.name\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select max(id) filter (where ok), name from t",
         {{1, 49,
           "column \"t.name\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select id, name from t having true",
         {{1, 22,
           "column \"t.id\" must appear in the GROUP BY clause or be used in an aggregate function",
           NULL},
          {1, 26,
           "column \"t.name\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select * from w group by id",
         {{1, 22,
           "column \"w.label\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select 1, upper(x.label) from w x group by lower(x.label)",
         {{1, 31,
           "column \"x.label\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select id + 1, (bid).extra from t group by bid",
         {{1, 22,
           "column \"t.id\" must appear in the GROUP BY clause or be used in an aggregate function",
           NULL}}},
        {"insert into s select sum(id), max(min(name)) from t",
         {{1, 35, "aggregate function calls cannot be nested",
           "group twice: FROM (SELECT … GROUP BY …) AS s"}}},
        {"insert into s select sum(id) filter (where max(id) > 1), 'a' from t",
         {{1, 44, "aggregate functions are not allowed in FILTER", NULL}}},
        {"insert into s select id, max(name) from t group by id, max(name)",
         {{1, 56, "aggregate functions are not allowed in GROUP BY", NULL}}},
        {"insert into s select id, max(name) n from t group by id, n",
         {{1, 26, "aggregate functions are not allowed in GROUP BY", NULL}}},
        {"insert into s select id, name from t group by 3, 0, 1.5",
         {{1, 47, "GROUP BY position 3 is not in select list", NULL},
          {1, 50, "GROUP BY position 0 is not in select list", NULL},
          {1, 53, "non-integer constant in GROUP BY", NULL}}},
        {"insert into s select id, name from t group by 'a', null, true",
         {{1, 47, "non-integer constant in GROUP BY", NULL},
          {1, 52, "non-integer constant in GROUP BY", NULL},
          {1, 58, "non-integer constant in GROUP BY", NULL}}},
        {"insert into s select id a, id + 1 a from t group by a",
         {{1, 53, "GROUP BY \"a\" is ambiguous", NULL}}},
        {"insert into s select id, count(*) from t group by nope",
         {{1, 51, "column \"nope\" does not exist", NULL}}},
        {"insert into s select nope, name from t group by 1, 2",
         {{1, 22, "column \"nope\" does not exist", NULL}}},
        {"insert into s select id, max(name) from t group by id having id",
         {{1, 62, "argument of HAVING must be type boolean, not type integer", NULL}}},
        {"insert into s select id, max(name) from t group by id having name = 'a'",
         {{1, 62,
           "column \"t.name\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
        {"insert into s select count(), name from t group by name",
         {{1, 22, "count(*) must be used to call a parameterless aggregate function", NULL}}},
        {"insert into s select max(id, 1), name from t group by name",
         {{1, 22, "function max(integer, integer) does not exist", NULL}}},
        {"insert into s select sum(name), name from t group by name",
         {{1, 22, "function sum(text) does not exist", NULL}}},
        {"insert into s select sum(*), name from t group by name",
         {{1, 22, "function sum() does not exist", NULL}}},
        {"insert into s select count(*) filter (where id), name from t group by name",
         {{1, 45, "argument of FILTER must be type boolean, not type integer", NULL}}},
        {"insert into s select count(*) filter (where nope), name from t group by name",
         {{1, 45, "column \"nope\" does not exist", NULL}}},
        {"create table x (a int, b int generated always as (sum(a)) stored)",
         {{1, 51, "aggregate functions are not allowed in column generation expressions", NULL}}},
        {"create table x (a int check (sum(a) > 0))",
         {{1, 30, "aggregate functions are not allowed in check constraints", NULL}}},
        {"insert into s select distinct id, name from t",
         {{1, 22, "SELECT DISTINCT over a stream without end would keep every row for ever",
           "choose: window_start or window_end of a window (FROM tumble(…)) in the SELECT, a time "
           "range, SET weir.state_ttl = '1 day', or on purpose SET weir.state_ttl = 'infinity'"}}},
        {"create table x (k int primary key, n text); create table y (n text primary key, "
         "c bigint); set weir.state_ttl = '1 day'; insert into y select n, count(*) from x group "
         "by n",
         {{1, 171,
           "not supported: weir.state_ttl with GROUP BY over rows that change: what is taken back "
           "would no longer be there",
           "SET weir.state_ttl = 'infinity' before it, or group by a window"}}},
        {"create table x (k int primary key, ts timestamptz); create table y (k timestamptz "
         "primary key, n bigint); insert into y select now(), count(*) from x group by now()",
         {{1, 160, "not supported: now() below a GROUP BY over rows that change",
           "use a column of event time"}}},
        {"create table x (k int primary key, n bigint); insert into x select id, count(*) from t "
         "group by id having max(\"dateTime\") > now()",
         {{1, 59, "not supported: a condition with now() over rows that change",
           "use a column of event time"}}},
        {"insert into s select distinct id, count(*), nope from t group by id",
         {{1, 45, "column \"nope\" does not exist", NULL}}},
        {"insert into s select count(*) over (), name from t group by name",
         {{1, 22, "not supported yet: OVER (count)", NULL}}},
        {"insert into s select (bid).*, count(*) from t group by (bid).price",
         {{1, 23,
           "column \"t.bid\" must appear in the GROUP BY clause or be used in an aggregate "
           "function",
           NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
