// SPDX-License-Identifier: Apache-2.0
// What a decoded column must hold, worked out from another parser's tree (jansson). Aborts with a
// message where the two disagree. Fuzzing only. Thread: one.
#ifndef WEIR_TESTS_FUZZ_JSON_MODEL_H
#define WEIR_TESTS_FUZZ_JSON_MODEL_H

#include "runtime/batch.h"

#include <jansson.h>

enum json_verdict {
    JSON_ACCEPT,
    JSON_REJECT,
    JSON_UNDECIDED, // the tree has not kept enough (spelling of a number) to tell
};

// Whether `value` (NULL: missing) fits the type. Timestamps are in milliseconds.
enum json_verdict json_model_verdict(const struct weir_type *type, const json_t *value);

// column[row] was decoded from `value`.
void json_model_check(const struct weir_column *column, uint32_t row, const json_t *value);

#endif
