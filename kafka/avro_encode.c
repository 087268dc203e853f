// SPDX-License-Identifier: Apache-2.0
// See avro_encode.h. The values are avro_put.c's.
#include "kafka/avro_encode.h"

#include "kafka/avro_put.h"
#include "runtime/base/assert.h"

#include <stdlib.h>

struct avro_encoder {
    struct weir_encoder base; // first: the interface
    struct weir_arena *arena;
    struct weir_avro_put record;
    uint32_t most_bytes; // 0: row by row
    char frame[WEIR_AVRO_FRAME_ROOM_BYTES];
    size_t frame_bytes;
};

static void encode(const struct weir_encoder *base, const struct weir_batch *batch, uint32_t first,
                   uint32_t count, struct weir_buffer *out, struct weir_encoded *encoded)
{
    const struct avro_encoder *encoder = (const struct avro_encoder *)base;
    WEIR_ASSERT(first <= batch->selected_count && count <= batch->selected_count - first);
    if (encoder->most_bytes != 0) {
        weir_avro_put_rows(&encoder->record, encoder->most_bytes, encoder->frame,
                           encoder->frame_bytes, batch, first, count, out, encoded);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = weir_batch_row(batch, first + i);
        size_t offset_bytes = out->size_bytes;
        const char *failure = NULL;
        weir_buffer_append(out, encoder->frame, encoder->frame_bytes);
        weir_avro_put_row(&encoder->record, batch->columns, row, batch->arena, out, &failure);
        encoded[i] = (struct weir_encoded){
            .offset_bytes = offset_bytes,
            .size_bytes = out->size_bytes - offset_bytes,
            .failure = failure,
        };
    }
}

static void destroy(struct weir_encoder *base)
{
    struct avro_encoder *encoder = (struct avro_encoder *)base;
    weir_arena_destroy(encoder->arena);
    free(encoder);
}

enum weir_status weir_avro_encoder_create(const struct weir_avro_encode_config *config,
                                          struct weir_encoder **out, struct weir_error *error)
{
    static const struct weir_encoder_ops ops = {.encode = encode, .destroy = destroy};
    if (config->type->kind != WEIR_AVRO_RECORD) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "the schema is no record");
    }
    struct avro_encoder *encoder = weir_alloc_zero(sizeof *encoder);
    encoder->base.ops = &ops;
    encoder->arena = weir_arena_create(4096);
    if (config->frame.framing == WEIR_AVRO_FRAMING_REGISTRY) {
        uint32_t id = __builtin_bswap32(config->id);
        memcpy(encoder->frame + 1, &id, sizeof id);
        encoder->frame_bytes = WEIR_AVRO_FRAME_BYTES;
    } else {
        memcpy(encoder->frame, config->frame.bytes, sizeof config->frame.bytes);
        encoder->frame_bytes = config->frame.size_bytes;
    }
    const struct weir_field **fields =
        weir_arena_alloc(encoder->arena, (config->column_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < config->column_count; i++) {
        fields[i] = &config->schema->columns[config->column_idxs[i]];
    }
    if (weir_avro_put_record(encoder->arena, "", config->type, config->column_count, fields,
                             config->column_idxs, &encoder->record, error) != WEIR_OK) {
        destroy(&encoder->base);
        return WEIR_ERROR;
    }
    encoder->most_bytes = weir_avro_put_most_bytes(&encoder->record);
    *out = &encoder->base;
    return WEIR_OK;
}
