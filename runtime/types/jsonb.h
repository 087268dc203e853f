// SPDX-License-Identifier: Apache-2.0
// jsonb, held in the text form that PostgreSQL prints: {"a": 1, "b": [1, 2]}, keys without
// duplicates (the last wins) ordered by length and then bytes, numbers as numeric prints them
// (1e3 is 1000, 1.0 stays 1.0), escapes normalised. Two values that are equal in PostgreSQL differ
// in text at most by zeros at the end of a fraction.
// Thread: any; yyjson is used inside and does not leave this folder.
#ifndef WEIR_RUNTIME_TYPES_JSONB_H
#define WEIR_RUNTIME_TYPES_JSONB_H

#include "runtime/base/memory.h"
#include "runtime/types/value_error.h"

#include <stdbool.h>
#include <stdint.h>

// Arrays and objects within one another; deeper is refused, where PostgreSQL's own limit depends on
// its stack.
enum { WEIR_JSONB_DEPTH_MAX = 2000 };

// JSON text to the canonical form, in the arena. "invalid input syntax for type json",
// "unsupported Unicode escape sequence" (\u0000), "value overflows numeric format".
bool weir_jsonb_parse(struct weir_view text, struct weir_arena *arena, struct weir_view *out,
                      struct weir_value_error *error);

// PostgreSQL's order of jsonb; both are canonical.
int weir_jsonb_compare(struct weir_view a, struct weir_view b);
// Equal values have equal hashes. Stable for ever.
uint64_t weir_jsonb_hash(struct weir_view value);

#endif
