// SPDX-License-Identifier: Apache-2.0
// What the formats have in common: message values become the columns of a batch, rows become
// message values or keys. A decoder or encoder is compiled once for a schema and used by the one
// task that owns it; nothing is allocated per record but in the batch's arena. Formats: JSON
// (json_decode.h, json_encode.h), Avro (avro_decode.h, avro_encode.h), raw (raw_format.h).
#ifndef WEIR_KAFKA_FORMAT_H
#define WEIR_KAFKA_FORMAT_H

#include "runtime/base/memory.h"
#include "runtime/batch.h"
#include "runtime/row_error.h"

// A record that gives no row because its value cannot be used.
struct weir_bad_record {
    uint32_t record_idx;
    enum weir_row_error_reason reason; // decode or constraint
    const char *message;               // in the arena; names the column where there is one
};

// What became of a record that gives no row and is not bad, in a keyed topic.
enum weir_record_fate {
    WEIR_RECORD_IS_ROW = 0, // or bad, or a null value
    WEIR_RECORD_DELETES,    // its key is gone
    WEIR_RECORD_SAYS_NOTHING,
};

// What a run of records has become. Everything is in the arena that decode was given, or points
// into the records' values, which the caller keeps for as long as the columns are read.
struct weir_decoded {
    uint32_t row_count;
    // schema->column_count of them, row_count rows each. validity is NULL where no value is NULL.
    struct weir_column *columns;
    // The record that row i comes from, ascending; NULL: row i is record i, for all of them.
    const uint16_t *record_of_row;
    const uint8_t *change;     // enum weir_change per row; NULL: all inserts
    uint32_t null_value_count; // records whose value is null: no row, not bad either
    const uint8_t *fates;      // enum weir_record_fate per record; NULL: null values delete
    uint32_t bad_count;
    const struct weir_bad_record *bad; // ascending by record_idx
};

struct weir_decoder {
    const struct weir_decoder_ops *ops;
};

struct weir_decoder_ops {
    // Decodes the values of `record_count` (at most WEIR_BATCH_ROWS_MAX) records; keys and headers
    // are not looked at. A record that fails leaves no trace in the rows. Cannot fail as a whole.
    // Views in the columns point into the values of the records or into the arena.
    void (*decode)(struct weir_decoder *decoder, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *decoded);
    // Is what decoding this record needs (a schema) not there yet? Then its id is *id, and the
    // record waits; it is being fetched, and the task is woken when it is there. NULL: no format
    // that waits. Does not block.
    bool (*missing)(struct weir_decoder *decoder, const struct weir_record *record, uint32_t *id);
    // Is what had that id still missing?
    bool (*is_missing)(struct weir_decoder *decoder, uint32_t id);
    void (*destroy)(struct weir_decoder *decoder);
};

static inline void weir_decoder_decode(struct weir_decoder *decoder,
                                       const struct weir_record *records, uint32_t record_count,
                                       struct weir_arena *arena, struct weir_decoded *decoded)
{
    decoder->ops->decode(decoder, records, record_count, arena, decoded);
}

static inline void weir_decoder_destroy(struct weir_decoder *decoder) // accepts NULL
{
    if (decoder != NULL) {
        decoder->ops->destroy(decoder);
    }
}

// One encoded row: out->data + offset_bytes. Offsets, as the buffer moves while it grows.
struct weir_encoded {
    size_t offset_bytes;
    size_t size_bytes;
    bool is_null; // a null message value or key; JSON never gives one
    const char *failure; // the row cannot be written: why, in the batch's arena. NULL: it can
};

static inline struct weir_view weir_encoded_view(const struct weir_buffer *out,
                                                 const struct weir_encoded *encoded)
{
    if (encoded->is_null) {
        return (struct weir_view){.data = NULL, .size_bytes = 0};
    }
    return (struct weir_view){.data = out->data + encoded->offset_bytes,
                              .size_bytes = encoded->size_bytes};
}

struct weir_encoder {
    const struct weir_encoder_ops *ops;
};

struct weir_encoder_ops {
    // Appends the selected rows first … first + count - 1 of the batch (weir_batch_row) to `out`
    // and says in encoded[0 … count - 1] where each lies, or why a row cannot be written. Cannot
    // fail as a whole. An existing content of `out` stays: value and key may share a buffer. What
    // lies between two rows is nobody's.
    void (*encode)(const struct weir_encoder *encoder, const struct weir_batch *batch,
                   uint32_t first, uint32_t count, struct weir_buffer *out,
                   struct weir_encoded *encoded);
    void (*destroy)(struct weir_encoder *encoder);
};

static inline void weir_encoder_encode(const struct weir_encoder *encoder,
                                       const struct weir_batch *batch, uint32_t first,
                                       uint32_t count, struct weir_buffer *out,
                                       struct weir_encoded *encoded)
{
    encoder->ops->encode(encoder, batch, first, count, out, encoded);
}

static inline void weir_encoder_destroy(struct weir_encoder *encoder) // accepts NULL
{
    if (encoder != NULL) {
        encoder->ops->destroy(encoder);
    }
}

#endif
