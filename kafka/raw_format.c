// SPDX-License-Identifier: Apache-2.0
// See raw_format.h. Nothing is copied on the way in: the column's views are the message values.
#include "kafka/raw_format.h"

#include "runtime/base/assert.h"
#include "runtime/types/text_io.h"

#include <stdlib.h>

// --- decoder ---------------------------------------------------------------------------------

struct raw_decoder {
    struct weir_decoder base;
    const struct weir_schema *schema;
};

// False: the value cannot be one of the column; *error and *reason say why.
static bool take_value(struct weir_column *column, uint32_t row, struct weir_view value,
                       struct weir_arena *arena, enum weir_row_error_reason *reason,
                       struct weir_value_error *error)
{
    const struct weir_type *type = &column->type;
    *reason = WEIR_ROW_ERROR_DECODE;
    if (type->kind == WEIR_TYPE_BYTEA) {
        column->view[row] = value;
        return true;
    }
    if (!weir_text_validate(value, error)) {
        return false;
    }
    if ((type->kind == WEIR_TYPE_VARCHAR || type->kind == WEIR_TYPE_CHAR) && type->modifier >= 0) {
        *reason = WEIR_ROW_ERROR_CONSTRAINT;
    }
    return weir_text_parse(column, row, value, arena, error);
}

static void decode(struct weir_decoder *base, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *decoded)
{
    const struct weir_schema *schema = ((struct raw_decoder *)base)->schema;
    WEIR_ASSERT(record_count <= WEIR_BATCH_ROWS_MAX);
    *decoded = (struct weir_decoded){0};
    uint32_t column_count = schema->column_count;
    decoded->columns = weir_arena_alloc_zero(arena, column_count * sizeof *decoded->columns);
    if (column_count != 0) {
        // A message value is never NULL; fields of a composite may be.
        bool with_validity = schema->columns[0].type.kind == WEIR_TYPE_COMPOSITE;
        weir_column_init(decoded->columns, &schema->columns[0].type, record_count, with_validity,
                         arena);
    }
    struct weir_bad_record *bad = weir_arena_alloc(arena, record_count * sizeof *bad);
    uint16_t *record_of_row = weir_arena_alloc(arena, record_count * sizeof *record_of_row);
    uint32_t row_count = 0;
    for (uint32_t i = 0; i < record_count; i++) {
        struct weir_view value = records[i].value;
        if (value.data == NULL) {
            decoded->null_value_count++;
            continue;
        }
        enum weir_row_error_reason reason;
        struct weir_value_error error;
        if (column_count != 0 &&
            !take_value(&decoded->columns[0], row_count, value, arena, &reason, &error)) {
            bad[decoded->bad_count++] = (struct weir_bad_record){
                .record_idx = i,
                .reason = reason,
                .message = weir_arena_printf(arena, "column \"%s\": %s", schema->columns[0].name,
                                             error.text),
            };
            continue;
        }
        record_of_row[row_count++] = (uint16_t)i;
    }
    decoded->row_count = row_count;
    decoded->bad = bad;
    decoded->record_of_row = row_count != record_count ? record_of_row : NULL;
}

static void destroy_decoder(struct weir_decoder *base)
{
    free((struct raw_decoder *)base);
}

struct weir_decoder *weir_raw_decoder_create(const struct weir_schema *schema)
{
    static const struct weir_decoder_ops ops = {.decode = decode, .destroy = destroy_decoder};
    WEIR_ASSERT(schema->column_count <= 1);
    struct raw_decoder *decoder = weir_alloc_zero(sizeof *decoder);
    decoder->base.ops = &ops;
    decoder->schema = schema;
    return &decoder->base;
}

// --- encoder ---------------------------------------------------------------------------------

struct raw_encoder {
    struct weir_encoder base;
    uint32_t column_idx;
    bool is_bytes; // text, varchar, bytea: the view as it is
    weir_text_append_fn append;
};

static void encode(const struct weir_encoder *base, const struct weir_batch *batch, uint32_t first,
                   uint32_t count, struct weir_buffer *out, struct weir_encoded *encoded)
{
    const struct raw_encoder *encoder = (const struct raw_encoder *)base;
    WEIR_ASSERT(first <= batch->selected_count && count <= batch->selected_count - first);
    const struct weir_column *column = &batch->columns[encoder->column_idx];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = weir_batch_row(batch, first + i);
        size_t offset_bytes = out->size_bytes;
        bool is_null = !weir_column_is_valid(column, row);
        if (!is_null && encoder->is_bytes) {
            weir_buffer_append(out, column->view[row].data, column->view[row].size_bytes);
        } else if (!is_null) {
            encoder->append(out, column, row);
        }
        encoded[i] = (struct weir_encoded){
            .offset_bytes = offset_bytes,
            .size_bytes = out->size_bytes - offset_bytes,
            .is_null = is_null,
        };
    }
    weir_buffer_reserve(out, 1); // a view of an empty value has data, or it would be null
}

static void destroy_encoder(struct weir_encoder *base)
{
    free((struct raw_encoder *)base);
}

struct weir_encoder *weir_raw_encoder_create(const struct weir_schema *schema, uint32_t column_idx)
{
    static const struct weir_encoder_ops ops = {.encode = encode, .destroy = destroy_encoder};
    WEIR_ASSERT(column_idx < schema->column_count);
    enum weir_type_kind kind = schema->columns[column_idx].type.kind;
    struct raw_encoder *encoder = weir_alloc_zero(sizeof *encoder);
    encoder->base.ops = &ops;
    encoder->column_idx = column_idx;
    encoder->is_bytes =
        kind == WEIR_TYPE_TEXT || kind == WEIR_TYPE_VARCHAR || kind == WEIR_TYPE_BYTEA;
    encoder->append = encoder->is_bytes ? NULL : weir_text_append_function(kind);
    return &encoder->base;
}
