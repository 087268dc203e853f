// SPDX-License-Identifier: Apache-2.0
// How one column becomes one value of an Avro schema: decided once (weir_avro_put_create), done for
// every row (weir_avro_put). Private to the Avro format.
//
// What may become what
//   boolean                boolean
//   smallint … bigint      int (range-checked), long, decimal
//   real, double           float (real only), double
//   numeric                decimal (rounded to its scale)
//   text, varchar, char    string, enum
//   bytea                  bytes, fixed of its size
//   date                   date
//   time                   time-millis, time-micros
//   timestamp(tz)          timestamp-*, local-timestamp-*; what is below a millisecond is dropped
//   interval               duration, where it has no sign
//   uuid                   uuid
//   composite              record
//   array                  array
//   anything               string: its text
#ifndef WEIR_KAFKA_AVRO_PUT_H
#define WEIR_KAFKA_AVRO_PUT_H

#include "kafka/avro_schema.h"
#include "kafka/format.h"
#include "runtime/batch.h"
#include "runtime/types/text_io.h"

enum weir_avro_put_code {
    // Of which is known beforehand how much they take, but for the length of a text
    // (avro_put_value.h): from I64 to BOOLEAN.
    WEIR_AVRO_PUT_I64,
    WEIR_AVRO_PUT_BYTES, // text as well
    WEIR_AVRO_PUT_TIMESTAMP_MS,
    WEIR_AVRO_PUT_TIMESTAMP_US,
    WEIR_AVRO_PUT_I32,
    WEIR_AVRO_PUT_I16,
    WEIR_AVRO_PUT_F64,
    WEIR_AVRO_PUT_DATE,
    WEIR_AVRO_PUT_BOOLEAN,

    WEIR_AVRO_PUT_F32,
    WEIR_AVRO_PUT_F32_DOUBLE,
    WEIR_AVRO_PUT_FIXED,
    WEIR_AVRO_PUT_ENUM,
    WEIR_AVRO_PUT_DECIMAL, // numerics and integers
    WEIR_AVRO_PUT_TIME_MS,
    WEIR_AVRO_PUT_DURATION,
    WEIR_AVRO_PUT_UUID_FIXED,
    WEIR_AVRO_PUT_TEXT, // through the output function of the column's type
    WEIR_AVRO_PUT_RECORD,
    WEIR_AVRO_PUT_ARRAY,
    WEIR_AVRO_PUT_DEFAULT, // no column: the field's default
};

struct weir_avro_put {
    enum weir_avro_put_code code;
    uint32_t column_idx; // of the row, or of the composite's fields
    int32_t null_branch; // -1: the schema takes no NULL
    int32_t branch;      // of values; -1: no union
    bool is_int;         // the number must fit 32 bits
    const char *path;
    const struct weir_avro_type *type; // without its union
    weir_text_append_fn append;        // TEXT
    struct weir_view bytes;            // DEFAULT
    uint32_t part_count;               // RECORD: its fields; ARRAY: one, its elements
    struct weir_avro_put *parts;
};

// Appends column[row]. False: it does not fit; *failure (in the arena) says why, and what was
// appended is rubbish.
bool weir_avro_put(const struct weir_avro_put *put, const struct weir_column *column, uint32_t row,
                   struct weir_arena *arena, struct weir_buffer *out, const char **failure);

// A whole record, its fields from the columns of a row. False as above.
bool weir_avro_put_row(const struct weir_avro_put *record, const struct weir_column *columns,
                       uint32_t row, struct weir_arena *arena, struct weir_buffer *out,
                       const char **failure);

// Of a row of that record, without the lengths of its texts. 0: not known beforehand, and rows are
// written one by one.
uint32_t weir_avro_put_most_bytes(const struct weir_avro_put *record);

enum { WEIR_AVRO_FRAME_ROOM_BYTES = 16 }; // where a frame lies, so that it is copied as a whole

// Rows first … first + count - 1 of the batch, each behind a frame, which lies in
// WEIR_AVRO_FRAME_ROOM_BYTES; encoded[0 … count - 1] as an encoder gives it.
void weir_avro_put_rows(const struct weir_avro_put *record, uint32_t most_bytes, const char *frame,
                        size_t frame_bytes, const struct weir_batch *batch, uint32_t first,
                        uint32_t count, struct weir_buffer *out, struct weir_encoded *encoded);

// The fields of a record from columns, each by its name. Error (REFUSE), see avro_encode.h.
enum weir_status weir_avro_put_record(struct weir_arena *arena, const char *path,
                                      const struct weir_avro_type *record, uint32_t field_count,
                                      const struct weir_field *const *fields,
                                      const uint32_t *column_idxs, struct weir_avro_put *put,
                                      struct weir_error *error);

#endif
