// SPDX-License-Identifier: Apache-2.0
// FROM, WITH, UNION ALL and the names in them. Place, message and hint of every fault.
#include "tests/unit/sql/sql_testing.h"

static void test_select_refuses(void **state)
{
    (void)state;
    static const struct sql_refused rows[] = {
        {"insert into s select * from tt", {{1, 29, "relation \"tt\" does not exist", NULL}}},
        {"insert into s select * from flights",
         {{1, 29, "relation \"flights\" does not exist", NULL}}},
        {"with big as (select * from t) insert into s select id, name from bigg",
         {{1, 66, "relation \"bigg\" does not exist", "did you mean \"big\"?"}}},
        {"insert into s select x.id, name from t",
         {{1, 22, "missing FROM-clause entry for table \"x\"", NULL}}},
        {"insert into s select t.id, name from t x",
         {{1, 22, "missing FROM-clause entry for table \"t\"", "its alias here is \"x\""}}},
        {"insert into s select y.id, name from t xy",
         {{1, 22, "missing FROM-clause entry for table \"y\"", NULL}}},
        {"insert into s select bid.price, name from t",
         {{1, 22, "missing FROM-clause entry for table \"bid\"",
           "for a field of column bid write (bid).price"}}},
        {"insert into s select bid.* from t",
         {{1, 22, "missing FROM-clause entry for table \"bid\"",
           "for a field of column bid write (bid).*"}}},
        {"insert into s select x.* from t",
         {{1, 22, "missing FROM-clause entry for table \"x\"", NULL}}},
        {"insert into s select id, t.bid.extra from t",
         {{1, 26, "missing FROM-clause entry for table \"bid\"", "write (t.bid).extra"}}},
        {"insert into s select a.b.c.d, name from t",
         {{1, 22, "missing FROM-clause entry for table \"a\"", NULL}}},
        {"insert into s select t, name from t",
         {{1, 22, "not supported: a whole row (t) as a value", "name its columns"}}},
        {"insert into s select id, name from t x (a, b)",
         {{1, 22, "column \"id\" does not exist", NULL}}},
        {"insert into s select a, b from t x (a, b, c, d, e, f, g, h, i)",
         {{1, 32, "table \"x\" has 8 columns available but 9 columns specified", NULL}}},
        {"insert into s select id, name from (select id, name, id as name from t) x",
         {{1, 26, "column reference \"name\" is ambiguous",
           "give the columns different names: AS"}}},
        {"with x as (select id, name from t), x as (select * from t) insert into s select * from x",
         {{1, 37, "WITH query name \"x\" specified more than once", NULL}}},
        {"with x (a, b, c) as (select id, name from t) insert into s select a, b from x",
         {{1, 6, "table \"x\" has 2 columns available but 3 columns specified", NULL}}},
        {"insert into s select id, name from t union all select id from t",
         {{1, 55, "each UNION query must have the same number of columns", NULL}}},
        {"insert into s select id, name from t union all select name, id from t",
         {{1, 55, "UNION types integer and text cannot be matched", NULL},
          {1, 61, "UNION types text and integer cannot be matched", NULL}}},
        {"insert into s select id, name from t union all select 'x', name from t",
         {{1, 55, "invalid input syntax for type integer: \"x\"", NULL}}},
        {"insert into s select id, name from t union all select idd, nam from t",
         {{1, 55, "column \"idd\" does not exist", "did you mean \"id\"?"},
          {1, 60, "column \"nam\" does not exist", "did you mean \"name\"?"}}},
        {"insert into s select id, name from t where count > 3",
         {{1, 44, "column \"count\" does not exist", NULL}}},
        {"insert into s select (bid).* from t",
         {{1, 22, "INSERT has more expressions than target columns",
           "the query gives 3 columns, 2 are written"}}},
        {"insert into s select (id).* from t", {{1, 22, "type integer is not composite", NULL}}},
        {"insert into s select upper(*) from t",
         {{1, 22, "not supported: * as an argument (upper)", NULL}}},
        {"insert into s select id, upper(t.*) from t",
         {{1, 32, "row expansion via \"*\" is not supported here", NULL}}},
    };
    SQL_ASSERT_REFUSED(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
