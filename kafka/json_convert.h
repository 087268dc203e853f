// SPDX-License-Identifier: Apache-2.0
// From a place in the text of a record, as the scanner has noted it, to a value in a column: the
// second half of decoding. The types' own input functions (runtime/types) decide what is a value;
// here stands only what JSON adds to them. Private to the JSON format. Thread: the decoder's.
#ifndef WEIR_KAFKA_JSON_CONVERT_H
#define WEIR_KAFKA_JSON_CONVERT_H

#include "kafka/json_shape.h"
#include "runtime/row_error.h"
#include "runtime/types/value_error.h"

// A column or field to be filled.
struct weir_json_target {
    const char *path; // "bid", "bid.price": for messages
    uint32_t slot_idx;
    uint32_t field_count; // composites
    struct weir_json_target *fields;
};

// What the numbers and strings of a column stand for where they are no plain JSON (json_meaning.h).
enum weir_json_meaning_kind {
    WEIR_MEANING_PLAIN,
    WEIR_MEANING_DAYS,             // since 1970
    WEIR_MEANING_CLOCK,            // units of 10^-digits seconds since midnight
    WEIR_MEANING_TIMESTAMP,        // the same since 1970
    WEIR_MEANING_DURATION,         // the same
    WEIR_MEANING_DECIMAL,          // base64 of the unscaled number; digits: the scale
    WEIR_MEANING_VARIABLE_DECIMAL, // an object of scale and value
    WEIR_MEANING_UNKNOWN_DECIMAL,  // perhaps base64, but no scale is known
    WEIR_MEANING_BASE64,
};

struct weir_json_meaning {
    enum weir_json_meaning_kind kind;
    uint16_t digits;
};

struct weir_json_conversion {
    uint32_t timestamp_digits; // as in struct weir_json_decode_options
    const struct weir_json_slot *slots;
    const struct weir_json_meaning *meaning; // of the column being filled; NULL: plain JSON
    struct weir_arena *arena;
    // Filled where a conversion fails.
    const struct weir_json_target *failed;
    enum weir_row_error_reason reason;
    struct weir_value_error error;
};

// Fills column[row], and marks it valid unless the value is missing or null (its data is then all
// zeros; a NULL composite has NULL fields). The row's bits are clear before. False: not a value of
// the column's type; the row is then undefined, see weir_json_clear.
bool weir_json_convert(struct weir_json_conversion *conversion,
                       const struct weir_json_target *target, struct weir_column *column,
                       uint32_t row);

// The same for a value whose slot is at hand and that is not null. target: NULL unless the column
// is a composite. Does not mark the row.
bool weir_json_convert_value(struct weir_json_conversion *conversion,
                             const struct weir_json_target *target,
                             const struct weir_json_slot *slot, struct weir_column *column,
                             uint32_t row);

// In json_array.c: a JSON array for an array column.
bool weir_json_convert_array(struct weir_json_conversion *conversion,
                             const struct weir_json_slot *slot, struct weir_column *column,
                             uint32_t row);

// Takes back what a conversion that failed has left in column[row].
void weir_json_clear(const struct weir_json_target *target, struct weir_column *column,
                     uint32_t row);

#endif
