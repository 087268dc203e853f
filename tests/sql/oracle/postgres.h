// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL 15 of the test's own: made in a temporary folder, reached by a socket in it, gone
// with the program. UTF8, collation by bytes, case by Unicode, times in UTC: what weir answers by.
// Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_SQL_ORACLE_POSTGRES_H
#define WEIR_TESTS_SQL_ORACLE_POSTGRES_H

// NULL: there is one; else why not. PostgreSQL's programs are looked for in
// $WEIR_TEST_POSTGRES_BIN, else where Debian and Fedora put them.
const char *oracle_postgres_missing(void);

// Starts it. The path is psql's host.
const char *oracle_postgres_start(void);

// Runs a script with psql; \o in it writes files. Any error fails the test with what psql says.
void oracle_postgres_run(const char *host, const char *script_path);

#endif
