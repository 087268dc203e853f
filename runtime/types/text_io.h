// SPDX-License-Identifier: Apache-2.0
// Text input and output of values: PostgreSQL 15's input and output functions with TimeZone UTC,
// DateStyle "ISO, MDY", extra_float_digits 1, bytea_output hex, for every type of type.h.
// Numerics, dates and jsonb have headers of their own (numeric.h, datetime.h, jsonb.h); the calls
// by column below reach all of them.
//
// On the way of a record: decoding of a message's fields, casts from and to text. No allocation but
// in the given arena. Parse functions return false and fill *error (which may be NULL) with
// PostgreSQL's message; *out is then undefined. Texts need no NUL at their end. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_TEXT_IO_H
#define WEIR_RUNTIME_TYPES_TEXT_IO_H

#include "runtime/base/memory.h"
#include "runtime/batch.h"
#include "runtime/types/value_error.h"

#include <stdbool.h>
#include <stdint.h>

// --- by column -------------------------------------------------------------------------------

// Reads text into column[row] and marks the row as valid. The modifier of the column's type is
// applied (numeric(p,s) rounds, varchar(n) and char(n) refuse what is too long). Text and varchar
// keep the given view, unchecked (weir_text_validate); everything else that needs memory is put
// into the arena.
typedef bool (*weir_text_parse_fn)(struct weir_column *column, uint32_t row, struct weir_view text,
                                   struct weir_arena *arena, struct weir_value_error *error);
weir_text_parse_fn weir_text_parse_function(enum weir_type_kind kind);

static inline bool weir_text_parse(struct weir_column *column, uint32_t row, struct weir_view text,
                                   struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_text_parse_function(column->type.kind)(column, row, text, arena, error);
}

// Appends the text form of column[row], which must be valid.
typedef void (*weir_text_append_fn)(struct weir_buffer *buffer, const struct weir_column *column,
                                    uint32_t row);
weir_text_append_fn weir_text_append_function(enum weir_type_kind kind);

static inline void weir_text_append(struct weir_buffer *buffer, const struct weir_column *column,
                                    uint32_t row)
{
    weir_text_append_function(column->type.kind)(buffer, column, row);
}

// --- by type: input --------------------------------------------------------------------------

bool weir_boolean_parse(struct weir_view text, bool *out, struct weir_value_error *error);
bool weir_smallint_parse(struct weir_view text, int16_t *out, struct weir_value_error *error);
bool weir_integer_parse(struct weir_view text, int32_t *out, struct weir_value_error *error);
bool weir_bigint_parse(struct weir_view text, int64_t *out, struct weir_value_error *error);
bool weir_real_parse(struct weir_view text, float *out, struct weir_value_error *error);
bool weir_double_parse(struct weir_view text, double *out, struct weir_value_error *error);

// A JSON number for a float column: like the above, but what is too small becomes 0 (the sign
// stays) instead of an error; too large is one.
bool weir_real_parse_json_number(struct weir_view text, float *out, struct weir_value_error *error);
bool weir_double_parse_json_number(struct weir_view text, double *out,
                                   struct weir_value_error *error);
// A JSON number for an integer column: 1e3 is 1000; a point is refused, 1.0 too.
bool weir_bigint_parse_json_number(struct weir_view text, int64_t *out,
                                   struct weir_value_error *error);

bool weir_uuid_parse(struct weir_view text, struct weir_uuid *out, struct weir_value_error *error);

// Hex (\x01ff) and escape format.
bool weir_bytea_parse(struct weir_view text, struct weir_arena *arena, struct weir_view *out,
                      struct weir_value_error *error);

// text as it enters a database: valid UTF-8 (no surrogates, no overlong forms) without NUL.
// `invalid byte sequence for encoding "UTF8": 0xff`.
bool weir_text_validate(struct weir_view text, struct weir_value_error *error);

// At most char_count_max characters: assignment to varchar(n). What is too long loses blanks at its
// end if that makes it fit, else is refused: `value too long for type character varying(3)`.
bool weir_varchar_fit(struct weir_view text, int32_t char_count_max, struct weir_view *out,
                      struct weir_value_error *error);
// The same for char(n), which is padded with blanks to n characters; in the arena, unless it has
// that length already. n < 0: as it is.
bool weir_char_fit(struct weir_view text, int32_t char_count, struct weir_arena *arena,
                   struct weir_view *out, struct weir_value_error *error);
// An explicit cast: cut and padded.
struct weir_view weir_char_cut(struct weir_view text, int32_t char_count, struct weir_arena *arena);
// Without the blanks at its end: what a char(n) is compared by, and its form as text.
struct weir_view weir_char_trim(struct weir_view text);
// The first char_count characters: explicit cast to varchar(n), substr, left.
struct weir_view weir_text_prefix(struct weir_view text, uint32_t char_count);
uint32_t weir_text_char_count(struct weir_view text);

// --- by type: output -------------------------------------------------------------------------

void weir_boolean_append(struct weir_buffer *buffer, bool value); // t, f
void weir_integer_append(struct weir_buffer *buffer, int64_t value);
void weir_real_append(struct weir_buffer *buffer, float value);
void weir_double_append(struct weir_buffer *buffer, double value);
void weir_bytea_append(struct weir_buffer *buffer, struct weir_view value); // \x01ff
void weir_uuid_append(struct weir_buffer *buffer, const struct weir_uuid *value);

#endif
