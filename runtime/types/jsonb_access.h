// SPDX-License-Identifier: Apache-2.0
// Looking into a jsonb value (jsonb.h: canonical text) without building a tree: members, elements,
// scalars as text. Found values are views into the given one. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_JSONB_ACCESS_H
#define WEIR_RUNTIME_TYPES_JSONB_ACCESS_H

#include "runtime/base/memory.h"
#include "runtime/base/view.h"

#include <stdbool.h>
#include <stdint.h>

enum weir_jsonb_kind {
    WEIR_JSONB_NULL,
    WEIR_JSONB_BOOLEAN,
    WEIR_JSONB_NUMBER,
    WEIR_JSONB_STRING,
    WEIR_JSONB_ARRAY,
    WEIR_JSONB_OBJECT,
};

enum weir_jsonb_kind weir_jsonb_kind_of(struct weir_view value);
const char *weir_jsonb_kind_name(enum weir_jsonb_kind kind); // as jsonb_typeof() says it

// A key as it stands in canonical text, quotes included. Made once, used for many values.
void weir_jsonb_append_key(struct weir_buffer *buffer, struct weir_view key);

// object -> key. false: no such member, or no object.
bool weir_jsonb_member(struct weir_view object, struct weir_view quoted_key,
                       struct weir_view *value);
// array -> idx; negative: from the end. A scalar counts as an array of one. false: out of bounds,
// or an object.
bool weir_jsonb_element(struct weir_view array, int64_t idx, struct weir_view *value);

// Appends what ->> gives: a string without quotes and escapes, anything else as its text. The
// caller looks for null first.
void weir_jsonb_append_text(struct weir_buffer *buffer, struct weir_view value);

#endif
