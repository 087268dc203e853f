// SPDX-License-Identifier: Apache-2.0
// What is wrong with a job, collected: one statement's fault does not keep the others from being
// looked at. A function of sql/ that fails has added a fault, or has met something that an earlier
// fault broke (a table whose CREATE TABLE was refused), and returns WEIR_ERROR; so faults are never
// reported twice. Thread: that of weir_sql_plan.
#ifndef WEIR_SQL_FAULT_H
#define WEIR_SQL_FAULT_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "sql/text.h"

struct weir_fault {
    uint32_t statement_number; // 0: of no statement
    int32_t offset;            // -1: no place
    const char *text;          // what is wrong
    const char *hint;          // what to write instead; NULL: nothing is known
};

struct weir_faults {
    struct weir_arena *arena;
    struct weir_sql_text text;
    uint32_t statement_number; // of faults added from now on
    int32_t statement_offset;  // their place where nothing better is known
    uint32_t count;
    uint32_t capacity;
    struct weir_fault *items;
};

// Adds a fault at offset (-1: the beginning of the statement). hint: kept by pointer, may be NULL.
// Returns WEIR_ERROR.
enum weir_status weir_fault_add(struct weir_faults *faults, int32_t offset, const char *hint,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

// What an expression's constructor refused, at offset. Returns WEIR_ERROR.
enum weir_status weir_fault_add_error(struct weir_faults *faults, int32_t offset,
                                      const struct weir_error *error);

// "did you mean "x"?" in the arena; NULL when nearest is.
const char *weir_fault_did_you_mean(struct weir_faults *faults, const char *nearest);

// The fault as people read it: statement, line, column, what is wrong, the line with a caret, hint.
// No newline at the end.
void weir_fault_print(const struct weir_faults *faults, const struct weir_fault *fault,
                      struct weir_buffer *out);

// All faults in one error: place of the first, texts of as many as there is room for. Returns
// WEIR_ERROR.
enum weir_status weir_faults_to_error(const struct weir_faults *faults, struct weir_error *error);

#endif
