// SPDX-License-Identifier: Apache-2.0
// JSON message values to typed columns, as PostgreSQL's jsonb_to_record reads them but for the
// differences that docs list: numbers keep their text, floats are read by strtod, containers give
// text columns their text as received, members that no column names need only be well-formed, of
// the special date words only infinity, -infinity and epoch are taken.
// Thread: a decoder belongs to one task; it learns the order of members from the records it sees.
#ifndef WEIR_KAFKA_JSON_DECODE_H
#define WEIR_KAFKA_JSON_DECODE_H

#include "kafka/format.h"

struct weir_json_decode_options {
    // A number for a timestamp column counts units of 10^-digits seconds since 1970: 0 seconds,
    // 3 milliseconds, 6 microseconds, 9 nanoseconds.
    uint32_t timestamp_digits;
};

// schema: the columns to decode, composites pruned to the fields that are read; both live as long
// as the decoder. No columns at all: records need only be JSON objects. Never NULL.
struct weir_decoder *weir_json_decoder_create(const struct weir_schema *schema,
                                              const struct weir_json_decode_options *options);

// What the values of the records of the next decode stand for, by record and then by column. Lives
// until that is over. NULL: plain JSON, as at first.
struct weir_json_meaning;
void weir_json_decoder_set_meanings(struct weir_decoder *decoder,
                                    const struct weir_json_meaning *const *by_record);

#endif
