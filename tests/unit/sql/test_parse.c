// SPDX-License-Identifier: Apache-2.0
// What the grammar takes and weir does not, and what the grammar does not take. Place, message and
// hint of every fault.
#include "tests/unit/sql/sql_testing.h"

static void test_parse_refuses_statements(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"select 1",
         {{1, 1, "not supported: SELECT",
           "a query needs a table to write to: INSERT INTO … SELECT"}}},
        {"with x as (select 1) select * from x",
         {{1, 1, "not supported: WITH",
           "a query needs a table to write to: INSERT INTO … SELECT"}}},
        {"table t",
         {{1, 1, "not supported: TABLE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"values (1)",
         {{1, 1, "not supported: VALUES",
           "a query needs a table to write to: INSERT INTO … SELECT"}}},
        {"DELETE FROM t",
         {{1, 1, "not supported: DELETE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"update t set id = 1",
         {{1, 1, "not supported: UPDATE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"create index on t (a)",
         {{1, 1, "not supported: CREATE INDEX",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"alter table t add column x int",
         {{1, 1, "not supported: ALTER TABLE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"drop table t",
         {{1, 1, "not supported: DROP TABLE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"explain select 1",
         {{1, 1, "not supported: EXPLAIN", "the command weir explain shows what a job does"}}},
        {"begin",
         {{1, 1, "not supported: BEGIN",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"copy t from stdin",
         {{1, 1, "not supported: COPY",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"create function f() returns int language sql as 'select 1'",
         {{1, 1, "not supported: CREATE FUNCTION",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"  -- a comment\n  delete from t",
         {{2, 3, "not supported: DELETE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

static void test_parse_refuses_clauses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select id, name from t group by rollup(id, name)",
         {{1, 47, "not supported yet: ROLLUP", NULL}}},
        {"insert into s select id, name from t group by cube(id), name",
         {{1, 47, "not supported yet: CUBE", NULL}}},
        {"insert into s select id, name from t group by grouping sets ((id), (name))",
         {{1, 47, "not supported yet: GROUPING SETS", NULL}}},
        {"insert into s select upper(name) filter (where ok), name from t",
         {{1, 22, "not supported: FILTER (upper)", NULL}}},
        {"insert into s select count(name order by id), name from t",
         {{1, 22, "not supported: ORDER BY in a call (count)", NULL}}},
        {"insert into s select array_agg(id), name from t",
         {{1, 22, "not supported yet: aggregate function array_agg()", NULL}}},
        {"insert into s select upper(distinct name), name from t",
         {{1, 22, "not supported: DISTINCT in a call (upper)", NULL}}},
        {"insert into s select id, string_agg(name, ',' order by id) from t",
         {{1, 26, "not supported yet: aggregate function string_agg()", NULL}}},
        {"insert into s select distinct on (id) id, name from t",
         {{1, 22, "not supported yet: DISTINCT ON", NULL}}},
        {"insert into s select id, name from t order by name limit 3",
         {{1, 38, "not supported: ORDER BY",
           "a stream has no end to sort; for the first rows of a group: row_number() OVER "
           "(PARTITION BY … ORDER BY …) <= n"},
          {1, 52, "not supported: LIMIT",
           "a stream has no end; to read a part of a topic: the table options start and end"}}},
        {"insert into s select id, name from t limit 3 offset 1",
         {{1, 38, "not supported: LIMIT",
           "a stream has no end; to read a part of a topic: the table options start and end"}}},
        {"insert into s select id, name from t fetch first 3 rows only",
         {{1, 38, "not supported: FETCH",
           "a stream has no end; to read a part of a topic: the table options start and end"}}},
        {"insert into s select id, name from t offset 2",
         {{1, 38, "not supported: OFFSET",
           "to read a part of a topic: the table options start and end"}}},
        {"insert into s select a.id, b.name from t a join t b on a.id = b.id",
         {{1, 44, "not supported yet: JOIN", NULL}}},
        {"insert into s select a.id, b.name from t a left join t b using (id)",
         {{1, 49, "not supported yet: LEFT JOIN", NULL}}},
        {"insert into s select a.id, b.name from t a full outer join t b using (id)",
         {{1, 55, "not supported yet: FULL JOIN", NULL}}},
        {"insert into s select a.id, b.name from t a cross join t b",
         {{1, 50, "not supported yet: JOIN", NULL}}},
        {"insert into s select a.id, b.name from t a, t b",
         {{1, 45, "not supported yet: more than one table in FROM (a join)", NULL}}},
        {"insert into s select id, name from tumble(t, \"dateTime\", interval '1 minute') with "
         "ordinality",
         {{1, 36, "not supported: this form of tumble() in FROM",
           "write FROM tumble(table, column, interval '…')"}}},
        {"insert into s select id, name from tumble((select * from t), \"dateTime\", '1 minute')",
         {{1, 43, "not supported yet: a subquery in an expression", NULL}}},
        {"insert into s select id, name from hop(t, \"dateTime\", interval '1 s', interval '1 "
         "minute') h",
         {{1, 36, "not supported yet: the window hop() in FROM", NULL}}},
        {"insert into s select id, sum(id) over (partition by id) from t",
         {{1, 26, "not supported yet: OVER (sum)", NULL}}},
        {"insert into s select id, row_number() over (order by id) from t",
         {{1, 26, "not supported yet: OVER (row_number)", NULL}}},
        {"insert into s select rank(), name from t",
         {{1, 22, "not supported yet: window function rank()", NULL}}},
        {"insert into s select id, name from t window w as (partition by id)",
         {{1, 38, "not supported yet: WINDOW", NULL}}},
        {"insert into s select id, unnest('{}') from t",
         {{1, 26, "not supported yet: set-returning function unnest()",
           "functions that give rows are for FROM"}}},
        {"insert into s select session(id), name from t",
         {{1, 22, "not supported here: session()", "windows are functions in FROM"}}},
        {"insert into s select x, 'a' from generate_series(1, 2) x",
         {{1, 34, "not supported yet: the function generate_series() in FROM", NULL}}},
        {"insert into s select id, name from t union select id, name from t",
         {{1, 38, "not supported yet: UNION", "write UNION ALL, which keeps equal rows"}}},
        {"insert into s select id, name from t union all select id, name from t union select 1, "
         "'a' from t",
         {{1, 71, "not supported yet: UNION", "write UNION ALL, which keeps equal rows"}}},
        {"insert into s select id, name from t except all select id, name from t",
         {{1, 38, "not supported yet: EXCEPT", NULL}}},
        {"insert into s select id, name from t intersect select id, name from t",
         {{1, 38, "not supported yet: INTERSECT", NULL}}},
        {"insert into s (select id, name from t order by id) union all select 1, 'x' from t",
         {{1, 39, "not supported: ORDER BY",
           "a stream has no end to sort; for the first rows of a group: row_number() OVER "
           "(PARTITION BY … ORDER BY …) <= n"}}},
        {"insert into s select id, name from t union all select 1, 'x' from t order by 1",
         {{1, 69, "not supported: ORDER BY",
           "a stream has no end to sort; for the first rows of a group: row_number() OVER "
           "(PARTITION BY … ORDER BY …) <= n"}}},
        {"insert into s values (1, 'a')",
         {{1, 15, "not supported: VALUES", "a job writes what it computes from what it reads"}}},
        {"insert into s select id, name from (values (1, 'a')) v (id, name)",
         {{1, 37, "not supported: VALUES", "a job writes what it computes from what it reads"}}},
        {"insert into s default values", {{1, 15, "not supported: DEFAULT VALUES", NULL}}},
        {"insert into s select 1, 'a'",
         {{1, 22, "not supported: SELECT without FROM", "a job computes from what it reads"}}},
        {"insert into s select from t", {{1, 1, "SELECT without any column", NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

static void test_parse_refuses_expressions(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select id, name from t where id = (select 1 from t)",
         {{1, 49, "not supported yet: a subquery in an expression", NULL}}},
        {"insert into s select id, name from t where exists (select 1 from t)",
         {{1, 44, "not supported yet: a subquery in an expression", NULL}}},
        {"insert into s select id, name from t where id in (select id from t)",
         {{1, 47, "not supported yet: a subquery in an expression", NULL}}},
        {"insert into s select id, array[] from t",
         {{1, 26, "cannot determine type of empty array: write '{}' with a cast, e.g. "
                  "'{}'::integer[]", NULL}}},
        {"insert into s select id, row(1, 2) from t", {{1, 26, "not supported yet: ROW", NULL}}},
        {"insert into s select $1, name from t", {{1, 22, "not supported: parameters ($1)", NULL}}},
        {"insert into s select id, name collate \"de_DE\" from t",
         {{1, 31, "not supported: COLLATE \"de_DE\"",
           "text compares by bytes, as with COLLATE \"C\""}}},
        {"insert into s select id, name from t where name similar to 'a'",
         {{1, 49, "not supported yet: SIMILAR TO", "write LIKE or a regular expression"}}},
        {"insert into s select id, name from t where name ~~ any ('{a}')",
         {{1, 49, "operator ~~ with ANY (array) is not supported yet: there are =, <>, <, <=, > "
                  "and >=", NULL}}},
        {"insert into s select id, name from t where id <> all (3)",
         {{1, 47, "op ALL (array) requires array on right side", NULL}}},
        {"insert into s select j[1], name from t",
         {{1, 22, "cannot subscript type jsonb because it is no array: write js -> 'key'", NULL}}},
        {"insert into s select (array[id])[1:2], name from t",
         {{1, 23, "not supported yet: slices of arrays (a[1:2])", NULL}}},
        {"insert into s select b'101', name from t",
         {{1, 22, "not supported: bit strings", "bytes are written '\\x1f'::bytea"}}},
        {"insert into s select f(a => 1), name from t",
         {{1, 24, "not supported: arguments by name", NULL}}},
        {"insert into s select f(variadic name), name from t",
         {{1, 22, "not supported: VARIADIC (f)", NULL}}},
        {"insert into s select grouping(id), name from t",
         {{1, 22, "not supported yet: GROUPING", NULL}}},
        {"insert into s select xmlelement(name x), name from t",
         {{1, 22, "not supported: XML", NULL}}},
        {"insert into s select current_time, name from t",
         {{1, 22, "not supported: current_time",
           "if a column is meant: \"current_time\" is a reserved word and must be quoted"}}},
        {"insert into s select user, name from t",
         {{1, 22, "not supported: user",
           "if a column is meant: \"user\" is a reserved word and must be quoted"}}},
        {"insert into s select other.f(id), name from t",
         {{1, 22, "not supported: schemas (other.f)", NULL}}},
        {"insert into s select id operator(other.+) 1, name from t",
         {{1, 25, "not supported: schemas (other.+)", NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

static void test_parse_refuses_from_and_insert(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select id, name from t for update",
         {{1, 38, "not supported: FOR UPDATE", NULL}}},
        {"insert into s select id, name from t tablesample system (1)",
         {{1, 50, "not supported: TABLESAMPLE", NULL}}},
        {"insert into s select id, name from lateral (select * from t) x",
         {{1, 36, "not supported yet: LATERAL", NULL}}},
        {"insert into s select id, name from only t", {{1, 41, "not supported: ONLY", NULL}}},
        {"insert into s select id, name from public.t",
         {{1, 36, "not supported: schemas (public.t)", "write t alone"}}},
        {"insert into public.s select id, name from t",
         {{1, 13, "not supported: schemas (public.s)", "write s alone"}}},
        {"insert into s as x select id, name from t",
         {{1, 13, "not supported: an alias of the table that is written", NULL}}},
        {"insert into s with recursive x as (select 1) select id, name from x",
         {{1, 15, "not supported: WITH RECURSIVE", NULL}}},
        {"with x as (delete from t returning *) insert into s select id, name from x",
         {{1, 6, "not supported: WITH of anything but SELECT", NULL}}},
        {"insert into s select id, name from t returning id",
         {{1, 38, "not supported: RETURNING", NULL}}},
        {"insert into s select id, name from t on conflict do nothing",
         {{1, 38, "not supported: ON CONFLICT", "a keyed table is written as upserts anyway"}}},
        {"insert into s (id, j[1]) select id, name from t",
         {{1, 20, "not supported: writing a part of a column", NULL}}},
        {"insert into s overriding user value select id, name from t",
         {{1, 15, "not supported: OVERRIDING", NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

static void test_parse_refuses_create(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"select id into x from t",
         {{1, 1, "not supported: SELECT",
           "a query needs a table to write to: INSERT INTO … SELECT"}}},
        {"create materialized view m as select id from t",
         {{1, 1, "not supported: MATERIALIZED VIEW", "write CREATE TABLE … AS or CREATE VIEW"}}},
        {"create table x as select id from t with no data",
         {{1, 1, "not supported: WITH NO DATA", NULL}}},
        {"create table if not exists x (a int)", {{1, 14, "not supported: IF NOT EXISTS", NULL}}},
        {"create temp table x (a int)", {{1, 1, "not supported: TEMPORARY", NULL}}},
        {"create unlogged table x (a int)", {{1, 1, "not supported: UNLOGGED", NULL}}},
        {"create table x (like t)",
         {{1, 22, "not supported: LIKE in CREATE TABLE", "write the columns"}}},
        {"create table x (a int) inherits (t)", {{1, 24, "not supported: INHERITS", NULL}}},
        {"create table x (a int) partition by range (a)",
         {{1, 24, "not supported: PARTITION BY", NULL}}},
        {"create table x (a int) tablespace y", {{1, 24, "not supported: TABLESPACE", NULL}}},
        {"create table x (a int primary key, b int primary key)",
         {{1, 42, "multiple primary keys for table \"x\" are not allowed", NULL}}},
        {"create table x (a int unique, b int references t (id), c int generated by default as "
         "identity, d int default 3)",
         {{1, 23, "not supported: UNIQUE", NULL},
          {1, 37, "not supported: REFERENCES", NULL},
          {1, 62, "not supported: GENERATED AS IDENTITY", NULL},
          {1, 102, "not supported: DEFAULT",
           "write the value in the SELECT, or coalesce(column, value)"}}},
        {"create table x (a int, exclude using gist (a with =))",
         {{1, 24, "not supported: EXCLUDE", NULL}}},
        {"create table x (a text compression pglz)", {{1, 17, "not supported: COMPRESSION", NULL}}},
        {"create table x (a text collate \"de_DE\")",
         {{1, 24, "not supported: COLLATE other than \"C\"",
           "text compares by bytes, as with COLLATE \"C\""}}},
        {"create table x (a setof int, b other.y)",
         {{1, 25, "not supported: SETOF", NULL},
          {1, 32, "not supported: schemas (other.y)", NULL}}},
        {"create type x as enum ('a')",
         {{1, 18, "not supported: CREATE TYPE … AS ENUM",
           "write text, with CHECK (column IN (…)) in the table"}}},
        {"create type x as range (subtype = int4)",
         {{1, 1, "not supported: this form of CREATE TYPE",
           "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … SELECT and SET "
           "weir.<option>"}}},
        {"create or replace view v as select id from t",
         {{1, 1, "not supported: OR REPLACE", "write CREATE VIEW once"}}},
        {"create view v as select id from t with check option",
         {{1, 1, "not supported: WITH CHECK OPTION", NULL}}},
        {"create temp view v as select id from t", {{1, 1, "not supported: TEMPORARY", NULL}}},
        {"create view v with (security_barrier) as select id from t",
         {{1, 1, "not supported: WITH (options) of a view", "options belong to CREATE TABLE"}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

static void test_parse_refuses_set(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"set timezone = 'UTC'",
         {{1, 1, "not supported: this form of SET",
           "what can be set: SET weir.<option> = 'value'"}}},
        {"set local weir.state_ttl = '1 day'",
         {{1, 1, "not supported: this form of SET",
           "what can be set: SET weir.<option> = 'value'"}}},
        {"set weir.state_ttl to default",
         {{1, 1, "not supported: this form of SET",
           "what can be set: SET weir.<option> = 'value'"}}},
        {"reset weir.state_ttl",
         {{1, 1, "not supported: this form of SET",
           "what can be set: SET weir.<option> = 'value'"}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

static void test_parse_refuses_syntax_errors(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select id, name from t where",
         {{1, 43, "syntax error at end of input", NULL}}},
        {"insert into s select 'abc from t",
         {{1, 22, "unterminated quoted string at or near \"'abc from t\"", NULL}}},
        {"insert into s select \"abc from t",
         {{1, 22, "unterminated quoted identifier at or near \"\"abc from t\"", NULL}}},
        {"insert into s select id, name /* from t",
         {{1, 30, "unterminated /* comment at or near \"/* from t\"", NULL}}},
        {"insert into s select id, name, from t",
         {{1, 32, "syntax error at or near \"from\"", "there is a comma too many before this"}}},
        {"insert into s select end, name from t",
         {{1, 22, "syntax error at or near \"end\"",
           "\"end\" is a reserved word: as a name it must be quoted: \"end\""}}},
        {"insert into s select order, name from t",
         {{1, 27, "syntax error at or near \",\"",
           "\"order\" is a reserved word: as a name it must be quoted: \"order\""}}},
        {"insert into s (user) select id from t",
         {{1, 16, "syntax error at or near \"user\"",
           "\"user\" is a reserved word: as a name it must be quoted: \"user\""}}},
        {"insert into s select id, name from (select * from t)",
         {{1, 36, "subquery in FROM must have an alias", "for example: FROM (SELECT …) AS s"}}},
        {"create table x (user text)",
         {{1, 17, "syntax error at or near \"user\"",
           "\"user\" is a reserved word: as a name it must be quoted: \"user\""}}},
        {"create table x (end text, b int)",
         {{1, 17, "syntax error at or near \"end\"",
           "\"end\" is a reserved word: as a name it must be quoted: \"end\""}}},
        {"create table x (a int, check text)",
         {{1, 30, "syntax error at or near \"text\"",
           "\"check\" is a reserved word: as a name it must be quoted: \"check\""}}},
        {"create table x (a int, primary text)",
         {{1, 32, "syntax error at or near \"text\"",
           "\"primary\" is a reserved word: as a name it must be quoted: \"primary\""}}},
        {"create type x as (a int, table text)",
         {{1, 26, "syntax error at or near \"table\"",
           "\"table\" is a reserved word: as a name it must be quoted: \"table\""}}},
        {"create table order (a int)",
         {{1, 14, "syntax error at or near \"order\"",
           "\"order\" is a reserved word: as a name it must be quoted: \"order\""}}},
        {"create table x (a int,)",
         {{1, 23, "syntax error at or near \")\"", "there is a comma too many before this"}}},
        {"create table x (a int b text)", {{1, 23, "syntax error at or near \"b\"", NULL}}},
        {"insert into s select -1_000, name from t",
         {{1, 23, "trailing junk after numeric literal at or near \"1_\"", NULL}}},
        {"insert into s select 0x1f, name from t",
         {{1, 22, "trailing junk after numeric literal at or near \"0x\"", NULL}}},
        {"create tabel x (a int)",
         {{1, 8, "syntax error at or near \"tabel\"", "did you mean TABLE?"}}},
        {"insert into s select id, name\n  from t\n  where größe = 'é' and order = 1",
         {{3, 25, "syntax error at or near \"order\"",
           "\"order\" is a reserved word: as a name it must be quoted: \"order\""}}},
        {"insert into s select id, name from t; ; /* ; */ insert into s select ';', name fro t",
         {{1, 84, "syntax error at or near \"t\"", "did you mean FROM?"}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_refuses_statements),
        cmocka_unit_test(test_parse_refuses_clauses),
        cmocka_unit_test(test_parse_refuses_expressions),
        cmocka_unit_test(test_parse_refuses_from_and_insert),
        cmocka_unit_test(test_parse_refuses_create),
        cmocka_unit_test(test_parse_refuses_set),
        cmocka_unit_test(test_parse_refuses_syntax_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
