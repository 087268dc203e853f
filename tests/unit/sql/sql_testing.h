// SPDX-License-Identifier: Apache-2.0
// What the tests of sql/ share: a table of texts that are refused, each with place, message and
// hint.
#ifndef WEIR_TESTS_UNIT_SQL_SQL_TESTING_H
#define WEIR_TESTS_UNIT_SQL_SQL_TESTING_H

#include "sql/plan.h"
#include "tests/unit/cmocka_all.h"

#include <stdio.h>

// What stands before every text; places are counted without it.
static const char sql_prelude[] =
    "CREATE TYPE bid_t AS (auction bigint, price bigint, extra text);\n"
    "CREATE TABLE t (id int, \"dateTime\" timestamp, bid bid_t, name text, v double precision,\n"
    "    ok boolean, d date, j jsonb);\n"
    "CREATE TABLE s (id int, name text);\n"
    "CREATE VIEW w AS SELECT id, name AS label FROM t;\n";
enum { SQL_PRELUDE_LINES = 5, SQL_PRELUDE_STATEMENTS = 4 };

struct sql_fault_expected {
    int32_t line_number;
    int32_t column_number;
    const char *message;
    const char *hint; // NULL: none
};

enum { SQL_FAULTS_MAX = 12 };

struct sql_refused {
    const char *sql;
    struct sql_fault_expected faults[SQL_FAULTS_MAX];
};

static inline bool sql_is_expected(const struct weir_sql_fault *fault,
                                   const struct sql_fault_expected *expected)
{
    const char *hint = fault->hint == NULL ? "" : fault->hint;
    return fault->line_number == expected->line_number + SQL_PRELUDE_LINES &&
           fault->column_number == expected->column_number &&
           strcmp(fault->message, expected->message) == 0 &&
           strcmp(hint, expected->hint == NULL ? "" : expected->hint) == 0;
}

// Every text gives exactly its faults, in order.
static inline void sql_assert_refused(const struct sql_refused *rows, size_t row_count)
{
    size_t failed_count = 0;
    for (size_t i = 0; i < row_count; i++) {
        struct weir_arena *arena = weir_arena_create(1 << 16);
        char *text = weir_arena_printf(arena, "%s%s", sql_prelude, rows[i].sql);
        const struct weir_plan *plan = NULL;
        struct weir_sql_faults faults;
        weir_sql_plan_all(text, arena, &plan, &faults);
        uint32_t expected_count = 0;
        while (expected_count < SQL_FAULTS_MAX && rows[i].faults[expected_count].message != NULL) {
            expected_count++;
        }
        bool is_failed = faults.count != expected_count;
        for (uint32_t j = 0; !is_failed && j < expected_count; j++) {
            is_failed = !sql_is_expected(&faults.items[j], &rows[i].faults[j]);
        }
        if (is_failed) {
            failed_count++;
            print_error("%s\n", rows[i].sql);
            for (uint32_t j = 0; j < faults.count; j++) {
                const struct weir_sql_fault *fault = &faults.items[j];
                print_error("  {%d, %d, \"%s\", %s%s%s}\n", fault->line_number - SQL_PRELUDE_LINES,
                            fault->column_number, fault->message, fault->hint == NULL ? "" : "\"",
                            fault->hint == NULL ? "NULL" : fault->hint,
                            fault->hint == NULL ? "" : "\"");
            }
        }
        weir_arena_destroy(arena);
    }
    assert_int_equal(failed_count, 0);
}

#define SQL_ASSERT_REFUSED(rows) sql_assert_refused(rows, sizeof(rows) / sizeof((rows)[0]))

#endif
