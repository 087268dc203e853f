// SPDX-License-Identifier: Apache-2.0
// See json_encode.h. The last step of a row before it becomes a message. What stands between two
// values never changes, so it is prepared: `{"a":` in front of the first, `,"b":` in front of the
// next. How a value looks is decided by runtime/types/json_out.h alone.
#include "kafka/json_encode.h"

#include "runtime/base/assert.h"
#include "runtime/types/json_out.h"

#include <stdlib.h>

enum { LEAD_IN_STEP_BYTES = 16 };

struct part {
    // {"name": or ,"name": with room behind it up to a multiple of the step, so that it can be
    // copied without asking for its exact size.
    const char *lead_in;
    uint32_t lead_in_bytes;
    uint32_t column_idx;
    weir_json_append_fn append;
};

struct json_encoder {
    struct weir_encoder base;
    uint32_t part_count;
    struct part *parts;
    struct weir_arena *arena;
};

static inline void append_lead_in(const struct part *part, struct weir_buffer *out)
{
    char *to = weir_buffer_reserve(out, part->lead_in_bytes + LEAD_IN_STEP_BYTES);
    for (uint32_t i = 0; i < part->lead_in_bytes; i += LEAD_IN_STEP_BYTES) {
        memcpy(to + i, part->lead_in + i, LEAD_IN_STEP_BYTES);
    }
    out->size_bytes += part->lead_in_bytes;
}

static inline void append_row(const struct json_encoder *encoder, const struct weir_column *columns,
                              uint32_t row, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < encoder->part_count; i++) {
        const struct part *part = &encoder->parts[i];
        const struct weir_column *column = &columns[part->column_idx];
        append_lead_in(part, out);
        if (weir_column_is_valid(column, row)) {
            part->append(out, column, row);
        } else {
            weir_buffer_append(out, "null", 4);
        }
    }
    if (encoder->part_count == 0) {
        weir_buffer_append_char(out, '{');
    }
    weir_buffer_append_char(out, '}');
}

static void encode(const struct weir_encoder *base, const struct weir_batch *batch, uint32_t first,
                   uint32_t count, struct weir_buffer *out, struct weir_encoded *encoded)
{
    const struct json_encoder *encoder = (const struct json_encoder *)base;
    WEIR_ASSERT(first <= batch->selected_count && count <= batch->selected_count - first);
    for (uint32_t i = 0; i < count; i++) {
        size_t offset_bytes = out->size_bytes;
        append_row(encoder, batch->columns, weir_batch_row(batch, first + i), out);
        encoded[i] = (struct weir_encoded){
            .offset_bytes = offset_bytes,
            .size_bytes = out->size_bytes - offset_bytes,
            .is_null = false,
        };
    }
}

void weir_json_encode_row(const struct weir_encoder *encoder, const struct weir_column *columns,
                          uint32_t row, struct weir_buffer *out)
{
    WEIR_ASSERT(encoder->ops->encode == encode);
    append_row((const struct json_encoder *)encoder, columns, row, out);
}

static void destroy(struct weir_encoder *base)
{
    struct json_encoder *encoder = (struct json_encoder *)base;
    weir_arena_destroy(encoder->arena);
    free(encoder);
}

struct weir_encoder *weir_json_encoder_create_for(const struct weir_schema *schema,
                                                  uint32_t column_count,
                                                  const uint32_t *column_idxs)
{
    static const struct weir_encoder_ops ops = {.encode = encode, .destroy = destroy};
    struct json_encoder *encoder = weir_alloc_zero(sizeof *encoder);
    encoder->base.ops = &ops;
    encoder->arena = weir_arena_create(4096);
    encoder->part_count = column_count;
    encoder->parts = weir_arena_alloc_zero(encoder->arena, column_count * sizeof *encoder->parts);
    struct weir_buffer text = {0};
    for (uint32_t i = 0; i < column_count; i++) {
        WEIR_ASSERT(column_idxs[i] < schema->column_count);
        const struct weir_field *field = &schema->columns[column_idxs[i]];
        text.size_bytes = 0;
        weir_buffer_append_char(&text, i == 0 ? '{' : ',');
        weir_json_append_string(&text, weir_view_of(field->name));
        weir_buffer_append_char(&text, ':');
        char *lead_in = weir_arena_alloc_zero(encoder->arena, text.size_bytes + LEAD_IN_STEP_BYTES);
        memcpy(lead_in, text.data, text.size_bytes);
        encoder->parts[i] = (struct part){
            .lead_in = lead_in,
            .lead_in_bytes = (uint32_t)text.size_bytes,
            .column_idx = column_idxs[i],
            .append = weir_json_append_function(field->type.kind),
        };
    }
    weir_buffer_deinit(&text);
    return &encoder->base;
}

struct weir_encoder *weir_json_encoder_create(const struct weir_schema *schema)
{
    uint32_t *column_idxs = weir_alloc(schema->column_count * sizeof *column_idxs);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        column_idxs[i] = i;
    }
    struct weir_encoder *encoder =
        weir_json_encoder_create_for(schema, schema->column_count, column_idxs);
    free(column_idxs);
    return encoder;
}
