// SPDX-License-Identifier: Apache-2.0
// json: kept as it was written. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_JSON_TEXT_H
#define WEIR_RUNTIME_TYPES_JSON_TEXT_H

#include "runtime/base/memory.h"
#include "runtime/types/value_error.h"

// Whether it is JSON: "invalid input syntax for type json".
bool weir_json_validate(struct weir_view text, struct weir_value_error *error);

// Valid JSON without the blanks between its parts.
void weir_json_append_compact(struct weir_buffer *buffer, struct weir_view json);

#endif
