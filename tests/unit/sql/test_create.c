// SPDX-License-Identifier: Apache-2.0
// CREATE TABLE, CREATE TYPE, CREATE VIEW and their types. Place, message and hint of every fault.
#include "tests/unit/sql/sql_testing.h"

static void test_create_refuses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"create table x (a int, a text)",
         {{1, 24, "column \"a\" specified more than once", NULL}}},
        {"create table x (b serial, c int[], d foo, e uuid, f time, g \"char\", h timestamp(3), i "
         "strng, j string)",
         {{1, 19, "not supported yet: type serial", NULL},
          {1, 38, "type \"foo\" does not exist", NULL},
          {1, 61, "not supported yet: type \"char\"", "instead: text or varchar(n)"},
          {1, 71, "not supported yet: timestamp(3)",
           "without a precision it has six digits behind the second"},
          {1, 87, "type \"strng\" does not exist", "did you mean \"string\"?"},
          {1, 96, "type \"string\" does not exist", "did you mean \"text\"?"}}},
        {"create table x (a interval, b json, c char(0), d timetz, e money, f datetime)",
         {{1, 39, "length for type char must be at least 1", NULL},
          {1, 50, "not supported yet: type time with time zone", NULL},
          {1, 60, "not supported yet: type money", "instead: numeric"},
          {1, 69, "type \"datetime\" does not exist",
           "did you mean \"timestamp\" or \"timestamptz\"?"}}},
        {"create table x (a numeric(0), b numeric(5, 1001), c numeric(1001), d numeric(1, 2, 3))",
         {{1, 19, "NUMERIC precision 0 must be between 1 and 1000", NULL},
          {1, 33, "NUMERIC scale 1001 must be between -1000 and 1000", NULL},
          {1, 53, "NUMERIC precision 1001 must be between 1 and 1000", NULL},
          {1, 70, "invalid NUMERIC type modifier", NULL}}},
        {"create table x (a varchar(0), b varchar(99999999), d int4(3), e text(3))",
         {{1, 19, "length for type varchar must be at least 1", NULL},
          {1, 33, "length for type varchar cannot exceed 10485760", NULL},
          {1, 54, "type modifier is not allowed for type \"int4\"", NULL},
          {1, 65, "type modifier is not allowed for type \"text\"", NULL}}},
        {"create table x (a bidt)",
         {{1, 19, "type \"bidt\" does not exist", "did you mean \"bid_t\"?"}}},
        {"create table x ()",
         {{1, 14,
           "a table without columns takes those of the schema registry, which has schemas of "
           "format avro only",
           "write the columns, or format = 'avro'"}}},
        {"create table x () with (format = 'avro')",
         {{1, 14, "the columns are the schema registry's, which is not asked here",
           "write the columns"}}},
        {"create table t (a int)", {{1, 14, "relation \"t\" already exists", NULL}}},
        {"create table w (a int)", {{1, 14, "relation \"w\" already exists", NULL}}},
        {"create table x (a int generated always as (b + 1) stored, b int generated always as (a) "
         "stored)",
         {{1, 44, "cannot use generated column \"b\" in column generation expression",
           "a generated column is computed from those in the message"},
          {1, 86, "cannot use generated column \"a\" in column generation expression",
           "a generated column is computed from those in the message"}}},
        {"create table x (a int, b timestamptz generated always as (now()) stored)",
         {{1, 59, "generation expression is not immutable",
           "for the time of a record: kafka_timestamp()"}}},
        {"create table x (a int, b int generated always as ('x') stored)",
         {{1, 51, "invalid input syntax for type integer: \"x\"", NULL}}},
        {"create table x (a int, b int generated always as (a::text) stored)",
         {{1, 52, "column \"b\" is of type integer but default expression is of type text",
           "cast the expression"}}},
        {"create table x (a int, b int generated always as (c) stored)",
         {{1, 51, "column \"c\" does not exist", NULL}}},
        {"create table x (a int check (b > 1))", {{1, 30, "column \"b\" does not exist", NULL}}},
        {"create table x (a int check (a))",
         {{1, 30, "argument of CHECK must be type boolean, not type integer", NULL}}},
        {"create table x (a int check (kafka_offset() > 1))",
         {{1, 30, "kafka_offset() is for generated columns of the table that is read",
           "add a column to the table: name type GENERATED ALWAYS AS (kafka_offset(…)) STORED"}}},
        {"create table x (a int, constraint c check (a > 1), constraint c check (a > 2))",
         {{1, 52, "constraint \"c\" for relation \"x\" already exists", NULL}}},
        {"create table x (a int check (a > (select 1 from t)))",
         {{1, 34, "not supported yet: a subquery in an expression", NULL}}},
        {"create type bid_t as (a int)", {{1, 13, "type \"bid_t\" already exists", NULL}}},
        {"create type x as (a int, a int)",
         {{1, 26, "column \"a\" specified more than once", NULL}}},
        {"create type x as ()", {{1, 13, "type \"x\" has no fields", NULL}}},
        {"create type x as (a x)", {{1, 21, "type \"x\" does not exist", NULL}}},
        {"create type x as (a inet); create table y (x x); insert into s select (x).a, 'a' "
         "from y",
         {{1, 21, "not supported yet: type inet", "instead: text"}}},
        {"create view v as select id, id from t",
         {{1, 29, "column \"id\" specified more than once", "give it a name: AS"}}},
        {"create view v (a, b, c) as select id, name from t",
         {{1, 13, "CREATE VIEW specifies more column names than columns", NULL}}},
        {"create view v (a, a) as select id, name from t",
         {{1, 36, "column \"a\" specified more than once", "give it a name: AS"}}},
        {"create view v as select idd from t; insert into s select * from v; insert into s select "
         "nam, id from t",
         {{1, 25, "column \"idd\" does not exist", "did you mean \"id\"?"},
          {1, 89, "column \"nam\" does not exist", "did you mean \"name\"?"}}},
        {"create view t as select 1 as a from s", {{1, 13, "relation \"t\" already exists", NULL}}},
        {"create table x as select id, id + 1 from t",
         {{1, 30, "column 2 of the written table has no name", "give it a name: AS"}}},
        {"create table x as select id, id from t",
         {{1, 30, "column \"id\" specified more than once", "give it another name: AS"}}},
        {"create table x (a, b, c) as select id, name from t",
         {{1, 14, "too many column names were specified", NULL}}},
        {"create table x with (topic = 'a b', foo = 1) as select id from t",
         {{1, 30, "option topic: \"a b\" cannot be the name of a topic",
           "letters, digits, \".\", \"_\", \"-\", at most 249 of them"},
          {1, 37, "unknown option \"foo\"", NULL}}},
        {"create table t as select id from s", {{1, 14, "relation \"t\" already exists", NULL}}},
        {"create table x (a int) with (fo = 1); insert into x select id from t; insert into s "
         "select a, 'a' from x",
         {{1, 30, "unknown option \"fo\"", NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
