// SPDX-License-Identifier: Apache-2.0
// Why a value was refused: a text cannot be read as a type, a result does not fit. These happen per
// value, on the way of a record, so they carry no domain and no action: whoever holds the row turns
// them into a row error, whoever holds a literal of the job's text into a struct weir_error.
// Thread: an error belongs to its caller's stack; it need not be initialised.
#ifndef WEIR_RUNTIME_TYPES_VALUE_ERROR_H
#define WEIR_RUNTIME_TYPES_VALUE_ERROR_H

#include "runtime/base/view.h"

#include <stdbool.h>

enum { WEIR_VALUE_ERROR_TEXT_BYTES_MAX = 256, WEIR_VALUE_ERROR_DETAIL_BYTES_MAX = 160 };

struct weir_value_error {
    char text[WEIR_VALUE_ERROR_TEXT_BYTES_MAX];     // PostgreSQL's primary message
    char detail[WEIR_VALUE_ERROR_DETAIL_BYTES_MAX]; // its DETAIL or HINT where it helps, else ""
};

// Fills *error (which may be NULL: the caller does not want to know) and returns false, so that a
// failing function ends in `return weir_value_error_set(…)`. Long texts are cut between characters.
bool weir_value_error_set(struct weir_value_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

// Adds the detail to an error that is set. Returns false.
bool weir_value_error_detail(struct weir_value_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

// `invalid input syntax for type <type>: "<text>"`. Returns false.
bool weir_value_error_syntax(struct weir_value_error *error, const char *type_name,
                             struct weir_view text) __attribute__((cold));

// `value "<text>" is out of range for type <type>`. Returns false.
bool weir_value_error_range(struct weir_value_error *error, const char *type_name,
                            struct weir_view text) __attribute__((cold));

#endif
