// SPDX-License-Identifier: Apache-2.0
// PRIMARY KEY, and which results may be written to which table. Place, message and hint of every
// fault.
#include "tests/unit/sql/sql_testing.h"

static void test_keyed_refuses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"create table x (a int, b int, primary key (a, c, a)); insert into x select id, id from t",
         {{1, 31, "column \"c\" named in key does not exist", NULL},
          {1, 31, "column \"a\" appears twice in primary key constraint", NULL}}},
        {"create table x (a int, b int generated always as (a) stored primary key)",
         {{1, 61, "not supported: generated column \"b\" in the primary key",
           "the primary key is what the message key holds"}}},
        // C112.
        {"create table x (k bigint primary key, v text); insert into x select max(id) as k, 'top' "
         "as v from t",
         {{1, 60,
           "the result of the query is one row that changes: its key is (), and table \"x\" has "
           "PRIMARY KEY (k)",
           "give table \"x\" a PRIMARY KEY of columns that are constant in the SELECT: SELECT "
           "'all', …"}}},
        {"create table x (k int, l int, n bigint, primary key (k, l)); insert into x select id, 1 "
         "+ id, count(*) from t group by id",
         {{1, 74,
           "the result of the query changes by key (id), and table \"x\" has PRIMARY KEY (k, l)",
           "pass (id) on unchanged, as the PRIMARY KEY of table \"x\""}}},
        {"create table x (k int, l int, n bigint, primary key (k, l)); insert into x select id, "
         "max(id), count(*) from t group by id",
         {{1, 74,
           "the result of the query changes by key (id), and table \"x\" has PRIMARY KEY (k, l)",
           "pass (id) on unchanged, as the PRIMARY KEY of table \"x\""}}},
        {"create table x (k int primary key, n bigint); insert into x select id, count(*) from t "
         "group by id, name",
         {{1, 59,
           "the result of the query changes by key (id, name), and table \"x\" has PRIMARY KEY (k)",
           "pass (id, name) on unchanged, as the PRIMARY KEY of table \"x\""}}},
        {"create table x (k int primary key, n bigint); insert into x select v, count(*) from t "
         "group by v",
         {{1, 59,
           "column \"k\" of the PRIMARY KEY of table \"x\" is of type integer, and the key of the "
           "query is of type double precision: two keys could become one",
           "group by the key as it is written: GROUP BY CAST(… AS integer)"}}},
        {"create table x (k varchar(3) primary key, n bigint); insert into x select name, count(*) "
         "from t group by name",
         {{1, 66,
           "column \"k\" of the PRIMARY KEY of table \"x\" is of type character varying(3), and "
           "the key of the query is of type text: two keys could become one",
           "group by the key as it is written: GROUP BY CAST(… AS character varying(3))"}}},
        {"create table x (k int primary key, n bigint); insert into x (n) select count(*) from t",
         {{1, 59, "column \"k\" of \"x\" is NOT NULL, but this INSERT leaves it out", NULL}}},
        {"insert into s select id, max(name) from t group by id",
         {{1, 13, "the result of the query changes by key (id), and table \"s\" is append-only",
           "pass (id) on unchanged, as the PRIMARY KEY of table \"s\""}}},
        {"insert into s select count(*), 'a' from t",
         {{1, 13,
           "the result of the query is one row that changes: its key is (), and table \"s\" is "
           "append-only",
           "give table \"s\" a PRIMARY KEY of columns that are constant in the SELECT: SELECT "
           "'all', …"}}},
        {"create table x as select id, count(*) as n from t group by id",
         {{1, 14, "the result of the query changes by key (id), and table \"x\" is append-only",
           "pass (id) on unchanged, as the PRIMARY KEY of table \"x\""}}},
        {"create table x (k int primary key); insert into x select id from t group by id union all "
         "select id from t",
         {{1, 49,
           "the result of the query changes and has no key, and table \"x\" has PRIMARY KEY (k)",
           "group it: its groups are its key"}}},
        {"create table x (k int primary key); insert into x select id from t; insert into x select "
         "id + 1 from t",
         {{1, 81, "table \"x\" is keyed: one INSERT alone can write it",
           "append-only queries can be one: UNION ALL"}}},
        {"create table x (k int primary key) with (topic = 'y'); create table y (k int); insert "
         "into x select id from t; insert into y select id from t",
         {{1, 124, "topic \"y\" of a keyed table is written twice (tables x and y)",
           "give one of them another topic"}}},
        {"create table x (k int primary key); insert into s select k, 'a' from x",
         {{1, 49, "the result of the query changes by key (k), and table \"s\" is append-only",
           "pass (k) on unchanged, as the PRIMARY KEY of table \"s\""}}},
        {"create table x (k int primary key); create table y (k int primary key); insert into y "
         "select k + 1 from x",
         {{1, 85, "the result of the query changes by key (k), and table \"y\" has PRIMARY KEY (k)",
           "pass (k) on unchanged, as the PRIMARY KEY of table \"y\""}}},
        {"create table x (a timestamp, b int) with (event_time = 'a', watermark_delay = '0 s'); "
         "create table y (k int primary key, n bigint); insert into y select b, count(*) from "
         "tumble(x, a, '1 s') group by b, window_end",
         {{1, 145,
           "the result of the query has the key (b, window_end), and table \"y\" has PRIMARY KEY "
           "(k)",
           "pass (b, window_end) on unchanged, as the PRIMARY KEY of table \"y\""}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyed_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
