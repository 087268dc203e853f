// SPDX-License-Identifier: Apache-2.0
// INSERT, CREATE TABLE AS, and what holds for a whole job. Place, message and hint of every fault.
#include "tests/unit/sql/sql_testing.h"

static void test_insert_refuses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into ss select id, name from t",
         {{1, 13, "relation \"ss\" does not exist", NULL}}},
        {"insert into t2 select id, name from t",
         {{1, 13, "relation \"t2\" does not exist", NULL}}},
        {"insert into w select id, name from t",
         {{1, 13, "cannot insert into view \"w\"", "write into a table"}}},
        {"insert into s (id, nam) select id, name from t",
         {{1, 20, "column \"nam\" of relation \"s\" does not exist", "did you mean \"name\"?"}}},
        {"insert into s (id, id) select id, name from t",
         {{1, 20, "column \"id\" specified more than once", NULL}}},
        {"insert into s (id) select id, name from t",
         {{1, 31, "INSERT has more expressions than target columns",
           "the query gives 2 columns, 1 are written"}}},
        {"insert into s (id, name) select id from t",
         {{1, 20, "INSERT has more target columns than expressions", NULL}}},
        {"insert into s select id, name, 3 from t",
         {{1, 32, "INSERT has more expressions than target columns",
           "the query gives 3 columns, 2 are written"}}},
        {"insert into s select * from t",
         {{1, 22, "INSERT has more expressions than target columns",
           "the query gives 8 columns, 2 are written"}}},
        {"insert into s select name, id from t",
         {{1, 22, "column \"id\" is of type integer but expression is of type text",
           "cast it: CAST(… AS integer)"}}},
        {"insert into s select 'abc', name from t",
         {{1, 22, "invalid input syntax for type integer: \"abc\"", NULL}}},
        {"insert into s select d, name from t",
         {{1, 22, "column \"id\" is of type integer but expression is of type date", NULL}}},
        {"insert into s select null::boolean, name from t",
         {{1, 22, "column \"id\" is of type integer but expression is of type boolean",
           "cast it: CAST(… AS integer)"}}},
        {"create table x (a int not null, b text); insert into x (b) select name from t",
         {{1, 54, "column \"a\" of \"x\" is NOT NULL, but this INSERT leaves it out", NULL}}},
        {"create table x (a text, b int not null); insert into x select name from t",
         {{1, 54, "column \"b\" of \"x\" is NOT NULL, but this INSERT leaves it out", NULL}}},
        {"create table x (a int, b int generated always as (a) stored); insert into x (b) select "
         "id from t",
         {{1, 78, "cannot insert a non-DEFAULT value into column \"b\": it is a generated column",
           NULL}}},
        {"create table x (a int, b int generated always as (a) stored); insert into x select id, "
         "id from t",
         {{1, 88, "INSERT has more expressions than target columns",
           "the query gives 2 columns, 1 are written"}}},
        {"create table x (a int, b int generated always as (kafka_partition()) stored); insert "
         "into x select id from t",
         {{1, 91,
           "table \"x\" cannot be written: its column \"b\" is metadata of records that are read",
           "give the written table columns without metadata"}}},
        {"insert into s select id, name from t; insert into t (id) select id from s",
         {{1, 51, "topic \"t\" is both read (table t) and written (table t)",
           "a job cannot read what it writes; give the written table another topic"},
          {1, 73, "topic \"s\" is both read (table s) and written (table s)",
           "a job cannot read what it writes; give the written table another topic"}}},
        {"create table x (a int) with (topic = 't'); insert into x select id from t",
         {{1, 73, "topic \"t\" is both read (table t) and written (table x)",
           "a job cannot read what it writes; give the written table another topic"}}},
        {"create table x (id int, name text) with (topic = 's'); insert into s select id, name "
         "from t; insert into s select * from x",
         {{1, 122, "topic \"s\" is both read (table x) and written (table s)",
           "a job cannot read what it writes; give the written table another topic"}}},
        {"insert into nowhere select idd, name from t",
         {{1, 13, "relation \"nowhere\" does not exist", NULL},
          {1, 28, "column \"idd\" does not exist", "did you mean \"id\"?"}}},
        {"set weir.state_ttl = '1 day'",
         {{1, 1, "the job has no INSERT", "write INSERT INTO table SELECT … FROM table"}}},
        {"create table x as select id as a from t; insert into s select a, 'x' from x",
         {{1, 75, "topic \"x\" is both read (table x) and written (table x)",
           "a job cannot read what it writes; give the written table another topic"}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_insert_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
