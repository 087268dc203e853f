// SPDX-License-Identifier: Apache-2.0
// Errors. Anything that can fail returns an enum weir_status and fills a struct weir_error once,
// where the failure began. Callers add context in front and never overwrite. Foreign errors are
// translated in the folder that owns the library. Thread: an error belongs to its caller's stack.
#ifndef WEIR_RUNTIME_BASE_ERROR_H
#define WEIR_RUNTIME_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum weir_status {
    WEIR_OK = 0,
    WEIR_ERROR = 1, // the struct weir_error says what and what to do next
};

// Where a failure began.
enum weir_error_domain {
    WEIR_DOMAIN_CONFIG,  // an environment variable
    WEIR_DOMAIN_SQL,     // the text of the job
    WEIR_DOMAIN_KAFKA,   // a broker or the client
    WEIR_DOMAIN_ACCESS,  // a right that the brokers want of weir's user
    WEIR_DOMAIN_STORE,   // checkpoint store, state directory, files
    WEIR_DOMAIN_DATA,    // a record or a row
    WEIR_DOMAIN_RUNTIME, // the engine itself
};

// What the one who holds the error does next (closed set; docs/FLOW.md shows who acts on it).
enum weir_error_action {
    WEIR_ACTION_REFUSE,  // found before the first record, for the operator to change: exit 2
    WEIR_ACTION_RETRY,   // the same call again, within its deadline
    WEIR_ACTION_RECOVER, // the epoch is lost: go back to the last committed checkpoint
    WEIR_ACTION_FENCED,  // a producer was fenced: look at the pointer, then exit 3 or recover
    WEIR_ACTION_FAIL,    // a replay would only repeat it: exit 1 at once
};

enum { WEIR_ERROR_TEXT_BYTES_MAX = 2048 };

struct weir_error {
    enum weir_error_domain domain;
    enum weir_error_action action;
    int32_t line_number;   // of the job's text, from 1; 0: no place
    int32_t column_number; // in characters, from 1
    char text[WEIR_ERROR_TEXT_BYTES_MAX];
};

// Fills *error (which may be NULL: the caller does not want to know) and returns WEIR_ERROR, so
// that a failing function ends in `return weir_error_set(…)`. Long texts are cut, never overrun.
enum weir_status weir_error_set(struct weir_error *error, enum weir_error_domain domain,
                                enum weir_error_action action, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

enum weir_status weir_error_set_va(struct weir_error *error, enum weir_error_domain domain,
                                   enum weir_error_action action, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

// Puts "<context>: " in front of the text. Returns WEIR_ERROR.
enum weir_status weir_error_context(struct weir_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *weir_error_action_name(enum weir_error_action action);
const char *weir_error_domain_name(enum weir_error_domain domain); // a word for counters

#endif
