// SPDX-License-Identifier: Apache-2.0
// The queries of tests/sql/oracle/*.sql. A query ends at a semicolon at the end of a line; comments
// in front of it may hold one of these:
//     -- key: a, b       its result changes: these columns are its primary key
//     -- weir:           the next query is weir's alone, and
//     -- postgresql:     the one after it is what PostgreSQL is asked instead
// Memory lives as long as the program. Thread: the tests'.
#ifndef WEIR_TESTS_SQL_ORACLE_CASES_H
#define WEIR_TESTS_SQL_ORACLE_CASES_H

#include <stddef.h>

struct oracle_case {
    const char *name; // file:line
    const char *sink; // "o12"
    const char *key;  // columns; NULL: append-only
    const char *weir; // without the semicolon
    const char *postgresql;
};

struct oracle_cases {
    struct oracle_case *items;
    size_t count;
};

struct oracle_cases oracle_cases_read(const char *folder);

#endif
